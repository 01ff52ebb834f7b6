"""How a page shows a table: a legend of few short notes, the others unfolded, and no small number as nought."""

from __future__ import annotations

import pytest

from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.writing import to_csv
from benchmark.views.tables import LEGEND_LENGTH, LEGEND_NOTES, page_table

COLUMNS = [
    Column(key="model", header="Model"),
    Column(key="p", header="p", kind="number", digits=4),
    Column(key="f1", header="F1", kind="share", best="high"),
]


def table(*, notes=(), ps=(0.5, 0.25)) -> Table:
    rows = [{"model": f"m{at}", "p": p, "f1": 0.5 + at / 10} for at, p in enumerate(ps)]
    return Table(title="Board", columns=COLUMNS, rows=rows, notes=notes)


def test_few_short_notes_stand_open_and_none_is_lost():
    notes = ["a", "long " * LEGEND_LENGTH, "c", "d", "e"]
    page = page_table("board", table(notes=notes))
    assert page.notes == ["Bold: best of the column; underlined: second.", "a", "c"]
    assert page.more_notes == [notes[1], "d", "e"] and len(page.notes) <= LEGEND_NOTES


@pytest.mark.parametrize(
    ("p", "text"), [(0.00004, "<0.0001"), (0.00006, "0.0001"), (0.0, "0.0000"), (None, "–"), (0.25, "0.2500")]
)
def test_a_small_number_is_not_nought(p, text):
    page = page_table("board", table(ps=(p, 0.5)))
    assert page.rows[0].cells[1].text == text


def test_pages_write_a_minus_and_files_the_hyphen_that_programs_read():
    columns = [
        Column(key="gap-of", header="Gap"),
        Column(key="lead", header="Lead", kind="share", interval="ends"),
    ]
    rows = [{"gap-of": "gpt-4", "lead": -0.0848, "ends": [-0.185, 0.017]}]
    gaps = Table(title="Gaps", columns=columns, rows=rows)
    name, lead = page_table("gaps", gaps).rows[0].cells
    assert (name.text, lead.text, lead.interval) == ("gpt-4", "−8.48", "[−18.5, 1.7]")
    assert b"-8.48,-18.5" in to_csv(gaps) and "−".encode() not in to_csv(gaps)


def test_the_head_of_what_names_the_rows_stands_over_it_on_the_left():
    columns = [Column(key="number", header="Question", kind="count"), Column(key="n", header="n", kind="count")]
    page = page_table("items", Table(title="Items", columns=columns, rows=[{"number": 346, "n": 19}]))
    assert [head.number for head in page.columns] == [False, True]
