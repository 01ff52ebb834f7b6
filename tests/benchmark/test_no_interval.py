"""Where a figure has no interval a dash stands, and the reason with it: on pages, in files, in pictures, in what was
saved."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from html import unescape

import pytest
from django.core.management import call_command

from benchmark.domain.tables import Column, Table, to_csv, to_json, to_latex
from benchmark.services.comparison_tables import tables_of as tables_of_comparison
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.plot_data import comparison_picture, plots_of
from benchmark.services.snapshots import save_run_snapshot
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.settled import written

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
FEW = "an interval needs at least 5 stories"


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    """`few` is a run over three stories."""
    held = results_world(tmp_path)
    held.few = held.another("majority", "random", "omniscient", limit=3)
    return held


def silent(table: Table) -> list[tuple[str, str]]:
    """Cells with a value and neither an interval nor a reason."""

    def lacks(column: Column, row) -> bool:
        cell = column.cell(row)
        estimated = cell.interval is None or table.shows("interval", column)
        return estimated and cell.value not in (None, "") and not cell.interval and not cell.no_interval

    rows = (*table.rows, *table.totals)
    return [
        (table.title, column.key)
        for column in table.columns
        for row in rows
        if lacks(column, row) and not column.key.endswith("_rank")  # from eight models on
    ]


@pytest.mark.parametrize("which", ["run", "few"])
def test_no_table_lacks_an_interval_in_silence(world, which):
    made = [make() for make in tables_of(document_of(getattr(world, which))).values()]
    assert [one for table in made for one in silent(table)] == []
    dashed = [table for table in made if table.dashes]
    assert len(dashed) > (50 if which == "few" else 5)
    for table in dashed:
        cells = [column.cell(row) for column in table.columns for row in (*table.rows, *table.totals)]
        reasons = {cell.no_interval for cell in cells if cell.no_interval}
        assert (which == "run" or reasons & {FEW}) and "no interval because" in to_csv(table).decode()
        assert "No interval {[}--{]}: " in to_latex(table).decode()
        assert any(reason in json.dumps(json.loads(to_json(table))["notes"]) for reason in reasons)


def test_no_picture_lacks_a_line_in_silence(world):
    found = plots_of(document_of(world.few))
    lined = [name for name in found if not name.startswith(("confusion", "pairs", "match-counts", "dimensions"))]
    assert len(lined) > 10
    for name in lined:
        drawn = unescape(found[name].draw(format="svg").decode())
        words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn))
        assert FEW in " ".join(words.split()), name


def test_pages_say_it_beside_the_figure_and_under_the_picture(world, client):
    client.force_login(world.alice)
    saved = save_run_snapshot(by=world.alice, run=world.few)
    for address in (f"/runs/{world.few.uid}/report/", f"/results/snapshots/{saved.uid}/"):
        page = written(client.get(f"{world.base}{address}"))
        assert f'<span class="interval" title="{FEW}">[–]' in page and f"No line: {FEW}." in page
    first, second = (f"{world.few.uid}.{world.few.entrants.get(name=name).pk}" for name in ("majority", "random"))
    page = written(client.get(f"{world.base}/results/compare/", {"a": first, "b": second, "group": "stage2"}))
    assert f"points</strong> (no interval: {FEW})" in page and f"No line: {FEW}." in page


def test_a_comparison_s_files_say_it(world):
    keys = [f"{world.few.uid}.{world.few.entrants.get(name=name).pk}" for name in ("majority", "random")]
    found = compare(pair_of(world.dataset.project, *keys)[1]["stage2"], "stage2", "repaired")
    table = tables_of_comparison(found)["differences"]()
    assert silent(table) == []
    lines = list(csv.DictReader(io.StringIO(to_csv(table).decode(), newline="")))
    assert {line["Difference no interval because"] for line in lines} == {FEW}
    assert f"No band around the mean: {FEW}" in " ".join(
        re.findall(r"<text[^>]*>([^<]*)</text>", comparison_picture(found).draw(format="svg").decode())
    )


def test_commands_say_it(world, capsys):
    slug = world.dataset.project.slug
    call_command("leaderboard", project=slug, split=f"run:{world.few.uid}")
    said = capsys.readouterr().out
    assert "[–]" in said and f"No interval [–]: {FEW}." in said
    call_command("leaderboard", project=slug, split=f"run:{world.few.uid}", json=True)
    rows = json.loads(capsys.readouterr().out)["groups"]["stage2"]
    assert {row["repaired"]["reason"] for row in rows if row["repaired"]} == {FEW}


def test_a_price_is_a_number_in_json():
    """Prices are decimals, which JSON has not."""
    table = Table(title="Judges", columns=[Column(key="price", header="Price")], rows=[{"price": Decimal("0.25")}])
    assert json.loads(to_json(table))["rows"] == [{"price": 0.25}]
