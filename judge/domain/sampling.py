"""The sample of tables that people align: a stratified random sample whose inclusion probabilities are known and that
can grow.

Every unit has a permanent random number (Ohlsson 1995, "Coordination of samples using permanent random numbers"), a
uniform one made of the seed and the unit's story. The sample of a stratum is its n units with the smallest numbers: a
simple random sample, in which each unit is with probability n / N. Asking for more takes the next numbers, so that the
larger sample holds the smaller one, and is itself a simple random sample of its size.

As a story has one number whatever model its table is of, models are sampled on the same stories as far as their sizes
allow, which is what makes paired differences between them narrow.
"""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

Stratum = tuple[str, str]
"""The model that made the table, and the story's category."""
LEAST = 2
"""Units of each stratum that are drawn before any stratum is drawn in proportion: fewer show no spread."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One table that people could align: `key` names it, `story` is its cluster."""

    key: str
    story: str
    stratum: Stratum


@dataclass(frozen=True, slots=True)
class Drawn:
    """A unit of a sample, with its inclusion `probability` and its `place` in its stratum, from 1 on in the order of
    the permanent random numbers: who works in this order can stop at any place."""

    unit: Unit
    probability: float
    place: int


def permanent_number(seed: int, story: str) -> float:
    """Return the story's uniform number, at least 0 and less than 1, the same on every machine and in every version."""
    digest = hashlib.sha256(f"{seed}\x1f{story}".encode()).digest()
    return (int.from_bytes(digest[:8]) >> 11) / (1 << 53)


def strata(units: Iterable[Unit], *, seed: int) -> dict[Stratum, list[Unit]]:
    """Return the units of each stratum in the order in which they are drawn."""
    parts: dict[Stratum, list[Unit]] = defaultdict(list)
    for unit in units:
        parts[unit.stratum].append(unit)
    return {
        stratum: sorted(parts[stratum], key=lambda unit: (permanent_number(seed, unit.story), unit.key))
        for stratum in sorted(parts)
    }


def allocation(available: Mapping[Stratum, int], total: int, *, least: int = LEAST) -> dict[Stratum, int]:
    """Return how many of `total` units each stratum gives, of as many as it has `available`.

    First every stratum gives `least`, the largest strata first; then each next unit is of the stratum that is furthest
    behind its share (Webster's divisors). A larger `total` never takes a unit away from a stratum, so that samples
    grow. Raises ValueError where the total is negative or more than there is.
    """
    everything = sum(available.values())
    if not 0 <= total <= everything:
        raise ValueError(f"the sample is of {total} tables; expected 0 to {everything}, as many as there are")
    given = dict.fromkeys(sorted(available), 0)
    queue = [_turn(stratum, available[stratum], 0, least) for stratum in given if available[stratum]]
    heapq.heapify(queue)
    for _ in range(total):
        *_, stratum = heapq.heappop(queue)
        given[stratum] += 1
        if given[stratum] < available[stratum]:
            heapq.heappush(queue, _turn(stratum, available[stratum], given[stratum], least))
    return given


def _turn(stratum: Stratum, size: int, given: int, least: int) -> tuple[int, float, Stratum]:
    """Return the rank of a stratum's next unit: the stratum with the smallest gives the next one."""
    return (min(given, least), -size / (2 * given + 1), stratum)


def draw(units: Sequence[Unit], sizes: Mapping[Stratum, int], *, seed: int) -> list[Drawn]:
    """Return the sample that has so many units of each stratum, in the order of strata and places.

    Raises ValueError for a stratum that is not there or has fewer units, and for a unit named twice.
    """
    parts = strata(units, seed=seed)
    if len({unit.key for unit in units}) < len(units):
        raise ValueError("a unit is named twice")
    for stratum, size in sizes.items():
        there = len(parts.get(stratum, []))
        if not 0 <= size <= there:
            raise ValueError(f"stratum {' · '.join(stratum)}: {size} tables are wanted; it has {there}")
    return [
        Drawn(unit, size / len(parts[stratum]), place)
        for stratum, size in sorted(sizes.items())
        for place, unit in enumerate(parts[stratum][:size], 1)
    ]


def sample(units: Sequence[Unit], total: int, *, seed: int, least: int = LEAST) -> list[Drawn]:
    """Return a sample of `total` units, allocated to strata in proportion after `least` of each."""
    available = {stratum: len(part) for stratum, part in strata(units, seed=seed).items()}
    return draw(units, allocation(available, total, least=least), seed=seed)


def finished(units: Sequence[Unit], drawn: Iterable[Drawn], done: Collection[str], *, seed: int) -> list[Drawn]:
    """Return the smaller sample that is complete: of each stratum the units before the first that is not `done`, with
    the inclusion probabilities of that smaller sample.

    Tables are not finished in a random order (short ones are sooner done), so that a table that is done before an
    earlier one of its stratum has to wait for it. Nothing is lost: it counts as soon as the earlier one is done.
    """
    sizes: dict[Stratum, int] = {}
    open_strata: set[Stratum] = set()
    for drawn_unit in sorted(drawn, key=lambda drawn_unit: (drawn_unit.unit.stratum, drawn_unit.place)):
        stratum = drawn_unit.unit.stratum
        if drawn_unit.unit.key not in done:
            open_strata.add(stratum)
        if stratum not in open_strata:
            sizes[stratum] = drawn_unit.place
    return draw(units, sizes, seed=seed)
