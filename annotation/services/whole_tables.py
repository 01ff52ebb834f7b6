"""Taking a story's whole belief table from outside: one set of rules and sentences for a file and for the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.domain.tables import MAX_ROWS, TableRow
from annotation.models import Proposition, Story, User
from annotation.services.belief_tables import Written, write_table
from core.messages import gettext_noop

CREATED, CHANGED, UNCHANGED = gettext_noop("created"), gettext_noop("changed"), gettext_noop("unchanged")


class NotTaken(ValueError):
    """A story's table is not taken; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of a write; `outcome` is CREATED, CHANGED or UNCHANGED."""

    outcome: str
    written: Written


class _Rehearsal(Exception):
    """Ends the transaction of a story of which nothing is to be kept."""


def take_table(
    *, by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, replace: bool, dry_run: bool = False
) -> Taken:
    """Write the rows as the story's gold table; with `dry_run` nothing is kept. Another table that is there is written
    over with `replace` only. Raises NotTaken."""
    has_table = _check(rows, story)
    written: Written | None = None
    try:
        with transaction.atomic():
            written = write_table(by=by, story=story, rows=rows, now=now, only_new=not replace)
            if dry_run:
                raise _Rehearsal
    except _Rehearsal:
        pass
    if written is None:
        raise NotTaken(
            gettext("Story {number} has another table already; choose to replace tables to write over it.").format(
                number=story.number
            )
        )
    is_same = has_table and not (written.added or written.removed or written.moved)
    return Taken(UNCHANGED if is_same else CHANGED if has_table else CREATED, written)


def _check(rows: Sequence[TableRow], story: Story) -> bool:
    """Return whether the story has a table. Raises NotTaken where the rows cannot be its table."""
    if len(rows) > MAX_ROWS:
        raise NotTaken(
            gettext("Story {number} has {rows} rows; expected at most {max_rows}.").format(
                number=story.number, rows=len(rows), max_rows=MAX_ROWS
            )
        )
    has_table = Proposition.objects.gold_of(story).exists()
    if not has_table and story.tables.drafts().exists():
        raise NotTaken(
            gettext("Experts are writing the table of story {number}; release them first.").format(number=story.number)
        )
    return has_table
