"""The labelling grid as a page, the requests that its script makes, and the annotator's list of stories."""

import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    Assignment,
    CellComment,
    GoldLabel,
    Membership,
    Proposition,
    PropositionFlag,
    Role,
    Vote,
    VoteEvent,
    workload,
)
from tests.api.conftest import api  # noqa: F401

LABELS = {
    "order": "1", "truth_status": "False", "knowledge_access": "Private", "representation": "Explicit",
    "content_type": "Location", "mental_source": "Perception", "context": "Neutral",
}  # fmt: skip
WORK = "/p/minds/work/"


@pytest.fixture
def story(make_story, assign):
    story = make_story()
    assign(story)
    return story


@pytest.fixture
def bob(client, cast):
    client.force_login(cast.bob)
    return client


def rows_of(story) -> list[Proposition]:
    return list(Proposition.objects.gold_of(story))


def address(story, tail="") -> str:
    return f"{WORK}{story.uid}/{tail}"


def read(client, path: str = WORK) -> str:
    return " ".join(client.get(path).content.decode().split())


def change(story, **fields) -> dict:
    proposition = fields.pop("row", None) or rows_of(story)[-1]
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


def test_a_grid_is_open_to_who_has_the_story_assigned(client, cast, story, make_story, assign):
    row, other = rows_of(story)[0], make_story(number=2)

    def answers() -> list:
        tails = ["", "votes/", "undo/", f"{row.uid}/comments/order/", f"{row.uid}/flag/"]
        return [(client.post if tail == "votes/" else client.get)(address(story, tail)) for tail in tails]

    for answer in answers():
        assert (answer.status_code, answer.url) == (302, f"/login/?next={answer.request['PATH_INFO']}")
    for person in (cast.charlie, cast.esi, cast.alice):
        client.force_login(person)
        assert {answer.status_code for answer in answers()} == {404}, person
    client.force_login(cast.charlie)
    assert [client.get(path).status_code for path in (WORK, f"{WORK}next/")] == [404, 404]
    assign(other, annotators=[cast.esi])
    client.force_login(cast.esi)  # experts with an assignment label like anybody
    assert client.get(address(other)).status_code == 200
    Membership.objects.filter(user=cast.esi).update(role=Role.ANNOTATOR)
    assert save(client, other, change(other)).status_code == 200

    client.force_login(cast.bob)
    answer = save(client, story, change(other))
    assert answer.status_code == 400 and "There is no proposition" in answer.json()["error"]
    foreign = rows_of(other)[0].uid
    assert client.get(address(story, f"{foreign}/comments/order/")).status_code == 404
    assert client.post(address(story, f"{foreign}/flag/"), {"kind": "split", "remark": "two"}).status_code == 404
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(cast.bob)
    assert save(forged, story, change(story)).status_code == 403
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    assert client.get(address(story)).status_code == 404
    assert save(client, story, change(story)).status_code == 404
    assert not Vote.objects.filter(annotator=cast.bob).exists()


def test_changes_are_saved_once_and_whole_for_who_made_them(bob, story, cast):
    one = change(story)
    answer = save(bob, story, one).json()
    [saved] = answer["saved"]
    assert (saved["label"], saved["applied"], saved["idempotency_key"]) == ("True", True, one["idempotency_key"])
    vote = Vote.objects.get()
    assert (vote.annotator, vote.label, vote.duration_ms) == (cast.bob, "True", 900)
    assert save(bob, story, one).json() == answer, "the same change twice is one change"
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)
    row = [change(story, row=rows_of(story)[0], dimension=key, label=label) for key, label in LABELS.items()]
    assert save(bob, story, *row[:6], {**row[6], "label": "Sunny"}).status_code == 400
    answer = save(bob, story, *row, annotator=cast.bea.pk)
    assert answer.status_code == 409 and "Somebody else made these votes" in answer.json()["error"]
    assert VoteEvent.objects.count() == 1
    assert save(bob, story, *row, annotator=cast.bob.pk).status_code == 200
    assert Vote.objects.count() == 8


