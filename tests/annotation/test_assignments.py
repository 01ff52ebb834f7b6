"""Who labels what, by when: planned, assigned, released and dated by service, page and command."""

import io
import json
import re
from datetime import date, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
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
from annotation.services.assignments import assign as assign_planned
from annotation.services.assignments import plan_assignments, release
from tests.threads import at_once

PAGE = "/p/minds/assignments/"
FALSE_BELIEFS = f"{PAGE}?category=False+Belief+Task"


@pytest.fixture
def post(cast, client):
    """`post(address, **form)` as Alice, for all stories and annotators unless told otherwise."""
    client.force_login(cast.alice)
    everybody = {"scope": "all", "annotators": [one.pk for one in cast.annotators], "seed": 1}
    return lambda address=PAGE, **form: client.post(address, everybody | form)


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def due_on(day: date | None) -> set[int]:
    return set(Assignment.objects.filter(due=day).values_list("pk", flat=True))


def test_the_database_refuses_a_fourth_annotator_and_one_person_twice(cast, make_story, assign):
    story, other = make_story(1), make_story(2)
    assign(story), assign(other, [cast.bob])
    for fields in (
        {"story": story, "annotator": cast.esi, "slot": 3},
        {"story": story, "annotator": cast.esi, "slot": 4},
        {"story": story, "annotator": cast.esi, "slot": 0},
        {"story": other, "annotator": cast.bob, "slot": 2},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.create(overlap=3, **fields)
    assert story.assignments.count() == 3


@pytest.mark.django_db(transaction=True)
def test_six_assigners_at_once_never_overfill(cast, make_story):
    story = make_story()
    people = [User.objects.create_user(f"person{number}") for number in range(6)]
    for person in people:
        Membership.objects.create(project=cast.project, user=person, role=Role.ANNOTATOR)

    def work(person) -> int:
        return assign_planned(by=cast.alice, project=cast.project, assignments=[(story.pk, person.pk)])

    assert sum(at_once([lambda person=person: work(person) for person in people])) == 3
    assert sorted(story.assignments.values_list("slot", flat=True)) == [1, 2, 3]


def test_a_plan_balances_propositions_is_carried_out_and_written_down(cast, make_story):
    sizes = [9, 5, 5, 3, 1, 1, 1, 1, 1, 1]
    cast.project.overlap = 2
    stories = [make_story(at, rows=[("world", f"{at} {n}") for n in range(size)]) for at, size in enumerate(sizes, 1)]
    asked = {"stories": [story.pk for story in stories], "annotators": [one.pk for one in cast.annotators], "seed": 3}
    plan = plan_assignments(project=cast.project, **asked)
    assert sum(plan.added.values()) == 2 * sum(sizes)
    assert max(plan.added.values()) - min(plan.added.values()) <= 1
    assert assign_planned(by=cast.alice, project=cast.project, assignments=plan.assignments, seed=3) == 20
    assert AuditEvent.objects.get(action="assignment.created").details == {"assignments": 20, "seed": 3}
    assert plan_assignments(project=cast.project, **asked).assignments == ()


def test_releasing_an_assignment_withdraws_its_votes_and_keeps_them_as_events(
    cast, make_story, assign, cast_vote, client
):
    story = make_story()
    assignments = assign(story)
    proposition = Proposition.objects.gold_of(story).first()
    for one in assignments:
        cast_vote(one, proposition, "order", "0")
    assert GoldLabel.objects.get().method == "unanimous"
    assert release(by=cast.alice, assignment=assignments[0], now=timezone.now()) == 1
    assert not GoldLabel.objects.exists() and Vote.objects.cast().count() == 2
    last = VoteEvent.objects.order_by("-id").first()
    assert (last.label, last.previous, last.origin) == ("", "0", "release")
    client.force_login(cast.bob)
    assert client.get(f"/p/minds/work/{story.uid}/").status_code == 404
    Assignment.objects.create(story=story, annotator=cast.esi, slot=1, overlap=3)  # the slot is free again


def test_the_page_previews_and_then_assigns(cast, make_story, assign, client, post):
    for number in (1, 2):
        make_story(number)
    make_story(3, rows=())
    assign(make_story(4, rows=[("world", f"Fact {at}") for at in range(5)]), [cast.bob])
    client.force_login(cast.alice)
    rows = {row["user"].username: row for row in client.get(PAGE).context["people"]}
    assert [*rows] == ["bea", "ben", "bob", "esi", "alice"]
    assert {name for name, row in rows.items() if row["chosen"]} == {"bea", "ben", "bob"}
    assert rows["bob"]["load"]["propositions"] == 5 and rows["bea"]["load"] is None
    text = text_of(post())
    assert "8 new assignments" in text and "balanced by propositions" in text
    assert Assignment.objects.count() == 1
    post(apply="1", due="2030-12-31")
    assert len(due_on(date(2030, 12, 31))) == 8 and Assignment.objects.count() == 9
    text = text_of(post(f"{PAGE}?tables=all"))
    assert "3 new assignments" in text  # the story without a table, where it is asked for


def test_a_bulk_release_asks_first_and_keeps_filter_and_page(cast, make_story, assign, cast_vote, post):
    story, other = make_story(1), make_story(2, category="Hinting")
    (bob, *_), _ = assign(story), assign(other)
    cast_vote(bob, Proposition.objects.gold_of(story).first(), "order", "0")
    here, some = f"{FALSE_BELIEFS}&page=1", {"annotators": [cast.bob.pk, cast.bea.pk]}
    text = text_of(post(here, **some, release="preview"))
    assert "2 assignments</strong> would be released, and 1 vote would no longer count" in text
    assert Assignment.objects.active().count() == 6
    assert post(here, **some, release="apply").url == here
    assert set(Assignment.objects.active().filter(story=story).values_list("annotator", flat=True)) == {cast.ben.pk}
    assert other.assignments.active().count() == 3 and not Vote.objects.cast().exists()
    (left,) = story.assignments.active()
    assert post(f"{PAGE}{left.uid}/release/?category=Hinting").url == f"{PAGE}?category=Hinting"


def told(name: str, *words: str) -> dict:
    out = io.StringIO()
    call_command(name, "--project", "minds", "--json", *words, stdout=out)
    return json.loads(out.getvalue())


def test_the_command_assigns_what_it_is_told(cast, make_story, capsys):
    make_story(1, split=Split.objects.create(project=cast.project, name="main"))
    make_story(2, category="Hinting")
    seeds = "The seed must be a whole number from 0 to 2147483647."
    for option, sentence in (
        ("--split=nope", "minds has no split 'nope'; it has: main."),
        ("--category=Nope", "minds has no category 'Nope'; it has: False Belief Task, Hinting."),
        ("--seed=-1", seeds),
        (f"--seed={2**63}", seeds),
        ("--annotators=bob,dora", "dora: no member of minds has this name."),
        ("--annotators=,", "Choose at least one annotator."),
    ):
        with pytest.raises(CommandError) as caught:
            told("assign", "--annotators=bob,bea,ben", option)
        assert str(caught.value) == sentence
    assert not Assignment.objects.exists()
    done = told("assign", "--annotators=bob,bea", "--split=main", f"--seed={2**31 - 1}")
    assert done == {"project": "minds", "assignments": 2, "short": 1, "seed": 2**31 - 1}
    call_command("assign", "--project=minds", "--annotators=ben", "--split=main")
    assert capsys.readouterr().out == "1 assignment made; 0 stories short of annotators.\n"
    assert set(Assignment.objects.values_list("story__number", flat=True)) == {1}


def test_commands_release_and_set_days_as_the_page_does(cast, make_story, assign, cast_vote, post):
    story, other, withdrawn = make_story(1), make_story(2, category="Hinting"), make_story(3)
    (bob, *_), *_ = assign(story), assign(other), assign(withdrawn)
    withdrawn.withdrawn_at = timezone.now()
    withdrawn.save()
    cast_vote(bob, Proposition.objects.gold_of(story).first(), "order", "0")
    filters = ("--annotators", "bob,bea", "--category", "False Belief Task")
    some, day = {"annotators": [cast.bob.pk, cast.bea.pk]}, date(2031, 1, 31)

    would = {"project": "minds", "assignments": 2, "people": {"bob": 1, "bea": 1}, "preview": True}
    assert told("set_deadline", *filters, "--due", f"{day}", "--preview") == would | {"due": f"{day}"}
    assert not due_on(day) and not AuditEvent.objects.exists()
    told("set_deadline", *filters, "--due", f"{day}")
    by_command = due_on(day)
    told("set_deadline", *filters, "--no-due")
    post(FALSE_BELIEFS, **some, due_set="1", due=f"{day}")
    assert by_command == due_on(day)
    logged = AuditEvent.objects.filter(action="assignment.due").order_by("pk").values_list("details", "target")
    assert len(logged) == 3 and logged[0] == logged[2]

    page = post(FALSE_BELIEFS, **some, release="preview").context["releasing"]
    assert told("release_assignments", *filters, "--preview") == would | {"votes": page["votes"]} and page["count"] == 2
    assert Assignment.objects.active().count() == 9 and Vote.objects.cast().exists()
    assert told("release_assignments", *filters, "--assigned-to", "ben") == would | {"votes": 1, "preview": False}
    assert set(story.assignments.active().values_list("annotator", flat=True)) == {cast.ben.pk}
    assert other.assignments.active().count() == withdrawn.assignments.active().count() == 3
    assert not Vote.objects.cast().exists() and VoteEvent.objects.filter(origin="release").exists()
    ticked = told("release_assignments", "--annotators", "ben", "--stories", "3")  # as on the page
    assert ticked["assignments"] == 1

    passed = "1 February 2020 has passed; today"
    for words, sentence in (
        ("release_assignments --annotators nobody", "nobody: no member of minds has this name."),
        ("release_assignments --annotators ,", "--annotators is empty; expected user names, with commas."),
        ("release_assignments --annotators bob --split none", "minds has no split 'none'; it has"),
        ("release_assignments --annotators bob --stories 1 --assignments full", "leave the filters out."),
        ("set_deadline --annotators bob --no-due --stories 1 77", "minds has no story 77."),
        ("set_deadline --annotators bob --due soon", "a day such as 2030-12-31 is expected."),
        ("set_deadline --annotators bob --due 2020-02-01 --preview", passed),
        ("set_deadline --annotators bob --due 2020-02-01", passed),
        ("assign --annotators bob --due 2020-02-01", passed),
    ):
        with pytest.raises(CommandError, match=re.escape(sentence)):
            told(*words.split())


def test_a_day_that_has_passed_is_refused_unless_it_is_the_day_already(make_story, assign, post):
    first, second, _ = stories = [make_story(number) for number in (1, 2, 3)]
    for story in stories[:2]:
        assign(story)
    today = timezone.now().date()
    passed = today - timedelta(days=1)
    first.assignments.update(due=passed)

    def answer(*ticked, **more):
        return post(scope="chosen", stories=[story.uid for story in ticked], **{"due": passed.isoformat()} | more)

    for pressed in ({"due_set": "1"}, {}, {"apply": "1"}):
        page = answer(second, **pressed)
        said = page.context["form"].errors["due"][0]
        assert said.startswith(f"{passed.day} {passed:%B %Y} has passed; today is {today.day} "), pressed
        assert page.context["chosen"] == {second.uid}, "what was ticked stays ticked"
    assert answer(first, second, due_set="1").status_code == 200
    assert answer(first, due_set="1").status_code == 302
    assert not second.assignments.filter(due__isnull=False).exists()
    assert answer(second, due_set="1", due=today.isoformat()).status_code == 302
    assert set(second.assignments.values_list("due", flat=True)) == {today}


def test_who_is_behind_their_deadline(cast, make_story, assign, cast_vote, client, post):
    assigned = assign(make_story(1, rows=[("world", f"Fact {at}") for at in range(10)]))
    now = timezone.now()
    Assignment.objects.update(assigned_at=now - timedelta(days=4))
    for row in Proposition.objects.filter(table__story__number=1)[:9]:
        cast_vote(assigned[0], row, "order", "0")
    post(due_set="1", due=(now + timedelta(days=60)).date().isoformat())
    assert AuditEvent.objects.get(action="assignment.due").details["assignments"] == 3
    rows = {row["user"].username: row for row in client.get(PAGE).context["people"]}
    cells = 10 * len(cast.project.schema.dimensions)
    (bob,), (bea,) = rows["bob"]["paces"], rows["bea"]["paces"]
    assert (bob.left, round(bob.a_day, 2), bob.is_behind) == (cells - 9, 2.25, False)  # 2.25 a day for 60 days
    assert (bea.left, bea.a_day, bea.is_behind) == (cells, 0, True)
    assert post(due_set="1", due="soon").status_code == 200
    post(due_set="1", due="")
    assert len(due_on(None)) == 3


def test_the_page_takes_as_many_statements_for_many_stories(
    cast, make_story, assign, client, django_assert_max_num_queries
):
    client.force_login(cast.alice)
    for number in range(1, 13):
        assign(make_story(number))
    client.get(PAGE)  # counts what is new
    with django_assert_max_num_queries(18):
        client.get(PAGE)
