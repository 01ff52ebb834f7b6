"""The effect of suggestions on votes: the shown arm against the blind one, and votes before and after a reveal."""

from collections.abc import Sequence

from annotation.domain.anchoring.estimates import Bools, Quantity, estimates, median, numbered, share
from annotation.domain.anchoring.randomisation import DRAWS, Votes, randomisation_p
from annotation.domain.arms import Arm
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import ALPHA, FEWEST, RESAMPLES, holm, method

DIFFERENCES = {
    "difference": ("acceptance", "blind_agreement"),
    "seen_difference": ("seen_acceptance", "blind_agreement"),
    "time_difference": ("shown_ms", "blind_ms"),
    "reveal_difference": ("after", "before"),
}
NO_CHANCE = gettext_noop("no vote on a cell that could have been drawn into either arm")


def anchoring_report(votes: Votes, *, seed: int, resamples: int = RESAMPLES) -> Json:
    """Return {overall, by_dimension, by_annotator, by_source, method, fewest_stories, draws, seed, resamples}: each row
    is as `_row` makes it, those of a part with its name first, under what it is.

    Votes without a drawn arm are counted and otherwise left out. The rows of one table are tested together: Holm's
    correction is over them.
    """

    def rows(parts: Sequence[Votes]) -> list[Json]:
        drawn = [part.where(~part.in_arm(Arm.NONE)) for part in parts]
        ps = [randomisation_p(part, seed=seed) for part in drawn]
        tests = zip(ps, holm(ps), strict=True)
        return [_row(*of_row, seed, resamples) for of_row in zip(parts, drawn, tests, strict=True)]

    def table(kind: str) -> list[Json]:
        names, parts = zip(*votes.by(kind), strict=True) if getattr(votes, kind + "s") else ((), ())
        return [{kind: name, **row} for name, row in zip(names, rows(parts), strict=True)]

    sentence = Sentence(
        "shifts: randomisation test, arms drawn anew as they were drawn, {draws} times, seed {seed}, "
        "level {alpha}; Holm's correction over the rows of each table, the line over all votes being "
        "a test of its own; sizes: {method}",
        draws=f"{DRAWS:,}",
        seed=seed,
        alpha=f"{ALPHA:.0%}",
        method=method(seed=seed, unit="stories", resamples=resamples),
    )
    return {
        "overall": rows([votes])[0],
        **{f"by_{kind}": table(kind) for kind in ("dimension", "annotator", "source")},
        "method": sentence,
        "fewest_stories": FEWEST,
        "draws": DRAWS,
        "seed": seed,
        "resamples": resamples,
    }


def _row(votes: Votes, drawn: Votes, test: tuple[float | None, float | None], seed: int, resamples: int) -> Json:
    """Return the effect of suggestions on some votes.

    `difference` is the share of votes that are the suggestion in the shown arm minus that in the blind arm, as the arms
    were drawn (intention to treat); `as_seen` leaves out votes of the shown arm that were cast without the suggestion
    in sight. `largest` is the largest shift, in either direction, that the interval does not exclude. `p` is that of
    `randomisation_p` and `p_adjusted` Holm's over the rows of a table; `effect` says whether that is at most 5 % (None
    with `effect_reason` where there is no test). `time` are medians in milliseconds; `reveal` is agreement before and
    after the suggestion appeared, and the shares that moved toward it or away.
    """
    _, stories = numbered(drawn.story)
    found = estimates(
        _quantities(drawn), DIFFERENCES, paired={"reveal_difference"}, stories=stories, seed=seed, resamples=resamples
    )
    difference, (p, p_adjusted) = found["difference"], test
    ends = difference.interval
    no_test = NO_CHANCE if difference.value is not None else difference.reason
    return {
        "votes": len(votes.story),
        "stories": stories,
        "counts": {arm.value or "none": int(votes.in_arm(arm).sum()) for arm in Arm},
        "acceptance": found["acceptance"],
        "blind_agreement": found["blind_agreement"],
        "difference": difference,
        "as_seen": {
            "unseen": int((drawn.in_arm(Arm.SHOWN) & ~drawn.seen).sum()),
            "acceptance": found["seen_acceptance"],
            "difference": found["seen_difference"],
        },
        "p": p,
        **({"effect_reason": no_test} if p is None else {}),
        "largest": {"value": max(map(abs, ends))} if ends else {"value": None, "reason": difference.reason},
        "time": {**{name: found[name] for name in ("shown_ms", "blind_ms")}, "difference": found["time_difference"]},
        "reveal": {
            **{name: found[name] for name in ("before", "after", "toward", "away")},
            "difference": found["reveal_difference"],
        },
        "p_adjusted": p_adjusted,
        "effect": None if p_adjusted is None else p_adjusted <= ALPHA,
    }


def _quantities(votes: Votes) -> dict[str, Quantity]:
    story, stories = numbered(votes.story)
    takes, before = votes.label == votes.suggested, votes.first_label == votes.suggested
    shown, blind = votes.in_arm(Arm.SHOWN), votes.in_arm(Arm.BLIND)
    revealed = votes.in_arm(Arm.REVEAL) & (votes.first_label >= 0)

    def taken(rows: Bools, empty: str) -> Quantity:
        return share(story, stories, takes, rows, empty)

    def time(rows: Bools, empty: str) -> Quantity:
        return median(story[rows], stories, votes.duration_ms[rows], empty)

    moves = {"before": before, "after": takes, "toward": takes & ~before, "away": before & ~takes}
    no_reveal = gettext_noop("no votes with a label before the reveal")
    return {
        "acceptance": taken(shown, gettext_noop("no votes in the shown arm")),
        "seen_acceptance": taken(shown & votes.seen, gettext_noop("no votes with the suggestion in sight")),
        "blind_agreement": taken(blind, gettext_noop("no votes in the blind arm")),
        "shown_ms": time(shown, gettext_noop("no timed votes in the shown arm")),
        "blind_ms": time(blind, gettext_noop("no timed votes in the blind arm")),
        **{name: share(story, stories, rows, revealed, no_reveal) for name, rows in moves.items()},
    }
