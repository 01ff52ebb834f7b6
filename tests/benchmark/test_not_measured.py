"""Where a figure has no interval a dash stands, and the reason with it; rows that a judge left out are missing wherever
refused answers are: no marks, bounds, and a sentence. On pages, in files, in pictures, in what was saved."""

import csv
import io
import json
from decimal import Decimal
from html import unescape

import pytest
from django.core.management import call_command

from benchmark.domain.tables import Column, Table, to_csv, to_json, to_latex
from benchmark.models import Run, RunItem
from benchmark.services.comparison_tables import tables_of as compared
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.leaderboards import Selection
from benchmark.services.plot_data import comparison_picture, plots_of
from benchmark.services.reports import forget_report
from benchmark.services.snapshots import save_run_snapshot
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world
from tests.benchmark.settled import words, written

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
FEW = "an interval needs at least 5 stories"
NAMES = ("omniscient", "plain")
TABLE = "Actor | Belief | Order\nworld | It rains. | 0\nworld | It is late. | 0"
DIFFER = "Rows not judged differ: 0 to "


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    held = results_world(tmp_path)
    held.models["plain"] = endpoint("plain", options={"default": TABLE})
    return held


@pytest.fixture
def few(world) -> Run:
    """A run over three stories."""
    return world.another("majority", "random", "omniscient", limit=3)


def keys_of(run: Run, *names: str) -> list[str]:
    return [f"{run.uid}.{run.entrants.get(name=name).pk}" for name in names]


def read(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table).decode(), newline="")))


def silent(table: Table) -> list[tuple[str, str]]:
    """Cells with a value and neither an interval nor a reason."""
    return [
        (table.title, column.key)
        for column in table.columns
        for cell in map(column.cell, (*table.rows, *table.totals))
        if cell.value not in (None, "") and (cell.interval is None or table.shows("interval", column))
        if not cell.interval and not cell.no_interval and not column.key.endswith("_rank")  # from eight models on
    ]


def test_no_table_and_no_picture_lacks_an_interval_in_silence(world, few):
    for run, least in ((world.run, 5), (few, 50)):
        made = [make() for make in tables_of(document_of(run)).values()]
        assert [one for table in made for one in silent(table)] == []
        dashed = [table for table in made if table.dashes]
        assert len(dashed) > least
        for table in dashed:
            cells = [column.cell(row) for column in table.columns for row in (*table.rows, *table.totals)]
            reasons = {cell.no_interval for cell in cells if cell.no_interval}
            assert (run == world.run or FEW in reasons) and "no interval because" in to_csv(table).decode()
            assert "No interval {[}--{]}: " in to_latex(table).decode()
            assert any(reason in json.dumps(json.loads(to_json(table))["notes"]) for reason in reasons)
    found = plots_of(document_of(few))
    lined = [name for name in found if not name.startswith(("confusion", "pairs", "match-counts", "dimensions"))]
    assert len(lined) > 10
    for name in lined:
        assert FEW in words(unescape(found[name].draw(format="svg").decode())), name


def test_pages_files_and_commands_say_it(world, few, client, capsys):
    client.force_login(world.alice)
    saved = save_run_snapshot(by=world.alice, run=few)
    for address in (f"/runs/{few.uid}/report/", f"/results/snapshots/{saved.uid}/"):
        page = written(client.get(f"{world.base}{address}"))
        assert f'<span class="interval" title="{FEW}">[–]' in page and f"No line: {FEW}." in page
    keys = keys_of(few, "majority", "random")
    pair = dict(zip("ab", keys, strict=True))
    page = written(client.get(f"{world.base}/results/compare/", pair | {"group": "stage2"}))
    assert f"points</strong> (no interval: {FEW})" in page and f"No line: {FEW}." in page
    found = compare(pair_of(world.dataset.project, *keys)[1]["stage2"], "stage2", "repaired")
    table = compared(found)["differences"]()
    assert silent(table) == []
    assert {line["Difference no interval because"] for line in read(table)} == {FEW}
    assert f"No band around the mean: {FEW}" in words(comparison_picture(found).draw(format="svg").decode())
    asked = {"project": world.dataset.project.slug, "split": f"run:{few.uid}"}
    call_command("leaderboard", **asked)
    said = capsys.readouterr().out
    assert "[–]" in said and f"No interval [–]: {FEW}." in said
    call_command("leaderboard", **asked, json=True)
    rows = json.loads(capsys.readouterr().out)["groups"]["stage2"]
    assert {row["repaired"]["reason"] for row in rows if row["repaired"]} == {FEW}


def test_a_price_is_a_number_in_json():
    """Prices are decimals, which JSON has not."""
    table = Table(title="Judges", columns=[Column(key="price", header="Price")], rows=[{"price": Decimal("0.25")}])
    assert json.loads(to_json(table))["rows"] == [{"price": 0.25}]


