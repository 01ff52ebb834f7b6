from __future__ import annotations

import json
import re
import threading
from datetime import date, timedelta
from io import StringIO

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
    assert done == 12
    assert AuditEvent.objects.get(action="assignment.created").details == {"assignments": 12, "seed": 3}
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
    told = {"project": "minds", "assignments": 2, "short": 1, "seed": 2**31 - 1}
    assert json.loads(capsys.readouterr().out) == told
    call_command("assign", "--project=minds", "--annotators=ben", "--split=main")
    assert capsys.readouterr().out == "1 assignment made; 0 stories short of annotators.\n"
    assert set(Assignment.objects.values_list("story__number", flat=True)) == {1}


def test_the_page_previews_and_then_assigns(cast, make_story, client):
    make_story(1)
    make_story(2)
    client.force_login(cast.alice)
    address = reverse("annotation:assignments", args=["minds"])
    make_story(3, rows=())
    form = {"scope": "all", "annotators": [person.pk for person in cast.annotators], "seed": 1}
    text = " ".join(client.post(address, form).content.decode().split())
    assert "6 new assignments" in text and "balanced by propositions" in text
    assert "4 propositions in 2 stories; then 4 altogether" in text
    assert not Assignment.objects.exists()
    client.post(address, form | {"apply": "1", "due": "2030-12-31"})
    assert Assignment.objects.count() == Assignment.objects.filter(due=date(2030, 12, 31)).count() == 6
    assert "9 assignments" not in client.post(address, form).content.decode()
    text = " ".join(client.post(f"{address}?tables=all", form).content.decode().split())
    assert "3 new assignments" in text  # the story without a table, where it is asked for


def test_annotators_are_chosen_before_anybody_chooses_and_people_show_their_load(cast, make_story, assign, client):
    assign(make_story(1, rows=[("world", f"Fact {at}") for at in range(5)]), [cast.bob])
    client.force_login(cast.alice)
    page = client.get(reverse("annotation:assignments", args=["minds"]))
    rows = {row["user"].username: row for row in page.context["people"]}
    assert [*rows] == ["bea", "ben", "bob", "esi", "alice"]
    assert {name for name, row in rows.items() if row["chosen"]} == {"bea", "ben", "bob"}
    assert rows["bob"]["load"].propositions == 5 and rows["bea"]["load"] is None


def test_the_plan_balances_propositions(cast, make_story):
    sizes = [9, 5, 5, 3, 1, 1, 1, 1, 1, 1]
    cast.project.overlap = 2
    stories = [make_story(at, rows=[("world", f"{at} {n}") for n in range(size)]) for at, size in enumerate(sizes, 1)]
    asked = {"stories": [story.pk for story in stories], "annotators": [one.pk for one in cast.annotators]}
    plan = plan_assignments(project=cast.project, seed=1, **asked)
    assert sum(plan.added.values()) == 2 * sum(sizes)
    assert max(plan.added.values()) - min(plan.added.values()) <= 1


def test_a_bulk_release_asks_first_and_keeps_filter_and_page(cast, make_story, assign, cast_vote, client):
    story, other = make_story(1), make_story(2, category="Hinting")
    (bob, *_), _ = assign(story), assign(other)
    cast_vote(bob, Proposition.objects.gold_of(story).first(), "order", "0")
    client.force_login(cast.alice)
    here = reverse("annotation:assignments", args=["minds"]) + "?category=False+Belief+Task&page=1"
    form = {"scope": "all", "annotators": [cast.bob.pk, cast.bea.pk], "seed": 1}
    text = " ".join(client.post(here, form | {"release": "preview"}).content.decode().split())
    assert "2 assignments</strong> would be released, and 1 vote would no longer count" in text
    assert Assignment.objects.active().count() == 6
    assert client.post(here, form | {"release": "apply"}).url == here
    assert set(Assignment.objects.active().filter(story=story).values_list("annotator", flat=True)) == {cast.ben.pk}
    assert other.assignments.active().count() == 3 and not Vote.objects.cast().exists()
    (left,) = story.assignments.active()
    one = reverse("annotation:release", args=["minds", left.uid]) + "?category=False+Belief+Task"
    assert client.post(one).url.endswith("/assignments/?category=False+Belief+Task")


def told(*words: str) -> dict:
    out = StringIO()
    call_command(*words, "--project", "minds", "--json", stdout=out)
    return json.loads(out.getvalue())


