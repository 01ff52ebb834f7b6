"""A row of results says under which settings and by which judge it came about, and never mixes two."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import CommandError, call_command

from benchmark.domain.tables import OF
from benchmark.models import AnswerFormat
from benchmark.services.comparison_tables import difference_table
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import Document, leaderboard_document, tables_of
from benchmark.services.judge_versions import version_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import reports_of
from benchmark.suites import registry
from benchmark.suites.guards import guarded
from tests.benchmark.results_world import HOSTILE, ResultsWorld, endpoint, results_world
from tests.copies import copied
from workers.models import Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def document(world, *, all_runs: bool = False, **asked: str) -> Document:
    groups = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, all_runs=all_runs, asked=asked).entrants
    return leaderboard_document("Leaderboard", groups)


LEXICAL, STRICT = "lexical-judge, rules", "strict, rules"


@pytest.fixture
def judged_twice(tmp_path):
    """Two models, `other` judged by the lexical judge, `both` by it and by a stricter one."""
    return copied("judged twice", lambda: _judged_twice(tmp_path))


def _judged_twice(folder) -> ResultsWorld:
    world = results_world(folder)
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    for name in ("other", "both"):
        world.models[name] = endpoint(name, options={"default": "no table"})
    lexical = world.another("other", "both", steps=("extract", "judge"))
    world.strict = world.another("both", steps=("extract", "judge"), judge=strict)
    reports_of([lexical, world.strict])
    return world


def test_a_ranking_is_within_one_judge(judged_twice):
    world = judged_twice
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    names = [one.name for one in found.entrants["stage1"]]
    assert sorted(names) == sorted(["both", "omniscient", "other", HOSTILE])
    assert {one.within["judge"].startswith(LEXICAL) for one in found.entrants["stage1"]} == {True}
    [apart] = found.rankings["stage1"].others
    assert apart.judge.startswith(STRICT) and apart.rows == 1
    # the other ranking has its own rows, bold and letters; labelling has no judge and stays as it is
    strict = next(name for name in found.conditions["judge"] if name.startswith(STRICT))
    other = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, asked={"judge": strict})
    assert [(one.name, one.run) for one in other.entrants["stage1"]] == [("both", world.strict.uid)]
    assert [one.key for one in other.entrants["stage2"]] == [one.key for one in found.entrants["stage2"]]
    keys = [world.entrant("omniscient"), f"{world.strict.uid}.{world.strict.entrants.get().pk}"]
    comparison = compare(pair_of(world.dataset.project, *keys)[1]["stage1"], "stage1", "repaired")
    assert "judge strict" in comparison.differ and "judge lexical-judge" in comparison.differ
    assert any("Settings that differ" in note for note in difference_table(comparison).notes)


def test_a_judge_with_another_name_or_seed_or_another_number_of_stories_is_the_same_judge(world):
    """The ranking's judge is the one that its self-test is of (`judge_versions`)."""
    judge = endpoint("renamed", model="judge-1", options={"default": "no"})
    for name in ("m", "n", "o"):
        world.models[name] = endpoint(name, options={"default": "no table"})
    settings = {"steps": ("extract", "judge"), "judge": judge, "shots": 1}
    first = world.another("m", **settings)
    twin = endpoint("twin", model="judge-1", options={"default": "no"})
    Endpoint.objects.filter(pk=judge.pk).update(name="judge")
    again = world.another("n", **settings | {"judge": twin, "seed": 7, "max_tokens": 500})
    below = [
        world.another(name, **settings | {"judge_level": 3, "shots": shots}) for name, shots in (("o", 0), ("m", 2))
    ]
    assert version_of(first) == version_of(again) != version_of(below[0]) == version_of(below[1])
    stage1 = [
        one for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).conditions["judge"] if "rules" not in one
    ]
    assert len(stage1) == 2
    [at_4] = [one for one in stage1 if "level 4" in one]
    together = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, asked={"judge": at_4}).entrants["stage1"]
    assert {one.name for one in together} == {"m", "n"}


