"""Parts of imported files that are not used: columns, fields and sheets. Every result of an import lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotation.domain.columns import display_name
from core.incoming.sheets import Sheets
from core.plain import Json

MOST_NAMES = 100


@dataclass(slots=True)
class LeftOut:
    """`names` are columns and fields in the order in which they were met, at most MOST_NAMES; `sheets` are the sheets
    of each workbook with several."""

    names: list[str] = field(default_factory=list)
    sheets: list[Sheets] = field(default_factory=list)
    _met: set[str] = field(default_factory=set, repr=False)

    def add(self, names: Iterable[str]) -> None:
        """Add columns or fields that are not used."""
        for name in names:
            if name not in self._met and len(self.names) < MOST_NAMES:
                self._met.add(name)
                self.names.append(display_name(name))

    def add_sheets(self, sheets: Sheets) -> None:
        """Add the sheets of a workbook, if others than the one that was read have values."""
        if sheets.left and sheets not in self.sheets:
            self.sheets.append(sheets)

    def as_json(self) -> Json:
        """Return the names and, for each workbook with several sheets, the sheet that was read and the others."""
        sheets = [{"read": sheets.read, "not_read": list(sheets.left)} for sheets in self.sheets]
        return {"not_used": list(self.names)} | ({"sheets": sheets} if sheets else {})
