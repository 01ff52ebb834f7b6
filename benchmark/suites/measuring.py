"""The figures of a metric group as reports keep them, from what each sample came to.

Figures and figures by sample are those of `benchmark.suites.asked`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, mean, stdev
from typing import TypeVar

from benchmark.domain.averaging import StoryAverages, StoryMetrics, averages
from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import ReportedStory, StoryReport, StoryScore, overall_row, report
from benchmark.domain.flips import flips_by_cluster
from benchmark.suites.analyses import Analysis, Facet, Finding, Repetitions, SameAnswers, Spread
from benchmark.suites.asked import (
    PARSES,
    UNREADABLE_ANSWER,
    Analyses,
    BySample,
    Columns,
    Metrics,
    Parse,
    Parses,
)
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Resources, Sample
from benchmark.suites.group_metrics import Level
from benchmark.suites.reasons import OPEN
from benchmark.suites.registry import group_named, units_of_group
from benchmark.suites.story_scores import (
    LEFT_OUT,
    mean_columns,
    official_columns,
    official_metrics,
    repaired_columns,
    repaired_metrics,
    scores_by_story,
    with_intervals,
    with_turns,
)
from benchmark.suites.unit_estimates import estimate_of_row
from core.digests import json_digest
from core.plain import Json
from core.statistics import RESAMPLES
from core.statistics.variance import CLUSTERS, REPETITIONS, VarianceSplit, variance_split

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The result of one sample: its official shares, None with a `reason` where there are none and a share None where
    official scoring leaves the sample out, and its score in the repaired parse."""

    official: Mapping[str, float | None] | None
    repaired: StoryScore
    reason: str = ""

    def left_out(self, share: str) -> bool:
        """Return whether official scoring leaves the sample out, of which there could be a figure."""
        return (
            self.official is not None
            and self.official.get(share) is None
            and self.repaired.worst.get(share) is not None
        )


def undefined(sample: Sample, shares: Sequence[str]) -> SampleResult:
    """Return the result of a sample that has no figure by definition: no mean, bound or ranking takes it for one that
    is missing."""
    nothing = dict.fromkeys(shares)
    return SampleResult(nothing, StoryScore(sample.category, nothing, nothing, None))


def with_columns(
    official: StoryAverages | None,
    categories: Sequence[str],
    repaired: StoryReport,
    group: str,
    clusters: Mapping[int, str] | None = None,
    left_out: Collection[int] = (),
) -> Measured:
    """Return the figures of both parses over all samples and by sample, without analyses; `clusters` names the cluster
    of each by its number, where some share one, and `left_out` are the numbers of samples that official scoring leaves
    out."""
    report = repaired.report
    by_sample = BySample(
        _clustered(official_columns(official.stories, categories, group, left_out), clusters) if official else None,
        _clustered(repaired_columns(repaired.stories, group), clusters),
    )
    rows = None
    if official and (columns := by_sample.official):
        rules = {"seed": report.seed, "resamples": report.resamples}
        rows = with_intervals(official.averages, columns, set(columns.stories), group, **rules)
    return Measured(Metrics(Parses(rows, report), answered=len(categories), asked=len(repaired.stories)), by_sample)


def _clustered(columns: Columns, clusters: Mapping[int, str] | None) -> Columns:
    return replace(columns, clusters=[clusters[number] for number in columns.stories]) if clusters else columns


def over_repetitions(each: Sequence[Measured], group: str, seed: int) -> Measured:
    """Return what a group came to whose every question was asked several times: the mean over repetitions of each
    sample, with the analyses of the first repetition and what single ones came to. `each` is what the repetitions came
    to."""
    official, repaired = (mean_columns([repetition.by_sample.of(parse) for repetition in each]) for parse in PARSES)
    first, rules = each[0].metrics, {"seed": seed, "resamples": RESAMPLES}
    by_turn = [scores_by_story(repetition.by_sample.repaired, group_named(group).score) for repetition in each]
    if repaired is None:  # repetitions of different samples: one was extended, and not all have what is new yet
        return replace(each[0], by_sample=_with_turns(each[0].by_sample, by_turn))
    stories = set(repaired.stories)
    rows, reason = None, first.reason
    if official and (averages := official_metrics(official, stories, group)):
        rows = with_intervals(averages, official, stories, group, **rules)
    elif not reason:
        reason = next((repetition.metrics.reason for repetition in each if repetition.metrics.reason), "")
    analyses: dict[str, Analysis | None] = {
        parse: _with_spread(first.analyses[parse], each, parse, group) for parse in PARSES
    }
    parses = Parses(rows, repaired_metrics(repaired, stories, group, **rules))
    analyses |= {} if rows else {"official": None}
    metrics = replace(first, parses=parses, reason=reason, analyses=analyses)
    return Measured(metrics, _with_turns(BySample(official, repaired), by_turn))


