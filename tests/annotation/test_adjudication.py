"""Experts' decisions: every rule of annotation/services/adjudication.py."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotation.models import Assignment, AuditEvent, GoldEvent, GoldLabel, Membership, Method, Role, User
from annotation.services import adjudication
from annotation.services.adjudication import AdjudicationRefused, DecidedMeanwhile, adjudicate, file_case, undo_decision

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
DIMENSION = "mental_source"


@pytest.fixture
def eva(cast):
    user = User.objects.create_user("eva", "eva@example.org", "correct-horse-battery", display_name="Eva")
    Membership.objects.create(project=cast.project, user=user, role=Role.EXPERT)
    return user


@pytest.fixture
def assignments(make_story, assign):
    return assign(make_story())


@pytest.fixture
def proposition(assignments):
    return assignments[0].story.tables.get().propositions.get(position=2)


@pytest.fixture
def vote_all(assignments, proposition, cast_vote):
    """Bob, Bea and Ben vote: `vote_all("Inference", "Testimony", "Memory")` leaves the cell open."""

    def make(*labels, dimension=DIMENSION):
        for one, label in zip(assignments, labels, strict=True):
            cast_vote(one, proposition, dimension, label)
        return GoldLabel.objects.get(proposition=proposition, dimension=dimension)

    return make


@pytest.fixture
def open_cell(vote_all):
    return vote_all("Inference", "Testimony", "Memory")


def decide(gold, by, label, **fields):
    fields = {"revision": gold.revision, "row": gold.pk, "now": NOW} | fields
    return adjudicate(by=by, proposition=gold.proposition, dimension=gold.dimension, label=label, **fields)


def undo(gold, by, **fields):
    fields = {"revision": gold.revision, "now": NOW} | fields
    return undo_decision(by=by, proposition=gold.proposition, dimension=gold.dimension, **fields)


def test_a_decision_records_who_when_why_the_rule_and_its_votes(cast, open_cell):
    gold = decide(open_cell, cast.esi, "Testimony", reason="  She is told on the stairs. ", error_tag="slip")
    assert (gold.label, gold.method, gold.decided_by, gold.decided_at) == ("Testimony", "adjudicated", cast.esi, NOW)
    assert (gold.reason, gold.error_tag, gold.rule_version, gold.schema_version) == (
        "She is told on the stairs.", "slip", "1", "1",
    )  # fmt: skip
    assert [vote["label"] for vote in gold.votes] == ["Inference", "Testimony", "Memory"]
    assert gold.revision == open_cell.revision + 1
    assert gold.agreement == pytest.approx(1 / 3)
    event = GoldEvent.objects.order_by("id").last()
    assert (event.before_method, event.after, event.after_method, event.by) == (
        "open", "Testimony", "adjudicated", cast.esi,
    )  # fmt: skip
    assert (event.votes, event.reason, event.error_tag) == (gold.votes, gold.reason, "slip")


def test_any_legal_label_may_be_chosen_and_no_other(cast, open_cell):
    for label, tag in (("True", ""), ("", ""), ("Memory", "stupid")):
        with pytest.raises(AdjudicationRefused, match=r"is not an? "):
            decide(open_cell, cast.esi, label, error_tag=tag)
    open_cell.refresh_from_db()
    assert open_cell.method == Method.OPEN
    assert decide(open_cell, cast.esi, "Unknown").label == "Unknown"


@pytest.mark.parametrize("withdrawn", [False, True])
def test_an_expert_does_not_decide_a_cell_that_they_voted_on(cast, make_story, assign, cast_vote, withdrawn):
    cast.project.overlap = 2
    cast.project.save()
    story = make_story(rows=[("Ines", "The key is in the bag")])
    row = story.tables.get().propositions.get()
    bob, bea, esi = assign(story, [cast.bob, cast.bea]), None, None
    bob, bea = bob
    cast_vote(bob, row, DIMENSION, "Inference")
    cast_vote(bea, row, DIMENSION, "Memory")
    Assignment.objects.filter(pk=bea.pk).update(released_at=NOW)
    esi = Assignment.objects.create(story=story, annotator=cast.esi, slot=2, overlap=2)
    cast_vote(esi, row, DIMENSION, "Testimony")
    if withdrawn:
        cast_vote(esi, row, DIMENSION, "")
    Assignment.objects.filter(pk=esi.pk).update(released_at=NOW)
    gold = GoldLabel.objects.get(proposition=row)
    assert gold.method == Method.OPEN
    with pytest.raises(AdjudicationRefused, match="voted on this cell yourself"):
        decide(gold, cast.esi, "Inference")
    gold.refresh_from_db()
    assert gold.method == Method.OPEN


def test_an_expert_who_still_labels_the_story_decides_nothing_in_it(cast, open_cell):
    Assignment.objects.filter(annotator=cast.ben).update(released_at=NOW)
    Assignment.objects.create(story=open_cell.proposition.table.story, annotator=cast.esi, slot=3, overlap=3)
    with pytest.raises(AdjudicationRefused, match="still label this story"):
        decide(open_cell, cast.esi, "Memory")
    with pytest.raises(AdjudicationRefused, match="still label this story"):
        file_case(by=cast.esi, proposition=open_cell.proposition, dimension=DIMENSION, filed=True)


def test_the_second_expert_is_told_and_may_then_decide_with_a_reason(cast, eva, open_cell):
    first = decide(open_cell, cast.esi, "Memory", reason="He recalls it.")
    with pytest.raises(DecidedMeanwhile, match=r"Esi decided this cell: Memory, on 04 May 2026 at 09:00 UTC") as caught:
        decide(open_cell, eva, "Testimony", reason="She was told.")
    assert caught.value.gold.label == "Memory"
    gold = GoldLabel.objects.get(pk=open_cell.pk)
    assert (gold.label, gold.decided_by) == ("Memory", cast.esi)
    assert GoldEvent.objects.filter(after_method="adjudicated").count() == 1
    with pytest.raises(AdjudicationRefused, match="Esi decided this cell, and you overrule it"):
        decide(first, eva, "Testimony")
    gold = decide(first, eva, "Testimony", reason="The neighbour tells her.")
    assert (gold.label, gold.decided_by, gold.revision) == ("Testimony", eva, first.revision + 1)


def test_the_swap_writes_only_onto_the_revision_that_was_seen(cast, open_cell, monkeypatch):
    """Another writer between the read and the write, as without row locks on SQLite's readers: the update must miss."""
    seen = GoldLabel.objects.get(pk=open_cell.pk)

    def late(cells):
        GoldLabel.objects.filter(pk=seen.pk).update(revision=seen.revision + 5)
        return {cell: [] for cell in cells}

    monkeypatch.setattr(adjudication, "votes_of", late)
    with pytest.raises(DecidedMeanwhile):
        decide(seen, cast.esi, "Memory")
    assert GoldLabel.objects.get(pk=seen.pk).method == Method.OPEN


