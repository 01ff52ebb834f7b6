from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.reconciliation import LaneState
from annotation.domain.tables import TableRow
from annotation.models import AuditEvent, BeliefTable, LaneEvent, LaneRow, Project, Proposition
from annotation.services import drafts
from annotation.services.agreement import extraction_report
from annotation.services.reconciliation import (
    Decision,
    Refused,
    agree,
    decide,
    finish,
    lane_of_row,
    lanes_of,
    last_step,
    link,
    open_lanes,
    reopen,
    separate,
    state_of_row,
)
from annotation.services.table_report import table_report
from tests.annotation.drafting import write_draft

NOW = timezone.now()


@pytest.fixture
def story(bare):
    return bare()


def hand_in(story, expert, *rows, submit=True):
    rows = [TableRow(*row) for row in rows]
    write_draft(by=expert, story=story, rows=rows, now=NOW, origin="pasted")
    if submit:
        drafts.hand_in(by=expert, story=story, now=NOW)


FIRST = (("world", "The key is in the bag", "0"), ("Ines", "The key is still in the bag"), ("Ines", "Tomas is out"))
SECOND = (
    ("world", "The key is in the bag", "0"), ("Ines", "The key is still lying in the bag"), ("Tomas", "It rains", "1"),
)  # fmt: skip


@pytest.fixture
def lanes(story, experts):
    """The story with open lanes: same, reworded, only A, only B."""
    hand_in(story, experts[0], *FIRST)
    hand_in(story, experts[1], *SECOND)
    open_lanes(story=story, by=experts[0], now=NOW)
    return story


def row_of(story, belief) -> LaneRow:
    return lanes_of(story).get(belief=belief)


def settle(story, by, row, key=None, base=None, **fields):
    before = state_of_row(row)
    key = key or f"{row.uid}{LaneEvent.objects.count()}"
    decision = Decision(row.uid, base or before, replace(before, **fields), key, key, NOW)
    return decide(by=by, story=story, decisions=[decision], now=NOW)[0]


def settle_all(story, by):
    for row in lanes_of(story).filter(status=""):
        settle(story, by, row, status="kept")


def pressed(by, story, key=None):
    return {"by": by, "story": story, "key": key or f"press-{LaneEvent.objects.count()}", "now": NOW}


def take_back(story, by, redo=False):
    """Press Ctrl+Z as the page does, twice sent."""
    action, rows = last_step(story=story, by=by, redo=redo)
    key = f"back-{LaneEvent.objects.count()}"
    decisions = [
        Decision(uid, state_of_row(LaneRow.objects.get(uid=uid)), state, f"{key}", key, NOW, action)
        for uid, state in rows.items()
    ]
    for _ in range(2):
        decided = decide(by=by, story=story, decisions=decisions, now=NOW)
    return decided


def standing(story):
    """Return all of the rows as they stand, with who decided them."""
    return [(row.uid, state_of_row(row), row.decided_by, row.decided_at) for row in lanes_of(story)]


def test_neither_expert_sees_the_others_table_before_both_are_in(story, experts, client):
    first, second = experts
    hand_in(story, first, *FIRST)
    hand_in(story, second, ("Ines", "Half a table"), submit=False)
    with pytest.raises(Refused, match="both experts"):
        open_lanes(story=story, by=first, now=NOW)
    for expert, hidden in ((second, "Tomas is out"), (first, "Half a table")):
        client.force_login(expert)
        for name in ("reconcile", "lane_rows", "story", "undo_lanes"):
            address = reverse(f"annotation:{name}", args=["minds", story.uid])
            assert hidden not in client.get(address, follow=True).content.decode()


def first_way(page: str) -> list[str]:
    """Return where the button goes that a page of a handed-in table recommends."""
    return re.findall(r'<a\s+class="button button-primary"\s+href="([^"?]+)', page)


def test_opening_the_lanes_asks_and_ends_taking_back(story, experts, client):
    for expert in experts:
        hand_in(story, expert, *FIRST)
    client.force_login(experts[0])
    address = reverse("annotation:reconcile", args=["minds", story.uid])
    draft = reverse("annotation:draft", args=["minds", story.uid])
    assert first_way(client.get(draft).content.decode()) == [address]
    assert "Open the lanes" in client.get(address).content.decode()
    assert not LaneRow.objects.exists()
    drafts.take_back(by=experts[1], story=story)
    drafts.hand_in(by=experts[1], story=story, now=NOW)
    for _ in range(2):
        client.post(address, {"open": "1"})
    assert lanes_of(story).count() == len(FIRST)
    with pytest.raises(Refused, match="was opened"):
        drafts.take_back(by=experts[1], story=story)


