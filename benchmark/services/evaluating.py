"""The handler of a run's jobs: makes the request of each item, keeps both parses of the answer, and opens the steps
that needed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import LaterChange
from benchmark.models import Entrant, Run, RunItem, SnapshotItem
from benchmark.services.archiving import locked_run
from benchmark.services.asking import passes_of, question_of, step_request
from benchmark.services.items import LOST
from benchmark.services.judges import judged_at
from benchmark.services.launches import READ_AGAIN
from benchmark.services.made_elsewhere.importing import take_back_answers
from benchmark.services.plans import HANDLER, RunRefused, steps_of
from benchmark.services.preparing import prepare_run
from benchmark.services.provenance import record_settings, versions
from benchmark.services.reports import REPORTS, forget_report
from benchmark.services.run_items import add_work
from benchmark.services.runs import refused_action
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import BadQuestion, Parsed
from benchmark.suites.reasons import NO_GOLD, NOT_WHOLE, REFUSED, TRUNCATED, sentence_of
from benchmark.suites.registry import SuiteUnknown, suite_named, suites
from core.bulk import insert_rows, update_rows
from core.messages import Sentence, gettext_noop
from workers.models import PARSED, Call, Item, ItemState, Job
from workers.providers.contract import NO_WORD, Request
from workers.services.delivery import refresh_outcome
from workers.services.handlers import JobHandler, Received, register

GONE = gettext_noop("The run or its story is gone.")
_PARSED_FIELDS = ["call", "official", "repaired", "score", "repaired_score", "unreadable", "unjudged"]


class EvaluationHandler(JobHandler):
    def prepare(self, job: Job, stopped: Callable[[], bool]) -> None:
        prepare_run(job, stopped)

    def closed(self, job: Job, action: str = "") -> str:
        run = Run.with_deleted.select_related("original", "job").filter(job=job).first()
        return refused_action(run, action) if run else ""

    def cancelled(self, job: Job) -> None:
        run = Run.objects.filter(job=job).first()
        if run and run.imported:
            take_back_answers(run)

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        run_items = _run_items(items)
        record_settings({run_item.entrant_id: run_item.entrant for run_item in run_items.values()}.values())
        texts = answers_of(list(run_items.values()))
        requests: dict[int, Request | str] = {}
        for item in items:
            run_item = run_items.get(item.pk)
            if run_item is None:
                requests[item.pk] = GONE
                continue
            run, answers, turn = run_item.entrant.run, texts[run_item.pk], run_item.repetition
            try:
                requests[item.pk] = step_request(run_item.sample, run_item.step, run, None, answers, turn)
            except (SuiteFailed, BadQuestion) as error:  # only this item fails
                requests[item.pk] = str(error)
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        run_items = _run_items([item for item, _ in answered])
        texts = answers_of(list(run_items.values()))
        received: dict[int, Received] = {}
        rows, parsed = [], []
        for item, call in answered:
            run_item = run_items.get(item.pk)
            if run_item is None:
                received[item.pk] = Received(ItemState.FAILED, GONE)
                continue
            try:
                outcome = parse_answer(run_item, call, texts[run_item.pk])
            except SuiteFailed as error:
                received[item.pk] = Received(ItemState.FAILED, Sentence("{error} The answer is kept.", error=error))
                continue
            why = _unreadable_reason(call, outcome)
            rows.append((call.pk, *_parsed_values(outcome, why), run_item.pk))
            received[item.pk] = Received(_state(why), sentence_of(why))
            parsed.append(run_item)
        update_rows(RunItem, _PARSED_FIELDS, rows)
        _open_following(parsed)
        _complete(parsed)
        return received

    def failed_before(self, job: Job) -> int:
        """Return how many judged answers were lost in the source run that they are taken from."""
        return RunItem.objects.filter(LOST, entrant__run__job=job).count()

    def finished(self, job: Job) -> None:
        REPORTS.notify(job.pk)


def _run_items(items: Sequence[Item]) -> dict[int, RunItem]:
    """Return run items by the id of their work item, whose key is the id of the run item."""
    item_ids = {int(item.key): item.pk for item in items}
    rows = RunItem.objects.filter(pk__in=item_ids).select_related("sample")
    run_items = list(rows.defer("sample__votes", "sample__methods", "sample__adjudications"))
    entrants = Entrant.objects.select_related("endpoint", "run__dataset", "run__judge", "run__project")
    shared = entrants.in_bulk({run_item.entrant_id for run_item in run_items})
    for run_item in run_items:  # a run is read once, not with each of its questions
        run_item.entrant = shared[run_item.entrant_id]
    return {item_ids[run_item.pk]: run_item for run_item in run_items}


Texts = Mapping[str, str]
"""Raw answers to a sample by step, as far as there are any."""


def answers_of(run_items: Sequence[RunItem | SnapshotItem]) -> dict[int, Texts]:
    """Return, by run item id, the model's answers to the same story that its question or answer is read with."""
    related: dict[int, Collection[str]] = {}
    for run_item in run_items:
        try:
            related[run_item.pk] = suite_named(run_item.entrant.run.suite).related(run_item.step)
        except SuiteUnknown:  # a suite that is not installed fails the item
            related[run_item.pk] = ()
    related_items = [run_item for run_item in run_items if related[run_item.pk]]
    if not related_items:
        return {run_item.pk: {} for run_item in run_items}
    answered = (
        related_items[0]
        .among()
        .filter(
            entrant__in={run_item.entrant_id for run_item in related_items},
            sample__in={run_item.sample_id for run_item in related_items},
            step__in={step for steps in related.values() for step in steps},
            call__isnull=False,
        )
    )
    texts_by_turn: dict[tuple[int, int, int], dict[str, str]] = {}
    for *turn, step, text in answered.values_list("entrant_id", "sample_id", "repetition", "step", "call__answer"):
        texts_by_turn.setdefault(tuple(turn), {})[step] = text
    return {
        run_item.pk: texts_by_turn.get(_turn(run_item), {}) if related[run_item.pk] else {} for run_item in run_items
    }


