"""What suggestions did to votes: the report of a project, its page and its command."""

from __future__ import annotations

import io
import json
import random
import re
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
PAGE = "/p/minds/prefill/effect/"


def text_of(cast, *arguments) -> str:
    out = io.StringIO()
    call_command("anchoring", "--project", "minds", *arguments, stdout=out)
    return out.getvalue()


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
    report = plain(report_of(cast.project))
    overall, people = report["votes"]["overall"], {row["annotator"]: row for row in report["votes"]["by_annotator"]}
    assert overall["effect"] is bool(follows)
    assert people["bob"]["effect"] is bool(follows)
    assert people["bea"]["effect"] is people["ben"]["effect"] is False
    low, high = overall["difference"]["interval"]
    assert low < overall["difference"]["value"] < high
    if follows:
        assert people["bob"]["acceptance"]["value"] == 1.0
    (model,) = report["models"]
    assert model["alternative_annotator"]["tested"] in (0, 3)
    assert 0 < model["accuracy"]["blind_gold"]["value"] < 1
    assert model["blind_gold"]["votes_a_cell"] >= 2


def blind_votes(assignments, labels):
    """Each annotator votes one label on the first cell of its story."""
    for assignment, label in zip(assignments, labels, strict=True):
        held = Assignment.objects.select_related("story__project", "annotator").get(pk=assignment.pk)
        draw_for(assignment=held, now=timezone.now())
        row = Proposition.objects.gold_of(held.story).first()
        save_votes(by=held.annotator, assignment=held, changes=[change(row, "order", label)], now=timezone.now())


def test_one_blind_vote_is_no_gold(cast, suggested, client):
    shares(cast, 100, 0)
    first, second = DEFAULT_SCHEMA["order"].values[:2]  # the second is suggested everywhere
    _, assignments = suggested(1, rows=[("Ines", "It rains")])
    blind_votes(assignments[:1], [second])
    (model,) = plain(report_of(cast.project))["models"]
    assert (model["accuracy"]["blind_gold"]["value"], model["accuracy"]["blind_gold"]["n"]) == (None, 0)
    assert (model["blind_gold"]["cells"], model["blind_gold"]["cells_with_one_vote"]) == (0, 1)
    told = "no cell has 2 agreeing votes cast without its suggestion in sight (1 have one such vote, 0 have more"
    client.force_login(cast.esi)
    assert told in client.get(PAGE).content.decode()
    assert told in text_of(cast)
    # a second story: two of three say the suggested label, which is gold then; 3 votes on 1 cell
    _, assignments = suggested(2, rows=[("Ines", "It rains")])
    blind_votes(assignments, [second, first, second])
    (model,) = plain(report_of(cast.project))["models"]
    assert (model["accuracy"]["blind_gold"]["value"], model["accuracy"]["blind_gold"]["n"]) == (1, 1)
    assert (model["blind_gold"]["cells"], model["blind_gold"]["votes_a_cell"]) == (1, 3)
    assert "rests on 3.0 votes a cell" in client.get(PAGE).content.decode()
    assert "3.0 votes a cell, on 1 cell." in text_of(cast)


def test_models_are_never_pooled(cast, suggested, client):
    shares(cast, 100, 0)
    first, second = DEFAULT_SCHEMA["order"].values[:2]
    for number, source in ((1, "right (r-1)"), (2, "wrong (w-1)")):
        _, assignments = suggested(number, rows=[("Ines", "It rains")], source=source)
        blind_votes(assignments, [second if source.startswith("right") else first] * 3)
    report = plain(report_of(cast.project))
    right, wrong = report["models"]
    # each has one cell with three equal blind votes: the suggested label in the first story, another in the second
    assert (right["source"], wrong["source"]) == ("right (r-1)", "wrong (w-1)")
    assert right["accuracy"]["blind_gold"]["value"] == 1 and wrong["accuracy"]["blind_gold"]["value"] == 0
    assert [one["suggestions"] for one in (right, wrong)] == [CELLS, CELLS]
    # the test of each looks at its own cell alone
    for model in (right, wrong):
        assert {row["items"] for row in model["alternative_annotator"]["annotators"]} == {1}
    # and all gold, which those votes settled
    assert right["accuracy"]["all_gold"]["value"] == 1 and wrong["accuracy"]["all_gold"]["value"] == 0
    by_source = report["votes"]["by_source"]
    assert [(row["source"], row["blind_agreement"]["value"]) for row in by_source] == [
        ("right (r-1)", 1),
        ("wrong (w-1)", 0),
    ]
    assert report["votes"]["overall"]["blind_agreement"]["n"] == Vote.objects.count() == 6
    assert not {"accuracy", "alternative_annotator"} & set(report)
    client.force_login(cast.esi)
    page, told = client.get(PAGE).content.decode(), text_of(cast)
    for source in ("right (r-1)", "wrong (w-1)"):
        assert source in page and f"{source}: accuracy, {CELLS} suggestions" in told


