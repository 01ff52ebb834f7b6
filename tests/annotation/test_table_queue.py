"""Who writes which table, the queue of tables, and tables that one expert writes."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, Proposition, table_queue
from annotation.services import drafts
from annotation.services.assignments import give_tables, plan_tables
from annotation.services.drafts import Refused
from tests.annotation.drafting import write_draft

ROWS = [TableRow("world", "It rains", "0"), TableRow("Ines", "It rains", "1")]


def write(story, expert, *, hand_in=True):
    write_draft(by=expert, story=story, rows=ROWS, now=timezone.now(), origin="pasted")
    if hand_in:
        drafts.hand_in(by=expert, story=story, now=timezone.now())


def states(cast, person) -> dict[int, str]:
    return dict(table_queue.with_states(cast.project, person).values_list("number", "table_state"))


@pytest.fixture
def world(bare, make_story, experts, cast):
    """Six stories, one in each state as Esi sees them."""
    esi, ben = experts
    bare(1)
    write(bare(2), esi, hand_in=False)
    write(bare(3), esi)
    both = bare(4)
    write(both, esi)
    write(both, ben)
    others = bare(5)
    write(others, ben, hand_in=False)
    write(others, cast.alice, hand_in=False)
    make_story(6)
    return cast


def test_each_story_is_in_the_state_that_the_expert_may_know(world):
    assert states(world, world.esi) == {1: "open", 2: "mine", 3: "handed", 4: "ready", 5: "others", 6: "done"}
    assert states(world, world.ben) == {1: "open", 2: "open", 3: "open", 4: "ready", 5: "mine", 6: "done"}


def test_next_leads_to_own_drafts_then_to_what_is_ready_then_to_what_is_open(world, client):
    client.force_login(world.esi)
    address, met, after = reverse("annotation:next_table", args=["minds"]), [], ""
    for _ in range(3):
        story = client.get(f"{address}?after={after}")["Location"].split("/")
        met.append((story[-2], world.project.stories.get(uid=story[-3])))
        after = met[-1][1].uid
        if met[-1][0] == "draft":
            BeliefTable.objects.filter(story=met[-1][1]).delete()
            Proposition.objects.create(
                table=BeliefTable.objects.create(story=met[-1][1]), position=1, actor="a", belief="b"
            )
        else:
            BeliefTable.objects.filter(story=met[-1][1]).update(slot=None)
    assert [(page, story.number) for page, story in met] == [("draft", 2), ("reconcile", 4), ("draft", 1)]


def test_next_leads_back_to_the_story_just_handed_in_where_that_is_all_there_is(bare, experts, cast, client):
    esi, ben = experts
    story = bare(1)
    write(story, ben)
    write(story, esi)
    client.force_login(esi)
    address = f"{reverse('annotation:next_table', args=['minds'])}?after={story.uid}"
    assert client.get(address)["Location"] == reverse("annotation:reconcile", args=["minds", story.uid])
    other = bare(2)
    assert client.get(address)["Location"] == reverse("annotation:draft", args=["minds", other.uid])


def test_the_queue_filters_by_state_number_and_words(world, client):
    client.force_login(world.esi)
    address = reverse("annotation:tables", args=["minds"])
    numbers = lambda query: [row["story"].number for row in client.get(f"{address}?{query}").context["rows"]]  # noqa: E731
    assert numbers("") == [1, 2, 3, 4, 5, 6]
    assert numbers("state=handed") == [3]
    assert numbers("text=5") == [5]
    assert numbers("text=Story+4.") == [4]
    page = client.get(address)
    assert {tab["state"]: tab["count"] for tab in page.context["tabs"]} == dict.fromkeys(table_queue.STATES, 1)


def test_the_list_of_stories_filters_by_table_and_finds_a_number(world, client):
    client.force_login(world.bob)
    address = reverse("annotation:stories", args=["minds"])
    numbers = lambda query: [row["story"].number for row in client.get(f"{address}?{query}").context["rows"]]  # noqa: E731
    found = {state: numbers(f"table={state}") for state in ("none", "drafts", "ready", "done")}
    assert found == {"none": [1], "drafts": [2, 3, 5], "ready": [4], "done": [6]}
    assert numbers("text=3") == [3]


def test_the_queue_takes_a_constant_number_of_statements(world, bare, client, django_assert_max_num_queries):
    for number in range(10, 20):
        bare(number)
    client.force_login(world.alice)
    with django_assert_max_num_queries(14):
        client.get(reverse("annotation:tables", args=["minds"]))


def test_no_two_experts_hold_one_slot(bare, experts):
    story = bare(1)
    write(story, experts[0], hand_in=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        BeliefTable.objects.create(story=story, kind="draft", author=experts[1], slot=1)


def test_tables_are_given_evenly_and_only_where_there_is_none(bare, make_story, experts, cast):
    for number in range(1, 5):
        bare(number)
    make_story(9)
    stories = list(cast.project.stories.values_list("id", flat=True))
    people = [cast.alice.pk, *(expert.pk for expert in experts)]
    plan = plan_tables(project=cast.project, stories=stories, experts=people, seed=3)
    assert give_tables(by=cast.alice, project=cast.project, assignments=plan.assignments, seed=3) == 8
    held = BeliefTable.objects.drafts()
    assert sorted(held.filter(author=person).count() for person in people) == [2, 3, 3]
    again = plan_tables(project=cast.project, stories=stories, experts=people, seed=3)
    assert not again.assignments and not again.short
    assert cast.project.audit_events.get(action="tables.given").details["tables"] == 8


def test_an_admin_gives_tables_on_the_page_and_releases_them(bare, experts, cast, client):
    story = bare(1)
    client.force_login(experts[0])
    address = reverse("annotation:tables", args=["minds"])
    assert client.post(address, {"experts": [experts[0].pk], "seed": 1}).status_code == 403
    client.force_login(cast.alice)
    form = {"experts": [expert.pk for expert in experts], "seed": 1}
    assert "2 tables would be given" in " ".join(client.post(address, form).content.decode().split())
    client.post(address, {**form, "apply": "1"})
    assert BeliefTable.objects.drafts().filter(given_by=cast.alice).count() == 2
    client.force_login(experts[0])
    assert "given to you" in client.get(address).content.decode()
    client.force_login(cast.alice)
    client.post(reverse("annotation:release_table", args=["minds", story.uid, experts[0].pk]))
    assert list(BeliefTable.objects.drafts().values_list("author", flat=True)) == [experts[1].pk]


def test_a_released_expert_keeps_the_rows(bare, experts, cast):
    story = bare(1)
    write(story, experts[0], hand_in=False)
    assert drafts.release_slot(by=cast.alice, story=story, expert=experts[0])
    assert states(cast, experts[0]) == {1: "open"}
    table = drafts.take_slot(by=experts[0], story=story, expert=experts[0])
    assert [row.belief for row in drafts.live_rows(table)] == ["It rains", "It rains"]


def test_the_command_gives_tables(bare, experts, cast, capsys):
    bare(1)
    call_command("assign_tables", "--project", "minds", "--experts", "esi,ben")
    assert "2 tables given; 0 stories short" in capsys.readouterr().out


@pytest.fixture
def alone(cast):
    cast.project.table_experts = 1
    cast.project.save()


def test_one_expert_makes_the_table_and_takes_it_back_while_nobody_works_on_it(alone, bare, experts, cast):
    story = bare(1)
    story.refresh_from_db()
    write(story, experts[0])
    gold = Proposition.objects.gold_of(story)
    assert list(gold.values_list("actor", "order_text", "remark", "reviewed")) == [
        ("world", "0", "", False),
        ("Ines", "1", "", False),
    ]
    with pytest.raises(Refused, match="gold table"):
        write(story, experts[1])
    drafts.take_back(by=experts[0], story=story)
    assert not Proposition.objects.filter(table__story=story).exists()
    assert states(cast, experts[0]) == {1: "mine"}


def test_a_table_that_was_voted_on_is_not_taken_back(alone, bare, experts, assign, cast_vote):
    story = bare(1)
    story.refresh_from_db()
    write(story, experts[0])
    cast_vote(assign(story)[0], Proposition.objects.gold_of(story).first(), "order", "0")
    with pytest.raises(Refused, match="People have voted"):
        drafts.take_back(by=experts[0], story=story)
