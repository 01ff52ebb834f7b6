"""Make a project from an archive: everything or nothing, and no value of the archive is trusted unchecked.

Rows are read outside of transactions and written in short ones, into a project that has another name and no members
until everything is imported. A failed import is taken out again.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, BinaryIO

from django.db import DatabaseError, IntegrityError, models
from django.utils.translation import gettext

from annotation.domain.archive_format import (
    IMPORTED_MARK,
    MANIFEST,
    MAX_LINE_BYTES,
    BadArchive,
    Person,
    check_contents,
    digests_of,
    file_of,
)
from annotation.domain.resolution import GoldVote, UnknownRule, as_json, check_rule
from annotation.domain.schema_files import BadSchema, schema_of_document
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import AnnotatorCounts, Membership, Project, Role, StoryCounts, User
from annotation.services import audit
from annotation.services.accounts import checked_name, make_imported
from annotation.services.archive_sections import (
    NAMED,
    Section,
    files,
    further,
    kind_of,
    section_names,
    shape_of,
    tables,
)
from annotation.services.corpus_import import SLUG
from annotation.services.counts import recount_project
from annotation.services.schemas import SchemaRefused, is_here, take_schema
from annotation.services.short_writes import ShortWrites
from annotation.services.votes import MAX_CLOCK_LEAD
from core.bulk import insert_rows
from core.ids import new_uid
from core.incoming.damage import damage_as
from core.incoming.json_lines import BadLine, lines_of, object_of_line
from core.incoming.misfit import Misfit
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop
from core.storage import trouble_of

_MEMBER = ("user", "role", "since")
_SCHEMA = "project.jsonl, field schema"
_MOST_BYTES = 1_000_000
"""The most bytes of lines in one transaction."""


def import_archive(
    *, by: User | None, source: BinaryIO, slug: str, now: datetime, matched: Iterable[str] = (), discard: bool = False
) -> dict[str, int]:
    """Make the project `slug`; return rows by section. Raises BadArchive.

    The people of the archive become imported annotators of the new project, except those with a user name among
    `matched`: they are these accounts, with the roles that the archive gives them. `by` becomes an admin. Addresses of
    pages change, since they belong to an installation. `discard` deletes what an interrupted import of this name left.
    """
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise BadArchive(
            gettext("{slug!r} is not a project name; expected letters, digits and hyphens.").format(slug=slug[:60])
        )
    if Project.objects.filter(slug=slug).exists():
        raise _taken(slug)
    names = set(matched)
    accounts = dict(User.objects.accounts().filter(username__in=names).values_list("username", "id"))
    if missing := sorted(names - set(accounts)):
        raise BadArchive(gettext("There is nobody called {missing!r} here.").format(missing=missing[0][:60]))
    if left := Project.objects.filter(slug=_working_slug(slug)).first():
        if not discard:
            raise _left_over(slug)
        discard_project(left)
    with damage_as(_unreadable):
        archive = zipfile.ZipFile(source)
    with archive:
        with damage_as(_unreadable, BadArchive):
            digests = checked(archive)
        try:
            return _Import(archive, slug, accounts, now).run(by, digests)
        except DatabaseError as error:
            if trouble_of(error):  # a full disk or a database that is away: the archive is not to blame
                raise
            reason = str(error).splitlines()[0]
            raise BadArchive(gettext("The archive contradicts itself: {error}.").format(error=reason)) from error


def _unreadable(error: Exception) -> BadArchive:
    return BadArchive(gettext("The file is not a readable archive."))


def _taken(slug: str) -> BadArchive:
    return BadArchive(gettext("There is a project {slug!r} already; choose another name.").format(slug=slug))


def _left_over(slug: str) -> BadArchive:
    return BadArchive(
        f"Another import of {slug!r} is at work or was broken off; import_archive --discard takes away what it left."
    )


def _working_slug(slug: str) -> str:
    """Return the name of the project until everything is imported."""
    return f"{slug[:50]}-importing"


def checked(archive: zipfile.ZipFile) -> dict[str, str]:
    """Check an archive as a whole; return the SHA-256 of each file. Raises BadArchive."""
    entries = archive.infolist()
    sizes = {entry.filename: (entry.compress_size, entry.file_size) for entry in entries}
    if len(sizes) < len(entries):
        raise BadArchive(gettext("The archive holds a name twice."))
    check_contents(sizes, files())
    with archive.open(MANIFEST) as handle:
        try:
            digests = digests_of(json_of(handle.read(MAX_LINE_BYTES)), files())
        except NotJson as error:
            raise BadArchive(error.message_for(MANIFEST)) from error
    for name, expected in digests.items():
        with archive.open(name) as handle:
            if expected != hashlib.file_digest(handle, "sha256").hexdigest():  # type: ignore[arg-type]  # has readinto
                raise BadArchive(
                    gettext("{name} is not what the manifest says; the archive was damaged or changed.").format(
                        name=name
                    )
                )
    return digests


def rows_of(archive: zipfile.ZipFile, section: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Yield number, row and length in bytes of each line of a section. Raises BadArchive."""
    with archive.open(file_of(section)) as handle:
        for number, raw in lines_of(handle, longest=MAX_LINE_BYTES):
            try:
                row = object_of_line(raw, longest=MAX_LINE_BYTES)
                if row is None:
                    raise BadLine(gettext_noop("The line is empty; expected one JSON object."))
            except BadLine as error:
                raise _at(section, number, error) from error
            yield number, row, len(raw or b"")


