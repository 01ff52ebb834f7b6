"""Experts' second looks at doubtful gold: one record each; where gold changes, adjudication changes it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.models import GoldLabel, Proposition, User
from annotation.services.adjudication import (
    AdjudicationRefused,
    DecidedMeanwhile,
    adjudicate,
    check_claim,
    check_independence,
    check_values,
    lock_propositions,
    undo_decision,
)
from benchmark.models import SecondLook
from benchmark.services.doubtful_gold import DoubtfulCell, doubtful_gold
from benchmark.services.gold_kinds import Labelling

REASON = "second look: models of several families said otherwise"
"""The reason of a decision whose expert gave none: without having seen what models said, nobody can name it."""


@transaction.atomic
def look_again(
    *,
    by: User,
    labelling: Labelling,
    proposition: Proposition,
    dimension: str,
    label: str,
    revision: int,
    row: int,
    now: datetime,
    reason: str = "",
    replaces: str = "",
) -> SecondLook:
    """Keep the label that an expert gives a doubtful cell, and adjudicate the cell where gold has another one.

    `revision` and `row` are those of the gold label that the page was made of. The same look again keeps what stands,
    with the reason of the newer one; another label where `replaces` names the expert's own takes the place of it.
    Raises AdjudicationRefused where the cell is not doubtful, where another expert has looked at it or claimed its
    story, and wherever `adjudicate` would; DecidedMeanwhile where gold is not as it was seen.
    """
    check_values(proposition.table.story.project, dimension, label, "")
    lock_propositions([proposition.pk])
    check_independence(by=by, proposition=proposition, dimension=dimension)
    cell, reason = _doubtful(labelling, proposition, dimension), reason.strip()
    if not cell.waits:
        assert cell.look is not None
        _check_own(cell.look, by)
        if cell.look.label == label:
            return _explained(cell, by=by, reason=reason, now=now)
        if replaces != cell.look.label:
            raise AdjudicationRefused(
                gettext("You said {label} here. Say that you replace that, then choose again.").format(
                    label=cell.look.label
                )
            )
        _take_back(cell.look, by=by, now=now)
        cell = _doubtful(labelling, proposition, dimension)
    elif (cell.revision, cell.label) != (revision, row):
        raise DecidedMeanwhile(_gold_label(cell))
    check_claim(by=by, story=proposition.table.story, now=now)
    if label != cell.gold:
        _decide(cell, by=by, label=label, reason=reason, now=now)
    return SecondLook.objects.create(
        proposition=proposition, dimension=dimension, gold=cell.gold, label=label, proposed=cell.proposed,
        families=list(cell.families), reason=reason, by=by, at=now,
    )  # fmt: skip


def _doubtful(labelling: Labelling, proposition: Proposition, dimension: str) -> DoubtfulCell:
    cell = doubtful_gold(labelling).cell(proposition.pk, dimension)
    if cell is None:
        raise AdjudicationRefused(gettext("This cell is not doubtful, or its gold changed since it was published."))
    return cell


def _gold_label(cell: DoubtfulCell) -> GoldLabel | None:
    rows = GoldLabel.objects.select_related("decided_by")
    return rows.filter(proposition=cell.proposition, dimension=cell.dimension).first()


def _check_own(look: SecondLook, by: User) -> None:
    if look.by_id != by.pk:
        raise AdjudicationRefused(
            gettext("Meanwhile {shown_name} looked at this cell. Nothing was overwritten.").format(
                shown_name=look.by.shown_name
            )
        )


def _explained(cell: DoubtfulCell, *, by: User, reason: str, now: datetime) -> SecondLook:
    """Keep a reason that is given afterwards, with the decision too where there is one."""
    look = cell.look
    assert look is not None
    if reason and reason != look.reason:
        SecondLook.objects.all().give_reason(look, reason)
        look.reason = reason
        if cell.changed:
            _decide(cell, by=by, label=look.label, reason=reason, now=now)
    return look


def _decide(cell: DoubtfulCell, *, by: User, label: str, reason: str, now: datetime) -> None:
    adjudicate(
        by=by, proposition=cell.proposition, dimension=cell.dimension, label=label, revision=cell.revision,
        row=cell.label, reason=reason or REASON, now=now,
    )  # fmt: skip


@transaction.atomic
def take_back(*, by: User, proposition: Proposition, dimension: str, now: datetime) -> SecondLook | None:
    """Take the expert's own look at a cell back, with the decision where it changed gold; return it, None where there
    is none. Raises AdjudicationRefused where somebody decided the cell since."""
    lock_propositions([proposition.pk])
    rows = SecondLook.objects.standing().filter(proposition=proposition, dimension=dimension, by=by)
    look = rows.order_by("-pk").first()
    if look is not None:
        _take_back(look, by=by, now=now)
    return look


def _take_back(look: SecondLook, *, by: User, now: datetime) -> None:
    rows = GoldLabel.objects.filter(proposition=look.proposition_id, dimension=look.dimension)
    gold = rows.select_related("decided_by").first()
    if not look.stands and gold is not None and gold.label == look.label:
        undo_decision(by=by, proposition=look.proposition, dimension=look.dimension, revision=gold.revision, now=now)
    SecondLook.objects.all().withdraw(look, now)
