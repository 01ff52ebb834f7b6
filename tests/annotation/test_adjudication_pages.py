"""The experts' pages and the annotators' page of overruled votes: who sees what, in how many statements."""

import re
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access import project_access
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    Assignment,
    BeliefTable,
    CellComment,
    Claim,
    GoldEvent,
    GoldLabel,
    Membership,
    Method,
    Proposition,
    PropositionFlag,
    Role,
    Split,
    TableKind,
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
NAMES = {"Bob", "Bea", "Ben"}
ALIKE = {"dimension": SOURCE, "votes": "Inference|Memory|Testimony"}


def address(name, *parts, **query):
    return reverse(f"annotation:{name}", args=["minds", *parts]) + (f"?{urlencode(query)}" if query else "")


def vote(assignment, changes):
    now = timezone.now()
    made = [Change(row.uid, key, label, now, f"{row.uid}{key}{label}") for row, key, label in changes]
    save_votes(by=assignment.annotator, assignment=assignment, changes=made, now=now)


@pytest.fixture
def disputed(make_story, assign):
    """A story of which Bob, Bea and Ben label mental_source of every row in three ways: `disputed(number=1,
    rows=…)`."""

    def make(number=1, labels=("Inference", "Testimony", "Memory"), dimension=SOURCE, **fields):
        story = make_story(number=number, **{"rows": [("Ines", "a")]} | fields)
        rows = list(story.tables.get().propositions.order_by("position"))
        for one, label in zip(assign(story), labels, strict=True):
            vote(one, [(row, dimension, label) for row in rows])
        return story

    return make


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


def text_of(client, *where, **query) -> str:
    return " ".join(client.get(address(*where, **query)).content.decode().split())


def statements(client, url):
    """Return how many statements a page takes once it was opened before."""
    client.get(url)
    with CaptureQueriesContext(connection) as found:
        assert client.get(url).status_code == 200
    return len(found)


# --- the queue


def shown(client, **query) -> list[int]:
    """The numbers of the stories in the queue."""
    page = client.get(address("adjudication", **query)).content.decode()
    return [int(number) for number in re.findall(r"<h2[^>]*>\s*<a[^>]*>Story (\d+)</a>", page)]


def test_open_cells_are_queued_by_their_agreement(esi, cast, disputed):
    disputed(1, labels=("Memory", "Memory", "Inference"))
    assert shown(esi) == [] and "Nothing to decide" in text_of(esi, "adjudication")
    assert shown(esi, status="majority") == [1]
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    disputed(2, labels=("1", "1", "2"), dimension="order")
    disputed(3)
    assert shown(esi) == [3, 2]


def test_filters_come_from_the_address(esi, cast, disputed):
    split = Split.objects.create(project=cast.project, name="calibration")
    disputed(1, split=split, text="Ines waits at the ferry.")
    disputed(2, category="Hinting Task Test", rows=[("Ruth", "The window is open")])
    disputed(3, labels=("1", "2", "3"), dimension="order")
    for query, stories in (
        ({}, [1, 2, 3]),
        ({"dimension": "order"}, [3]),
        ({"dimension": "nonsense"}, [1, 2, 3]),
        ({"split": "calibration"}, [1]),
        ({"category": "Hinting Task Test"}, [2]),
        ({"text": "window"}, [2]),
        ({"text": "ferry"}, [1]),
        ({"text": "3"}, [3]),
        ({"status": "adjudicated"}, []),
    ):
        assert shown(esi, **query) == stories, query
    disputed(4, labels=("Memory", "Memory", "Inference"))
    disputed(5, labels=("Memory", "Memory", "Memory"))
    for pair, stories in (
        ("Inference|Memory", [1, 2, 4]), ("Testimony|Memory", [1, 2]), ("Memory|Memory", [4, 5]),
        ("Perception|Memory", []),
    ):  # fmt: skip
        of_a_matrix = {"dimension": SOURCE, "pair": pair, "status": "all"}
        assert sorted(shown(esi, **of_a_matrix)) == stories, pair
    assert "A pair is two labels" in text_of(esi, "adjudication", pair="Memory")


