from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom.data import read_records
from benchmark.suites.omnitom.official import STEPS, score_official
from benchmark.suites.omnitom.parsing.answers import PredictedRow, parse_counts, parse_extraction, parse_labels
from benchmark.suites.omnitom.parsing.official import align, parse_judgement
from benchmark.suites.omnitom.prompting.examples import (
    LEAST_ROWS,
    Example,
    Prediction,
    example_of,
    examples_for,
    ideal_answer,
    imperfect,
    is_alike,
)
from benchmark.suites.omnitom.repaired import score_repaired

SAMPLE = Path(__file__).resolve().parents[3] / "annotation" / "sample" / "stories.jsonl"
GOLD = [
    ("world", "The key is here"),
    ("Ines", "The key is gone."),
    ("Bo", "Ines is sad"),
    ("Ines", "Bo has it"),
    ("world", "It rains"),
    ("world", "The dog barks"),
    ("Bo", "The dog is old"),
]


@pytest.fixture(scope="module")
def sample():
    with SAMPLE.open("rb") as handle:
        return read_records(handle, SAMPLE.name)


def test_a_prediction_that_is_wrong_in_known_ways():
    found = imperfect(GOLD)
    # Ines is the first besides world with two rows: they are merged where the first stood. The others in turn: copied,
    # denied, reworded, left out, said twice.
    assert found.rows == (
        ("world", "The key is here"),
        ("Ines", "The key is gone, and Bo has it"),
        ("Bo", "It is not the case that Ines is sad"),
        ("world", "It is the case that it rains"),
        ("Bo", "The dog is old"),
        ("Bo", "It is the case that the dog is old"),
    )
    # The denial and the repetition match nothing; gold row 2 was denied, row 5 left out.
    assert found.counts(len(GOLD)) == ([1, 2, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0, 1])


def test_some_tables_teach_a_judge_nothing():
    for gold in [[], GOLD[:3], [*GOLD, ("ines", "the key is gone.")], [(str(n), "x") for n in range(9)]]:
        assert imperfect(gold) is None


@given(st.lists(st.tuples(st.sampled_from(["world", "Ines", "Bo", "GT"]), st.text()), max_size=12))
def test_counts_nought_one_and_two_occur_whatever_the_table(gold):
    found = imperfect(gold)
    if found is None:
        return
    assert len(gold) >= LEAST_ROWS
    predicted, back = found.counts(len(gold))
    assert set(predicted) == {0, 1, 2} and set(back) == {0, 1}
    assert sum(predicted) == sum(back) == len(found.matches)
    assert all(found.rows[one][0].lower() == gold[other][0].lower() for one, other in found.matches)


def test_examples_are_of_the_category_and_never_the_story_itself(sample):
    for step in STEPS:
        for record in sample:
            found = examples_for(record.category, step, record.story, sample, 3)
            assert found == examples_for(record.category, step, record.story, sample, 3)
            # three stories of each category, one of which is asked
            assert [one.record.category for one in found] == [record.category] * 2
            assert record.story not in [one.record.story for one in found]


def test_another_version_of_the_story_is_no_example_either(sample):
    record = sample[1]
    version = f"  {record.story.replace('Freya', 'Frida')} "
    assert is_alike(version, record.story) and not is_alike(sample[8].story, record.story)
    found = examples_for(record.category, "extract", version, sample, 3)
    assert [one.record.story_id for one in found] == [9, 16]
    assert len(examples_for(record.category, "extract", "", [record] * 3, 3)) == 1


def test_how_many_examples():
    assert examples_for("x", "judge", "", [], 3) == ()
    for count in (-1, 4):
        with pytest.raises(ValueError, match="0 to 3"):
            examples_for("x", "judge", "", [], count)


def test_records_that_official_parsing_cannot_read_back_are_no_examples(make_record):
    rows = [("Ines", "a"), ("Ines", "b"), ("Bo", "c"), ("Bo", "d")]
    assert all(example_of(make_record(1, *rows), step) for step in STEPS)
    assert example_of(make_record(1, *rows, ("Bo", "this | that")), "extract") is None
    assert example_of(make_record(1, *rows, ("Bo", "Done.")), "label") is None
    assert example_of(make_record(1, *rows, ("GT", "e"), ("Prediction", "f")), "judge") is None
    assert example_of(make_record(1, *rows, context="Odd"), "label") is None
    assert example_of(make_record(1, *rows, order="7"), "extract") is None
    assert example_of(make_record(1), "extract") is None


def test_ideal_answers_score_one_officially_and_repaired_in_text(sample):
    texts = {}
    for record in sample:
        texts[record.story_id] = answers = {
            step: ideal_answer(example_of(record, step), step, "text") for step in ("extract", "label")
        }
        said = [row[:2] for row in parse_extraction(answers["extract"])]
        shown = [(row.actor, row.belief) for row in record.shown_rows]
        every = tuple((at, shown.index(row)) for at, row in enumerate(said))
        answers["judge"] = ideal_answer(Example(record, Prediction(tuple(said), every)), "judge", "text")
    official, repaired = score_official(sample, texts).as_json(), score_repaired(sample, texts, resamples=20).as_json()
    assert float(official["stage1"]["overall"]["f1"]) == 1.0
    assert float(official["stage2"]["overall"]["overall_accuracy"]) == 1.0
    assert repaired["stage1"]["overall"]["f1"] == repaired["stage2"]["overall"]["overall_accuracy"] == 1.0


def test_ideal_answers_of_examples_are_read_back_in_both_forms(sample):
    for record in sample:
        extracted, labelled, judged = [example_of(record, step) for step in STEPS]
        rows = [(row.actor, row.belief, row.order) for row in extracted.record.rows]
        gold = labelled.record.shown_rows
        predicted = [PredictedRow(*row, "") for row in judged.prediction.rows]
        counts = judged.prediction.counts(len(gold))
        for answer_format in ("text", "structured"):
            said = parse_extraction(ideal_answer(extracted, "extract", answer_format))
            assert [row[:3] for row in said] == rows
            assert parse_labels(ideal_answer(labelled, "label", answer_format), gold) == [row.labels for row in gold]
            assert parse_counts(ideal_answer(judged, "judge", answer_format), predicted, gold) == counts
        official = parse_judgement(ideal_answer(judged, "judge", "text"))
        assert align(judged.prediction.rows, official.predictions) == counts[0]
        assert align([row.as_told for row in gold], official.gold) == counts[1]
        assert {0, 1, 2} == set(counts[0])
