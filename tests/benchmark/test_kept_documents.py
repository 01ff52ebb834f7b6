"""Documents as they are kept: read and written again they are the same."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmark.services.documents import as_json, document_from

RANKED = {"model": "r.1", "value": 0.5, "n": 6, "interval": None, "interval_reason": "fewer than 5 stories"}
RANKED |= {"best": 0.75, "missing": 2, "lost": 1, "rank": 1, "ranks": [1, 2], "group": "a"}
RANKED |= {"against": {"r.2": [0.25, 0.04, True], "r.3": [None, None, False]}}
PARSES = {"official": None, "repaired": {"overall": {"stories": 6, "f1": 0.5}, "by_category": []}}
LEVELS = {"chance": {"value": 0.25, "n": 6}, "majority": None, "category_levels": None}
ENTRANT = {
    "key": "r.1",
    "name": "m",
    "kind": "model",
    "run": "r",
    "run_title": "Run",
    "at": "2026-11-23T11:00:00+00:00",
    "entrant": 1,
    "metrics": PARSES,
    "settings": {"level": "1"},
    "role": "",
    "judge_test": None,
    "within": {"prompts": "omnitom-1", "judge": None},
    "others": 2,
    "family": "llama",
    "model": "m (level 1)",
    "own": "level 1",
    "parses": PARSES | {"levels": LEVELS, "reason": "Story 2 has no official parse."},
    "ranking": {"repaired": RANKED, "official": None},
    "group": {"repaired": "a", "official": None},
    "no_letters": {"repaired": "", "official": ""},
    "corrected": None,
}


def test_a_kept_document_is_the_same_when_it_is_read_and_written_again():
    kept = {
        "title": "T",
        "kind": "leaderboard",
        "groups": {"stage1": [ENTRANT]},
        "facts": [["Answer format", "Text"]],
        "methods": [],
    }
    kept |= {"absent": {"stage1": []}, "numbers": [1], "query": {"split": "main"}}
    document = document_from(kept)
    [entrant] = document.groups["stage1"]
    assert (entrant.parses.as_json(), entrant.metrics.as_json()) == (ENTRANT["parses"], ENTRANT["metrics"])
    assert entrant.ranking["repaired"].against["r.2"].differs
    assert entrant.at == datetime(2026, 11, 23, 11, tzinfo=UTC)
    assert as_json(document) == kept


def test_a_kept_comparison_is_the_same_when_it_is_read_and_written_again():
    row = {"value": 0.25, "n": 6, "interval": [0.1, 0.4], "p": 0.03, "answered": {"value": 0.1, "n": 5}}
    row |= {"p_adjusted": 0.06, "category": "", "what": "F1", "key": "f1", "first": 0.5, "second": 0.25}
    comparison = {
        "first": "a",
        "second": "b",
        "group": "stage1",
        "parse": "repaired",
        "rows": [row | {"clusters": 3}, row | {"reason": "few", "answered": None}],
        "stories": [{"number": 1, "category": "", "first": 0.5, "second": 0.25, "difference": 0.25}],
        "n": 1,
        "method": "none",
        "tests": 0,
        "differ": "",
        "split": "",
        "selection": "",
        "lead": ["Read this."],
        "judge_tests": [],
        "corrected": None,
    }
    kept = {"title": "T", "kind": "comparison", "groups": {}, "facts": [], "methods": [], "comparison": comparison}
    document = document_from(kept)
    assert document.comparison.parse == "repaired" and as_json(document) == kept
    assert [row.verdict for row in document.comparison.rows] == ["no", "no"]
