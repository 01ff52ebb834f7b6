"""Drafts of belief tables by models: the round, the arm of each story and expert, where rows come from, the effect."""

import json
import re
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.arms import is_drawn_blind
from annotation.domain.drafts import Change, Mark
from annotation.models import AuditEvent, BeliefTable, DraftRow, Prefill, Project, Proposition, SuggestedRow
from annotation.services import drafts
from annotation.services.anchoring import effect_of
from annotation.services.drafts import begun_with, deleted_rows, draw_for, mark_of_row, save_rows
from annotation.services.effort import effort_of
from annotation.services.prefill import PrefillRefused, estimate
from annotation.services.reconciliation import decide, finish, open_pairs, pairs_of
from tests.annotation.prefilling import begin
from tests.test_kept_in_english import CHINESE
from workers.models import Call, Endpoint, EndpointRateLimit, Item, ItemState
from workers.providers.scripted.functions import FUNCTIONS
from workers.services.runner import Runner

pytestmark = pytest.mark.django_db(transaction=True)

NOW = timezone.now()
ROWS = (
    ("world", "The key is in the drawer", "0"),
    ("Ines", "The key is in the bag", "1"),
    ("Tomas", "Ines looks in the bag", "2"),
)


@pytest.fixture
def drafter(db, monkeypatch) -> Endpoint:
    """A model that drafts the three rows for every story but the second, of which it answers prose."""
    answer = json.dumps({"rows": [dict(zip(("actor", "belief", "order"), row, strict=True)) for row in ROWS]})
    monkeypatch.setitem(FUNCTIONS, "drafter", lambda body: "No." if "Story 2." in body["task"]["story"] else answer)
    fields = {"provider": "scripted", "model": "drafter", "options": {"function": "drafter"}}
    made = Endpoint.objects.create(name="drafter", **fields)
    EndpointRateLimit.objects.create(endpoint=made)
    return made


def drafted(story) -> None:
    fields = {"story": story, "source": "tiny", "created_at": NOW}
    SuggestedRow.objects.bulk_create(
        SuggestedRow(number=number, actor=actor, belief=belief, order_text=order, **fields)
        for number, (actor, belief, order) in enumerate(ROWS, 1)
    )


def share(cast, blind: int) -> None:
    Project.objects.filter(pk=cast.project.pk).update(table_blind_share=blind)


def opened(story, expert) -> BeliefTable:
    draw_for(story=story, expert=expert, now=NOW)
    return drafts.own_draft(story=story, expert=expert)


def page_of(story, name="draft") -> str:
    return reverse(f"annotation:{name}", args=["minds", story.uid])


def change(story, expert, uid, state, base=None, **fields):
    key = f"key{DraftRow.objects.count()}{uid}{len(state.belief)}{state.removed}"
    row = Change(uid, base, state, key, key, NOW, **fields)
    save_rows(by=expert, story=story, changes=[row], now=NOW)


RAIN = drafts.RowState("Ines", "It rains")


