"""The labelling grid as a page, and the requests that its script makes."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import (
    Assignment,
    CellComment,
    GoldLabel,
    Membership,
    Proposition,
    PropositionFlag,
    Role,
    User,
    Vote,
    VoteEvent,
)

LABELS = {
    "order": "1",
    "truth_status": "False",
    "knowledge_access": "Private",
    "representation": "Explicit",
    "content_type": "Location",
    "mental_source": "Perception",
    "context": "Neutral",
}


@pytest.fixture
def story(make_story, seat):
    story = make_story()
    seat(story)
    return story


@pytest.fixture
def bob(client, cast):
    client.force_login(cast.bob)
    return client


def address(story, tail="") -> str:
    return f"/p/minds/work/{story.uid}/{tail}"


def change(story, **fields) -> dict:
    proposition = fields.pop("row", None) or Proposition.objects.gold_of(story).last()
    return {
        "proposition": proposition.uid,
        "dimension": "truth_status",
        "label": "True",
        "changed_at": timezone.now().isoformat(),
        "client_key": uuid.uuid4().hex,
        "duration_ms": 900,
        **fields,
    }


def post(client, story, body):
    raw = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(address(story, "votes/"), raw, content_type="application/json")


def save(client, story, *changes, **fields):
    return post(client, story, {"changes": list(changes), **fields})


# --- who may -----------------------------------------------------------------------------------------------------------
TAILS = ["", "votes/", "undo/", "{row}/comments/order/", "{row}/flag/"]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", ["charlie", "esi", "alice"])
def test_nobody_without_a_seat_finds_the_grid(client, cast, story, tail, name):
    client.force_login(getattr(cast, name))
    path = address(story, tail.format(row=Proposition.objects.gold_of(story).first().uid))
    assert (client.post(path) if tail == "votes/" else client.get(path)).status_code == 404


@pytest.mark.parametrize("tail", TAILS)
def test_the_unknown_are_sent_to_the_log_in(client, story, tail):
    path = address(story, tail.format(row=Proposition.objects.gold_of(story).first().uid))
    answer = client.post(path) if tail == "votes/" else client.get(path)
    assert (answer.status_code, answer.url) == (302, f"/login/?next={path}")


def test_a_released_seat_is_no_seat(bob, story, cast):
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    assert bob.get(address(story)).status_code == 404
    assert save(bob, story, change(story)).status_code == 404
    assert not Vote.objects.exists()


def test_a_proposition_of_another_story_is_refused(bob, story, make_story):
    other = make_story(number=2)
    answer = save(bob, story, change(other))
    assert answer.status_code == 400
    assert "There is no proposition" in answer.json()["error"]
    row = Proposition.objects.gold_of(other).first()
    assert bob.get(address(story, f"{row.uid}/comments/order/")).status_code == 404
    assert bob.post(address(story, f"{row.uid}/flag/"), {"kind": "split", "remark": "two"}).status_code == 404


def test_saving_needs_the_token_against_forged_requests(cast, story):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.bob)
    assert save(client, story, change(story)).status_code == 403
    assert not Vote.objects.exists()


# --- saving ------------------------------------------------------------------------------------------------------------
def test_a_vote_is_saved_and_answered_with_what_stands(bob, story, cast):
    one = change(story)
    answer = save(bob, story, one).json()
    [saved] = answer["saved"]
    assert (saved["label"], saved["applied"], saved["client_key"]) == ("True", True, one["client_key"])
    vote = Vote.objects.get()
    assert (vote.annotator, vote.label, vote.duration_ms) == (cast.bob, "True", 900)


def test_the_same_change_twice_is_one_change(bob, story):
    one = change(story)
    assert save(bob, story, one).json() == save(bob, story, one).json()
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)


def test_changes_out_of_order_leave_the_later_one(bob, story):
    early = change(story, label="False", changed_at=(timezone.now() - timedelta(seconds=9)).isoformat())
    save(bob, story, change(story, label="True"))
    [saved] = save(bob, story, early).json()["saved"]
    assert (saved["label"], saved["applied"]) == ("True", False)
    assert Vote.objects.get().label == "True"


def test_seven_cells_are_saved_together_or_not_at_all(bob, story):
    row = [change(story, dimension=key, label=label) for key, label in LABELS.items()]
    assert save(bob, story, *row[:6], {**row[6], "label": "Sunny"}).status_code == 400
    assert not VoteEvent.objects.exists()
    assert save(bob, story, *row).status_code == 200
    assert Vote.objects.count() == 7


def test_changes_of_somebody_else_who_used_this_browser_are_not_saved(bob, story, cast):
    answer = save(bob, story, change(story), annotator=cast.bea.pk)
    assert answer.status_code == 409
    assert "Somebody else made these votes" in answer.json()["error"]
    assert not Vote.objects.exists()
    assert save(bob, story, change(story), annotator=cast.bob.pk).status_code == 200


BAD_FIELDS = [
    ("proposition", None, "changes[0].proposition must be a text"),
    ("proposition", "nowhere", "There is no proposition nowhere in this story"),
    ("proposition", "", "changes[0].proposition is empty"),
    ("dimension", "colour", "'colour' is no dimension"),
    ("dimension", ["order"], "changes[0].dimension must be a text"),
    ("label", "Sunny", "'Sunny' is no label of truth_status"),
    ("label", "True\x00", "changes[0].label must be a text"),
    ("label", "\ud800", "changes[0].label must be a text"),
    ("client_key", "k" * 65, "changes[0].client_key must be a text of at most 64"),
    ("client_key", "\x00", "changes[0].client_key must be a text"),
    ("client_key", 7, "changes[0].client_key must be a text"),
    ("changed_at", "2026-10-05T09:30:00", "changes[0].changed_at must be a time with its zone"),
    ("changed_at", "0001-01-01T00:00:00+14:00", "changes[0].changed_at must be a time with its zone"),
    ("changed_at", "9999-12-31T23:59:59-14:00", "changes[0].changed_at must be a time with its zone"),
    ("changed_at", "2999-01-01T00:00:00Z", "changed_at lies more than a day ahead"),
    ("changed_at", 1760000000, "changes[0].changed_at must be a time with its zone"),
    ("duration_ms", -1, "changes[0].duration_ms must be a whole number"),
    ("duration_ms", 10**30, "changes[0].duration_ms must be a whole number"),
    ("duration_ms", 1.5, "changes[0].duration_ms must be a whole number"),
    ("duration_ms", True, "changes[0].duration_ms must be a whole number"),
    ("duration_ms", float("nan"), "changes[0].duration_ms must be a whole number"),
    ("undoes", "\x00", "changes[0].undoes must be a text"),
]


@pytest.mark.parametrize(("field", "value", "sentence"), BAD_FIELDS)
def test_a_bad_field_gets_one_clear_sentence(bob, story, field, value, sentence):
    answer = save(bob, story, change(story, **{field: value}))
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert not VoteEvent.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"changes": []}',
        b'{"changes": {}}',
        b'{"changes": [7]}',
        b'{"annotator": "7", "changes": [{}]}',
        b'{"changes": ' + b"[" * 100_000,
        b'{"changes": [{"duration_ms": ' + b"9" * 5000 + b"}]}",
        b'{"changes": [' + b"{}," * 200 + b"{}]}",
        b" " * (300 * 1024),
    ],
)
def test_a_bad_body_is_refused_with_a_sentence(bob, story, body):
    answer = post(bob, story, body)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


# --- warnings, undo ----------------------------------------------------------------------------------------------------
def test_cross_checks_warn_with_the_answer_and_on_the_page_and_forbid_nothing(bob, story):
    world = Proposition.objects.gold_of(story).first()
    answer = save(bob, story, change(story, row=world, dimension="order", label="2")).json()
    expected = [{"dimension": "order", "message": "World facts have order 0."}]
    assert answer["warnings"] == {world.uid: expected}
    assert Vote.objects.get().label == "2"
    assert "World facts have order 0." in bob.get(address(story)).content.decode()
    answer = save(bob, story, change(story, row=world, dimension="order", label="0")).json()
    assert answer["warnings"] == {world.uid: []}


def test_undo_names_the_last_vote_step_by_step(bob, story):
    first, second = change(story, label="True"), change(story, dimension="order", label="1")
    save(bob, story, first)
    save(bob, story, second)
    seen = []
    while (last := bob.get(address(story, "undo/")).json()["undo"]) is not None:
        seen.append((last["undoes"], last["label"]))
        back = {name: last[name] for name in ("dimension", "label", "undoes")}
        save(bob, story, change(story, **back))
    assert seen == [(second["client_key"], ""), (first["client_key"], "")]
    assert not Vote.objects.cast().exists()


def test_undo_passes_over_a_proposition_that_was_removed(bob, story):
    rows = list(Proposition.objects.gold_of(story))
    save(bob, story, change(story, row=rows[0]))
    save(bob, story, change(story, row=rows[1]))
    Proposition.objects.filter(pk=rows[1].pk).update(removed_at=timezone.now())
    assert bob.get(address(story, "undo/")).json()["undo"]["proposition"] == rows[0].uid


# --- what is never shown -----------------------------------------------------------------------------------------------
def test_a_page_shows_own_labels_and_is_the_same_whatever_others_did(bob, story, cast, cast_vote):
    def shown() -> str:
        page = bob.get(address(story)).content.decode()
        return page.split('<div class="grid-layout">')[1].split('<script id="grid-settings"')[0]

    seats = {one.annotator: one for one in Assignment.objects.all()}
    row = Proposition.objects.gold_of(story).last()
    cast_vote(seats[cast.bob], row, "content_type", "Emotion")
    before = shown()
    assert 'data-label="Emotion"' in before
    for other in (cast.bea, cast.ben):
        cast_vote(seats[other], row, "content_type", "Emotion")
        cast_vote(seats[other], row, "context", "Deceptive")
        CellComment.objects.create(proposition=row, dimension="order", thread_of=other, author=other, text="Odd one")
        PropositionFlag.objects.create(proposition=row, author=other, kind="split", remark="Two claims")
    assert GoldLabel.objects.get(dimension="content_type").label == "Emotion"
    assert shown() == before


def test_a_thread_belongs_to_one_annotator(bob, story, cast):
    row = Proposition.objects.gold_of(story).first()
    CellComment.objects.create(proposition=row, dimension="order", thread_of=cast.bea, author=cast.bea, text="Bea asks")
    CellComment.objects.create(proposition=row, dimension="order", thread_of=cast.bob, author=cast.esi, text="Esi says")
    page = bob.get(address(story, f"{row.uid}/comments/order/")).content.decode()
    assert "Esi says" in page
    assert "Bea asks" not in page


# --- comments and flags ------------------------------------------------------------------------------------------------
def test_a_comment_is_kept_in_the_own_thread(bob, story, cast):
    row = Proposition.objects.gold_of(story).first()
    answer = bob.post(address(story, f"{row.uid}/comments/order/"), {"text": "Why <b>0</b>?"})
    assert "credence:commented" in answer["HX-Trigger"]
    assert "Why &lt;b&gt;0&lt;/b&gt;?" in answer.content.decode()
    comment = CellComment.objects.get()
    assert (comment.author, comment.thread_of, comment.dimension) == (cast.bob, cast.bob, "order")


@pytest.mark.parametrize("text", ["", "  ", "nul \x00 here", "x" * 4001])
def test_a_bad_comment_is_not_kept(bob, story, text):
    row = Proposition.objects.gold_of(story).first()
    answer = bob.post(address(story, f"{row.uid}/comments/order/"), {"text": text})
    assert answer.status_code == 200
    assert "field-error" in answer.content.decode()
    assert "HX-Trigger" not in answer.headers
    assert not CellComment.objects.exists()


def test_an_unknown_dimension_has_no_thread(bob, story):
    row = Proposition.objects.gold_of(story).first()
    assert bob.get(address(story, f"{row.uid}/comments/colour/")).status_code == 404


def test_a_flag_is_kept_once_and_shows_its_outcome(bob, story, cast):
    row = Proposition.objects.gold_of(story).first()
    path = address(story, f"{row.uid}/flag/")
    assert "credence:flagged" in bob.post(path, {"kind": "split", "remark": "Two claims"})["HX-Trigger"]
    again = bob.post(path, {"kind": "split", "remark": "Still two"})
    assert "You have flagged this proposition in this way already." in again.content.decode()
    PropositionFlag.objects.update(
        outcome="declined", outcome_by=cast.esi, outcome_at=timezone.now(), outcome_text="One claim, two words"
    )
    shown = bob.get(path).content.decode()
    assert "declined" in shown
    assert "One claim, two words" in shown
    assert 'data-flag="declined"' in bob.get(address(story)).content.decode()


def test_hostile_text_is_shown_as_text(bob, make_story, seat):
    hostile = "<script>alert(1)</script>"
    story = make_story(number=9, text=hostile, rows=[(hostile, hostile)])
    seat(story)
    page = bob.get(address(story)).content.decode()
    assert hostile not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3


def test_a_story_without_propositions_says_so(bob, make_story, seat):
    story = make_story(number=9, rows=[])
    seat(story)
    assert "This story has no propositions yet" in bob.get(address(story)).content.decode()


# --- cost --------------------------------------------------------------------------------------------------------------
def test_the_grid_costs_the_same_few_queries_for_any_story(bob, cast, make_story, seat, cast_vote):
    counts = []
    for number, size in ((1, 2), (2, 40)):
        story = make_story(number=number, rows=[("Ines", f"Belief {at}") for at in range(size)])
        own = seat(story)[0]
        for row in Proposition.objects.gold_of(story)[: size // 2]:
            cast_vote(own, row, "order", "1")
        with CaptureQueriesContext(connection) as queries:
            bob.get(address(story))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


def test_saving_costs_the_same_queries_for_one_cell_and_for_seven(bob, story, django_assert_max_num_queries):
    save(bob, story, change(story, dimension="order", label="1"))
    with django_assert_max_num_queries(16):
        save(bob, story, change(story))
    row = Proposition.objects.gold_of(story).first()
    with django_assert_max_num_queries(16):
        save(bob, story, *[change(story, row=row, dimension=key, label=label) for key, label in LABELS.items()])


def test_a_grid_of_25_rows_is_small(bob, make_story, seat):
    story = make_story(number=5, rows=[("Ines", f"The key number {at} is in the bag") for at in range(25)])
    seat(story)
    assert len(bob.get(address(story)).content) < 120_000


def test_an_expert_with_a_seat_labels_like_anybody(client, cast, make_story, seat):
    User.objects.filter(pk=cast.esi.pk).update(is_staff=True)
    story = make_story(number=3)
    seat(story, annotators=[cast.esi])
    client.force_login(cast.esi)
    assert client.get(address(story)).status_code == 200
    Membership.objects.filter(user=cast.esi).update(role=Role.ANNOTATOR)
    assert save(client, story, change(story)).status_code == 200
