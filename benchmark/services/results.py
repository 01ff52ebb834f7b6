"""The results of a run's items as the domain wants them: one list a model and stage, in the order of the stories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from benchmark.models import Dataset, DatasetSample, Entrant, Form, Run, RunItem, Stage
from benchmark.suites.omnitom.item_readings import stage1_of, stage2_of
from benchmark.suites.omnitom.official import STRUCTURED, why_none
from benchmark.suites.omnitom.records import Record, record_of
from benchmark.suites.omnitom.repaired import JUDGE_NOT_STRUCTURED, NO_JUDGEMENT, NOT_WHOLE, REFUSED, TRUNCATED
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from workers.models import ItemState

OPEN = "no answer yet"
WITHOUT_CALL = {ItemState.FAILED: "the call failed", ItemState.CANCELLED: "cancelled"}
"""Why a place has no answer, by the state of its work; `OPEN` in all others."""
JUDGE_S = {
    REFUSED: "the judge refused",
    TRUNCATED: "the judge's answer was cut off",
    NOT_WHOLE: "the judge's answer is not whole",
}
"""An unusable judgement for reasons that are told of any model in the same words."""
OF_JUDGE = "judgement: "
LOST_OUTSIDE = {OPEN, *WITHOUT_CALL.values(), *JUDGE_S.values(), NO_JUDGEMENT, JUDGE_NOT_STRUCTURED}


def lost_outside(reason: str) -> bool:
    """Whether a story is unusable for something that the model did not do: its call or the judge's."""
    return reason in LOST_OUTSIDE or reason.startswith(OF_JUDGE)


@dataclass(slots=True)
class Results:
    """The readings of one model.

    `official` are the readings of the answers that are there, `repaired` one of every story that was asked for. `extractions` and
    `labellings` have what table 12 counts of each such story with gold: "" where the model's answer can be used, why not otherwise, None
    without an answer; `without` by stage why there was none, and why extractions have no judgement, with the number of stories.
    `lacking` says of a stage why official scoring has no figures of it, in a sentence; a stage with figures is not in it.
    """

    name: str
    kind: str
    official1: list[Stage1Result] = field(default_factory=list)
    repaired1: list[Stage1Result] = field(default_factory=list)
    official2: list[Stage2Result] = field(default_factory=list)
    repaired2: list[Stage2Result] = field(default_factory=list)
    extractions: list[str | None] = field(default_factory=list)
    labellings: list[str | None] = field(default_factory=list)
    without: dict[str, Counter[str]] = field(default_factory=lambda: {stage: Counter() for stage in Stage.values})
    lacking: dict[str, str] = field(default_factory=dict)


def records_of(dataset: Dataset, stories: set[int] | None = None) -> dict[int, Record]:
    """By dataset story id, in the order of the corpus."""
    rows = DatasetSample.objects.filter(dataset=dataset).defer("votes", "methods", "adjudications")
    return {row.pk: record_of(row.record) for row in rows if stories is None or row.pk in stories}


def results_of(run: Run, records: Mapping[int, Record] | None = None) -> dict[int, Results]:
    """By entrant id."""
    return dict(each_results(run, records or records_of(run.dataset)))


def each_results(run: Run, records: Mapping[int, Record]) -> Iterator[tuple[int, Results]]:
    """`results_of` one after another: those of twenty models over a whole corpus fill a gigabyte at once."""
    for entrant in run.entrants.select_related("endpoint"):
        yield entrant.pk, _results(entrant, records)


def _results(entrant: Entrant, records: Mapping[int, Record]) -> Results:
    kind = "model" if entrant.endpoint.about.reads_prompts else "baseline"
    found = Results(entrant.name, kind)
    extractions, extracted = _extractions(found, entrant, records)
    told: dict[str, dict[int, str]] = {"stage1": {}, "stage2": {}}
    judging = Stage.JUDGE in entrant.run.stages and bool(extractions)
    places = RunItem.objects.filter(entrant=entrant, stage__in=FIGURES).order_by("sample__position")
    judged = set()
    for story, stage, official, repaired, unusable, state in places.values_list(
        "sample_id", "stage", "official", "repaired", "unusable", "item__state"
    ):
        record, answered = records[story], repaired is not None
        if none := _why_none(entrant.run, record, stage, official, repaired, extracted=story in extracted):
            told[FIGURES[stage]][story], official = none, None
        why = unusable if answered else WITHOUT_CALL.get(state, OPEN)
        if stage == Stage.LABEL:
            if judging and story not in extractions:  # the judged run was about fewer stories
                told["stage1"][story] = _why_none(entrant.run, record, Stage.JUDGE.value, None, None, extracted=False)
            _count(found, record, stage, why, answered=answered)
            _take(found.official2, found.repaired2, stage2_of, record, official, repaired, why)
        else:
            judged.add(story)
            lost, rows = extractions.get(story), extracted.get(story, {})
            if lost:
                repaired, why = _unjudged(record, {}), lost
            elif lost == "" and record.shown and not rows.get("rows"):  # it says nothing, whatever a judge makes of it
                repaired, why = {"pred": [], "gold": [0] * len(record.shown)}, ""
            else:
                repaired, why = repaired or _unjudged(record, rows), _judge_s(found, record, why, answered=answered)
            _take(found.official1, found.repaired1, stage1_of, record, official, repaired, why)
    if judging:
        for story in (one for one in extractions if one not in judged):  # nothing to be judged
            rows = {} if extractions[story] else extracted.get(story, {})
            repaired = _unjudged(records[story], rows)
            _take(
                found.official1, found.repaired1, stage1_of, records[story], None, repaired, extractions[story] or OPEN
            )
            told["stage1"][story] = _why_none(
                entrant.run, records[story], Stage.JUDGE.value, None, None, extracted=False
            )
    found.lacking = _lacking(found, told, entrant.run, records)
    return found


