"""The answer to one question, as official scoring takes it."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.suites.fantom_questions.official import Listed, chooses, listed, yes_or_no
from benchmark.suites.fantom_questions.rows import CHOICE, LIST, YES, Row


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with what its answer was read as. `f1` of a fact and a free belief is from 0 to 1; `near` are the
    cosines of a free belief with the right and the wrong text; `answer_class` is 1, 0 or -1 of a yes or no question;
    `listing` is the part of an answer that is taken for a list, `listed` what is wrong with it."""

    row: Row
    answer: str
    right: bool
    f1: float = 0.0
    near: tuple[float, float] = (0.0, 0.0)
    answer_class: int = -1
    listing: str = ""
    listed: Listed | None = None


def scored_choice_list_or_yes_no(row: Row, answer: str, listing: str | None = None) -> Scored:
    """Return a choice, a list or a yes or no question with what its answer is read as; a list is looked for in
    `listing`, in all of the answer without one."""
    if row.kind == CHOICE:
        return Scored(row, answer, chooses(answer, row.key))
    if row.kind == LIST:
        text = answer if listing is None else listing
        names = listed(text, row.right, row.wrong)
        return Scored(row, answer, names.right, listing=text, listed=names)
    answer_class = yes_or_no(answer)
    return Scored(row, answer, answer_class == int(row.right[0] == YES), answer_class=answer_class)
