"""A row of results says under which settings and by which judge it came about, and never mixes two."""

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
from benchmark.services.judges import version_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import reports_of
from benchmark.suites import registry
from benchmark.suites.guards import guarded
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.copies import copied
from workers.models import Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


LEXICAL, STRICT = "lexical-judge, rules", "strict, rules"
EXTRACTION = {"steps": ("extract", "judge")}


def _with_models(held: ResultsWorld) -> ResultsWorld:
    """Three models that extract and label nothing, and a stricter judge."""
    for name in ("m", "n", "o"):
        held.models[name] = endpoint(name, options={"default": "no table"})
    held.models["strict"] = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    return held


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return _with_models(results_world(tmp_path))


@pytest.fixture
def judged_twice(tmp_path) -> ResultsWorld:
    """`n` is judged by the lexical judge, `m` by it and, in the run `strict`, by the stricter one."""
    return copied("judged twice", lambda: _judged_twice(tmp_path))


def _judged_twice(folder) -> ResultsWorld:
    world = _with_models(results_world(folder))
    lexical = world.another("n", "m", **EXTRACTION)
    world.strict = world.another("m", **EXTRACTION, judge=world.models["strict"])
    reports_of([lexical, world.strict])
    return world


def leaderboard(world, **asked):
    return leaderboard_of(world.dataset, AnswerFormat.TEXT, None, **asked)


def labellings(world, name: str = "m", **asked) -> list:
    return [one for one in leaderboard(world, **asked).entrants["stage2"] if one.name == name]


def document(world, **asked: str) -> Document:
    return leaderboard_document("Leaderboard", leaderboard(world, asked=asked).entrants)


def test_a_ranking_is_within_one_judge_on_page_in_files_and_by_command(judged_twice, client, capsys):
    world = judged_twice
    found = leaderboard(world)
    assert sorted(one.name for one in found.entrants["stage1"]) == sorted(["m", "omniscient", "n", HOSTILE])
    assert {one.within["judge"].startswith(LEXICAL) for one in found.entrants["stage1"]} == {True}
    [apart] = found.rankings["stage1"].others
    assert apart.judge.startswith(STRICT) and apart.rows == 1
    # the other ranking has its own rows, bold and letters; labelling has no judge and stays as it is
    strict = next(name for name in found.conditions["judge"] if name.startswith(STRICT))
    other = leaderboard(world, asked={"judge": strict})
    assert [(one.name, one.run) for one in other.entrants["stage1"]] == [("m", world.strict.uid)]
    assert [one.key for one in other.entrants["stage2"]] == [one.key for one in found.entrants["stage2"]]
    keys = [world.entrant("omniscient"), f"{world.strict.uid}.{world.strict.entrants.get().pk}"]
    comparison = compare(pair_of(world.dataset.project, *keys)[1]["stage1"], "stage1", "repaired")
    assert "judge strict" in comparison.differ and "judge lexical-judge" in comparison.differ
    assert any("Settings that differ" in note for note in difference_table(comparison).notes)
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/")
    text = page.content.decode()
    assert "Ranked apart" in text and 'id="judge"' in text and 'id="prompts"' not in text
    query = next(one for group in page.context["groups"] for one in group["others"])["query"]
    shown = client.get(f"{world.base}/results/?{query}")
    rows = {
        group["key"]: [row["cells"][0]["text"] for row in group["table"]["rows"]] for group in shown.context["groups"]
    }
    assert rows["stage1"] == ["m"]
    files = shown.context["files_query"]
    held = json.loads(client.get(f"{world.base}/results/tables/stage1.json?{files}").content)
    assert [row["model"] for row in held["rows"]] == ["m"]
    assert any(f"judged by {strict}" in note for note in held["notes"])
    drawn = client.get(f"{world.base}/results/figures/leaderboard-stage1.svg?{files}&theme=light").content.decode()
    assert "m: repaired" in drawn and "omniscient: repaired" not in drawn and "omniscient (ranked apart" in drawn
    pairs = client.get(f"{world.base}/results/differences/?{query}&group=stage1").content.decode()
    assert "Nothing to compare" in pairs
    call_command("leaderboard", project=world.dataset.project.slug, judge=strict, json=True)
    told = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in told["groups"]["stage1"]] == ["m"]
    assert told["rankings"]["stage1"]["judge"] == strict and told["rankings"]["stage1"]["others"][0]["rows"] == 4
    with pytest.raises(CommandError, match="there are: lexical-judge"):
        call_command("leaderboard", project=world.dataset.project.slug, judge="nobody")


