"""Figures of one model's outcomes in both metric groups: figures of all stories and by story, and what the analyses
make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import TypeVar

from annotation.domain.baselines import majority
from annotation.domain.schema import Schema
from benchmark.domain.averaging import StoryAverages
from benchmark.domain.estimating import StoryReport
from benchmark.domain.report_rows import BothParses
from benchmark.suites.answers import ParsedScores
from benchmark.suites.measuring import (
    Levels,
    once,
    over_repetitions,
    statement_digest,
    with_answers,
    with_columns,
    with_levels,
)
from benchmark.suites.omnitom.analyses import (
    Stage1Analyses,
    Stage2Analyses,
    outputs_analysis,
    stage1_analyses,
    stage2_analyses,
    why_uncounted,
)
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2, Record, record_of_sample
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, Labels, Scheme, scheme_of
from benchmark.suites.omnitom.official import STRUCTURED, why_none
from benchmark.suites.omnitom.parses import ExtractedRows, JudgedRows, stage1_of, stage2_of
from benchmark.suites.omnitom.repaired import repaired_labels, stage1_report, stage2_report
from benchmark.suites.omnitom.results import GroupScores, Stage1Result, Stage2Result, stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.steps import LABEL_COUNTS, count_labels
from benchmark.suites.questions import (
    PARSES,
    UNREADABLE_ANSWER,
    Analyses,
    BySample,
    Entered,
    Measured,
    Outcome,
    Resources,
    Sample,
    SuiteData,
)
from benchmark.suites.reasons import JUDGE_S, NO_GOLD, OF_JUDGE, OPEN
from benchmark.suites.reports import Analysis
from core.messages import Sentence, gettext_noop
from core.plain import Json

METRICS = {JUDGE: STAGE1, LABEL: STAGE2}
"""The figures that the answers of a step are read for."""


@dataclass(slots=True)
class Results:
    """The parses of one model.

    `official` are the parses of the answers that are there, `repaired` one of every story that was asked for.
    `extractions` and `labellings` have what table 12 counts of each such story with gold: "" where the model's answer
    can be used, why not otherwise, None without an answer; `without` by step why there was none, and why extractions
    have no judgement, with the number of stories. `lacking` says of a metric group why official scoring has no figures
    of it, in a sentence; a group with figures is not in it.
    """

    name: str
    kind: str
    scheme: Scheme
    official1: list[Stage1Result] = field(default_factory=list)
    repaired1: list[Stage1Result] = field(default_factory=list)
    official2: list[Stage2Result] = field(default_factory=list)
    repaired2: list[Stage2Result] = field(default_factory=list)
    extractions: list[str | None] = field(default_factory=list)
    labellings: list[str | None] = field(default_factory=list)
    without: dict[str, Counter[str]] = field(
        default_factory=lambda: {step: Counter() for step in (EXTRACT, JUDGE, LABEL)}
    )
    lacking: dict[str, str] = field(default_factory=dict)


def results_of(entered: Entered) -> Results:
    """The parses of one model, in the order of the stories."""
    all_records = records_of(entered.resources)
    records = {sample.key: all_records[sample.key] for sample in entered.samples}
    return _Collecting(entered, records).collected()


def records_of(resources: Resources) -> Mapping[str, Record]:
    """Return the record of every sample of the dataset, by its key."""
    return resources.derived("records", partial(_records_by_key, resources.schema))


def _records_by_key(schema: Schema, samples: Sequence[Sample]) -> dict[str, Record]:
    return {sample.key: record_of_sample(sample, schema) for sample in samples}


def no_official_parse(scheme: Scheme) -> str:
    """Return why official scoring has nothing on gold of this scheme, empty for OmniToM's own."""
    if scheme.official:
        return ""
    return Sentence(
        "Gold labelled by {schema} has no official parse: the released code knows OmniToM's own dimensions alone.",
        schema=scheme.schema.reference,
    )


