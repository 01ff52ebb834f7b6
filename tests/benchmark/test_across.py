"""Models across suites: whose figure stands where, what a correlation rests on, and what the page says of what is not
there."""

import hashlib
import html
import json
import re
from dataclasses import dataclass, replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmark.access import whole_ranking
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import Absent, Cell
from benchmark.models import Audience, Dataset, ResultsVisibility, Run, Snapshot
from benchmark.services import across, snapshots
from benchmark.services.across import (
    NO_CHANCE,
    Place,
    SuiteRanking,
    correlation_of,
    models_across,
    rankings_across,
    table_of_all,
    table_of_model,
    table_of_pairs,
)
from benchmark.services.archiving import archive_run, delete_run
from benchmark.services.conditions import settings_in_words
from benchmark.services.documents import Document, as_json, document_from
from benchmark.services.launches import start_run
from benchmark.services.leaderboard_scope import asks_plainly, leaderboard_of
from benchmark.services.leaderboards import settings_of
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan
from benchmark.services.runs import asked_by
from benchmark.suites import registry
from benchmark.suites.registry import suite_named
from benchmark.suites.showing.entrants import score_of
from tests.benchmark.importing import import_benchmark
from tests.benchmark.results_world import HOSTILE, results_world
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.test_run_commands import refused, told
from tests.cast import Cast, new_cast
from tests.copies import copied
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)


# --- rules
def kept(rankings: list[SuiteRanking]) -> list[SuiteRanking]:
    """The rankings as a snapshot has them."""
    document = Document(kind="across", rankings=snapshots.named_apart(rankings))
    return document_from(json.loads(json.dumps(as_json(document)))).rankings


def ranking(title: str = "Tiny sums", **values: float | None) -> SuiteRanking:
    order = sorted(values, key=lambda key: -(values[key] or 0))
    return SuiteRanking(
        group="tiny", title=title, dataset="Sums, version 1", over="All 12 sums", numbers=frozenset(range(1, 13)),
        query={"version": "1", "answer_format": "text"}, within="Free text", ranked=len(values), chance=None,
        no_chance=NO_CHANCE, absent=(),
        places={
            key: Place(name=key, metric=Cell(value), rank=1 + order.index(key), run="uid", run_title="A run", entrant=1)
            for key, value in values.items()
        },
    )  # fmt: skip


def placed(of: SuiteRanking, **changed: dict) -> SuiteRanking:
    """The ranking with places that differ."""
    return replace(of, places=of.places | {key: replace(of.places[key], **how) for key, how in changed.items()})


def test_a_correlation_is_over_the_models_that_both_have_and_their_families(tiny):
    first = ranking("One", a=0.1, b=0.2, c=0.3, d=0.4, e=0.5, alone=0.9, mute=None)
    second = ranking("Two", a=0.2, b=0.1, c=0.4, d=0.3, e=0.5, mute=0.9)
    found = correlation_of(first, second)
    # deviations −2 −1 0 1 2 and −1 −2 1 0 2 in tenths: Σxy = 2 + 2 + 0 + 0 + 4 = 8, Σx² = Σy² = 10
    assert found.n == 5 and found.r == pytest.approx(0.8)
    # Fisher: artanh 0.8 = 1.0986, ± 1.96 / √2
    assert found.interval == (pytest.approx(-0.2796, abs=1e-3), pytest.approx(0.9863, abs=1e-3))
    values = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4, "e": 0.5, "f": 0.6}
    first, second = ranking("One", **values), ranking("Two", **values | {"a": 0.2, "b": 0.1, "e": 0.6, "f": 0.5})
    families = {"a": "gpt", "b": "gpt", "c": "llama", "d": "qwen"}  # nothing is known of e and f
    kin = placed(first, **{key: {"family": family} for key, family in families.items()})
    [row] = table_of_pairs([kin, second]).rows
    assert (row["models"], row["families"]) == (6, 5)
    low, high = row["r"].interval
    assert low < row["r"].value < high and (low, high) != correlation_of(first, second).interval
    [row] = table_of_pairs([placed(kin, d={"family": "llama"}), second]).rows
    assert (row["families"], row["r"].interval, row["p"]) == (4, None, None) and row["r"].value is not None
    assert row["why"] == "an interval needs at least 5 model families"
    few = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    [row] = table_of_pairs([ranking("One", **few), ranking("Two", **few)]).rows
    assert row["r"].value is None and row["models"] == 4 and "at least 5 models" in row["why"]


