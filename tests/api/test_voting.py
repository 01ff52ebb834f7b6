import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Proposition, Vote, VoteEvent


@pytest.fixture
def rows(story):
    return list(Proposition.objects.gold_of(story))


@pytest.fixture
def send(cast, api, address, story):
    """Sends changes as Bob: `send(one, another)`."""
    bob, path = api(cast.bob), address("votes", story)
    return lambda *changes: bob.post(path, {"changes": changes}, format="json")


def test_votes_are_saved_once_and_only_ones_own_are_shown(cast, api, address, story, rows, change, send):
    body = change(rows[1])
    first, again = send(body), send(body)
    assert first.status_code == 200 and first.json() == again.json()
    (saved,) = first.json()["saved"]
    assert (saved["idempotency_key"], saved["label"], saved["applied"]) == ("k1", "0", True)
    # an odd label is told of and not refused
    (warning,) = first.json()["warnings"]
    assert (warning["proposition"], warning["dimension"]) == (rows[1].uid, "order")
    assert Vote.objects.count() == VoteEvent.objects.count() == 1
    assert VoteEvent.objects.get().origin == "api"
    bob = api(cast.bob)
    assert [row["label"] for row in bob.get(address("votes", story)).json()["results"]] == ["0"]
    assert api(cast.bea).get(address("votes", story)).json()["results"] == []
    (row,) = bob.get(address("assignments")).json()["results"]
    assert (row["story"], row["cells"], row["labelled"], row["finished"]) == (story.uid, 14, 1, False)
    assert api(cast.esi).get(address("assignments")).json()["results"] == []
    for person in (cast.esi, cast.alice, cast.charlie):  # who does not label the story
        client = api(person)
        assert client.get(address("votes", story)).status_code == 404
        assert client.post(address("votes", story), {"changes": [body]}, format="json").status_code == 404


def test_an_answer_does_not_tell_how_others_voted(cast, story, rows, change, send, cast_vote):
    bea = story.assignments.get(annotator=cast.bea)
    counts, answers = [], []
    for row, label in zip(rows, "01", strict=True):
        cast_vote(bea, row, "order", label)
    for at, row in enumerate(rows):
        with CaptureQueriesContext(connection) as captured:
            answers.append(send(change(row, key=f"k{at}")).json()["saved"][0])
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert {(one["label"], one["applied"]) for one in answers} == {("0", True)}


def test_a_bad_change_is_named_and_its_batch_refused_whole(cast, api, address, story, rows, change, send):
    response = send(change(rows[0]), change(rows[1], label="9", key="k2"))
    assert response.status_code == 400
    assert response.json()["error"]["fields"] == {
        "changes[1].label": ["'9' is not a label of order; expected one of 0, 1, 2, 3, or nothing to withdraw."]
    }
    bob = api(cast.bob)
    for field, values in {
        "label": ("0\x00", 0, "\ud800"),
        "idempotency_key": ("a\x00b", "key\n", "x" * 65, ""),
        "dimension": ("mood", ["order"]),
        "changed_at": ("yesterday", "2026-10-05T09:30:00", "0001-01-01T00:00:00+05:00", 10**30),
        "duration_ms": (-1, 10**30, "5", 1e400),
        "proposition": ("x" * 13,),
        "annotator": (1,),
    }.items():
        for value in values:
            body = json.dumps({"changes": [change(rows[0]) | {field: value}]}).replace("Infinity", "1e400")
            response = bob.post(address("votes", story), body, content_type="application/json")
            assert response.status_code == 400, (field, value)
            assert list(response.json()["error"]["fields"]) == [f"changes[0].{field}"], value
    for count in (0, 201):
        response = send(*(change(rows[0], key=f"k{at}") for at in range(count)))
        assert response.status_code == 400 and "changes" in response.json()["error"]["fields"], count
    assert not Vote.objects.exists()


def test_what_the_rules_refuse_is_422(rows, change, send, make_story):
    elsewhere = Proposition.objects.gold_of(make_story(2)).first()
    tomorrow = (timezone.now() + timedelta(days=2)).isoformat()
    for wrong in (
        change(elsewhere),
        change(rows[0], changed_at="1999-12-31T00:00:00Z"),
        change(rows[0], changed_at=tomorrow),
    ):
        assert send(wrong).status_code == 422
    assert send(change(rows[0])).status_code == 200
    reused = send(change(rows[1]))
    assert reused.status_code == 422 and "used for another cell" in reused.json()["error"]["message"]