def labelled(cast, suggested, stories, **share):
    shares(cast, share.get("blind", 20), share.get("reveal", 0))
    noise = random.Random(7)
    for number in range(1, stories + 1):
        story, assignments = suggested(number)
        label_all(cast, assignments, story, first_labels(story), noise, follows=("bob", "bea"))


@pytest.mark.once
def test_below_five_stories_page_and_command_show_values_without_intervals(cast, suggested, client):
    labelled(cast, suggested, 4)
    overall = plain(report_of(cast.project))["votes"]["overall"]
    assert overall["difference"]["value"] > 0.3 and overall["difference"]["interval"] is None
    client.force_login(cast.esi)
    page, told = client.get(PAGE).content.decode(), text_of(cast)
    # the test asks how these arms were drawn and needs no number of stories; sizes do
    assert overall["effect"] and overall["p"] < 0.001 and "Suggestions shift votes." in page
    assert f"–, n = {overall['difference']['n']}" in page and "an interval needs at least 5 stories" in page
    assert "chart-ci" not in page and " points</span>" not in page and "95 % interval " not in page
    assert page.count("No interval: an interval needs at least 5 stories.") == 3  # under both pictures and the tables
    assert "points, no interval: an interval needs at least 5 stories;" in " ".join(page.split())
    assert "No interval: an interval needs at least 5 stories." in told
    assert "Suggestions shift votes: +" in told
    assert (
        f"{100 * overall['difference']['value']:+.1f} points (p" in told
        and " to " not in told.split("Overall")[1].splitlines()[0]
    )


def test_page_and_command_tell_the_same(cast, suggested, client):
    client.force_login(cast.esi)
    assert "Nothing to compare yet" in client.get(PAGE).content.decode()
    labelled(cast, suggested, 6, blind=40, reveal=20)
    page, told = re.sub(r"[ \n]+", " ", client.get(PAGE).content.decode()), text_of(cast)
    assert "Suggestions shift votes" in page and "Suggestions shift votes" in told
    assert "bob" in told and "Overall" in told and "Before and after the reveal" in page
    report = json.loads(text_of(cast, "--json"))
    reveal, accuracy = report["votes"]["overall"]["reveal"], report["models"][0]["accuracy"]
    for one in (*(reveal[name] for name in ("before", "after", "toward", "away")), accuracy["blind_gold"]):
        assert f"{one['value']:.1%}" in told
        assert f"{one['value'] * 100:.1f}\u202f%" in page
    assert "Could it stand in for an annotator?" in told
    shift = report["votes"]["overall"]["difference"]["value"]
    assert "shown minus blind, in points" in page and f">{100 * shift:+.1f}</span>" in page.replace("> ", ">").replace(
        " <", "<"
    )
    assert "Shifts are in points." in told and f"{100 * shift:+.1f}" in told and f"{shift:.1%}" not in told


def test_models_of_which_nothing_can_be_said_share_a_sentence(cast, suggested, client):
    labelled(cast, suggested, 2)
    suggested(3, source="idle (i-1)")
    client.force_login(cast.esi)
    page = " ".join(client.get(PAGE).content.decode().split()).replace("<bdi >", "<bdi>")
    assert "Nothing can be said yet of <bdi>idle (i-1)</bdi>" in page and page.count('id="model-') == 1