def _with_turns(by_sample: BySample, by_turn: ScoresByTurn) -> BySample:
    repaired = by_sample.repaired
    return replace(by_sample, repaired=repaired and with_turns(repaired, by_turn))


def _with_spread(analyses: Analysis | None, each: Sequence[Measured], parse: Parse, group: str) -> Analysis | None:
    scores = _spread([repetition.by_sample.of(parse) for repetition in each], group)
    return analyses and replace(analyses, repetitions=Repetitions(scores))


def _spread(each: Sequence[Columns | None], group: str) -> Spread | None:
    share = group_named(group).score
    values = [list(scores_by_story(columns, share).values()) for columns in each if columns]
    return spread_of(values)


def spread_of(values: Sequence[Sequence[float | None]]) -> Spread | None:
    """Return what single repetitions came to, from the scores of each, sample by sample, None where a sample has none;
    None where nothing is known."""
    means = [mean(of_sample) for row in values if (of_sample := [score for score in row if score is not None])]
    if not means:
        return None
    complete = [column for column in zip(*values, strict=True) if None not in column]
    same = sum(len(set(column)) == 1 for column in complete) / len(complete) if complete else None
    scores, samples = zip(
        *((score, at) for row in values for at, score in enumerate(row) if score is not None), strict=True
    )
    split = variance_split(scores, samples)
    return Spread(
        repetitions=len(values),
        mean=mean(means),
        spread=stdev(means) if len(means) > 1 else None,
        lowest=min(means),
        highest=max(means),
        same_score=same,
        of_samples=split.clusters,
        of_repetitions=split.repetitions,
        of_samples_interval=_ends(split, CLUSTERS),
        of_repetitions_interval=_ends(split, REPETITIONS),
    )


def _ends(split: VarianceSplit, name: str) -> list[float] | None:
    return list(split.intervals[name]) if name in split.intervals else None


def summary_of(measured: Mapping[str, Measured | None]) -> Json:
    """Return {parse: {group: figures}} of what `measure` returned, as runs print it; a `reason` where the official
    parse has none."""
    parses = {group: result and result.metrics.parses.reported().as_json() for group, result in measured.items()}
    reasons = {group: result.metrics.reason for group, result in measured.items() if result and result.metrics.reason}
    scores: Json = {name: {group: rows and rows[name] for group, rows in parses.items()} for name in PARSES}
    if reasons:
        scores["official"]["reason"] = reasons
    return scores


def counted_outcomes(outcomes: Sequence[Outcome], group: MetricGroup) -> list[Outcome]:
    """Return what became of each repetition of a sample's question at the group's scored step: its own outcome there,
    or, where an earlier step has no answer or none yet that it could go on from, that it is without one."""
    at_step = {outcome.repetition: outcome for outcome in outcomes if outcome.step == group.scored}
    earlier = {outcome.repetition: outcome for outcome in outcomes if outcome.step in group.rests_on}
    return [
        at_step.get(repetition)
        or replace(
            outcome, step=group.scored, official=None, repaired=None, unreadable="", without=outcome.without or OPEN
        )
        for repetition, outcome in sorted({**earlier, **at_step}.items())
    ]


Scoring = Callable[[Sample, Sequence[Outcome]], SampleResult]
SampleResults = Sequence[tuple[Sample, SampleResult]]


LevelOf = Callable[[Sample], float | None]
"""Score of a sample without a model."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Score of a sample `by_chance`, and that `by_majority`, as the metric group has it or a set of samples under its
    first one; None where that is never defined."""

    by_chance: LevelOf | None = None
    by_majority: LevelOf | None = None


def levels_of(group: MetricGroup, resources: Resources) -> Levels:
    """Return the levels of the single samples of a group."""
    majority = group.majority
    return Levels(group.chance, majority and (lambda sample: majority(sample, resources)))


