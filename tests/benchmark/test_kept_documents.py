"""Documents as they are kept: read and written again they are the same, and what an earlier version kept opens."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from benchmark.domain.corrections import Corrections
from benchmark.services.documents import as_json, document_from
from benchmark.services.run_metrics import Answered
from core.plain import plain

RANKED = {"model": "r.1", "value": 0.5, "n": 6, "interval": None, "interval_reason": "fewer than 5 stories"}
RANKED |= {"best": 0.75, "missing": 2, "lost": 1, "rank": 1, "ranks": [1, 2], "group": "a"}
RANKED |= {"against": {"r.2": [0.25, 0.04, True], "r.3": [None, None, False]}}
OF_BEFORE = {
    "key": "r.1",
    "name": "m",
    "model": "m (level 1)",
    "kind": "model",
    "run": "r",
    "run_title": "Run",
    "entrant": 1,
    "settings": {"level": "1"},
    "own": "level 1",
    "figures": {"official": None, "repaired": {"overall": {"stories": 6, "f1": 0.5}, "by_category": []}},
    "readings": {"official": None, "repaired": {"overall": {"stories": 6, "f1": 0.5}, "by_category": []}},
}
LEVELS = {"chance": {"value": 0.25, "n": 6}, "majority": None, "category_levels": None}
NOW = OF_BEFORE | {
    "readings": OF_BEFORE["readings"] | {"levels": LEVELS, "reason": "Story 2 has no official parse."},
    "at": "2026-11-23T11:00:00+00:00",
    "role": "",
    "judge_test": None,
    "within": {"prompts": "omnitom-1", "judge": None},
    "others": 2,
    "family": "llama",
    "ranking": {"repaired": RANKED, "official": None},
    "group": {"repaired": "a", "official": None},
    "no_letters": {"repaired": "", "official": ""},
}


def test_a_kept_document_is_the_same_when_it_is_read_and_written_again():
    kept = {
        "title": "T",
        "kind": "leaderboard",
        "stages": {"stage1": [NOW]},
        "facts": [["Form", "Text"]],
        "methods": [],
    }
    kept |= {"absent": {"stage1": []}, "numbers": [1], "query": {"split": "main"}}
    document = document_from(kept)
    [entrant] = document.groups["stage1"]
    assert (entrant.parses.as_json(), entrant.metrics.as_json()) == (NOW["readings"], NOW["figures"])
    assert entrant.ranking["repaired"].against["r.2"].differs
    assert entrant.at == datetime(2026, 11, 23, 11, tzinfo=UTC)
    assert as_json(document) == kept


def test_an_entrant_that_an_earlier_version_kept_has_nothing_of_what_it_lacks():
    document = document_from({"kind": "run", "stages": {"stage1": [OF_BEFORE], "stage2": None}})
    [entrant] = document.groups["stage1"]
    assert (entrant.ranking, entrant.group, entrant.within, entrant.judge_test) == ({}, {}, {}, None)
    assert not entrant.parses.tells_levels and entrant.parses.levels is None
    assert entrant.parses.overall("repaired").value_of("f1") == 0.5
    assert entrant.parses.overall("repaired").interval_of("f1") is None
    assert entrant.others is None and document.groups["stage2"] == []


def test_a_kept_comparison_is_the_same_when_it_is_read_and_written_again_and_may_lack_what_is_new():
    row = {"what": "F1", "key": "f1", "category": "", "first": 0.5, "second": 0.25, "value": 0.25, "n": 6}
    row |= {"interval": [0.1, 0.4], "p": 0.03, "p_adjusted": 0.06}
    of_before = {
        "first": "a",
        "second": "b",
        "stage": "stage1",
        "reading": "repaired",
        "rows": [row | {"answered": {"value": 0.1, "n": 5}, "clusters": 3}, row | {"reason": "few", "answered": None}],
        "stories": [],
        "n": 0,
    }
    of_before |= {"method": "none"}
    told = {"tests": 0, "differ": "", "split": "", "selection": "", "lead": ["Read this."], "judge_tests": []}
    kept = {
        "title": "T",
        "kind": "comparison",
        "stages": {},
        "facts": [],
        "methods": [],
        "comparison": of_before | told,
    }
    document = document_from(kept)
    assert document.comparison.parse == "repaired" and as_json(document) == kept
    before = document_from({"kind": "comparison", "comparison": of_before | {"rows": [row]}}).comparison
    assert before.rows[0].answered is None and before.rows[0].verdict == "no"
    assert (before.tests, before.lead, before.withheld) == (None, (), 0)


@pytest.mark.parametrize(
    ("shown", "name", "key"),
    [
        (Answered(1, "m", "label", "m-1", 3, 20, 4, None), "step", "label"),
        (Corrections(uid="u", study="First", group="stage1", rows=[], warns=True), "group", "stage1"),
    ],
)
def test_a_step_and_a_group_are_kept_as_a_stage(shown, name, key):
    kept = plain(shown)
    assert kept["stage"] == key and name not in kept
    assert type(shown).from_json(kept) == shown