def test_a_third_table_is_refused(story, experts, cast):
    for expert in experts:
        hand_in(story, expert, *FIRST)
    with pytest.raises(Refused, match="no further table"):
        hand_in(story, cast.alice, *FIRST)


def test_the_lanes_make_the_gold_table_with_remarks_and_where_each_row_comes_from(lanes, experts):
    esi = experts[0]
    assert [lane_of_row(row).value for row in lanes_of(lanes)] == ["same", "reworded", "only-a", "only-b"]
    with pytest.raises(Refused, match="3 rows are still to decide"):
        finish(by=esi, story=lanes, now=NOW)
    settle(lanes, esi, row_of(lanes, "The key is still in the bag"), status="kept", belief=SECOND[1][1], remark="B’s")
    settle(lanes, esi, row_of(lanes, "Tomas is out"), status="dropped", remark="not in the text")
    settle(lanes, esi, row_of(lanes, "It rains"), status="kept", belief="It is raining")
    assert finish(by=esi, story=lanes, now=NOW) == 3
    live = Proposition.objects.gold_of(lanes)
    assert list(live.values_list("actor", "belief", "order_text", "remark", "remark_text", "reviewed")) == [
        ("world", "The key is in the bag", "0", "", "", True),
        ("Ines", "The key is still lying in the bag", "", "revised", "B’s", True),
        ("Tomas", "It is raining", "1", "revised", "", True),
    ]
    assert live[1].lane_row.a.belief == FIRST[1][1] and live[1].lane_row.b.belief == SECOND[1][1]
    removed = Proposition.objects.get(removed_at__isnull=False)
    assert (removed.belief, removed.remark, removed.remark_text) == ("Tomas is out", "removed", "not in the text")
    # four rows were reviewed, one needed no remark: 1 / 4
    assert extraction_report(project=lanes.project)["overlap"] == 0.25
    counts = {"unchanged": 1, "added": 0, "removed": 1, "revised": 2}
    assert AuditEvent.objects.get(action="table.reconciled").details == counts
    with pytest.raises(Refused, match="gold table already"):
        finish(by=esi, story=lanes, now=NOW)


@pytest.fixture
def one_order(story, experts):
    """The story with open lanes: the same rows, of which one has an order by Esi alone."""
    hand_in(story, experts[0], *FIRST)
    hand_in(story, experts[1], ("world", "The key is in the bag"), *FIRST[1:])
    open_lanes(story=story, by=experts[0], now=NOW)
    return story


def test_an_order_of_one_expert_alone_waits_for_a_decision_and_is_no_overlap(one_order, experts):
    first = lanes_of(one_order)[0]
    assert [lane_of_row(row).value for row in lanes_of(one_order)] == ["order", "same", "same"]
    assert (first.status, first.a.order_text, first.b.order_text) == ("", "0", "")
    with pytest.raises(Refused, match="1 row is still to decide"):
        agree(by=experts[0], story=one_order, now=NOW)
    settle(one_order, experts[0], first, status="kept")
    finish(by=experts[0], story=one_order, now=NOW)
    assert list(Proposition.objects.gold_of(one_order).values_list("order_text", "remark")) == [
        ("0", "revised"), ("", ""), ("", ""),
    ]  # fmt: skip
    figures = table_report(project=one_order.project)
    assert (figures["reviewed"], figures["unremarked"], figures["f1"].value) == (3, 2, 1)


def test_the_command_keeps_the_words_of_who_gave_no_order(one_order, capsys):
    def run(action, *options):
        call_command("table", action, "--project", "minds", "--story", "1", "--expert", "esi", *options)
        return capsys.readouterr().out

    assert "lanes 1. world: The key is in the bag (order 0) [order, open]" in run("rows")
    run("decide", "--row", "1", "--keep", "b")
    assert "lanes 1. world: The key is in the bag [order, kept]" in run("rows")


