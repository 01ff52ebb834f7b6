"""The self-test of judges: which test the judge of a run has, and starting it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.domain.provenance import Provenance
from benchmark.models import JudgeTest, JudgeTestItem, Run
from benchmark.services.judge_test_calls import Calls, calls_of, test_of
from benchmark.services.judge_versions import judged_at, version_of
from benchmark.services.plans import Plan, RunRefused, prompt_hashes
from benchmark.services.provenance import spec_of
from benchmark.suites.registry import suite_named
from core.bulk import insert_rows, update_rows
from core.messages import Sentence, gettext_noop
from core.plain import Json, plain
from workers.models import Item, ItemState, JobState
from workers.services.holding import holds_back
from workers.services.jobs import JobRefused, resume_with, retry_failed, start_job

HANDLER = gettext_noop("judge-test")
SELF_TEST = "self-test"
"""The name of the self-test in estimates and items, where a step stands else."""


def current_test(run: Run) -> JudgeTest | None:
    """The test of the run's judge, unless it was cancelled before its end."""
    test = (
        JudgeTest.objects.filter(project=run.project, suite=run.suite, version=version_of(run))
        .select_related("job")
        .first()
    )
    return None if test is None or test.job.state == JobState.CANCELLED else test


def is_wanted(plan: Plan, draft: Run) -> bool:
    """Return whether launching the plan has its judge tested; `draft` is the run that it would make. Raises
    BadPromptSet."""
    step = plan.definition.judging
    if (
        not plan.self_test
        or test_of(plan.suite) is None
        or step is None
        or step.key not in plan.steps
        or plan.judge is None
    ):
        return False
    draft.spec = Provenance(judge=spec_of(plan.judge), prompts=prompt_hashes(plan)).as_json()
    return current_test(draft) is None


@transaction.atomic
def start_test(*, by: User | None, run: Run, now: datetime) -> JudgeTest:
    """Have the judge of a run tested as it was when the run was launched; a test that stopped on its way goes on.
    Raises RunRefused."""
    if why := why_untestable(run):
        raise RunRefused(why, "judge")
    if test := ensure_test(by=by, run=run, now=now):
        return test
    test = current_test(run)
    try:
        if test is not None and _go_on(test, run.job.budget, now):
            return test
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    raise RunRefused("{judge} has its self-test already.", "judge", judge=run.judge.name)


def way_on(test: JudgeTest) -> str:
    """Return the label of the button that lets a stopped test go on; empty where there is nothing to do."""
    if test.job.state == JobState.PAUSED or (test.job.state == JobState.RUNNING and holds_back(test.job)):
        return "Resume"
    failed = test.job.state == JobState.FINISHED and Item.objects.filter(job=test.job, state=ItemState.FAILED).exists()
    return gettext_noop("Ask what failed again") if failed else ""


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
    """Say in a sentence why the run's judge cannot be tested; empty where it can."""
    if not judged_at(run):
        return gettext_noop("The run has no judge.")
    if test_of(run.suite) is None:
        return Sentence("The judge of {suite} has no self-test.", suite=suite_named(run.suite).title)
    if run.provenance.judge != spec_of(run.judge):
        return Sentence(
            "{judge} is no longer what judged this run: a test would say nothing of these rows.", judge=run.judge.name
        )
    return "" if calls_of(run) else gettext_noop("The gold has nothing to make pairs of.")


def ensure_test(*, by: User | None, run: Run, now: datetime) -> JudgeTest | None:
    """The test that was started, in the caller's transaction; None where there is one already, or the gold has nothing
    to make pairs of.

    Raises RunRefused.
    """
    Project.objects.select_for_update().get(pk=run.project_id)  # two launches at once would both start one
    calls = calls_of(run)
    if current_test(run) is not None or not calls:
        return None
    version = version_of(run)
    JudgeTest.objects.filter(
        project=run.project, suite=run.suite, version=version
    ).delete()  # cancelled; the ledger keeps its answers
    return _started(by, run, version, calls, now)


def _started(by: User | None, run: Run, version: str, calls: Calls, now: datetime) -> JudgeTest:
    items = [(run.judge, SELF_TEST, str(story.pk)) for story, _ in calls]
    try:
        job = start_job(
            by=by.username if by else "", handler=HANDLER, title=f"Self-test of the judge {run.judge.name}"[:200],
            items=items, now=now,
            params={"project": run.project.slug}, budget=run.job.budget, batch=run.job.batch,
        )  # fmt: skip
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    test = JudgeTest.objects.create(
        project=run.project, dataset=run.dataset, suite=run.suite, judge=run.judge, version=version,
        answer_format=run.answer_format, prompt_set=run.prompt_set, params=_kept(run), job=job, created_by=by,
    )  # fmt: skip
    rows = [(test.pk, story.pk, plain(pairs)) for story, pairs in calls]
    insert_rows(JudgeTestItem, ("test", "sample", "pairs"), rows)
    item_ids = {int(key): pk for key, pk in Item.objects.filter(job=job).values_list("key", "pk")}
    asked = JudgeTestItem.objects.filter(test=test).values_list("sample_id", "pk")
    update_rows(JudgeTestItem, ["item"], [(item_ids[story], pk) for story, pk in asked])
    audit.record(
        by=by, project=run.project, action="judge.tested", target=test.uid, judge=run.judge.name, calls=len(calls)
    )
    return test


def _kept(run: Run) -> Json:
    """Return the run's parameters that the test is asked by."""
    test = test_of(run.suite)
    names = test.settings if test else ()
    kept = run.parameters.as_json()
    return {name: kept[name] for name in names if name in kept} | {"level": run.level}