def test_a_label_that_was_removed_and_made_again_is_not_the_one_that_was_seen(cast, open_cell, assignments, cast_vote):
    cast_vote(assignments[2], open_cell.proposition, DIMENSION, "")
    cast_vote(assignments[2], open_cell.proposition, DIMENSION, "Imagination")
    again = GoldLabel.objects.get(proposition=open_cell.proposition)
    assert (again.revision, again.method) == (open_cell.revision, Method.OPEN)
    with pytest.raises(DecidedMeanwhile, match="votes of this cell changed"):
        decide(open_cell, cast.esi, "Memory")


def test_cells_without_all_votes_are_refused(cast, assignments, proposition, cast_vote):
    cast_vote(assignments[0], proposition, DIMENSION, "Inference")
    place = {"by": cast.esi, "proposition": proposition, "dimension": DIMENSION, "label": "Memory", "now": NOW}
    with pytest.raises(AdjudicationRefused, match="not all in"):
        adjudicate(**place, revision=0)
    assert not GoldLabel.objects.exists()


def test_an_imported_label_is_decided_with_a_reason(cast, proposition):
    proposition.imported_labels = {DIMENSION: "Inference"}
    proposition.save()
    place = {"by": cast.esi, "proposition": proposition, "dimension": DIMENSION, "label": "Memory", "now": NOW}
    with pytest.raises(AdjudicationRefused, match="Say why"):
        adjudicate(**place, revision=0)
    gold = adjudicate(**place, revision=0, row=0, reason="He kept it from before.")
    assert (gold.label, gold.votes, gold.agreement, gold.revision) == ("Memory", [], None, 1)
    assert undo(gold, cast.esi) is None
    assert not GoldLabel.objects.exists()


def test_overruling_what_the_votes_settled_needs_a_reason(cast, vote_all):
    gold = vote_all("Inference", "Inference", "Memory")
    assert gold.method == Method.MAJORITY
    with pytest.raises(AdjudicationRefused, match="the votes settled this cell"):
        decide(gold, cast.esi, "Memory")
    assert decide(gold, cast.esi, "Memory", reason="He saw it last year.").method == Method.ADJUDICATED


