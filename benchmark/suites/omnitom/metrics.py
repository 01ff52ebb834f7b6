"""Official figures: by story, over all stories and by category (specification "OmniToM scoring", section 6).

Story figures are rounded to six decimals first and averaged afterwards, which moves the last digit. Every value is a
text, as in official output; shares are fractions from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.averaging import Row, StoryAverages, StoryMetrics, averages, six
from benchmark.domain.matched_rows import F1, METRICS
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from core.statistics import harmonic
from judge.domain.calibration.stories import share
from judge.domain.text import normalise_space

STAGE1_SHARES = METRICS
STAGE2_SHARES = OMNITOM_SCHEME.shares
STAGE1_COLUMNS = ("story_id", "story_category", "pred_total", "gt_total", "pred_matched", "gt_matched", *STAGE1_SHARES)
STAGE2_COLUMNS = ("story_id", "story_category", "pairs", "matched_pairs", *STAGE2_SHARES)


def stage1_row(result: Stage1Result) -> Row:
    """One line of `stage1_story_metrics.csv`."""
    pred_total, gold_total = len(result.pred_counts), len(result.gold_counts)
    precision, recall = share(result.pred_matched, pred_total), share(result.gold_matched, gold_total)
    counts = (result.story_id, normalise_space(result.category), pred_total, gold_total)
    values = (
        *counts,
        result.pred_matched,
        result.gold_matched,
        *map(six, (precision, recall, harmonic(precision, recall))),
    )
    return dict(zip(STAGE1_COLUMNS, map(str, values), strict=True))


def stage2_row(result: Stage2Result) -> Row:
    """One line of `stage2_story_metrics.csv`. A row that was not predicted and an empty label are wrong."""
    correct = [0] * len(DIMENSIONS)
    for gold, predicted in zip(result.gold, result.predicted, strict=True):
        for at, label in enumerate(predicted or ()):
            correct[at] += bool(label) and label == gold[at]
    pairs = len(result.gold)
    accuracies = [share(count, pairs) for count in correct]
    overall = sum(accuracies) / len(accuracies)
    values = (
        result.story_id,
        normalise_space(result.category),
        pairs,
        result.paired,
        *map(six, (overall, *accuracies)),
    )
    return dict(zip(STAGE2_COLUMNS, map(str, values), strict=True))


def stage1_metrics(results: Sequence[Stage1Result]) -> StoryAverages:
    """The figures of extraction; `overall` also has `f1_category_mean`, the figure that the paper's table 3
    prints: the plain mean of the categories' F1."""
    return _metrics([(result.category, stage1_row(result)) for result in results], STAGE1_SHARES, F1)


def stage2_metrics(results: Sequence[Stage2Result]) -> StoryAverages:
    """The figures of labelling, as `stage1_metrics` without the mean of categories."""
    return _metrics([(result.category, stage2_row(result)) for result in results], STAGE2_SHARES)


def _metrics(rows: Sequence[tuple[str, Row]], shares: Sequence[str], mean_of: str = "") -> StoryAverages:
    stories = [StoryMetrics(int(row["story_id"] or 0), row) for _, row in rows]
    return StoryAverages(averages(rows, shares, mean_of), stories)
