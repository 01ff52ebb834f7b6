"""Tables from outside, CSV and workbooks: what is read as it was written, what is refused and with which line, and how
little a hostile file costs."""

import csv
import io
import random
import re
import resource
import zipfile
from datetime import datetime

import openpyxl
import pytest

from core.incoming import deadline
from core.incoming.encodings import WINDOWS, BadText, utf8_lines
from core.incoming.sheets import BadSheet, SheetRow, Sheets, rows_of

HEAD = "story_id,category,story\n"
SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
INES = [["story", "actor"], ["1", "Inés"]]


def rows(text: str | bytes, **options) -> list[SheetRow]:
    return list(rows_of(io.BytesIO(text.encode() if isinstance(text, str) else text), "f.csv", **options))


def cells(text: str | bytes, **options) -> list[list[str]]:
    return [row.cells for row in rows(text, **options)]


def good(text: str) -> list[list[str]]:
    """Return the cells of rows without a problem, without the header."""
    return [row.cells for row in rows(text)[1:] if not row.problem]


def problems(text: str) -> list[tuple[int, str]]:
    return [(row.line, row.problem) for row in rows(text) if row.problem]


def refused(told: str, raw: str | bytes, **options) -> BadSheet | BadText:
    """The refusal of a file, which begins with this and is one line."""
    with pytest.raises((BadSheet, BadText)) as error:
        rows(raw, **options)
    assert re.search(told, str(error.value)), str(error.value)
    assert str(error.value).startswith("f.csv") and "\n" not in str(error.value)
    return error.value


# --- CSV


def test_a_wide_row_is_a_problem_that_names_the_cell():
    for sign, name in SIGNS.items():
        text = f"{HEAD}1,A,One@ two@ three.\n2,A,Four.\n".replace(",", sign).replace("@", sign)
        told = "the row has 5 cells; expected 3 as in the header (story_id, category, story): a cell with"
        perhaps = f"{told} {name} must stand in quotes, as perhaps story {f'One{sign} two'!r}."
        assert problems(text) == [(2, perhaps)] and good(text) == [["2", "A", "Four."]]
    ((line, problem),) = problems(f"{HEAD}1,A,B,C\n")  # without a blank
    assert line == 2 and problem.endswith("a cell with a comma must stand in quotes.")
    # text under a column without a name; one before a named column is somebody's index
    assert [line for line, _ in problems("story,,\nHe came, saw,\nHe left.,,\n")] == [2]
    assert good("story,,\nHe left.,,\nHe left,,,,\n") == [["He left.", "", ""], ["He left", "", "", "", ""]]
    assert good(",story\n0,It rains.\n") == [["0", "It rains."]]


def test_a_short_row_is_refused_with_its_neighbours():
    for body, lines in [
        ("1,A,One\ntwo.\n2,A,Three.\n", [2, 3, 4]),  # a line break outside of quotes
        ("1,A,One\n\ntwo.\n2,A,Three.\n", [2, 4, 5]),
        ("1,A,One\rtwo.\n2,A,Three.\n3,A,Four.\n", [2, 3, 4]),  # a lone CR
        ("1,A,One.\n2,A\n", [2, 3]),  # truncated
        ("1\n", [2]),
    ]:
        assert [line for line, _ in problems(HEAD + body)] == lines
    assert "1 cell" in dict(problems(HEAD + "1\n"))[2]


