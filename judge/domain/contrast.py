"""Pairs that a judge is tested with: gold propositions beside rows that say the same, or by rule something else."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import Any

from annotation.domain.schema import WORLD
from core.messages import Sentence, gettext_noop, listed, noted, worded
from judge.domain.rewording import HAN, moved, negated, paraphrased
from judge.domain.text import key

PAIRS_OF_A_KIND = 3
"""Largest number of pairs of each kind in one call."""
Row = tuple[str, str]
"""(actor, belief)"""
Made = tuple[Row, Row]
"""(the row that was made, its gold row)"""


class Kind(StrEnum):
    """Way in which the predicted row of a pair was made from the gold row, by rule but for UNLIKE: that is another
    belief which the benchmark itself has beside it."""

    IDENTICAL = "identical"
    PARAPHRASE = "paraphrase"
    NEGATED = "negated"
    ACTOR = "actor"
    PLACE = "place"
    UNLIKE = "unlike"


BY_RULE = tuple(kind for kind in Kind if kind != Kind.UNLIKE)
"""The kinds that rules make of any gold."""
ALIKE = frozenset({Kind.IDENTICAL, Kind.PARAPHRASE})
"""The kinds that a judge should match; it should match none of the others."""
NAMES = {
    Kind.IDENTICAL: gettext_noop("identical"),
    Kind.PARAPHRASE: gettext_noop("paraphrase"),
    Kind.NEGATED: gettext_noop("negated"),
    Kind.ACTOR: gettext_noop("other actor"),
    Kind.PLACE: gettext_noop("other place or feeling"),
    Kind.UNLIKE: gettext_noop("the benchmark’s wrong belief"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    kind: Kind
    prediction: Row
    gold: Row


def contrast_calls(
    samples: Mapping[Any, Sequence[Row]],
    *,
    most: int,
    seed: int,
    least: int = 2,
    unlike: Mapping[Any, Sequence[Made]] = MappingProxyType({}),
) -> dict[Any, tuple[Pair, ...]]:
    """Return, by sample, the pairs of one call, of at most `most` samples; the same for the same seed and samples.

    A gold row serves once, and the kinds are kept level over all calls as far as the gold has material for them. A
    sample of which fewer than `least` pairs can be made is skipped. `unlike` are, by sample, rows that the benchmark
    has as another belief, each with its gold row.
    """
    rng, counts = Random(f"contrast {seed}"), Counter[Kind]()
    calls: dict[Any, tuple[Pair, ...]] = {}
    order = sorted(samples, key=str)
    rng.shuffle(order)
    for sample in order:
        if len(calls) == most:
            break
        contrast = _call(samples[sample], rng, counts, unlike.get(sample, ()))
        if len(contrast) >= least:
            calls[sample] = contrast
            counts.update(pair.kind for pair in contrast)
    return calls


def _call(rows: Sequence[Row], rng: Random, counts: Counter[Kind], unlike: Sequence[Made]) -> tuple[Pair, ...]:
    here: Counter[Kind] = Counter()
    pairs, used = [], set()
    for row in rng.sample(list(rows), len(rows)):
        if _key(row) in used or not all(map(str.strip, row)):
            continue
        used.add(_key(row))
        candidates = pairs_of(row, rows, rng) + [Pair(Kind.UNLIKE, made, gold) for made, gold in unlike if gold == row]
        free = [pair for pair in candidates if here[pair.kind] < PAIRS_OF_A_KIND]
        if free:
            order = list(Kind)[::-1]
            pair = min(free, key=lambda pair: (counts[pair.kind] + here[pair.kind], order.index(pair.kind)))
            pairs.append(pair)
            here[pair.kind] += 1
    return tuple(pairs)


def pairs_of(row: Row, rows: Sequence[Row], rng: Random) -> list[Pair]:
    """Return every pair that the rules can make of a gold row next to the others of its sample, at most one of a kind.

    A row that says something else is made only if its actor has no gold row, the source aside, that half of its words
    would fit.
    """
    actor, belief = row
    words = {word for _, text in rows for word in re.findall(r"\w+", text.lower())}
    named = {key(name): name for name, _ in rows}
    others = sorted(named.keys() - {WORLD, key(actor)})
    changed = {
        Kind.NEGATED: (actor, negated(belief)),
        # a fact of the world is no one's belief
        Kind.ACTOR: (named[rng.choice(others)] if others and key(actor) != WORLD else None, belief),
        Kind.PLACE: (actor, moved(belief, rng, words)),
    }
    made = [(kind, (who, text)) for kind, (who, text) in changed.items() if who and text]
    apart = []
    for kind, other in made:
        beside = [_content(text) for who, text in rows if key(who) == key(other[0]) and _key((who, text)) != _key(row)]
        own = _content(other[1])
        if not any(2 * len(own & there) >= len(own | there) for there in beside):
            apart.append(Pair(kind, other, row))
    alike = paraphrased(belief)
    same = [Pair(Kind.PARAPHRASE, (actor, alike), row)] if alike else []
    return [Pair(Kind.IDENTICAL, row, row), *same, *apart]


def _content(text: str) -> set[str]:
    """Return the longer words of a text, of Chinese each character."""
    words = re.findall(r"[^\W_]+", HAN.sub(" ", text.lower()))
    return {*HAN.findall(text), *(word for word in words if len(word) > 3)}


def _key(row: Row) -> Row:
    return key(row[0]), key(row[1]).rstrip(".。")


CONFIDENCE = 0.95
METHOD = gettext_noop("exact (Clopper–Pearson) 95 % intervals over pairs")


@dataclass(frozen=True, slots=True)
class Rate:
    """`right` of `n` pairs with an answer, `missing` without one. `rate` and `interval` are None if no pair has an
    answer."""

    kind: str
    name: str
    alike: bool
    right: int
    n: int
    missing: int
    rate: float | None
    interval: list[float] | None


def rates(judged: Iterable[tuple[str, int | None]]) -> list[Rate]:
    """Return a `Rate` for each kind, of pairs of a kind and the number of gold rows that the made row was matched with,
    None without an answer; a number from 1 on is a match. A kind that no rule makes has one if there are pairs of
    it."""
    right, answered, missing = Counter[str](), Counter[str](), Counter[str]()
    for kind, count in judged:
        if count is None:
            missing[kind] += 1
        else:
            answered[kind] += 1
            right[kind] += (count > 0) == (kind in ALIKE)
    results = []
    for kind in Kind:
        if kind in BY_RULE or answered[kind] or missing[kind]:
            n, share = answered[kind], right[kind] / answered[kind] if answered[kind] else None
            ends = list(_exact(right[kind], n)) if n else None
            results.append(Rate(kind.value, NAMES[kind], kind in ALIKE, right[kind], n, missing[kind], share, ends))
    return results


@lru_cache(maxsize=4096)
def _exact(right: int, n: int) -> tuple[float, float]:
    """Return the ends of the exact interval of a share. The search takes 3 ms, and a leaderboard shows the same
    hundreds of times."""
    from scipy.stats import binomtest

    interval = binomtest(right, n).proportion_ci(CONFIDENCE, method="exact")
    return float(interval.low), float(interval.high)


def summary_line(results: Sequence[Rate]) -> str:
    """Return the results in a line: "identical 3/3, negated 0/12 (2 unanswered), other actor –"."""

    def text(result: Rate) -> str:
        share = f"{result.right}/{result.n}" if result.n else "–"
        return noted(share, Sentence("{missing} unanswered", missing=result.missing)) if result.missing else share

    return listed(worded(result.name, text(result)) for result in results)
