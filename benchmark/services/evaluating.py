"""The handler of a run's jobs: asks for each place, keeps both readings of the answer, and opens the steps that needed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import User
from annotation.services import audit
from benchmark.models import Run, RunItem
from benchmark.services.asking import question_of, request_for
from benchmark.services.items import LOST
from benchmark.services.plans import RunRefused
from benchmark.services.reports import REPORTS, forget_report
from benchmark.services.runs import PURPOSE, READ_AGAIN, add_work, note_later
from benchmark.suites.contract import BadQuestion, Parsed
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.reasons import NO_GOLD, NOT_WHOLE, REFUSED, TRUNCATED
from benchmark.suites.registry import suite_named, suites
from core.bulk import insert_rows, update_rows
from workers.models import Call, Item, ItemState, Job
from workers.providers.contract import Request
from workers.providers.stops import NO_WORD
from workers.services.delivery import refresh_outcome
from workers.services.handlers import JobHandler, Received, register

GONE = "The run or its story is gone."
_READ = ["call", "official", "repaired", "score", "repaired_score", "unusable", "unjudged"]


class EvaluationHandler(JobHandler):
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        places = _places(items)
        texts = answers_of(list(places.values()))
        asked: dict[int, Request | str] = {}
        for item in items:
            place = places.get(item.pk)
            asked[item.pk] = _asked(place, texts[place.pk]) if place else GONE
        return asked

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        places = _places([item for item, _ in answered])
        texts = answers_of(list(places.values()))
        received: dict[int, Received] = {}
        rows, parsed = [], []
        for item, call in answered:
            place = places.get(item.pk)
            if place is None:
                received[item.pk] = Received(ItemState.FAILED, GONE)
                continue
            try:
                held = readings_of(place, call.answer, texts[place.pk])
            except SuiteFailed as error:
                received[item.pk] = Received(ItemState.FAILED, f"{error} The answer is kept.")
                continue
            why = _why(call, held)
            rows.append((call.pk, *_read(held, why), place.pk))
            received[item.pk] = Received(_state(why), why)
            parsed.append(place)
        update_rows(RunItem, _READ, rows)
        _open_following(parsed)
        _complete(parsed)
        return received

    def failed_before(self, job: Job) -> int:
        """Extractions that were lost in the run that they were taken over from."""
        return RunItem.objects.filter(LOST, entrant__run__job=job).count()

    def finished(self, job: Job) -> None:
        REPORTS.notify(job.pk)


def _asked(place: RunItem, texts: Texts) -> Request | str:
    """What an item asks, or why it asks nothing: one that its suite cannot ask fails alone."""
    try:
        return request_for(place, texts)
    except (SuiteFailed, BadQuestion) as error:
        return str(error)


def _places(items: Sequence[Item]) -> dict[int, RunItem]:
    """By item id; the key of an item is its place."""
    wanted = {int(item.key): item.pk for item in items}
    held = RunItem.objects.filter(pk__in=wanted).select_related(
        "sample", "entrant__run__dataset", "entrant__run__judge"
    )
    return {wanted[place.pk]: place for place in held}


Texts = Mapping[str, str]
"""The raw answers to a sample by step, as far as there are any."""


def answers_of(places: Sequence[RunItem]) -> dict[int, Texts]:
    """By place the same model's answers to its story that its own is asked and read with: all of them of now, or all of one frozen report."""
    related = {one.pk: suite_named(one.entrant.run.suite).related(one.stage) for one in places}
    reading = [one for one in places if related[one.pk]]
    among = reading[0].among() if reading else RunItem.objects.none()
    held = among.filter(
        entrant__in={one.entrant_id for one in reading},
        sample__in={one.sample_id for one in reading},
        stage__in={step for steps in related.values() for step in steps},
        call__isnull=False,
    )
    found: dict[tuple[int, int, int], dict[str, str]] = {}
    for *place, stage, text in held.values_list("entrant_id", "sample_id", "repetition", "stage", "call__answer"):
        found.setdefault(tuple(place), {})[stage] = text
    return {one.pk: found.get(_turn(one), {}) if related[one.pk] else {} for one in places}


def _turn(place: RunItem) -> tuple[int, int, int]:
    """What the items of one model about one sample share that belong to the same repetition."""
    return place.entrant_id, place.sample_id, place.repetition


def readings_of(place: RunItem, answer: str, texts: Texts) -> Parsed:
    """Both readings of one answer. `texts` are the answers to the same story at other steps."""
    run = place.entrant.run
    question = question_of(run, place.sample, place.stage, texts, repetition=place.repetition)
    return suite_named(run.suite).parse(question, answer)


def _why(call: Call, held: Parsed) -> str:
    """Why an answer is unusable. A table without rows is none only where the model meant to end there."""
    if call.state == "unusable" and call.problem not in NO_WORD:  # an empty answer is whole, and asked about once more
        return NOT_WHOLE
    ended = {"refused": REFUSED, "truncated": TRUNCATED}.get(call.state, "")
    if not held.unusable:
        return ended if held.empty else ""
    return (ended or held.unusable)[:120]