def test_a_judge_that_changed_under_its_name_is_a_ranking_of_its_own_and_no_repetition(world):
    judge = world.models["judge"] = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    settings = {"steps": ("extract", "judge"), "judge": judge}
    world.another("omniscient", **settings)
    judge.options = {"threshold": 0.9}
    judge.save()
    world.another("omniscient", **settings)
    held = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    names = [one for one in held.conditions["judge"] if one.startswith(STRICT)]
    assert len(names) == 2 and all(", version " in one for one in names)
    for name in names:
        [row] = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, asked={"judge": name}).entrants["stage1"]
        assert row.others == 0


def test_page_command_and_files_have_the_same_ranking(judged_twice, client, capsys):
    world = judged_twice
    client.force_login(world.alice)
    strict = next(
        one
        for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).conditions["judge"]
        if one.startswith(STRICT)
    )
    page = client.get(f"{world.base}/results/")
    text = page.content.decode()
    assert "Ranked apart" in text and 'id="judge"' in text and 'id="prompts"' not in text
    query = next(one for group in page.context["groups"] for one in group["others"])["query"]
    shown = client.get(f"{world.base}/results/?{query}")
    rows = {
        group["key"]: [row["cells"][0]["text"] for row in group["table"]["rows"]] for group in shown.context["groups"]
    }
    assert rows["stage1"] == ["both"]
    files = shown.context["files_query"]
    held = json.loads(client.get(f"{world.base}/results/tables/stage1.json?{files}").content)
    assert [row["model"] for row in held["rows"]] == ["both"]
    assert any(f"judged by {strict}" in note for note in held["notes"])
    drawn = client.get(f"{world.base}/results/figures/leaderboard-stage1.svg?{files}&theme=light").content.decode()
    assert "both: repaired" in drawn and "omniscient: repaired" not in drawn and "omniscient (ranked apart" in drawn
    pairs = client.get(f"{world.base}/results/differences/?{query}&group=stage1").content.decode()
    assert "Nothing to compare" in pairs
    call_command("leaderboard", project=world.dataset.project.slug, judge=strict, json=True)
    told = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in told["groups"]["stage1"]] == ["both"]
    assert told["rankings"]["stage1"]["judge"] == strict and told["rankings"]["stage1"]["others"][0]["rows"] == 4
    with pytest.raises(CommandError, match="there are: lexical-judge"):
        call_command("leaderboard", project=world.dataset.project.slug, judge="nobody")


def hrefs(response, containing: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'href="([^"]+)"', response.content.decode()) if containing in one]


def compared_in(response) -> set[str]:
    """The keys of the entries whose differences open a comparison."""
    queries = [parse_qs(urlsplit(one).query) for one in hrefs(response, "/results/compare/?")]
    return {query[side][0] for query in queries for side in ("a", "b") if side in query}


def hidden_inputs(response, action: str) -> dict[str, str]:
    [form] = re.findall(rf'<form[^>]*action="{action}".*?</form>', response.content.decode(), re.DOTALL)
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)}


