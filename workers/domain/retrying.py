"""Rules for sending a call again."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision on a call: whether it is sent `again`, after how many seconds of `pause`, and the sentence that gives
    the `reason`."""

    again: bool
    pause: float
    reason: str


def decide(error: BackendError, *, attempts: int, unknowns: int, policy: Policy, jitter: float) -> Decision:
    """Decide about a call whose attempt number `attempts` failed; `unknowns` attempts, this one included, ended
    unknown.

    `jitter` in 0…1 spreads the calls that failed together over a quarter of the pause.
    """
    problem = _ended(str(error))
    paid = (
        Sentence(" The outcome of {unknowns} is unknown; it may have been paid.", unknowns=_times(unknowns))
        if unknowns
        else ""
    )
    if error.again is Again.NEVER or (error.again is Again.UNKNOWN and unknowns > policy.unknown):
        return Decision(False, 0, problem + paid)
    if attempts >= policy.attempts:
        return Decision(
            False,
            0,
            Sentence(
                "{problem} Given up after {attempts}.{paid}", problem=problem, attempts=_times(attempts), paid=paid
            ),
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
    return Decision(True, pause * (1 + jitter / 4), reason)


def _ended(text: str) -> str:
    """Return a text with a full stop, so that another sentence can follow."""
    text = text.rstrip()
    return f"{text}." if text and text[-1].isalnum() else text


def _times(count: int) -> str:
    return gettext_noop("one attempt") if count == 1 else Sentence("{count} attempts", count=count)
