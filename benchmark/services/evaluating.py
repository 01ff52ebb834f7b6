"""The purpose of a run's calls: asks for each place, keeps both readings of the answer, and has extractions judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import User
from annotation.services import audit
from benchmark.domain.omnitom.item_readings import ItemReadings, read_stage1, read_stage2
from benchmark.domain.omnitom.readings.emptiness import says_nothing
from benchmark.domain.omnitom.readings.extraction import read_extraction
from benchmark.domain.omnitom.records import record_of
from benchmark.domain.omnitom.repaired import REFUSED, TRUNCATED, UNREADABLE
from benchmark.models import Form, Run, RunItem, Stage
from benchmark.services.asking import request_for
from benchmark.services.plans import RunRefused
from benchmark.services.reports import REPORTS, forget_report
from benchmark.services.runs import PURPOSE, READ_AGAIN, add_work, note_later
from workers.backends.contract import Request
from workers.models import Call, Item, ItemState, Job
from workers.models.bulk import insert_rows, update_rows
from workers.services.purposes import Received, register

_READ = ["call", "official", "repaired", "score", "repaired_score", "unusable"]


class _Evaluating:
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        places = _places(items)
        extractions = extractions_of([one for one in places.values() if one.stage == Stage.JUDGE])
        asked: dict[int, Request | str] = {}
        for item in items:
            place = places.get(item.pk)
            if place is None:
                asked[item.pk] = "The run or its story is gone."
            elif place.stage == Stage.JUDGE and (place.entrant_id, place.story_id) not in extractions:
                asked[item.pk] = "There is no extraction to be judged."
            else:
                asked[item.pk] = request_for(place, extractions.get((place.entrant_id, place.story_id), ""))
        return asked

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        places = _places([item for item, _ in answered])
        extractions = extractions_of([one for one in places.values() if one.stage == Stage.JUDGE])
        received: dict[int, Received] = {}
        rows, judge = [], []
        for item, call in answered:
            place = places.get(item.pk)
            if place is None:
                received[item.pk] = Received(ItemState.FAILED, "The run or its story is gone.")
                continue
            held = readings_of(place, call.answer, extractions.get((place.entrant_id, place.story_id), ""))
            why = _why(call, held)
            mended_score = None if why else held.repaired_score
            rows.append((call.pk, held.official, held.repaired, held.score, mended_score, why, place.pk))
            received[item.pk] = Received(ItemState.UNUSABLE if why else ItemState.DONE, why)
            if place.stage == Stage.EXTRACT and Stage.JUDGE in place.entrant.run.stages:
                judge.append(place)
        update_rows(RunItem, _READ, rows)
        _have_judged(judge)
        return received

    def finished(self, job: Job) -> None:
        REPORTS.ring(job.pk)


def _places(items: Sequence[Item]) -> dict[int, RunItem]:
    """By item id; the key of an item is its place."""
    wanted = {int(item.key): item.pk for item in items}
    held = RunItem.objects.filter(pk__in=wanted).select_related("story", "entrant__run__dataset", "entrant__run__judge")
    return {wanted[place.pk]: place for place in held}


def extractions_of(places: Sequence[RunItem]) -> dict[tuple[int, int], str]:
    """(entrant, dataset story) → the raw extraction that a judgement is about."""
    held = RunItem.objects.filter(
        entrant__in={one.entrant_id for one in places},
        story__in={one.story_id for one in places},
        stage=Stage.EXTRACT,
        call__isnull=False,
    )
    return {
        (entrant, story): text for entrant, story, text in held.values_list("entrant_id", "story_id", "call__answer")
    }


def readings_of(place: RunItem, answer: str, extraction: str) -> ItemReadings:
    """Both readings of one answer. An extraction has no score of its own: `unusable` says whether it can be read."""
    record = record_of(place.story.record)
    structured = place.entrant.run.form == Form.STRUCTURED
    if place.stage == Stage.JUDGE:
        return read_stage1(record, extraction, answer, structured=structured)
    if place.stage == Stage.LABEL:
        return read_stage2(record, answer, structured=structured)
    rows = len(read_extraction(answer))
    return ItemReadings(None, {"rows": rows}, None, None, "" if rows or says_nothing(answer) else UNREADABLE)


def _why(call: Call, held: ItemReadings) -> str:
    """Why an answer is unusable. A table without rows is none only where the model meant to end there."""
    ended = {"refused": REFUSED, "truncated": TRUNCATED}.get(call.state, "")
    if not held.unusable:
        return ended if _is_empty(held.repaired) else ""
    return (ended or held.unusable)[:120]


def _is_empty(repaired: Mapping[str, Any]) -> bool:
    """Of an extraction or a labelling."""
    return repaired.get("rows") == 0 or not any(repaired.get("predicted", [True]))


def _have_judged(extracted: Sequence[RunItem]) -> None:
    """A place and an item for the judgement of each, in the caller's transaction. The judge is asked about empty tables too, as in
    the published protocol."""
    if not extracted:
        return
    taken = RunItem.objects.filter(entrant__in={one.entrant_id for one in extracted}, stage=Stage.JUDGE)
    taken = set(taken.filter(story__in=[one.story_id for one in extracted]).values_list("entrant_id", "story_id"))
    fresh = [one for one in extracted if (one.entrant_id, one.story_id) not in taken]
    fields = ("entrant", "story", "stage", "unusable")
    insert_rows(RunItem, fields, [(one.entrant_id, one.story_id, Stage.JUDGE, "") for one in fresh])
    by_run: dict[int, tuple[Run, list[RunItem]]] = {}
    for one in fresh:
        by_run.setdefault(one.entrant.run_id, (one.entrant.run, []))[1].append(one)
    for run, group in by_run.values():
        places = RunItem.objects.filter(
            entrant__in={one.entrant_id for one in group}, story__in=[one.story_id for one in group], stage=Stage.JUDGE
        )
        waiting = list(places.filter(item=None, call=None).select_related("entrant__endpoint"))
        add_work(run=run, places=waiting, now=timezone.now())


def read_again(*, by: User | None, run: Run, now: datetime, most: int | None = None) -> int:
    """Applies the present parsers to every answer of a run: no call is made. Returns how many readings changed.

    Raises RunRefused for more than `most` answers.
    """
    held = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    if most is not None and held.count() > most:
        raise RunRefused(
            f"The run has more than {most:,} answers, which takes too long for a page; the command does it: "
            f"manage.py benchmark_run reread {run.uid}."
        )
    changed = 0
    for stage in (Stage.EXTRACT, Stage.JUDGE, Stage.LABEL):
        ids = list(held.filter(stage=stage).values_list("pk", flat=True))
        for at in range(0, len(ids), 200):
            changed += _read_batch(run, ids[at : at + 200])
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        note_later(run, READ_AGAIN, now, changed=changed)
        run.save(update_fields=["spec"])
        audit.record(by=by, project=run.project, action="run.read_again", target=run.uid, changed=changed)
    return changed


@transaction.atomic
def _read_batch(run: Run, ids: list[int]) -> int:
    places = list(
        RunItem.objects.filter(pk__in=ids).select_related(
            "story", "call", "item", "entrant__run__dataset", "entrant__run__judge"
        )
    )
    extractions = extractions_of([one for one in places if one.stage == Stage.JUDGE])
    rows, items = [], []
    for place in places:
        held = readings_of(place, place.call.answer, extractions.get((place.entrant_id, place.story_id), ""))
        why = _why(place.call, held)
        new = (held.official, held.repaired, held.score, None if why else held.repaired_score, why)
        if new != (place.official, place.repaired, place.score, place.repaired_score, place.unusable):
            rows.append((place.call_id, *new, place.pk))
            if place.item and place.item.state in (ItemState.DONE, ItemState.UNUSABLE):
                items.append((ItemState.UNUSABLE if why else ItemState.DONE, why, place.item.pk))
    update_rows(RunItem, _READ, rows)
    update_rows(Item, ["state", "problem"], items)
    if rows:
        forget_report(run)
    return len(rows)


def register_purpose() -> None:
    register(PURPOSE, _Evaluating())
