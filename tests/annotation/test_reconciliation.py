import json
import re
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.drafts import Change
from annotation.domain.reconciliation import PairState
from annotation.domain.tables import TableRow
from annotation.models import AuditEvent, BeliefTable, Pair, PairEvent, Project, Proposition
from annotation.services import drafts
from annotation.services.agreement import extraction_report, table_report
from annotation.services.reconciliation import (
    Refused,
    agree,
    decide,
    finish,
    last_step,
    link,
    open_pairs,
    pairs_of,
    reopen,
    separate,
)
from tests.annotation.drafting import write_draft

NOW = timezone.now()
FIRST = (("world", "The key is in the bag", "0"), ("Ines", "The key is still in the bag"), ("Ines", "Tomas is out"))
SECOND = (
    ("world", "The key is in the bag", "0"), ("Ines", "The key is still lying in the bag"), ("Tomas", "It rains", "1"),
)  # fmt: skip
KINDS = ["same", "reworded", "only-a", "only-b"]


def hand_in(story, expert, *rows, submit=True):
    write_draft(by=expert, story=story, rows=[TableRow(*row) for row in rows], now=NOW, origin="pasted")
    if submit:
        drafts.hand_in(by=expert, story=story, now=NOW)


@pytest.fixture
def story(bare):
    return bare()


@pytest.fixture
def paired(story, experts):
    """The story with open pairs: same, reworded, only A, only B."""
    hand_in(story, experts[0], *FIRST)
    hand_in(story, experts[1], *SECOND)
    open_pairs(story=story, by=experts[0], now=NOW)
    return story


@pytest.fixture
def page_of(story, client):
    """The address of a page of the story, for a client who is this person."""

    def address(name, person=None):
        if person is not None:
            client.force_login(person)
        return reverse(f"annotation:{name}", args=["minds", story.uid])

    return address


@pytest.fixture
def run(capsys):
    """The command `table` on a story; returns what it prints."""

    def table(action, *options, expert="esi", number=1):
        call_command("table", action, "--project=minds", f"--story={number}", f"--expert={expert}", *options)
        return capsys.readouterr().out

    return table


def pair_with(story, belief) -> Pair:
    return pairs_of(story).get(belief=belief)


def kinds(story) -> list[str]:
    return [pair.kind.value for pair in pairs_of(story)]


def settle(by, pair, key=None, base=None, **fields):
    before = pair.state
    key = key or f"{pair.uid}{PairEvent.objects.count()}"
    change = Change(pair.uid, base or before, replace(before, **fields), key, key, NOW)
    return decide(by=by, story=pair.story, decisions=[change], now=NOW)[0]


def settle_all(story, by):
    for pair in pairs_of(story).filter(status=""):
        settle(by, pair, status="kept")


def join(by, story, first="Tomas is out", second="It rains"):
    rows = {"first": pair_with(story, first).uid, "second": pair_with(story, second).uid}
    link(by=by, story=story, key=f"press-{PairEvent.objects.count()}", now=NOW, **rows)


def part(by, story, belief):
    key = f"press-{PairEvent.objects.count()}"
    separate(by=by, story=story, key=key, now=NOW, row=pair_with(story, belief).uid)


def undo(story, by, redo=False):
    """Press Ctrl+Z as the page does, sent twice."""
    action, states = last_step(story=story, by=by, redo=redo)
    key = f"back-{PairEvent.objects.count()}"
    now = {uid: Pair.objects.get(uid=uid).state for uid in states}
    decisions = [Change(uid, now[uid], state, key, key, NOW, action) for uid, state in states.items()]
    for _ in range(2):
        decided = decide(by=by, story=story, decisions=decisions, now=NOW)
    return decided


def standing(story):
    return [(pair.uid, pair.state, pair.decided_by, pair.decided_at) for pair in pairs_of(story)]


def first_way(page: str) -> list[str]:
    """Return where the button goes that a page of a handed-in table recommends."""
    return re.findall(r'<a\s+class="button button-primary"\s+href="([^"?]+)', page)


