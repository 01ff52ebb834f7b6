"""The repaired reading: the same answers, with failures as missing data instead of zeros.

A story whose answer cannot be read is left out of the estimate and named; bounds beside the estimate say what it would
be if every such story were worth 0, or 1. Intervals are those of a bootstrap over stories, as the
propositions of one story are not independent. A figure that is not defined is None, with a `reason`.

- Gold: propositions without an actor or a belief, which nobody was shown, do not count; a gold label outside its closed
  set makes its cell undefined. A story without gold propositions has no figures and is not unusable either.
- Stage 1: a story counts where its answer holds a proposition and the judge gave every row of both tables a count.
- Stage 2: a story counts where its answer holds at least one row of a gold proposition. Rows and labels that it leaves
  out there, and labels outside the closed set, are wrong: the model was asked for them.
- A table that can be read and has no row (a header alone, `{"rows": []}`) says nothing, and is no missing answer: nothing
  is found, whatever a judge makes of it, and all labels are missing, thus wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.domain.anchoring.estimates import RESAMPLES
from benchmark.domain.omnitom.estimating import StoryScore, report
from benchmark.domain.omnitom.kinds import order_bucket, role_of
from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.domain.omnitom.metrics import STAGE1_SHARES, STAGE2_SHARES, f1
from benchmark.domain.omnitom.official import Texts
from benchmark.domain.omnitom.readings.emptiness import says_nothing
from benchmark.domain.omnitom.readings.extraction import read_extraction
from benchmark.domain.omnitom.readings.judgement import read_counts
from benchmark.domain.omnitom.readings.labels import read_labels
from benchmark.domain.omnitom.readings.values import repaired
from benchmark.domain.omnitom.records import Record
from benchmark.domain.omnitom.results import NO_GOLD, Stage1Result, Stage2Result

NO_ANSWER = "no answer"
UNREADABLE = "no usable row"
NO_JUDGEMENT = "no judgement"
PARTLY_JUDGED = "rows without a judgement"
REFUSED = "the model refused"
TRUNCATED = "the answer was cut off"
"""What a call's end says better than an answer that cannot be read."""


def stage1_result(record: Record, texts: Mapping[str, str]) -> Stage1Result:
    """The counts of the propositions that a person would read, on both sides."""
    gold = record.shown
    predicted = read_extraction(texts.get("extract", ""))
    counts = read_counts(texts.get("judge", ""), predicted, gold)
    if not gold:
        unusable = NO_GOLD
    elif "extract" not in texts:
        unusable = NO_ANSWER
    elif not predicted and says_nothing(texts["extract"]):
        counts, unusable = ([], [0] * len(gold)), ""
    elif not predicted:
        unusable = UNREADABLE
    elif set(counts[0] + counts[1]) == {None}:
        unusable = NO_JUDGEMENT
    else:
        unusable = PARTLY_JUDGED if None in counts[0] + counts[1] else ""
    return Stage1Result(
        record.story_id,
        record.category,
        *map(tuple, counts),
        gold_orders=tuple(repaired("order", row.order) for row in gold),
        unusable=unusable,
        pred_orders=tuple(order_bucket(row.order) for row in predicted),
        gold_roles=tuple(role_of(row.actor) for row in gold),
        pred_roles=tuple(role_of(row.actor) for row in predicted),
    )


def stage2_result(record: Record, texts: Mapping[str, str]) -> Stage2Result:
    """The labels that a person would read for each gold proposition; gold labels are repaired in the same way."""
    gold = record.shown
    predicted = read_labels(texts.get("label", ""), gold)
    if not gold:
        unusable = NO_GOLD
    elif "label" not in texts:
        unusable = NO_ANSWER
    else:
        read = any(row is not None for row in predicted) or says_nothing(texts["label"])
        unusable = "" if read else UNREADABLE
    labels = tuple(tuple(map(repaired, DIMENSIONS, row.labels)) for row in gold)
    roles = tuple(role_of(row.actor) for row in gold)
    return Stage2Result(record.story_id, record.category, labels, tuple(predicted), unusable, roles)


def stage1_score(result: Stage1Result) -> StoryScore:
    """Precision, recall and F1, with rows that nobody judged as unmatched (worst) and as matched (best). Of an extraction that could
    not be read, whatever was judged is of nothing: at best it had every gold row."""
    if not result.gold_counts:
        undefined = dict.fromkeys(STAGE1_SHARES)
        return StoryScore(result.category, undefined, undefined, result.unusable)
    worst = _stage1(result, unjudged=0)
    best = _stage1(result, unjudged=1) if result.unusable else worst
    return StoryScore(result.category, worst, best, result.unusable)