# --- rows not judged, and answers that are missing
@pytest.fixture
def skipped(world) -> Run:
    """A run in which all answers can be used; of `omniscient` the judge left out the first gold row and the first
    predicted one of each story."""
    run = world.another(*NAMES, seed=5, steps=("extract", "judge"))
    for item in RunItem.objects.filter(entrant__run=run, entrant__name="omniscient", step="judge"):
        counts = {side: [None, *item.repaired[side][1:]] for side in ("pred", "gold")}
        RunItem.objects.filter(pk=item.pk).update(repaired=item.repaired | counts, unjudged=2)
    forget_report(run)
    return run


def test_rows_that_a_judge_left_out_cost_marks_and_give_bounds_and_a_sentence(skipped):
    document = document_of(skipped)
    tables, plots = tables_of(document), plots_of(document)
    for name in ("orders", "roles"):
        table = tables[f"{name}-repaired"]()
        assert not table.marks() and "Nothing is marked as best: judges left out rows." in table.notes
        official = tables[f"{name}-official"]()  # which counts these rows as unmatched
        assert not any("Nothing is marked" in note for note in official.notes)
    for name in ("stage1", "categories-stage1", "main-repaired", "orders-repaired", "volume-repaired"):
        assert any(f"{DIFFER}{2 * STORIES}, most of omniscient" in one for one in tables[name]().lead), name
    # bounds of figures by kind, in files
    entry = next(one for one in document.groups["stage1"] if one.model == "omniscient")
    low, high = entry.metrics.analysed("repaired").kept["kinds"]["world"]["recall"]["bounds"]
    assert low < high
    table = tables["roles-repaired"]()
    row = next(row for row in json.loads(to_json(table))["rows"] if row["model"] == "omniscient")
    assert row["world recall"]["bounds"] == [low, high]
    lines = read(table)
    line = next(line for line in lines if line["Model"] == "omniscient")
    told = [float(line[f"World: Recall {end} case"]) for end in ("worst", "best")]
    assert told == pytest.approx([100 * low, 100 * high])
    assert {line["World: Recall worst case"] for line in lines if line["Model"] != "omniscient"} == {""}
    shares = json.loads(to_json(tables["match-counts-repaired"]()))["rows"]
    assert next(row for row in shares if row["model"] == "omniscient")["0 share"]["bounds"]
    # pictures
    said = {
        name: words(plots[name].draw(format="svg").decode())
        for name in ("orders-repaired", "match-counts-repaired", "orders-official")
    }
    differ = f"rows not judged differ: 0 to {2 * STORIES}, most of omniscient; marks leave them out, lines take them"
    assert differ in said["orders-repaired"] and "rows not judged differ" in said["match-counts-repaired"]
    assert "rows not judged" not in said["orders-official"]
    # a comparison counts what is missing of the stories that are compared
    entries = pair_of(skipped.project, *keys_of(skipped, *NAMES))[1]["stage1"]
    numbers = list(RunItem.objects.filter(entrant__run=skipped).values_list("sample__number", flat=True).distinct())
    part = Selection(key="part", label="two stories", stories=frozenset(numbers[:2]))
    for selection, rows in ((None, 2 * STORIES), (part, 4)):
        [told] = compare(entries, "stage1", "repaired", selection).lead
        assert told == f"{DIFFER}{rows}, most of omniscient. The differences count them at their worst."


def test_where_everything_is_judged_the_best_is_marked_and_nothing_has_bounds(world):
    table = tables_of(document_of(world.another(*NAMES, steps=("extract", "judge"))))["roles-repaired"]()
    assert table.marks() and not table.lead
    assert b"worst case" not in to_csv(table) and b"bounds" not in to_json(table)


def test_missing_answers_that_differ_are_said_at_every_table_of_several_models(world):
    tables, differ = tables_of(document_of(world.run)), "issing answers differ: 0.0 to 100.0 % of the stories"
    for name in (
        "orders", "roles", "volume", "match-counts", "dimensions", "orders-dimensions", "roles-dimensions",
        "labels-order",
    ):  # fmt: skip
        table = tables[f"{name}-repaired"]()
        assert any(differ in one for one in table.lead), name
        assert "Read first" in to_csv(table).decode().splitlines()[0] and json.loads(to_json(table))["lead"]
    assert not tables["confusion-1-order-repaired"]().lead  # of one model
    for other, said in ((HOSTILE, True), ("random", False)):
        entries = pair_of(world.dataset.project, world.entrant("majority"), world.entrant(other))[1]["stage2"]
        for table in compared(compare(entries, "stage2", "repaired")).values():
            assert any("issing answers differ: 0.0 to 100.0 %" in one for one in table().lead) == said, other
