"""Annotators and experts as rows beside models: scored on what they labelled, and nothing else."""

import pytest
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import GoldLabel, Membership, Proposition, Role
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
KEYS = DEFAULT_SCHEMA.keys


@pytest.fixture
def stories(cast, make_story, assign) -> list:
    """Three settled stories of two propositions, each assigned to Bob, Bea and Ben: 3 × 2 × 7 = 42 cells."""
    found = [make_story(number) for number in (1, 2, 3)]
    for story in found:
        settle(story)
    return [(list(Proposition.objects.gold_of(story)), assign(story)) for story in found]


@pytest.fixture
def label(cast_vote):
    """Votes as the records have it, but for what `said` says: `label(assignment, row, context="Deceptive")`."""

    def make(assignment, *rows, keys=KEYS, **said):
        for row in rows:
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


def rows_of(run) -> dict:
    """What its rows have in stage 2, by shown name: people by the order of their user names."""
    return {one.model: one for one in ranked_entrants_of_run(run, report_of(run), "stage2")}


def asked(cast, **plan):
    """A run of one model on the present gold."""
    dataset = publish_version(by=cast.alice, project=cast.project)[0]
    model = Endpoint.objects.filter(name="majority").first() or baselines()["majority"]
    return work_off(started(cast, dataset, [model], **plan))


def metrics(cast, **plan) -> dict:
    return rows_of(asked(cast, **plan))


def accuracy(row) -> float | None:
    return row.value_of("overall_accuracy")


def test_an_annotator_is_scored_on_the_cells_with_a_vote(cast, stories, label):
    """Bob labels all of story 1 but one cell (wrong in one), one proposition of story 2 in two dimensions, nothing of
    story 3."""
    (one, assignments), (two, others), _ = stories
    label(assignments[0], one[0], context="Deceptive")
    label(assignments[0], one[1], keys=KEYS[:6])
    label(others[0], two[1], keys=KEYS[:2], **{KEYS[0]: "3"})
    bob = metrics(cast)["Annotator 1"]
    overall = bob.parses.overall("repaired")
    # story 1: context is wrong in the one cell that has a vote, 0 of 1; six dimensions 2 of 2: mean 6/7
    # story 2: order 0 of 1, truth status 1 of 1, no vote on the other five: mean 1/2
    assert accuracy(overall) == pytest.approx((6 / 7 + 1 / 2) / 2)
    assert overall.value_of("acc_order") == pytest.approx((1 + 0) / 2) and overall.value_of("acc_context") == 0
    assert (overall.stories, overall.unreadable) == (2, 0)
    assert labelled(bob) == (2, 7 + 6 + 2, 0, 0, 15, 0)
    assert bob.parses.official is None
    assert bob.metrics.reason == "Official scoring needs a label in every cell of every story."
    tables = bob.metrics.analysed("repaired").kept["confusion"]
    context = tables["context"]
    assert context["rows"][context["gold"].index("Neutral")][context["said"].index("Deceptive")] == 1
    assert sum(count for table in tables.values() for row in table["rows"] for count in row) == 15
    # people labelled the story as it was published, and nobody the one with other names
    run = asked(cast, controls=["renamed"])
    control = work_off(run.controls.get(control="renamed"))
    kinds = [[entrant.kind for entrant in report_of(one).entrants] for one in (run, control)]
    assert kinds == [["baseline", "person"], ["baseline"]]


def test_official_figures_need_every_cell_of_every_story_and_nobody_takes_a_mark_from_a_model(cast, stories, label):
    """Bea votes as the records have it: nobody can be better, and the model stays the best of the models."""
    for rows, assignments in stories:
        label(assignments[0], *rows, context="Deceptive")
        label(assignments[1], *rows)
    found = metrics(cast)
    bea, bob = (found[name].parses.overall("official") for name in ("Annotator 1", "Annotator 2"))
    assert (accuracy(bea), accuracy(bob), bob.stories) == ("1.000000", "0.857143", 3)  # 6 of 7 dimensions
    table = group_table(list(found.values()), "stage2")
    assert {row["model"] for row in table.rows} == {"Annotator 1", "Annotator 2", "majority"}
    assert table.marks() == {} and any("never marked as best" in note for note in table.notes)
    bea = metrics(cast, answer_format=AnswerFormat.STRUCTURED)["Annotator 1"].parses
    assert bea.official is None and accuracy(bea.overall("repaired")) == 1, "structured output has none"


