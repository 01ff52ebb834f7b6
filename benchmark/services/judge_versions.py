"""The version of a run's judge as an instrument: one identity, for its self-test and for the rankings of what it
judged."""

from __future__ import annotations

from benchmark.models import Run
from benchmark.services.asking import reads_prompts, settings_of
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from core.digests import json_digest
from core.plain import Json, plain

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
