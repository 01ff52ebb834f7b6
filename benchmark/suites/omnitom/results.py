"""Results of one story's answers, in either parse: the material of every metric and analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Labels, Scheme
from core.plain import HasJson, Json

S = TypeVar("S", bound=HasJson)


@dataclass(frozen=True, slots=True)
class Stage1Result:
    """Match counts of the predicted rows and of the gold rows, in table order; None where nobody judged the row.

    `gold_orders` are the gold rows' orders. `unreadable` says why the story has no estimate, empty where it has one;
    the official parse never sets it and counts such a story 0. Order buckets of the predicted rows, and roles of both
    (see `kinds`), are empty where they are not known.
    """

    story_id: int
    category: str
    pred_counts: tuple[int | None, ...]
    gold_counts: tuple[int | None, ...]
    gold_orders: tuple[str, ...]
    unreadable: str = ""
    pred_orders: tuple[str, ...] = ()
    gold_roles: tuple[str, ...] = ()
    pred_roles: tuple[str, ...] = ()

    @property
    def unjudged(self) -> tuple[int, int]:
        """The numbers of predicted and gold rows of a usable extraction that the judge left without a judgement.

        An extraction without a row is not a matter of the judge: it says nothing, or it cannot be read. Of a judgement
        that is unreadable no row counts.
        """
        if not self.pred_counts or not self.gold_counts:
            return 0, 0
        if self.unreadable:
            return len(self.pred_counts), len(self.gold_counts)
        return self.pred_counts.count(None), self.gold_counts.count(None)

    @property
    def pred_matched(self) -> int:
        return _matched(self.pred_counts)

    @property
    def gold_matched(self) -> int:
        return _matched(self.gold_counts)


def _matched(counts: tuple[int | None, ...]) -> int:
    return sum(count is not None and count > 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Stage2Result:
    """Gold labels of each gold row, in the order of the scheme's dimensions, and what was predicted for it: None
    without a row, "" without a label.

    `roles` are the gold rows' (see `kinds`), empty where they are not known.
    """

    story_id: int
    category: str
    gold: tuple[Labels, ...]
    predicted: tuple[Labels | None, ...]
    unreadable: str = ""
    roles: tuple[str, ...] = ()
    scheme: Scheme = OMNITOM_SCHEME

    @property
    def paired(self) -> int:
        return sum(labels is not None for labels in self.predicted)

    def columns(self) -> Iterator[tuple[str, Labels, Labels]]:
        """Yield (dimension, gold labels, predicted labels, "" without one) of each dimension, in row order."""
        if self.gold:
            columns = zip(*(row or self.scheme.nothing for row in self.predicted), strict=True)
            yield from zip(self.scheme.keys, zip(*self.gold, strict=True), columns, strict=True)

    def right(self) -> dict[str, list[bool]]:
        """Return whether each cell is right, by dimension; cells whose gold label is outside its closed set are left
        out."""
        right: dict[str, list[bool]] = {name: [] for name in self.scheme.keys}
        for name, gold, predicted in self.columns():
            legal = self.scheme.legal[name]
            right[name] = [label == other for label, other in zip(gold, predicted, strict=True) if label in legal]
        return right


@dataclass(frozen=True, slots=True)
class GroupScores(Generic[S]):
    """The figures of one parse by metric group, None of one without figures, and why it has none."""

    by_group: Mapping[str, S | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Json:
        """{GROUP: figures or None…[, reason: {GROUP: sentence}]}."""
        scores = {group: score and score.as_json() for group, score in self.by_group.items()}
        return {**scores, **({"reason": dict(self.reasons)} if self.reasons else {})}
