from __future__ import annotations

import pytest

from annotation.models import Assignment, AuditEvent, GoldEvent, GoldLabel, Membership, Proposition


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


def test_annotators_are_refused(cast, api, address, cells, cell):
    bob = api(cast.bob)
    for path in (address("gold"), cell()):
        assert bob.get(path).status_code == 403
    assert bob.post(cell(), {"label": "True", "version": ""}, format="json").status_code == 403


def test_gold_tells_how_it_was_made_and_names_nobody_while_open(cast, api, address, cells):
    rows = {row["dimension"]: row for row in api(cast.esi).get(address("gold")).json()["results"]}
    settled, waiting = rows["order"], rows["truth_status"]
    assert (settled["label"], settled["method"], settled["agreement"]) == ("0", "unanimous", 1.0)
    assert [vote["annotator"] for vote in settled["votes"]] == ["bob", "bea", "ben"]
    assert (waiting["label"], waiting["method"], waiting["decided_by"]) == ("", "open", None)
    assert {vote["annotator"] for vote in waiting["votes"]} == {None}
    assert sorted(vote["label"] for vote in waiting["votes"]) == ["False", "True", "Unknown"]


def test_filters(cast, api, address, cells, story):
    esi = api(cast.esi)
    for query, count in (
        ({"method": "open"}, 1),
        ({"dimension": "order"}, 1),
        ({"story": story.uid}, 2),
        ({"story": "a" * 12}, 0),
        ({"category": "Hinting"}, 0),
        ({}, 2),
    ):
        assert esi.get(address("gold"), query).json()["count"] == count, query
    assert esi.get(address("gold"), {"method": "guess"}).status_code == 400


def test_an_expert_who_labels_the_story_sees_none_of_it_before_the_end(cast, api, address, cells, cell, story):
    story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
    Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)
    esi = api(cast.esi)
    assert esi.get(address("gold")).json()["count"] == 0
    assert esi.get(cell()).status_code == 403
    version = api(cast.alice).get(cell()).json()["version"]
    refused = esi.post(cell(), {"label": "True", "version": version}, format="json")
    assert refused.status_code == 422 and "still label this story" in refused.json()["error"]["message"]


def test_a_reader_who_voted_on_a_cell_sees_no_votes_of_it(cast, api, address, cells, cell, story):
    Membership.objects.filter(user=cast.bob).update(role="expert")
    story.assignments.filter(annotator=cast.bob).update(released_at=story.created_at)
    body = api(cast.bob).get(cell()).json()
    assert (body["votes"], body["agreement"]) == (None, None)
    refused = api(cast.bob).post(cell(), {"label": "True", "version": body["version"]}, format="json")
    assert refused.status_code == 422 and "You voted on this cell" in refused.json()["error"]["message"]


def test_a_decision_is_kept_with_its_lineage(cast, api, cells, cell):
    esi = api(cast.esi)
    seen = esi.get(cell()).json()
    body = {
        "label": "True",
        "version": seen["version"],
        "reason": "line 2",
        "error_tag": "slip",
        "guideline_flag": True,
    }
    made = esi.post(cell(), body, format="json").json()
    assert (made["label"], made["method"], made["decided_by"], made["reason"]) == (
        "True",
        "adjudicated",
        "esi",
        "line 2",
    )
    assert made["error_tag"] == "slip" and made["guideline_flag"] and made["version"] != seen["version"]
    assert {vote["annotator"] for vote in made["votes"]} == {"bob", "bea", "ben"}


def test_a_decision_on_what_is_no_longer_so_overwrites_nothing(cast, api, cells, cell):
    esi, alice = api(cast.esi), api(cast.alice)
    version = esi.get(cell()).json()["version"]
    assert esi.post(cell(), {"label": "True", "version": version}, format="json").status_code == 200
    for stale in (version, "", "0" * 20):
        late = alice.post(cell(), {"label": "False", "version": stale, "reason": "no"}, format="json")
        assert late.status_code == 409 and "Nothing was overwritten" in late.json()["error"]["message"]
    assert GoldLabel.objects.get(dimension="truth_status").label == "True"


def test_what_the_rules_refuse_is_422(cast, api, cells, cell):
    esi = api(cast.esi)
    version = esi.get(cell("order")).json()["version"]
    for path, body in (
        (cell("order"), {"label": "1", "version": version}),
        (cell("order"), {"label": "Neutral", "version": version}),
        (cell("context"), {"label": "Neutral", "version": ""}),
    ):
        assert esi.post(path, body, format="json").status_code == 422, body


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"label": "Perhaps"}, "label"),
        ({"reason": "a\x00b"}, "reason"),
        ({"version": 3}, "version"),
        ({"guideline_flag": "yes"}, "guideline_flag"),
        ({"why": "x"}, "why"),
    ],
)
def test_a_bad_field_is_named(cast, api, cells, cell, wrong, field):
    body = {"label": "True", "version": ""} | wrong
    response = api(cast.esi).post(cell(), body, format="json")
    assert response.status_code == 400 and list(response.json()["error"]["fields"]) == [field]


