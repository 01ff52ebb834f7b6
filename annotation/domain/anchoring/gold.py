from __future__ import annotations

from annotation.domain.anchoring.estimates import RESAMPLES, Ints, Share, estimates, method, numbered
from annotation.domain.anchoring.report import effect


def accuracy_on(
    story: Ints, suggested: Ints, gold_all: Ints, gold_blind: Ints, *, seed: int, resamples: int = RESAMPLES
) -> dict:
    """Accuracy of the suggesting model on gold from blind votes only, beside its accuracy on all gold.

    One row a cell with a suggestion, every array of shape (C,); -1 where the gold label is undefined. `all_gold` and
    `blind_gold` count every cell that has the one or the other gold label. `both` compares the two on the cells that
    have both, since cells that blind votes resolve may be the easier ones: `difference` is all minus blind, and
    `effect` says whether its interval excludes 0.
    """
    codes, stories = numbered(story)
    has_all, has_blind = gold_all >= 0, gold_blind >= 0
    both = has_all & has_blind

    def share(gold: Ints, cells, empty: str) -> Share:
        return Share.of(codes, stories, suggested == gold, cells, empty)

    quantities = {
        "all_gold": share(gold_all, has_all, "no gold labels"),
        "blind_gold": share(gold_blind, has_blind, "no gold labels from blind votes"),
        "all": share(gold_all, both, "no cells with both gold labels"),
        "blind": share(gold_blind, both, "no cells with both gold labels"),
    }
    rules = {"seed": seed, "resamples": resamples}
    found = estimates(quantities, {"difference": ("all", "blind")}, paired={"difference"}, stories=stories, **rules)
    compared = {name: found[name] for name in ("all", "blind", "difference")}
    return {
        "all_gold": found["all_gold"],
        "blind_gold": found["blind_gold"],
        "both": compared | {"cells": int(both.sum()), **effect(found["difference"])},
        "method": method(**rules),
        **rules,
    }