def test_what_is_left_is_counted_and_a_disturbed_decision_comes_back_with_the_votes_of_now(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", "a"), ("Tomas", "b"), ("Ruth", "c")])
    gold = decide(first_cell(story), cast.esi, "Memory")
    context = esi.get(address("adjudication")).context
    assert {row["dimension"].key: (row["todo"], row["decided"]) for row in context["left"]}[SOURCE] == (2, 1)
    assert (context["todo"], context["decided"]) == (2, 1)
    page = text_of(esi, "adjudication")
    assert "in the last hour 1 by you" in page and "to go" not in page, "one hour foretells nothing"
    assert shown(esi, status="disturbed") == []
    vote(Assignment.objects.get(annotator=cast.bob), [(gold.proposition, SOURCE, "Imagination")])
    page = text_of(esi, "adjudication", status="disturbed")
    assert shown(esi, status="disturbed") == [1] and "votes changed" in page and "Imagination" in page


def test_no_votes_are_shown_of_what_the_expert_labels_or_labelled(client, cast, disputed):
    story = disputed(1)
    gold = first_cell(story)
    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    client.force_login(cast.bob)
    assert shown(client, status="all") == []
    page = text_of(client, "adjudicate", story.uid)
    assert "You still label this story yourself" in page and "Testimony" not in page
    assert client.get(address("cell_history", gold.proposition.uid, SOURCE)).status_code == 404
    response = post(client, gold, label="Memory")
    assert response["HX-Redirect"] and b"Testimony" not in response.content
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    page = text_of(client, "adjudication")
    assert "You voted here" in page and "Testimony" not in page and "33 %" not in page
    page = text_of(client, "adjudicate", story.uid)
    assert "You voted on this cell yourself" in page and "Testimony" not in page
    response = post(client, gold, label="Memory")
    assert response.status_code == 422 and "voted on this cell yourself" in response.content.decode()
    assert "Testimony" not in text_of(client, "cell_history", gold.proposition.uid, SOURCE)
    assert first_cell(story).method == Method.OPEN


def test_pages_take_the_same_statements_for_more_and_longer_stories(esi, cast, disputed):
    most = {
        address("adjudication"): 18, address("guideline_cases"): 12, address("flags"): 12,
        address("similar", **ALIKE): 32, address("alike", **ALIKE): 32,
    }  # fmt: skip
    counts = []
    for numbers, rows in (([1], 1), (range(2, 7), 5)):
        for number in numbers:
            row = first_cell(disputed(number, rows=[("Ines", f"b{at}") for at in range(rows)])).proposition
            file_case(by=cast.esi, proposition=row, dimension=SOURCE, filed=True)
            remarks.flag(by=cast.bob, proposition=row, kind="split", remark="Two in one.")
        counts.append({url: statements(esi, url) for url in most})
    assert counts[0] == counts[1] and all(counts[0][url] <= most[url] for url in most), counts
    short, long = disputed(7), disputed(8, rows=[("Ines", f"b{at}") for at in range(25)])
    few, many = (statements(esi, address("adjudicate", story.uid)) for story in (short, long))
    assert few == many <= 26


# --- claims and what a script saves


def test_experts_get_different_stories_and_see_each_other(client, cast, disputed):
    """Two experts who go on through the queue never get one story; a claim is told by name, refuses the other's
    decisions, also of similar cells, and ends by itself."""
    eva = User.objects.create_user("eva")
    Membership.objects.create(project=cast.project, user=eva, role=Role.EXPERT)
    for number in (1, 2, 3):
        disputed(number)
    met = {}
    for person in (cast.esi, eva):
        client.force_login(person)
        met[person] = client.get(client.get(address("next_open"))["Location"]).context
        claim = {"stories": met[person]["settings"]["stories"], "opened": True}  # as the page's script opens it
        assert client.post(address("keep_claims"), claim, content_type="application/json").json() == {"others": {}}
    assert [context["story"].number for context in met.values()] == [1, 2]
    queue = text_of(client, "adjudication")
    assert "<bdi>Esi</bdi> decides here" in queue and queue.count("decides here") == 1
    similar = client.get(address("similar", **ALIKE)).context["cells"]
    listed = client.get(address("alike", **ALIKE)).context["labels"]
    assert {cell["proposition"].table.story.number for cell in similar} == {2, 3}
    assert {gold.proposition.table.story.number for gold in listed} == {2, 3}
    story = met[cast.esi]["story"]
    page = client.get(address("adjudicate", story.uid))
    assert page.context["claim"].expert == cast.esi and "decides this story now" in page.content.decode()
    with pytest.raises(AdjudicationRefused, match="Esi decides story 1 now"):
        decide(first_cell(story), eva, "Memory")
    Claim.objects.filter(expert=cast.esi).update(until=timezone.now())
    assert decide(first_cell(story), eva, "Memory").decided_by == eva
    assert client.get(address("adjudicate", story.uid)).context["claim"] is None


def test_what_is_sent_twice_or_says_the_same_is_no_revision(esi, cast, disputed):
    """A browser sends again what was not answered; another label on a decided cell has to say what it replaces."""

    def save(gold, label, **fields):
        told = {"proposition": gold.proposition.uid, "dimension": gold.dimension, "label": label, "row": gold.pk}
        told |= {"revision": gold.revision, "idempotency_key": "k", "changed_at": timezone.now().isoformat()}
        body = {"changes": [told | fields]}
        return esi.post(address("save_decisions", page="x"), body, content_type="application/json")

    story = disputed(1)
    gold = first_cell(story)
    answers = [save(gold, "Memory", reason="Recalled.").json() for _ in range(3)]
    assert all("Recalled." in one["saved"][0]["html"] for one in answers)
    decided = first_cell(story)
    assert decided.revision == 2 and GoldEvent.objects.filter(by=cast.esi, after_method="adjudicated").count() == 1
    refused = save(decided, "Inference")
    assert refused.status_code == 400 and "decided: Memory" in refused.json()["error"]
    # Offline the browser has only the revision before its own decision.
    assert save(gold, "Inference", replaces="Memory").status_code == 200
    assert first_cell(story).label == "Inference"


def test_undo_goes_back_action_by_action_and_counts_once(esi, cast, disputed):
    disputed(1, rows=[("Ines", "a"), ("Tomas", "b")])
    cells = list(GoldLabel.objects.order_by("proposition__position"))
    for gold in cells:
        decide(gold, cast.esi, "Memory")
    for gold in reversed(cells):
        last = esi.get(address("undo_decisions")).json()["undo"]
        assert [one["proposition"] for one in last["cells"]] == [gold.proposition.uid]
        for _ in range(2):  # sent again, as the answer was lost
            body = {"cells": last["cells"]}
            answer = esi.post(address("undo_decisions"), body, content_type="application/json")
            assert 'data-todo="1"' in answer.json()["cells"][0]["html"]
    assert esi.get(address("undo_decisions")).json() == {"undo": None}
    assert not GoldLabel.objects.filter(method=Method.ADJUDICATED).exists()


# --- the screen


def test_votes_are_shuffled_stable_and_without_names_until_decided(esi, cast, disputed):
    story = disputed(1, rows=[("Ines", f"belief {at}") for at in range(12)])

    def chips() -> list[str]:
        page = esi.get(address("adjudicate", story.uid)).content.decode()
        assert not NAMES & set(re.findall(r"\w+", page))
        return re.findall(r'class="chip chip-vote"\s+name="label"\s+value="([^"]+)"', page)

    before = chips()
    assert before == chips() and len({tuple(before[at : at + 3]) for at in range(0, 36, 3)}) > 1
    # the same labels by other annotators in the same cell are shown in the same order
    places = [(first_cell(story).proposition, DEFAULT_SCHEMA[SOURCE])]
    access = project_access(cast.esi, "minds", role=Role.EXPERT)
    before = cells_of(access, places)[0]["chips"]
    for one, label in ((cast.bob, "Testimony"), (cast.bea, "Inference")):
        vote(Assignment.objects.get(annotator=one), [(places[0][0], SOURCE, label)])
    assert cells_of(access, places)[0]["chips"] == before
    decide(first_cell(story), cast.esi, "Memory")
    assert set(re.findall(r"\w+", text_of(esi, "adjudicate", story.uid))) >= NAMES


def test_settled_cells_are_context_and_can_be_opened(esi, disputed):
    story = disputed(1, labels=("Memory", "Memory", "Inference"))
    gold = first_cell(story)
    cell = f"{gold.proposition.uid}-{SOURCE}"
    page = text_of(esi, "adjudicate", story.uid)
    assert f'id="{cell}"' not in page and f"cell={cell}#{cell}" in page
    page = text_of(esi, "adjudicate", story.uid, cell=cell)
    assert f'id="{cell}"' in page and "Settled by its votes" in page


def test_cells_that_wait_for_votes_show_none_of_them_and_an_imported_label_is_decided(esi, make_story, assign):
    story = make_story(rows=[("Ines", "a")])
    row = story.tables.get().propositions.get()
    row.imported_labels = {"content_type": "Location"}
    row.save()
    vote(assign(story)[0], [(row, SOURCE, "Imagination")])
    for query in ({}, {"cell": f"{row.uid}-{SOURCE}"}):
        assert "Imagination" not in text_of(esi, "adjudicate", story.uid, **query)
    history = text_of(esi, "cell_history", row.uid, SOURCE)
    assert "Imagination" not in history and "Bob" not in history
    page = text_of(esi, "adjudicate", story.uid, cell=f"{row.uid}-content_type")
    assert "Imported as <strong>Location</strong>" in page
    url, data = address("decide", row.uid, "content_type"), {"label": "Emotion", "revision": 0, "row": 0}
    assert esi.post(url, data, **HTMX).status_code == 422
    assert esi.post(url, data | {"reason": "He recalls it."}, **HTMX).status_code == 200
    assert first_cell(story, "content_type").method == Method.ADJUDICATED


def test_deciding_and_taking_back_answer_with_the_cell_and_refusals_with_a_sentence(esi, cast, disputed):
    story = disputed(1)
    seen = first_cell(story)
    for wrong in ({"revision": "x"}, {"undo": "1", "revision": ""}, {"error_tag": "stupid"}):
        assert post(esi, seen, label="Memory", **wrong).status_code == 422, wrong
    assert "is not a label of mental_source" in post(esi, seen, label="Nonsense").content.decode()
    assert esi.post(address("decide", seen.proposition.uid, "nonsense"), {"label": "1"}).status_code == 404
    response = post(esi, seen, label="Memory", reason="He recalls it.", error_tag="slip")
    page = response.content.decode()
    assert response.status_code == 200 and "He recalls it." in page and 'data-todo="0"' in page and "Take back" in page
    response = post(esi, first_cell(story), undo=1)
    assert response.status_code == 200 and 'data-todo="1"' in response.content.decode()
    assert first_cell(story).method == Method.OPEN
    Claim.objects.all().delete()
    seen = first_cell(story)
    decide(seen, cast.alice, "Memory", reason="Recalled.")
    response = post(esi, seen, label="Testimony", reason="She was told.")
    page = response.content.decode()
    assert response.status_code == 409
    assert "Alice decided this cell: Memory" in page and 'value="She was told."' in page
    assert first_cell(story).label == "Memory"
    # without scripts one returns to the cell
    plain = {"revision": first_cell(story).revision, "row": seen.pk, "label": "Inference", "reason": "So."}
    response = esi.post(address("decide", seen.proposition.uid, SOURCE), plain)
    assert response.status_code == 302 and response["Location"].endswith(f"#{seen.proposition.uid}-{SOURCE}")


def test_next_walks_the_queue_and_keeps_its_place_and_filters(esi, cast, disputed):
    stories = [disputed(number) for number in (1, 2, 3)]

    def following(response) -> str:
        return esi.get(response.context["settings"]["urls"]["next"])["Location"]

    at = esi.get(address("adjudication")).context["groups"][0]["at"]
    visited, url = [], address("adjudicate", stories[0].uid, at=at, dimension=SOURCE)
    for _ in range(4):
        response = esi.get(url)
        visited.append(response.context["story"].number)
        url = following(response)
        assert f"dimension={SOURCE}" in url
    assert visited == [1, 2, 3, 1]
    decide(first_cell(stories[1]), cast.esi, "Memory")
    assert stories[2].uid in following(esi.get(address("adjudicate", stories[1].uid, at=1 / 3)))


def test_removed_propositions_drafts_and_other_projects_have_no_cells(esi, cast, disputed):
    gold = first_cell(disputed(1))
    story = gold.proposition.table.story
    draft = BeliefTable.objects.create(story=story, kind=TableKind.DRAFT, author=cast.alice)
    row = Proposition.objects.create(table=draft, position=1, actor="Ines", belief="A draft of Alice's")
    assert esi.get(address("cell_history", row.uid, SOURCE)).status_code == 404
    Proposition.objects.filter(pk=gold.proposition_id).update(removed_at=timezone.now())
    assert post(esi, gold, label="Memory").status_code == 404
    assert gold.proposition.uid not in text_of(esi, "adjudicate", story.uid)
    gold = first_cell(disputed(2))
    esi.force_login(cast.charlie)
    assert post(esi, gold, label="Memory").status_code == 404
    assert first_cell(gold.proposition.table.story).method == Method.OPEN


# --- filing, history, comments, flags


def test_the_history_tells_who_decided_on_which_votes_and_what_was_taken_back(esi, cast, disputed, monkeypatch):
    story = disputed(1)
    proposition = first_cell(story).proposition
    where = ("cell_history", proposition.uid, SOURCE)
    page = text_of(esi, *where)
    assert "Votes and names are shown once the cell is settled" in page and "Bea" not in page
    decide(first_cell(story), cast.esi, "Memory", reason="He recalls it.")
    page = text_of(esi, *where)
    for told in ("Esi</bdi> decided", "He recalls it.", "Bea</bdi>: Testimony", "Rule 1"):
        assert told in page
    # a long one comes by pages, newest first
    monkeypatch.setattr(adjudication_cases, "A_PAGE", 2)
    pages = [esi.get(address(*where, page=number)).context["timeline"] for number in (1, 2, 3)]
    changes = [change for page in pages for change in page]
    told = {("gold" in change, (change.get("gold") or change["vote"]).pk) for change in changes}
    kept = [model.objects.filter(proposition=proposition, dimension=SOURCE).count() for model in (GoldEvent, VoteEvent)]
    assert len(changes) == len(told) == sum(kept) == 5
    moments = [change["at"] for change in changes]
    assert moments == sorted(moments, reverse=True) and pages[0][0]["gold"].reason == "He recalls it."
    panel = esi.get(address(*where), **HTMX).content.decode()  # which stands on another page
    assert f'href="{address(*where)}?page=2"' in panel
    post(esi, first_cell(story), undo="1")
    assert "Bea" not in text_of(esi, *where)


def test_experts_file_cases_read_all_threads_and_answer_flags(esi, cast, disputed):
    gold = first_cell(disputed(1))
    url = address("file_case", gold.proposition.uid, SOURCE)
    assert esi.post(url, {"filed": "x"}, **HTMX).status_code == 422
    response = esi.post(url, {"filed": "1", "reason": "half a thought"}, **HTMX)
    assert 'value="half a thought"' in response.content.decode(), "what was typed is kept"
    page = text_of(esi, "guideline_cases")
    assert "Mental source" in page and "Testimony" in page
    esi.post(url, {"filed": "0"}, **HTMX)
    assert "No case was filed yet" in text_of(esi, "guideline_cases")

    place = {"proposition": gold.proposition, "dimension": SOURCE}
    mine = remarks.add_comment(by=cast.bob, thread_of=cast.bob, text="I was torn here.", **place)
    remarks.add_comment(by=cast.bea, thread_of=cast.bea, text="So was I.", **place)
    url = address("cell_history", gold.proposition.uid, SOURCE)
    page = esi.get(url).content.decode()
    assert "I was torn here." in page and "So was I." in page and "Bob" not in page
    page = esi.post(url, {"thread": mine.uid, "text": "Thanks, see the guideline."}).content.decode()
    reply = CellComment.objects.latest("id")
    assert "Thanks, see the guideline." in page and (reply.author, reply.thread_of) == (cast.esi, cast.bob)
    assert esi.post(url, {"thread": "elsewhere", "text": "x"}).status_code == 404
    decide(gold, cast.esi, "Memory")
    assert "Bob" in esi.get(url).content.decode()

    flag = remarks.flag(by=cast.bob, proposition=gold.proposition, kind="split", remark="<b>Two</b> in one.")
    assert "&lt;b&gt;Two&lt;/b&gt; in one." in text_of(esi, "flags")
    for outcome, why in (("declined", "One fact only."), ("accepted", "No, two.")):
        esi.post(address("flags"), {"flag": flag.uid, "outcome": outcome, "text": why})
    flag = PropositionFlag.objects.get()
    assert (flag.outcome, flag.outcome_text, flag.outcome_by) == ("declined", "One fact only.", cast.esi)


# --- many at once


def test_majorities_are_previewed_and_accepted_within_the_filter(esi, cast, disputed):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    disputed(1, labels=("1", "1", "2"), dimension="order")
    disputed(2, labels=("1", "1", "2"), dimension="order", rows=[("Ruth", "The window is open")])
    url = address("majorities", text="window")
    response = esi.get(url)
    assert "1 cell would be settled" in response.content.decode()
    response = esi.post(url, {"seen_until": response.context["seen_until"]}, follow=True)
    assert "Settled by their leading label: 1" in response.content.decode()
    assert esi.post(address("majorities"), {"seen_until": "yesterday"}).status_code == 200
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 1


def test_similar_cells_are_decided_together_or_not_at_all(esi, cast, disputed):
    """Cells of one dimension and one split of votes are listed together; a bulk decision takes those that are left
    ticked, each with its reason, or none; one undo takes all back."""
    first, second = (disputed(number, rows=[("Ines", "a"), ("Tomas", "b")]) for number in (1, 2))
    disputed(3, labels=("Memory", "Inference", "Perception"))
    kinds = esi.get(address("similar")).context["kinds"]
    assert len(kinds) == 2 and kinds[0]["kind"].votes == ALIKE["votes"]
    cells = re.findall(r'name="cell"\s+value="([^"]+)"', esi.get(address("alike", **ALIKE)).content.decode())
    assert len(cells) == 4 == kinds[0]["count"] == len(esi.get(address("similar", **ALIKE)).context["cells"])
    told = ALIKE | {"label": "Memory", "cell": cells[1:]}
    assert "This field is required" in esi.post(address("alike"), told).content.decode()
    changed = first_cell(second)
    decide(changed, cast.esi, "Testimony")
    refused = esi.post(address("alike"), told | {"reason": "Recalled."}).content.decode()
    assert "1 of the 3 cells changed meanwhile; nothing was decided." in refused
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 1
    told["cell"] = [cell for cell in cells[1:] if not cell.startswith(changed.proposition.uid)]
    assert esi.post(address("alike"), told | {"reason": "Recalled."}).status_code == 302
    together = GoldLabel.objects.filter(reason="Recalled.", label="Memory", decided_by=cast.esi)
    assert together.count() == 2 and first_cell(first).method == Method.OPEN
    last = esi.get(address("undo_decisions")).json()["undo"]
    assert len(last["cells"]) == 2 and last["story"] == 1  # the first of them
    esi.post(address("undo_decisions"), {"cells": last["cells"]}, content_type="application/json")
    assert [gold.label for gold in GoldLabel.objects.filter(method=Method.ADJUDICATED)] == ["Testimony"]
    # a case for the guideline decides the cells like it, too
    case = decide(first_cell(first), cast.esi, "Memory", reason="What was seen before is memory.")
    file_case(by=cast.esi, proposition=case.proposition, dimension=SOURCE, filed=True)
    assert "Decide 2 like this" in text_of(esi, "guideline_cases")
    page = esi.get(address("alike", case=f"{case.proposition.uid}-{SOURCE}"))
    initial = page.context["form"].initial
    assert (initial["label"], initial["reason"]) == ("Memory", "As in story 1: What was seen before is memory.")
    assert len(page.context["labels"]) == 2


# --- overruled


def test_annotators_see_where_they_were_overruled_once_their_story_is_finished(client, cast, disputed):
    gold = first_cell(disputed(1))
    decide(gold, cast.esi, "Memory", reason="He kept it from before.", error_tag="over-inference")

    def finish(person) -> None:
        others = [(gold.proposition, one.key, one.values[0]) for one in DEFAULT_SCHEMA.dimensions if one.key != SOURCE]
        vote(Assignment.objects.get(annotator=person), others)

    client.force_login(cast.bob)
    assert "He kept it from before." not in text_of(client, "overruled")
    finish(cast.bob)
    page = text_of(client, "overruled")
    for told in ("Inference", "Memory", "He kept it from before.", "Read too much into it"):
        assert told in page
    assert "Testimony" not in page and "Bea" not in page
    finish(cast.ben)
    client.force_login(cast.ben)
    assert "You were not overruled" in text_of(client, "overruled")


def test_overruled_takes_the_same_statements_for_many_and_leaves_out_withdrawn_votes(client, cast, disputed):
    stories, counts = [disputed(number) for number in range(1, 5)], []
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    client.force_login(cast.bob)
    for some in (stories[:1], stories[1:]):
        for story in some:
            decide(first_cell(story), cast.esi, "Memory")
        counts.append(statements(client, address("overruled")))
    assert counts[0] == counts[1] <= 10

    def overruled() -> int:
        return client.get(address("overruled")).context["page"].paginator.count

    assert overruled() == 4
    first_cell(stories[0]).proposition.votes.filter(annotator=cast.bob).update(label="")
    assert overruled() == 3
