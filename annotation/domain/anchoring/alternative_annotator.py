"""The alternative annotator test: may a model stand in for an annotator? (Calderon et al. 2025, arXiv 2501.10970)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.messages import Sentence
from core.plain import WHERE_THERE_IS_ONE, Json

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FEWEST_ANNOTATORS = 3
# The smallest one-sided signed-rank p of n items is 2^-n; from 10 on it is below the strictest corrected level of up to
# ten annotators, 0.05 / (10 · 2.93).
FEWEST_ITEMS = 10
NORMAL_FROM = 30
ALL_SIGNS_TO = 13
FEW_ANNOTATORS = Sentence(
    "the test needs at least {fewest_annotators} different annotators with {fewest_items} comparable items each",
    fewest_annotators=FEWEST_ANNOTATORS,
    fewest_items=FEWEST_ITEMS,
)
FEW_ITEMS = Sentence(
    "fewer than {fewest_items} items that the model and another annotator labelled too", fewest_items=FEWEST_ITEMS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstOthers:
    """The model against one annotator left out, by the place of their column and their name where they have one, over
    the `items` that both and somebody else labelled. Figures are None with a `reason` where these are too few;
    `p_corrected` and `model_wins` also where too few annotators were tested."""

    annotator: int
    name: str = ""
    items: int
    advantage: float | None = None
    human_advantage: float | None = None
    test: str | None = None
    p: float | None = None
    p_corrected: float | None = None
    model_wins: bool | None = None
    reason: str | None = None

    def as_json(self) -> Json:
        """{annotator (the name, or the place), items, advantage, human_advantage, test, p[, p_corrected,
        model_wins][, reason]}: an annotator who was tested without a correction has neither of its two."""
        names = ("items", "advantage", "human_advantage", "test", "p")
        corrected = {"p_corrected": self.p_corrected, "model_wins": self.model_wins}
        return {
            "annotator": self.name or self.annotator,
            **{name: getattr(self, name) for name in names},
            **(corrected if self.reason or self.p_corrected is not None else {}),
            **({"reason": self.reason} if self.reason else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeAnnotator:
    """The outcome of the test; the last figures are None with a `reason` where too few annotators were `tested`."""

    epsilon: float
    q: float
    annotators: Sequence[AgainstOthers]
    tested: int
    winning_rate: float | None = None
    advantage: float | None = None
    passes: bool | None = None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def alternative_annotator_test(
    labels: Ints, model: Ints, *, epsilon: float = 0.15, q: float = 0.05, names: Sequence[str] = ()
) -> AlternativeAnnotator:
    """Test whether the model represents the other annotators as well as each annotator does, left out one at a time.

    `labels` has shape (items, annotators), `model` (items,); -1 where missing; `names` are those of the annotators,
    where the outcome is to have them. Pass blind votes only. On every item that annotator j, the model and at least one
    other annotator labelled, the model's and j's label are scored by the share of the other annotators who chose it;
    `advantage` ρ^f is the share of items where the model scores at least as high, `human_advantage` ρ^h where j does
    (ties count for both). One-sided test of ρ^f > ρ^h − ε: t-test from 30 items on, Wilcoxon's signed-rank test below;
    false discovery rate `q` (Benjamini–Yekutieli). `winning_rate` ω is the share of tested annotators whom the model
    beats, `advantage` the mean of their ρ^f; the model `passes` from ω = 0.5 on. Annotators with too few items are
    listed with a reason and not tested; with fewer than three tested ones ω, ρ and `passes` are None with a reason.

    The test takes items as independent. Cells of one story are not, so its p-values are on the low side. The paper's ε:
    0.2 against experts, 0.15 skilled annotators, 0.1 crowd workers. Raises ValueError where ε is not in [0, 1) or the
    shapes do not match.
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"Epsilon is {epsilon}; expected 0 or more and below 1.")
    if labels.ndim != 2 or model.shape != labels.shape[:1]:
        raise ValueError(f"Labels of shape {labels.shape} do not match model labels of shape {model.shape}.")
    annotators = range(labels.shape[1])
    rows = [
        _against(labels, model, annotator, name, epsilon)
        for annotator, name in zip(annotators, names or [""] * len(annotators), strict=True)
    ]
    tested = sum(row.reason is None for row in rows)
    if tested < FEWEST_ANNOTATORS:
        return AlternativeAnnotator(epsilon=epsilon, q=q, annotators=rows, tested=tested, reason=FEW_ANNOTATORS)
    rows = _corrected(rows, q)
    winning_rate = float(np.mean([row.model_wins for row in rows if row.model_wins is not None]))
    return AlternativeAnnotator(
        epsilon=epsilon,
        q=q,
        annotators=rows,
        tested=tested,
        winning_rate=winning_rate,
        advantage=float(np.mean([row.advantage for row in rows if row.advantage is not None])),
        passes=winning_rate >= 0.5,
    )


