"""Figures that papers print of a benchmark, and that its users may enter from them beside what is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that a user may enter, in per cent, of a `difference` of two in percentage points.

    `key` names it within its suite, `title` is what forms call it under `heading`. `places` are the tables that have
    it, by their names without the parse (of a metric group its key), each with the key of its column there (of a
    metric group the metric). `header` is set where what is published does not compare with a column of this site, as it
    rests on another embedder: its tables then get a column of that name, below the heading `group`.
    """

    key: str
    title: str
    heading: str
    places: Mapping[str, str]
    header: str = ""
    group: str = ""
    difference: bool = False


def of_groups(groups: Sequence[tuple[str, str, Mapping[str, str]]], own: Sequence[Published]) -> list[Published]:
    """Return the metrics of metric groups, (key, title, {metric: header}) each, that none of a suite's `own` figures
    stands for."""
    covered = {place for metric in own for place in metric.places.items()}
    return [
        Published(f"{key}.{name}", header, title, {key: name})
        for key, title, headers in groups
        for name, header in headers.items()
        if (key, name) not in covered
    ]
