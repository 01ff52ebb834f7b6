"""The annotator's list of stories."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, CellComment, Proposition, PropositionFlag, workload


@pytest.fixture
def bob(client, cast):
    client.force_login(cast.bob)
    return client


def label_all(story, annotator, cast_vote):
    own = Assignment.objects.get(story=story, annotator=annotator)
    for row in Proposition.objects.gold_of(story):
        for dimension in DEFAULT_SCHEMA.dimensions:
            cast_vote(own, row, dimension.key, dimension.values[0])


def test_strangers_find_nothing(client, cast):
    client.force_login(cast.charlie)
    assert client.get("/p/minds/work/").status_code == 404
    assert client.get("/p/minds/work/next/").status_code == 404


def test_unfinished_stories_come_first_in_their_order(cast, make_story, assign, cast_vote):
    stories = [make_story(number=number) for number in (1, 2, 3)]
    for story in stories:
        assign(story)
    label_all(stories[0], cast.bob, cast_vote)
    rows = workload.of_annotator(cast.project, cast.bob)
    # two propositions × seven dimensions = 14 cells
    assert [(row.story.number, row.done, row.cells) for row in rows] == [(2, 0, 14), (3, 0, 14), (1, 14, 14)]
    assert workload.next_unfinished(rows).story.number == 2
    assert workload.next_unfinished(rows, after=2).story.number == 3
    assert workload.next_unfinished(rows, after=3).story.number == 2


def test_a_day_that_has_passed_is_told_from_one_to_come(bob, cast, make_story, assign):
    today = timezone.now().date()
    for number, days in enumerate((-1, 0), 1):
        assign(make_story(number=number))
        Assignment.objects.filter(story__number=number).update(due=today + timedelta(days=days))
    page = " ".join(bob.get("/p/minds/work/").content.decode().split())
    assert page.count("was to be finished by") == 1 and page.count(">to be finished by") == 1


def test_the_page_says_how_far_everything_is(bob, cast, make_story, assign, cast_vote):
    stories = [make_story(number=number) for number in (1, 2)]
    for story in stories:
        assign(story)
    label_all(stories[0], cast.bob, cast_vote)
    page = " ".join(bob.get("/p/minds/work/").content.decode().split())
    assert "1 of 2 stories finished" in page
    assert "14 / 28" in page
    assert f'href="/p/minds/work/{stories[1].uid}/" >Continue with story 2' in page


def test_no_story_yet(bob):
    assert "No story is assigned to you yet" in bob.get("/p/minds/work/").content.decode()


def test_others_progress_is_not_shown(bob, cast, make_story, assign, cast_vote):
    story = make_story()
    assign(story)
    before = bob.get("/p/minds/work/").context["page"].object_list[0].done
    label_all(story, cast.bea, cast_vote)
    assert bob.get("/p/minds/work/").context["page"].object_list[0].done == before == 0


def test_the_next_story_goes_on_and_comes_round(bob, cast, make_story, assign, cast_vote):
    stories = [make_story(number=number) for number in (1, 2, 3)]
    for story in stories:
        assign(story)
    label_all(stories[1], cast.bob, cast_vote)

    def after(story):
        return bob.get(f"/p/minds/work/next/?after={story.uid}").url

    assert after(stories[0]) == f"/p/minds/work/{stories[2].uid}/"
    assert after(stories[2]) == f"/p/minds/work/{stories[0].uid}/"
    for story in (stories[0], stories[2]):
        label_all(story, cast.bob, cast_vote)
    assert after(stories[2]) == "/p/minds/work/"


def test_an_answer_to_a_comment_is_news_until_answered(bob, cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    place = {"proposition": row, "dimension": "order", "thread_of": cast.bob}
    CellComment.objects.create(**place, author=cast.bob, text="Is it 0?")
    assert "Answers to you" not in bob.get("/p/minds/work/").content.decode()
    CellComment.objects.create(**place, author=cast.esi, text="It is, by the guideline.")
    CellComment.objects.create(**{**place, "thread_of": cast.bea}, author=cast.esi, text="Bea, no.")
    page = bob.get("/p/minds/work/").content.decode()
    assert "It is, by the guideline." in page
    assert f"/p/minds/work/{story.uid}/#{row.uid}/order/comments" in page
    assert "Bea, no." not in page
    CellComment.objects.create(**place, author=cast.bob, text="Thanks.")
    assert "Answers to you" not in bob.get("/p/minds/work/").content.decode()


def test_the_outcome_of_an_own_flag_is_news(bob, cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    fields = {"outcome": "accepted", "outcome_by": cast.esi, "outcome_at": timezone.now(), "outcome_text": "Reworded"}
    PropositionFlag.objects.create(proposition=row, author=cast.bea, kind="merge", remark="?", **fields)
    assert "Answers to you" not in bob.get("/p/minds/work/").content.decode()
    PropositionFlag.objects.create(proposition=row, author=cast.bob, kind="reword", remark="Unclear", **fields)
    assert "Reworded" in bob.get("/p/minds/work/").content.decode()


def test_the_list_costs_the_same_queries_for_any_number_of_stories(bob, make_story, assign):
    from django.db import connection

    counts = []
    for numbers in (range(1, 3), range(3, 30)):
        for number in numbers:
            assign(make_story(number=number))
        with CaptureQueriesContext(connection) as queries:
            bob.get("/p/minds/work/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8