def test_from_a_ranking_to_two_of_its_models_and_back_to_all_its_pairs(judged_twice, client):
    """Every address is the page's own: of the ranking that most models are in, a reader of another one would not
    notice."""
    world = judged_twice
    again = world.another("omniscient", steps=("extract", "judge"), judge=world.strict.judge)
    client.force_login(world.alice)
    [query] = [
        one["query"] for group in client.get(f"{world.base}/results/").context["groups"] for one in group["others"]
    ]
    strict = client.get(f"{world.base}/results/?{query}&runs=all")
    of_group = next(one for one in hrefs(strict, "/results/differences/") if "group=stage1" in one)
    pairs = client.get(of_group)
    keys = compared_in(pairs)
    assert keys == {f"{run.uid}.{run.entrants.get().pk}" for run in (world.strict, again)}
    from_a_pair = client.get(hrefs(pairs, "/results/compare/")[0])
    compared, names = f"{world.base}/results/compare/", [one["key"] for one in strict.context["entrants"]]
    first, second = [one for one in names if one in keys]
    from_the_form = client.get(compared, {"a": first, "b": second, **hidden_inputs(strict, compared)})
    for comparison in (from_a_pair, from_the_form):
        swapped = client.get(f"{compared}{hrefs(comparison, '?a=')[0]}")
        for page in (comparison, swapped):
            [link] = [one for one in hrefs(page, "/results/differences/") if "group=stage1" in one]
            back = client.get(link)
            assert back.context["asked"] == pairs.context["asked"] and back.context["every"]
            assert [row["cells"] for row in back.context["table"]["rows"]] == [
                row["cells"] for row in pairs.context["table"]["rows"]
            ]


@pytest.mark.parametrize("limit", [0, 3])
def test_from_a_run_to_two_of_its_models_and_to_all_pairs_of_their_ranking(world, client, limit):
    """A run of another judge, repeated since, or over three of the nine stories: none of its rows is in the ranking
    that opens by itself."""
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    for name in ("m", "n", "o"):
        world.models[name] = endpoint(name, options={"default": "no table"})
    world.another("m", "n", "o", steps=("extract", "judge"))
    settings = {"steps": ("extract", "judge"), "judge": strict, "limit": limit}
    run, _again = world.another("m", "n", **settings), world.another("m", "n", **settings)
    client.force_login(world.alice)
    compared = f"{world.base}/results/compare/"
    first, second = (f"{run.uid}.{one.pk}" for one in run.entrants.all())
    page = client.get(compared, {"a": first, "b": second, **hidden_inputs(_results_of(client, world, run), compared)})
    [link] = [one for one in hrefs(page, "/results/differences/") if "group=stage1" in one]
    pairs = client.get(link)
    keys = compared_in(pairs)
    found = pairs.context["leaderboard"]
    assert {first, second} <= keys and found.rankings["stage1"].chosen["judge"].startswith(STRICT)
    assert len(found.chosen.stories) == (limit or 9)


def _results_of(client, world, run):
    """The part of a run's page that has its figures."""
    return client.get(f"{world.base}/runs/{run.uid}/results/")


def test_two_that_no_ranking_holds_open_the_ranking_that_they_were_chosen_from(judged_twice, client):
    world = judged_twice
    keys = [world.entrant("omniscient"), f"{world.strict.uid}.{world.strict.entrants.get().pk}"]
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/compare/", {"a": keys[0], "b": keys[1], "group": "stage1"})
    [link] = hrefs(page, "/results/differences/")
    assert link.endswith("?version=1&answer_format=text&group=stage1&parse=repaired")


def test_another_level_is_another_ranking_and_baselines_are_in_both(world):
    for name in ("m", "n"):
        world.models[name] = endpoint(name, options={"default": "no table"})
    world.another("m", "n", steps=("label",))
    world.another("m", steps=("label",), level=1)
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    assert [one.name for one in found.entrants["stage2"]][:2] == ["majority", "random"]
    assert {one.within["prompts"] for one in found.entrants["stage2"]} == {None, "omnitom-1, level 3"}
    other = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, asked={"prompts": "omnitom-1, level 1"})
    assert [(one.name, one.model) for one in other.entrants["stage2"]] == [
        ("majority", "majority"),
        ("random", "random"),
        ("m", "m"),
    ]


def test_the_longest_answer_and_the_seed_do_not_part_rankings(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", steps=("label",), max_tokens=50)
    world.another("m", steps=("label",), seed=7)
    names = [
        one.model
        for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]
        if one.name == "m"
    ]
    assert len(names) == 2 and not leaderboard_of(world.dataset, AnswerFormat.TEXT, None).rankings["stage2"].others


