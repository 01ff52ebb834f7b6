"""What the suggestion did to the votes: the shown arm against the blind one, and votes before and after a reveal."""

from __future__ import annotations

from annotation.domain.anchoring.arms import Arm
from annotation.domain.anchoring.estimates import (
    RESAMPLES,
    Ints,
    Median,
    Quantity,
    Share,
    estimates,
    few_stories,
    method,
    numbered,
)
from annotation.domain.anchoring.votes import Votes

# Simulated without an effect (98 votes a story, 20 % blind), the interval of the difference excludes 0 in 51 % of data
# sets of 2 stories, 15 % of 5, 12 % of 10 and 7 % of 21.
FEWEST_STORIES = 5
FEW_STORIES = few_stories(FEWEST_STORIES)

DIFFERENCES = {
    "difference": ("acceptance", "blind_agreement"),
    "time_difference": ("shown_ms", "blind_ms"),
    "reveal_difference": ("after", "before"),
}
PAIRED = {"reveal_difference"}


def anchoring_report(
    votes: Votes,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    gold: Ints | None = None,
    fewest_stories: int = FEWEST_STORIES,
) -> dict:
    """Overall, by dimension, by annotator and by the model that suggested; ready for JSON.

    An estimate is {value, n, stories, interval[, reason]}, shares from 0 to 1, times in milliseconds. `difference` is
    acceptance in the shown arm minus agreement with the suggestion in the blind arm; `effect` says whether its interval
    excludes 0 (None with `effect_reason` where that cannot be judged). `time.difference` is shown minus blind. `reveal`
    has agreement with the suggestion before and after it, and the shares that moved toward it or away from it.

    With few stories a percentile interval is too narrow: an estimate from fewer than `fewest_stories` has none, and no
    effect is judged; from five to twenty an effect is found somewhat too often. Votes without a drawn arm are counted
    and otherwise left out.

    `gold` (shape (cells,), indexed by `votes.cell`, -1 undefined) adds acceptance in the shown arm where the suggestion
    is right and where it is wrong; it must not come from votes in the shown arm, which would agree with themselves.
    """
    rules = {"seed": seed, "resamples": resamples}

    def row(part: Votes) -> dict:
        return _row(part, gold, fewest=fewest_stories, **rules)

    def grouped(name: str) -> list[dict]:
        return [{name: value, **row(part)} for value, part in votes.by(name)]

    return {
        "overall": row(votes),
        "by_dimension": grouped("dimension"),
        "by_annotator": grouped("annotator"),
        "by_source": grouped("source"),
        "method": f"{method(**rules)}; none from fewer than {fewest_stories} stories; not corrected for the number of "
        "dimensions, annotators and models",
        "fewest_stories": fewest_stories,
        **rules,
    }


def _row(votes: Votes, gold: Ints | None, *, seed: int, resamples: int, fewest: int) -> dict:
    drawn = votes.where(~votes.in_arm(Arm.NONE))
    story, stories = numbered(drawn.story)
    quantities = _arms(drawn, story, stories) | _reveal(drawn, story, stories)
    if gold is not None:
        quantities |= _by_correctness(drawn, gold[drawn.cell], story, stories)
    rules = {"stories": stories, "seed": seed, "resamples": resamples, "fewest": fewest}
    found = estimates(quantities, DIFFERENCES, paired=PAIRED, **rules)
    row = {
        "votes": len(votes),
        "stories": stories,
        "counts": {arm.value or "none": int(votes.in_arm(arm).sum()) for arm in Arm},
        **{name: found[name] for name in ("acceptance", "blind_agreement", "difference")},
        **effect(found["difference"]),
        "time": {name: found[name] for name in ("shown_ms", "blind_ms")} | {"difference": found["time_difference"]},
        "reveal": {name: found[name] for name in ("before", "after", "toward", "away")}
        | {"difference": found["reveal_difference"]},
    }
    if gold is not None:
        row["acceptance_by_correctness"] = {name: found[name] for name in ("right", "wrong")}
    return row


def _arms(votes: Votes, story: Ints, stories: int) -> dict[str, Quantity]:
    takes = votes.label == votes.suggested
    shown, blind = votes.in_arm(Arm.SHOWN), votes.in_arm(Arm.BLIND)

    def time(arm, name: str) -> Median:
        return Median.of(story[arm], stories, votes.duration_ms[arm], f"no timed votes in the {name} arm")

    return {
        "acceptance": Share.of(story, stories, takes, shown, "no votes in the shown arm"),
        "blind_agreement": Share.of(story, stories, takes, blind, "no votes in the blind arm"),
        "shown_ms": time(shown, "shown"),
        "blind_ms": time(blind, "blind"),
    }


def _reveal(votes: Votes, story: Ints, stories: int) -> dict[str, Quantity]:
    revealed = votes.in_arm(Arm.REVEAL) & (votes.first_label >= 0)
    before, after = votes.first_label == votes.suggested, votes.label == votes.suggested
    hits = {"before": before, "after": after, "toward": after & ~before, "away": before & ~after}
    empty = "no votes with a label before the reveal"
    return {name: Share.of(story, stories, rows, revealed, empty) for name, rows in hits.items()}


def _by_correctness(votes: Votes, gold: Ints, story: Ints, stories: int) -> dict[str, Quantity]:
    takes = votes.label == votes.suggested
    known = votes.in_arm(Arm.SHOWN) & (gold >= 0)
    right = votes.suggested == gold
    empty = "no votes in the shown arm on a suggestion known to be "
    return {
        "right": Share.of(story, stories, takes, known & right, empty + "right"),
        "wrong": Share.of(story, stories, takes, known & ~right, empty + "wrong"),
    }


def effect(difference: dict) -> dict:
    """{effect: does the interval exclude 0?}; None with `effect_reason` where there is no interval."""
    if difference["interval"] is None:
        return {"effect": None, "effect_reason": difference["reason"]}
    low, high = difference["interval"]
    return {"effect": low > 0 or high < 0}
