"""A report begins with the tables of its benchmark's paper."""

from __future__ import annotations

import pytest

from benchmark.suites.registry import keys_of, suites
from benchmark.views.sections import sections_in

FIRST = {
    "omnitom": ("main-repaired", "main-official"),
    "tombench": ("categories-tombench",),
    "opentom": ("batches", "genres"),
    "fantom": ("inaccessible", "accessible"),
    "percept-tomi": ("scenarios",),
    "percept-fantom": ("scenarios",),
}


@pytest.mark.parametrize("suite", [name for name in suites() if name in FIRST])
def test_what_the_paper_prints_stands_first(suite):
    sections = sections_in({"kind": "run", "stages": dict.fromkeys(keys_of(suite), ())})
    assert sections[0].tables == FIRST[suite]
    order = [section.paper for section in sections]
    assert order == sorted(order, reverse=True), "nothing stands between the tables of the paper"
    titles = [section.title for section in sections]
    assert len(titles) == len({*titles}), "no part stands twice"


def test_every_suite_says_what_its_paper_prints():
    assert {name for name, suite in suites().items() if suite.load or name == "omnitom"} >= {*FIRST}
    assert all(any(section.paper for section in suites()[name].sections) for name in FIRST)
