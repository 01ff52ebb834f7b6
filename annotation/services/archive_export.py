"""Write a whole project into one file that `archive_import` reads elsewhere."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from operator import itemgetter, methodcaller
from typing import Any, BinaryIO

from django.db import connection, transaction

from annotation.domain.archive_format import FORMAT, IMPORTED_MARK, MANIFEST, VERSION, file_of
from annotation.domain.schema_files import document_of
from annotation.models import Project, User, VoteEvent
from annotation.models.user import IMPORTED_SUFFIX
from annotation.services.archive_sections import NAMED, Section, kind_of, section_names, tables
from core.plain import Json


@contextmanager
def snapshot() -> Iterator[None]:
    """Several reads see one state of the database, and hold off no writer (an atomic block would, on SQLite).

    Inside a transaction it does nothing. Write nothing within.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
        try:
            yield
        finally:
            connection.rollback()


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
            files[section.name] = _write(archive, section.name, terms.lines(section))
        files["people"] = _write(archive, "people", terms.people())
        ordered = {file_of(name): files[name] for name in section_names()}
        manifest = {"format": FORMAT, "version": VERSION, "project": project.slug, "exported_at": now.isoformat()}
        text = json.dumps(manifest | {"files": ordered}, indent=1)
        archive.writestr(zipfile.ZipInfo(MANIFEST, _EPOCH), text, zipfile.ZIP_DEFLATED)
    return {name: files[name]["rows"] for name in section_names()}


def _write(archive: zipfile.ZipFile, name: str, rows: Iterator[Json]) -> Json:
    entry = zipfile.ZipInfo(file_of(name), _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    digest, count = hashlib.sha256(), 0
    with archive.open(entry, "w", force_zip64=True) as handle:
        for row in rows:
            line = json.dumps(row, ensure_ascii=False, default=methodcaller("isoformat")).encode() + b"\n"
            handle.write(line)
            digest.update(line)
            count += 1
    return {"sha256": digest.hexdigest(), "rows": count}


class _Terms:
    """Ids of this installation in the archive's own terms; `met` are the people that rows name."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.met: set[int] = set()
        self.users = dict(User.objects.accounts().values_list("id", "username"))
        for person in User.objects.filter(imported_into=project):
            self.users[person.pk] = IMPORTED_MARK + person.name_in_file
        self.numbers: dict[Any, dict[Any, Any]] = {}
        for section in tables():
            rows = section.rows(project)
            if section.numbered:
                ids = rows.values_list("id", flat=True)
                self.numbers[section.model] = {pk: at for at, pk in enumerate(ids.iterator(5000), 1)}
            elif section.model in NAMED:
                self.numbers[section.model] = dict(rows.values_list("id", "name"))
        events = VoteEvent.objects.filter(proposition__table__story__project=project).order_by("id")
        keys = events.values_list("annotator_id", "idempotency_key").iterator(5000)
        self.keys: dict[Any, str] = {key: f"k{at}" for at, key in enumerate(keys, 1)}

    def lines(self, section: Section) -> Iterator[Json]:
        fields = [(field, kind_of(field)) for field in section.fields]
        columns = [field.attname for field in section.fields]
        annotator = columns.index("annotator_id") if "annotator_id" in columns else 0
        for pk, *values in section.rows(self.project).values_list("id", *columns).iterator(2000):
            row = {"ref": self.numbers[section.model][pk]} if section.numbered else {}
            for (field, kind), value in zip(fields, values, strict=True):
                name = field.name
                match kind:
                    case "user":
                        row[name] = self._user(value)
                    case "row" | "name":
                        row[name] = self.numbers[field.related_model].get(value)
                    case "key":
                        row[name] = self.keys.get((values[annotator], value), "")
                    case "votes":
                        votes = [
                            {
                                "annotator": self._user(vote["annotator"]),
                                "label": vote["label"],
                                "key": self.keys.get((vote["annotator"], vote.get("key")), ""),
                            }
                            for vote in value
                        ]
                        row[name] = sorted(votes, key=itemgetter("annotator"))
                    case _:
                        row[name] = value
            if section.model is Project:
                row["schema"] = document_of(self.project.schema)  # whole: it can be read where nobody loaded it
            yield row

    def people(self) -> Iterator[Json]:
        """Yield the people that rows name, by user name."""
        display_names = dict(User.objects.filter(pk__in=self.met).values_list("id", "display_name"))
        for pk in sorted(display_names, key=self.users.__getitem__):
            yield {"username": self.users[pk], "display_name": display_names[pk].removesuffix(IMPORTED_SUFFIX)}

    def _user(self, pk: int | None) -> str | None:
        if pk is None:
            return None
        self.met.add(pk)
        return self.users[pk]
