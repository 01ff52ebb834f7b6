"""The leaderboard: whose figures it has, of which stories and runs, who sees it, that it is made once, and that one
that somebody saved stays as it was."""

import html
import json
import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import AuditEvent, Proposition
from benchmark.models import AnswerFormat, Audience, Dataset, RunItem, Snapshot, StoryScores
from benchmark.services.archiving import archive_run, delete_run
from benchmark.services.datasets import publish_version
from benchmark.services.documents import Document, document_from, tables_of
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs, leaderboard_of
from benchmark.services.leaderboards import selections_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import reports_of, scores_of
from benchmark.services.result_tables import group_table
from benchmark.services.snapshots import save_leaderboard_snapshot
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world, values
from tests.benchmark.settled import written
from tests.benchmark.test_run_commands import refused, told
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path, client) -> ResultsWorld:
    world = results_world(tmp_path)
    client.force_login(world.alice)
    return world


def entrants(world, group: str = "stage2", split: str | None = None, **which) -> list:
    return leaderboard_of(world.dataset, AnswerFormat.TEXT, split, **which).entrants[group]


@pytest.mark.once
def test_the_figures_are_those_of_score_outputs(world, client):
    """To the last digit, in both parses, as `run_benchmark --wait` prints them, and as it is downloaded."""
    expected, beside = scores_of(world.run), {"interval", "n", "unreadable", "bounds"}
    for group, names in (("stage1", {"omniscient", HOSTILE}), ("stage2", {"majority", "random", HOSTILE})):
        shown = {one.model: one for one in entrants(world, group)}
        assert set(shown) == names
        for name, one in shown.items():
            for parse in ("official", "repaired"):
                both = [one.parses.of(parse).told()["overall"], expected[name][parse][group]["overall"]]
                ours, theirs = ({key: told[key] for key in told if key not in beside} for told in both)
                assert ours == theirs
            assert one.parses.overall("repaired").told == expected[name]["repaired"][group]["overall"]
    held = json.loads(client.get(f"{world.base}/results/tables/stage2.json").content)
    rows = {row["model"]: row for row in held["rows"]}
    official = expected["majority"]["official"]["stage2"]["overall"]["overall_accuracy"]
    assert rows["majority"]["official_overall_accuracy"]["value"] == official
    assert not any(key.startswith("_") for row in held["rows"] for key in row)
    # a model that is not readable is 0 officially and missing when repaired
    row = values(group_table([shown[HOSTILE]], "stage2").rows[0])
    assert (row["official_overall_accuracy"], row["repaired_overall_accuracy"]) == ("0.000000", None)
    assert (row["low"], row["high"], row["unreadable"], row["stories"]) == (0.0, 1.0, 1.0, STORIES)
    assert shown[HOSTILE].group["repaired"] is None


def test_a_part_of_the_stories_is_scored_as_if_it_alone_had_been_asked_for(world):
    """A run of the first five stories and a selection of these five out of a run of nine have the same figures."""
    small = world.another("majority", limit=5)
    expected, key = scores_of(small), f"run:{small.uid}"
    runs = finished_runs(world.dataset, AnswerFormat.TEXT)
    assert [one.key for one in selections_of(world.dataset, reports_of(runs), runs)] == ["", key]
    assert {one.run for one in entrants(world)} == {world.run.uid}, "only where it covers the stories"
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, key, all_runs=True)
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


