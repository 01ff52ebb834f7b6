"""The figures of a metric group from the score of each sample: right or wrong, shares, and sets that are right as a
whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from statistics import fmean, mean, stdev
from typing import Any, TypeVar

from benchmark.domain.asked_again import flips_by_cluster
from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.domain.report_rows import BothParses
from benchmark.suites.figures import (
    LEFT_OUT,
    estimate_of_row,
    mean_columns,
    official_columns,
    official_metrics,
    repaired_columns,
    repaired_metrics,
    report_of_group,
    scores_by_story,
)
from benchmark.suites.groups import MetricGroup
from benchmark.suites.questions import PARSES, UNREADABLE_ANSWER, Entered, Outcome, Parse, Resources, Sample
from benchmark.suites.reasons import OPEN, questions_unanswered
from benchmark.suites.registry import group_named, units_of_group
from benchmark.suites.reports import (
    Analysis,
    BaselineLevels,
    Facet,
    Finding,
    GroupMetrics,
    Level,
    Repetitions,
    SameAnswers,
    Spread,
)
from core.digests import json_digest
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import RESAMPLES
from core.statistics.variance import CLUSTERS, REPETITIONS, variance_split

T = TypeVar("T")
R = TypeVar("R")


def undefined(sample: Sample, shares: Sequence[str]) -> StoryScore:
    """Return the score of a sample that has no figure by definition: no mean, bound or ranking takes it for one that
    is missing."""
    nothing = dict.fromkeys(shares)
    return StoryScore(sample.category, nothing, nothing, None, official=nothing)


Scoring = Callable[[Sample, Sequence[Outcome]], StoryScore]
Scored = Sequence[tuple[Sample, StoryScore]]
Statements = Sequence[Sequence[str | None]]
"""What the answers to each sample say, by repetition."""
ScoresByTurn = Sequence[Mapping[int, float | None]]
"""The score of each sample, by its number, in each repetition."""
LevelOf = Callable[[Sample], float | None]
"""Score of a sample without a model."""
Levels = tuple[LevelOf | None, LevelOf | None]
"""The scores of a sample by chance, and for the answer that is right most often. None if that is never defined."""
ACCURACY = "accuracy"
Shares = Mapping[str, float | None]
"""The shares of an answer by name, None of one that is not defined."""
Verdict = Callable[[Sample, Outcome, Parse], bool | None]
"""Whether an answer is right. None if the parse leaves it out of the denominator."""


def with_columns(scores: Sequence[StoryScore], group: str, seed: int) -> GroupMetrics:
    """Return the figures of both parses over all samples and by sample, without analyses. Official ones are of the
    samples that have some."""
    rules = {"seed": seed, "resamples": RESAMPLES}
    official = official_columns(scores, group)
    stories = set(official.stories) if official else set()
    return GroupMetrics(
        parses=BothParses(official_metrics(official, stories, group, **rules), report_of_group(scores, group, **rules)),
        answered=len(official.stories) if official else 0,
        asked=len(scores),
        by_sample={"official": official, "repaired": repaired_columns(scores, group)},
    )


def over_repetitions(each: Sequence[GroupMetrics], group: str, seed: int) -> GroupMetrics:
    """Return the results of a metric group of which every question was asked several times: of each sample the mean
    over repetitions, with the analyses of the first repetition and the figures of single ones."""
    share = group_named(group).score
    columns = {parse: [repetition.by_sample[parse] for repetition in each] for parse in PARSES}
    official, repaired = (mean_columns(columns[parse]) for parse in PARSES)
    first, rules = each[0], {"seed": seed, "resamples": RESAMPLES}
    by_turn = [scores_by_story(one, share) for one in columns["repaired"]]
    if repaired is None:  # repetitions of different samples: one was extended, and not all have what is new yet
        return _with_turns(first, by_turn)
    stories = set(repaired.stories)
    rows, reason = official_metrics(official, stories, group, **rules), first.reason
    if not rows:
        reason = next((repetition.reason for repetition in each if repetition.reason), "")
    analyses: dict[str, Analysis | None] = {}
    for parse, of_all in zip(PARSES, (official, repaired), strict=True):
        analysis = first.analyses[parse] if of_all else None
        if analysis:
            spread = spread_of([list(scores_by_story(one, share).values()) for one in columns[parse]])
            analysis = analysis.with_parts(repetitions=Repetitions(spread))
        analyses[parse] = analysis
    parses = BothParses(rows, repaired_metrics(repaired, stories, group, **rules))
    analyses |= {} if rows else {"official": None}
    by_sample = {"official": official, "repaired": repaired}
    metrics = replace(first, parses=parses, reason=reason, analyses=analyses, by_sample=by_sample)
    return _with_turns(metrics, by_turn)


def _with_turns(metrics: GroupMetrics, by_turn: ScoresByTurn) -> GroupMetrics:
    if (repaired := metrics.by_sample["repaired"]) is None:
        return metrics
    of_turns = [[scores.get(sample) for scores in by_turn] for sample in repaired.stories]
    return replace(metrics, by_sample={**metrics.by_sample, "repaired": replace(repaired, by_turn=of_turns)})


def spread_of(values: Sequence[Sequence[float | None]]) -> Spread | None:
    """Return the spread of single repetitions, from the scores of each, sample by sample. Returns None if no score is
    known."""
    means = [mean(of_sample) for row in values if (of_sample := [score for score in row if score is not None])]
    if not means:
        return None
    complete = [column for column in zip(*values, strict=True) if None not in column]
    same = sum(len(set(column)) == 1 for column in complete) / len(complete) if complete else None
    scores, samples = zip(
        *((score, at) for row in values for at, score in enumerate(row) if score is not None), strict=True
    )
    split = variance_split(scores, samples)
    of_samples, of_repetitions = (
        list(split.intervals[name]) if name in split.intervals else None for name in (CLUSTERS, REPETITIONS)
    )
    return Spread(
        repetitions=len(values),
        mean=mean(means),
        spread=stdev(means) if len(means) > 1 else None,
        lowest=min(means),
        highest=max(means),
        same_score=same,
        of_samples=split.clusters,
        of_repetitions=split.repetitions,
        of_samples_interval=of_samples,
        of_repetitions_interval=of_repetitions,
    )


def summary_of(measured: Mapping[str, GroupMetrics | None]) -> Json:
    """Return {parse: {group: figures}} of what `measure` returned, as runs print it; a `reason` where the official
    parse has none."""
    parses = {group: metrics and metrics.parses.told for group, metrics in measured.items()}
    reasons = {group: metrics.reason for group, metrics in measured.items() if metrics and metrics.reason}
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


def levels_of(group: MetricGroup, resources: Resources) -> Levels:
    """Return the levels of the single samples of a group."""
    majority = group.majority
    return group.chance, majority and (lambda sample: majority(sample, resources))


def measured_samples(
    entered: Entered,
    group: MetricGroup,
    score: Scoring,
    levels: Levels | None = None,
    members: Mapping[str, Sequence[Sample]] | None = None,
) -> GroupMetrics | None:
    """Return the figures of a group from a score of each sample that has an outcome at its steps. Returns None without
    such a sample.

    `levels` are those of the group, or of the sets that its samples represent; `members` are the samples of such a set
    by the key of its first. Official figures are None as soon as one sample has none. Analyses are the score by facet
    and that of single repetitions.
    """
    measured = _results(entered, group, score)
    if not measured:
        return None
    seed = entered.settings.seed
    reason = next(
        (f"Sample {sample.number}: {result.reason}." for sample, result in measured if result.official is None), ""
    )
    scores = [
        replace(
            result,
            category=sample.category if group.by_category else "",
            cluster=sample.cluster,
            number=sample.number,
            official=None if reason else result.official,
        )
        for sample, result in measured
    ]
    metrics = with_columns(scores, group.key, seed)
    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    said = partial(_said, group, entered, score, members or {})
    wordings = [[said(sample, turn) if result.defined else None for turn in turns] for sample, result in measured]
    metrics = _with_statements(metrics, wordings)
    by_turn = {
        parse: [
            {sample.number: _single(group, entered, score, parse, sample, turn) for sample, _ in measured}
            for turn in (turns if len(turns) > 1 else ())
        ]
        for parse in (PARSES[1:] if reason else PARSES)
    }
    metrics = _with_turns(metrics, by_turn["repaired"]) if by_turn["repaired"] else metrics
    analyses = _analyses(group, seed, measured, by_turn, wordings)
    metrics = replace(metrics, analyses=analyses, reason=reason)
    counted = [sample for sample, result in measured if result.defined]
    levels = levels or levels_of(group, entered.resources)
    return with_levels(metrics, counted, levels, group.by_category)


def _analyses(
    group: MetricGroup, seed: int, measured: Scored, by_turn: Mapping[Parse, ScoresByTurn], wordings: Statements
) -> dict[str, Analysis | None]:
    """Return facets and repetitions by parse, None for a parse without figures."""
    analyses: dict[str, Analysis | None] = {"official": None}
    facets_of = once(partial(_facets, group=group, seed=seed))
    for parse, turns in by_turn.items():
        facets = facets_of([(sample, _scored(sample, result, parse)) for sample, result in measured])
        spread = spread_of([list(scores.values()) for scores in turns])
        compares = spread is not None and parse == "repaired"
        answers = same_answers_over(wordings, [sample.cluster for sample, _ in measured]) if compares else None
        repetitions = Repetitions(spread, answers) if spread else None
        analyses[parse] = Analysis().with_parts(facets=facets, repetitions=repetitions)
    return analyses


def _results(entered: Entered, group: MetricGroup, score: Scoring) -> Scored:
    """Return the result of each sample that has an outcome at the steps of a group."""
    return [
        (sample, score(sample, outcomes))
        for sample in entered.samples
        if (outcomes := counted_outcomes(entered.outcomes.get(sample.key, ()), group))
    ]


def facets_of(entered: Entered, group: MetricGroup, score: Scoring, share: str, parse: Parse) -> dict[str, Facet]:
    """Return {facet: {value: estimate}} of a share of a group that is not its score, as `measured_samples` has them of
    the score."""
    scores = [(sample, _scored(sample, result, parse)) for sample, result in _results(entered, group, score)]
    return _facets(scores, replace(group, score=share), entered.settings.seed)


def statement_digest(parts: object) -> str:
    """Return a short text that is the same if these parts of an answer, plain data, are."""
    return json_digest(parts)[:16]


def _said(
    group: MetricGroup,
    entered: Entered,
    score: Scoring,
    members: Mapping[str, Sequence[Sample]],
    sample: Sample,
    turn: int,
) -> str | None:
    """Return what the answer to a sample says, or the answers to all samples of a set; their score if the group has no
    words for them. Returns None without an answer."""
    if group.says and sample.key in members:
        each = [_said(group, entered, score, {}, member, turn) for member in members[sample.key]]
        return None if None in each else statement_digest(each)
    outcomes = _at_turn(group, entered, sample, turn)
    if not outcomes or any(outcome.without for outcome in outcomes):
        return None
    if outcomes[0].unreadable and (group.says or group.counts is None):
        return UNREADABLE_ANSWER
    if group.says and outcomes[0].repaired is not None:
        return group.says(sample, outcomes[0].repaired)
    estimate = score(sample, outcomes).estimate
    value = None if estimate is None else estimate[group.score]
    return None if value is None else f"{value:.6g}"


def with_answers(measured: GroupMetrics, wordings: Statements, clusters: Sequence[str]) -> GroupMetrics:
    """Return what a group came to with what the answers to each sample of the repaired parse say, and, where there are
    several repetitions, how far these agree in that."""
    result = _with_statements(measured, wordings)
    repaired = result.analyses.get("repaired")
    if not repaired or repaired.repetitions is None:
        return result
    repetitions = replace(repaired.repetitions, answers=same_answers_over(wordings, clusters))
    return replace(result, analyses={**result.analyses, "repaired": repaired.with_parts(repetitions=repetitions)})


def _with_statements(metrics: GroupMetrics, wordings: Statements) -> GroupMetrics:
    repaired = metrics.by_sample["repaired"]
    said = repaired and replace(repaired, said=wordings)
    return replace(metrics, by_sample={**metrics.by_sample, "repaired": said})


def _at_turn(group: MetricGroup, entered: Entered, sample: Sample, turn: int) -> list[Outcome]:
    outcomes = counted_outcomes(entered.outcomes.get(sample.key, ()), group)
    return [outcome for outcome in outcomes if outcome.repetition == turn]


def with_levels(
    metrics: GroupMetrics, samples: Sequence[Sample], levels: Levels, by_category: bool = True
) -> GroupMetrics:
    """Return the metrics with the levels of their samples, over all and by category."""
    overall: dict[str, Level | None] = {}
    parts: dict[str, dict[str, Level]] = {}
    for name, level_of in zip(("chance", "majority"), levels, strict=True):
        values = [(sample.category, level_of(sample)) for sample in samples] if level_of else []
        overall[name] = _level([value for _, value in values])
        categories = dict.fromkeys(category for category, _ in values) if by_category else {}
        means = {name: _level([value for category, value in values if category == name]) for name in categories}
        if known := {category: level for category, level in means.items() if level}:
            parts[name] = known
    return replace(metrics, levels=BaselineLevels(**overall, by_category=parts))


def _level(values: Sequence[float | None]) -> Level | None:
    """Return the mean. Returns None without values, or if one has no level."""
    known = [value for value in values if value is not None]
    return Level(fmean(known), len(known)) if values and len(known) == len(values) else None


def with_findings(measured: GroupMetrics | None, finding_of: Callable[[Parse], Finding]) -> GroupMetrics | None:
    """Return the results of a group with the finding of each parse that has figures."""
    return _analysed(measured, lambda analysis, parse: analysis.with_parts(finding=finding_of(parse)))


def _analysed(measured: GroupMetrics | None, more: Callable[[Analysis, Parse], Analysis]) -> GroupMetrics | None:
    if measured is None:
        return None
    analyses = measured.analyses
    made: dict[str, Analysis] = {parse: more(analysis, parse) for parse in PARSES if (analysis := analyses.get(parse))}
    return replace(measured, analyses={**analyses, **made})


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


def _scored(sample: Sample, result: StoryScore, parse: Parse) -> StoryScore:
    if parse == "repaired":
        return replace(result, cluster=sample.cluster, official=None, reason="")
    shares = dict(result.official or {})
    out = [name for name in shares if result.left_out(name)]
    worst, best = shares | dict.fromkeys(out, 0.0), shares | dict.fromkeys(out, 1.0)
    values, why = (None, LEFT_OUT) if len(out) == len(shares) else (shares, "")
    return StoryScore(sample.category, worst, best, values, why, cluster=sample.cluster)


def _facets(scores: Sequence[tuple[Sample, StoryScore]], group: MetricGroup, seed: int) -> dict[str, Facet]:
    """Return the estimate of each value of each facet, values in the order of the samples."""
    facets: dict[str, Facet] = {}
    rules: Json = {"seed": seed, "resamples": RESAMPLES, "unit": units_of_group(group.key)}
    for name in group.facets:
        parts: dict[str, list[StoryScore]] = {}
        for sample, story_score in scores:
            if story_score.defined:
                parts.setdefault(str(sample.content.get(name, "")), []).append(story_score)
        facets[name] = {
            value: estimate_of_row(overall_row(part, (group.score,), **rules), group.score)
            for value, part in parts.items()
        }
    return facets


def same_answers_over(wordings: Statements, clusters: Sequence[str]) -> SameAnswers:
    """Return how many samples all repetitions give the same answer to."""
    complete = [
        (cluster, len(set(turns)) == 1) for cluster, turns in zip(clusters, wordings, strict=True) if None not in turns
    ]
    flips = flips_by_cluster((cluster for cluster, _ in complete), (cluster for cluster, same in complete if not same))
    return SameAnswers(sum(same for _, same in complete) / len(complete) if complete else None, flips)


def _single(
    group: MetricGroup, entered: Entered, score: Scoring, parse: Parse, sample: Sample, turn: int
) -> float | None:
    """Return the score of one repetition of a sample, None if it has none."""
    outcomes = _at_turn(group, entered, sample, turn)
    if not outcomes:
        return None
    result = score(sample, outcomes)
    scores = result.official if parse == "official" else result.estimate
    return None if scores is None else scores[group.score]


def accuracy_group(key: str, title: str, *, step: str, mean_of: str = "types", **own: Any) -> MetricGroup:
    """Return the metric group of the questions of a step by accuracy, with the mean over categories, which `mean_of`
    names in the plural; `own` are other fields of the group."""
    fields = {
        "noun": gettext_noop("answering"),
        "score_title": gettext_noop("Accuracy"),
        "headers": {
            ACCURACY: gettext_noop("Accuracy"),
            f"{ACCURACY}_category_mean": Sentence("Mean of {mean_of}", mean_of=mean_of),
        },
    }
    return MetricGroup(
        key=key,
        title=title,
        shares=(ACCURACY,),
        score=ACCURACY,
        category_mean=ACCURACY,
        prompt=step,
        scored=step,
        right_or_wrong=True,
        **{**fields, **own},
    )


def is_read_right(sample: Sample, outcome: Outcome, parse: Parse) -> bool:
    """Return whether a parse itself says that the answer is right, as `Verdict` has it; one without a parse is
    wrong."""
    return bool((outcome.read(parse) or {}).get("right"))


def scored_by(verdict: Verdict, share: str = ACCURACY) -> Scoring:
    """Return the scoring of samples by the share of right answers, as `measured_samples` takes it."""

    def scored(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
        def shares_of(outcome: Outcome, parse: Parse) -> Shares | None:
            right = verdict(sample, outcome, parse)
            return None if right is None else {share: float(right)}

        return scored_shares((share,), shares_of)(sample, outcomes)

    return scored


def scored_shares(names: Sequence[str], shares_of: Callable[[Outcome, Parse], Shares | None] = Outcome.read) -> Scoring:
    """Return the scoring of samples by several shares, as `measured_samples` takes it; by default both parses have
    them. `shares_of` returns None if a parse leaves the answer out.

    Officially an answer that is left out has no shares, and without an answer to one of its repetitions a sample has
    none. Repaired, bounds take missing and unreadable answers as 0 and as 1; the estimate is of the readable answers.
    """

    def mean_of(answers: Sequence[Shares]) -> dict[str, float | None]:
        values = {name: [value for shares in answers if (value := shares.get(name)) is not None] for name in names}
        return {name: fmean(each) if each else None for name, each in values.items()}

    def scored(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
        answered = [outcome for outcome in outcomes if not outcome.without]
        missing = len(outcomes) - len(answered)
        official = [shares for outcome in answered if (shares := shares_of(outcome, "official")) is not None]
        read = [outcome for outcome in answered if not outcome.unreadable]
        repaired = [shares for outcome in read if (shares := shares_of(outcome, "repaired")) is not None]
        lacking = len(outcomes) - len(repaired)
        worst, best = (mean_of([*repaired, *[dict.fromkeys(names, end)] * lacking]) for end in (0.0, 1.0))
        first = outcomes[0]
        why = "" if repaired else first.without or first.unreadable or gettext_noop("it is left out")
        return StoryScore(
            sample.category,
            worst,
            best,
            mean_of(repaired) if repaired else None,
            why,
            official=None if missing else mean_of(official),
            reason=questions_unanswered(missing, len(outcomes)),
        )

    return scored


def every(sample: Sample) -> bool:
    """Every sample of a set counts."""
    return True


def sets_group(
    key: str, title: str, score_title: str, *, share: str, header: str, step: str, **own: Any
) -> MetricGroup:
    """Return the metric group of sets that are right as a whole, by their only share; `own` are other fields of the
    group."""
    fields: dict[str, Any] = {"noun": gettext_noop("answering"), "counts": every}
    return MetricGroup(
        key=key,
        title=title,
        shares=(share,),
        headers={share: header},
        score=share,
        score_title=score_title,
        prompt=step,
        scored=step,
        by_category=False,
        unit=(gettext_noop("set"), gettext_noop("sets")),
        right_or_wrong=True,
        **{**fields, **own},
    )


def measured_sets(entered: Entered, group: MetricGroup, score: Scoring, *, of_all: bool = True) -> GroupMetrics | None:
    """Return the figures of a group whose units are sets, the samples of one `Sample.group`: of each share a set has
    the least of what its samples have from `score`, so that it is right if all of them are.

    The group's `counts` says which samples count. Under a control the samples that it leaves as they are count as
    published, in sets of which it changes some. A set of which not all these were asked has no figure, and analyses
    count such sets as `incomplete`; others are listed under their first sample. The other samples have rows without a
    figure, as a ranking over all samples of a run counts those without a row as lost; `of_all=False` omits them.
    """
    counts = group.counts or every
    sets = entered.resources.derived(("sets", counts), lambda samples: _keys_of_sets([*filter(counts, samples)]))
    whole = _with_unchanged(entered)
    asked = {sample.key: sample for sample in whole.samples if whole.outcomes.get(sample.key)}
    changed = {sample.key for sample in entered.samples if entered.outcomes.get(sample.key)}
    of_run = [keys for keys in sets.values() if not changed.isdisjoint(keys)]
    members = {keys[0]: [asked[key] for key in keys] for keys in of_run if asked.keys() >= {*keys}}

    def scored(first: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
        if first.key not in members:
            return undefined(first, group.shares)
        turns, results = {outcome.repetition for outcome in outcomes}, []
        for sample in members[first.key]:
            theirs = counted_outcomes(whole.outcomes[sample.key], group)
            results.append(score(sample, [outcome for outcome in theirs if outcome.repetition in turns]))
        return _least(results)

    def of_set(level_of: LevelOf, first: Sample) -> float | None:
        """The product of the levels of all samples: 0 as soon as one cannot be right."""
        each = [level_of(sample) for sample in members[first.key]]
        shares = [share for share in each if share is not None]
        return prod(shares) if len(shares) == len(each) or 0 in shares else None

    chance, majority = levels_of(group, entered.resources)
    levels = (chance and partial(of_set, chance), majority and partial(of_set, majority))
    counted = whole if of_all and members else replace(whole, samples=[first for first, *_ in members.values()])
    measured = measured_samples(counted, group, scored, levels, members)
    incomplete = len(of_run) - len(members)
    return _analysed(measured, lambda analysis, parse: analysis.with_parts(incomplete=incomplete))


def _with_unchanged(entered: Entered) -> Entered:
    """Return what became of the samples of a run under a control with those that the control leaves as they are."""
    if entered.unchanged is None:
        return entered
    samples = sorted([*entered.samples, *entered.unchanged.samples], key=lambda sample: sample.number)
    return replace(entered, samples=samples, outcomes={**entered.unchanged.outcomes, **entered.outcomes})


def _keys_of_sets(samples: Sequence[Sample]) -> dict[str, list[str]]:
    sets: dict[str, list[str]] = {}
    for sample in samples:
        if sample.group:
            sets.setdefault(sample.group, []).append(sample.key)
    return sets


def _least(scores: Sequence[StoryScore]) -> StoryScore:
    """A set that one known answer makes wrong is wrong, whatever the missing ones would have been."""
    worst, best = _smallest([score.worst for score in scores]), _smallest([score.best for score in scores])
    estimates = [score.estimate for score in scores if score.estimate is not None]
    is_complete = len(estimates) == len(scores) or worst == best
    unreadable = "" if is_complete else next(score.unreadable for score in scores if score.estimate is None)
    estimate = (_smallest(estimates) if len(estimates) == len(scores) else worst) if is_complete else None
    reason = next((score.reason for score in scores if score.official is None), "")
    official = None if reason else _smallest([score.official or {} for score in scores])
    if not any(value is not None for value in best.values()):
        estimate, unreadable = None, ""
    return StoryScore(scores[0].category, worst, best, estimate, unreadable, official=official, reason=reason)


def _smallest(shares: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the least of the defined values of each share."""
    names = dict.fromkeys(name for share in shares for name in share)
    return {
        name: min((value for share in shares if (value := share.get(name)) is not None), default=None) for name in names
    }
