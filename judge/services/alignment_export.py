"""Alignments as files: every answer of every person and what came of it, with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet

from judge.domain.alignment import both_sides
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.alignment_report import agreement_report, progress_of
from judge.services.deciding import deciders_of_each
from judge.services.proposals import effect_of_proposals
from judge.services.settled_tables import settled_probabilities

COLUMNS = (
    "table", "story", "category", "model", "probability", "settled_probability", "row", "actor", "belief", "by",
    "answer", "match_count", "method", "handed_in_at",
)  # fmt: skip
SETTLED = "settled"


def tables_of(study: AlignmentStudy) -> QuerySet[AlignmentTask]:
    """Return the tables of a study in order, with what was handed in and settled of them in two statements."""
    handed_in = Alignment.objects.handed_in().select_related("annotator").order_by("slot")
    answers = Prefetch("alignments", handed_in, to_attr="were_handed_in")
    return study.tasks.in_order().select_related("settled").prefetch_related(answers)


def link_rows(study: AlignmentStudy, *, named: bool) -> Iterator[list[Any]]:
    """Yield the answers about each row as `COLUMNS` has them: those of each person who has handed in, then what was
    settled (`by` is "settled" there).

    `story` is the number of what the table is of, whatever the suite calls that. `answer` is the linked rows with
    blanks between, "none" or "unclear"; `model` is empty unless `named`. `probability` is that of the draw,
    `settled_probability` that in the sample of the tables that are settled, which calibration weights by; it is empty
    for a table that is not in that sample, and unless `named`, as it is the same for the tables of one model."""
    sampled = settled_probabilities(study) if named else {}
    for task in tables_of(study).iterator(chunk_size=200):
        task.study = study
        for entry in _entries(task):
            for row, answer in entry["answers"].items():
                words = task.words_of(row)
                yield [
                    task.uid, task.number, task.category, task.source if named else "", task.probability,
                    sampled.get(task.key, ""), row, words["actor"], words["belief"], entry["by"],
                    " ".join(answer["links"]) or answer["verdict"],
                    "" if answer["match_count"] is None else answer["match_count"], answer["method"],
                    entry["at"],
                ]  # fmt: skip


def document_of(study: AlignmentStudy, *, named: bool) -> dict[str, Any]:
    """Return a study with its tables, answers and figures as plain data, and who may decide the tables with open rows;
    whose tables they are only where `named`."""
    progress, sampled = progress_of(study), settled_probabilities(study) if named else {}
    return {
        "study": study.uid,
        "name": study.name,
        "seed": study.seed,
        "overlap": study.overlap,
        "most_links": study.most_links,
        "blind_share": study.blind_share,
        "closed": study.closed_at is not None,
        "progress": {name: getattr(progress, name) for name in progress.__slots__},
        "agreement": agreement_report(study).as_dict(),
        "proposals": effect.as_dict() if (effect := effect_of_proposals(study)) else None,
        "open": [
            {
                "table": table.task.uid,
                "story": table.task.number,
                "open_rows": table.open_rows,
                "may_decide": [user.username for user in people],
            }
            for table, people in deciders_of_each(study)
        ],
        "tables": [document_of_table(study, task, sampled, named=named) for task in tables_of(study)],
    }


def document_of_table(
    study: AlignmentStudy, task: AlignmentTask, sampled: Mapping[str, float], *, named: bool
) -> dict[str, Any]:
    """Return one of `tables_of` the study with its answers as plain data; whose table it is only where `named`.
    `sampled` are the `settled_probabilities` of the study."""
    task.study = study
    provenance = {
        "model": task.source, "settled_probability": sampled.get(task.key), "key": task.key, "origin": task.origin,
    }  # fmt: skip
    return {
        "table": task.uid,
        "story": task.number,
        "category": task.category,
        "place": task.place,
        "probability": task.probability,
        **(provenance if named else {}),
        "predictions": task.predictions,
        "gold": task.gold,
        "alignments": _entries(task),
    }


def _entries(task: AlignmentTask) -> list[dict[str, Any]]:
    """Return the answers of each person who has handed in, then the settled ones, by row of both tables."""
    entries = [
        {
            "by": alignment.annotator.username,
            "at": alignment.handed_in_at.isoformat(),
            "answers": _answers(alignment, task),
        }
        for alignment in task.were_handed_in
    ]
    settled = getattr(task, "settled", None)
    if settled is None:
        return entries
    rows = {
        row: {**settled_row.answer.as_dict(), "match_count": settled_row.count, "method": settled_row.method}
        for row, settled_row in settled.answers.items()
    }
    return [*entries, {"by": SETTLED, "at": settled.changed_at.isoformat(), "answers": rows}]


def _answers(alignment: Alignment, task: AlignmentTask) -> dict[str, dict[str, Any]]:
    sides = both_sides(alignment.answers_by_row, task.rows)
    return {row: {**answer.as_dict(), "match_count": answer.count, "method": ""} for row, answer in sides.items()}
