"""Answers of an earlier run that a judge reads anew."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from benchmark.models import Run, RunItem
from benchmark.services.results import WITHOUT_CALL
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from core.messages import Sentence, word
from workers.models import Endpoint


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
    """Return a model's ended items of a run at the steps that a judge reads, about samples that it is asked about: with
    an answer, or lost for good."""
    suite = suite_named(source.suite)
    items = RunItem.objects.filter(entrant__run=source, entrant__endpoint=model, step__in=needed_by_judge(suite))
    items = items.filter(judged_samples(suite))
    return items.filter(Q(call__isnull=False) | Q(item__state__in=WITHOUT_CALL) | Q(item=None) & ~Q(unreadable=""))


def answers_by(source: Run, model: Endpoint) -> QuerySet[RunItem]:
    """Return the ended answers that can be judged."""
    return ended_answers(source, model).filter(call__isnull=False)
