"""Alignments as files: every answer of every person and what came of it, with where it comes from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet

from core.messages import gettext_noop
from core.plain import Json, plain
from judge.domain.alignment import RowAnswer, both_sides
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.alignment_report import agreement_report, deciders_of_each, effect_of_proposals, progress_of
from judge.services.settled_tables import settled_probabilities

COLUMNS = (
    "table", "story", "category", "model", "probability", "settled_probability", "row", "actor", "belief", "by",
    "answer", "match_count", "method", "handed_in_at",
)  # fmt: skip
SETTLED = "settled"
WITHHELD = gettext_noop("withheld: you still have work to do on this story")
"""The answer of a table whose reader has open work on its story."""
Closed = Callable[[AlignmentTask], bool]
"""Returns whether the reader of a file has open work on the story of a table."""


def tables_of(study: AlignmentStudy) -> QuerySet[AlignmentTask]:
    """Return the tables of a study in order, with what was handed in and settled of them in two statements."""
    handed_in = Alignment.objects.handed_in().select_related("annotator").order_by("slot")
    answers = Prefetch("alignments", handed_in, to_attr="were_handed_in")
    return study.tasks.in_order().select_related("settled").prefetch_related(answers)


def link_rows(study: AlignmentStudy, *, named: bool, closed: Closed = lambda _task: False) -> Iterator[list[Any]]:
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
        of_table = [task.uid, task.number, task.category, task.source if named else "", task.probability]
        of_table.append(sampled.get(task.key, ""))
        for entry in _entries(task):
            for row, answer in entry["answers"].items():
                count = answer["match_count"]
                text = " ".join(answer["links"]) or answer["verdict"]
                said = [entry["by"], text, "" if count is None else count, answer["method"], entry["at"]]
                yield [*of_table, row, *task.words_of(row), *said]


def document_of(study: AlignmentStudy, *, named: bool, closed: Closed = lambda _task: False) -> Json:
    """Return a study with its tables, answers and figures, and the user names of those who may decide the tables with
    open rows. Tables have their model only if `named`, and no rows if they are `closed`."""
    sampled = settled_probabilities(study) if named else {}
    return {
        "study": study.uid,
        **{name: getattr(study, name) for name in ("name", "seed", "overlap", "most_links", "blind_share")},
        "closed": study.closed_at is not None,
        "progress": plain(progress_of(study)),
        "agreement": plain(agreement_report(study)[0]),
        "proposals": plain(effect_of_proposals(study)),
        "open": [
            {
                "table": table.task.uid,
                "story": table.task.number,
                "open_rows": table.open_rows,
                "may_decide": [user.username for user in people],
            }
            for table, people in deciders_of_each(study)
        ],
        "tables": [document_of_table(study, task, sampled, named=named, closed=closed) for task in tables_of(study)],
    }


def document_of_table(
    study: AlignmentStudy, task: AlignmentTask, sampled: Mapping[str, float], *, named: bool, closed: Closed
) -> Json:
    """Return one of `tables_of` the study with its answers: its model and origin only if `named`, its rows only if it
    is not `closed`. `sampled` are the `settled_probabilities` of the study."""
    task.study = study
    withheld = closed(task)
    origin = {
        "model": task.source,
        "settled_probability": sampled.get(task.key),
        "key": task.key,
        "origin": task.origin,
    }
    return {
        "table": task.uid,
        "story": task.number,
        "category": task.category,
        "place": task.place,
        "probability": task.probability,
        **(origin if named and not withheld else {}),
        "predictions": [] if withheld else task.predictions,
        "gold": [] if withheld else task.gold,
        "alignments": [] if withheld else _entries(task),
        "withheld": WITHHELD if withheld else "",
    }


def _entries(task: Any) -> list[Json]:
    """Return the answers by row of each person who has handed in, then the settled ones. `method` is "" for the answer
    of one person."""
    entries = []
    for alignment in task.were_handed_in:
        sides = both_sides(alignment.answers_by_row, task.rows)
        answers = {row: _answer(answer, answer.count) for row, answer in sides.items()}
        at = alignment.handed_in_at.isoformat()
        entries.append({"by": alignment.annotator.username, "at": at, "answers": answers})
    if settled := getattr(task, "settled", None):
        answers = {row: _answer(one.answer, one.count, one.method) for row, one in settled.answers.items()}
        entries.append({"by": SETTLED, "at": settled.changed_at.isoformat(), "answers": answers})
    return entries


def _answer(answer: RowAnswer, count: int | None, method: str = "") -> Json:
    return {"links": list(answer.links), "verdict": answer.verdict, "match_count": count, "method": method}
