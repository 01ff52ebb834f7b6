"""Judges of runs: their version as an instrument, which is one identity for self-tests and for rankings of what they
judged, and their self-tests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Project, User
from annotation.services import audit
from benchmark.domain.provenance import Provenance
from benchmark.models import DatasetSample, JudgeTest, JudgeTestItem, Run, RunItem
from benchmark.services.asking import question_of, reads_prompts, sample_of, settings_of
from benchmark.services.plans import Plan, RunRefused, prompt_hashes
from benchmark.services.provenance import spec_of
from benchmark.services.run_items import judged_samples
from benchmark.suites import judges
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.judges import AskedPair, JudgeTestSummary, Pairs
from benchmark.suites.questions import BadQuestion, Question
from benchmark.suites.reasons import UNREADABLE
from benchmark.suites.registry import suite_named
from benchmark.suites.showing.judges import NOT_TESTED
from core.bulk import insert_rows, update_rows
from core.digests import json_digest
from core.messages import Sentence, gettext_noop, labelled
from core.plain import Json, plain, read_as
from judge.domain.contrast import contrast_calls, rates, summary_line
from workers.models import Call, Item, ItemState, JobState
from workers.models.call import COMPLETED
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register
from workers.services.holding import holds_back
from workers.services.jobs import JobRefused, resume_with, retry_failed, start_job

NO_PART_OF_IT = ("name", "family")
"""Fields of an endpoint's spec that can be renamed without another answer."""


def judged_at(run: Run) -> str:
    """Return the step at which the run's judge is asked, empty for a run without a judge."""
    step = suite_named(run.suite).judging
    return step.key if step is not None and step.key in run.steps and run.judge_id else ""


def judge_name(run: Run) -> str:
    """Return what the judge of a run was called when it was launched."""
    judge = run.provenance.judge
    return str((judge and judge.name) or run.judge)


def version_of(run: Run) -> str:
    """Return the digest of what makes the run's judge what it is; runs of a suite with the same one are judged by one
    instrument.

    What counts of the run's settings its suite says (`suites.judged.Judge.instrument`).
    """
    suite = suite_named(run.suite)
    spec = {name: value for name, value in plain(run.provenance.judge or {}).items() if name not in NO_PART_OF_IT}
    identity: Json = {"judge": spec, "form": run.answer_format}  # another key would be another version
    if suite.judge is not None:
        identity |= suite.judge.instrument(settings_of(run))
    if reads_prompts(run.judge):
        identity["prompt"] = run.provenance.prompts.get(suite.judging.key) if suite.judging else None
    return json_digest(identity, sort_keys=True)


def version_failure(run: Run) -> str:
    """Return the sentence of a suite that cannot say what the run's judge is, empty where it can and without a
    judge."""
    try:
        if run.judge_id:
            version_of(run)
    except SuiteFailed as error:
        return str(error)
    return ""


def judged_beside(run: Run) -> list[Run]:
    """Return the listed runs that judge the same answers as a run, the one that made them first, then the oldest; of
    those by one version of a judge the newest, as it says the same."""
    original = run.source or run
    anew = Run.objects.listed().filter(source=original, control=run.control).order_by("id")
    runs = [original, *anew.select_related("judge", "dataset", "project", "job")]
    newest = {
        version_of(judged_run): judged_run
        for judged_run in runs
        if judged_at(judged_run) and not version_failure(judged_run)
    }
    return [*newest.values()]


def can_be_aligned(run: Run) -> bool:
    """Return whether people can align tables of this run: it asks for tables of its own, and one has an answer."""
    return run.source_id is None and tables_step(run) in run.steps and alignable_items(run).exists()


def tables_step(run: Run) -> str:
    """Return the step whose answers the run's judge is given as tables, empty where its suite has none."""
    suite = suite_named(run.suite)
    if suite.judge is None or suite.judge.tables is None or suite.judging is None:
        return ""
    return suite.judging.needs[0]


def alignable_items(run: Run) -> QuerySet[RunItem]:
    items = RunItem.objects.filter(entrant__run=run, step=tables_step(run), repetition=0)
    return items.filter(judged_samples(suite_named(run.suite)), call__state__in=COMPLETED)


# --- self-tests
SEED = 1
Calls = list[tuple[DatasetSample, list[AskedPair]]]
"""(sample, its pairs) of each call."""


def test_of(suite: str) -> judges.JudgeTest | None:
    """Return how the judge of a suite is tested, None where there is no judge or no test."""
    judge = suite_named(suite).judge
    return judge.test if judge else None


def calls_of(run: Run) -> Calls:
    """Return the calls by which the run's judge is tested: about samples of the whole version, without those that serve
    prompts as examples. Empty without a test."""
    test = test_of(run.suite)
    return _calls(run.suite, run.dataset.pk, run.dataset.digest, test.examples(settings_of(run))) if test else []