def _stage1(result: Stage1Result, *, unjudged: int) -> dict[str, float]:
    def matched(counts: Sequence[int | None]) -> float:
        if not counts:  # nothing was said, or nothing could be read and anything may have been
            return float(unjudged)
        return sum((unjudged if count is None else count) > 0 for count in counts) / len(counts)

    precision = matched(result.pred_counts)
    recall = 1.0 if unjudged and not result.pred_counts else matched(result.gold_counts)
    return {"precision": precision, "recall": recall, "f1": f1(precision, recall)}


def stage2_score(result: Stage2Result) -> StoryScore:
    """Accuracy of each dimension over the cells whose gold label is legal, and their mean."""
    cells = result.right().values()
    if not result.unusable:
        figures = _stage2([sum(one) / len(one) if one else None for one in cells])
        return StoryScore(result.category, figures, figures)
    worst, best = (_stage2([whole if one else None for one in cells]) for whole in (0.0, 1.0))
    return StoryScore(result.category, worst, best, result.unusable)


def _stage2(accuracies: Sequence[float | None]) -> dict[str, float | None]:
    known = [one for one in accuracies if one is not None]
    return dict(zip(STAGE2_SHARES, [sum(known) / len(known) if known else None, *accuracies], strict=True))


def score_repaired(
    records: Sequence[Record], texts: Texts, *, seed: int = 1, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """{"stage1", "stage2"}: the shape of the official figures, as numbers, with what is uncertain beside them.

    A row of `overall` and `by_category` has `stories` (usable ones), the figures, `interval` and `bounds` of each as
    [low, high], `unusable` (how many stories) and, where there are any, `unusable_reasons`. Rows of `stories` have the
    figures, or None with a `reason` and bounds. A stage that no story has an answer for is None, with its reason in
    `reason`.
    """
    rules = {"seed": seed, "resamples": resamples}
    out: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    held = {stage for record in records for stage in texts.get(record.story_id, ())}
    for stage, needed, result, reported in _PLAN:
        if lacking := [name for name in needed if name not in held]:
            out[stage], reasons[stage] = None, f"No story has an answer for {lacking[0]}."
        else:
            out[stage] = reported([result(record, texts.get(record.story_id, {})) for record in records], **rules)
    return {**out, "reason": reasons} if reasons else out


def stage1_report(results: Sequence[Stage1Result], *, seed: int = 1, resamples: int = RESAMPLES) -> dict[str, Any]:
    """{overall, by_category, stories, method, seed, resamples}; `overall` also has `f1_category_mean`."""
    scores = [stage1_score(one) for one in results]
    head = report(scores, STAGE1_SHARES, mean_of_categories="f1", seed=seed, resamples=resamples)
    return _whole(head, results, scores, [_stage1_counts(one) for one in results])


def stage2_report(results: Sequence[Stage2Result], *, seed: int = 1, resamples: int = RESAMPLES) -> dict[str, Any]:
    """{overall, by_category, stories, method, seed, resamples}."""
    scores = [stage2_score(one) for one in results]
    head = report(scores, STAGE2_SHARES, seed=seed, resamples=resamples)
    counts = [{"pairs": len(one.gold), "matched_pairs": one.paired} for one in results]
    return _whole(head, results, scores, counts)


def _stage1_counts(result: Stage1Result) -> dict[str, int]:
    totals = {"pred_total": len(result.pred_counts), "gt_total": len(result.gold_counts)}
    return totals | {"pred_matched": result.pred_matched, "gt_matched": result.gold_matched}


def _whole(head: dict[str, Any], results, scores: Sequence[StoryScore], counts: Sequence[dict[str, int]]) -> dict:
    stories = [_story(*one) for one in zip(results, scores, counts, strict=True)]
    return {"overall": head.pop("overall"), "by_category": head.pop("by_category"), "stories": stories, **head}


def _story(result: Stage1Result | Stage2Result, score: StoryScore, counts: Mapping[str, int]) -> dict[str, Any]:
    row = {"story_id": result.story_id, "story_category": result.category, **counts}
    if not result.unusable:
        return {**row, **score.worst, "unusable": False}
    row |= {**dict.fromkeys(score.worst), "unusable": score.defined, "reason": result.unusable}
    bounds = {name: [low, score.best[name]] for name, low in score.worst.items() if low is not None}
    return {**row, "bounds": bounds} if bounds else row


_PLAN = (
    ("stage1", ("extract", "judge"), stage1_result, stage1_report),
    ("stage2", ("label",), stage2_result, stage2_report),
)