def test_a_round_drafts_stories_without_a_table_and_lists_what_it_could_not_read(
    cast, drafter, bare, make_story, client
):
    first, unreadable, begun, with_table = bare(1), bare(2), bare(3), make_story(4)
    change(begun, cast.esi, "r" * 12, RAIN)
    client.force_login(cast.alice)
    page = reverse("annotation:prefills", args=["minds"])
    form = {"kind": "tables", "endpoint": "drafter", "split": "", "category": ""}
    assert "<strong>2 calls</strong>, one a story: at most" in client.post(page, form).content.decode()
    address = client.post(page, form | {"start": "1"}).url
    late = bare(5)
    later = begin(cast, drafter, [late], kind="tables", level=None)
    change(late, cast.esi, "s" * 12, RAIN)  # meanwhile
    Runner().run()
    made, reason = Prefill.objects.get(uid=address.split("/")[-2]), "The answer holds no JSON object with rows."
    items = {item.key: (item.state, item.problem) for item in Item.objects.filter(job=made.job)}
    assert items == {first.uid: (ItemState.DONE, ""), unreadable.uid: (ItemState.UNREADABLE, reason)}
    item = Item.objects.get(job=later.job)
    assert item.state == ItemState.FAILED and item.problem.startswith("Not asked: this story has a table by now")
    assert Call.objects.count() == 2
    kept = SuggestedRow.objects.values_list("story", "actor", "belief", "order_text", "source", "call__model")
    assert list(kept) == [(first.pk, *row, "drafter (drafter)", "drafter") for row in ROWS]
    assert reason in client.get(address).content.decode()
    _, row = client.get("/api/v1/projects/minds/prefills/").json()["results"]
    assert (row["kind"], row["level"], row["items"]["unreadable"]) == ("tables", None, 1)
    with pytest.raises(PrefillRefused, match="Every one of these stories has a table already"):
        begin(cast, drafter, [first, begun, with_table], kind="tables", level=None)


def test_the_command_drafts_and_levels_are_for_labels(cast, drafter, bare, capsys):
    bare(1)
    asked = ("--project", "minds", "--endpoint", "drafter", "--kind", "tables")
    with pytest.raises(CommandError, match="--level is 2; belief tables have one prompt"):
        call_command("prefill", *asked, "--level", "2")
    call_command("prefill", *asked, "--wait", "--json")
    out, told = capsys.readouterr()
    assert "1 call, one a story: at most" in told and json.loads(out)["items"]["done"] == 1
    assert SuggestedRow.objects.count() == 3
    baseline = Endpoint.objects.create(name="major", provider="baseline", model="majority")
    with pytest.raises(PrefillRefused, match="major cannot write belief tables: majority is a baseline for another"):
        estimate(project=cast.project, endpoint=baseline, stories=[], kind="tables")


def test_the_draw_keeps_its_share_and_is_made_for_each_story_and_expert():
    draws = [
        is_drawn_blind(seed=1, blind=30, story=f"story{story}", expert=expert)
        for story in range(1500)
        for expert in (1, 2)
    ]
    assert 0.28 < sum(draws) / len(draws) < 0.32
    assert any(one != other for one, other in zip(draws[::2], draws[1::2], strict=True))
    assert not any(is_drawn_blind(seed=1, blind=0, story=f"s{at}", expert=1) for at in range(50))


def test_nothing_on_a_blind_page_betrays_a_draft(cast, bare, client):
    def shown() -> str:
        """The page without what differs from call to call."""
        varying = r'csrfmiddlewaretoken" value="[^"]+"|x-csrftoken[^}]+|"now": "[^"]+"|nonce="[^"]+"'
        return re.sub(varying, "", client.get(page_of(story)).content.decode())

    story = bare()
    share(cast, 100)
    client.force_login(cast.esi)
    before = shown()
    drafted(story)
    assert shown() == before
    table = drafts.own_draft(story=story, expert=cast.esi)
    assert (table.is_blind, table.arm_seed, table.blind_share) == (True, 1, 100) and table.arm_drawn_at
    assert table.slot is None and not table.draft_rows.exists()
    share(cast, 0)
    assert shown() == before  # drawn once


