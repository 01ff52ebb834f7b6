"""Estimates as charts and plots take them: a figure with its interval, of whatever class."""

from collections.abc import Sequence
from typing import Protocol


class Estimated(Protocol):
    """A figure, None where it has none, [low, high] of 95 %, None where there is none, and why one of them is None."""

    @property
    def value(self) -> float | None: ...

    @property
    def interval(self) -> Sequence[float] | None: ...

    @property
    def reason(self) -> str | None: ...
