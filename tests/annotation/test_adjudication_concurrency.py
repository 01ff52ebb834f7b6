"""Several experts and annotators at one cell at the same moment, each in a connection of their own."""

from __future__ import annotations

import threading

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from annotation.models import GoldEvent, GoldLabel, Membership, Method, Role, User
from annotation.services.adjudication import DecidedMeanwhile, adjudicate
from annotation.services.votes import Change, save_votes

pytestmark = pytest.mark.django_db(transaction=True)
SOURCE = "mental_source"


def at_once(works) -> list:
    """Runs the functions in threads that start together; returns what each returned or raised."""
    outcomes = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(at, work):
        barrier.wait()
        try:
            outcomes[at] = work()
        except Exception as error:
            outcomes[at] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(at, work)) for at, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes


@pytest.fixture
def open_cell(make_story, assign, cast_vote):
    assignments = assign(make_story())
    row = assignments[0].story.tables.get().propositions.get(position=2)
    for one, label in zip(assignments, ("Inference", "Testimony", "Memory"), strict=True):
        cast_vote(one, row, SOURCE, label)
    return GoldLabel.objects.get()


def test_of_eight_experts_one_decides_and_seven_are_told(cast, open_cell):
    experts = [User.objects.create_user(f"expert-{at}") for at in range(8)]
    for one in experts:
        Membership.objects.create(project=cast.project, user=one, role=Role.EXPERT)

    def decision(by):
        place = {"proposition": open_cell.proposition, "dimension": SOURCE, "now": timezone.now()}
        return lambda: adjudicate(by=by, label="Memory", revision=open_cell.revision, row=open_cell.pk, **place)

    outcomes = at_once([decision(one) for one in experts])
    assert [type(one) for one in outcomes].count(DecidedMeanwhile) == 7
    winner = next(one for one in outcomes if isinstance(one, GoldLabel))
    assert GoldLabel.objects.get().decided_by == winner.decided_by
    assert GoldEvent.objects.filter(after_method=Method.ADJUDICATED).count() == 1


def test_a_vote_at_the_moment_of_a_decision_is_never_lost(cast, open_cell, assign):
    """Either the decision rests on the new vote, or it is disturbed by it, or the expert is told."""
    bob = open_cell.proposition.votes.get(annotator=cast.bob)
    place = bob.annotator.assignments.select_related("story__project").get()
    now = timezone.now()
    change = Change(open_cell.proposition.uid, SOURCE, "Imagination", now, "late")
    fields = {"proposition": open_cell.proposition, "dimension": SOURCE, "label": "Memory", "now": now}
    _, decided = at_once(
        [
            lambda: save_votes(by=cast.bob, assignment=place, changes=[change], now=now),
            lambda: adjudicate(by=cast.esi, revision=open_cell.revision, **fields),
        ]
    )
    gold = GoldLabel.objects.get()
    if isinstance(decided, DecidedMeanwhile):
        assert gold.method == Method.OPEN
    else:
        assert gold.label == "Memory"
        assert gold.disturbed or "Imagination" in [vote["label"] for vote in gold.votes]


def test_experts_at_once_never_decide_a_cell_twice(cast, make_story, assign, cast_vote):
    """Three experts go through one queue at the same moment, each by requests of their own, and decide all that they
    are given: every cell has one decision."""
    for number in range(1, 9):
        assignments = assign(make_story(number, rows=[("Ines", "a"), ("Tomas", "b")]))
        for row in assignments[0].story.tables.get().propositions.all():
            for one, label in zip(assignments, ("Inference", "Testimony", "Memory"), strict=True):
                cast_vote(one, row, SOURCE, label)
    people = [User.objects.create_user(f"expert-{at}") for at in range(3)]
    for one in people:
        Membership.objects.create(project=cast.project, user=one, role=Role.EXPERT)

    def work(person):
        client, decided, refused = Client(), 0, []
        client.force_login(person)
        for _ in range(40):
            way = client.get("/p/minds/adjudication/next/")["Location"]
            if "/story/" not in way:
                break
            story = way.split("/")[5]
            claim = {"stories": [story], "opened": True}
            answer = client.post("/p/minds/adjudication/claims/", claim, content_type="application/json")
            if answer.json()["others"]:
                continue  # as the page's script goes on
            for gold in GoldLabel.objects.filter(proposition__table__story__uid=story, method=Method.OPEN):
                change = {
                    "proposition": gold.proposition.uid, "dimension": SOURCE, "label": "Memory",
                    "revision": gold.revision, "row": gold.pk, "idempotency_key": "k",
                    "changed_at": timezone.now().isoformat(),
                }  # fmt: skip
                body = {"changes": [change]}
                answer = client.post("/p/minds/adjudication/save/", body, content_type="application/json")
                decided += answer.status_code == 200
                refused += [answer.json()["error"]] if answer.status_code != 200 else []
        return decided, refused

    outcomes = at_once([lambda person=person: work(person) for person in people])
    events = GoldEvent.objects.filter(after_method=Method.ADJUDICATED)
    assert events.count() == GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 16, outcomes
    assert sum(decided for decided, _ in outcomes) == 16 and not any(refused for _, refused in outcomes), outcomes
