"""Gold in the record format, every vote with its lineage, and the data set's description."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func

from annotation.domain.columns import Echo, defused
from annotation.domain.formats import VOTES, ExportFormat
from annotation.domain.records import Belief, Record
from annotation.models import AnnotatorCounts, GoldLabel, Project, Proposition, Story, TableKind, User, Vote, VoteEvent
from annotation.models.gold import GoldQuerySet
from annotation.models.story import StoryQuerySet
from core.plain import Json


class IsoTime(Func):
    """A time in UTC as `datetime.isoformat` writes it: microseconds where there are any, and `+00:00`."""

    arity = 1
    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace(%(expressions)s, ' ', 'T') || '+00:00'", **context)

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        fraction = "CASE WHEN to_char({0}, 'US') = '000000' THEN '' ELSE to_char({0}, '.US') END"
        utc = "%(expressions)s AT TIME ZONE 'UTC'"
        template = f"""to_char({utc}, 'YYYY-MM-DD"T"HH24:MI:SS') || {fraction.format(utc)} || '+00:00'"""
        return self.as_sql(compiler, connection, template=template, **context)


VOTE_COLUMNS = (
    "story_id", "category", "split", "actor", "belief", "occurrence", "dimension", "annotator", "label", "created_at",
    "received_at", "duration_ms", "arm", "suggested", "gold", "method", "agreement", "decided_by", "decided_at",
    "reason", "error_tag", "rule_version",
    "schema_version",
)  # fmt: skip
_NO_LINEAGE = "," * 8
_BATCH = 25
"""Stories at once: some thousands of votes."""


def gold_records(project: Project, *, complete_only: bool = False) -> Iterator[Record]:
    """Yield one record a story with a table, in the order of import.

    A label is the settled gold, else that of the imported record, else empty. `complete_only` leaves out stories with
    an empty one.
    """
    keys = project.schema.keys
    columns = ("id", "number", "category__name", "text", "extra")
    for batch in _batches(Story.objects.filter(project=project).in_use().order_by("id")):
        rows = _propositions(batch, "id", "actor", "belief", "imported_labels", "extra")
        gold: dict[int, dict[str, str]] = defaultdict(dict)
        for pk, dimension, label in _gold(batch).values_list("proposition_id", "dimension", "label"):
            gold[pk][dimension] = label
        stories = Story.objects.filter(pk__in=batch).order_by("id")
        for story, number, category, text, marks in stories.values_list(*columns):
            beliefs = [
                Belief(
                    actor=actor,
                    belief=belief,
                    labels={**(imported or {}), **gold[pk]},
                    keys=keys,
                    layout=extra.get("layout", ""),
                )
                for pk, actor, belief, imported, extra in rows[story]
            ]
            if complete_only and not all(belief.is_labelled for belief in beliefs):
                continue
            layout = marks.get("layout", "")
            yield Record(story_id=number, story_category=category, story=text, beliefs=beliefs, layout=layout)


def _batches(stories: StoryQuerySet) -> Iterator[list[int]]:
    """Yield the ids of the stories with a gold table, in order, some at a time."""
    every = list(stories.filter(tables__kind=TableKind.GOLD).values_list("id", flat=True))
    return (every[at : at + _BATCH] for at in range(0, len(every), _BATCH))


def _propositions(stories: Sequence[int], *columns: str) -> dict[int, list[tuple[Any, ...]]]:
    """Return story id → its live propositions, by position."""
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=stories).order_by("position")
    for story, *row in live.values_list("table__story_id", *columns):
        rows[story].append(tuple(row))
    return rows


def _gold(stories: Sequence[int]) -> GoldQuerySet:
    return GoldLabel.objects.filter(proposition__table__story__in=stories, proposition__removed_at__isnull=True)


def export_lines(
    project: Project, format: ExportFormat, *, complete_only: bool = False, pseudonyms: bool = False
) -> Iterator[str]:
    """Yield the lines of a streamed format: of gold, of which `complete_only` leaves out stories, or of votes, in which
    `pseudonyms` name people."""
    if format == VOTES:
        return vote_lines(project, pseudonyms=pseudonyms)
    return (line_of(record.as_json()) for record in gold_records(project, complete_only=complete_only))


def line_of(document: Json) -> str:
    """Return a line of JSON."""
    return json.dumps(document, ensure_ascii=False) + "\n"


def vote_lines(project: Project, *, pseudonyms: bool = False) -> Iterator[str]:
    """Yield CSV with one row a standing vote and the lineage of its cell's gold; formulas are defused, `import_votes`
    reads it.

    `created_at` is the annotator's own time of the vote. With `pseudonyms` people are named A1, A2 … by user name.
    """
    yield _cells(*VOTE_COLUMNS) + "\n"
    voted = AnnotatorCounts.objects.filter(story__project=project)
    decided = GoldLabel.objects.filter(proposition__table__story__project=project, decided_by__isnull=False)
    met = set(voted.order_by().values_list("annotator_id", flat=True).distinct())
    met |= set(decided.order_by().values_list("decided_by_id", flat=True).distinct())
    people = User.objects.filter(pk__in=met).order_by("username").values_list("id", "username")
    names = {pk: f"A{at}" if pseudonyms else name for at, (pk, name) in enumerate(people, 1)}
    columns = ("id", "number", "category__name", "split__name")
    for batch in _batches(project.stories.in_use().order_by("number")):
        rows, votes, lineage = _propositions(batch, "id", "actor", "belief"), _votes(batch), _lineages(batch, names)
        for story in Story.objects.filter(pk__in=batch).order_by("number").values_list(*columns):
            head = [defused(str(story[1])), defused(story[2]), defused(story[3] or "")]
            seen: dict[tuple[str, str], int] = defaultdict(int)
            for pk, actor, belief in rows[story[0]]:
                seen[actor, belief] += 1
                place = _cells(*head, defused(actor), defused(belief), str(seen[actor, belief]))
                for dimension, annotator, vote in votes[pk]:
                    settled = lineage.get((pk, dimension), _NO_LINEAGE)
                    yield f"{place},{dimension},{_cell(names[annotator])},{vote},{settled}\n"


def _cells(*values: str) -> str:
    """Return the values as a part of a line of CSV. Quoting is a matter of each cell, so that parts can be joined."""
    return csv.writer(Echo(), lineterminator="").writerow(values)


@lru_cache(4096)
def _cell(text: str) -> str:
    """Return one cell, defused."""
    return _cells(defused(text)) if text else ""


def _votes(stories: Sequence[int]) -> dict[int, list[tuple[str, int, str]]]:
    """Return proposition id → (dimension, annotator id, the vote's own cells) of its votes, in that order."""
    here = {"proposition__table__story__in": stories}
    events = VoteEvent.objects.filter(**here, applied=True).order_by()
    arrived = {
        (annotator, key): at
        for annotator, key, at in events.values_list("annotator_id", "idempotency_key", IsoTime("received_at"))
    }
    votes: dict[int, list[tuple[str, int, str]]] = defaultdict(list)
    rows = Vote.objects.cast().filter(**here).order_by("dimension", "annotator_id")
    columns = ("annotator_id", "idempotency_key", "label", IsoTime("changed_at"), "duration_ms", "arm", "suggested")
    for pk, dimension, who, key, label, at, took, arm, seen in rows.values_list(
        "proposition_id", "dimension", *columns
    ):
        took = "" if took is None else took
        vote = f"{_cell(label)},{at},{arrived.get((who, key), '')},{took},{arm},{_cell(seen)}"
        votes[pk].append((dimension, who, vote))
    return votes


def _lineages(stories: Sequence[int], names: Mapping[int, str]) -> dict[tuple[int, str], str]:
    """Return (proposition id, dimension) → the cells that tell of its gold."""
    columns = ("proposition_id", "dimension", "label", "method", "agreement", "decided_by_id", IsoTime("decided_at"))
    remarks = ("reason", "error_tag", "rule_version", "schema_version")
    lineages = {}
    for pk, dimension, label, method, agreement, decider, at, *rest in _gold(stories).values_list(*columns, *remarks):
        share = "" if agreement is None else round(agreement, 4)
        decided = f"{_cell(names.get(decider, ''))},{at}"
        lineages[pk, dimension] = f"{_cell(label)},{method},{share},{decided},{','.join(map(_cell, rest))}"
    return lineages
