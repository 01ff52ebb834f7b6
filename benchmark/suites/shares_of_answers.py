"""Answers that come to several shares each: their means over repetitions, with bounds for what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from benchmark.domain.estimating import StoryScore
from benchmark.suites.asked import Outcome, Parse, Sample
from benchmark.suites.measuring import SampleResult
from benchmark.suites.reasons import questions_unanswered
from core.messages import gettext_noop

Shares = Mapping[str, float | None]
SharesOf = Callable[[Outcome, Parse], Shares | None]
"""The shares of an answer by name, None of one that is not defined; None where the official parse leaves the answer
out."""


def scored_shares(
    names: Sequence[str], shares_of: SharesOf = Outcome.read
) -> Callable[[Sample, Sequence[Outcome]], SampleResult]:
    """Return the scoring of samples by several shares, as `measured_samples` takes it; without `shares_of` they stand
    in the parses themselves.

    Officially an answer that is left out has no shares, and without an answer to one of its repetitions a sample has
    none. Repaired, bounds take what is missing or cannot be read as 0 and as 1; the estimate is of the answers that
    were read.
    """

    def scored(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
        answered = [outcome for outcome in outcomes if not outcome.without]
        missing = len(outcomes) - len(answered)
        reason = questions_unanswered(missing, len(outcomes))
        official = [shares for outcome in answered if (shares := shares_of(outcome, "official")) is not None]
        read = [outcome for outcome in answered if not outcome.unreadable]
        repaired = [shares for outcome in read if (shares := shares_of(outcome, "repaired")) is not None]
        return SampleResult(
            None if missing else {name: _mean(official, name) for name in names},
            _score(sample, names, repaired, outcomes),
            reason,
        )

    return scored


def _score(sample: Sample, names: Sequence[str], repaired: Sequence[Shares], outcomes: Sequence[Outcome]) -> StoryScore:
    lacking = len(outcomes) - len(repaired)
    worst = {name: _mean([*repaired, *[{name: 0.0}] * lacking], name) for name in names}
    best = {name: _mean([*repaired, *[{name: 1.0}] * lacking], name) for name in names}
    if repaired:
        return StoryScore(sample.category, worst, best, {name: _mean(repaired, name) for name in names})
    why = next(outcome.without or outcome.unreadable or gettext_noop("it is left out") for outcome in outcomes)
    return StoryScore(sample.category, worst, best, None, why)


def _mean(answers: Sequence[Shares], name: str) -> float | None:
    values = [value for shares in answers if (value := shares.get(name)) is not None]
    return fmean(values) if values else None
