"""What counts once in a figure (a question, a set, a character of a set), in the worst case, the best case and, where it is known, as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.suites.asked import Reading
from benchmark.suites.contract import Entered, MetricGroup, Sample
from benchmark.suites.measuring import counted_outcomes
from core.statistics import RESAMPLES

SHARE = "share"


class Read(NamedTuple):
    """A question, one of its repetitions, and what its answer was read as; None where nothing was."""

    sample: Sample
    repetition: int
    reading: Mapping[str, Any] | None

    @property
    def set_key(self) -> tuple[str, int]:
        """The set that it counts for."""
        return self.sample.group, self.repetition

    @property
    def right(self) -> bool | None:
        """Whether it is right; None where that is not known."""
        return None if self.reading is None else bool(self.reading["right"])


def reads_of(entered: Entered, group: MetricGroup, reading: Reading) -> list[Read]:
    """Return what every question that counts in a group was read as, repetition by repetition."""
    reads = []
    for sample in entered.samples:
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), group):
            known = not outcome.without and not (reading == "repaired" and outcome.unusable)
            reads.append(Read(sample, outcome.repetition, outcome.read(reading) if known else None))
    return reads


class Unit(NamedTuple):
    """One that counts: its conversation and what it is worth, from 0 to 1, None where that is not known."""

    conversation: str
    value: float | None


def every(conversation: str, rights: Iterable[bool | None]) -> Unit:
    """Return a unit that is right where all are: one that is wrong settles it, whatever is not known."""
    known = list(rights)
    if False in known:
        return Unit(conversation, 0.0)
    return Unit(conversation, None if None in known else 1.0)


def estimate_of(units: Sequence[Unit], seed: int) -> dict[str, Any]:
    """Return the mean of the units that are known with its interval over conversations, {"value", "interval", "n"[, "reason"][, "bounds"]}: bounds take
    those that are not known as 0 and as 1."""
    row = overall_row([_score(unit) for unit in units], (SHARE,), seed=seed, resamples=RESAMPLES, unit="conversations")
    interval, why = row.intervals[SHARE]
    bounds = row.bounds[SHARE]
    found: dict[str, Any] = {"value": row.values[SHARE], "interval": interval, "n": row.stories}
    if why:
        found["reason"] = why
    return found | ({"bounds": bounds} if bounds and bounds[0] != bounds[1] else {})


def _score(unit: Unit) -> StoryScore:
    if unit.value is None:
        return StoryScore("", {SHARE: 0.0}, {SHARE: 1.0}, None, "not read", cluster=unit.conversation)
    shares = {SHARE: unit.value}
    return StoryScore("", shares, shares, shares, cluster=unit.conversation)
