"""Who writes which table, the queue of tables, and tables that one expert writes."""

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


def test_each_story_is_in_the_state_that_the_expert_may_know(world, client, bare, django_assert_max_num_queries):
    assert states(world, world.esi) == {1: "open", 2: "mine", 3: "handed", 4: "ready", 5: "others", 6: "done"}
    assert states(world, world.ben) == {1: "open", 2: "open", 3: "open", 4: "ready", 5: "mine", 6: "done"}
    tables, stories = (reverse(f"annotation:{name}", args=["minds"]) for name in ("tables", "stories"))

    def numbers(page: str, query: str) -> list[int]:
        return [row["story"].number for row in client.get(f"{page}?{query}").context["rows"]]

    client.force_login(world.esi)
    for query, found in (("", [1, 2, 3, 4, 5, 6]), ("state=handed", [3]), ("text=5", [5]), ("text=Story+4.", [4])):
        assert numbers(tables, query) == found
    tabs = client.get(tables).context["tabs"]
    assert {tab["state"]: tab["count"] for tab in tabs} == dict.fromkeys(table_queue.STATES, 1)
    client.force_login(world.bob)
    for query, found in (
        ("table=none", [1]), ("table=drafts", [2, 3, 5]), ("table=ready", [4]), ("table=done", [6]), ("text=3", [3]),
    ):  # fmt: skip
        assert numbers(stories, query) == found
    for number in range(10, 20):
        bare(number)
    client.force_login(world.alice)
    with django_assert_max_num_queries(14):
        client.get(tables)


def test_next_leads_to_own_drafts_then_to_what_is_ready_then_to_what_is_open(world, client):
    client.force_login(world.esi)
    address, met, after = reverse("annotation:next_table", args=["minds"]), [], ""
    for _ in range(3):
        *_, uid, page, _ = client.get(f"{address}?after={after}")["Location"].split("/")
        story = world.project.stories.get(uid=uid)
        met.append((page, story.number))
        after = uid
        if page == "draft":
            BeliefTable.objects.filter(story=story).delete()
            table = BeliefTable.objects.create(story=story)
            Proposition.objects.create(table=table, position=1, actor="a", belief="b")
        else:
            BeliefTable.objects.filter(story=story).update(slot=None)
    assert met == [("draft", 2), ("reconcile", 4), ("draft", 1)]


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


def test_tables_are_given_evenly_and_only_where_there_is_none(bare, make_story, experts, cast):
    for number in range(1, 5):
        bare(number)
    make_story(9)
    people = [cast.alice.pk, *(expert.pk for expert in experts)]
    asked = {"project": cast.project, "stories": list(cast.project.stories.values_list("id", flat=True))}
    plan = plan_tables(experts=people, seed=3, **asked)
    assert give_tables(by=cast.alice, project=cast.project, assignments=plan.assignments, seed=3) == 8
    held = BeliefTable.objects.drafts()
    assert sorted(held.filter(author=person).count() for person in people) == [2, 3, 3]
    again = plan_tables(experts=people, seed=3, **asked)
    assert not again.assignments and not again.short
    assert cast.project.audit_events.get(action="tables.given").details["tables"] == 8


def test_an_admin_gives_tables_and_releases_them_and_the_rows_are_kept(bare, experts, cast, client, capsys):
    (esi, ben), story = experts, bare(1)
    address = reverse("annotation:tables", args=["minds"])
    client.force_login(esi)
    assert client.post(address, {"experts": [esi.pk], "seed": 1}).status_code == 403
    client.force_login(cast.alice)
    form = {"experts": [esi.pk, ben.pk], "seed": 1}
    assert "2 tables would be given" in " ".join(client.post(address, form).content.decode().split())
    client.post(address, {**form, "apply": "1"})
    assert BeliefTable.objects.drafts().filter(given_by=cast.alice).count() == 2
    client.force_login(esi)
    assert "given to you" in client.get(address).content.decode()
    write(story, esi, hand_in=False)
    with pytest.raises(IntegrityError), transaction.atomic():  # no two experts hold one slot
        BeliefTable.objects.drafts().update(slot=1)
    client.force_login(cast.alice)
    client.post(reverse("annotation:release_table", args=["minds", story.uid, esi.pk]))
    assert list(BeliefTable.objects.drafts().exclude(slot=None).values_list("author", flat=True)) == [ben.pk]
    assert states(cast, esi) == {1: "open"}
    table = drafts.take_slot(by=esi, story=story, expert=esi)
    assert [row.belief for row in drafts.live_rows(table)] == ["It rains", "It rains"]
    bare(2)
    call_command("assign_tables", "--project", "minds", "--experts", "esi,ben")
    assert "2 tables given; 0 stories short" in capsys.readouterr().out


def test_one_expert_makes_the_table_and_takes_it_back_while_nobody_works_on_it(bare, experts, cast, assign, cast_vote):
    cast.project.table_experts = 1
    cast.project.save()
    esi, ben = experts
    story = bare(1)
    story.refresh_from_db()
    write(story, esi)
    gold = Proposition.objects.gold_of(story)
    told = gold.values_list("actor", "order_text", "remark", "reviewed")
    assert list(told) == [("world", "0", "", False), ("Ines", "1", "", False)]
    with pytest.raises(Refused, match="gold table"):
        write(story, ben)
    drafts.take_back(by=esi, story=story)
    assert not Proposition.objects.filter(table__story=story).exists()
    assert states(cast, esi) == {1: "mine"}
    drafts.hand_in(by=esi, story=story, now=timezone.now())
    cast_vote(assign(story)[0], gold.all().first(), "order", "0")
    with pytest.raises(Refused, match="People have voted"):
        drafts.take_back(by=esi, story=story)
