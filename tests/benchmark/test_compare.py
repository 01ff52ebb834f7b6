"""Two models compared and all pairs of a leaderboard: the differences by hand, the tests that letters rest on, and the
pages and files of both."""

import html
import json
import re
from urllib.parse import urlencode

import pytest

from annotation.models import Project
from benchmark.domain.estimating import StoryScore
from benchmark.domain.inference import Answered
from benchmark.models import AnswerFormat, Audience, RunItem, Snapshot
from benchmark.services.comparison_tables import pair_table
from benchmark.services.comparisons import NotComparable, compare, pair_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import scores_of
from benchmark.suites.figures import lacking, official_columns, official_metrics
from benchmark.suites.questions import Columns
from core.statistics import holm
from tests.benchmark.results_world import HOSTILE, STORIES, results_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path, client):
    """`keys` are those of two models as addresses have them; Alice is logged in."""
    held = results_world(tmp_path)
    held.keys = {"a": held.entrant("majority"), "b": held.entrant("random")}
    client.force_login(held.alice)
    return held


def compared(world, first="majority", second="random", group="stage2", parse="repaired"):
    _, entries = pair_of(world.dataset.project, world.entrant(first), world.entrant(second))
    return compare(entries[group], group, parse)


def pairs(world, parse="repaired", group="stage2"):
    return pair_table(leaderboard_of(world.dataset, AnswerFormat.TEXT, None), group, parse)


def gaps_of(world, parse="repaired") -> dict[int, float]:
    """{story: majority less random} from score_outputs' figures of the stories."""
    found = scores_of(world.run)
    first, second = (
        {int(row["story_id"]): float(row["overall_accuracy"]) for row in found[name][parse]["stage2"]["stories"]}
        for name in ("majority", "random")
    )
    return {story: first[story] - second[story] for story in first}


def test_the_difference_is_the_mean_of_the_stories_differences(world):
    for parse in ("official", "repaired"):
        gaps, found = gaps_of(world, parse), compared(world, parse=parse)
        row = found.rows[0]
        assert row.what == "Overall" and row.n == STORIES
        assert row.value == pytest.approx(sum(gaps.values()) / STORIES) == pytest.approx(row.first - row.second)
        assert row.interval[0] < row.value < row.interval[1]
    # Holm's correction runs over the whole table: of the rows that have a p, overall and seven dimensions, seven
    # categories, the smallest p is multiplied by their number
    tested = [row for row in found.rows if row.p is not None]
    smallest = min(tested, key=lambda row: row.p)
    assert len(tested) == 8 + 7 and smallest.p_adjusted == pytest.approx(min(1, smallest.p * len(tested)))
    assert all(row.p_adjusted >= row.p for row in tested)
    # a category is compared on its own stories: nine in seven categories' turn, of which one story has no interval
    rows = {row.what: row for row in found.rows if row.category}
    assert sorted(row.n for row in rows.values()) == [1, 1, 1, 1, 1, 2, 2]
    for story in world.dataset.samples.all():
        if (row := rows[story.category]).n == 1:
            assert row.value == pytest.approx(gaps[story.number]) and row.interval is None and row.reason
    # the biggest disagreements come first
    assert [row["number"] for row in found.stories] == sorted(gaps, key=lambda number: (-abs(gaps[number]), number))
    # what nobody could read counts at its worst, and no story was answered by both
    found = compared(world, "majority", HOSTILE)
    overall = found.rows[0]
    assert found.n == STORIES and (overall.second, overall.value) == (0.0, overall.first)
    assert overall.answered == Answered(None, 0)
    assert all(row["difference"] is None and row["second"] is None for row in found.stories)


