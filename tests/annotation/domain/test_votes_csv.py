from __future__ import annotations

import io
import random
from datetime import UTC, datetime

import pytest

from annotation.domain.columns import WrongColumns
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.votes_csv import read_votes
from core.incoming.encodings import BadText
from core.incoming.sheets import rows_of

HEAD = "story_id,actor,belief,dimension,annotator,label"


def read(text: str) -> list:
    return list(read_votes(rows_of(io.BytesIO(text.encode()), "votes.csv"), "votes.csv", DEFAULT_SCHEMA, LeftOut()))


def test_a_row_is_read_with_its_optional_columns_in_any_order():
    (row,) = read(
        "label,occurrence,story_id,created_at,actor,belief,dimension,annotator\n1,2,7,2026-10-05T09:30:00Z,Ines,B,order,ada\n"
    )
    assert (row.line, row.story, row.label, row.occurrence, row.annotator) == (2, 7, "1", 2, "ada")
    assert row.created_at == datetime(2026, 10, 5, 9, 30, tzinfo=UTC)


def test_what_spreadsheets_save_is_read():
    for text in [
        f"\ufeff{HEAD}\r\n1,Ines,B,order,ada,1\r\n",
        "Story_ID;Actor;Belief;Dimension;Annotator;Label\n1;Ines;B;order;ada;1\n",
        HEAD.replace(",", "\t") + "\n1\tInes\tB\torder\tada\t1\n",
        f'{HEAD}\n"1","Ines","B","order"," ada ","1"\n,,,,,\n',
    ]:
        (row,) = read(text)
        assert (row.story, row.actor, row.belief, row.annotator, row.label) == (1, "Ines", "B", "ada", "1")


def test_a_text_with_line_breaks_and_quotes_stays_whole():
    (row,) = read(f'{HEAD}\n1,Ines,"a ""b""\r\nc, d",order,ada,1\n')
    assert row.belief == 'a "b"\r\nc, d'


def test_a_label_is_legal_in_any_case_and_kept_as_the_schema_writes_it():
    (row,) = read(f"{HEAD}\n1,Ines,B,content_type,ada,contents/physical state\n")
    assert row.label == "Contents/Physical State"


def test_defused_formulas_are_restored():
    (row,) = read(f"{HEAD}\n1,'=Ines,'-B,order,ada,1\n")
    assert (row.actor, row.belief) == ("=Ines", "-B")


def test_a_bad_row_is_a_problem_with_its_line():
    for cells, expected in [
        ("x,Ines,B,order,ada,1", "story_id is 'x'"),
        ("1,Ines,B,colour,ada,1", "dimension is 'colour'"),
        ("1,Ines,B,order,,1", "annotator is empty"),
        ("1,Ines,B,order,ada,9", "label is '9'; expected one of 0, 1, 2, 3"),
        ("1,Ines,B,order,ada,1,1", "7 cells; expected 6 as in the header (story_id, actor, belief, dimension"),
    ]:
        problem, good = read(f"{HEAD}\n{cells}\n1,Ines,B,order,ada,1\n")
        assert isinstance(problem, Problem)
        assert problem.line == 2
        assert expected in problem.message
        assert good.line == 3


def test_a_bad_time_is_a_problem():
    for moment in ["yesterday", "2026-13-01", "0001-01-01T00:00:00+23:00"]:
        (problem,) = read(f"{HEAD},created_at\n1,Ines,B,order,ada,1,{moment}\n")
        assert "created_at" in problem.message


def test_a_row_has_a_cell_for_each_column():
    (row,) = read(f"{HEAD},occurrence,note\n1,Ines,B,order,ada,1,,\n")
    assert row.occurrence == 1
    problem, neighbour = read(f"{HEAD},occurrence\n1,Ines,B,order,ada,1\n1,Ines,B,order,bob,1,1\n")
    assert "The row has 6 cells; expected 7" in problem.message and "Line 2 next to it" in neighbour.message


def test_a_column_twice_is_one_sentence():
    for head in [HEAD + ",Label ", HEAD + ",note,note"]:
        name = {"note": "note", "Label ": "label, Label"}[head.rsplit(",", 1)[1]]
        with pytest.raises(WrongColumns, match=rf"^votes\.csv, line 1: the column {name} occurs twice"):
            read(f"{head}\n1,Ines,B,order,ada,1,2\n")
        assert len(read(f"{HEAD},,\n1,Ines,B,order,ada,1,,\n")) == 1  # columns without a name are a spreadsheet's habit


def test_missing_columns_and_other_encodings_are_one_sentence():
    with pytest.raises(WrongColumns, match="column annotator is missing"):
        read("story_id,actor,belief,dimension,label\n")
    raw = io.BytesIO(HEAD.encode() + b"\n1,In\xe9s,B,order,ada,1\n")
    with pytest.raises(BadText, match=r"not UTF-8\. If line 2 reads “1,Inés,B,order,ada,1”, choose"):
        list(read_votes(rows_of(raw, "votes.csv"), "votes.csv", DEFAULT_SCHEMA, LeftOut()))
    (row,) = read_votes(rows_of(raw, "votes.csv", encoding="windows-1252"), "votes.csv", DEFAULT_SCHEMA, LeftOut())
    assert row.actor == "Inés"


def test_what_a_row_means_does_not_depend_on_the_rows_before_it():
    """Cells are read once and looked up where they come again: also where they are wrong, long, empty or written
    otherwise."""
    drawn = random.Random(4)
    choices = {
        "story_id": ["1", " 1", "2", "", "x"], "actor": ["Ines", "", "'=Ines"], "belief": ["B", " B", "", "B" * 400],
        "dimension": ["order", " order ", "colour"], "annotator": ["ada", " ada", "", "'-bo"],
        "label": ["1", " 2 ", "9", "", " " * 400 + "3"], "occurrence": ["", " 2", "0", "1"],
        "created_at": ["", "2026-10-05T09:30:00Z", " 2026-10-05T11:30:00+02:00 ", "yesterday"],
    }  # fmt: skip
    head, lines = ",".join(choices), [",".join(map(drawn.choice, choices.values())) for _ in range(3000)]
    lines += [",,,,,,,", "1,Ines,B,order,ada,1,,,"]

    def plain(row) -> tuple:
        return (row.file, row.message) if isinstance(row, Problem) else row[1:]

    alone = {line: [plain(row) for row in read(f"{head}\n{line}\n")] for line in set(lines)}
    together = read("\n".join([head, *lines, ""]))
    assert [plain(row) for row in together] == [meaning for line in lines for meaning in alone[line]]
    assert 200 < sum(isinstance(row, Problem) for row in together) < len(together) - 30


def test_a_first_row_without_a_story_is_a_problem():
    (problem,) = read(f"{HEAD}\n,,,order,ada,1\n")
    assert (problem.line, problem.message) == (2, "story_id is ''; expected a whole number.")
