"""The labelling grid as a page, and the requests that its script makes."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
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
from tests.api.conftest import api  # noqa: F401

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
def story(make_story, assign):
    story = make_story()
    assign(story)
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
        "idempotency_key": uuid.uuid4().hex,
        "duration_ms": 900,
        **fields,
    }


def post(client, story, body):
    raw = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(address(story, "votes/"), raw, content_type="application/json")


def save(client, story, *changes, **fields):
    return post(client, story, {"changes": list(changes), **fields})


# --- who may
# -----------------------------------------------------------------------------------------------------------
TAILS = ["", "votes/", "undo/", "{row}/comments/order/", "{row}/flag/"]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", ["charlie", "esi", "alice"])
def test_nobody_without_an_assignment_finds_the_grid(client, cast, story, tail, name):
    client.force_login(getattr(cast, name))
    path = address(story, tail.format(row=Proposition.objects.gold_of(story).first().uid))
    assert (client.post(path) if tail == "votes/" else client.get(path)).status_code == 404


@pytest.mark.parametrize("tail", TAILS)
def test_the_unknown_are_sent_to_the_log_in(client, story, tail):
    path = address(story, tail.format(row=Proposition.objects.gold_of(story).first().uid))
    answer = client.post(path) if tail == "votes/" else client.get(path)
    assert (answer.status_code, answer.url) == (302, f"/login/?next={path}")


def test_a_released_assignment_opens_no_grid(bob, story, cast):
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


# --- saving
# ------------------------------------------------------------------------------------------------------------
def test_a_vote_is_saved_and_answered_with_what_stands(bob, story, cast):
    one = change(story)
    answer = save(bob, story, one).json()
    [saved] = answer["saved"]
    assert (saved["label"], saved["applied"], saved["idempotency_key"]) == ("True", True, one["idempotency_key"])
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


TIME = "expected a time with its zone, such as 2026-10-05T09:30:00Z."
MILLISECONDS = "expected a whole number of milliseconds from 0 to 2147483647."
KEY = "expected 1 to 64 letters, digits, dots, colons, hyphens and underscores."
BAD_FIELDS = [
    ("proposition", None, "changes[0].proposition: it is null; expected a uid of 12 small letters and digits."),
    (
        "proposition",
        "nowhere",
        "changes[0].proposition: it is 'nowhere'; expected a uid of 12 small letters and digits.",
    ),
    ("proposition", "k7m2p9x4c3ta", "There is no proposition k7m2p9x4c3ta in this story"),
    ("proposition", "", "changes[0].proposition: it is ''; expected a uid"),
    (
        "dimension",
        "colour",
        "changes[0].dimension: 'colour' is not a dimension of this project; expected one of order, ",
    ),
    ("dimension", ["order"], "changes[0].dimension: it is a list; expected the key of a dimension."),
    ("label", "Sunny", "changes[0].label: 'Sunny' is not a label of truth_status; expected one of "),
    ("label", "True\x00", "changes[0].label: it is 'True\\x00'; expected a label as a text of at most 40 characters"),
    ("label", "\ud800", "changes[0].label: it is '\\ud800'; expected a label as a text"),
    ("idempotency_key", "k" * 65, f"changes[0].idempotency_key: it is '{'k' * 60}' of 65 characters; {KEY}"),
    ("idempotency_key", "\x00", f"changes[0].idempotency_key: it is '\\x00'; {KEY}"),
    ("idempotency_key", 7, f"changes[0].idempotency_key: it is 7; {KEY}"),
    ("changed_at", "2026-10-05T09:30:00", f"changes[0].changed_at: it is '2026-10-05T09:30:00'; {TIME}"),
    ("changed_at", "0001-01-01T00:00:00+14:00", f"changes[0].changed_at: it is '0001-01-01T00:00:00+14:00'; {TIME}"),
    ("changed_at", "9999-12-31T23:59:59-14:00", f"changes[0].changed_at: it is '9999-12-31T23:59:59-14:00'; {TIME}"),
    ("changed_at", "1999-12-31T23:59:59Z", "changed_at lies before 2000"),
    ("changed_at", "2999-01-01T00:00:00Z", "changed_at lies more than a day ahead"),
    ("changed_at", 1760000000, f"changes[0].changed_at: it is 1760000000; {TIME}"),
    ("duration_ms", -1, f"changes[0].duration_ms: it is -1; {MILLISECONDS}"),
    ("duration_ms", 10**30, f"changes[0].duration_ms: it is {10**30}; {MILLISECONDS}"),
    ("duration_ms", 1.5, f"changes[0].duration_ms: it is 1.5; {MILLISECONDS}"),
    ("duration_ms", True, f"changes[0].duration_ms: it is true; {MILLISECONDS}"),
    ("duration_ms", float("nan"), "The request: it holds NaN; expected a JSON value."),
    ("undoes", "\x00", "changes[0].undoes: it is '\\x00'; expected the idempotency_key of an earlier change."),
    ("saw", 1, "changes[0].saw: it is 1; expected true or false."),
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


SHARED = [(field, value) for field, value, told in BAD_FIELDS if told.startswith("changes[0]") and field != "saw"]


@pytest.mark.parametrize(("field", "value"), SHARED)
def test_the_api_says_the_same_of_a_bad_field(bob, story, cast, api, field, value):  # noqa: F811
    wrong = {"changes": [change(story, **{field: value})]}
    told = post(bob, story, wrong).json()["error"]
    address = reverse("api:votes", kwargs={"slug": "minds", "story": story.uid})
    answer = api(cast.bob).post(address, json.dumps(wrong), content_type="application/json")
    [[place, [sentence]]] = answer.json()["error"]["fields"].items()
    assert told == f"{place}: {sentence[0].lower()}{sentence[1:]}"


# --- warnings, undo
# ----------------------------------------------------------------------------------------------------
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
    assert seen == [(second["idempotency_key"], ""), (first["idempotency_key"], "")]
    assert not Vote.objects.cast().exists()


def test_undo_passes_over_a_proposition_that_was_removed(bob, story):
    rows = list(Proposition.objects.gold_of(story))
    save(bob, story, change(story, row=rows[0]))
    save(bob, story, change(story, row=rows[1]))
    Proposition.objects.filter(pk=rows[1].pk).update(removed_at=timezone.now())
    assert bob.get(address(story, "undo/")).json()["undo"]["proposition"] == rows[0].uid


# --- what is never shown
# -----------------------------------------------------------------------------------------------
def test_a_page_shows_own_labels_and_is_the_same_whatever_others_did(bob, story, cast, cast_vote):
    def shown() -> str:
        page = bob.get(address(story)).content.decode()
        return page.split('<div class="grid-layout">')[1].split('<script id="grid-settings"')[0]

    assignments = {one.annotator: one for one in Assignment.objects.all()}
    row = Proposition.objects.gold_of(story).last()
    cast_vote(assignments[cast.bob], row, "content_type", "Emotion")
    before = shown()
    assert 'data-label="Emotion"' in before
    for other in (cast.bea, cast.ben):
        cast_vote(assignments[other], row, "content_type", "Emotion")
        cast_vote(assignments[other], row, "context", "Deceptive")
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


# --- comments and flags
# ------------------------------------------------------------------------------------------------
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


def test_hostile_text_is_shown_as_text(bob, make_story, assign):
    hostile = "<script>alert(1)</script>"
    story = make_story(number=9, text=hostile, rows=[(hostile, hostile)])
    assign(story)
    page = bob.get(address(story)).content.decode()
    assert hostile not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3


def test_a_story_without_propositions_says_so(bob, make_story, assign):
    story = make_story(number=9, rows=[])
    assign(story)
    assert "This story has no propositions yet" in bob.get(address(story)).content.decode()


# --- cost
# --------------------------------------------------------------------------------------------------------------
def test_the_grid_costs_the_same_few_queries_for_any_story(bob, cast, make_story, assign, cast_vote):
    counts = []
    for number, size in ((1, 2), (2, 40)):
        story = make_story(number=number, rows=[("Ines", f"Belief {at}") for at in range(size)])
        own = assign(story)[0]
        for row in Proposition.objects.gold_of(story)[: size // 2]:
            cast_vote(own, row, "order", "1")
        with CaptureQueriesContext(connection) as queries:
            bob.get(address(story))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


def test_saving_costs_the_same_queries_for_one_cell_and_for_seven(bob, story, django_assert_max_num_queries):
    save(bob, story, change(story, dimension="order", label="1"))
    with django_assert_max_num_queries(18):
        save(bob, story, change(story))
    row = Proposition.objects.gold_of(story).first()
    with django_assert_max_num_queries(18):
        save(bob, story, *[change(story, row=row, dimension=key, label=label) for key, label in LABELS.items()])


def test_a_grid_of_25_rows_is_small(bob, make_story, assign):
    story = make_story(number=5, rows=[("Ines", f"The key number {at} is in the bag") for at in range(25)])
    assign(story)
    assert len(bob.get(address(story)).content) < 120_000


def test_an_expert_with_an_assignment_labels_like_anybody(client, cast, make_story, assign):
    User.objects.filter(pk=cast.esi.pk).update(is_staff=True)
    story = make_story(number=3)
    assign(story, annotators=[cast.esi])
    client.force_login(cast.esi)
    assert client.get(address(story)).status_code == 200
    Membership.objects.filter(user=cast.esi).update(role=Role.ANNOTATOR)
    assert save(client, story, change(story)).status_code == 200
