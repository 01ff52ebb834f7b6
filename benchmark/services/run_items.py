"""Items of runs: entered for models and samples, with their work, or taken over from a run that is judged again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import CharField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast

from benchmark.models import DatasetSample, Entrant, Run, RunItem
from benchmark.services.asking import passes_of
from benchmark.services.plans import Plan, own_steps
from benchmark.services.provenance import spec_of
from benchmark.services.reports import WITHOUT_CALL
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from core.bulk import insert_rows
from core.messages import Sentence, word
from core.plain import plain
from workers.models import Endpoint, Item
from workers.services.jobs import add_items


def needed_by_judge(suite: Suite) -> tuple[str, ...]:
    """Return the steps whose answers the judge of a suite reads; none without a judge."""
    return suite.judging.needs if suite.judging else ()


def judged_samples(suite: Suite) -> Q:
    """Return which items are about samples that the judge of a suite is asked about."""
    categories = suite.judging.categories if suite.judging else ()
    return Q(sample__category__in=categories) if categories else Q()


def can_be_judged(run: Run) -> bool:
    """Return whether a run has, or takes from another run, what a judge reads."""
    needed = set(needed_by_judge(suite_named(run.suite)))
    return run.source_id is not None or (bool(needed) and needed <= set(run.steps))


def judged_answers(suite: Suite) -> tuple[str, str]:
    """Return what the answers that the judge of a suite reads are called, one and many."""
    needed = needed_by_judge(suite)
    return suite.step(needed[-1]).answers if needed else ("answer", "answers")


def nothing_to_judge(suite: Suite) -> str:
    """Say that the earlier run has no answer that a judge could read."""
    return Sentence(
        "The earlier run has no {suite} of these models and {noun} yet.",
        suite=judged_answers(suite)[0],
        noun=word(suite.noun[1]),
    )


def ended_answers(source: Run, model: Endpoint) -> QuerySet[RunItem]:
    """Return a model's ended items at the steps that a judge reads: with an answer, or lost for good."""
    suite = suite_named(source.suite)
    items = RunItem.objects.filter(entrant__run=source, entrant__endpoint=model, step__in=needed_by_judge(suite))
    items = items.filter(judged_samples(suite))
    return items.filter(Q(call__isnull=False) | Q(item__state__in=WITHOUT_CALL) | Q(item=None) & ~Q(unreadable=""))


def answers_by(source: Run, model: Endpoint) -> QuerySet[RunItem]:
    """Return the ended answers that can be judged."""
    return ended_answers(source, model).filter(call__isnull=False)


def enter(run: Run, plan: Plan, endpoints: Iterable[Endpoint], stories: Sequence[DatasetSample], now: datetime) -> None:
    """Enter models, with their questions about these samples."""
    for entrant in enter_models(run, endpoints):
        add_run_items(run, entrant, own_steps(plan, entrant.endpoint), stories, now)


def enter_models(run: Run, endpoints: Iterable[Endpoint]) -> list[Entrant]:
    """Enter models, still without questions."""
    return [
        Entrant.objects.create(
            run=run, endpoint=endpoint, position=position, name=endpoint.name, spec=plain(spec_of(endpoint))
        )
        for position, endpoint in enumerate(endpoints, run.entrants.count())
    ]


def add_run_items(
    run: Run, entrant: Entrant, steps: Sequence[str], stories: Sequence[DatasetSample], now: datetime
) -> None:
    """Add the items of an entrant and their work. Judging waits for its answers, or takes the source's."""
    before = RunItem.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    columns = ("entrant", "sample", "step", "unreadable", "repetition")
    for step in steps:
        if not suite_named(run.suite).needed(step, steps):
            turns = range(run.parameters.repetitions)
            rows = [(entrant.pk, story.pk, step, "", turn) for turn in turns for story in stories]
            insert_rows(RunItem, columns, rows)
    judging = suite_named(run.suite).judging
    if judging and judging.key in run.steps and run.source:
        # the source's answers that the judge reads come along, and an item to judge where all of them are there; an
        # answer that was lost is lost here too, and its item says why
        ended = ended_answers(run.source, entrant.endpoint).values_list(
            "step", "sample_id", "repetition", "call_id", "repaired", "unreadable", "item__state"
        )
        answers = {
            (step, sample, turn): (call, repaired, unreadable if call else unreadable or WITHOUT_CALL[state])
            for step, sample, turn, call, repaired, unreadable, state in ended
        }
        places = {story.pk: at for at, story in enumerate(stories)}
        keys = sorted((key for key in answers if key[1] in places), key=lambda key: (key[2], places[key[1]], key[0]))
        fields = ("entrant", "step", "sample", "repetition", "call", "repaired", "unreadable")
        insert_rows(RunItem, fields, [(entrant.pk, *key, *answers[key]) for key in keys])
        answered = Counter((sample, turn) for step, sample, turn in keys if answers[step, sample, turn][0])
        complete = [cell for cell, count in answered.items() if count == len(judging.needs)]
        rows = [
            (entrant.pk, sample, step, "", turn) for step in (judging.key, *passes_of(run)) for sample, turn in complete
        ]
        insert_rows(RunItem, columns, rows)
    added = RunItem.objects.filter(entrant=entrant, pk__gt=before, item=None, call=None, unreadable="")
    add_work(run=run, run_items=added, now=now)


def add_work(*, run: Run, run_items: QuerySet[RunItem], now: datetime) -> None:
    """Queue work for run items of a run that have none, in the caller's transaction."""
    judged = {step.key for step in suite_named(run.suite).steps if step.judged}
    rows = list(run_items.order_by("id").values_list("pk", "step", "entrant__endpoint"))
    if not rows:
        return
    endpoints = Endpoint.objects.in_bulk({endpoint for *_, endpoint in rows})
    judge: Any = run.judge
    items = [(judge if step in judged else endpoints[endpoint], step, str(pk)) for pk, step, endpoint in rows]
    add_items(job=run.job, items=items, now=now)
    for step, endpoint in {(step, None if step in judged else endpoint) for _, step, endpoint in rows}:
        waiting = run_items.filter(step=step)
        waiting = waiting if endpoint is None else waiting.filter(entrant__endpoint=endpoint)
        # work has the id of its run item as key: linked in one statement, as there are thousands
        work = Item.objects.filter(job=run.job, endpoint=endpoint or run.judge_id, step=step)
        of_run_item = work.filter(key=Cast(OuterRef("pk"), CharField())).values("pk")
        waiting.order_by().update(item=Subquery(of_run_item))