@lru_cache(8)
def _calls(suite: str, dataset: int, digest: str, examples: tuple[int, ...]) -> Calls:
    """Return the calls of a dataset's test, kept by its digest too, as another database's dataset may have the same
    id."""
    test = test_of(suite)
    assert test, "its judge has a test"
    candidates = DatasetSample.objects.filter(dataset=dataset).exclude(number__in=examples)
    candidates = candidates.exclude(split=test.spared) if test.spared else candidates
    samples = {sample.number: sample for sample in candidates.defer("votes", "methods", "adjudications")}
    rows = {number: list(test.rows(sample_of(sample))) for number, sample in samples.items()}
    unlike = {number: list(test.unlike(sample_of(sample))) for number, sample in samples.items()} if test.unlike else {}
    calls = contrast_calls(rows, most=test.most_calls, least=test.least_pairs, seed=SEED, unlike=unlike)
    return [
        (
            samples[number],
            [AskedPair(pair.kind.value, *pair.prediction, rows[number].index(pair.gold)) for pair in pairs],
        )
        for number, pairs in calls.items()
    ]


def pairs_of(item: JudgeTestItem) -> list[AskedPair]:
    """Return the pairs that a call is about."""
    return [read_as(AskedPair, pair) for pair in item.pairs]


def request_of(sample: DatasetSample, pairs: Pairs, run: Run) -> Request:
    """Return the call about the pairs of a sample, of a run whose suite tests its judge."""
    test = test_of(run.suite)
    assert test, "its judge has a test"
    return test.request(_question(sample, run), pairs)


def draft_run(test: JudgeTest) -> Run:
    """The run that asks as the test's judge is asked; it is not saved."""
    return Run(
        project=test.project, dataset=test.dataset, answer_format=test.answer_format, level=test.params["level"],
        prompt_set=test.prompt_set, judge=test.judge, params=test.params, suite=test.suite,
    )  # fmt: skip


def _question(sample: DatasetSample, run: Run) -> Question:
    step = suite_named(run.suite).judging
    return question_of(run, sample, step.key if step else "")


HANDLER = gettext_noop("judge-test")
SELF_TEST = "self-test"
"""The name of the self-test in estimates and items, where a step stands else."""


def current_test(run: Run) -> JudgeTest | None:
    """The test of the run's judge, unless it was cancelled before its end."""
    tests = JudgeTest.objects.filter(project=run.project, suite=run.suite, version=version_of(run))
    test = tests.select_related("job").first()
    return None if test is None or test.job.state == JobState.CANCELLED else test


def is_wanted(plan: Plan, draft: Run) -> bool:
    """Return whether launching the plan has its judge tested; `draft` is the run that it would make. Raises
    BadPromptSet."""
    step = plan.definition.judging
    judged = step is not None and step.key in plan.steps
    if not (plan.judge and plan.self_test and judged and test_of(plan.suite)):
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
    way = way_on(test) if test else ""
    if test is None or not way:
        raise RunRefused("{judge} has its self-test already.", "judge", judge=str(run.judge))
    try:
        if way == "Resume":  # with the budget that its run has by now
            resume_with(test.job, run.job.budget)
        else:
            retry_failed(job=test.job, now=now)
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    return test


def way_on(test: JudgeTest) -> str:
    """Return the label of the button that lets a stopped test go on; empty where there is nothing to do."""
    if test.job.state == JobState.PAUSED or (test.job.state == JobState.RUNNING and holds_back(test.job)):
        return "Resume"
    failed = test.job.state == JobState.FINISHED and Item.objects.filter(job=test.job, state=ItemState.FAILED).exists()
    return gettext_noop("Ask what failed again") if failed else ""


