"""Collected outcomes of one model's questions: the parses of its answers, story by story, and why those that lack are
lacking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from annotation.domain.schema import Schema
from benchmark.suites.contract import Entered, Outcome, Resources, Sample
from benchmark.suites.omnitom.item_parses import stage1_of, stage2_of
from benchmark.suites.omnitom.labels import Scheme, scheme_of
from benchmark.suites.omnitom.official import STRUCTURED, why_none
from benchmark.suites.omnitom.records import Record, record_of_sample
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.omnitom.steps import EXTRACT, JUDGE, LABEL
from benchmark.suites.reasons import JUDGE_S, OF_JUDGE, OPEN
from core.plain import Json

R = TypeVar("R", Stage1Result, Stage2Result)

METRICS = {JUDGE: "stage1", LABEL: "stage2"}
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


def not_read(scheme: Scheme) -> str:
    """Return why official scoring has nothing on gold of this scheme, empty for OmniToM's own."""
    if scheme.official:
        return ""
    return (
        f"Gold labelled by {scheme.schema.reference} has no official parse: the released code knows OmniToM's "
        f"own dimensions alone."
    )


class _Collecting:
    """Goes through the outcomes of one model; `extractions` has by story why its extraction is of no use, "" where it
    is, and `extracted` what was read of each that there is."""

    def __init__(self, entered: Entered, records: Mapping[str, Record]) -> None:
        self.entered, self.records = entered, records
        self.results = Results(entered.name, entered.kind, scheme_of(entered.resources.schema))
        self.extractions: dict[str, str] = {}
        self.extracted: dict[str, Mapping[str, Any]] = {}
        self.judged: set[str] = set()
        self.lacking: dict[str, dict[str, str]] = {"stage1": {}, "stage2": {}}

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
        self.extractions[key] = why = outcome.unusable or outcome.without
        if not outcome.without:
            self.extracted[key] = outcome.repaired or {}
        _count(self.results, self.records[key], EXTRACT, why, answered=not outcome.without)

    def _scored(self, key: str, outcome: Outcome) -> None:
        record, official, repaired = self.records[key], outcome.official, outcome.repaired
        if none := self._why_none(key, outcome):
            self.lacking[METRICS[outcome.step]][key], official = none, None
        answered = repaired is not None
        why = outcome.unusable if answered else outcome.without or OPEN
        if outcome.step == LABEL:
            if self.judging and key not in self.extractions:  # the judged run was about fewer stories
                self.lacking["stage1"][key] = self._why_none(key)
            _count(self.results, record, LABEL, why, answered=answered)
            repaired = {"predicted": [None] * len(record.shown_rows)} if repaired is None else repaired
            _take(self.results.official2, self.results.repaired2, stage2_of, record, official, repaired, why)
        else:
            self.judged.add(key)
            repaired, why = self._judgement(key, repaired, why)
            _take(self.results.official1, self.results.repaired1, stage1_of, record, official, repaired, why)

    def _judgement(self, key: str, repaired: Mapping[str, Any] | None, why: str) -> tuple[Mapping[str, Any], str]:
        record, lost, rows = self.records[key], self.extractions.get(key), self.extracted.get(key, {})
        if lost:
            return _unjudged(record, {}), lost
        if lost == "" and record.shown_rows and not rows.get("rows"):  # it says nothing, whatever a judge makes of it
            return {"pred": [], "gold": [0] * len(record.shown_rows)}, ""
        reason = _judge_s(self.results, record, why, answered=repaired is not None)
        return repaired or _unjudged(record, rows), reason

    def _nothing_to_judge(self, key: str) -> None:
        record, lost = self.records[key], self.extractions[key]
        repaired = _unjudged(record, {} if lost else self.extracted.get(key, {}))
        _take(self.results.official1, self.results.repaired1, stage1_of, record, None, repaired, lost or OPEN)
        self.lacking["stage1"][key] = self._why_none(key)

    def _why_none(self, key: str, outcome: Outcome | None = None) -> str:
        """Return why the answer has no part in official figures, empty where it has; without an outcome, why a story
        that was never judged has none."""
        if none := not_read(self.records[key].scheme):
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
    for group, group_results in (("stage1", results.repaired1), ("stage2", results.repaired2)):
        if not group_results:
            lacking[group] = f"No story has an answer for {_unasked(steps, group)}."
    return lacking


def _unasked(steps: Collection[str], group: str) -> str:
    """The first of a group's answers that nobody was asked for."""
    if group == "stage2":
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


def _take(
    officials: list[R],
    mended: list[R],
    read: Callable[..., R],
    record: Record,
    official: Mapping[str, Any] | None,
    repaired: Mapping[str, Any],
    unusable: str,
) -> None:
    if official is not None:
        officials.append(read(record, official, mended=False))
    mended.append(read(record, repaired, mended=True, unusable=unusable))


def _unjudged(record: Record, extracted: Mapping[str, Any]) -> Json:
    """Return what is known of an extraction that nobody judged."""
    kinds = {name: extracted.get(name, []) for name in ("orders", "roles")}
    return {"pred": [None] * extracted.get("rows", 0), "gold": [None] * len(record.shown_rows), **kinds}
