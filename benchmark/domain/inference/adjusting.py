"""Holm's correction over the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from core.statistics import holm


class Tested(Protocol):
    """A row, a frozen dataclass, with the p of its test, None without one, and its `p_adjusted`."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def p(self) -> float | None: ...

    @property
    def p_adjusted(self) -> float | None: ...


Row = TypeVar("Row", bound=Tested)


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with `p_adjusted`, by Holm's correction over all of them that have a p."""
    return [replace(row, p_adjusted=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]
