"""Figures of one model's outcomes in both metric groups: figures of all stories and by story, and what the analyses
make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from benchmark.domain.averaging import StoryAverages
from benchmark.domain.estimating import StoryReport
from benchmark.suites.measuring import Levels, once, over_repetitions, with_answers, with_columns, with_levels
from benchmark.suites.omnitom.analyses import (
    Stage1Analyses,
    Stage2Analyses,
    outputs_analysis,
    stage1_analyses,
    stage2_analyses,
)
from benchmark.suites.omnitom.collecting import METRICS, Results, results_of
from benchmark.suites.omnitom.counted_rows import why_uncounted
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, scheme_of
from benchmark.suites.omnitom.levels import by_chance, by_majority
from benchmark.suites.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.repaired import stage1_report, stage2_report
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.omnitom.statements import statement_of
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.questions import Analyses, BySample, Entered, Measured, Parses
from benchmark.suites.reasons import NO_GOLD
from benchmark.suites.reports import Analysis
from core.messages import gettext_noop

R = TypeVar("R", Stage1Result, Stage2Result)

SKIPPED = gettext_noop("rows without a judgement")


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Both metric groups of one model; of one that was asked several times, the mean over repetitions."""
    seed = entered.settings.seed
    return {
        group: metrics and _with_answers(metrics, group, entered) for group, metrics in _measured(entered, seed).items()
    }


def _measured(entered: Entered, seed: int) -> dict[str, Measured | None]:
    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    if len(turns) < 2:
        return _with_levels(measured(results_of(entered), seed), entered)
    each = [measured(results_of(_turn(entered, turn)), seed) for turn in turns]
    by_group = {group: [metrics for repetition in each if (metrics := repetition[group])] for group in METRICS.values()}
    scheme = scheme_of(entered.resources.schema)
    result = {
        group: over_repetitions(repetitions, scheme.group(group), seed) if repetitions else None
        for group, repetitions in by_group.items()
    }
    return _with_levels(result, entered)


def _with_levels(result: dict[str, Measured | None], entered: Entered) -> dict[str, Measured | None]:
    """Return the result with what labels come to that no model chose, over the stories that have a gold label."""
    labelling, scheme = result[STAGE2], scheme_of(entered.resources.schema)
    if labelling is None or (columns := labelling.by_sample.repaired) is None:
        return result
    there = {
        number
        for number, value in zip(columns.stories, columns.values[ALL_DIMENSIONS], strict=True)
        if value is not None
    }
    samples = [sample for sample in entered.samples if sample.number in there]
    levels = Levels(partial(by_chance, scheme), lambda sample: by_majority(scheme, sample, entered.resources))
    return result | {STAGE2: replace(labelling, metrics=with_levels(labelling.metrics, samples, levels))}


def _with_answers(measured: Measured, group: str, entered: Entered) -> Measured:
    """Return what a group came to with what the tables of each story say, in every repetition."""
    columns = measured.by_sample.repaired
    if columns is None:
        return measured
    samples = {sample.number: sample for sample in entered.samples}
    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    answers = [[statement_of(entered, group, samples[number], turn) for turn in turns] for number in columns.stories]
    return with_answers(measured, answers, [samples[number].cluster for number in columns.stories])


def _turn(entered: Entered, turn: int) -> Entered:
    """One repetition alone."""
    outcomes = {
        key: [outcome for outcome in listed if outcome.repetition == turn] for key, listed in entered.outcomes.items()
    }
    return replace(entered, outcomes=outcomes)


def measured(results: Results, seed: int) -> dict[str, Measured | None]:
    """Figures and figures by story of each metric group, None where it was not asked for."""
    by_group = {STAGE1: _stage1(results, seed), STAGE2: _stage2(results, seed)}
    return {
        group: result and _without_official(result, results.lacking[group]) if group in results.lacking else result
        for group, result in by_group.items()
    }


def _without_official(result: Measured, why: str) -> Measured:
    metrics = result.metrics
    parses = replace(metrics.parses, official=None)
    analyses = {**metrics.analyses, "official": None}
    return replace(result, metrics=replace(metrics, parses=parses, reason=why, analyses=analyses))


def _stage1(results: Results, seed: int) -> Measured | None:
    if not results.repaired1:
        return None
    official, repaired = results.official1, results.repaired1
    skipped = sum(sum(result.unjudged) for result in repaired)
    without = results.without[EXTRACT], results.without[JUDGE], Counter({SKIPPED: skipped} if skipped else {})
    seen = _seen(official, repaired, partial(stage1_analyses, seed=seed), results.extractions, without, seed)
    metrics = stage1_metrics(official) if official else None
    return _both(official, metrics, stage1_report(repaired, seed=seed), seen, results.scheme.group(STAGE1))


def _stage2(results: Results, seed: int) -> Measured | None:
    if not results.repaired2:
        return None
    official, repaired = results.official2, results.repaired2
    seen = _seen(
        official, repaired, partial(stage2_analyses, seed=seed), results.labellings, (results.without[LABEL],), seed
    )
    averages = stage2_metrics(official) if official else None
    return _both(official, averages, stage2_report(repaired, seed=seed), seen, results.scheme.group(STAGE2))


def _seen(
    official: Sequence[R],
    repaired: Sequence[R],
    analyse: Callable[[Sequence[R]], Stage1Analyses | Stage2Analyses],
    outputs: Sequence[str | None],
    without: Sequence[Counter[str]],
    seed: int,
) -> Analyses:
    """The analyses by parse; official ones only where every story has an answer, as its figures. What reads alike in
    both is analysed once."""
    names = ("calls", "judgements", "rows")[: len(without)]
    others = {name: dict(sorted(reasons.items())) for name, reasons in zip(names, without, strict=True)}
    analyse_once = once(analyse)

    def analysis(results: Sequence[R], outputs: Sequence[str | None]) -> Analysis:
        made = replace(analyse_once(results), outputs=outputs_analysis(outputs, others, seed=seed))
        return Analysis(finding=made)

    analysed: dict[str, Analysis | None] = {"repaired": analysis(repaired, outputs), "official": None}
    if official and len(official) == len(repaired):  # as the figures, only where no story lacks one
        pairs = zip(official, repaired, strict=True)
        nothing = [why_uncounted(result) for result, other in pairs if other.unreadable != NO_GOLD]
        analysed["official"] = analysis(official, nothing)
    return analysed


def _both(
    official: Sequence[Stage1Result | Stage2Result],
    averages: StoryAverages | None,
    mended: StoryReport,
    analyses: Analyses,
    group: str,
) -> Measured:
    result = with_columns(averages, [result.category for result in official], mended, group)
    return replace(result, metrics=replace(result.metrics, analyses=analyses))


def own_metrics(
    official: Sequence[Stage2Result], repaired: Sequence[Stage2Result], seed: int
) -> tuple[Parses, BySample]:
    """Return (figures by parse, figures by story) of labels."""
    averages = stage2_metrics(official) if official else None
    group = repaired[0].scheme.group(STAGE2)
    result = _both(official, averages, stage2_report(repaired, seed=seed), {}, group)
    return result.metrics.parses, result.by_sample