def test_an_expert_has_a_row_where_she_decided(cast, stories):
    """Esi decides three cells; Alice overrules her in one of them."""
    (one, _), (two, _), _ = stories
    for person, row, key, said in (
        (cast.esi, one[0], "context", "Deceptive"),
        (cast.esi, one[1], "context", "Deceptive"),
        (cast.esi, two[0], "order", "2"),
        (cast.alice, one[0], "context", "Temporal"),
    ):
        decide(person, row, key, said)
    found = metrics(cast)
    assert set(found) == {"majority", "Expert 1", "Expert 2"}  # Alice, then Esi
    alice, esi = found["Expert 1"], found["Expert 2"]
    # on gold as it is: Esi has context 1 of 2 in story 1 and order 1 of 1 in story 2, Alice her one decision
    own = esi.metrics.own.overall("repaired")
    assert [own.value_of(name) for name in ("overall_accuracy", "acc_context", "acc_order")] == [0.75, 0.5, 1]
    own = alice.metrics.own.overall("repaired")
    assert (accuracy(own), own.stories) == (1, 1)
    # without her: Alice's label stands in the one cell where Esi differs, and nothing in the other two
    overall = esi.parses.overall("repaired")
    assert (accuracy(overall), overall.value_of("acc_order"), overall.stories) == (0, None, 1)
    # without Alice, Esi's "Deceptive" stands
    overall = alice.parses.overall("repaired")
    assert (accuracy(overall), overall.stories) == (0, 1)
    assert labelled(esi) == (2, 3, 0, 1, 0, 2) and esi.parses.official is None


def test_a_person_is_scored_on_gold_that_stands_without_the_person(cast, stories, label):
    """Story 1 is settled by three votes a cell, all as the records have it but for
    - order of row 0: Bob 1, Bea 1, Ben 2: Bob made the majority; without him the cell is open
    - order of row 1: Bob 2, the others 1
    - context of row 0: three labels, of which Esi chose Bob's.
    """
    rows, (bob, bea, ben) = stories[0]
    label(bob, rows[0], context="Deceptive")
    label(bea, rows[0], context="Temporal")
    label(ben, rows[0], order="2")
    label(bob, rows[1], order="2")
    label(bea, rows[1])
    label(ben, rows[1])
    decide(cast.esi, rows[0], "context", "Deceptive")
    found = metrics(cast)
    bob = found["Annotator 3"]
    # today: order 1 of 2, the other six dimensions 2 of 2
    today = bob.metrics.own.overall("repaired")
    assert accuracy(today) == pytest.approx((1 / 2 + 6) / 7) and today.value_of("acc_order") == 0.5
    # without him order has one cell, in which he is wrong; context keeps two: Esi's decision, and the other two votes
    alone = bob.parses.overall("repaired")
    assert accuracy(alone) == pytest.approx(6 / 7)
    assert (alone.value_of("acc_order"), alone.value_of("acc_context")) == (0, 1)
    assert labelled(bob) == (1, 14, 12, 1, 0, 1)
    # Esi's one decision is gold, and three different votes settle nothing without it: a dash, not 100
    esi = found["Expert 1"]
    alone = esi.parses.overall("repaired")
    assert (accuracy(alone), alone.stories, alone.undefined) == (None, 0, 1)
    assert accuracy(esi.metrics.own.overall("repaired")) == 1
    # five votes are asked for later; the published version keeps the three that settled it
    cast.project.overlap = 5
    cast.project.save(update_fields=["overlap"])
    assert metrics(cast)["Annotator 3"].metrics.labelled.votes == 12


def test_the_table_has_both_figures_and_says_how_many_cells_count(cast, stories, label):
    rows, (bob, bea, ben) = stories[0]
    label(bob, rows[0])
    label(bea, rows[0])
    label(ben, rows[0], order="2")
    decide(cast.esi, stories[1][0][0], "context", "Deceptive")
    entries = list(metrics(cast).values())
    table = group_table(entries, "stage2")
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


def test_one_who_votes_here_and_decides_there_has_both_rows_and_an_experts_is_never_the_best(cast, stories, label):
    Membership.objects.filter(user=cast.bob).update(role=Role.EXPERT)
    label(stories[0][1][0], *stories[0][0], context="Deceptive")
    for _, assignments in stories[1:]:
        assignments[0].delete()
    decide(cast.bob, stories[1][0][0], "context", "Deceptive")
    entries = list(metrics(cast).values())
    assert {one.model for one in entries} == {"majority", "Annotator 1", "Expert 1"}
    assert entries[-1].model == "Expert 1"  # it stands below
    for table in (group_table(entries, "stage2"), category_table(entries, "stage2")):
        assert "Expert 1" not in [row["model"] for row in table.rows]
        assert [row["model"] for row in table.totals if row["model"] not in ROWS.values()] == ["Expert 1"]
    alone = group_table(entries[-1:], "stage2")
    assert [row["model"] for row in alone.rows] == ["Expert 1"] and not alone.totals
