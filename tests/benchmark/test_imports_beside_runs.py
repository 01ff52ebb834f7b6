"""Answers made elsewhere next to runs of the site: no page or command opens with them where the site has runs of its
own, and a ranking is chosen by its answers."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.across import rankings_across
from benchmark.services.archiving import delete_run
from benchmark.services.leaderboard_scope import (
    answer_format_to_show,
    finished_runs,
    leaderboard_of,
    leaderboard_scopes,
    suite_to_show,
    version_to_show,
)
from benchmark.services.reports import reports_of
from benchmark.services.selections import selections_of
from tests.benchmark.settled import make_endpoint, written
from tests.benchmark.tiny_copies import RIGHT, cast_with_sums, imported

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
OURS = {"three", "seven"}


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def command(cast):
    def call(name: str, *arguments: object) -> dict:
        out = io.StringIO()
        project = ["--project", cast.project.slug]
        call_command(name, *map(str, arguments), *project, "--json", stdout=out, stderr=io.StringIO())
        return json.loads(out.getvalue())

    return call


@pytest.fixture
def bring(command, tmp_path):
    """`bring(model, answers, *flags)`: an import of these answers."""

    def make(model: str, answers: dict, *flags: str) -> Run:
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps(answers))
        return Run.objects.get(uid=command("import_answers", path, "--model", model, *flags)["run"])

    return make


@pytest.fixture
def ours(command, cast) -> Run:
    """A run of two models about the first six of twelve sums."""
    for name, said in (("three", "3"), ("seven", "7")):
        make_endpoint(name, options={"default": said})
    told = command(
        *("run_benchmark", "--suite", "tiny", "--step", "all", "--endpoint", "three", "--endpoint", "seven"),
        *("--limit", 6, "--wait"),
    )  # fmt: skip
    return Run.objects.select_related("dataset").get(uid=told["run"])


def some(count: int) -> dict[str, str]:
    return {f"sum-{at}": RIGHT[f"sum-{at}"] for at in range(count)}


def test_no_page_opens_with_answers_made_elsewhere(ours, bring, command, client, cast):
    client.force_login(cast.alice)
    for number, imports in enumerate(
        (
            [("elsewhere", 3, ["--whole"])],
            [("elsewhere", 12, [])],
            [("elsewhere", 12, []), ("further", 12, []), ("third", 12, ["--whole"])],
            [("elsewhere", 6, []), ("further", 6, []), ("third", 6, [])],
            [("elsewhere", 2, [])],
        )
    ):
        runs = [bring(f"{model} {number}", some(count), *flags) for model, count, flags in imports]
        board = leaderboard_of(ours.dataset, "text", None, suite="tiny")
        assert {row.name for row in board.entrants["tiny"]} == OURS and board.chosen and len(board.chosen.stories) == 6
        (ranking,) = rankings_across(cast.project)
        assert {model.name for model in ranking.places.values()} == OURS
        assert {row["model"] for row in command("leaderboard")["groups"]["tiny"]} == OURS
        for page in ("leaderboard", "differences", "across"):
            shown = written(client.get(reverse(f"benchmark:{page}", args=[cast.project.slug])))
            assert "three" in shown and "seven" in shown and "nothing to compare" not in shown.lower(), page
        named = {absence.model for absence in board.absent}
        assert named >= {f"{model} {number}" for model, _, _ in imports}, "they are named beside the ranking"
        for run in runs:
            delete_run(by=cast.alice, run=run, now=timezone.now())


def test_a_ranking_is_of_the_runs_with_most_answers(bring, command, cast):
    partial, full = bring("partial", some(2), "--whole"), bring("full", some(7))
    dataset = full.dataset

    def chosen_of() -> list[int]:
        runs = finished_runs(dataset, "text", "tiny")
        return [len(selection.stories) for selection in selections_of(dataset, reports_of(runs), runs)]

    assert chosen_of() == [7, 12]
    board = leaderboard_of(dataset, "text", None, suite="tiny")
    assert {row.name for row in board.entrants["tiny"]} == {"partial", "full"}
    assert {run.pk for run in board.runs} == {partial.pk, full.pk}
    # of runs of ours, too, a larger one with few answers gives way to a fuller one
    for run in (partial, full):
        spec = {name: value for name, value in run.spec.items() if name != "imported"}
        Run.objects.filter(pk=run.pk).update(spec=spec)
    assert not any(run.imported for run in finished_runs(dataset, "text", "tiny")) and chosen_of() == [7, 12]


def test_a_newer_version_with_an_import_alone_is_not_shown(ours, bring, cast, client):
    client.force_login(cast.alice)
    assert imported(client, cast, set_most="8").status_code == 302
    run = bring("elsewhere", some(3), "--dataset", "2")
    assert run.dataset.version == 2 and version_to_show(cast.project) == ours.dataset
    assert [scope["dataset"].version for scope in leaderboard_scopes(cast.project)] == [1, 2]
    assert suite_to_show(ours.dataset) == "tiny" and answer_format_to_show(ours.dataset, "tiny") == "text"
    Run.objects.filter(pk=ours.pk).update(answer_format="structured")
    bring("further", some(3), "--dataset", "1")
    assert answer_format_to_show(ours.dataset, "tiny") == "structured"