def test_commands_release_and_set_days_as_the_page_does(cast, make_story, assign, cast_vote, client):
    story, other, withdrawn = make_story(1), make_story(2, category="Hinting"), make_story(3)
    (bob, *_), *_ = assign(story), assign(other), assign(withdrawn)
    withdrawn.withdrawn_at = timezone.now()
    withdrawn.save()
    cast_vote(bob, Proposition.objects.gold_of(story).first(), "order", "0")
    filters = ("--annotators", "bob,bea", "--category", "False Belief Task")
    here = reverse("annotation:assignments", args=["minds"]) + "?category=False+Belief+Task"
    form = {"scope": "all", "annotators": [cast.bob.pk, cast.bea.pk], "seed": 1}
    client.force_login(cast.alice)

    would = {"project": "minds", "assignments": 2, "people": {"bob": 1, "bea": 1}, "preview": True}
    assert told("set_deadline", *filters, "--due", "2031-01-31", "--preview") == would | {"due": "2031-01-31"}
    assert not Assignment.objects.filter(due__isnull=False).exists() and not AuditEvent.objects.exists()
    told("set_deadline", *filters, "--due", "2031-01-31")
    by_command = set(Assignment.objects.filter(due=date(2031, 1, 31)).values_list("pk", flat=True))
    told("set_deadline", *filters, "--no-due")
    client.post(here, form | {"due_set": "1", "due": "2031-01-31"})
    assert by_command == set(Assignment.objects.filter(due=date(2031, 1, 31)).values_list("pk", flat=True))
    logged = AuditEvent.objects.filter(action="assignment.due").order_by("pk").values_list("details", "target")
    assert len(logged) == 3 and logged[0] == logged[2]

    page = client.post(here, form | {"release": "preview"}).context["releasing"]
    assert told("release_assignments", *filters, "--preview") == would | {"votes": page["votes"]} and page["count"] == 2
    assert Assignment.objects.active().count() == 9 and Vote.objects.cast().exists()
    assert told("release_assignments", *filters, "--assigned-to", "ben") == would | {"votes": 1, "preview": False}
    assert set(story.assignments.active().values_list("annotator", flat=True)) == {cast.ben.pk}
    assert other.assignments.active().count() == withdrawn.assignments.active().count() == 3
    assert not Vote.objects.cast().exists() and VoteEvent.objects.filter(origin="release").exists()
    assert (
        told("release_assignments", "--annotators", "ben", "--stories", "3")["assignments"] == 1
    )  # ticked, as on the page

    for words, sentence in (
        (("release_assignments", "--annotators", "nobody"), "nobody: no member of minds has this name."),
        (("release_assignments", "--annotators", ","), "--annotators is empty; expected user names, with commas."),
        (("set_deadline", "--annotators", "bob", "--no-due", "--stories", "1", "77"), "minds has no story 77."),
        (("set_deadline", "--annotators", "bob", "--due", "soon"), "a day such as 2030-12-31 is expected."),
        (
            ("set_deadline", "--annotators", "bob", "--due", "2020-02-01", "--preview"),
            "1 February 2020 has passed; today",
        ),
        (("set_deadline", "--annotators", "bob", "--due", "2020-02-01"), "1 February 2020 has passed; today"),
        (("assign", "--annotators", "bob", "--due", "2020-02-01"), "1 February 2020 has passed; today"),
        (("release_assignments", "--annotators", "bob", "--split", "none"), "minds has no split 'none'; it has"),
        (
            ("release_assignments", "--annotators", "bob", "--stories", "1", "--assignments", "full"),
            "leave the filters out.",
        ),
    ):
        with pytest.raises(CommandError, match=re.escape(sentence)):
            told(*words)


def test_a_day_that_has_passed_is_refused_unless_it_is_the_day_already(cast, make_story, assign, client):
    stories = [make_story(1), make_story(2), make_story(3)]
    assign(stories[0]), assign(stories[1])
    today = timezone.now().date()
    passed = today - timedelta(days=1)
    Assignment.objects.filter(story=stories[0]).update(due=passed)
    client.force_login(cast.alice)
    here = reverse("annotation:assignments", args=["minds"])
    form = {"annotators": [one.pk for one in cast.annotators], "seed": 1, "due": passed.isoformat(), "scope": "chosen"}

    def answer(**more):
        return client.post(here, form | {"stories": [stories[1].uid]} | more)

    for pressed in ({"due_set": "1"}, {}, {"apply": "1"}):
        page = answer(**pressed)
        said = page.context["form"].errors["due"][0]
        assert said.startswith(f"{passed.day} {passed:%B %Y} has passed; today is {today.day} "), pressed
        assert page.context["chosen"] == {stories[1].uid}, "what was ticked stays ticked"
    assert answer(due_set="1", stories=[stories[0].uid, stories[1].uid]).status_code == 200
    assert answer(due_set="1", stories=[stories[0].uid]).status_code == 302
    assert not Assignment.objects.filter(story=stories[1], due__isnull=False).exists()
    assert answer(due_set="1", due=today.isoformat()).status_code == 302
    assert set(Assignment.objects.filter(story=stories[1]).values_list("due", flat=True)) == {today}


def test_who_is_behind_their_deadline(cast, make_story, assign, cast_vote, client):
    assigned = assign(make_story(1, rows=[("world", f"Fact {at}") for at in range(10)]))
    now = timezone.now()
    Assignment.objects.update(assigned_at=now - timedelta(days=4))
    for row in Proposition.objects.filter(table__story__number=1)[:9]:
        cast_vote(assigned[0], row, "order", "0")
    client.force_login(cast.alice)
    address = reverse("annotation:assignments", args=["minds"])
    everybody = {"scope": "all", "annotators": [one.pk for one in cast.annotators], "seed": 1}
    client.post(address, everybody | {"due_set": "1", "due": (now + timedelta(days=60)).date().isoformat()})
    assert AuditEvent.objects.get(action="assignment.due").details["assignments"] == 3
    rows = {row["user"].username: row for row in client.get(address).context["people"]}
    cells = 10 * len(cast.project.schema.dimensions)
    (bob,), (bea,) = rows["bob"]["paces"], rows["bea"]["paces"]
    assert (bob.left, round(bob.a_day, 2), bob.is_behind) == (cells - 9, 2.25, False)  # 2.25 a day for 60 days
    assert (bea.left, bea.a_day, bea.is_behind) == (cells, 0, True)
    assert client.post(address, everybody | {"due_set": "1", "due": "soon"}).status_code == 200
    client.post(address, everybody | {"due_set": "1", "due": ""})
    assert not Assignment.objects.filter(due__isnull=False).exists()


def test_the_page_takes_as_many_statements_for_many_stories(
    cast, make_story, assign, client, django_assert_max_num_queries
):
    client.force_login(cast.alice)
    for number in range(1, 13):
        assign(make_story(number))
    client.get(reverse("annotation:assignments", args=["minds"]))  # counts what is new
    with django_assert_max_num_queries(18):
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
            made.append(assign(by=cast.alice, project=cast.project, assignments=[(story.pk, person.pk)]))
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
