"""Accuracy of a suggesting model, on all gold and on gold that no suggestion can have touched."""

import numpy as np

from annotation.domain.anchoring.estimates import Ints, estimates, numbered, share
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import FEWEST, RESAMPLES, method

FEWEST_BLIND_VOTES = 2
BLIND_RULE = Sentence(
    "a cell counts where at least {fewest_blind_votes} different annotators voted without having "
    "seen its suggestion and more than half of them chose the same label",
    fewest_blind_votes=FEWEST_BLIND_VOTES,
)


def gold_from_blind(labels: Ints) -> tuple[Ints, Ints]:
    """Return gold by `BLIND_RULE`, and on how many votes each cell could rest; both of shape (cells,).

    `labels` has shape (cells, annotators), -1 where an annotator gave no vote that the suggestion cannot have touched.
    The gold is -1 where there is none: a single vote is one person's opinion, and of two unlike ones neither is more
    than half. It is the rule of the gold labels themselves (more than half), on fewer votes.
    """
    votes = (labels >= 0).sum(axis=1)
    if not labels.size:
        return np.full(len(labels), -1), votes
    same = np.stack([((labels == column[:, None]) & (labels >= 0)).sum(axis=1) for column in labels.T], axis=1)
    first = same.argmax(axis=1)[:, None]
    most = np.take_along_axis(same, first, axis=1)[:, 0]
    settled = (votes >= FEWEST_BLIND_VOTES) & (2 * most > votes)
    return np.where(settled, np.take_along_axis(labels, first, axis=1)[:, 0], -1), votes


def blind_evidence(gold: Ints, votes: Ints) -> Json:
    """Return the cells and votes that gold from blind votes rests on, given what `gold_from_blind` returns: {rule,
    fewest_votes, cells, votes, votes_a_cell, cells_with_one_vote, cells_without_majority[, reason]}. `votes_a_cell` is
    the mean over the `cells` that have such gold, None with a `reason` where there are none."""
    has = gold >= 0
    cells, total = int(has.sum()), int(votes[has].sum())
    single, split = int((votes == 1).sum()), int(((votes >= FEWEST_BLIND_VOTES) & ~has).sum())
    reason = Sentence(
        "no cell has {fewest_blind_votes} agreeing votes cast without its suggestion in sight "
        "({single} have one such vote, {split} have more that do not agree); the share is given from "
        "one such cell on, its interval from {fewest} with such cells on",
        fewest_blind_votes=FEWEST_BLIND_VOTES,
        single=single,
        split=split,
        fewest=f"{FEWEST} stories",
    )
    return {
        "rule": BLIND_RULE,
        "fewest_votes": FEWEST_BLIND_VOTES,
        "cells": cells,
        "votes": total,
        "votes_a_cell": total / cells if cells else None,
        "cells_with_one_vote": single,
        "cells_without_majority": split,
        **({} if cells else {"reason": reason}),
    }


def accuracy_on(
    story: Ints, suggested: Ints, gold_all: Ints, gold_blind: Ints, *, seed: int, resamples: int = RESAMPLES
) -> Json:
    """Return the accuracy of one suggesting model on gold from blind votes only, beside its accuracy on all gold:
    {all_gold, blind_gold, both: {all, blind, difference, cells}, method, seed, resamples}.

    One row a cell with a suggestion, every array of shape (C,); -1 where the gold label is undefined. `all_gold` and
    `blind_gold` count every cell that has the one or the other gold label. `both` compares the two on the cells that
    have both, since cells that blind votes resolve may be the easier ones: `difference` is all minus blind.
    """
    story, stories = numbered(story)
    has_all, has_blind = gold_all >= 0, gold_blind >= 0
    both = has_all & has_blind
    right, right_blind = suggested == gold_all, suggested == gold_blind
    no_both = gettext_noop("no cells with both gold labels")
    quantities = {
        "all_gold": share(story, stories, right, has_all, gettext_noop("no gold labels")),
        "blind_gold": share(story, stories, right_blind, has_blind, gettext_noop("no gold labels from blind votes")),
        "all": share(story, stories, right, both, no_both),
        "blind": share(story, stories, right_blind, both, no_both),
    }
    differences = {"difference": ("all", "blind")}
    found = estimates(quantities, differences, paired={"difference"}, stories=stories, seed=seed, resamples=resamples)
    return {
        "all_gold": found["all_gold"],
        "blind_gold": found["blind_gold"],
        "both": {**{name: found[name] for name in ("all", "blind", "difference")}, "cells": int(both.sum())},
        "method": method(seed=seed, resamples=resamples, unit="stories"),
        "seed": seed,
        "resamples": resamples,
    }