def _lacking(
    found: Results, told: Mapping[str, Mapping[int, str]], run: Run, records: Mapping[int, Record]
) -> dict[str, str]:
    """The sentence of the first story of each stage that has none of its figures."""
    lacking = {stage: held[next(one for one in records if one in held)] for stage, held in told.items() if held}
    for stage, asked in (("stage1", found.repaired1), ("stage2", found.repaired2)):
        if not asked:
            lacking[stage] = f"No story has an answer for {_unasked(run, stage)}."
    return lacking


FIGURES = {Stage.JUDGE: "stage1", Stage.LABEL: "stage2"}
"""The figures that the answers of a stage are read for."""


def _why_none(run: Run, record: Record, stage: str, official, repaired, *, extracted: bool) -> str:
    """Why the answer has no part in official figures; empty where it has."""
    if run.form == Form.STRUCTURED:
        return STRUCTURED
    answered = {Stage.EXTRACT.value} if extracted else set()
    answered |= {stage} if repaired is not None else set()
    return why_none(record.story_id, FIGURES[stage], answered, (official or {}).get("aborted", {}))


def _unasked(run: Run, stage: str) -> str:
    """The first of a stage's answers that nobody was asked for."""
    if stage == "stage2":
        return Stage.LABEL.value
    return (Stage.JUDGE if Stage.EXTRACT in run.stages and Stage.JUDGE not in run.stages else Stage.EXTRACT).value


def _extractions(
    found: Results, entrant: Entrant, records: Mapping[int, Record]
) -> tuple[dict[int, str], dict[int, dict]]:
    """By story why its extraction is of no use, "" where it is; and what was read of each that there is."""
    rows = RunItem.objects.filter(entrant=entrant, stage=Stage.EXTRACT).order_by("sample__position")
    held, extracted = {}, {}
    for story, unusable, call, state, repaired in rows.values_list(
        "sample_id", "unusable", "call_id", "item__state", "repaired"
    ):
        held[story] = why = unusable or ("" if call else WITHOUT_CALL.get(state, OPEN))
        if call:
            extracted[story] = repaired or {}
        _count(found, records[story], Stage.EXTRACT, why, answered=bool(call))
    return held, extracted


def _count(found: Results, record: Record, stage: str, why: str, *, answered: bool) -> None:
    if not record.shown:
        return
    answers = found.extractions if stage == Stage.EXTRACT else found.labellings
    answers.append(why if answered else None)
    if not answered:
        found.without[stage][why] += 1


def _judge_s(found: Results, record: Record, why: str, *, answered: bool) -> str:
    """Why an extraction that can be used has no judgement: the judge's doing, not the model's."""
    if not why or not record.shown:
        return why
    told = JUDGE_S.get(why, why) if answered else f"{OF_JUDGE}{why}"
    found.without[Stage.JUDGE][told] += 1
    return told


def _take(officials: list, mended: list, read: Callable, record: Record, official, repaired, unusable: str) -> None:
    if official is not None:
        officials.append(read(record, official, mended=False))
    if repaired is None:
        repaired = _nothing(record, read)
    mended.append(read(record, repaired, mended=True, unusable=unusable))


def _nothing(record: Record, read: Callable) -> dict:
    return _unjudged(record, {}) if read is stage1_of else {"predicted": [None] * len(record.shown)}


def _unjudged(record: Record, extracted: Mapping) -> dict:
    """What is known of an extraction that nobody judged."""
    kinds = {name: extracted.get(name, []) for name in ("orders", "roles")}
    return {"pred": [None] * extracted.get("rows", 0), "gold": [None] * len(record.shown), **kinds}
