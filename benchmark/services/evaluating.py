"""The purpose of a run's calls: asks for each place, keeps both readings of the answer, and has extractions judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import User
from annotation.services import audit
from benchmark.models import JUDGED_AT, Form, Run, RunItem, Stage
from benchmark.services.asking import follow_up_of, request_for
from benchmark.services.items import LOST
from benchmark.services.plans import RunRefused
from benchmark.services.reports import REPORTS, forget_report
from benchmark.services.runs import PURPOSE, READ_AGAIN, add_work, note_later
from benchmark.suites.omnitom.item_readings import (
    ItemReadings,
    read_follow_up,
    read_stage1,
    read_stage1_rows,
    read_stage2,
)
from benchmark.suites.omnitom.records import record_of
from benchmark.suites.omnitom.repaired import NOT_WHOLE, REFUSED, TRUNCATED
from benchmark.suites.omnitom.results import NO_GOLD
from core.bulk import insert_rows, update_rows
from workers.models import Call, Item, ItemState, Job
from workers.providers.contract import Request
from workers.providers.stops import NO_WORD
from workers.services.purposes import Purpose, Received, register
from workers.services.settling import tell_outcome_anew

_READ = ["call", "official", "repaired", "score", "repaired_score", "unusable", "unjudged"]


class _Evaluating(Purpose):
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        places = _places(items)
        texts = answers_of(list(places.values()))
        asked: dict[int, Request | str] = {}
        for item in items:
            place = places.get(item.pk)
            asked[item.pk] = _question(place, texts[place.pk]) if place else "The run or its story is gone."
        return asked

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        places = _places([item for item, _ in answered])
        texts = answers_of(list(places.values()))
        received: dict[int, Received] = {}
        rows, extracted, followed = [], [], []
        for item, call in answered:
            place = places.get(item.pk)
            if place is None:
                received[item.pk] = Received(ItemState.FAILED, "The run or its story is gone.")
                continue
            held = readings_of(place, call.answer, texts[place.pk])
            why = _why(call, held)
            rows.append((call.pk, *_read(held, why), place.pk))
            received[item.pk] = Received(_state(why), why)
            if place.stage == Stage.EXTRACT and Stage.JUDGE in place.entrant.run.stages:
                extracted.append(place)
            if place.stage == Stage.FOLLOW_UP:
                followed.append(place)
        update_rows(RunItem, _READ, rows)
        _have_judged(extracted)
        _fill_judgements(followed)
        return received

    def failed_before(self, job: Job) -> int:
        """Extractions that were lost in the run that they were taken over from."""
        return RunItem.objects.filter(LOST, entrant__run__job=job).count()

    def finished(self, job: Job) -> None:
        REPORTS.ring(job.pk)


def _places(items: Sequence[Item]) -> dict[int, RunItem]:
    """By item id; the key of an item is its place."""
    wanted = {int(item.key): item.pk for item in items}
    held = RunItem.objects.filter(pk__in=wanted).select_related("story", "entrant__run__dataset", "entrant__run__judge")
    return {wanted[place.pk]: place for place in held}


Texts = Mapping[str, str]
"""The raw answers to a story at the stages of extraction, judging and follow-up, as far as there are any."""


def answers_of(places: Sequence[RunItem]) -> dict[int, Texts]:
    """By place what the same model's other answers to its story are, for places of the judge: all of them of now, or all of one frozen report."""
    judged = [one for one in places if one.stage in JUDGED_AT]
    among = judged[0].among() if judged else RunItem.objects.none()
    held = among.filter(
        entrant__in={one.entrant_id for one in judged},
        story__in={one.story_id for one in judged},
        stage__in=[Stage.EXTRACT, *JUDGED_AT],
        call__isnull=False,
    )
    found: dict[tuple[int, int], dict[str, str]] = {}
    for entrant, story, stage, text in held.values_list("entrant_id", "story_id", "stage", "call__answer"):
        found.setdefault((entrant, story), {})[stage] = text
    return {one.pk: found.get((one.entrant_id, one.story_id), {}) for one in places}


