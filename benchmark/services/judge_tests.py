"""The self-test of judges: which test the judge of a run has, what it is tested with, and what its rows are told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Dataset, DatasetSample, JudgeTest, JudgeTestItem, Run, Stage
from benchmark.services.asking import question_of
from benchmark.services.judge_versions import version_of
from benchmark.services.plans import Plan, RunRefused, prompt_hashes
from benchmark.services.provenance import spec_of
from benchmark.suites.omnitom.prompting.choosing import CALIBRATION_SPLIT
from benchmark.suites.omnitom.records import record_of
from benchmark.suites.omnitom.steps import JUDGE, judge_request
from benchmark.suites.omnitom.suite import SUITE
from benchmark.suites.showing.judges import NOT_TESTED, Summary
from core.bulk import insert_rows, update_rows
from judge.domain.contrast import Pair, Row, contrast_calls
from judge.domain.self_test import rates, told
from workers.models import Item, ItemState, JobState
from workers.providers.contract import Request
from workers.services.holding import holds_back
from workers.services.jobs import JobRefused, retry_failed, start_job
from workers.services.steering import resume_with

PURPOSE = "judge-test"
SELF_TEST = "self-test"
"""What estimates and items call it, where a stage stands else."""
MOST_CALLS, SEED = 12, 1


def standing_test(run: Run) -> JudgeTest | None:
    """The test of the run's judge, unless it was cancelled before its end."""
    held = JudgeTest.objects.filter(project=run.project, version=version_of(run)).select_related("job").first()
    return None if held is None or held.job.state == JobState.CANCELLED else held


def is_wanted(plan: Plan, draft: Run) -> bool:
    """Whether launching the plan has its judge tested; `draft` is the run that it would make. Raises BadPromptSet."""
    if not plan.self_test or Stage.JUDGE not in plan.stages or plan.judge is None:
        return False
    draft.spec = {"judge": spec_of(plan.judge), "prompts": prompt_hashes(plan)}
    return standing_test(draft) is None


Calls = list[tuple[DatasetSample, list[dict[str, Any]]]]
"""(story, its pairs as `JudgeTestItem` has them) of each call."""


def calls_of(dataset: Dataset, params: Mapping[str, Any]) -> Calls:
    """What a judge is tested with: stories of the whole version, but for those that serve prompts as examples."""
    return _calls(dataset.pk, dataset.digest, tuple(params.get("example_stories", ())))


@lru_cache(8)
def _calls(dataset: int, digest: str, left_out: tuple[int, ...]) -> Calls:
    """By digest, as another database's dataset may have the same id."""
    held = DatasetSample.objects.filter(dataset=dataset).exclude(split=CALIBRATION_SPLIT).exclude(number__in=left_out)
    stories = {story.number: story for story in held.defer("votes", "methods", "adjudications")}
    rows = {number: [(one["actor"], one["belief"]) for one in story.beliefs] for number, story in stories.items()}
    found = contrast_calls(rows, most=MOST_CALLS, seed=SEED)
    return [(stories[number], [_plain(pair, rows[number]) for pair in pairs]) for number, pairs in found.items()]


def _plain(pair: Pair, rows: Sequence[Row]) -> dict[str, Any]:
    actor, belief = pair.prediction
    return {"kind": pair.kind.value, "actor": actor, "belief": belief, "gold": rows.index(pair.gold)}


def request_of(story: DatasetSample, pairs: Sequence[Mapping[str, Any]], run: Run) -> Request:
    """The call about the pairs: the made rows as predictions, the rows that they were made of, in the order of the story, as gold."""
    record = record_of(story.record)
    gold = [record.rows[at] for at in sorted(pair["gold"] for pair in pairs)]
    return judge_request(question_of(run, story, JUDGE), [(pair["actor"], pair["belief"]) for pair in pairs], gold)


def draft_run(test: JudgeTest) -> Run:
    """The run that asks as the test's judge is asked; it is not saved."""
    return Run(
        project=test.project, dataset=test.dataset, form=test.form, level=test.params["level"], prompt_set=test.prompt_set,
        judge=test.judge, params=test.params, suite=SUITE.name,
    )  # fmt: skip


@transaction.atomic
def start_test(*, by: User | None, run: Run, now: datetime) -> JudgeTest:
    """Has the judge of a run tested as it was when the run was launched; a test that stopped on its way goes on. Raises RunRefused."""
    if why := why_untestable(run):
        raise RunRefused(why, "judge")
    if test := ensure_test(by=by, run=run, now=now):
        return test
    test = standing_test(run)
    try:
        if test is not None and _go_on(test, run.job.budget, now):
            return test
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    raise RunRefused(f"{run.judge.name} has its self-test already.", "judge")


