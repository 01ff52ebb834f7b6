from __future__ import annotations

import pytest

from annotation.domain.schema import SCHEMA, SCHEMAS, cross_check


def test_seven_dimensions_with_the_published_label_sets():
    # OmniToM, appendix A.2
    assert {dimension.key: len(dimension.labels) for dimension in SCHEMA.dimensions} == {
        "order": 4,
        "truth_status": 3,
        "knowledge_access": 3,
        "representation": 2,
        "content_type": 8,
        "mental_source": 7,
        "context": 4,
    }


def test_every_label_has_one_digit_key_and_a_meaning_of_its_own():
    for dimension in SCHEMA.dimensions:
        digits = [dimension.digit(label.value) for label in dimension.labels]
        assert len(set(digits)) == len(digits) and set(digits) <= set(range(10))
        assert all(label.meaning for label in dimension.labels)
    assert [SCHEMA["order"].digit(value) for value in "0123"] == [0, 1, 2, 3]  # the digit is the label


def test_labels_are_known_by_version():
    assert SCHEMAS[SCHEMA.version] is SCHEMA
    assert SCHEMA.is_legal("context", "Neutral")
    assert not SCHEMA.is_legal("context", "neutral")
    assert not SCHEMA.is_legal("mood", "Neutral")


@pytest.mark.parametrize(
    ("actor", "labels", "dimensions"),
    [
        ("world", {"order": "0", "mental_source": "Narration"}, []),
        ("World ", {"order": "1"}, ["order"]),
        ("world", {"mental_source": "Perception"}, ["mental_source"]),
        ("Ines", {"order": "0"}, ["order"]),
        ("Ines", {"order": "1", "mental_source": "Narration"}, ["mental_source"]),
        ("Ines", {"order": "2", "content_type": "Location"}, ["content_type"]),
        ("Ines", {"mental_source": "Imagination", "context": "Neutral"}, ["context"]),
        ("Ines", {}, []),
    ],
)
def test_cross_checks_warn_where_two_labels_do_not_go_together(actor, labels, dimensions):
    assert [warning.dimension for warning in cross_check(actor, labels)] == dimensions
