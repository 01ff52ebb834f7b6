"""Official parsing: records, pipe tables, labels and the tables of prompts."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom import data
from benchmark.suites.omnitom.data import BadRecord, parse_story_ids, read_records, select
from benchmark.suites.omnitom.labels import COLUMNS, canonical
from benchmark.suites.omnitom.parsing.official import (
    MAX_FIELD,
    JudgedRow,
    OversizedField,
    align,
    cells,
    extraction_rows,
    gold_csv,
    is_gold_heading,
    is_prediction_heading,
    judged_csv,
    label_rows,
    match_count,
    parse_judgement,
    predictions_csv,
)
from judge.domain.text import key, normalise_space
from tests.benchmark.domain.mock_judge import exact_match_counts

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


def test_a_broken_record_is_named_by_file_and_line():
    for line, told in [
        (b"{\n", "not JSON"),
        (b"[1]\n", "The line holds a list; expected one JSON object"),
        (b"\xff\n", "not UTF-8"),
        (b'{"story_id": "7"}\n', "story_id"),
        (b'{"story_id": 7, "story_category": 1, "story": ""}\n', "story_category: it is 1; expected a text"),
        (b'{"story_id": 7, "story_category": "a", "story": "\\ud800"}\n', "surrogate"),
        (b'{"story_id": 7, "beliefs": [1]}\n', "beliefs"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
    ]:
        with pytest.raises(BadRecord, match=rf"^r\.jsonl, line 3: .*{told}"):
            read_records(io.BytesIO(RECORD % 1 + b" \n" + line), "r.jsonl")


def test_a_megabyte_is_parsed():
    for line in ["a | b | 1\n", "\x00|", "שלום | \u202eעולם | 1\n", "<script> | x | 1\n", " " * 99 + "|"]:
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


TABLE = 'Prediction Table:\nActor,Belief,MatchCount\nInes,"The key, and the bag",{}\n'


def test_the_official_scalars(omnitom):
    functions = {"normalize_space": normalise_space, "normalize_key": key, "coerce_matchcount": match_count}
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] in functions]
    assert len(cases) > 60
    for case in cases:
        assert functions[case["fn"]](case["input"]) == case["expected"], case


def test_the_official_headings(omnitom):
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] == "is_heading"]
    assert len(cases) > 40
    for case in cases:
        found = {"pred": is_prediction_heading(case["input"]), "gt": is_gold_heading(case["input"])}
        assert found == case["expected"], case


def test_the_official_reading_of_judge_texts(omnitom):
    for case in omnitom("unit_judge")["cases"]:
        found = parse_judgement(case["text"])
        assert [list(row.keyed()) for row in found.predictions] == case["expected"]["parsed_pred"], case["note"]
        assert [list(row.keyed()) for row in found.gold] == case["expected"]["parsed_gt"], case["note"]


def test_counts_are_read_to_the_end_of_the_table():
    text = TABLE.format(2) + "```\nTomas,The key is here,1\nGT\nActor,Belief,MatchCount\nInes,x,1"
    found = parse_judgement(text)
    assert [tuple(row) for row in found.predictions] == [("Ines", "The key, and the bag", 2)]
    assert [tuple(row) for row in found.gold] == [("Ines", "x", 1)]


def test_an_actor_called_gt_cuts_the_table():
    found = parse_judgement(TABLE.format(1) + "GT,The car is fast,1\nTomas,The key is here,1\n")
    assert len(found.predictions) == 1
    assert found.gold == []


def test_a_field_that_the_released_code_cannot_read_is_a_named_error():
    limit = csv.field_size_limit()
    long = "x" * (MAX_FIELD + 1)
    with pytest.raises(OversizedField, match="131,072 characters"):
        parse_judgement(TABLE.format(f"1\nInes,{long},1"))
    csv.field_size_limit(2 * MAX_FIELD)  # the limit is the process's own; others raise it
    try:
        with pytest.raises(OversizedField):
            parse_judgement(TABLE.format(f"1\nInes,{long},1"))
    finally:
        csv.field_size_limit(limit)
    assert parse_judgement(TABLE.format(f"1\nInes,{long[1:]},1")).predictions[1].count == 1


def test_what_is_written_is_read_back():
    rows = [('Ines "the cat"', "a, b", 2), ("Tomas", "|\x00\u202e<script>", 0)]
    found = parse_judgement(f"Prediction Table:\n{judged_csv(rows)}\nGround Truth Table:\n{judged_csv(rows[:1])}")
    assert [tuple(row) for row in found.predictions] == rows
    assert [tuple(row) for row in found.gold] == rows[:1]


def test_the_tables_that_a_judge_is_shown():
    rows = [(" Ines ", "The  key"), ("", "nobody"), ("Tomas", "a, b")]
    assert predictions_csv(rows) == 'Actor,Belief\nInes,The key\n,nobody\nTomas,"a, b"\n'
    assert gold_csv(rows) == 'Actor,Belief\nInes,The  key\nTomas,"a, b"\n'


def test_a_megabyte_is_read():
    for line in ['a,"b,1\n', "a,b\x00,1\n", "שלום,עולם\u202e,1\n", "<script>alert(1)</script>,x,1\n", "Prediction:\n"]:
        text = "Prediction Table:\nActor,Belief,MatchCount\n" + line * (1_000_000 // len(line))
        try:
            parse_judgement(text)
        except OversizedField:
            assert '"' in line


judge_pieces = st.sampled_from(
    ["Prediction", "GT", "Actor,Belief,MatchCount", "\n", "\r", ",", '"', "1", "Ines", "```", "\x00"]
)


@given(st.one_of(st.text(), st.lists(judge_pieces).map("".join)))
def test_no_text_breaks_the_reading(text):
    found = parse_judgement(text)
    assert all(isinstance(row.count, int) for row in (*found.predictions, *found.gold))


def test_a_count_is_cut_towards_zero():
    assert [match_count(said) for said in ("1.9", "-0.5", "1e1", "٣", "nan", "1e999", "1 match", None)] == [
        1, 0, 10, 3, 0, 0, 0, 0,
    ]  # fmt: skip


@given(st.text())
def test_any_text_has_a_count(text):
    assert isinstance(match_count(text), int)


def test_the_official_alignment(omnitom):
    vectors = omnitom("unit_judge")
    rows = {side: [tuple(row) for row in vectors["input_rows"][side]] for side in ("pred", "gt")}
    for case in vectors["cases"]:
        found = parse_judgement(case["text"])
        assert align(rows["pred"], found.predictions) == case["expected"]["aligned_pred"], case["note"]
        assert align(rows["gt"], found.gold) == case["expected"]["aligned_gt"], case["note"]


def test_the_official_mock_judge(omnitom):
    for case in omnitom("unit_exact_matchcount")["cases"]:
        assert exact_match_counts(case["left"], case["right"]) == case["expected"]


def test_the_highest_count_goes_first():
    # "ines|x" is judged 0, 3 and 1: its three rows take 3, 1, 0; the judged "tomas" has no row, "Bo" no judgement
    judged = [
        JudgedRow("INES", "x", 0),
        JudgedRow("ines", '"X"', 3),
        JudgedRow("Tomas", "y", 9),
        JudgedRow("Ines", "x", 1),
    ]
    assert align([("Ines", "x"), ("Ines", "X"), ("Bo", "y"), ("ines", "x")], judged) == [3, 1, 0, 0]


words = st.sampled_from(["a", "A", '"a"', "b", "b.", "", " c "])


@given(st.lists(st.tuples(words, words)), st.lists(st.builds(JudgedRow, words, words, st.integers(-2, 5))))
def test_every_row_gets_one_count_and_no_count_is_used_twice(rows, judged):
    counts = align(rows, judged)
    assert len(counts) == len(rows)
    left = [row.count for row in judged]
    for count in filter(None, counts):
        left.remove(count)
    assert align(rows, list(reversed(judged))) == counts
