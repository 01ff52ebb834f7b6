"""One model's tables of stories, as a judge and as people match them, and the scores of one story."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.statistics import harmonic


@dataclass(frozen=True, slots=True)
class Matches:
    """Count of matched rows of both tables of a story; of the `open` ones people could not tell, or the judge has no
    verdict: they are among the rows and not among the matched, and in no score."""

    predicted: int
    matched_predicted: int
    gold: int
    matched_gold: int
    open_predicted: int = 0
    open_gold: int = 0

    @property
    def precision(self) -> float:
        return share(self.matched_predicted, self.predicted - self.open_predicted)

    @property
    def recall(self) -> float:
        return share(self.matched_gold, self.gold - self.open_gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 where both are."""
        return harmonic(self.precision, self.recall)

    def has_value(self, metric: Metric) -> bool:
        """Return whether there is a score by that metric: not where every row of a table that it is of is open."""
        sides = {
            Metric.PRECISION: not self.predicted or self.open_predicted < self.predicted,
            Metric.RECALL: not self.gold or self.open_gold < self.gold,
        }
        return sides.get(metric, all(sides.values()))

    def settled(self, *, matched: bool) -> Matches:
        """Return these with every open row matched, or not."""
        return Matches(
            self.predicted,
            self.matched_predicted + self.open_predicted * matched,
            self.gold,
            self.matched_gold + self.open_gold * matched,
        )


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`; 0 of nothing is 0, as official scoring has it."""
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class JudgedStory:
    """One model's table of one story: what the judge said, and people where they aligned it, drawn with that
    `probability` within its `stratum`, empty in a simple random sample."""

    story: str
    category: str
    judged: Matches
    human: Matches | None = None
    probability: float | None = None
    stratum: str = ""

    @property
    def certain(self) -> bool:
        """Return whether nothing can be matched, so that nobody has to look: a table without rows."""
        return not (self.judged.predicted and self.judged.gold)


class Metric(StrEnum):
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"


class Averaging(StrEnum):
    """Over what a score is averaged: the two official ways."""

    STORIES = "stories"
    CATEGORIES = "categories"


def score_of(matches: Matches, metric: Metric) -> float:
    """Return a story's score by that metric."""
    return float(getattr(matches, metric.value))
