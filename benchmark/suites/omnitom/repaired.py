"""The repaired parse: the same answers, with failures as missing data instead of zeros.

A story whose answer cannot be read is left out of the estimate and named; bounds beside the estimate say what it would
be if every such story were worth 0, or 1. Intervals are those of a bootstrap over stories, as the
propositions of one story are not independent. A figure that is not defined is None, with a `reason`.
Every estimate lies between its bounds.

- Gold: propositions without an actor or a belief, which nobody was shown, do not count; a gold label outside its closed
  set makes its cell undefined. A story without gold propositions has no figures and is not unreadable either.
- Stage 1: a story counts where its answer holds a proposition and the judge gave a row of either table a count. Shares
  are of the rows with a count; bounds take the others as unmatched, and as matched. Of a side without any count as many
  rows are taken to be matched as on the other side, at most all of them.
- Stage 2: a story counts where its answer holds at least one row of a gold proposition. Rows and labels that it leaves
  out there, and labels outside the closed set, are wrong: the model was asked for them.
- A table that can be read and has no row (a header alone, `{"rows": []}`) says nothing, and is not a missing answer:
  nothing is found, whatever a judge makes of it, and all labels are missing, thus wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.domain.estimating import StoryScore, report
from benchmark.domain.matched_rows import F1, METRICS
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, Record
from benchmark.suites.omnitom.judgements import AS_PUBLISHED, Judging, Sides, judged
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.official import NEEDED, Texts
from benchmark.suites.omnitom.parsing.answers import parse_extraction, parse_labels, says_nothing
from benchmark.suites.omnitom.parsing.values import ignores_schema
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result, kinds_of, stage1_of, stage2_of, with_reasons
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NO_ANSWER, NO_GOLD, NO_JUDGEMENT, NOT_STRUCTURED, UNREADABLE
from core.plain import Json
from core.statistics import RESAMPLES, harmonic


def read_judgement(record: Record, texts: Mapping[str, str], how: Judging) -> tuple[Stage1Result, Sides]:
    """Return the counts of the propositions that a person would read, on both sides, and the judgement of each row."""
    gold, scheme = record.shown_rows, record.scheme
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=scheme)
    sides = judged(texts, predicted, gold, how)
    counts = [[row.count for row in side] for side in sides]
    unreadable = ""
    if not gold:
        unreadable = NO_GOLD
    elif EXTRACT not in texts:
        unreadable = NO_ANSWER
    elif not predicted:
        unreadable = why_unreadable(texts[EXTRACT], structured=how.structured, scheme=scheme)
        counts = counts if unreadable else [[], [0] * len(gold)]
    elif set(counts[0] + counts[1]) == {None}:
        unreadable = no_judgement(texts.get(JUDGE, ""), how)
    kept = {"pred": counts[0], "gold": counts[1], **kinds_of(predicted)}
    return stage1_of(record, kept, mended=True, unreadable=unreadable), sides


def no_judgement(answer: str, how: Judging) -> str:
    """Return the reason why a judge's answer has no judgement."""
    ignored = how.by_id and ignores_schema(answer, "predictions", "gold")
    return JUDGE_NOT_STRUCTURED if ignored else NO_JUDGEMENT


def stage1_result(record: Record, texts: Mapping[str, str], how: Judging = AS_PUBLISHED) -> Stage1Result:
    return read_judgement(record, texts, how)[0]


def why_unreadable(text: str, *, structured: bool, scheme: Scheme = OMNITOM_SCHEME) -> str:
    """Return the reason why an answer without a row is unreadable, "" for a table that says nothing."""
    if structured and ignores_schema(text, "rows"):
        return NOT_STRUCTURED
    return "" if says_nothing(text, scheme) else UNREADABLE


def stage2_result(record: Record, texts: Mapping[str, str], *, structured: bool = False) -> Stage2Result:
    """Return the labels that a person would read for each gold proposition."""
    gold, scheme = record.shown_rows, record.scheme
    predicted = parse_labels(texts.get(LABEL, ""), gold, structured=structured, scheme=scheme)
    unreadable = NO_GOLD if not gold else NO_ANSWER if LABEL not in texts else ""
    if not unreadable and all(row is None for row in predicted):
        unreadable = why_unreadable(texts[LABEL], structured=structured, scheme=scheme)
    return stage2_of(record, predicted, mended=True, unreadable=unreadable)


