"""The column values of an archive's row: checked, and in terms of this installation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import models

from annotation.domain.archive_format import BadArchive
from annotation.domain.gold_votes import GoldVote, as_json
from annotation.services.archive_columns import BadValue, checker
from annotation.services.archive_rows import Section, kind_of
from annotation.services.votes import MAX_CLOCK_LEAD
from core.messages import Sentence, gettext_noop


class Here:
    """Look-ups from the archive's names and numbers to ids here: `users` by name, `ids` by model and number or name, as
    far as they are in.

    Keys of votes begin with `key_start`, so that those of two copies differ.
    """

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.key_start = ""
        self.users: dict[str, int] = {}
        self.ids: dict[type[models.Model], dict[Any, int]] = {}
        self._readers: dict[str, dict[str, Callable]] = {}

    def _readers_of(self, section: Section) -> dict[str, Callable]:
        if section.name not in self._readers:
            self._readers[section.name] = {field.name: self._reader(field) for field in section.fields}
        return self._readers[section.name]

    def values(self, section: Section, number: int, row: dict) -> list:
        """Return the values in the order of the section's fields. Raises BadArchive."""
        readers = self._readers_of(section)
        if foreign := row.keys() - readers.keys() - {"ref"}:
            raise BadArchive(
                Sentence(
                    "{section}.jsonl, line {number}: the field {foreign} is not known.",
                    section=section.name,
                    number=number,
                    foreign=repr(min(foreign)[:60]),
                )
            )
        if missing := readers.keys() - row.keys():
            raise BadArchive(
                Sentence(
                    "{section}.jsonl, line {number}: the field {missing} is missing.",
                    section=section.name,
                    number=number,
                    missing=repr(min(missing)),
                )
            )
        values = []
        for name, reader in readers.items():
            try:
                values.append(reader(row[name], row))
            except BadValue as error:
                raise BadArchive(
                    Sentence(
                        "{section}.jsonl, line {number}, field {name}: {error}",
                        section=section.name,
                        number=number,
                        name=name,
                        error=error,
                    )
                ) from error
        return values

    @staticmethod
    def ref(section: Section, number: int, row: dict) -> int:
        ref = row.get("ref")
        if not isinstance(ref, int):
            raise BadArchive(
                Sentence(
                    "{section}.jsonl, line {number}, field ref: expected a whole number.",
                    section=section.name,
                    number=number,
                )
            )
        return ref

    def _reader(self, field: models.Field):
        """Return a function of a value and its row to the column's value. It raises BadValue."""
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
        """Return the time, or now where it is as little ahead as a saved vote may be. Raises BadValue beyond that."""
        if moment is not None and moment > self.now + MAX_CLOCK_LEAD:
            raise BadValue(gettext_noop("it lies in the future."))
        return moment if moment is None else min(moment, self.now)

    @staticmethod
    def _look_up(ids: dict, value: Any, field: models.Field) -> int | None:
        if value is None and field.null:
            return None
        pk = ids.get(value) if isinstance(value, str | int) else None
        if pk is None:
            raise BadValue(Sentence("it names {value}, which the archive does not hold.", value=repr(str(value)[:60])))
        return pk

    def _key(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > 20 or not value.isascii():
            raise BadValue(gettext_noop("expected a key such as k1."))
        return f"{self.key_start}-{value}" if value else ""

    def _votes(self, value: Any) -> list[dict]:
        if not isinstance(value, list) or not all(isinstance(vote, dict) for vote in value) or len(value) > 100:
            raise BadValue(gettext_noop("expected a list of votes."))
        votes = []
        for vote in value:
            name, label = vote.get("annotator"), vote.get("label")
            annotator = self.users.get(name) if isinstance(name, str) else None
            if annotator is None or not isinstance(label, str):
                raise BadValue(gettext_noop("a vote has no annotator or no label."))
            votes.append(GoldVote(annotator, label, self._key(vote.get("key"))))
        return as_json(sorted(votes, key=attrgetter("annotator")))