def test_a_judge_with_another_name_or_seed_or_another_number_of_stories_is_the_same_judge(world):
    """The ranking's judge is the one that its self-test is of (`judges`)."""
    judge, twin = (endpoint(name, model="judge-1", options={"default": "no"}) for name in ("renamed", "twin"))
    settings = EXTRACTION | {"judge": judge, "shots": 1}
    first = world.another("m", **settings)
    Endpoint.objects.filter(pk=judge.pk).update(name="judge")
    again = world.another("n", **settings | {"judge": twin, "seed": 7, "max_tokens": 500})
    below = [
        world.another(name, **settings | {"judge_level": 3, "shots": shots}) for name, shots in (("o", 0), ("m", 2))
    ]
    assert version_of(first) == version_of(again) != version_of(below[0]) == version_of(below[1])
    stage1 = [one for one in leaderboard(world).conditions["judge"] if "rules" not in one]
    assert len(stage1) == 2
    [at_4] = [one for one in stage1 if "level 4" in one]
    assert {one.name for one in leaderboard(world, asked={"judge": at_4}).entrants["stage1"]} == {"m", "n"}
    # one that changed under its name is a ranking of its own and no repetition
    judge = world.models["strict"]
    for threshold in (1.0, 0.9):
        judge.options = {"threshold": threshold}
        judge.save()
        world.another("omniscient", **EXTRACTION, judge=judge)
    names = [one for one in leaderboard(world).conditions["judge"] if one.startswith(STRICT)]
    assert len(names) == 2 and all(", version " in one for one in names)
    for name in names:
        [row] = leaderboard(world, asked={"judge": name}).entrants["stage1"]
        assert row.others == 0


def hrefs(response, containing: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'href="([^"]+)"', response.content.decode()) if containing in one]


def pairs_of(response) -> str:
    [link] = [one for one in hrefs(response, "/results/differences/") if "group=stage1" in one]
    return link


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
    world, compared = judged_twice, f"{judged_twice.base}/results/compare/"
    client.force_login(world.alice)
    keys = [world.entrant("omniscient"), f"{world.strict.uid}.{world.strict.entrants.get().pk}"]
    page = client.get(compared, {"a": keys[0], "b": keys[1], "group": "stage1"})
    [link] = hrefs(page, "/results/differences/")
    # two that no ranking holds open the one that they were chosen from
    assert link.endswith("?version=1&answer_format=text&group=stage1&parse=repaired")
    again = world.another("omniscient", **EXTRACTION, judge=world.strict.judge)
    groups = client.get(f"{world.base}/results/").context["groups"]
    [query] = [one["query"] for group in groups for one in group["others"]]
    strict = client.get(f"{world.base}/results/?{query}&runs=all")
    pairs = client.get(pairs_of(strict))
    keys = compared_in(pairs)
    assert keys == {f"{run.uid}.{run.entrants.get().pk}" for run in (world.strict, again)}
    first, second = [one["key"] for one in strict.context["entrants"] if one["key"] in keys]
    from_the_form = client.get(compared, {"a": first, "b": second, **hidden_inputs(strict, compared)})
    for comparison in (client.get(hrefs(pairs, "/results/compare/")[0]), from_the_form):
        swapped = client.get(f"{compared}{hrefs(comparison, '?a=')[0]}")
        for page in (comparison, swapped):
            back = client.get(pairs_of(page))
            assert back.context["asked"] == pairs.context["asked"] and back.context["every"]
            told = [[row["cells"] for row in one.context["table"]["rows"]] for one in (back, pairs)]
            assert told[0] == told[1]


