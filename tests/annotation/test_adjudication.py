"""Experts' decisions: one by one, many at once, and by several experts at the same moment."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Assignment,
    AuditEvent,
    GoldEvent,
    GoldLabel,
    Membership,
    Method,
    Role,
    User,
    adjudication_queue,
)
from annotation.services import adjudication
from annotation.services.adjudication import (
    BULK_REASON,
    AdjudicationRefused,
    DecidedMeanwhile,
    accept_plurality,
    adjudicate,
    file_case,
    preview,
    undo_decision,
)
from annotation.services.votes import Change, save_votes
from tests.threads import at_once

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
DIMENSION = "mental_source"
EACH_ANOTHER = ("Inference", "Testimony", "Memory")
"""Labels that leave a cell open."""


def another_expert(cast, name: str) -> User:
    user = User.objects.create_user(name, display_name=name.title())
    Membership.objects.create(project=cast.project, user=user, role=Role.EXPERT)
    return user


@pytest.fixture
def eva(cast):
    return another_expert(cast, "eva")


@pytest.fixture
def assignments(make_story, assign):
    return assign(make_story())


@pytest.fixture
def proposition(assignments):
    return assignments[0].story.tables.get().propositions.get(position=2)


@pytest.fixture
def vote_all(assignments, proposition, cast_vote):
    """Bob, Bea and Ben vote: `vote_all(*EACH_ANOTHER)` leaves the cell open."""

    def make(*labels, dimension=DIMENSION):
        for one, label in zip(assignments, labels, strict=True):
            cast_vote(one, proposition, dimension, label)
        return GoldLabel.objects.get(proposition=proposition, dimension=dimension)

    return make


@pytest.fixture
def open_cell(vote_all):
    return vote_all(*EACH_ANOTHER)


def decide(gold, by, label, **fields):
    fields = {"revision": gold.revision, "row": gold.pk, "now": NOW} | fields
    return adjudicate(by=by, proposition=gold.proposition, dimension=gold.dimension, label=label, **fields)


def undo(gold, by, **fields):
    fields = {"revision": gold.revision, "now": NOW} | fields
    return undo_decision(by=by, proposition=gold.proposition, dimension=gold.dimension, **fields)


def test_a_decision_is_a_legal_label_with_who_when_why_the_rule_and_its_votes(cast, open_cell):
    for label, tag in (("True", ""), ("", ""), ("Memory", "stupid")):
        with pytest.raises(AdjudicationRefused, match=r"is not an? "):
            decide(open_cell, cast.esi, label, error_tag=tag)
    revision = open_cell.revision
    gold = decide(open_cell, cast.esi, "Unknown", reason="  She is told on the stairs. ", error_tag="slip")
    assert (gold.label, gold.method, gold.decided_by, gold.decided_at) == ("Unknown", "adjudicated", cast.esi, NOW)
    assert (gold.reason, gold.error_tag) == ("She is told on the stairs.", "slip")
    assert (gold.rule_version, gold.schema_version, gold.revision) == ("1", "1", revision + 1)
    assert [vote["label"] for vote in gold.votes] == [*EACH_ANOTHER] and gold.agreement == pytest.approx(1 / 3)
    event = GoldEvent.objects.order_by("id").last()
    assert (event.before_method, event.after_method, event.after, event.by) == (
        "open", "adjudicated", "Unknown", cast.esi,
    )  # fmt: skip
    assert (event.votes, event.reason, event.error_tag) == (gold.votes, gold.reason, "slip")


def test_an_expert_decides_no_cell_that_they_voted_on_and_none_of_a_story_that_they_label(
    cast, make_story, assign, cast_vote
):
    cast.project.overlap = 2
    cast.project.save()
    story = make_story(rows=[("Ines", "The key is in the bag"), ("Tomas", "The key is in the drawer")])
    bob, bea = assign(story, [cast.bob, cast.bea])
    voted, withdrawn = story.tables.get().propositions.order_by("position")
    for row in (voted, withdrawn):
        cast_vote(bob, row, DIMENSION, "Inference")
        cast_vote(bea, row, DIMENSION, "Memory")
    Assignment.objects.filter(pk=bea.pk).update(released_at=NOW)
    esi = Assignment.objects.create(story=story, annotator=cast.esi, slot=2, overlap=2)
    place = {"by": cast.esi, "proposition": voted, "dimension": DIMENSION}
    for attempt in (
        lambda: decide(GoldLabel.objects.get(proposition=voted), cast.esi, "Memory"),
        lambda: file_case(**place, filed=True),
    ):
        with pytest.raises(AdjudicationRefused, match="still label this story"):
            attempt()
    for row, labels in ((voted, ["Testimony"]), (withdrawn, ["Testimony", ""])):
        for label in labels:
            cast_vote(esi, row, DIMENSION, label)
    Assignment.objects.filter(pk=esi.pk).update(released_at=NOW)
    for gold in GoldLabel.objects.all():
        with pytest.raises(AdjudicationRefused, match="voted on this cell yourself"):
            decide(gold, cast.esi, "Inference")
    assert [gold.method for gold in GoldLabel.objects.all()] == [Method.OPEN] * 2


def test_the_second_expert_is_told_overrules_with_a_reason_and_may_undo_their_own_alone(cast, eva, open_cell):
    first = decide(open_cell, cast.esi, "Memory", reason="He recalls it.", error_tag="definition")
    with pytest.raises(DecidedMeanwhile, match=r"Esi decided this cell: Memory, on 04 May 2026 at 09:00 UTC") as caught:
        decide(open_cell, eva, "Testimony", reason="She was told.")
    assert caught.value.gold.label == "Memory"
    gold = GoldLabel.objects.get(pk=open_cell.pk)
    assert (gold.label, gold.decided_by) == ("Memory", cast.esi)
    assert GoldEvent.objects.filter(after_method="adjudicated").count() == 1
    with pytest.raises(AdjudicationRefused, match="Esi decided this cell, and you overrule it"):
        decide(first, eva, "Testimony")
    second = decide(first, eva, "Testimony", reason="The neighbour tells her.", now=NOW + timedelta(hours=1))
    assert (second.label, second.decided_by, second.revision) == ("Testimony", eva, first.revision + 1)
    back = undo(second, eva, now=NOW + timedelta(hours=2))
    assert (back.label, back.decided_by, back.decided_at) == ("Memory", cast.esi, NOW)
    assert (back.reason, back.error_tag, back.disturbed) == ("He recalls it.", "definition", False)
    with pytest.raises(AdjudicationRefused, match="Only your own decision"):
        undo(back, eva)
    assert undo(back, cast.esi).method == Method.OPEN


def test_only_the_label_that_was_seen_is_decided(cast, open_cell, assignments, cast_vote, monkeypatch):
    """Neither one that was removed and made again, nor one that another writer changes between the read and the write,
    as without row locks on SQLite's readers."""
    cast_vote(assignments[2], open_cell.proposition, DIMENSION, "")
    cast_vote(assignments[2], open_cell.proposition, DIMENSION, "Imagination")
    again = GoldLabel.objects.get(proposition=open_cell.proposition)
    assert (again.revision, again.method) == (open_cell.revision, Method.OPEN)
    with pytest.raises(DecidedMeanwhile, match="votes of this cell changed"):
        decide(open_cell, cast.esi, "Memory")

    def late(cells):
        GoldLabel.objects.filter(pk=again.pk).update(revision=again.revision + 5)
        return {cell: [] for cell in cells}

    monkeypatch.setattr(adjudication, "votes_of", late)
    with pytest.raises(DecidedMeanwhile):
        decide(again, cast.esi, "Memory")
    assert GoldLabel.objects.get(pk=again.pk).method == Method.OPEN