def test_every_table_says_what_its_ranking_is_within(world):
    for name in ("stage1", "categories-stage1", "main-repaired"):
        assert any(f"judged by {LEXICAL}" in note for note in tables_of(document(world))[name]().notes)
    table = tables_of(document(world))["stage1"]()
    assert "settings" not in {one.key for one in table.columns}


def test_two_keeps_that_were_asked_differently_are_no_row(world):
    """Labelling at level 1 in one run, extraction at level 4 in another: no row of table 3 has both, and no ranking."""
    world.models["m"] = endpoint("m", options={"default": "no table"})
    labelled = world.another("m", steps=("label",), level=1)
    extracted = world.another("m", steps=("extract", "judge"), level=4)
    for level, run, missing in ((1, labelled, "f1"), (4, extracted, "overall_accuracy")):
        names = [
            one
            for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).conditions["prompts"]
            if f"level {level}" in one
        ]
        held = document(world, prompts=names[0])
        [row] = [row for row in tables_of(held)["main-official"]().rows if row["model"] == "m"]
        assert row[missing].value is None and row[OF].run == run.uid


def test_two_keeps_that_were_asked_alike_are_one_row_and_each_opens_its_run(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    labelled = world.another("m", steps=("label",))
    extracted = world.another("m", steps=("extract", "judge"))
    [row] = [row for row in tables_of(document(world))["main-official"]().rows if row["model"] == "m"]
    assert row["f1"].value is not None and row["overall_accuracy"].value is not None
    assert row["f1"].items.run == extracted.uid and row["overall_accuracy"].items.run == labelled.uid


def test_the_longest_answer_is_a_setting(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", steps=("label",), max_tokens=50)
    world.another("m", steps=("label",))
    entries = leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]
    names = {one.model for one in entries if one.name == "m"}
    assert names == {"m (longest answer 50 tokens)", "m (longest answer 6,000 tokens)"}


def test_what_changed_at_an_endpoint_tells_two_rows_apart(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", steps=("label",))
    world.models["m"].model = "m-2"
    world.models["m"].save()
    world.another("m", steps=("label",))
    entries = leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]
    assert {one.model for one in entries if one.name == "m"} == {"m (model m)", "m (model m-2)"}


def test_a_baseline_stands_once_among_the_newest_however_often_it_was_asked(world, client):
    world.another("random", steps=("label",), judge=None, repetitions=2)
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    [row] = [one for one in found.entrants["stage2"] if one.name == "random"]
    assert (row.model, row.own, row.others) == ("random", "repetitions 2", 1)
    # the run of the other rows asked once, so that no sentence on all of them can name repetitions
    assert "repetitions" not in found.common["stage2"]
    every = leaderboard_of(world.dataset, AnswerFormat.TEXT, None, all_runs=True).entrants["stage2"]
    assert {"random (repetitions 2)", "random"} == {one.model for one in every if one.name == "random"}


@pytest.mark.failing_suite
def test_a_suite_that_cannot_say_what_its_judge_is_loses_the_judged_part_alone(world, client, monkeypatch):
    def instrument(settings):
        raise KeyError("unforeseen")

    suite = registry.suite_named("omnitom")
    broken = guarded(replace(suite, judge=replace(suite.judge, instrument=instrument)))
    monkeypatch.setitem(registry._suites, "omnitom", broken)
    client.force_login(world.alice)
    told = "OmniToM could not say what its judge is (KeyError); the log of the program says where."
    for address in ("results/", f"runs/{world.run.uid}/report/"):
        page = client.get(f"{world.base}/{address}")
        text = unescape(page.content.decode())
        assert page.status_code == 200 and text.count(told) == 1, address
        assert "Accuracy of labelling" in text and "majority" in text, address
    assert client.get(f"{world.base}/runs/{world.run.uid}/judge/test/").status_code == 503