def test_neither_expert_sees_the_others_table_before_both_are_in(story, experts, client, page_of, cast):
    first, second = experts
    hand_in(story, first, *FIRST)
    hand_in(story, second, ("Ines", "Half a table"), submit=False)
    with pytest.raises(Refused, match="both experts"):
        open_pairs(story=story, by=first, now=NOW)
    for expert, hidden in ((second, "Tomas is out"), (first, "Half a table")):
        for name in ("reconcile", "pair_rows", "story", "undo_pairs"):
            assert hidden not in client.get(page_of(name, expert), follow=True).content.decode()
    drafts.hand_in(by=second, story=story, now=NOW)
    with pytest.raises(Refused, match="no further table"):
        hand_in(story, cast.alice, *FIRST)
    address = page_of("reconcile", first)
    assert first_way(client.get(page_of("draft")).content.decode()) == [address]
    assert "Open the reconciliation" in client.get(address).content.decode()
    assert not Pair.objects.exists(), "looking opens nothing"
    drafts.take_back(by=second, story=story)
    drafts.hand_in(by=second, story=story, now=NOW)
    for _ in range(2):
        client.post(address, {"open": "1"})
    assert pairs_of(story).count() == len(FIRST) + 1
    with pytest.raises(Refused, match="was opened"):
        drafts.take_back(by=second, story=story)


def test_pairs_make_the_gold_table_with_remarks_and_the_origin_of_each_row(paired, experts):
    esi = experts[0]
    assert kinds(paired) == KINDS
    with pytest.raises(Refused, match="3 rows are still to decide"):
        finish(by=esi, story=paired, now=NOW)
    with pytest.raises(Refused, match="an actor and a proposition"):
        settle(esi, pair_with(paired, "It rains"), status="kept", belief=" ")
    settle(esi, pair_with(paired, "The key is still in the bag"), status="kept", belief=SECOND[1][1], remark="B’s")
    settle(esi, pair_with(paired, "Tomas is out"), status="dropped", remark="not in the text")
    settle(esi, pair_with(paired, "It rains"), status="kept", belief="It is raining")
    assert finish(by=esi, story=paired, now=NOW) == 3
    live = Proposition.objects.gold_of(paired)
    assert list(live.values_list("actor", "belief", "order_text", "remark", "remark_text", "reviewed")) == [
        ("world", "The key is in the bag", "0", "", "", True),
        ("Ines", "The key is still lying in the bag", "", "revised", "B’s", True),
        ("Tomas", "It is raining", "1", "revised", "", True),
    ]
    assert live[1].pair.a.belief == FIRST[1][1] and live[1].pair.b.belief == SECOND[1][1]
    removed = Proposition.objects.get(removed_at__isnull=False)
    assert (removed.belief, removed.remark, removed.remark_text) == ("Tomas is out", "removed", "not in the text")
    # four rows were reviewed, one needed no remark: 1 / 4
    assert extraction_report(project=paired.project)["overlap"] == 0.25
    counts = {"unchanged": 1, "added": 0, "removed": 1, "revised": 2}
    assert AuditEvent.objects.get(action="table.reconciled").details == counts
    with pytest.raises(Refused, match="gold table already"):
        finish(by=esi, story=paired, now=NOW)


def test_an_order_of_one_expert_alone_waits_for_a_decision_and_is_no_overlap(story, experts, run):
    esi, ben = experts
    hand_in(story, esi, *FIRST)
    hand_in(story, ben, ("world", "The key is in the bag"), *FIRST[1:])
    open_pairs(story=story, by=esi, now=NOW)
    first = pairs_of(story)[0]
    assert kinds(story) == ["order", "same", "same"]
    assert (first.status, first.a.order_text, first.b.order_text) == ("", "0", "")
    with pytest.raises(Refused, match="1 row is still to decide"):
        agree(by=esi, story=story, now=NOW)
    # the command keeps the words of who gave no order
    assert "pairs 1. world: The key is in the bag (order 0) [order, open]" in run("rows")
    run("decide", "--row=1", "--keep=b")
    assert "pairs 1. world: The key is in the bag [order, kept]" in run("rows")
    run("decide", "--row=1", "--keep=a")
    finish(by=esi, story=story, now=NOW)
    gold = Proposition.objects.gold_of(story).values_list("order_text", "remark")
    assert list(gold) == [("0", "revised"), ("", ""), ("", "")]
    figures = table_report(project=story.project)
    assert (figures["reviewed"], figures["unremarked"], figures["f1"].value) == (3, 2, 1)


