"""The results of a run's items as the domain wants them: one list a model and stage, in the order of the stories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmark.domain.omnitom.item_readings import stage1_of, stage2_of
from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.domain.omnitom.official import STRUCTURED, why_none
from benchmark.domain.omnitom.records import Record, record_of
from benchmark.domain.omnitom.repaired import REFUSED, TRUNCATED
from benchmark.domain.omnitom.results import Stage1Result, Stage2Result
from benchmark.models import Dataset, DatasetStory, Entrant, Form, Run, RunItem, Stage
from workers.models import ItemState

OPEN = "no answer yet"
WITHOUT_CALL = {ItemState.FAILED: "the call failed", ItemState.CANCELLED: "cancelled"}
"""Why a place has no answer, by the state of its work; `OPEN` in all others."""
JUDGE_S = {REFUSED: "the judge refused", TRUNCATED: "the judge's answer was cut off"}
"""An unusable judgement for reasons that are told of any model in the same words."""


@dataclass(slots=True)
class Results:
    """The readings of one model, or of one person.

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
    rows = DatasetStory.objects.filter(dataset=dataset).defer("votes", "methods", "adjudications")
    return {row.pk: record_of(row.record) for row in rows if stories is None or row.pk in stories}


def results_of(run: Run, records: Mapping[int, Record] | None = None) -> dict[int, Results]:
    """By entrant id."""
    return dict(each_results(run, records or records_of(run.dataset)))


def each_results(run: Run, records: Mapping[int, Record]) -> Iterator[tuple[int, Results]]:
    """`results_of` one after another: those of twenty models over a whole corpus fill a gigabyte at once."""
    for entrant in run.entrants.select_related("endpoint"):
        yield entrant.pk, _results(entrant, records)


def _results(entrant: Entrant, records: Mapping[int, Record]) -> Results:
    kind = "baseline" if entrant.endpoint.provider == "baseline" else "model"
    found = Results(entrant.name, kind)
    extractions, extracted = _extractions(found, entrant, records)
    told: dict[str, dict[int, str]] = {"stage1": {}, "stage2": {}}
    judging = Stage.JUDGE in entrant.run.stages and bool(extractions)
    rows = RunItem.objects.filter(entrant=entrant).exclude(stage=Stage.EXTRACT).order_by("story__position")
    judged = set()
    for story, stage, official, repaired, unusable, state in rows.values_list(
        "story_id", "stage", "official", "repaired", "unusable", "item__state"
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
            why = extractions.get(story) or _judge_s(found, record, why, answered=answered)
            _take(found.official1, found.repaired1, stage1_of, record, official, repaired, why)
    if judging:
        for story in (one for one in extractions if one not in judged):  # nothing to be judged
            _take(found.official1, found.repaired1, stage1_of, records[story], None, None, extractions[story] or OPEN)
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


def _extractions(found: Results, entrant: Entrant, records: Mapping[int, Record]) -> tuple[dict[int, str], set[int]]:
    """By story why its extraction is of no use, "" where it is; and the stories that have one."""
    rows = RunItem.objects.filter(entrant=entrant, stage=Stage.EXTRACT).order_by("story__position")
    held, extracted = {}, set()
    for story, unusable, call, state in rows.values_list("story_id", "unusable", "call_id", "item__state"):
        held[story] = why = unusable or ("" if call else WITHOUT_CALL.get(state, OPEN))
        extracted |= {story} if call else set()
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
    told = JUDGE_S.get(why, why) if answered else f"judgement: {why}"
    found.without[Stage.JUDGE][told] += 1
    return told


def _take(officials: list, mended: list, read: Callable, record: Record, official, repaired, unusable: str) -> None:
    if official is not None:
        officials.append(read(record, official, mended=False))
    if repaired is None:
        repaired = _nothing(record, read)
    mended.append(read(record, repaired, mended=True, unusable=unusable))


def _nothing(record: Record, read: Callable) -> dict:
    rows = len(record.shown)
    return {"pred": [], "gold": [None] * rows} if read is stage1_of else {"predicted": [None] * rows}


GAPS = "Official scoring needs a label in every cell of every story."


@dataclass(slots=True)
class HumanResults(Results):
    """Of a person, as `role` (annotator or expert), the `number`-th of the dataset by name. `labelled` has {stories, of_stories, cells,
    of_cells}: how many of those that models were asked about."""

    role: str = "annotator"
    number: int = 1
    labelled: dict[str, int] = field(default_factory=dict)


def human_results(run: Run, records: Mapping[int, Record]) -> list[Results]:
    """Everybody who voted in a story of the run, then everybody who adjudicated there, scored as a model at labelling on the
    cells that they labelled: other cells and stories are in none of their denominators.

    Official figures need every cell of every story. Gold rests on these votes among others, and a decision that stands is gold
    itself, so a person's row flatters; it says so where it is shown.
    """
    asked = RunItem.objects.filter(entrant__run=run, stage=Stage.LABEL).values("story")
    stories = DatasetStory.objects.filter(dataset=run.dataset)
    rows = list(stories.filter(pk__in=asked).order_by("position").values_list("pk", "votes", "adjudications"))
    everybody = list(stories.values_list("pk", "votes", "adjudications"))
    found = []
    for at, role in enumerate(("annotator", "expert"), 1):
        for number, name in enumerate(sorted({name for row in everybody for name in row[at]}), 1):
            shown = name if role == "annotator" else f"{name} (expert)"
            labels = {row[0]: row[at].get(name, []) for row in rows}
            found.append(_person(run, HumanResults(shown, "person", role=role, number=number), labels, records))
    return [person for person in found if person.repaired2]


def _person(
    run: Run, person: HumanResults, labels: Mapping[int, Sequence[Sequence[str]]], records: Mapping[int, Record]
) -> HumanResults:
    """The person with what was labelled in the stories of the run."""
    for story, held in labels.items():
        _take_labels(person, records[story], held)
    if run.form == Form.STRUCTURED:
        person.official2, person.lacking = [], {"stage2": STRUCTURED}
    elif len(person.official2) < len(labels):
        person.lacking = {"stage2": GAPS}
    of_cells = sum(len(records[story].shown) for story in labels) * len(DIMENSIONS)
    cells = sum(map(bool, (label for one in person.repaired2 for said in one.predicted for label in said)))
    told = (len(person.repaired2), len(labels), cells, of_cells)
    person.labelled = dict(zip(("stories", "of_stories", "cells", "of_cells"), told, strict=True))
    return person


def _take_labels(person: HumanResults, record: Record, labels: Sequence[Sequence[str]]) -> None:
    """Adds the story where the person labelled something in it. A cell without a label loses its gold one, so that it counts nowhere."""
    if not any(map(any, labels)):
        return
    if all(map(all, labels)):
        person.official2.append(stage2_of(record, {"predicted": labels}, mended=False))
    shown = [row for gold, row in zip(record.rows, labels, strict=True) if gold.shown]
    whole = stage2_of(record, {"predicted": shown}, mended=True)
    kept = [at for at, said in enumerate(whole.predicted) if any(said)]
    if kept:
        said = tuple(whole.predicted[at] for at in kept)
        gold = tuple(
            tuple(one if label else "" for one, label in zip(whole.gold[at], labels, strict=True))
            for at, labels in zip(kept, said, strict=True)
        )
        roles = tuple(whole.roles[at] for at in kept) if whole.roles else ()
        person.repaired2.append(replace(whole, gold=gold, predicted=said, roles=roles))
