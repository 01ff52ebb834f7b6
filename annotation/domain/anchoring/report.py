"""The effect of suggestions on votes: the shown arm against the blind one, and votes before and after a reveal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.domain.anchoring.arms import Arm
from annotation.domain.anchoring.estimates import Estimate, Ints, Median, Quantity, Share, estimates, numbered
from annotation.domain.anchoring.randomisation import DRAWS, randomisation_p
from annotation.domain.anchoring.votes import Bools, Votes
from core.language import gettext_noop
from core.statistics import ALPHA, FEWEST, RESAMPLES, holm, method

DIFFERENCES = {
    "difference": ("acceptance", "blind_agreement"),
    "seen_difference": ("seen_acceptance", "blind_agreement"),
    "time_difference": ("shown_ms", "blind_ms"),
    "reveal_difference": ("after", "before"),
}
PAIRED = {"reveal_difference"}
NO_CHANCE = gettext_noop("no vote on a cell that could have been drawn into either arm")


def anchoring_report(
    votes: Votes, *, seed: int, resamples: int = RESAMPLES, gold: Ints | None = None
) -> dict[str, Any]:
    """Overall, by dimension, by annotator and by the model that suggested; ready for JSON.

    An estimate is {value, n, stories, interval[, reason]}, shares from 0 to 1, times in milliseconds. `difference` is
    the share of votes that are the suggestion in the shown arm minus that in the blind arm, as the arms were drawn
    (intention to treat); `as_seen` leaves out votes of the shown arm that were cast without the suggestion in sight.
    `p` is that of `randomisation_p` and `p_adjusted` Holm's over the rows of a table; `effect` says whether it is at
    most 5 % (None with `effect_reason` where there is no test), and `largest` is the largest shift that the interval
    does not exclude. `time.difference` is shown minus blind. `reveal` has agreement with the suggestion before and
    after it, and the shares that moved toward it or away from it. Votes without a drawn arm are counted and otherwise
    left out.

    `gold` (shape (cells,), indexed by `votes.cell`, -1 undefined) adds acceptance in the shown arm where the suggestion
    is right and where it is wrong; it must not come from votes in the shown arm, which would agree with themselves.
    """
    rules = {"seed": seed, "resamples": resamples}

    def row(part: Votes) -> dict[str, Any]:
        return _row(part, gold, **rules)

    def grouped(name: str) -> list[dict[str, Any]]:
        return _judged([{name: value, **row(part)} for value, part in votes.by(name)])

    return {
        "overall": _judged([row(votes)])[0],
        "by_dimension": grouped("dimension"),
        "by_annotator": grouped("annotator"),
        "by_source": grouped("source"),
        "method": _method(**rules),
        "fewest_stories": FEWEST,
        "draws": DRAWS,
        **rules,
    }


def _method(*, seed: int, resamples: int) -> str:
    return gettext_noop(
        f"shifts: randomisation test, arms drawn anew as they were drawn, {DRAWS:,} times, seed {seed}, level "
        f"{ALPHA:.0%}; Holm's correction over the rows of each table, the line over all votes being a test of its "
        f"own; sizes: {method(seed=seed, unit='stories', resamples=resamples)}"
    )


def _judged(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one table with `p_adjusted` and `effect`."""
    adjusted = holm([row["p"] for row in rows])
    return [
        row | {"p_adjusted": p, "effect": None if p is None else p <= ALPHA}
        for row, p in zip(rows, adjusted, strict=True)
    ]


def _row(votes: Votes, gold: Ints | None, *, seed: int, resamples: int) -> dict[str, Any]:
    drawn = votes.where(~votes.in_arm(Arm.NONE))
    story, stories = numbered(drawn.story)
    quantities = _arms(drawn, story, stories) | _reveal(drawn, story, stories)
    if gold is not None:
        quantities |= _by_correctness(drawn, gold[drawn.cell], story, stories)
    results = estimates(quantities, DIFFERENCES, paired=PAIRED, stories=stories, seed=seed, resamples=resamples)
    row = {
        "votes": len(votes),
        "stories": stories,
        "counts": {arm.value or "none": int(votes.in_arm(arm).sum()) for arm in Arm},
        **{name: results[name] for name in ("acceptance", "blind_agreement", "difference")},
        "as_seen": {
            "unseen": int((drawn.in_arm(Arm.SHOWN) & ~drawn.seen).sum()),
            "acceptance": results["seen_acceptance"],
            "difference": results["seen_difference"],
        },
        **_tested(drawn, results["difference"], seed),
        "largest": _largest(results["difference"]),
        "time": {name: results[name] for name in ("shown_ms", "blind_ms")} | {"difference": results["time_difference"]},
        "reveal": {name: results[name] for name in ("before", "after", "toward", "away")}
        | {"difference": results["reveal_difference"]},
    }
    if gold is not None:
        row["acceptance_by_correctness"] = {name: results[name] for name in ("right", "wrong")}
    return row


def _tested(votes: Votes, difference: Estimate, seed: int) -> dict[str, Any]:
    p = randomisation_p(votes, seed=seed)
    if p is not None:
        return {"p": p}
    return {"p": None, "effect_reason": NO_CHANCE if difference["value"] is not None else difference["reason"]}


def _largest(difference: Estimate) -> dict[str, Any]:
    """Return {value[, reason]}: the largest shift, in either direction, that the interval does not exclude."""
    if difference["interval"] is None:
        return {"value": None, "reason": difference["reason"]}
    return {"value": max(map(abs, difference["interval"]))}


def _arms(votes: Votes, story: Ints, stories: int) -> dict[str, Quantity]:
    takes = votes.label == votes.suggested
    is_shown, is_blind = votes.in_arm(Arm.SHOWN), votes.in_arm(Arm.BLIND)

    def share(arm: Bools, empty: str) -> Share:
        return Share.of(story, stories, takes, arm, empty)

    def time(arm: Bools, missing: str) -> Median:
        return Median.of(story[arm], stories, votes.duration_ms[arm], missing)

    return {
        "acceptance": share(is_shown, gettext_noop("no votes in the shown arm")),
        "seen_acceptance": share(is_shown & votes.seen, gettext_noop("no votes with the suggestion in sight")),
        "blind_agreement": share(is_blind, gettext_noop("no votes in the blind arm")),
        "shown_ms": time(is_shown, gettext_noop("no timed votes in the shown arm")),
        "blind_ms": time(is_blind, gettext_noop("no timed votes in the blind arm")),
    }


def _reveal(votes: Votes, story: Ints, stories: int) -> dict[str, Quantity]:
    revealed = votes.in_arm(Arm.REVEAL) & (votes.first_label >= 0)
    before, after = votes.first_label == votes.suggested, votes.label == votes.suggested
    hits = {"before": before, "after": after, "toward": after & ~before, "away": before & ~after}
    empty = gettext_noop("no votes with a label before the reveal")
    return {name: Share.of(story, stories, rows, revealed, empty) for name, rows in hits.items()}


def _by_correctness(votes: Votes, gold: Ints, story: Ints, stories: int) -> dict[str, Quantity]:
    takes = votes.label == votes.suggested
    has_gold = votes.in_arm(Arm.SHOWN) & (gold >= 0)
    right = votes.suggested == gold
    none_right = gettext_noop("no votes in the shown arm on a suggestion known to be right")
    none_wrong = gettext_noop("no votes in the shown arm on a suggestion known to be wrong")
    return {
        "right": Share.of(story, stories, takes, has_gold & right, none_right),
        "wrong": Share.of(story, stories, takes, has_gold & ~right, none_wrong),
    }
