"""Gold in the record format, every vote with its lineage, and the data set's description."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.db.models import OuterRef, Subquery

from annotation.domain.formats import VOTES, ExportFormat
from annotation.domain.records import RECORD_FIELDS, belief_of, record_of
from annotation.domain.spreadsheet import Echo, defused
from annotation.models import GoldLabel, Project, Proposition, Story, TableKind, User, Vote, VoteEvent

VOTE_COLUMNS = (
    "story_id", "category", "split", "actor", "belief", "occurrence", "dimension", "annotator", "label", "created_at",
    "received_at", "duration_ms", "arm", "suggested", "gold", "method", "agreement", "decided_by", "decided_at",
    "reason", "error_tag", "rule_version",
    "schema_version",
)  # fmt: skip
_NO_LINEAGE = [""] * 9
_BATCH = 200


def gold_records(project: Project, *, complete_only: bool = False) -> Iterator[dict]:
    """Yield one record a story with a table, in the order of import: its fields in the format's order, then what else
    it came with.

    A label is the settled gold, else that of the imported record, else empty. `complete_only` leaves out stories with
    an empty one.
    """
    stories = (
        Story.objects.filter(project=project, tables__kind=TableKind.GOLD).select_related("category").order_by("id")
    )
    keys = project.schema.keys
    for batch in _batches(stories):
        rows, gold = _tables(batch)
        for story in batch:
            beliefs = [_belief(row, gold.get(row.pk, {}), keys) for row in rows[story.pk]]
            if complete_only and not all(all(belief.get("labels", {}).get(key) for key in keys) for belief in beliefs):
                continue
            values = (story.number, story.category.name, story.text, beliefs)
            yield record_of(story.extra.get("layout", ""), dict(zip(RECORD_FIELDS, values, strict=True)))


def _batches(stories) -> Iterator[list[Story]]:
    every = list(stories)
    return (every[at : at + _BATCH] for at in range(0, len(every), _BATCH))


def _tables(stories: list[Story]) -> tuple[dict, dict]:
    rows: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=stories).select_related("table").order_by("position")
    for row in live:
        rows[row.table.story_id].append(row)
    gold: dict[int, dict[str, GoldLabel]] = defaultdict(dict)
    labels = GoldLabel.objects.filter(proposition__table__story__in=stories, proposition__removed_at__isnull=True)
    for label in labels.defer("votes"):
        gold[label.proposition_id][label.dimension] = label
    return rows, gold


def _belief(row: Proposition, gold: dict[str, GoldLabel], keys: tuple[str, ...]) -> dict:
    labels = (row.imported_labels or {}) | {key: label.label for key, label in gold.items()}
    layout = row.extra.get("layout", "")
    return belief_of(layout, actor=row.actor, belief=row.belief, labels=labels, keys=keys)


def gold_lines(project: Project, *, complete_only: bool = False) -> Iterator[str]:
    """Yield the records of `gold_records` as lines of JSON."""
    for record in gold_records(project, complete_only=complete_only):
        yield line_of(record)


def export_lines(
    project: Project, format: ExportFormat, *, complete_only: bool = False, pseudonyms: bool = False
) -> Iterator[str]:
    """Yield the lines of a streamed format: of gold, of which `complete_only` leaves out stories, or of votes, in which
    `pseudonyms` name people."""
    if format == VOTES:
        return vote_lines(project, pseudonyms=pseudonyms)
    return gold_lines(project, complete_only=complete_only)


def line_of(record: dict) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def vote_lines(project: Project, *, pseudonyms: bool = False) -> Iterator[str]:
    """Yield CSV with one row a standing vote and the lineage of its cell's gold; formulas are defused, `import_votes`
    reads it.

    `created_at` is the annotator's own time of the vote. With `pseudonyms` people are named A1, A2 … by user name.
    """
    writer = csv.writer(Echo(), lineterminator="\n")
    yield writer.writerow(VOTE_COLUMNS)
    names = _names(project, pseudonyms)
    stories = project.stories.filter(tables__kind=TableKind.GOLD).select_related("category", "split").order_by("number")
    for batch in _batches(stories):
        rows, gold = _tables(batch)
        votes = _votes(batch)
        for story in batch:
            head = [str(story.number), story.category.name, story.split.name if story.split_id else ""]
            seen: dict[tuple[str, str], int] = defaultdict(int)
            for row in rows[story.pk]:
                seen[row.actor, row.belief] += 1
                place = [*map(defused, (*head, row.actor, row.belief)), str(seen[row.actor, row.belief])]
                lineage = {key: _lineage(label, names) for key, label in gold[row.pk].items()}
                for dimension, annotator, *vote in votes[row.pk]:
                    cells = [dimension, defused(names[annotator]), *_vote_cells(*vote)]
                    yield writer.writerow([*place, *cells, *lineage.get(dimension, _NO_LINEAGE)])


def _votes(stories: list[Story]) -> dict[int, list[tuple]]:
    """Return proposition id → (dimension, annotator id, label, changed at, received at, milliseconds, arm, suggestion
    seen) of its votes."""
    event = VoteEvent.objects.filter(annotator=OuterRef("annotator"), client_key=OuterRef("client_key"))
    cast = Vote.objects.cast().filter(proposition__table__story__in=stories).order_by("dimension", "annotator_id")
    columns = (
        "dimension",
        "annotator_id",
        "label",
        "changed_at",
        Subquery(event.values("received_at")),
        "duration_ms",
        "arm",
        "suggested",
    )
    votes_by_proposition: dict[int, list[tuple]] = defaultdict(list)
    for proposition, *vote in cast.values_list("proposition_id", *columns):
        votes_by_proposition[proposition].append(tuple(vote))
    return votes_by_proposition


def _vote_cells(
    label: str, changed: datetime, received: datetime | None, milliseconds: int | None, arm: str, suggested: str
) -> list[str]:
    arrived = received.isoformat() if received else ""
    return [label, changed.isoformat(), arrived, "" if milliseconds is None else str(milliseconds), arm, suggested]


def _lineage(gold: GoldLabel, names: dict[int, str]) -> list[str]:
    cells = [
        gold.label,
        gold.method,
        "" if gold.agreement is None else str(round(gold.agreement, 4)),
        names.get(gold.decided_by_id, ""),
        gold.decided_at.isoformat(),
        gold.reason,
        gold.error_tag,
        gold.rule_version,
        gold.schema_version,
    ]
    return [defused(cell) for cell in cells]


def _names(project: Project, pseudonyms: bool) -> dict[int, str]:
    voted = Vote.objects.filter(proposition__table__story__project=project)
    decided = GoldLabel.objects.filter(proposition__table__story__project=project, decided_by__isnull=False)
    met = set(voted.order_by().values_list("annotator_id", flat=True).distinct())
    met |= set(decided.order_by().values_list("decided_by_id", flat=True).distinct())
    people = User.objects.filter(pk__in=met).order_by("username").values_list("id", "username")
    return {pk: f"A{at}" if pseudonyms else name for at, (pk, name) in enumerate(people, 1)}
