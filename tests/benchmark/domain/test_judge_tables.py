from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom.parsing.official import (
    MAX_FIELD,
    OversizedField,
    gold_csv,
    is_gold_heading,
    is_prediction_heading,
    judged_csv,
    match_count,
    parse_judgement,
    predictions_csv,
)
from judge.domain.text import key, normalise_space

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
    assert found.gold == ()


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


@pytest.mark.parametrize(
    "line", ['a,"b,1\n', "a,b\x00,1\n", "שלום,עולם\u202e,1\n", "<script>alert(1)</script>,x,1\n", "Prediction:\n"]
)
def test_a_megabyte_is_read(line):
    text = "Prediction Table:\nActor,Belief,MatchCount\n" + line * (1_000_000 // len(line))
    try:
        parse_judgement(text)
    except OversizedField:
        assert '"' in line


pieces = st.sampled_from(
    ["Prediction", "GT", "Actor,Belief,MatchCount", "\n", "\r", ",", '"', "1", "Ines", "```", "\x00"]
)


@given(st.one_of(st.text(), st.lists(pieces).map("".join)))
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
