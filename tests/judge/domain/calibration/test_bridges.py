"""A bridge between two versions of a judge, over what both have a verdict on."""

from __future__ import annotations

import pytest

from judge.domain.calibration.panels import JudgedTwice, bridge
from judge.domain.calibration.tables import Unknown

pytestmark = pytest.mark.once
MISSING = Unknown.MISSING


def judged(story, old, new, silent=0):
    """Ten rows on either side, of which the versions match so many; beside them `silent` ones of which the new version
    says nothing, and the old one that they are matched."""
    pairs = [(int(at < old), int(at < new)) for at in range(10)] + [(1, MISSING)] * silent
    return JudgedTwice(story, "c", tuple(pairs), tuple(pairs))


def test_a_bridge_says_what_the_new_version_does_to_every_score():
    models = {
        "a": [judged(f"s{at}", 5 + at % 2, 6 + at % 2 + (at % 4 > 1) * 2, silent=5) for at in range(12)],
        "b": [judged(f"s{at}", 6 + at % 3 % 2, 6 + at % 3 % 2) for at in range(12)],
    }
    found = bridge(models)
    a, b = found.models
    # what the new version is silent on counts for neither: of the ten others the old one matches 5.5, the new one 7.5
    assert (a.old.value, a.new.value) == pytest.approx((0.55, 0.75)) and a.change.value == pytest.approx(0.2)
    assert (a.rows, a.silent, b.silent) == (12 * 30, (0, 120), (0, 0))
    assert b.change.value == 0 and b.p == 1 and a.p < 0.001
    assert (a.places, b.places) == ((2, 1), (1, 2)) and found.reordered and found.compared == 2
    # 240 rows of each; of those of a every table gains 1 or 3 on either side, 24 a table on average
    assert (found.rows, found.gained, found.lost) == (480, 48, 0) and found.same.value == pytest.approx(432 / 480)


def test_a_version_without_a_verdict_changes_nothing_that_can_be_told():
    silent = [JudgedTwice(f"s{at}", "c", ((1, MISSING), (0, MISSING)), ((1, Unknown.UNCLEAR),)) for at in range(8)]
    found = bridge({"a": silent, "b": silent})
    assert found.reordered is None and (found.rows, found.compared, found.same.value) == (0, 0, None)
    why = "no story has rows of either table of which both have a verdict"
    for one in found.models:
        assert {one.old.value, one.new.value, one.change.value, one.p} == {None}
        assert one.places == (None, None) and one.silent == (0, 24) and one.change.reason == why
    known = [judged(f"s{at}", 5, 6) for at in range(8)]
    half = bridge({"a": silent, "b": known})
    assert half.reordered is None and half.compared == 1 and half.models[1].places == (1, 1)
