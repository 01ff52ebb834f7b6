"""A model that refuses does not rise, and everywhere that models are ranked it is said what is missing."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from django.core.management import call_command

from benchmark.domain.tables import to_latex
from benchmark.models import AnswerFormat, RunItem
from benchmark.services.comparison_tables import pair_table
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import WITHOUT_CALL, forget_report, report_of
from benchmark.services.result_tables import group_table
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.reasons import NO_JUDGEMENT, OPEN, REFUSED, lost_outside
from benchmark.suites.showing.missing import leads
from tests.benchmark.results_world import STORIES, ResultsWorld, results_world
from tests.benchmark.settled import written
from tests.copies import copied

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
KEPT = 2


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    """`random` refuses all stories but two. Of these it has six labels of seven right, which is more than `majority`
    has on average, and less than `majority` has there: all."""
    return copied("missing answers", lambda: _refused(tmp_path))


def _refused(folder) -> ResultsWorld:
    held = results_world(folder)
    places = RunItem.objects.filter(entrant__run=held.run, step="label").select_related("sample")
    for item in places.filter(entrant__name__in=("majority", "random")):
        if item.sample.number <= KEPT:
            gold = [[row["labels"][name] for name in DIMENSIONS] for row in item.sample.beliefs]
            wrong = item.entrant.name == "random"
            said = [[*row[:-1], "" if wrong else row[-1]] for row in gold]
            RunItem.objects.filter(pk=item.pk).update(repaired=item.repaired | {"predicted": said})
        elif item.entrant.name == "random":
            RunItem.objects.filter(pk=item.pk).update(unreadable=REFUSED)
    forget_report(held.run)
    report_of(held.run)
    return held


def entries(world) -> list[dict]:
    return leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage2"]


def test_the_refuser_stands_below_whom_it_refused_against(world):
    first, second = entries(world)[:2]
    assert (first.model, second.model) == ("majority", "random")
    means = [one.parses.overall("repaired").value_of("overall_accuracy") for one in (first, second)]
    assert means[1] > means[0]  # which is what it was ranked by
    ranking = second.ranking["repaired"]
    assert (ranking.rank, ranking.missing, ranking.n) == (2, STORIES - KEPT, STORIES)
    overall = second.parses.overall("repaired").bounds_of("overall_accuracy")
    assert [ranking.value, ranking.best] == pytest.approx(overall)
    # the paper's table 3 and that of the categories have no column of what is missing
    tables = tables_of(document_of(world.run))
    for name in ("main-repaired", "categories-stage2"):
        table = tables[name]()
        [told] = [one for one in table.lead if one.startswith("Stage 2")]
        assert "Missing answers differ: 0.0 to 100.0 % of the stories" in told
        assert "Missing answers differ: 0.0 to 100.0" in to_latex(table).decode()
    # pooled rows mark nothing where models answered different stories
    table = tables["orders-dimensions-repaired"]()
    assert not table.marks() and any("Nothing is marked" in note for note in table.notes)


def test_order_bold_and_differences_agree_on_every_page(world, client):
    client.force_login(world.alice)
    group = next(one for one in client.get(f"{world.base}/results/").context["groups"] if one["key"] == "stage2")
    rows = [row["cells"] for row in group["table"]["rows"]]
    keys = [one["key"] for one in group["table"]["columns"]]
    marks = {cells[0]["text"]: cells[keys.index("repaired_overall_accuracy")]["mark"] for cells in rows}
    assert [cells[0]["text"] for cells in rows][:2] == ["majority", "random"]
    assert marks["majority"] == "best" and marks["random"] == "second"
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None)
    pairs = {
        (row["first"], row["second"], row["category"]): row for row in pair_table(found, "stage2", "repaired").rows
    }
    pair = pairs["majority", "random", ""]
    assert pair["value"].value > 0 and pair["answered_value"] > 0 and pair["answered_n"] == KEPT
    two = pair_of(world.dataset.project, world.entrant("random"), world.entrant("majority"))[1]["stage2"]
    overall = compare(two, "stage2", "repaired").rows[0]
    assert overall.value == pytest.approx(-pair["value"].value) and overall.n == STORIES
    assert overall.first - overall.second == pytest.approx(overall.value)
    document = document_of(world.run)  # the run's own report has the same order
    assert [one.model for one in document.groups["stage2"]][:2] == ["majority", "random"]


def test_what_is_missing_is_said_above_the_pictures_of_differences(world, client):
    client.force_login(world.alice)
    two = f"a={world.entrant('majority')}&b={world.entrant('random')}&group=stage2&parse=repaired"
    compared = written(client.get(f"{world.base}/results/compare/?{two}"))
    saved = written(client.post(f"{world.base}/results/compare/snapshot/", dict(parse_qsl(two)), follow=True))
    every = written(client.get(f"{world.base}/results/differences/?group=stage2&parse=repaired"))
    chart = '<svg class="chart dots"'
    for page, picture in ((compared, chart), (saved, chart), (every, '<img class="drawn')):
        assert "Missing answers differ" in page[: page.index(picture)]
    # all pairs are a picture on the page of differences and in the report, where there are more than two models
    page = client.get(f"{world.base}/results/differences/?group=stage2")
    address = page.context["plot"]["svg"]
    drawn = client.get(address).content.decode()
    assert "majority minus random: " in drawn and page.content.decode().count(address.replace("&", "&amp;")) >= 1
    assert "pairs-stage2-repaired" in plots_of(document_of(world.run))
    assert client.get(f"{world.base}/results/differences/?group=stage1").context["plot"] is None


def test_what_is_missing_is_said_at_the_table_in_the_picture_in_every_file_and_by_the_command(world, client, capsys):
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/"))
    share = f"{100 * (STORIES - KEPT) / STORIES:.1f}"
    assert "Missing answers differ: 0.0 to 100.0 % of the stories" in page
    assert "chart-band" in page and re.search(r"random: repaired [^\"]*left out 78 %, worst to best case ", page)
    held = json.loads(client.get(f"{world.base}/results/tables/stage2.json").content)
    row = next(row for row in held["rows"] if row["model"] == "random")
    assert row["unreadable"] == pytest.approx((STORIES - KEPT) / STORIES) and row["low"]["value"] < row["high"]
    assert any("Missing answers differ" in one for one in held["lead"])
    table = client.get(f"{world.base}/results/tables/stage2.csv").content.decode()
    line = next(line for line in csv.DictReader(io.StringIO(table, newline="")) if line["Model"] == "random")
    names = ("Left out", "Overall, worst case", "Overall, best case")
    left_out, worst, best = (float(line[f"Missing answers (%): {name}"]) for name in names)
    assert left_out == pytest.approx(float(share), abs=0.1) and worst < best
    latex = client.get(f"{world.base}/results/tables/stage2.tex").content.decode()
    assert "Left out" in latex and "worst case" in latex and "Missing answers differ" in latex
    drawn = plots_of(document_of(world.run))["leaderboard-stage2"].draw(format="svg").decode()
    assert f"left out {share} %, worst to best case" in drawn
    assert "bands: worst to best case of missing answers" in words(drawn)
    call_command("leaderboard", project=world.dataset.project.slug, json=True)
    held = json.loads(capsys.readouterr().out)
    rows = {row["model"]: row for row in held["groups"]["stage2"]}
    assert [rows[name]["rank"] for name in ("majority", "random")] == [1, 2]
    told = rows["random"]
    assert told["unreadable"] == STORIES - KEPT and told["left_out"] == pytest.approx((STORIES - KEPT) / STORIES)
    assert told["worst_case"] < told["repaired"]["value"] < told["best_case"]
    assert any("Missing answers differ" in one for one in held["notes"]["stage2"])
    call_command("leaderboard", project=world.dataset.project.slug)
    said = capsys.readouterr().out
    assert "worst to best" in said and "77.8 %" in said and "Missing answers differ" in said


def words(drawn: str) -> str:
    """What an SVG shows as text, its lines together."""
    return " ".join(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn)).split())


def _with_lost(models, counts):
    return [
        replace(model, ranking=model.ranking | {"repaired": replace(model.ranking["repaired"], lost=lost)})
        for model, lost in zip(models, counts, strict=True)
    ]


def test_what_judges_lost_of_several_models_is_one_sentence(world):
    assert all(map(lost_outside, (OPEN, NO_JUDGEMENT, *WITHOUT_CALL.values(), "judgement: no readable row")))
    assert not lost_outside(REFUSED) and not lost_outside("no readable row"), "what the model did not do is not lost"
    models = [entrant for entrant in entries(world) if entrant.kind != "person"]
    told = "Judges or providers lost answers, or rows of them, in 2 stories of majority, random, =HYPERLINK"
    [sentence] = [lead for lead in leads(_with_lost(models, [2] * len(models)), "stage2") if "lost" in lead]
    assert sentence.startswith(told) and sentence.endswith("that shows no difference against them.")
    told = leads(_with_lost(models, [1] + [2] * (len(models) - 1)), "stage2")
    assert "in 1 story of majority: that shows no difference against it." in " ".join(told)
    each_another = _with_lost(models, range(1, len(models) + 1))
    assert [lead for lead in leads(each_another, "stage2") if "lost" in lead] == [
        f"Judges or providers lost answers, or rows of them, in 1 to {len(models)} stories of {len(models)} models, "
        f"most of {models[-1].model}: that shows no difference against them."
    ]
    # a number of rows stands under no per cent
    found = leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage1"]
    groups = {column.key: column.group for column in group_table(found, "stage1").columns}
    assert groups["unreadable"] == "Missing answers (%)" and groups["unjudged"] == ""
