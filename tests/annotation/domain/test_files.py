"""What files of stories, tables, votes and projects hold: read row by row, with a sentence for what cannot be read."""

import io
import json
import random
from datetime import UTC, datetime

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain import problems
from annotation.domain.archive_format import MANIFEST, BadArchive, check_contents, digests_of
from annotation.domain.columns import WrongColumns, defused, restored
from annotation.domain.formats import CORPUS_FORMATS
from annotation.domain.problems import LeftOut, Problem, Problems
from annotation.domain.records import Belief, Record, belief_layout, fingerprint, record_layout
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.stories import StoryRow, read_file, read_stories
from annotation.domain.tables import TableRow, read_tables
from annotation.domain.votes_csv import read_votes
from benchmark.suites.answers import BadAnswers, read_answers
from core.duplicates import first_duplicate
from core.incoming.encodings import BadText
from core.incoming.json_lines import LONGEST_LINE
from core.incoming.sheets import SheetRow, rows_of

KEYS = DEFAULT_SCHEMA.keys

# --- problems


def test_the_first_problems_are_listed_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(problems, "MAX_LISTED_PROBLEMS", 2)
    broken, late = "Broken.", "Late."
    for words, listed in (
        (["Full.", broken, late, late], [(2, "Full."), (3, broken), (3, "2 more problems are not listed.")]),
        ([broken, broken], [(2, broken), (3, broken)]),  # what is said of a line is listed of each
        ([], []),
    ):
        found = Problems()
        for line, message in enumerate(words, 2):
            found.add(Problem("a.csv", line, message))
        assert (len(found), found.total) == (min(2, len(words)), len(words))
        assert [(one.line, one.message) for one in found.listed()] == listed


# --- records

GOOD = {
    "story_id": 1,
    "story_category": "C",
    "story": "Ines hides the key.",
    "beliefs": [{"actor": "Ines", "belief": "The key is hidden", "labels": {"order": "1"}}],
}


def read(raw: bytes | str, format: str = "omnitom", language: str = "en") -> list:
    handle = raw if isinstance(raw, io.BytesIO) else io.BytesIO(raw.encode() if isinstance(raw, str) else raw)
    kind = CORPUS_FORMATS[format]
    return list(read_file(handle, "corpus.jsonl", format=kind, language=language, keys=KEYS, left_out=LeftOut()))


def line(**changes) -> str:
    return json.dumps({**GOOD, **changes})


def test_a_record_is_read_verbatim():
    for text in ("  two  spaces\u00a0and <b>HTML</b> ", "C:\\u0000 is a path"):  # of which the latter holds no NUL
        (row,) = read(line(story=text))
        assert isinstance(row, StoryRow) and (row.number, row.category, row.text) == (1, "C", text)
        assert row.propositions[0].labels == {"order": "1"}
    # a byte order mark, blank lines and a broken line stop nothing else
    raw = b"\xef\xbb\xbf" + line().encode() + b"\r\n\n  \n{\n" + line(story_id=2).encode()
    assert [(row.line, isinstance(row, Problem)) for row in read(raw)] == [(1, False), (4, True), (5, False)]
    (problem,) = read("")
    assert "empty" in problem.message


def test_a_broken_line_is_one_problem_with_its_place():
    for raw, expected in [
        ("{", "not JSON"),
        ("[1]", "The list holds 1; expected an object."),
        ("[" * 100_000, "too deeply"),
        ('{"a":' * 60 + "1" + "}" * 60, "too deeply"),
        ('{"story_id": 1, "story_id": 2}', "field 'story_id' occurs twice"),
        (line(story_id=2**63), "story_id: it is 9223372036854775808; expected a whole number from 0 to 2^63 - 1."),
        (line(story_id=True), "story_id: it is true; expected a whole number"),
        (line(story_id="1"), "story_id: it is '1'; expected a whole number"),
        (line(story_id=1.0), "story_id: it is 1.0; expected a whole number"),
        ('{"story_id": ' + "9" * 5000 + "}", "a number of too many digits"),
        ('{"story_id": 1}', "The field story_category is missing; expected an object with story_id, story_category, "),
        (line(story=None), "story: it is null; expected a text."),
        (line(story=" \n"), "story: it is empty; expected a story."),
        (line(story="x" * 200_001), "story: the story has 200001 characters; expected at most 200000."),
        (line(story_category=""), "story_category: it is ''; expected a text of 1 to 120 characters."),
        (line(story_category="x" * 121), "story_category: it is "),
        (line(beliefs={}), "beliefs: it is an object; expected a list of 0 to 2000."),
        (line(beliefs=["x"]), "beliefs[0]: it is 'x'; expected an object with actor, belief, labels."),
        (line(beliefs=[{"actor": "A", "belief": 1}]), "beliefs[0].belief: it is 1; expected a text."),
        (line(beliefs=[{"actor": "A"}]), "beliefs[0]: the field belief is missing; expected an object with"),
        (
            line(beliefs=[{"actor": "A", "belief": "B", "labels": {"order": 1}}]),
            "beliefs[0].labels.order: it is 1; exp",
        ),
        (
            line(beliefs=[{"actor": "A", "belief": "B", "labels": ["1"]}]),
            "beliefs[0].labels: it is a list; expected an object",
        ),
        (line(beliefs=[{"actor": "A", "belief": "B", "labels": None}]), "beliefs[0].labels: it is null; expected"),
        (
            line(beliefs=[{"actor": "A", "belief": "B"}] * 2001),
            "beliefs: it is a list of 2001; expected a list of 0 to 2000.",
        ),
        (line(story="a\x00b"), "NUL"),
        (line(story="\ud800"), "surrogate"),
        (b"\xff\xfe" + line().encode("utf-16-le")[:-1], "not UTF-16"),
        (line(story="Zo\u00eb").replace("\\u00eb", "\u00eb").encode("latin-1"), "not UTF-8"),
    ]:
        (problem,) = read(raw)
        assert isinstance(problem, Problem)
        assert (problem.file, problem.line) == ("corpus.jsonl", 1)
        assert expected in problem.message


