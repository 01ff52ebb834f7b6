"""What suggestions did to votes: the report of a project, its page and its command."""

import io
import json
import random
from collections import Counter

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Proposition, Vote
from annotation.services.anchoring import report_of
from annotation.services.arms import draw_for
from annotation.services.votes import save_votes
from core.plain import plain
from tests.annotation.prefilling import CELLS, change, first_labels, label_all, shares

pytestmark = pytest.mark.usefixtures("few_draws")
FIRST, SUGGESTED = DEFAULT_SCHEMA["order"].values[:2]
"""The second label is suggested everywhere."""
RAIN = [("Ines", "It rains")]
FEW = "an interval needs at least 5 stories"


def text_of(cast, *arguments) -> str:
    out = io.StringIO()
    call_command("anchoring", "--project", "minds", *arguments, stdout=out)
    return out.getvalue()


def report(cast) -> dict:
    return plain(report_of(cast.project))


@pytest.fixture
def page_of(cast, client):
    """The page as Esi sees it."""
    client.force_login(cast.esi)

    def make() -> str:
        text = " ".join(client.get("/p/minds/prefill/effect/").content.decode().replace("\u202f", "\0").split())
        return text.replace("\0", "\u202f").replace("> ", ">").replace(" <", "<").replace("<bdi >", "<bdi>")

    return make


def labelled(cast, suggested, stories, *, follows=("bob", "bea"), rows=12, seed=7):
    noise = random.Random(seed)
    for number in range(1, stories + 1):
        story, assignments = suggested(number, rows=[("Ines", f"Belief {at}") for at in range(rows)])
        label_all(cast, assignments, story, first_labels(story), noise, follows=follows)


def blind_votes(assignments, labels):
    """Each annotator votes one label on the first cell of its story."""
    for assignment, label in zip(assignments, labels, strict=True):
        held = Assignment.objects.select_related("story__project", "annotator").get(pk=assignment.pk)
        draw_for(assignment=held, now=timezone.now())
        row = Proposition.objects.gold_of(held.story).first()
        save_votes(by=held.annotator, assignment=held, changes=[change(row, "order", label)], now=timezone.now())


@pytest.mark.once
@pytest.mark.parametrize("follows", [("bob",), ()])
def test_the_report_finds_the_effect_where_there_is_one_and_none_where_there_is_none(cast, suggested, follows):
    noise = random.Random(7)
    for number in range(1, 22):
        story, assignments = suggested(number, rows=[("Ines", f"Belief {at}") for at in range(6)])
        truth = {
            (row.pk, one.key): noise.choice(one.values)
            for row in Proposition.objects.gold_of(story)
            for one in DEFAULT_SCHEMA.dimensions
        }
        label_all(cast, assignments, story, truth, noise, follows=follows)
    found = report(cast)
    overall, people = found["votes"]["overall"], {row["annotator"]: row for row in found["votes"]["by_annotator"]}
    assert overall["effect"] is people["bob"]["effect"] is bool(follows)
    assert people["bea"]["effect"] is people["ben"]["effect"] is False
    for difference in (overall["difference"], overall["time"]["difference"]):
        low, high = difference["interval"]
        assert low < difference["value"] < high
    assert low < 0 < high, "times were drawn without regard to the arm"
    if follows:
        assert overall["difference"]["interval"][0] > 0 and people["bob"]["difference"]["interval"][0] > 0.1
        assert people["bob"]["acceptance"]["value"] == 1.0
    (model,) = found["models"]
    assert model["alternative_annotator"]["tested"] in (0, 3)
    assert 0 < model["accuracy"]["blind_gold"]["value"] < 1
    assert model["blind_gold"]["votes_a_cell"] >= 2


