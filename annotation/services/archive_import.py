"""Makes a project from an archive: everything or nothing, and nothing is believed that the archive says.

Rows are read outside of transactions and written in short ones, into a project that has another name and no member until all is
in. What fails is taken out again.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

from django.db import DatabaseError, IntegrityError, models

from annotation.domain.archive_format import (
    IMPORTED_MARK,
    MANIFEST,
    MAX_LINE_BYTES,
    SECTIONS,
    BadArchive,
    check_contents,
    check_manifest,
    file_of,
)
from annotation.models import Membership, Project, Role, User
from annotation.services import audit
from annotation.services.accounts import checked_name
from annotation.services.archive_columns import BadValue, checker
from annotation.services.archive_rows import NAMED, NUMBERED, TABLES, Section, kind_of
from annotation.services.corpus_import import SLUG
from annotation.services.imported_annotators import make_imported
from annotation.services.short_writes import ShortWrites
from annotation.services.votes import MAX_CLOCK_LEAD
from workers.models.bulk import insert_rows
from workers.models.opaque import new_uid
from workers.services.storage import trouble_of

_MEMBER = ("project", "user", "role", "since")
_MOST_BYTES = 1_000_000
"""Of the lines in one transaction."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


def import_archive(
    *,
    by: User | None,
    source: BinaryIO,
    slug: str,
    now: datetime,
    matched: Iterable[str] = (),
    discard: bool = False,
) -> dict[str, int]:
    """Makes the project `slug`; returns rows by section. Raises BadArchive.

    The people of the archive become imported annotators of the new project, but for those whose user names are `matched`: they
    are these accounts, and get the roles that the archive gives them. `by` becomes an admin. Addresses of pages change, since they
    belong to an installation. `discard` takes away what an import under this name left that was broken off.
    """
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise BadArchive(f"{slug[:60]!r} is no project name; expected letters, digits and hyphens.")
    if Project.objects.filter(slug=slug).exists():
        raise _taken(slug)
    accounts = _accounts(matched)
    _check_left_over(slug, discard)
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _checked(archive)
            return _Import(archive, slug, accounts, now).run(by, manifest)
    except (*_UNREADABLE, DatabaseError) as error:
        if trouble_of(error):  # a full disk or a database that is away: the archive is not to blame
            raise
        if not isinstance(error, DatabaseError):
            raise BadArchive("The file is no readable archive.") from error
        raise BadArchive(f"The archive contradicts itself: {str(error).splitlines()[0]}.") from error


def _accounts(matched: Iterable[str]) -> dict[str, int]:
    names = set(matched)
    held = dict(User.objects.accounts().filter(username__in=names).values_list("username", "id"))
    if missing := sorted(names - set(held)):
        raise BadArchive(f"There is nobody called {missing[0][:60]!r} here.")
    return held


def _check_left_over(slug: str, discard: bool) -> None:
    left = Project.objects.filter(slug=_working_slug(slug)).first()
    if left is None:
        return
    if not discard:
        raise _left_over(slug)
    discard_project(left)


def _left_over(slug: str) -> BadArchive:
    return BadArchive(
        f"Another import of {slug!r} is at work or was broken off; import_archive --discard takes away what it left."
    )


def discard_project(project: Project) -> None:
    """Takes away a project that was never opened, in short transactions."""
    writes = ShortWrites()
    for section in reversed(TABLES):
        if section.model is Project:
            _discard(writes, User, User.objects.filter(imported_into=project))
        _discard(writes, section.model, section.rows(project))


def _discard(writes: ShortWrites, model: type[models.Model], rows: models.QuerySet) -> None:
    while ids := list(rows.order_by("id").values_list("pk", flat=True)[: writes.rows]):
        with writes.transaction(len(ids)):
            # Nothing points to these rows any more; the audit log's own rows refuse every other way.
            doomed = models.QuerySet(model).filter(pk__in=ids)
            doomed._raw_delete(doomed.db)


