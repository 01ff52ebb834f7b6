"""Rows of a report: they are read from JSON as they were written."""

from __future__ import annotations

import json

import pytest

from benchmark.domain.report_rows import NO_FIGURES, ReportRow, Unjudged
from benchmark.suites.reports import GroupMetrics, Level

READ = {
    "story_category": "A", "stories": 3, "f1": 0.5, "recall": None, "interval": {"f1": [0.4, 0.6], "recall": None},
    "bounds": {"f1": [0.25, 0.75], "recall": None}, "unreadable": 2, "unreadable_reasons": {"refused": 2},
    "undefined": 1, "unjudged": {"stories": 1, "predicted": 2, "gold": 3}, "reasons": {"recall": "no usable story"},
    "reason": "no usable story",
}  # fmt: skip
PRINTED = {
    "stories": "3", "f1": "0.500000", "interval": {"f1": None}, "reasons": {"f1": "all alike"}, "unreadable": 0,
    "bounds": {"f1": [0.5, 0.5]}, "n": 4,
}  # fmt: skip
PLAIN = {"stories": 4, "f1": 0.5, "interval": {"f1": [0.4, 0.6]}}
MADE = {"method": "bootstrap", "seed": 1, "resamples": 100}


@pytest.mark.parametrize("kept", [READ, PRINTED, {"stories": "4", "f1": "0.500000"}, {}])
def test_a_row_is_written_as_it_was_kept(kept):
    assert json.dumps(ReportRow.from_json(kept).as_json()) == json.dumps(kept)


def test_a_row_says_what_there_is_of_a_figure():
    row, printed, plain = (ReportRow.from_json(kept) for kept in (READ, PRINTED, PLAIN))
    assert (row.category, row.samples, row.asked, row.unjudged) == ("A", 3, 5, Unjudged(1, 2, 3))
    assert (row.value_of("f1"), row.interval_of("f1"), row.bounds_of("f1")) == (0.5, [0.4, 0.6], [0.25, 0.75])
    assert (row.value_of("recall"), row.reason_of("recall"), row.worst_of("f1")) == (None, "no usable story", 0.25)
    assert (printed.value_of("f1"), printed.number_of("f1"), printed.samples) == ("0.500000", 0.5, 4)
    assert (plain.reason_of("f1"), plain.bounds_of("f1"), plain.bounds) == (None, None, None)
    nothing = NO_FIGURES.value_of("f1"), NO_FIGURES.interval_of("f1"), NO_FIGURES.worst_of("f1"), NO_FIGURES.samples
    assert nothing == (None, None, None, 0)


def test_results_of_a_group_are_written_as_they_were_kept():
    rows = {"overall": PLAIN, "by_category": [READ], **MADE}
    kept = {
        "official": None, "repaired": rows, "answered": 3, "asked": 5, "analyses": {"repaired": {"facets": {}}},
        "reason": "Story 2 has no answer.", "chance": {"value": 0.25, "n": 5},
        "category_levels": {"chance": {"A": {"value": 0.5, "n": 2}}},
        "labelled": {"stories": 1, "of_stories": 2, "cells": 3, "of_cells": 8, "votes": 1, "expert": 1, "record": 0,
                      "open": 1},
        "own": {"official": None, "repaired": {"overall": PLAIN, "by_category": []}},
    }  # fmt: skip
    metrics = GroupMetrics.from_json(kept)
    assert json.dumps(metrics.as_json()) == json.dumps(kept)
    assert metrics.levels.of("chance") == Level(0.25, 5) and metrics.levels.of("majority") is None
    assert metrics.levels.of_categories("chance") == {"A": Level(0.5, 2)} and not metrics.levels.of_categories(
        "majority"
    )
    assert metrics.analysed("repaired").kept == {"facets": {}} and metrics.analysed("official") is None
    assert metrics.parses.by_category("repaired")["A"].stories == 3
    assert (metrics.parses.overall("official"), metrics.parses.by_category("official")) == (NO_FIGURES, {})