def test_a_quote_that_is_out_of_order_refuses_the_file():
    for body, line, sentence in [
        ('1,A,"One.\n2,A,Two.\n', 2, "is never closed"),
        ('1,A,One.\n2,A,"Two.', 3, "is never closed"),
        ('1,A,"One.\n2,A,"Two."\n', 2, "closes in line 3 before 'Two.\"'"),
        ('1,"A,One.\n2,A,""\n3,A,Three\n', 2, "is never closed"),
        ('1,A,"One.\n2,A,Two."\n3,A,Three.\n', 2, "holds line 3, which looks like a row of its own"),
        ('1,A,"One" and two\n', 2, "closes in line 2 before 'and two'"),
        ('1,A,"One" \n', 2, "closes in line 2"),
        ('1,A,"She said \\"hi\\"."\n', 2, "closes in line 2"),
        ('1,A,"One\ntwo\nthree" x\n', 2, "closes in line 4"),
    ]:
        for sign in SIGNS:
            found = refused(rf"^f\.csv, line {line}: .*{re.escape(sentence)}", (HEAD + body).replace(",", sign))
            assert found.line == line
    refused("closes in line 2 before 'said Mia", 'story\n"Yes," said Mia.\n')
    for text in ('story_id, story, note\n1, "He came, saw", \n2,x,"He said, ""hi""."\n', 'story_id,story\n1, "Mia"\n'):
        ((line, problem),) = problems(text)
        assert line == 2 and problem.startswith("a blank precedes the quote of cell 2")


def test_what_a_writer_of_csv_writes_is_read_as_it_was():
    for of in [
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
            csv.writer(text, delimiter=sign).writerows([["a", "b", "c"], of, of])
            assert good(text.getvalue()) == [of, of]
    assert good('a,b\n5" pipe,6"\n') == [['5" pipe', '6"']], "a quote within a bare cell stays"
    # a header of one column has no delimiter
    lines = [["He came, saw; and left."], ['He said, "hi".'], ["a\tb,"]]
    assert good('story\nHe came, saw; and left.\n\n"He said, ""hi""."\na\tb,\n') == lines


def test_the_header_says_what_stands_between_cells():
    for head, names in [
        ('a;b;"c, d, e"', ["a", "b", "c, d, e"]),
        ("a;b;c, d", ["a", "b", "c, d"]),
        ("\n , \n\na\tb", ["a", "b"]),
        ("sep=|\na|b,c", ["a", "b,c"]),
        ("a", ["a"]),
    ]:
        assert rows(head + "\n")[0].cells == names
    refused(r"^f\.csv, line 2: a comma and a semicolon occur equally often between", "\na,b;c\n1,2;3\n")


def test_lines_are_counted_as_an_editor_counts_them():
    text = 'sep=;\r\n\r\na;b\r\n"x\r\ny";1\r\n\r\n2;3;4\r\n'
    for ends in (text, text.replace("\r\n", "\r")):
        assert [row.line for row in rows(ends)] == [3, 4, 7]
    refused(r"line 3002: the line holds a NUL character", "a,b\n" + "1,2\n" * 3000 + "1,\0\n")


# --- encodings


def test_what_programs_save_is_read():
    for delimiter in SIGNS:
        for encoding in ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]:
            text = "".join(delimiter.join(row) + "\r\n" for row in INES)
            assert cells(text.encode(encoding)) == INES
            assert cells(("sep=" + delimiter + "\r\n" + text).encode(encoding)) == INES
    # UTF-16 without a mark is told by what makes sense
    for text in [
        "一,丁\n",
        "a,一\n",
        HEAD + "1,一,小红把钥匙放在包里，然后离开了房间。一会儿，小明走进来。\n" * 99,
        HEAD + "1,一,小紅把鑰匙放在包裡，然後離開了房間。一會兒，小明走進來。\n",
        HEAD + "1,鍵,花子は鍵をかばんに入れて部屋を出た。\n",
        HEAD + "1,열쇠,수진은 열쇠를 가방에 넣고 방을 나갔다.\n",
        HEAD + "1,चाबी,सीता ने चाबी थैले में रखी।\n",
        "1,Ines puts it away \U0001f511",
    ]:
        for encoding in ["utf-16-le", "utf-16-be"]:
            assert cells(text.encode(encoding)) == list(csv.reader(io.StringIO(text)))
    refused(r"can be read as UTF-16 in either order of bytes; save it as UTF-8\.", "一一".encode("utf-16-le"))
    for raw in (b"story,actor\n1,In\0es\n", bytes(range(256)) * 9):
        refused("^f.csv holds NUL bytes", raw)