def test_what_is_settled_is_decided_with_a_reason_and_what_waits_for_votes_is_not(
    cast, vote_all, assignments, proposition, cast_vote
):
    cast_vote(assignments[0], proposition, "order", "1")
    proposition.imported_labels = {"content_type": "Location"}
    proposition.save()
    place = {"by": cast.esi, "proposition": proposition, "revision": 0, "now": NOW}
    with pytest.raises(AdjudicationRefused, match="not all in"):
        adjudicate(**place, dimension="order", label="1")
    imported = place | {"dimension": "content_type", "label": "Emotion"}
    with pytest.raises(AdjudicationRefused, match="Say why"):
        adjudicate(**imported)
    assert not GoldLabel.objects.exists()
    gold = adjudicate(**imported, row=0, reason="He kept it from before.")
    assert (gold.label, gold.votes, gold.agreement, gold.revision) == ("Emotion", [], None, 1)
    assert undo(gold, cast.esi) is None and not GoldLabel.objects.exists()
    gold = vote_all("Inference", "Inference", "Memory")
    assert gold.method == Method.MAJORITY
    with pytest.raises(AdjudicationRefused, match="the votes settled this cell"):
        decide(gold, cast.esi, "Memory")
    assert decide(gold, cast.esi, "Memory", reason="He saw it last year.").method == Method.ADJUDICATED