def why_untestable(run: Run) -> str:
    """Say in a sentence why the run's judge cannot be tested; empty where it can."""
    if run.judge is None or not judged_at(run):
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
    assert run.judge, "it has a test of its judge"
    version = version_of(run)
    cancelled = JudgeTest.objects.filter(project=run.project, suite=run.suite, version=version)
    cancelled.delete()  # the ledger keeps its answers
    title = f"Self-test of the judge {run.judge.name}"[:200]
    items = [(run.judge, SELF_TEST, str(story.pk)) for story, _ in calls]
    try:
        job = start_job(
            by=by.username if by else "", handler=HANDLER, title=title, items=items, now=now,
            params={"project": run.project.slug}, budget=run.job.budget, batch=run.job.batch,
        )  # fmt: skip
    except JobRefused as error:
        raise RunRefused(str(error), "judge") from error
    asked_by, kept = test_of(run.suite), run.parameters.as_json()
    params = {name: kept[name] for name in (asked_by.settings if asked_by else ()) if name in kept}
    test = JudgeTest.objects.create(
        project=run.project, dataset=run.dataset, suite=run.suite, judge=run.judge, version=version,
        answer_format=run.answer_format, prompt_set=run.prompt_set, params=params | {"level": run.level}, job=job,
        created_by=by,
    )  # fmt: skip
    rows = [(test.pk, story.pk, plain(pairs)) for story, pairs in calls]
    insert_rows(JudgeTestItem, ("test", "sample", "pairs"), rows)
    item_ids = {int(key): pk for key, pk in Item.objects.filter(job=job).values_list("key", "pk")}
    asked = JudgeTestItem.objects.filter(test=test).values_list("sample_id", "pk")
    update_rows(JudgeTestItem, ["item"], [(item_ids[story], pk) for story, pk in asked])
    details = {"judge": run.judge.name, "calls": len(calls)}
    audit.record(by=by, project=run.project, action="judge.tested", target=test.uid, **details)
    return test


GONE = gettext_noop("The self-test or its story is gone.")


class JudgeTestHandler(JobHandler):
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        test_items = _test_items(items)
        requests: dict[int, Request | str] = {}
        for item in items:
            test_item = test_items.get(item.pk)
            if test_item is None:
                requests[item.pk] = GONE
                continue
            try:
                run = draft_run(test_item.test)
                requests[item.pk] = request_of(test_item.sample, pairs_of(test_item), run)
            except (SuiteFailed, BadQuestion) as error:  # an item whose suite raises fails alone
                requests[item.pk] = str(error)
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        test_items = _test_items([item for item, _ in answered])
        received: dict[int, Received] = {}
        rows = []
        for item, call in answered:
            test_item = test_items.get(item.pk)
            if test_item is None:
                received[item.pk] = Received(ItemState.FAILED, GONE)
                continue
            try:
                run, test = draft_run(test_item.test), test_of(test_item.test.suite)
                assert test, "its judge has a test"
                counts = test.counts(_question(test_item.sample, run), pairs_of(test_item), call.answer)
            except SuiteFailed as error:
                received[item.pk] = Received(ItemState.FAILED, Sentence("{error} The answer is kept.", error=error))
                continue
            rows.append((call.pk, counts, test_item.pk))
            read = any(count is not None for count in counts)
            received[item.pk] = Received() if read else Received(ItemState.UNREADABLE, UNREADABLE)
        update_rows(JudgeTestItem, ["call", "counts"], rows)
        return received


def _test_items(items: Sequence[Item]) -> dict[int | None, JudgeTestItem]:
    rows = JudgeTestItem.objects.filter(item__in=items)
    rows = rows.select_related("sample", "test__project", "test__dataset", "test__judge")
    return {test_item.item_id: test_item for test_item in rows}


def register_handler() -> None:
    register(HANDLER, JudgeTestHandler())


def summaries_of(runs: Sequence[Run]) -> dict[int, JudgeTestSummary]:
    """Return the outcome by id of each run that has a judge of which its suite can say what it is. Two queries."""
    tested = [run for run in runs if judged_at(run) and not version_failure(run)]
    judged = {run.pk: (run.project_id, run.suite, version_of(run)) for run in tested}
    keys = judged.values()
    stored = JudgeTest.objects.filter(project__in={key[0] for key in keys}, version__in={key[2] for key in keys})
    stored = stored.select_related("job", "dataset").prefetch_related("items")
    tests = {(test.project_id, test.suite, test.version): test for test in stored}
    summaries = {}
    for run in tested:
        judge, test = judge_name(run), tests.get(judged[run.pk])
        if test is None:
            summaries[run.pk] = JudgeTestSummary(state=NOT_TESTED, judge=judge, told=NOT_TESTED)
            continue
        items = list(test.items.all())
        counts = [
            (pair.kind, count)
            for item in items
            for pair, count in zip(pairs_of(item), item.counts or [None] * len(item.pairs), strict=True)
        ]
        kinds, answered = rates(counts), sum(item.counts is not None for item in items)
        state = "tested" if answered == len(items) else "incomplete"
        state = gettext_noop("in progress") if not test.job.has_ended else state
        if state != "in progress" and not any(kind.n for kind in kinds):
            state = NOT_TESTED
        summary = summary_line(kinds) if answered else Sentence("no answer to {items} calls", items=len(items))
        told = summary if state == "tested" else labelled(state, summary)
        summaries[run.pk] = JudgeTestSummary(
            state=state, judge=judge, told=told, kinds=kinds, dataset=test.dataset.version, calls=len(items),
            answered=answered,
        )  # fmt: skip
    return summaries
