"""Shares of the spread of scores that lie between clusters, conditions and repetitions, from a mixed model."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.statistics.bootstrap import Clusters, Floats, numbered
from core.statistics.intervals import FEWEST

_NONE = 1e-12


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The shares of the variance of `n` scores that lie between clusters, conditions and repetitions, which sum to 1:
    None for conditions where there are not two, and for all where the scores cannot tell, for a `reason`."""

    n: int
    clusters: float | None = None
    conditions: float | None = None
    repetitions: float | None = None
    reason: str = ""


def variance_split(
    scores: Sequence[float], clusters: Sequence[Any], conditions: Sequence[Any] | None = None
) -> VarianceSplit:
    """Return how many scores there are, and what their variance consists of.

    A linear mixed model with a random intercept for each cluster; what its clusters leave of the scores is repetitions.
    With two or more `conditions`, such as wordings, each has a fixed effect and a random one within each cluster:
    their share is the variance of the fixed effects plus that of the random ones. Estimated by restricted maximum
    likelihood: in closed form where every cluster has as many scores, under each condition too (Searle, Casella and
    McCulloch 1992, "Variance Components", 3.8 and 4.3), else by `MixedLM` of statsmodels.
    """
    values, places = np.asarray(scores, dtype=float), _numbers(clusters)
    levels = None if conditions is None or len(set(conditions)) < 2 else _numbers(conditions)
    if reason := _reason(values, places, levels):
        return VarianceSplit(len(values), reason=reason)
    cells = places if levels is None else places * (levels.max() + 1) + levels
    even = len(set(Counter(cells.tolist()).values())) == 1
    if levels is None:
        parts = _balanced(values, places) if even else _mixed(values, places)
    else:
        whole = even and len(np.unique(cells)) == (places.max() + 1) * (levels.max() + 1)
        parts = (_balanced_crossed if whole else _crossed)(values, places, levels)
    total = sum(parts.values())
    shares = {name: part / total for name, part in parts.items()}
    return VarianceSplit(len(values), shares["clusters"], shares.get("conditions"), shares["repetitions"])


def _numbers(names: Sequence[Any]) -> Clusters:
    codes = numbered(list(names))
    return np.arange(len(names)) if codes is None else codes


def _reason(values: Floats, places: Clusters, levels: NDArray[np.int64] | None) -> str:
    if len(np.unique(places)) < FEWEST:
        return f"a split needs at least {FEWEST} clusters"
    cells = places if levels is None else places * (levels.max() + 1) + levels
    if len(np.unique(cells)) == len(values):
        return "nothing was asked twice"
    return "every score is the same" if np.ptp(values) < _NONE else ""


def _balanced(values: Floats, places: Clusters) -> dict[str, float]:
    table = values[np.argsort(places, kind="stable")].reshape(places.max() + 1, -1)
    clusters, turns = table.shape
    within = float(((table - table.mean(axis=1, keepdims=True)) ** 2).sum() / (clusters * (turns - 1)))
    between = float((table.mean(axis=1) - values.mean()).var() * turns * clusters / (clusters - 1))
    if between <= within:  # at the edge: all spread is repetitions'
        return {"clusters": 0.0, "repetitions": float(values.var(ddof=1))}
    return {"clusters": (between - within) / turns, "repetitions": within}


def _mixed(values: Floats, places: Clusters) -> dict[str, float]:
    from statsmodels.regression.mixed_linear_model import MixedLM  # two seconds to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a variance at nought, which is an answer here
        fitted = MixedLM(values, np.ones((len(values), 1)), places).fit(reml=True)
    return {"clusters": max(0.0, float(np.asarray(fitted.cov_re)[0, 0])), "repetitions": float(fitted.scale)}


def _balanced_crossed(values: Floats, places: Clusters, levels: NDArray[np.int64]) -> dict[str, float]:
    """Each cluster has as many scores under each condition. The mean squares of repetitions, of conditions within
    clusters and of clusters are expected to rise in this order; where they do not, those that are out of order are
    pooled (Thompson and Moore 1963, "Non-negative estimates of variance components", Technometrics 5(4)), which is
    where the likelihood has its edge."""
    table = values[np.lexsort((levels, places))].reshape(places.max() + 1, levels.max() + 1, -1)
    clusters, conditions, turns = table.shape
    cells, rows, columns = table.mean(axis=2), table.mean(axis=(1, 2)), table.mean(axis=(0, 2))
    left = cells - rows[:, None] - columns[None, :] + values.mean()
    squares = [
        float(((table - cells[:, :, None]) ** 2).sum()),
        float(turns * (left**2).sum()),
        float(turns * conditions * ((rows - values.mean()) ** 2).sum()),
    ]
    freedoms = [clusters * conditions * (turns - 1), (clusters - 1) * (conditions - 1), clusters - 1]
    noise, within, between = _rising(squares, freedoms)
    return {
        "clusters": (between - within) / (turns * conditions),
        "conditions": float(columns.var()) + (within - noise) / turns,
        "repetitions": noise,
    }


def _rising(squares: Sequence[float], freedoms: Sequence[int]) -> list[float]:
    """Return the mean squares, neighbours pooled until none is below the one before."""
    pools: list[list[float]] = []
    for square, freedom in zip(squares, freedoms, strict=True):
        pools.append([square, freedom, 1])
        while len(pools) > 1 and pools[-1][0] / pools[-1][1] < pools[-2][0] / pools[-2][1]:
            last = pools.pop()
            pools[-1] = [mean + other for mean, other in zip(pools[-1], last, strict=True)]
    return [square / freedom for square, freedom, count in pools for _ in range(int(count))]


def _crossed(values: Floats, places: Clusters, levels: NDArray[np.int64]) -> dict[str, float]:
    from statsmodels.regression.mixed_linear_model import MixedLM

    data = {"score": values, "cluster": places, "level": levels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM.from_formula(
            "score ~ C(level)",
            groups="cluster",
            re_formula="1",
            vc_formula={"level": "0 + C(level)"},
            data=_frame(data),
        )
        fitted = model.fit(reml=True)
    effects = np.array([0.0, *fitted.fe_params[1:]])
    return {
        "clusters": max(0.0, float(np.asarray(fitted.cov_re)[0, 0])),
        "conditions": float(effects.var()) + max(0.0, float(fitted.vcomp[0])),
        "repetitions": float(fitted.scale),
    }


def _frame(data: Mapping[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(data)