def test_of_equal_settings_only_the_newest_is_shown(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", steps=("label",))
    again = world.another("m", "majority", steps=("label",))
    other = world.another("m", steps=("label",), max_tokens=50)
    found = {one.model: one for one in entrants(world)}
    shown = {model: (one.run, one.others) for model, one in found.items() if one.name == "m"}
    assert shown == {"m (longest answer 6,000 tokens)": (again.uid, 1), "m (longest answer 50 tokens)": (other.uid, 0)}
    assert (found["majority"].run, found["majority"].others) == (again.uid, 1)  # it reads no prompt
    every = entrants(world, all_runs=True)
    assert len({one.model for one in every}) == len(every) == 7


@pytest.mark.once
def test_structured_and_free_text_are_never_in_one_table(world, client):
    structured = world.another("majority", "random", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    for answer_format, uid, other in (
        (AnswerFormat.TEXT, world.run.uid, structured.uid),
        (AnswerFormat.STRUCTURED, structured.uid, world.run.uid),
    ):
        page = written(client.get(f"{world.base}/results/?answer_format={answer_format}"))
        assert f"/runs/{uid}/" in page and f"/runs/{other}/" not in page
    assert "Structured output has no official parse" in page and "Official parse (%)" not in page


def test_runs_on_other_gold_are_named_as_stale(world, client):
    cache.clear()
    row = Proposition.objects.filter(table__story__project=world.dataset.project).first()

    def label(labels: dict) -> None:
        row.imported_labels = labels
        row.save(update_fields=["imported_labels"])
        cache.clear()  # an import would be logged; this test writes past the log

    held = row.imported_labels
    label(held | {"order": "0" if held["order"] != "0" else "1"})
    _, new = publish_version(by=None, project=world.dataset.project)
    assert new and Dataset.objects.count() == 2
    page = written(client.get(f"{world.base}/results/"))  # the newest version that has runs
    assert "Version 2" in page and f"{world.base}/runs/gold/?version=1" in page
    told = written(client.get(f"{world.base}/runs/gold/?version=1"))
    assert "These results are of version 1; the present gold is version 2." in told and "1 run on" not in told
    assert "1 run on version 1 is stale" in written(client.get(f"{world.base}/runs/gold/?version=2"))
    label(held)
    told = written(client.get(f"{world.base}/runs/gold/?version=1"))
    assert "These results" not in told and "stale" not in told  # gold is as it was, though version 2 is newer


@pytest.mark.once
def test_it_is_sorted_filtered_and_opens_the_items_behind_each_figure(world, client):
    for query, models in {
        "": ["majority", "random", HOSTILE],
        "sort=repaired_overall_accuracy": ["random", "majority", HOSTILE],  # without a score last either way
        "sort=model": [HOSTILE, "majority", "random"],
        "sort=-model": ["random", "majority", HOSTILE],
        "model=MAJ": ["majority"],
        "show=baseline": ["majority", "random"],
        "sort=no_such_column": ["majority", "random", HOSTILE],
    }.items():
        groups = client.get(f"{world.base}/results/?{query}").context["groups"]
        group = next(one for one in groups if one["key"] == "stage2")
        assert [row["cells"][0]["text"] for row in group["table"]["rows"]] == models, query
    page = written(client.get(f"{world.base}/results/"))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and "{{7*7}}" in page
    entrant = world.run.entrants.get(name="majority").pk
    address = f"{world.base}/runs/{world.run.uid}/items/?model={entrant}&amp;step=label"
    assert address in page and client.get(address.replace("&amp;", "&")).status_code == 200


def test_questions_to_the_database_do_not_grow_and_the_comparison_is_made_once(world, client, monkeypatch):
    def asked() -> int:
        client.get(f"{world.base}/results/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"{world.base}/results/")
        return len(queries)

    few = asked()
    for level in (1, 2, 4):
        world.another("majority", "random", level=level)
    assert asked() == few <= 24
    entrants(world)
    monkeypatch.setattr("benchmark.services.leaderboards._compare", lambda *found: pytest.fail("compared again"))
    assert entrants(world)
    cache.clear()
    with pytest.raises(pytest.fail.Exception):
        entrants(world)


def test_figures_follow_the_items(world):
    """A report whose items changed is computed again, and its scores by story with it."""
    before, held = entrants(world), set(StoryScores.objects.values_list("pk", flat=True))
    place = RunItem.objects.filter(entrant__run=world.run, entrant__name="majority", step="label").first()
    RunItem.objects.filter(pk=place.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    old, new = (next(one for one in of if one.model == "majority").parses for of in (before, entrants(world)))
    assert not held & set(StoryScores.objects.current().values_list("pk", flat=True))
    assert new.official is None  # official scoring has no figure where an answer lacks
    assert (old.overall("repaired").stories, new.overall("repaired").stories) == (STORIES, STORIES - 1)


@pytest.mark.once
def test_who_may_see_results(world, client):
    """The link is there for every member; who may not see results learns who can, and why."""
    for least, audience in enumerate((Audience.EVERYONE, Audience.EXPERTS, Audience.ADMINS)):
        world.show_to(audience)
        for rank, person in enumerate((world.bob, world.esi, world.alice)):
            client.force_login(person)
            page = client.get(f"{world.base}/results/")
            assert page.status_code == 200
            assert ("Stage 2: labelling" in page.content.decode()) == (rank >= least)
            if rank < least:
                for told in ("Results are not shown to you yet", audience.label.lower(), "alice"):
                    assert told in page.content.decode(), told
                assert client.get(f"{world.base}/results/tables/stage2.json").status_code == 403
        client.force_login(world.charlie)
        assert client.get(f"{world.base}/results/").status_code == 404


# --- a leaderboard that somebody saved stays as it was, down to its items, whatever becomes of its runs


def leaderboard(world, split: str = "") -> Leaderboard:
    return leaderboard_of(world.dataset, world.run.answer_format, split)


def saved(world, split: str = "") -> Snapshot:
    of = {"dataset": world.dataset, "leaderboard": leaderboard(world, split), "query": {"split": split}}
    return save_leaderboard_snapshot(by=world.alice, **of)


def shown(client, world, report: Snapshot, tail: str = "") -> str:
    response = client.get(f"{world.base}/results/snapshots/{report.uid}/{tail}")
    assert response.status_code == 200
    return response.content.decode()


def ranking(text: str) -> list[str]:
    """The cells of the tables, whatever they link to."""
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", text, re.S)]


def test_a_saved_leaderboard_stays_as_it_was(world, client):
    answer = client.post(f"{world.base}/results/snapshot/", {"query": "split=", "title": "For the paper"})
    report = Snapshot.objects.get()
    assert answer["Location"] == f"{world.base}/results/snapshots/{report.uid}/" and report.title == "For the paper"
    before = ranking(shown(client, world, report))
    assert {"majority", "random", "omniscient"} <= {row.partition(" ")[0] for row in before}
    live, kept = (
        re.findall(r">(\d+\.\d\d)<", page)
        for page in (client.get(f"{world.base}/results/").content.decode(), shown(client, world, report))
    )
    assert live == kept[: len(live)], "the figures are the leaderboard's"
    delete_run(by=world.alice, run=world.run, now=timezone.now())
    assert ranking(shown(client, world, report)) == before
    assert AuditEvent.objects.filter(action="snapshot.saved", target=report.uid).exists()


def test_its_links_open_the_items_of_their_time(world, client):
    report = saved(world)
    assert report.items.count() == RunItem.objects.count()
    # it has the files of the leaderboard
    live, kept = Document(kind="leaderboard", groups=leaderboard(world).entrants), document_from(report.metrics)
    assert {*tables_of(kept)} == {*tables_of(live)} and {*plots_of(kept)} == {*plots_of(live)}
    assert "majority" in shown(client, world, report, "tables/stage2.csv")
    assert "<svg" in shown(client, world, report, "figures/leaderboard-stage2.svg")
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+/items/\?[^"]+)"', shown(client, world, report))]
    assert links and all(f"/results/snapshots/{report.uid}/items/" in link for link in links)
    RunItem.objects.update(score=None, official=None)
    for link in [link for link in links if "problem=" not in link][:3]:
        assert re.search(r'id="item-\d+"', client.get(link).content.decode()), link


def test_it_says_what_it_ranks_and_what_made_its_runs_and_keeps_the_items_of_a_part_of_the_stories(world, client):
    few = world.another("majority", steps=("label",), judge=None, limit=3)
    report = saved(world, f"run:{few.uid}")
    assert len(report.metrics["numbers"]) == 3
    assert {*report.items.values_list("sample__number", flat=True)} == {*report.metrics["numbers"]}
    report = saved(world)
    facts = dict(map(tuple, report.metrics["facts"]))
    assert facts["Ranked over"] == "All 9 stories" and "1 run" in facts["Rows"]
    assert "lexical-judge" in facts["Ranking of Stage 1: extraction"]
    assert any(world.run.uid in value for _, value in report.metrics["facts"])
    headings = [part["heading"] for part in report.metrics["methods"]]
    assert "Data" in headings and len(headings) == len({*headings})
    text = shown(client, world, report)
    assert "The leaderboard as it is now" in text and f"{world.base}/results/?split=" in text


def test_who_may_save_it_and_who_may_open_it(world, client):
    address = f"{world.base}/results/snapshot/"
    world.show_to(Audience.EXPERTS)
    for person, status in ((world.charlie, 404), (world.bob, 403), (world.esi, 302)):
        client.force_login(person)
        assert client.post(address, {"query": ""}).status_code == status
    page = f"{world.base}/results/snapshots/{Snapshot.objects.get().uid}/"
    for person, status in ((world.charlie, 404), (world.bob, 403), (world.esi, 200), (world.alice, 200)):
        client.force_login(person)
        assert client.get(page).status_code == status


def test_a_command_saves_it_and_an_empty_one_is_not_kept(world, client):
    calls = Call.objects.count()
    slug = world.dataset.project.slug
    made = told("save_snapshot", "--page", "leaderboard", "--project", slug, "--title", "March")
    report = Snapshot.objects.get()
    assert made["snapshot"] == report.uid and report.title == "March"
    assert made["address"] == f"{world.base}/results/snapshots/{report.uid}/"
    assert report.metrics["query"]["split"] == "" and Call.objects.count() == calls
    assert refused("save_snapshot", "--title", "March") == "Name a run, or a page with --page."
    archive_run(by=None, run=world.run, now=timezone.now())
    answer = client.post(f"{world.base}/results/snapshot/", {"query": ""}, follow=True)
    assert "The leaderboard has no row to keep." in answer.content.decode() and Snapshot.objects.count() == 1
