"""Agreement of a project: its reports, their page, file and command."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.domain.agreement.annotators import Matches, MatchesWithout
from annotation.models import Proposition
from annotation.services.adjudication import adjudicate
from annotation.services.agreement import agreement_report, annotator_report, second_opinions
from annotation.services.belief_tables import remove
from annotation.services.vote_import import import_votes

PAGE = "/p/minds/agreement/"
PARTS = ("", "annotators/", "second-opinions/")
FEW = "an interval needs at least 5 stories"


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


@pytest.fixture
def look(cast, client):
    """The text of a part of the page, as Esi sees it."""
    client.force_login(cast.esi)
    return lambda part="", query=None, **headers: " ".join(
        client.get(f"{PAGE}{part}", query, **headers).content.decode().split()
    )


@pytest.fixture
def vote_order(make_story, assign, cast_vote):
    """So many people label the order of the first row of a new story: `vote_order(3, "1", "1", category="Another")`."""

    def make(number, *labels, **fields):
        story = make_story(number, **fields)
        for one, label in zip(assign(story), labels, strict=False):
            cast_vote(one, Proposition.objects.gold_of(story).first(), "order", label)

    return make


def command(capsys, *options: str) -> str:
    call_command("agreement", "--project=minds", *options)
    return capsys.readouterr().out


def decide(cast, row) -> None:
    revision = row.gold.get(dimension="truth_status").revision
    decided = {"label": "Unknown", "revision": revision, "reason": "Nobody says."}
    adjudicate(by=cast.esi, proposition=row, dimension="truth_status", now=timezone.now(), **decided)


def test_the_report_counts_cells_that_have_all_their_votes(voted, cast, vote_order, capsys):
    report = agreement_report(project=cast.project)
    assert (report.stories, report.propositions, report.annotators) == (2, 4, 3)
    order, truth = report.dimensions["order"], report.dimensions["truth_status"]
    # order: 4 of 4 agree; truth: propositions 1 agree, 2 have one dissent: 2 of 4; pairs: 1, 1/3, 1, 1/3 → 2/3
    assert (order.cells, order.agree, order.estimates["strict"].value) == (4, 4, 1.0)
    assert (truth.cells, truth.agree, truth.estimates["strict"].value) == (4, 2, 0.5)
    assert truth.estimates["pairwise"].value == pytest.approx(2 / 3)
    assert (report.overall.cells, report.overall.agree) == (8, 6)
    assert report.dimensions["context"].estimates["strict"].value is None
    assert report.dimensions["context"].as_json()["reason"] == "no cell has all its votes"
    truth = agreement_report(project=cast.project, category="Category 1").dimensions["truth_status"]
    assert truth.cells == 2 and truth.estimates["strict"].interval is None and truth.estimates["strict"].reason == FEW
    vote_order(3, "0", "1")
    report = agreement_report(project=cast.project)
    assert (report.dimensions["order"].cells, report.incomplete) == (4, 1)
    told = json.loads(command(capsys, "--json"))
    named = {"cells", "agree", "strict", "pairwise", "fleiss_kappa", "interval", "method"}
    assert set(told["dimensions"]["order"]) >= named and told["overall"]["agree"] == 6
    for options, sentence in (
        ({"project": "nowhere"}, "There is no project 'nowhere'."),
        ({"project": "minds", "split": "x"}, "minds has no split 'x'; it has: none."),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("agreement", **options)


def test_annotator_by_annotator(voted, cast, vote_order):
    report = annotator_report(project=cast.project)
    pairs = {pair["annotators"]: pair for pair in report.pairs}
    # bea and bob agree on all 8 cells; ben differs from each on 2
    assert pairs["bea", "bob"]["agree"] == pairs["bea", "bob"]["cells"] == 8
    assert pairs["bea", "ben"]["agree"] == 6
    # the majority is True on both disputed cells: ben has it on 2 of 4
    assert report.against_resolved["ben"]["truth_status"] == Matches(annotator="ben", cells=4, agree=2)
    # without ben the two others settle all 4; without bob the disputed cells have True and False, which settles nothing
    settled = MatchesWithout(annotator="ben", cells=4, agree=2, votes=4, expert=0, open=0)
    assert report.against_others["ben"]["truth_status"] == settled
    assert report.against_others["bob"]["truth_status"] == replace(settled, annotator="bob", cells=2, votes=2, open=2)
    assert report.confusions["truth_status"] == [[2, 2, 0], [2, 0, 0], [0, 0, 0]]
    skills = second_opinions(project=cast.project)
    assert skills["ben"]["truth_status"].dawid_skene <= skills["bob"]["truth_status"].dawid_skene
    # an expert's decision settles a cell without its annotators
    decide(cast, next(row for row in Proposition.objects.order_by("pk") if row.gold.filter(method="majority").exists()))
    against = annotator_report(project=cast.project).against_others
    rows = {name: by_dimension["truth_status"] for name, by_dimension in against.items()}
    counted = {name: [row.cells, row.agree, row.votes, row.expert, row.open] for name, row in rows.items()}
    assert counted == {"bea": [3, 2, 2, 1, 1], "ben": [4, 2, 3, 1, 0], "bob": [3, 2, 2, 1, 1]}
    # a part is of its stories
    vote_order(9, "1", "1", "1", category="Another")
    for category, cells in (("Another", 1), ("", 9)):
        some = {"category": category} if category else {}
        assert {pair["cells"] for pair in annotator_report(project=cast.project, **some).pairs} == {cells}


def test_every_kind_of_change_makes_new_reports(voted, cast, cast_vote):
    rows = list(Proposition.objects.order_by("pk"))
    seen, agreed = [annotator_report(project=cast.project)], [agreement_report(project=cast.project).overall.agree]
    for change in (
        lambda: cast_vote(rows[0].table.story.assignments.first(), rows[0], "order", "2"),
        lambda: decide(cast, rows[1]),
        lambda: remove(by=cast.alice, proposition=rows[2], now=timezone.now()),
    ):
        change()
        report = annotator_report(project=cast.project)
        assert report not in seen
        seen.append(report)
        agreed.append(agreement_report(project=cast.project).overall.agree)
    assert agreed == [6, 5, 5, 3]


def test_the_page_shows_pictures_and_has_its_parts_asked_for(voted, cast, client, look):
    page = look()
    assert page.count("<figure") == 2 and "75.00%" in page
    at = page.index(f"{PAGE}second-opinions/")
    assert 'hx-trigger="toggle once"' in page[at : at + 200]
    assert client.get(f"{PAGE}second-opinions/").status_code == 200
    parts = look("annotators/")
    assert "pair=True%7CFalse" in parts
    # the comparison without oneself comes first, on the page and in its file
    others, own = parts.index("against the others"), parts.index("with their own votes")
    assert others < own and "Left open" in parts[others:own] and "n = 2" in parts[others:own]
    [address] = re.findall(r'href="([^"]+\.csv[^"]*)"', parts)
    content = b"".join(client.get(address).streaming_content).decode()
    rows = [row for row in csv.DictReader(io.StringIO(content, newline="")) if row["dimension"] == "truth_status"]
    assert [row["gold"] for row in rows] == ["without the annotator"] * 3 + ["with the annotator's own votes"] * 3
    bob = next(row for row in rows if row["annotator"] == "bob")
    figures = [bob[name] for name in ("cells", "agree", "share", "settled_by_votes", "open")]
    assert figures == ["2", "2", "1.0", "2", "2"]
    client.force_login(cast.bob)
    for part in PARTS:
        assert client.get(f"{PAGE}{part}").status_code == 403, "annotators may not look"


def test_imported_annotators_are_called_on_the_page_what_they_are_called_everywhere(cast, make_story, client, look):
    assert "No cell has all its votes yet" in look()
    make_story(rows=[("Ines", "All is well")])
    lines = ["story_id,actor,belief,dimension,annotator,label"]
    lines += [f"1,Ines,All is well,order,{name},1" for name in ("dora", "emil", "femi")]
    file = {"handle": io.BytesIO("\n".join(lines).encode()), "file": "v.csv"}
    import_votes(by=None, project=cast.project, **file, now=timezone.now())
    for part in PARTS[1:]:
        page = look(part)
        assert "dora (imported)" in page and "minds:dora" not in page, part
    written = b"".join(client.get(f"{PAGE}annotators.csv").streaming_content).decode()
    assert "minds:dora" in written  # as files name them
    # a pair without a kappa says why, in the reader's language: as a hint and as a text, of three pairs
    assert look("annotators/", HTTP_ACCEPT_LANGUAGE="zh-CN").count("两人都只用了一个标签") == 6


def test_page_and_command_say_why_there_are_no_intervals(voted, look, vote_order, capsys):
    few = f"No interval: {FEW}."
    page = look()
    assert page.count(few) == 2 and "No intervals yet" in page and f"({FEW})" in page
    assert few in command(capsys)
    for number in range(3, 7):  # enough stories, but one dimension has votes in two of them
        vote_order(number, "1", "1", "1")
    page = look()
    assert "No intervals yet" not in page and page.count("No interval: ") == 3
    assert "No interval: too few stories have what is counted" in page
    assert f"; or {FEW}." in page  # the mean over dimensions of a coefficient
    assert few in command(capsys)


def test_the_page_says_where_votes_are_missing(voted, client, look, vote_order):
    look()
    assert client.get(PAGE).context["waiting"] is None  # every cell that has a vote has three
    vote_order(3, "0")
    # stories 1 and 2 have votes on two dimensions of seven, on two propositions each; story 3 one vote on one
    assert "Cells wait for votes in 5 propositions of 3 stories" in look()
    assert client.get(PAGE, {"category": "Category 1"}).context["waiting"] is None
