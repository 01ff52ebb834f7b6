"""Rows of two tables as the page of alignment has them."""

from __future__ import annotations

from typing import Any

from judge.domain.proposing import actor_key, propose
from judge.models import AlignmentTask

__all__ = ["proposals_of", "rows_of"]


def rows_of(task: AlignmentTask) -> list[dict[str, Any]]:
    """Return the rows of both tables, predictions first; rows of one `actor` have the same `group`."""
    groups: dict[str, int] = {}
    for table in (task.gold, task.predictions):  # gold says how actors are ordered: it is the same for every model
        for actor, *_ in table:
            groups.setdefault(actor_key(actor), len(groups))
    return [
        {"row": f"{side}{place}", "actor": actor, "belief": belief, "group": groups[actor_key(actor)]}
        for side, table in (("p", task.predictions), ("g", task.gold))
        for place, (actor, belief, *_) in enumerate(table, 1)
    ]


def proposals_of(task: AlignmentTask) -> dict[str, dict[str, Any]]:
    """Return by predicted row the gold row that it is proposed to say the same as."""
    return {
        f"p{proposal.prediction + 1}": {"gold": f"g{proposal.gold + 1}", "exact": proposal.exact}
        for proposal in propose(task.predictions, task.gold)
    }
