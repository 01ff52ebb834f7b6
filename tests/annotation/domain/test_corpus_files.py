from __future__ import annotations

import io
import json

import pytest

from annotation.domain.corpus_files import MAX_LINE_BYTES, StoryRow, read_file
from annotation.domain.formats import CORPUS_FORMATS, RECORDS
from annotation.domain.problems import Problem
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

GOOD = {
    "story_id": 1,
    "story_category": "C",
    "story": "Ines hides the key.",
    "beliefs": [{"actor": "Ines", "belief": "The key is hidden", "labels": {"order": "1"}}],
}


def read(raw: bytes | str, format: str = "omnitom", language: str = "en") -> list:
    data = raw.encode() if isinstance(raw, str) else raw
    return list(
        read_file(
            io.BytesIO(data), "corpus.jsonl", format=CORPUS_FORMATS[format], language=language, keys=DEFAULT_SCHEMA.keys
        )
    )


def line(**changes) -> str:
    return json.dumps({**GOOD, **changes})


def test_a_record_is_read_verbatim():
    (row,) = read(line(story="  two  spaces\u00a0and <b>HTML</b> "))
    assert isinstance(row, StoryRow)
    assert (row.number, row.category, row.text) == (1, "C", "  two  spaces\u00a0and <b>HTML</b> ")
    assert row.propositions[0].labels == {"order": "1"}


def test_a_byte_order_mark_and_blank_lines_are_no_problem():
    assert [
        row.line for row in read(b"\xef\xbb\xbf" + line().encode() + b"\r\n\n  \n" + line(story_id=2).encode())
    ] == [
        1,
        4,
    ]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("{", "not JSON"),
        ("[1]", "but no object"),
        ("[" * 100_000, "too deeply"),
        ('{"a":' * 60 + "1" + "}" * 60, "too deeply"),
        ('{"story_id": 1, "story_id": 2}', "story_id occurs twice"),
        (line(story_id=2**63), "story_id"),
        (line(story_id=True), "story_id"),
        (line(story_id="1"), "story_id"),
        ('{"story_id": ' + "9" * 5000 + "}", "not JSON"),
        (line(story=None), "story is a NoneType"),
        (line(story=" \n"), "empty"),
        (line(story="x" * 200_001), "200001 characters"),
        (line(story_category=""), "story_category"),
        (line(beliefs={}), "beliefs is not a list"),
        (line(beliefs=["x"]), "beliefs[0] is a str"),
        (line(beliefs=[{"actor": "A", "belief": 1}]), "beliefs[0].belief is a int"),
        (line(beliefs=[{"actor": "A", "belief": "B", "labels": {"order": 1}}]), "beliefs[0].labels"),
        (line(beliefs=[{"actor": "A", "belief": "B"}] * 2001), "2001 propositions"),
        (line(story="a\x00b"), "NUL"),
        (line(story="\ud800"), "surrogate"),
        (b"\xff\xfe" + line().encode("utf-16-le"), "UTF-16"),
        (line(story="Zo\u00eb").replace("\\u00eb", "\u00eb").encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_broken_line_is_one_problem_with_its_place(raw, expected):
    (problem,) = read(raw)
    assert isinstance(problem, Problem)
    assert (problem.file, problem.line) == ("corpus.jsonl", 1)
    assert expected in problem.message


def test_a_backslash_before_u0000_is_text_and_no_nul():
    (row,) = read(line(story="C:\\u0000 is a path"))
    assert row.text == "C:\\u0000 is a path"


def test_a_broken_line_stops_nothing_else():
    found = read("{\n" + line() + "\n")
    assert isinstance(found[0], Problem)
    assert found[1].line == 2


def test_an_endless_line_is_skipped_in_pieces():
    class Counting(io.BytesIO):
        largest = 0

        def readline(self, size=-1):
            chunk = super().readline(size)
            self.largest = max(self.largest, len(chunk))
            return chunk

    handle = Counting(b"x" * (50 * 1024 * 1024) + b"\n" + line().encode())
    problem, row = read_file(handle, "f", format=RECORDS, language="en", keys=DEFAULT_SCHEMA.keys)
    assert "longer than 8 MB" in problem.message
    assert row.line == 2
    assert handle.largest <= MAX_LINE_BYTES + 1


def test_an_empty_file_says_so():
    (problem,) = read("")
    assert "empty" in problem.message


def test_tombench_takes_each_exact_text_once_with_its_translation():
    items = [
        '{"能力\\nABILITY": "x", "STORY": "One.", "故事": "一。", "选项C": NaN}',
        '{"STORY": "One.", "故事": "另一个。"}',
        '{"STORY": "One. ", "故事": NaN}',
    ]
    rows = read("\n".join(items), format="tombench")
    assert [(row.text, row.translations, row.category) for row in rows] == [
        ("One.", {"zh": "一。"}, "corpus"),
        ("One. ", {}, "corpus"),
    ]
    assert [row.text for row in read(items[0], format="tombench", language="zh")] == ["一。"]