def test_late_votes_disturb_a_decision_and_confirming_rests_it_on_them(cast, eva, open_cell, assignments, cast_vote):
    decide(open_cell, cast.esi, "Memory", reason="He recalls it.", error_tag="definition")
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Testimony")
    gold = GoldLabel.objects.get(pk=open_cell.pk)
    assert (gold.label, gold.method, gold.disturbed) == ("Memory", Method.ADJUDICATED, True)
    confirmed = decide(gold, eva, "Memory")
    assert (confirmed.disturbed, confirmed.decided_by) == (False, eva)
    assert (confirmed.reason, confirmed.error_tag) == ("He recalls it.", "definition")
    assert [vote["label"] for vote in confirmed.votes] == ["Testimony", "Testimony", "Memory"]
    assert confirmed.agreement == pytest.approx(2 / 3)


def test_undo_goes_back_to_what_the_rule_says_of_the_votes_of_now(cast, open_cell, assignments, cast_vote):
    back = undo(decide(open_cell, cast.esi, "Memory", reason="x", error_tag="slip"), cast.esi)
    assert (back.method, back.label, back.decided_by, back.reason, back.error_tag) == ("open", "", None, "", "")
    assert back.revision == open_cell.revision + 2
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


def test_undo_brings_the_decision_before_back_with_its_why(cast, eva, open_cell):
    first = decide(open_cell, cast.esi, "Memory", reason="He recalls it.", error_tag="definition")
    second = decide(first, eva, "Testimony", reason="She was told.", now=NOW + timedelta(hours=1))
    back = undo(second, eva, now=NOW + timedelta(hours=2))
    assert (back.label, back.decided_by, back.decided_at) == ("Memory", cast.esi, NOW)
    assert (back.reason, back.error_tag, back.disturbed) == ("He recalls it.", "definition", False)
    with pytest.raises(AdjudicationRefused, match="Only your own decision"):
        undo(back, eva)
    assert undo(back, cast.esi).method == Method.OPEN


def test_undo_of_a_confirmed_decision_is_disturbed_again(cast, eva, open_cell, assignments, cast_vote):
    decide(open_cell, cast.esi, "Memory")
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Testimony")
    confirmed = decide(GoldLabel.objects.get(pk=open_cell.pk), eva, "Memory")
    back = undo(confirmed, eva)
    assert (back.label, back.decided_by, back.disturbed) == ("Memory", cast.esi, True)


def test_deciding_the_same_again_amends_and_one_undo_takes_both_back(cast, open_cell):
    first = decide(open_cell, cast.esi, "Memory")
    amended = decide(first, cast.esi, "Memory", reason="He recalls it.", error_tag="slip")
    assert (amended.reason, amended.revision) == ("He recalls it.", first.revision + 1)
    assert undo(amended, cast.esi).method == Method.OPEN


def test_undo_goes_step_by_step_and_takes_only_what_was_seen(cast, open_cell):
    gold = decide(decide(open_cell, cast.esi, "Memory"), cast.esi, "Testimony")
    with pytest.raises(DecidedMeanwhile):
        undo(gold, cast.esi, revision=gold.revision - 1)
    gold = undo(gold, cast.esi)
    assert gold.label == "Memory"
    gold = undo(gold, cast.esi)
    assert gold.method == Method.OPEN
    with pytest.raises(AdjudicationRefused):
        undo(gold, cast.esi)
    assert undo(decide(gold, cast.esi, "Inference"), cast.esi).method == Method.OPEN  # and never redoes


def test_filing_for_the_guideline_keeps_label_and_revision_and_survives_votes(cast, open_cell, assignments, cast_vote):
    place = {"by": cast.esi, "proposition": open_cell.proposition, "dimension": DIMENSION}
    assert file_case(**place, filed=True).guideline_flag
    assert AuditEvent.objects.get().action == "guideline_case.filed"
    file_case(**place, filed=True)
    assert AuditEvent.objects.count() == 1
    decided = decide(open_cell, cast.esi, "Memory")
    assert decided.guideline_flag
    assert undo(decided, cast.esi).guideline_flag
    cast_vote(assignments[0], open_cell.proposition, DIMENSION, "Memory")
    assert GoldLabel.objects.get().guideline_flag
    assert not file_case(**place, filed=False).guideline_flag


def test_a_decision_files_the_case_itself_and_nothing_is_filed_before_a_label(cast, open_cell, proposition):
    assert decide(open_cell, cast.esi, "Memory", guideline_flag=True).guideline_flag
    with pytest.raises(AdjudicationRefused, match="cannot be filed"):
        file_case(by=cast.esi, proposition=proposition, dimension="order", filed=True)
