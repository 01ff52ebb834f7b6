"""What a person reads in an answer, beside what the released code reads."""

from __future__ import annotations

import pytest

from benchmark.suites.opentom.kinds import (
    ACCESSIBILITY,
    ATTITUDE,
    COARSE,
    FINE,
    FULLNESS,
    LABELS,
    NEITHER,
    OUTSIDE,
    UNREAD,
)
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
        (ATTITUDE, "b", 3, OUTSIDE),
        (ATTITUDE, "unpositively", 1, OUTSIDE),
        (ATTITUDE, "Angry.", UNREAD, OUTSIDE),
        (ATTITUDE, "The attitude is negative, because she likes it.", 2, 2),
        (COARSE, "Maybe.", UNREAD, OUTSIDE),
        (COARSE, "It cannot be determined.", 0, OUTSIDE),
        (COARSE, "Yes, because no one moved it.", UNREAD, 1),
        (COARSE, "I can't help with that. No.", 0, 0),
        (COARSE, "No. I can't help with that.", 0, None),
        (COARSE, "No, I can't help with that.", 0, None),
        (COARSE, "I don't know.", 0, None),
        (COARSE, "no output", 0, None),
        (FULLNESS, "Half full", UNREAD, OUTSIDE),
        (FULLNESS, "It stays the same.", UNREAD, 3),
        (ACCESSIBILITY, "Hidden", UNREAD, OUTSIDE),
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
        (NESTED, "on the table", NEITHER, OUTSIDE),
        (NESTED, "On a shelf, because it was moved there.", NEITHER, OUTSIDE),
        (NESTED, "somewhere else", NEITHER, None),
        (NESTED, "the donation box, because it is no longer in the box", NEITHER, 2),
        (("crate", "the trash can"), "I can't help with that.", NEITHER, None),
        (("crate", "the trash can"), "I can not help with that.", 2, None),
        (("crate", "the trash can"), "It will be moved by the one who can.", 2, None),
        (("crate", "the trash can"), "In the trash", 2, 2),
        (("crate", "the trash can"), "in the garbage bin", NEITHER, 2),
        (("crate", "the trash can"), "In the can", 2, 2),
        (("crate", "Nora's own refrigerator"), "In Nora's fridge.", 2, 2),
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
