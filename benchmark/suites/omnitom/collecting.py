"""Collected outcomes of one model's questions: the parses of its answers, story by story, and why those that lack are
lacking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.item_parses import ExtractedRows, JudgedRows, stage1_of, stage2_of
from benchmark.suites.omnitom.labels import Scheme, scheme_of
from benchmark.suites.omnitom.official import STRUCTURED, why_none
from benchmark.suites.omnitom.records import Record, record_of_sample
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.questions import Entered, Outcome, Resources, Sample
from benchmark.suites.reasons import JUDGE_S, OF_JUDGE, OPEN
from core.messages import Sentence

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
