from __future__ import annotations

import io
import json
from collections import Counter

import pytest

from annotation.domain.columns import WrongColumns
from annotation.domain.corpus_files import read_file
from annotation.domain.formats import RECORDS
from annotation.domain.problems import LeftOut
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.votes_csv import read_votes
from benchmark.suites.answers import BadAnswers, read_answers
from core.duplicates import first_duplicate
from core.incoming.sheets import SheetRow


class Name(str):
    """A name that counts how often it is looked up and compared."""

    steps: Counter = Counter()
    __slots__ = ()

    def __hash__(self) -> int:
        Name.steps["hash"] += 1
        return super().__hash__()

    def __eq__(self, other) -> bool:
        Name.steps["equal"] += 1
        return str.__eq__(self, other)


def names(count: int) -> list[str]:
    return [f"k{at}" for at in range(count)]


def test_the_first_name_that_came_before_is_found():
    assert first_duplicate(["a", "b", "b", "a"]) == "b"
    assert first_duplicate(["a", "b"]) is None
    assert first_duplicate([]) is None


def test_the_work_grows_with_the_names_and_not_with_their_square():
    for count in [1_000, 8_000]:
        Name.steps.clear()
        assert first_duplicate(map(Name, [*names(count), "k0"])) == "k0"
        assert Name.steps["hash"] <= 2 * (count + 1)
        assert Name.steps["equal"] <= count // 10  # only where hashes collide


# 60,000 keys of which the last repeats: the square would be 1.8 thousand million comparisons
MANY = "{" + ", ".join(f'"{name}": 1' for name in [*names(60_000), "k59999"]) + "}"


def test_a_record_with_very_many_fields_is_one_problem():
    (problem,) = read_file(
        io.BytesIO(MANY.encode()),
        "a.jsonl",
        format=RECORDS,
        language="en",
        keys=DEFAULT_SCHEMA.keys,
        left_out=LeftOut(),
    )
    assert problem.message == "The field 'k59999' occurs twice in one object; expected it once."


def test_a_spreadsheet_with_very_many_columns_is_one_problem():
    head = ",".join(["story_id", *names(60_000), "k59999"])
    with pytest.raises(WrongColumns, match="the column k59999 occurs twice"):
        list(read_votes([SheetRow(1, head.split(","))], "votes.csv", DEFAULT_SCHEMA, LeftOut()))


def test_answers_with_very_many_keys_are_one_problem(tmp_path):
    (tmp_path / "answers.json").write_text(MANY, encoding="utf-8")
    with pytest.raises(BadAnswers, match="the field 'k59999' occurs twice"):
        read_answers(tmp_path / "answers.json")
    assert len(json.loads(MANY)) == 60_000
