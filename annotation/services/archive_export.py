"""Write a whole project into one file that `archive_import` reads elsewhere."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import BinaryIO

from annotation.domain.archive_format import FORMAT, IMPORTED_MARK, MANIFEST, SECTIONS, VERSION, file_of
from annotation.domain.schema_files import document_of
from annotation.models import Project, User, VoteEvent
from annotation.models.snapshot import snapshot
from annotation.models.user import IMPORTED_SUFFIX
from annotation.services.archive_rows import NAMED, Section, kind_of, tables

_EPOCH = (1980, 1, 1, 0, 0, 0)


@snapshot()
def export_archive(*, project: Project, target: BinaryIO, now: datetime) -> dict[str, int]:
    """Write the archive to `target`, which must be seekable; return rows by section.

    Passwords, tokens, sessions and invitations are not part of a project.
    """
    terms = _Terms(project)
    files = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for section in tables():
            files[file_of(section.name)] = _write(archive, section.name, _lines(section, project, terms))
        lines = map(_line, terms.people())
        files[file_of("people")] = _write(archive, "people", lines)
        ordered = {file_of(name): files[file_of(name)] for name in SECTIONS}
        manifest = {"format": FORMAT, "version": VERSION, "project": project.slug, "exported_at": now.isoformat()}
        text = json.dumps(manifest | {"files": ordered}, indent=1)
        archive.writestr(zipfile.ZipInfo(MANIFEST, _EPOCH), text, zipfile.ZIP_DEFLATED)
    return {name: files[file_of(name)]["rows"] for name in SECTIONS}


def _write(archive: zipfile.ZipFile, name: str, lines: Iterator[bytes]) -> dict:
    entry = zipfile.ZipInfo(file_of(name), _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    digest, rows = hashlib.sha256(), 0
    with archive.open(entry, "w", force_zip64=True) as handle:
        for line in lines:
            handle.write(line)
            digest.update(line)
            rows += 1
    return {"sha256": digest.hexdigest(), "rows": rows}


def _lines(section: Section, project: Project, terms: _Terms) -> Iterator[bytes]:
    fields = section.fields
    coders = [terms.coder(field) for field in fields]
    names = [field.name for field in fields]
    rows = section.rows(project).values_list("id", *(field.attname for field in fields))
    for pk, *values in rows.iterator(2000):
        row = {
            name: coder(value, values, fields) if coder else value
            for name, coder, value in zip(names, coders, values, strict=True)
        }
        if section.model is Project:
            row["schema"] = document_of(project.schema)  # whole: it can be read where nobody loaded it
        yield _line({"ref": terms.numbers[section.model][pk]} | row if section.numbered else row)


def _written(value: date) -> str:
    """Return a time or a day as archives have it."""
    return value.isoformat()


def _line(row: dict) -> bytes:
    return json.dumps(row, ensure_ascii=False, default=_written).encode() + b"\n"


class _Terms:
    """Ids of this installation in the archive's own terms; `met` gathers the people that rows name."""

    def __init__(self, project: Project) -> None:
        self.met: set[int] = set()
        self.users = dict(User.objects.accounts().values_list("id", "username"))
        imported = User.objects.filter(imported_into=project)
        self.users |= {person.pk: IMPORTED_MARK + person.name_in_file for person in imported}
        self.numbers, self.names = {}, {}
        for section in tables():
            rows = section.rows(project)
            if section.numbered:
                ids = rows.values_list("id", flat=True)
                self.numbers[section.model] = {pk: at for at, pk in enumerate(ids.iterator(5000), 1)}
            if section.model in NAMED:
                self.names[section.model] = dict(rows.values_list("id", "name"))
        events = VoteEvent.objects.filter(proposition__table__story__project=project).order_by("id")
        keys = events.values_list("annotator_id", "idempotency_key").iterator(5000)
        self.keys = {key: f"k{at}" for at, key in enumerate(keys, 1)}

    def people(self) -> list[dict]:
        """Return the people that rows name, by user name."""
        display_names = dict(User.objects.filter(pk__in=self.met).values_list("id", "display_name"))
        rows = [
            {"username": self.users[pk], "display_name": name.removesuffix(IMPORTED_SUFFIX)}
            for pk, name in display_names.items()
        ]
        return sorted(rows, key=lambda row: row["username"])

    def coder(self, field):
        """Return a function of a value and its row, or None where the value goes as it is."""
        match kind_of(field):
            case "user":
                return lambda value, row, fields: self._user(value)
            case "row":
                numbers = self.numbers[field.related_model]
                return lambda value, row, fields: None if value is None else numbers[value]
            case "name":
                names = self.names[field.related_model]
                return lambda value, row, fields: names.get(value)
            case "key":
                return self._key
            case "votes":
                return lambda value, row, fields: sorted(map(self._vote, value), key=lambda vote: vote["annotator"])
        return None

    def _user(self, pk: int | None) -> str | None:
        if pk is None:
            return None
        self.met.add(pk)
        return self.users[pk]

    def _key(self, value: str, row: list, fields: list) -> str:
        annotator = next(row[at] for at, field in enumerate(fields) if field.name == "annotator")
        return self.keys.get((annotator, value), "")

    def _vote(self, vote: dict) -> dict:
        annotator = vote["annotator"]
        key = self.keys.get((annotator, vote.get("key")), "")
        return {"annotator": self._user(annotator), "label": vote["label"], "key": key}
