from __future__ import annotations

import html
import json
import re
from urllib.parse import urlencode

import pytest

from benchmark.domain.inference import Answered
from benchmark.models import AnswerFormat, Audience, RunItem, Snapshot
from benchmark.services.comparisons import NotComparable, compare, pair_of
from benchmark.services.reports import scores_of
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def compared(world, first="majority", second="random", group="stage2", parse="repaired"):
    _, entries = pair_of(world.dataset.project, world.entrant(first), world.entrant(second))
    return compare(entries[group], group, parse)


def by_hand(world, parse="repaired"):
    """{story: (majority, random)} from score_outputs' figures of the stories."""
    found = scores_of(world.run)
    sides = [
        {str(row["story_id"]): float(row["overall_accuracy"]) for row in found[name][parse]["stage2"]["stories"]}
        for name in ("majority", "random")
    ]
    return {int(story): (sides[0][story], sides[1][story]) for story in sides[0]}


@pytest.mark.parametrize("parse", ["official", "repaired"])
def test_the_difference_is_the_mean_of_the_stories_differences(world, parse):
    stories = by_hand(world, parse)
    gaps = [one - other for one, other in stories.values()]
    row = compared(world, parse=parse).rows[0]
    assert row.what == "Overall" and row.n == STORIES
    assert row.value == pytest.approx(sum(gaps) / len(gaps))
    assert row.value == pytest.approx(row.first - row.second)
    assert row.interval[0] < row.value < row.interval[1]


def test_holm_s_correction_runs_over_the_whole_table(world):
    """Over the rows that have a p, the smallest p is multiplied by their number."""
    rows = [row for row in compared(world).rows if row.p is not None]
    smallest = min(rows, key=lambda row: row.p)
    assert len(rows) == 8 + 7  # overall and seven dimensions, seven categories
    assert smallest.p_adjusted == pytest.approx(min(1, smallest.p * len(rows)))
    assert all(row.p_adjusted >= row.p for row in rows)


def test_a_category_is_compared_on_its_own_stories(world):
    """Nine stories in seven categories' turn: two categories have two stories, the others one, which has no
    interval."""
    rows = {row.what: row for row in compared(world).rows if row.category}
    assert sorted(row.n for row in rows.values()) == [1, 1, 1, 1, 1, 2, 2]
    for story in world.dataset.samples.all():
        if rows[story.category].n == 1:
            one, other = by_hand(world)[story.number]
            assert rows[story.category].value == pytest.approx(one - other)
            assert rows[story.category].interval is None and rows[story.category].reason


def test_the_biggest_disagreements_come_first(world):
    stories = compared(world).stories
    expected = {number: abs(one - other) for number, (one, other) in by_hand(world).items()}
    assert [row.number for row in stories] == sorted(expected, key=lambda number: (-expected[number], number))


def test_who_has_no_score_comes_last_and_is_no_difference(world):
    found = compared(world, "majority", HOSTILE)
    overall = found.rows[0]  # what nobody could read counts at its worst, and no story was answered by both
    assert found.n == STORIES and (overall.second, overall.value) == (0.0, overall.first)
    assert overall.answered == Answered(None, 0)
    assert all(row.difference is None and row.second is None for row in found.stories)


def test_the_page_opens_both_items_of_a_story(world, client):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/compare/", {"a": world.entrant("majority"), "b": world.entrant("random")})
    story = compared(world).stories[0].number
    for name in ("majority", "random"):
        place = RunItem.objects.get(entrant__run=world.run, entrant__name=name, step="label", sample__number=story)
        address = f"{world.base}/runs/{world.run.uid}/items/{place.pk}/"
        assert address in page.content.decode()
        assert client.get(address).status_code == 200


def test_the_chosen_stories_and_the_way_to_all_are_two_sentences(world, client):
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": world.entrant("random"), "split": f"run:{world.run.uid}"}
    page = client.get(f"{world.base}/results/compare/", asked)
    assert re.search(r"</bdi>\. <a\s+href=\"[^\"]*\"\s*>All stories that both have</a>", page.content.decode())


def test_differences_open_what_they_are_of(world, client):
    """Either side its items, the difference its stories."""
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": world.entrant("random")}
    response = client.get(f"{world.base}/results/compare/", asked)
    rows = {row["cells"][1]["text"]: row["cells"] for row in response.context["differences"]["rows"]}
    first, second, gap = (cell["href"] for cell in rows["Context"][2:5])
    for link, name in ((first, "majority"), (second, "random")):
        items = client.get(link).context
        assert {row["item"].entrant.name for row in items["rows"]} == {name} and items["by_rows"]
    category = response.context["comparison"].stories[0].category
    gap = rows[category][4]["href"]
    shown = client.get(f"{world.base}/results/compare/{gap}").context["stories"]
    assert shown and {row["category"] for row in shown} == {category}


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


