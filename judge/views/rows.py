"""Rows of two tables as the page of alignment has them."""

from __future__ import annotations

from dataclasses import dataclass

from judge.domain.proposing import actor_key, propose
from judge.models import AlignmentTask

__all__ = ["AlignedRow", "ProposedLink", "proposals_of", "rows_of"]


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """A row by its name, with its words; rows of one `actor` have the same `group`."""

    row: str
    actor: str
    belief: str
    group: int


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """The gold row that a predicted row is proposed to say the same as, and whether it does so word for word."""

    gold: str
    exact: bool


def rows_of(task: AlignmentTask) -> list[AlignedRow]:
    """Return the rows of both tables, predictions first."""
    groups: dict[str, int] = {}
    for table in (task.gold, task.predictions):  # gold says how actors are ordered: it is the same for every model
        for actor, *_ in table:
            groups.setdefault(actor_key(actor), len(groups))
    return [
        AlignedRow(f"{side}{place}", actor, belief, groups[actor_key(actor)])
        for side, table in (("p", task.predictions), ("g", task.gold))
        for place, (actor, belief, *_) in enumerate(table, 1)
    ]


def proposals_of(task: AlignmentTask) -> dict[str, ProposedLink]:
    """Return the proposed link of each predicted row that has one."""
    return {
        f"p{proposal.prediction + 1}": ProposedLink(f"g{proposal.gold + 1}", proposal.exact)
        for proposal in propose(task.predictions, task.gold)
    }