def test_an_expert_begins_with_the_draft_and_takes_no_slot_by_looking(cast, bare, client):
    story, begun, unseen = bare(1), bare(2), bare(3)
    share(cast, 0)
    drafted(story), drafted(unseen)
    client.force_login(cast.esi)
    page = client.get(page_of(story))
    settings = page.context["settings"]
    assert [row["state"]["belief"] for row in settings["rows"]] == [belief for _, belief, _ in ROWS]
    assert len(settings["model"]["rows"]) == 3 and "A model’s draft to begin with" in page.content.decode()
    table = drafts.own_draft(story=story, expert=cast.esi)
    assert (table.is_blind, table.slot) == (False, None)
    client.get(page_of(story))
    assert table.draft_rows.count() == 3 and drafts.last_step(table=table) is None
    assert [rows for *_, rows in drafts.versions_of(table)] == [3]
    assert not effort_of(cast.project, now=timezone.now())["people"]  # the model's rows are no act of the expert's
    drafts.hand_in(by=cast.esi, story=story, now=NOW, rows=3)
    assert drafts.own_draft(story=story, expert=cast.esi).slot == 1
    change(begun, cast.esi, "r" * 12, RAIN)
    drafted(begun)
    assert opened(begun, cast.esi).arm_drawn_at is None, "a table that was begun before the draft has no arm"
    # drafts that nobody has opened are discarded
    for person, answer in ((cast.esi, 403), (cast.alice, {"discarded": 6}), (cast.alice, {"discarded": 0})):
        client.force_login(person)
        found = client.post("/api/v1/projects/minds/prefills/discard/", {}, content_type="application/json")
        assert answer in (found.status_code, found.json())
    assert set(SuggestedRow.objects.values_list("story", flat=True)) == {story.pk}
    assert AuditEvent.objects.get(action="prefill.discarded").actor == cast.alice


def worked_on(story, expert) -> BeliefTable:
    """Keeps the first row of the draft, edits and splits the second, deletes the third, and adds one."""
    table = opened(story, expert)
    _, second, third = (row for row in drafts.live_rows(table))
    before = second.state
    edited = replace(before, belief="The key is in the old bag")
    change(story, expert, second.uid, edited, before)
    change(story, expert, "s" * 12, replace(before, belief="The bag is old", place=9), parent=second.uid, kind="split")
    change(story, expert, third.uid, replace(third.state, removed=True), third.state, kind="delete")
    change(story, expert, f"own{expert.username}aaaaaaaaa"[:12], drafts.RowState("Tomas", "It rains", "1", place=10))
    return table


def test_every_row_says_what_became_of_the_models(cast, bare, client):
    Project.objects.filter(pk=cast.project.pk).update(table_experts=1, table_blind_share=0)
    story = bare()
    story.refresh_from_db()
    drafted(story)
    table = worked_on(story, cast.esi)
    live = drafts.live_rows(table).select_related("suggested")
    assert {row.belief: mark_of_row(row) for row in live} == {
        "The key is in the drawer": Mark.KEPT, "The key is in the old bag": Mark.EDITED, "The bag is old": Mark.EDITED,
        "It rains": Mark.ADDED,
    }  # fmt: skip
    gone = deleted_rows(drafts.live_rows(table), begun_with(table))
    assert [row.belief for row in gone] == ["Ines looks in the bag"]
    # one key wrote the row; a browser cannot say that a row of its own is a model's
    client.force_login(cast.esi)
    told = {"row": "z" * 12, "state": {"place": 1.0}, "idempotency_key": "k", "action": "a", "kind": "add"}
    posted = {"changes": [told | {"changed_at": NOW.isoformat(), "origin": "model"}]}
    answer = client.post(page_of(story, "save_draft"), json.dumps(posted), "application/json")
    assert answer.status_code == 400 and "origin" in answer.json()["error"]
    drafts.hand_in(by=cast.esi, story=story, now=NOW)
    page = client.get(page_of(story)).content.decode()
    cells = re.findall(r"<td>(model|model, edited|added)</td>", page)
    assert cells == ["model", "model, edited", "model, edited", "added"] and "Ines looks in the bag" in page
    # what one expert alone wrote keeps where it comes from in gold
    came_from = {row.belief: row.draft_rows.get() for row in Proposition.objects.gold_of(story)}
    assert {belief: row.suggested and row.suggested.number for belief, row in came_from.items()} == {
        "The key is in the drawer": 1, "The key is in the old bag": 2, "The bag is old": 2, "It rains": None,
    }  # fmt: skip
    drafts.take_back(by=cast.esi, story=story)
    assert not DraftRow.objects.filter(proposition__isnull=False).exists()


