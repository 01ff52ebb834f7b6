"""Rows of a ranking that no model made: what answers drawn by chance come to, and what the answer does that is right
most often."""

from collections.abc import Iterable, Sequence

from benchmark.domain.tables import Cell, Cells
from benchmark.suites.registry import group_named
from benchmark.suites.reports import BaselineLevels
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import models_of
from core.messages import gettext_noop

CHANCE_ROW, MAJORITY_ROW = gettext_noop("Chance level"), gettext_noop("Majority baseline")
ROWS = {"chance": CHANCE_ROW, "majority": MAJORITY_ROW}
LEVELS_NOTE = gettext_noop(
    "Chance level: what answers drawn among all that may be answered are expected to come to. Majority baseline: what "
    "the answer comes to that is right most often. Both follow from the gold of these samples, without a run."
)
NO_LEVEL = {
    "chance": gettext_noop("No chance level: not every answer is drawn from a closed set."),
    "majority": gettext_noop(
        "No majority baseline: not every sample has an answer that gold shows to be the commonest."
    ),
}
BY_CATEGORY = gettext_noop("Categories all of whose samples have it show it in their table.")
EXACT = gettext_noop("chance level and majority baseline follow from gold and are exact")
OF_NO_RUN = gettext_noop("No chance level and no majority baseline: no run is about exactly these samples.")
NO_BASELINE = gettext_noop("No baseline was run beside these models.")


def levels_of(entrants: Iterable[EntrantResults]) -> BaselineLevels | None:
    """Return the levels of a ranking, which are alike for all models whose run is about its samples; None where no
    model's is, and where the reader may not know them."""
    return next((levels for entrant in models_of(entrants) if (levels := entrant.metrics.levels)), None)


def level_rows(entrants: Sequence[EntrantResults], group: str) -> list[Cells]:
    """Return a row for each level that there is, with its score and how many samples it is of."""
    levels, score = levels_of(entrants) or BaselineLevels(), f"repaired_{group_named(group).score}"
    return [
        {"model": ROWS[name], score: Cell(level.value, reason=EXACT), "stories": level.n}
        for name in ROWS
        if (level := levels.of(name))
    ]


def category_level_rows(entrants: Sequence[EntrantResults], parse: str = "repaired") -> list[Cells]:
    """Return a row for each level that categories have, with the score of each and how many samples it is of."""
    levels = levels_of(entrants) or BaselineLevels()
    rows = []
    for name in ROWS:
        row: Cells = {"model": ROWS[name]}
        for category, level in levels.of_categories(name).items():
            row[f"{parse} {category}"] = Cell(level.value, n=level.n, reason=EXACT)
        rows += [row] if len(row) > 1 else []
    return rows


def level_notes(entrants: Sequence[EntrantResults]) -> list[str]:
    """Say what the rows are, why there is none, and that no baseline was run where that holds."""
    levels = levels_of(entrants)
    if levels is None:
        return [OF_NO_RUN] if any(entrant.metrics.tells_levels for entrant in models_of(entrants)) else []
    notes = [LEVELS_NOTE] if any(levels.of(name) for name in ROWS) else []
    notes += [why for name, why in NO_LEVEL.items() if not levels.of(name)]
    notes += [BY_CATEGORY] if any(levels.of_categories(name) and not levels.of(name) for name in ROWS) else []
    return notes + ([] if any(entrant.kind == "baseline" for entrant in entrants) else [NO_BASELINE])
