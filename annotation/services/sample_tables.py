"""The belief tables of the sample project: two experts write each apart, and one of them reconciles the two."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from annotation.domain.drafts import Change, RowState
from annotation.domain.reconciliation import PairState, Status
from annotation.domain.sample_corpus import FOLDER, bare_records, sample_records
from annotation.domain.stories import StoryRow
from annotation.models import Pair, Project, Story, User
from annotation.services.drafts import hand_in, save_rows
from annotation.services.new_stories import insert_stories
from annotation.services.reconciliation import decide, finish, open_pairs, pairs_of
from core.ids import new_uid

BOTH = "both"
"""The note of a row that neither expert wrote and that was added when they reconciled."""
Row = tuple[str, str]
"""Actor and belief."""


class _Note(NamedTuple):
    """Deviation of an expert from the settled table, and the remark on it.

    Without a belief it is a row of theirs that was dropped; without `wrote` and `order` they left the row out.
    """

    actor: str
    belief: str
    expert: str
    wrote: str
    order: str
    remark: str


def add_stories(project: Project) -> None:
    """Write all stories of the sample, none with a table yet; within a transaction of the caller's."""
    for name, records in (("stories.jsonl", sample_records()), ("bare_stories.jsonl", bare_records())):
        rows = [
            StoryRow(name, line, record.story_category, record.story, number=record.story_id)
            for line, record in enumerate(records, 1)
        ]
        insert_stories(project, rows, name)


def write_tables(*, project: Project, experts: Mapping[str, User], now: datetime) -> None:
    """Have the experts write and reconcile the tables of the sample corpus, and hand in two more tables that are left
    to reconcile."""
    stories = {story.number: story for story in project.stories.select_related("project")}
    notes: dict[int, list[_Note]] = defaultdict(list)
    for row in rows_of("reconciliations.csv"):
        notes[int(row.pop("story_id"))].append(_Note(**row))
    for record in sample_records():
        number = record.story_id
        settled = [RowState(row.actor, row.belief, row.labels["order"]) for row in record.beliefs]
        for name, expert in experts.items():
            _write(stories[number], expert, _draft(settled, notes[number], name), now)
        first, story = next(iter(experts.values())), stories[number]
        open_pairs(story=story, by=first, now=now)
        decisions = [
            Change(row, base, state, new_uid(), new_uid(), now)
            for row, base, state in _decided(list(pairs_of(story)), settled, notes[number])
            if base != state
        ]
        decide(by=first, story=story, decisions=decisions, now=now)
        finish(by=first, story=story, now=now)
    drafts: dict[tuple[int, str], list[RowState]] = defaultdict(list)
    for row in rows_of("drafts.csv"):
        state = RowState(row["actor"], row["belief"], row["order"], row["remark"])
        drafts[int(row["story_id"]), row["expert"]].append(state)
    for (number, name), rows in drafts.items():
        _write(stories[number], experts[name], rows, now)


def rows_of(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)


def _draft(settled: list[RowState], notes: list[_Note], expert: str) -> Iterator[RowState]:
    by_row = {(note.actor, note.belief): note for note in notes if note.expert in (expert, BOTH)}
    for row in settled:
        note = by_row.get((row.actor, row.belief))
        if note is None:
            yield row
        elif note.wrote or note.order:
            yield replace(row, belief=note.wrote or row.belief, order=note.order or row.order)
    yield from (
        RowState(note.actor, note.wrote, "1") for note in notes if note.expert in (expert, BOTH) and not note.belief
    )


def _write(story: Story, expert: User, rows: Iterable[RowState], now: datetime) -> None:
    changes = [
        Change(new_uid(), None, replace(row, place=float(place)), new_uid(), new_uid(), now)
        for place, row in enumerate(rows, 1)
    ]
    save_rows(by=expert, story=story, changes=changes, now=now)
    hand_in(by=expert, story=story, now=now)


def _decided(
    pairs: list[Pair], settled: list[RowState], notes: list[_Note]
) -> Iterator[tuple[str, PairState | None, PairState]]:
    """Yield (uid of a pair, its state, what it is decided to be): settled rows in their order, then the dropped."""
    remarks: dict[Row, str] = {(note.actor, note.belief or note.wrote): note.remark for note in notes}
    meant: dict[Row, Row] = {(note.actor, note.wrote): (note.actor, note.belief) for note in notes if note.belief}
    by_row: dict[Row, Pair] = {}
    for each in pairs:
        written = (each.actor, each.belief)
        by_row[meant.get(written, written)] = each
    place = 0.0
    for row in settled:
        key = (row.actor, row.belief)
        if pair := by_row.pop(key, None):
            base = pair.state
            place = base.place if base.status == Status.KEPT else place + 0.01
            yield pair.uid, base, PairState(Status.KEPT.value, *key, row.order, remarks.get(key, ""), place)
        else:
            place += 0.01
            yield new_uid(), None, PairState(Status.KEPT.value, *key, row.order, remarks.get(key, ""), place)
    for key, pair in by_row.items():
        base = pair.state
        yield pair.uid, base, replace(base, status=Status.DROPPED.value, remark=remarks[key])