def measured_samples(
    entered: Entered,
    group: MetricGroup,
    score: Scoring,
    levels: Levels | None = None,
    members: Mapping[str, Sequence[Sample]] | None = None,
) -> Measured | None:
    """The figures of a group from a score of each sample that has an outcome at its steps; None without such a sample.
    `levels` are those of the group, or of what its samples stand for; of a sample that stands for a set `members` has
    all of that set, by its key.

    Official figures are None as soon as one sample has none. Analyses are the score by facet and that of single
    repetitions.
    """
    measured = _results(entered, group, score)
    if not measured:
        return None
    reason = next(
        (f"Sample {sample.number}: {result.reason}." for sample, result in measured if result.official is None), ""
    )
    official = None if reason else _official(group, measured)
    categories = [_category(group, sample) for sample, _ in measured] if official else []
    clusters = _clusters([sample for sample, _ in measured])
    left_out = [sample.number for sample, result in measured if result.left_out(group.score)]
    repaired = _repaired(group, measured, entered.settings.seed)
    result = with_columns(official, categories, repaired, group.key, clusters, left_out)
    wordings = _statements_by_turn(group, entered, measured, score, members or {})
    by_turn = {
        parse: _by_turn(group, entered, measured, score, parse) for parse in PARSES if official or parse == "repaired"
    }
    by_sample = _with_statements(result.by_sample, wordings)
    by_sample = _with_turns(by_sample, by_turn["repaired"]) if by_turn["repaired"] else by_sample
    result = replace(result, by_sample=by_sample)
    analyses = _analyses(group, entered, measured, by_turn, wordings)
    metrics = replace(result.metrics, analyses=analyses, reason=reason)
    counted = [sample for sample, result in measured if result.repaired.defined]
    levels = levels or levels_of(group, entered.resources)
    return replace(result, metrics=with_levels(metrics, counted, levels, group.by_category))


def _results(entered: Entered, group: MetricGroup, score: Scoring) -> SampleResults:
    """The result of each sample that has an outcome at the steps of a group."""
    return [
        (sample, score(sample, outcomes))
        for sample in entered.samples
        if (outcomes := counted_outcomes(entered.outcomes.get(sample.key, ()), group))
    ]


def facets_of(entered: Entered, group: MetricGroup, score: Scoring, share: str, parse: Parse) -> dict[str, Facet]:
    """Return {facet: {value: estimate}} of a share of a group that is not its score, of a parse that has figures, as
    `measured_samples` has them of the score."""
    by_share, seed = replace(group, score=share), entered.settings.seed
    scores = [(sample, _scored(sample, result, parse)) for sample, result in _results(entered, group, score)]
    return {name: _facet(scores, name, by_share, seed) for name in group.facets}


Statements = Sequence[Sequence[str | None]]
"""Statements of the answers to each sample, by repetition."""


def _statements_by_turn(
    group: MetricGroup,
    entered: Entered,
    measured: SampleResults,
    score: Scoring,
    members: Mapping[str, Sequence[Sample]],
) -> Statements:
    """Return what is said of each sample that counts, of a set by the answers to all of its samples, where the group
    has words for them."""

    def wording_of(sample: Sample, turn: int) -> str | None:
        if group.says is None or sample.key not in members:
            return _statement(group, entered, sample, score, turn)
        each = [_statement(group, entered, member, score, turn) for member in members[sample.key]]
        return None if None in each else statement_digest(each)

    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    return [
        [wording_of(sample, turn) if result.repaired.defined else None for turn in turns] for sample, result in measured
    ]


def statement_digest(parts: object) -> str:
    """Return a short text that is the same where these parts of an answer, plain data, are."""
    return json_digest(parts)[:16]


def _statement(group: MetricGroup, entered: Entered, sample: Sample, score: Scoring, turn: int) -> str | None:
    """Return what an answer says, where the group has no words for it its score; None without an answer."""
    outcomes = _at_turn(group, entered, sample, turn)
    if not outcomes or any(outcome.without for outcome in outcomes):
        return None
    if outcomes[0].unreadable and (group.says or group.counts is None):
        return UNREADABLE_ANSWER
    if group.says and outcomes[0].repaired is not None:
        return group.says(sample, outcomes[0].repaired)
    estimate = score(sample, outcomes).repaired.estimate
    value = None if estimate is None else estimate[group.score]
    return None if value is None else f"{value:.6g}"