def way_on(test: JudgeTest) -> str:
    """What lets a test go on that stopped, as the button says it; empty where there is nothing to do."""
    if test.job.state == JobState.PAUSED or (test.job.state == JobState.RUNNING and holds_back(test.job)):
        return "Resume"
    failed = test.job.state == JobState.FINISHED and Item.objects.filter(job=test.job, state=ItemState.FAILED).exists()
    return "Ask what failed again" if failed else ""


def _go_on(test: JudgeTest, budget: Decimal | None, now: datetime) -> bool:
    """A paused test takes the budget that its run has by now. Raises JobRefused where that is too small."""
    match way_on(test):
        case "":
            return False
        case "Resume":
            resume_with(test.job, budget)
        case _:
            retry_failed(job=test.job, now=now)
    return True


def why_untestable(run: Run) -> str:
    """In a sentence; empty where the run's judge can be tested."""
    if Stage.JUDGE not in run.stages or run.judge is None:
        return "The run has no judge."
    if run.spec.get("judge") != spec_of(run.judge):
        return f"{run.judge.name} is no longer what judged this run: a test would say nothing of these rows."
    return "" if calls_of(run.dataset, run.params) else "The gold has nothing to make pairs of."


def ensure_test(*, by: User | None, run: Run, now: datetime) -> JudgeTest | None:
    """The test that was started, in the caller's transaction; None where there is one already, or the gold has nothing to make pairs of.

    Raises RunRefused.
    """
    Project.objects.select_for_update().get(pk=run.project_id)  # two launches at once would both start one
    calls = calls_of(run.dataset, run.params)
    if standing_test(run) is not None or not calls:
        return None
    version = version_of(run)
    JudgeTest.objects.filter(project=run.project, version=version).delete()  # cancelled; the ledger keeps its answers
    return _started(by, run, version, calls, now)


def _started(by: User | None, run: Run, version: str, calls: Calls, now: datetime) -> JudgeTest:
    items = [(run.judge, SELF_TEST, str(story.pk)) for story, _ in calls]
    try:
        job = start_job(
            by=by.username if by else "", purpose=PURPOSE, title=f"Self-test of the judge {run.judge.name}"[:200], items=items, now=now,
            params={"project": run.project.slug}, budget=run.job.budget, batch=run.job.batch,
        )  # fmt: skip
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    names = ("judge_level", "with_story", "max_tokens", "seed", "shots", "examples", "examples_from", "example_stories")
    test = JudgeTest.objects.create(
        project=run.project, dataset=run.dataset, judge=run.judge, version=version, form=run.form, prompt_set=run.prompt_set,
        params={name: run.params[name] for name in names if name in run.params} | {"level": run.level}, job=job, created_by=by,
    )  # fmt: skip
    insert_rows(JudgeTestItem, ("test", "sample", "pairs"), [(test.pk, story.pk, pairs) for story, pairs in calls])
    held = {int(key): pk for key, pk in Item.objects.filter(job=job).values_list("key", "pk")}
    rows = JudgeTestItem.objects.filter(test=test).values_list("sample_id", "pk")
    update_rows(JudgeTestItem, ["item"], [(held[story], pk) for story, pk in rows])
    audit.record(
        by=by, project=run.project, action="judge.tested", target=test.uid, judge=run.judge.name, calls=len(calls)
    )
    return test


def summaries_of(runs: Sequence[Run]) -> dict[int, Summary]:
    """By id of each run that has a judge. Two queries."""
    versions = {run.pk: version_of(run) for run in runs if Stage.JUDGE in run.stages and run.judge_id}
    held = JudgeTest.objects.filter(project__in={run.project_id for run in runs}, version__in=versions.values())
    tests = {
        (one.project_id, one.version): one for one in held.select_related("job", "dataset").prefetch_related("items")
    }
    return {run.pk: _summary(run, tests.get((run.project_id, versions[run.pk]))) for run in runs if run.pk in versions}


def _summary(run: Run, test: JudgeTest | None) -> Summary:
    judge = (run.spec.get("judge") or {}).get("name", run.judge.name)
    if test is None:
        return {"state": NOT_TESTED, "judge": judge, "told": NOT_TESTED, "kinds": []}
    items = list(test.items.all())
    judged = [
        (pair["kind"], count)
        for item in items
        for pair, count in zip(item.pairs, item.counts or [None] * len(item.pairs), strict=True)
    ]
    kinds, answered = rates(judged), sum(item.counts is not None for item in items)
    state = "tested" if answered == len(items) else "incomplete"
    state = "in progress" if test.job.state in (JobState.RUNNING, JobState.PAUSED) else state
    if not any(kind["n"] for kind in kinds):
        state = state if state == "in progress" else NOT_TESTED
    said = told(kinds) if answered else f"no answer to {len(items)} calls"
    return {
        "state": state, "judge": judge, "dataset": test.dataset.version, "calls": len(items), "answered": answered, "kinds": kinds,
        "told": said if state == "tested" else f"{state}: {said}",
    }  # fmt: skip
