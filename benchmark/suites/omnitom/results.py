"""Results of one story's answers, in either parse: the material of every metric and analysis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotation.domain.schema import WORLD
from benchmark.domain.matched_rows import F1, METRICS
from benchmark.domain.report_rows import averages, six
from benchmark.suites.omnitom.data import Record
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.parsing.answers import PredictedRow
from benchmark.suites.omnitom.parsing.official import ExtractionRow
from benchmark.suites.omnitom.parsing.values import fold, repaired
from core.messages import gettext_noop
from core.plain import Json
from core.statistics import harmonic
from judge.domain.calibration.tables import share
from judge.domain.text import normalise_space

ORDERS = ("0", "1", "2+")
ACTORS = gettext_noop("actors")
ROLES = (WORLD, ACTORS)
"""The narrated facts, held by the special actor, and everything that a character or a group holds (paper, section
3)."""

KINDS = {"order": ORDERS, "role": ROLES}
KIND_HEADS = {"order": gettext_noop("order"), "role": gettext_noop("actor role")}
"""Names of KINDS in headings."""


def order_bucket(order: str) -> str:
    """Return one of `ORDERS`, "" for what is not an order; a bucket is its own bucket."""
    if order in ORDERS:
        return order
    if not order.isdecimal():
        return ""
    return ORDERS[min(int(order), 2)] if len(order) < 10 else ORDERS[-1]


@lru_cache(maxsize=8192)
def role_of(actor: str) -> str:
    """Return one of `ROLES`, "" without an actor."""
    name = fold(actor)
    return "" if not name else WORLD if name == WORLD else ACTORS


@dataclass(frozen=True, slots=True)
class Stage1Result:
    """Match counts of the predicted rows and of the gold rows of a story, in table order; None where nobody judged the
    row."""

    story_id: int
    category: str
    pred_counts: tuple[int | None, ...]
    gold_counts: tuple[int | None, ...]
    gold_orders: tuple[str, ...]
    unreadable: str = ""
    """The reason why the repaired parse has no estimate. The official one counts such a story 0."""
    # Order buckets and roles (see KINDS), empty where they are not known.
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
        return sum((count or 0) > 0 for count in self.pred_counts)

    @property
    def gold_matched(self) -> int:
        return sum((count or 0) > 0 for count in self.gold_counts)

    def kept(self) -> Json:
        """Return what a database row keeps of a judgement; `stage1_of` reads it. Only the extraction has the kinds of
        the predicted rows."""
        counts = {"pred": list(self.pred_counts), "gold": list(self.gold_counts)}
        return {**counts, "orders": list(self.pred_orders), "roles": list(self.pred_roles)}


@dataclass(frozen=True, slots=True)
class Stage2Result:
    """Gold labels of each gold row of a story, in the order of the scheme's dimensions, and what was predicted for it:
    None without a row, "" without a label."""

    story_id: int
    category: str
    gold: tuple[Labels, ...]
    predicted: tuple[Labels | None, ...]
    unreadable: str = ""
    roles: tuple[str, ...] = ()
    """The roles of the gold rows, empty where they are not known."""
    scheme: Scheme = OMNITOM_SCHEME

    @property
    def paired(self) -> int:
        return sum(labels is not None for labels in self.predicted)

    def right(self) -> dict[str, list[bool]]:
        """Return whether each cell is right, by dimension; cells whose gold label is outside its closed set are left
        out."""
        pairs = [(gold, read or self.scheme.nothing) for gold, read in zip(self.gold, self.predicted, strict=True)]
        return {
            key: [gold[at] == read[at] for gold, read in pairs if gold[at] in self.scheme.legal[key]]
            for at, key in enumerate(self.scheme.keys)
        }

    def kept(self) -> Json:
        """Return what a database row keeps of a labelling; `stage2_of` reads it."""
        return {"predicted": [row and list(row) for row in self.predicted]}


def kinds_of(rows: Iterable[PredictedRow | ExtractionRow]) -> dict[str, list[str]]:
    """Return the order buckets and roles of predicted rows."""
    pairs = [(order_bucket(row.order), role_of(row.actor)) for row in rows]
    return {"orders": [order for order, _ in pairs], "roles": [role for _, role in pairs]}


def stage1_of(record: Record, kept: Mapping[str, Any], *, mended: bool = False, unreadable: str = "") -> Stage1Result:
    """Return the result of {"pred", "gold"[, "orders", "roles"]}, match counts and kinds of predicted rows, in the
    repaired (`mended`) or official parse."""
    gold, roles = _gold(record, mended)
    return Stage1Result(
        record.story_id,
        record.category,
        pred_counts=tuple(kept["pred"]),
        gold_counts=tuple(kept["gold"]),
        gold_orders=tuple(map(record.scheme.order_of, gold)),
        unreadable=unreadable,
        pred_orders=tuple(kept.get("orders", ())),
        gold_roles=roles,
        pred_roles=tuple(kept.get("roles", ())),
    )


def stage2_of(
    record: Record, labels: Iterable[Sequence[str] | None], *, mended: bool = False, unreadable: str = ""
) -> Stage2Result:
    """Return the result of the labels predicted for each gold row that the parse has."""
    gold, roles = _gold(record, mended)
    predicted = tuple(None if row is None else tuple(row) for row in labels)
    return Stage2Result(record.story_id, record.category, gold, predicted, unreadable, roles, record.scheme)


def _gold(record: Record, mended: bool) -> tuple[tuple[Labels, ...], tuple[str, ...]]:
    """Return (labels, roles) of the gold rows of a parse."""
    rows = record.shown_rows if mended else record.rows
    labels = tuple(repaired_labels(row.labels, record.scheme) if mended else row.labels for row in rows)
    return labels, tuple(role_of(row.actor) for row in rows)


def repaired_labels(labels: Labels, scheme: Scheme) -> Labels:
    return tuple(repaired(key, label, scheme) for key, label in zip(scheme.keys, labels, strict=True))


def with_reasons(by_group: Mapping[str, Json | None], reasons: Mapping[str, str]) -> Json:
    """Return {GROUP: figures or None…[, reason: {GROUP: sentence}]}, the figures of one parse and why a metric group
    has none."""
    return {**by_group, **({"reason": dict(reasons)} if reasons else {})}


# --- official figures (specification "OmniToM scoring", section 6)
# Story figures are rounded to six decimals first and averaged afterwards, which moves the last digit. Every value is a
# text, as in official output; shares are fractions from 0 to 1.

STAGE2_SHARES = OMNITOM_SCHEME.shares
STAGE1_COLUMNS = ("story_id", "story_category", "pred_total", "gt_total", "pred_matched", "gt_matched", *METRICS)
STAGE2_COLUMNS = ("story_id", "story_category", "pairs", "matched_pairs", *STAGE2_SHARES)


def stage1_metrics(results: Sequence[Stage1Result]) -> Json:
    """Return {overall, by_category, stories} of extraction. `overall` also has `f1_category_mean`, the figure that the
    paper's table 3 prints: the plain mean of the categories' F1."""
    rows = []
    for result in results:
        totals, matched = (len(result.pred_counts), len(result.gold_counts)), (result.pred_matched, result.gold_matched)
        precision, recall = map(share, matched, totals)
        shares = map(six, (precision, recall, harmonic(precision, recall)))
        values = (result.story_id, normalise_space(result.category), *totals, *matched, *shares)
        rows.append((result.category, dict(zip(STAGE1_COLUMNS, map(str, values), strict=True))))
    return {**averages(rows, METRICS, F1), "stories": [row for _, row in rows]}


def stage2_metrics(results: Sequence[Stage2Result]) -> Json:
    """Return the figures of labelling, like `stage1_metrics` without the mean of categories. A row that was not
    predicted and an empty label are wrong."""
    rows = []
    for result in results:
        correct, pairs = [0] * len(DIMENSIONS), len(result.gold)
        for gold, predicted in zip(result.gold, result.predicted, strict=True):
            for at, label in enumerate(predicted or ()):
                correct[at] += bool(label) and label == gold[at]
        accuracies = [share(count, pairs) for count in correct]
        shares = map(six, (sum(accuracies) / len(accuracies), *accuracies))
        values = (result.story_id, normalise_space(result.category), pairs, result.paired, *shares)
        rows.append((result.category, dict(zip(STAGE2_COLUMNS, map(str, values), strict=True))))
    return {**averages(rows, STAGE2_SHARES), "stories": [row for _, row in rows]}