def with_answers(measured: Measured, wordings: Statements, clusters: Sequence[str]) -> Measured:
    """Return what a group came to with what the answers to each sample of the repaired parse say, and, where there are
    several repetitions, how far these agree in that."""
    result = replace(measured, by_sample=_with_statements(measured.by_sample, wordings))
    repaired = result.metrics.analyses.get("repaired")
    if not repaired or repaired.repetitions is None:
        return result
    repetitions = replace(repaired.repetitions, answers=same_answers_over(wordings, clusters))
    analyses = {**result.metrics.analyses, "repaired": replace(repaired, repetitions=repetitions)}
    return replace(result, metrics=replace(result.metrics, analyses=analyses))


def _with_statements(by_sample: BySample, wordings: Statements) -> BySample:
    repaired = by_sample.repaired
    return replace(by_sample, repaired=repaired and replace(repaired, said=wordings))


def _at_turn(group: MetricGroup, entered: Entered, sample: Sample, turn: int) -> list[Outcome]:
    outcomes = counted_outcomes(entered.outcomes.get(sample.key, ()), group)
    return [outcome for outcome in outcomes if outcome.repetition == turn]


def with_levels(metrics: Metrics, samples: Sequence[Sample], levels: Levels, by_category: bool = True) -> Metrics:
    """Return the metrics with what the samples that they are of come to without a model, all and those of each
    category."""
    overall: dict[str, Level | None] = {}
    parts: dict[str, dict[str, Level]] = {}
    for name, level_of in (("chance", levels.by_chance), ("majority", levels.by_majority)):
        values = [(sample.category, level_of(sample)) for sample in samples] if level_of else []
        overall[name] = _level([value for _, value in values])
        of_category: dict[str, list[float | None]] = {}
        for category, value in values if by_category else ():
            of_category.setdefault(category, []).append(value)
        means = {category: _level(each) for category, each in of_category.items()}
        parts[name] = {category: level for category, level in means.items() if level}
    parts = {name: part for name, part in parts.items() if part}
    return replace(metrics, chance=overall["chance"], majority=overall["majority"], category_levels=parts)


def _level(values: Sequence[float | None]) -> Level | None:
    """The mean, None where there is nothing or something has no level."""
    values_there = [value for value in values if value is not None]
    return Level(fmean(values_there), len(values_there)) if values and len(values_there) == len(values) else None


def _category(group: MetricGroup, sample: Sample) -> str:
    return sample.category if group.by_category else ""


def with_findings(measured: Measured | None, finding_of: Callable[[Parse], Finding]) -> Measured | None:
    """Return what a group came to with what `of` finds in each parse that has figures."""
    return _analysed(measured, lambda analysis, parse: replace(analysis, finding=finding_of(parse)))


def with_incomplete(measured: Measured | None, sets: int) -> Measured | None:
    """Return what a group came to with the number of sets of which not all samples were asked."""
    return _analysed(measured, lambda analysis, parse: replace(analysis, incomplete=sets))


def _analysed(measured: Measured | None, more: Callable[[Analysis, Parse], Analysis]) -> Measured | None:
    if measured is None:
        return None
    analyses = measured.metrics.analyses
    made: dict[str, Analysis] = {parse: more(analysis, parse) for parse in PARSES if (analysis := analyses.get(parse))}
    return replace(measured, metrics=replace(measured.metrics, analyses={**analyses, **made}))


def once(analyse: Callable[[T], R]) -> Callable[[T], R]:
    """Return a function that analyses once what was read alike in both parses."""
    analyses_made: list[tuple[T, R]] = []

    def analysed(read: T) -> R:
        for other, made in analyses_made:
            if other == read:
                return made
        analyses_made.append((read, analyse(read)))
        return analyses_made[-1][1]

    return analysed


def _analyses(
    group: MetricGroup,
    entered: Entered,
    measured: SampleResults,
    by_turn: Mapping[Parse, ScoresByTurn],
    wordings: Statements,
) -> Analyses:
    """Return facets and repetitions by parse, None of a parse without figures; in `by_turn` are those that have
    some."""
    analyses: dict[str, Analysis | None] = {"official": None}
    seed = entered.settings.seed
    facets_of = once(partial(_facets, group=group, seed=seed))
    for parse, turns in by_turn.items():
        facets = facets_of([(sample, _scored(sample, result, parse)) for sample, result in measured])
        scores = spread_of([list(scores.values()) for scores in turns])
        compares = scores is not None and parse == "repaired"
        answers = same_answers_over(wordings, [sample.cluster for sample, _ in measured]) if compares else None
        analyses[parse] = Analysis(facets, Repetitions(scores, answers) if scores else None)
    return analyses