def _corrected(rows: Sequence[AgainstOthers], q: float) -> list[AgainstOthers]:
    """Return the rows, those tested with their corrected p and whether the model wins."""
    from scipy.stats import false_discovery_control

    corrected = iter(false_discovery_control([row.p for row in rows if row.p is not None], method="by"))
    return [
        row if row.p is None else replace(row, p_corrected=float(p := next(corrected)), model_wins=bool(p <= q))
        for row in rows
    ]


def wins(labels: Ints, model: Ints, annotator: int) -> tuple[Bools, Bools, Bools]:
    """Return (items that the annotator, the model and somebody else labelled, where of these the model scores at least
    as high as the annotator, where the annotator at least as high as the model); shapes (items,), (used,), (used,)."""
    others = np.delete(labels, annotator, axis=1)
    left_out = labels[:, annotator]
    use = (left_out >= 0) & (model >= 0) & (others >= 0).any(axis=1)
    # Both shares have the same denominator, so counts compare exactly where shares could differ by rounding.
    of_model, of_human = ((others[use] == chosen[use, None]).sum(axis=1) for chosen in (model, left_out))
    return use, of_model >= of_human, of_human >= of_model


def _against(labels: Ints, model: Ints, annotator: int, name: str, epsilon: float) -> AgainstOthers:
    _, model_wins, human_wins = wins(labels, model, annotator)
    if len(model_wins) < FEWEST_ITEMS:
        return AgainstOthers(annotator=annotator, name=name, items=len(model_wins), reason=FEW_ITEMS)
    test, p = _one_sided(human_wins.astype(float) - model_wins, epsilon)
    return AgainstOthers(
        annotator=annotator,
        name=name,
        items=len(model_wins),
        advantage=float(model_wins.mean()),
        human_advantage=float(human_wins.mean()),
        test=test,
        p=p,
    )


def _one_sided(difference: Floats, epsilon: float) -> tuple[str, float]:
    """Return test and p-value of: the human's wins minus the model's are below ε on average."""
    from scipy.stats import ttest_1samp, wilcoxon

    if len(difference) < NORMAL_FROM:
        if not (difference != epsilon).any():
            return "wilcoxon", 1.0
        if len(difference) <= ALL_SIGNS_TO:
            return "wilcoxon", signed_rank_p(difference - epsilon)
        return "wilcoxon", float(wilcoxon(difference - epsilon, alternative="less").pvalue)
    if np.ptp(difference) == 0:
        return "t", float(difference[0] >= epsilon)
    return "t", float(ttest_1samp(difference, epsilon, alternative="less").pvalue)


def signed_rank_p(difference: Floats) -> float:
    """Return the exact one-sided p of Wilcoxon's signed-rank test, ties or not: the share of all ways to give signs to
    the ranks whose positive ones sum to no more. Zeros are left out. Equal to SciPy's, which takes a second for 13
    items as it ranks each way anew."""
    from scipy.stats import rankdata

    difference = difference[difference != 0]
    ranks = rankdata(abs(difference))
    signs = np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks)) & 1
    # Ranks are whole or halves: their sums are exact.
    return float(np.mean(signs @ ranks <= ranks[difference > 0].sum()))
