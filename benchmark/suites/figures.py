"""Means of what counts once in a figure (a question, a pair, a set), in the worst case, the best case and, where it is
known, as it is."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import COMPLETE, StoryScore, overall_row, report
from benchmark.domain.inference import Case
from benchmark.domain.report_rows import ParseRows, ReportRow, averages
from benchmark.suites.questions import Columns, Value
from benchmark.suites.reasons import lost_outside
from benchmark.suites.registry import group_named, units_of_group
from core.messages import Sentence, gettext_noop
from core.plain import read_as
from core.statistics import RESAMPLES, Estimate

_SHARE = "share"


class Unit(NamedTuple):
    """One that counts: its cluster, what it is worth from 0 to 1, None where that is not known, and the [lowest,
    highest] that it could be worth, its value or anything where these are not given."""

    cluster: str
    value: float | None
    bounds: tuple[float, float] | None = None


def unit_estimate(units: Sequence[Unit], seed: int, clusters: str) -> BoundedEstimate:
    """Return the mean of the units that are known with its interval over `clusters`; bounds take each unit at its
    lowest and at its highest."""
    scores = []
    for cluster, value, bounds in units:
        low, high = bounds or ((0.0, 1.0) if value is None else (value, value))
        estimate, why = (None, gettext_noop("unreadable")) if value is None else ({_SHARE: value}, "")
        scores.append(StoryScore("", {_SHARE: low}, {_SHARE: high}, estimate, why, cluster=cluster))
    row = overall_row(scores, (_SHARE,), seed=seed, resamples=RESAMPLES, unit=clusters)
    return estimate_of_row(row, _SHARE)


def estimate_of_row(row: ReportRow, share: str) -> BoundedEstimate:
    """Return one share of a row over stories, with bounds where they are apart."""
    cell = row.cell(share)
    bounds = None if cell.bounds is None else list(cell.bounds)
    return BoundedEstimate(cell.value, row.stories or 0, cell.interval or None, reason=cell.reason, bounds=bounds)


def without_value(estimate: BoundedEstimate, reason: str) -> BoundedEstimate:
    """Return what is left of an estimate that is not to be told, for a `reason`: on how many it rests, and its
    bounds."""
    return replace(estimate, value=None, interval=None, reason=reason)


def with_bounds(estimate: Estimate, bounds: list[float] | None = None) -> BoundedEstimate:
    """Return an estimate with its bounds, where there are any."""
    return BoundedEstimate(
        estimate.value, estimate.n, estimate.interval, estimate.clusters, estimate.reason, bounds=bounds
    )


LEFT_OUT = gettext_noop("official scoring leaves it out")
"""Reason why a story that was asked has no official figure."""


def columns_of(kept: Mapping[str, Any] | None, parse: str) -> Columns | None:
    """Return the figures of a parse sample by sample from what `StoryScores` keeps of a metric group. Returns None
    without any."""
    columns = (kept or {}).get(parse)
    return read_as(Columns, columns) if columns else None


def official_columns(scores: Sequence[StoryScore], group: str) -> Columns | None:
    """Return the columns of the official figures of stories, None if no story has any. A story that official scoring
    leaves out could have any figure; others without one have none by definition."""
    named, values = group_named(group), dict[str, list[Value]]()
    stories = [(score, score.official) for score in scores if score.official is not None]
    out = {score.number for score, _ in stories if score.left_out(named.score)}
    for name in named.shares:
        figures = ((score.number, official[name]) for score, official in stories)
        values[name] = [([0.0, 1.0] if at in out else None) if value is None else float(value) for at, value in figures]
    columns = Columns(
        stories=[score.number for score, _ in stories],
        categories=[score.category for score, _ in stories],
        values=values,
        unreadable={str(score.number): LEFT_OUT for score, _ in stories if score.number in out},
        clusters=_clusters([score for score, _ in stories]),
    )
    return columns if stories else None


def repaired_columns(scores: Sequence[StoryScore], group: str) -> Columns:
    """Return the columns of the repaired figures of stories."""
    return Columns(
        stories=[score.number for score in scores],
        categories=[score.category for score in scores],
        values={name: [_value(score, name) for score in scores] for name in group_named(group).shares},
        unreadable={str(score.number): score.unreadable for score in scores if score.unreadable},
        unjudged={str(score.number): list(score.unjudged) for score in scores if any(score.unjudged)},
        clusters=_clusters(scores),
    )


def _clusters(scores: Sequence[StoryScore]) -> list[str] | None:
    """Return the cluster of each story. Returns None if no two stories share one."""
    clusters = [score.cluster for score in scores]
    return clusters if any(clusters) and len(set(clusters)) < len(clusters) else None


def _value(score: StoryScore, name: str) -> Value:
    worst, best = score.worst[name], score.best[name]
    bounds = None if worst is None or best is None or score.worst == score.best else [worst, best]
    if score.estimate is None:
        return bounds
    value = score.estimate[name]
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
    stories_and_values = zip(columns.stories, columns.values[name], strict=True)
    return {story: _cases(value)[1] for story, value in stories_and_values}


def scores_by_turn(columns: Columns | None, name: str) -> list[dict[int, float]]:
    """Return {sample: score} of each repetition, whose score is the share of that name; without samples that have
    none."""
    turns = [scores_by_story(columns, name)]
    if columns and columns.by_turn is not None:
        turns = [dict(zip(columns.stories, scores, strict=True)) for scores in zip(*columns.by_turn, strict=True)]
    return [{sample: score for sample, score in scores.items() if score is not None} for scores in turns]


def statements_by_sample(columns: Columns) -> dict[int, str | None] | None:
    """Return {sample: what its answers say}, of several repetitions what most say, the earliest of equally many; None
    where it was not kept."""
    if columns.said is None:
        return None
    most = {}
    for story, turns in zip(columns.stories, columns.said, strict=True):
        counts = Counter(wording for wording in turns if wording is not None)
        most[story] = counts.most_common(1)[0][0] if counts else None
    return most


def cases_by_story(columns: Columns, name: str) -> dict[int, Case | None]:
    """Return {story: case}; None where the figure is not defined, whatever was answered."""
    whys = {int(story): why for story, why in {**(columns.partly or {}), **columns.unreadable}.items()}
    scored = {value: Case.scored(value) for value in set(filter(_is_number, columns.values[name]))}
    cases: dict[int, Case | None] = {}
    for story, value in zip(columns.stories, columns.values[name], strict=True):
        if story not in whys and _is_number(value):
            cases[story] = scored[value]
            continue
        why, (worst, estimate, best) = whys.get(story, ""), _cases(value)
        if worst is None or best is None:
            cases[story] = None
        else:  # rows that a judge left out are lost outside; the story has its estimate, and a `why` of one repetition
            lost = lost_outside(why) if why or estimate is None else worst < best
            cases[story] = Case(worst, best, estimate, lost)
    return cases


def _is_number(value: Value) -> TypeGuard[float]:
    return value.__class__ is float


def categories_of(columns: Columns) -> dict[int, str]:
    return dict(zip(columns.stories, columns.categories, strict=True))


def clusters_of(columns: Columns) -> dict[int, str]:
    """The cluster of each story; empty where each is its own."""
    return {} if columns.clusters is None else dict(zip(columns.stories, columns.clusters, strict=True))


def lacking(columns: Columns | None, stories: Set[int]) -> str:
    """Return why official scoring has no figures of the selection, from what was kept of its parse; empty where it
    has."""
    missing = stories - set(columns.stories if columns else ())
    if not missing:
        return "" if stories else gettext_noop("No story is selected.")
    return Sentence(
        "Story {missing} has no official parse; official scoring needs one of every story.", missing=min(missing)
    )


def official_metrics(
    columns: Columns | None, stories: Set[int], group: str, *, seed: int, resamples: int
) -> ParseRows | None:
    """Return the figures of the selection as official scoring has them, None if one of its stories is not there.

    Intervals are from the bootstrap that the repaired parse has; what official scoring leaves out is unreadable there,
    and bounds take it at 0 and at 1.
    """
    if columns is None or lacking(columns, stories):
        return None
    named = group_named(group)
    selected = [at for at, story in enumerate(columns.stories) if story in stories]
    rows = [
        (columns.categories[at], {name: _cases(columns.values[name][at])[1] for name in named.shares})
        for at in selected
    ]
    printed = averages(rows, named.shares, named.category_mean)
    repaired = repaired_metrics(columns, stories, group, seed=seed, resamples=resamples)
    # both are in the order of the verbatim categories, of which two can read alike
    by_category = zip(printed["by_category"], repaired.by_category, strict=True)
    overall, *categories = [
        ReportRow(
            cells={name: replace(cell, value=means[name]) for name, cell in row.cells.items()},
            stories=int(means["stories"]),
            unreadable=row.unreadable,
            n=row.stories,
            category=means.get("story_category", ""),
            printed=True,
        )
        for means, row in [(printed["overall"], repaired.overall), *by_category]
    ]
    return ParseRows(overall=overall, by_category=categories)


def repaired_metrics(columns: Columns, stories: Set[int], group: str, *, seed: int, resamples: int) -> ParseRows:
    """Return the figures of the selection as the repaired parse has them."""
    shares = group_named(group).shares
    scores = [_score(columns, at, shares) for at, story in enumerate(columns.stories) if story in stories]
    return report_of_group(scores, group, seed=seed, resamples=resamples)


def report_of_group(scores: Sequence[StoryScore], group: str, *, seed: int, resamples: int) -> ParseRows:
    """Return the figures of a metric group from the repaired scores of its stories."""
    named = group_named(group)
    return report(
        scores,
        named.shares,
        mean_of_categories=named.category_mean,
        seed=seed,
        resamples=resamples,
        unit=units_of_group(group),
    )


def _score(columns: Columns, at: int, shares: Sequence[str]) -> StoryScore:
    cases = [_cases(columns.values[name][at]) for name in shares]
    worst, estimate, best = (dict(zip(shares, case, strict=True)) for case in zip(*cases, strict=True))
    story = str(columns.stories[at])
    unreadable, (predicted, left) = columns.unreadable.get(story, ""), columns.unjudged.get(story, COMPLETE)
    cluster = "" if columns.clusters is None else columns.clusters[at]
    values = None if unreadable or all(value is None for value in estimate.values()) else estimate
    return StoryScore(columns.categories[at], worst, best, values, unreadable, (predicted, left), cluster)


def mean_columns(each: Sequence[Columns | None]) -> Columns | None:
    """The columns of several repetitions as one: of every story the mean of what is known, of worst and of best case,
    the rows of either side that were left out over all repetitions, and why some are unreadable, where what the model
    itself did counts before what was lost outside. None where a repetition has none, or they are of different
    stories."""
    present = [columns for columns in each if columns]
    if len(present) < len(each) or any(columns.stories != present[0].stories for columns in present):
        return None
    first = present[0]
    values = {
        name: [_mean_value(turns) for turns in zip(*(columns.values[name] for columns in present), strict=True)]
        for name in first.values
    }
    whys: dict[str, list[str]] = {}
    for story, why in (pair for columns in present for pair in columns.unreadable.items()):
        whys.setdefault(story, []).append(why)
    unreadable = {story: why for story, why in first.unreadable.items() if len(whys[story]) == len(present)}
    partly = {story: min(reasons, key=lost_outside) for story, reasons in whys.items()}
    left_out = dict.fromkeys(story for columns in present for story in columns.unjudged)
    unjudged = {
        story: [sum(side) for side in zip(*(columns.unjudged.get(story, COMPLETE) for columns in present), strict=True)]
        for story in left_out
    }
    return replace(first, values=values, unreadable=unreadable, unjudged=unjudged, partly=partly)


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
