"""A model that a ranking does not have is named with the reason wherever the ranking goes: page, files, pictures,
commands, snapshots."""

import csv
import io
import re
from dataclasses import dataclass, field, replace
from html import unescape

import pytest
from django.core.management import call_command

from benchmark.access import whole_document
from benchmark.domain.tables import Absent, absent_text, to_csv, to_json, to_latex
from benchmark.models import AnswerFormat, RunItem
from benchmark.services.documents import Document, document_from, document_of, leaderboard_document, tables_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import forget_report, report_of
from benchmark.services.snapshots import save_run_snapshot
from benchmark.suites.reports import GroupMetrics
from tests.benchmark.results_world import HOSTILE, ResultsWorld, endpoint, results_world
from tests.benchmark.settled import written
from tests.benchmark.test_run_commands import refused, told
from tests.copies import copied

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
LEXICAL = "ranked apart: judged by strict, rules"


@pytest.fixture
def world(tmp_path, client) -> ResultsWorld:
    """`apart` was judged by another judge than the others; Alice is logged in."""
    held = copied("absent models", lambda: _judged_apart(tmp_path))
    client.force_login(held.alice)
    return held


def _judged_apart(folder) -> ResultsWorld:
    held = results_world(folder)
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    for name, judge in (("other", held.models["lexical-judge"]), ("apart", strict)):
        held.models[name] = endpoint(name, options={"default": "no table"})
        report_of(held.another(name, steps=("extract", "judge"), judge=judge))
    return held


def lines_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def words(drawn: bytes) -> str:
    """What a picture shows as text, its lines together."""
    return unescape(" ".join(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn.decode())).split()))


def drawn(document: Document, name: str) -> str:
    return words(plots_of(document)[name].draw(format="svg"))


def test_files_and_pictures_of_a_leaderboard_name_who_is_ranked_apart(world, client):
    tables, file = f"{world.base}/results/tables/stage1", f"{world.base}/results/differences/stage1.csv"
    line = next(one for one in lines_of(client.get(f"{tables}.csv").content) if one["Model"] == "apart")
    assert line["Absent because"].startswith(LEXICAL) and not line["Repaired parse (%): F1"]
    held = client.get(f"{tables}.json").json()
    assert [one["model"] for one in held["absent"]] == ["apart"]
    assert "apart" not in [one["model"] for one in held["rows"]]
    assert "Not in this table: apart (ranked apart" in client.get(f"{tables}.tex").content.decode()
    metric = client.get(f"{world.base}/results/figures/leaderboard-stage1.svg?theme=light").content
    assert f"without figures here: apart ({LEXICAL}" in words(metric)
    page = client.get(f"{world.base}/results/")
    assert "Ranked apart, as they were asked or judged otherwise: <bdi>apart</bdi>" in written(page)
    assert [one["First"] for one in lines_of(client.get(file).content) if one["Absent because"]] == ["apart"]
    # what is to be read first stands above picture and table
    leads = {group["key"]: group["chart"].lead for group in page.context["groups"]}
    assert all("Missing answers differ" in lead[0] for lead in leads.values())
    text = page.content.decode()
    assert text.index("Missing answers differ") < text.index('<svg class="chart dots"') < text.index("<table")
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    document = leaderboard_document("Leaderboard", found.entrants, found.absent)
    for name, make in tables_of(document).items():
        if name not in ("stage2", "categories-stage2", "judge-tests") and not name.startswith("dimensions"):
            table = make()
            assert [one.model for one in table.absent] == ["apart"], name
            assert b"apart" in to_csv(table) and b"apart" in to_json(table) and b"apart" in to_latex(table)
    for name in ("leaderboard-stage1", "f1-by-category-repaired"):
        assert "apart (ranked apart" in drawn(document, name)
    # and in the file, with what the ranking is by
    lines = lines_of(to_csv(tables_of(leaderboard_document("Leaderboard", found.entrants))["stage2"]()))
    assert [one["Model"] for one in lines[3:]] == ["Chance level", "Majority baseline"]
    assert {one["Ranked by"].split(";")[0] for one in lines} == {"worst case (missing answers at their worst)"}
    assert {"asked with omnitom-1, level 3" in one["Ranked by"] for one in lines} == {True}
    assert {one["Read first"].split(" of the")[0] for one in lines} == {"Missing answers differ: 0.0 to 100.0 %"}
    assert HOSTILE in lines[0]["Read first"]
    # models that one reason keeps out are named together
    absent = [Absent("one", LEXICAL), Absent("two", "not asked"), Absent("three", LEXICAL)]
    assert absent_text(absent) == f"one, three ({LEXICAL}); two (not asked)"


