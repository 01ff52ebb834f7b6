"""Power before launching: the smallest difference between two models that so many stories can show."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.messages import gettext_noop
from core.statistics import ALPHA, out_of_reach
from core.statistics.intervals import t_quantile

POWER = 0.8
DEFAULT_SD = 2**0.5 / 3
"""Standard deviation of a story's difference where nothing is known: 0.471.

Scores lie between 0 and 1. A unimodal score there has a variance of at most 1/9 (Jacobson 1969, "The maximum variance
of restricted unimodal distributions", Annals of Mathematical Statistics 40(5)); the worst case is a third of the
stories at 0 and the rest spread evenly: 2/3 · 1/3 − (1/3)² = 1/9. Two models on the same stories seldom vary against
each other, so the variance of their difference is at most 2/9. Earlier paired differences are mostly far below: prefer
them.
"""
_EVEN, _AT_AN_END = 1 / 12, 1 / 9
"""The variance of chances that are spread evenly, and the largest of unimodal ones (with a mean of 1/3)."""
TOO_FEW = gettext_noop("a difference needs at least two stories")
TOO_MANY_TESTS = gettext_noop("so few stories can show no difference in so many tests, however large it is")
NO_SPREAD = gettext_noop("the standard deviation is not above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest `difference` of the score `name` that can be shown, None with a `reason`, and what it was computed
    by: see `smallest_difference`."""

    name: str = ""
    difference: float | None
    sd: float
    sd_is_default: bool
    stories: int
    power: float
    alpha: float
    tests: int
    reason: str = ""

    @property
    def points(self) -> str:
        """The difference in percentage points. Returns "" without one, and if no two scores can be so far apart."""
        return "" if self.difference is None or self.difference >= 1 else f"{100 * self.difference:.1f}"

    @property
    def beyond(self) -> str:
        """The points that would be needed if no two scores can be so far apart. Returns "" otherwise."""
        return "" if self.difference is None or self.difference < 1 else f"{100 * self.difference:.1f}"


def right_or_wrong_sd(questions: Sequence[int]) -> float:
    """Return the standard deviation of a story's difference where nothing is known and answers are right or wrong, for
    stories with so many questions each, at least one.

    The score of a story with one question is 0 or 1, which is not unimodal: its variance is up to 1/4. With m questions
    it is that of the story's chance of a right answer, v, and what chance leaves of m answers, (p (1 − p) − v) / m on
    average: the larger of an even chance's, 1/12 + 1/(6 m), and the largest of a unimodal one, 1/9 + 1/(9 m).
    """
    part = sum(1 / count for count in questions) / len(questions)
    return math.sqrt(2 * max(_EVEN + part / 6, _AT_AN_END * (1 + part)))


def difference_sd(scores: Mapping[str, Mapping[int, float | None]]) -> float | None:
    """Return the root mean square of the standard deviations of the differences of any two models over the stories for
    which both have a score, from {model: {story: score}}. Returns None without two models with two stories in common.
    """
    squares, degrees = 0.0, 0
    for first, second in combinations(scores.values(), 2):
        pairs = [(first[story], second[story]) for story in sorted(first.keys() & second.keys())]
        gaps = np.array([one - other for one, other in pairs if one is not None and other is not None])
        if len(gaps) > 1:
            squares += float(((gaps - gaps.mean()) ** 2).sum())
            degrees += len(gaps) - 1
    return math.sqrt(squares / degrees) if degrees else None


def smallest_difference(
    n_stories: int,
    sd: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
    *,
    tests: int = 1,
    default_sd: float = DEFAULT_SD,
) -> Smallest:
    """The smallest difference, on the scale of `sd`, or of `default_sd` where nothing is known.

    It is the mean paired difference that a two-sided test finds with that power, from the noncentral t distribution,
    which the sign-flip test follows; it needs alpha / 2 < power < 1, ValueError otherwise. `tests` is how many are made
    at once: a single true difference among them has to pass Holm's first step, alpha / tests. A difference can exceed
    the scale, which says that nothing can be shown; so does None, where even a difference on every story would not
    pass.
    """
    if not alpha / 2 < power < 1:
        raise ValueError(f"A power of {power:g} cannot be planned for.")
    spread = default_sd if sd is None else sd
    difference, reason = None, ""
    if n_stories < 2 or not spread > 0:
        reason = TOO_FEW if n_stories < 2 else NO_SPREAD
    elif out_of_reach(n_stories, tests, alpha):
        reason = TOO_MANY_TESTS
    else:
        difference = _standardised(n_stories, power, alpha / tests) * spread / math.sqrt(n_stories)
    return Smallest(
        difference=difference, sd=spread, sd_is_default=sd is None, stories=n_stories, power=power, alpha=alpha,
        tests=tests, reason=reason,
    )  # fmt: skip


def _standardised(n: int, power: float, alpha: float) -> float:
    """The noncentrality at which the two-sided t test of n differences finds them, on their own side, so often."""
    from scipy.special import nctdtr  # `scipy.stats` and `scipy.optimize` take seconds to load

    cut = float(t_quantile(1 - alpha / 2, np.array([n - 1]))[0])
    low, high = 0.0, 4 * cut + 10
    while high - low > 1e-12 * high:  # the power grows with the noncentrality
        middle = (low + high) / 2
        if 1 - float(nctdtr(n - 1, middle, cut)) < power:
            low = middle
        else:
            high = middle
    return (low + high) / 2