def test_an_endless_line_is_skipped_in_pieces():
    class Counting(io.BytesIO):
        largest = 0

        def readline(self, size=-1):
            chunk = super().readline(size)
            self.largest = max(self.largest, len(chunk))
            return chunk

    handle = Counting(b"x" * (50 * 1024 * 1024) + b"\n" + line().encode())
    problem, row = read(handle)
    assert "longer than 8 MB" in problem.message and row.line == 2
    assert handle.largest <= LONGEST_LINE + 1


def test_tombench_takes_each_exact_text_once_with_its_translation():
    items = [
        '{"能力\\nABILITY": "x", "STORY": "One.", "故事": "一。", "选项C": NaN}',
        '{"STORY": "One.", "故事": "另一个。"}',
        '{"STORY": "One. ", "故事": NaN}',
    ]
    rows = read("\n".join(items), format="tombench")
    assert [(row.text, row.translations, row.category) for row in rows] == [
        ("One.", {"zh": "一。"}, "corpus"), ("One. ", {}, "corpus"),
    ]  # fmt: skip
    assert [row.text for row in read(items[0], format="tombench", language="zh")] == ["一。"]


def test_beliefs_and_records_come_back_as_they_were_written():
    """With foreign fields, and with keys in their own order; what is plain needs no layout."""
    labels = dict.fromkeys(KEYS, "x")
    plain = {"actor": "Ines", "belief": "The key is in the bag", "labels": labels}
    odd = {"note": {"b": 1, "a": [1.0, None]}, "belief": "B", "labels": {"context": "", "order": "1st"}, "actor": "A"}
    bare = {"actor": "A", "belief": "B"}

    def again(belief: dict, **labels) -> dict:
        layout = belief_layout(belief, belief.get("labels"), KEYS)
        told = {name: belief[name] for name in ("actor", "belief")} | {"labels": belief.get("labels", {}) | labels}
        return Belief(**told, keys=KEYS, layout=layout).as_json()

    for belief in (plain, odd, bare):
        assert json.dumps(again(belief)) == json.dumps(belief)
    assert belief_layout(plain, labels, KEYS) == ""
    assert again(bare, order="2") == bare | {"labels": {"order": "2"}}  # absent labels stay so until there is one
    record = {"source": "x", "story_id": 4, "story": "S", "beliefs": [], "story_category": "C", "n": 1}
    values = {"story_id": 4, "story_category": "C", "story": "S", "beliefs": []}
    assert json.dumps(Record(**values, layout=record_layout(record)).as_json()) == json.dumps(record)
    assert record_layout(values) == ""
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": "1"})


# --- spreadsheets


def test_what_a_spreadsheet_would_run_gets_an_apostrophe():
    for text in ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "'=1", "''=1"]:
        assert defused(text) == "'" + text
    for text in ["", "1-1", "'tis so", "a=b", "'"]:
        assert defused(text) == text


