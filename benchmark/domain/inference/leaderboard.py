"""The ranking of one suite's models, with intervals, and the groups that cannot be told apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from benchmark.domain.inference.cases import Cases
from benchmark.domain.inference.paired import Pair, PairedDifference, paired_differences
from core.messages import Sentence, clauses, gettext_noop, word
from core.plain import WHERE_THERE_IS_ONE
from core.statistics import (
    ALPHA,
    FEWEST,
    RESAMPLES,
    SHARE,
    Estimate,
    Floats,
    Sums,
    beyond_reach,
    by_cluster,
    caution,
    few,
    flips_for,
    highest_estimate,
    mean_estimates,
    mean_of,
    method,
    resampled_means,
    tails,
)


def letters(models: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The letters of each model, `models` best first, `a` being the group that reaches highest.

    `different` are the pairs shown to differ; a pair that could not be tested is not among them and so shares a letter.
    """
    rank = {model: at for at, model in enumerate(models)}
    apart = {frozenset((rank[first], rank[second])) for first, second in different}
    alike = (max(b for b in range(a, len(models)) if frozenset((a, b)) not in apart) for a in range(len(models)))
    reach = list(accumulate(alike, max))
    starts = [at for at, end in enumerate(reach) if not at or end > reach[at - 1]]
    named = {}
    for model, at in rank.items():
        groups = [_name(group) for group, start in enumerate(starts) if start <= at <= reach[start]]
        # one letter, two side by side, or the first and the last of more
        named[model] = f"{groups[0]}–{groups[-1]}" if len(groups) > 2 else "".join(groups)
    return named


