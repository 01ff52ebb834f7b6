"""Measure the alternative annotator test over stories where the truth is known.

    python bench/standing_in.py                     # the table of docs/statistics.md
    python bench/standing_in.py --data-sets 100     # quicker and rougher

Simulated are three annotators who are right in 90 % of cells, stories of 4 to 40 cells, and 40 % of the votes missing.
The model is worse than an annotator by exactly ε on average: on single cells, on whole stories that it fails, or by
stories that suit it more or less. Every annotator that it beats is a false alarm. Of a model as good as the annotators
the table says how often it may stand in. The t test alone, which stood here before, is beside.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotation.domain.anchoring.alternative_annotator import (
    alternative_annotator_over_stories,
    alternative_annotator_test,
    clustered_p,
    story_sums,
    wins,
)

EPSILON, SKILL, MISSING, STEADY = 0.15, 0.9, 0.4, 0.98
STORIES = (6, 10, 15, 20, 40, 100)
KINDS = ("errs on single cells", "fails on whole stories", "suits stories more or less")
HEADS = (
    "the model", "stories", "false alarms (%)", "t test alone (%)", "interval of the advantage holds (%)",
    "as good as annotators: may stand in (%)",
)  # fmt: skip


def crowd(rng: np.random.Generator, stories: int, kind: str, skill: float):
    """Return labels of three annotators, those of a model, and the story of each cell; the truth is label 0."""
    story = np.repeat(np.arange(stories), rng.integers(4, 41, stories))

    def said(right: np.ndarray) -> np.ndarray:
        return np.where(right, 0, rng.integers(1, 4, len(story)))

    labels = np.stack([said(rng.random(len(story)) < SKILL) for _ in range(3)], axis=1)
    labels[rng.random(labels.shape) < MISSING] = -1
    if kind == KINDS[0]:
        chance = np.full(stories, skill)
    elif kind == KINDS[1]:
        chance = STEADY * (rng.random(stories) < skill / STEADY)
    else:
        chance = rng.beta(2 * skill, 2 * (1 - skill), stories)
    return labels, said(rng.random(len(story)) < chance[story]), story


def edge(rng: np.random.Generator) -> float:
    """The skill with which a model is worse than an annotator by exactly ε: the difference falls in a straight line."""
    labels, _, _ = crowd(rng, 20_000, KINDS[0], 1.0)
    gaps = []
    for label in (3, 0):
        _, of_model, of_human = wins(labels, np.full(len(labels), label), 0)
        gaps.append(float((of_human.astype(float) - of_model).mean()))
    return (gaps[0] - EPSILON) / (gaps[0] - gaps[1])


def advantage(rng: np.random.Generator, kind: str, skill: float) -> float:
    labels, model, _ = crowd(rng, 20_000, kind, skill)
    return float(np.mean([wins(labels, model, annotator)[1].mean() for annotator in range(3)]))


def measured(rng: np.random.Generator, kind: str, stories: int, skill: float, data_sets: int) -> list[str]:
    from scipy.stats import false_discovery_control

    truth, false, alone, held = advantage(rng, kind, skill), 0, 0, 0
    for _ in range(data_sets):
        labels, model, story = crowd(rng, stories, kind, skill)
        published = alternative_annotator_test(labels, model, epsilon=EPSILON)
        found = alternative_annotator_over_stories(published, labels, model, story, seed=1)
        low, high = found.advantage.interval
        false, held = false + bool(found.winning_rate), held + (low <= truth <= high)
        ps = [clustered_p(story_sums(labels, model, annotator, story), EPSILON) for annotator in range(3)]
        alone += bool((false_discovery_control(ps, method="by") <= published.q).any())
    passes = [
        alternative_annotator_over_stories(
            alternative_annotator_test(labels, model), labels, model, story, seed=1
        ).passes
        for labels, model, story in (crowd(rng, stories, KINDS[0], SKILL) for _ in range(data_sets // 4))
    ]
    return [f"{100 * count / data_sets:.1f}" for count in (false, alone, held)] + [f"{100 * np.mean(passes):.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=400, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(12)
    skill = edge(rng)
    print("| " + " | ".join(HEADS) + " |")
    print("|---|" + " ---: |" * (len(HEADS) - 1))
    for kind in KINDS:
        for stories in STORIES:
            cells = measured(rng, kind, stories, skill, options.data_sets)
            print(f"| {kind} | {stories} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
