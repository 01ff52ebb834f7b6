from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.test.utils import CaptureQueriesContext

from annotation.models import Proposition
from benchmark.models import AnswerFormat, Audience, Dataset, RunItem, StoryScores
from benchmark.services.datasets import publish_version
from benchmark.services.leaderboard_scope import finished_runs, leaderboard_of
from benchmark.services.reports import reports_of, scores_of
from benchmark.services.result_tables import group_table
from benchmark.services.selections import selections_of
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world, values
from tests.benchmark.settled import written

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def by_model(entries) -> dict:
    return {one.model: one for one in entries}


@pytest.mark.once
def test_the_figures_are_those_of_score_outputs(world):
    """To the last digit, in both parses, as `run_benchmark --wait` prints them."""
    expected = scores_of(world.run)
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants
    for group, names in (("stage1", {"omniscient", HOSTILE}), ("stage2", {"majority", "random", HOSTILE})):
        shown = by_model(found[group])
        assert set(shown) == names
        for name in names:
            for parse in ("official", "repaired"):
                theirs = expected[name][parse][group]
                ours = shown[name].parses.of(parse)
                beside = {"interval", "n", "unreadable", "bounds"}
                assert {key: value for key, value in ours.told()["overall"].items() if key not in beside} == {
                    key: value for key, value in theirs["overall"].items() if key not in beside
                }
            assert shown[name].parses.overall("repaired").told == expected[name]["repaired"][group]["overall"]


@pytest.mark.once
def test_an_unreadable_model_is_0_officially_and_missing_when_repaired(world):
    shown = by_model(leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"])[HOSTILE]
    row = values(group_table([shown], "stage2").rows[0])
    assert row["official_overall_accuracy"] == "0.000000"
    assert row["repaired_overall_accuracy"] is None
    assert (row["low"], row["high"], row["unreadable"], row["stories"]) == (0.0, 1.0, 1.0, STORIES)
    assert shown.group["repaired"] is None


def test_a_split_is_scored_as_if_it_alone_had_been_asked_for(world, tmp_path):
    """A run of the first five stories and a selection of these five out of a run of nine have the same figures."""
    small = world.another("majority", limit=5)
    expected = scores_of(small)
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, f"run:{small.uid}", all_runs=True)
    shown = [one for one in found.entrants["stage2"] if one.name == "majority"]
    assert found.chosen.stories == frozenset({1, 2, 3, 4, 5})
    assert {one.run for one in shown} == {world.run.uid, small.uid}
    for one in shown:
        assert one.parses.overall("repaired").told == expected["repaired"]["stage2"]["overall"]
        official = one.parses.overall("official").told
        assert official.pop("interval")["overall_accuracy"]
        counts = [official.pop(name) for name in ("n", "unreadable")]
        assert counts == [5, 0] and official.pop("bounds")
        assert official == expected["official"]["stage2"]["overall"]


def test_a_run_appears_only_where_it_covers_the_stories(world):
    small = world.another("random", limit=4)
    runs = finished_runs(world.dataset, AnswerFormat.TEXT)
    keys = [one.key for one in selections_of(world.dataset, reports_of(runs), runs)]
    assert keys == ["", f"run:{small.uid}"]
    assert {one.run for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]} == {
        world.run.uid
    }


def test_of_equal_settings_only_the_newest_is_shown(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", steps=("label",))
    again = world.another("m", "majority", steps=("label",))
    other = world.another("m", steps=("label",), max_tokens=50)
    found = {one.model: one for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]}
    shown = [one for one in found.values() if one.name == "m"]
    assert sorted((one.run, one.others) for one in shown) == sorted([(again.uid, 1), (other.uid, 0)])
    assert {one.model for one in shown} == {"m (longest answer 6,000 tokens)", "m (longest answer 50 tokens)"}
    assert (found["majority"].run, found["majority"].others) == (again.uid, 1)  # it reads no prompt
    every = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, all_runs=True).entrants["stage2"]
    assert len({one.model for one in every}) == len(every) == 7