class _Collecting:
    """Goes through the outcomes of one model; `extractions` has by story why its extraction is of no use, "" where it
    is, and `extracted` what was read of each that there is."""

    def __init__(self, entered: Entered, records: Mapping[str, Record]) -> None:
        self.entered, self.records = entered, records
        self.results = Results(entered.name, entered.kind, scheme_of(entered.resources.schema))
        self.extractions: dict[str, str] = {}
        self.extracted: dict[str, ExtractedRows] = {}
        self.judged: set[str] = set()
        self.lacking: dict[str, dict[str, str]] = {STAGE1: {}, STAGE2: {}}

    def collected(self) -> Results:
        for key, outcome in self._at(EXTRACT):
            self._extraction(key, outcome)
        self.judging = JUDGE in self.entered.steps and bool(self.extractions)
        for key in self.records:
            for outcome in self.entered.outcomes.get(key, ()):
                if outcome.step in METRICS:
                    self._scored(key, outcome)
        for key in [key for key in self.extractions if key not in self.judged] if self.judging else []:
            self._nothing_to_judge(key)
        self.results.lacking = _lacking(self.results, self.lacking, self.entered.steps, self.records)
        return self.results

    def _at(self, step: str) -> list[tuple[str, Outcome]]:
        return [
            (key, outcome)
            for key in self.records
            for outcome in self.entered.outcomes.get(key, ())
            if outcome.step == step
        ]

    def _extraction(self, key: str, outcome: Outcome) -> None:
        self.extractions[key] = why = outcome.unreadable or outcome.without
        if not outcome.without:
            self.extracted[key] = ExtractedRows.from_json(outcome.repaired or {})
        _count(self.results, self.records[key], EXTRACT, why, answered=not outcome.without)

    def _scored(self, key: str, outcome: Outcome) -> None:
        record, official, repaired = self.records[key], outcome.official, outcome.repaired
        if none := self._why_none(key, outcome):
            self.lacking[METRICS[outcome.step]][key], official = none, None
        answered = repaired is not None
        why = outcome.unreadable if answered else outcome.without or OPEN
        if outcome.step == LABEL:
            if self.judging and key not in self.extractions:  # the judged run was about fewer stories
                self.lacking[STAGE1][key] = self._why_none(key)
            _count(self.results, record, LABEL, why, answered=answered)
            labels = [None] * len(record.shown_rows) if repaired is None else repaired["predicted"]
            if official is not None:
                self.results.official2.append(stage2_of(record, official["predicted"], mended=False))
            self.results.repaired2.append(stage2_of(record, labels, mended=True, unreadable=why))
        else:
            self.judged.add(key)
            if official is not None:
                self.results.official1.append(stage1_of(record, JudgedRows.from_json(official), mended=False))
            rows, why = self._judgement(key, JudgedRows.from_json(repaired) if repaired else None, why, answered)
            self.results.repaired1.append(stage1_of(record, rows, mended=True, unreadable=why))

    def _judgement(self, key: str, judged: JudgedRows | None, why: str, answered: bool) -> tuple[JudgedRows, str]:
        record, lost, extracted = self.records[key], self.extractions.get(key), self.extracted.get(key, NOTHING)
        if lost:
            return _unjudged(record, NOTHING), lost
        if lost == "" and record.shown_rows and not extracted.rows:  # it says nothing, whatever a judge makes of it
            return JudgedRows(pred=[], gold=[0] * len(record.shown_rows)), ""
        reason = _judge_s(self.results, record, why, answered=answered)
        return judged or _unjudged(record, extracted), reason

    def _nothing_to_judge(self, key: str) -> None:
        record, lost = self.records[key], self.extractions[key]
        rows = _unjudged(record, NOTHING if lost else self.extracted.get(key, NOTHING))
        self.results.repaired1.append(stage1_of(record, rows, mended=True, unreadable=lost or OPEN))
        self.lacking[STAGE1][key] = self._why_none(key)

    def _why_none(self, key: str, outcome: Outcome | None = None) -> str:
        """Return why the answer has no part in official figures, empty where it has; without an outcome, why a story
        that was never judged has none."""
        if none := no_official_parse(self.records[key].scheme):
            return none
        if self.entered.settings.answer_format == "structured":
            return STRUCTURED
        story = self.records[key].story_id
        if outcome is None:
            return why_none(story, METRICS[JUDGE], (), {})
        answered = {EXTRACT} if key in self.extracted else set()
        answered |= {outcome.step} if outcome.repaired is not None else set()
        return why_none(story, METRICS[outcome.step], answered, (outcome.official or {}).get("aborted", {}))


def _lacking(
    results: Results, reasons: Mapping[str, Mapping[str, str]], steps: Collection[str], records: Mapping[str, Record]
) -> dict[str, str]:
    """The sentence of the first story of each metric group that has none of its figures."""
    lacking = {
        group: of_group[next(key for key in records if key in of_group)]
        for group, of_group in reasons.items()
        if of_group
    }
    for group, group_results in ((STAGE1, results.repaired1), (STAGE2, results.repaired2)):
        if not group_results:
            lacking[group] = f"No story has an answer for {_unasked(steps, group)}."
    return lacking


def _unasked(steps: Collection[str], group: str) -> str:
    """The first of a group's answers that nobody was asked for."""
    if group == STAGE2:
        return LABEL
    return JUDGE if EXTRACT in steps and JUDGE not in steps else EXTRACT


def _count(results: Results, record: Record, group: str, why: str, *, answered: bool) -> None:
    if not record.shown_rows:
        return
    answers = results.extractions if group == EXTRACT else results.labellings
    answers.append(why if answered else None)
    if not answered:
        results.without[group][why] += 1


def _judge_s(results: Results, record: Record, why: str, *, answered: bool) -> str:
    """Return why an extraction that can be used has no judgement: the judge's doing, not the model's."""
    if not why or not record.shown_rows:
        return why
    reason = JUDGE_S.get(why, why) if answered else f"{OF_JUDGE}{why}"
    results.without[JUDGE][reason] += 1
    return reason


