"""What tables say of people: the figure against gold that contains their own votes, beside their own, and what each labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.domain.tables import Column
from benchmark.domain.tables.estimates import interval_of
from benchmark.suites.registry import group_named
from benchmark.suites.shown import Entry
from benchmark.suites.story_scores import READINGS

PEOPLE_NOTE = (
    "People are scored like models, on the cells that they labelled, against gold without their own vote or decision: as the record, another expert "
    "or the other votes settle the cell. A cell that these leave open does not count. The figure against gold that contains their own votes stands "
    "beside it and flatters them. People are no upper bound and are never marked as best."
)
OWN_GROUP = "Own votes in gold (%)"
SETTLERS = {"votes": "the other votes", "expert": "an expert", "record": "the record"}


def own_columns(entries: Sequence[Entry]) -> list[Column]:
    """Overall accuracy of people against gold that contains their own votes, by reading; none without people."""
    held = [one["readings"]["own"] for one in entries if one["readings"].get("own")]
    return [
        Column(
            key=f"own_{name}", header=name.capitalize(), kind="share", group=OWN_GROUP, interval=f"own_{name}_interval"
        )
        for name in READINGS
        if any(own[name] for own in held)
    ]


def own_values(entry: Entry, stage: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, figures in entry["readings"].get("own", {}).items():
        overall = figures["overall"] if figures else {}
        found[f"own_{name}"] = overall.get(group_named(stage).score)
        found |= interval_of(f"own_{name}_interval", overall, group_named(stage).score)
    return found


def labelled_notes(entries: Sequence[Entry]) -> list[str]:
    """How much of what models were asked for each person labelled, and how much of that counts; reports that were frozen before do not say it."""
    held = [(one["model"], one["figures"]["labelled"]) for one in entries if one["figures"].get("labelled")]
    told = [f"{name}: {_labelled(labelled)}" for name, labelled in held]
    return [f"Labelled by {'; '.join(told)}."] if told else []


def _labelled(held: Mapping[str, int]) -> str:
    asked = f"{held['cells']:,} of {held['of_cells']:,} cells in {held['stories']:,} of {held['of_stories']:,} stories"
    if "open" not in held:
        return asked
    settled = ", ".join(f"{held[by]:,} by {who}" for by, who in SETTLERS.items() if held[by])
    return f"{asked}, of which {held['cells'] - held['open']:,} count ({settled or 'none is settled'}) and {held['open']:,} stay open"