def test_rows_go_by_the_first_ranking_then_by_the_next_and_names_are_told_apart(tiny):
    first, second = ranking("One", b=0.9, a=0.1), ranking("Two", d=0.8, c=0.9, a=1.0)
    assert [*models_across([first, second])] == ["b", "a", "c", "d"]
    one = placed(ranking("One", a=0.5), a={"name": "ada", "spec": EndpointSpec(model="ada-1")})
    other = placed(ranking("Two", b=0.5), b={"name": "ada", "spec": EndpointSpec(model="ada-2")})
    assert {*models_across([one, other]).values()} == {"ada (model ada-1)", "ada (model ada-2)"}
    # what a whole ranking was asked by is said once
    within = "Free text · one-1, method Self-Ask, seed 1"
    asked = placed(replace(ranking("One", a=0.1), within=within), a={"own": "method Self-Ask, seed 12"})
    [model] = models_across([asked])
    [row] = table_of_model([asked], model).rows
    assert row["within"] == f"{within}, seed 12"


def test_the_page_says_what_lacks_and_which_runs_count(tiny):
    drawn = replace(ranking("Drawn", a=0.5), chance=Cell(0.4, [0.1, 0.8], n=9), drawn=True, no_chance="")
    exact = replace(ranking("Exact", a=0.5), chance=Cell(0.25, n=12), no_chance="")
    notes = table_of_all([drawn, exact]).notes
    assert "Chance level of Drawn (n = 9): the baseline “random”." in notes
    assert "Runs. Drawn: “A run”; Exact: “A run”." in notes
    [lead] = table_of_all([ranking(a=0.5)]).lead
    assert "No chance level in Tiny sums" in lead and "random" in lead
    # a model that is ranked elsewhere too is not called absent
    absent = [Absent("ada", "ranked apart: asked plain"), Absent("gone", "its calls failed")]
    assert table_of_all([replace(ranking(ada=0.5), absent=absent, no_chance="")]).lead == [
        "Not in Tiny sums: gone (its calls failed).",
        "Tiny sums has other figures, too: ada (ranked apart: asked plain).",
    ]
    # open work takes the chance level away, and of few stories everything
    whole = replace(ranking(a=0.5), chance=Cell(0.25, n=4), no_chance="")
    assert whole_ranking(whole, frozenset()) is whole
    few = whole_ranking(replace(whole, numbers=frozenset({1, 2})), frozenset({1}))
    assert not few.places and few.chance is None and "Finish that first" in few.withheld
    many = whole_ranking(replace(whole, numbers=frozenset(range(1, 99))), frozenset({1}))
    assert many.places and many.chance is None and "you still have work to do" in many.no_chance


# --- a project with two datasets
SKILLS = {"ada": 10, "ben": 8, "cleo": 6, "dora": 4, "emil": 2}
"""In how many of ten sums a model is right."""


def answer(body) -> str:
    text = body["task"]["text"]
    if body["task"]["kind"] == "tiny-repeat":
        return text
    drawn = int(hashlib.sha256(f"{body['model']}{text}".encode()).hexdigest(), 16) % 10
    first, _, second = text.partition(": ")[2].removesuffix(" = ?").partition(" + ")
    return str(int(first) + int(second) + (drawn >= int(body["model"])))


@dataclass
class World:
    cast: Cast
    datasets: list[Dataset]

    @property
    def address(self) -> str:
        return f"/p/{self.cast.project.slug}/results/across/"

    def run(self, dataset: Dataset, *models: str, **plan) -> Run:
        endpoints = [Endpoint.objects.get(name=name) for name in models]
        made = Plan(dataset=dataset, endpoints=endpoints, suite="tiny", steps=["repeat", "sum"], **plan)
        check(made)
        return work_off(start_run(by=self.cast.alice, plan=made, now=timezone.now()))

    @property
    def rankings(self) -> list[SuiteRanking]:
        return rankings_across(self.cast.project)


def adding(name: str, skill: int) -> None:
    make_endpoint(name, model=str(skill), options={"function": "adds"})


