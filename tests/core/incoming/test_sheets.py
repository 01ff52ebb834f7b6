from __future__ import annotations

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
from core.incoming.sheets import BadSheet, rows_of

ROWS = [["story", "actor"], ["1", "Inés"]]


def cells(raw: bytes, **options) -> list[list[str]]:
    return [row.cells for row in rows_of(io.BytesIO(raw), "f.csv", **options)]


def workbook(fill, *sheets: str) -> bytes:
    book = openpyxl.Workbook()
    fill(book.active)
    for name in sheets:
        book.create_sheet(name).append(["not", "this"])
    raw = io.BytesIO()
    book.save(raw)
    return raw.getvalue()


def test_what_programs_save_is_read():
    for delimiter in [",", ";", "\t"]:
        for encoding in ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]:
            text = "".join(delimiter.join(row) + "\r\n" for row in ROWS)
            assert cells(text.encode(encoding)) == ROWS
            assert cells(("sep=" + delimiter + "\r\n" + text).encode(encoding)) == ROWS


HEAD_ROW = "story_id,category,story\n"


def test_utf_16_without_a_mark_is_told_by_what_makes_sense():
    for text in [
        "一,丁\n",
        "a,一\n",
        HEAD_ROW + "1,一,小红把钥匙放在包里，然后离开了房间。一会儿，小明走进来。\n" * 99,
        HEAD_ROW + "1,一,小紅把鑰匙放在包裡，然後離開了房間。一會兒，小明走進來。\n",
        HEAD_ROW + "1,鍵,花子は鍵をかばんに入れて部屋を出た。\n",
        HEAD_ROW + "1,열쇠,수진은 열쇠를 가방에 넣고 방을 나갔다.\n",
        HEAD_ROW + "1,चाबी,सीता ने चाबी थैले में रखी।\n",
        "1,Ines puts it away \U0001f511",
    ]:
        for encoding in ["utf-16-le", "utf-16-be"]:
            assert cells(text.encode(encoding)) == list(csv.reader(io.StringIO(text)))


def test_what_makes_sense_in_two_encodings_or_in_none_is_not_guessed():
    for raw, sentence in [
        ("一一".encode("utf-16-le"), "f.csv can be read as UTF-16 in either order of bytes; save it as UTF-8."),
        (b"story,actor\n1,In\0es\n", "f.csv holds NUL bytes"),
        (bytes(range(256)) * 9, "f.csv holds NUL bytes"),
    ]:
        with pytest.raises(BadText, match=re.escape(sentence)):
            cells(raw)


def test_another_encoding_is_asked_for():
    raw = "story,actor\n1,Inés\n".encode("windows-1252")
    with pytest.raises(BadText, match=r"^f\.csv is not UTF-8\. If line 2 reads “1,Inés”, choose the encoding Windows"):
        cells(raw)
    assert cells(raw, encoding="windows-1252") == ROWS


def test_gbk_is_proposed_for_what_reads_as_chinese():
    rows = [["story", "category"], ["小红把钥匙放在包里。", "一"]]
    raw = "".join(",".join(row) + "\r\n" for row in rows).encode("gbk")
    told = (
        r"not UTF-8\. If line 2 reads “小红把钥匙放在包里。,一”, choose the encoding GB 18030; else save it as UTF-8\.$"
    )
    with pytest.raises(BadText, match=told):
        cells(raw)
    assert cells(raw, encoding="gb18030") == rows
    with pytest.raises(BadText, match=r"^f\.csv is not GB 18030: .* near line 2\.$"):
        cells(b"story\nIn\xe9, a\n", encoding="gb18030")
    with pytest.raises(BadText, match=r"^f\.csv is UTF-8, not GB 18030; choose"):
        cells("story\n小红\n".encode(), encoding="gb18030")


