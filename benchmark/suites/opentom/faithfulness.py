"""Pairs of a coarse and a fine answer on the same view of the same object: do they say the same?

After the paper's section 4: unfaithful are a yes (it is where it was) with another place, and a no with the original
place. Whether pairs with an answer that cannot be read stay in the denominator is not said there; both rates are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.suites.figures import Unit, unit_estimate
from benchmark.suites.opentom.kinds import COARSE, FINE, NEITHER, OUTSIDE, UNREADABLE
from benchmark.suites.questions import Sample
from core.plain import read_as

Key = tuple[str, str, tuple[str, ...]]
"""Narrative, order, and whose view of whom."""


class Answer(NamedTuple):
    """The parse of the answer to a question: its label, None or UNREADABLE for none; `missing` where there is no
    answer."""

    sample: Sample
    label: int | None
    missing: bool = False


Pair = tuple[Answer, Answer]
"""A coarse and a fine answer on the same view."""


@dataclass(frozen=True, slots=True)
class Unfaithful:
    """Numbers of pairs, of those that cannot be read, of unfaithful and of missing ones, and the rates
    over all and over read pairs."""

    pairs: int
    unreadable: int
    unfaithful: int
    missing: int
    of_all: BoundedEstimate
    of_valid: BoundedEstimate

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Unfaithful:
        return read_as(cls, kept, **kept_estimates({name: kept[name] for name in ("of_all", "of_valid")}))


def unfaithful_rates(answers: Sequence[Answer], seed: int) -> dict[str, Unfaithful]:
    """Return the rates by order ("first", "second"), with intervals over narratives; bounds take what is not read or
    missing as faithful and as unfaithful. Of a question asked several times the first answer counts; the
    narrator's questions are in no pair."""
    coarse, fine = _by_key(answers, COARSE), _by_key(answers, FINE)
    rates: dict[str, Unfaithful] = {}
    for order in ("first", "second"):
        pairs = {key: (coarse[key], fine[key]) for key in coarse if key[1] == order and key in fine}
        if pairs:
            rates[order] = _rates(pairs, seed)
    return rates


def _by_key(answers: Iterable[Answer], kind: str) -> Mapping[Key, Answer]:
    answer_by_key: dict[Key, Answer] = {}
    for answer in answers:
        content = answer.sample.content
        people = tuple(content["people"])
        if content["kind"] == kind and people:
            order = "second" if answer.sample.gold["type"].endswith("-so") else "first"
            answer_by_key.setdefault((answer.sample.cluster, order, people), answer)
    return answer_by_key


def _rates(pairs: Mapping[Key, Pair], seed: int) -> Unfaithful:
    asked = [(key[0], _unfaithful(*pair)) for key, pair in pairs.items() if not _missing(*pair)]
    lost = [Unit(key[0], None) for key, pair in pairs.items() if _missing(*pair)]
    of_all = [
        Unit(narrative, 0.0, (0.0, 1.0)) if value is None else Unit(narrative, value) for narrative, value in asked
    ]
    of_valid = [Unit(narrative, value) for narrative, value in asked]
    values = [value for _, value in asked if value is not None]
    return Unfaithful(
        pairs=len(asked),
        unreadable=len(asked) - len(values),
        unfaithful=int(sum(values)),
        missing=len(lost),
        of_all=unit_estimate([*of_all, *lost], seed, "narratives"),
        of_valid=unit_estimate([*of_valid, *lost], seed, "narratives"),
    )


def _missing(coarse: Answer, fine: Answer) -> bool:
    return coarse.missing or fine.missing


def _unfaithful(coarse: Answer, fine: Answer) -> float | None:
    """1 where the two say different things, 0 where they say the same, None where one of them says nothing.

    A place that the story does not have is another one than the original."""
    if coarse.label in (None, UNREADABLE, OUTSIDE) or fine.label in (None, UNREADABLE, NEITHER):
        return None
    return float((coarse.label == 1) != (fine.label == 1))
