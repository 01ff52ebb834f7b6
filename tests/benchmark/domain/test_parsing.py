"""Official parsing: records, pipe tables, labels and the tables of prompts."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom import data
from benchmark.suites.omnitom.data import BadRecord, parse_story_ids, read_records, select
from benchmark.suites.omnitom.labels import COLUMNS, canonical
from benchmark.suites.omnitom.parsing.official import cells, extraction_rows, gold_csv, label_rows, predictions_csv

KEYS = {column: name for name, column in COLUMNS.items()}
RECORD = b'{"story_id": %d, "story_category": "Hinting", "story": "S", "beliefs": []}\n'


def test_the_official_pipe_tables(omnitom):
    for case in omnitom("unit_pipe_tables")["cases"]:
        expected, text = case["expected"], case["text"]
        assert list(cells(text)) == expected["cells"], case["note"]
        assert [list(row) for row in extraction_rows(text)] == expected["extract_rows"], case["note"]
        assert [row.cells() for row in label_rows(text)] == expected["label_rows"], case["note"]


def test_the_official_labels(omnitom):
    for case in omnitom("unit_labels")["cases"]:
        dimension = KEYS.get(case["dimension"], case["dimension"])
        assert canonical(dimension, case["input"]) == case["expected"], case
        assert canonical(dimension, case["expected"]) == case["expected"]


def test_the_official_prompt_tables(omnitom, omnitom_run):
    records = {record.story_id: record for record in omnitom_run("e2e_perfect")[0]}
    for case in omnitom("serialisers")["cases"]:
        record = records[case["story_id"]]
        assert data.belief_table(record) == case["belief_table_pipe"]
        assert gold_csv(row.as_told for row in record.rows) == case["belief_table_csv"]
        rows = [(row.actor, row.belief) for row in record.rows]
        assert predictions_csv(rows) == case["predictions_csv_of_gold"]
        assert data.gold_extraction_table(record) == case["gold_extraction_pipe"]
        assert data.gold_label_table(record) == case["gold_label_pipe"]


def test_the_official_story_ids(omnitom):
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] == "parse_story_ids"]
    assert len(cases) > 12
    for case in cases:
        if isinstance(case["expected"], dict):
            with pytest.raises(ValueError, match="is not a story id"):
                parse_story_ids(case["input"])
        else:
            found = parse_story_ids(case["input"])
            assert (sorted(found) if found else None) == case["expected"], case


def test_a_range_that_would_fill_the_memory_is_refused():
    with pytest.raises(ValueError, match="longer than"):
        parse_story_ids("1-99999999999")


def test_only_the_first_row_is_a_header_and_columns_are_positional():
    text = "Order | Actor | Belief\n--- | --- | ---\n0 | world | It rains..\n\nActor | Belief | Order\n"
    assert [tuple(row) for row in extraction_rows(text)] == [
        ("Order", "Actor", "Belief"),
        ("0", "world", "It rains.."),  # the order, as far as official parsing knows
        ("Actor", "Belief", "Order"),
    ]


def test_a_pipe_in_a_belief_cuts_it():
    assert [tuple(row) for row in extraction_rows("world | A \\| B | 0")] == [("world", "A \\", "B")]


def test_labels_that_resolve_and_labels_that_stay():
    assert canonical("order", "1st or 2nd") == "1"
    assert canonical("content_type", "Contents & Physical State") == "Contents/Physical State"
    assert canonical("content_type", "physical-state") == "physical-state"
    assert canonical("truth_status", "Truth: True") == "Truth: True"
    assert canonical("knowledge_access", "unknown!") == "Unknown"


def test_a_selection_keeps_the_order_of_the_file():
    handle = io.BytesIO(b"\xef\xbb\xbf" + b"\n".join(RECORD % number for number in (9, 2, 2, 5)))
    records = read_records(handle, "r.jsonl")
    assert [record.story_id for record in select(records, parse_story_ids("2-5"))] == [2, 2, 5]
    assert [record.story_id for record in select(records, parse_story_ids("7-5"), 2)] == [9, 2]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{\n", "not JSON"),
        (b"[1]\n", "The line holds a list; expected one JSON object"),
        (b"\xff\n", "not UTF-8"),
        (b'{"story_id": "7"}\n', "story_id"),
        (b'{"story_id": 7, "story_category": 1, "story": ""}\n', "story_category: it is 1; expected a text"),
        (b'{"story_id": 7, "story_category": "a", "story": "\\ud800"}\n', "surrogate"),
        (b'{"story_id": 7, "beliefs": [1]}\n', "beliefs"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
    ],
)
def test_a_broken_record_is_named_by_file_and_line(line, told):
    with pytest.raises(BadRecord, match=rf"^r\.jsonl, line 3: .*{told}"):
        read_records(io.BytesIO(RECORD % 1 + b" \n" + line), "r.jsonl")


@pytest.mark.parametrize(
    "line", ["a | b | 1\n", "\x00|", "שלום | \u202eעולם | 1\n", "<script> | x | 1\n", " " * 99 + "|"]
)
def test_a_megabyte_is_parsed(line):
    text = line * (1_000_000 // len(line))
    extraction_rows(text)
    label_rows(text)


pieces = st.sampled_from(["Actor", "|", "---", "\n", "\r\n", "\\", "```", " ", "Belief", "0", "True", "\x00", "."])


@given(st.one_of(st.text(), st.lists(pieces).map("".join)))
def test_no_text_breaks_a_parser(text):
    assert all(row.belief == row.belief.rstrip(".") for row in extraction_rows(text))
    assert all(len(row.labels) == 7 for row in label_rows(text))
    for dimension in COLUMNS:
        stored = canonical(dimension, text)
        assert canonical(dimension, stored) == stored
