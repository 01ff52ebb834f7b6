"""An answer in both readings, as plain data.

A reading has `right`; that of a fact `f1` instead, which a free belief has, too, beside `near`, its cosines with the right and the wrong text. A choice
has `said`, the place of the option, None in the official reading, which only says whether it is the right one; a yes or no question `said`, 1, 0 or -1 for neither;
a list `named`, the characters in it, `excluded`, whether one who knows is lacking, and `included`, whether one is there who does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.contract import Sample
from benchmark.suites.fantom.embedding import Embedder
from benchmark.suites.fantom.official import token_f1
from benchmark.suites.fantom.outcomes import Scored, scored_row
from benchmark.suites.fantom.repaired import names_in, option_of, squad_f1, yes_or_no
from benchmark.suites.fantom.rows import CHOICE, DISTANCE, FACT, LIST, YES
from benchmark.suites.fantom.samples import row_of

Reading = Mapping[str, Any]
UNREAD: Mapping[str, str] = {
    FACT: "is empty",
    DISTANCE: "is empty, or as near to one text as to the other",
    CHOICE: "names none of the options, or both",
    LIST: "names none of the characters",
}
NEITHER = "says neither yes nor no, or both"


def readings_of(sample: Sample, answer: str, embedder: Embedder) -> tuple[Reading, Reading | None]:
    """Return the official reading of an answer and the repaired one, None where a person cannot read it. `answer` begins after the released code's marker."""
    scored = scored_row(row_of(sample), answer, embedder)
    return _official(sample, scored), _repaired(sample, scored)


def unread(sample: Sample) -> str:
    """Return what is said of an answer to a question that cannot be read."""
    return UNREAD.get(sample.content["kind"], NEITHER)


def _official(sample: Sample, scored: Scored) -> Reading:
    kind = scored.row.kind
    if kind == FACT:
        return {"f1": scored.f1}
    if kind == DISTANCE:
        return {"right": scored.right, "near": list(scored.near), "f1": scored.f1}
    if kind == CHOICE:
        return {"right": scored.right, "said": None}
    if scored.listed is None:
        return {"right": scored.right, "said": scored.said}
    named = [name for name in sample.content["names"] if name.lower() in scored.answer.lower()]
    excluded, included = scored.listed.excluded_aware, scored.listed.included_unaware
    return {"right": scored.right, "named": named, "excluded": excluded, "included": included}


def _repaired(sample: Sample, scored: Scored) -> Reading | None:
    row, answer = scored.row, scored.answer
    if row.kind == FACT:
        return {"f1": squad_f1(row.right[0], answer)} if answer.strip() else None
    if row.kind == DISTANCE:
        readable = answer.strip() and scored.near[0] != scored.near[1]
        f1 = token_f1((row.right if scored.right else row.wrong)[0], answer)
        return {"right": scored.right, "near": list(scored.near), "f1": f1} if readable else None
    if row.kind == CHOICE:
        place = option_of(answer, row.options)
        return None if place is None else {"right": place == row.key, "said": place}
    return _list(sample, answer) if row.kind == LIST else _single(sample, answer)


def _list(sample: Sample, answer: str) -> Reading | None:
    named = names_in(answer, sample.content["names"])
    if named is None:
        return None
    excluded = not {*sample.gold["right"]} <= {*named}
    included = not {*named}.isdisjoint(sample.gold["wrong"])
    return {"right": not (excluded or included), "named": named, "excluded": excluded, "included": included}


def _single(sample: Sample, answer: str) -> Reading | None:
    said = yes_or_no(answer)
    return None if said is None else {"right": said == int(sample.gold["right"][0] == YES), "said": said}
