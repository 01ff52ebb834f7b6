"""Pairs of a coarse and a fine answer on the same view of the same object: do they say the same?

After the paper's section 4: unfaithful are a yes (it is where it was) with another place, and a no with the original place. Whether pairs
with an answer that cannot be read stay in the denominator is not said there; both rates are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.suites.contract import Sample
from benchmark.suites.opentom.kinds import COARSE, FINE, NEITHER, UNREAD

Key = tuple[str, str, tuple[str, ...]]
"""Narrative, order, and whose view of whom."""


def unfaithful_rates(answers: Sequence[tuple[Sample, int | None]]) -> dict[str, dict[str, Any]]:
    """Return by order ("first", "second") the numbers of pairs, of those that cannot be read and of unfaithful ones, and the rates over all and over
    valid pairs. Of a question asked several times the first answer counts; the narrator's questions are in no pair."""
    coarse, fine = _by_key(answers, COARSE), _by_key(answers, FINE)
    rates: dict[str, dict[str, Any]] = {}
    for order in ("first", "second"):
        pairs = [(coarse[key], fine[key]) for key in coarse if key[1] == order and key in fine]
        if pairs:
            rates[order] = _rates(pairs)
    return rates


def _by_key(answers: Iterable[tuple[Sample, int | None]], kind: str) -> Mapping[Key, int | None]:
    found: dict[Key, int | None] = {}
    for sample, label in answers:
        people = tuple(sample.content["people"])
        if sample.content["kind"] == kind and people:
            order = "second" if sample.gold["type"].endswith("-so") else "first"
            found.setdefault((sample.cluster, order, people), label)
    return found


def _rates(pairs: Sequence[tuple[int | None, int | None]]) -> dict[str, Any]:
    valid = [pair for pair in pairs if pair[0] not in (None, UNREAD) and pair[1] not in (None, UNREAD, NEITHER)]
    unfaithful = sum((coarse == 1) != (fine == 1) for coarse, fine in valid)
    return {
        "pairs": len(pairs),
        "unread": len(pairs) - len(valid),
        "unfaithful": unfaithful,
        "of_all": unfaithful / len(pairs),
        "of_valid": unfaithful / len(valid) if valid else None,
    }
