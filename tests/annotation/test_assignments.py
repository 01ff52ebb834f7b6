from __future__ import annotations

import json
import threading

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connections, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    AuditEvent,
    GoldLabel,
    Membership,
    Proposition,
    Role,
    Split,
    User,
    Vote,
    VoteEvent,
)
from annotation.services.assignments import assign, plan_assignments, release
from tests.patience import PATIENCE


def test_the_database_refuses_a_fourth_annotator(cast, make_story, assign):
    story = make_story()
    assign(story)
    for slot, overlap in ((3, 3), (4, 3), (0, 3)):
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.create(story=story, annotator=cast.esi, slot=slot, overlap=overlap)
    assert story.assignments.count() == 3


def test_the_database_refuses_a_second_assignment_for_one_person(cast, make_story, assign):
    story = make_story()
    assign(story, [cast.bob])
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(story=story, annotator=cast.bob, slot=2, overlap=3)


def test_a_plan_is_carried_out_and_written_down(cast, make_story):
    stories = [make_story(number) for number in range(1, 5)]
    people = [person.pk for person in cast.annotators]
    plan = plan_assignments(project=cast.project, stories=[story.pk for story in stories], annotators=people, seed=3)
    done = assign(by=cast.alice, project=cast.project, assignments=plan.assignments, seed=3)
    assert done.created == 12
    assert AuditEvent.objects.get(action="assignment.created").details == {"seats": 12, "seed": 3}
    again = plan_assignments(project=cast.project, stories=[story.pk for story in stories], annotators=people, seed=3)
    assert again.assignments == ()


def test_releasing_an_assignment_withdraws_its_votes_and_keeps_them_as_events(cast, make_story, assign, cast_vote):
    story = make_story()
    assignments = assign(story)
    proposition = Proposition.objects.gold_of(story).first()
    for one in assignments:
        cast_vote(one, proposition, "order", "0")
    assert GoldLabel.objects.get().method == "unanimous"
    assert release(by=cast.alice, assignment=assignments[0], now=timezone.now()) == 1
    assert not GoldLabel.objects.exists()
    assert Vote.objects.cast().count() == 2
    last = VoteEvent.objects.order_by("-id").first()
    assert (last.label, last.previous, last.origin) == ("", "0", "release")
    Assignment.objects.create(story=story, annotator=cast.esi, slot=1, overlap=3)  # the slot is free again


def test_a_released_annotator_can_no_longer_save(cast, make_story, assign, client):
    story = make_story()
    assignments = assign(story)
    release(by=cast.alice, assignment=assignments[0], now=timezone.now())
    client.force_login(cast.bob)
    assert client.get(reverse("annotation:grid", args=["minds", story.uid])).status_code == 404


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--split=nope"], "minds has no split 'nope'; it has: main."),
        (["--category=Nope"], "minds has no category 'Nope'; it has: False Belief Task."),
        (["--seed=-1"], "The seed must be a whole number from 0 to 2147483647."),
        ([f"--seed={2**63}"], "The seed must be a whole number from 0 to 2147483647."),
        (["--annotators=bob,dora"], "dora: no member of minds has this name."),
        (["--annotators=,"], "Choose at least one annotator."),
    ],
)
def test_the_command_refuses_with_a_sentence(cast, make_story, options, sentence):
    make_story(split=Split.objects.create(project=cast.project, name="main"))
    with pytest.raises(CommandError) as caught:
        call_command("assign", "--project=minds", "--annotators=bob,bea,ben", *options)
    assert str(caught.value) == sentence
    assert not Assignment.objects.exists()


def test_the_command_assigns_what_it_is_told(cast, make_story, capsys):
    make_story(1, split=Split.objects.create(project=cast.project, name="main"))
    make_story(2, category="Hinting")
    call_command("assign", "--project=minds", "--annotators=bob,bea", "--split=main", f"--seed={2**31 - 1}", "--json")
    told = {"project": "minds", "seats": 2, "short": 1, "seed": 2**31 - 1}
    assert json.loads(capsys.readouterr().out) == told
    call_command("assign", "--project=minds", "--annotators=ben", "--split=main")
    assert capsys.readouterr().out == "1 assignment made; 0 stories short of annotators.\n"
    assert set(Assignment.objects.values_list("story__number", flat=True)) == {1}


def test_the_page_previews_and_then_assigns(cast, make_story, client):
    make_story(1)
    make_story(2)
    client.force_login(cast.alice)
    address = reverse("annotation:assignments", args=["minds"])
    form = {"scope": "all", "annotators": [person.pk for person in cast.annotators], "seed": 1}
    assert "6 new assignments" in " ".join(client.post(address, form).content.decode().split())
    assert not Assignment.objects.exists()
    client.post(address, form | {"apply": "1"})
    assert Assignment.objects.count() == 6


def test_the_page_takes_as_many_statements_for_many_stories(
    cast, make_story, assign, client, django_assert_max_num_queries
):
    client.force_login(cast.alice)
    for number in range(1, 13):
        assign(make_story(number))
    with django_assert_max_num_queries(14):
        client.get(reverse("annotation:assignments", args=["minds"]))


@pytest.mark.django_db(transaction=True)
def test_six_assigners_at_once_never_overfill(cast, make_story):
    story = make_story()
    people = [User.objects.create_user(f"person{number}") for number in range(6)]
    for person in people:
        Membership.objects.create(project=cast.project, user=person, role=Role.ANNOTATOR)
    barrier, made, errors = threading.Barrier(6), [], []

    def work(person) -> None:
        try:
            barrier.wait(PATIENCE)
            made.append(assign(by=cast.alice, project=cast.project, assignments=[(story.pk, person.pk)]).created)
        except Exception as error:  # any error fails the test below
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert sum(made) == 3
    assert sorted(story.assignments.values_list("slot", flat=True)) == [1, 2, 3]
