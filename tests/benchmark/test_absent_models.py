"""A model that a ranking does not have is named with the reason wherever the ranking goes: page, files, pictures,
commands, snapshots."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field, replace
from html import unescape

import pytest
from django.core.management import CommandError, call_command

from benchmark.domain.tables import Absent, absent_text, to_csv, to_json, to_latex
from benchmark.models import AnswerFormat, RunItem
from benchmark.services.documents import Document, document_from, document_of, leaderboard_document, tables_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import forget_report, report_of
from benchmark.services.snapshots import save_run_snapshot
from benchmark.services.withheld import whole_document
from benchmark.suites.reports import GroupMetrics
from tests.benchmark.results_world import HOSTILE, ResultsWorld, endpoint, results_world
from tests.benchmark.settled import written
from tests.copies import copied

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
LEXICAL = "ranked apart: judged by strict, rules"


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    """`apart` was judged by another judge than the others."""
    return copied("absent models", lambda: _judged_apart(tmp_path))


def _judged_apart(folder) -> ResultsWorld:
    held = results_world(folder)
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    for name in ("apart", "other"):
        held.models[name] = endpoint(name, options={"default": "no table"})
    for name, judge in (("other", held.models["lexical-judge"]), ("apart", strict)):
        report_of(held.another(name, steps=("extract", "judge"), judge=judge))
    return held


def lines_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def words(drawn: bytes) -> str:
    """What a picture shows as text, its lines together."""
    return unescape(" ".join(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn.decode())).split()))


def test_models_that_one_reason_keeps_out_are_named_together():
    absent = [Absent("one", LEXICAL), Absent("two", "not asked"), Absent("three", LEXICAL)]
    assert absent_text(absent) == f"one, three ({LEXICAL}); two (not asked)"


def test_files_and_pictures_of_a_leaderboard_name_who_is_ranked_apart(world, client):
    client.force_login(world.alice)
    tables = f"{world.base}/results/tables/stage1"
    line = next(one for one in lines_of(client.get(f"{tables}.csv").content) if one["Model"] == "apart")
    assert line["Absent because"].startswith(LEXICAL) and not line["Repaired parse (%): F1"]
    held = json.loads(client.get(f"{tables}.json").content)
    assert [one["model"] for one in held["absent"]] == ["apart"] and "apart" not in [
        one["model"] for one in held["rows"]
    ]
    assert "Not in this table: apart (ranked apart" in client.get(f"{tables}.tex").content.decode()
    metric = client.get(f"{world.base}/results/figures/leaderboard-stage1.svg?theme=light").content
    assert f"without figures here: apart ({LEXICAL}" in words(metric)
    page = " ".join(client.get(f"{world.base}/results/").content.decode().split())
    assert "Ranked apart, as they were asked or judged otherwise: <bdi>apart</bdi>" in page
    differences = lines_of(client.get(f"{world.base}/results/differences/stage1.csv").content)
    assert [one["First"] for one in differences if one["Absent because"]] == ["apart"]


def test_every_table_and_picture_of_models_names_them(world):
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    document = leaderboard_document("Leaderboard", found.entrants, found.absent)
    for name, make in tables_of(document).items():
        if name not in ("stage2", "categories-stage2", "judge-tests") and not name.startswith("dimensions"):
            table = make()
            assert [one.model for one in table.absent] == ["apart"], name
            assert b"apart" in to_csv(table) and b"apart" in to_json(table) and b"apart" in to_latex(table)
    for name in ("leaderboard-stage1", "f1-by-category-repaired"):
        assert "apart (ranked apart" in words(plots_of(document)[name].draw(format="svg"))


@pytest.fixture
def small(world):
    """`small` was asked about three of the nine stories, and before about two of them."""
    world.models["small"] = endpoint("small", options={"default": "no table"})
    world.another("small", steps=("label",), limit=2)
    return world.another("small", "majority", steps=("label",), limit=3)


COVERED = "its run has 3 of these 9 stories"


def test_the_command_names_them_and_chooses_a_ranking_by_its_judge(world, capsys):
    slug = world.dataset.project.slug

    def told(**options) -> dict:
        call_command("leaderboard", project=slug, json=True, **options)
        return json.loads(capsys.readouterr().out)

    call_command("leaderboard", project=slug)
    assert "Ranked apart: apart (1 with --judge" in capsys.readouterr().out
    found = told()
    [absent] = found["absent"]
    assert (absent["group"], absent["model"]) == ("stage1", "apart") and absent["why"].startswith(LEXICAL)
    assert found["rankings"]["stage1"]["others"][0]["models"] == ["apart"]
    found = told(judge="strict")
    assert found["rankings"]["stage1"]["judge"].startswith("strict, rules")
    assert [one["model"] for one in found["groups"]["stage1"]] == ["apart"]
    with pytest.raises(CommandError, match=r"^No ranking has the judge 'stri'; there are: "):
        told(judge="stri")


def test_who_was_asked_about_a_part_of_the_stories_is_named(world, small, client, capsys):
    slug, base = world.dataset.project.slug, f"{world.base}/results/"
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    [absent] = [one for one in found.absent if one.group == "stage2"]
    assert (absent.model, absent.run, absent.why, absent.covered) == ("small", small.uid, COVERED, 3)
    client.force_login(world.alice)
    page = client.get(base)
    [group] = [one for one in page.context["groups"] if one["key"] == "stage2"]
    [named] = group["uncovered"]
    assert f"Without a run on all of these stories: <bdi>small</bdi> ({COVERED}" in written(page)
    there = client.get(f"{base}?{named['query']}").context["leaderboard"]
    assert there.chosen.stories == {1, 2, 3}
    assert {"small", "majority"} <= {one.name for one in there.entrants["stage2"]}
    assert not [one for one in there.absent if one.group == "stage2"]
    assert COVERED in written(client.get(f"{base}differences/?group=stage2"))
    lines = lines_of(client.get(f"{base}tables/stage2.csv").content)
    assert [one["Model"] for one in lines if one["Absent because"] == COVERED] == ["small"]
    metric = client.get(f"{base}figures/leaderboard-stage2.svg?theme=light").content
    assert f"small ({COVERED})" in words(metric)
    call_command("leaderboard", project=slug)
    told = f"Without a run on all of these stories: small ({COVERED}; --split run:{small.uid})."
    assert told in capsys.readouterr().out.splitlines()
    call_command("leaderboard", project=slug, json=True)
    [absent] = [one for one in json.loads(capsys.readouterr().out)["absent"] if one["group"] == "stage2"]
    assert absent == {"group": "stage2", "model": "small", "run": small.uid, "why": COVERED, "covered": 3}


def test_a_comparison_says_who_was_asked_about_a_part_of_the_stories(world, small, client, capsys):
    told = "small was not asked about 6 of the 9 stories: only the 3 that both have are compared."
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": f"{small.uid}.{small.entrants.get(name='small').pk}"}
    page = client.get(f"{world.base}/results/compare/", asked)
    assert told in written(page)
    cells = {row["number"]: row["cells"][1] for row in page.context["stories"]}
    assert {number for number, cell in cells.items() if cell["text"] == "not asked"} == {4, 5, 6, 7, 8, 9}
    assert {cells[number]["text"] for number in (1, 2, 3)} == {"unreadable"} and not cells[9]["href"]
    alone = client.get(f"{world.base}/results/compare/", asked | {"split": f"run:{small.uid}"})
    assert "was not asked about" not in written(alone)
    sides = {"run": world.run.uid, "other_run": small.uid, "model": "majority", "other_model": "small"}
    call_command("results", "differences", project=world.dataset.project.slug, group="stage2", json=True, **sides)
    assert told in json.loads(capsys.readouterr().out)["lead"]


def test_who_has_no_usable_story_is_named_in_pictures_without_a_mark(world):
    document = document_of(world.run)
    for name in ("dimensions-repaired", "orders-dimensions-repaired"):
        assert "(no usable story: no readable row 9)" in words(plots_of(document)[name].draw(format="svg")), name
    # in the matrix it stands with its worst case
    assert "no usable story" not in words(plots_of(document)["pairs-stage2-repaired"].draw(format="svg"))


def test_who_has_no_official_reading_is_named_in_what_is_official(world):
    lost = RunItem.objects.filter(entrant__run=world.run, step="label", entrant__name="random").first()
    RunItem.objects.filter(pk=lost.pk).update(official=None, repaired=None, score=None, repaired_score=None, call=None)
    forget_report(world.run)
    saved = document_from(save_run_snapshot(by=world.alice, run=world.run).metrics)
    for document in (document_of(world.run), saved):
        table = tables_of(document)["orders-dimensions-official"]()
        [absent] = table.absent
        assert absent.model == "random" and "Story" in absent.why
        assert "Not in this table: random (" in to_latex(table).decode()
        assert "random (" in words(plots_of(document)["dimensions-official"].draw(format="svg"))


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
    assert [(one.kind, one.metrics.levels, one.metrics.tells_levels) for one in held.groups["stage2"]] == [
        ("model", None, False)
    ]
    assert held.absent["stage2"] == [Absent("People", "withheld: you still have work to do on 2 of these stories")]
    without = whole_document(replace(document, groups={"stage1": [], "stage2": [Row("model")]}), {1})
    assert without.absent == {}


def test_the_ranking_and_what_is_to_be_read_first_stand_in_csv(world):
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    lines = lines_of(to_csv(tables_of(leaderboard_document("Leaderboard", found.entrants))["stage2"]()))
    assert [one["Model"] for one in lines[3:]] == ["Chance level", "Majority baseline"]
    assert {one["Ranked by"].split(";")[0] for one in lines} == {"worst case (missing answers at their worst)"}
    assert {"asked with omnitom-1, level 3" in one["Ranked by"] for one in lines} == {True}
    assert {one["Read first"].split(" of the")[0] for one in lines} == {"Missing answers differ: 0.0 to 100.0 %"}
    assert HOSTILE in lines[0]["Read first"]


def test_nothing_is_said_of_missing_answers_where_they_do_not_differ(world, client):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/")
    leads = {group["key"]: group["chart"].lead for group in page.context["groups"]}
    assert all("Missing answers differ" in told[0] for told in leads.values())
    text = page.content.decode()
    assert text.index("Missing answers differ") < text.index('<svg class="chart dots"') < text.index("<table")
    even = world.another("majority", "random", "omniscient", seed=5)
    page = client.get(f"{world.base}/runs/{even.uid}/report/")
    assert all(not chart.lead for chart in page.context["charts"].values())
    assert "Missing answers differ" not in page.content.decode()
    assert "Missing answers differ" not in to_csv(tables_of(document_of(even))["stage2"]()).decode()


def test_pictures_by_category_and_volume_have_bounds(world):
    """A refusal in a category leaves its score open; rows a story have no bound, and the caption says why."""
    item = RunItem.objects.filter(entrant__run=world.run, step="judge", entrant__name="omniscient").first()
    RunItem.objects.filter(entrant=item.entrant, sample=item.sample).update(unreadable="the model refused")
    forget_report(world.run)
    found = plots_of(document_of(world.run))
    drawn = found["f1-by-category-repaired"].draw(format="svg")
    assert "bands: worst to best case of missing answers" in words(drawn) and b"worst to best case" in drawn
    said = words(found["volume-repaired"].draw(format="svg"))
    assert "bands: worst to best case of missing answers (rows a story have none" in said
    assert "left out here, without bounds" in words(found["orders-repaired"].draw(format="svg"))
    assert "bands" not in words(found["f1-by-category-official"].draw(format="svg"))