def test_late_votes_disturb_a_decision_until_it_is_confirmed(cast, eva, open_cell, assignments, cast_vote):
    decide(open_cell, cast.esi, "Memory", reason="He recalls it.", error_tag="definition")
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Testimony")
    gold = GoldLabel.objects.get(pk=open_cell.pk)
    assert (gold.label, gold.method, gold.disturbed) == ("Memory", Method.ADJUDICATED, True)
    confirmed = decide(gold, eva, "Memory")
    assert (confirmed.disturbed, confirmed.decided_by) == (False, eva)
    assert (confirmed.reason, confirmed.error_tag) == ("He recalls it.", "definition")
    assert [vote["label"] for vote in confirmed.votes] == ["Testimony", "Testimony", "Memory"]
    assert confirmed.agreement == pytest.approx(2 / 3)
    back = undo(confirmed, eva)
    assert (back.label, back.decided_by, back.disturbed) == ("Memory", cast.esi, True)


def test_undo_goes_back_to_what_the_rule_says_of_the_votes_of_now(cast, open_cell, assignments, cast_vote):
    revision = open_cell.revision
    back = undo(decide(open_cell, cast.esi, "Memory", reason="x", error_tag="slip"), cast.esi)
    assert (back.method, back.label, back.decided_by, back.reason, back.error_tag) == ("open", "", None, "", "")
    assert back.revision == revision + 2
    event = GoldEvent.objects.order_by("id").last()
    assert (event.before, event.after_method, event.undoes, event.by) == ("Memory", "open", 2, cast.esi)
    decide(back, cast.esi, "Memory")
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Testimony")
    back = undo(GoldLabel.objects.get(pk=open_cell.pk), cast.esi)
    assert (back.method, back.label) == (Method.MAJORITY, "Testimony")
    decide(back, cast.esi, "Memory", reason="He recalls it.")
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "")
    assert undo(GoldLabel.objects.get(pk=open_cell.pk), cast.esi) is None  # a vote is missing now
    assert not GoldLabel.objects.exists()
    event = GoldEvent.objects.order_by("id").last()
    assert (event.before, event.after, event.after_method) == ("Memory", "", "")


def test_undo_goes_step_by_step_and_takes_only_what_was_seen(cast, open_cell):
    first = decide(open_cell, cast.esi, "Memory")
    amended = decide(first, cast.esi, "Memory", reason="He recalls it.", error_tag="slip")
    assert (amended.reason, amended.revision) == ("He recalls it.", first.revision + 1)
    gold = undo(amended, cast.esi)
    assert gold.method == Method.OPEN, "what was amended is one step"
    gold = decide(decide(gold, cast.esi, "Memory"), cast.esi, "Testimony")
    with pytest.raises(DecidedMeanwhile):
        undo(gold, cast.esi, revision=gold.revision - 1)
    gold = undo(gold, cast.esi)
    assert gold.label == "Memory"
    gold = undo(gold, cast.esi)
    assert gold.method == Method.OPEN
    with pytest.raises(AdjudicationRefused):
        undo(gold, cast.esi)
    assert undo(decide(gold, cast.esi, "Inference"), cast.esi).method == Method.OPEN, "it never redoes"


def test_filing_for_the_guideline_keeps_label_and_revision_and_survives_votes(cast, open_cell, assignments, cast_vote):
    place = {"by": cast.esi, "proposition": open_cell.proposition}
    with pytest.raises(AdjudicationRefused, match="cannot be filed"):
        file_case(**place, dimension="order", filed=True)
    place["dimension"] = DIMENSION
    for _ in range(2):
        assert file_case(**place, filed=True).guideline_flag
        assert AuditEvent.objects.get().action == "guideline_case.filed"
    decided = decide(open_cell, cast.esi, "Memory")
    assert decided.guideline_flag and undo(decided, cast.esi).guideline_flag
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Memory")
    assert GoldLabel.objects.get().guideline_flag
    unfiled = file_case(**place, filed=False)
    assert not unfiled.guideline_flag
    assert decide(unfiled, cast.esi, "Inference", reason="So.", guideline_flag=True).guideline_flag


# --- many at once


