"""Two suites on one project: none sees the other's runs, versions or answer formats."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.items import parts_of
from benchmark.services.leaderboard_scope import answer_format_to_show, leaderboard_of, version_to_show
from benchmark.services.selections import selection_named
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.settled import written

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture
def world(tmp_path, tiny) -> ResultsWorld:
    """Beside OmniToM's run a later one of the tiny suite on the same version, structured and not finished."""
    held = results_world(tmp_path)
    held.other = beside(held.run, held.dataset)
    return held


def beside(run: Run, dataset: Dataset) -> Run:
    """A copy of the run's row as a run of the tiny suite on this version; its items are not copied."""
    job = type(run.job).objects.get(pk=run.job_id)
    job.pk, job.uid, job.state, job.outcome = None, "job000000000", "running", ""
    job.save()
    copy = Run.objects.get(pk=run.pk)
    copy.pk, copy.uid, copy.title, copy.suite = None, "tiny00000000", "Sums", "tiny"
    copy.answer_format, copy.job, copy.dataset = AnswerFormat.STRUCTURED, job, dataset
    copy.save()
    return copy


def test_an_address_of_one_suite_is_not_answered_by_the_others_runs(world, client):
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/", {"suite": "omnitom"}))
    assert f"/runs/{world.run.uid}/" in page and f"/runs/{world.other.uid}/" not in page
    assert "not finished" not in page
    leaderboard = leaderboard_of(world.dataset, AnswerFormat.TEXT, f"run:{world.other.uid}", suite="omnitom")
    assert leaderboard.chosen.key == "" and leaderboard.runs == [world.run]


def test_the_answer_format_is_chosen_by_the_suites_own_runs(world):
    Run.objects.filter(pk=world.run.pk).update(answer_format=AnswerFormat.TEXT)
    assert answer_format_to_show(world.dataset, "omnitom") == AnswerFormat.TEXT
    assert answer_format_to_show(world.dataset, "tiny") == AnswerFormat.STRUCTURED


def test_a_selection_is_of_a_run_of_the_suite(world):
    key = f"run:{world.run.uid}"
    assert selection_named(world.dataset, key, "omnitom").stories == frozenset(range(1, 10))
    assert selection_named(world.dataset, key, "tiny") is None
    assert selection_named(world.dataset, f"run:{world.other.uid}", "omnitom") is None
    assert (parts_of(world.run, key)[0][0], parts_of(world.other, key)) == (key, [])


def test_the_version_to_show_goes_by_the_suites_own_runs(world, client):
    """A newer version has a run of another suite alone: whoever asks for OmniToM sees the version before."""
    newer = Dataset.objects.create(
        project=world.dataset.project, version=world.dataset.version + 1, digest="1" * 64, schema_version="1",
        rule_version="1", stories_count=1, propositions_count=0,
    )  # fmt: skip
    Run.objects.filter(pk=world.other.pk).update(dataset=newer)
    project = world.dataset.project
    assert version_to_show(project) == newer and version_to_show(project, "omnitom") == world.dataset
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/", {"suite": "omnitom"}))
    assert f"/runs/{world.run.uid}/" in page
    opened = written(client.get(f"{world.base}/results/"))
    assert "No finished run on this version" in opened
    assert (
        f'href="?version={world.dataset.version}&amp;suite=omnitom&amp;answer_format={world.run.answer_format}"'
        in opened
    )
    assert "have figures:" not in page, "where there are figures nobody is sent elsewhere"
    told = io.StringIO()
    call_command("leaderboard", project=project.slug, suite="omnitom", json=True, stdout=told)
    assert f'"dataset": {world.dataset.version}' in told.getvalue()
    Run.objects.filter(pk=world.other.pk).update(suite="gone")  # its folder was taken out
    assert version_to_show(project) == world.dataset
