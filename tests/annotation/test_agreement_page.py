from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.agreement.annotators import Matches, MatchesWithout
from annotation.models import Proposition
from annotation.services.adjudication import adjudicate
from annotation.services.agreement import agreement_report, annotator_report, second_opinions
from annotation.services.belief_tables import remove
from annotation.services.vote_import import import_votes


@pytest.fixture
def voted(make_story, assign, cast_vote):
    """Two stories of two propositions; all agree on `order`, one of three differs on half of `truth_status`."""
    for number in (1, 2):
        story = make_story(number, category=f"Category {number}")
        assignments = assign(story)
        for at, proposition in enumerate(Proposition.objects.gold_of(story)):
            for which, one in enumerate(assignments):
                cast_vote(one, proposition, "order", str(at))
                cast_vote(one, proposition, "truth_status", "False" if at and which == 2 else "True")


def decide(cast, row) -> None:
    decided = {
        "label": "Unknown",
        "revision": row.gold.get(dimension="truth_status").revision,
        "reason": "Nobody says.",
    }
    adjudicate(by=cast.esi, proposition=row, dimension="truth_status", now=timezone.now(), **decided)


def test_the_report_counts_cells_that_have_all_their_votes(voted, cast):
    report = agreement_report(project=cast.project)
    assert (report.stories, report.propositions, report.annotators) == (2, 4, 3)
    order, truth = report.dimensions["order"], report.dimensions["truth_status"]
    # order: 4 of 4 agree; truth: propositions 1 agree, 2 have one dissent: 2 of 4
    assert (order.cells, order.agree, order.values["strict"]) == (4, 4, 1.0)
    assert (truth.cells, truth.agree, truth.values["strict"]) == (4, 2, 0.5)
    # pairs: 1, 1/3, 1, 1/3 → 2/3
    assert truth.values["pairwise"] == pytest.approx(2 / 3)
    assert (report.overall.cells, report.overall.agree) == (8, 6)
    assert report.dimensions["context"].values["strict"] is None
    assert report.dimensions["context"].as_json()["reason"] == "no cell has all its votes"


def test_a_category_narrows_the_report_to_one_story_without_an_interval(voted, cast):
    truth = agreement_report(project=cast.project, category="Category 1").dimensions["truth_status"]
    assert truth.cells == 2
    assert truth.intervals["strict"] == (None, "an interval needs at least 5 stories")


def test_a_cell_that_waits_for_a_vote_is_left_out(voted, cast, make_story, assign, cast_vote):
    story = make_story(3)
    bob, bea, _ = assign(story)
    proposition = Proposition.objects.gold_of(story).first()
    cast_vote(bob, proposition, "order", "0")
    cast_vote(bea, proposition, "order", "1")
    report = agreement_report(project=cast.project)
    assert report.dimensions["order"].cells == 4
    assert report.incomplete == 1


def test_a_changed_vote_makes_a_new_report(voted, cast, cast_vote):
    before = agreement_report(project=cast.project).dimensions["order"].agree
    proposition = Proposition.objects.first()
    assignment = proposition.table.story.assignments.first()
    cast_vote(assignment, proposition, "order", "3")
    assert agreement_report(project=cast.project).dimensions["order"].agree == before - 1


def test_annotator_by_annotator(voted, cast):
    report = annotator_report(project=cast.project)
    pairs = {pair.annotators: pair for pair in report.pairs}
    # bea and bob agree on all 8 cells; ben differs from each on 2
    assert pairs["bea", "bob"].agree == pairs["bea", "bob"].cells == 8
    assert pairs["bea", "ben"].agree == 6
    # the majority is True on both disputed cells: ben has it on 2 of 4
    assert report.against_resolved["ben"]["truth_status"] == Matches(annotator="ben", cells=4, agree=2)
    # without ben the two others settle all 4; without bob the disputed cells have True and False, which settles nothing
    settled = MatchesWithout(annotator="ben", cells=4, agree=2, votes=4, expert=0, open=0)
    assert report.against_others["ben"]["truth_status"] == settled
    assert report.against_others["bob"]["truth_status"] == replace(settled, annotator="bob", cells=2, votes=2, open=2)
    assert report.confusions["truth_status"].cells == [[2, 2, 0], [2, 0, 0], [0, 0, 0]]
    skills = second_opinions(project=cast.project)
    assert skills["ben"]["truth_status"].dawid_skene <= skills["bob"]["truth_status"].dawid_skene