def test_one_blind_vote_is_no_gold(cast, suggested, page_of):
    shares(cast, 100, 0)
    missing = "no cell has 2 agreeing votes cast without its suggestion in sight (1 have one such vote, 0 have more"
    for number, labels, accuracy, evidence, on_page, by_command in (
        (1, [SUGGESTED], (None, 0), {"cells": 0, "cells_with_one_vote": 1}, missing, missing),
        # two of three say the suggested label, which is gold then; 3 votes on 1 cell
        (
            2, [SUGGESTED, FIRST, SUGGESTED], (1, 1), {"cells": 1, "votes_a_cell": 3}, "rests on 3.0 votes a cell",
            "3.0 votes a cell, on 1 cell.",
        ),
    ):  # fmt: skip
        _, assignments = suggested(number, rows=RAIN)
        blind_votes(assignments[: len(labels)], labels)
        (model,) = report(cast)["models"]
        assert (model["accuracy"]["blind_gold"]["value"], model["accuracy"]["blind_gold"]["n"]) == accuracy
        assert evidence.items() <= model["blind_gold"].items()
        assert on_page in page_of() and by_command in text_of(cast)


def test_models_are_never_pooled(cast, suggested, page_of):
    shares(cast, 100, 0)
    sources = ("right (r-1)", "wrong (w-1)")
    for number, source in enumerate(sources, 1):
        _, assignments = suggested(number, rows=RAIN, source=source)
        blind_votes(assignments, [SUGGESTED if source.startswith("right") else FIRST] * 3)
    found = report(cast)
    page, told = page_of(), text_of(cast)
    # each has one cell with three equal blind votes: the suggested label in the first story, another in the second
    assert not {"accuracy", "alternative_annotator"} & set(found)
    for model, row, source, right in zip(found["models"], found["votes"]["by_source"], sources, (1, 0), strict=True):
        assert (model["source"], model["suggestions"]) == (source, CELLS)
        assert model["accuracy"]["blind_gold"]["value"] == model["accuracy"]["all_gold"]["value"] == right
        assert {one["items"] for one in model["alternative_annotator"]["annotators"]} == {1}
        assert (row["source"], row["blind_agreement"]["value"]) == (source, right)
        assert source in page and f"{source}: accuracy, {CELLS} suggestions" in told
    assert found["votes"]["overall"]["blind_agreement"]["n"] == Vote.objects.count() == 6


@pytest.mark.once
def test_below_five_stories_page_and_command_show_values_without_intervals(cast, suggested, page_of):
    labelled(cast, suggested, 4)
    overall = report(cast)["votes"]["overall"]
    assert overall["difference"]["value"] > 0.3 and overall["difference"]["interval"] is None
    page, told = page_of(), text_of(cast)
    # the test asks how these arms were drawn and needs no number of stories; sizes do
    assert overall["effect"] and overall["p"] < 0.001 and "Suggestions shift votes." in page
    assert f"–, n = {overall['difference']['n']}" in page
    assert "chart-ci" not in page and " points</span>" not in page and "95 % interval " not in page
    assert page.count(f"No interval: {FEW}.") == 3  # under both pictures and the tables
    assert f"points, no interval: {FEW};" in page
    assert f"No interval: {FEW}." in told and "Suggestions shift votes: +" in told
    assert f"{100 * overall['difference']['value']:+.1f} points (p" in told
    assert " to " not in told.split("Overall")[1].splitlines()[0]


def test_page_and_command_tell_the_same(cast, suggested, page_of):
    assert "Nothing to compare yet" in page_of()
    shares(cast, 40, 20)
    labelled(cast, suggested, 6)
    suggested(7, source="idle (i-1)")
    page, told = page_of(), text_of(cast)
    for words in ("Suggestions shift votes", "bob", "Overall", "Before and after the reveal", "Shifts are in points."):
        assert words in told
    assert "Suggestions shift votes" in page and "shown minus blind, in points" in page
    assert "Nothing can be said yet of<bdi>idle (i-1)</bdi>" in page and page.count('id="model-') == 1
    found = json.loads(text_of(cast, "--json"))
    reveal, accuracy = found["votes"]["overall"]["reveal"], found["models"][-1]["accuracy"]
    for one in (*(reveal[name] for name in ("before", "after", "toward", "away")), accuracy["blind_gold"]):
        assert f"{one['value']:.1%}" in told and f"{one['value'] * 100:.1f}\u202f%" in page
    assert "Could it stand in for an annotator?" in told
    shift = found["votes"]["overall"]["difference"]["value"]
    assert f">{100 * shift:+.1f}</span>" in page and f"{100 * shift:+.1f}" in told and f"{shift:.1%}" not in told


