"""Outcome of the self-test of a run's judge, as tables, pages and files state it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import prefetch_related_objects

from benchmark.models import JudgeTest, Run
from benchmark.services.judge_test_calls import pairs_of
from benchmark.services.judge_versions import judge_name, judged_at, version_failure, version_of
from benchmark.suites.judges import JudgeTestSummary
from benchmark.suites.showing.judges import NOT_TESTED
from core.messages import Sentence, gettext_noop, labelled
from core.reads import Read
from judge.domain.self_test import rates, summary_line


def summaries_of(runs: Sequence[Run]) -> dict[int, JudgeTestSummary]:
    """Return the outcome by id of each run that has a judge of which its suite can say what it is. Two queries."""
    tested = [run for run in runs if judged_at(run) and not version_failure(run)]
    judged = {run.pk: (run.project_id, run.suite, version_of(run)) for run in tested}
    projects = sorted({project for project, *_ in judged.values()})
    stored = _STORED(projects=projects, versions=sorted({version for *_, version in judged.values()})) if judged else []
    prefetch_related_objects(stored, "items")
    tests = {(test.project_id, test.suite, test.version): test for test in stored}
    return {run.pk: _summary(run, tests.get(judged[run.pk])) for run in runs if run.pk in judged}


_STORED = Read[JudgeTest](
    lambda given: JudgeTest.objects.filter(project__in=given.projects, version__in=given.versions).select_related(
        "job", "dataset"
    )
)


def _summary(run: Run, test: JudgeTest | None) -> JudgeTestSummary:
    judge = judge_name(run)
    if test is None:
        return JudgeTestSummary(state=NOT_TESTED, judge=judge, told=NOT_TESTED)
    items = list(test.items.all())
    judged = [
        (pair.kind, count)
        for item in items
        for pair, count in zip(pairs_of(item), item.counts or [None] * len(item.pairs), strict=True)
    ]
    kinds, answered = rates(judged), sum(item.counts is not None for item in items)
    state = "tested" if answered == len(items) else "incomplete"
    state = gettext_noop("in progress") if not test.job.has_ended else state
    if not any(kind.n for kind in kinds):
        state = state if state == "in progress" else NOT_TESTED
    summary = summary_line(kinds) if answered else Sentence("no answer to {items} calls", items=len(items))
    return JudgeTestSummary(
        state=state,
        judge=judge,
        told=summary if state == "tested" else labelled(state, summary),
        kinds=kinds,
        dataset=test.dataset.version,
        calls=len(items),
        answered=answered,
    )
