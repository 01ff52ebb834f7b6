"""Make a project from an archive: everything or nothing, and no value of the archive is trusted unchecked.

Rows are read outside of transactions and written in short ones, into a project that has another name and no member
until all is in. What fails is taken out again.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

from django.db import DatabaseError, IntegrityError
from django.utils.translation import gettext

from annotation.domain.archive_format import IMPORTED_MARK, SECTIONS, BadArchive, Person, file_of
from annotation.domain.resolution import UnknownRule, check_rule
from annotation.domain.schema import Schema
from annotation.domain.schema_files import BadSchema, schema_of_document
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Membership, Project, Role, User
from annotation.services import audit
from annotation.services.accounts import checked_name
from annotation.services.archive_leftovers import check_left_over, discard_project, left_over, working_slug
from annotation.services.archive_reading import checked, rows_of
from annotation.services.archive_rows import NAMED, Section, check_further, tables
from annotation.services.archive_values import Here
from annotation.services.corpus_import import SLUG
from annotation.services.counts import refresh
from annotation.services.imported_annotators import make_imported
from annotation.services.schemas import SchemaRefused, is_here, take_schema
from annotation.services.short_writes import ShortWrites
from core.bulk import insert_rows
from core.ids import new_uid
from core.incoming.damage import damage_as
from core.messages import Sentence
from core.storage import trouble_of

_MEMBER = ("project", "user", "role", "since")
_SCHEMA = "project.jsonl, field schema"
_MOST_BYTES = 1_000_000
"""The most bytes of lines in one transaction."""


def import_archive(
    *,
    by: User | None,
    source: BinaryIO,
    slug: str,
    now: datetime,
    matched: Iterable[str] = (),
    discard: bool = False,
) -> dict[str, int]:
    """Make the project `slug`; return rows by section. Raises BadArchive.

    The people of the archive become imported annotators of the new project, but for those whose user names are
    `matched`: they are these accounts, and get the roles that the archive gives them. `by` becomes an admin. Addresses
    of pages change, since they belong to an installation. `discard` takes away what an import under this name left that
    was broken off.
    """
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise BadArchive(
            gettext("{slug!r} is not a project name; expected letters, digits and hyphens.").format(slug=slug[:60])
        )
    if Project.objects.filter(slug=slug).exists():
        raise _taken(slug)
    accounts = _accounts(matched)
    check_left_over(slug, discard)
    with _opened(source) as archive:
        with damage_as(_unreadable, BadArchive):
            digests = checked(archive)
        try:
            return _Import(archive, slug, accounts, now).run(by, digests)
        except DatabaseError as error:
            if trouble_of(error):  # a full disk or a database that is away: the archive is not to blame
                raise
            raise BadArchive(
                gettext("The archive contradicts itself: {error}.").format(error=str(error).splitlines()[0])
            ) from error


def _opened(source: BinaryIO) -> zipfile.ZipFile:
    with damage_as(_unreadable):
        return zipfile.ZipFile(source)


def _unreadable(error: Exception) -> BadArchive:
    return BadArchive(gettext("The file is not a readable archive."))


def _accounts(matched: Iterable[str]) -> dict[str, int]:
    names = set(matched)
    accounts = dict(User.objects.accounts().filter(username__in=names).values_list("username", "id"))
    if missing := sorted(names - set(accounts)):
        raise BadArchive(gettext("There is nobody called {missing!r} here.").format(missing=missing[0][:60]))
    return accounts


def _distinct(names: list[str]) -> dict[str, str]:
    """Return for each name of an archive a distinct name without the mark."""
    distinct: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: name.startswith(IMPORTED_MARK)):
        bare = name.removeprefix(IMPORTED_MARK)
        while bare in taken:
            bare += "+"
        taken.add(bare)
        distinct[name] = bare
    return distinct


def _taken(slug: str) -> BadArchive:
    return BadArchive(gettext("There is a project {slug!r} already; choose another name.").format(slug=slug))


def _schema(document: Any, project: dict[str, Any]) -> Schema:
    """Return the label schema of the archive's project. Raises BadArchive, also for an unknown rule."""
    try:
        check_rule(project["rule_version"])
    except UnknownRule as error:
        raise BadArchive(gettext("project.jsonl, field rule_version: {error}").format(error=error)) from error
    try:
        schema = schema_of_document(document, _SCHEMA)
        is_here(schema, _SCHEMA)
    except (BadSchema, SchemaRefused) as error:
        raise BadArchive(str(error)) from error
    if project["schema_version"] != schema.version:
        raise BadArchive(
            gettext("project.jsonl, field schema_version: it is {schema_version!r}; expected {version!r}.").format(
                schema_version=project["schema_version"], version=schema.version
            )
        )
    return schema


