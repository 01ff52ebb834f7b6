"""Rows of papers that users enter: their figures as documents keep them, as fractions for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from core.plain import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    """A row that a user entered from a `source`: its name, its kind (human or published), and per cent as the source
    prints them, as texts by the key of a suite's metric."""

    name: str
    kind: str
    source: str
    metrics: Mapping[str, str]

    def as_json(self) -> Json:
        """Return what documents keep of it."""
        return {"name": self.name, "kind": self.kind, "source": self.source, "figures": dict(self.metrics)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        return cls(name=kept["name"], kind=kept["kind"], source=kept["source"], metrics=kept["figures"])


@dataclass(frozen=True, slots=True)
class Reference:
    """A row of a paper in one picture: fractions by the key of their column in the table beside it."""

    model: str
    source: str
    values: Mapping[str, float]
