"""Randomisation test of whether suggestions shift votes: the arms are drawn anew, as they were drawn, and the votes
left as they are.

Had no suggestion moved any vote, every other draw would have met the same votes; how often it sets the arms as far
apart as the real draw is the p value (Fisher 1935; Rosenbaum 2002, "Observational Studies", 2nd edition, chapter 2).
Nothing is assumed of how votes of one story or one annotator hang together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Arm(StrEnum):
    """The way in which an annotator meets the suggestion of a cell; NONE where no arm was drawn."""

    NONE = ""
    SHOWN = "shown"  # before voting
    BLIND = "blind"  # never
    REVEAL = "reveal"  # after a first vote, which may then be changed


def untouched(arm: Arm | str, label: T, *, first: T, nothing: T) -> T:
    """Return the label that no suggestion can have touched: `label` of a blind vote, the `first` one of a reveal, else
    `nothing`. For cells with a suggestion."""
    if arm == Arm.REVEAL:
        return first
    return label if arm == Arm.BLIND else nothing


class DrawUnit(StrEnum):
    """The unit that an arm is drawn for, separately for each annotator: all cells of one unit share their arm."""

    CELL = "cell"
    PROPOSITION = "proposition"
    STORY = "story"


def draw_arm(
    *,
    seed: int,
    blind: int,
    reveal: int,
    proposition: str,
    dimension: str,
    annotator: int,
    unit: DrawUnit = DrawUnit.CELL,
    story: str = "",
) -> Arm:
    """Return the arm of one cell × annotator: a pure function of its arguments, the same on every machine.

    `blind` and `reveal` are shares in per cent; the rest is shown. Blind is cut from one end of the scale and reveal
    from the other, so changing a share moves cells between that arm and the shown one only. Raises ValueError for a
    share below 0 or a sum above 100.
    """
    if min(blind, reveal) < 0 or blind + reveal > 100:
        raise ValueError(f"The shares are {blind} % blind and {reveal} % reveal; expected 0 to 100 together.")
    drawn_for = {
        DrawUnit.CELL: [proposition, dimension],
        DrawUnit.PROPOSITION: [proposition],
        DrawUnit.STORY: [story],
    }[DrawUnit(unit)]
    parts = json.dumps([seed, *drawn_for, annotator], separators=(",", ":"))
    digest = hashlib.sha256(parts.encode("ascii")).digest()
    percent = int.from_bytes(digest[:8], "big") * 100 >> 64
    if percent < blind:
        return Arm.BLIND
    return Arm.REVEAL if percent >= 100 - reveal else Arm.SHOWN


def is_drawn_blind(*, seed: int, blind: int, story: str, expert: int) -> bool:
    """Return whether an expert writes the belief table of a story without the model's draft in sight: a pure function
    of its arguments. `blind` is a share in per cent.

    The draw is another one than that for the labels of the same story. Raises ValueError for a share that is none.
    """
    arm = draw_arm(
        seed=seed, blind=blind, reveal=0, proposition="", dimension="", annotator=expert, unit=DrawUnit.STORY,
        story=f"table of {story}",
    )  # fmt: skip
    return arm is Arm.BLIND


DRAWS = 9_999


def tested(votes: Votes) -> Bools:
    """Select the votes whose unit could have been drawn into either arm, and was drawn into one of them: shape (V,)."""
    either = votes.in_arm(Arm.SHOWN) | votes.in_arm(Arm.BLIND)
    return either & (votes.blind_chance > 0) & (votes.blind_chance < 1)


def randomisation_p(votes: Votes, *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the two-sided p of: no vote depends on whether its suggestion was shown. None where only one arm has
    votes.

    Whether a vote takes the suggestion is compared with the mean of its annotator and dimension over both arms, which
    takes their differences out. The statistic is the sum of that over the votes drawn blind, less what the draw puts
    there on average. p is (b + 1) / (draws + 1) with b draws at least as extreme (Phipson and Smyth 2010), which keeps
    the test's level.
    """
    votes = votes.where(tested(votes))
    blind = votes.in_arm(Arm.BLIND)
    if not blind.any() or blind.all():
        return None
    sums, chance, is_blind = _units(votes, blind)
    return drawn_anew_p(sums, chance, is_blind, seed=seed, draws=draws)


