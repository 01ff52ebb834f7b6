import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.domain.schema import CHECKS, ORDERS, Label, cross_check, orders_text
from annotation.domain.schema_files import BadSchema, document_of, read_schema, schema_of_document
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, SHIPPED, version_text
from tests import own_schema


def test_the_default_schema_is_the_published_one():
    # OmniToM, appendix A.2
    assert {dimension.key: len(dimension.labels) for dimension in DEFAULT_SCHEMA.dimensions} == {
        "order": 4, "truth_status": 3, "knowledge_access": 3, "representation": 2, "content_type": 8,
        "mental_source": 7, "context": 4,
    }  # fmt: skip
    for dimension in DEFAULT_SCHEMA.dimensions:
        digits = [dimension.digit(label.value) for label in dimension.labels]
        assert len(set(digits)) == len(digits) and set(digits) <= set(range(10))
        assert all(label.meaning for label in dimension.labels)
    assert [DEFAULT_SCHEMA["order"].digit(value) for value in "0123"] == [0, 1, 2, 3]  # the digit is the label
    assert [one.key for one in DEFAULT_SCHEMA.dimensions if one.counts] == ["order"]  # whole numbers
    assert SHIPPED["omnitom", "1"] is DEFAULT_SCHEMA
    assert (DEFAULT_SCHEMA.reference, version_text(DEFAULT_SCHEMA)) == ("omnitom:1", "1")
    for key, label, legal in (("context", "Neutral", True), ("context", "neutral", False), ("mood", "Neutral", False)):
        assert DEFAULT_SCHEMA.is_legal(key, label) is legal


def test_cross_checks_warn_where_two_labels_do_not_go_together():
    for actor, labels, dimensions in [
        ("world", {"order": "0", "mental_source": "Narration"}, []),
        ("World ", {"order": "1"}, ["order"]),
        ("world", {"mental_source": "Perception"}, ["mental_source"]),
        ("Ines", {"order": "0"}, ["order"]),
        ("Ines", {"order": "1", "mental_source": "Narration"}, ["mental_source"]),
        ("Ines", {"order": "2", "content_type": "Location"}, ["content_type"]),
        ("Ines", {"mental_source": "Imagination", "context": "Neutral"}, ["context"]),
        ("Ines", {}, []),
    ]:
        assert [warning.dimension for warning in cross_check(DEFAULT_SCHEMA, actor, labels)] == dimensions
    assert {check.kind for check in DEFAULT_SCHEMA.checks} == set(CHECKS)
    (warning,) = cross_check(DEFAULT_SCHEMA, "Ines", {"order": "0"})
    assert warning.message == "Order 0 is for world facts, but the actor is Ines."


def test_a_schema_reads_back_as_it_is_written_and_that_of_the_documentation_can_be_loaded():
    assert schema_of_document(document_of(DEFAULT_SCHEMA), "x") == DEFAULT_SCHEMA
    text = (Path(__file__).resolve().parents[3] / "docs" / "admins.md").read_text(encoding="utf-8")
    schema = read_schema(re.search(r"```json\n(.+?)```", text, re.S).group(1).encode(), "admins.md")
    assert (schema.reference, schema.keys) == ("politeness:1", ("speaker", "tone"))
    assert all(f"| `{kind}` |" in text for kind in CHECKS)


def test_orders_of_rows_are_the_numbers_that_the_schema_has_for_them():
    own = schema_of_document(own_schema.document(), "eight.json")
    assert (DEFAULT_SCHEMA.orders, DEFAULT_SCHEMA.own_orders) == (ORDERS, ())
    assert (own.orders, [label.meaning for label in own.own_orders]) == (("1", "2"), ["It is 1.", "It is 2."])
    for values, text in ((("1", "2"), "1, 2"), (("low", "1"), "0 to 3"), (("10", "9"), "9, 10")):
        labels = tuple(Label(value, digit, "So.") for digit, value in enumerate(values))
        schema = replace(own, dimensions=(replace(own["order"], labels=labels),))
        assert orders_text(schema.orders) == text
        assert bool(schema.own_orders) is (text != "0 to 3")
    assert replace(own, dimensions=own.dimensions[2:]).orders == ORDERS


def changed(change) -> bytes:
    """OmniToM's schema as a file, after `change` had its document."""
    document = document_of(DEFAULT_SCHEMA)
    return json.dumps(change(document) or document).encode()


def label(**fields):
    return lambda document: document["dimensions"][1]["labels"][2].update(fields)


def dimension(**fields):
    return lambda document: document["dimensions"][1].update(fields)


def check(at: int = 0, **fields):
    return lambda document: document["checks"][at].update(fields)