@pytest.mark.parametrize(
    "asked", [{"a": "x.1", "b": "y.2"}, {"a": "<script>", "b": "\u202e"}, {"a": "same", "b": "same"}]
)
def test_what_cannot_be_compared_is_said(world, client, asked):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/compare/", asked)
    assert page.status_code == 200 and "cannot be compared" in page.content.decode()
    table = client.get(f"{world.base}/results/compare/tables/differences.csv", asked, follow=True)
    assert "cannot be compared" in table.content.decode()


def test_without_a_choice_the_reader_is_asked_to_choose(world, client):
    client.force_login(world.alice)
    for asked in ({}, {"a": world.entrant("majority")}):
        text = client.get(f"{world.base}/results/compare/", asked).content.decode()
        assert "Which two?" in text and "cannot be compared" not in text
        assert f'href="{world.base}/results/#compare"' in text
    assert 'id="compare"' in client.get(f"{world.base}/results/").content.decode()


def test_pages_and_files_call_a_dimension_as_the_labelling_does(world, client):
    client.force_login(world.alice)
    query = urlencode({"a": world.entrant("majority"), "b": world.entrant("random")})
    compare_page = client.get(f"{world.base}/results/compare/?{query}")
    what = {cell["text"] for row in compare_page.context["differences"]["rows"] for cell in row["cells"]}
    leaderboard = client.get(f"{world.base}/results/").context["groups"]
    heads = [one["label"] for group in leaderboard if group["key"] == "stage2" for one in group["table"]["columns"]]
    for name in ("Truth", "Access", "Repr.", "Content", "Source"):
        assert name in what and name in heads
    for address in ("compare/tables/differences", "tables/stage2"):
        for data in ("csv", "json", "tex"):
            text = client.get(f"{world.base}/results/{address}.{data}?{query}").content.decode()
            assert "Content" in text and "Truth" in text and "CType" not in text and "Status" not in text


def test_models_without_a_common_keep_are_not_compared(world, client):
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": world.entrant("omniscient")}
    assert "no metric group in common" in client.get(f"{world.base}/results/compare/", asked).content.decode()


def test_another_project_s_run_is_not_found(world, client, tmp_path):
    from annotation.models import Project

    other = Project.objects.create(slug="other", name="Other")
    with pytest.raises(NotComparable):
        pair_of(other, world.entrant("majority"), world.entrant("random"))


def test_tables_and_figure_download(world, client):
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": world.entrant("random")}
    held = json.loads(client.get(f"{world.base}/results/compare/tables/differences.json", asked).content)
    assert held["rows"][0]["value"]["value"] == pytest.approx(compared(world).rows[0].value)
    stories = json.loads(client.get(f"{world.base}/results/compare/tables/stories.json", asked).content)
    assert [row["number"] for row in stories["rows"]] == [row.number for row in compared(world).stories]
    metric = client.get(f"{world.base}/results/compare/figures/two-models.svg", asked)
    assert metric.status_code == 200 and b"majority" in metric.content


def test_a_snapshot_of_a_comparison(world, client):
    client.force_login(world.esi)
    world.show_to(Audience.EXPERTS)
    asked = {"a": world.entrant("majority"), "b": world.entrant("random"), "group": "stage2", "parse": "official"}
    response = client.post(f"{world.base}/results/compare/snapshot/", asked)
    report = Snapshot.objects.get()
    assert response["Location"].endswith(f"/results/snapshots/{report.uid}/")
    before = client.get(response["Location"]).content.decode()
    RunItem.objects.all().delete()
    assert client.get(response["Location"]).status_code == 200
    assert "majority minus random" in before and "official parse" in before
    now = f"{world.base}/results/compare/?{urlencode({'a': asked['a'], 'b': asked['b'], 'group': 'stage2', 'parse': 'official'})}"  # noqa: E501
    assert (
        html.escape(now) in before and "The comparison as it is now" in before and "run’s report as it is" not in before
    )
    held = json.loads(client.get(f"{response['Location']}tables/differences.json").content)
    assert len(held["rows"]) == 15
    client.force_login(world.bob)
    world.show_to(Audience.EVERYONE)
    assert client.post(f"{world.base}/results/compare/snapshot/", asked).status_code == 403
    assert client.get(response["Location"]).status_code == 200
