"""Keeps gold labels in step with votes. Called in the transaction that changed the votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter

from django.db.models import F

from annotation.domain.resolution import RULE_VERSION, Outcome, Resolution, resolve
from annotation.models import GoldEvent, GoldLabel, Method, Project, User, Vote
from core.bulk import write_few

Cell = tuple[int, str]
"""(proposition id, dimension key)"""

_GOLD = (
    "proposition_id", "dimension", "label", "method", "agreement", "votes", "rule_version", "schema_version",
    "decided_by_id", "decided_at", "reason", "error_tag", "guideline_flag", "disturbed", "revision",
)  # fmt: skip
_GOLD_EVENT = (
    "proposition_id", "dimension", "before", "before_method", "after", "after_method", "by_id", "at", "reason",
    "error_tag", "undoes", "rule_version", "votes", "revision",
)  # fmt: skip
_COMPARED = ("label", "method", "agreement", "votes")


def resolve_cells(
    *,
    project: Project,
    cells: Iterable[Cell],
    now: datetime,
    by: User | None = None,
    votes: Mapping[Cell, list[dict]] | None = None,
) -> None:
    """Applies the project's rule to `cells` and no others.

    The caller holds a transaction and the locks on the propositions; `votes` are the standing ones, by annotator id, where
    the caller has read them under those locks. An adjudicated label stands: it is marked
    `disturbed` where the votes under it changed. The number of statements does not depend on whether the votes
    agree, so that the time of a save tells an annotator nothing about the others.
    """
    wanted = set(cells)
    if not wanted:
        return
    votes = _votes_of(wanted) if votes is None else votes
    held = _gold_of(wanted)
    upserts: list[GoldLabel] = []
    removed: list[GoldLabel] = []
    events: list[GoldEvent] = []
    for cell in sorted(wanted):
        gold = held.get(cell)
        if gold is not None and gold.method == Method.ADJUDICATED:
            if gold.disturbed != (_essence(gold.votes) != _essence(votes[cell])):
                gold.disturbed = not gold.disturbed
                upserts.append(gold)
            continue
        settled = _settle(project, cell[1], votes[cell])
        if settled.outcome is Outcome.PENDING:
            if gold is not None:
                removed.append(gold)
                events.append(_event(gold, None, project, now, by, votes[cell]))
            continue
        fresh = _fresh(gold, cell, settled, votes[cell], project, now)
        if fresh is not None:
            events.append(_event(gold, fresh, project, now, by, votes[cell]))
            upserts.append(fresh)
    _write(upserts, removed, events)


def _votes_of(cells: set[Cell]) -> dict[Cell, list[dict]]:
    found: dict[Cell, list[dict]] = defaultdict(list)
    rows = (
        Vote.objects.cast()
        .filter(proposition_id__in={cell[0] for cell in cells}, dimension__in={cell[1] for cell in cells})
        .order_by("annotator_id")
        .values_list("proposition_id", "dimension", "annotator_id", "label", "client_key")
    )
    for proposition, dimension, annotator, label, key in rows:
        found[proposition, dimension].append({"annotator": annotator, "label": label, "key": key})
    return found


def _gold_of(cells: set[Cell]) -> dict[Cell, GoldLabel]:
    rows = GoldLabel.objects.filter(
        proposition_id__in={cell[0] for cell in cells}, dimension__in={cell[1] for cell in cells}
    ).select_for_update()
    return {(gold.proposition_id, gold.dimension): gold for gold in rows}


def _settle(project: Project, dimension: str, votes: list[dict]) -> Resolution:
    return resolve(
        [vote["label"] for vote in votes],
        overlap=project.overlap,
        demand_unanimity=dimension in project.unanimity_dimensions,
    )


def _essence(votes: list[dict]) -> list[tuple]:
    return sorted((vote["annotator"], vote["label"]) for vote in votes)


def _fresh(
    gold: GoldLabel | None, cell: Cell, settled: Resolution, votes: list[dict], project: Project, now: datetime
) -> GoldLabel | None:
    """The row as it must be now, or None where the one that is there says the same."""
    fresh = GoldLabel(
        proposition_id=cell[0],
        dimension=cell[1],
        label=settled.label,
        method=settled.outcome.value,
        agreement=settled.agreement,
        votes=votes,
        rule_version=RULE_VERSION,
        schema_version=project.schema_version,
        decided_at=now,
        guideline_flag=gold.guideline_flag if gold else False,
        revision=gold.revision + 1 if gold else 1,
    )
    if gold is not None and all(getattr(gold, name) == getattr(fresh, name) for name in _COMPARED):
        return None
    return fresh


def _event(
    before: GoldLabel | None,
    after: GoldLabel | None,
    project: Project,
    now: datetime,
    by: User | None,
    votes: list[dict],
) -> GoldEvent:
    known = after or before
    return GoldEvent(
        proposition_id=known.proposition_id,
        dimension=known.dimension,
        before=before.label if before else "",
        before_method=before.method if before else "",
        after=after.label if after else "",
        after_method=after.method if after else "",
        by=by,
        at=now,
        reason=after.reason if after else "",
        rule_version=project.rule_version,
        votes=votes,
        revision=after.revision if after else before.revision,
    )


def _write(upserts: list[GoldLabel], removed: list[GoldLabel], events: list[GoldEvent]) -> None:
    if removed:
        GoldLabel.objects.filter(pk__in=[gold.pk for gold in removed]).delete()
    disturbed = [gold for gold in upserts if gold.pk is not None]
    for gold in disturbed:
        GoldLabel.objects.filter(pk=gold.pk).update(disturbed=gold.disturbed, revision=F("revision") + 1)
    fresh = [gold for gold in upserts if gold.pk is None]
    write_few(GoldLabel, _GOLD, [attrgetter(*_GOLD)(gold) for gold in fresh], unique=_GOLD[:2], update=_GOLD[2:])
    write_few(GoldEvent, _GOLD_EVENT, [attrgetter(*_GOLD_EVENT)(event) for event in events])
