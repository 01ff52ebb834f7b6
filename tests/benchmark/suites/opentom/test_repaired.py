"""What a person reads in an answer, beside what the released code reads."""

from __future__ import annotations

import pytest

from benchmark.suites.opentom.kinds import ACCESSIBILITY, ATTITUDE, COARSE, FINE, FULLNESS, LABELS, NEITHER, UNREAD
from benchmark.suites.opentom.official import predicted_label
from benchmark.suites.opentom.repaired import label_of
from benchmark.suites.opentom.samples import load
from benchmark.suites.opentom.steps import right_label

NO_PLACES = ("", "")
NESTED = ("box", "donation box")


@pytest.mark.parametrize(
    ("kind", "answer", "official", "repaired"),
    [
        (COARSE, "No.", 0, 0),
        (COARSE, "**Yes**", 1, 1),
        (COARSE, "He knows: yes", UNREAD, 1),
        (COARSE, "He knows it.", 0, None),
        (COARSE, "Her eyes see it.", 1, None),
        (COARSE, "Noah would say yes", UNREAD, 1),
        (COARSE, "Yes or no", UNREAD, None),
        (COARSE, "", UNREAD, None),
        (FULLNESS, "It is less  full.", UNREAD, 1),
        (FULLNESS, "less full, or equally full", 1, None),
        (FULLNESS, "Not less full but more full", 1, 2),
        (FULLNESS, "It is emptier", 1, 1),
        (ACCESSIBILITY, "It is not more accessible.", 1, None),
        (ACCESSIBILITY, "It is never less accessible; it is equally accessible.", 2, 3),
        (ACCESSIBILITY, "More Accessible", 1, 1),
        (ATTITUDE, "A. positive or negative", 1, None),
        (ATTITUDE, "Not positive. Neutral.", 1, 3),
        (ATTITUDE, "b", 3, None),
        (ATTITUDE, "unpositively", 1, None),
    ],
)
def test_words_count_whole_and_denied_ones_do_not(kind, answer, official, repaired):
    assert predicted_label(kind, answer.strip(), NO_PLACES) == official
    assert label_of(kind, answer, NO_PLACES) == repaired


@pytest.mark.parametrize(
    ("places", "answer", "official", "repaired"),
    [
        (NESTED, "the box", 1, 1),
        (NESTED, "In the donation box.", NEITHER, 2),
        (NESTED, "It left the box for the donation box.", NEITHER, None),
        (NESTED, "on the table", NEITHER, None),
        (("pantry", "kitchen_pantry"), "The kitchen pantry", NEITHER, 2),
        (("aisle", "a cart"), "the aisle", NEITHER, 1),
        (("an oven", "the bin"), "an oven", 1, 1),
        (("attic", "the cellar"), "The attic", NEITHER, 1),
        (("Kofi's drawer", "a shelf"), "Kofi’s drawer!", NEITHER, 1),
        (("green bucket", "red drawer"), "bucket", 1, 1),
        (("green bucket", "red bucket"), "bucket", NEITHER, None),
    ],
)
def test_places_are_read_as_wholes(places, answer, official, repaired):
    assert predicted_label(FINE, answer, places) == official
    assert label_of(FINE, answer, places) == repaired


def test_every_gold_answer_of_the_data_is_read_as_right(shared):
    for sample in load(shared / "data" / "OpenToM").samples:
        kind, places = sample.content["kind"], (sample.gold["places"][0], sample.gold["places"][1])
        label = label_of(kind, sample.gold["answer"], places)
        assert label == right_label(sample) != None, sample.key  # noqa: E711
        assert kind == FINE or label == LABELS[kind][sample.gold["answer"]]
