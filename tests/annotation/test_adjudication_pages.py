"""The experts' pages and the annotators' page of overruled votes: who sees what, in how many statements."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    CellComment,
    Claim,
    GoldEvent,
    GoldLabel,
    Membership,
    Method,
    PropositionFlag,
    Role,
    Split,
    User,
    VoteEvent,
)
from annotation.services import remarks
from annotation.services.adjudication import AdjudicationRefused, adjudicate, file_case
from annotation.services.votes import Change, save_votes
from annotation.views import adjudication_cases
from annotation.views.adjudication_cells import cells_of

SOURCE = "mental_source"
HTMX = {"HTTP_HX_REQUEST": "true"}


def address(name, *parts):
    return reverse(f"annotation:{name}", args=["minds", *parts])


def vote(assignment, changes):
    now = timezone.now()
    made = [Change(row.uid, key, label, now, f"{row.uid}{key}{label}") for row, key, label in changes]
    save_votes(by=assignment.annotator, assignment=assignment, changes=made, now=now)


@pytest.fixture
def disputed(make_story, assign):
    """A story of which Bob, Bea and Ben label mental_source of every row in three ways: `disputed(number=1,
    rows=…)`."""

    def make(number=1, labels=("Inference", "Testimony", "Memory"), dimension=SOURCE, **fields):
        story = make_story(number=number, **fields)
        rows = list(story.tables.get().propositions.order_by("position"))
        for one, label in zip(assign(story), labels, strict=True):
            vote(one, [(row, dimension, label) for row in rows])
        return story

    return make


@pytest.fixture
def eva(cast):
    user = User.objects.create_user("eva")
    Membership.objects.create(project=cast.project, user=user, role=Role.EXPERT)
    return user


@pytest.fixture
def esi(client, cast):
    client.force_login(cast.esi)
    return client


def first_cell(story, dimension=SOURCE):
    return GoldLabel.objects.get(proposition__table__story=story, proposition__position=1, dimension=dimension)


def decide(gold, by, label, **fields):
    place = {"by": by, "proposition": gold.proposition, "dimension": gold.dimension, "now": timezone.now()}
    return adjudicate(**place, label=label, revision=gold.revision, **fields)


def post(client, gold, **fields):
    data = {"revision": gold.revision, "row": gold.pk} | fields
    return client.post(address("decide", gold.proposition.uid, gold.dimension), data, **HTMX)


def statements(client, url):
    """Return how many statements a page takes once it was opened before."""
    client.get(url)
    with CaptureQueriesContext(connection) as found:
        assert client.get(url).status_code == 200
    return len(found)


# --- the queue
# ------------------------------------------------------------------------------------------------------------


def stories_shown(response):
    return [int(number) for number in re.findall(r"<h2[^>]*>\s*<a[^>]*>Story (\d+)</a>", response.content.decode())]


def test_the_lowest_agreement_comes_first(esi, cast, disputed):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    disputed(1, labels=("1", "1", "2"), dimension="order")
    disputed(2)
    assert stories_shown(esi.get(address("adjudication"))) == [2, 1]


def test_settled_cells_are_not_in_the_queue(esi, disputed):
    disputed(1, labels=("Memory", "Memory", "Inference"))
    response = esi.get(address("adjudication"))
    assert stories_shown(response) == []
    assert "Nothing to decide" in response.content.decode()
    assert stories_shown(esi.get(address("adjudication") + "?status=majority")) == [1]


def test_filters_come_from_the_address(esi, cast, disputed):
    split = Split.objects.create(project=cast.project, name="calibration")
    disputed(1, split=split, text="Ines waits at the ferry.")
    disputed(2, category="Hinting Task Test", rows=[("Ruth", "The window is open")])
    disputed(3, labels=("1", "2", "3"), dimension="order")

    def shown(**query):
        return stories_shown(esi.get(f"{address('adjudication')}?{urlencode(query)}"))

    assert shown() == [1, 2, 3]
    assert shown(dimension="order") == [3]
    assert shown(split="calibration") == [1]
    assert shown(category="Hinting Task Test") == [2]
    assert shown(text="window") == [2]
    assert shown(text="ferry") == [1]
    assert shown(text="3") == [3]
    assert shown(status="adjudicated") == []
    assert shown(dimension="nonsense") == [1, 2, 3]


def test_the_link_of_a_confusion_matrix_opens_the_matching_cells(esi, disputed):
    disputed(1)
    disputed(2, labels=("Memory", "Memory", "Inference"))
    disputed(3, labels=("Memory", "Memory", "Memory"))

    def shown(pair):
        query = urlencode({"dimension": SOURCE, "pair": pair, "status": "all"})
        return sorted(stories_shown(esi.get(f"{address('adjudication')}?{query}")))

    assert shown("Inference|Memory") == [1, 2]
    assert shown("Testimony|Memory") == [1]
    assert shown("Memory|Memory") == [2, 3]
    assert shown("Perception|Memory") == []
    response = esi.get(f"{address('adjudication')}?pair=Memory")
    assert "A pair is two labels" in response.content.decode()


def test_a_disturbed_decision_is_in_the_queue_with_the_votes_of_now(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", "The key is in the bag")])
    gold = decide(first_cell(story), cast.esi, "Memory")
    assert stories_shown(esi.get(address("adjudication"))) == []
    vote(Assignment.objects.get(annotator=cast.bob), [(gold.proposition, SOURCE, "Imagination")])
    response = esi.get(address("adjudication") + "?status=disturbed")
    assert stories_shown(response) == [1]
    assert "votes changed" in response.content.decode() and "Imagination" in response.content.decode()


def test_how_much_is_left_is_counted_by_dimension(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", "a"), ("Tomas", "b"), ("Ruth", "c")])
    decide(first_cell(story), cast.esi, "Memory")
    context = esi.get(address("adjudication")).context
    assert {row["dimension"].key: (row["todo"], row["decided"]) for row in context["left"]}[SOURCE] == (2, 1)
    assert (context["todo"], context["decided"]) == (2, 1)


def test_one_hour_foretells_nothing(esi, cast, disputed):
    golds = [first_cell(disputed(number, rows=(("world", "It rains"),))) for number in (1, 2)]
    decide(golds[0], cast.esi, "Inference")
    page = esi.get(address("adjudication")).content.decode()
    assert "in the last hour 1 by you" in page and "to go" not in page


def test_a_cell_that_the_expert_voted_on_is_labelled_and_shows_no_votes(client, cast, disputed):
    disputed(1, rows=[("Ines", "a")])
    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    client.force_login(cast.bob)
    page = client.get(address("adjudication")).content.decode()
    assert "You voted here" in page and "Testimony" not in page and "33 %" not in page
    story = Assignment.objects.get(annotator=cast.bob).story
    page = client.get(address("adjudicate", story.uid)).content.decode()
    assert "You voted on this cell yourself" in page and "Testimony" not in page
    response = post(client, first_cell(story), label="Memory")
    assert response.status_code == 422 and "voted on this cell yourself" in response.content.decode()
    page = client.get(address("cell_history", first_cell(story).proposition.uid, SOURCE)).content.decode()
    assert "Testimony" not in page


def test_a_story_that_the_expert_still_labels_shows_nothing(client, cast, disputed):
    story = disputed(1)
    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    client.force_login(cast.bob)
    assert stories_shown(client.get(address("adjudication") + "?status=all")) == []
    page = client.get(address("adjudicate", story.uid)).content.decode()
    assert "You still label this story yourself" in page and "Testimony" not in page
    gold = first_cell(story)
    assert client.get(address("cell_history", gold.proposition.uid, SOURCE)).status_code == 404
    response = post(client, gold, label="Memory")
    assert response["HX-Redirect"] and b"Testimony" not in response.content
    assert first_cell(story).method == Method.OPEN


@pytest.mark.parametrize(("name", "most"), [("adjudication", 18), ("guideline_cases", 12), ("flags", 12)])
def test_lists_take_the_same_statements_for_a_larger_project(esi, cast, disputed, name, most):
    counts = []
    for numbers in ([1], range(2, 7)):
        for number in numbers:
            row = first_cell(disputed(number)).proposition
            file_case(by=cast.esi, proposition=row, dimension=SOURCE, filed=True)
            remarks.flag(by=cast.bob, proposition=row, kind="split", remark="Two in one.")
        counts.append(statements(esi, address(name)))
    assert counts[0] == counts[1] <= most


def test_the_screen_takes_the_same_statements_for_a_longer_story(esi, disputed):
    short, long = disputed(1, rows=[("Ines", "a")]), disputed(2, rows=[("Ines", f"b{at}") for at in range(25)])
    few, many = (statements(esi, address("adjudicate", story.uid)) for story in (short, long))
    assert few == many <= 26


# --- claims
# ------------------------------------------------------------------------------------------------------------


def open_page(client, url):
    """A page of decisions as its script opens it: with a claim on its stories."""
    page = client.get(url)
    claim = {"stories": page.context["settings"]["stories"], "opened": True}
    assert client.post(address("keep_claims"), claim, content_type="application/json").json() == {"others": {}}
    return page


def test_experts_get_different_stories_and_see_each_other(client, cast, eva, disputed):
    """Two experts who go on through the queue never get one story; a claim is told by name, refuses the other's
    decisions, and ends by itself."""
    for number in (1, 2, 3):
        disputed(number, rows=[("Ines", "a")])
    met = {}
    for person in (cast.esi, eva):
        client.force_login(person)
        met[person] = open_page(client, client.get(address("next_open"))["Location"]).context
    assert [context["story"].number for context in met.values()] == [1, 2]
    queue = client.get(address("adjudication")).content.decode()
    assert "<bdi>Esi</bdi> decides here" in queue and queue.count("decides here") == 1
    story = met[cast.esi]["story"]
    page = client.get(address("adjudicate", story.uid))
    assert page.context["claim"].expert == cast.esi and "decides this story now" in page.content.decode()
    with pytest.raises(AdjudicationRefused, match="Esi decides story 1 now"):
        decide(first_cell(story), eva, "Memory")
    Claim.objects.filter(expert=cast.esi).update(until=timezone.now())
    assert decide(first_cell(story), eva, "Memory").decided_by == eva
    assert client.get(address("adjudicate", story.uid)).context["claim"] is None


def save(client, *changes, page="x"):
    body = {"changes": [{"idempotency_key": "k", "changed_at": timezone.now().isoformat(), **one} for one in changes]}
    return client.post(f"{address('save_decisions')}?page={page}", body, content_type="application/json")


def change_of(gold, label, **fields):
    return {
        "proposition": gold.proposition.uid, "dimension": gold.dimension, "label": label, "revision": gold.revision,
        "row": gold.pk,
    } | fields  # fmt: skip


def test_what_is_sent_twice_or_says_the_same_is_no_revision(esi, cast, disputed):
    """A browser sends again what was not answered; another label on a decided cell has to say what it replaces."""
    gold = first_cell(disputed(1))
    answers = [save(esi, change_of(gold, "Memory", reason="Recalled.")).json() for _ in range(3)]
    assert all("Recalled." in one["saved"][0]["html"] for one in answers)
    decided = first_cell(gold.proposition.table.story)
    assert decided.revision == 2 and GoldEvent.objects.filter(by=cast.esi, after_method="adjudicated").count() == 1
    refused = save(esi, change_of(decided, "Inference"))
    assert refused.status_code == 400 and "decided: Memory" in refused.json()["error"]
    # Offline the browser has only the revision before its own decision.
    assert save(esi, change_of(gold, "Inference", replaces="Memory")).status_code == 200
    assert first_cell(gold.proposition.table.story).label == "Inference"


def test_undo_goes_back_action_by_action_and_counts_once(esi, cast, disputed):
    story = disputed(1)
    cells = list(GoldLabel.objects.order_by("proposition__position"))
    for gold in cells[:2]:
        decide(gold, cast.esi, "Memory")
    for gold in reversed(cells[:2]):
        last = esi.get(address("undo_decisions")).json()["undo"]
        assert [one["proposition"] for one in last["cells"]] == [gold.proposition.uid]
        for _ in range(2):  # sent again, as the answer was lost
            body = {"cells": last["cells"]}
            answer = esi.post(address("undo_decisions"), body, content_type="application/json")
            assert 'data-todo="1"' in answer.json()["cells"][0]["html"]
    assert esi.get(address("undo_decisions")).json() == {"undo": None}
    assert not GoldLabel.objects.filter(proposition__table__story=story, method=Method.ADJUDICATED).exists()


# --- the screen
# -----------------------------------------------------------------------------------------------------------


def chips(page):
    return re.findall(r'class="chip chip-vote"\s+name="label"\s+value="([^"]+)"', page)


def test_votes_are_shuffled_stable_and_without_names_until_decided(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", f"belief {at}") for at in range(12)])
    page = esi.get(address("adjudicate", story.uid)).content.decode()
    assert chips(page) == chips(esi.get(address("adjudicate", story.uid)).content.decode())
    orders = {tuple(chips(page)[at : at + 3]) for at in range(0, 36, 3)}
    assert len(orders) > 1
    assert not {"Bob", "Bea", "Ben"} & set(re.findall(r"\w+", page))
    decide(first_cell(story), cast.esi, "Memory")
    page = esi.get(address("adjudicate", story.uid)).content.decode()
    assert {"Bob", "Bea", "Ben"} <= set(re.findall(r"\w+", page))


def test_the_order_does_not_follow_who_voted_what(cast, disputed):
    """The same labels by other annotators in the same cell are shown in the same order."""
    from annotation.access import project_access
    from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

    story = disputed(1, rows=[("Ines", "a")])
    access = project_access(cast.esi, "minds", role=Role.EXPERT)
    places = [(story.tables.get().propositions.get(), DEFAULT_SCHEMA[SOURCE])]
    before = cells_of(access, places)[0]["chips"]
    bob, bea = (Assignment.objects.get(annotator=one) for one in (cast.bob, cast.bea))
    vote(bob, [(places[0][0], SOURCE, "Testimony")])
    vote(bea, [(places[0][0], SOURCE, "Inference")])
    assert cells_of(access, places)[0]["chips"] == before


def test_settled_cells_are_context_and_can_be_opened(esi, disputed):
    story = disputed(1, labels=("Memory", "Memory", "Inference"), rows=[("Ines", "a")])
    gold = first_cell(story)
    cell = f"{gold.proposition.uid}-{SOURCE}"
    page = esi.get(address("adjudicate", story.uid)).content.decode()
    assert f'id="{cell}"' not in page and f"cell={cell}#{cell}" in page
    page = esi.get(f"{address('adjudicate', story.uid)}?cell={cell}").content.decode()
    assert f'id="{cell}"' in page and "Settled by its votes" in page
    assert post(esi, gold, label="Inference").status_code == 422
    assert post(esi, gold, label="Inference", reason="Nobody told him.").status_code == 200
    assert first_cell(story).label == "Inference"


def test_cells_that_wait_for_votes_show_none_of_them(esi, make_story, assign):
    story = make_story(rows=[("Ines", "a")])
    bob, *_ = assign(story)
    row = story.tables.get().propositions.get()
    vote(bob, [(row, SOURCE, "Imagination")])
    for query in ("", f"?cell={row.uid}-{SOURCE}"):
        assert "Imagination" not in esi.get(address("adjudicate", story.uid) + query).content.decode()
    history = esi.get(address("cell_history", row.uid, SOURCE)).content.decode()
    assert "Imagination" not in history and "Bob" not in history


def test_an_imported_label_can_be_opened_and_decided(esi, make_story):
    story = make_story(rows=[("Ines", "a")])
    row = story.tables.get().propositions.get()
    row.imported_labels = {SOURCE: "Inference"}
    row.save()
    page = esi.get(f"{address('adjudicate', story.uid)}?cell={row.uid}-{SOURCE}").content.decode()
    assert "Imported as <strong>Inference</strong>" in page
    data = {"label": "Memory", "revision": 0, "row": 0}
    assert esi.post(address("decide", row.uid, SOURCE), data, **HTMX).status_code == 422
    assert esi.post(address("decide", row.uid, SOURCE), data | {"reason": "He recalls it."}, **HTMX).status_code == 200
    assert first_cell(story).method == Method.ADJUDICATED


def test_deciding_and_taking_back_answer_with_the_cell(esi, disputed):
    story = disputed(1, rows=[("Ines", "a")])
    response = post(esi, first_cell(story), label="Memory", reason="He recalls it.", error_tag="slip")
    page = response.content.decode()
    assert response.status_code == 200 and "He recalls it." in page and 'data-todo="0"' in page and "Take back" in page
    response = esi.post(
        address("decide", first_cell(story).proposition.uid, SOURCE), {"undo": 1, "revision": 2}, **HTMX
    )
    assert response.status_code == 200 and 'data-todo="1"' in response.content.decode()
    assert first_cell(story).method == Method.OPEN


def test_the_second_expert_is_told_and_keeps_what_they_typed(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", "a")])
    seen = first_cell(story)
    decide(seen, cast.alice, "Memory", reason="Recalled.")
    response = post(esi, seen, label="Testimony", reason="She was told.")
    page = response.content.decode()
    assert response.status_code == 409
    assert "Alice decided this cell: Memory" in page and 'value="She was told."' in page
    assert first_cell(story).label == "Memory"


def test_bad_forms_get_a_sentence(esi, disputed):
    gold = first_cell(disputed(1))
    assert "is not a label of mental_source" in post(esi, gold, label="Nonsense").content.decode()
    assert post(esi, gold, label="Memory", revision="x").status_code == 422
    assert post(esi, gold, undo="1", revision="").status_code == 422
    assert post(esi, gold, label="Memory", error_tag="stupid").status_code == 422
    assert esi.post(address("decide", gold.proposition.uid, "nonsense"), {"label": "1"}).status_code == 404
    assert esi.post(address("file_case", gold.proposition.uid, SOURCE), {"filed": "x"}, **HTMX).status_code == 422


def test_without_scripts_a_decision_returns_to_its_cell(esi, disputed):
    story = disputed(1)
    gold = first_cell(story)
    data = {"revision": gold.revision, "row": gold.pk, "label": "Memory"}
    response = esi.post(address("decide", gold.proposition.uid, SOURCE), data)
    assert response.status_code == 302 and response["Location"].endswith(f"#{gold.proposition.uid}-{SOURCE}")


def following(client, response):
    """The address that the button to the next story leads to from this page."""
    return client.get(response.context["settings"]["urls"]["next"])["Location"]


def test_next_walks_the_queue_and_keeps_its_place_and_filters(esi, cast, disputed):
    stories = [disputed(number, rows=[("Ines", "a")]) for number in (1, 2, 3)]
    at = esi.get(address("adjudication")).context["groups"][0]["at"]
    visited, url = [], f"{address('adjudicate', stories[0].uid)}?at={at}&dimension={SOURCE}"
    for _ in range(4):
        response = esi.get(url)
        visited.append(response.context["story"].number)
        url = following(esi, response)
        assert f"dimension={SOURCE}" in url
    assert visited == [1, 2, 3, 1]
    url = f"{address('adjudicate', stories[1].uid)}?at={1 / 3}"
    decide(first_cell(stories[1]), cast.esi, "Memory")
    assert stories[2].uid in following(esi, esi.get(url))


# --- filing, history, comments, flags
# -------------------------------------------------------------------------------------


def test_filing_a_case_puts_it_on_the_list_and_keeps_what_was_typed(esi, disputed):
    gold = first_cell(disputed(1))
    url = address("file_case", gold.proposition.uid, SOURCE)
    response = esi.post(url, {"filed": "1", "reason": "half a thought"}, **HTMX)
    assert 'value="half a thought"' in response.content.decode()
    page = esi.get(address("guideline_cases")).content.decode()
    assert "Mental source" in page and "Testimony" in page
    esi.post(url, {"filed": "0"}, **HTMX)
    assert "No case was filed yet" in esi.get(address("guideline_cases")).content.decode()


def test_the_history_tells_who_decided_on_which_votes_and_what_was_taken_back(esi, cast, disputed):
    story = disputed(1)
    url = address("cell_history", first_cell(story).proposition.uid, SOURCE)
    page = " ".join(esi.get(url).content.decode().split())
    assert "Votes and names are shown once the cell is settled" in page and "Bea" not in page
    decide(first_cell(story), cast.esi, "Memory", reason="He recalls it.")
    page = " ".join(esi.get(url).content.decode().split())
    assert (
        "Esi</bdi> decided" in page and "He recalls it." in page and "Bea</bdi>: Testimony" in page and "Rule 1" in page
    )
    post(esi, first_cell(story), undo="1")
    page = " ".join(esi.get(url).content.decode().split())
    assert "Bea" not in page


def test_a_long_history_comes_by_pages_newest_first(esi, cast, disputed, monkeypatch):
    story = disputed(1)
    proposition = first_cell(story).proposition
    decide(first_cell(story), cast.esi, "Memory", reason="He recalls it.")
    monkeypatch.setattr(adjudication_cases, "A_PAGE", 2)
    url = address("cell_history", proposition.uid, SOURCE)
    pages = [esi.get(url, {"page": number}).context["timeline"] for number in (1, 2, 3)]
    changes = [change for page in pages for change in page]
    told = {("gold" in change, (change.get("gold") or change["vote"]).pk) for change in changes}
    kept = [model.objects.filter(proposition=proposition, dimension=SOURCE).count() for model in (GoldEvent, VoteEvent)]
    assert len(changes) == len(told) == sum(kept) == 5
    moments = [change["at"] for change in changes]
    assert moments == sorted(moments, reverse=True) and pages[0][0]["gold"].reason == "He recalls it."
    assert f'href="{url}?page=2"' in esi.get(url, **HTMX).content.decode()  # the panel stands on another page


def test_experts_read_all_threads_and_answer_in_one(esi, cast, disputed):
    gold = first_cell(disputed(1))
    place = {"proposition": gold.proposition, "dimension": SOURCE}
    mine = remarks.add_comment(by=cast.bob, thread_of=cast.bob, text="I was torn here.", **place)
    remarks.add_comment(by=cast.bea, thread_of=cast.bea, text="So was I.", **place)
    url = address("cell_history", gold.proposition.uid, SOURCE)
    page = esi.get(url).content.decode()
    assert "I was torn here." in page and "So was I." in page and "Bob" not in page
    page = esi.post(url, {"thread": mine.uid, "text": "Thanks, see the guideline."}).content.decode()
    assert "Thanks, see the guideline." in page
    reply = CellComment.objects.latest("id")
    assert (reply.author, reply.thread_of) == (cast.esi, cast.bob)
    assert esi.post(url, {"thread": "elsewhere", "text": "x"}).status_code == 404
    decide(first_cell(gold.proposition.table.story), cast.esi, "Memory")
    assert "Bob" in esi.get(url).content.decode()


def test_flags_are_answered_once(esi, cast, disputed):
    gold = first_cell(disputed(1))
    flag = remarks.flag(by=cast.bob, proposition=gold.proposition, kind="split", remark="<b>Two</b> in one.")
    page = esi.get(address("flags")).content.decode()
    assert "&lt;b&gt;Two&lt;/b&gt; in one." in page
    esi.post(address("flags"), {"flag": flag.uid, "outcome": "declined", "text": "One fact only."})
    esi.post(address("flags"), {"flag": flag.uid, "outcome": "accepted", "text": "No, two."})
    flag = PropositionFlag.objects.get()
    assert (flag.outcome, flag.outcome_text, flag.outcome_by) == ("declined", "One fact only.", cast.esi)


# --- bulk
# -----------------------------------------------------------------------------------------------------------------


def test_majorities_are_previewed_and_accepted_within_the_filter(esi, cast, disputed):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    disputed(1, labels=("1", "1", "2"), dimension="order")
    disputed(2, labels=("1", "1", "2"), dimension="order", rows=[("Ruth", "The window is open")])
    url = address("majorities") + "?text=window"
    response = esi.get(url)
    assert "1 cell would be settled" in response.content.decode()
    response = esi.post(url, {"seen_until": response.context["seen_until"]}, follow=True)
    assert "Settled by their leading label: 1" in response.content.decode()
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 1
    assert esi.post(address("majorities"), {"seen_until": "yesterday"}).status_code == 200
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 1


# --- overruled
# ------------------------------------------------------------------------------------------------------------


def finish(story, person):
    from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

    assignment = Assignment.objects.get(story=story, annotator=person)
    rows = story.tables.get().propositions.all()
    vote(
        assignment,
        [(row, one.key, one.values[0]) for row in rows for one in DEFAULT_SCHEMA.dimensions if one.key != SOURCE],
    )


def test_annotators_see_where_they_were_overruled_once_their_story_is_finished(client, cast, disputed):
    story = disputed(1, rows=[("Ines", "The key is in the bag")])
    decide(first_cell(story), cast.esi, "Memory", reason="He kept it from before.", error_tag="over-inference")
    client.force_login(cast.bob)
    assert "He kept it from before." not in client.get(address("overruled")).content.decode()
    finish(story, cast.bob)
    page = client.get(address("overruled")).content.decode()
    assert "Inference" in page and "Memory" in page and "He kept it from before." in page
    assert "Read too much into it" in page
    assert "Testimony" not in page and "Bea" not in page
    finish(story, cast.ben)
    client.force_login(cast.ben)
    assert "You were not overruled" in client.get(address("overruled")).content.decode()


def test_a_withdrawn_vote_is_not_overruled(client, cast, disputed):
    story = disputed(1, rows=[("Ines", "a")])
    finish(story, cast.bob)
    decide(first_cell(story), cast.esi, "Memory")
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    client.force_login(cast.bob)
    assert client.get(address("overruled")).context["page"].paginator.count == 1
    story.tables.get().propositions.get().votes.filter(annotator=cast.bob).update(label="")
    assert client.get(address("overruled")).context["page"].paginator.count == 0


def test_overruled_takes_the_same_statements_for_many(client, cast, disputed):
    stories, counts = [disputed(number) for number in range(1, 5)], []
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    client.force_login(cast.bob)
    for some in (stories[:1], stories[1:]):
        for story in some:
            decide(first_cell(story), cast.esi, "Memory")
        counts.append(statements(client, address("overruled")))
    assert client.get(address("overruled")).context["page"].paginator.count == 4
    assert counts[0] == counts[1] <= 10


def test_drafts_and_removed_propositions_have_no_cells(esi, cast, disputed):
    from annotation.models import BeliefTable, Proposition, TableKind

    gold = first_cell(disputed(1))
    story = gold.proposition.table.story
    draft = BeliefTable.objects.create(story=story, kind=TableKind.DRAFT, author=cast.alice)
    row = Proposition.objects.create(table=draft, position=1, actor="Ines", belief="A draft of Alice's")
    assert esi.get(address("cell_history", row.uid, SOURCE)).status_code == 404
    Proposition.objects.filter(pk=gold.proposition_id).update(removed_at=timezone.now())
    assert post(esi, gold, label="Memory").status_code == 404
    assert gold.proposition.uid not in esi.get(address("adjudicate", story.uid)).content.decode()


def test_another_project_is_not_touched(esi, cast, disputed):
    story = disputed(1)
    outsider = User.objects.create_user("zoe", password="correct-horse-battery")
    esi.force_login(outsider)
    gold = first_cell(story)
    assert post(esi, gold, label="Memory").status_code == 404
    assert first_cell(story).method == Method.OPEN


# --- similar cells
# ------------------------------------------------------------------------------------------------------------


def test_similar_cells_are_decided_together_or_not_at_all(esi, cast, disputed):
    """Cells of one dimension and one split of votes are listed together; a bulk decision takes those that are left
    ticked, each with its reason, or none; one undo takes all back."""
    first, second = disputed(1), disputed(2)
    disputed(3, labels=("Memory", "Inference", "Perception"))
    votes = "Inference|Memory|Testimony"
    kinds = esi.get(address("similar")).context["kinds"]
    assert len(kinds) == 2 and kinds[0]["kind"].votes == votes
    query = urlencode({"dimension": SOURCE, "votes": votes})
    preview = esi.get(f"{address('alike')}?{query}").content.decode()
    cells = re.findall(r'name="cell"\s+value="([^"]+)"', preview)
    assert len(cells) == kinds[0]["count"] == len(esi.get(f"{address('similar')}?{query}").context["cells"])
    told = {"dimension": SOURCE, "votes": votes, "label": "Memory", "cell": cells[1:]}
    assert "This field is required" in esi.post(address("alike"), told).content.decode()
    changed = first_cell(second)
    decide(changed, cast.esi, "Testimony")
    refused = esi.post(address("alike"), told | {"reason": "Recalled."}).content.decode()
    assert f"1 of the {len(cells) - 1} cells changed meanwhile; nothing was decided." in refused
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 1
    told["cell"] = [cell for cell in cells[1:] if not cell.startswith(changed.proposition.uid)]
    assert esi.post(address("alike"), told | {"reason": "Recalled."}).status_code == 302
    together = GoldLabel.objects.filter(reason="Recalled.", label="Memory", decided_by=cast.esi)
    assert together.count() == len(cells) - 2
    assert first_cell(first).method == Method.OPEN
    last = esi.get(address("undo_decisions")).json()["undo"]
    assert len(last["cells"]) == len(cells) - 2 and last["story"] == 1  # the first of them
    esi.post(address("undo_decisions"), {"cells": last["cells"]}, content_type="application/json")
    assert [gold.label for gold in GoldLabel.objects.filter(method=Method.ADJUDICATED)] == ["Testimony"]


def test_a_guideline_case_decides_the_cells_like_it(esi, cast, disputed):
    story, _ = disputed(1), disputed(2)
    case = decide(first_cell(story), cast.esi, "Memory", reason="What was seen before is memory.")
    file_case(by=cast.esi, proposition=case.proposition, dimension=SOURCE, filed=True)
    left = GoldLabel.objects.filter(method=Method.OPEN).count()
    assert f"Decide {left} like this" in esi.get(address("guideline_cases")).content.decode()
    page = esi.get(f"{address('alike')}?case={case.proposition.uid}-{SOURCE}")
    initial = page.context["form"].initial
    assert (initial["label"], initial["reason"]) == ("Memory", "As in story 1: What was seen before is memory.")
    assert len(page.context["labels"]) == left


def test_what_another_expert_has_claimed_is_decided_by_nobody_else(client, cast, eva, disputed):
    disputed(1)
    disputed(2)
    client.force_login(eva)
    open_page(client, client.get(address("next_open"))["Location"])
    client.force_login(cast.esi)
    query = urlencode({"dimension": SOURCE, "votes": "Inference|Memory|Testimony"})
    cells = client.get(f"{address('similar')}?{query}").context["cells"]
    shown = {cell["proposition"].table.story.number for cell in cells}
    listed = {
        gold.proposition.table.story.number for gold in client.get(f"{address('alike')}?{query}").context["labels"]
    }
    assert shown == listed == {2}


@pytest.mark.parametrize("name", ["similar", "alike", "guideline_cases"])
def test_pages_of_similar_cells_take_the_same_statements_for_many(esi, disputed, name):
    url = f"{address(name)}?{urlencode({'dimension': SOURCE, 'votes': 'Inference|Memory|Testimony'})}"
    disputed(1, rows=[("Ines", "a")])
    few = statements(esi, url)
    for number in (2, 3, 4):
        disputed(number, rows=[("Ines", f"b{at}") for at in range(5)])
    assert statements(esi, url) == few <= 32