TIME = "expected a time with its zone, such as 2026-10-05T09:30:00Z."
MILLISECONDS = "expected a whole number of milliseconds from 0 to 2147483647."
KEY = "expected 1 to 64 letters, digits, dots, colons, hyphens and underscores."
UID = "expected a uid of 12 small letters and digits."
BAD_FIELDS = [
    ("proposition", None, f"changes[0].proposition: it is null; {UID}"),
    ("proposition", "nowhere", f"changes[0].proposition: it is 'nowhere'; {UID}"),
    ("proposition", "k7m2p9x4c3ta", "There is no proposition k7m2p9x4c3ta in this story"),
    ("dimension", "colour", "changes[0].dimension: 'colour' is not a dimension of this project; expected one of "),
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
BAD_BODIES = [
    b"", b"\xff\xfe", b"[]", b"null", b'{"changes": []}', b'{"changes": {}}', b'{"changes": [7]}',
    b'{"annotator": "7", "changes": [{}]}', b'{"changes": ' + b"[" * 100_000,
    b'{"changes": [{"duration_ms": ' + b"9" * 5000 + b"}]}", b'{"changes": [' + b"{}," * 200 + b"{}]}",
    b" " * (300 * 1024),
]  # fmt: skip


def test_what_cannot_be_saved_gets_one_clear_sentence_from_page_and_api(bob, story, cast, api):  # noqa: F811
    client = api(cast.bob)
    by_api = reverse("api:votes", kwargs={"slug": "minds", "story": story.uid})
    for field, value, sentence in BAD_FIELDS:
        wrong = {"changes": [change(story, **{field: value})]}
        answer = post(bob, story, wrong)
        told = answer.json()["error"]
        assert answer.status_code == 400 and sentence in told
        if sentence.startswith("changes[0]") and field != "saw":
            answer = client.post(by_api, json.dumps(wrong), content_type="application/json")
            [[place, [said]]] = answer.json()["error"]["fields"].items()
            assert told == f"{place}: {said[0].lower()}{said[1:]}"
    for body in BAD_BODIES:
        answer = post(bob, story, body)
        assert answer.status_code == 400 and answer.json()["error"].endswith("."), body[:60]
    assert not VoteEvent.objects.exists()


def test_cross_checks_warn_in_the_answer_and_on_the_page_and_forbid_nothing(bob, story):
    world = rows_of(story)[0]
    answer = save(bob, story, change(story, row=world, dimension="order", label="2")).json()
    assert answer["warnings"] == {world.uid: [{"dimension": "order", "message": "World facts have order 0."}]}
    assert Vote.objects.get().label == "2"
    assert "World facts have order 0." in bob.get(address(story)).content.decode()
    answer = save(bob, story, change(story, row=world, dimension="order", label="0")).json()
    assert answer["warnings"] == {world.uid: []}


def test_undo_goes_back_step_by_step_and_passes_over_removed_rows(bob, story):
    removed, _ = rows_of(story)
    first, second = change(story, label="True"), change(story, dimension="order", label="1")
    for one in (first, second, change(story, row=removed)):
        save(bob, story, one)
    Proposition.objects.filter(pk=removed.pk).update(removed_at=timezone.now())
    seen = []
    while (last := bob.get(address(story, "undo/")).json()["undo"]) is not None:
        seen.append((last["undoes"], last["label"]))
        back = {name: last[name] for name in ("dimension", "label", "undoes")}
        save(bob, story, change(story, **back))
    assert seen == [(second["idempotency_key"], ""), (first["idempotency_key"], "")]
    assert not Vote.objects.cast().exclude(proposition=removed).exists()


def test_a_page_shows_own_labels_and_is_the_same_whatever_others_did(bob, story, cast, cast_vote):
    def shown() -> str:
        page = bob.get(address(story)).content.decode()
        return page.split('<div class="grid-layout">')[1].split('<script id="grid-settings"')[0]

    assignments = {one.annotator: one for one in Assignment.objects.all()}
    row = rows_of(story)[-1]
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
    assert bob.get(WORK).context["page"].object_list[0].done == 1


def test_a_comment_is_kept_in_the_own_thread(bob, story, cast):
    row = rows_of(story)[0]
    place = address(story, f"{row.uid}/comments/order/")
    for text in ("", "  ", "nul \x00 here", "x" * 4001):
        answer = bob.post(place, {"text": text})
        assert answer.status_code == 200 and "field-error" in answer.content.decode()
        assert "HX-Trigger" not in answer.headers and not CellComment.objects.exists()
    answer = bob.post(place, {"text": "Why <b>0</b>?"})
    assert "credence:commented" in answer["HX-Trigger"] and "Why &lt;b&gt;0&lt;/b&gt;?" in answer.content.decode()
    comment = CellComment.objects.get()
    assert (comment.author, comment.thread_of, comment.dimension) == (cast.bob, cast.bob, "order")
    CellComment.objects.create(proposition=row, dimension="order", thread_of=cast.bea, author=cast.bea, text="Bea asks")
    CellComment.objects.create(proposition=row, dimension="order", thread_of=cast.bob, author=cast.esi, text="Esi says")
    page = bob.get(place).content.decode()
    assert "Esi says" in page and "Bea asks" not in page
    assert bob.get(address(story, f"{row.uid}/comments/colour/")).status_code == 404


def test_a_flag_is_kept_once_and_shows_its_outcome(bob, story, cast):
    path = address(story, f"{rows_of(story)[0].uid}/flag/")
    assert "credence:flagged" in bob.post(path, {"kind": "split", "remark": "Two claims"})["HX-Trigger"]
    again = bob.post(path, {"kind": "split", "remark": "Still two"})
    assert "You have flagged this proposition in this way already." in again.content.decode()
    outcome = {"outcome": "declined", "outcome_by": cast.esi, "outcome_at": timezone.now()}
    PropositionFlag.objects.update(**outcome, outcome_text="One claim, two words")
    shown = bob.get(path).content.decode()
    assert "declined" in shown and "One claim, two words" in shown
    assert 'data-flag="declined"' in bob.get(address(story)).content.decode()


def test_texts_of_a_story_are_text_and_one_without_rows_says_so(bob, make_story, assign):
    hostile = "<script>alert(1)</script>"
    story, bare = make_story(number=9, text=hostile, rows=[(hostile, hostile)]), make_story(number=10, rows=[])
    assign(story), assign(bare)
    page = bob.get(address(story)).content.decode()
    assert hostile not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert "This story has no propositions yet" in bob.get(address(bare)).content.decode()


def test_the_cost_does_not_grow(bob, cast, make_story, assign, cast_vote, django_assert_max_num_queries):
    counts = []
    for number, size in ((1, 2), (2, 40)):
        story = make_story(number=number, rows=[("Ines", f"The key number {at} is in the bag") for at in range(size)])
        own = assign(story)[0]
        for row in rows_of(story)[: size // 2]:
            cast_vote(own, row, "order", "1")
        with CaptureQueriesContext(connection) as queries:
            page = bob.get(address(story))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10
    assert len(page.content) < 5_000 * size
    with django_assert_max_num_queries(18):
        save(bob, story, change(story))
    row = rows_of(story)[1]
    with django_assert_max_num_queries(18):
        save(bob, story, *[change(story, row=row, dimension=key, label=label) for key, label in LABELS.items()])
    counts = []
    for numbers in (range(3, 5), range(5, 30)):
        for number in numbers:
            assign(make_story(number=number))
        with CaptureQueriesContext(connection) as queries:
            bob.get(WORK)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8


def test_the_list_puts_unfinished_stories_first_and_leads_on(bob, cast, make_story, assign, cast_vote):
    assert "No story is assigned to you yet" in read(bob)
    stories = [make_story(number=number) for number in (1, 2, 3)]

    def label(story, annotator=cast.bob) -> None:
        own = Assignment.objects.get(story=story, annotator=annotator)
        for row in rows_of(story):
            for one in DEFAULT_SCHEMA.dimensions:
                cast_vote(own, row, one.key, one.values[0])

    def after(story) -> str:
        return bob.get(f"{WORK}next/?after={story.uid}").url

    today = timezone.now().date()
    for story, days in zip(stories, (-1, 0, None), strict=True):
        assign(story)
        due = None if days is None else today + timedelta(days=days)
        Assignment.objects.filter(story=story).update(due=due)
    page = read(bob)
    assert page.count("was to be finished by") == 1 and page.count(">to be finished by") == 1
    label(stories[1], cast.bea)
    assert [row.done for row in workload.of_annotator(cast.project, cast.bob)] == [0, 0, 0]
    label(stories[1])
    rows = workload.of_annotator(cast.project, cast.bob)
    # two propositions × seven dimensions = 14 cells
    assert [(row.story.number, row.done, row.cells) for row in rows] == [(1, 0, 14), (3, 0, 14), (2, 14, 14)]
    assert [workload.next_unfinished(rows, after=at).story.number for at in (None, 1, 3)] == [1, 3, 1]
    page = read(bob)
    assert "1 of 3 stories finished" in page and "14 / 42" in page
    assert f'href="{address(stories[0])}" >Continue with story 1' in page
    assert (after(stories[0]), after(stories[2])) == (address(stories[2]), address(stories[0]))
    label(stories[0]), label(stories[2])
    assert after(stories[2]) == WORK


def test_answers_to_comments_and_outcomes_of_flags_are_news(bob, cast, story):
    row = rows_of(story)[0]
    place = {"proposition": row, "dimension": "order", "thread_of": cast.bob}
    outcome = {"outcome": "accepted", "outcome_by": cast.esi, "outcome_at": timezone.now(), "outcome_text": "Reworded"}
    CellComment.objects.create(**place, author=cast.bob, text="Is it 0?")
    PropositionFlag.objects.create(proposition=row, author=cast.bea, kind="merge", remark="?", **outcome)
    assert "Answers to you" not in read(bob)
    CellComment.objects.create(**place, author=cast.esi, text="It is, by the guideline.")
    CellComment.objects.create(**{**place, "thread_of": cast.bea}, author=cast.esi, text="Bea, no.")
    page = read(bob)
    assert "It is, by the guideline." in page and f"{address(story)}#{row.uid}/order/comments" in page
    assert "Bea, no." not in page
    CellComment.objects.create(**place, author=cast.bob, text="Thanks.")
    assert "Answers to you" not in read(bob), "until they are answered"
    PropositionFlag.objects.create(proposition=row, author=cast.bob, kind="reword", remark="Unclear", **outcome)
    assert "Reworded" in read(bob)
