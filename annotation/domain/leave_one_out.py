"""Gold of a cell without what one person had to do with it.

A person scored against gold that contains the person's own vote is flattered: with three annotators a vote is half of
every majority. So the gold label counts only where it stands without the person: where it came with the record, where
another expert decided it, or where the other votes settle it by the resolution rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotation.domain.resolution import resolve, resolve_without_one


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
    settle = resolve_without_one if name in cell.votes else resolve
    label = settle(votes, rule=rule.version, overlap=rule.overlap, demand_unanimity=rule.demand_unanimity).label
    return label, By.VOTES if label else By.NOTHING
