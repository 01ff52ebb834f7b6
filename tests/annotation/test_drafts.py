"""An expert's own draft: saved change by change, undone, handed in and taken back."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.drafts import Change, RowState
from annotation.models import BeliefTable, DraftEvent, DraftRow, Membership
from annotation.services import drafts
from annotation.services.drafts import Refused, hand_in, last_step, live_rows, rows_at, save_rows, take_back

NOW = timezone.now()
RAIN = RowState("Ines", "It rains", "1", place=1)
A, B = "a" * 12, "b" * 12


@pytest.fixture
def story(make_story, cast):
    Membership.objects.filter(user__in=[cast.ben, cast.bea]).update(role="expert")
    made = make_story(translations={"zh": "下雨了"})
    made.tables.all().delete()
    return made


@pytest.fixture
def save(story, cast):
    """Saves one change of Esi's draft: `save(uid, state, base=None, action="a")`."""

    def make(uid, state, base=None, *, by=None, key=None, action="", **fields):
        key = key or f"key{DraftEvent.objects.count()}"
        change = Change(uid, base, state, key, action or key, NOW, **fields)
        return save_rows(by=by or cast.esi, story=story, changes=[change], now=NOW)[0]

    return make


@pytest.fixture
def esi(client, cast, story):
    """The client of Esi, and the address of a view of the story."""
    client.force_login(cast.esi)
    return client, lambda view: reverse(f"annotation:{view}", args=["minds", story.uid])


def beliefs(story, expert) -> list[str]:
    return [row.belief for row in live_rows(drafts.own_draft(story=story, expert=expert))]


def test_a_change_that_comes_twice_counts_once(save):
    for _ in range(2):
        save(A, RAIN, key="same")
    assert (DraftRow.objects.count(), DraftEvent.objects.count()) == (1, 1)


def test_two_windows_lose_no_words(save, story, cast):
    save(A, RAIN)
    save(A, replace(RAIN, belief="It hails"), RAIN)
    saved = save(A, replace(RAIN, belief="It snows"), RAIN)
    assert saved.state.belief == "It hails" and saved.copy[1].belief == "It snows"
    assert beliefs(story, cast.esi) == ["It hails", "It snows"]


def test_a_row_of_another_table_is_refused(save, cast):
    save(A, RAIN)
    with pytest.raises(Refused, match="another table"):
        save(A, RAIN, by=cast.ben)
    assert BeliefTable.objects.filter(kind="draft").count() == 1


def test_undo_goes_back_and_forth_over_actions_of_many_rows(save, story, cast):
    save(A, RAIN)
    split = {"action": "split", "kind": "split"}
    left, right = replace(RAIN, belief="It"), replace(RAIN, belief="rains", place=2)
    save(A, left, RAIN, **split)
    save(B, right, **split)
    table = drafts.own_draft(story=story, expert=cast.esi)
    _, rows = last_step(table=table)
    assert rows == {A: RAIN, B: replace(right, removed=True)}
    for uid, state in rows.items():
        save(uid, state, {A: left, B: right}[uid], action="undo", kind="undo", undoes="split")
    assert beliefs(story, cast.esi) == ["It rains"]
    assert last_step(table=table, redo=True) == ("undo", {A: left, B: right})


def test_letters_of_one_burst_are_one_step_and_versions_tell_how_the_table_stood(save, story, cast):
    save(A, replace(RAIN, belief="I"), action="burst")
    save(A, RAIN, replace(RAIN, belief="I"), action="burst")
    table, first = drafts.own_draft(story=story, expert=cast.esi), DraftEvent.objects.last().pk
    _, rows = last_step(table=table)
    assert rows[A].removed
    save(A, replace(RAIN, belief="It snows"), RAIN)
    assert rows_at(table, first) == {A: RAIN}
    assert [rows for *_, rows in drafts.versions_of(table)] == [1]