def test_the_command_names_them_and_chooses_a_ranking_by_its_judge(world, capsys):
    project = ("--project", world.dataset.project.slug)
    call_command("leaderboard", *project)
    assert "Ranked apart: apart (1 with --judge" in capsys.readouterr().out
    found = told("leaderboard", *project)
    [absent] = found["absent"]
    assert (absent["group"], absent["model"]) == ("stage1", "apart") and absent["why"].startswith(LEXICAL)
    assert found["rankings"]["stage1"]["others"][0]["models"] == ["apart"]
    found = told("leaderboard", *project, "--judge", "strict")
    assert found["rankings"]["stage1"]["judge"].startswith("strict, rules")
    assert [one["model"] for one in found["groups"]["stage1"]] == ["apart"]
    refusal = refused("leaderboard", *project, "--judge", "stri", "--json")
    assert refusal.startswith("No ranking has the judge 'stri'; there are: ")


def test_who_was_asked_about_a_part_of_the_stories_is_named(world, client, capsys):
    """`small` was asked about three of the nine stories, and before about two of them."""
    world.models["small"] = endpoint("small", options={"default": "no table"})
    world.another("small", steps=("label",), limit=2)
    small = world.another("small", "majority", steps=("label",), limit=3)
    covered = "its run has 3 of these 9 stories"
    slug, base = world.dataset.project.slug, f"{world.base}/results/"
    [absent] = [one for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).absent if one.group == "stage2"]
    assert (absent.model, absent.run, absent.why, absent.covered) == ("small", small.uid, covered, 3)
    page = client.get(base)
    [group] = [one for one in page.context["groups"] if one["key"] == "stage2"]
    [named] = group["uncovered"]
    assert f"Without a run on all of these stories: <bdi>small</bdi> ({covered}" in written(page)
    there = client.get(f"{base}?{named['query']}").context["leaderboard"]
    assert there.chosen.stories == {1, 2, 3}
    assert {"small", "majority"} <= {one.name for one in there.entrants["stage2"]}
    assert not [one for one in there.absent if one.group == "stage2"]
    assert covered in written(client.get(f"{base}differences/?group=stage2"))
    lines = lines_of(client.get(f"{base}tables/stage2.csv").content)
    assert [one["Model"] for one in lines if one["Absent because"] == covered] == ["small"]
    metric = client.get(f"{base}figures/leaderboard-stage2.svg?theme=light").content
    assert f"small ({covered})" in words(metric)
    call_command("leaderboard", project=slug)
    line = f"Without a run on all of these stories: small ({covered}; --split run:{small.uid})."
    assert line in capsys.readouterr().out.splitlines()
    [absent] = [one for one in told("leaderboard", "--project", slug)["absent"] if one["group"] == "stage2"]
    assert absent == {"group": "stage2", "model": "small", "run": small.uid, "why": covered, "covered": 3}
    # so does a comparison
    sentence = "small was not asked about 6 of the 9 stories: only the 3 that both have are compared."
    asked = {"a": world.entrant("majority"), "b": f"{small.uid}.{small.entrants.get(name='small').pk}"}
    page = client.get(f"{base}compare/", asked)
    assert sentence in written(page)
    cells = {row["number"]: row["cells"][1] for row in page.context["stories"]}
    assert {number for number, cell in cells.items() if cell["text"] == "not asked"} == {4, 5, 6, 7, 8, 9}
    assert {cells[number]["text"] for number in (1, 2, 3)} == {"unreadable"} and not cells[9]["href"]
    alone = client.get(f"{base}compare/", asked | {"split": f"run:{small.uid}"})
    assert "was not asked about" not in written(alone)
    sides = ("--run", world.run.uid, "--other-run", small.uid, "--model", "majority", "--other-model", "small")
    assert sentence in told("results", "differences", "--project", slug, "--group", "stage2", *sides)["lead"]


