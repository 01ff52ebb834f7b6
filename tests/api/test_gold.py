"""Gold over the API: read, decided, taken back, and many open cells at once."""

import pytest

from annotation.models import AuditEvent, GoldEvent, GoldLabel, Membership, Proposition


@pytest.fixture
def cells(story, cast_vote):
    """An open cell (truth_status) and a settled one (order) of the first proposition, which is returned."""
    proposition = Proposition.objects.gold_of(story).first()
    for assignment, truth in zip(story.assignments.all(), ["True", "False", "Unknown"], strict=True):
        cast_vote(assignment, proposition, "truth_status", truth)
        cast_vote(assignment, proposition, "order", "0")
    return proposition


@pytest.fixture
def cell(address, cells):
    def make(dimension: str = "truth_status") -> str:
        return address("cell", proposition=cells.uid, dimension=dimension)

    return make


@pytest.fixture
def esi(cast, api):
    return api(cast.esi)


def message_of(response, status: int) -> str:
    assert response.status_code == status, response.content
    return response.json()["error"]["message"]


def decide(client, path: str, label: str = "True", **fields):
    body = {"label": label, "version": client.get(path).json()["version"], "reason": "line 2"} | fields
    return client.post(path, body, format="json")


def undoable(made) -> dict:
    return {name: made.json()[name] for name in ("proposition", "dimension", "revision")}


def test_gold_is_filtered_tells_how_it_was_made_and_names_nobody_while_open(cast, api, esi, address, cells, story):
    response = esi.get(address("gold"))
    rows = {row["dimension"]: row for row in response.json()["results"]}
    settled, waiting = rows["order"], rows["truth_status"]
    assert (settled["label"], settled["method"], settled["agreement"]) == ("0", "unanimous", 1.0)
    assert [vote["annotator"] for vote in settled["votes"]] == ["bob", "bea", "ben"]
    assert (waiting["label"], waiting["method"], waiting["decided_by"]) == ("", "open", None)
    assert {vote["annotator"] for vote in waiting["votes"]} == {None}
    assert sorted(vote["label"] for vote in waiting["votes"]) == ["False", "True", "Unknown"]
    assert b'"id"' not in response.content and b'"key"' not in response.content
    for query, count in (
        ({"method": "open"}, 1),
        ({"dimension": "order"}, 1),
        ({"story": story.uid}, 2),
        ({"story": "a" * 12}, 0),
        ({"category": "Hinting"}, 0),
    ):
        assert esi.get(address("gold"), query).json()["count"] == count, query
    assert esi.get(address("gold"), {"method": "guess"}).status_code == 400


def test_who_may_not_know_votes_is_told_none(cast, api, esi, address, cells, cell, story, label_again):
    """Annotators, an expert who labels the story, and a reader who voted on the cell."""
    bob, undo = api(cast.bob), address("undo_decisions")
    for path in (address("gold"), cell()):
        assert bob.get(path).status_code == 403
    assert bob.post(cell(), {"label": "True", "version": ""}, format="json").status_code == 403
    Membership.objects.filter(user=cast.bob).update(role="expert")
    story.assignments.filter(annotator=cast.bob).update(released_at=story.created_at)
    body = bob.get(cell()).json()
    assert (body["votes"], body["agreement"]) == (None, None)
    assert "You voted on this cell" in message_of(decide(bob, cell()), 422)
    decided = undoable(decide(esi, cell()))
    label_again()
    assert esi.get(address("gold")).json()["count"] == 0 and esi.get(cell()).status_code == 403
    version = api(cast.alice).get(cell()).json()["version"]
    refused = esi.post(cell(), {"label": "False", "version": version}, format="json")
    assert "still label this story" in message_of(refused, 422)
    assert esi.get(undo).json() == {"cells": []}
    assert esi.post(undo, {"cells": [decided]}, format="json").json() == {"cells": []}
    overruled = undoable(decide(api(cast.alice), cell(), "False"))
    for revision in (0, 1, 2, overruled["revision"], 7):  # she learns nothing by trying
        refused = esi.post(undo, {"cells": [overruled | {"revision": revision}]}, format="json")
        assert message_of(refused, 422) == "You still label this story yourself; finish it first.", revision


def test_a_decision_is_kept_with_its_lineage_and_overwrites_only_what_was_seen(cast, api, esi, cells, cell):
    version = esi.get(cell()).json()["version"]
    made = decide(esi, cell(), error_tag="slip", guideline_flag=True).json()
    assert (made["label"], made["method"], made["decided_by"], made["reason"]) == (
        "True", "adjudicated", "esi", "line 2",
    )  # fmt: skip
    assert made["error_tag"] == "slip" and made["guideline_flag"] and made["version"] != version
    assert {vote["annotator"] for vote in made["votes"]} == {"bob", "bea", "ben"}
    for stale in (version, "", "0" * 20):
        late = decide(api(cast.alice), cell(), "False", version=stale)
        assert "Nothing was overwritten" in message_of(late, 409), stale
    assert GoldLabel.objects.get(dimension="truth_status").label == "True"


