"""Malformed CSV: what is refused, with which line, and what is harmless."""

from __future__ import annotations

import csv
import io
import re

import openpyxl
import pytest

from core.incoming.sheets import BadSheet, SheetRow, Sheets, rows_of

HEAD = "story_id,category,story\n"


def rows(text: str | bytes, **options) -> list[SheetRow]:
    raw = text.encode() if isinstance(text, str) else text
    return list(rows_of(io.BytesIO(raw), "f.csv", **options))


def good(text: str) -> list[list[str]]:
    """Return the cells of rows without a problem, without the header."""
    return [row.cells for row in rows(text)[1:] if not row.problem]


def problems(text: str) -> list[tuple[int, str]]:
    return [(row.line, row.problem) for row in rows(text) if row.problem]


SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


@pytest.mark.parametrize(("sign", "name"), SIGNS.items())
def test_a_wide_row_is_a_problem_that_names_the_cell(sign, name):
    text = f"{HEAD}1,A,One@ two@ three.\n2,A,Four.\n".replace(",", sign).replace("@", sign)
    ((line, problem),) = problems(text)
    assert line == 2
    assert problem == (
        f"the row has 5 cells; expected 3 as in the header (story_id, category, story): a cell with {name} must stand "
        f"in quotes, as perhaps story {f'One{sign} two'!r}."
    )
    assert good(text) == [["2", "A", "Four."]]


def test_a_wide_row_without_a_blank_is_a_problem():
    ((line, problem),) = problems(f"{HEAD}1,A,B,C\n")
    assert (line, problem.endswith("a cell with a comma must stand in quotes.")) == (2, True)


def test_text_under_a_column_without_a_name_is_a_problem():
    assert [line for line, _ in problems("story,,\nHe came, saw,\nHe left.,,\n")] == [2]
    assert good("story,,\nHe left.,,\nHe left,,,,\n") == [["He left.", "", ""], ["He left", "", "", "", ""]]
    assert good(",story\n0,It rains.\n") == [["0", "It rains."]]  # a column before a named one is somebody's index


def test_a_short_row_is_refused_with_its_neighbours():
    for body, refused in [
        ("1,A,One\ntwo.\n2,A,Three.\n", [2, 3, 4]),  # a line break outside of quotes
        ("1,A,One\n\ntwo.\n2,A,Three.\n", [2, 4, 5]),
        ("1,A,One\rtwo.\n2,A,Three.\n3,A,Four.\n", [2, 3, 4]),  # a lone CR
        ("1,A,One.\n2,A\n", [2, 3]),  # truncated
        ("1\n", [2]),
    ]:
        assert [line for line, _ in problems(HEAD + body)] == refused
        assert "1 cell" in dict(problems(HEAD + "1\n"))[2]


UNCLOSED = [
    ('1,A,"One.\n2,A,Two.\n', 2, "is never closed"),
    ('1,A,One.\n2,A,"Two.', 3, "is never closed"),
    ('1,A,"One.\n2,A,"Two."\n', 2, "closes in line 3 before 'Two.\"'"),
    ('1,"A,One.\n2,A,""\n3,A,Three\n', 2, "is never closed"),
    ('1,A,"One.\n2,A,Two."\n3,A,Three.\n', 2, "holds line 3, which looks like a row of its own"),
    ('1,A,"One" and two\n', 2, "closes in line 2 before 'and two'"),
    ('1,A,"One" \n', 2, "closes in line 2"),
    ('1,A,"She said \\"hi\\"."\n', 2, "closes in line 2"),
    ('1,A,"One\ntwo\nthree" x\n', 2, "closes in line 4"),
]


def test_a_quote_that_is_out_of_order_refuses_the_file():
    for sign in SIGNS:
        for body, line, sentence in UNCLOSED:
            with pytest.raises(BadSheet, match=re.escape(sentence)) as error:
                rows((HEAD + body).replace(",", sign))
            assert error.value.line == line and str(error.value).startswith(f"f.csv, line {line}: ")
            assert "\n" not in str(error.value)


def test_a_blank_before_a_quote_is_a_problem():
    ((line, problem),) = problems('story_id, story, note\n1, "He came, saw", \n2,x,"He said, ""hi""."\n')
    assert line == 2 and problem.startswith("a blank precedes the quote of cell 2")
    ((line, problem),) = problems('story_id,story\n1, "Mia waits"\n')
    assert line == 2 and problem.startswith("a blank precedes the quote of cell 2")


