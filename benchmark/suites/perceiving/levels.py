"""The recall that perceivers come to which no model gave: those of a coin, and everybody or nobody."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from statistics import fmean


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