@pytest.fixture
def world(db, tiny, tmp_path, monkeypatch, client) -> World:
    """Alice is logged in."""
    monkeypatch.setitem(FUNCTIONS, "adds", answer)

    def made() -> World:
        cast = new_cast()
        world = World(cast, [])
        for name, skill in SKILLS.items():
            adding(name, skill)
        for at in (1, 2):
            folder = tmp_path / str(at)
            folder.mkdir()
            (folder / "sums.txt").write_text("".join(f"{number} {at}\n" for number in range(1, 11)))
            dataset, _ = import_benchmark(
                by=cast.alice, project=cast.project, suite=suite_named("tiny"), folder=folder, options={}
            )
            world.datasets.append(dataset)
            world.run(dataset, *SKILLS)
        world.rankings  # noqa: B018 - reports and rankings are kept from now on
        return world

    held = copied("across", made)
    client.force_login(held.cast.alice)
    return held


def test_each_dataset_has_a_ranking_with_the_leaderboards_figures(world):
    rankings = world.rankings
    assert [one.title for one in rankings] == ["Tiny sums, version 2", "Tiny sums, version 1"]
    for found, dataset in zip(rankings, world.datasets[::-1], strict=True):
        entrants = leaderboard_of(dataset, "text", "").entrants["tiny"]
        own = {place.name: place for place in found.places.values()}
        assert own.keys() == SKILLS.keys() and found.ranked == len(entrants)
        for entrant in entrants:
            place, score = own[entrant.name], score_of(entrant, "repaired", "tiny")
            assert replace(place.metric, bounds=None) == replace(score, bounds=None)
            assert place.rank == entrant.ranking["repaired"].rank
    assert next(iter(models_across(rankings).values())) == "ada"
    # a document gives them back
    found = kept(rankings)
    assert table_of_all(found).rows == table_of_all(rankings).rows
    assert table_of_pairs(found) == table_of_pairs(rankings)
    families = [[place.family for place in one.places.values()] for one in rankings]
    assert [[place.family for place in one.places.values()] for one in found] == families


def test_the_newest_listed_run_of_a_model_counts_and_queries_do_not_grow(world):
    def queries() -> int:
        world.rankings  # noqa: B018 - kept
        with CaptureQueriesContext(connection) as taken:
            assert world.rankings
        return len(taken)

    few, before = queries(), world.rankings[0]
    again = world.run(world.datasets[1], "ada", seed=7)
    [key] = [key for key, place in before.places.items() if place.name == "ada"]
    assert world.rankings[0].places[key].run == again.uid
    assert len(world.rankings[0].places) == len(SKILLS), "one place a model, however often it ran"
    archive_run(by=None, run=again, now=timezone.now())
    assert world.rankings[0].places[key] == before.places[key]
    adding("fay", 5)
    adding("gus", 7)
    world.run(world.datasets[1], "fay", "gus")
    # a model that ran one suite alone says which it lacks
    [fay] = [key for key, name in models_across(world.rankings).items() if name == "fay"]
    table = table_of_model(world.rankings, fay)
    assert [row["suite"] for row in table.rows] == ["Tiny sums, version 2"]
    assert "Without a figure in Tiny sums, version 1 (no finished run)." in table.lead
    world.run(world.datasets[0], "fay")
    assert queries() == few
    # a model whose calls all failed is named with the reason
    make_endpoint("gone", options={"script": [{"fail": "rejected"}]})
    world.run(world.datasets[1], "gone", "ada")
    table = table_of_all(world.rankings)
    assert any("Not in Tiny sums, version 2: gone" in lead and "calls failed" in lead for lead in table.lead)
    assert "gone" not in {row["model"] for row in table.rows}


@pytest.fixture
def by_tone(world, tiny, monkeypatch) -> World:
    """The world, whose suite asks by two methods: politely, which others are held against, and curtly."""
    tone = replace(tiny.settings[0], method=True)
    monkeypatch.setitem(registry._suites, "tiny", replace(tiny, settings=(tone,)))
    return world


