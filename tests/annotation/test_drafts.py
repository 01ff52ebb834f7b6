"""An expert's own draft: saved change by change, undone, handed in and taken back."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.drafts import RowState
from annotation.models import BeliefTable, DraftEvent, DraftRow, Membership
from annotation.services import drafts
from annotation.services.drafts import Refused, RowChange, hand_in, last_step, live_rows, rows_at, save_rows, take_back

NOW = timezone.now()
RAIN = RowState("Ines", "It rains", "1", place=1)


@pytest.fixture
def story(make_story):
    made = make_story(translations={"zh": "下雨了"})
    made.tables.all().delete()
    return made


@pytest.fixture
def save(story, cast):
    """Saves one change of Esi's draft: `save(uid, state, base=None, action="a")`."""

    def make(uid, state, base=None, *, by=None, key=None, **fields):
        key = key or f"key{DraftEvent.objects.count()}"
        plain = {"action": key, "kind": "type", "changed_at": NOW} | fields
        change = RowChange(uid, base, state, key, plain.pop("action"), **plain)
        return save_rows(by=by or cast.esi, story=story, changes=[change], now=NOW)[0]

    return make


def beliefs(story, expert) -> list[str]:
    return [row.belief for row in live_rows(drafts.own_draft(story=story, expert=expert))]


def test_a_change_that_comes_twice_counts_once(save, story, cast):
    for _ in range(2):
        save("r" * 12, RAIN, key="same")
    assert (DraftRow.objects.count(), DraftEvent.objects.count()) == (1, 1)


def test_two_windows_lose_no_words(save, story, cast):
    save("r" * 12, RAIN)
    save("r" * 12, replace(RAIN, belief="It hails"), RAIN)
    saved = save("r" * 12, replace(RAIN, belief="It snows"), RAIN)
    assert saved.state.belief == "It hails" and saved.copy[1].belief == "It snows"
    assert beliefs(story, cast.esi) == ["It hails", "It snows"]


def test_a_row_of_another_table_is_refused(save, story, cast):
    Membership.objects.filter(user=cast.ben).update(role="expert")
    save("r" * 12, RAIN)
    with pytest.raises(Refused, match="another table"):
        save("r" * 12, RAIN, by=cast.ben)
    assert BeliefTable.objects.filter(kind="draft").count() == 1


def test_undo_goes_back_and_forth_over_actions_of_many_rows(save, story, cast):
    save("a" * 12, RAIN)
    split = {"action": "split", "kind": "split"}
    left, right = replace(RAIN, belief="It"), replace(RAIN, belief="rains", place=2)
    save("a" * 12, left, RAIN, **split)
    save("b" * 12, right, **split)
    table = drafts.own_draft(story=story, expert=cast.esi)
    _, rows = last_step(table=table)
    assert rows == {"a" * 12: RAIN, "b" * 12: replace(right, removed=True)}
    for uid, state in rows.items():
        save(uid, state, {"a": left, "b": right}[uid[0]], action="undo", kind="undo", undoes="split")
    assert beliefs(story, cast.esi) == ["It rains"]
    again = last_step(table=table, redo=True)
    assert again == ("undo", {"a" * 12: left, "b" * 12: right})


def test_letters_of_one_burst_are_one_step(save, story, cast):
    save("a" * 12, replace(RAIN, belief="I"), action="burst")
    save("a" * 12, RAIN, replace(RAIN, belief="I"), action="burst")
    _, rows = last_step(table=drafts.own_draft(story=story, expert=cast.esi))
    assert rows["a" * 12].removed


def test_versions_tell_how_the_table_stood(save, story, cast):
    save("a" * 12, RAIN)
    first = DraftEvent.objects.get().pk
    save("a" * 12, replace(RAIN, belief="It snows"), RAIN)
    table = drafts.own_draft(story=story, expert=cast.esi)
    assert rows_at(table, first) == {"a" * 12: RAIN}
    assert [rows for *_, rows in drafts.versions_of(table)] == [1]