def test_what_is_wrong_with_a_decision_is_said(esi, address, cells, cell):
    for wrong, field in (
        ({"label": "Perhaps"}, "label"),
        ({"reason": "a\x00b"}, "reason"),
        ({"version": 3}, "version"),
        ({"guideline_flag": "yes"}, "guideline_flag"),
        ({"why": "x"}, "why"),
    ):
        response = decide(esi, cell(), **wrong)
        assert response.status_code == 400 and list(response.json()["error"]["fields"]) == [field], wrong
    for dimension, label in (("order", "1"), ("order", "Neutral")):
        assert decide(esi, cell(dimension), label, reason="").status_code == 422, label
    refused = esi.post(cell("context"), {"label": "Neutral", "version": ""}, format="json")
    assert refused.status_code == 422  # it waits for votes
    assert esi.get(cell("context")).status_code == esi.get(cell("mood")).status_code == 404
    Proposition.objects.filter(pk=cells.pk).update(removed_at=cells.table.created_at)
    assert esi.get(cell()).status_code == 404 and esi.get(address("gold")).json()["count"] == 0


def test_an_expert_takes_her_own_last_decision_back_once(cast, api, esi, address, cells, cell):
    undo = address("undo_decisions")
    assert esi.get(undo).json() == {"cells": []}
    decided = undoable(decide(esi, cell()))
    [last] = esi.get(undo).json()["cells"]
    assert decided.items() <= last.items() and last["label"] == "True"
    for who, changed, status in (
        (cast.bob, {}, 403),
        (cast.alice, {}, 422),
        (cast.esi, {"revision": 7}, 409),
        (cast.esi, {"revision": -1}, 400),
        (cast.esi, {"dimension": "depth"}, 422),
        (cast.esi, {"proposition": "a" * 12}, 422),
    ):
        assert api(who).post(undo, {"cells": [decided | changed]}, format="json").status_code == status, changed
    assert GoldLabel.objects.get(dimension="truth_status").label == "True"
    for _ in range(2):  # sent again it changes nothing
        [stands] = esi.post(undo, {"cells": [decided]}, format="json").json()["cells"]
        assert (stands["method"], stands["label"]) == ("open", "")
    assert GoldEvent.objects.filter(undoes=decided["revision"], by=cast.esi).count() == 1
    assert esi.get(undo).json() == {"cells": []}


def test_a_case_is_filed_for_the_guideline_by_itself(cast, api, esi, address, cells):
    path = address("file_case", proposition=cells.uid, dimension="order")
    for filed in (True, True, False):
        answer = esi.post(path, {"filed": filed}, format="json").json()
        assert (answer["guideline_flag"], answer["label"], answer["method"]) == (filed, "0", "unanimous")
    told = AuditEvent.objects.filter(action__startswith="guideline_case.").order_by("id")
    assert [(event.action.partition(".")[2], event.actor) for event in told] == [
        ("filed", cast.esi), ("removed", cast.esi),
    ]  # fmt: skip
    assert api(cast.bob).post(path, {"filed": True}, format="json").status_code == 403
    assert esi.post(path, {"filed": "yes"}, format="json").status_code == 400
    unsettled = address("file_case", proposition=cells.uid, dimension="context")
    assert esi.post(unsettled, {"filed": True}, format="json").status_code == 422


# --- many at once


@pytest.fixture
def voted(cast, story, cast_vote):
    """Open: order of both propositions 2:1, truth_status of the first 1:1:1."""
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    first, second = Proposition.objects.gold_of(story)
    for one, order, truth in zip(story.assignments.all(), ("1", "1", "2"), ("True", "False", "Unknown"), strict=True):
        cast_vote(one, first, "order", order)
        cast_vote(one, second, "order", order)
        cast_vote(one, first, "truth_status", truth)


def adjudicated(*fields: str) -> set[tuple]:
    return set(GoldLabel.objects.filter(method="adjudicated").values_list(*fields))


def test_majorities_are_previewed_and_accepted(cast, api, esi, address, voted):
    path = address("majorities")
    seen = esi.get(path).json()
    assert (seen["total"], seen["by_dimension"], seen["tied"], seen["voted_on"]) == (2, {"order": 2}, 1, 0)
    assert esi.get(path, {"dimension": "truth_status"}).json()["total"] == 0 and not adjudicated("pk")
    until = {"seen_until": seen["seen_until"]}
    for body, settled in (
        (until | {"dimension": "truth_status"}, 0),
        ({"seen_until": "2020-01-01T00:00:00Z"}, 0),  # all of it came later
        (until, 2),
    ):
        assert esi.post(path, body, format="json").json() == {"settled": settled}
    assert adjudicated("label", "decided_by") == {("1", cast.esi.pk)}
    assert api(cast.bob).get(path).status_code == api(cast.bob).post(path, until, format="json").status_code == 403


def test_cells_that_are_alike_are_decided_all_or_none(cast, api, esi, address, voted):
    path = address("alike")
    rows = esi.get(address("gold"), {"method": "open", "dimension": "order"}).json()["results"]
    cells = [{"proposition": row["proposition"], "version": row["version"]} for row in rows]
    body = {"dimension": "order", "label": "2", "reason": "Two minds.", "cells": cells}
    for wrong, statuses in (
        ({"cells": [cells[0], cells[1] | {"version": "0" * 20}]}, {409}),
        ({"label": "True"}, {422, 409}),
        ({"dimension": "depth"}, {422, 409}),
        ({"reason": " "}, {400}),
    ):
        assert esi.post(path, body | wrong, format="json").status_code in statuses, wrong
    assert not adjudicated("pk")
    assert esi.post(path, body, format="json").json() == {"settled": 2}
    assert adjudicated("dimension", "label", "reason") == {("order", "2", "Two minds.")}
    assert api(cast.bob).post(path, body, format="json").status_code == 403
