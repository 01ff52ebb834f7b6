from __future__ import annotations

import io
import json

from annotation.domain.corpus_files import read_file
from annotation.domain.formats import CORPUS_FORMATS, RECORDS
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.stories import StoryRow
from core.incoming.json_lines import LONGEST_LINE

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
            io.BytesIO(data),
            "corpus.jsonl",
            format=CORPUS_FORMATS[format],
            language=language,
            keys=DEFAULT_SCHEMA.keys,
            left_out=LeftOut(),
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
    ] == [1, 4]


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
    problem, row = read_file(handle, "f", format=RECORDS, language="en", keys=DEFAULT_SCHEMA.keys, left_out=LeftOut())
    assert "longer than 8 MB" in problem.message
    assert row.line == 2
    assert handle.largest <= LONGEST_LINE + 1


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
