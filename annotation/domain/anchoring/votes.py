from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.arms import Arm

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