def test_a_decision_that_comes_twice_counts_once_and_undo_takes_it_back(lanes, experts):
    row = row_of(lanes, "Tomas is out")
    for _ in range(2):
        settle(lanes, experts[0], row, key="same", status="dropped")
    assert LaneEvent.objects.count() == 1
    action, rows = last_step(story=lanes, by=experts[0])
    assert action == "same" and rows[row.uid].status == ""
    assert last_step(story=lanes, by=experts[1]) is None


def test_two_experts_do_not_overwrite_each_other(lanes, experts):
    row = row_of(lanes, "Tomas is out")
    settle(lanes, experts[0], row, status="dropped")
    row.refresh_from_db()
    stands, quicker = settle(
        lanes, experts[1], row, base=LaneState("", "Ines", "Tomas is out", place=row.place), status="kept"
    )
    assert quicker == "Esi" and stands.status == "dropped"
    assert LaneEvent.objects.count() == 1


def test_links_are_changed_and_each_row_stays_in_the_lanes_once(lanes, experts):
    esi = experts[0]
    settle(lanes, esi, row_of(lanes, "Tomas is out"), status="kept", belief="Tomas is outside")
    link(**pressed(esi, lanes), first=row_of(lanes, "It rains").uid, second=row_of(lanes, "Tomas is outside").uid)
    linked = row_of(lanes, "Tomas is outside")
    assert (linked.a.belief, linked.b.belief, linked.status) == ("Tomas is out", "It rains", "")
    with pytest.raises(Refused, match="linked already"):
        link(**pressed(esi, lanes), first=linked.uid, second=row_of(lanes, "The key is in the bag").uid)
    separate(**pressed(esi, lanes), row=linked.uid)
    assert [lane_of_row(row).value for row in lanes_of(lanes)] == ["same", "reworded", "only-a", "only-b"]
    with pytest.raises(Refused, match="not linked"):
        separate(**pressed(esi, lanes), row=row_of(lanes, "It rains").uid)
    a, b = lanes_of(lanes).filter(b=None).get(), lanes_of(lanes).filter(a=None).get()
    with pytest.raises(Refused, match="not in the lanes"):
        link(**pressed(esi, lanes), first=a.uid, second=linked.uid)
    assert {a.belief, b.belief} == {"Tomas is outside", "It rains"}


def test_undo_of_a_link_brings_both_rows_back_with_what_was_decided_on_them(lanes, experts):
    esi, ben = experts
    settle(lanes, ben, row_of(lanes, "Tomas is out"), status="kept", belief="Tomas is outside", remark="line 2")
    settle(lanes, esi, row_of(lanes, "It rains"), status="dropped", remark="not in the text")
    before = standing(lanes)
    a, b = row_of(lanes, "Tomas is outside").uid, row_of(lanes, "It rains").uid
    for _ in range(2):
        link(**pressed(esi, lanes, "one"), first=a, second=b)
    assert LaneEvent.objects.filter(action="one").count() == 3  # two rows went, one came; sent again it counts once
    linked = standing(lanes)
    assert len(linked) == len(before) - 1
    decided = take_back(lanes, esi)
    assert standing(lanes) == before and decided[0][0].gone
    take_back(lanes, esi, redo=True)
    assert standing(lanes) == linked
    take_back(lanes, esi)
    take_back(lanes, esi)  # what Esi decided before the link
    assert row_of(lanes, "It rains").status == "" and row_of(lanes, "Tomas is outside").decided_by == ben
    history = AuditEvent.objects.filter(action__in=["lanes.linked", "lanes.separated"]).order_by("id")
    assert [event.action.removeprefix("lanes.") for event in history] == ["linked", "separated"] * 2
    assert {(event.details["a"], event.details["b"]) for event in history} == {("Tomas is out", "It rains")}


def test_undo_of_a_separation_brings_the_linked_row_back(lanes, experts):
    esi = experts[0]
    pair = row_of(lanes, "The key is still in the bag")
    settle(lanes, esi, pair, status="kept", belief="The key is where it was", remark="both mean this")
    before = standing(lanes)
    separate(**pressed(esi, lanes), row=pair.uid)
    take_back(lanes, esi)
    assert standing(lanes) == before
    take_back(lanes, esi)
    assert row_of(lanes, "The key is still in the bag").status == ""
    assert last_step(story=lanes, by=esi) is None