def test_another_encoding_is_proposed_by_what_it_makes_of_the_text_and_taken_where_it_is_asked_for():
    raw = "story,actor\n1,Inés\n".encode(WINDOWS)
    refused(r"^f\.csv is not UTF-8\. If line 2 reads “1,Inés”, choose the encoding Windows", raw)
    assert cells(raw, encoding="windows-1252") == INES
    chinese = [["story", "category"], ["小红把钥匙放在包里。", "一"]]
    raw = "".join(",".join(row) + "\r\n" for row in chinese).encode("gbk")
    refused(r"reads “小红把钥匙放在包里。,一”, choose the encoding GB 18030; else save it as UTF-8\.$", raw)
    assert cells(raw, encoding="gb18030") == chinese
    refused(r"^f\.csv is not GB 18030: .* near line 2\.$", b"story\nIn\xe9, a\n", encoding="gb18030")
    refused(r"^f\.csv is UTF-8, not GB 18030; choose", "story\n小红\n", encoding="gb18030")
    # what can be read as GB 18030, but does not read as Chinese
    others = [("花子は鍵を", "shift_jis"), ("小紅把鑰匙放", "big5")]
    for text, encoding in [*((text, WINDOWS) for text in ("Inés", "Größe", "créée")), *others]:
        assert text.encode(encoding).decode("gb18030")
        refused("choose the encoding Windows-1252;", text.encode(encoding))
    # an encoding that would read other letters
    for own, told in [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16")]:
        told = rf"^f\.csv is {told}, not Windows-1252; choose the encoding UTF-8 or UTF-16\.$"
        refused(told, "story,actor\n1,In\xe9s\n".encode(own), encoding="windows-1252")
    assert cells("story,actor\n1,Ines\n", encoding="windows-1252") == [["story", "actor"], ["1", "Ines"]]


def test_what_is_no_text_is_told_as_what_it_is():
    for start, kind in [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture (JPEG)"),
        (b"{\\rtf1\\ansi", "an RTF document"),
        (b"\x1f\x8b\x08\0", "a compressed file (gzip)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "a workbook of an old format (.xls) or a document of one (.doc)"),
    ]:
        told = f"^f.csv is {re.escape(kind)}; expected text \\(.csv, .jsonl\\) or a workbook \\(.xlsx\\).$"
        for encoding in ("", WINDOWS):
            refused(told, start, encoding=encoding)
            with pytest.raises(BadText, match=told):
                utf8_lines(io.BytesIO(start), "f.csv", encoding=encoding)
    with pytest.raises(BadText, match=r"^f\.jsonl is a zip file, as \.docx"):
        utf8_lines(io.BytesIO(workbook([["story"]])), "f.jsonl")


# --- workbooks


def workbook(lines: list[list], *others: tuple[str, str, list[list]], before=(), change=lambda sheet: None) -> bytes:
    """A workbook of a sheet "Mine", and of other ones, (name, state, lines) each, before it and behind it."""
    book, raw = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, state, held in (*before, ("Mine", "visible", lines), *others):
        sheet = book.create_sheet(name)
        sheet.sheet_state = state
        for line in held:
            sheet.append(line)
        if name == "Mine":
            change(sheet)
    book.save(raw)
    return raw.getvalue()


def test_a_workbook_is_read_as_what_it_shows():
    def change(sheet) -> None:
        sheet.merge_cells("A2:A3")
        sheet["E900"].number_format = "0.0"  # touched, and empty

    lines = [["story", "order", "when"], [1, 2.0, True], [None, "x", None], [2, 0.5, "=1+1"], [3, "#REF!", None]]
    read = rows(workbook(lines, ("Notes", "visible", [["not", "this"]]), change=change))
    assert [row.cells for row in read[:3]] == [["story", "order", "when"], ["1", "2", "True"], ["1", "x", ""]]
    assert read[3].problem.startswith("cell C4 holds a formula without a value")
    assert read[4].problem.startswith("cell B5 holds the error #REF!")
    assert not any(row.cells or row.problem for row in read[5:])
    wide = rows(workbook([[], ["story", "category"], ["It rains."], ["It snows.", "A", "note"]]))
    too_wide = "the row has 3 cells; expected 2 as in the header (story, category)."
    assert [(row.line, row.problem) for row in wide] == [(2, ""), (3, ""), (4, too_wide)], "a short one is none"
    # a formula without a value is no blank row
    read = rows(workbook([["story"], ["=1+1"], ["It rains."]]))
    assert [(row.line, row.problem[:12]) for row in read[1:]] == [(2, "cell A2 hold"), (3, "")]
    refused("has a header that cannot be read, in line 1: cell A1 holds a formula", workbook([["=1+1"], ["It rains."]]))
    escapes = ["story", "One_x000D_\ntwo, _x4E2D_.", "_x005F_x0041_ _x0000_ _xD800_ _x12_"]
    shown = [["story"], ["One\r\ntwo, 中."], ["_x0041_ _x0000_ _xD800_ _x12_"]]
    assert cells(workbook([[cell] for cell in escapes])) == shown


def test_a_workbook_says_which_of_its_sheets_was_read():
    told, filled = Sheets(), [["story"], ["It rains."]]
    others = ("Old", "hidden", filled), ("More", "visible", filled), ("Bare", "visible", [])
    assert cells(workbook(filled, *others, before=[("Empty", "visible", [])]), sheets=told) == filled
    assert (told.read, list(told.left)) == ("Mine", ["More"])


def _with(part: str, content: bytes) -> bytes:
    """Return a workbook with another content of one of its parts."""
    raw = io.BytesIO()
    old = zipfile.ZipFile(io.BytesIO(workbook([["story"]])))
    with old, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {*old.namelist(), part}:
            new.writestr(name, content if name == part else old.read(name))
    return raw.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
START = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"
ENTITIES = b"".join(b'<!ENTITY %s "%s">' % (bytes([c + 1]), b"&%c;" % c * 50) for c in range(97, 117))
LAUGHS = (
    b'<!DOCTYPE x [<!ENTITY a "ha">' + ENTITIES + b"]>" + START + b'<row r="1"><c t="str"><v>&u;</v></c></row>' + END
)
HOSTILE = [
    (lambda: b"x" * 20_000_000, "line is longer than 8 million characters"),
    (lambda: b'a,b\n"' + b"x\n" * 2_000_000, "longer than 1,000,000 characters; expected its quote to close before"),
    (lambda: ",".join(f"k{at}" for at in range(10_000)).encode(), "10,000 columns; expected at most 200"),
    (lambda: workbook([[f"k{at}" for at in range(10_000)]]), "cell GS1 has a value; expected at most 200 columns"),
    (lambda: b"a,b\n1,\0\n", "NUL bytes"),
    (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "old format (.xls)"),
    (lambda: b"PK\x03\x04" + bytes(range(256)), "cannot be read as .xlsx"),
    (lambda: _with(SHEET, START + b" " * 80_000_000), "unpacks to more than 64 MB"),
    (lambda: _with(SHEET, START + b"<row>" + b"<c/>" * 4_000_000), "more cells than"),
    (lambda: _with("xl/sharedStrings.xml", b"<sst>" + b"<si/>" * 4_000_000), "more cells than"),
    (lambda: _with(SHEET, START + b'<row r="9999999999"></row>' + END), "20,000 rows"),
    (lambda: _with(SHEET, START + b'<row r="1"><c r="A1"><v>1</v>'), "cannot be read as .xlsx"),
    (lambda: _with(SHEET, LAUGHS), "cannot be read as .xlsx"),
    (lambda: _with("xl/workbook.xml", b"<a/>"), "has no sheet with rows"),
]


def test_a_hostile_file_is_one_sentence_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("core.incoming.workbooks._MOST_ROWS", 20_000)  # a million take seconds
    for make, sentence in HOSTILE:
        raw = make()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refused(re.escape(sentence), raw)
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 300, sentence


def damaged(raw: bytes, seed: int) -> bytes:
    """Return a workbook with some bytes of another value, inside a part that is packed well or in the packed file, or
    with its end cut off."""
    rng = random.Random(seed)
    if seed % 3 == 0:
        return raw[: rng.randrange(4, len(raw))]
    if seed % 3 == 1:
        packed = bytearray(raw)
        for _ in range(rng.choice((1, 3, 9))):
            packed[rng.randrange(4, len(packed))] = rng.randrange(256)
        return bytes(packed)
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        parts = {name: bytearray(book.read(name)) for name in book.namelist()}
    part = parts[rng.choice(sorted(parts))]
    for _ in range(rng.choice((1, 3, 9))):
        at = rng.randrange(len(part))
        part[at : at + rng.randrange(1, 20)] = rng.randbytes(1)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, bytes(content))
    return target.getvalue()


@pytest.mark.filterwarnings("ignore::UserWarning")  # the library names what it leaves out
def test_a_damaged_workbook_is_one_sentence():
    lines = [[number, f"Mia hides the key in box {number}.", datetime(2026, 11, 29)] for number in range(9)]
    lines = [["story_id", "story", "day"], *lines]
    lines[1].append("=A2+1")
    second = ("second", "visible", [["not", "this"]])
    raw, told = workbook(lines, second, change=lambda sheet: sheet.merge_cells("B2:B4")), 0
    for seed in range(240):
        try:
            rows(damaged(raw, seed))
        except (BadSheet, BadText) as error:
            told += 1
            assert "f.csv" in str(error) and "\n" not in str(error), seed
    assert told > 120


def test_cells_far_away_and_merged_ones_cost_no_more_than_the_rows_there_are():
    two = b'<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="B2"><v>2</v></c></row>'
    merged = b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    assert cells(_with(SHEET, START + two + merged)) == [["x"], ["x", "x"]]
    many = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row) for row in range(1, 401))
    for areas, is_refused in (
        ([b"A1:B1048576"] * 20_001, True),
        ([b"A1:ZZ400"] * 26, True),  # 26 × 400 rows × 200 columns
        ([b"A%d:B%d" % (row, row) for row in range(1, 401)], False),
    ):
        merged = b"".join(b'<mergeCell ref="%s"/>' % area for area in areas)
        raw = _with(SHEET, START + many + b"</sheetData><mergeCells>" + merged + b"</mergeCells></worksheet>")
        if is_refused:
            refused(r"more merged cells than can be read \(areas: at most 20,000", raw)
        else:
            assert len(rows(raw)) == 400
    style = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c><c r="XFD%d"/></row>' % (row, row, row) for row in (1, 2))
    assert cells(_with(SHEET, START + style + END)) == [["1"], ["1"]]
    text = style.replace(b'<c r="XFD2"/>', b'<c r="XFD2"><v>9</v></c>')
    refused("^f.csv: cell XFD2 has a value; expected at most 200 columns", _with(SHEET, START + text + END))


def test_a_request_reads_no_longer_than_it_may(monkeypatch):
    clock = iter(range(0, 1_000, 7))
    monkeypatch.setattr("core.incoming.deadline.time.thread_time", lambda: next(clock))
    raw = "story\n" + "Mia waits.\n" * 20
    assert len(rows(raw)) == 21  # a command has no limit
    with deadline.limited(30):
        refused("^f.csv takes longer to read than a page may", raw)
    with deadline.limited(300):
        assert len(rows(raw)) == 21
