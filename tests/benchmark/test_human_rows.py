"""Annotators and experts as rows beside models: scored on what they labelled, and nothing else."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.domain.schema import SCHEMA
from annotation.models import GoldLabel, Proposition
from annotation.services.adjudication import adjudicate
from benchmark.models import Form
from benchmark.services.datasets import freeze
from benchmark.services.leaderboards import run_standing
from benchmark.services.reports import report_of
from benchmark.services.result_tables import category_table, stage_table
from tests.benchmark.settled import LABELS, baselines, settle, started, work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stories(cast, make_story, seat) -> list:
    """Three settled stories of two propositions, Bob, Bea and Ben seated at each: 3 × 2 × 7 = 42 cells."""
    found = [make_story(number) for number in (1, 2, 3)]
    for story in found:
        settle(story)
    return [(story, list(Proposition.objects.gold_of(story)), seat(story)) for story in found]


@pytest.fixture
def label(cast_vote):
    """Votes as the records have it, but for what `said` says: `label(seat, row, context="Deceptive")`."""

    def make(seat, row, keys=SCHEMA.keys, **said):
        for key in keys:
            cast_vote(seat, row, key, said.get(key, LABELS[key]))

    return make


def decide(person, row, key: str, label: str) -> None:
    held = GoldLabel.objects.filter(proposition=row, dimension=key).first()
    told = {
        "label": label,
        "revision": held.revision if held else 0,
        "now": timezone.now(),
        "reason": "The text says so.",
    }
    adjudicate(by=person, proposition=row, dimension=key, **told)


def figures(cast, **plan) -> dict:
    """A run of one model on the present gold: what its rows have in stage 2, by shown name."""
    dataset = freeze(by=cast.alice, project=cast.project)[0]
    run = work_off(started(cast, dataset, [baselines()["majority"]], **plan))
    return {one["model"]: one for one in run_standing(run, report_of(run), "stage2")}


def test_an_annotator_is_scored_on_the_cells_with_a_vote(cast, stories, label):
    """Bob labels all of story 1 but one cell (wrong in one), one proposition of story 2 in two dimensions, nothing of story 3."""
    (_, one, seats), (_, two, others), _ = stories
    label(seats[0], one[0], context="Deceptive")
    label(seats[0], one[1], keys=SCHEMA.keys[:6])
    label(others[0], two[1], keys=SCHEMA.keys[:2], **{SCHEMA.keys[0]: "3"})
    bob = figures(cast)["Annotator 1"]
    overall = bob["readings"]["repaired"]["overall"]
    # story 1: context is wrong in the one cell that has a vote, 0 of 1; six dimensions 2 of 2: mean 6/7
    # story 2: order 0 of 1, truth status 1 of 1, no vote on the other five: mean 1/2
    assert overall["overall_accuracy"] == pytest.approx((6 / 7 + 1 / 2) / 2)
    assert overall["acc_order"] == pytest.approx((1 + 0) / 2) and overall["acc_context"] == 0
    assert (overall["stories"], overall["unusable"]) == (2, 0)
    assert bob["figures"]["labelled"] == {"stories": 2, "of_stories": 3, "cells": 7 + 6 + 2, "of_cells": 42}
    assert bob["readings"]["official"] is None
    assert bob["readings"]["reason"] == "Official scoring needs a label in every cell of every story."


def test_official_figures_need_every_cell_of_every_story(cast, stories, label):
    for _, rows, seats in stories:
        for row in rows:
            label(seats[0], row, context="Deceptive")
            label(seats[1], row)
    found = figures(cast)
    assert found["Annotator 1"]["readings"]["official"] is not None
    bea, bob = found["Annotator 1"], found["Annotator 2"]  # by user name
    assert bea["readings"]["official"]["overall"]["overall_accuracy"] == "1.000000"
    assert bob["readings"]["official"]["overall"]["overall_accuracy"] == "0.857143"  # 6 of 7 dimensions
    assert bob["readings"]["official"]["overall"]["stories"] == "3"


def test_structured_output_gives_people_no_official_figures_either(cast, stories, label):
    for _, rows, seats in stories:
        for row in rows:
            label(seats[0], row)
    found = figures(cast, form=Form.STRUCTURED)
    assert found["Annotator 1"]["readings"]["official"] is None
    assert found["Annotator 1"]["readings"]["repaired"]["overall"]["overall_accuracy"] == 1


def test_confusions_count_only_cells_with_a_vote(cast, stories, label):
    label(stories[0][2][0], stories[0][1][0], keys=("context",), context="Deceptive")
    tables = figures(cast)["Annotator 1"]["figures"]["analyses"]["repaired"]["confusion"]
    context = tables["context"]
    assert context["rows"][context["gold"].index("Neutral")][context["said"].index("Deceptive")] == 1
    assert sum(count for table in tables.values() for row in table["rows"] for count in row) == 1


def test_an_expert_has_a_row_where_she_decided(cast, stories):
    """Esi decides three cells; Alice overrules her in one of them."""
    (_, one, _), (_, two, _), _ = stories
    decide(cast.esi, one[0], "context", "Deceptive")
    decide(cast.esi, one[1], "context", "Deceptive")
    decide(cast.esi, two[0], "order", "2")
    decide(cast.alice, one[0], "context", "Temporal")
    found = figures(cast)
    assert set(found) == {"majority", "Expert 1", "Expert 2"}  # Alice, then Esi
    alice, esi = (found[name]["readings"]["repaired"]["overall"] for name in ("Expert 1", "Expert 2"))
    # Esi: story 1 has context 1 of 2, story 2 order 1 of 1
    assert (esi["overall_accuracy"], esi["acc_context"], esi["acc_order"]) == (0.75, 0.5, 1)
    assert (alice["overall_accuracy"], alice["stories"]) == (1, 1)
    assert found["Expert 2"]["figures"]["labelled"] == {"stories": 2, "of_stories": 3, "cells": 3, "of_cells": 42}
    assert found["Expert 2"]["readings"]["official"] is None


def test_one_who_votes_here_and_decides_there_has_both_rows(cast, stories, label):
    from annotation.models import Membership, Role

    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    for row in stories[0][1]:
        label(stories[0][2][0], row)
    for _, _, seats in stories[1:]:
        seats[0].delete()
    decide(cast.bob, stories[1][1][0], "context", "Deceptive")
    assert set(figures(cast)) == {"majority", "Annotator 1", "Expert 1"}


def test_the_table_says_how_much_each_labelled_and_what_gold_rests_on(cast, stories, label):
    label(stories[0][2][0], stories[0][1][0], keys=("context", "order"))
    decide(cast.esi, stories[1][1][0], "context", "Deceptive")
    entries = list(figures(cast).values())
    notes = stage_table(entries, "stage2").notes
    assert any("an expert's decision is the gold label unless another expert overruled it" in note for note in notes)
    told = "Annotator 1: 2 of 42 cells in 1 of 3 stories; Expert 1: 1 of 42 cells in 1 of 3 stories"
    expected = {f"Labelled by {told}.", f"Labelled by {'; '.join(reversed(told.split('; ')))}."}
    assert expected & set(notes)


def test_an_experts_row_stands_below_and_is_never_the_best(cast, stories, label):
    for _, rows, seats in stories[1:]:
        for row in rows:
            label(seats[0], row, context="Deceptive")
    decide(cast.esi, stories[0][1][0], "order", "2")
    entries = list(figures(cast).values())
    assert [one["model"] for one in entries][-1] == "Expert 1"
    for table in (stage_table(entries, "stage2"), category_table(entries, "stage2")):
        assert "Expert 1" not in [row["model"] for row in table.rows]
        assert [row["model"] for row in table.totals] == ["Expert 1"]
    alone = stage_table(entries[-1:], "stage2")
    assert [row["model"] for row in alone.rows] == ["Expert 1"] and not alone.totals


def test_an_annotator_takes_no_mark_from_a_model(cast, stories, label):
    """Bob votes as the records have it: nobody can be better, and the model stays the best of the models."""
    for _, rows, seats in stories:
        for row in rows:
            label(seats[0], row)
    table = stage_table(list(figures(cast).values()), "stage2")
    assert {row["model"] for row in table.rows} == {"Annotator 1", "majority"}
    assert table.marks() == {}
    assert any("never marked as best" in note for note in table.notes)
