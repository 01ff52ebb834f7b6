"""The outcome of a job, and the sentence that says best why items failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from core.messages import gettext_noop


class Outcome(StrEnum):
    """Outcome of a finished job. Open and cancelled jobs have none."""

    FINISHED = "finished"
    UNREADABLE = "unreadable"
    PARTLY = "partly"
    USELESS = "useless"
    FAILED = "failed"


OUTCOME_NAMES = {
    Outcome.FINISHED: "finished",
    Outcome.UNREADABLE: gettext_noop("finished, some unreadable"),
    Outcome.PARTLY: gettext_noop("finished with failures"),
    Outcome.USELESS: gettext_noop("finished, none readable"),
    Outcome.FAILED: "failed",
}


def outcome_of(*, done: int, unreadable: int, failed: int) -> Outcome:
    """Return the outcome of a job whose items have all ended.

    An unreadable answer is not a failed call, but a job that has one did not simply finish; a failure weighs more.
    """
    if done:
        return Outcome.PARTLY if failed else Outcome.UNREADABLE if unreadable else Outcome.FINISHED
    if unreadable:
        return Outcome.USELESS
    return Outcome.FAILED if failed else Outcome.FINISHED


_VARIES = re.compile(r"\b(?:req|request|call|chatcmpl|msg)[-_]\w+|\b(?=\w*\d)[\w-]{8,}|\d+(?:[.,]\d+)*")


def commonest(problems: Iterable[tuple[str, int]]) -> tuple[str, int]:
    """Return the commonest of (sentence, count) pairs with its count; ("", 0) without any.

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
