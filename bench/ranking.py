"""Measure ranks of models that refuse, false differences and coverage of ranks: `python bench/ranking.py [--sets 400]`.

- refusing: two models on 30 stories, the longer the harder. The second is worse by 3 points everywhere and refuses the
  hardest stories. How often it stands first by the mean of what it answered, by the stories that both answered where it
  refuses those on which it is worse, and by its worst case; and how often it is shown to be the better one
- judge: two equal models, of one of which a judge loses the hardest stories. How often a difference is shown
- ranks: models a step of 2 points apart: how often the interval of a rank holds the true rank

Prints one JSON object a line.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmark.domain.inference import Case, Cases, leaderboard  # noqa: E402

STORIES = 30
REFUSED, LOST = Case(0.0, 1.0, None), Case(0.0, 1.0, None, outside=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    sets = parser.parse_args().sets
    for row in (*refusing(sets), *judge(sets), *ranks(sets)):
        print(json.dumps(row), flush=True)


def scores(rng: np.random.Generator, skills: list[float], stories: int = STORIES) -> np.ndarray:
    """Shape (models, stories), the hardest story last."""
    easy = np.linspace(0.2, -0.2, stories)
    return np.clip(np.array(skills)[:, None] + easy + rng.normal(0, 0.08, (len(skills), stories)), 0, 1)


def ranked_models(rows: np.ndarray, instead: Callable[[int, int], Case | None]) -> dict:
    names = [f"m{at:02}" for at in range(len(rows))]
    cases = {
        name: {story: instead(at, story) or Case.scored(float(score)) for story, score in enumerate(rows[at])}
        for at, name in enumerate(names)
    }
    return leaderboard(Cases.of(cases, set(range(rows.shape[1]))), seed=1, resamples=1000)


def refusing(sets: int) -> Iterator[dict]:
    for refused in (1, 3, 8, 15):
        rng, first = (
            np.random.default_rng(refused),
            dict.fromkeys(("own mean", "common stories", "worst case", "shown better"), 0),
        )
        for _ in range(sets):
            rows = scores(rng, [0.7, 0.67])
            worse = np.argsort(rows[1] - rows[0])[:refused]
            kept = np.setdiff1d(np.arange(STORIES), worse)
            first["own mean"] += rows[1, : STORIES - refused].mean() > rows[0].mean()
            first["common stories"] += rows[1, kept].mean() > rows[0, kept].mean()
            hardest = lambda at, story, n=refused: REFUSED if at and story >= STORIES - n else None  # noqa: E731
            ranked = ranked_models(rows, hardest)
            first["worst case"] += ranked.models[0].model == "m01"
            first["shown better"] += ranked.pairs[0].first == "m01" and ranked.pairs[0].differs()
        yield {"what": "refusing", "refused": refused, "of": STORIES, "sets": sets} | _shares(first, sets)


def judge(sets: int) -> Iterator[dict]:
    for lost in (0, 1, 3):
        rng, differing = np.random.default_rng(lost), 0
        for _ in range(sets):
            rows = scores(rng, [0.7, 0.7])
            ranked = ranked_models(rows, lambda at, story, n=lost: LOST if at and story >= STORIES - n else None)
            differing += ranked.pairs[0].differs()
        yield {"what": "judge", "lost": lost, "of": STORIES, "sets": sets} | _shares(
            {"shown to differ": differing}, sets
        )


def ranks(sets: int) -> Iterator[dict]:
    for stories in (10, 30, 100):
        rng, covered, widths = np.random.default_rng(stories), 0, []
        for _ in range(sets):
            ranked = ranked_models(scores(rng, [0.8 - 0.02 * at for at in range(12)], stories), lambda at, story: None)
            for model in ranked.models:
                low, high = model.ranks
                covered += low <= int(model.model[1:]) + 1 <= high
                widths.append(high - low + 1)
        result = {
            "what": "ranks",
            "models": 12,
            "stories": stories,
            "sets": sets,
            "ranks wide": round(float(np.mean(widths)), 1),
        }
        yield result | _shares({"hold the true rank": covered}, 12 * sets)


def _shares(counts: dict[str, int], of: int) -> dict[str, float]:
    return {name: round(float(count / of), 3) for name, count in counts.items()}


if __name__ == "__main__":
    main()
