"""Comments and flags over the API: one's own, and experts' answers."""

from __future__ import annotations

import pytest

from annotation.models import Assignment, AuditEvent, CellComment, Proposition, PropositionFlag


@pytest.fixture
def proposition(story) -> Proposition:
    return Proposition.objects.gold_of(story).first()


def test_a_comment_is_said_once_and_read_by_whose_thread_it_is(cast, api, address, story, proposition):
    bob, path = api(cast.bob), address("comments", story)
    body = {"proposition": proposition.uid, "dimension": "order", "text": "Is this 1?"}
    first, again = (bob.post(path, body, format="json", headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.status_code == 201 and first.json() == again.json()
    assert (first.json()["by"], first.json()["text"]) == ("bob", "Is this 1?")
    assert CellComment.objects.get().thread_of == cast.bob
    CellComment.objects.create(
        proposition=proposition, dimension="order", text="Yes.", author=cast.esi, thread_of=cast.bob
    )
    assert [one["by"] for one in bob.get(path).json()["results"]] == ["bob", "esi"]
    assert api(cast.bea).get(path).json()["count"] == 0
    assert api(cast.esi).get(path).status_code == 404  # does not label it


def test_a_flag_is_raised_answered_and_told_of(cast, api, address, story, proposition):
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


def test_who_still_labels_the_story_sees_nobodys_flags_there(cast, api, address, story, proposition):
    flag = PropositionFlag.objects.create(proposition=proposition, author=cast.bob, kind="split", remark="Two.")
    story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
    Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)
    esi = api(cast.esi)
    assert esi.get(address("flags")).json()["count"] == 0
    assert esi.post(address("flag", flag=flag.uid), {"outcome": "accepted"}, format="json").status_code == 404


@pytest.fixture
def asked(cast, story, proposition) -> CellComment:
    """Bob's question about an order; he has voted, and so have Bea and Ben."""
    return CellComment.objects.create(
        proposition=proposition, dimension="order", text="Is this 1?", author=cast.bob, thread_of=cast.bob
    )


def test_an_expert_reads_and_answers_threads_without_their_names_while_the_cell_is_open(
    cast, api, address, story, proposition, asked, cast_vote
):
    esi, path = api(cast.esi), address("threads", proposition=proposition.uid, dimension="order")
    assert [(one["by"], one["text"]) for one in esi.get(path).json()["results"]] == [(None, "Is this 1?")]
    body = {"thread": asked.uid, "text": "Yes."}
    first, again = (esi.post(path, body, format="json", headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.status_code == 201 and first.json() == again.json()
    assert (first.json()["by"], first.json()["thread"]) == ("esi", asked.uid)
    assert api(cast.bob).get(address("comments", story)).json()["results"][1]["text"] == "Yes."
    assert CellComment.objects.get(author=cast.esi).thread_of == cast.bob
    for assignment in story.assignments.all():
        cast_vote(assignment, proposition, "order", "1")
    assert [one["by"] for one in esi.get(path).json()["results"]] == ["bob", "esi"]


def test_a_reply_is_refused_to_others_and_outside_of_a_thread(cast, api, address, story, proposition, asked):
    path = address("threads", proposition=proposition.uid, dimension="order")
    esi, body = api(cast.esi), {"thread": asked.uid, "text": "Yes."}
    assert api(cast.bea).get(path).status_code == api(cast.bea).post(path, body, format="json").status_code == 403
    elsewhere = address("threads", proposition=proposition.uid, dimension="truth_status")
    for address_, changed, status in (
        (elsewhere, {}, 422),
        (path, {"thread": "a" * 12}, 422),
        (path, {"text": ""}, 400),
    ):
        assert esi.post(address_, body | changed, format="json").status_code == status
    story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
    Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)
    assert esi.get(path).status_code == esi.post(path, body, format="json").status_code == 404
    assert CellComment.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "changed", "status"),
    [
        ("comments", {"text": " "}, 400),
        ("comments", {"dimension": "depth"}, 422),
        ("comments", {"proposition": "a" * 12}, 422),
        ("own_flags", {"kind": "burn"}, 400),
        ("own_flags", {"remark": "\x00"}, 400),
        ("own_flags", {"proposition": "a" * 12}, 422),
    ],
)
def test_what_does_not_fit_is_refused_at_its_field(cast, api, address, story, proposition, name, changed, status):
    said = {"dimension": "order", "text": "?"} if name == "comments" else {"kind": "split", "remark": "Two."}
    body = {"proposition": proposition.uid} | said | changed
    answer = api(cast.bob).post(address(name, story), body, format="json")
    assert answer.status_code == status and set(answer.json()["error"]["fields"]) == set(changed)
    assert not CellComment.objects.exists() and not PropositionFlag.objects.exists()
