"""The effect of suggestions on votes: the shown arm against the blind one, and votes before and after a reveal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.domain.anchoring.arms import DRAWS, Arm, Bools, Votes, randomisation_p
from annotation.domain.anchoring.estimates import Estimate, Ints, Median, Quantity, Share, estimates, numbered
from core.messages import Sentence, gettext_noop
from core.plain import WHERE_THERE_IS_ONE, Json, plain
from core.statistics import ALPHA, FEWEST, RESAMPLES, holm, method

DIFFERENCES = {
    "difference": ("acceptance", "blind_agreement"),
    "seen_difference": ("seen_acceptance", "blind_agreement"),
    "time_difference": ("shown_ms", "blind_ms"),
    "reveal_difference": ("after", "before"),
}
PAIRED = {"reveal_difference"}
NO_CHANCE = gettext_noop("no vote on a cell that could have been drawn into either arm")


@dataclass(frozen=True, slots=True, kw_only=True)
class AsSeen:
    """The shown arm without its `unseen` votes, which were cast without the suggestion in sight."""

    unseen: int
    acceptance: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest shift, in either direction, that the interval does not exclude; `reason` says why it is None."""

    value: float | None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @classmethod
    def of(cls, difference: Estimate) -> Largest:
        if difference.interval is None:
            return cls(None, difference.reason)
        return cls(max(map(abs, difference.interval)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Medians in milliseconds; `difference` is shown minus blind."""

    shown_ms: Estimate
    blind_ms: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """Agreement with the suggestion before and after it appeared, and the shares that moved toward it or away."""

    before: Estimate
    after: Estimate
    toward: Estimate
    away: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ByCorrectness:
    """Acceptance in the shown arm where the suggestion is right, and where it is wrong."""

    right: Estimate
    wrong: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsCompared:
    """Effect of suggestions on some votes.

    `difference` is the share of votes that are the suggestion in the shown arm minus that in the blind arm, as the arms
    were drawn (intention to treat). `p` is that of `randomisation_p` and `p_adjusted` Holm's over the rows of a table;
    `effect` says whether that is at most 5 % (None with `effect_reason` where there is no test).
    """

    votes: int
    stories: int
    counts: Mapping[str, int]
    acceptance: Estimate
    blind_agreement: Estimate
    difference: Estimate
    as_seen: AsSeen
    p: float | None
    effect_reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    largest: Largest
    time: Times
    reveal: Reveal
    acceptance_by_correctness: ByCorrectness | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    p_adjusted: float | None
    effect: bool | None


@dataclass(frozen=True, slots=True)
class Part:
    """The votes of one dimension, annotator or model, by its name."""

    name: str
    arms: ArmsCompared


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoringReport:
    """The arms compared overall, by dimension, by annotator and by the model that suggested."""

    overall: ArmsCompared
    by_dimension: Sequence[Part]
    by_annotator: Sequence[Part]
    by_source: Sequence[Part]
    method: str
    seed: int
    resamples: int

    def as_json(self) -> Json:
        """{overall, by_dimension, by_annotator, by_source, method, fewest_stories, draws, seed, resamples}; rows of a
        part have its name first, under what it is."""
        return {
            "overall": plain(self.overall),
            "by_dimension": _named("dimension", self.by_dimension),
            "by_annotator": _named("annotator", self.by_annotator),
            "by_source": _named("source", self.by_source),
            "method": self.method,
            "fewest_stories": FEWEST,
            "draws": DRAWS,
            "seed": self.seed,
            "resamples": self.resamples,
        }


def _named(kind: str, parts: Sequence[Part]) -> list[Json]:
    return [{kind: part.name, **plain(part.arms)} for part in parts]


def anchoring_report(
    votes: Votes, *, seed: int, resamples: int = RESAMPLES, gold: Ints | None = None
) -> AnchoringReport:
    """Compare the arms overall, by dimension, by annotator and by the model that suggested.

    Shares are from 0 to 1, times in milliseconds. `as_seen` leaves out votes of the shown arm that were cast without
    the suggestion in sight. Votes without a drawn arm are counted and otherwise left out.

    `gold` (shape (cells,), indexed by `votes.cell`, -1 undefined) adds acceptance in the shown arm where the suggestion
    is right and where it is wrong; it must not come from votes in the shown arm, which would agree with themselves.
    """

    def compared(votes_of_rows: Sequence[Votes]) -> list[ArmsCompared]:
        return _compared(votes_of_rows, gold, seed=seed, resamples=resamples)

    def grouped(name: str) -> list[Part]:
        by_name = list(votes.by(name))
        rows = compared([part for _, part in by_name])
        return [Part(value, row) for (value, _), row in zip(by_name, rows, strict=True)]

    return AnchoringReport(
        overall=compared([votes])[0],
        by_dimension=grouped("dimension"),
        by_annotator=grouped("annotator"),
        by_source=grouped("source"),
        method=_method(seed=seed, resamples=resamples),
        seed=seed,
        resamples=resamples,
    )


def _method(*, seed: int, resamples: int) -> str:
    return Sentence(
        "shifts: randomisation test, arms drawn anew as they were drawn, {draws} times, seed {seed}, "
        "level {alpha}; Holm's correction over the rows of each table, the line over all votes being "
        "a test of its own; sizes: {method}",
        draws=f"{DRAWS:,}",
        seed=seed,
        alpha=f"{ALPHA:.0%}",
        method=method(seed=seed, unit="stories", resamples=resamples),
    )


def _compared(votes_of_rows: Sequence[Votes], gold: Ints | None, *, seed: int, resamples: int) -> list[ArmsCompared]:
    """Return the rows of one table, which are tested together."""
    drawn = [votes.where(~votes.in_arm(Arm.NONE)) for votes in votes_of_rows]
    ps = [randomisation_p(votes, seed=seed) for votes in drawn]
    results = [_estimates(votes, gold, seed=seed, resamples=resamples) for votes in drawn]
    return [_row(*of_row) for of_row in zip(votes_of_rows, drawn, results, ps, holm(ps), strict=True)]


def _estimates(drawn: Votes, gold: Ints | None, *, seed: int, resamples: int) -> dict[str, Estimate]:
    story, stories = numbered(drawn.story)
    quantities = _arms(drawn, story, stories) | _reveal(drawn, story, stories)
    if gold is not None:
        quantities |= _by_correctness(drawn, gold[drawn.cell], story, stories)
    return estimates(quantities, DIFFERENCES, paired=PAIRED, stories=stories, seed=seed, resamples=resamples)


def _row(
    votes: Votes, drawn: Votes, results: Mapping[str, Estimate], p: float | None, p_adjusted: float | None
) -> ArmsCompared:
    difference = results["difference"]
    return ArmsCompared(
        votes=len(votes),
        stories=numbered(drawn.story)[1],
        counts={arm.value or "none": int(votes.in_arm(arm).sum()) for arm in Arm},
        acceptance=results["acceptance"],
        blind_agreement=results["blind_agreement"],
        difference=difference,
        as_seen=AsSeen(
            unseen=int((drawn.in_arm(Arm.SHOWN) & ~drawn.seen).sum()),
            acceptance=results["seen_acceptance"],
            difference=results["seen_difference"],
        ),
        p=p,
        effect_reason=_no_test(difference) if p is None else None,
        largest=Largest.of(difference),
        time=Times(shown_ms=results["shown_ms"], blind_ms=results["blind_ms"], difference=results["time_difference"]),
        reveal=_of_reveal(results),
        acceptance_by_correctness=_of_correctness(results),
        p_adjusted=p_adjusted,
        effect=None if p_adjusted is None else p_adjusted <= ALPHA,
    )


def _no_test(difference: Estimate) -> str | None:
    return NO_CHANCE if difference.value is not None else difference.reason


def _of_reveal(results: Mapping[str, Estimate]) -> Reveal:
    shares = {name: results[name] for name in ("before", "after", "toward", "away")}
    return Reveal(**shares, difference=results["reveal_difference"])


def _of_correctness(results: Mapping[str, Estimate]) -> ByCorrectness | None:
    return ByCorrectness(right=results["right"], wrong=results["wrong"]) if "right" in results else None


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