def test_decisions_since_are_taken_back_before_the_link_and_those_of_others_keep_it(lanes, experts):
    esi, ben = experts
    before = standing(lanes)
    link(**pressed(esi, lanes), first=row_of(lanes, "Tomas is out").uid, second=row_of(lanes, "It rains").uid)
    settle(lanes, esi, row_of(lanes, "Tomas is out"), status="kept")
    assert last_step(story=lanes, by=ben) is None
    take_back(lanes, esi)
    assert row_of(lanes, "Tomas is out").status == ""
    settle(lanes, ben, row_of(lanes, "Tomas is out"), remark="are they one?")
    stands = standing(lanes)
    with pytest.raises(Refused, match="decided or linked anew since"):
        last_step(story=lanes, by=esi)
    linked = LaneEvent.objects.filter(by=esi).first()
    late = Decision(stands[2][0], stands[2][1], stands[2][1], "late", "late", NOW, linked.action)
    with pytest.raises(Refused, match="decided or linked anew since"):
        decide(by=esi, story=lanes, decisions=[late], now=NOW)
    with pytest.raises(Refused, match="stay as they stand"):  # a row that the link has nothing to do with
        decide(by=esi, story=lanes, decisions=[replace(late, row=stands[0][0])], now=NOW)
    assert standing(lanes) == stands
    take_back(lanes, ben)
    take_back(lanes, esi)
    assert standing(lanes) == before


def test_a_link_that_somebody_separated_meanwhile_is_not_taken_back(lanes, experts, client):
    esi, ben = experts
    link(**pressed(esi, lanes), first=row_of(lanes, "Tomas is out").uid, second=row_of(lanes, "It rains").uid)
    separate(**pressed(ben, lanes), row=row_of(lanes, "Tomas is out").uid)
    client.force_login(esi)
    answer = client.get(reverse("annotation:undo_lanes", args=["minds", lanes.uid]))
    assert answer.status_code == 400 and "linked anew since" in answer.json()["error"]
    take_back(lanes, ben)
    take_back(lanes, esi)
    assert [lane_of_row(row).value for row in lanes_of(lanes)] == ["same", "reworded", "only-a", "only-b"]


def test_both_are_asked_to_agree_and_a_change_asks_again(lanes, experts, cast):
    cast.project.tables_agreed = True
    cast.project.save()
    lanes.refresh_from_db()
    esi, ben = experts
    with pytest.raises(Refused, match="still to decide"):
        agree(by=esi, story=lanes, now=NOW)
    settle_all(lanes, esi)
    agree(by=esi, story=lanes, now=NOW)
    with pytest.raises(Refused, match="Ben has yet to agree"):
        finish(by=esi, story=lanes, now=NOW)
    settle(lanes, ben, row_of(lanes, "It rains"), remark="why?")
    agree(by=ben, story=lanes, now=NOW)
    with pytest.raises(Refused, match="Esi has yet to agree"):
        finish(by=esi, story=lanes, now=NOW)
    agree(by=esi, story=lanes, now=NOW)
    assert finish(by=esi, story=lanes, now=NOW) == 4
    with pytest.raises(Refused, match="gold table already"):
        agree(by=cast.alice, story=lanes, now=NOW)


def test_the_lanes_open_again_while_nobody_has_worked_on_the_table(lanes, experts, assign, cast_vote):
    esi = experts[0]
    settle_all(lanes, esi)
    finish(by=esi, story=lanes, now=NOW)
    reopen(by=esi, story=lanes)
    assert not Proposition.objects.filter(table__story=lanes, table__kind="gold").exists()
    settle(lanes, esi, row_of(lanes, "It rains"), belief="It pours")
    finish(by=esi, story=lanes, now=NOW)
    row = Proposition.objects.gold_of(lanes).get(belief="It pours")
    cast_vote(assign(lanes)[0], row, "order", "1")
    with pytest.raises(Refused, match="People have voted"):
        reopen(by=esi, story=lanes)


def test_an_expert_who_labels_the_story_is_not_told_its_orders(lanes, experts, client, assign):
    settle_all(lanes, experts[0])
    finish(by=experts[0], story=lanes, now=NOW)
    client.force_login(experts[0])
    address = reverse("annotation:reconcile", args=["minds", lanes.uid])
    assert client.get(address).context["shows_order"]
    assign(lanes, [experts[0]])
    page = client.get(address)
    assert not page.context["shows_order"] and "The key is in the bag" in page.content.decode()