def test_other_runs_can_be_compared_if_dataset_and_form_are_the_same(world):
    def named(name: str) -> set[str]:
        other = world.another(name, level=1)
        _, entries = pair_of(world.dataset.project, world.entrant(name), f"{other.uid}.{other.entrants.get().pk}")
        return {one.model for one in entries["stage2"]}

    assert named(HOSTILE) == {f"{HOSTILE} (level 1)", f"{HOSTILE} (level 3)"}
    assert named("random") == {"random", "random #2"}  # a baseline reads no prompt, of whatever level
    structured = world.another("random", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    with pytest.raises(NotComparable, match="structured output"):
        pair_of(world.dataset.project, world.entrant("random"), f"{structured.uid}.{structured.entrants.get().pk}")
    with pytest.raises(NotComparable):  # of another project they are not there
        pair_of(Project.objects.create(slug="other", name="Other"), *world.keys.values())


def test_every_pair_is_tested_over_all_stories_and_in_each_category(world, monkeypatch):
    table = pairs(world, "official")
    # three models are three pairs; nine stories lie in seven categories: 3 · (1 + 7) tests
    assert len(table.rows) == 24 and {row["category"] for row in table.rows} > {""}
    assert len({(row["first"], row["second"]) for row in table.rows}) == 3
    assert any("all pairs, over all stories and in each category (24 tests)" in note for note in table.notes)
    adjusted = [row["p_adjusted"] for row in table.rows]
    assert adjusted == pytest.approx(holm([row["p"] for row in table.rows]))
    sizes = [abs(row["value"].value) for row in table.rows]
    assert sizes == sorted(sizes, reverse=True), "the biggest come first"
    table = pairs(world)
    whole = [row for row in table.rows if not row["category"]]
    [row] = [row for row in whole if {row["first"], row["second"]} == {"majority", "random"}]
    assert row["n"] == STORIES
    assert abs(row["value"].value) == pytest.approx(abs(sum(gaps_of(world).values()) / STORIES))
    # nobody could read the third model: it counts at its worst, and no story was answered by both
    unreadable = [row for row in table.rows if row["second"] == HOSTILE]
    assert len(unreadable) == 16 and all(row["answered_n"] == 0 for row in unreadable)
    assert all(row["value"].value >= 0 and row["answered_value"] is None for row in unreadable)
    monkeypatch.setattr("benchmark.services.leaderboards._compare", lambda *found: pytest.fail("compared again"))
    assert pairs(world) == table, "they are computed once"


# --- the page of two
def test_the_page_opens_what_its_figures_are_of(world, client):
    base, query = f"{world.base}/results", urlencode(world.keys)
    page = client.get(f"{base}/compare/", world.keys)
    text = page.content.decode()
    story = compared(world).stories[0]["number"]
    for name in ("majority", "random"):
        place = RunItem.objects.get(entrant__run=world.run, entrant__name=name, step="label", sample__number=story)
        address = f"{world.base}/runs/{world.run.uid}/items/{place.pk}/"
        assert address in text and client.get(address).status_code == 200
    # either side of a difference its items, the difference its stories
    rows = {row["cells"][1]["text"]: row["cells"] for row in page.context["differences"]["rows"]}
    for cell, name in zip(rows["Context"][2:4], ("majority", "random"), strict=True):
        items = client.get(cell["href"]).context
        assert {row["item"].entrant.name for row in items["rows"]} == {name} and items["by_rows"]
    category = page.context["comparison"].stories[0]["category"]
    shown = client.get(f"{base}/compare/{rows[category][4]['href']}").context["stories"]
    assert shown and {row["category"] for row in shown} == {category}
    # it says which tests it adjusts over: overall, seven dimensions, seven categories
    assert "over the 15 tests of the table below" in text and "not over all pairs of models" in text
    own = "version=1&amp;answer_format=text&amp;group=stage2&amp;parse=repaired"
    page = client.get(f"{base}/compare/", world.keys | {"group": "stage2"})
    assert f"{base}/differences/?{own}" in page.content.decode()
    # the chosen stories and the way to all are two sentences
    page = client.get(f"{base}/compare/", world.keys | {"split": f"run:{world.run.uid}"}).content.decode()
    assert re.search(r"</bdi>\. <a\s+href=\"[^\"]*\"\s*>All stories that both have</a>", page)
    # pages and files call a dimension as the labelling does
    heads = {cell["text"] for cells in rows.values() for cell in cells}
    [group] = [one for one in client.get(f"{base}/").context["groups"] if one["key"] == "stage2"]
    named = {"Truth", "Access", "Repr.", "Content", "Source"}
    assert named <= heads and named <= {one["label"] for one in group["table"]["columns"]}
    for address in ("compare/tables/differences", "tables/stage2"):
        for data in ("csv", "json", "tex"):
            text = client.get(f"{base}/{address}.{data}?{query}").content.decode()
            assert "Content" in text and "Truth" in text and "CType" not in text and "Status" not in text
    held = client.get(f"{base}/compare/tables/differences.json", world.keys).json()
    assert held["rows"][0]["value"]["value"] == pytest.approx(compared(world).rows[0].value)
    stories = client.get(f"{base}/compare/tables/stories.json", world.keys).json()
    assert [row["number"] for row in stories["rows"]] == [row["number"] for row in compared(world).stories]
    metric = client.get(f"{base}/compare/figures/two-models.svg", world.keys)
    assert metric.status_code == 200 and b"majority" in metric.content


def test_what_cannot_be_compared_is_said(world, client):
    base = f"{world.base}/results/compare"
    for asked in ({"a": "x.1", "b": "y.2"}, {"a": "<script>", "b": "\u202e"}, {"a": "same", "b": "same"}):
        page = client.get(f"{base}/", asked)
        assert page.status_code == 200 and "cannot be compared" in page.content.decode()
        table = client.get(f"{base}/tables/differences.csv", asked, follow=True)
        assert "cannot be compared" in table.content.decode()
    without = {"a": world.keys["a"], "b": world.entrant("omniscient")}
    assert "no metric group in common" in client.get(f"{base}/", without).content.decode()
    # without a choice the reader is asked to choose
    for asked in ({}, {"a": world.keys["a"]}):
        text = client.get(f"{base}/", asked).content.decode()
        assert "Which two?" in text and "cannot be compared" not in text
        assert f'href="{world.base}/results/#compare"' in text
    assert 'id="compare"' in client.get(f"{world.base}/results/").content.decode()


def test_a_snapshot_of_a_comparison(world, client):
    client.force_login(world.esi)
    world.show_to(Audience.EXPERTS)
    asked = world.keys | {"group": "stage2", "parse": "official"}
    compare_page = f"{world.base}/results/compare/"
    response = client.post(f"{compare_page}snapshot/", asked)
    report = Snapshot.objects.get()
    assert response["Location"].endswith(f"/results/snapshots/{report.uid}/")
    before = client.get(response["Location"]).content.decode()
    RunItem.objects.all().delete()
    assert client.get(response["Location"]).status_code == 200
    assert "majority minus random" in before and "official parse" in before
    assert html.escape(f"{compare_page}?{urlencode(asked)}") in before
    assert "The comparison as it is now" in before and "run’s report as it is" not in before
    held = json.loads(client.get(f"{response['Location']}tables/differences.json").content)
    assert len(held["rows"]) == 15
    client.force_login(world.bob)
    world.show_to(Audience.EVERYONE)
    assert client.post(f"{compare_page}snapshot/", asked).status_code == 403
    assert client.get(response["Location"]).status_code == 200


# --- the page of all pairs
def test_the_page_of_pairs_filters_sorts_and_downloads_all(world, client):
    base = f"{world.base}/results/differences"
    page = client.get(f"{base}/?group=stage2")
    shown = page.content.decode()
    assert page.status_code == 200 and "<script>alert" not in shown and "<h2" in shown.partition("<h3")[0]
    assert len(page.context["table"]["rows"]) == 3  # over all stories

    def texts(query: str, column: int) -> list[str]:
        rows = client.get(f"{base}/?group=stage2&{query}").context["table"]["rows"]
        return [row["cells"][column]["text"] for row in rows]

    assert len(texts("over=every", 0)) == 24
    category = world.dataset.samples.first().category
    assert set(texts(f"over={category}", 2)) == {category}
    assert texts("model=no such", 0) == [] and len(texts("model=RANDOM", 0)) == 2
    sizes = [float(text.replace("−", "-")) for text in texts("over=every&sort=value&parse=official", 3) if text != "–"]
    assert sizes == sorted(sizes) and len(sizes) == 24
    address = next(row["cells"][3]["href"] for row in page.context["table"]["rows"] if row["cells"][3]["href"])
    assert client.get(address).status_code == 200
    assert f"{base}/" in client.get(f"{world.base}/results/").content.decode()
    # all rows download, whatever is shown
    files = client.get(f"{base}/?group=stage2&parse=official&model=random").context["files"]
    assert [one["label"] for one in files] == ["CSV", "JSON", "LaTeX"]
    assert {client.get(one["href"]).status_code for one in files} == {200}
    held = client.get(files[1]["href"]).json()
    assert len(held["rows"]) == 24 and "official parse" in held["title"] and "value" in held["rows"][0]["value"]
    tested = {"first", "second", "over", "value", "p", "p_adjusted", "shown", "n"}
    assert set(held["rows"][0]) == tested | {"answered_value", "answered_n"}
    assert {client.get(f"{base}/{name}").status_code for name in ("stage3.csv", "stage2.xls")} == {404}
    # one model has nothing to be compared with
    world.another("majority", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    page = client.get(f"{base}/?answer_format=structured")
    assert "Nothing to compare" in page.content.decode() and page.context["parses"] == ["repaired"]
    world.show_to(Audience.ADMINS)
    client.force_login(world.bob)
    assert {client.get(f"{base}/{tail}").status_code for tail in ("", "stage2.csv")} == {403}


# --- figures of categories and of selections
def columns_of(*rows: tuple[int, str, float]) -> Columns:
    scores = []
    for story, category, f1 in rows:
        figures = {"precision": f1, "recall": f1, "f1": f1}
        scores.append(StoryScore(category, figures, figures, figures, number=story, official=figures))
    return official_columns(scores, "stage1")


def test_categories_that_read_alike_keep_their_own_intervals():
    """Verbatim "A" and "A " are two categories of official scoring, printed alike."""
    low = [(at, "A", 0.1 * (1 + at % 2)) for at in range(6)]
    high = [(at, "A ", 0.1 * (8 + at % 2)) for at in range(6, 12)]
    rules = {"seed": 1, "resamples": 200}
    found = official_metrics(columns_of(*low, *high), set(range(12)), "stage1", **rules).told()
    rows = found["by_category"]
    assert [(row["story_category"], row["f1"]) for row in rows] == [("A", "0.150000"), ("A", "0.850000")]
    # the categories are each other's mirror at 1/2, and so are their intervals, but for what was drawn
    first, second = (row["interval"]["f1"] for row in rows)
    assert first[0] < 0.15 < first[1] < 0.5 and first == pytest.approx([1 - second[1], 1 - second[0]], abs=0.02)
    # the mean of the two categories' means: (0.15 + 0.85) / 2
    assert found["overall"]["f1_category_mean"] == "0.500000"
    # a selection has official figures only with all of its stories
    columns = columns_of((1, "A", 0.5), (3, "B", 1.0))
    assert official_metrics(columns, {1, 3}, "stage1", **rules).told()["overall"]["f1"] == "0.750000"
    assert official_metrics(columns, {1, 2, 3}, "stage1", **rules) is None
    assert lacking(columns, {1, 2, 3}).startswith("Story 2 has no official parse")
    assert lacking(columns, {3}) == "" and lacking(None, {3}) and lacking(columns, set()) == "No story is selected."
