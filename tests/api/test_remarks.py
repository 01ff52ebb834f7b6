"""Comments and flags over the API: one's own, and experts' answers."""

import pytest

from annotation.models import AuditEvent, CellComment, Proposition, PropositionFlag

ONCE = {"Idempotency-Key": "k"}


@pytest.fixture
def proposition(story) -> Proposition:
    return Proposition.objects.gold_of(story).first()


def test_a_comment_is_said_once_answered_by_an_expert_and_read_by_whose_thread_it_is(
    cast, api, address, story, proposition, cast_vote, label_again
):
    bob, esi, path = api(cast.bob), api(cast.esi), address("comments", story)
    body = {"proposition": proposition.uid, "dimension": "order", "text": "Is this 1?"}
    first, again = (bob.post(path, body, format="json", headers=ONCE) for _ in range(2))
    assert first.status_code == 201 and first.json() == again.json()
    assert (first.json()["by"], first.json()["text"]) == ("bob", "Is this 1?")
    asked = CellComment.objects.get()
    assert asked.thread_of == cast.bob
    assert esi.get(path).status_code == 404  # does not label it

    threads = address("threads", proposition=proposition.uid, dimension="order")
    rows = esi.get(threads).json()["results"]
    assert [(one["by"], one["text"]) for one in rows] == [(None, "Is this 1?")], "no name while the cell is open"
    reply = {"thread": asked.uid, "text": "Yes."}
    first, again = (esi.post(threads, reply, format="json", headers=ONCE) for _ in range(2))
    assert first.status_code == 201 and first.json() == again.json()
    assert (first.json()["by"], first.json()["thread"]) == ("esi", asked.uid)
    assert CellComment.objects.get(author=cast.esi).thread_of == cast.bob
    assert [(one["by"], one["text"]) for one in bob.get(path).json()["results"]][1] == ("esi", "Yes.")
    assert api(cast.bea).get(path).json()["count"] == 0
    for assignment in story.assignments.all():
        cast_vote(assignment, proposition, "order", "1")
    assert [one["by"] for one in esi.get(threads).json()["results"]] == ["bob", "esi"]

    bea = api(cast.bea)
    assert bea.get(threads).status_code == bea.post(threads, reply, format="json").status_code == 403
    elsewhere = address("threads", proposition=proposition.uid, dimension="truth_status")
    for where, changed, status in (
        (elsewhere, {}, 422),
        (threads, {"thread": "a" * 12}, 422),
        (threads, {"text": ""}, 400),
    ):
        assert esi.post(where, reply | changed, format="json").status_code == status, changed
    label_again()
    assert esi.get(threads).status_code == esi.post(threads, reply, format="json").status_code == 404
    assert CellComment.objects.count() == 2


def test_a_flag_is_raised_answered_once_and_told_of(cast, api, address, story, proposition, label_again):
    bob, esi, path = api(cast.bob), api(cast.esi), address("own_flags", story)
    body = {"proposition": proposition.uid, "kind": "split", "remark": "It says two things."}
    made = bob.post(path, body, format="json")
    assert made.status_code == 201 and made.json()["outcome"] == ""
    refused = bob.post(path, body, format="json")
    assert refused.status_code == 422 and "flagged this proposition" in refused.json()["error"]["message"]
    assert esi.get(address("flags"), {"outcome": "open"}).json()["results"] == [made.json()]
    one = address("flag", flag=made.json()["flag"])
    assert bob.post(one, {"outcome": "accepted"}, format="json").status_code == 403
    answered = esi.post(one, {"outcome": "accepted", "text": "Split now."}, format="json").json()
    assert (answered["outcome"], answered["outcome_by"], answered["outcome_text"]) == ("accepted", "esi", "Split now.")
    late = esi.post(one, {"outcome": "declined"}, format="json")
    assert late.status_code == 409 and PropositionFlag.objects.get().outcome == "accepted"
    assert bob.get(path).json()["results"][0]["outcome_text"] == "Split now."
    assert esi.get(address("flags"), {"outcome": "open"}).json()["count"] == 0
    assert AuditEvent.objects.get(action="flag.accepted").actor == cast.esi
    label_again()
    assert esi.get(address("flags")).json()["count"] == 0
    assert esi.post(one, {"outcome": "accepted"}, format="json").status_code == 404


def test_what_does_not_fit_is_refused_at_its_field(cast, api, address, story, proposition):
    said = {"comments": {"dimension": "order", "text": "?"}, "own_flags": {"kind": "split", "remark": "Two."}}
    for name, changed, status in (
        ("comments", {"text": " "}, 400),
        ("comments", {"dimension": "depth"}, 422),
        ("comments", {"proposition": "a" * 12}, 422),
        ("own_flags", {"kind": "burn"}, 400),
        ("own_flags", {"remark": "\x00"}, 400),
        ("own_flags", {"proposition": "a" * 12}, 422),
    ):
        body = {"proposition": proposition.uid} | said[name] | changed
        answer = api(cast.bob).post(address(name, story), body, format="json")
        assert answer.status_code == status and set(answer.json()["error"]["fields"]) == set(changed), changed
    assert not CellComment.objects.exists() and not PropositionFlag.objects.exists()
