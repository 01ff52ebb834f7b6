"""The paper's table 3: extraction and labelling of a model in one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.domain.tables import Items, Table
from benchmark.suites.omnitom.tables import main_results
from benchmark.suites.showing.entries import measured, row_of
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.showing.names import label
from benchmark.suites.showing.ranking import ranked_by, ranked_within, with_settings
from benchmark.suites.shown import Entries, Entry


def main_table(stages: Entries, reading: str) -> Table:
    """The paper's table 3: a row for each model under its settings, with what it came to at either stage."""
    rows = [_Joined(*pair) for pair in _joined(stages)]
    heads = [row.head for row in rows]
    label(heads)
    runs = [
        {"model": head["model"]}
        | {stage: entry["readings"][reading] if entry else None for stage, entry in row.by_stage.items()}
        for head, row in zip(heads, rows, strict=True)
    ]
    table = main_results(runs, reading=reading)
    cells = [
        row_of(head, "stage1", row, {key: main_row.where(key, reading) for key in row})
        for row, head, main_row in zip(table.rows, heads, rows, strict=True)
    ]
    notes = [*table.notes, *_stories(runs), *_of_judges([row.first for row in rows if row.first])]
    ranking = ranked_by(entry for entries in stages.values() for entry in entries)
    return with_settings(replace(table, rows=cells, lead=unlike_missing(stages), notes=notes, ranking=ranking))


def _of_judges(entries: Sequence[Entry]) -> list[str]:
    return [*ranked_within(entries), *notes_of(entries)]


def _stories(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """On how many stories each model's figures rest."""
    for stage, name in (("stage1", "Extraction"), ("stage2", "Labelling")):
        counts: dict[int, list[str]] = {}
        for run in runs:
            if run[stage]:
                counts.setdefault(int(run[stage]["overall"]["stories"]), []).append(run["model"])
        notes = [
            f"{count:,}" + (f" ({', '.join(models)})" if len(counts) > 1 else "")
            for count, models in sorted(counts.items(), reverse=True)
        ]
        if notes:
            yield f"{name}: stories, n = {', '.join(notes)}."


@dataclass(frozen=True, slots=True)
class _Joined:
    """One model's entries at the two stages; either may be lacking."""

    first: Entry | None
    second: Entry | None

    @property
    def by_stage(self) -> dict[str, Entry | None]:
        return {"stage1": self.first, "stage2": self.second}

    @property
    def head(self) -> Entry:
        """A copy of the entry that names the row, with the settings of both."""
        present = [entry for entry in (self.first, self.second) if entry]
        return {**present[0], "settings": present[-1]["settings"] | present[0]["settings"]}

    def where(self, key: str, reading: str) -> Items:
        """The items behind a column, which may be another run's than the row's."""
        filters = _main_where(key, reading)
        entry = self.first if filters["stage"] == "judge" else self.second
        return Items(filters, entry["run"], entry["entrant"]) if entry else Items(filters)


def _joined(stages: Entries) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Pair the entries of one run, then those that were asked alike in two runs."""
    rest = list(stages["stage2"])
    for entry in stages["stage1"]:
        alike = [other for other in rest if other["key"] == entry["key"]] or [
            other for other in rest if _asked_alike(entry, other) and not _in(stages["stage1"], other)
        ]
        if alike:
            rest.remove(alike[0])
        yield entry, alike[0] if alike else None
    yield from ((None, other) for other in rest)


def _in(entries: Sequence[Entry], entry: Entry) -> bool:
    return any(other["key"] == entry["key"] for other in entries)


SHARED_SETTINGS = ("prompts", "level", "seed", "longest answer")
"""What bears on both stages."""


def _asked_alike(first: Entry, other: Entry) -> bool:
    if (first["name"], first["kind"], first.get("spec")) != (other["name"], other["kind"], other.get("spec")):
        return False
    return all(first["settings"].get(name) == other["settings"].get(name) for name in SHARED_SETTINGS)


def _main_where(key: str, reading: str) -> dict[str, str]:
    if key.startswith("f1"):
        category = {"category": key.removeprefix("f1 ")} if key.startswith("f1 ") else {}
        return {"stage": "judge"} | category | measured("stage1", "f1", reading)
    return {"stage": "label"} | measured("stage2", key, reading)
