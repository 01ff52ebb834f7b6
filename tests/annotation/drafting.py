"""An expert's table, written at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from annotation.domain.drafts import Change, RowState, places_of
from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, Story, User
from annotation.services.drafts import live_rows, save_rows, take_slot
from core.ids import new_uid


@transaction.atomic
def write_draft(*, by: User, story: Story, rows: Sequence[TableRow], now: datetime, origin: str) -> BeliefTable:
    """Replace what stands in the expert's draft by these rows, as one action that undo takes back. Raises Refused."""
    table = take_slot(by=by, story=story, expert=by)
    action = f"write-{new_uid()}"
    gone = [
        Change(uid, state, replace(state, removed=True), f"{action}-{uid}", action, now, kind="paste")
        for uid, state in ((row.uid, row.state) for row in live_rows(table))
    ]
    places = places_of(None, None, len(rows))
    states = [RowState(row.actor, row.belief, row.order, place=at) for row, at in zip(rows, places, strict=True)]
    new = [
        Change(uid, None, state, f"{action}-{uid}", action, now, kind="paste", origin=origin)
        for uid, state in ((new_uid(), state) for state in states)
    ]
    if gone or new:
        save_rows(by=by, story=story, changes=[*gone, *new], now=now)
    return table