def test_a_decision_that_comes_twice_counts_once_and_undo_takes_it_back(paired, experts):
    pair = pair_with(paired, "Tomas is out")
    for _ in range(2):
        settle(experts[0], pair, key="same", status="dropped")
    assert PairEvent.objects.count() == 1
    action, states = last_step(story=paired, by=experts[0])
    assert action == "same" and states[pair.uid].status == ""
    assert last_step(story=paired, by=experts[1]) is None
    # who saw the pair before does not overwrite the decision
    seen = PairState("", "Ines", "Tomas is out", place=pair.place)
    pair.refresh_from_db()
    stands, quicker = settle(experts[1], pair, base=seen, status="kept")
    assert quicker == "Esi" and stands.status == "dropped"
    assert PairEvent.objects.count() == 1


def test_links_are_changed_and_each_row_stays_in_one_pair(paired, experts):
    esi = experts[0]
    settle(esi, pair_with(paired, "Tomas is out"), status="kept", belief="Tomas is outside")
    join(esi, paired, first="It rains", second="Tomas is outside")
    linked = pair_with(paired, "Tomas is outside")
    assert (linked.a.belief, linked.b.belief, linked.status) == ("Tomas is out", "It rains", "")
    with pytest.raises(Refused, match="linked already"):
        join(esi, paired, first="Tomas is outside", second="The key is in the bag")
    part(esi, paired, "Tomas is outside")
    assert kinds(paired) == KINDS
    assert {pairs_of(paired).get(**{side: None}).belief for side in "ab"} == {"Tomas is outside", "It rains"}
    with pytest.raises(Refused, match="not linked"):
        part(esi, paired, "It rains")
    with pytest.raises(Refused, match="in no pair any more"):
        link(by=esi, story=paired, key="k", now=NOW, first=pair_with(paired, "It rains").uid, second=linked.uid)


def test_undo_brings_back_what_was_linked_or_separated_with_what_was_decided_on_it(paired, experts):
    esi, ben = experts
    settle(ben, pair_with(paired, "Tomas is out"), status="kept", belief="Tomas is outside", remark="line 2")
    settle(esi, pair_with(paired, "It rains"), status="dropped", remark="not in the text")
    before = standing(paired)
    rows = {"first": pairs_of(paired).get(b=None).uid, "second": pairs_of(paired).get(a=None).uid}
    for _ in range(2):
        link(by=esi, story=paired, key="one", now=NOW, **rows)
    assert PairEvent.objects.filter(action="one").count() == 3  # two rows went, one came; sent again it counts once
    linked = standing(paired)
    assert len(linked) == len(before) - 1
    decided = undo(paired, esi)
    assert standing(paired) == before and decided[0][0].gone
    undo(paired, esi, redo=True)
    assert standing(paired) == linked
    undo(paired, esi)
    undo(paired, esi)  # what Esi decided before the link
    assert pair_with(paired, "It rains").status == "" and pair_with(paired, "Tomas is outside").decided_by == ben
    history = AuditEvent.objects.filter(action__in=["pairs.linked", "pairs.separated"]).order_by("id")
    assert [event.action.removeprefix("pairs.") for event in history] == ["linked", "separated"] * 2
    assert {(event.details["a"], event.details["b"]) for event in history} == {("Tomas is out", "It rains")}
    settle(esi, pair_with(paired, "The key is still in the bag"), status="kept", belief="It is there", remark="both")
    before = standing(paired)
    part(esi, paired, "It is there")
    undo(paired, esi)
    assert standing(paired) == before
    undo(paired, esi)
    assert pair_with(paired, "The key is still in the bag").status == ""
    assert last_step(story=paired, by=esi) is None


def test_a_link_is_not_taken_back_over_what_others_did_since(paired, experts, client, page_of):
    esi, ben = experts
    before = standing(paired)
    join(esi, paired)
    settle(esi, pair_with(paired, "Tomas is out"), status="kept")
    assert last_step(story=paired, by=ben) is None
    undo(paired, esi)  # the decision goes before the link
    assert pair_with(paired, "Tomas is out").status == ""
    settle(ben, pair_with(paired, "Tomas is out"), remark="are they one?")
    stands = standing(paired)
    with pytest.raises(Refused, match="decided or linked anew since"):
        last_step(story=paired, by=esi)
    linked = PairEvent.objects.filter(by=esi).first()
    late = Change(stands[2][0], stands[2][1], stands[2][1], "late", "late", NOW, linked.action)
    for change in (late, replace(late, row=stands[0][0])):  # the second is a row that the link has nothing to do with
        with pytest.raises(Refused, match="linked anew since; they stay as they stand"):
            decide(by=esi, story=paired, decisions=[change], now=NOW)
    assert standing(paired) == stands
    undo(paired, ben)
    part(ben, paired, "Tomas is out")
    answer = client.get(page_of("undo_pairs", esi))
    assert answer.status_code == 400 and "linked anew since" in answer.json()["error"]
    undo(paired, ben)
    undo(paired, esi)
    assert standing(paired) == before