def test_what_has_no_figure_or_no_official_reading_is_named_in_pictures(world):
    document = document_of(world.run)
    for name in ("dimensions-repaired", "orders-dimensions-repaired"):
        assert "(no usable story: no readable row 9)" in drawn(document, name), name
    # in the matrix it stands with its worst case
    assert "no usable story" not in drawn(document, "pairs-stage2-repaired")
    lost = RunItem.objects.filter(entrant__run=world.run, step="label", entrant__name="random").first()
    RunItem.objects.filter(pk=lost.pk).update(official=None, repaired=None, score=None, repaired_score=None, call=None)
    # a refusal in a category leaves its score open; rows a story have no bound, and the caption says why
    item = RunItem.objects.filter(entrant__run=world.run, step="judge", entrant__name="omniscient").first()
    RunItem.objects.filter(entrant=item.entrant, sample=item.sample).update(unreadable="the model refused")
    forget_report(world.run)
    document = document_of(world.run)
    for of in (document, document_from(save_run_snapshot(by=world.alice, run=world.run).metrics)):
        table = tables_of(of)["orders-dimensions-official"]()
        [absent] = table.absent
        assert absent.model == "random" and "Story" in absent.why
        assert "Not in this table: random (" in to_latex(table).decode()
        assert "random (" in drawn(of, "dimensions-official")
    bands = "bands: worst to best case of missing answers"
    picture = plots_of(document)["f1-by-category-repaired"].draw(format="svg")
    assert bands in words(picture) and b"worst to best case" in picture
    assert f"{bands} (rows a story have none" in drawn(document, "volume-repaired")
    assert "left out here, without bounds" in drawn(document, "orders-repaired")
    assert "bands" not in drawn(document, "f1-by-category-official")


def test_nothing_is_said_of_missing_answers_where_they_do_not_differ(world, client):
    even = world.another("majority", "random", "omniscient", seed=5)
    page = client.get(f"{world.base}/runs/{even.uid}/report/")
    assert all(not chart.lead for chart in page.context["charts"].values())
    assert "Missing answers differ" not in page.content.decode()
    assert "Missing answers differ" not in to_csv(tables_of(document_of(even))["stage2"]()).decode()


@dataclass(frozen=True)
class Row:
    """What is withheld by: the kind of an entrant, its corrected scores, and what follows from gold."""

    kind: str
    corrected: None = None
    metrics: GroupMetrics = field(default_factory=GroupMetrics)


def test_rows_of_people_that_wait_are_named():
    groups = {"stage1": [], "stage2": [Row("person"), Row("model")]}
    document = Document(kind="run", groups=groups, absent={}, numbers=[1, 2, 3, 4, 5, 6])
    held = whole_document(document, {1, 2, 9})
    [left] = held.groups["stage2"]
    assert (left.kind, left.metrics.levels, left.metrics.tells_levels) == ("model", None, False)
    assert held.absent["stage2"] == [Absent("People", "withheld: you still have work to do on 2 of these stories")]
    without = whole_document(replace(document, groups={"stage1": [], "stage2": [Row("model")]}), {1})
    assert without.absent == {}