def _scored(sample: Sample, result: SampleResult, parse: Parse) -> StoryScore:
    if parse == "repaired":
        return replace(result.repaired, cluster=sample.cluster)
    shares = dict(result.official or {})
    out = [name for name in shares if result.left_out(name)]
    worst, best = shares | dict.fromkeys(out, 0.0), shares | dict.fromkeys(out, 1.0)
    values, why = (None, LEFT_OUT) if len(out) == len(shares) else (shares, "")
    return StoryScore(sample.category, worst, best, values, why, cluster=sample.cluster)


def _facets(scores: Sequence[tuple[Sample, StoryScore]], group: MetricGroup, seed: int) -> dict[str, Facet]:
    return {name: _facet(scores, name, group, seed) for name in group.facets}


def _facet(scores: Sequence[tuple[Sample, StoryScore]], name: str, group: MetricGroup, seed: int) -> Facet:
    """Return the estimate of each value of a facet, values in the order of the samples."""
    parts: dict[str, list[StoryScore]] = {}
    for sample, story_score in scores:
        if not story_score.defined:  # what counts for nothing has no row of its own
            continue
        parts.setdefault(str(sample.content.get(name, "")), []).append(story_score)
    return {value: _estimate(part, group, seed) for value, part in parts.items()}


def _estimate(scores: Sequence[StoryScore], group: MetricGroup, seed: int) -> BoundedEstimate:
    row = overall_row(scores, (group.score,), seed=seed, resamples=RESAMPLES, unit=units_of_group(group.key))
    return estimate_of_row(row, group.score)


ScoresByTurn = Sequence[Mapping[int, float | None]]
"""The score of each sample, by its number, in each repetition."""


def _by_turn(
    group: MetricGroup, entered: Entered, measured: SampleResults, score: Scoring, parse: Parse
) -> ScoresByTurn:
    """Return what samples came to in single repetitions; nothing where everything was asked once."""
    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    if len(turns) < 2:
        return []
    return [
        {sample.number: _single(group, entered, sample, score, turn, parse) for sample, _ in measured} for turn in turns
    ]


def same_answers_over(wordings: Statements, clusters: Sequence[str]) -> SameAnswers:
    """Return how many samples all repetitions give the same answer to."""
    complete = [
        (cluster, len(set(turns)) == 1) for cluster, turns in zip(clusters, wordings, strict=True) if None not in turns
    ]
    flips = flips_by_cluster((cluster for cluster, _ in complete), (cluster for cluster, same in complete if not same))
    return SameAnswers(sum(same for _, same in complete) / len(complete) if complete else None, flips)


def _single(
    group: MetricGroup, entered: Entered, sample: Sample, score: Scoring, turn: int, parse: Parse
) -> float | None:
    """The score of one repetition of a sample, None where it has none."""
    outcomes = _at_turn(group, entered, sample, turn)
    if not outcomes:
        return None
    result = score(sample, outcomes)
    scores = result.official if parse == "official" else result.repaired.estimate
    return None if scores is None else scores[group.score]


def _repaired(group: MetricGroup, measured: SampleResults, seed: int) -> StoryReport:
    scores = [
        replace(result.repaired, cluster=sample.cluster, category=_category(group, sample))
        for sample, result in measured
    ]
    return StoryReport(
        report(
            scores,
            group.shares,
            mean_of_categories=group.category_mean,
            seed=seed,
            resamples=RESAMPLES,
            unit=units_of_group(group.key),
        ),
        [ReportedStory(sample.number, score) for (sample, _), score in zip(measured, scores, strict=True)],
    )


def _official(group: MetricGroup, measured: Sequence[tuple[Sample, SampleResult]]) -> StoryAverages:
    rows = [(_category(group, sample), dict(result.official or {})) for sample, result in measured]
    stories = [StoryMetrics(sample.number, dict(result.official or {})) for sample, result in measured]
    return StoryAverages(averages(rows, group.shares, group.category_mean), stories)


def _clusters(samples: Sequence[Sample]) -> dict[int, str]:
    """Return the clusters by sample number; empty where no two samples share a cluster."""
    clusters = {sample.number: sample.cluster for sample in samples}
    return clusters if len(set(clusters.values())) < len(clusters) else {}