def _at(section: str, number: int, error: Exception) -> BadArchive:
    """Return the refusal of an archive for a fault in one line."""
    return BadArchive(Sentence("{file}, line {number}: {error}", file=file_of(section), number=number, error=error))


class _Import:
    """`users` and `ids` lead from the archive's names and numbers to ids here. Keys of votes begin with `key_start`, so
    that those of two copies differ."""

    def __init__(self, archive: zipfile.ZipFile, slug: str, accounts: dict[str, int], now: datetime) -> None:
        self.archive, self.slug, self.accounts, self.now = archive, slug, accounts, now
        self.users: dict[str, int] = {}
        self.ids: dict[Any, dict[Any, int]] = {}
        self.key_start = ""
        self.members: list[list[Any]] = []
        self.project: Any = None  # until it is made
        self.schema = DEFAULT_SCHEMA
        self.writes = ShortWrites()

    def run(self, by: User | None, digests: dict[str, str]) -> dict[str, int]:
        project, *others = tables()
        try:
            self._make_project(project)
            counts = {"people": self._people(), "project": 1}
            counts |= {section.name: self._section(section) for section in others}
            for _, check, _ in further:
                check(self.project)
            with self.writes.transaction(len(self.members) + 3):
                if Project.objects.filter(slug=self.slug).exists():  # created since the first check
                    raise _taken(self.slug)
                take_schema(by=by, schema=self.schema, file=_SCHEMA)
                named = {"schema_name": self.schema.name, "schema_version": self.schema.version}
                Project.objects.filter(pk=self.project.pk).update(slug=self.slug, **named)
                insert_rows(Membership, ("project", *_MEMBER), ([self.project.pk, *member] for member in self.members))
                if by is not None:
                    Membership.objects.update_or_create(project=self.project, user=by, defaults={"role": Role.ADMIN})
                details = {"rows": counts, "sha256": digests[file_of("project")], "accounts": sorted(self.accounts)}
                audit.record(by=by, project=self.project, action="archive.imported", target=self.slug, **details)
        except BaseException:
            if self.project is not None:
                discard_project(self.project)
            raise
        self.writes.tell_planner(*{section.model for section in others})
        recount_project(self.project)
        return {name: counts[name] for name in section_names()}

    def _make_project(self, section: Section) -> None:
        lines = list(rows_of(self.archive, section.name))
        if len(lines) != 1:
            raise BadArchive(gettext("project.jsonl: expected exactly one line."))
        number, row, _ = lines[0]
        document, fields = row.pop("schema", None), [(field, kind_of(field)) for field in section.fields]
        values = dict(zip((field.name for field, _ in fields), self._values(section, fields, number, row), strict=True))
        try:
            check_rule(values["rule_version"])
        except UnknownRule as error:
            raise BadArchive(gettext("project.jsonl, field rule_version: {error}").format(error=error)) from error
        try:
            self.schema = schema_of_document(document, _SCHEMA)
            is_here(self.schema, _SCHEMA)
        except (BadSchema, SchemaRefused) as error:
            raise BadArchive(str(error)) from error
        if values["schema_version"] != self.schema.version:
            raise BadArchive(
                gettext("project.jsonl, field schema_version: it is {schema_version!r}; expected {version!r}.").format(
                    schema_version=values["schema_version"], version=self.schema.version
                )
            )
        values |= {"slug": _working_slug(self.slug), "schema_name": DEFAULT_SCHEMA.name}
        values["schema_version"] = DEFAULT_SCHEMA.version  # until the schema is here too
        try:
            with self.writes.transaction(1):
                insert_rows(Project, list(values), [list(values.values())])
        except IntegrityError as error:
            if Project.objects.filter(slug=values["slug"]).exists():  # created since the first check
                raise _left_over(self.slug) from error
            raise
        self.project = Project.objects.get(slug=values["slug"])
        self.key_start = f"{self.project.pk}-{self.slug[:30]}"

    def _people(self) -> int:
        """Map the archive's names to people here: matched accounts, and new imported annotators for the other names."""
        display_names: dict[str, str] = {}
        for number, row, _ in rows_of(self.archive, "people"):
            try:
                person = Person.of(row)
                checked_name(person.username.removeprefix(IMPORTED_MARK))
            except ValueError as error:
                raise _at("people", number, error) from error
            display_names[person.username] = person.display_name
        if strangers := sorted(set(self.accounts) - set(display_names)):
            raise BadArchive(
                gettext("The archive holds nobody called {strangers!r}.").format(strangers=strangers[0][:60])
            )
        self.users = dict(self.accounts)
        by_bare: dict[str, str] = {}  # a distinct name without the mark for each name of the archive
        others = set(display_names) - set(self.accounts)
        for name in sorted(others, key=lambda name: (name.startswith(IMPORTED_MARK), name)):
            bare = name.removeprefix(IMPORTED_MARK)
            while bare in by_bare:
                bare += "+"
            by_bare[bare] = name
        for part in self._parts((item, 0) for item in by_bare.items()):
            with self.writes.transaction(len(part)):
                ids = make_imported({bare: display_names[name] for bare, name in part}, self.project, slug=self.slug)
            self.users |= {name: ids[bare] for bare, name in part}
        return len(display_names)

    def _parts(self, rows: Iterable[tuple[Any, int]]) -> Iterator[list[Any]]:
        """Yield the rows, which come with their size in bytes, in parts that fit into a short transaction. They are
        read while none is open."""
        part, size = [], 0
        for row, bytes_of_row in rows:
            part.append(row)
            size += bytes_of_row
            if len(part) >= self.writes.rows or size >= _MOST_BYTES:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _section(self, section: Section) -> int:
        uids: dict[int, str] = {}
        count = 0
        columns = [*section.generated, *(field.name for field in section.fields)]
        for part in self._parts(self._rows(section, uids)):
            count += len(part)
            if section.model is Membership:
                # Those of matched accounts are kept for the end; nobody else becomes a member.
                members = [dict(zip(columns, row, strict=True)) for row in part]
                known = [member for member in members if member["user"] in self.accounts.values()]
                self.members += [[member[name] for name in _MEMBER] for member in known]
                continue
            with self.writes.transaction(len(part)):
                insert_rows(section.model, columns, part)
        if section.numbered:
            by_uid = dict(section.rows(self.project).values_list("uid", "id"))
            self.ids[section.model] = {ref: by_uid[uid] for ref, uid in uids.items()}
        elif section.model in NAMED:
            self.ids[section.model] = dict(section.rows(self.project).values_list("name", "id"))
        return count

    def _rows(self, section: Section, uids: dict[int, str]) -> Iterator[tuple[list[Any], int]]:
        """Yield the values of each row, and its size. `uids` takes the new uid of each number."""
        fields = [(field, kind_of(field)) for field in section.fields]
        for number, row, size in rows_of(self.archive, section.name):
            values = self._values(section, fields, number, row)
            generated: dict[str, Any] = {"uid": new_uid(), "project": self.project.pk}
            if section.numbered:
                uids[row["ref"]] = generated["uid"]
            yield [*(generated[name] for name in section.generated), *values], size

    def _values(
        self, section: Section, fields: list[tuple[models.Field[Any, Any], str]], number: int, row: dict[str, Any]
    ) -> list[Any]:
        """Return the column values of a row in terms of this installation. Raises BadArchive."""
        try:
            values = shape_of(section).of(row).__dict__
            return [self._value(field, kind, values[field.name]) for field, kind in fields]
        except (Misfit, BadLine) as error:
            raise _at(section.name, number, error) from error

    def _value(self, field: models.Field[Any, Any], kind: str, value: Any) -> Any:
        if value is None or kind == "value":
            return value
        match kind:
            case "time":
                if value > self.now + MAX_CLOCK_LEAD:
                    raise BadLine(Sentence("{name}: it lies in the future.", name=field.name))
                return min(value, self.now)  # as little ahead as a saved vote may be
            case "key":
                return f"{self.key_start}-{value}" if value else ""
            case "votes":
                votes = []
                for vote in value:
                    if vote.annotator not in self.users:
                        raise BadLine(gettext_noop("a vote has no annotator or no label."))
                    vote_key = f"{self.key_start}-{vote.key}" if vote.key else ""
                    votes.append(GoldVote(self.users[vote.annotator], vote.label, vote_key))
                return as_json(sorted(votes, key=attrgetter("annotator")))
        found = (self.users if kind == "user" else self.ids[field.related_model]).get(value)
        if found is None:
            named = {"name": field.name, "value": repr(str(value)[:60])}
            raise BadLine(Sentence("{name}: it names {value}, which the archive does not hold.", **named))
        return found


def discard_project(project: Project) -> None:
    """Delete a project that was never opened, in short transactions."""
    writes = ShortWrites()
    for counts in (AnnotatorCounts, StoryCounts):
        counts.objects.filter(story__project=project).delete()
    for section in reversed(tables()):
        if section.model is Project:
            _discard(writes, User, User.objects.filter(imported_into=project))
        _discard(writes, section.model, section.rows(project))


def _discard(writes: ShortWrites, model: type[models.Model], rows: models.QuerySet[Any]) -> None:
    while ids := list(rows.order_by("id").values_list("pk", flat=True)[: writes.rows]):
        with writes.transaction(len(ids)):
            # Nothing points to these rows any more; the audit log's own rows refuse every other way.
            doomed: Any = models.QuerySet(model).filter(pk__in=ids)
            doomed._raw_delete(doomed.db)