def _state(why: str) -> ItemState:
    """A sample without gold has no figures, whatever was answered: that is nothing that the answer lacks."""
    return ItemState.UNUSABLE if why and why != NO_GOLD else ItemState.DONE


def _read(held: Parsed, why: str) -> tuple:
    """The values of `_READ` without the call."""
    return held.official, held.repaired, held.score, None if why else held.repaired_score, why, held.unjudged


def _open_following(parsed: Sequence[RunItem]) -> None:
    """An item for each question that needed these answers, in the caller's transaction. The judge is asked about empty tables too, as in
    the published protocol."""
    asked: dict[str, list[RunItem]] = {}
    for one in parsed:
        run = one.entrant.run
        for step in suite_named(run.suite).following(one.stage):
            if step.key in run.stages:
                asked.setdefault(step.key, []).append(one)
    for step_key, places in asked.items():
        _open(step_key, places)


def _open(step: str, before: Sequence[RunItem]) -> None:
    wanted = {_turn(one) for one in before}
    places = RunItem.objects.filter(
        entrant__in={entrant for entrant, *_ in wanted}, sample__in={sample for _, sample, _ in wanted}, stage=step
    )
    taken = set(places.values_list("entrant_id", "sample_id", "repetition"))
    fresh = [one for one in before if _turn(one) not in taken]
    fields = ("entrant", "sample", "repetition", "stage", "unusable")
    insert_rows(RunItem, fields, [(*_turn(one), step, "") for one in fresh])
    runs = {one.entrant.run_id: one.entrant.run for one in fresh}
    waiting = list(places.filter(item=None, call=None).select_related("entrant__endpoint"))
    for run in runs.values():
        add_work(run=run, places=[one for one in waiting if one.entrant.run_id == run.pk], now=timezone.now())


def _complete(parsed: Sequence[RunItem]) -> None:
    """Reads the answers anew that these complete, now that both are there."""
    completing = {step.key: step.completes for suite in suites().values() for step in suite.steps if step.completes}
    wanted = {(*_turn(one), completing[one.stage]) for one in parsed if one.stage in completing}
    if not wanted:
        return
    held = _readable(RunItem.objects.filter(entrant__in={one[0] for one in wanted}, call__isnull=False))
    held = held.filter(sample__in={one[1] for one in wanted}, stage__in={one[3] for one in wanted})
    _put_down([one for one in held if (*_turn(one), one.stage) in wanted])


def _readable(places: QuerySet[RunItem]) -> QuerySet[RunItem]:
    return places.select_related("sample", "call", "item", "entrant__run__dataset", "entrant__run__judge")


def read_again(*, by: User | None, run: Run, now: datetime, most: int | None = None) -> int:
    """Applies the present parsers to every answer of a run: no call is made. Returns how many readings changed.

    Raises RunRefused for more than `most` answers, and where the suite could not read some: these stay as they were, the others are read.
    """
    held = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    if most is not None and held.count() > most:
        raise RunRefused(
            f"The run has more than {most:,} answers, which takes too long for a page; the command does it: "
            f"manage.py benchmark_run reread {run.uid}."
        )
    changed, failed = 0, []
    for stage in [one.key for one in suite_named(run.suite).steps]:
        ids = list(held.filter(stage=stage).values_list("pk", flat=True))
        for at in range(0, len(ids), 200):
            changed += _read_batch(run, ids[at : at + 200], failed)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        refresh_outcome(run.job_id)
        note_later(run, READ_AGAIN, now, changed=changed)
        run.save(update_fields=["spec"])
        audit.record(by=by, project=run.project, action="run.read_again", target=run.uid, changed=changed)
    if failed:
        stay = "1 answer stays" if len(failed) == 1 else f"{len(failed):,} answers stay"
        raise RunRefused(f"{changed:,} readings changed, and {stay} as before: {failed[0]}")
    return changed


@transaction.atomic
def _read_batch(run: Run, ids: list[int], failed: list[str]) -> int:
    """Returns how many readings changed; adds to `failed` why the suite could not read one."""
    changed = _put_down(list(_readable(RunItem.objects.filter(pk__in=ids))), failed)
    if changed:
        forget_report(run)
    return changed


def _put_down(places: Sequence[RunItem], failed: list[str] | None = None) -> int:
    """Keeps what the present parsers read off these answers, in the caller's transaction. Returns how many readings changed. What the suite cannot
    read stays as it was, and `failed` gets its sentence."""
    texts = answers_of(places)
    rows, items = [], []
    for place in places:
        try:
            held = readings_of(place, place.call.answer, texts[place.pk])
        except SuiteFailed as error:
            if failed is not None:
                failed.append(str(error))
            continue
        why = _why(place.call, held)
        new = _read(held, why)
        if new != tuple(getattr(place, name) for name in _READ[1:]):
            rows.append((place.call_id, *new, place.pk))
            if place.item and place.item.state in (ItemState.DONE, ItemState.UNUSABLE):
                items.append((_state(why), why, place.item.pk))
    update_rows(RunItem, _READ, rows)
    Item.objects.reparse(items)
    return len(rows)


def register_handler() -> None:
    register(PURPOSE, EvaluationHandler())
