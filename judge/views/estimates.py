"""Estimates as a table of a page names them."""

from __future__ import annotations

from dataclasses import dataclass

from core.estimated import Estimated


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """An estimate with its name; `share` says whether it is written in per cent, and `ends` is its interval where the
    page writes that below it."""

    name: str
    estimate: Estimated
    share: bool = True
    ends: str = ""