@pytest.fixture
def rows(cast, make_story):
    cast.project.unanimity_dimensions = ["order", "context"]
    cast.project.save()
    story = make_story(rows=[("Ines", "The key is in the bag"), ("Tomas", "The key is in the drawer")])
    return list(story.tables.get().propositions.order_by("position"))


@pytest.fixture
def voted(rows, assign, cast_vote):
    """Open: order of both rows 2:1, mental_source of the first 1:1:1; context of the first is unanimous."""
    assignments = assign(rows[0].table.story)
    for one, order, source in zip(assignments, ("1", "1", "2"), EACH_ANOTHER, strict=True):
        for row in rows:
            cast_vote(one, row, "order", order)
        cast_vote(one, rows[0], DIMENSION, source)
        cast_vote(one, rows[0], "context", "Neutral")
    return assignments


def accept(cast, *, by=None, until=None, **filters):
    now = timezone.now()
    cells = adjudication_queue.cells(cast.project, **{"status": "open"} | filters)
    return accept_plurality(by=by or cast.esi, project=cast.project, cells=cells, seen_until=until or now, now=now)


def test_leading_labels_are_accepted_as_previewed_and_decisions_kept(cast, voted, rows):
    before = GoldLabel.objects.get(proposition=rows[0], dimension="order")
    found = preview(by=cast.esi, cells=adjudication_queue.cells(cast.project, status="open"))
    assert found == {"total": 2, "by_dimension": {"order": 2}, "tied": 1, "voted_on": 0}
    assert accept(cast, dimension="context") == 0
    assert accept(cast, text="key is in the drawer") == 1
    decide(GoldLabel.objects.get(proposition=rows[1], dimension="order"), cast.alice, "3", reason="Three minds.")
    assert [accept(cast), accept(cast)] == [1, 0]
    gold = GoldLabel.objects.get(pk=before.pk)
    assert (gold.label, gold.method, gold.decided_by, gold.reason) == ("1", Method.ADJUDICATED, cast.esi, BULK_REASON)
    assert (gold.revision, gold.votes) == (before.revision + 1, before.votes)
    event = GoldEvent.objects.get(after_method="adjudicated", proposition=rows[0])
    assert (event.after, event.by, event.votes) == ("1", cast.esi, before.votes)
    assert GoldLabel.objects.get(dimension=DIMENSION).method == Method.OPEN
    assert GoldLabel.objects.get(dimension="context").method == Method.UNANIMOUS
    assert GoldLabel.objects.get(dimension="order", proposition=rows[1]).decided_by == cast.alice
    assert undo(gold, cast.esi).method == Method.OPEN


def test_cells_that_changed_after_the_preview_and_cells_of_the_expert_are_left(cast, voted, rows, cast_vote):
    Assignment.objects.filter(pk=voted[0].pk).update(released_at=timezone.now())
    assert preview(by=cast.bob, cells=adjudication_queue.cells(cast.project, status="open"))["voted_on"] == 3
    assert accept(cast, by=cast.bob) == 0
    previewed = timezone.now()
    later = previewed + timedelta(seconds=1)
    cast_vote(voted[2], rows[0], "order", "3", at=later)
    GoldLabel.objects.filter(proposition=rows[0], dimension="order").update(decided_at=later)
    assert accept(cast, until=previewed) == 1
    assert GoldLabel.objects.get(proposition=rows[0], dimension="order").method == Method.OPEN


def test_statements_do_not_grow_with_the_cells(cast, make_story, assign, cast_vote, django_assert_max_num_queries):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    story = make_story(rows=[("Ines", f"Belief {at}") for at in range(12)])
    assignments = assign(story)
    for row in story.tables.get().propositions.all():
        for one, label in zip(assignments, ("1", "1", "2"), strict=True):
            cast_vote(one, row, "order", label)
    with django_assert_max_num_queries(12):
        assert accept(cast) == 12


