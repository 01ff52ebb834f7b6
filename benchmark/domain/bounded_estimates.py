"""Estimates with where they can be whatever is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.plain import WHERE_THERE_IS_ONE
from core.statistics import Estimate


@dataclass(frozen=True, slots=True)
class BoundedEstimate(Estimate):
    """An estimate and, in `bounds`, what it would be if all that is missing or was not read were worth least and most,
    None where nothing is. `incomplete` is the number of sets that it leaves out, of which only a part was asked, where
    there are any."""

    bounds: list[float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    incomplete: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def kept_estimates(kept: Mapping[str, Mapping[str, Any]]) -> dict[str, BoundedEstimate]:
    """Return the estimates by name of the analyses that are kept of a model."""
    return {name: BoundedEstimate.from_json(estimate) for name, estimate in kept.items()}
