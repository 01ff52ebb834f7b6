"""Figures story by story, kept with a run's report, and what a selection of stories comes to from them.

Of one stage and parse they are `Columns`. Official values are the six decimals of official output, [0, 1] of a story
that official scoring leaves out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from benchmark.domain.averaging import Averages, averages
from benchmark.domain.estimating import COMPLETE, Report, StoryScore, report
from benchmark.domain.inference import Case
from benchmark.suites.asked import Columns, Official, Parse, Value
from benchmark.suites.reasons import lost_outside
from benchmark.suites.registry import group_named, units_of_group

PARSES: tuple[Parse, ...] = ("official", "repaired")


LEFT_OUT = "official scoring leaves it out"
"""Why a story that was asked has no official figure."""


def official_columns(
    rows: Sequence[Mapping[str, str | float | None]],
    categories: Sequence[str],
    stage: str,
    left_out: Collection[int] = (),
) -> Columns:
    """Return the columns of the story rows of official figures; `categories` verbatim. Stories of `left_out` could have
    any figure; others without one have none by definition."""
    stories = [int(row["story_id"] or 0) for row in rows]
    out = set(left_out)
    columns = {
        name: [_number(row[name], story in out) for story, row in zip(stories, rows, strict=True)]
        for name in group_named(stage).shares
    }
    return {
        "stories": stories,
        "categories": list(categories),
        "values": columns,
        "unusable": {str(story): LEFT_OUT for story in stories if story in out},
        "unjudged": {},
    }


def _number(printed: str | float | None, left_out: bool) -> Value:
    return ([0.0, 1.0] if left_out else None) if printed is None else float(printed)


def repaired_columns(rows: Sequence[Mapping[str, Any]], stage: str) -> Columns:
    """Return the columns of the story rows of repaired figures."""
    return {
        "stories": [row["story_id"] for row in rows],
        "categories": [row["story_category"] for row in rows],
        "values": {name: [_value(row, name) for row in rows] for name in group_named(stage).shares},
        "unusable": {str(row["story_id"]): row["reason"] for row in rows if "reason" in row},
        "unjudged": {str(row["story_id"]): list(row["unjudged"].values()) for row in rows if "unjudged" in row},
    }


def _value(row: Mapping[str, Any], name: str) -> Value:
    bounds: list[float] | None = row.get("bounds", {}).get(name)
    if "reason" in row:
        return bounds
    value: float | None = row[name]
    return value if bounds is None or value is None else [bounds[0], value, bounds[1]]


def _cases(value: Value) -> tuple[float | None, float | None, float | None]:
    """Return (worst, estimate, best) of a kept value."""
    if not isinstance(value, list):
        return value, value, value
    return value[0], value[1] if len(value) == 3 else None, value[-1]


def scores_by_story(columns: Columns | None, name: str) -> dict[int, float | None]:
    """Return {story: estimate}; None where the story has none."""
    if not columns:
        return {}
    stories_and_values = zip(columns["stories"], columns["values"][name], strict=True)
    return {story: _cases(value)[1] for story, value in stories_and_values}


def cases_by_story(columns: Columns, name: str) -> dict[int, Case | None]:
    """Return {story: case}; None where the figure is not defined, whatever was answered."""
    stories_and_values = zip(columns["stories"], columns["values"][name], strict=True)
    whys = columns.get("partly", {}) | columns.get("unusable", {})
    return {story: _case(value, whys.get(str(story), "")) for story, value in stories_and_values}


def _case(value: Value, why: str) -> Case | None:
    """Rows that a judge left out are lost outside; the story has its estimate all the same, and a `why` where a
    repetition is unusable."""
    worst, estimate, best = _cases(value)
    if worst is None or best is None:
        return None
    return Case(worst, best, estimate, lost_outside(why) if why or estimate is None else worst < best)


def categories_of(columns: Columns) -> dict[int, str]:
    return dict(zip(columns["stories"], columns["categories"], strict=True))


def clusters_of(columns: Columns) -> dict[int, str]:
    """The cluster of each story; empty where each is its own."""
    return dict(zip(columns["stories"], columns["clusters"], strict=True)) if "clusters" in columns else {}


def lacking(columns: Columns | None, stories: Set[int]) -> str:
    """Return why official scoring has no figures of the selection, from what was kept of its parse; empty where it
    has."""
    missing = stories - set(columns["stories"] if columns else ())
    if not missing:
        return "" if stories else "No story is selected."
    return f"Story {min(missing)} has no official parse; official scoring needs one of every story."


def official_metrics(columns: Columns, stories: Set[int], stage: str) -> Averages | None:
    """The figures of the selection as official scoring has them; None where one of its stories is not there."""
    if lacking(columns, stories):
        return None
    kept = [at for at, story in enumerate(columns["stories"]) if story in stories]
    values = {name: columns["values"][name] for name in group_named(stage).shares}
    rows = [
        (columns["categories"][at], {name: _cases(column[at])[1] for name, column in values.items()}) for at in kept
    ]
    return averages(rows, group_named(stage).shares, group_named(stage).category_mean)


def with_intervals(
    metrics: Averages, columns: Columns, stories: Set[int], stage: str, *, seed: int, resamples: int
) -> Official:
    """Official figures with `interval` in each row, from the bootstrap that the repaired parse has, `n`, how many
    they are of, how many are `unusable`, as official scoring leaves them out, and `bounds` with these at 0 and at 1."""
    complete: Columns = {"unusable": {}, "unjudged": {}, **columns}
    repaired = repaired_metrics(complete, stories, stage, seed=seed, resamples=resamples)
    # both are in the order of the verbatim categories, of which two can read alike
    by_category = [
        {**row, **_intervals(of_category)}
        for row, of_category in zip(metrics["by_category"], repaired["by_category"], strict=True)
    ]
    return {"overall": {**metrics["overall"], **_intervals(repaired["overall"])}, "by_category": by_category}


def _intervals(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in ("interval", "reasons", "unusable", "bounds") if name in row}
    return kept | {"n": row["stories"]}


def repaired_metrics(columns: Columns, stories: Set[int], stage: str, *, seed: int, resamples: int) -> Report:
    """The figures of the selection as score_repaired has them."""
    kept = [_score(columns, at, stage) for at, story in enumerate(columns["stories"]) if story in stories]
    group = group_named(stage)
    return report(
        kept,
        group.shares,
        mean_of_categories=group.category_mean,
        seed=seed,
        resamples=resamples,
        unit=units_of_group(stage),
    )


def _score(columns: Columns, at: int, stage: str) -> StoryScore:
    cases = [_cases(columns["values"][name][at]) for name in group_named(stage).shares]
    worst, estimate, best = (
        dict(zip(group_named(stage).shares, case, strict=True)) for case in zip(*cases, strict=True)
    )
    story = str(columns["stories"][at])
    unusable, (predicted, left) = columns["unusable"].get(story, ""), columns["unjudged"].get(story, COMPLETE)
    cluster = columns["clusters"][at] if "clusters" in columns else ""
    values = None if unusable or all(value is None for value in estimate.values()) else estimate
    return StoryScore(columns["categories"][at], worst, best, values, unusable, (predicted, left), cluster)


def mean_columns(each: Sequence[Columns | None]) -> Columns | None:
    """The columns of several repetitions as one: of every story the mean of what is known, of worst and of best case.
    None where a repetition has none, or they are of different stories."""
    present = [columns for columns in each if columns]
    if len(present) < len(each) or any(columns["stories"] != present[0]["stories"] for columns in present):
        return None
    names = present[0]["values"]
    values = {
        name: [_mean_value(of) for of in zip(*(columns["values"][name] for columns in present), strict=True)]
        for name in names
    }
    merged: Columns = {**present[0], "values": values}
    if "unusable" in merged:
        merged["partly"] = _partly([columns["unusable"] for columns in present])
        merged["unusable"] = {
            story: why
            for story, why in present[0]["unusable"].items()
            if all(story in columns["unusable"] for columns in present)
        }
        unjudged = [columns["unjudged"] for columns in present]
        stories = dict.fromkeys(story for counts in unjudged for story in counts)
        merged["unjudged"] = {
            story: [sum(side) for side in zip(*(counts.get(story, COMPLETE) for counts in unjudged), strict=True)]
            for story in stories
        }
    return merged


def _partly(each: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return why some repetitions of a story are unusable; what the model itself did counts before what was lost
    outside."""
    stories = dict.fromkeys(story for reasons in each for story in reasons)
    whys = {story: [reasons[story] for reasons in each if story in reasons] for story in stories}
    return {story: min(reasons, key=lost_outside) for story, reasons in whys.items()}


def _mean_value(values: Sequence[Value]) -> Value:
    cases = [_cases(value) for value in values]
    estimates = [estimate for _, estimate, _ in cases if estimate is not None]
    ends = [(worst, best) for worst, _, best in cases if worst is not None and best is not None]
    if len(ends) < len(cases):
        return None
    worst, best = (sum(end) / len(ends) for end in zip(*ends, strict=True))
    if not estimates:
        return [worst, best]
    estimate = sum(estimates) / len(estimates)
    return estimate if worst == best else [worst, min(best, max(worst, estimate)), best]