def _turn(run_item: RunItem | SnapshotItem) -> tuple[int, int, int]:
    """Return what the items of one model, one sample and one repetition share."""
    return run_item.entrant_id, run_item.sample_id, run_item.repetition


def parse_answer(run_item: RunItem, call: Call, texts: Texts) -> Parsed:
    """Parse the answer of a call, officially and repaired. `texts` are the answers to the same story at other steps."""
    run = run_item.entrant.run
    question = question_of(run, run_item.sample, run_item.step, texts, repetition=run_item.repetition, call=call)
    return suite_named(run.suite).parse(question, call.answer)


def _unreadable_reason(call: Call, parsed: Parsed) -> str:
    """Return the reason why an answer is unreadable, or "". An empty table counts if the model meant to end there."""
    # an empty answer is whole, and asked about once more
    if call.state == "unreadable" and call.problem not in NO_WORD:
        return NOT_WHOLE
    ended = {"refused": REFUSED, "truncated": TRUNCATED}.get(call.state, "")
    if not parsed.unreadable:
        return ended if parsed.empty or parsed.stray else ""
    return ended or parsed.unreadable


def _state(why: str) -> ItemState:
    """Return the state of the item. A sample without gold has no figures, which is not the fault of the answer."""
    return ItemState.UNREADABLE if why and why != NO_GOLD else ItemState.DONE


def _parsed_values(parsed: Parsed, why: str) -> tuple[Any, ...]:
    """Return the values of `_PARSED_FIELDS` without the call."""
    return parsed.official, parsed.repaired, parsed.score, None if why else parsed.repaired_score, why, parsed.unjudged


def _open_following(parsed: Sequence[RunItem]) -> None:
    """Open an item for each question that needed these answers, if all of these are there, and with a judging one its
    other passes. The judge is asked about empty tables, as published."""
    items_by_step: dict[tuple[str, tuple[str, ...]], list[RunItem]] = {}
    for run_item in parsed:
        run = run_item.entrant.run
        suite = suite_named(run.suite)
        steps = {*run.steps} & {*steps_of(run_item.entrant.endpoint, run.suite)}
        for step in suite.following(run_item.step):
            if step.key in run.steps and step.asks_about(run_item.sample.category):
                items_by_step.setdefault((step.key, suite.needed(step.key, steps)), []).append(run_item)
    for (step_key, needed), before in items_by_step.items():
        turns = {_turn(run_item): run_item for run_item in before}
        entrants, samples = ({turn[at] for turn in turns} for at in (0, 1))
        if needed[1:]:
            # of two workers that take in the last two answers, the second has to see what the first one kept
            list(Entrant.objects.select_for_update().filter(pk__in=entrants).order_by("pk"))
        there = RunItem.objects.filter(entrant__in=entrants, sample__in=samples)
        turns_there = there.values_list("entrant_id", "sample_id", "repetition")
        taken = set(turns_there.filter(step=step_key))
        counts = Counter(turns_there.filter(step__in=needed, call__isnull=False))
        opening = [run_item for turn, run_item in turns.items() if turn not in taken and counts[turn] == len(needed)]
        runs = {run_item.entrant.run_id: run_item.entrant.run for run_item in opening}
        keys = {pk: (step_key, *(passes_of(run) if step_key == judged_at(run) else ())) for pk, run in runs.items()}
        rows = [(*_turn(run_item), key, "") for run_item in opening for key in keys[run_item.entrant.run_id]]
        insert_rows(RunItem, ("entrant", "sample", "repetition", "step", "unreadable"), rows)
        opened = {step_key, *(key for own in keys.values() for key in own)}
        waiting = there.filter(step__in=opened, item=None, call=None)
        for run in runs.values():
            add_work(run=run, run_items=waiting.filter(entrant__run=run), now=timezone.now())