def test_every_mistake_is_one_sentence_with_file_place_and_what_was_expected():
    for change, sentence in [
        (lambda it: [1], "f.json: it is a list; expected an object with name, version, title, dimensions, checks."),
        (lambda it: it.pop("title") and None, "f.json: the field title is missing; expected an object with name, "),
        (lambda it: it.update(colour=1), "f.json: there is no field 'colour'; expected only name, version, title, "),
        (lambda it: it.update(name="My schema"), "f.json, name: it is 'My schema'; expected 1 to 40 small letters"),
        (lambda it: it.update(version=1), "f.json, version: it is 1; expected a text of 1 to 20 letters"),
        (lambda it: it.update(version="1\n"), "f.json, version: it is '1\\n'; expected a text of 1 to 20 letters"),
        (lambda it: it.update(title=" "), "f.json, title: it is ' '; expected a text of 1 to 60 printable characters"),
        (lambda it: it.update(dimensions=[]), "f.json, dimensions: it is a list of 0; expected a list of 1 to 20."),
        (lambda it: it["dimensions"].append(it["dimensions"][0]), "f.json, dimensions: the key 'order' occurs twice"),
        (dimension(key="Truth"), "f.json, dimensions[1].key: it is 'Truth'; expected 1 to 20 small letters"),
        (dimension(key="belief"), "f.json, dimensions[1].key: belief is the name of another column of exports; exp"),
        (dimension(short="Truth status!"), "f.json, dimensions[1].short: it is 'Truth status!'; expected a text of 1 "),
        (dimension(question=None), "f.json, dimensions[1].question: it is null; expected a text of 1 to 300"),
        (dimension(labels={}), "f.json, dimensions[1].labels: it is an object; expected a list of 2 to 10."),
        (dimension(hint=1), "f.json, dimensions[1]: there is no field 'hint'; expected only key, name, short, "),
        (label(value="true"), "f.json, dimensions[1].labels: the label 'true' occurs twice; expected another label"),
        (
            label(value="x" * 41),
            f"f.json, dimensions[1].labels[2].value: it is '{'x' * 41}'; expected a text of 1 to 40",
        ),
        (label(digit=1), "f.json, dimensions[1].labels: the digit 1 occurs twice; expected another digit for each."),
        (label(digit=10), "f.json, dimensions[1].labels[2].digit: it is 10; expected a digit from 0 to 9"),
        (label(digit=True), "f.json, dimensions[1].labels[2].digit: it is true; expected a digit from 0 to 9"),
        (label(digit="3"), "f.json, dimensions[1].labels[2].digit: it is '3'; expected a digit from 0 to 9"),
        (
            label(meaning="a\x00b"),
            ("f.json, dimensions[1].labels[2].meaning: it is 'a\\x00b'; expected a text of 1 to 300"),
        ),
        (check(check="never"), "f.json, checks[0].check: it is 'never'; expected one of only_for_world, required_for_"),
        (check(dimension="mood"), "f.json, checks[0].dimension: it is 'mood'; expected one of order, truth_status, "),
        (check(labels=["9"]), "f.json, checks[0].labels[0]: it is '9'; expected one of 0, 1, 2, 3."),
        (check(labels=[]), "f.json, checks[0].labels: it is a list of 0; expected a list of 1 to 4."),
        (check(message=""), "f.json, checks[0].message: it is ''; expected a text of 1 to 200 printable characters"),
        (lambda it: it["checks"].append(3), "f.json, checks[6]: the field check is missing; expected an object whose "),
        (
            check(4, **{"with": {"dimension": "content_type", "labels": ["Emotion"]}}),
            "f.json, checks[4].with: it is the s",
        ),
        (
            lambda it: it["checks"][4].pop("with") and None,
            "f.json, checks[4]: the field with is missing; expected an o",
        ),
    ]:
        with pytest.raises(BadSchema) as caught:
            read_schema(changed(change), "f.json")
        assert str(caught.value).startswith(sentence) and str(caught.value).endswith(".")


def test_what_is_no_json_is_one_sentence():
    for raw, sentence in [
        (b'{"name": ', "f.json, line 1, column 10: it is not JSON (Expecting value); expected one JSON value."),
        (b"\xff", "f.json: byte 0 is not UTF-8; expected JSON in UTF-8."),
        (b'{"name": "a", "name": "b"}', "f.json: the field 'name' occurs twice in one object; expected it once."),
        (b"[" * 100_000, "f.json: the JSON is nested too deeply; expected at most 50 levels."),
        (b" " * 1_000_001, "f.json: the file is larger than 1 MB; expected one label schema."),
    ]:
        with pytest.raises(BadSchema) as caught:
            read_schema(raw, "f.json")
        assert str(caught.value) == sentence