def test_leaving_everything_out_is_refused(story, experts):
    for expert in experts:
        hand_in(story, expert, *FIRST[:1])
    open_lanes(story=story, by=experts[0], now=NOW)
    settle(story, experts[0], lanes_of(story).get(), status="dropped")
    with pytest.raises(Refused, match="Keep at least one row"):
        finish(by=experts[0], story=story, now=NOW)


def test_a_row_that_is_kept_says_something(lanes, experts):
    with pytest.raises(Refused, match="an actor and a proposition"):
        settle(lanes, experts[0], row_of(lanes, "It rains"), status="kept", belief=" ")


def test_the_page_saves_links_agrees_and_finishes(lanes, experts, client):
    client.force_login(experts[0])

    def address(name):
        return reverse(f"annotation:{name}", args=["minds", lanes.uid])

    page = client.get(address("reconcile")).content.decode()
    assert "The key is still lying in the bag" in page
    found = client.get(address("lane_rows")).json()["rows"]
    changes = [
        {
            "row": row["row"],
            "base": row["state"],
            "state": row["state"] | {"status": "kept"},
            "idempotency_key": row["row"],
        }
        | {"action": row["row"], "changed_at": NOW.isoformat()}
        for row in found
        if not row["state"]["status"]
    ]
    body = json.dumps({"annotator": experts[0].pk, "changes": changes})
    saved = client.post(address("save_lanes"), body, content_type="application/json").json()["saved"]
    assert {row["state"]["status"] for row in saved} == {"kept"} and {row["by"] for row in saved} == {"Esi"}
    only = {row["lane"]: row["row"] for row in found}
    body = json.dumps({"row": only["only-a"], "other": only["only-b"], "idempotency_key": "linked"})
    linked = client.post(address("link_lanes"), body, content_type="application/json").json()
    assert sorted(row["lane"] for row in linked["rows"]) == ["reworded", "reworded", "same"]
    again = body.replace("linked", "again")
    assert client.post(address("link_lanes"), again, content_type="application/json").status_code == 400
    assert client.get(address("undo_lanes")).json()["undo"]["rows"]
    client.post(address("reconcile"), {"finish": "1"})
    assert not Proposition.objects.gold_of(lanes).exists()  # the linked row is open again
    settle_all(lanes, experts[1])
    client.post(address("reconcile"), {"agree": "1"})
    assert BeliefTable.objects.get(author=experts[0]).agreed_at
    assert "3 rows" in client.post(address("reconcile"), {"finish": "1"}, follow=True).content.decode()
    page = client.get(address("reconcile")).content.decode()
    assert "Where the table of story 1 comes from" in page and "Revised" in page and ">order 0</span>" in page
    assert page.count(f'<td dir="auto">{experts[1].shown_name}</td>') == 1  # who decided the linked row
    assert first_way(client.get(address("draft")).content.decode()) == [
        reverse("annotation:next_table", args=["minds"])
    ]
    client.post(address("reconcile"), {"reopen": "1"})
    assert not Proposition.objects.gold_of(lanes).exists()


def test_lanes_are_not_saved_under_another_name(lanes, experts, cast, client):
    client.force_login(experts[0])
    row = lanes_of(lanes).first()
    change = {
        "row": row.uid,
        "state": {"place": 1},
        "idempotency_key": "k",
        "action": "k",
        "changed_at": NOW.isoformat(),
    }
    body = json.dumps({"annotator": cast.bob.pk, "changes": [change]})
    address = reverse("annotation:save_lanes", args=["minds", lanes.uid])
    assert client.post(address, body, content_type="application/json").status_code == 409


def test_figures_of_the_tables_that_were_reconciled(lanes, experts, client, capsys):
    settle_all(lanes, experts[0])
    finish(by=experts[0], story=lanes, now=NOW)
    figures = table_report(project=lanes.project)
    assert (figures["reviewed"], figures["unremarked"], figures["added"], figures["revised"]) == (4, 1, 2, 1)
    # two pairs among three and three rows: 2·2 / 6
    assert figures["f1"].value == pytest.approx(2 / 3)
    client.force_login(experts[0])
    page = client.get(reverse("annotation:table_figures", args=["minds"])).content.decode()
    assert "25.00%" in page and "66.67%" in page and "at least 5 stories" in page
    call_command("table_report", "--project", "minds")
    assert "1 of 4 reviewed propositions of 1 story needed" in capsys.readouterr().out


