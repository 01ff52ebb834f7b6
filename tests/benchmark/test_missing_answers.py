"""A model that refuses does not rise, and everywhere that models are ranked it is said what is missing."""

import csv
import io
import json
import re
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.core.management import call_command

from benchmark.domain.estimating import StoryScore
from benchmark.domain.inference import Cases, leaderboard
from benchmark.domain.tables import to_latex
from benchmark.models import AnswerFormat, RunItem
from benchmark.services.comparison_tables import pair_table
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import WITHOUT_CALL, forget_report, report_of
from benchmark.services.result_tables import OFFICIALLY, group_table
from benchmark.suites.figures import cases_by_story, mean_columns, official_metrics
from benchmark.suites.groups import GUESSED, LEFT_OUT, WRONG
from benchmark.suites.measuring import ACCURACY, measured_samples, scored_by, undefined
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.opentom.measure import GROUP
from benchmark.suites.questions import Entered, Outcome, Sample
from benchmark.suites.reasons import NO_JUDGEMENT, OPEN, REFUSED, lost_outside
from benchmark.suites.registry import suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.settings import Settings
from benchmark.suites.showing.entrants import score_of
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


# --- what an official parse cannot read is counted as its suite says, with the number of answers of its figures


UNREADABLE: dict[str, Any] = {"label": -1}
RESOURCES = SimpleNamespace(derived=lambda name, compute: {"a/coarse": 1})  # the labels of the majority


def verdict(sample: Sample, outcome: Outcome, parse: str) -> bool | None:
    return outcome.official["label"] == 1 if outcome.official["label"] != -1 else None


def scored(sample: Sample, outcomes) -> StoryScore:
    return undefined(sample, GROUP.shares) if sample.content["nothing"] else scored_by(verdict)(sample, outcomes)


def measured(labels: list[int]):
    """What answers with these labels come to, of which 1 is right and -1 cannot be read, and a question that has no
    figure by definition."""
    samples, outcomes = [], {}
    for at, label in enumerate([*labels, 1]):
        content = {"nothing": at == len(labels), "perspective": "", "kind": "coarse"}
        samples.append(Sample(f"q{at}", f"n{at}", content, {"label": 1}, "a", number=at + 1))
        outcomes[f"q{at}"] = [Outcome("answer", {"label": label}, {}, "says nothing" if label == -1 else "")]
    return measured_samples(Entered("m", "model", samples, outcomes, ["answer"], Settings(), RESOURCES), GROUP, scored)


def entrant(name: str, labels: list[int]) -> EntrantResults:
    told = {"metrics": measured(labels), "ranking": {"official": None, "repaired": None}}
    of = {"kind": "model", "run": "r", "run_title": "R", "at": datetime.now(UTC), "entrant": 1, "own": ""}
    return EntrantResults(key=name, name=name, model=name, **of, **told)


FAIR, SHY, HOSTILE = [1, 1, 1, 1, 0, 0], [1, -1, -1, -1, -1, -1], [-1] * 6
NAMES = {"fair": FAIR, "shy": SHY, "hostile": HOSTILE}


def test_official_figures_say_of_how_many_they_are():
    metrics, columns = measured(SHY), measured(SHY).by_sample
    official = metrics.parses.overall("official").told
    assert official[ACCURACY] == "1.000000" and (official["n"], official["unreadable"]) == (1, 5)
    assert official["bounds"][ACCURACY] == pytest.approx([1 / 6, 1]) and official["stories"] == "1"
    assert metrics.analyses["official"].kept["facets"]["kind"]["coarse"]["bounds"] == pytest.approx([1 / 6, 1])
    # of a selection, and over repetitions of which each reads another part
    kept = columns["official"]
    some = official_metrics(kept, {1, 2, 7}, GROUP.key, seed=1, resamples=9).told()
    assert some["overall"][ACCURACY] == "1.000000" and (some["overall"]["n"], some["overall"]["unreadable"]) == (1, 1)
    both = mean_columns([kept, measured(HOSTILE).by_sample["official"], measured(FAIR).by_sample["official"]])
    assert both.values[ACCURACY][:1] == [pytest.approx([2 / 3, 1, 1])] and both.unreadable == {}
    complete = measured(FAIR).parses.overall("official").told
    assert (complete["n"], complete["unreadable"]) == (6, 0)
    assert complete["bounds"][ACCURACY] == [pytest.approx(4 / 6)] * 2


def test_who_is_not_read_is_ranked_officially_and_takes_nobody_elses_rank():
    cases = {name: cases_by_story(measured(labels).by_sample["official"], ACCURACY) for name, labels in NAMES.items()}
    ranking = leaderboard(Cases.of(cases, set(range(1, 8))), seed=1, resamples=99).models
    assert [(row.model, row.rank, row.n) for row in ranking] == [("fair", 1, 6), ("shy", 2, 6), ("hostile", 3, 6)]
    assert ranking[1].value == pytest.approx(1 / 6) and ranking[2].lost == 0
    # the table has official n beside the figure and marks by the worst
    entrants = [entrant(*one) for one in NAMES.items()]
    table = group_table(entrants, GROUP.key)
    assert [(row["official_n"], row["official_unreadable"]) for row in table.rows] == [(6, 0), (1, 5), (0, 6)]
    marks = {
        table.rows[at]["model"]: mark for (at, key), mark in table.marks().items() if key == f"official_{ACCURACY}"
    }
    assert marks == {"fair": "best", "shy": "second"}
    assert any(OFFICIALLY[LEFT_OUT] in note for note in table.notes) and not any("as 0" in note for note in table.notes)
    score = score_of(entrants[1], "official", GROUP.key)
    assert (score.n, score.unreadable) == (1, 5) and score_of(entrants[1], "repaired", GROUP.key).n == 1


def test_each_suite_says_what_becomes_officially_of_what_cannot_be_read():
    told: dict[str, set[str]] = defaultdict(set)
    for name in ("omnitom", "tombench", "fantom", "opentom", "percept-tomi", "percept-fantom"):
        for group in suite_named(name).groups:
            told[group.unreadable_as].add(group.key)
    assert told[LEFT_OUT] == {"opentom", "percept-tomi-perception", "percept-fantom-perception"}
    assert told[GUESSED] == {"tombench"} and told.keys() <= {WRONG, LEFT_OUT, GUESSED}