class _Import:
    def __init__(self, archive: zipfile.ZipFile, slug: str, accounts: dict[str, int], now: datetime) -> None:
        self.archive, self.slug, self.accounts = archive, slug, accounts
        self.here = Here(now)
        self.members: list[list] = []
        self.project: Project | None = None
        self.schema = DEFAULT_SCHEMA
        self.writes = ShortWrites()

    def run(self, by: User | None, digests: dict[str, str]) -> dict[str, int]:
        project, *others = tables()
        try:
            self._make_project(project)
            counts = {"people": self._people(), "project": 1} | {
                section.name: self._section(section) for section in others
            }
            check_further(self.project)
            with self.writes.transaction(len(self.members) + 3):
                self._open(by, counts, digests[file_of("project")])
        except BaseException:
            if self.project is not None:
                discard_project(self.project)
            raise
        self.writes.tell_planner(*{section.model for section in others})
        refresh(self.project)
        return {name: counts[name] for name in SECTIONS}

    def _open(self, by: User | None, counts: dict[str, int], digest: str) -> None:
        """Give the project its name and its members: from here on it is there."""
        if Project.objects.filter(slug=self.slug).exists():  # created since the first check
            raise _taken(self.slug)
        take_schema(by=by, schema=self.schema, file=_SCHEMA)
        named = {"schema_name": self.schema.name, "schema_version": self.schema.version}
        Project.objects.filter(pk=self.project.pk).update(slug=self.slug, **named)
        insert_rows(Membership, _MEMBER, ([self.project.pk, *member] for member in self.members))
        if by is not None:
            Membership.objects.update_or_create(project=self.project, user=by, defaults={"role": Role.ADMIN})
        audit.record(
            by=by, project=self.project, action="archive.imported", target=self.slug, rows=counts, sha256=digest,
            accounts=sorted(self.accounts),
        )  # fmt: skip

    def _people(self) -> int:
        """Map the archive's names to people here: the matched accounts, and a new imported annotator for every other
        name."""
        shown_names: dict[str, str] = {}
        for number, row, _ in rows_of(self.archive, "people"):
            try:
                person = Person.of(row)
                checked_name(person.username.removeprefix(IMPORTED_MARK))
            except ValueError as error:
                raise BadArchive(
                    Sentence("people.jsonl, line {number}: {error}", number=number, error=error)
                ) from error
            shown_names[person.username] = person.display_name
        if strangers := sorted(set(self.accounts) - set(shown_names)):
            raise BadArchive(
                gettext("The archive holds nobody called {strangers!r}.").format(strangers=strangers[0][:60])
            )
        self.here.users = dict(self.accounts)
        names = _distinct(sorted(set(shown_names) - set(self.accounts)))
        for part in self._parts(names.items(), lambda row: 0):
            names_of_part = {bare: shown_names[name] for name, bare in part}
            with self.writes.transaction(len(part)):
                ids_by_name = make_imported(names_of_part, self.project, slug=self.slug)
            self.here.users |= {name: ids_by_name[bare] for name, bare in part}
        return len(shown_names)

    def _parts(self, rows: Iterable, size: Callable[[Any], int]) -> Iterator[list]:
        """Yield as many rows at once as a short transaction holds, read while none is open."""
        part, size_so_far = [], 0
        for row in rows:
            part.append(row)
            size_so_far += size(row)
            if len(part) >= self.writes.rows or size_so_far >= _MOST_BYTES:
                yield part
                part, size_so_far = [], 0
        if part:
            yield part

    def _section(self, section: Section) -> int:
        fields = section.fields
        names = [field.name for field in fields]
        head = (["uid"] if section.has_uid else []) + (["project"] if section.has_project else [])
        uids: dict[int, str] = {}
        rows = 0
        for part in self._parts(self._decoded(section, uids), lambda decoded: decoded[1]):
            rows += len(part)
            values = [row for row, _ in part]
            if section.model is Membership:
                self._keep_members(names, values, len(head))
                continue
            with self.writes.transaction(len(part)):
                insert_rows(section.model, [*head, *names], values)
        if section.numbered:
            by_uid = dict(section.rows(self.project).values_list("uid", "id"))
            self.here.ids[section.model] = {ref: by_uid[uid] for ref, uid in uids.items()}
        if section.model in NAMED:
            self.here.ids[section.model] = dict(section.rows(self.project).values_list("name", "id"))
        return rows

    def _decoded(self, section: Section, uids: dict[int, str]) -> Iterator[tuple[list, int]]:
        for number, row, size in rows_of(self.archive, section.name):
            values = self.here.values(section, number, row)
            start = [new_uid()] if section.has_uid else []
            if section.numbered:
                uids[self.here.ref(section, number, row)] = start[0]
            yield start + ([self.project.pk] if section.has_project else []) + values, size

    def _keep_members(self, names: list[str], rows: list[list], head: int) -> None:
        """Remembers the memberships of accounts that were matched: nobody else becomes a member."""
        accounts = set(self.accounts.values())
        for row in rows:
            member = dict(zip(names, row[head:], strict=True))
            if member["user"] in accounts:
                self.members.append([member[name] for name in _MEMBER[1:]])

    def _make_project(self, section: Section) -> None:
        lines = list(islice(rows_of(self.archive, section.name), 2))
        if len(lines) != 1:
            raise BadArchive(gettext("project.jsonl: expected exactly one line."))
        number, row, _ = lines[0]
        names = [field.name for field in section.fields]
        document = row.pop("schema", None)
        values = self.here.values(section, number, row)
        self.schema = _schema(document, dict(zip(names, values, strict=True)))
        values[names.index("schema_version")] = DEFAULT_SCHEMA.version  # until the schema is here too
        working = working_slug(self.slug)
        try:
            with self.writes.transaction(1):
                insert_rows(Project, ["slug", "schema_name", *names], [[working, DEFAULT_SCHEMA.name, *values]])
        except IntegrityError as error:
            if Project.objects.filter(slug=working).exists():  # created since the first check
                raise left_over(self.slug) from error
            raise
        self.project = Project.objects.get(slug=working)
        self.here.key_start = f"{self.project.pk}-{self.slug[:30]}"
