"""How work came out: the outcome of a job, and the sentence that says best why items failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """How a finished job came out. Open and cancelled jobs have none."""

    FINISHED = "finished"
    PARTLY = "partly"
    FAILED = "failed"


OUTCOME_NAMES = {
    Outcome.FINISHED: "finished",
    Outcome.PARTLY: "finished with failures",
    Outcome.FAILED: "failed",
}


def outcome_of(*, answered: int, failed: int) -> Outcome:
    """The outcome of a job whose items have all ended.

    `answered` counts every item that got an answer, unusable ones too: an answer that says nothing is no failed call.
    """
    if not failed:
        return Outcome.FINISHED
    return Outcome.PARTLY if answered else Outcome.FAILED


_VARIES = re.compile(r"\b(?:req|request|call|chatcmpl|msg)[-_]\w+|\b(?=\w*\d)[\w-]{8,}|\d+(?:[.,]\d+)*")


def commonest(problems: Iterable[tuple[str, int]]) -> tuple[str, int]:
    """(sentence, how often) of the commonest of (sentence, count) pairs; ("", 0) without any.

    Sentences that differ in numbers and request ids alone count as one, which its most frequent form stands for.
    """
    groups: dict[str, dict[str, int]] = {}
    for sentence, count in problems:
        forms = groups.setdefault(_VARIES.sub("#", sentence), {})
        forms[sentence] = forms.get(sentence, 0) + count
    if not groups:
        return "", 0
    forms = max(groups.values(), key=lambda forms: sum(forms.values()))
    return max(forms, key=lambda sentence: forms[sentence]), sum(forms.values())
