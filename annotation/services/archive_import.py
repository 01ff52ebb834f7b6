"""Makes a project from an archive: everything or nothing, and nothing is believed that the archive says."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from django.db import DatabaseError, IntegrityError, models, transaction

from annotation.domain.archive_format import (
    MANIFEST,
    MAX_LINE_BYTES,
    SECTIONS,
    BadArchive,
    check_contents,
    check_manifest,
    file_of,
)
from annotation.models import Project, User
from annotation.services import audit
from annotation.services.archive_columns import BadValue, checker
from annotation.services.archive_rows import NAMED, NUMBERED, TABLES, Section, kind_of
from annotation.services.corpus_import import SLUG
from workers.models.bulk import insert_rows
from workers.models.opaque import new_uid

_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


def import_archive(*, by: User | None, source: BinaryIO, slug: str) -> dict[str, int]:
    """Makes the project `slug`; returns rows by section. Raises BadArchive.

    People are matched by user name, or made without a password: an admin resets it. Addresses of pages change, since
    they belong to an installation.
    """
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise BadArchive(f"{slug[:60]!r} is no project name; expected letters, digits and hyphens.")
    if Project.objects.filter(slug=slug).exists():
        raise _taken(slug)
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _checked(archive)
            with transaction.atomic():
                return _Import(archive, slug).run(by, manifest)
    except _UNREADABLE as error:
        raise BadArchive("The file is no readable archive.") from error
    except DatabaseError as error:
        raise BadArchive(f"The archive contradicts itself: {str(error).splitlines()[0]}.") from error


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
    def __init__(self, archive: zipfile.ZipFile, slug: str) -> None:
        self.archive, self.slug = archive, slug
        self.users: dict[str, int] = {}
        self.ids: dict[type, dict[Any, int]] = {}
        self.project: Project | None = None

    def run(self, by: User | None, manifest: dict) -> dict[str, int]:
        counts = {"people": self._people()}
        for section in TABLES:
            counts[section.name] = self._section(section)
        audit.record(
            by=by, project=self.project, action="archive.imported", target=self.slug, rows=counts,
            sha256=manifest[file_of("project")]["sha256"],
        )  # fmt: skip
        return {name: counts[name] for name in SECTIONS}

    def _lines(self, name: str) -> Iterator[tuple[int, dict]]:
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
                yield number, row

    def _people(self) -> int:
        told: dict[str, str] = {}
        for number, row in self._lines("people"):
            name, shown = row.get("username"), row.get("display_name")
            if (
                not (isinstance(name, str) and 0 < len(name) <= 150 and isinstance(shown, str))
                or "\x00" in name + shown
            ):
                raise BadArchive(f"people.jsonl, line {number}: expected a user name and a name to show.")
            told[name] = shown[:80]
        held = dict(User.objects.filter(username__in=told).values_list("username", "id"))
        for name in sorted(set(told) - set(held)):
            user = User(username=name, display_name=told[name])
            user.set_unusable_password()
            user.save()
            held[name] = user.pk
        self.users = held
        return len(told)

    def _section(self, section: Section) -> int:
        if section.name == "project":
            return self._make_project(section)
        fields = section.fields
        names = [field.name for field in fields]
        head = (["uid"] if section.has_uid else []) + (["project"] if section.has_project else [])
        uids: dict[int, str] = {}
        rows = 0

        def decoded() -> Iterator[list]:
            nonlocal rows
            readers = [self._reader(field) for field in fields]
            for number, row in self._lines(section.name):
                rows += 1
                values = self._values(section, number, row, names, readers)
                start = [new_uid()] if section.has_uid else []
                if section.model in NUMBERED:
                    uids[self._ref(section, number, row)] = start[0]
                yield start + ([self.project.pk] if section.has_project else []) + values

        insert_rows(section.model, [*head, *names], decoded())
        if section.model in NUMBERED:
            by_uid = dict(section.rows(self.project).values_list("uid", "id"))
            self.ids[section.model] = {ref: by_uid[uid] for ref, uid in uids.items()}
        if section.model in NAMED:
            self.ids[section.model] = dict(section.rows(self.project).values_list("name", "id"))
        return rows

    def _make_project(self, section: Section) -> int:
        lines = list(self._lines(section.name))
        if len(lines) != 1:
            raise BadArchive("project.jsonl: expected exactly one line.")
        number, row = lines[0]
        names = [field.name for field in section.fields]
        values = self._values(section, number, row, names, [self._reader(field) for field in section.fields])
        try:
            with transaction.atomic():
                insert_rows(Project, ["slug", *names], [[self.slug, *values]])
        except IntegrityError as error:
            if Project.objects.filter(slug=self.slug).exists():  # made since the first look
                raise _taken(self.slug) from error
            raise
        self.project = Project.objects.get(slug=self.slug)
        return 1

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
        return lambda value, row: check(value)

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