def _complete(parsed: Sequence[RunItem]) -> None:
    """Parse again the answers that these complete, now that both are there."""
    completing = {step.key: step.completes for suite in suites().values() for step in suite.steps if step.completes}
    turns = {(*_turn(run_item), completing[run_item.step]) for run_item in parsed if run_item.step in completing}
    in_passes = {run_item.entrant_id: run_item.entrant.run for run_item in parsed}
    in_passes = {pk: run for pk, run in in_passes.items() if passes_of(run)}
    turns |= {
        (*_turn(run_item), run_item.step)
        for run_item in parsed
        if (run := in_passes.get(run_item.entrant_id)) and run_item.step == judged_at(run)
    }
    if not turns:
        return
    if in_passes:  # of two workers that take in two passes, the second has to see what the first one kept
        list(Entrant.objects.select_for_update().filter(pk__in=in_passes).order_by("pk"))
    completed = _readable(RunItem.objects.filter(entrant__in={turn[0] for turn in turns}, call__isnull=False))
    completed = completed.filter(sample__in={turn[1] for turn in turns}, step__in={turn[3] for turn in turns})
    _store_parsed([run_item for run_item in completed if (*_turn(run_item), run_item.step) in turns])


def _readable(run_items: QuerySet[RunItem]) -> QuerySet[RunItem]:
    return run_items.select_related("sample", "call", "item", "entrant__run__dataset", "entrant__run__judge")


def read_again(*, by: User | None, run: Run, now: datetime, most: int | None = None) -> int:
    """Apply the present parsers to every answer of a run; no call is made. Returns how many parses changed.

    Raises RunRefused for more than `most` answers, and where the suite could not read some: these stay as they were,
    the others are parsed.
    """
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    if most is not None and answered.count() > most:
        raise RunRefused(
            "The run has more than {most} answers, which takes too long for a page; the command does it: "
            "manage.py runs reread {run}.",
            most=f"{most:,}",
            run=run.uid,
        )
    changed, failed = 0, list[str]()
    for step in [step.key for step in suite_named(run.suite).steps]:
        ids = list(answered.filter(step=step).values_list("pk", flat=True))
        for at in range(0, len(ids), 200):
            changed += _read_batch(run, ids[at : at + 200], failed)
    with transaction.atomic():
        run = Run.objects.get(pk=locked_run(run).pk)
        refresh_outcome(run.job_id)
        change = LaterChange(did=READ_AGAIN, at=now.isoformat(), parses=changed, by=versions())
        run.spec = run.provenance.with_later(change).as_json()
        run.save(update_fields=["spec"])
        audit.record(by=by, project=run.project, action="run.read_again", target=run.uid, changed=changed)
    if failed:
        stay = (
            gettext_noop("1 answer stays")
            if len(failed) == 1
            else Sentence("{failed} answers stay", failed=f"{len(failed):,}")
        )
        raise RunRefused(
            "{changed} parses changed, and {stay} as before: {failed}",
            changed=f"{changed:,}",
            stay=stay,
            failed=failed[0],
        )
    return changed


@transaction.atomic
def _read_batch(run: Run, ids: list[int], failed: list[str]) -> int:
    """Parse a batch of answers again; returns how many parses changed. `failed` gets a sentence per failure."""
    changed = _store_parsed(list(_readable(RunItem.objects.filter(pk__in=ids))), failed)
    if changed:
        forget_report(run)
    return changed


def _store_parsed(run_items: Sequence[RunItem], failed: list[str] | None = None) -> int:
    """Parse these answers again and store what changed; returns how many. `failed` gets a sentence per failure."""
    texts = answers_of(run_items)
    rows, items = [], []
    for run_item in run_items:
        assert run_item.call, "only answers are read"
        try:
            parsed = parse_answer(run_item, run_item.call, texts[run_item.pk])
        except SuiteFailed as error:
            if failed is not None:
                failed.append(str(error))
            continue
        why = _unreadable_reason(run_item.call, parsed)
        new = _parsed_values(parsed, why)
        if new != tuple(getattr(run_item, name) for name in _PARSED_FIELDS[1:]):
            rows.append((run_item.call_id, *new, run_item.pk))
            if run_item.item and run_item.item.state in PARSED:
                items.append((_state(why), why, run_item.item.pk))
    update_rows(RunItem, _PARSED_FIELDS, rows)
    Item.objects.reparse(items)
    return len(rows)


def register_handler() -> None:
    register(HANDLER, EvaluationHandler())