def test_of_methods_that_equally_many_models_were_asked_by_the_plain_one_counts_and_is_not_named(by_tone):
    before, _ = plain = by_tone.rankings
    titles = [("Tiny sums, version 2", "polite"), ("Tiny sums, version 1", "polite")]
    assert [(one.title, one.method) for one in plain] == titles
    assert not any("method" in lead for lead in table_of_all(plain).lead)
    again = by_tone.run(by_tone.datasets[1], *SKILLS, options={"politeness": "now"})
    newest, _ = by_tone.rankings
    assert newest.places == before.places and newest.title == before.title
    assert any("tone curt" in absent.why for absent in newest.absent)
    assert "tone" in settings_in_words(again) and "tone" not in settings_of(again, "tiny", reads=False)
    curt = {entrant.name for entrant in leaderboard_of(again.dataset, "text", "").entrants["tiny"]}
    assert curt == {*SKILLS}
    assert newest.query["prompts"] and again.uid not in {place.run for place in newest.places.values()}
    # answers made elsewhere are by no method that is known
    run = Run.objects.exclude(pk=again.pk).first()
    assert asked_by(run) == "polite" and asks_plainly(run)
    run.spec["imported"] = {"tool": "", "version": "", "file": "answers.json"}
    assert asked_by(run) == "imported" and not asks_plainly(run)


def test_every_ranking_names_its_method_where_one_is_not_plain(by_tone, client):
    adding("fay", 5)
    by_tone.run(by_tone.datasets[1], *SKILLS, "fay", options={"politeness": "now"})
    rankings, saved = by_tone.rankings, kept(by_tone.rankings)
    titles = ["Tiny sums, version 2 (method: curt)", "Tiny sums, version 1 (method: polite)"]
    assert [one.title for one in rankings] == titles
    assert all(len({place.run for place in one.places.values()}) == 1 for one in rankings), "no ranking mixes methods"
    assert across.METHODS_NOTE in table_of_all(rankings).lead
    assert across.PAIRED_METHODS_NOTE in table_of_pairs(rankings).lead
    assert [one.method for one in saved] == ["curt", "polite"]
    assert table_of_all(saved).lead[0] == across.METHODS_NOTE
    for file in ("", "tables/across.csv", "tables/across.tex", "tables/correlations.json", "figures/across.svg"):
        text = client.get(by_tone.address + file).content.decode()
        assert "version 2 (method: curt)" in text and "version 1 (method: polite)" in text, file
    drawn = client.get(by_tone.address + "figures/across.svg?width=column").content.decode()
    assert f"in full: {titles[0]}" in " ".join(re.sub("<[^>]*>", " ", drawn).split())


def test_its_pages_and_files(world, client):
    def text(tail: str) -> str:
        return client.get(world.address + tail).content.decode()

    keys = dict.fromkeys(re.findall(r'across/\?model=(\w+)"', text("")))
    assert len(keys) == len(SKILLS) and "Correlations between suites" in text("")
    assert 'href="/p/' in text("") and "/items/?model=" in text("")
    one = f"?model={next(iter(keys))}"
    assert "ada</bdi> across suites" in text(one)
    for address in ("tables/across.csv", "tables/correlations.tex", f"tables/model.json{one}"):
        assert "Tiny sums" in text(address), address
    for address in ("figures/across.svg", f"figures/model.svg{one}"):
        assert "<svg" in text(address) and "Tiny sums, version 1" in text(address), address
    for address in ("?model=nobody", "tables/stage2.csv", f"tables/across.csv{one}", "figures/across.gif"):
        assert client.get(world.address + address).status_code == 404, address
    # a leaderboard leads to each model across suites
    adding("few", 5)
    world.run(world.datasets[1], "few", limit=3)
    leaderboard = world.address.removesuffix("across/")
    page = client.get(leaderboard).content.decode()
    assert world.address in page
    keys = {*re.findall(r'across/\?model=(\w+)"', page)}
    assert len(keys) == len(SKILLS) and keys == {*world.rankings[0].places}
    page = client.get(f"{leaderboard}?split=run:{Run.objects.first().uid}").content.decode()
    [lonely] = {*re.findall(r'across/\?model=(\w+)"', page)} - keys
    assert "No ranking has a figure of this model" in text(f"?model={lonely}")