def test_a_cell_that_is_not_there(cast, api, address, cells, cell):
    esi = api(cast.esi)
    assert esi.get(cell("context")).status_code == 404
    assert esi.get(cell("mood")).status_code == 404
    Proposition.objects.filter(pk=cells.pk).update(removed_at=cells.table.created_at)
    assert esi.get(cell()).status_code == 404
    assert esi.get(address("gold")).json()["count"] == 0


def test_no_internal_number_is_shown(cast, api, address, cells):
    text = api(cast.esi).get(address("gold")).content.decode()
    assert '"id"' not in text and '"key"' not in text


def decide(client, path: str, label: str = "True") -> dict:
    """Decide the cell; returns what names it when it is taken back."""
    body = {"label": label, "version": client.get(path).json()["version"], "reason": "line 2"}
    made = client.post(path, body, format="json").json()
    return {name: made[name] for name in ("proposition", "dimension", "revision")}


def test_an_expert_takes_her_last_decision_back_once(cast, api, address, cells, cell):
    esi, undo = api(cast.esi), address("undo_decisions")
    assert esi.get(undo).json() == {"cells": []}
    decided = decide(esi, cell())
    [last] = esi.get(undo).json()["cells"]
    assert decided.items() <= last.items() and last["label"] == "True"
    for _ in range(2):  # sent again it changes nothing
        [stands] = esi.post(undo, {"cells": [decided]}, format="json").json()["cells"]
        assert (stands["method"], stands["label"]) == ("open", "")
    assert GoldEvent.objects.filter(undoes=decided["revision"], by=cast.esi).count() == 1
    assert esi.get(undo).json() == {"cells": []}


@pytest.mark.parametrize(
    ("who", "changed", "status"),
    [
        ("bob", {}, 403),
        ("alice", {}, 422),  # the decision is Esi's
        ("esi", {"revision": 7}, 409),
        ("esi", {"revision": -1}, 400),
        ("esi", {"dimension": "depth"}, 422),
        ("esi", {"proposition": "a" * 12}, 422),
    ],
)
def test_what_is_not_to_be_taken_back_stays(cast, api, address, cells, cell, who, changed, status):
    decided = decide(api(cast.esi), cell())
    body = {"cells": [decided | changed]}
    assert api(getattr(cast, who)).post(address("undo_decisions"), body, format="json").status_code == status
    assert GoldLabel.objects.get(dimension="truth_status").label == "True"


def test_decisions_in_a_story_that_one_labels_again_are_not_told(cast, api, address, cells, cell, story):
    esi, undo = api(cast.esi), address("undo_decisions")
    decided = decide(esi, cell())
    story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
    Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)
    assert esi.get(undo).json() == {"cells": []}
    assert esi.post(undo, {"cells": [decided]}, format="json").json() == {"cells": []}


@pytest.mark.parametrize("revision", [0, 1, 2, 7])
def test_whoever_labels_a_story_again_learns_no_others_decision_there_by_undoing(
    cast, api, address, cells, cell, story, revision
):
    decided = decide(api(cast.alice), cell())
    story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
    Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)
    body = {"cells": [decided | {"revision": revision}]}
    refused = api(cast.esi).post(address("undo_decisions"), body, format="json")
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        422, "You still label this story yourself; finish it first.",
    )  # fmt: skip


def test_a_case_is_filed_for_the_guideline_by_itself(cast, api, address, cells, story):
    esi = api(cast.esi)
    path = address("file_case", proposition=cells.uid, dimension="order")
    for filed in (True, True, False):
        answer = esi.post(path, {"filed": filed}, format="json").json()
        assert (answer["guideline_flag"], answer["label"], answer["method"]) == (filed, "0", "unanimous")
    told = AuditEvent.objects.filter(action__startswith="guideline_case.").order_by("id")
    assert [(event.action, event.actor) for event in told] == [
        ("guideline_case.filed", cast.esi), ("guideline_case.removed", cast.esi),
    ]  # fmt: skip
    assert api(cast.bob).post(path, {"filed": True}, format="json").status_code == 403
    assert esi.post(path, {"filed": "yes"}, format="json").status_code == 400
    unsettled = address("file_case", proposition=cells.uid, dimension="context")
    assert esi.post(unsettled, {"filed": True}, format="json").status_code == 422