def test_a_table_is_handed_in_whole_and_taken_back_until_it_is_opened(save, story, cast):
    save(A, replace(RAIN, actor=""))
    with pytest.raises(Refused, match="Row 1 has no actor"):
        hand_in(by=cast.esi, story=story, now=NOW)
    save(A, RAIN)
    with pytest.raises(Refused, match="1 rows by now, not 2"):
        hand_in(by=cast.esi, story=story, now=NOW, rows=2)
    hand_in(by=cast.esi, story=story, now=NOW, rows=1)
    with pytest.raises(Refused, match="take it back"):
        save(A, RAIN)
    take_back(by=cast.esi, story=story)
    save(A, replace(RAIN, belief="It snows"), RAIN)
    hand_in(by=cast.esi, story=story, now=NOW)
    BeliefTable.objects.filter(author=cast.esi).update(opened_at=NOW)
    with pytest.raises(Refused, match="was opened"):
        take_back(by=cast.esi, story=story)


def test_a_story_has_as_many_tables_as_the_project_wants(save, cast):
    save(A, RAIN)
    save(B, RAIN, by=cast.ben)
    with pytest.raises(Refused, match="two other experts"):
        save("c" * 12, RAIN, by=cast.bea)
    assert sorted(BeliefTable.objects.drafts().values_list("slot", flat=True)) == [1, 2]


def test_what_no_row_can_hold_is_refused(save):
    for state, sentence in [({"belief": "x" * 2001}, "2001 characters"), ({"actor": "a\x00"}, "NUL")]:
        with pytest.raises(Refused, match=sentence):
            save(A, replace(RAIN, **state))
    assert not DraftEvent.objects.exists()


def posted(annotator=None, **fields) -> str:
    state = {"actor": "Ines", "belief": "She left", "order": "1", "remark": "", "place": 1, "removed": False}
    change = {"row": A, "base": None, "state": state, "idempotency_key": "k", "action": "k", "kind": "type"}
    return json.dumps({"annotator": annotator, "changes": [change | {"changed_at": NOW.isoformat()} | fields]})


def test_the_page_saves_and_warns(esi):
    client, address = esi
    answer = client.post(address("save_draft"), posted(), content_type="application/json").json()
    assert answer["saved"][0]["state"]["belief"] == "She left"
    assert "write the name" in answer["warnings"][A][0]["text"]
    undo = client.get(address("undo_draft")).json()["undo"]
    assert undo["action"] == "k" and undo["rows"][0]["state"]["removed"]
    page = client.get(address("draft")).content.decode()
    assert "She left" in page and "下雨了" in page
    assert re.findall(r'href="(/p/minds/[a-z]+/)"\s+aria-current', page) == ["/p/minds/tables/"]
    [version] = client.get(address("draft_versions")).json()["versions"]
    rows = client.get(address("draft_versions"), {"version": version["id"]}).json()["rows"]
    assert rows[0]["state"]["belief"] == "She left"
    assert client.get(address("draft_versions"), {"version": "x"}).status_code == 404


def test_a_request_that_does_not_fit_is_refused(esi, cast):
    client, address = esi
    for fields, status, sentence in [
        ({"row": "A"}, 400, "changes[0].row"),
        ({"kind": "burn"}, 400, "changes[0].kind"),
        ({"state": {"place": "first"}}, 400, "changes[0].state.place"),
        ({"annotator": cast.bob.pk}, 409, "Somebody else wrote these rows"),
    ]:
        answer = client.post(address("save_draft"), posted(**fields), content_type="application/json")
        assert answer.status_code == status and sentence in answer.json()["error"]


def test_the_page_hands_in_and_takes_back(esi, save):
    client, address = esi
    save(A, RAIN)
    assert "Your table is handed in" in client.post(address("draft"), {"rows": "1"}, follow=True).content.decode()
    assert "yours again" in client.post(address("draft"), {"take_back": "1"}, follow=True).content.decode()
