"""Accepting, in bulk, the label that leads in cells which the rule leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.domain.ordering import plurality
from annotation.models import GoldLabel, Method, Project, Proposition, User, Vote
from annotation.services.gold import Change, decided, write_gold

REASON = "bulk: plurality accepted"
BATCH = 500


@dataclass(slots=True)
class Leading:
    """The effect of accepting: cells by dimension, and how many open cells are left because no label leads or because
    the expert voted on them."""

    by_dimension: Counter[str] = field(default_factory=Counter)
    tied: int = 0
    voted_on: int = 0

    @property
    def total(self) -> int:
        return self.by_dimension.total()


def preview(*, by: User, cells: QuerySet[GoldLabel]) -> Leading:
    """Count what `accept_plurality` would settle among `cells`."""
    leading = Leading()
    for dimension, votes, voted in _open(cells, by).values_list("dimension", "votes", "voted"):
        if voted:
            leading.voted_on += 1
        elif plurality([vote["label"] for vote in votes]) is None:
            leading.tied += 1
        else:
            leading.by_dimension[dimension] += 1
    return leading


def accept_plurality(
    *, by: User, project: Project, cells: QuerySet[GoldLabel], seen_until: datetime, now: datetime
) -> int:
    """Adjudicate each open cell among `cells` in which one label has more votes than any other; return how many.

    Left as they are: decided cells, ties, cells on which `by` ever voted, and cells that changed after `seen_until`,
    the time of the preview. Works in batches, each atomic, so that annotators who save meanwhile wait for a moment
    only; doing it again after an interruption does the rest.
    """
    acceptable = _open(cells, by).filter(voted=False, decided_at__lte=seen_until)
    pairs = list(acceptable.order_by("proposition_id").values_list("pk", "proposition_id"))
    return sum(_accept_batch(by, project, batch, seen_until, now) for batch in _batches(pairs))


def _open(cells: QuerySet[GoldLabel], by: User) -> QuerySet[GoldLabel]:
    own_votes = Vote.objects.filter(
        annotator=by, proposition_id=OuterRef("proposition_id"), dimension=OuterRef("dimension")
    )
    return cells.filter(method=Method.OPEN).order_by().annotate(voted=Exists(own_votes))


def _batches(pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    for start in range(0, len(pairs), BATCH):
        yield pairs[start : start + BATCH]


@transaction.atomic
def _accept_batch(by: User, project: Project, batch: list[tuple[int, int]], seen_until: datetime, now: datetime) -> int:
    # Locked in the order in which savers lock; then read again, because a vote may have changed a cell since.
    propositions = Proposition.objects.filter(pk__in={proposition for _, proposition in batch}).order_by("id")
    list(propositions.select_for_update().values_list("pk"))
    standing = GoldLabel.objects.filter(pk__in=[pk for pk, _ in batch], method=Method.OPEN, decided_at__lte=seen_until)
    changes = []
    for gold in standing.order_by("proposition_id", "dimension"):
        label = plurality([vote["label"] for vote in gold.votes])
        if label is not None:
            after = decided(label, by=by, at=now, votes=gold.votes, project=project, reason=REASON)
            changes.append(Change(gold.proposition_id, gold.dimension, gold, after, gold.votes))
    write_gold(changes, project=project, by=by, now=now)
    return len(changes)
