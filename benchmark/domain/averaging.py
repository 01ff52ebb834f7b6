"""Means of printed figures, as the released scorers of benchmarks print them: texts of six decimals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean

from core.plain import Json
from judge.domain.text import normalise_space


def six(value: float) -> str:
    return f"{value:.6f}"


def averages(
    rows: Sequence[tuple[str, Mapping[str, str | float | None]]], shares: Sequence[str], mean_of: str = ""
) -> Json:
    """Return {overall, by_category} from the verbatim category and the figures, texts or numbers, of each story.

    `overall` also has the mean of the categories' means of the share `mean_of`, as `<share>_category_mean`. Categories
    are in the order of their verbatim names, of which two can read alike; stories without one are in no row of one.
    `stories` counts those that have a figure, as official scoring leaves out others.
    """
    groups: dict[str, list[Mapping[str, str | float | None]]] = defaultdict(list)
    for category, row in rows:
        groups[category].append(row)
    overall = _means([row for _, row in rows], shares)
    by_category = [_means(groups[category], shares, normalise_space(category)) for category in sorted(groups)]
    if mean_of:
        overall[f"{mean_of}_category_mean"] = _mean([row[mean_of] for row in by_category])
    return {"overall": overall, "by_category": [row for row in by_category if "story_category" in row]}


def _means(rows: Sequence[Mapping[str, str | float | None]], shares: Sequence[str], category: str = "") -> Json:
    counted = [row for row in rows if any(row[name] is not None for name in shares)]
    means = {name: _mean([row[name] for row in rows]) for name in shares}
    return {**({"story_category": category} if category else {}), "stories": str(len(counted)), **means}


def _mean(printed: Sequence[str | float | None]) -> str | None:
    """The exact mean of printed figures, printed, without those that official scoring leaves out; None where it leaves
    out all."""
    counted = [float(metric) for metric in printed if metric is not None]
    return six(mean(counted)) if counted else None if printed else six(0)
