"""An expert's own draft: saved change by change, undone, handed in and taken back."""

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
HAIL, SNOW = replace(RAIN, belief="It hails"), replace(RAIN, belief="It snows")
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
def draft(story, cast):
    """Esi's draft as it stands."""
    return lambda: drafts.own_draft(story=story, expert=cast.esi)


def test_a_change_that_comes_twice_counts_once_and_two_windows_lose_no_words(save, draft):
    for _ in range(2):
        save(A, RAIN, key="same")
    assert (DraftRow.objects.count(), DraftEvent.objects.count()) == (1, 1)
    save(A, HAIL, RAIN)
    state, (_, copy) = save(A, SNOW, RAIN)
    assert state.belief == "It hails" and copy.belief == "It snows"
    assert [row.belief for row in live_rows(draft())] == ["It hails", "It snows"]


def test_what_is_no_row_of_ones_own_is_refused(save, cast):
    for state, sentence in (({"belief": "x" * 2001}, "2001 characters"), ({"actor": "a\x00"}, "NUL")):
        with pytest.raises(Refused, match=sentence):
            save(A, replace(RAIN, **state))
    assert not DraftEvent.objects.exists()
    save(A, RAIN)
    with pytest.raises(Refused, match="another table"):
        save(A, RAIN, by=cast.ben)
    assert BeliefTable.objects.drafts().count() == 1
    save(B, RAIN, by=cast.ben)
    with pytest.raises(Refused, match="two other experts"):  # as many as the project wants
        save("c" * 12, RAIN, by=cast.bea)
    assert sorted(BeliefTable.objects.drafts().values_list("slot", flat=True)) == [1, 2]


def test_undo_goes_back_and_forth_over_actions_of_many_rows(save, draft):
    save(A, RAIN)
    split = {"action": "split", "kind": "split"}
    left, right = replace(RAIN, belief="It"), replace(RAIN, belief="rains", place=2)
    save(A, left, RAIN, **split)
    save(B, right, **split)
    _, rows = last_step(table=draft())
    assert rows == {A: RAIN, B: replace(right, removed=True)}
    for uid, state in rows.items():
        save(uid, state, {A: left, B: right}[uid], action="undo", kind="undo", undoes="split")
    assert [row.belief for row in live_rows(draft())] == ["It rains"]
    assert last_step(table=draft(), redo=True) == ("undo", {A: left, B: right})


def test_letters_of_one_burst_are_one_step_and_versions_tell_how_the_table_stood(save, draft):
    save(A, replace(RAIN, belief="I"), action="burst")
    save(A, RAIN, replace(RAIN, belief="I"), action="burst")
    table, first = draft(), DraftEvent.objects.last().pk
    assert last_step(table=table)[1][A].removed
    save(A, SNOW, RAIN)
    assert rows_at(table, first) == {A: RAIN}
    assert [rows for *_, rows in drafts.versions_of(table)] == [1]


def test_a_table_is_handed_in_whole_and_taken_back_until_it_is_opened(save, story, cast):
    own = {"by": cast.esi, "story": story}
    save(A, replace(RAIN, actor=""))
    with pytest.raises(Refused, match="Row 1 has no actor"):
        hand_in(**own, now=NOW)
    save(A, RAIN)
    with pytest.raises(Refused, match="1 rows by now, not 2"):
        hand_in(**own, now=NOW, rows=2)
    hand_in(**own, now=NOW, rows=1)
    with pytest.raises(Refused, match="take it back"):
        save(A, RAIN)
    take_back(**own)
    save(A, SNOW, RAIN)
    hand_in(**own, now=NOW)
    BeliefTable.objects.filter(author=cast.esi).update(opened_at=NOW)
    with pytest.raises(Refused, match="was opened"):
        take_back(**own)


def test_the_page_saves_warns_refuses_hands_in_and_takes_back(client, cast, story):
    client.force_login(cast.esi)

    def address(view: str) -> str:
        return reverse(f"annotation:{view}", args=["minds", story.uid])

    def post(annotator=None, **fields):
        state = {"actor": "Ines", "belief": "She left", "order": "1", "remark": "", "place": 1, "removed": False}
        change = {"row": A, "base": None, "state": state, "idempotency_key": "k", "action": "k", "kind": "type"}
        body = {"annotator": annotator, "changes": [change | {"changed_at": NOW.isoformat()} | fields]}
        return client.post(address("save_draft"), body, content_type="application/json")

    for fields, status, sentence in (
        ({"row": "A"}, 400, "changes[0].row"),
        ({"kind": "burn"}, 400, "changes[0].kind"),
        ({"state": {"place": "first"}}, 400, "changes[0].state.place"),
        ({"annotator": cast.bob.pk}, 409, "Somebody else wrote these rows"),
    ):
        answer = post(**fields)
        assert answer.status_code == status and sentence in answer.json()["error"]
    empty = {"data": {"changes": [{}]}, "content_type": "application/json"}
    answer = client.post(address("save_draft"), **empty, HTTP_ACCEPT_LANGUAGE="zh-CN")
    assert answer.status_code == 400 and answer.json()["error"].startswith("changes[0]：缺少字段")

    answer = post().json()
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
    for form, sentence in (({"rows": "1"}, "Your table is handed in"), ({"take_back": "1"}, "yours again")):
        assert sentence in client.post(address("draft"), form, follow=True).content.decode()
