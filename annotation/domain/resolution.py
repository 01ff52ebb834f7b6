"""How votes become a gold label: pure rules, versioned.

Rule 1 (OmniToM, section 4 and appendix B.2: three annotators, majority vote or expert adjudication), for any overlap
from 2 to 9: all votes equal is *unanimous*; one label with more than half of the votes that the overlap asks for is a
*majority*, unless the project demands unanimity for the dimension; else the cell is *open* for adjudication. With fewer
votes than the overlap asks for it is *pending*: nothing is settled early, so that nobody can tell from a settled
cell how the others voted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

RULE_VERSION = "1"
OVERLAP_RANGE = range(2, 10)


class Outcome(StrEnum):
    PENDING = "pending"
    OPEN = "open"
    MAJORITY = "majority"
    UNANIMOUS = "unanimous"


@dataclass(frozen=True, slots=True)
class Resolution:
    """`label` is empty unless settled; `agreement` is the largest share of one label, None without votes."""

    outcome: Outcome
    label: str
    agreement: float | None


def resolve(labels: Sequence[str], *, overlap: int, demand_unanimity: bool = False) -> Resolution:
    """Settles one cell from its votes (withdrawn votes left out, any order).

    Raises ValueError where `overlap` is outside 2 to 9.
    """
    if overlap not in OVERLAP_RANGE:
        raise ValueError(f"The overlap is {overlap}; expected 2 to 9.")
    if not labels:
        return Resolution(Outcome.PENDING, "", None)
    (label, most), *_ = Counter(labels).most_common(1)
    agreement = most / len(labels)
    if len(labels) < overlap:
        return Resolution(Outcome.PENDING, "", agreement)
    if most == len(labels):
        return Resolution(Outcome.UNANIMOUS, label, agreement)
    if most * 2 > len(labels) and not demand_unanimity:
        return Resolution(Outcome.MAJORITY, label, agreement)
    return Resolution(Outcome.OPEN, "", agreement)


def resolve_without_one(others: Sequence[str], *, overlap: int, demand_unanimity: bool = False) -> Resolution:
    """Settles one cell as if one of its annotators had not voted: rule 1 for one annotator fewer than `overlap`.

    What is left of an overlap of two is one vote, which settles nothing.
    """
    if overlap - 1 not in OVERLAP_RANGE:
        return Resolution(Outcome.PENDING, "", resolve(others, overlap=overlap).agreement)
    return resolve(others, overlap=overlap - 1, demand_unanimity=demand_unanimity)
