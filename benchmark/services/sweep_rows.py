"""Rows of a sweep: what a model or a judge comes to at each prompt level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.domain.tables import Cells
from benchmark.services.sweeps import level_name
from core.messages import Sentence, clauses, listed

WAITS = "waits"
"""The key of a row of a judge that has no estimate at some level yet."""


@dataclass(frozen=True, slots=True)
class SweptEstimate:
    """An estimate with its interval or the reason for none, and where it can be.

    `alike` says that it is not shown to differ from the best one of its block, None that the two cannot be compared.
    """

    value: float | None
    interval: Sequence[float] | None
    reason: str | None
    bounds: Sequence[float] | None
    alike: bool | None = False

    def cells(self, key: str) -> Cells:
        return {
            key: self.value,
            f"{key}-interval": self.interval,
            f"{key}-interval_reason": self.reason,
            f"{key}-bounds": self.bounds,
        }


@dataclass(frozen=True, slots=True)
class SweptRow:
    """A row of a `block` of the table of levels; `waits` are the levels at which a judge has no estimate yet, with the
    reason in words."""

    block: str
    name: str
    group: str
    estimates: Mapping[int, SweptEstimate]
    waits: Sequence[int] = ()
    why_waits: str = ""

    @property
    def values(self) -> dict[int, float]:
        """The estimates that there are, by level."""
        return {
            level: estimate.value for level, estimate in sorted(self.estimates.items()) if estimate.value is not None
        }

    @property
    def best(self) -> str:
        """The levels whose estimate no other exceeds."""
        values = self.values
        return listed(level_name(level) for level in values if values[level] == max(values.values()))

    @property
    def alike(self) -> str:
        """The levels that are not shown to differ from the best of the block, and those of which nothing is known."""
        together, apart = (self._named(alike) for alike in (True, None))
        return clauses(together, Sentence("not compared: {apart}", apart=apart) if apart else "", self.why_waits)

    def _named(self, alike: bool | None) -> str:
        return listed(level_name(level) for level in sorted(self.estimates) if self.estimates[level].alike is alike)

    def cells(self) -> Cells:
        """{block, model, group, lLEVEL…, best, alike[, waits]}."""
        by_level = [estimate.cells(f"l{level}") for level, estimate in self.estimates.items()]
        return {
            "block": self.block,
            "model": self.name,
            "group": self.group,
            **{key: cell for cells in by_level for key, cell in cells.items()},
            **{f"l{level}": None for level in self.waits},
            "best": self.best or None,
            "alike": self.alike or None,
            **({WAITS: True} if self.waits else {}),
        }