NOTHING = ExtractedRows()
"""An extraction of which nothing is known, or that has no row."""


def _unjudged(record: Record, extracted: ExtractedRows) -> JudgedRows:
    """Return what is known of an extraction that nobody judged."""
    return JudgedRows(
        pred=[None] * extracted.rows,
        gold=[None] * len(record.shown_rows),
        orders=extracted.orders,
        roles=extracted.roles,
    )


def by_chance(scheme: Scheme, sample: Sample) -> float | None:
    """Return the accuracy to be expected of labels drawn among all of their dimension, each as likely; None without a
    gold label."""
    record = record_of_sample(sample, scheme.schema)
    return _mean_accuracy(scheme, _gold_of(record), lambda key, _: 1 / len(scheme.legal[key]))


def by_majority(scheme: Scheme, sample: Sample, resources: Resources) -> float | None:
    """Return the accuracy of the label of each dimension that is commonest in the gold of all stories; None without a
    gold label."""
    record = records_of(resources)[sample.key]
    commonest = _commonest(scheme, resources.derived(LABEL_COUNTS, count_labels))
    return _mean_accuracy(scheme, _gold_of(record), lambda key, label: float(label == commonest[key]))


def _gold_of(record: Record) -> list[Labels]:
    return [repaired_labels(row.labels, record.scheme) for row in record.shown_rows]


def _commonest(scheme: Scheme, counts: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    return {key: majority(counts.get(key, {}), scheme.schema[key].values) for key in scheme.keys}


def _mean_accuracy(scheme: Scheme, rows: Sequence[Labels], right: Callable[[str, str], float]) -> float | None:
    """The mean over dimensions of how many of its gold labels are right."""
    by_dimension = [
        [right(key, labels[at]) for labels in rows if labels[at] in scheme.legal[key]]
        for at, key in enumerate(scheme.keys)
    ]
    accuracies = [fmean(values) for values in by_dimension if values]
    return fmean(accuracies) if accuracies else None


def matches_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return which gold rows an extraction has, as judged, and how many of its own rows are none of them: its words are
    others each time."""
    gold, predicted = ([bool(count) for count in repaired[side]] for side in ("gold", "pred"))
    return statement_digest([gold, predicted.count(False)])


def labels_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return the labels of all gold rows as normalised, None of a row that the table lacks."""
    return statement_digest(repaired["predicted"])


def statement_of(entered: Entered, group: str, sample: Sample, turn: int) -> str | None:
    """Return what the table of one repetition says in a metric group, that it cannot be read, or None where there is
    none, or where its judge did not say what it has."""
    outcomes = {outcome.step: outcome for outcome in entered.outcomes.get(sample.key, ()) if outcome.repetition == turn}
    if group == STAGE1:
        extraction, judgement = outcomes.get(EXTRACT), outcomes.get(JUDGE)
        if extraction and extraction.unreadable:
            return UNREADABLE_ANSWER
        return _statement(judgement, matches_stated, sample) if judgement and not judgement.unreadable else None
    labelling = outcomes.get(LABEL)
    if labelling and labelling.unreadable:
        return UNREADABLE_ANSWER
    return _statement(labelling, labels_stated, sample) if labelling else None


def _statement(outcome: Outcome, says: Callable[[Sample, SuiteData], str], sample: Sample) -> str | None:
    if outcome.without or outcome.repaired is None:
        return None
    return says(sample, outcome.repaired)


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
) -> tuple[BothParses, BySample]:
    """Return (figures by parse, figures by story) of labels."""
    averages = stage2_metrics(official) if official else None
    group = repaired[0].scheme.group(STAGE2)
    result = _both(official, averages, stage2_report(repaired, seed=seed), {}, group)
    return result.metrics.parses, result.by_sample


def scores(entered: Entered) -> Json:
    """Return {official, repaired} in the form of score_outputs; a metric group without figures is None, with its
    sentence in the parse's `reason`. Of one that was asked several times, figures alone, without stories."""
    if any(outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes):
        parses = {group: result and result.metrics.parses.as_json() for group, result in measure(entered).items()}
        return {name: {group: rows and rows[name] for group, rows in parses.items()} for name in PARSES}
    return _scores(results_of(entered), entered.settings.seed).as_json()


def _scores(results: Results, seed: int) -> ParsedScores:
    official = {
        STAGE1: None if STAGE1 in results.lacking else stage1_metrics(results.official1),
        STAGE2: None if STAGE2 in results.lacking else stage2_metrics(results.official2),
    }
    repaired = {
        STAGE1: stage1_report(results.repaired1, seed=seed) if results.repaired1 else None,
        STAGE2: stage2_report(results.repaired2, seed=seed) if results.repaired2 else None,
    }
    unasked = {group: results.lacking[group] for group, report in repaired.items() if report is None}
    return ParsedScores(GroupScores(official, results.lacking), GroupScores(repaired, unasked))