def _distinct(names: list[str]) -> dict[str, str]:
    """Each name of an archive, and a name without a mark that no other has."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda one: one.startswith(IMPORTED_MARK)):
        bare = name.removeprefix(IMPORTED_MARK)
        while bare in taken:
            bare += "+"
        taken.add(bare)
        found[name] = bare
    return found


def _working_slug(slug: str) -> str:
    """What the project is called until everything is in."""
    return f"{slug[:50]}-importing"


def _taken(slug: str) -> BadArchive:
    return BadArchive(f"There is a project {slug!r} already; choose another name.")


def _checked(archive: zipfile.ZipFile) -> dict[str, dict]:
    entries = archive.infolist()
    sizes = {entry.filename: (entry.compress_size, entry.file_size) for entry in entries}
    if len(sizes) < len(entries):
        raise BadArchive("The archive holds a name twice.")
    check_contents(sizes)
    with archive.open(MANIFEST) as handle:
        try:
            files = check_manifest(json.loads(handle.read(MAX_LINE_BYTES)))
        except (ValueError, RecursionError) as error:
            if isinstance(error, BadArchive):
                raise
            raise BadArchive("The manifest is not JSON.") from error
    for name, told in files.items():
        digest = hashlib.sha256()
        with archive.open(name) as handle:
            while chunk := handle.read(1 << 20):
                digest.update(chunk)
        if not isinstance(told, dict) or told.get("sha256") != digest.hexdigest():
            raise BadArchive(f"{name} is not what the manifest says; the archive was damaged or changed.")
    return files


class _Import:
    def __init__(self, archive: zipfile.ZipFile, slug: str, accounts: dict[str, int], now: datetime) -> None:
        self.archive, self.slug, self.accounts, self.now = archive, slug, accounts, now
        self.users: dict[str, int] = {}
        self.ids: dict[type, dict[Any, int]] = {}
        self.members: list[list] = []
        self.project: Project | None = None
        self.writes = ShortWrites()

    def run(self, by: User | None, manifest: dict) -> dict[str, int]:
        project, *others = TABLES
        try:
            self._make_project(project)
            counts = {"people": self._people(), "project": 1} | {one.name: self._section(one) for one in others}
            with self.writes.transaction(len(self.members) + 3):
                self._open(by, counts, manifest[file_of("project")]["sha256"])
        except BaseException:
            if self.project is not None:
                discard_project(self.project)
            raise
        return {name: counts[name] for name in SECTIONS}

    def _open(self, by: User | None, counts: dict[str, int], digest: str) -> None:
        """Gives the project its name and its members: from here on it is there."""
        if Project.objects.filter(slug=self.slug).exists():  # made since the first look
            raise _taken(self.slug)
        Project.objects.filter(pk=self.project.pk).update(slug=self.slug)
        insert_rows(Membership, _MEMBER, ([self.project.pk, *member] for member in self.members))
        if by is not None:
            Membership.objects.update_or_create(project=self.project, user=by, defaults={"role": Role.ADMIN})
        audit.record(
            by=by, project=self.project, action="archive.imported", target=self.slug, rows=counts, sha256=digest,
            accounts=sorted(self.accounts),
        )  # fmt: skip

    def _lines(self, name: str) -> Iterator[tuple[int, dict, int]]:
        """Number, row and length in bytes of each line."""
        file = file_of(name)
        with self.archive.open(file) as handle:
            number = 0
            while raw := handle.readline(MAX_LINE_BYTES + 1):
                number += 1
                try:
                    row = json.loads(raw) if len(raw) <= MAX_LINE_BYTES else None
                except (ValueError, RecursionError):
                    row = None
                if not isinstance(row, dict):
                    raise BadArchive(f"{file}, line {number}: expected one JSON object of at most 16 MB.")
                yield number, row, len(raw)

    def _people(self) -> int:
        """Whom the archive's names mean here: the accounts that were matched, and an imported annotator for every other name."""
        told: dict[str, str] = {}
        for number, row, _ in self._lines("people"):
            name, shown = row.get("username"), row.get("display_name")
            if not (isinstance(name, str) and isinstance(shown, str)) or "\x00" in name + shown:
                raise BadArchive(f"people.jsonl, line {number}: expected a user name and a name to show.")
            try:
                checked_name(name.removeprefix(IMPORTED_MARK))
            except ValueError as error:
                raise BadArchive(f"people.jsonl, line {number}: {error}") from error
            told[name] = shown
        if strangers := sorted(set(self.accounts) - set(told)):
            raise BadArchive(f"The archive holds nobody called {strangers[0][:60]!r}.")
        self.users = dict(self.accounts)
        names = _distinct(sorted(set(told) - set(self.accounts)))
        for part in self._parts(names.items(), lambda one: 0):
            shown = {bare: told[name] for name, bare in part}
            with self.writes.transaction(len(part)):
                made = make_imported(shown, self.project, slug=self.slug)
            self.users |= {name: made[bare] for name, bare in part}
        return len(told)

    def _parts(self, rows: Iterable, size: Callable[[Any], int]) -> Iterator[list]:
        """As many rows at once as a short transaction holds, read while none is open."""
        part, held = [], 0
        for row in rows:
            part.append(row)
            held += size(row)
            if len(part) >= self.writes.rows or held >= _MOST_BYTES:
                yield part
                part, held = [], 0
        if part:
            yield part

    def _section(self, section: Section) -> int:
        fields = section.fields
        names = [field.name for field in fields]
        head = (["uid"] if section.has_uid else []) + (["project"] if section.has_project else [])
        uids: dict[int, str] = {}
        rows = 0
        for part in self._parts(self._decoded(section, names, uids), lambda one: one[1]):
            rows += len(part)
            values = [row for row, _ in part]
            if section.model is Membership:
                self._keep_members(names, values, len(head))
                continue
            with self.writes.transaction(len(part)):
                insert_rows(section.model, [*head, *names], values)
        if section.model in NUMBERED:
            by_uid = dict(section.rows(self.project).values_list("uid", "id"))
            self.ids[section.model] = {ref: by_uid[uid] for ref, uid in uids.items()}
        if section.model in NAMED:
            self.ids[section.model] = dict(section.rows(self.project).values_list("name", "id"))
        return rows

    def _decoded(self, section: Section, names: list[str], uids: dict[int, str]) -> Iterator[tuple[list, int]]:
        readers = [self._reader(field) for field in section.fields]
        for number, row, size in self._lines(section.name):
            values = self._values(section, number, row, names, readers)
            start = [new_uid()] if section.has_uid else []
            if section.model in NUMBERED:
                uids[self._ref(section, number, row)] = start[0]
            yield start + ([self.project.pk] if section.has_project else []) + values, size

    def _keep_members(self, names: list[str], rows: list[list], head: int) -> None:
        """Remembers the memberships of accounts that were matched: nobody else becomes a member."""
        accounts = set(self.accounts.values())
        for row in rows:
            member = dict(zip(names, row[head:], strict=True))
            if member["user"] in accounts:
                self.members.append([member[name] for name in _MEMBER[1:]])

    def _make_project(self, section: Section) -> None:
        lines = list(islice(self._lines(section.name), 2))
        if len(lines) != 1:
            raise BadArchive("project.jsonl: expected exactly one line.")
        number, row, _ = lines[0]
        names = [field.name for field in section.fields]
        values = self._values(section, number, row, names, [self._reader(field) for field in section.fields])
        working = _working_slug(self.slug)
        try:
            with self.writes.transaction(1):
                insert_rows(Project, ["slug", *names], [[working, *values]])
        except IntegrityError as error:
            if Project.objects.filter(slug=working).exists():  # made since the first look
                raise _left_over(self.slug) from error
            raise
        self.project = Project.objects.get(slug=working)

    def _values(self, section: Section, number: int, row: dict, names: list[str], readers: list) -> list:
        if foreign := set(row) - {*names, "ref"}:
            raise BadArchive(f"{section.name}.jsonl, line {number}: the field {min(foreign)[:60]!r} is not known.")
        values = []
        for field, name, reader in zip(section.fields, names, readers, strict=True):
            try:
                values.append(reader(row[name] if name in row else field.get_default(), row))
            except BadValue as error:
                raise BadArchive(f"{section.name}.jsonl, line {number}, field {name}: {error}") from error
        return values

    @staticmethod
    def _ref(section: Section, number: int, row: dict) -> int:
        ref = row.get("ref")
        if not isinstance(ref, int):
            raise BadArchive(f"{section.name}.jsonl, line {number}, field ref: expected a whole number.")
        return ref

    def _reader(self, field: models.Field):
        """A function of a value and its row to what the column takes. It raises BadValue."""
        match kind_of(field):
            case "user":
                return lambda value, row: self._look_up(self.users, value, field)
            case "row" | "name":
                return lambda value, row: self._look_up(self.ids[field.related_model], value, field)
            case "key":
                return lambda value, row: self._key(value)
            case "votes":
                return lambda value, row: self._votes(value)
        check = checker(field)
        if isinstance(field, models.DateTimeField):
            return lambda value, row: self._past(check(value))
        return lambda value, row: check(value)

    def _past(self, moment: datetime | None) -> datetime | None:
        """The time, or now where it is as little ahead as a saved vote may be. Raises BadValue beyond that."""
        if moment is not None and moment > self.now + MAX_CLOCK_LEAD:
            raise BadValue("it lies in the future.")
        return moment if moment is None else min(moment, self.now)

    @staticmethod
    def _look_up(known: dict, value: Any, field: models.Field) -> int | None:
        if value is None and field.null:
            return None
        found = known.get(value) if isinstance(value, str | int) else None
        if found is None:
            raise BadValue(f"it names {str(value)[:60]!r}, which the archive does not hold.")
        return found

    def _key(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > 20 or not value.isascii():
            raise BadValue("expected a key such as k1.")
        return f"{self.project.pk}-{self.slug[:30]}-{value}" if value else ""

    def _votes(self, value: Any) -> list[dict]:
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value) or len(value) > 100:
            raise BadValue("expected a list of votes.")
        found = []
        for one in value:
            annotator, label = self.users.get(one.get("annotator")), one.get("label")
            if annotator is None or not isinstance(label, str):
                raise BadValue("a vote has no annotator or no label.")
            found.append({"annotator": annotator, "label": label, "key": self._key(one.get("key"))})
        return sorted(found, key=lambda vote: vote["annotator"])
