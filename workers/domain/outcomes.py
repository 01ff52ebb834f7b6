"""The outcome of a job, and the sentence that says best why items failed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.messages import Sentence, gettext_noop
from workers.providers.errors import Again, BackendError

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits on sending calls: `attempts` in all, `unknown` times again after an unknown outcome; `cap` limits
    Retry-After, in seconds."""

    attempts: int = 6
    unknown: int = 1
    cap: float = 60.0


def decide(
    error: BackendError, *, attempts: int, unknowns: int, policy: Policy, jitter: float
) -> tuple[float | None, str]:
    """Return the seconds until a call whose attempt number `attempts` failed is sent again, None if it is not, and the
    reason as a sentence. `unknowns` attempts, this one included, ended unknown.

    `jitter` in 0…1 spreads the calls that failed together over a quarter of the pause.
    """
    problem = _ended(str(error))
    paid = (
        Sentence(" The outcome of {unknowns} is unknown; it may have been paid.", unknowns=_times(unknowns))
        if unknowns
        else ""
    )
    if error.again is Again.NEVER or (error.again is Again.UNKNOWN and unknowns > policy.unknown):
        return None, problem + paid
    if attempts >= policy.attempts:
        return None, Sentence(
            "{problem} Given up after {attempts}.{paid}", problem=problem, attempts=_times(attempts), paid=paid
        )
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1))
    asked = error.retry_after
    if asked is not None and asked > policy.cap:
        reason: str = Sentence(
            "{problem} The provider asks to wait {asked} s; waiting {cap} s, the cap of this endpoint.",
            problem=problem,
            asked=f"{asked:.0f}",
            cap=f"{policy.cap:.0f}",
        )
        pause = max(pause, policy.cap)
    else:
        reason = problem
        pause = max(pause, asked or 0.0)
    return pause * (1 + jitter / 4), reason


def _ended(text: str) -> str:
    """Return a text with a full stop, so that another sentence can follow."""
    text = text.rstrip()
    return f"{text}." if text and text[-1].isalnum() else text


def _times(count: int) -> str:
    return gettext_noop("one attempt") if count == 1 else Sentence("{count} attempts", count=count)


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
