"""Experts' decisions on single cells: deciding, deciding again, taking back, filing for the guideline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.domain.gold_votes import GoldVote, from_json
from annotation.models import (
    ErrorTag,
    GoldEvent,
    GoldLabel,
    Method,
    Project,
    Proposition,
    Story,
    User,
    adjudication_queue,
    workload,
)
from annotation.services import audit, claims
from annotation.services.gold import Change, ChangedMeanwhile, State, decided, write_gold
from annotation.services.resolution import Cell, differ, settled, votes_of
from core.joints import listed


class AdjudicationRefused(ValueError):
    """The decision cannot be taken; the message is one sentence for the expert."""


class DecidedMeanwhile(AdjudicationRefused):
    """Something changed the cell after this expert saw it; `gold` is what stands. Nothing was overwritten."""

    def __init__(self, gold: GoldLabel | None) -> None:
        self.gold = gold
        if gold is None:
            message = gettext("Meanwhile a vote of this cell was withdrawn: it is not complete now.")
        elif gold.decided_by is not None and not gold.disturbed:
            when = gold.decided_at.strftime("%d %B %Y at %H:%M UTC")
            message = gettext("Meanwhile {shown_name} decided this cell: {label}, on {when}.").format(
                shown_name=gold.decided_by.shown_name, label=gold.label, when=when
            )
        else:
            message = gettext("Meanwhile the votes of this cell changed: it is {label} now.").format(
                label=gold.label or gettext("open")
            )
        super().__init__(
            gettext("{message} Nothing was overwritten; look again, then decide if you still would.").format(
                message=message
            )
        )


class AsksFirst(AdjudicationRefused):
    """Another label stands as a decision, and the expert has not said that it is to be replaced."""

    def __init__(self, gold: GoldLabel) -> None:
        super().__init__(
            gettext("This cell is decided: {label}. Say that you replace that, then choose again.").format(
                label=gold.label
            )
        )


@transaction.atomic
def adjudicate(
    *,
    by: User,
    proposition: Proposition,
    dimension: str,
    label: str,
    revision: int,
    now: datetime,
    row: int | None = None,
    reason: str = "",
    error_tag: str = "",
    guideline_flag: bool | None = None,
    replaces: str | None = None,
) -> GoldLabel:
    """Settle one cell by an expert's decision, on the votes as they stand.

    `revision` is that of the gold label which the expert saw, 0 for none, and `row` its id, which tells a label that
    was removed and made again; a decision on anything else raises DecidedMeanwhile. `guideline_flag` None leaves the
    flag as it is. `replaces` is the decided label that the expert knows to be replaced, "" for none: over another one
    AsksFirst is raised, and a decision of the expert's own, if with this label or the new one, may have any revision;
    None asks nothing. What stands already, with the same label, reason and tag, is returned as it is. Raises
    AdjudicationRefused where the expert ever voted on the cell or still labels the story, where another expert has
    claimed it, where votes are missing, where the label is not legal, or where it overrules somebody without a reason.
    """
    project = proposition.table.story.project
    reason = reason.strip()
    check_values(project, dimension, label, error_tag)
    gold = _lock(proposition, dimension)
    check_independence(by=by, proposition=proposition, dimension=dimension)
    seen = _is_at(gold, revision, row) or _own_with(gold, by, replaces)
    acknowledged = seen or (replaces is not None and _own(gold, by))
    if acknowledged and gold is not None and _stands(gold, by, label, reason, error_tag, guideline_flag):
        return gold
    if not seen:
        raise DecidedMeanwhile(gold)
    if gold is not None and _decided(gold) and replaces is not None and gold.label not in (label, replaces):
        raise AsksFirst(gold)
    check_claim(by=by, story=proposition.table.story, now=now)
    cell = proposition.pk, dimension
    votes = votes_of({cell})[cell]
    _check_decidable(proposition, dimension, gold, votes, by=by, label=label, reason=reason)
    if gold is not None and gold.label == label and gold.decided_by_id not in {None, by.pk}:
        # Confirming a decision keeps the first expert's reason.
        reason, error_tag = reason or gold.reason, error_tag or gold.error_tag
    remarks = {"reason": reason, "error_tag": error_tag, "guideline_flag": guideline_flag}
    after = decided(label, by=by, at=now, votes=votes, project=project, **remarks)
    return _write(proposition, Change(*cell, gold, after, votes), by=by, now=now)


def _decided(gold: GoldLabel) -> bool:
    return gold.method == Method.ADJUDICATED


def _own(gold: GoldLabel | None, by: User) -> bool:
    return gold is not None and _decided(gold) and gold.decided_by_id == by.pk


def _own_with(gold: GoldLabel | None, by: User, label: str | None) -> bool:
    """Return whether the expert's own decision for this label stands: what a browser without an answer knows of it."""
    return gold is not None and bool(label) and _own(gold, by) and gold.label == label