def test_gbk_is_not_proposed_for_what_only_can_be_read_so():
    for text, encoding in [
        ("Inés", WINDOWS),
        ("Größe", WINDOWS),
        ("créée", WINDOWS),
        ("花子は鍵を", "shift_jis"),
        ("小紅把鑰匙放", "big5"),
    ]:
        raw = text.encode(encoding)
        assert raw.decode("gb18030")
        with pytest.raises(BadText, match="choose the encoding Windows-1252;"):
            cells(raw)


def test_an_encoding_that_would_read_other_letters_is_refused():
    for own, told in [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16")]:
        raw = "story,actor\n1,In\xe9s\n".encode(own)
        with pytest.raises(
            BadText, match=rf"^f\.csv is {told}, not Windows-1252; choose the encoding UTF-8 or UTF-16\.$"
        ):
            cells(raw, encoding="windows-1252")
        assert cells(b"story,actor\n1,Ines\n", encoding="windows-1252") == [["story", "actor"], ["1", "Ines"]]


def test_a_workbook_is_read_as_what_it_shows():
    def fill(sheet):
        sheet.append(["story", "order", "when"])
        sheet.append([1, 2.0, True])
        sheet.append([None, "x", None])
        sheet.append([2, 0.5, "=1+1"])
        sheet.append([3, "#REF!", None])
        sheet.merge_cells("A2:A3")
        sheet["E900"].number_format = "0.0"  # touched, and empty

    rows = list(rows_of(io.BytesIO(workbook(fill, "Notes")), "f.xlsx"))
    assert [row.cells for row in rows[:3]] == [["story", "order", "when"], ["1", "2", "True"], ["1", "x", ""]]
    assert rows[3].problem.startswith("cell C4 holds a formula without a value")
    assert rows[4].problem.startswith("cell B5 holds the error #REF!")
    assert not any(row.cells or row.problem for row in rows[5:])


def _with(part: str, content: bytes) -> bytes:
    """Return a workbook with another content of one of its parts."""
    raw = io.BytesIO()
    old = zipfile.ZipFile(io.BytesIO(workbook(lambda sheet: sheet.append(["story"]))))
    with old, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {*old.namelist(), part}:
            new.writestr(name, content if name == part else old.read(name))
    return raw.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %s "%s">' % (bytes([c + 1]), b"&%c;" % c * 50) for c in range(97, 117)
) + b"]>" + HEAD + b'<row r="1"><c t="str"><v>&u;</v></c></row></sheetData></worksheet>'  # fmt: skip


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: b"x" * 20_000_000, "line is longer than 8 million characters"),
        (
            lambda: b"a,b\n" + b'"' + b"x\n" * 2_000_000,
            "longer than 1,000,000 characters; expected its quote to close before",
        ),
        (lambda: ",".join(f"k{at}" for at in range(10_000)).encode(), "10,000 columns; expected at most 200"),
        (
            lambda: workbook(lambda sheet: sheet.append([f"k{at}" for at in range(10_000)])),
            "cell GS1 has a value; expected at most 200 columns",
        ),
        (lambda: b"a,b\n1,\0\n", "NUL bytes"),
        (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "old format (.xls)"),
        (lambda: b"PK\x03\x04" + bytes(range(256)), "cannot be read as .xlsx"),
        (lambda: _with(SHEET, HEAD + b" " * 80_000_000), "unpacks to more than 64 MB"),
        (lambda: _with(SHEET, HEAD + b"<row>" + b"<c/>" * 4_000_000), "more cells than"),
        (lambda: _with("xl/sharedStrings.xml", b"<sst>" + b"<si/>" * 4_000_000), "more cells than"),
        (lambda: _with(SHEET, HEAD + b'<row r="9999999999"></row></sheetData></worksheet>'), "20,000 rows"),
        (lambda: _with(SHEET, HEAD + b'<row r="1"><c r="A1"><v>1</v>'), "cannot be read as .xlsx"),
        (lambda: _with(SHEET, LAUGHS), "cannot be read as .xlsx"),
        (lambda: _with("xl/workbook.xml", b"<a/>"), "has no sheet with rows"),
    ],
)
def test_a_hostile_file_is_one_sentence_in_bounded_memory(make, sentence, monkeypatch):
    monkeypatch.setattr("core.incoming.workbooks._MOST_ROWS", 20_000)  # a million take seconds
    raw = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises((BadSheet, BadText), match=re.escape(sentence)) as error:
        cells(raw)
    assert str(error.value).startswith("f.csv") and "\n" not in str(error.value)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 300


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
            with pytest.raises(BadText, match=told):
                cells(start, encoding=encoding)
            with pytest.raises(BadText, match=told):
                utf8_lines(io.BytesIO(start), "f.csv", encoding=encoding)