@pytest.mark.once
def test_structured_and_free_text_are_never_in_one_table(world, client):
    structured = world.another("majority", "random", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    client.force_login(world.alice)
    for answer_format, uid, other in (
        (AnswerFormat.TEXT, world.run.uid, structured.uid),
        (AnswerFormat.STRUCTURED, structured.uid, world.run.uid),
    ):
        page = written(client.get(f"{world.base}/results/?answer_format={answer_format}"))
        assert f"/runs/{uid}/" in page and f"/runs/{other}/" not in page
    page = written(client.get(f"{world.base}/results/?answer_format=structured"))
    assert "Structured output has no official parse" in page and "Official parse (%)" not in page


def test_runs_on_other_gold_are_named_as_stale(world, client):
    cache.clear()
    row = Proposition.objects.filter(table__story__project=world.dataset.project).first()
    held = row.imported_labels
    row.imported_labels = held | {"order": "0" if row.imported_labels["order"] != "0" else "1"}
    row.save(update_fields=["imported_labels"])
    _, new = publish_version(by=None, project=world.dataset.project)
    assert new and Dataset.objects.count() == 2
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/"))  # the newest version that has runs
    assert "Version 2" in page and f"{world.base}/runs/gold/?version=1" in page
    told = written(client.get(f"{world.base}/runs/gold/?version=1"))
    assert "These results are of version 1; the present gold is version 2." in told and "1 run on" not in told
    assert "1 run on version 1 is stale" in written(client.get(f"{world.base}/runs/gold/?version=2"))
    row.imported_labels = held
    row.save(update_fields=["imported_labels"])
    cache.clear()  # an import would be logged; this test writes past the log
    told = written(client.get(f"{world.base}/runs/gold/?version=1"))
    assert "These results" not in told and "stale" not in told  # gold is as it was, though version 2 is newer


@pytest.mark.once
def test_sorting_and_filtering(world, client):
    client.force_login(world.alice)

    def models(query: str) -> list[str]:
        response = client.get(f"{world.base}/results/?{query}")
        group = next(one for one in response.context["groups"] if one["key"] == "stage2")
        return [row["cells"][0]["text"] for row in group["table"]["rows"]]

    assert models("") == ["majority", "random", HOSTILE]
    assert models("sort=repaired_overall_accuracy") == [
        "random",
        "majority",
        HOSTILE,
    ]  # without a score last either way
    assert models("sort=model") == [HOSTILE, "majority", "random"]
    assert models("sort=-model") == ["random", "majority", HOSTILE]
    assert models("model=MAJ") == ["majority"]
    assert models("show=baseline") == ["majority", "random"]
    assert models("sort=no_such_column") == ["majority", "random", HOSTILE]


def test_every_figure_opens_the_items_behind_it(world, client):
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/"))
    entrant = world.run.entrants.get(name="majority").pk
    address = f"{world.base}/runs/{world.run.uid}/items/?model={entrant}&amp;step=label"
    assert address in page
    items = client.get(address.replace("&amp;", "&"))
    assert items.status_code == 200


@pytest.mark.once
def test_hostile_names_are_text(world, client):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/").content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and "{{7*7}}" in page


def test_questions_to_the_database_do_not_grow_with_models_and_runs(world, client, django_assert_num_queries):
    from django.db import connection

    client.force_login(world.alice)
    client.get(f"{world.base}/results/")
    with CaptureQueriesContext(connection) as few:
        client.get(f"{world.base}/results/")
    for level in (1, 2, 4):
        world.another("majority", "random", level=level)
    client.get(f"{world.base}/results/")
    with CaptureQueriesContext(connection) as many:
        client.get(f"{world.base}/results/")
    assert len(many) == len(few) <= 24


def test_the_comparison_is_made_once(world, monkeypatch):
    leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    monkeypatch.setattr("benchmark.services.leaderboards._compare", lambda *found: pytest.fail("compared again"))
    assert leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]
    cache.clear()
    with pytest.raises(pytest.fail.Exception):
        leaderboard_of(world.dataset, AnswerFormat.TEXT, None)


def test_figures_follow_the_items(world):
    """A report whose items changed is computed again, and its scores by story with it."""
    before = leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]
    held = set(StoryScores.objects.values_list("pk", flat=True))
    place = RunItem.objects.filter(entrant__run=world.run, entrant__name="majority", step="label").first()
    RunItem.objects.filter(pk=place.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    after = by_model(leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"])["majority"]
    assert not held & set(StoryScores.objects.current().values_list("pk", flat=True))
    assert after.parses.official is None  # official scoring has no figure where an answer lacks
    assert after.parses.overall("repaired").stories == STORIES - 1
    assert by_model(before)["majority"].parses.overall("repaired").stories == STORIES


@pytest.mark.once
@pytest.mark.parametrize("audience", list(Audience))
def test_who_may_see_results(world, client, audience):
    """The link is there for every member; who may not see results learns who can, and why."""
    world.show_to(audience)
    ranks = {"bob": 0, "esi": 1, "alice": 2}
    least = {Audience.EVERYONE: 0, Audience.EXPERTS: 1, Audience.ADMINS: 2}[audience]
    for name, rank in ranks.items():
        client.force_login(getattr(world, name))
        page = client.get(f"{world.base}/results/")
        assert page.status_code == 200
        assert ("Stage 2: labelling" in page.content.decode()) == (rank >= least)
        if rank < least:
            assert "Results are not shown to you yet" in page.content.decode()
            assert audience.label.lower() in page.content.decode() and "alice" in page.content.decode()
            assert client.get(f"{world.base}/results/tables/stage2.json").status_code == 403
    client.force_login(world.charlie)
    assert client.get(f"{world.base}/results/").status_code == 404


def test_the_table_downloads_as_it_is_shown(world, client):
    client.force_login(world.alice)
    held = json.loads(client.get(f"{world.base}/results/tables/stage2.json").content)
    rows = {row["model"]: row for row in held["rows"]}
    assert (
        rows["majority"]["official_overall_accuracy"]["value"]
        == scores_of(world.run)["majority"]["official"]["stage2"]["overall"]["overall_accuracy"]
    )
    assert not any(key.startswith("_") for row in held["rows"] for key in row)
