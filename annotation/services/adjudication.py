"""Experts' decisions on cells that the votes leave open."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from annotation.domain.ordering import plurality
from annotation.domain.resolution import RULE_VERSION
from annotation.domain.schema import SCHEMAS
from annotation.models import GoldEvent, GoldLabel, Method, Project, Proposition, User, Vote, VoteEvent, workload
from annotation.services.resolution import resolve_cells


class AdjudicationRefused(ValueError):
    """The decision cannot be taken; the message is one sentence for the expert."""


class DecidedMeanwhile(AdjudicationRefused):
    """Somebody else changed the cell after this expert saw it; `gold` is what stands. Nothing was overwritten."""

    def __init__(self, gold: GoldLabel | None) -> None:
        self.gold = gold
        who = gold.decided_by.shown_name if gold and gold.decided_by else "a new vote"
        label = gold.label or "open" if gold else "without all its votes"
        super().__init__(f"Meanwhile {who} changed this cell: it is {label} now. Nothing was overwritten.")


@transaction.atomic
def adjudicate(
    *,
    by: User,
    proposition: Proposition,
    dimension: str,
    label: str,
    revision: int,
    now: datetime,
    reason: str = "",
    error_tag: str = "",
    guideline_flag: bool = False,
) -> GoldLabel:
    """Settles one cell by an expert's decision, on the votes as they stand.

    `revision` is that of the gold label which the expert saw, 0 for none: a decision on anything else raises
    DecidedMeanwhile. Raises AdjudicationRefused where the expert voted on the cell, still labels the story, the votes are
    not all in, or the label is not legal.
    """
    project = proposition.table.story.project
    schema = SCHEMAS[project.schema_version]
    if not schema.is_legal(dimension, label):
        raise AdjudicationRefused(f"{label!r} is no label of {dimension}.")
    check_independence(by=by, proposition=proposition, dimension=dimension)
    # Serialises with savers and other experts of this proposition, also where no gold label exists yet to lock.
    Proposition.objects.select_for_update().get(pk=proposition.pk)
    held = (
        GoldLabel.objects.select_for_update(of=("self",))
        .select_related("decided_by")
        .filter(proposition=proposition, dimension=dimension)
        .first()
    )
    if (held.revision if held else 0) != revision:
        raise DecidedMeanwhile(held)
    votes = _votes(proposition, dimension)
    if held is None and (votes or not (proposition.imported_labels or {}).get(dimension)):
        raise AdjudicationRefused("The votes of this cell are not all in yet.")
    if held is None and not reason.strip():
        raise AdjudicationRefused("Say why: this label was imported, and no votes explain the change.")
    fields = {
        "label": label,
        "method": Method.ADJUDICATED,
        "votes": votes,
        "rule_version": RULE_VERSION,
        "schema_version": schema.version,
        "decided_by": by,
        "decided_at": now,
        "reason": reason.strip(),
        "error_tag": error_tag,
        "guideline_flag": guideline_flag,
        "disturbed": False,
        "revision": revision + 1,
    }
    gold, _ = GoldLabel.objects.update_or_create(proposition=proposition, dimension=dimension, defaults=fields)
    _log(held, gold, by=by, now=now)
    return gold


def check_independence(*, by: User, proposition: Proposition, dimension: str) -> None:
    """Raises AdjudicationRefused where `by` has voted on the cell, even if withdrawn, or still labels its story."""
    if VoteEvent.objects.filter(annotator=by, proposition=proposition, dimension=dimension).exists():
        raise AdjudicationRefused("You voted on this cell yourself; another expert must decide it.")
    story = proposition.table.story
    if not workload.has_finished(by, story, len(SCHEMAS[story.project.schema_version].dimensions)):
        raise AdjudicationRefused("You still label this story yourself; finish it first.")


@transaction.atomic
def undo_decision(*, by: User, proposition: Proposition, dimension: str, revision: int, now: datetime) -> None:
    """Takes the expert's own last decision back: an earlier decision returns, else what the rule makes of the votes."""
    Proposition.objects.select_for_update().get(pk=proposition.pk)
    held = GoldLabel.objects.select_related("decided_by").filter(proposition=proposition, dimension=dimension).first()
    if held is None or held.revision != revision:
        raise DecidedMeanwhile(held)
    if held.method != Method.ADJUDICATED or held.decided_by_id != by.pk:
        raise AdjudicationRefused("Only your own decision can be taken back.")
    decisions = GoldEvent.objects.filter(proposition=proposition, dimension=dimension).order_by("-id")
    latest = decisions.filter(after_method=Method.ADJUDICATED, revision=revision).first()
    if latest is not None and latest.before_method == Method.ADJUDICATED:
        _restore(held, decisions.filter(id__lt=latest.id, after_method=Method.ADJUDICATED).first(), by=by, now=now)
        return
    held.delete()
    _log(held, None, by=by, now=now)
    resolve_cells(project=proposition.table.story.project, cells={(proposition.pk, dimension)}, now=now, by=by)


def _restore(held: GoldLabel, earlier: GoldEvent, *, by: User, now: datetime) -> None:
    before = GoldLabel.objects.get(pk=held.pk)
    held.label, held.decided_by_id, held.reason = earlier.after, earlier.by_id, earlier.reason
    held.decided_at, held.votes, held.revision = earlier.at, earlier.votes, held.revision + 1
    held.save()
    _log(before, held, by=by, now=now)


@transaction.atomic
def accept_pluralities(*, by: User, project: Project, cells: Iterable[GoldLabel], now: datetime) -> int:
    """Adjudicates each open cell in which one label leads; decided cells and cells that `by` may not decide are left.

    Returns how many were settled.
    """
    settled = 0
    for gold in cells:
        label = plurality([vote["label"] for vote in gold.votes])
        if label is None or gold.method != Method.OPEN:
            continue
        try:
            adjudicate(
                by=by,
                proposition=gold.proposition,
                dimension=gold.dimension,
                label=label,
                revision=gold.revision,
                now=now,
                reason="Majority accepted in bulk.",
            )
        except AdjudicationRefused:
            continue
        settled += 1
    return settled


def _votes(proposition: Proposition, dimension: str) -> list[dict]:
    rows = Vote.objects.cast().filter(proposition=proposition, dimension=dimension).order_by("annotator_id")
    return [
        {"annotator": annotator, "label": label, "key": key}
        for annotator, label, key in rows.values_list("annotator_id", "label", "client_key")
    ]


def _log(before: GoldLabel | None, after: GoldLabel | None, *, by: User, now: datetime) -> None:
    known = after or before
    GoldEvent.objects.create(
        proposition_id=known.proposition_id,
        dimension=known.dimension,
        before=before.label if before else "",
        before_method=before.method if before else "",
        after=after.label if after else "",
        after_method=after.method if after else "",
        by=by,
        at=now,
        reason=after.reason if after else "Decision taken back.",
        rule_version=known.rule_version,
        votes=known.votes,
        revision=known.revision,
    )