@pytest.mark.once
def test_where_no_shift_is_found_page_and_command_say_how_large_one_could_be(cast, suggested, client):
    shares(cast, 40, 0)
    noise = random.Random(3)
    for number in range(1, 7):
        story, assignments = suggested(number)
        label_all(cast, assignments, story, first_labels(story), noise)
    overall = plain(report_of(cast.project))["votes"]["overall"]
    assert overall["effect"] is False
    largest = max(map(abs, overall["difference"]["interval"]))
    assert overall["largest"] == {"value": largest}
    client.force_login(cast.esi)
    page, told = client.get(PAGE).content.decode(), text_of(cast)
    assert "No shift is found." in page and f"One of up to +{100 * largest:.1f}\u202fpoints cannot be excluded" in page
    assert "callout-success" not in page
    assert f"No shift is found; one of up to {100 * largest:+.1f} points cannot be excluded." in told


def test_votes_over_the_api_count_in_the_arm_that_was_drawn_and_are_left_out_as_seen(cast, suggested, client):
    shares(cast, 0, 0)  # all shown, and nobody saw anything
    first, second = DEFAULT_SCHEMA["order"].values[:2]
    _, assignments = suggested(1, rows=[("Ines", "It rains")])
    blind_votes(assignments, [second, second, first])
    report = plain(report_of(cast.project))
    overall = report["votes"]["overall"]
    assert report["unseen"] == overall["as_seen"]["unseen"] == overall["counts"]["shown"] == 3
    assert overall["acceptance"]["value"] == pytest.approx(2 / 3)
    assert overall["as_seen"]["acceptance"]["value"] is None
    client.force_login(cast.esi)
    assert "3 votes of the shown arm were cast over the API" in " ".join(client.get(PAGE).content.decode().split())
    assert "Votes of the shown arm without it in sight: 3." in text_of(cast)


@pytest.mark.parametrize("unit", ["proposition", "story"])
def test_arms_are_drawn_for_what_the_project_says_and_the_report_says_so(cast, suggested, client, unit):
    cast.project.arms_unit, cast.project.blind_share = unit, 50
    cast.project.save()
    noise = random.Random(5)
    for number in range(1, 7):
        story, assignments = suggested(number, rows=[("Ines", f"Belief {at}") for at in range(4)])
        label_all(cast, assignments, story, first_labels(story), noise, follows=("bob", "bea", "ben"))
    arms: dict = {}
    for proposition, annotator, arm in Vote.objects.values_list("proposition_id", "annotator_id", "arm"):
        arms.setdefault((proposition, annotator), set()).add(arm)
    assert {len(found) for found in arms.values()} == {1}  # all cells of a proposition alike
    by_assignment: dict = {}
    for (proposition, annotator), found in arms.items():
        story = Proposition.objects.get(pk=proposition).table.story_id
        by_assignment.setdefault((story, annotator), set()).update(found)
    mixed = [found for found in by_assignment.values() if len(found) == 2]
    assert mixed if unit == "proposition" else not mixed
    report = plain(report_of(cast.project))
    assert report["drawn_for"] == {unit: Vote.objects.count()}
    # 18 assignments or 72 propositions × annotators decide; a draw by cell would have made p smaller
    assert report["votes"]["overall"]["effect"] and 0 < report["votes"]["overall"]["p"] <= 0.05
    client.force_login(cast.esi)
    assert f"Arms were drawn for each {unit} and annotator." in client.get(PAGE).content.decode()
    assert f"Arms drawn for each: {unit} ({Vote.objects.count()} votes)." in text_of(cast)


def test_cells_without_a_vote_are_counted_by_the_arm_that_was_drawn_for_them(cast, suggested, client):
    story, assignments = suggested(1, rows=[("Ines", f"Belief {at}") for at in range(6)])
    suggested(2)  # nobody opened it: nothing is drawn
    label_all(cast, assignments, story, first_labels(story), random.Random(3))
    drawn = dict(Counter(Vote.objects.values_list("arm", flat=True)))
    assert plain(report_of(cast.project))["without_vote"] == {"shown": 0, "blind": 0, "reveal": 0}
    Vote.objects.filter(arm="shown").last().delete()
    for vote in Vote.objects.filter(arm="blind")[:2]:
        vote.delete()
    report = plain(report_of(cast.project))
    assert report["without_vote"] == {"shown": 1, "blind": 2, "reveal": 0}
    client.force_login(cast.esi)
    page = " ".join(client.get(PAGE).content.decode().split())
    told = f"1 of {drawn['shown']} drawn shown; 2 of {drawn['blind']} drawn blind"
    assert f"Cells without a vote are in no figure: {told}." in page
    assert "have no vote, in no figure: 1 shown, 2 blind, 0 reveal." in text_of(cast)
