"""The version of a run's judge as an instrument: one identity, for its self-test and for the rankings of what it
judged."""

from django.db.models import QuerySet

from benchmark.models import Run, RunItem
from benchmark.services.asking import reads_prompts, settings_of
from benchmark.services.run_items import judged_samples
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from core.digests import json_digest
from core.plain import Json, plain
from workers.models.call import COMPLETED

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