def test_the_consensus_keeps_where_its_rows_come_from(cast, experts, bare, client):
    story = bare()
    drafted(story)
    first, second = experts
    share(cast, 0)
    worked_on(story, first)
    drafts.hand_in(by=first, story=story, now=NOW)
    share(cast, 100)
    opened(story, second)
    change(story, second, "b" * 12, drafts.RowState("world", "The key is in the drawer", "0"))
    change(story, second, "c" * 12, drafts.RowState("Tomas", "It is late", "1", place=2))
    drafts.hand_in(by=second, story=story, now=NOW)
    open_pairs(story=story, by=first, now=NOW)
    client.force_login(second)
    page = reverse("annotation:reconcile", args=["minds", story.uid])
    assert ">model" not in client.get(page).content.decode()  # words are judged without it
    for row in pairs_of(story):
        state = row.state
        wanted = replace(state, status="dropped" if row.belief == "The bag is old" else "kept")
        decide(by=first, story=story, decisions=[Change(row.uid, state, wanted, row.uid, row.uid, NOW)], now=NOW)
    finish(by=first, story=story, now=NOW)
    shown = client.get(page).content.decode()
    assert re.findall(r'class="badge">(model[^<]*)<', shown) == ["model", "model, edited", "model, edited"]
    report = effect_of(cast.project)
    once = {"drawn": 1, "handed_in": 1, "reconciled": 1}
    assert report["arms"] == {"shown": once, "blind": once}
    assert report["rows"] == {"kept": 1, "edited": 2, "deleted": 1, "added": 1}
    assert report["consensus"] == {"from_model": 2, "by_people": 2}
    measures = {row["measure"]: row for row in report["effect"]["measures"]}
    # of four consensus rows A wrote three and B two; two of them are in the draft, of the others each wrote one
    recall, missed, rows = (measures[name] for name in ("recall", "missed_recall", "rows"))
    assert (recall["shown"].value, recall["blind"].value) == (0.75, 0.5)
    assert (missed["shown"].value, missed["blind"].value) == (0.5, 0.5)
    assert (rows["shown"].value, rows["blind"].value, rows["difference"].value) == (4, 2, 2)
    assert recall["difference"].interval is None and measures["likeness"]["shown"].value > 0.5
    for address in (reverse("annotation:draft_effect", args=["minds"]), reverse("annotation:settings", args=["minds"])):
        client.force_login(cast.alice)
        assert client.get(address).status_code == 200
    page = client.get(reverse("annotation:draft_effect", args=["minds"]), **CHINESE).content.decode()
    assert "+25.0\u202f百分点" in page


def test_the_effect_is_told_before_and_after_there_is_any(cast, bare, capsys, client):
    call_command("draft_effect", "--project", "minds")
    assert "No table of either kind is handed in yet." in capsys.readouterr().out
    client.force_login(cast.esi)
    page = reverse("annotation:draft_effect", args=["minds"])
    assert "Nothing to compare yet" in client.get(page).content.decode()
    share(cast, 0)
    drafted(story := bare())
    opened(story, cast.esi)
    drafts.hand_in(by=cast.esi, story=story, now=NOW)
    call_command("draft_effect", "--project", "minds")
    out = capsys.readouterr().out
    story.withdrawn_at = NOW
    story.save()
    assert effect_of(cast.project)["effect"] is None
    (listed,) = client.get("/api/v1/projects/minds/stories/").json()["results"]
    assert listed["withdrawn_at"]
    story.withdrawn_at = None
    story.save()
    assert "3 kept, 0 edited, 0 deleted, 0 added" in out and "only one of the two kinds has tables" in out
    assert "only one of the two kinds has tables" in client.get(page).content.decode()
