"""Figures story by story, kept with a run's report, and what a selection of stories comes to from them.

Of one stage and reading the plain data are columns over the stories: {"stories": [numbers], "categories": [names], "values": {share: [value]}}.
A value is a fraction; of the repaired reading [worst, best] where the story is unusable and None where nothing is defined, and
`unusable` says why by number. Official values are the six decimals of official output.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from statistics import mean
from typing import Any

from benchmark.domain.omnitom.estimating import StoryScore, report
from benchmark.domain.omnitom.metrics import STAGE1_SHARES, STAGE2_SHARES, category_mean, six
from judge.domain.text import normalise_space

SHARES = {"stage1": STAGE1_SHARES, "stage2": STAGE2_SHARES}
SCORE = {"stage1": "f1", "stage2": "overall_accuracy"}
"""The figure of a stage that models are ranked and compared by."""
STAGES = tuple(SHARES)
READINGS = ("official", "repaired")

Columns = Mapping[str, Any]


def official_columns(rows: Sequence[Mapping[str, str]], categories: Sequence[str], stage: str) -> dict[str, Any]:
    """From the story rows of official figures; `categories` verbatim."""
    return {
        "stories": [int(row["story_id"]) for row in rows],
        "categories": list(categories),
        "values": {name: [float(row[name]) for row in rows] for name in SHARES[stage]},
    }


def repaired_columns(rows: Sequence[Mapping[str, Any]], stage: str) -> dict[str, Any]:
    """From the story rows of repaired figures."""
    return {
        "stories": [row["story_id"] for row in rows],
        "categories": [row["story_category"] for row in rows],
        "values": {name: [_value(row, name) for row in rows] for name in SHARES[stage]},
        "unusable": {str(row["story_id"]): row["reason"] for row in rows if "reason" in row},
    }


def _value(row: Mapping[str, Any], name: str) -> Any:
    return row.get("bounds", {}).get(name) if "reason" in row else row[name]


def scores_by_story(columns: Columns | None, name: str) -> dict[int, float | None]:
    """{story: value}; None where the story has no estimate."""
    if not columns:
        return {}
    held = zip(columns["stories"], columns["values"][name], strict=True)
    return {story: None if isinstance(value, list) else value for story, value in held}


def categories_of(columns: Columns) -> dict[int, str]:
    return dict(zip(columns["stories"], columns["categories"], strict=True))


def official_figures(columns: Columns, stories: Set[int], stage: str) -> dict[str, Any] | None:
    """{overall, by_category} of the selection as official scoring has them; None without one of its stories."""
    kept = [at for at, story in enumerate(columns["stories"]) if story in stories]
    if not kept:
        return None
    groups: dict[str, list[int]] = defaultdict(list)
    for at in kept:
        groups[columns["categories"][at]].append(at)
    overall = _official_row(columns, kept, stage)
    by_category = [
        {"story_category": normalise_space(name), **_official_row(columns, groups[name], stage)}
        for name in sorted(groups)
    ]
    if stage == "stage1":
        overall["f1_category_mean"] = category_mean([row["f1"] for row in by_category])
    return {"overall": overall, "by_category": by_category}


def _official_row(columns: Columns, kept: Sequence[int], stage: str) -> dict[str, str]:
    means = {name: six(mean(columns["values"][name][at] for at in kept)) for name in SHARES[stage]}
    return {"stories": str(len(kept)), **means}


def with_intervals(
    figures: dict[str, Any], columns: Columns, stories: Set[int], stage: str, **rules: int
) -> dict[str, Any]:
    """Official figures with `interval` in each row, from the bootstrap that the repaired reading has."""
    held = repaired_figures({**columns, "unusable": {}}, stories, stage, **rules)
    rows = {normalise_space(row["story_category"]): row["interval"] for row in held["by_category"]}
    by_category = [row | {"interval": rows[row["story_category"]]} for row in figures["by_category"]]
    return {"overall": figures["overall"] | {"interval": held["overall"]["interval"]}, "by_category": by_category}


def repaired_figures(columns: Columns, stories: Set[int], stage: str, *, seed: int, resamples: int) -> dict[str, Any]:
    """{overall, by_category, method, seed, resamples} of the selection as score_repaired has them."""
    kept = [_score(columns, at, stage) for at, story in enumerate(columns["stories"]) if story in stories]
    mean_of = "f1" if stage == "stage1" else ""
    return report(kept, SHARES[stage], mean_of_categories=mean_of, seed=seed, resamples=resamples)


def _score(columns: Columns, at: int, stage: str) -> StoryScore:
    held = {name: columns["values"][name][at] for name in SHARES[stage]}
    worst = {name: one[0] if isinstance(one, list) else one for name, one in held.items()}
    best = {name: one[1] if isinstance(one, list) else one for name, one in held.items()}
    unusable = columns["unusable"].get(str(columns["stories"][at]), "")
    return StoryScore(columns["categories"][at], worst, best, unusable)
