"""Stories judged by a judge of known sensitivity and specificity, whose truth is known."""

from collections.abc import Iterable

import numpy as np

from judge.domain.calibration.tables import JudgedStory, MatchCount, Matches, Row, Side, Table, Unknown


def judged_stories(
    rng: np.random.Generator,
    *,
    stories: int = 120,
    aligned: int = 30,
    sensitivity: float = 0.8,
    specificity: float = 0.62,
    mean: float = 0.55,
    ease: np.ndarray | None = None,
) -> list[JudgedStory]:
    """Tables of 25 rows on either side, of which people link `mean`; stories differ in it (standard deviation .18). The
    judge is right on .8 · .55 + .62 · .45 = 72 % of rows, and finds .8 · .55 + .38 · .45 = 61 % matched."""
    chance = rng.beta(mean * 6.6, (1 - mean) * 6.6, stories) if ease is None else ease
    human = rng.binomial(25, chance)
    judge = rng.binomial(human, sensitivity) + rng.binomial(25 - human, 1 - specificity)
    drawn = set(rng.permutation(stories)[:aligned].tolist())
    return [
        JudgedStory(
            f"s{at}",
            "abcdefg"[at % 7],
            Matches(25, int(said), 25, int(said)),
            Matches(25, int(true), 25, int(true)) if at in drawn else None,
            aligned / stories if at in drawn else None,
        )
        for at, (true, said) in enumerate(zip(human, judge, strict=True))
    ]


def row(human: MatchCount, *judge: MatchCount, name: str = "p1", **groups: str) -> Row:
    """A row that is in the `groups`, by their keys."""
    side = Side.PREDICTION if name.startswith("p") else Side.GOLD
    said = judge[0] if judge else Unknown.MISSING
    return Row(name, side, "Ann", human, said, judge if len(judge) > 1 else (), groups)


def table(rows: Iterable[Row], *, story: str = "s", model: str = "m", category: str = "c", probability: float = 1.0):
    return Table(f"{model}/{story}", story, model, category, probability, tuple(rows))
