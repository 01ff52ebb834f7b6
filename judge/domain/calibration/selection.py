"""Choosing a judge by a paired test rather than by the highest number, and the layouts of the published tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.statistics import ALPHA, caution, holm, sign_flip_p
from judge.domain.calibration.agreement import UNIT, Figure
from judge.domain.calibration.rows import Row, Table, matched
from judge.domain.calibration.weighted import weighted_mean


@dataclass(frozen=True, slots=True)
class Rival:
    """A judge beside the chosen one, on the `n` stories that both judged: its agreement, the chosen judge's less its
    own, p of a sign-flip test over stories, and p after Holm's correction over all rivals."""

    name: str
    agreement: Figure
    difference: Figure
    p: float | None
    adjusted: float | None

    @property
    def worse(self) -> bool:
        """Whether the chosen judge is shown to be better."""
        return self.adjusted is not None and self.adjusted < ALPHA and (self.difference.value or 0) > 0

    @property
    def better(self) -> bool:
        return self.adjusted is not None and self.adjusted < ALPHA and (self.difference.value or 0) < 0


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen judge's agreement with people by story, and every rival's; `caution` is what the test takes for
    granted."""

    chosen: str
    agreement: Figure
    rivals: list[Rival]
    caution: str

    @property
    def reason(self) -> str:
        """What the data say for the choice, one sentence."""
        worse = [rival.name for rival in self.rivals if rival.worse]
        better = [rival.name for rival in self.rivals if rival.better]
        open_ = [rival.name for rival in self.rivals if not (rival.worse or rival.better)]
        parts = [
            f"{word} {', '.join(names)}"
            for word, names in (("better than", worse), ("not told from", open_), ("worse than", better))
            if names
        ]
        return f"{self.chosen} is {'; '.join(parts)}." if parts else f"{self.chosen} has no rival."


def story_agreements(tables: Sequence[Table]) -> dict[str, tuple[str, float, float]]:
    """Return (story, agreement with people, weight) of each table on which it is defined."""
    out = {}
    for table in tables:
        same = [said == true for row in table.rows for said, true in [_verdicts(row)] if None not in (said, true)]
        if same:
            out[table.key] = table.story, sum(same) / len(same), table.weight
    return out


def _verdicts(row: Row) -> tuple[bool | None, bool | None]:
    return matched(row.judge), matched(row.human)


def select(judges: Mapping[str, Sequence[Table]], chosen: str, *, seed: int) -> Selection:
    """Return the chosen judge beside every other one, on the same tables. Raises KeyError for an unknown judge."""
    agreements = {name: story_agreements(tables) for name, tables in judges.items()}
    own = agreements.pop(chosen)
    pairs = [_paired(own, other) for other in agreements.values()]
    p = [_p(pair, seed) for pair in pairs]
    rivals = [
        Rival(name, _mean(other), _difference(pair), one, adjusted)
        for (name, other), pair, one, adjusted in zip(agreements.items(), pairs, p, holm(p), strict=True)
    ]
    return Selection(chosen, _mean(own), rivals, caution(len({story for story, *_ in own.values()}), UNIT))


Scores = Mapping[str, tuple[str, float, float]]


def _mean(scores: Scores) -> Figure:
    from core.statistics import SHARE

    stories, values, weights = ([each[at] for each in scores.values()] for at in range(3))
    return weighted_mean(values, weights, stories, scale=SHARE, unit=UNIT).figure  # type: ignore[arg-type]


def _paired(own: Scores, other: Scores) -> list[tuple[str, float, float]]:
    """(story, difference, weight) of each table that both judged."""
    return [(own[key][0], own[key][1] - other[key][1], own[key][2]) for key in own if key in other]


def _difference(pairs: Sequence[tuple[str, float, float]]) -> Figure:
    return weighted_mean(
        [value for _, value, _ in pairs], [weight for *_, weight in pairs], [story for story, *_ in pairs], unit=UNIT
    ).figure


def _p(pairs: Sequence[tuple[str, float, float]], seed: int) -> float | None:
    """Sign flips of each story's weighted sum of differences: exchangeable judges could have changed places in it."""
    sums: dict[str, float] = {}
    for story, value, weight in pairs:
        sums[story] = sums.get(story, 0.0) + value * weight
    return sign_flip_p(np.array([list(sums.values())]), seed=seed)[0] if sums else None


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a published table: a row for each model or judge, a column for each level or stage, values in
    per cent; `best` and `second` are marked in each row (`across`) or column."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[float | None, ...]]
    across: bool

    def marked(self, place: int) -> set[tuple[str, str]]:
        """Return the cells (row, column) that are best (0) or second (1) of their row or column; ties share a mark."""
        lines = (
            [
                [(name, column, value) for column, value in zip(self.columns, row, strict=True)]
                for name, row in self.rows.items()
            ]
            if self.across
            else [
                [(name, column, row[at]) for name, row in self.rows.items()] for at, column in enumerate(self.columns)
            ]
        )
        marks = set()
        for line in lines:
            values = sorted({round(value, 2) for *_, value in line if value is not None}, reverse=True)
            if len(values) > place:
                marks |= {
                    (row, column)
                    for row, column, value in line
                    if value is not None and round(value, 2) == values[place]
                }
        return marks


LEVELS = ("L1", "L2", "L3", "L4")


def level_block(title: str, values: Mapping[tuple[str, int], float | None]) -> Block:
    """Return a block of table 9: by model and prompt level, per cent, the best level of each model marked."""
    names = list(dict.fromkeys(name for name, _ in values))
    rows = {name: tuple(values.get((name, level)) for level in range(1, 5)) for name in names}
    return Block(title, LEVELS, rows, across=True)


def stage_block(title: str, values: Mapping[str, tuple[float | None, float | None]]) -> Block:
    """Return table 5: extraction F1 and labelling accuracy of each model, per cent, best first by extraction."""
    order = sorted(values, key=lambda name: -(values[name][0] if values[name][0] is not None else -1.0))  # type: ignore[operator]
    return Block(title, ("ST1", "ST2"), {name: values[name] for name in order}, across=False)


def judge_block(title: str, judges: Mapping[str, Figure]) -> Block:
    """Return the block of judges: agreement with people by story and macro-averaged, per cent, best first."""
    rows = {name: (None if figure.value is None else 100 * figure.value,) for name, figure in judges.items()}
    order = sorted(rows, key=lambda name: -(rows[name][0] if rows[name][0] is not None else -1.0))  # type: ignore[operator]
    return Block(title, ("Agreement",), {name: rows[name] for name in order}, across=False)