def test_a_saved_page_stays_as_it_was_down_to_its_items(world, client):
    page = client.post(f"{world.address}snapshot/", {"title": "For the paper"})["Location"]
    report = Snapshot.objects.get()
    assert report.title == "For the paper" and page.endswith(f"/results/snapshots/{report.uid}/")
    assert report.items.count() == 2 * len(SKILLS) * 10, "those of the step that the figures count, once each"
    live, before = (re.findall(r">(\d+\.\d)<", client.get(at).content.decode()) for at in (world.address, page))
    assert live and before == live
    for run in Run.objects.all():
        delete_run(by=world.cast.alice, run=run, now=timezone.now())
    text = client.get(page).content.decode()
    assert re.findall(r">(\d+\.\d)<", text) == live and "The page as it is now" in text
    [link, *_] = [html.unescape(found) for found in re.findall(r'href="([^"]+/items/\?[^"]+)"', text)]
    assert f"/snapshots/{report.uid}/items/" in link and 'id="item-' in client.get(link).content.decode()
    one = f"?model={re.search(r'model=([0-9a-f]{12})', text)[1]}"
    assert "ada</bdi> across suites" in client.get(page + one).content.decode()
    for file in ("tables/across.csv", "tables/correlations.json", f"tables/model.tex{one}", "figures/across.svg"):
        assert "Tiny sums" in client.get(page + file).content.decode(), file
    assert client.get(f"{page}tables/stage2.csv").status_code == 404
    assert "base_url" not in str(report.metrics["rankings"]) and "function" not in str(report.metrics["rankings"])


def test_who_may_save_it(world, client):
    ResultsVisibility.objects.create(project=world.cast.project, audience=Audience.EVERYONE, once_published=False)
    for person, status in ((world.cast.charlie, 404), (world.cast.esi, 302), (world.cast.bob, 403)):
        client.force_login(person)
        assert client.post(f"{world.address}snapshot/").status_code == status
    assert Snapshot.objects.count() == 1
    assert "Save a snapshot" not in client.get(world.address).content.decode()


def test_a_command_says_writes_and_saves_it(world, tmp_path):
    project = ("--project", world.cast.project.slug)
    found = told("results", "across", *project)
    assert found["columns"][1]["group"] == "Tiny sums, version 2" and found["title"] == "Models across suites"
    assert {row["model"] for row in found["rows"]} == {*SKILLS} and found["rows"][0]["s0_rank"] == 1
    assert told("results", "correlations", *project)["rows"][0]["models"] == len(SKILLS)
    path = tmp_path / "across.csv"
    assert told("results", "across", *project, "--output", str(path))["path"] and "ada" in path.read_text()
    told("results", "model", *project, "--model", "ada", "--output", str(path))
    assert "Tiny sums, version 1" in path.read_text()
    refusal = refused("results", "model", *project, "--model", "zed")
    assert refusal.startswith("No suite has a figure of a model 'zed'; there are: ada, ")
    shared = told("save_snapshot", "--page", "across", *project, "--title", "March")
    assert Snapshot.objects.get(uid=shared["snapshot"]).title == "March"


# --- gold, and nothing yet
def test_chance_is_exact_where_labels_are_chosen_and_lacks_where_nothing_is(tmp_path):
    world = results_world(tmp_path)
    stage1, stage2 = rankings_across(world.dataset.project)
    assert (stage1.title, stage2.title) == ("OmniToM, F1 of extraction", "OmniToM, Accuracy of labelling")
    entrants = leaderboard_of(world.dataset, world.run.answer_format, "").entrants["stage2"]
    by_name = {entrant.name: score_of(entrant, "repaired", "stage2") for entrant in entrants}
    assert not stage2.drawn and stage2.chance.value == pytest.approx(by_name[across.CHANCE].value, abs=0.05)
    low, high = by_name[across.CHANCE].interval
    assert low < stage2.chance.value < high
    assert stage1.chance is None and stage1.no_chance == NO_CHANCE
    assert [*models_across([stage1, stage2]).values()] == [HOSTILE], "baselines are no models"


def test_without_a_run_it_says_what_to_do(client):
    cast = new_cast()
    client.force_login(cast.alice)
    address = f"/p/{cast.project.slug}/results/across/"
    text = client.get(address).content.decode()
    assert "No model has a figure yet" in text and "Launch the same models" in text and "Publish" not in text
    refusal = client.post(f"{address}snapshot/", follow=True).content.decode()
    assert "No model has a figure to keep." in refusal and not Snapshot.objects.exists()