def test_both_are_asked_to_agree_and_a_change_asks_again(paired, experts, cast):
    cast.project.tables_agreed = True
    cast.project.save()
    paired.refresh_from_db()
    esi, ben = experts
    with pytest.raises(Refused, match="still to decide"):
        agree(by=esi, story=paired, now=NOW)
    settle_all(paired, esi)
    agree(by=esi, story=paired, now=NOW)
    with pytest.raises(Refused, match="Ben has yet to agree"):
        finish(by=esi, story=paired, now=NOW)
    settle(ben, pair_with(paired, "It rains"), remark="why?")
    agree(by=ben, story=paired, now=NOW)
    with pytest.raises(Refused, match="Esi has yet to agree"):
        finish(by=esi, story=paired, now=NOW)
    agree(by=esi, story=paired, now=NOW)
    assert finish(by=esi, story=paired, now=NOW) == 4
    with pytest.raises(Refused, match="gold table already"):
        agree(by=cast.alice, story=paired, now=NOW)


def test_pairs_open_again_while_nobody_has_worked_on_the_table(paired, experts, assign, cast_vote, client, page_of):
    esi = experts[0]
    for pair in pairs_of(paired):
        settle(esi, pair, status="dropped")
    with pytest.raises(Refused, match="Keep at least one row"):
        finish(by=esi, story=paired, now=NOW)
    for pair in pairs_of(paired):
        settle(esi, pair, status="kept")
    finish(by=esi, story=paired, now=NOW)
    reopen(by=esi, story=paired)
    assert not Proposition.objects.filter(table__story=paired, table__kind="gold").exists()
    settle(esi, pair_with(paired, "It rains"), belief="It pours")
    finish(by=esi, story=paired, now=NOW)
    cast_vote(assign(paired)[0], Proposition.objects.gold_of(paired).get(belief="It pours"), "order", "1")
    with pytest.raises(Refused, match="People have voted"):
        reopen(by=esi, story=paired)
    # an expert who labels the story does not see its orders
    assert client.get(page_of("reconcile", esi)).context["shows_order"]
    paired.assignments.update(released_at=NOW)
    assign(paired, [esi])
    page = client.get(page_of("reconcile"))
    assert not page.context["shows_order"] and "The key is in the bag" in page.content.decode()


def test_the_page_saves_links_agrees_and_finishes(paired, experts, cast, client, page_of):
    def post(name, body):
        return client.post(page_of(name), json.dumps(body), content_type="application/json")

    page = client.get(page_of("reconcile", experts[0])).content.decode()
    assert "The key is still lying in the bag" in page
    found = client.get(page_of("pair_rows")).json()["rows"]
    changes = [
        {
            "row": row["row"], "base": row["state"], "state": row["state"] | {"status": "kept"},
            "idempotency_key": row["row"], "action": row["row"], "changed_at": NOW.isoformat(),
        }
        for row in found
        if not row["state"]["status"]
    ]  # fmt: skip
    assert post("save_pairs", {"annotator": cast.bob.pk, "changes": changes}).status_code == 409
    saved = post("save_pairs", {"annotator": experts[0].pk, "changes": changes}).json()["saved"]
    assert {row["state"]["status"] for row in saved} == {"kept"} and {row["by"] for row in saved} == {"Esi"}
    only = {row["kind"]: row["row"] for row in found}
    joined = {"row": only["only-a"], "other": only["only-b"], "idempotency_key": "linked"}
    linked = post("link_pairs", joined).json()
    assert sorted(row["kind"] for row in linked["rows"]) == ["reworded", "reworded", "same"]
    assert post("link_pairs", joined | {"idempotency_key": "again"}).status_code == 400
    assert client.get(page_of("undo_pairs")).json()["undo"]["rows"]
    client.post(page_of("reconcile"), {"finish": "1"})
    assert not Proposition.objects.gold_of(paired).exists()  # the linked row is open again
    settle_all(paired, experts[1])
    client.post(page_of("reconcile"), {"agree": "1"})
    assert BeliefTable.objects.get(author=experts[0]).agreed_at
    assert "3 rows" in client.post(page_of("reconcile"), {"finish": "1"}, follow=True).content.decode()
    page = client.get(page_of("reconcile")).content.decode()
    assert "Where the table of story 1 comes from" in page and "Revised" in page and ">order 0</span>" in page
    assert page.count(f'<td dir="auto">{experts[1].shown_name}</td>') == 1  # who decided the linked row
    following = reverse("annotation:next_table", args=["minds"])
    assert first_way(client.get(page_of("draft")).content.decode()) == [following]
    client.post(page_of("reconcile"), {"reopen": "1"})
    assert not Proposition.objects.gold_of(paired).exists()