@given(st.text(alphabet="'=+-@\t\rab", max_size=8))
def test_the_way_back_is_exact(text):
    assert restored(defused(text)) == text
    assert not defused(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_whole_numbers_that_were_saved_as_1_0_are_read_alike_in_both_kinds_of_sheet():
    def stories(rows) -> list:
        return list(read_stories(rows, "f", language="en", left_out=LeftOut()))

    for head, cells, read_rows, meaning in (
        ("story_id story", [1.0, "It rains."], stories, {"number": 1}),
        (
            "story_id actor belief order", [1.0, "Ines", "It rains", 2.0],
            lambda rows: read_tables(rows, "f", LeftOut()), {"story": 1, "row": TableRow("Ines", "It rains", "2")},
        ),
        (
            "story_id actor belief dimension annotator label occurrence",
            [1.0, "Ines", "It rains", "order", "ada", 2.0, 1.0],
            lambda rows: read_votes(rows, "f", DEFAULT_SCHEMA, LeftOut()),
            {"story": 1, "label": "2", "occurrence": 1},
        ),
    ):  # fmt: skip
        book, saved = openpyxl.Workbook(), io.BytesIO()
        for row in (head.split(), cells):
            book.active.append(row)
        book.save(saved)
        text = "\n".join(",".join(map(str, row)) for row in (head.split(), cells))
        for raw in (text.encode(), saved.getvalue()):
            (row,) = read_rows(rows_of(io.BytesIO(raw), "f"))
            assert {name: getattr(row, name) for name in meaning} == meaning
    for number in ["1.5", "1.", ".0", "1.0e0", "-1.0", "1,0"]:
        (problem,) = stories(rows_of(io.BytesIO(f"story_id;story\n{number};It rains.\n".encode()), "f"))
        assert problem.message.startswith(f"story_id: it is {number!r}; expected a whole number")


HEAD = "story_id,actor,belief,dimension,annotator,label"


def votes(text: str | io.BytesIO, **how) -> list:
    handle = io.BytesIO(text.encode()) if isinstance(text, str) else text
    return list(read_votes(rows_of(handle, "votes.csv", **how), "votes.csv", DEFAULT_SCHEMA, LeftOut()))


def test_votes_are_read_as_spreadsheets_save_them():
    (row,) = votes(
        "label,occurrence,story_id,created_at,actor,belief,dimension,annotator\n1,2,7,2026-10-05T09:30:00Z,Ines,B,order,ada\n"
    )
    assert (row.line, row.story, row.label, row.occurrence, row.annotator) == (2, 7, "1", 2, "ada")
    assert row.created_at == datetime(2026, 10, 5, 9, 30, tzinfo=UTC)
    for text in [
        f"\ufeff{HEAD}\r\n1,Ines,B,order,ada,1\r\n",
        "Story_ID;Actor;Belief;Dimension;Annotator;Label\n1;Ines;B;order;ada;1\n",
        HEAD.replace(",", "\t") + "\n1\tInes\tB\torder\tada\t1\n",
        f'{HEAD}\n"1","Ines","B","order"," ada ","1"\n,,,,,\n',
        f"{HEAD},,\n1,Ines,B,order,ada,1,,\n",  # columns without a name are a spreadsheet's habit
    ]:
        (row,) = votes(text)
        assert (row.story, row.actor, row.belief, row.annotator, row.label) == (1, "Ines", "B", "ada", "1")
    for cells, meaning in [
        ('1,Ines,"a ""b""\r\nc, d",order,ada,1', ("Ines", 'a "b"\r\nc, d', "1")),
        ("1,Ines,B,content_type,ada,contents/physical state", ("Ines", "B", "Contents/Physical State")),
        ("1,'=Ines,'-B,order,ada,1", ("=Ines", "-B", "1")),
    ]:
        (row,) = votes(f"{HEAD}\n{cells}\n")
        assert (row.actor, row.belief, row.label) == meaning
    latin = io.BytesIO(HEAD.encode() + b"\n1,In\xe9s,B,order,ada,1\n")
    with pytest.raises(BadText, match=r"not UTF-8\. If line 2 reads “1,Inés,B,order,ada,1”, choose"):
        votes(latin)
    (row,) = votes(latin, encoding="windows-1252")
    assert row.actor == "Inés"


def test_a_bad_row_is_a_problem_with_its_line():
    good = "1,Ines,B,order,ada,1"
    for head, cells, expected in [
        (HEAD, "x,Ines,B,order,ada,1", "story_id is 'x'"),
        (HEAD, ",,,order,ada,1", "story_id is ''; expected a whole number."),
        (HEAD, "1,Ines,B,colour,ada,1", "dimension is 'colour'"),
        (HEAD, "1,Ines,B,order,,1", "annotator is empty"),
        (HEAD, "1,Ines,B,order,ada,9", "label is '9'; expected one of 0, 1, 2, 3"),
        (HEAD, f"{good},1", "7 cells; expected 6 as in the header (story_id, actor, belief, dimension"),
        (f"{HEAD},created_at", f"{good},yesterday", "created_at"),
        (f"{HEAD},created_at", f"{good},2026-13-01", "created_at"),
        (f"{HEAD},created_at", f"{good},0001-01-01T00:00:00+23:00", "created_at"),
    ]:
        more = "," * head.count(",created_at")
        problem, row = votes(f"{head}\n{cells}\n{good}{more}\n")
        assert isinstance(problem, Problem) and problem.line == 2 and row.line == 3
        assert expected in problem.message
    (row,) = votes(f"{HEAD},occurrence,note\n{good},,\n")
    assert row.occurrence == 1
    problem, neighbour = votes(f"{HEAD},occurrence\n{good}\n1,Ines,B,order,bob,1,1\n")
    assert "The row has 6 cells; expected 7" in problem.message and "Line 2 next to it" in neighbour.message
    for head, sentence in [
        (f"{HEAD},Label ", r"^votes\.csv, line 1: the column label, Label occurs twice"),
        (f"{HEAD},note,note", r"^votes\.csv, line 1: the column note occurs twice"),
        ("story_id,actor,belief,dimension,label", "column annotator is missing"),
    ]:
        with pytest.raises(WrongColumns, match=sentence):
            votes(f"{head}\n{good},2\n")


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

    alone = {line: [plain(row) for row in votes(f"{head}\n{line}\n")] for line in set(lines)}
    together = votes("\n".join([head, *lines, ""]))
    assert [plain(row) for row in together] == [meaning for line in lines for meaning in alone[line]]
    assert 200 < sum(isinstance(row, Problem) for row in together) < len(together) - 30


# --- names that occur twice


def test_a_name_that_occurs_twice_among_very_many_is_one_problem(tmp_path):
    """Found by work that grows with the names, not with their square: 1.8 thousand million comparisons here."""
    for names, twice in ((["a", "b", "b", "a"], "b"), (["a", "b"], None), ([], None)):
        assert first_duplicate(names) == twice
    many = [*(f"k{at}" for at in range(60_000)), "k59999"]
    text = "{" + ", ".join(f'"{name}": 1' for name in many) + "}"
    (problem,) = read(text)
    assert problem.message == "The field 'k59999' occurs twice in one object; expected it once."
    with pytest.raises(WrongColumns, match="the column k59999 occurs twice"):
        list(read_votes([SheetRow(1, ["story_id", *many])], "votes.csv", DEFAULT_SCHEMA, LeftOut()))
    (tmp_path / "answers.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadAnswers, match="the field 'k59999' occurs twice"):
        read_answers(tmp_path / "answers.json")


# --- archives of projects

FILES = ["people.jsonl", "project.jsonl", "votes.jsonl"]
WHOLE = {MANIFEST: (100, 100), **dict.fromkeys(FILES, (100, 1000))}


def test_names_and_sizes_are_checked_before_anything_is_unpacked():
    check_contents(WHOLE, FILES)
    for name in ("../../etc/passwd", "/etc/passwd", "votes.jsonl/", "sub/votes.jsonl", "evil.py"):
        with pytest.raises(BadArchive, match="not part of a project"):
            check_contents({**WHOLE, name: (1, 1)}, FILES)
    with pytest.raises(BadArchive, match=r"lacks votes\.jsonl"):
        check_contents({name: sizes for name, sizes in WHOLE.items() if name != "votes.jsonl"}, FILES)
    for bomb in ((1000, 3 * 1024**3), (10_000, 100 * 1024**2)):
        with pytest.raises(BadArchive, match="unpacks to"):
            check_contents({**WHOLE, "votes.jsonl": bomb}, FILES)


def test_a_manifest_names_each_file_with_its_digest():
    files = {name: {"sha256": "0" * 64, "rows": 1} for name in FILES}
    manifest = {"format": "credence-project", "version": 1, "files": files}
    assert digests_of(manifest, FILES) == dict.fromkeys(FILES, "0" * 64)
    for wrong, sentence in (
        ([], "manifest.json: it is a list; expected an object with format, version, files."),
        ({}, "manifest.json: the field format is missing; expected an object with format, version, files."),
        (manifest | {"format": "zip"}, "manifest.json, format: it is 'zip'; expected one of credence-project."),
        (manifest | {"version": 2}, "manifest.json, version: it is 2; expected 1."),
        (manifest | {"version": True}, "manifest.json, version: it is true; expected 1."),
        (manifest | {"files": {}}, "The manifest names other files than those of a project."),
        (
            manifest | {"files": files | {"votes.jsonl": {}}},
            "manifest.json, files.votes.jsonl: the field sha256 is missing; expected an object with sha256.",
        ),
    ):
        with pytest.raises(BadArchive) as caught:
            digests_of(wrong, FILES)
        assert str(caught.value) == sentence
