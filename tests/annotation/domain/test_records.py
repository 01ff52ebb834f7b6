from __future__ import annotations

import json

from annotation.domain.records import Belief, Record, belief_layout, fingerprint, record_layout
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

PLAIN = {"actor": "Ines", "belief": "The key is in the bag", "labels": dict.fromkeys(DEFAULT_SCHEMA.keys, "x")}


def written_again(belief: dict) -> str:
    again = Belief(
        actor=belief["actor"],
        belief=belief["belief"],
        labels=belief.get("labels", {}),
        keys=DEFAULT_SCHEMA.keys,
        layout=belief_layout(belief, belief.get("labels"), DEFAULT_SCHEMA.keys),
    )
    return json.dumps(again.as_json())


def test_a_plain_belief_needs_no_layout():
    assert belief_layout(PLAIN, PLAIN["labels"], DEFAULT_SCHEMA.keys) == ""
    assert written_again(PLAIN) == json.dumps(PLAIN)


def test_a_belief_comes_back_with_foreign_fields_and_its_own_order_of_keys():
    odd = {"note": {"b": 1, "a": [1.0, None]}, "belief": "B", "labels": {"context": "", "order": "1st"}, "actor": "A"}
    assert written_again(odd) == json.dumps(odd)


def test_absent_labels_stay_absent_until_there_is_one():
    bare = {"actor": "A", "belief": "B"}
    assert written_again(bare) == json.dumps(bare)
    layout = belief_layout(bare, None, DEFAULT_SCHEMA.keys)
    labelled = Belief(actor="A", belief="B", labels={"order": "2"}, keys=DEFAULT_SCHEMA.keys, layout=layout)
    assert labelled.as_json() == {"actor": "A", "belief": "B", "labels": {"order": "2"}}


def test_a_record_keeps_the_place_of_foreign_fields():
    record = {"source": "x", "story_id": 4, "story": "S", "beliefs": [], "story_category": "C", "n": 1}
    values = {"story_id": 4, "story_category": "C", "story": "S", "beliefs": []}
    again = Record(**values, layout=record_layout(record))
    assert json.dumps(again.as_json()) == json.dumps(record)
    assert record_layout(values) == ""


def test_the_fingerprint_does_not_depend_on_the_order_of_keys():
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": "1"})
