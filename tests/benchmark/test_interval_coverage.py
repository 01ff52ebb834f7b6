"""Do the repaired intervals hold the truth as often as they say? Oracle answers, read and scored by the product.

Every repetition draws new stories, so that the truth is that of the stories there could be, not of these. All repetitions are made
without HTTP; of some the whole way over HTTP is shown to give the same intervals, to the last digit.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from scipy.stats import binom

from bench.make_corpus import CATEGORIES, belief_of
from benchmark.services.reports import scores_of
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.suites.omnitom.official import score_official
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.records import Record, record_of
from benchmark.suites.omnitom.repaired import score_repaired
from tests.benchmark.evaluation import OracleWorld
from tests.servers import ModelServer
from tests.servers.oracle import Oracle, Skill

REPETITIONS, STORIES, SIZES = 200, 70, (4, 8, 16, 24)
OFFICIAL = 50
"""The first repetitions, which official scoring reads too."""
ACCURACY = dict(zip(DIMENSIONS, (0.9, 0.6, 0.7, 0.85, 0.5, 0.8, 0.75), strict=True))
of_one_process = pytest.mark.xdist_group("coverage")  # the repetitions are made once, not in each process
SKILL = {"recall": 0.65, "invented": 0.25, "accuracy": ACCURACY, "spread": 0.1, "unusable": 0.06}


def drawn(rng: Random, start: int) -> list[dict]:
    """New stories; their table sizes are drawn evenly from SIZES, in each category alike."""
    found = []
    for number in range(start, start + STORIES):
        beliefs = [belief_of(rng, 100 * number + at) for at in range(rng.choice(SIZES))]
        category = list(CATEGORIES)[number % len(CATEGORIES)]
        found.append({"story_id": number, "story_category": category, "story": f"Story {number}.", "beliefs": beliefs})
    return found


def of_repetition(repetition: int) -> list[dict]:
    return drawn(Random(repetition), 1 + repetition * STORIES)


def truth(skill: Skill, sizes: tuple[int, ...] = SIZES) -> dict[str, float]:
    """The expected figures of a story with at least one predicted row, by adding up every outcome.

    Of n gold rows h are extracted and f invented: h ~ Bin(n, recall ± spread), f ~ Bin(n, invented). Precision is
    h / (h + f), recall h / n, F1 = 2h / (h + f + n). A label is right with accuracy ± spread: on average its accuracy.
    """
    sums, weight = Counter(), 0.0
    for n in sizes:
        h, f = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        for shift in (-skill.spread, skill.spread):
            chance = binom.pmf(h, n, skill.recall + shift) * binom.pmf(f, n, skill.invented) * (h + f > 0)
            weight += chance.sum()
            sums["precision"] += (chance * h / np.maximum(h + f, 1)).sum()
            sums["recall"] += (chance * h / n).sum()
            sums["f1"] += (chance * 2 * h / (h + f + n)).sum()
    found = {name: float(value / weight) for name, value in sums.items()}
    found["f1_category_mean"] = found["f1"]
    accuracies = {f"acc_{COLUMNS[name]}": skill.accuracy[name] for name in DIMENSIONS}
    return found | accuracies | {"overall_accuracy": sum(accuracies.values()) / 7}


def answers(records: list[Record], seed: int) -> dict[int, dict[str, str]]:
    oracle = Oracle(records, {"model": Skill(**SKILL, seed=seed), "judge": Skill(seed=seed)})
    texts = {}
    for record in records:
        extraction = oracle.extraction(record, "model").text
        rows = [(row.actor, row.belief) for row in extraction_rows(extraction)]
        judged, labelled = oracle.judgement(record, rows).text, oracle.labelling(record, "model").text
        texts[record.story_id] = {"extract": extraction, "judge": judged, "label": labelled}
    return texts


@pytest.fixture(scope="module")
def repeated() -> tuple[Counter, list[float]]:
    """In how many repetitions each interval held the truth; the official mean accuracy of each of the first."""
    expected, held, official = truth(Skill(**SKILL)), Counter(), []
    for repetition in range(REPETITIONS):
        records = list(map(record_of, of_repetition(repetition)))
        texts = answers(records, seed=repetition)
        scores = score_repaired(records, texts, seed=repetition, resamples=1000)
        for stage in ("stage1", "stage2"):
            for name, (low, high) in scores[stage]["overall"]["interval"].items():
                held[name] += low <= expected[name] <= high
        if repetition < OFFICIAL:
            official.append(float(score_official(records, texts)["stage2"]["overall"]["overall_accuracy"]))
    return held, official


@pytest.mark.dear
@of_one_process
def test_the_intervals_cover_the_truth(repeated):
    held, _ = repeated
    assert held.keys() == truth(Skill(**SKILL)).keys()  # 12 figures
    # At a true coverage of 95 %, 100 repetitions hold 95 with a standard error of sqrt(100 · 0.95 · 0.05) = 2.2: all of 12
    # figures reach 93 of 100 only one time in ten, however good the intervals. Of 200, 93 % is 1.3 standard errors (3.1 of
    # 190) below. Over 2,000 such repetitions, seeds 0 to 999 and 5000 to 5999, the figures were held 93.8 to 95.3 % of the
    # time (standard error 0.5), where the plain percentile interval held precision in 93.1 % and representation in 92.9 %.
    assert min(held.values()) >= 0.93 * REPETITIONS, dict(held)
    assert sum(held.values()) / (len(held) * REPETITIONS) == pytest.approx(0.95, abs=0.01), dict(held)


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("repetition", [0, 7, 99])
def test_over_http_the_intervals_are_the_same(repetition, tmp_path):
    """Imported, frozen, asked of a server, kept in the ledger, read back and reported."""
    rows = of_repetition(repetition)
    records = list(map(record_of, rows))
    skills = {"model": SKILL | {"seed": repetition}, "judge": {"seed": repetition}}
    with ModelServer(folder=tmp_path) as server:
        world = OracleWorld(tmp_path, rows, server, skills)
        measured = scores_of(world.run(seed=repetition))["repaired"]
    expected = score_repaired(records, answers(records, seed=repetition), seed=repetition)
    for stage in ("stage1", "stage2"):
        assert measured[stage]["overall"] == expected[stage]["overall"]


@pytest.mark.dear
@of_one_process
def test_what_is_unusable_pulls_the_official_figure_down_and_not_the_repaired_one(repeated):
    _, official = repeated
    # officially six in a hundred stories count 0, so the mean is 0.94 · truth; that of 50 repetitions scatters by
    # about sqrt(0.1² + 0.94 · 0.06 · 0.73²) / sqrt(50 · 70) = 0.0034, and truth itself lies 13 of these away
    expected = truth(Skill(**SKILL))["overall_accuracy"]
    assert np.mean(official) == pytest.approx(0.94 * expected, abs=3 * 0.0034)


def test_the_truth_by_hand():
    # one gold row, recall 0.5, invented 0.5, nothing else: (h, f) is each of four with 1/4; (0, 0) is unusable; of the other
    # three precision is 1, 0, 1/2, recall 1, 0, 1, F1 1, 0, 2/3; their means are 1/2, 2/3, 5/9
    found = truth(Skill(recall=0.5, invented=0.5), sizes=(1,))
    assert [found[name] for name in ("precision", "recall", "f1")] == pytest.approx([1 / 2, 2 / 3, 5 / 9])