def test_an_expert_s_decision_settles_a_cell_without_its_annotators(voted, cast):
    decide(cast, next(row for row in Proposition.objects.order_by("pk") if row.gold.filter(method="majority").exists()))
    against = annotator_report(project=cast.project).against_others
    rows = {name: by_dimension["truth_status"] for name, by_dimension in against.items()}
    counted = {name: [row.cells, row.agree, row.votes, row.expert, row.open] for name, row in rows.items()}
    assert counted == {"bea": [3, 2, 2, 1, 1], "ben": [4, 2, 3, 1, 0], "bob": [3, 2, 2, 1, 1]}


def test_page_and_csv_show_the_comparison_without_oneself_first(voted, cast, client):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement_annotators", args=["minds"])).content.decode()
    others, own = page.index("against the others"), page.index("with their own votes")
    assert others < own and "Left open" in page[others:own] and "n = 2" in page[others:own]
    [address] = re.findall(r'href="([^"]+\.csv[^"]*)"', page)
    content = b"".join(client.get(address).streaming_content).decode()
    rows = [row for row in csv.DictReader(io.StringIO(content, newline="")) if row["dimension"] == "truth_status"]
    assert [row["gold"] for row in rows] == ["without the annotator"] * 3 + ["with the annotator's own votes"] * 3
    bob = next(row for row in rows if row["annotator"] == "bob")
    assert [bob[name] for name in ("cells", "agree", "share", "settled_by_votes", "open")] == [
        "2",
        "2",
        "1.0",
        "2",
        "2",
    ]


def test_imported_annotators_are_called_on_the_page_what_they_are_called_everywhere(cast, make_story, client):
    make_story(rows=[("Ines", "All is well")])
    lines = ["story_id,actor,belief,dimension,annotator,label"]
    lines += [f"1,Ines,All is well,order,{name},1" for name in ("dora", "emil", "femi")]
    import_votes(
        by=None, project=cast.project, handle=io.BytesIO("\n".join(lines).encode()), file="v.csv", now=timezone.now()
    )
    client.force_login(cast.esi)
    for part in ("annotators/", "second-opinions/"):
        page = client.get(f"/p/minds/agreement/{part}").content.decode()
        assert "dora (imported)" in page and "minds:dora" not in page, part
    csv = b"".join(client.get("/p/minds/agreement/annotators.csv").streaming_content).decode()
    assert "minds:dora" in csv  # as files name them