def _is_at(gold: GoldLabel | None, revision: int, row: int | None) -> bool:
    return (gold.revision if gold else 0) == revision and (row is None or (gold.pk if gold else 0) == row)


def _stands(gold: GoldLabel, by: User, label: str, reason: str, error_tag: str, filed: bool | None) -> bool:
    """Return whether a decision would add nothing to what stands. Confirming another expert's decision may leave its
    reason and tag out."""
    if not _decided(gold) or gold.disturbed or gold.label != label or filed not in (None, gold.guideline_flag):
        return False
    pairs = (reason, gold.reason), (error_tag, gold.error_tag)
    return all(new == old or (not new and gold.decided_by_id != by.pk) for new, old in pairs)


def check_independence(*, by: User, proposition: Proposition, dimension: str) -> None:
    """Raise AdjudicationRefused where `by` has voted on the cell, even if withdrawn, or still labels its story."""
    if (proposition.pk, dimension) in adjudication_queue.voted_on(by, [proposition.pk]):
        raise AdjudicationRefused(gettext("You voted on this cell yourself; another expert must decide it."))
    check_finished(by=by, story=proposition.table.story)


def check_claim(*, by: User, story: Story, now: datetime) -> None:
    """Raise AdjudicationRefused where another expert has claimed the story."""
    claim = claims.holder(story=story, by=by, now=now)
    if claim is not None:
        raise AdjudicationRefused(
            gettext("{shown_name} decides story {number} now; take another one.").format(
                shown_name=claim.expert.shown_name, number=story.number
            )
        )


def check_finished(*, by: User, story: Story) -> None:
    if not workload.has_finished(by, story):
        raise AdjudicationRefused(gettext("You still label this story yourself; finish it first."))


@transaction.atomic
def undo_decision(
    *, by: User, proposition: Proposition, dimension: str, revision: int, now: datetime
) -> GoldLabel | None:
    """Take the expert's own last decision back: the decision before it returns, else the result of the rule.

    Returns what stands now, None where nothing does, also where the same was taken back before. Raises DecidedMeanwhile
    where the cell is not at `revision`, and AdjudicationRefused where the standing decision is not the expert's own.
    """
    cells = {(proposition.pk, dimension): revision}
    undo_decisions(by=by, project=proposition.table.story.project, cells=cells, now=now)
    return _gold_label(proposition, dimension)


@transaction.atomic
def undo_decisions(*, by: User, project: Project, cells: Mapping[Cell, int], now: datetime) -> None:
    """Take the expert's last decision on each cell back, on all or on none; `cells` has the revision of each. What
    `undo_decision` says of one holds for each; of a story that the expert still labels no refusal says more."""
    propositions = {proposition for proposition, _ in cells}
    lock_propositions(propositions)
    rows = GoldLabel.objects.filter(proposition__in=propositions).select_related("decided_by")
    labels = {(gold.proposition_id, gold.dimension): gold for gold in rows}
    votes = votes_of(set(cells))
    past = histories(propositions)
    changes = []
    for cell, revision in cells.items():
        gold, events = labels.get(cell), past[cell]
        if gold is None or gold.revision != revision:
            if events and (events[-1].undoes, events[-1].by_id) == (revision, by.pk):
                continue  # sent again, as the answer was lost
            _check_notified(by, project, cell)
            raise DecidedMeanwhile(gold)
        if not _own(gold, by):
            _check_notified(by, project, cell)
            raise AdjudicationRefused(gettext("Only your own decision can be taken back."))
        earlier = standing_decisions(events)[-2:-1]
        standing = votes[cell]
        after = _restored(earlier[0], standing, project) if earlier else settled(project, cell[1], standing, now)
        changes.append(Change(*cell, gold, after, standing, undoes=revision))
    write_gold(changes, project=project, by=by, now=now)


def _check_notified(by: User, project: Project, cell: Cell) -> None:
    """Raise AdjudicationRefused in a story that `by` still labels: a refusal that says what stands, or whether it is
    anybody's decision, would show the gold."""
    story = Proposition.objects.select_related("table__story").get(pk=cell[0]).table.story
    story.project = project
    check_finished(by=by, story=story)


def histories(propositions: Iterable[int]) -> dict[Cell, list[GoldEvent]]:
    """Return the events of the cells of these propositions, oldest first."""
    past: dict[Cell, list[GoldEvent]] = defaultdict(list)
    for event in GoldEvent.objects.filter(proposition__in=set(propositions)).select_related("by").order_by("id"):
        past[event.proposition_id, event.dimension].append(event)
    return past


