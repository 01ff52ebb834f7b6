"""Figures of one model in both metric groups, over all stories and by story, and the analyses of its answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Any

from annotation.domain.baselines import majority
from benchmark.domain.estimating import StoryScore
from benchmark.suites.measuring import once, over_repetitions, statement_digest, with_answers, with_columns, with_levels
from benchmark.suites.omnitom.analyses import Found, outputs_analysis, stage1_analyses, stage2_analyses, why_uncounted
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2, Record, record_of_sample, records_of
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, Scheme, scheme_of
from benchmark.suites.omnitom.official import STRUCTURED, no_official_parse, why_none
from benchmark.suites.omnitom.repaired import stage1_report, stage1_scores, stage2_report, stage2_scores
from benchmark.suites.omnitom.results import (
    repaired_labels,
    stage1_metrics,
    stage1_of,
    stage2_metrics,
    stage2_of,
    with_reasons,
)
from benchmark.suites.omnitom.steps import LABEL_COUNTS, count_labels
from benchmark.suites.questions import PARSES, UNREADABLE_ANSWER, Entered, Outcome, Resources, Sample, SuiteData
from benchmark.suites.reasons import JUDGE_S, NO_GOLD, OF_JUDGE, OPEN
from benchmark.suites.registry import group_named
from benchmark.suites.reports import Analysis, GroupMetrics
from core.messages import gettext_noop
from core.plain import Json

SKIPPED = gettext_noop("rows without a judgement")
_RULES: Mapping[str, tuple[Callable[..., Json], Callable[..., list[StoryScore]], Callable[..., Json]]] = {
    STAGE1: (stage1_metrics, stage1_scores, stage1_analyses),
    STAGE2: (stage2_metrics, stage2_scores, stage2_analyses),
}
"""Official figures, repaired scores and analyses of each metric group."""
_SCORED = {STAGE1: JUDGE, STAGE2: LABEL}
"""The step whose answers each metric group reads."""


# --- levels without a model


def by_chance(scheme: Scheme, sample: Sample) -> float | None:
    """Return the expected accuracy of labels drawn uniformly among those of their dimension. Returns None without a
    gold label."""
    return _mean_accuracy(record_of_sample(sample, scheme.schema), lambda key, _: 1 / len(scheme.legal[key]))


def by_majority(scheme: Scheme, sample: Sample, resources: Resources) -> float | None:
    """Return the accuracy of the commonest gold label of each dimension over all stories. Returns None without a gold
    label."""
    counts = resources.derived(LABEL_COUNTS, count_labels)
    commonest = {key: majority(counts.get(key, {}), scheme.schema[key].values) for key in scheme.keys}
    return _mean_accuracy(records_of(resources)[sample.key], lambda key, label: float(label == commonest[key]))


def _mean_accuracy(record: Record, right: Callable[[str, str], float]) -> float | None:
    """Return the mean over dimensions of the share of gold labels that are right."""
    scheme = record.scheme
    rows = [repaired_labels(row.labels, scheme) for row in record.shown_rows]
    by_dimension = [
        [right(key, labels[at]) for labels in rows if labels[at] in scheme.legal[key]]
        for at, key in enumerate(scheme.keys)
    ]
    accuracies = [fmean(values) for values in by_dimension if values]
    return fmean(accuracies) if accuracies else None


# --- statements: answers that say the same have equal ones, whatever names and places a control gave


def matches_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return a digest of the gold rows that an extraction has, as judged, and of its number of other rows."""
    gold, predicted = ([bool(count) for count in repaired[side]] for side in ("gold", "pred"))
    return statement_digest([gold, predicted.count(False)])