def _question(place: RunItem, texts: Texts) -> Request | str:
    """The request for a place, or why there is none."""
    if place.stage in JUDGED_AT and Stage.EXTRACT not in texts:
        return "There is no extraction to be judged."
    if place.stage != Stage.FOLLOW_UP:
        return request_for(place, texts.get(Stage.EXTRACT, ""))
    if Stage.JUDGE not in texts:
        return "There is no judgement to follow up."
    return follow_up_of(place, texts[Stage.EXTRACT], texts[Stage.JUDGE]) or "Every row has a judgement."


def readings_of(place: RunItem, answer: str, texts: Texts) -> ItemReadings:
    """Both readings of one answer. `texts` are the story's other ones, which a judgement and its follow-up are read with."""
    record = record_of(place.story.record)
    structured = place.entrant.run.form == Form.STRUCTURED
    extraction = texts.get(Stage.EXTRACT, "")
    if place.stage == Stage.JUDGE:
        return read_stage1(record, extraction, answer, texts.get(Stage.FOLLOW_UP, ""), structured=structured)
    if place.stage == Stage.FOLLOW_UP:
        return read_follow_up(record, extraction, texts.get(Stage.JUDGE, ""), answer, structured=structured)
    if place.stage == Stage.LABEL:
        return read_stage2(record, answer, structured=structured)
    return read_stage1_rows(answer, structured=structured)


def _why(call: Call, held: ItemReadings) -> str:
    """Why an answer is unusable. A table without rows is none only where the model meant to end there."""
    if call.state == "unusable" and call.problem not in NO_WORD:  # an empty answer is whole, and asked about once more
        return NOT_WHOLE
    ended = {"refused": REFUSED, "truncated": TRUNCATED}.get(call.state, "")
    if not held.unusable:
        return ended if _is_empty(held.repaired) else ""
    return (ended or held.unusable)[:120]


def _state(why: str) -> ItemState:
    """A story without gold has no figures, whatever was answered: that is nothing that the answer lacks."""
    return ItemState.UNUSABLE if why and why != NO_GOLD else ItemState.DONE


def _read(held: ItemReadings, why: str) -> tuple:
    """The values of `_READ` without the call."""
    return held.official, held.repaired, held.score, None if why else held.repaired_score, why, held.unjudged


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


def _fill_judgements(followed: Sequence[RunItem]) -> None:
    """Reads the judgements of these follow-ups anew, now that the answers to both are there."""
    if not followed:
        return
    wanted = {(one.entrant_id, one.story_id) for one in followed}
    held = _readable(
        RunItem.objects.filter(entrant__in={one[0] for one in wanted}, stage=Stage.JUDGE, call__isnull=False)
    )
    held = held.filter(story__in={one[1] for one in wanted})
    _put_down([one for one in held if (one.entrant_id, one.story_id) in wanted])


def _readable(places: QuerySet[RunItem]) -> QuerySet[RunItem]:
    return places.select_related("story", "call", "item", "entrant__run__dataset", "entrant__run__judge")


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
    for stage in Stage:
        ids = list(held.filter(stage=stage).values_list("pk", flat=True))
        for at in range(0, len(ids), 200):
            changed += _read_batch(run, ids[at : at + 200])
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        tell_outcome_anew(run.job_id)
        note_later(run, READ_AGAIN, now, changed=changed)
        run.save(update_fields=["spec"])
        audit.record(by=by, project=run.project, action="run.read_again", target=run.uid, changed=changed)
    return changed


@transaction.atomic
def _read_batch(run: Run, ids: list[int]) -> int:
    changed = _put_down(list(_readable(RunItem.objects.filter(pk__in=ids))))
    if changed:
        forget_report(run)
    return changed


def _put_down(places: Sequence[RunItem]) -> int:
    """Keeps what the present parsers read off these answers, in the caller's transaction. Returns how many readings changed."""
    texts = answers_of(places)
    rows, items = [], []
    for place in places:
        held = readings_of(place, place.call.answer, texts[place.pk])
        why = _why(place.call, held)
        new = _read(held, why)
        if new != tuple(getattr(place, name) for name in _READ[1:]):
            rows.append((place.call_id, *new, place.pk))
            if place.item and place.item.state in (ItemState.DONE, ItemState.UNUSABLE):
                items.append((_state(why), why, place.item.pk))
    update_rows(RunItem, _READ, rows)
    update_rows(Item, ["state", "problem"], items)
    return len(rows)


def register_purpose() -> None:
    register(PURPOSE, _Evaluating())
