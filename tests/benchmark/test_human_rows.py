"""Annotators and experts as rows beside models: scored on what they labelled, and nothing else."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import GoldLabel, Proposition
from annotation.services.adjudication import adjudicate
from benchmark.models import AnswerFormat
from benchmark.services.datasets import publish_version
from benchmark.services.leaderboards import ranked_entrants_of_run
from benchmark.services.reports import report_of
from benchmark.services.result_tables import category_table, group_table
from benchmark.suites.showing.levels import ROWS
from core.plain import plain
from tests.benchmark.results_world import values
from tests.benchmark.settled import LABELS, baselines, settle, started, work_off
from workers.models import Endpoint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stories(cast, make_story, assign) -> list:
    """Three settled stories of two propositions, each assigned to Bob, Bea and Ben: 3 × 2 × 7 = 42 cells."""
    found = [make_story(number) for number in (1, 2, 3)]
    for story in found:
        settle(story)
    return [(story, list(Proposition.objects.gold_of(story)), assign(story)) for story in found]


@pytest.fixture
def label(cast_vote):
    """Votes as the records have it, but for what `said` says: `label(assignment, row, context="Deceptive")`."""

    def make(assignment, row, keys=DEFAULT_SCHEMA.keys, **said):
        for key in keys:
            cast_vote(assignment, row, key, said.get(key, LABELS[key]))

    return make


def decide(person, row, key: str, label: str) -> None:
    held = GoldLabel.objects.filter(proposition=row, dimension=key).first()
    told = {"label": label, "revision": held.revision if held else 0, "now": timezone.now(), "reason": "It says so."}
    adjudicate(by=person, proposition=row, dimension=key, **told)


def labelled(entrant) -> tuple[int, ...]:
    """Stories and cells, and of the cells those that count by votes, an expert or the record, and those that stay
    open; of three stories and 42 cells."""
    told = plain(entrant.metrics.labelled)
    assert (told.pop("of_stories"), told.pop("of_cells")) == (3, 42)
    return tuple(told[name] for name in ("stories", "cells", "votes", "expert", "record", "open"))


def metrics(cast, **plan) -> dict:
    """A run of one model on the present gold: what its rows have in stage 2, by shown name."""
    dataset = publish_version(by=cast.alice, project=cast.project)[0]
    model = Endpoint.objects.filter(name="majority").first() or baselines()["majority"]
    run = work_off(started(cast, dataset, [model], **plan))
    return {one.model: one for one in ranked_entrants_of_run(run, report_of(run), "stage2")}


def test_an_annotator_is_scored_on_the_cells_with_a_vote(cast, stories, label):
    """Bob labels all of story 1 but one cell (wrong in one), one proposition of story 2 in two dimensions, nothing of
    story 3."""
    (_, one, assignments), (_, two, others), _ = stories
    label(assignments[0], one[0], context="Deceptive")
    label(assignments[0], one[1], keys=DEFAULT_SCHEMA.keys[:6])
    label(others[0], two[1], keys=DEFAULT_SCHEMA.keys[:2], **{DEFAULT_SCHEMA.keys[0]: "3"})
    bob = metrics(cast)["Annotator 1"]
    overall = bob.parses.overall("repaired")
    # story 1: context is wrong in the one cell that has a vote, 0 of 1; six dimensions 2 of 2: mean 6/7
    # story 2: order 0 of 1, truth status 1 of 1, no vote on the other five: mean 1/2
    assert overall.value_of("overall_accuracy") == pytest.approx((6 / 7 + 1 / 2) / 2)
    assert overall.value_of("acc_order") == pytest.approx((1 + 0) / 2) and overall.value_of("acc_context") == 0
    assert (overall.stories, overall.unreadable) == (2, 0)
    assert labelled(bob) == (2, 7 + 6 + 2, 0, 0, 15, 0)
    assert bob.parses.official is None
    assert bob.metrics.reason == "Official scoring needs a label in every cell of every story."
    tables = bob.metrics.analysed("repaired").kept["confusion"]
    context = tables["context"]
    assert context["rows"][context["gold"].index("Neutral")][context["said"].index("Deceptive")] == 1
    assert sum(count for table in tables.values() for row in table["rows"] for count in row) == 15


def test_a_control_has_no_row_of_people(cast, stories, label):
    """People labelled the story as it was published, and nobody the one with other names."""
    label(stories[0][2][0], stories[0][1][0])
    dataset = publish_version(by=cast.alice, project=cast.project)[0]
    run = work_off(started(cast, dataset, [baselines()["majority"]], controls=["renamed"]))
    control = work_off(run.controls.get(control="renamed"))
    kinds = [[entrant.kind for entrant in report_of(one).entrants] for one in (run, control)]
    assert kinds == [["baseline", "person"], ["baseline"]]


def test_official_figures_need_every_cell_of_every_story(cast, stories, label):
    for _, rows, assignments in stories:
        for row in rows:
            label(assignments[0], row, context="Deceptive")
            label(assignments[1], row)
    found = metrics(cast)
    bea, bob = (found[name].parses.overall("official") for name in ("Annotator 1", "Annotator 2"))  # by user name
    assert bea.value_of("overall_accuracy") == "1.000000"
    assert (bob.value_of("overall_accuracy"), bob.stories) == ("0.857143", 3)  # 6 of 7 dimensions
    found = metrics(cast, answer_format=AnswerFormat.STRUCTURED)
    assert found["Annotator 1"].parses.official is None, "structured output has none"
    assert found["Annotator 1"].parses.overall("repaired").value_of("overall_accuracy") == 1


def test_an_expert_has_a_row_where_she_decided(cast, stories):
    """Esi decides three cells; Alice overrules her in one of them."""
    (_, one, _), (_, two, _), _ = stories
    decide(cast.esi, one[0], "context", "Deceptive")
    decide(cast.esi, one[1], "context", "Deceptive")
    decide(cast.esi, two[0], "order", "2")
    decide(cast.alice, one[0], "context", "Temporal")
    found = metrics(cast)
    assert set(found) == {"majority", "Expert 1", "Expert 2"}  # Alice, then Esi
    alice, esi = (found[name].parses for name in ("Expert 1", "Expert 2"))
    own = [found[name].metrics.own.overall("repaired") for name in ("Expert 1", "Expert 2")]
    # on gold as it is: Esi has context 1 of 2 in story 1 and order 1 of 1 in story 2, Alice her one decision
    assert [own[1].value_of(name) for name in ("overall_accuracy", "acc_context", "acc_order")] == [0.75, 0.5, 1]
    assert (own[0].value_of("overall_accuracy"), own[0].stories) == (1, 1)
    # without her: Alice's label stands in the one cell where Esi differs, and nothing in the other two
    overall = esi.overall("repaired")
    assert (overall.value_of("overall_accuracy"), overall.value_of("acc_order"), overall.stories) == (0, None, 1)
    # without Alice, Esi's "Deceptive" stands
    assert (alice.overall("repaired").value_of("overall_accuracy"), alice.overall("repaired").stories) == (0, 1)
    assert labelled(found["Expert 2"]) == (2, 3, 0, 1, 0, 2) and esi.official is None


def test_a_person_is_scored_on_gold_that_stands_without_the_person(cast, stories, label):
    """Story 1 is settled by three votes a cell, all as the records have it but for
    - order of row 0: Bob 1, Bea 1, Ben 2: Bob made the majority; without him the cell is open
    - order of row 1: Bob 2, the others 1
    - context of row 0: three labels, of which Esi chose Bob's.
    """
    _, rows, (bob, bea, ben) = stories[0]
    label(bob, rows[0], context="Deceptive")
    label(bea, rows[0], context="Temporal")
    label(ben, rows[0], order="2")
    label(bob, rows[1], order="2")
    label(bea, rows[1])
    label(ben, rows[1])
    decide(cast.esi, rows[0], "context", "Deceptive")
    found = metrics(cast)
    bob = found["Annotator 3"]  # by user name: bea, ben, bob
    # today: order 1 of 2, the other six dimensions 2 of 2
    today = bob.metrics.own.overall("repaired")
    assert today.value_of("overall_accuracy") == pytest.approx((1 / 2 + 6) / 7) and today.value_of("acc_order") == 0.5
    # without him order has one cell, in which he is wrong; context keeps two: Esi's decision, and the other two votes
    alone = bob.parses.overall("repaired")
    assert alone.value_of("overall_accuracy") == pytest.approx(6 / 7)
    assert (alone.value_of("acc_order"), alone.value_of("acc_context")) == (0, 1)
    assert labelled(bob) == (1, 14, 12, 1, 0, 1)
    # Esi's one decision is gold, and three different votes settle nothing without it: a dash, not 100
    esi = found["Expert 1"]
    alone = esi.parses.overall("repaired")
    assert alone.value_of("overall_accuracy") is None and (alone.stories, alone.undefined) == (0, 1)
    assert esi.metrics.own.overall("repaired").value_of("overall_accuracy") == 1


def test_the_table_has_both_figures_and_says_how_many_cells_count(cast, stories, label):
    _, rows, assignments = stories[0]
    for assignment in assignments:
        label(assignment, rows[0], **({"order": "2"} if assignment == assignments[2] else {}))
    decide(cast.esi, stories[1][1][0], "context", "Deceptive")
    table = group_table(list(metrics(cast).values()), "stage2")
    heads = [(column.group, column.header) for column in table.columns if column.key.startswith("own_")]
    assert heads == [("Own votes in gold (%)", "Repaired")]
    held = {row["model"]: values(row) for row in table.rows}
    assert held["majority"].get("own_repaired") is None
    ben, bea = held["Annotator 2"], held["Annotator 1"]
    assert (ben["repaired_acc_order"], ben["own_repaired"]) == (0, pytest.approx(6 / 7))
    assert (bea["repaired_acc_order"], bea["own_repaired"], bea["repaired_overall_accuracy"]) == (None, 1, 1)
    [note] = [one for one in table.notes if one.startswith("Labelled by")]
    said = "7 of 42 cells in 1 of 3 stories, of which 6 count (6 by the other votes) and 1 stay open"
    assert f"Annotator 1: {said}" in note
    assert "Expert 1: 1 of 42 cells in 1 of 3 stories, of which 0 count (none is settled) and 1 stay open" in note
    for words in ("flatters them", "against gold without their own vote or decision"):
        assert any(words in one for one in table.notes), words


def test_the_settings_of_the_published_gold_decide(cast, stories, label):
    """Five votes are asked for later; the published version keeps the three that settled it."""
    for assignment in stories[0][2]:
        label(assignment, stories[0][1][0])
    dataset = publish_version(by=cast.alice, project=cast.project)[0]
    cast.project.overlap = 5
    cast.project.save(update_fields=["overlap"])
    run = work_off(started(cast, dataset, [baselines()["majority"]]))
    bob = next(one for one in ranked_entrants_of_run(run, report_of(run), "stage2") if one.model == "Annotator 3")
    assert bob.metrics.labelled.votes == 7


def test_one_who_votes_here_and_decides_there_has_both_rows(cast, stories, label):
    from annotation.models import Membership, Role

    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    for row in stories[0][1]:
        label(stories[0][2][0], row)
    for _, _, assignments in stories[1:]:
        assignments[0].delete()
    decide(cast.bob, stories[1][1][0], "context", "Deceptive")
    assert set(metrics(cast)) == {"majority", "Annotator 1", "Expert 1"}


def test_an_experts_row_stands_below_and_is_never_the_best(cast, stories, label):
    for _, rows, assignments in stories[1:]:
        for row in rows:
            label(assignments[0], row, context="Deceptive")
    decide(cast.esi, stories[0][1][0], "order", "2")
    entries = list(metrics(cast).values())
    assert [one.model for one in entries][-1] == "Expert 1"
    for table in (group_table(entries, "stage2"), category_table(entries, "stage2")):
        assert "Expert 1" not in [row["model"] for row in table.rows]
        assert [row["model"] for row in table.totals if row["model"] not in ROWS.values()] == ["Expert 1"]
    alone = group_table(entries[-1:], "stage2")
    assert [row["model"] for row in alone.rows] == ["Expert 1"] and not alone.totals


def test_an_annotator_takes_no_mark_from_a_model(cast, stories, label):
    """Bob votes as the records have it: nobody can be better, and the model stays the best of the models."""
    for _, rows, assignments in stories:
        for row in rows:
            label(assignments[0], row)
    table = group_table(list(metrics(cast).values()), "stage2")
    assert {row["model"] for row in table.rows} == {"Annotator 1", "majority"}
    assert table.marks() == {}
    assert any("never marked as best" in note for note in table.notes)
