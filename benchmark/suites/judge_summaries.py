"""Summary of a judge's self-test, as reports keep it and tables say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.plain import Json, plain, read_as
from judge.domain.self_test import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTestSummary:
    """The outcome of the self-test of a `judge`: `state` is "not tested", "in progress", "incomplete" or "tested",
    `told` says it in a line. Of a judge that was tested `dataset` is the version of the gold that pairs were made from,
    `answered` the number of its calls that were answered, and `kinds` are how often it was right by kind of pair.
    """

    state: str
    judge: str
    told: str
    kinds: Sequence[Rate] = ()
    dataset: int | None = None
    calls: int | None = None
    answered: int | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> JudgeTestSummary:
        return read_as(cls, kept, kinds=[read_as(Rate, kind) for kind in kept["kinds"]])

    def as_json(self) -> Json:
        """{state, judge, told, kinds}, or, of a judge that was tested, {state, judge, dataset, calls, answered, kinds,
        told}."""
        kinds = plain(self.kinds)
        if self.dataset is None:
            return {"state": self.state, "judge": self.judge, "told": self.told, "kinds": kinds}
        return {
            "state": self.state,
            "judge": self.judge,
            "dataset": self.dataset,
            "calls": self.calls,
            "answered": self.answered,
            "kinds": kinds,
            "told": self.told,
        }