def test_a_workbook_is_no_lines_of_text():
    with pytest.raises(BadText, match=r"^f\.jsonl is a zip file, as \.docx"):
        utf8_lines(io.BytesIO(workbook(lambda sheet: sheet.append(["story"]))), "f.jsonl")


def test_merged_cells_cost_no_more_than_the_rows_there_are():
    rows = b'<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="B2"><v>2</v></c></row>'
    merged = b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    assert cells(_with(SHEET, HEAD + rows + merged)) == [["x"], ["x", "x"]]


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
    def fill(sheet) -> None:
        sheet.append(["story_id", "story", "day"])
        for number in range(9):
            sheet.append([number, f"Mia hides the key in box {number}.", datetime(2026, 11, 29)])
        sheet.merge_cells("B2:B4")
        sheet["D2"] = "=A2+1"

    raw, refused = workbook(fill, "second"), 0
    for seed in range(240):
        try:
            list(rows_of(io.BytesIO(damaged(raw, seed)), "f.xlsx"))
        except (BadSheet, BadText) as error:
            refused += 1
            assert "f.xlsx" in str(error) and "\n" not in str(error), seed
    assert refused > 120


def test_a_sheet_with_more_merged_cells_than_a_table_needs_is_refused():
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row) for row in range(1, 401))
    for areas, is_refused in (
        ([b"A1:B1048576"] * 20_001, True),
        ([b"A1:ZZ400"] * 26, True),  # 26 × 400 rows × 200 columns
        ([b"A%d:B%d" % (row, row) for row in range(1, 401)], False),
    ):
        merged = b"".join(b'<mergeCell ref="%s"/>' % area for area in areas)
        raw = _with(SHEET, HEAD + rows + b"</sheetData><mergeCells>" + merged + b"</mergeCells></worksheet>")
        if is_refused:
            with pytest.raises(BadSheet, match=r"more merged cells than can be read \(areas: at most 20,000"):
                list(rows_of(io.BytesIO(raw), "f.xlsx"))
        else:
            assert sum(1 for _ in rows_of(io.BytesIO(raw), "f.xlsx")) == 400


def test_cells_far_to_the_right_cost_nothing_or_are_named():
    style = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c><c r="XFD%d"/></row>' % (row, row, row) for row in (1, 2))
    assert cells(_with(SHEET, HEAD + style + b"</sheetData></worksheet>")) == [["1"], ["1"]]
    text = style.replace(b'<c r="XFD2"/>', b'<c r="XFD2"><v>9</v></c>')
    with pytest.raises(BadSheet, match=r"f.csv: cell XFD2 has a value; expected at most 200 columns"):
        cells(_with(SHEET, HEAD + text + b"</sheetData></worksheet>"))


def test_a_request_reads_no_longer_than_it_may(monkeypatch):
    clock = iter(range(0, 1_000, 7))
    monkeypatch.setattr("core.incoming.deadline.time.thread_time", lambda: next(clock))
    raw = b"story\n" + b"Mia waits.\n" * 20
    assert len(cells(raw)) == 21  # a command has no limit
    with deadline.limited(30), pytest.raises(BadText, match=r"^f.csv takes longer to read than a page may"):
        cells(raw)
    with deadline.limited(300):
        assert len(cells(raw)) == 21
