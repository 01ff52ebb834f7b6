"""Deciding many open cells at once: by the label that leads in each, or all alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.domain.gold_votes import from_json
from annotation.domain.ordering import plurality
from annotation.models import Claim, GoldLabel, Method, Project, User, Vote, adjudication_queue, workload
from annotation.services.adjudication import AdjudicationRefused, check_values, lock_propositions
from annotation.services.gold import Change, ChangedMeanwhile, decided, write_gold
from annotation.services.resolution import Cell

REASON = "bulk: plurality accepted"
BATCH = 500
MOST_ALIKE = 500
"""Cells that are decided alike in one transaction: annotators who save meanwhile wait for it."""


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
        elif plurality([vote.label for vote in from_json(votes)]) is None:
            leading.tied += 1
        else:
            leading.by_dimension[dimension] += 1
    return leading


def accept_plurality(
    *, by: User, project: Project, cells: QuerySet[GoldLabel], seen_until: datetime, now: datetime
) -> int:
    """Adjudicate each open cell among `cells` in which one label has more votes than any other; return how many.

    Left as they are: decided cells, ties, cells on which `by` ever voted, stories that another expert has claimed, and
    cells that changed after `seen_until`, the time of the preview. Works in batches, each atomic, so that annotators
    who save meanwhile wait for a moment only; doing it again after an interruption does the rest.
    """
    taken = Claim.objects.of_others(by, project, now).values("story_id")
    acceptable = (
        _open(cells, by).filter(voted=False, decided_at__lte=seen_until).exclude(proposition__table__story__in=taken)
    )
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
    lock_propositions(proposition for _, proposition in batch)  # then read again: a vote may have changed a cell since
    standing = GoldLabel.objects.filter(pk__in=[pk for pk, _ in batch], method=Method.OPEN, decided_at__lte=seen_until)
    changes = []
    for gold in standing.order_by("proposition_id", "dimension"):
        votes = from_json(gold.votes)
        label = plurality([vote.label for vote in votes])
        if label is not None:
            after = decided(label, by=by, at=now, votes=votes, project=project, reason=REASON)
            changes.append(Change(gold.proposition_id, gold.dimension, gold, after, votes))
    write_gold(changes, project=project, by=by, now=now)
    return len(changes)


@transaction.atomic
def decide_alike(
    *,
    by: User,
    project: Project,
    cells: Mapping[Cell, int],
    label: str,
    reason: str,
    now: datetime,
    error_tag: str = "",
) -> None:
    """Decide all these open cells by one label, each with the reason, or none of them; `cells` has the revision of each
    that the expert saw.

    Raises AdjudicationRefused where one of them is not open, or not as it was seen, any more, where the expert voted on
    one or still labels its story, where another expert has claimed a story, and where no reason is given.
    """
    if not reason.strip():
        raise AdjudicationRefused(gettext("Say why: cells that are decided together need a reason."))
    if not 1 <= len(cells) <= MOST_ALIKE:
        raise AdjudicationRefused(
            gettext("Between 1 and {most_alike} cells are decided at once, and {cells} were given.").format(
                most_alike=MOST_ALIKE, cells=len(cells)
            )
        )
    for dimension in {dimension for _, dimension in cells}:
        check_values(project, dimension, label, error_tag)
    propositions = {proposition for proposition, _ in cells}
    lock_propositions(propositions)
    rows = adjudication_queue.of_project(project).filter(proposition__in=propositions, method=Method.OPEN)
    standing = {(gold.proposition_id, gold.dimension): gold for gold in rows.select_related("proposition__table")}
    _check_alike(by, project, cells, standing, now)
    decision = {"by": by, "at": now, "project": project, "reason": reason.strip(), "error_tag": error_tag}
    changes = []
    for cell in sorted(cells):
        votes = from_json(standing[cell].votes)
        changes.append(Change(*cell, standing[cell], decided(label, votes=votes, **decision), votes))
    try:
        write_gold(changes, project=project, by=by, now=now)
    except ChangedMeanwhile as error:
        raise AdjudicationRefused(gettext("One of the cells changed meanwhile; nothing was decided.")) from error


def _check_alike(
    by: User, project: Project, cells: Mapping[Cell, int], standing: Mapping[Cell, GoldLabel], now: datetime
) -> None:
    changed = sum(cell not in standing or standing[cell].revision != revision for cell, revision in cells.items())
    if changed:
        raise AdjudicationRefused(
            gettext("{changed} of the {cells} cells changed meanwhile; nothing was decided.").format(
                changed=changed, cells=len(cells)
            )
        )
    if not adjudication_queue.voted_on(by, {proposition for proposition, _ in cells}).isdisjoint(cells):
        raise AdjudicationRefused(gettext("You voted on one of these cells yourself; nothing was decided."))
    stories = {standing[cell].proposition.table.story_id for cell in cells}
    if stories & workload.unfinished(project, by):
        raise AdjudicationRefused(gettext("You still label one of these stories yourself; nothing was decided."))
    for claim in Claim.objects.of_others(by, project, now).filter(story__in=stories)[:1]:
        raise AdjudicationRefused(
            gettext("{shown_name} decides one of these stories now; nothing was decided.").format(
                shown_name=claim.expert.shown_name
            )
        )