@pytest.mark.once
def test_where_no_shift_is_found_page_and_command_say_how_large_one_could_be(cast, suggested, page_of):
    shares(cast, 40, 0)
    labelled(cast, suggested, 6, follows=(), seed=3)
    overall = report(cast)["votes"]["overall"]
    largest = max(map(abs, overall["difference"]["interval"]))
    assert overall["effect"] is False and overall["largest"] == {"value": largest}
    page, told = page_of(), text_of(cast)
    assert "No shift is found." in page and f"One of up to +{100 * largest:.1f}\u202fpoints cannot be excluded" in page
    assert "callout-success" not in page
    assert f"No shift is found; one of up to {100 * largest:+.1f} points cannot be excluded." in told


def test_votes_over_the_api_count_in_the_arm_that_was_drawn_and_are_left_out_as_seen(cast, suggested, page_of):
    shares(cast, 0, 0)  # all shown, and nobody saw anything
    _, assignments = suggested(1, rows=RAIN)
    blind_votes(assignments, [SUGGESTED, SUGGESTED, FIRST])
    found = report(cast)
    overall = found["votes"]["overall"]
    assert found["unseen"] == overall["as_seen"]["unseen"] == overall["counts"]["shown"] == 3
    assert overall["acceptance"]["value"] == pytest.approx(2 / 3)
    assert overall["as_seen"]["acceptance"]["value"] is None
    assert "3 votes of the shown arm were cast over the API" in page_of()
    assert "Votes of the shown arm without it in sight: 3." in text_of(cast)


@pytest.mark.parametrize("unit", ["proposition", "story"])
def test_arms_are_drawn_for_what_the_project_says_and_the_report_says_so(cast, suggested, page_of, unit):
    cast.project.arms_unit, cast.project.blind_share = unit, 50
    cast.project.save()
    labelled(cast, suggested, 6, follows=("bob", "bea", "ben"), rows=4, seed=5)
    arms: dict = {}
    by_assignment: dict = {}
    drawn = Vote.objects.values_list("proposition_id", "proposition__table__story_id", "annotator_id", "arm")
    for proposition, story, annotator, arm in drawn:
        arms.setdefault((proposition, annotator), set()).add(arm)
        by_assignment.setdefault((story, annotator), set()).add(arm)
    assert {len(found) for found in arms.values()} == {1}  # all cells of a proposition alike
    assert any(len(found) == 2 for found in by_assignment.values()) is (unit == "proposition")
    found = report(cast)
    assert found["drawn_for"] == {unit: Vote.objects.count()}
    # 18 assignments or 72 propositions × annotators decide; a draw by cell would have made p smaller
    assert found["votes"]["overall"]["effect"] and 0 < found["votes"]["overall"]["p"] <= 0.05
    assert f"Arms were drawn for each {unit} and annotator." in page_of()
    assert f"Arms drawn for each: {unit} ({Vote.objects.count()} votes)." in text_of(cast)


def test_cells_without_a_vote_are_counted_by_the_arm_that_was_drawn_for_them(cast, suggested, page_of):
    labelled(cast, suggested, 1, follows=(), rows=6, seed=3)
    suggested(2)  # nobody opened it: nothing is drawn
    drawn = Counter(Vote.objects.values_list("arm", flat=True))
    assert report(cast)["without_vote"] == {"shown": 0, "blind": 0, "reveal": 0}
    for arm, count in (("shown", 1), ("blind", 2)):
        for vote in Vote.objects.filter(arm=arm)[:count]:
            vote.delete()
    assert report(cast)["without_vote"] == {"shown": 1, "blind": 2, "reveal": 0}
    told = f"1 of {drawn['shown']} drawn shown; 2 of {drawn['blind']} drawn blind"
    assert f"Cells without a vote are in no figure: {told}." in page_of()
    assert "have no vote, in no figure: 1 shown, 2 blind, 0 reveal." in text_of(cast)
