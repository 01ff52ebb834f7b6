"""Drafts of belief tables and their pairs by the API: what two experts do on the pages, with the same refusals."""

import pytest
from django.utils import timezone

from annotation.models import Membership, Proposition

ROW, LAST = "k7m2p9x4c3ta", "k7m2p9x4c3tb"


@pytest.fixture
def bare(make_story):
    story = make_story()
    story.tables.all().delete()
    return story


@pytest.fixture
def experts(cast, api):
    """Clients of Esi and of Ben, who is an expert, too."""
    Membership.objects.filter(user=cast.ben).update(role="expert")
    cast.project.table_experts = 2
    cast.project.save()
    return api(cast.esi), api(cast.ben)


def changed(uid: str, key: str, base=None, **state) -> dict:
    state = {"actor": "Ines", "belief": "It rains", "order": "1", "remark": "", "place": 1.0} | state
    change = {"row": uid, "state": state, "changed_at": timezone.now(), "idempotency_key": key}
    return {"changes": [change | ({"base": base} if base else {})]}


def write(client, url: str, body: dict) -> dict:
    answer = client.post(url, body, format="json")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def seen(row: dict, last: str = "status") -> dict:
    return {name: row[name] for name in ("actor", "belief", "order", "remark", "place", last)}


def hand_in(experts, bare, address, *beliefs: str) -> list[dict]:
    """Both write a row and hand in; returns the pairs that are opened then."""
    for client, uid, belief in zip(experts, (ROW, LAST), beliefs, strict=True):
        write(client, address("draft", bare), changed(uid, "one", belief=belief))
        assert client.get(address("pairs", bare)).json()["rows"] == []
        written = write(client, address("draft_action", bare, action="hand-in"), {})
        assert [row["belief"] for row in written["rows"]] == [belief]
        assert written["handed_in_at"] and written["closed"]
    return write(experts[0], address("pairs_action", bare, action="open"), {})["rows"]


def test_two_experts_come_from_drafts_to_a_gold_table(experts, bare, address):
    pairs = address("pairs", bare)
    [row] = hand_in(experts, bare, address, "It rains", "It rains now")
    assert (row["kind"], row["a"]["belief"], row["b"]["belief"]) == ("reworded", "It rains", "It rains now")
    decided = write(experts[0], pairs, changed(row["row"], "two", base=seen(row), status="kept"))
    assert decided["rows"][0]["decided_by"] == "esi"
    late = write(experts[1], pairs, changed(row["row"], "three", base=seen(row), status="dropped"))
    assert late["rows"][0]["quicker"] == "esi" and late["rows"][0]["status"] == "kept"
    assert write(experts[0], address("pairs_action", bare, action="agree"), {})["agreed"] == ["esi"]
    assert write(experts[0], address("pairs_action", bare, action="finish"), {})["settled"]
    assert Proposition.objects.gold_of(bare).get().belief == "It rains"


def test_rows_are_linked_and_separated(experts, bare, address):
    rows = hand_in(experts, bare, address, "It rains", "The sun is out today")
    assert [row["kind"] for row in rows] == ["only-a", "only-b"]
    link = address("link_pairs", bare)
    body = {"row": rows[0]["row"], "other": rows[1]["row"], "idempotency_key": "k1"}
    [both] = [write(experts[0], link, body) for _ in range(2)][-1]["rows"]
    assert both["a"] and both["b"]
    assert len(write(experts[0], link, {"row": both["row"], "idempotency_key": "k2"})["rows"]) == 2


def test_a_draft_is_of_its_expert_alone_and_keeps_all_words(experts, bare, address, cast, api):
    url, (client, other) = address("draft", bare), experts
    assert client.post(address("pairs_action", bare, action="open"), {}, format="json").status_code == 422
    assert client.post(address("pairs_action", bare, action="fly"), {}, format="json").status_code == 404
    body = {"row": ROW, "other": LAST, "idempotency_key": "k"}
    assert client.post(address("link_pairs", bare), body, format="json").status_code == 422
    assert client.post(url, changed(ROW, "one", actor="x" * 201), format="json").status_code == 400
    [row] = [write(client, url, changed(ROW, "one")) for _ in range(2)][-1]["rows"]  # what comes twice counts once
    for key, belief in (("two", "It hails"), ("three", "It snows")):
        rows = write(client, url, changed(ROW, key, base=seen(row, "removed"), belief=belief))["rows"]
    assert [row["belief"] for row in rows] == ["It hails", "It snows"]
    assert other.get(url).json()["rows"] == []
    assert api(cast.bob).get(url).status_code == 403
    assert api(cast.charlie).get(address("pairs", bare)).status_code == 404
