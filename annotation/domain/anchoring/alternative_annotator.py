"""The alternative annotator test: may a model stand in for an annotator? As published (Calderon et al. 2025, arXiv
2501.10970), and over stories, as cells of one story are not independent.

A model that seldom fails, but then on a whole story, shows no such failure in few stories, and their spread knows
nothing of it. By the rule of three up to 1 − .05^(1/n) of all stories may be of a kind of which none is among n: the
model beats an annotator only if so many stories, all lost, would not make it as much worse as the hypothesis says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.messages import Sentence, gettext_noop
from core.plain import WHERE_THERE_IS_ONE, Json
from core.statistics import (
    FEWEST,
    SHARE,
    Estimate,
    Floats,
    estimate_of,
    few,
    linear_error,
    linear_freedom,
    ratios,
    unseen_share,
)

Ints = NDArray[np.int64]
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
NO_ITEMS = gettext_noop("no cells that a model and at least two annotators labelled blind")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeAnnotator:
    """The outcome of the test; the last figures are None with a `reason` where too few annotators were `tested`.

    Each of `annotators` is the model against one annotator left out: {annotator (the name, or the place of the column),
    items, advantage, human_advantage, test, p, p_corrected, model_wins}. With too few items its figures are None and it
    has a `reason`; without a correction it lacks the last two.
    """

    epsilon: float
    q: float
    annotators: Sequence[Json]
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
    from scipy.stats import false_discovery_control

    if not 0 <= epsilon < 1:
        raise ValueError(f"Epsilon is {epsilon}; expected 0 or more and below 1.")
    if labels.ndim != 2 or model.shape != labels.shape[:1]:
        raise ValueError(f"Labels of shape {labels.shape} do not match model labels of shape {model.shape}.")
    rows: list[Json] = []
    for place in range(labels.shape[1]):
        _, model_wins, human_wins = wins(labels, model, place)
        row: Json = dict.fromkeys(("annotator", "items", "advantage", "human_advantage", "test", "p"))
        row |= {"annotator": names[place] if names else place, "items": len(model_wins)}
        if len(model_wins) < FEWEST_ITEMS:
            row |= {"p_corrected": None, "model_wins": None, "reason": FEW_ITEMS}
        else:
            test, p = _one_sided(human_wins.astype(float) - model_wins, epsilon)
            shares = {"advantage": float(model_wins.mean()), "human_advantage": float(human_wins.mean())}
            row |= shares | {"test": test, "p": p}
        rows.append(row)
    tested = [row for row in rows if row["p"] is not None]
    outcome: Json = {"epsilon": epsilon, "q": q, "annotators": rows, "tested": len(tested)}
    if len(tested) < FEWEST_ANNOTATORS:
        return AlternativeAnnotator(**outcome, reason=FEW_ANNOTATORS)
    corrected = false_discovery_control([row["p"] for row in tested], method="by")
    for row, p in zip(tested, corrected, strict=True):
        row |= {"p_corrected": float(p), "model_wins": bool(p <= q)}
    winning_rate, advantage = (float(np.mean([row[name] for row in tested])) for name in ("model_wins", "advantage"))
    return AlternativeAnnotator(**outcome, winning_rate=winning_rate, advantage=advantage, passes=winning_rate >= 0.5)


def wins(labels: Ints, model: Ints, annotator: int) -> tuple[Bools, Bools, Bools]:
    """Return (items that the annotator, the model and somebody else labelled, where of these the model scores at least
    as high as the annotator, where the annotator at least as high as the model); shapes (items,), (used,), (used,)."""
    others = np.delete(labels, annotator, axis=1)
    left_out = labels[:, annotator]
    use = (left_out >= 0) & (model >= 0) & (others >= 0).any(axis=1)
    # Both shares have the same denominator, so counts compare exactly where shares could differ by rounding.
    of_model, of_human = ((others[use] == chosen[use, None]).sum(axis=1) for chosen in (model, left_out))
    return use, of_model >= of_human, of_human >= of_model


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


# --- over stories ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OverStories:
    """The test over stories. `advantage` is the mean over annotators of the share of cells where the model is at least
    as near to the others as they are; `winning_rate` the share of annotators that the model beats, None with a `reason`
    where too few annotators or stories make it."""

    advantage: Estimate
    winning_rate: float | None
    reason: str | None = None

    @property
    def passes(self) -> bool | None:
        """Return whether the model beats at least half of the annotators."""
        return None if self.winning_rate is None else self.winning_rate >= 0.5


def alternative_annotator_over_stories(
    published: AlternativeAnnotator, labels: Ints, model: Ints, story: Ints, *, seed: int
) -> OverStories:
    """Return the outcome of a `published` test of these labels, shape (items, annotators), and this model's, shape
    (items,), with the same hypotheses over stories. `story` numbers the story of each item from 0 on.

    Each hypothesis is a one-sided t test of the mean difference with a story-clustered standard error, and Benjamini
    and Yekutieli's correction is that of the published test. What no story shows is held against its own 5 %: it is one
    and the same risk for all annotators.
    """
    tested = [place for place, row in enumerate(published.annotators) if row["p"] is not None]
    sums = [story_sums(labels, model, place, story) for place in tested]
    advantage = _advantage(sums, seed)
    if published.winning_rate is None:
        return OverStories(advantage, None, published.reason)
    if min((cells > 0).sum() for cells, *_ in sums) < FEWEST:
        return OverStories(advantage, None, few("stories"))
    from scipy.stats import false_discovery_control

    corrected = false_discovery_control([clustered_p(each, published.epsilon) for each in sums], method="by")
    beaten = [
        max(float(p), unseen_p(each, published.epsilon)) <= published.q for p, each in zip(corrected, sums, strict=True)
    ]
    return OverStories(advantage, float(np.mean(beaten)))


def story_sums(labels: Ints, model: Ints, annotator: int, story: Ints) -> Floats:
    """Return what the model does in the place of one annotator, by story: the cells, those where the model is at least
    as near to the others, and those where the annotator is less those where the model is; shape (3, stories)."""
    use, of_model, of_human = wins(labels, model, annotator)
    sums = np.zeros((int(story.max(initial=-1)) + 1, 3))
    np.add.at(sums, story[use], np.stack([np.ones(len(of_model)), of_model, of_human.astype(float) - of_model], axis=1))
    return sums.T


def clustered_p(sums: Floats, epsilon: float) -> float:
    """Return the one-sided p of a mean difference below `epsilon`."""
    from scipy.special import stdtr

    cells, _, lost = sums
    share, n = lost.sum() / cells.sum(), int((cells > 0).sum())
    moves = (lost - share * cells)[cells > 0] / cells.sum() * (n / (n - 1)) ** 0.5
    error = linear_error(moves)
    return float(stdtr(linear_freedom(moves, n - 1), (share - epsilon) / error)) if error else float(share >= epsilon)


def unseen_p(sums: Floats, epsilon: float) -> float:
    """Return the chance that none of the stories is lost as a whole where so many of all are that the mean difference
    is `epsilon`."""
    cells, _, lost = sums
    mean = float(lost.sum() / cells.sum()) - epsilon
    return 1.0 if mean >= 0 else float((1 + mean / (1 - epsilon - mean)) ** int((cells > 0).sum()))


def _advantage(sums: Sequence[Floats], seed: int) -> Estimate:
    """Return the mean over annotators of the share of cells won. Its interval reaches as far as stories of a kind that
    was not seen may take it."""
    if not sums:
        return Estimate(None, 0, reason=NO_ITEMS)
    won_then_cells = np.stack([*(won for _, won, _ in sums), *(cells for cells, *_ in sums)], axis=1)
    used = won_then_cells[won_then_cells[:, len(sums) :].any(axis=1)]

    def mean_share(columns: Floats) -> Floats:
        means: Floats = ratios(*np.split(columns, 2, axis=1)).mean(axis=1)
        return means

    n = int(used[:, len(sums) :].sum())
    estimate = estimate_of(used, mean_share, n=n, scale=SHARE, unit="stories", empty=NO_ITEMS, seed=seed)
    if estimate.value is None or estimate.interval is None:
        return estimate
    unseen, (low, high) = unseen_share(len(used)), estimate.interval
    ends = [min(low, (1 - unseen) * estimate.value), max(high, estimate.value + unseen * (1 - estimate.value))]
    return Estimate(estimate.value, estimate.n, ends)