@transaction.atomic
def file_case(*, by: User, proposition: Proposition, dimension: str, filed: bool) -> GoldLabel:
    """Put a cell on the list of cases for the guideline, or take it off. The label and its revision stay as they
    are."""
    check_finished(by=by, story=proposition.table.story)
    gold = _lock(proposition, dimension)
    if gold is None:
        raise AdjudicationRefused(gettext("This cell cannot be filed before it has all its votes or a decision."))
    if gold.guideline_flag != filed:
        GoldLabel.objects.file_case(gold, filed)
        gold.guideline_flag = filed
        action = "guideline_case.filed" if filed else "guideline_case.removed"
        target = f"{proposition.uid} {dimension}"
        audit.record(by=by, project=proposition.table.story.project, action=action, target=target)
    return gold


def check_values(project: Project, dimension: str, label: str, error_tag: str) -> None:
    """Raise AdjudicationRefused where the label is none of the dimension, or the tag no error tag."""
    schema = project.schema
    if not schema.is_legal(dimension, label):
        expected = listed(schema[dimension].values) if dimension in schema else gettext("one of its dimensions")
        raise AdjudicationRefused(
            gettext("{label!r} is not a label of {dimension}; expected one of {expected}.").format(
                label=label, dimension=dimension, expected=expected
            )
        )
    if error_tag and error_tag not in ErrorTag.values:
        raise AdjudicationRefused(
            gettext("{error_tag!r} is not an error tag; expected one of {values}.").format(
                error_tag=error_tag, values=listed(ErrorTag.values)
            )
        )


def _check_decidable(proposition, dimension, gold, votes, *, by: User, label: str, reason: str) -> None:
    if gold is None:
        if votes or not (proposition.imported_labels or {}).get(dimension):
            raise AdjudicationRefused(gettext("The votes of this cell are not all in yet."))
        if not reason:
            raise AdjudicationRefused(gettext("Say why: this label was imported, and no votes explain a decision."))
    elif gold.method in {Method.UNANIMOUS, Method.MAJORITY} and not reason:
        raise AdjudicationRefused(gettext("Say why: the votes settled this cell, and you overrule them."))
    elif gold.decided_by_id not in {None, by.pk} and gold.label != label and not reason:
        raise AdjudicationRefused(
            gettext("Say why: {shown_name} decided this cell, and you overrule it.").format(
                shown_name=gold.decided_by.shown_name
            )
        )


def _gold_label(proposition: Proposition, dimension: str) -> GoldLabel | None:
    rows = GoldLabel.objects.select_related("decided_by").filter(proposition=proposition, dimension=dimension)
    return rows.first()


def lock_propositions(propositions: Iterable[int]) -> None:
    """Lock propositions in the order in which savers do. Their locks serialise with savers and with other experts also
    where there is no gold label to lock yet."""
    list(Proposition.objects.filter(pk__in=set(propositions)).order_by("id").select_for_update().values_list("pk"))


def _lock(proposition: Proposition, dimension: str) -> GoldLabel | None:
    lock_propositions([proposition.pk])
    return _gold_label(proposition, dimension)


def _write(proposition: Proposition, change: Change, *, by: User, now: datetime) -> GoldLabel | None:
    """Return what stands now, None where nothing does. Raises DecidedMeanwhile where the label is not the one that was
    seen."""
    try:
        write_gold([change], project=proposition.table.story.project, by=by, now=now)
    except ChangedMeanwhile as error:
        raise DecidedMeanwhile(_gold_label(proposition, change.dimension)) from error
    return _gold_label(proposition, change.dimension)


def standing_decisions(history: Iterable[GoldEvent]) -> list[GoldEvent]:
    """The decisions that stand on one another in a cell, oldest first; the last one is in force. `history` are its
    events in order.

    A decision by the same expert for the same label on the same votes only amends reason and tag: it takes the place of
    the one before.
    """
    standing: list[GoldEvent] = []
    for event in history:
        if event.undoes is not None:
            standing[-1:] = []
        elif event.after_method != Method.ADJUDICATED:
            standing.clear()
        elif standing and _amends(standing[-1], event):
            standing[-1] = event
        else:
            standing.append(event)
    return standing


def _amends(before: GoldEvent, after: GoldEvent) -> bool:
    return (before.by_id, before.after, before.votes) == (after.by_id, after.after, after.votes)


def _restored(event: GoldEvent, votes: list[GoldVote], project: Project) -> State:
    """Return the decision of `event`, on the votes it was made on; `votes` are those that stand now."""
    decided_on = from_json(event.votes)
    after = decided(
        event.after,
        by=event.by,
        at=event.at,
        votes=decided_on,
        project=project,
        reason=event.reason,
        error_tag=event.error_tag,
    )
    return after._replace(rule_version=event.rule_version, disturbed=differ(decided_on, votes))