def test_the_command_does_what_the_pages_do(story, experts, capsys):
    for expert in experts:
        hand_in(story, expert, *FIRST, submit=False)

    def run(action, expert="esi", number=story.number):
        call_command("table", action, "--project", "minds", "--story", str(number), "--expert", expert)
        return capsys.readouterr().out

    assert "is handed in" in run("hand-in")
    with pytest.raises(CommandError, match="both experts"):
        run("open")
    for action in ("take-back", "hand-in"):
        run(action)
    run("hand-in", "ben")
    for action in ("open", "agree", "finish", "reopen"):
        run(action)
    assert not Proposition.objects.gold_of(story).exists() and lanes_of(story).count() == len(FIRST)
    with pytest.raises(CommandError, match="no expert of minds"):
        run("open", "bob")
    with pytest.raises(CommandError, match="no story 99"):
        run("open", number=99)


def test_the_command_writes_decides_links_and_mends_single_rows(story, experts, capsys):
    def run(action, *options, expert="esi"):
        about = ("--project", "minds", "--story", str(story.number), "--expert", expert)
        call_command("table", action, *about, *options)
        return capsys.readouterr().out

    run("draft-row", "--actor", "world", "--belief", "The key is in the bag", "--order", "0")
    run("draft-row", "--actor", "Ines", "--belief", "Tomas is out")
    run("draft-row", "--actor", "Ines", "--belief", "It snows")
    assert "Row 2 of story" in run("draft-row", "--row", "2", "--order", "1")
    run("draft-row", "--row", "3", "--drop")
    assert run("rows").splitlines() == [
        "draft 1. world: The key is in the bag (order 0)", "draft 2. Ines: Tomas is out (order 1)",
    ]  # fmt: skip
    hand_in(story, experts[1], ("world", "The key is in the bag", "0"), ("Ines", "Tomas is out now", "1"))
    run("hand-in")
    run("open")
    assert "draft 1" not in run("rows", expert="alice")
    assert "lanes 2. Ines: Tomas is out (order 1) [reworded, open]" in run("rows")
    with pytest.raises(CommandError, match="no row 9"):
        run("decide", "--row", "9", "--keep", "a")
    run("decide", "--row", "2", "--keep", "b", "--remark", "shorter")
    run("separate", "--row", "2")
    run("link", "--row", "2", "--with", "3")
    run("decide", "--row", "2", "--keep", "b", "--order", "2")
    run("decide", "--actor", "Ines", "--belief", "Ines is in the room", "--order", "1")
    run("finish")
    run("gold-row", "--row", "2", "--belief", "Tomas has left")
    run("gold-row", "--actor", "Tomas", "--belief", "It rains", "--order", "1")
    run("gold-row", "--row", "1", "--drop")
    gold = Proposition.objects.gold_of(story)
    assert list(gold.values_list("actor", "belief", "order_text")) == [
        ("Ines", "Tomas has left", "2"), ("Ines", "Ines is in the room", "1"), ("Tomas", "It rains", "1"),
    ]  # fmt: skip
    with pytest.raises(CommandError, match="needs --belief"):
        run("gold-row")


def test_a_table_of_one_expert_alone_is_no_agreement_of_two(lanes, experts, bare):
    settle_all(lanes, experts[0])
    finish(by=experts[0], story=lanes, now=NOW)
    figures = table_report(project=lanes.project)
    alone = bare(2)
    hand_in(alone, experts[0], *FIRST)
    Project.objects.filter(pk=alone.project_id).update(table_experts=1)  # while two were wanted before
    alone.refresh_from_db()
    open_lanes(story=alone, by=experts[0], now=NOW)
    settle_all(alone, experts[0])
    finish(by=experts[0], story=alone, now=NOW)
    assert table_report(project=lanes.project) == figures and figures["f1"].value
    LaneRow.objects.filter(story=lanes).delete()
    Proposition.objects.gold_of(lanes).delete()
    figures = table_report(project=lanes.project)
    assert (figures["f1"].value, figures["overlap"].value, figures["stories"]) == (None, None, 0)
