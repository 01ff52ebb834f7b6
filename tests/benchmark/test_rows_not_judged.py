"""Rows that a judge left out are missing wherever refused answers are: no marks, bounds, and a sentence."""

from __future__ import annotations

import csv
import io
import json

import pytest

from benchmark.domain.tables import to_csv, to_json
from benchmark.models import Run, RunItem
from benchmark.services.comparison_tables import tables_of as compared
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import forget_report
from benchmark.services.selections import Selection
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world
from tests.benchmark.test_missing_answers import words

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
NAMES = ("omniscient", "plain")
TABLE = "Actor | Belief | Order\nworld | It rains. | 0\nworld | It is late. | 0"
DIFFER = "Rows not judged differ: 0 to "


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    held = results_world(tmp_path)
    held.models["plain"] = endpoint("plain", options={"default": TABLE})
    return held


def extracting(world, seed: int) -> Run:
    return world.another(*NAMES, seed=seed, steps=("extract", "judge"))


@pytest.fixture
def skipped(world) -> Run:
    """A run in which all answers can be used; of `omniscient` the judge left out the first gold row and the first
    predicted one of each story."""
    run = extracting(world, 5)
    for item in RunItem.objects.filter(entrant__run=run, entrant__name="omniscient", step="judge"):
        counts = {side: [None, *item.repaired[side][1:]] for side in ("pred", "gold")}
        RunItem.objects.filter(pk=item.pk).update(repaired=item.repaired | counts, unjudged=2)
    forget_report(run)
    return run


def test_nothing_is_marked_in_tables_by_kind(skipped):
    tables = tables_of(document_of(skipped))
    for name in ("orders", "roles"):
        table = tables[f"{name}-repaired"]()
        assert not table.marks()
        assert "Nothing is marked as best: judges left out rows." in table.notes
        official = tables[f"{name}-official"]()  # which counts these rows as unmatched
        assert not any("Nothing is marked" in note for note in official.notes)


def test_where_everything_is_judged_the_best_is_marked_and_nothing_has_bounds(world):
    table = tables_of(document_of(extracting(world, 6)))["roles-repaired"]()
    assert table.marks() and not table.lead
    assert b"worst case" not in to_csv(table) and b"bounds" not in to_json(table)


def test_figures_by_kind_have_bounds_in_files(skipped):
    document = document_of(skipped)
    entry = next(one for one in document.groups["stage1"] if one.model == "omniscient")
    low, high = entry.metrics.analysed("repaired").kept["kinds"]["world"]["recall"]["bounds"]
    assert low < high
    table = tables_of(document)["roles-repaired"]()
    row = next(row for row in json.loads(to_json(table))["rows"] if row["model"] == "omniscient")
    assert row["world recall"]["bounds"] == [low, high]
    lines = list(csv.DictReader(io.StringIO(to_csv(table).decode(), newline="")))
    line = next(line for line in lines if line["Model"] == "omniscient")
    told = [float(line[f"World: Recall {end} case"]) for end in ("worst", "best")]
    assert told == pytest.approx([100 * low, 100 * high])
    assert {line["World: Recall worst case"] for line in lines if line["Model"] != "omniscient"} == {""}
    shares = json.loads(to_json(tables_of(document)["match-counts-repaired"]()))["rows"]
    assert next(row for row in shares if row["model"] == "omniscient")["0 share"]["bounds"]


def test_the_picture_says_what_becomes_of_them(skipped):
    found = plots_of(document_of(skipped))
    said = words(found["orders-repaired"].draw(format="svg").decode())
    assert (
        f"rows not judged differ: 0 to {2 * STORIES}, most of omniscient; marks leave them out, lines take them" in said
    )
    assert "rows not judged differ" in words(found["match-counts-repaired"].draw(format="svg").decode())
    assert "rows not judged" not in words(found["orders-official"].draw(format="svg").decode())


def test_rows_not_judged_that_differ_are_said_at_every_table_of_extraction(skipped):
    tables = tables_of(document_of(skipped))
    for name in ("stage1", "categories-stage1", "main-repaired", "orders-repaired", "volume-repaired"):
        assert any(f"{DIFFER}{2 * STORIES}, most of omniscient" in one for one in tables[name]().lead), name


def test_missing_answers_that_differ_are_said_at_every_table_of_several_models(world):
    tables = tables_of(document_of(world.run))
    names = [f"{name}-repaired" for name in ("orders", "roles", "volume", "match-counts")]
    names += [f"{name}-repaired" for name in ("dimensions", "orders-dimensions", "roles-dimensions", "labels-order")]
    for name in names:
        table = tables[name]()
        assert [one for one in table.lead if "issing answers differ: 0.0 to 100.0 % of the stories" in one], name
        assert "Read first" in to_csv(table).decode().splitlines()[0] and json.loads(to_json(table))["lead"]
    assert not tables["confusion-1-order-repaired"]().lead  # of one model


def test_missing_answers_that_differ_are_said_where_two_are_compared(world):
    entries = pair_of(world.dataset.project, world.entrant("majority"), world.entrant(HOSTILE))[1]["stage2"]
    for table in compared(compare(entries, "stage2", "repaired")).values():
        assert any("issing answers differ: 0.0 to 100.0 %" in one for one in table().lead)
    even = pair_of(world.dataset.project, world.entrant("majority"), world.entrant("random"))[1]["stage2"]
    assert not any(table().lead for table in compared(compare(even, "stage2", "repaired")).values())


def test_a_comparison_counts_what_is_missing_of_the_stories_that_are_compared(skipped):
    one, other = (f"{skipped.uid}.{skipped.entrants.get(name=name).pk}" for name in NAMES)
    entries = pair_of(skipped.project, one, other)[1]["stage1"]
    numbers = list(RunItem.objects.filter(entrant__run=skipped).values_list("sample__number", flat=True).distinct())
    part = Selection(key="part", label="two stories", stories=frozenset(numbers[:2]))
    for selection, rows in ((None, 2 * STORIES), (part, 4)):
        [told] = compare(entries, "stage1", "repaired", selection).lead
        assert told == f"{DIFFER}{rows}, most of omniscient. The differences count them at their worst."
