"""What an official parse cannot read: counted as its suite says, with the number of answers that its figures are
of."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from benchmark.domain.inference import Cases, leaderboard
from benchmark.services.plot_data import score_of
from benchmark.services.result_tables import OFFICIALLY, group_table
from benchmark.suites.figures import cases_by_story, mean_columns, official_metrics, with_intervals
from benchmark.suites.groups import GUESSED, LEFT_OUT, WRONG
from benchmark.suites.measuring import ACCURACY, SampleResult, measured_samples, scored_by, undefined
from benchmark.suites.opentom.measure import GROUP
from benchmark.suites.questions import Entered, Outcome, Sample
from benchmark.suites.registry import suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.settings import Settings

UNREADABLE: dict[str, Any] = {"label": -1}
RESOURCES = SimpleNamespace(derived=lambda name, compute: {"a/coarse": 1})  # the labels of the majority


def verdict(sample: Sample, outcome: Outcome, parse: str) -> bool | None:
    return outcome.official["label"] == 1 if outcome.official["label"] != -1 else None


def scored(sample: Sample, outcomes) -> SampleResult:
    return undefined(sample, GROUP.shares) if sample.content["nothing"] else scored_by(verdict)(sample, outcomes)


def measured(labels: list[int]):
    """What answers with these labels come to, of which 1 is right and -1 cannot be read, and a question that has no
    figure by definition."""
    samples, outcomes = [], {}
    for at, label in enumerate([*labels, 1]):
        content = {"nothing": at == len(labels), "perspective": "", "kind": "coarse"}
        samples.append(Sample(f"q{at}", f"n{at}", content, {"label": 1}, "a", number=at + 1))
        outcomes[f"q{at}"] = [Outcome("answer", {"label": label}, {}, "says nothing" if label == -1 else "")]
    return measured_samples(Entered("m", "model", samples, outcomes, ["answer"], Settings(), RESOURCES), GROUP, scored)


def entrant(name: str, labels: list[int]) -> EntrantResults:
    told = {"metrics": measured(labels).metrics.reported(), "ranking": {"official": None, "repaired": None}}
    of = {"kind": "model", "run": "r", "run_title": "R", "at": datetime.now(UTC), "entrant": 1, "own": ""}
    return EntrantResults(key=name, name=name, model=name, **of, **told)


FAIR, SHY, HOSTILE = [1, 1, 1, 1, 0, 0], [1, -1, -1, -1, -1, -1], [-1] * 6
NAMES = {"fair": FAIR, "shy": SHY, "hostile": HOSTILE}


def test_official_figures_say_of_how_many_they_are():
    metrics, columns = measured(SHY).metrics.reported(), measured(SHY).by_sample
    official = metrics.parses.overall("official").told
    assert official[ACCURACY] == "1.000000" and (official["n"], official["unreadable"]) == (1, 5)
    assert official["bounds"][ACCURACY] == pytest.approx([1 / 6, 1]) and official["stories"] == "1"
    assert metrics.analyses["official"].kept["facets"]["kind"]["coarse"]["bounds"] == pytest.approx([1 / 6, 1])
    # of a selection, and over repetitions of which each reads another part
    kept = columns.official
    averages = official_metrics(kept, {1, 2, 7}, GROUP.key)
    some = with_intervals(averages, kept, {1, 2, 7}, GROUP.key, seed=1, resamples=9).told()
    assert some["overall"][ACCURACY] == "1.000000" and (some["overall"]["n"], some["overall"]["unreadable"]) == (1, 1)
    both = mean_columns([kept, measured(HOSTILE).by_sample.official, measured(FAIR).by_sample.official])
    assert both.values[ACCURACY][:1] == [pytest.approx([2 / 3, 1, 1])] and both.unreadable == {}
    complete = measured(FAIR).metrics.parses.overall("official").told
    assert (complete["n"], complete["unreadable"]) == (6, 0)
    assert complete["bounds"][ACCURACY] == [pytest.approx(4 / 6)] * 2


def test_who_is_not_read_is_ranked_officially_and_takes_nobody_elses_rank():
    cases = {name: cases_by_story(measured(labels).by_sample.official, ACCURACY) for name, labels in NAMES.items()}
    ranking = leaderboard(Cases.of(cases, set(range(1, 8))), seed=1, resamples=99).models
    assert [(row.model, row.rank, row.n) for row in ranking] == [("fair", 1, 6), ("shy", 2, 6), ("hostile", 3, 6)]
    assert ranking[1].value == pytest.approx(1 / 6) and ranking[2].lost == 0
    # the table has official n beside the figure and marks by the worst
    entrants = [entrant(*one) for one in NAMES.items()]
    table = group_table(entrants, GROUP.key)
    assert [(row["official_n"], row["official_unreadable"]) for row in table.rows] == [(6, 0), (1, 5), (0, 6)]
    marks = {
        table.rows[at]["model"]: mark for (at, key), mark in table.marks().items() if key == f"official_{ACCURACY}"
    }
    assert marks == {"fair": "best", "shy": "second"}
    assert any(OFFICIALLY[LEFT_OUT] in note for note in table.notes) and not any("as 0" in note for note in table.notes)
    score = score_of(entrants[1], "official", GROUP.key)
    assert (score.n, score.unreadable) == (1, 5) and score_of(entrants[1], "repaired", GROUP.key).n == 1


def test_each_suite_says_what_becomes_officially_of_what_cannot_be_read():
    told: dict[str, set[str]] = defaultdict(set)
    for name in ("omnitom", "tombench", "fantom", "opentom", "percept-tomi", "percept-fantom"):
        for group in suite_named(name).groups:
            told[group.unreadable_as].add(group.key)
    assert told[LEFT_OUT] == {"opentom", "percept-tomi-perception", "percept-fantom-perception"}
    assert told[GUESSED] == {"tombench"} and told.keys() <= {WRONG, LEFT_OUT, GUESSED}
