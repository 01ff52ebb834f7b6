"""The recall that perceivers come to which no model gave: those of a coin, and everybody or nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from statistics import fmean

from benchmark.suites.questions import Resources, Sample


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or an utterance: its true perceivers, and who is left out, whatever is answered."""

    perceivers: Set[str]
    aside: Set[str] = frozenset()


def by_coin(people: Set[str], units: Sequence[Unit]) -> float | None:
    """Return the recall to be expected where each of these people perceives each unit, or does not, as a coin falls;
    None without a unit."""
    return fmean(0.5 ** len(people - unit.aside) for unit in units) if units else None


def by_everybody(people: Set[str], units: Sequence[Unit], everybody: bool) -> float | None:
    """Return the recall where all of these people perceive every unit, or nobody does any; None without a unit."""
    named = people if everybody else frozenset[str]()
    return fmean(named - unit.aside == unit.perceivers - unit.aside for unit in units) if units else None


def people_of(sample: Sample) -> set[str]:
    """Return the people of a text by the data: whoever perceives some sentence of it."""
    return {name for names in sample.gold["perceivers"] for name in names if name}


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a suite by the `units` of its samples. Whether a person perceives more than half of them is derived
    from all samples by `mostly`, under `name`."""

    name: str
    mostly: Callable[[Sequence[Sample]], bool]
    units: Callable[[Sample], Sequence[Unit]]

    def everybody(self, resources: Resources) -> bool:
        """Return whether a person perceives more than half of the units."""
        return resources.derived(self.name, self.mostly)

    def chance(self, sample: Sample) -> float | None:
        """Return the recall to be expected where each person perceives each unit, or does not, as a coin falls."""
        return by_coin(people_of(sample), self.units(sample))

    def majority(self, sample: Sample, resources: Resources) -> float | None:
        """Return the recall where everybody perceives every unit, or nobody does any, whichever is commoner."""
        return by_everybody(people_of(sample), self.units(sample), self.everybody(resources))