def test_the_command_previews_and_settles_as_the_page_does(cast, voted, capsys):
    def run(*options: str) -> str:
        call_command("accept_majorities", "--project=minds", "--expert=esi", *options)
        return capsys.readouterr().out

    told = {"project": "minds", "expert": "esi", "left": {"tied": 1, "voted_on": 0}}
    previewed = json.loads(run("--preview", "--json"))
    assert previewed == told | {"settled": 0, "would_settle": 2, "by_dimension": {"order": 2}}
    assert not GoldLabel.objects.filter(method=Method.ADJUDICATED).exists()
    assert [json.loads(run("--json", *some))["settled"] for some in (["--dimension=mental_source"], [])] == [0, 2]
    accepted = GoldLabel.objects.filter(method=Method.ADJUDICATED).values_list("decided_by", "reason")
    assert set(accepted) == {(cast.esi.pk, BULK_REASON)}
    assert run() == "Settled: 0 cells. Left open: 1 without a leading label, 0 on which esi voted.\n"
    for option, sentence in (
        ("--expert=bob", "bob: no expert of minds"),
        ("--expert=", "expected the user name of one expert"),
        ("--dimension=depth", "minds has no dimension 'depth'"),
        ("--split=test", "minds has no split 'test'"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(option)


# --- at the same moment, each in a connection of their own


@pytest.mark.django_db(transaction=True)
def test_of_eight_experts_one_decides_and_seven_are_told(cast, open_cell):
    place = {"proposition": open_cell.proposition, "dimension": DIMENSION, "now": timezone.now(), "label": "Memory"}
    place |= {"revision": open_cell.revision, "row": open_cell.pk}
    experts = [another_expert(cast, f"expert-{at}") for at in range(8)]
    outcomes = at_once([lambda by=by: adjudicate(by=by, **place) for by in experts])
    assert [type(one) for one in outcomes].count(DecidedMeanwhile) == 7
    winner = next(one for one in outcomes if isinstance(one, GoldLabel))
    assert GoldLabel.objects.get().decided_by == winner.decided_by
    assert GoldEvent.objects.filter(after_method=Method.ADJUDICATED).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_vote_at_the_moment_of_a_decision_is_never_lost(cast, open_cell):
    """Either the decision rests on the new vote, or it is disturbed by it, or the expert is told."""
    bob = cast.bob.assignments.select_related("story__project").get()
    now = timezone.now()
    change = Change(open_cell.proposition.uid, DIMENSION, "Imagination", now, "late")
    fields = {"proposition": open_cell.proposition, "dimension": DIMENSION, "label": "Memory", "now": now}
    _, decided = at_once(
        [
            lambda: save_votes(by=cast.bob, assignment=bob, changes=[change], now=now),
            lambda: adjudicate(by=cast.esi, revision=open_cell.revision, **fields),
        ]
    )
    gold = GoldLabel.objects.get()
    if isinstance(decided, DecidedMeanwhile):
        assert gold.method == Method.OPEN
    else:
        assert gold.label == "Memory"
        assert gold.disturbed or "Imagination" in [vote["label"] for vote in gold.votes]


@pytest.mark.django_db(transaction=True)
def test_experts_at_once_never_decide_a_cell_twice(cast, make_story, assign, cast_vote):
    """Three experts go through one queue at the same moment, each by requests of their own, and decide all that they
    are given: every cell has one decision."""
    for number in range(1, 9):
        assignments = assign(make_story(number, rows=[("Ines", "a"), ("Tomas", "b")]))
        for row in assignments[0].story.tables.get().propositions.all():
            for one, label in zip(assignments, EACH_ANOTHER, strict=True):
                cast_vote(one, row, DIMENSION, label)

    def work(person):
        client, decided, refused = Client(), 0, []
        client.force_login(person)

        def post(name, body):
            return client.post(f"/p/minds/adjudication/{name}/", body, content_type="application/json")

        for _ in range(40):
            way = client.get("/p/minds/adjudication/next/")["Location"]
            if "/story/" not in way:
                break
            story = way.split("/")[5]
            if post("claims", {"stories": [story], "opened": True}).json()["others"]:
                continue  # as the page's script goes on
            for gold in GoldLabel.objects.filter(proposition__table__story__uid=story, method=Method.OPEN):
                change = {
                    "proposition": gold.proposition.uid, "dimension": DIMENSION, "label": "Memory",
                    "revision": gold.revision, "row": gold.pk, "idempotency_key": "k",
                    "changed_at": timezone.now().isoformat(),
                }  # fmt: skip
                answer = post("save", {"changes": [change]})
                decided += answer.status_code == 200
                refused += [answer.json()["error"]] if answer.status_code != 200 else []
        return decided, refused

    people = [another_expert(cast, f"expert-{at}") for at in range(3)]
    outcomes = at_once([lambda person=person: work(person) for person in people])
    events = GoldEvent.objects.filter(after_method=Method.ADJUDICATED)
    assert events.count() == GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 16, outcomes
    assert sum(decided for decided, _ in outcomes) == 16 and not any(refused for _, refused in outcomes), outcomes
