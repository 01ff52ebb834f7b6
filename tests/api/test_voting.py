from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Proposition, Vote, VoteEvent


def test_votes_are_saved_once_and_only_ones_own_are_shown(cast, api, address, story, change):
    proposition = Proposition.objects.gold_of(story).first()
    bob, bea = api(cast.bob), api(cast.bea)
    body = {"changes": [change(proposition)]}
    first, again = (bob.post(address("votes", story), body, format="json") for _ in range(2))
    assert first.status_code == 200 and first.json() == again.json()
    (saved,) = first.json()["saved"]
    assert (saved["idempotency_key"], saved["label"], saved["applied"]) == ("k1", "0", True)
    assert Vote.objects.count() == VoteEvent.objects.count() == 1
    assert VoteEvent.objects.get().origin == "api"
    assert [row["label"] for row in bob.get(address("votes", story)).json()["results"]] == ["0"]
    assert bea.get(address("votes", story)).json()["results"] == []


@pytest.mark.parametrize("person", ["esi", "alice", "charlie"])
def test_who_does_not_label_the_story_neither_reads_nor_saves_votes(cast, api, address, story, change, person):
    client = api(getattr(cast, person))
    body = {"changes": [change(Proposition.objects.gold_of(story).first())]}
    assert client.get(address("votes", story)).status_code == 404
    assert client.post(address("votes", story), body, format="json").status_code == 404
    assert not Vote.objects.exists()


def test_an_answer_does_not_tell_how_others_voted(cast, api, address, story, change, cast_vote):
    first, second = Proposition.objects.gold_of(story)
    bea = story.assignments.get(annotator=cast.bea)
    bob = api(cast.bob)
    counts, answers = [], []
    cast_vote(bea, first, "order", "0")
    cast_vote(bea, second, "order", "1")
    for at, proposition in enumerate((first, second)):
        body = {"changes": [change(proposition, key=f"k{at}")]}
        with CaptureQueriesContext(connection) as captured:
            answers.append(bob.post(address("votes", story), body, format="json").json()["saved"][0])
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert {(one["label"], one["applied"]) for one in answers} == {("0", True)}


def test_a_batch_is_all_or_nothing(cast, api, address, story, change):
    first, second = Proposition.objects.gold_of(story)
    changes = [change(first), change(second, label="9", key="k2")]
    response = api(cast.bob).post(address("votes", story), {"changes": changes}, format="json")
    assert response.status_code == 400
    assert response.json()["error"]["fields"] == {
        "changes[1].label": ["'9' is not a label of order; expected one of 0, 1, 2, 3, or nothing to withdraw."]
    }
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"label": "0\x00"}, "label"),
        ({"label": 0}, "label"),
        ({"idempotency_key": "a\x00b"}, "idempotency_key"),
        ({"idempotency_key": "key\n"}, "idempotency_key"),
        ({"idempotency_key": "x" * 65}, "idempotency_key"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"dimension": "mood"}, "dimension"),
        ({"dimension": ["order"]}, "dimension"),
        ({"changed_at": "yesterday"}, "changed_at"),
        ({"changed_at": "2026-10-05T09:30:00"}, "changed_at"),
        ({"changed_at": "0001-01-01T00:00:00+05:00"}, "changed_at"),
        ({"changed_at": 10**30}, "changed_at"),
        ({"duration_ms": -1}, "duration_ms"),
        ({"duration_ms": 10**30}, "duration_ms"),
        ({"duration_ms": "5"}, "duration_ms"),
        ({"duration_ms": 1e400}, "duration_ms"),
        ({"proposition": "x" * 13}, "proposition"),
        ({"annotator": 1}, "annotator"),
    ],
)
def test_a_bad_field_is_named(cast, api, address, story, change, wrong, field):
    body = json.dumps({"changes": [change(Proposition.objects.gold_of(story).first()) | wrong]})
    body = body.replace("Infinity", "1e400")
    response = api(cast.bob).post(address("votes", story), body, content_type="application/json")
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [f"changes[0].{field}"]


def test_a_lone_surrogate_is_a_bad_field(cast, api, address, story, change):
    body = json.dumps({"changes": [change(Proposition.objects.gold_of(story).first()) | {"label": "\ud800"}]})
    response = api(cast.bob).post(address("votes", story), body, content_type="application/json")
    assert response.status_code == 400 and "changes[0].label" in response.json()["error"]["fields"]


@pytest.mark.parametrize("count", [0, 201])
def test_a_batch_has_1_to_200_changes(cast, api, address, story, change, count):
    proposition = Proposition.objects.gold_of(story).first()
    body = {"changes": [change(proposition, key=f"k{at}") for at in range(count)]}
    response = api(cast.bob).post(address("votes", story), body, format="json")
    assert response.status_code == 400 and "changes" in response.json()["error"]["fields"]


def test_what_the_rules_refuse_is_422(cast, api, address, story, change, make_story):
    proposition, other = Proposition.objects.gold_of(story)
    elsewhere = Proposition.objects.gold_of(make_story(2)).first()
    bob, path = api(cast.bob), address("votes", story)
    tomorrow = (timezone.now() + timedelta(days=2)).isoformat()
    for wrong in (
        change(elsewhere),
        change(proposition, changed_at="1999-12-31T00:00:00Z"),
        change(proposition, changed_at=tomorrow),
    ):
        assert bob.post(path, {"changes": [wrong]}, format="json").status_code == 422
    assert bob.post(path, {"changes": [change(proposition)]}, format="json").status_code == 200
    reused = bob.post(path, {"changes": [change(other)]}, format="json")
    assert reused.status_code == 422 and "used for another cell" in reused.json()["error"]["message"]


def test_warnings_tell_of_odd_labels_and_refuse_nothing(cast, api, address, story, change):
    ines = Proposition.objects.gold_of(story)[1]
    response = api(cast.bob).post(address("votes", story), {"changes": [change(ines)]}, format="json")
    (warning,) = response.json()["warnings"]
    assert (warning["proposition"], warning["dimension"]) == (ines.uid, "order")
    assert Vote.objects.get().label == "0"


def test_assignments_tell_the_progress(cast, api, address, story, change):
    bob = api(cast.bob)
    bob.post(address("votes", story), {"changes": [change(Proposition.objects.gold_of(story).first())]}, format="json")
    (row,) = bob.get(address("assignments")).json()["results"]
    assert (row["story"], row["cells"], row["labelled"], row["finished"]) == (story.uid, 14, 1, False)
    assert api(cast.esi).get(address("assignments")).json()["results"] == []