def labels_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return a digest of the labels of all gold rows as normalised."""
    return statement_digest(repaired["predicted"])


def statement_of(group: str, sample: Sample, outcomes: Mapping[str, Outcome]) -> str | None:
    """Return the statement of one repetition. Returns None without an answer, or if its judge gave no judgement."""
    answer = outcomes.get(EXTRACT if group == STAGE1 else LABEL)
    if answer and answer.unreadable:
        return UNREADABLE_ANSWER
    scored = outcomes.get(JUDGE if group == STAGE1 else LABEL)
    if not scored or scored.unreadable or scored.without or scored.repaired is None:
        return None
    return (matches_stated if group == STAGE1 else labels_stated)(sample, scored.repaired)


# --- results of a model's answers


@dataclass(slots=True)
class Results:
    """The results of one model by metric group."""

    scheme: Scheme
    official: dict[str, list[Any]] = field(default_factory=lambda: {STAGE1: [], STAGE2: []})
    """Those of the existing answers."""
    repaired: dict[str, list[Any]] = field(default_factory=lambda: {STAGE1: [], STAGE2: []})
    """One for each story that was asked about."""
    outputs: dict[str, list[str | None]] = field(default_factory=lambda: {STAGE1: [], STAGE2: []})
    """The model's answer to each such story with gold for table 12: "" if it can be used, the reason if not, None
    without an answer."""
    without: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: {STAGE1: {"calls": Counter(), "judgements": Counter()}, STAGE2: {"calls": Counter()}}
    )
    """The reasons for missing answers (`calls`) and judgements, counted."""
    lacking: dict[str, str] = field(default_factory=dict)
    """The reason why a group has no official figures."""


Stories = Sequence[tuple[Record, Mapping[str, Outcome]]]
"""Records with their outcomes by step."""


def results_of(entered: Entered) -> Results:
    """Return the results of one repetition in the order of the stories; of extractions those with a judgement first."""
    records = records_of(entered.resources)
    stories = [
        (records[sample.key], {outcome.step: outcome for outcome in entered.outcomes.get(sample.key, ())})
        for sample in entered.samples
    ]
    results = Results(scheme_of(entered.resources.schema))
    judging = JUDGE in entered.steps and any(EXTRACT in outcomes for _, outcomes in stories)
    for record, outcomes in stories:
        for group, step in _SCORED.items():
            outcome = outcomes.get(step)
            if outcome and outcome.official is not None and not _why_not_official(entered, record, group, outcomes):
                kept = outcome.official
                result = stage1_of(record, kept) if group == STAGE1 else stage2_of(record, kept["predicted"])
                results.official[group].append(result)
        for group, step in ((STAGE1, EXTRACT), (STAGE2, LABEL)):
            if (outcome := outcomes.get(step)) and record.shown_rows:
                missing = outcome.without
                if step == LABEL:
                    missing = "" if outcome.repaired is not None else missing or OPEN
                results.outputs[group].append(None if missing else outcome.unreadable)
                results.without[group]["calls"].update([missing] if missing else [])
        if labelling := outcomes.get(LABEL):
            if labelling.repaired is None:
                labels, why = [None] * len(record.shown_rows), labelling.without or OPEN
            else:
                labels, why = labelling.repaired["predicted"], labelling.unreadable
            results.repaired[STAGE2].append(stage2_of(record, labels, mended=True, unreadable=why))
    unjudged = [story for story in stories if EXTRACT in story[1] and JUDGE not in story[1]] if judging else []
    for story in [*(story for story in stories if JUDGE in story[1]), *unjudged]:
        _take_judgement(results, *story)
    results.lacking = _lacking(entered, results, stories, judging)
    return results


def _take_judgement(results: Results, record: Record, outcomes: Mapping[str, Outcome]) -> None:
    extraction, judgement, gold = outcomes.get(EXTRACT), outcomes.get(JUDGE), len(record.shown_rows)
    lost = extraction.unreadable or extraction.without if extraction else ""
    extracted: SuiteData = extraction.repaired or {} if extraction and not lost else {}
    rows: SuiteData = {**extracted, "pred": [None] * extracted.get("rows", 0), "gold": [None] * gold}
    if lost or not judgement:
        why = lost or OPEN
    elif extraction and gold and not extracted.get("rows"):  # an empty table, whatever a judge makes of it
        rows, why = {"pred": [], "gold": [0] * gold}, ""
    else:
        rows, answered = judgement.repaired or rows, judgement.repaired is not None
        why = judgement.unreadable if answered else judgement.without or OPEN
        if why and gold:  # the judge's doing, not the model's
            why = JUDGE_S.get(why, why) if answered else f"{OF_JUDGE}{why}"
            results.without[STAGE1]["judgements"][why] += 1
    results.repaired[STAGE1].append(stage1_of(record, rows, mended=True, unreadable=why))


def _lacking(entered: Entered, results: Results, stories: Stories, judging: bool) -> dict[str, str]:
    """Return the reason of the first story of each metric group that keeps it from official figures."""
    lacking: dict[str, str] = {}
    for group, step in _SCORED.items():
        asked = (
            story
            for story in stories
            if step in story[1] or (group == STAGE1 and judging and {EXTRACT, LABEL} & story[1].keys())
        )
        reasons = (_why_not_official(entered, record, group, outcomes) for record, outcomes in asked)
        if why := next(filter(None, reasons), ""):
            lacking[group] = why
        if not results.repaired[group]:
            first = JUDGE if EXTRACT in entered.steps and JUDGE not in entered.steps else EXTRACT
            lacking[group] = f"No story has an answer for {LABEL if group == STAGE2 else first}."
    return lacking


def _why_not_official(entered: Entered, record: Record, group: str, outcomes: Mapping[str, Outcome]) -> str:
    """Return the reason why a story has no official figures, "" if it has them."""
    if none := no_official_parse(record.scheme):
        return none
    if entered.settings.answer_format == "structured":
        return STRUCTURED
    if not (outcome := outcomes.get(_SCORED[group])):
        return why_none(record.story_id, group, (), {})
    answered = {EXTRACT} if EXTRACT in outcomes and not outcomes[EXTRACT].without else set()
    answered |= {outcome.step} if outcome.repaired is not None else set()
    return why_none(record.story_id, group, answered, (outcome.official or {}).get("aborted", {}))


# --- figures


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """Return both metric groups of one model; of one that was asked several times, the mean over repetitions."""
    scheme, seed, turns = scheme_of(entered.resources.schema), entered.settings.seed, _repetitions(entered)
    if len(turns) < 2:
        by_group = measured(results_of(entered), seed)
    else:
        each = [measured(results_of(_turn(entered, turn)), seed) for turn in turns]
        by_group = {}
        for group in (STAGE1, STAGE2):
            repetitions = [result for repetition in each if (result := repetition[group])]
            by_group[group] = over_repetitions(repetitions, scheme.group(group), seed) if repetitions else None
    labelling = by_group[STAGE2]
    if labelling and (columns := labelling.by_sample["repaired"]):  # levels are of the stories that have a gold label
        values = zip(columns.stories, columns.values[ALL_DIMENSIONS], strict=True)
        defined = {number for number, value in values if value is not None}
        samples = [sample for sample in entered.samples if sample.number in defined]
        levels = (partial(by_chance, scheme), lambda sample: by_majority(scheme, sample, entered.resources))
        by_group[STAGE2] = with_levels(labelling, samples, levels)
    return {scheme.group(group): result and _with_answers(result, group, entered) for group, result in by_group.items()}


def _repetitions(entered: Entered) -> list[int]:
    return sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})


def _turn(entered: Entered, turn: int) -> Entered:
    """Return one repetition."""
    outcomes = {
        key: [outcome for outcome in listed if outcome.repetition == turn] for key, listed in entered.outcomes.items()
    }
    return replace(entered, outcomes=outcomes)


def _with_answers(result: GroupMetrics, group: str, entered: Entered) -> GroupMetrics:
    """Return a metric group with the statements of every repetition about each story."""
    columns = result.by_sample["repaired"]
    if columns is None:
        return result
    samples = {sample.number: sample for sample in entered.samples}
    turns = [
        {
            key: {outcome.step: outcome for outcome in outcomes}
            for key, outcomes in _turn(entered, turn).outcomes.items()
        }
        for turn in _repetitions(entered)
    ]
    statements = [
        [statement_of(group, samples[number], outcomes.get(samples[number].key, {})) for outcomes in turns]
        for number in columns.stories
    ]
    return with_answers(result, statements, [samples[number].cluster for number in columns.stories])


def measured(results: Results, seed: int) -> dict[str, GroupMetrics | None]:
    """Return the figures of stage 1 and stage 2, None for one that was not asked for."""
    found: dict[str, GroupMetrics | None] = dict.fromkeys(_RULES)
    for group in _RULES:
        if not (repaired := results.repaired[group]):
            continue
        official = results.official[group]
        result = figures_of(official, repaired, results.scheme, group, seed)
        without: dict[str, Mapping[str, int]] = dict(results.without[group])
        if group == STAGE1:
            skipped = sum(sum(result.unjudged) for result in repaired)
            without["rows"] = {SKIPPED: skipped} if skipped else {}
        without = {name: dict(sorted(reasons.items())) for name, reasons in without.items()}
        analyse = once(partial(_RULES[group][2], seed=seed))
        read: dict[str, tuple[Sequence[Any], Sequence[str | None]]] = {"repaired": (repaired, results.outputs[group])}
        if official and len(official) == len(repaired):  # every story has an answer, as official figures need
            pairs = zip(official, repaired, strict=True)
            outputs = [why_uncounted(result) for result, other in pairs if other.unreadable != NO_GOLD]
            read["official"] = official, outputs
        analyses: dict[str, Analysis | None] = {"repaired": None, "official": None}
        for parse, (of_parse, outputs_of_parse) in read.items():
            outputs_found = outputs_analysis(outputs_of_parse, without, seed=seed)
            analyses[parse] = Analysis().with_parts(finding=Found({**analyse(of_parse), "outputs": outputs_found}))
        metrics = replace(result, analyses=analyses)
        if why := results.lacking.get(group, ""):
            parses = replace(metrics.parses, official=None)
            metrics = replace(metrics, parses=parses, reason=why, analyses={**analyses, "official": None})
        found[group] = metrics
    return found


def figures_of(official: Sequence[Any], repaired: Sequence[Any], scheme: Scheme, group: str, seed: int) -> GroupMetrics:
    """Return the figures of a metric group without analyses."""
    metrics, scores_of, _ = _RULES[group]
    printed = metrics(official)["stories"] if official else []
    shares = group_named(scheme.group(group)).shares
    figures = {
        result.story_id: {name: float(row[name]) for name in shares}
        for result, row in zip(official, printed, strict=True)
    }
    both = [replace(score, official=figures.get(score.number)) for score in scores_of(repaired)]
    return with_columns(both, scheme.group(group), seed)


def scores(entered: Entered) -> Json:
    """Return {official, repaired} in the form of `score_outputs`; a metric group without figures is None, with its
    reason in the parse's `reason`. Several repetitions have figures without stories."""
    if any(_repetitions(entered)):
        parses = {group: metrics and metrics.parses.told for group, metrics in measure(entered).items()}
        return {name: {group: rows and rows[name] for group, rows in parses.items()} for name in PARSES}
    results, seed, key_of = results_of(entered), entered.settings.seed, scheme_of(entered.resources.schema).group
    official = {
        key_of(group): None if group in results.lacking else metrics(results.official[group])
        for group, (metrics, _, _) in _RULES.items()
    }
    repaired = {
        key_of(group): report(results.repaired[group], seed=seed) if results.repaired[group] else None
        for group, report in ((STAGE1, stage1_report), (STAGE2, stage2_report))
    }
    lacking = {key_of(group): why for group, why in results.lacking.items()}
    unasked = {key: lacking[key] for key, figures in repaired.items() if figures is None}
    return {"official": with_reasons(official, lacking), "repaired": with_reasons(repaired, unasked)}
