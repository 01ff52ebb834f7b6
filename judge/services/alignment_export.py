"""Alignments as files: every answer of every person and what came of it, with where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Prefetch, QuerySet

from core.messages import gettext_noop
from core.plain import Json, plain
from judge.domain.alignment import both_sides
from judge.domain.alignment_agreement import AlignmentAgreement, ProposalEffect
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.alignment_report import (
    StudyProgress,
    agreement_report,
    deciders_of_each,
    effect_of_proposals,
    progress_of,
)
from judge.services.settled_tables import settled_probabilities

COLUMNS = (
    "table", "story", "category", "model", "probability", "settled_probability", "row", "actor", "belief", "by",
    "answer", "match_count", "method", "handed_in_at",
)  # fmt: skip
SETTLED = "settled"
WITHHELD = gettext_noop("withheld: you still have work to do on this story")
"""The answer of a table whose reader has open work on its story."""


@dataclass(frozen=True, slots=True)
class RowEntry:
    """An answer about a row: the rows that it is linked with, or a verdict, its MatchCount, and how it was settled,
    empty for the answer of one person."""

    links: Sequence[str]
    verdict: str
    match_count: int | None
    method: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The answers of the person `by` whom they were handed in, or the settled ones, by row of both tables."""

    by: str
    at: str
    answers: Mapping[str, RowEntry]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Owner and origin of a table."""

    model: str
    settled_probability: float | None
    key: str
    origin: object


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDocument:
    """A table of a study with what was said of its rows; it has no `provenance` for who may not know whose it is.
    `withheld` says why it has no rows either, empty where it has them."""

    table: str
    story: int
    category: str
    place: int
    probability: float
    provenance: Provenance | None
    predictions: Sequence[Sequence[str]]
    gold: Sequence[Sequence[str]]
    alignments: Sequence[Entry]
    withheld: str = ""

    def as_json(self) -> Json:
        """Return it with the parts of its provenance as its own, where it has one."""
        document: Json = {}
        for part in fields(self):
            value = plain(getattr(self, part.name))
            document |= (value or {}) if part.name == "provenance" else {part.name: value}
        return document


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table with rows that wait for an expert, and the user names of those who may decide them."""

    table: str
    story: int
    open_rows: int
    may_decide: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDocument:
    """A study as it leaves the program; `proposals` is None where everybody sees them."""

    study: str
    name: str
    seed: int
    overlap: int
    most_links: int
    blind_share: int
    closed: bool
    progress: StudyProgress
    agreement: AlignmentAgreement
    proposals: ProposalEffect | None
    open: Sequence[OpenTable]
    tables: Sequence[TableDocument]


Closed = Callable[[AlignmentTask], bool]
"""Returns whether the reader of a file has open work on the story of a table."""


def nothing_closed(_task: AlignmentTask) -> bool:
    return False


def tables_of(study: AlignmentStudy) -> QuerySet[AlignmentTask]:
    """Return the tables of a study in order, with what was handed in and settled of them in two statements."""
    handed_in = Alignment.objects.handed_in().select_related("annotator").order_by("slot")
    answers = Prefetch("alignments", handed_in, to_attr="were_handed_in")
    return study.tasks.in_order().select_related("settled").prefetch_related(answers)


def link_rows(study: AlignmentStudy, *, named: bool, closed: Closed = nothing_closed) -> Iterator[list[Any]]:
    """Yield the answers about each row as `COLUMNS` has them: those of each person who has handed in, then what was
    settled (`by` is "settled" there).

    `story` is the number of what the table is of, whatever the suite calls that. `answer` is the linked rows with
    blanks between, "none" or "unclear"; `model` is empty unless `named`. `probability` is that of the draw,
    `settled_probability` that in the sample of the tables that are settled, which calibration weights by; it is empty
    for a table that is not in that sample, and unless `named`, as it is the same for the tables of one model. A table
    that is `closed` has one row, whose answer says that it is withheld."""
    sampled = settled_probabilities(study) if named else {}
    for task in tables_of(study).iterator(chunk_size=200):
        task.study = study
        if closed(task):
            yield [task.uid, task.number, *[""] * (COLUMNS.index("answer") - 2), WITHHELD, "", "", ""]
            continue
        for entry in _entries(task):
            for row, answer in entry.answers.items():
                actor, belief = task.words_of(row)
                yield [
                    task.uid, task.number, task.category, task.source if named else "", task.probability,
                    sampled.get(task.key, ""), row, actor, belief, entry.by,
                    " ".join(answer.links) or answer.verdict,
                    "" if answer.match_count is None else answer.match_count, answer.method, entry.at,
                ]  # fmt: skip


def document_of(study: AlignmentStudy, *, named: bool, closed: Closed = nothing_closed) -> StudyDocument:
    """Return a study with its tables, answers and figures, and who may decide the tables with open rows; whose tables
    they are only where `named`, and no rows of those that are `closed`."""
    sampled = settled_probabilities(study) if named else {}
    return StudyDocument(
        study=study.uid,
        name=study.name,
        seed=study.seed,
        overlap=study.overlap,
        most_links=study.most_links,
        blind_share=study.blind_share,
        closed=study.closed_at is not None,
        progress=progress_of(study),
        agreement=agreement_report(study),
        proposals=effect_of_proposals(study),
        open=[
            OpenTable(table.task.uid, table.task.number, table.open_rows, [user.username for user in people])
            for table, people in deciders_of_each(study)
        ],
        tables=[document_of_table(study, task, sampled, named=named, closed=closed) for task in tables_of(study)],
    )


def document_of_table(
    study: AlignmentStudy,
    task: AlignmentTask,
    sampled: Mapping[str, float],
    *,
    named: bool,
    closed: Closed = nothing_closed,
) -> TableDocument:
    """Return one of `tables_of` the study with its answers; whose table it is only where `named`, and without its rows
    where it is `closed`. `sampled` are the `settled_probabilities` of the study."""
    task.study = study
    withheld = closed(task)
    return TableDocument(
        table=task.uid,
        story=task.number,
        category=task.category,
        place=task.place,
        probability=task.probability,
        provenance=_provenance(task, sampled) if named and not withheld else None,
        predictions=[] if withheld else task.predictions,
        gold=[] if withheld else task.gold,
        alignments=[] if withheld else _entries(task),
        withheld=WITHHELD if withheld else "",
    )


def _provenance(task: AlignmentTask, sampled: Mapping[str, float]) -> Provenance:
    return Provenance(task.source, sampled.get(task.key), task.key, task.origin)


def _entries(task: AlignmentTask) -> list[Entry]:
    """Return the answers of each person who has handed in, then the settled ones."""
    entries = [
        Entry(alignment.annotator.username, alignment.handed_in_at.isoformat(), _answers(alignment, task))
        for alignment in task.were_handed_in
    ]
    settled = getattr(task, "settled", None)
    if settled is None:
        return entries
    rows = {
        row: RowEntry(settled_row.answer.links, settled_row.answer.verdict, settled_row.count, settled_row.method)
        for row, settled_row in settled.answers.items()
    }
    return [*entries, Entry(SETTLED, settled.changed_at.isoformat(), rows)]


def _answers(alignment: Alignment, task: AlignmentTask) -> dict[str, RowEntry]:
    sides = both_sides(alignment.answers_by_row, task.rows)
    return {row: RowEntry(answer.links, answer.verdict, answer.count, "") for row, answer in sides.items()}