def drawn_anew_p(sums: Floats, chance: Floats, is_blind: Bools, *, seed: int, draws: int = DRAWS) -> float:
    """Return the two-sided p of: what is summed over the units of a draw does not depend on their arm. Each unit has
    its sum, its chance of being drawn blind, and whether it was: shape (units,) each."""
    observed = float((sums * (is_blind - chance)).sum())
    # Units of equal sum and chance are counted, not drawn one by one: half a million votes fall into a few hundred
    # kinds. As complex numbers they are sorted at once, by sum and then by chance.
    kinds, counts = np.unique(np.round(sums, 12) + 1j * np.round(chance, 12), return_counts=True)
    drawn = _drawn(counts, kinds.imag, draws, np.random.default_rng(seed))
    statistics = (drawn - counts * kinds.imag) @ kinds.real
    scale = float(np.abs(sums).sum())
    return float((np.sum(np.abs(statistics) >= abs(observed) - 1e-9 * scale) + 1) / (draws + 1))


def _drawn(counts: Ints, chance: Floats, draws: int, rng: np.random.Generator) -> Ints:
    """Return how many of the `counts` units of each kind each draw makes blind: shape (draws, kinds)."""
    shape = (draws, len(counts))
    if counts.max(initial=0) > 1:
        return rng.binomial(counts, chance, size=shape)
    # The same draws for a tenth of the time: of a single unit it is one random number that decides.
    at = rng.random(shape)
    return np.where(chance <= 0.5, at > 1 - chance, at <= chance).astype(np.int64)


def _units(votes: Votes, blind: Bools) -> tuple[Floats, Floats, Bools]:
    """Return for each unit of the draw: how far its votes are above the mean of their annotator and dimension, summed;
    its chance of being drawn blind; and whether it was. Shape (units,) each."""
    takes = (votes.label == votes.suggested).astype(float)
    _, unit = np.unique(2 * votes.unit + blind, return_inverse=True)
    sums = np.bincount(unit, weights=takes - _means(takes, votes)).astype(float)
    first = np.unique(unit, return_index=True)[1]
    return sums, votes.blind_chance[first], blind[first]


def _means(takes: Floats, votes: Votes) -> Floats:
    """Return the mean of each vote's annotator and dimension, shape (V,)."""
    group: Ints = votes.annotator * (int(votes.dimension.max(initial=0)) + 1) + votes.dimension
    _, group = np.unique(group, return_inverse=True)
    return (np.bincount(group, weights=takes) / np.bincount(group))[group]


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
NAMES = ("dimensions", "annotators", "sources")


@dataclass(frozen=True)
class Votes:
    """Standing votes on cells that have a suggestion: one row a vote, every column of shape (V,).

    `dimension` indexes `dimensions`, `annotator` indexes `annotators`, and `source`, the model that suggested, indexes
    `sources`; `label`, `first_label` and `suggested` share the codes of their dimension. `first_label` is the label
    before the reveal, -1 where there was none. `arm` holds values of `Arm`, as drawn; `seen` is false where a vote of
    the shown arm was cast without the suggestion in sight (over the API). `unit` numbers what the arm was drawn for,
    and `blind_chance` is the chance with which that was drawn blind, being drawn shown or blind; nan where it is
    unknown. `duration_ms` is nan where unknown. Raises ValueError for columns of unequal length or an unknown arm.
    """

    story: Ints
    cell: Ints
    dimension: Ints
    annotator: Ints
    label: Ints
    first_label: Ints
    suggested: Ints
    source: Ints
    arm: NDArray[np.str_]
    duration_ms: Floats
    seen: Bools
    unit: Ints
    blind_chance: Floats
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self._columns().items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"The columns differ in length: {lengths}.")
        in_some_arm = sum(int(self.in_arm(arm).sum()) for arm in Arm)
        if in_some_arm < len(self):
            raise ValueError(f"{len(self) - in_some_arm} votes have an unknown arm.")

    def __len__(self) -> int:
        return len(self.story)

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in NAMES}

    def in_arm(self, arm: Arm) -> Bools:
        """Return whether each vote was cast in this arm, shape (V,)."""
        return self._arms[arm]

    @cached_property
    def _arms(self) -> dict[Arm, Bools]:
        return {arm: np.asarray(self.arm == arm.value, dtype=bool).reshape(len(self)) for arm in Arm}

    def where(self, rows: Bools | Ints) -> Votes:
        """Return only these rows, by mask of shape (V,) or by index."""
        columns: dict[str, Any] = {name: column[rows] for name, column in self._columns().items()}
        return replace(self, **columns)

    def by(self, name: str) -> Iterator[tuple[str, Votes]]:
        """Yield the votes of each `dimension`, `annotator` or `source`, in the order of their names."""
        code = getattr(self, name)
        order = np.argsort(code, kind="stable")
        names = getattr(self, name + "s")
        ends = np.searchsorted(code[order], np.arange(len(names) + 1))
        for at, value in enumerate(names):
            yield value, self.where(order[ends[at] : ends[at + 1]])
