"""Resolution of votes into gold labels: pure rules, each with its version. A project names the version that it follows.

Rule 1 (OmniToM, section 4 and appendix B.2: three annotators, majority vote or expert adjudication), for any overlap
from 2 to 9: all votes equal is *unanimous*; one label with more than half of the votes that the overlap asks for is a
*majority*, unless the project demands unanimity for the dimension; else the cell is *open* for adjudication. With fewer
votes than the overlap asks for it is *pending*: nothing is settled early, so that nobody can tell from a settled
cell how the others voted.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from core.messages import Sentence
from core.plain import Json


class GoldVote(NamedTuple):
    """A standing vote of a cell: `annotator` is the id of who cast it, `key` the idempotency key of the change."""

    annotator: int
    label: str
    key: str


def as_json(votes: Iterable[GoldVote]) -> list[Json]:
    """Return votes as a column keeps them."""
    return [{"annotator": annotator, "label": label, "key": key} for annotator, label, key in votes]


def from_json(rows: Iterable[Json]) -> list[GoldVote]:
    """Return the votes that a column keeps."""
    return [GoldVote(row["annotator"], row["label"], row["key"]) for row in rows]


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


class UnknownRule(ValueError):
    """Refusal of a rule version that this installation lacks; the message is one sentence."""


def largest_share(labels: Sequence[str]) -> float | None:
    """Return the largest share of one label among `labels`, from 0 to 1; None without labels."""
    return max(Counter(labels).values()) / len(labels) if labels else None


def _first_rule(labels: Sequence[str], overlap: int, demand_unanimity: bool) -> Resolution:
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


RULES: dict[str, Callable[[Sequence[str], int, bool], Resolution]] = {"1": _first_rule}
"""The rule of each version: a function of the labels, the overlap, and whether the project demands unanimity."""


def check_rule(version: str) -> None:
    """Raise UnknownRule where this installation has no such version of the rule."""
    if version not in RULES:
        expected = ", ".join(sorted(RULES))
        raise UnknownRule(
            Sentence(
                "{version} is not a version of the rule that settles labels; expected one of {expected}.",
                version=repr(version[:40]),
                expected=expected,
            )
        )


def resolve(labels: Sequence[str], *, rule: str, overlap: int, demand_unanimity: bool = False) -> Resolution:
    """Settle one cell from its votes (withdrawn votes left out, any order) by the rule of this version.

    Raises ValueError where `overlap` is outside 2 to 9, and UnknownRule.
    """
    return _resolved(tuple(labels), rule, overlap, demand_unanimity)


@lru_cache(4096)
def _resolved(labels: tuple[str, ...], rule: str, overlap: int, demand_unanimity: bool) -> Resolution:
    """Very many cells have the same votes: each set of votes is counted once."""
    if overlap not in OVERLAP_RANGE:
        raise ValueError(Sentence("The overlap is {overlap}; expected 2 to 9.", overlap=overlap))
    check_rule(rule)
    return RULES[rule](labels, overlap, demand_unanimity)


class By(StrEnum):
    """The source of a label that stands without the person; NOTHING where the cell stays open."""

    VOTES = "votes"
    EXPERT = "expert"
    RECORD = "record"
    NOTHING = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A settled cell: its gold label, and by name who voted and who decided what. Gold is `recorded` where it came with
    the record, and `decided` where an expert settled it."""

    gold: str
    votes: Mapping[str, str]
    decisions: Mapping[str, str]
    recorded: bool = False
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """The resolution rule as a project follows it: its version, how many votes a cell asks for, and whether they must
    all agree."""

    version: str
    overlap: int
    demand_unanimity: bool = False


def gold_without(name: str, cell: Cell, rule: Rule) -> tuple[str, By]:
    """Return (label, what settles it) without the vote and the decision of `name`; an empty label where nothing does.

    A person scored against gold that contains the person's own vote is flattered: with three annotators a vote is half
    of every majority. So the rule is that for one annotator fewer than the overlap; what is left of an overlap of two
    is one vote, which settles nothing.

    A decision counts as the person's own where it is the gold label. Then the other experts' decision takes its place
    if they all decided alike, else the votes.
    """
    if cell.recorded:
        return cell.gold, By.RECORD
    if cell.decided:
        if cell.decisions.get(name) != cell.gold:
            return cell.gold, By.EXPERT
        others = {label for who, label in cell.decisions.items() if who != name}
        if others:
            return (others.pop(), By.EXPERT) if len(others) == 1 else ("", By.NOTHING)
    votes = [label for who, label in cell.votes.items() if who != name]
    overlap = rule.overlap - (name in cell.votes)
    if overlap not in OVERLAP_RANGE:
        return "", By.NOTHING
    label = resolve(votes, rule=rule.version, overlap=overlap, demand_unanimity=rule.demand_unanimity).label
    return label, By.VOTES if label else By.NOTHING


def shuffled(votes: Sequence[str], cell: str) -> list[str]:
    """Return the labels of a cell in a stable order that does not reveal who cast them.

    The order depends on `cell` and on the labels alone, never on the order in which they are given.
    """
    marked = [(hashlib.sha256(f"{cell}:{at}".encode()).digest(), label) for at, label in enumerate(sorted(votes))]
    return [label for _, label in sorted(marked)]


def plurality(votes: Sequence[str]) -> str | None:
    """Return the label with more votes than any other, or None where two share the lead or there is no vote."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