def test_the_command_prints_one_json_object(voted, cast):
    out = StringIO()
    call_command("agreement", project="minds", json=True, stdout=out)
    report = json.loads(out.getvalue())
    assert set(report["dimensions"]["order"]) >= {
        "cells",
        "agree",
        "strict",
        "pairwise",
        "fleiss_kappa",
        "interval",
        "method",
    }
    assert report["overall"]["agree"] == 6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"project": "nowhere"}, "There is no project 'nowhere'."),
        ({"project": "minds", "split": "x"}, "minds has no split 'x'; it has: none."),
    ],
)
def test_the_command_refuses_with_a_sentence(cast, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("agreement", **options)


def test_the_page_shows_pictures_and_its_parts(voted, cast, client):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement", args=["minds"]))
    assert page.status_code == 200
    content = page.content.decode()
    assert content.count("<figure") == 2 and "75.00%" in content
    parts = client.get(reverse("annotation:agreement_annotators", args=["minds"])).content.decode()
    assert "pair=True%7CFalse" in parts
    assert client.get(reverse("annotation:agreement_opinions", args=["minds"])).status_code == 200


def test_the_page_and_the_command_say_why_there_are_no_intervals(voted, cast, client, make_story, assign, cast_vote):
    client.force_login(cast.esi)
    few = "No interval: an interval needs at least 5 stories."
    page = client.get(reverse("annotation:agreement", args=["minds"])).content.decode()
    assert page.count(few) == 2 and "No intervals yet" in page and "(an interval needs at least 5 stories)" in page
    out = StringIO()
    call_command("agreement", project="minds", stdout=out)
    assert few in out.getvalue()
    # enough stories, but one dimension has votes in two of them
    for number in range(3, 7):
        story = make_story(number)
        for one in assign(story):
            cast_vote(one, Proposition.objects.gold_of(story).first(), "order", "1")
    page = client.get(reverse("annotation:agreement", args=["minds"])).content.decode()
    assert "No intervals yet" not in page and page.count("No interval: ") == 3
    assert (
        "No interval: too few stories have what is counted" in page and f"; or {few.partition(': ')[2]}" in page
    )  # the mean over dimensions of a coefficient
    out = StringIO()
    call_command("agreement", project="minds", stdout=out)
    assert few in out.getvalue()


def test_the_page_says_where_votes_are_missing(voted, cast, client, make_story, assign, cast_vote):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement", args=["minds"]))
    assert page.context["waiting"] is None  # every cell that has a vote has three
    story = make_story(3)
    cast_vote(assign(story)[0], Proposition.objects.gold_of(story).first(), "order", "0")
    content = " ".join(client.get(reverse("annotation:agreement", args=["minds"])).content.decode().split())
    # stories 1 and 2 have votes on two dimensions of seven, on two propositions each; story 3 one vote on one
    assert "Cells wait for votes in 5 propositions of 3 stories" in content
    query = {"category": "Category 1"}
    assert client.get(reverse("annotation:agreement", args=["minds"]), query).context["waiting"] is None


def test_an_empty_project_says_what_to_do(cast, client):
    client.force_login(cast.esi)
    assert (
        "No cell has all its votes yet" in client.get(reverse("annotation:agreement", args=["minds"])).content.decode()
    )


def test_annotators_may_not_look(voted, cast, client):
    client.force_login(cast.bob)
    for name in ("agreement", "agreement_annotators", "agreement_opinions"):
        assert client.get(reverse(f"annotation:{name}", args=["minds"])).status_code == 403


def test_a_pair_without_a_kappa_says_why_in_the_reader_s_language(cast, client, make_story, assign, cast_vote):
    story = make_story()
    row = Proposition.objects.gold_of(story).first()
    for assignment in assign(story):
        cast_vote(assignment, row, "order", "0")
    client.force_login(cast.esi)
    address = reverse("annotation:agreement_annotators", args=["minds"])
    page = client.get(address, HTTP_ACCEPT_LANGUAGE="zh-CN").content.decode()
    assert page.count("两人都只用了一个标签") == 6  # as a hint and as a text, of three pairs


def test_every_kind_of_change_makes_a_new_report_of_annotators(voted, cast, cast_vote):
    rows = list(Proposition.objects.order_by("pk"))
    seen = [annotator_report(project=cast.project)]
    changes = (
        lambda: cast_vote(rows[0].table.story.assignments.first(), rows[0], "order", "2"),
        lambda: decide(cast, rows[1]),
        lambda: remove(by=cast.alice, proposition=rows[2], now=timezone.now()),
    )
    for change in changes:
        change()
        report = annotator_report(project=cast.project)
        assert report not in seen
        seen.append(report)


def test_a_part_is_of_its_stories(voted, cast, make_story, assign, cast_vote):
    story = make_story(9, category="Another")
    for assignment in assign(story):
        cast_vote(assignment, Proposition.objects.gold_of(story).first(), "order", "1")
    assert {pair.cells for pair in annotator_report(project=cast.project, category="Another").pairs} == {1}
    assert {pair.cells for pair in annotator_report(project=cast.project).pairs} == {9}


def test_second_opinions_are_asked_for_and_not_part_of_the_page(voted, cast, client):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement", args=["minds"])).content.decode()
    at = page.index(reverse("annotation:agreement_opinions", args=["minds"]))
    assert 'hx-trigger="toggle once"' in page[at : at + 200]
