"""Rounds beside each other and beside votes: no cell is asked for twice, and what could not be used says so."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Prefill, Proposition, Suggestion
from annotation.services import prefill as service
from annotation.services import prefill_rounds
from annotation.services.prefill import PrefillRefused
from tests.annotation.prefilling import CELLS, begin, suggest
from workers.domain.pricing import dollars
from workers.models import Call, Endpoint, Item, ItemState
from workers.services.jobs import cancel_job, pause_job
from workers.services.runner import Runner

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_second_round_leaves_out_what_the_first_asks_for(cast, endpoint, make_story):
    stories = [make_story(number) for number in range(1, 4)]
    first = begin(cast, endpoint, stories[:2])
    told = f"2 stories are left out: the round {first.uid} (tiny, running) has not ended with them."
    asked = {"project": cast.project, "endpoint": endpoint, "level": 3}
    planned = service.estimate(stories=stories, **asked)
    assert (planned.stories, planned.cells, planned.left_out) == (1, 2 * CELLS, told)
    second = begin(cast, endpoint, stories)
    assert list(Item.objects.filter(job=second.job).values_list("key", flat=True)) == [stories[2].uid]
    pause_job(job=first.job)
    which = rf"the rounds {first.uid} \(tiny, paused\), {second.uid} \(tiny, running\) have not ended with them\."
    with pytest.raises(PrefillRefused, match=f"Nothing else is open: 3 stories are left out: {which}"):
        begin(cast, endpoint, stories)
    assert Prefill.objects.count() == 2


def test_a_story_is_free_again_when_the_round_has_ended_with_it(cast, endpoint, make_story):
    story = make_story()
    first = begin(cast, endpoint, [story])
    with pytest.raises(PrefillRefused, match=f"1 story is left out: the round {first.uid} "):
        begin(cast, endpoint, [story])
    cancel_job(job=first.job, now=timezone.now())
    second = begin(cast, endpoint, [story])
    Runner().run()
    assert Item.objects.get(job=second.job).state == ItemState.DONE
    assert Call.objects.count() == 1


def test_a_story_whose_cells_closed_meanwhile_is_not_asked_and_not_paid(cast, endpoint, make_story):
    made = begin(cast, endpoint, [story := make_story()])
    suggest(story, "other")
    Runner().run()
    item = Item.objects.get(job=made.job)
    assert (item.state, item.problem) == (ItemState.FAILED, prefill_rounds.CLOSED_MEANWHILE)
    assert not Call.objects.exists()


def answered(made, story):
    """The item of a story and its call, before the answer is taken."""
    item = Item.objects.select_related("job", "endpoint", "call").get(job=made.job, key=story.uid)
    return item, item.call


def test_an_answer_for_closed_cells_says_so(cast, endpoint, make_story, assign, cast_vote):
    stories = [make_story(1), make_story(2)]
    made = begin(cast, endpoint, stories)
    Runner().run()
    handler = prefill_rounds.LabelRound()
    taken = handler.receive([answered(made, stories[0])])
    # every cell has its suggestion by now
    (received,) = taken.values()
    assert (received.state, received.problem) == (
        ItemState.UNREADABLE,
        "0 of 14 cells were still open; the others keep the vote or suggestion that they have.",
    )
    # one cell of 14 was voted on after the question
    Suggestion.objects.all().delete()
    row = Proposition.objects.gold_of(stories[1]).first()
    cast_vote(assign(stories[1])[0], row, "order", DEFAULT_SCHEMA["order"].values[0])
    (received,) = handler.receive([answered(made, stories[1])]).values()
    assert received.state == ItemState.DONE and received.problem.startswith("13 of 14 cells were still open")
    assert Suggestion.objects.count() == 13
    # two items of one story in one turn: the second finds nothing open
    Suggestion.objects.all().delete()
    item, call = answered(made, stories[0])
    again = Item(pk=item.pk + 1000, job=item.job, endpoint=item.endpoint, key=item.key)
    received = handler.receive([(item, call), (again, call)])
    assert [one.state for one in received.values()] == [ItemState.DONE, ItemState.UNREADABLE]


def test_a_batch_is_estimated_at_its_price(cast, endpoint, make_story, client):
    endpoint.price_input, endpoint.price_output = Decimal(10), Decimal(20)
    endpoint.batches, endpoint.price_batch = True, Decimal("0.25")
    endpoint.save()
    asked = {"project": cast.project, "endpoint": endpoint, "stories": [make_story()], "level": 3}
    plain, batched = service.estimate(**asked).cost, service.estimate(**asked, batch=True).cost
    assert plain > 0 and batched == plain / 4
    client.force_login(cast.alice)
    page = client.post(
        "/p/minds/prefill/", {"endpoint": "tiny", "level": "3", "split": "", "category": "", "batch": "on"}
    )
    assert dollars(batched) in page.content.decode()


def test_the_page_says_what_it_leaves_out(cast, endpoint, make_story, client):
    begin(cast, endpoint, [make_story()])
    client.force_login(cast.alice)
    asked = {"endpoint": "tiny", "level": "3", "split": "", "category": ""}
    page = client.post("/p/minds/prefill/", asked).content.decode()
    assert "Nothing else is open: 1 story is left out" in page and 'name="start"' not in page
    make_story(2)
    page = client.post("/p/minds/prefill/", asked).content.decode()
    assert "1 story is left out" in page and "Nothing else" not in page and 'name="start"' in page


def test_a_baseline_of_another_task_is_refused(cast, make_story):
    told = "judge cannot label: lexical-judge is a baseline for another task; majority and random can."
    baseline = Endpoint.objects.create(name="judge", provider="baseline", model="lexical-judge")
    with pytest.raises(PrefillRefused, match=told):
        begin(cast, baseline, [make_story()])
