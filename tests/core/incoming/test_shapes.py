from datetime import UTC, datetime
from typing import Annotated

import pytest
from jsonschema_rs import validator_for
from pydantic import Field, field_validator

from core.incoming.misfit import Misfit, refusal
from core.incoming.shapes import SPACE, Among, Counted, Like, Moment, Shape, Within

Name = Annotated[str, Like(r"^[a-z]{1,3}$", "1 to 3 small letters")]
Tag = Annotated[str, Among(["", "a", "b"])]
Digit = Annotated[int, Within(0, 9, pointed=True)]


class Row(Shape):
    name: Name = Field(description="Its name.")
    count: Digit | None = None
    at: Moment | None = None
    tag: Tag = ""
    flag: bool = False
    held: str = Field("", alias="with")

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name == "no":
            raise refusal("another name", f"{name!r} is taken")
        return name


Rows = Annotated[list[Row], Counted(1, 2)]


class Sheet(Shape):
    rows: Rows
    size: int = 0


class Word(Shape):
    word: Annotated[str, Like(rf"^[^{SPACE}]+$", "a word")]


def test_what_fits_is_an_instance_and_nothing_is_converted():
    sheet = Sheet.of({"rows": [{"name": "ab", "count": 5.0, "at": "2026-10-05t09:30:00+02:00", "with": "x"}]})
    row = sheet.rows[0]
    assert (row.name, row.count, row.tag, row.held) == ("ab", 5, "", "x")
    assert row.at == datetime(2026, 10, 5, 7, 30, tzinfo=UTC)
    assert type(row.count) is int


def test_what_does_not_fit_is_one_sentence_at_its_field_behind_the_name_of_the_file():
    for row, field, sentence in [
        ({"name": "abcd"}, "name", "it is 'abcd'; expected 1 to 3 small letters."),
        ({"name": "a\n"}, "name", "it is 'a\\n'; expected 1 to 3 small letters."),
        ({"name": "\ud800"}, "name", "it is '\\ud800'; expected 1 to 3 small letters."),
        ({"name": None}, "name", "it is null; expected 1 to 3 small letters."),
        ({"name": ["a"]}, "name", "it is a list; expected 1 to 3 small letters."),
        ({"name": "no"}, "name", "'no' is taken; expected another name."),
        ({"count": True}, "count", "it is true; expected a whole number from 0 to 9."),
        ({"count": "5"}, "count", "it is '5'; expected a whole number from 0 to 9."),
        ({"count": 10**30}, "count", f"it is {10**30}; expected a whole number from 0 to 9."),
        ({"count": 10**100}, "count", "it is a huge number; expected a whole number from 0 to 9."),
        ({"count": float("nan")}, "count", "it is nan; expected a whole number from 0 to 9."),
        ({"count": float("inf")}, "count", "it is inf; expected a whole number from 0 to 9."),
        ({"at": "0001-01-01T00:00:00+14:00"}, "at", "it is '0001-01-01T00:00:00+14:00'; expected a time with its "),
        ({"at": 1760000000}, "at", "it is 1760000000; expected a time with its zone, such as 2026-10-05T"),
        ({"tag": "c"}, "tag", "it is 'c'; expected one of a, b, or nothing."),
        ({"flag": 1}, "flag", "it is 1; expected true or false."),
        ({"with": 1}, "with", "it is 1; expected a text."),
        ({"held": "x"}, "held", "there is no field 'held'; expected only name, count, at, tag, flag, with."),
    ]:
        with pytest.raises(Misfit) as caught:
            Sheet.of({"rows": [{"name": "a"} | row]})
        place = f"rows[0].{field}" if field != "held" else "rows[0]"
        assert str(caught.value).startswith(f"{place}: {sentence}") and str(caught.value).endswith(".")
        assert list(caught.value.by_field()) == [f"rows[0].{field}"]
    for value, sentence in [
        ([], "f.json: it is a list; expected an object with rows, size."),
        ({}, "f.json: the field rows is missing; expected an object with rows, size."),
        ({"rows": {}}, "f.json, rows: it is an object; expected a list of 1 to 2."),
        ({"rows": []}, "f.json, rows: it is a list of 0; expected a list of 1 to 2."),
        ({"rows": [7]}, "f.json, rows[0]: it is 7; expected an object with name, count, at, tag, flag, with."),
        ({"rows": [{"name": "a"}, {}]}, "f.json, rows[1]: the field name is missing; expected an object with name, "),
    ]:
        with pytest.raises(Misfit) as caught:
            Sheet.of(value)
        assert caught.value.message_for("f.json").startswith(sentence)
    # every field is told, and nothing is repeated where it may be a secret
    with pytest.raises(Misfit) as caught:
        Sheet.of({"rows": [{"name": "sk-secret", "count": "sk-secret", "at": {"sk": 1}}], "size": []}, quoted=False)
    found = caught.value.by_field()
    assert list(found) == ["rows[0].name", "rows[0].count", "rows[0].at", "size"]
    assert "sk" not in str(found)
    assert found["size"] == ["It is not as described; expected a whole number."]


def test_a_shape_describes_itself():
    described = Sheet.described()
    rows = described["properties"]["rows"]
    assert (rows["minItems"], rows["maxItems"]) == (1, 2)
    row = rows["items"]
    assert row["additionalProperties"] is False and row["required"] == ["name"]
    assert row["properties"]["name"] == {"description": "Its name.", "pattern": "^[a-z]{1,3}$", "type": "string"}
    assert row["properties"]["count"]["anyOf"] == [{"maximum": 9, "minimum": 0, "type": "integer"}, {"type": "null"}]
    assert row["properties"]["at"]["anyOf"][0] == {"format": "date-time", "type": "string"}
    assert row["properties"]["tag"]["enum"] == ["", "a", "b"]


def test_white_space_is_the_same_to_who_reads_the_description():
    """In JSON Schema, `\\s` holds U+FEFF and not U+0085; here it is the other way round."""
    for separating in [True, False]:
        described = validator_for(Word.model_json_schema())
        for mark in " \t\n\u0085\u00a0\u3000\ufeff" if separating else "a\u001c\u200b\u180e":
            sent = {"word": f"a{mark}b"}
            assert described.is_valid(sent) is not separating, repr(mark)
            if separating:
                with pytest.raises(Misfit):
                    Word.of(sent)
            else:
                assert Word.of(sent).word == sent["word"]