def stage1_score(result: Stage1Result) -> StoryScore:
    """Precision, recall and F1 of the rows that were judged, with the others as unmatched (worst) and as matched
    (best). An extraction that could not be read can have been anything, whatever was judged of it."""
    if not result.gold_counts:
        undefined = dict.fromkeys(METRICS)
        return StoryScore(result.category, undefined, undefined, None, result.unreadable)
    sides = (result.pred_counts, result.gold_counts)
    if result.unreadable:
        worst, best = (dict.fromkeys(METRICS, share) for share in (0.0, 1.0))
        return StoryScore(result.category, worst, best, None, result.unreadable, result.unjudged)
    worst, best = (_stage1(*(_matched(side, unjudged) / max(1, len(side)) for side in sides)) for unjudged in (0, 1))
    return StoryScore(result.category, worst, best, _stage1(*_judged_shares(*sides)), "", result.unjudged)


def _stage1(precision: float, recall: float) -> dict[str, float]:
    return {"precision": precision, "recall": recall, "f1": harmonic(precision, recall)}


def _matched(counts: Sequence[int | None], unjudged: int) -> int:
    return sum((unjudged if count is None else count) > 0 for count in counts)


def _judged_shares(*sides: Sequence[int | None]) -> tuple[float, float]:
    """Precision and recall over the rows with a count; see the module's docstring for a side that has none."""
    judged = [[count for count in side if count is not None] for side in sides]
    shares = [_matched(counts, 0) / len(counts) if counts else None for counts in judged]
    for mine, other in ((0, 1), (1, 0)):
        if shares[mine] is None:
            matched, rows = (shares[other] or 0.0) * len(sides[other]), len(sides[mine])
            shares[mine] = min(1.0, matched / rows) if rows else 0.0
    return shares[0] or 0.0, shares[1] or 0.0


def stage2_score(result: Stage2Result) -> StoryScore:
    """Return the accuracy of each dimension over the cells whose gold label is legal, and their mean."""
    cells = result.right().values()

    def shares(accuracies: Sequence[float | None]) -> dict[str, float | None]:
        defined = [accuracy for accuracy in accuracies if accuracy is not None]
        mean = sum(defined) / len(defined) if defined else None
        return dict(zip(result.scheme.shares, [mean, *accuracies], strict=True))

    if not result.unreadable:
        metrics = shares([sum(cell) / len(cell) if cell else None for cell in cells])
        return StoryScore(result.category, metrics, metrics, metrics)
    worst, best = (shares([value if cell else None for cell in cells]) for value in (0.0, 1.0))
    return StoryScore(result.category, worst, best, None, result.unreadable)


def score_repaired(records: Sequence[Record], texts: Texts, *, seed: int = 1, resamples: int = RESAMPLES) -> Json:
    """Return the figures of both metric groups with their uncertainty; None with a reason for a group for one of whose
    steps no story has an answer."""
    answered = {step for record in records for step in texts.get(record.story_id, ())}
    answers = [(record, texts.get(record.story_id, {})) for record in records]
    scores: dict[str, Json | None] = dict.fromkeys(NEEDED)
    reasons = {}
    for group, needed in NEEDED.items():
        if lacking := [step for step in needed if step not in answered]:
            reasons[group] = f"No story has an answer for {lacking[0]}."
        elif group == STAGE1:
            scores[group] = stage1_report([stage1_result(*one) for one in answers], seed=seed, resamples=resamples)
        else:
            scores[group] = stage2_report([stage2_result(*one) for one in answers], seed=seed, resamples=resamples)
    return with_reasons(scores, reasons)


def stage1_scores(results: Sequence[Stage1Result]) -> list[StoryScore]:
    """Return the scores of stories with their numbers and row counts."""
    scores = []
    for result in results:
        totals = {"pred_total": len(result.pred_counts), "gt_total": len(result.gold_counts)}
        counts = {**totals, "pred_matched": result.pred_matched, "gt_matched": result.gold_matched}
        scores.append(replace(stage1_score(result), number=result.story_id, counts=counts))
    return scores


def stage1_report(results: Sequence[Stage1Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Json:
    """Return the figures of extraction; `overall` also has `f1_category_mean`."""
    scores = stage1_scores(results)
    rows = report(scores, METRICS, mean_of_categories=F1, seed=seed, resamples=resamples)
    return rows.told([score.as_json() for score in scores])


def stage2_scores(results: Sequence[Stage2Result]) -> list[StoryScore]:
    """Return the scores of stories with their numbers and pair counts."""
    return [
        replace(
            stage2_score(result),
            number=result.story_id,
            counts={"pairs": len(result.gold), "matched_pairs": result.paired},
        )
        for result in results
    ]


def stage2_report(results: Sequence[Stage2Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Json:
    """Return the figures of labelling."""
    shares = (results[0].scheme if results else OMNITOM_SCHEME).shares
    scores = stage2_scores(results)
    return report(scores, shares, seed=seed, resamples=resamples).told([score.as_json() for score in scores])