def test_from_a_run_to_two_of_its_models_and_to_all_pairs_of_their_ranking(world, client):
    """A run of another judge, repeated since, or over three of the nine stories: none of its rows is in the ranking
    that opens by itself."""
    compared = f"{world.base}/results/compare/"
    client.force_login(world.alice)
    world.another("m", "n", "o", **EXTRACTION)
    for limit in (0, 3):
        settings = EXTRACTION | {"judge": world.models["strict"], "limit": limit}
        run, _again = world.another("m", "n", **settings), world.another("m", "n", **settings)
        first, second = (f"{run.uid}.{one.pk}" for one in run.entrants.all())
        results = client.get(f"{world.base}/runs/{run.uid}/results/")
        page = client.get(compared, {"a": first, "b": second, **hidden_inputs(results, compared)})
        pairs = client.get(pairs_of(page))
        found = pairs.context["leaderboard"]
        assert {first, second} <= compared_in(pairs)
        assert found.rankings["stage1"].chosen["judge"].startswith(STRICT)
        assert len(found.chosen.stories) == (limit or 9)


def test_another_level_is_another_ranking_and_baselines_are_in_both(world):
    world.another("m", "n", steps=("label",))
    world.another("m", steps=("label",), level=1)
    found = leaderboard(world)
    assert [one.name for one in found.entrants["stage2"]][:2] == ["majority", "random"]
    assert {one.within["prompts"] for one in found.entrants["stage2"]} == {None, "omnitom-1, level 3"}
    other = leaderboard(world, asked={"prompts": "omnitom-1, level 1"}).entrants["stage2"]
    assert [(one.name, one.model) for one in other] == [(name, name) for name in ("majority", "random", "m")]
    # a baseline stands once among the newest however often it was asked
    world.another("random", steps=("label",), judge=None, repetitions=2)
    [row] = labellings(world, "random")
    assert (row.model, row.own, row.others) == ("random", "repetitions 2", 1)
    # the run of the other rows asked once, so that no sentence on all of them can name repetitions
    assert "repetitions" not in leaderboard(world).common["stage2"]
    every = {one.model for one in labellings(world, "random", all_runs=True)}
    assert every == {"random (repetitions 2)", "random"}


def test_every_table_says_what_its_ranking_is_within(world):
    tables = tables_of(document(world))
    for name in ("stage1", "categories-stage1", "main-repaired"):
        assert any(f"judged by {LEXICAL}" in note for note in tables[name]().notes)
    assert "settings" not in {one.key for one in tables["stage1"]().columns}


def test_two_keeps_are_one_row_where_they_were_asked_alike(world):
    """Labelling at level 1 in one run, extraction at level 4 in another: no row of table 3 has both, and no ranking."""

    def row_of_m(**asked: str) -> dict:
        [row] = [row for row in tables_of(document(world, **asked))["main-official"]().rows if row["model"] == "m"]
        return row

    labelled, extracted = world.another("m", steps=("label",)), world.another("m", **EXTRACTION)
    row = row_of_m()
    assert row["f1"].value is not None and row["overall_accuracy"].value is not None
    assert row["f1"].items.run == extracted.uid and row["overall_accuracy"].items.run == labelled.uid
    labelled, extracted = world.another("m", steps=("label",), level=1), world.another("m", **EXTRACTION, level=4)
    for level, run, missing in ((1, labelled, "f1"), (4, extracted, "overall_accuracy")):
        prompts = [one for one in leaderboard(world).conditions["prompts"] if f"level {level}" in one]
        row = row_of_m(prompts=prompts[0])
        assert row[missing].value is None and row[OF].run == run.uid


def test_what_differs_between_two_rows_tells_them_apart(world):
    """The longest answer and what changed at an endpoint are told; neither these nor a seed part rankings."""
    world.another("m", steps=("label",), max_tokens=50)
    world.another("m", steps=("label",))
    assert {one.model for one in labellings(world)} == {
        "m (longest answer 50 tokens)", "m (longest answer 6,000 tokens)",
    }  # fmt: skip
    world.another("n", steps=("label",), max_tokens=50)
    world.another("n", steps=("label",), seed=7)
    assert len(labellings(world, "n")) == 2 and not leaderboard(world).rankings["stage2"].others
    world.another("o", steps=("label",))
    world.models["o"].model = "o-2"
    world.models["o"].save()
    world.another("o", steps=("label",))
    assert {one.model for one in labellings(world, "o")} == {"o (model o)", "o (model o-2)"}


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
