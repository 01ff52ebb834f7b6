"""Open cells that are alike: of one dimension, with the same split of votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.domain.gold_votes import from_json
from annotation.models import adjudication_queue
from annotation.models.claim import Claim
from annotation.models.project import Project

BETWEEN = "|"


class Kind(NamedTuple):
    """Kind of cells that are alike: what they have in common; `votes` are the labels, sorted, with a bar between."""

    dimension: str
    votes: str

    @property
    def labels(self) -> list[str]:
        return self.votes.split(BETWEEN)


class Place(NamedTuple):
    """Place of a cell in the order of stories and their rows; `gold` is the id of its label."""

    number: int
    position: int
    gold: int


def kind_of(dimension: str, votes: Iterable[dict]) -> Kind:
    return Kind(dimension, BETWEEN.join(sorted(vote.label for vote in from_json(votes))))


def open_to(project: Project, expert, *, unfinished: Iterable[int], now: datetime, dimension: str = "") -> QuerySet:
    """Return the open cells that the expert may decide: without those that the expert voted on, of stories that the
    expert still labels, and of stories that another expert has claimed."""
    rows = adjudication_queue.cells(project, unfinished=unfinished, status="open", dimension=dimension)
    taken = Claim.objects.of_others(expert, project, now).values("story_id")
    return adjudication_queue.not_voted_on(rows, expert).exclude(proposition__table__story__in=taken).order_by()


def kinds(rows: QuerySet) -> Counter[Kind]:
    """Return how many of the cells are of each kind."""
    return Counter(kind_of(*row) for row in rows.values_list("dimension", "votes"))


def places(rows: QuerySet, kind: Kind) -> list[Place]:
    """Return the cells of a kind, in the order of stories and their rows."""
    listed = rows.filter(dimension=kind.dimension).values_list(
        "votes", "proposition__table__story__number", "proposition__position", "id"
    )
    return sorted(Place(*place) for votes, *place in listed if kind_of(kind.dimension, votes) == kind)
