from __future__ import annotations

import io

import openpyxl

from annotation.domain.problems import LeftOut
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.stories import read_stories
from annotation.domain.tables import read_tables
from annotation.domain.votes_csv import read_votes
from core.incoming.sheets import rows_of

SHEETS = {
    "stories": (["story_id", "story"], [1.0, "It rains."]),
    "tables": (["story_id", "actor", "belief", "order"], [1.0, "Ines", "It rains", 2.0]),
    "votes": (
        ["story_id", "actor", "belief", "dimension", "annotator", "label", "occurrence"],
        [1.0, "Ines", "It rains", "order", "ada", 2.0, 1.0],
    ),
}
READ = {
    "stories": lambda rows: [
        (row.number, row.text) for row in read_stories(rows, "f", language="en", left_out=LeftOut())
    ],
    "tables": lambda rows: [(row.story, row.row.order) for row in read_tables(rows, "f", LeftOut())],
    "votes": lambda rows: [
        (row.story, row.label, row.occurrence) for row in read_votes(rows, "f", DEFAULT_SCHEMA, LeftOut())
    ],
}
MEANT = {"stories": [(1, "It rains.")], "tables": [(1, "2")], "votes": [(1, "2", 1)]}


def test_whole_numbers_that_were_saved_as_1_0_are_read_alike_in_both_kinds_of_sheet():
    for kind in SHEETS:
        book, saved = openpyxl.Workbook(), io.BytesIO()
        for cells in SHEETS[kind]:
            book.active.append(cells)
        book.save(saved)
        text = "\n".join(",".join(map(str, cells)) for cells in SHEETS[kind])
        assert "1.0" in text
        for raw in (text.encode(), saved.getvalue()):
            assert READ[kind](rows_of(io.BytesIO(raw), "f")) == MEANT[kind]


def test_what_is_no_whole_number_is_refused():
    for number in ["1.5", "1.", ".0", "1.0e0", "-1.0", "1,0"]:
        (problem,) = read_stories(
            rows_of(io.BytesIO(f"story_id;story\n{number};It rains.\n".encode()), "f"),
            "f",
            language="en",
            left_out=LeftOut(),
        )
        assert problem.message.startswith(f"story_id: it is {number!r}; expected a whole number")
