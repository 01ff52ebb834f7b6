"""One suite's models in order, with intervals, and the groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.domain.anchoring.estimates import RESAMPLES
from benchmark.domain.inference.aligned import Aligned
from benchmark.domain.inference.bootstrap import mean_estimates, method
from benchmark.domain.inference.groups import letters
from benchmark.domain.inference.paired import ALPHA, flips_for, out_of_reach, paired_differences


def leaderboard(
    aligned: Aligned,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    alpha: float = ALPHA,
    categories: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """{models, pairs, method, seed, resamples, flips, tests, alpha, too_few}, ready for JSON.

    `models`, best first: {model, value, n, interval, group[, reason]}; `group` are letters, None without a score. Models
    that share a letter are not shown to differ: Holm-adjusted p of their difference on common stories above `alpha`.
    `pairs` as in `paired_differences`, the higher-ranked model first, with `categories` in each category too: the letters
    rest on the overall differences, adjusted over all `tests`; `too_few`: see `out_of_reach`.
    """
    ranked = aligned.best_first()
    scores = mean_estimates(ranked.scores, seed=seed, resamples=resamples)
    pairs = paired_differences(ranked, seed=seed, resamples=resamples, categories=categories)
    scored = [model for model, one in zip(ranked.models, scores, strict=True) if one["value"] is not None]
    apart = [(one["first"], one["second"]) for one in pairs if not one["category"] and differs(one, alpha)]
    group = letters(scored, apart)
    rules = {"seed": seed, "resamples": resamples, "flips": flips_for(len(pairs)), "alpha": alpha}
    tests = sum(one["p"] is not None for one in pairs)
    return {
        "models": [
            {"model": model, **one, "group": group.get(model)} for model, one in zip(ranked.models, scores, strict=True)
        ],
        "pairs": pairs,
        "method": _method(**rules, tests=tests, by_category=any(one["category"] for one in pairs)),
        **rules,
        "tests": tests,
        "too_few": out_of_reach(len(ranked.stories), tests, alpha),
    }


def differs(pair: dict[str, Any], alpha: float = ALPHA) -> bool:
    """Whether a pair of `paired_differences` is shown to differ."""
    return pair["p_adjusted"] is not None and pair["p_adjusted"] <= alpha


def _method(*, seed: int, resamples: int, flips: int, alpha: float, tests: int, by_category: bool) -> str:
    family = "all pairs, over all stories and in each category" if by_category else "all pairs"
    return (
        f"{method(seed=seed, resamples=resamples)}; differences on common stories, two-sided sign-flip test over stories "
        f"({flips:,} patterns, all of them for few stories), Holm's correction over {family} ({tests:,} tests), level {alpha:g}"
    )