def _name(at: int) -> str:
    """a … z, then a2 … z2, so that letters run together can still be read."""
    turn, letter = divmod(at, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")


RANKS_FROM = 8
"""So many models have intervals of their ranks beside the letters, which say little then."""
NONE_SCORED = gettext_noop("no sample has a score")
LOST = gettext_noop(
    "not ranked: what judges or providers lost, in {lost} of {n} {samples}, is worth up to {points} points; "
    "ask for it again"
)
ALONE = gettext_noop("nobody to be compared with")


class Ahead(NamedTuple):
    """Lead of a model over another, p adjusted over all tests, and whether the two are shown to differ."""

    difference: float | None
    p_adjusted: float | None
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """A model in a ranking (`leaderboard`)."""

    model: str
    value: float | None
    """Its mean over `n` samples with missing answers at their worst."""
    n: int
    interval: Sequence[float] | None
    clusters: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    """The number of clusters that the interval rests on if these are more than one sample each."""
    interval_reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    best: float | None
    """Its mean with missing answers at their best."""
    missing: int
    lost: int
    """The number of samples without an answer, and of those that judges or providers lost."""
    rank: int | None = None
    ranks: Sequence[int] | None = None
    """The 95 % interval of the rank."""
    ranks_reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    group: str | None = None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    """The reason why there is no rank."""
    against: Mapping[str, Ahead] = field(default_factory=dict)
    """What it is ahead by of each model below it, over all samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Models, the best first, and their paired differences, with how both were computed (`leaderboard`). Without
    models nothing was."""

    models: Sequence[RankedModel] = ()
    pairs: Sequence[Pair] = ()
    method: str = ""
    seed: int = 0
    resamples: int = 0
    flips: int = 0
    alpha: float = ALPHA
    tests: int = 0
    no_letters: str = ""
    """The reason why there are no letters, "" if there are."""
    first: Estimate | None = None
    """The score of the first of several ranked models over what it answered, without the optimism of being the
    highest."""


def leaderboard(
    cases: Cases,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    alpha: float = ALPHA,
    categories: Mapping[int, str] | None = None,
    samples: str = "stories",
    unit: str = "stories",
) -> Ranking:
    """Return the ranking, models best first by their worst case.

    Models of which judges or providers lost too much (`cases.MOST_LOST`) have no rank, come last and are in no pair.
    Ranks have intervals from `RANKS_FROM` models on. Models without a common letter in `group` are shown to differ: see
    `Tested` and `letters`. `pairs` are as in `paired_differences`, the higher-ranked model first, with `categories` in
    each category too: the letters rest on the overall differences, adjusted over all `tests`. `samples` is what the
    reasons call what was asked about, `unit` what is resampled and whose signs are flipped.
    """
    ordered = cases.best_first()
    fits = ordered.ranks
    ranked, unranked = ordered[np.flatnonzero(fits).tolist()], ordered[np.flatnonzero(~fits).tolist()]
    rules = {"seed": seed, "resamples": resamples}
    pairs = paired_differences(ranked, **rules, categories=categories, unit=unit)
    tests = sum(pair.p is not None for pair in pairs)
    no_letters = ALONE if len(ranked.models) < 2 else beyond_reach(ranked.units, tests, unit, alpha)
    apart = [(pair.first, pair.second) for pair in pairs if not pair.category and pair.differs(alpha)]
    group = {} if no_letters else letters(ranked.models, apart)
    against: dict[str, dict[str, Ahead]] = {model: {} for model in ranked.models}
    for pair in pairs:
        if not pair.category:
            against[pair.first][pair.second] = Ahead(pair.value, pair.p_adjusted, pair.differs())
    too_few = len(ranked.models) >= RANKS_FROM and ranked.units < FEWEST
    intervals = _rank_intervals(ranked, **rules)
    models = []
    for model, rank, ends in zip(_models(ranked, unit, **rules), _ranks(ranked.worst), intervals, strict=True):
        placed = replace(model, rank=rank, ranks=ends, ranks_reason=few(unit) if too_few else None)
        models.append(replace(placed, group=group.get(model.model), against=against[model.model]))
    for model, points in zip(_models(unranked, unit, **rules), unranked.lost_score, strict=True):
        lost = {"lost": model.lost, "n": model.n, "samples": word(samples), "points": f"{100 * points:.1f}"}
        models.append(replace(model, reason=LOST.format(**lost)))
    return Ranking(
        models=models,
        pairs=pairs,
        method=_method(unit, pairs, ranked.units, tests, alpha, **rules),
        seed=seed,
        resamples=resamples,
        flips=flips_for(len(pairs)),
        alpha=alpha,
        tests=tests,
        no_letters=no_letters,
        first=_first(ranked, unit, **rules),
    )


def _first(cases: Cases, unit: str, *, seed: int, resamples: int) -> Estimate | None:
    """Return the score of the first model without the optimism of being chosen: the choice goes by the worst case, the
    score is of what was answered. None where there is no other."""
    if len(cases.models) < 2 or not cases.stories:
        return None
    answered, rows = np.isfinite(cases.answered), cases.clusters
    counts = by_cluster(answered.T.astype(float), rows)
    chosen_by = Sums(by_cluster(cases.worst.T, rows), by_cluster(np.ones_like(cases.worst.T), rows))
    printed = Sums(by_cluster(np.where(answered, cases.answered, 0.0).T, rows), counts)
    n = int(answered[0].sum())
    return highest_estimate(
        chosen_by, printed, n=n, scale=SHARE, empty=NONE_SCORED, unit=unit, seed=seed, resamples=resamples
    )


def fewest_units(tested: Sequence[PairedDifference], default: int = 0) -> tuple[int, int]:
    """Return the smallest numbers of clusters that a test rests on, over everything and within a category; `default`
    without a test over everything."""
    units = [(row.category, row.n if row.clusters is None else row.clusters) for row in tested if row.p is not None]
    overall = min((count for category, count in units if not category), default=default)
    return overall, min((count for category, count in units if category), default=overall)


def caution_text(fewest: tuple[int, int], unit: str) -> str:
    """Return what `caution` says of the tests over everything or, where only categories have so few, of theirs."""
    overall, of_category = fewest
    return caution(overall, unit) or caution(of_category, unit, gettext_noop("in categories with"))


def _models(cases: Cases, unit: str, *, seed: int, resamples: int) -> Iterator[RankedModel]:
    """Yield the score of each model with its interval, without a rank."""
    rules = {"seed": seed, "resamples": resamples}
    estimates = mean_estimates(cases.worst, scale=SHARE, unit=unit, empty=NONE_SCORED, clusters=cases.clusters, **rules)
    columns = zip(cases.models, estimates, mean_of(cases.best), cases.missing, cases.lost, strict=True)
    for model, estimate, best, missing, lost in columns:
        yield RankedModel(
            model=model,
            value=estimate.value,
            n=estimate.n,
            interval=estimate.interval,
            clusters=estimate.clusters,
            interval_reason=estimate.reason,
            best=float(best) if estimate.n else None,
            missing=int(missing),
            lost=int(lost),
        )


def _ranks(worst: Floats) -> list[int]:
    """1 for the highest mean; equal means share the better rank."""
    if not worst.size:
        return [1] * len(worst)
    means = np.round(mean_of(worst), 12)
    ranks: list[int] = (1 + (means > means[:, None]).sum(axis=1)).tolist()
    return ranks


def _rank_intervals(cases: Cases, *, seed: int, resamples: int) -> list[list[int] | None]:
    """Return [best, worst] of each model's rank in resamples of the stories, with the tails of the intervals of
    scores."""
    models = len(cases.models)
    if models < RANKS_FROM or cases.units < FEWEST:
        return [None] * models
    drawn = np.round(resampled_means(cases.worst.T, seed=seed, resamples=resamples, clusters=cases.clusters), 12)
    best = np.stack([1 + (drawn > column[:, None]).sum(axis=1) for column in drawn.T], axis=1)
    worst = np.stack([(drawn >= column[:, None]).sum(axis=1) for column in drawn.T], axis=1)
    tail = float(tails(np.array([cases.units]))[0])
    low = np.quantile(best, tail, axis=0, method="lower")
    high = np.quantile(worst, 1 - tail, axis=0, method="higher")
    return [list(ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def _method(
    unit: str, pairs: Sequence[Pair], units: int, tests: int, alpha: float, *, seed: int, resamples: int
) -> str:
    family = gettext_noop("all pairs")
    if any(pair.category for pair in pairs):
        family = Sentence("all pairs, over all {unit} and in each category", unit=word(unit))
    text = Sentence(
        "missing answers at their worst; {method}; paired differences, two-sided sign-flip test over "
        "{unit} ({flips} patterns, all of them for few {unit_2}), Holm's correction over {family} "
        "({tests} tests), level {alpha}",
        method=method(seed=seed, resamples=resamples, unit=unit),
        unit=word(unit),
        flips=f"{flips_for(len(pairs)):,}",
        unit_2=word(unit),
        family=family,
        tests=f"{tests:,}",
        alpha=f"{alpha:g}",
    )
    return clauses(text, caution_text(fewest_units(pairs, units), unit))