def test_a_table_is_handed_in_whole_and_taken_back_until_it_is_opened(save, story, cast):
    save("a" * 12, replace(RAIN, actor=""))
    with pytest.raises(Refused, match="Row 1 has no actor"):
        hand_in(by=cast.esi, story=story, now=NOW)
    save("a" * 12, RAIN)
    with pytest.raises(Refused, match="1 rows by now, not 2"):
        hand_in(by=cast.esi, story=story, now=NOW, rows=2)
    hand_in(by=cast.esi, story=story, now=NOW, rows=1)
    with pytest.raises(Refused, match="take it back"):
        save("a" * 12, RAIN)
    take_back(by=cast.esi, story=story)
    save("a" * 12, replace(RAIN, belief="It snows"), RAIN)
    hand_in(by=cast.esi, story=story, now=NOW)
    BeliefTable.objects.filter(author=cast.esi).update(opened_at=NOW)
    with pytest.raises(Refused, match="was opened"):
        take_back(by=cast.esi, story=story)


def test_a_story_has_as_many_tables_as_the_project_wants(save, story, cast):
    Membership.objects.filter(user__in=[cast.ben, cast.bea]).update(role="expert")
    save("a" * 12, RAIN)
    save("b" * 12, RAIN, by=cast.ben)
    with pytest.raises(Refused, match="two other experts"):
        save("c" * 12, RAIN, by=cast.bea)
    assert sorted(BeliefTable.objects.drafts().values_list("slot", flat=True)) == [1, 2]


@pytest.mark.parametrize(
    ("state", "sentence"),
    [({"belief": "x" * 2001}, "2001 characters"), ({"actor": "a\x00"}, "NUL")],
)
def test_what_no_row_can_hold_is_refused(save, state, sentence):
    with pytest.raises(Refused, match=sentence):
        save("a" * 12, replace(RAIN, **state))
    assert not DraftEvent.objects.exists()


def posted(**fields) -> dict:
    state = {"actor": "Ines", "belief": "She left", "order": "1", "remark": "", "place": 1, "removed": False}
    change = {"row": "a" * 12, "base": None, "state": state, "idempotency_key": "k", "action": "k", "kind": "type"}
    return {"changes": [change | {"changed_at": NOW.isoformat()} | fields]}


def test_the_page_saves_and_warns(client, story, cast):
    client.force_login(cast.esi)
    address = reverse("annotation:save_draft", args=["minds", story.uid])
    answer = client.post(address, json.dumps(posted()), content_type="application/json").json()
    assert answer["saved"][0]["state"]["belief"] == "She left"
    assert "write the name" in answer["warnings"]["a" * 12][0]["text"]
    undo = client.get(reverse("annotation:undo_draft", args=["minds", story.uid])).json()["undo"]
    assert undo["action"] == "k" and undo["rows"][0]["state"]["removed"]
    page = client.get(reverse("annotation:draft", args=["minds", story.uid])).content.decode()
    assert "She left" in page and "下雨了" in page
    versions = reverse("annotation:draft_versions", args=["minds", story.uid])
    [version] = client.get(versions).json()["versions"]
    assert client.get(versions, {"version": version["id"]}).json()["rows"][0]["state"]["belief"] == "She left"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"row": "A"}, "changes[0].row"),
        ({"kind": "burn"}, "changes[0].kind"),
        ({"state": {"place": "first"}}, "changes[0].state.place"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(client, story, cast, fields, sentence):
    client.force_login(cast.esi)
    address = reverse("annotation:save_draft", args=["minds", story.uid])
    answer = client.post(address, json.dumps(posted(**fields)), content_type="application/json")
    assert answer.status_code == 400 and sentence in answer.json()["error"]


def test_rows_are_not_saved_under_another_name(client, story, cast):
    client.force_login(cast.esi)
    address = reverse("annotation:save_draft", args=["minds", story.uid])
    body = json.dumps(posted() | {"annotator": cast.bob.pk})
    assert client.post(address, body, content_type="application/json").status_code == 409


def test_the_page_hands_in_and_takes_back(client, story, cast, save):
    save("a" * 12, RAIN)
    client.force_login(cast.esi)
    address = reverse("annotation:draft", args=["minds", story.uid])
    assert "Your table is handed in" in client.post(address, {"rows": "1"}, follow=True).content.decode()
    assert "yours again" in client.post(address, {"take_back": "1"}, follow=True).content.decode()


def test_the_editor_stands_under_tables(client, cast, story):
    client.force_login(cast.esi)
    page = client.get(reverse("annotation:draft", args=["minds", story.uid])).content.decode()
    assert re.findall(r'href="(/p/minds/[a-z]+/)"\s+aria-current', page) == ["/p/minds/tables/"]
