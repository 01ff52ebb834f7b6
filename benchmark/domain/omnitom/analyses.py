"""What the paper looks into besides its main table, as counts and shares over stories' results.

Each function takes the results of one stage in either reading and returns plain data, ready for JSON. Unusable stories
are left out of all but `unusable_share`. Shares are fractions; one of nothing is None.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.domain.schema import SCHEMA
from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.domain.omnitom.results import LEGAL, NO_GOLD, Stage1Result, Stage2Result

MISSING = "missing"
ILLEGAL = "illegal"

MOST = 4
"""Match counts from here on share a bucket (paper, table 11)."""


def _usable(results: Sequence[Any]) -> list[Any]:
    return [one for one in results if not one.unusable]


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def recall_by_order(results: Sequence[Stage1Result]) -> dict[str, dict[str, Any]]:
    """{"0", "1", "2+"}: how many gold rows of that order there are, and how many are matched (paper, figure 5).

    Rows are pooled over stories; rows whose gold order is none of these, or that nobody judged, are left out.
    """
    total: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for result in _usable(results):
        for order, count in zip(result.gold_orders, result.gold_counts, strict=True):
            bucket = order if order in {"0", "1"} else "2+"
            if count is not None and order.isdecimal():
                total[bucket] += 1
                matched[bucket] += count > 0
    return {
        bucket: {"gold": total[bucket], "matched": matched[bucket], "recall": _share(matched[bucket], total[bucket])}
        for bucket in ("0", "1", "2+")
    }


def match_counts(results: Sequence[Stage1Result]) -> dict[str, int]:
    """How many predicted rows match no, one, two, three, four or more gold rows, and their `total` (table 11)."""
    counts = [count for result in _usable(results) for count in result.pred_counts if count is not None]
    spread = Counter(min(max(count, 0), MOST) for count in counts)
    named = {f"{count}+" if count == MOST else str(count): spread[count] for count in range(MOST + 1)}
    return named | {"total": len(counts)}


def volume(results: Sequence[Stage1Result]) -> dict[str, Any]:
    """Predicted and gold rows: in all, and the mean of a story."""
    usable = _usable(results)
    predicted, gold = (sum(len(getattr(one, side)) for one in usable) for side in ("pred_counts", "gold_counts"))
    return {
        "stories": len(usable),
        "predicted": predicted,
        "gold": gold,
        "predicted_per_story": _share(predicted, len(usable)),
        "gold_per_story": _share(gold, len(usable)),
    }


def accuracy_by_category(results: Sequence[Stage2Result]) -> dict[str, dict[str, float | None]]:
    """{dimension: {category: accuracy}}, plain means over the stories of a category (paper, table 10).

    Cells whose gold label is outside its closed set are left out.
    """
    found: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in DIMENSIONS}
    for result in _usable(results):
        for name, cells in result.right().items():
            if cells:
                found[name][result.category].append(sum(cells) / len(cells))
    return {
        name: {category: sum(groups[category]) / len(groups[category]) for category in sorted(groups)}
        for name, groups in found.items()
    }


def _bucket(dimension: str, label: str) -> str:
    return MISSING if not label else label if label in LEGAL[dimension] else ILLEGAL


def confusions(results: Sequence[Stage2Result]) -> dict[str, dict[str, dict[str, int]]]:
    """{dimension: {gold label: {predicted label: rows}}} with every legal label, `missing` and `illegal`, in display order.

    Cells whose gold label is outside its closed set are left out.
    """
    counts: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in DIMENSIONS}
    for result in _usable(results):
        for name, gold, said in result.columns():
            counts[name].update(zip(gold, said, strict=True))
    return {name: _table(name, found) for name, found in counts.items()}


def _table(dimension: str, counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    values = SCHEMA[dimension].values
    table = {gold: dict.fromkeys((*values, MISSING, ILLEGAL), 0) for gold in values}
    for (gold, said), rows in counts.items():
        if gold in table:
            table[gold][_bucket(dimension, said)] += rows
    return table


def confusion(results: Sequence[Stage2Result], dimension: str) -> dict[str, dict[str, int]]:
    """One dimension's table of `confusions`."""
    return confusions(results)[dimension]


def label_distribution(results: Sequence[Stage2Result], dimension: str) -> dict[str, dict[str, int]]:
    """{label: {"gold", "predicted"}}: how often each label stands in the gold rows and was predicted for them."""
    return distribution_of(confusion(results, dimension))


def distribution_of(table: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """`label_distribution` from a dimension's confusion."""
    labels = next(iter(table.values()))
    return {
        label: {"gold": sum(table.get(label, {}).values()), "predicted": sum(row[label] for row in table.values())}
        for label in labels
    }


def unusable_share(results: Sequence[Stage1Result | Stage2Result]) -> dict[str, Any]:
    """How many stories have no usable answer, and why (paper, table 12); stories without gold rows do not count."""
    asked = [one for one in results if one.unusable != NO_GOLD]
    reasons = Counter(one.unusable for one in asked if one.unusable)
    return {
        "stories": len(asked),
        "unusable": reasons.total(),
        "share": _share(reasons.total(), len(asked)),
        "reasons": dict(sorted(reasons.items())),
    }