def test_figures_of_the_tables_that_were_reconciled(paired, experts, bare, client, capsys):
    esi = experts[0]
    settle_all(paired, esi)
    finish(by=esi, story=paired, now=NOW)
    figures = table_report(project=paired.project)
    assert (figures["reviewed"], figures["unremarked"], figures["added"], figures["revised"]) == (4, 1, 2, 1)
    # two pairs among three and three rows: 2·2 / 6
    assert figures["f1"].value == pytest.approx(2 / 3)
    client.force_login(esi)
    page = client.get(reverse("annotation:table_figures", args=["minds"])).content.decode()
    assert "25.00%" in page and "66.67%" in page and "at least 5 stories" in page
    call_command("table_report", "--project", "minds")
    assert "1 of 4 reviewed propositions of 1 story needed" in capsys.readouterr().out
    # a table of one expert alone is no agreement of two
    alone = bare(2)
    hand_in(alone, esi, *FIRST)
    Project.objects.filter(pk=alone.project_id).update(table_experts=1)  # while two were wanted before
    alone.refresh_from_db()
    open_pairs(story=alone, by=esi, now=NOW)
    settle_all(alone, esi)
    finish(by=esi, story=alone, now=NOW)
    assert table_report(project=paired.project) == figures
    Pair.objects.filter(story=paired).delete()
    Proposition.objects.gold_of(paired).delete()
    figures = table_report(project=paired.project)
    assert (figures["f1"].value, figures["overlap"].value, figures["stories"]) == (None, None, 0)


def test_the_command_writes_decides_links_and_mends_single_rows(story, experts, run):
    run("draft-row", "--actor=world", "--belief=The key is in the bag", "--order=0")
    run("draft-row", "--actor=Ines", "--belief=Tomas is out")
    run("draft-row", "--actor=Ines", "--belief=It snows")
    assert "Row 2 of story" in run("draft-row", "--row=2", "--order=1")
    run("draft-row", "--row=3", "--drop")
    assert run("rows").splitlines() == [
        "draft 1. world: The key is in the bag (order 0)", "draft 2. Ines: Tomas is out (order 1)",
    ]  # fmt: skip
    hand_in(story, experts[1], ("world", "The key is in the bag", "0"), ("Ines", "Tomas is out now", "1"))
    assert "is handed in" in run("hand-in")
    run("take-back")
    with pytest.raises(CommandError, match="both experts"):
        run("open")
    for action in ("hand-in", "open"):
        run(action)
    for who, told in (({"expert": "bob"}, "no expert of minds"), ({"number": 99}, "no story 99")):
        with pytest.raises(CommandError, match=told):
            run("open", **who)
    assert "draft 1" not in run("rows", expert="alice")
    assert "pairs 2. Ines: Tomas is out (order 1) [reworded, open]" in run("rows")
    with pytest.raises(CommandError, match="no row 9"):
        run("decide", "--row=9", "--keep=a")
    run("decide", "--row=2", "--keep=b", "--remark=shorter")
    run("separate", "--row=2")
    run("link", "--row=2", "--with=3")
    run("decide", "--row=2", "--keep=b", "--order=2")
    run("decide", "--actor=Ines", "--belief=Ines is in the room", "--order=1")
    for action in ("agree", "finish", "reopen", "finish"):
        run(action)
    run("gold-row", "--row=2", "--belief=Tomas has left")
    run("gold-row", "--actor=Tomas", "--belief=It rains", "--order=1")
    run("gold-row", "--row=1", "--drop")
    gold = Proposition.objects.gold_of(story)
    assert list(gold.values_list("actor", "belief", "order_text")) == [
        ("Ines", "Tomas has left", "2"), ("Ines", "Ines is in the room", "1"), ("Tomas", "It rains", "1"),
    ]  # fmt: skip
    with pytest.raises(CommandError, match="needs --belief"):
        run("gold-row")