def test_what_a_writer_of_csv_writes_is_read_as_it_was():
    for cells in [
        ['5" pipe', "x", "it's"],
        ["a\r\nb\nc\rd", 'He said, "hi".', ""],
        ["1", "2", "3\n4, 5, 6"],
        ["7", "A list:\n1,one,two\n2;three;four\n3\tfive\tsix", "x"],
        ["7", "A", "A list:\n7,one,two\n8,three,four"],
        ["7", "It rains.\n8,9", "x"],
        ["7", 'He said:\n8;9,"one"', "x"],
        ["'", '"', '""'],
        ["a\u2028b\x0bc\x0cd\x85e", "\u3000", "，"],
    ]:
        for sign in SIGNS:
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=sign).writerows([["a", "b", "c"], cells, cells])
            assert good(text.getvalue()) == [cells, cells]


def test_a_quote_within_a_bare_cell_stays():
    assert good('a,b\n5" pipe,6"\n') == [['5" pipe', '6"']]


def test_a_header_of_one_column_has_no_delimiter():
    assert good('story\nHe came, saw; and left.\n\n"He said, ""hi""."\na\tb,\n') == [
        ["He came, saw; and left."], ['He said, "hi".'], ["a\tb,"],
    ]  # fmt: skip
    with pytest.raises(BadSheet, match="closes in line 2 before 'said Mia"):
        rows('story\n"Yes," said Mia.\n')


def test_the_header_says_what_stands_between_cells():
    for head, names in [
        ('a;b;"c, d, e"', ["a", "b", "c, d, e"]),
        ("a;b;c, d", ["a", "b", "c, d"]),
        ("\n , \n\na\tb", ["a", "b"]),
        ("sep=|\na|b,c", ["a", "b,c"]),
        ("a", ["a"]),
    ]:
        assert rows(head + "\n")[0].cells == names


def test_two_delimiters_as_often_are_refused():
    with pytest.raises(BadSheet, match=r"^f\.csv, line 2: a comma and a semicolon occur equally often between"):
        rows("\na,b;c\n1,2;3\n")


def test_lines_are_counted_as_an_editor_counts_them():
    text = 'sep=;\r\n\r\na;b\r\n"x\r\ny";1\r\n\r\n2;3;4\r\n'
    assert [row.line for row in rows(text)] == [3, 4, 7]
    assert [row.line for row in rows(text.replace("\r\n", "\r"))] == [3, 4, 7]


def test_a_nul_far_into_a_text_is_refused():
    with pytest.raises(BadSheet, match=r"line 3002: the line holds a NUL character"):
        rows("a,b\n" + "1,2\n" * 3000 + "1,\0\n")


def workbook(*sheets: tuple[str, str, list[list[object]]]) -> bytes:
    book, raw = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, state, lines in sheets:
        sheet = book.create_sheet(name)
        sheet.sheet_state = state
        for line in lines:
            sheet.append(line)
    book.save(raw)
    return raw.getvalue()


def test_a_workbook_says_which_of_its_sheets_was_read():
    told = Sheets()
    filled = [["story"], ["It rains."]]
    raw = workbook(
        ("Empty", "visible", []), ("Mine", "visible", filled), ("Old", "hidden", filled), ("More", "visible", filled),
        ("Bare", "visible", []),
    )  # fmt: skip
    assert [row.cells for row in rows(raw, sheets=told)] == filled
    assert (told.read, list(told.left)) == ("Mine", ["More"])


def test_a_wide_row_of_a_workbook_is_a_problem_and_a_short_one_is_none():
    raw = workbook(("S", "visible", [[], ["story", "category"], ["It rains."], ["It snows.", "A", "note"]]))
    assert [row.line for row in rows(raw)] == [2, 3, 4]
    assert [row.problem for row in rows(raw)][1:] == [
        "", "the row has 3 cells; expected 2 as in the header (story, category).",
    ]  # fmt: skip


def test_a_formula_without_a_value_is_a_problem_and_no_blank_row():
    raw = workbook(("S", "visible", [["story"], ["=1+1"], ["It rains."]]))
    assert [(row.line, row.problem[:12]) for row in rows(raw)[1:]] == [(2, "cell A2 hold"), (3, "")]
    with pytest.raises(BadSheet, match=r"^f\.csv has a header that cannot be read, in line 1: cell A1 holds a formula"):
        rows(workbook(("S", "visible", [["=1+1"], ["It rains."]])))


def test_escapes_of_a_workbook_are_characters():
    cells = ["story", "One_x000D_\ntwo, _x4E2D_.", "_x005F_x0041_ _x0000_ _xD800_ _x12_"]
    read = [row.cells[0] for row in rows(workbook(("S", "visible", [[cell] for cell in cells])))]
    assert read == ["story", "One\r\ntwo, 中.", "_x0041_ _x0000_ _xD800_ _x12_"]
