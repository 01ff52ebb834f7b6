"""The items of a run that somebody asks to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.suites.items import Rows
from benchmark.suites.questions import PARSES

OFFICIAL, REPAIRED = PARSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenItems:
    """Filters of a run's items, empty where all are meant: of one `model`, the id of an entrant, at a `step`, in a
    `state`, with a `problem` in the `parse`, of a `category`, of the selection whose key is `split`; `rows` narrow to
    items that hold rows of a kind, by the names that the suite gives these filters."""

    model: int | None = None
    step: str = ""
    state: str = ""
    problem: str = ""
    category: str = ""
    split: str = ""
    parse: str = REPAIRED
    rows: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_form(cls, chosen: Mapping[str, Any], rows: Rows | None) -> ChosenItems:
        """Return what a form read, as far as it could read it; `rows` are the suite's."""
        names = [row_filter.name for row_filter in rows.filters] if rows else []
        return cls(
            model=chosen.get("model"),
            step=chosen.get("step") or "",
            state=chosen.get("state") or "",
            problem=chosen.get("problem") or "",
            category=chosen.get("category") or "",
            split=chosen.get("split") or "",
            parse=chosen.get("parse") or REPAIRED,
            rows={name: str(chosen[name]) for name in names if chosen.get(name)},
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether any filter is set."""
        return self != ChosenItems()
