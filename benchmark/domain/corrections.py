"""What a run's judged scores come to without the judge's error, by what people aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from core.statistics import Estimate

METRICS = ("precision", "recall", "f1")
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRow:
    """One model's scores by metric: `official`, `lenient` and `corrected` with its interval. People aligned `aligned`
    of the `judged` stories, as good as `effective` aligned without a judge."""

    key: str
    model: str
    kind: str
    entrant: int | None
    run: str
    official: Mapping[str, float | None] = field(default_factory=dict)
    lenient: Mapping[str, float | None] = field(default_factory=dict)
    corrected: Mapping[str, Estimate] = field(default_factory=dict)
    aligned: int = 0
    judged: int = 0
    effective: float | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> CorrectedRow:
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in kept.items() if name in names and value is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """The corrected scores of a metric group by one study, whose `uid` says who may see them. `differing` is the p
    value of the judge's error being as large for all models, `warns` whether it is shown not to be."""

    uid: str
    study: str
    stage: str
    rows: Sequence[CorrectedRow]
    differing: float | None = None
    warns: bool = False

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Corrections:
        names = {one.name for one in fields(cls)} - {"rows"}
        rows = [CorrectedRow.from_json(row) for row in kept["rows"]]
        return cls(rows=rows, **{name: value for name, value in kept.items() if name in names})
