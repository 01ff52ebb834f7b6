"""Measure the error of scores, and the coverage of their intervals and bounds, when a judge leaves rows out.

The product scores simulated judgements whose truth is known.

Stories differ in length and in difficulty, and longer and harder ones hold more rows that match nothing. The judge
leaves rows out at random, or more often in long tables, or more often where a row matches nothing, or it stops before
the end of its second table.

    python bench/judging.py            # the table of docs/benchmarks.md
    python bench/judging.py --repetitions 100 --stories 20 50
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.domain.estimating import COMPLETE, StoryScore, report
from benchmark.domain.matched_rows import METRICS
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.repaired import stage1_report, stage1_score
from benchmark.suites.omnitom.results import Stage1Result
from benchmark.suites.reasons import NO_JUDGEMENT

SIZES = (4, 8, 16, 24, 40)
CATEGORIES = ("A", "B", "C")
CENSUS = 60_000
"""Stories over which the truth is the mean."""

Counts = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Skipping:
    """How a judge leaves rows out: with chance `always`, plus `long` at the longest table (less at shorter ones), plus
    `unmatched` where a row matches nothing; a table of more than half the longest is cut off with chance `cut`, and so
    is a whole judgement with chance `none`."""

    always: float = 0.0
    long: float = 0.0
    unmatched: float = 0.0
    cut: float = 0.0
    none: float = 0.0


JUDGES: Mapping[str, Skipping] = {
    "none": Skipping(),
    "at random": Skipping(always=0.05),
    "by length": Skipping(long=0.15, cut=0.1),
    "by difficulty": Skipping(always=0.02, unmatched=0.1),
    "by both": Skipping(always=0.01, long=0.08, unmatched=0.1, cut=0.1, none=0.03),
}


def judged_story(rng: Random, number: int) -> Stage1Result:
    """A story with every row judged. A hard one, and a long one, has fewer rows that match."""
    size, ease = rng.choice(SIZES), rng.gauss(0, 0.12)
    chance = min(0.95, max(0.05, 0.75 + ease - 0.25 * size / SIZES[-1]))
    sides = [tuple(int(rng.random() < chance) for _ in range(max(2, round(size * volume)))) for volume in (1.2, 1.0)]
    kinds = [tuple(rng.choice("01") for _ in side) for side in sides]
    category = CATEGORIES[number % len(CATEGORIES)]
    return Stage1Result(number, category, *sides, gold_orders=kinds[1], pred_orders=kinds[0])


def skipped(rng: Random, story: Stage1Result, judge: Skipping) -> Stage1Result:
    """Return what that judge leaves of a fully judged story."""
    sides = [_left(rng, side, judge) for side in (story.pred_counts, story.gold_counts)]
    size = len(story.gold_counts)
    if 2 * size > SIZES[-1] and rng.random() < judge.cut:
        kept = rng.randrange(size)
        sides[1] = sides[1][:kept] + (None,) * (size - kept)
    if rng.random() < judge.none * 2 * size / SIZES[-1] or set(sides[0] + sides[1]) == {None}:
        nothing = [(None,) * len(side) for side in sides]
        return replace(story, pred_counts=nothing[0], gold_counts=nothing[1], unreadable=NO_JUDGEMENT)
    return replace(story, pred_counts=sides[0], gold_counts=sides[1])


def _left(rng: Random, side: Counts, judge: Skipping) -> Counts:
    length = judge.long * len(side) / SIZES[-1]
    return tuple(
        None if rng.random() < judge.always + length + judge.unmatched * (not count) else count for count in side
    )


def asked_again(rng: Random, complete: Stage1Result, left: Stage1Result, answered: float = 0.8) -> Stage1Result:
    """After a follow-up that brings that share of the missing rows."""
    sides = [
        tuple(told if kept is None and rng.random() < answered else kept for told, kept in zip(*both, strict=True))
        for both in ((complete.pred_counts, left.pred_counts), (complete.gold_counts, left.gold_counts))
    ]
    unreadable = NO_JUDGEMENT if set(sides[0] + sides[1]) == {None} else ""
    return replace(left, pred_counts=sides[0], gold_counts=sides[1], unreadable=unreadable)


@cache
def truth(seed: int = 0, stories: int = CENSUS) -> float:
    """Mean F1 of fully judged stories."""
    rng = Random(seed)
    return mean(stage1_score(judged_story(rng, number)).estimate["f1"] for number in range(stories))


def sample(
    seed: int, stories: int, judge: Skipping
) -> tuple[list[Stage1Result], list[Stage1Result], list[Stage1Result]]:
    """Stories fully judged, as that judge leaves them, and after a follow-up."""
    rng = Random(seed)
    complete = [judged_story(rng, number) for number in range(stories)]
    left = [skipped(rng, story, judge) for story in complete]
    return complete, left, [asked_again(rng, *both) for both in zip(complete, left, strict=True)]


def bounded(results: Sequence[Stage1Result], metrics: Mapping[str, Any]) -> Iterator[tuple[float, Sequence[float]]]:
    """Yield (estimate, its bounds) at every level that has both: story, category, overall, and rows pooled by kind and
    MatchCount."""
    for row in (metrics["overall"], *metrics["by_category"], *metrics["stories"]):
        for name, (low, high) in row.get("bounds", {}).items():
            if row[name] is not None:
                yield row[name], (low, high)
    pooled = stage1_analyses(results, resamples=20)
    kinds = [share for kind in pooled["kinds"].values() for share in kind.values()]
    for share in (*kinds, *pooled["match_counts"]["shares"].values()):
        if share.value is not None and share.bounds:
            yield share.value, share.bounds


def is_within(value: float, ends: Sequence[float]) -> bool:
    """Return whether a value lies between two ends, but for the last digit of a double."""
    return ends[0] - 1e-12 <= value <= ends[1] + 1e-12


@dataclass(slots=True)
class Tally:
    """Results of the repetitions of one judge and number of stories: shares, and mean widths of intervals."""

    rows_missing: list[float]
    outside: int
    sample_held: list[bool]
    covered: list[bool]
    of_estimate: list[bool]
    after: list[bool]
    widths: list[float]
    widths_after: list[float]


def tallied(judge: Skipping, stories: int, repetitions: int, true: float, *, resamples: int = 400) -> Tally:
    tally = Tally([], 0, [], [], [], [], [], [])
    for seed in range(1, repetitions + 1):
        whole, left, again = sample(seed, stories, judge)
        metrics = stage1_report(left, seed=seed, resamples=resamples)
        overall = metrics["overall"]
        tally.outside += sum(not is_within(*bounds) for bounds in bounded(left, metrics))
        complete = stage1_report(whole, resamples=20)["overall"]["f1"]
        tally.sample_held.append(is_within(complete, overall["bounds"]["f1"]))
        rows = sum(len(story.pred_counts) + len(story.gold_counts) for story in left)
        tally.rows_missing.append(sum(map(sum, (story.unjudged for story in left))) / rows)
        tally.covered.append(is_within(true, overall["interval"]["f1"]))
        tally.widths.append(_width(overall))
        tally.of_estimate.append(is_within(true, _of_the_estimate(left, seed, resamples)))
        after = stage1_report(again, seed=seed, resamples=resamples)["overall"]
        tally.after.append(is_within(true, after["interval"]["f1"]))
        tally.widths_after.append(_width(after))
    return tally


def _width(row: Mapping[str, Any]) -> float:
    low, high = row["interval"]["f1"]
    return high - low


def _of_the_estimate(results: Sequence[Stage1Result], seed: int, resamples: int) -> Sequence[float] | None:
    """The interval that looks at the judged rows alone, as if nothing were missing."""
    judged = [
        replace(score, worst=score.estimate, best=score.estimate, unjudged=COMPLETE) for score in _scored(results)
    ]
    return report(judged, METRICS, seed=seed, resamples=resamples).overall.interval_of("f1")


def _scored(results: Sequence[Stage1Result]) -> list[StoryScore]:
    return [score for score in map(stage1_score, results) if score.estimate is not None]


HEAD = (
    "| rows left out | stories | share of rows | estimates outside their bounds | bounds hold the sample's F1 | "
    "interval holds the truth | interval of the judged rows alone | mean width | after a follow-up: holds | mean "
    "width |"
)


def _line(name: str, stories: int, tally: Tally) -> str:
    per_cent: Callable[[Sequence[float]], str] = lambda values: f"{100 * mean(values):.1f} %"  # noqa: E731
    cells = (
        name, stories, per_cent(tally.rows_missing), tally.outside, per_cent(tally.sample_held),
        per_cent(tally.covered),
        per_cent(tally.of_estimate), f"{100 * mean(tally.widths):.1f}", per_cent(tally.after),
        f"{100 * mean(tally.widths_after):.1f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--stories", type=int, nargs="+", default=[10, 21, 100])
    options = parser.parse_args()
    true = truth()
    print(
        f"True F1 {100 * true:.2f}; {options.repetitions:,} samples each.\n\n{HEAD}\n{'|---' * HEAD.count(' | ')}|---|"
    )
    for name, judge in JUDGES.items():
        for stories in options.stories:
            print(_line(name, stories, tallied(judge, stories, options.repetitions, true)), flush=True)


if __name__ == "__main__":
    main()
