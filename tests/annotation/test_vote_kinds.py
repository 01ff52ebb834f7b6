"""Figures about annotators are made of what is kept of stories: a change costs its story, and nothing kept is stale."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.agreement.annotators import AnnotatorReport
from annotation.models import Proposition, StoryEntry
from annotation.services import vote_kinds
from annotation.services.adjudication import adjudicate
from annotation.services.agreement import annotator_report
from annotation.services.counts import recount


@pytest.fixture
def voted(make_story, assign, cast_vote):
    """Three stories of two propositions, on which all have voted in two dimensions; on each one differs once."""
    stories = [make_story(number) for number in (1, 2, 3)]
    for number, story in enumerate(stories):
        for which, assignment in enumerate(assign(story)):
            for at, row in enumerate(Proposition.objects.gold_of(story)):
                cast_vote(assignment, row, "order", str(at))
                cast_vote(assignment, row, "truth_status", "False" if at and which == number else "True")
    return stories


@pytest.fixture
def seen(monkeypatch) -> list[int]:
    """The numbers of the stories whose votes are read from now on."""
    read: list[int] = []
    computed = vote_kinds._KEPT.compute

    def compute(project, stories):
        read.extend(project.stories.filter(pk__in=stories).order_by("number").values_list("number", flat=True))
        return computed(project, stories)

    monkeypatch.setattr(vote_kinds, "_KEPT", vote_kinds.Kept("votes", compute))
    return read


def from_the_beginning(project) -> AnnotatorReport:
    """Return the report of all votes read anew."""
    StoryEntry.objects.all().delete()
    vote_kinds._last.clear()
    recount(project)
    return annotator_report(project=project)


def decide(cast, story) -> None:
    row = Proposition.objects.gold_of(story).last()
    revision = row.gold.get(dimension="truth_status").revision
    remark = {"label": "Unknown", "reason": "Nobody says.", "now": timezone.now()}
    adjudicate(by=cast.esi, proposition=row, dimension="truth_status", revision=revision, **remark)


def test_a_change_costs_the_votes_of_its_story(voted, cast, cast_vote, seen):
    annotator_report(project=cast.project)
    assert seen == [1, 2, 3]
    changes = (
        lambda: cast_vote(voted[0].assignments.first(), Proposition.objects.gold_of(voted[0]).first(), "order", "2"),
        lambda: decide(cast, voted[1]),
        lambda: Proposition.objects.gold_of(voted[2]).first().delete(),
    )
    for number, change in enumerate(changes, 1):
        seen.clear()
        change()
        report = annotator_report(project=cast.project)
        assert seen == [number]
        assert report == from_the_beginning(cast.project)


def test_a_part_is_of_its_stories(voted, cast, make_story, assign, cast_vote):
    story = make_story(9, category="Another")
    for assignment in assign(story):
        cast_vote(assignment, Proposition.objects.gold_of(story).first(), "order", "1")
    cells = {pair.cells for pair in annotator_report(project=cast.project, category="Another").pairs}
    assert cells == {1}
    assert {pair.cells for pair in annotator_report(project=cast.project).pairs} == {13}


def test_the_page_counts_some_stories_at_a_time_and_then_costs_the_same_with_more_of_them(
    voted, cast, client, monkeypatch, cast_vote, make_story, assign
):
    monkeypatch.setattr("annotation.views.agreement.AT_ONCE", 2)
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement_annotators", args=["minds"])).content.decode()
    assert "Counting the votes" in page and 'value="2"' in page and 'max="3"' in page
    assert "Annotator by annotator" in look(client).content.decode()

    def change_one():
        cast_vote(voted[0].assignments.first(), Proposition.objects.gold_of(voted[0]).first(), "order", "3")

    change_one()
    few = statements(client)
    for number in range(10, 14):
        story = make_story(number)
        cast_vote(assign(story)[0], Proposition.objects.gold_of(story).first(), "order", "1")
    look(client), look(client)
    cast_vote(voted[0].assignments.first(), Proposition.objects.gold_of(voted[0]).first(), "order", "1")
    assert statements(client) == few


def look(client):
    return client.get(reverse("annotation:agreement_annotators", args=["minds"]))


def statements(client) -> int:
    with CaptureQueriesContext(connection) as asked:
        look(client)
    return len(asked)


def test_second_opinions_are_asked_for_and_not_part_of_the_page(voted, cast, client):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:agreement", args=["minds"])).content.decode()
    at = page.index(reverse("annotation:agreement_opinions", args=["minds"]))
    assert 'hx-trigger="toggle once"' in page[at : at + 200]
