"""Experts' decisions on cells, one or many: deciding, deciding again, taking back, filing for the guideline."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.domain.resolution import GoldVote, from_json, plurality
from annotation.models import (
    Claim,
    ErrorTag,
    GoldLabel,
    Method,
    Project,
    Proposition,
    Story,
    User,
    Vote,
    adjudication_queue,
    workload,
)
from annotation.services import audit, claims
from annotation.services.decisions import histories, standing_decisions
from annotation.services.gold import Cell, Change, ChangedMeanwhile, decided, differ, settled, votes_of, write_gold
from core.joints import listed

BULK_REASON = "bulk: plurality accepted"
BATCH = 500
MOST_ALIKE = 500
"""Cells that are decided alike in one transaction: annotators who save meanwhile wait for it."""


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
        more = gettext("{message} Nothing was overwritten; look again, then decide if you still would.")
        super().__init__(more.format(message=message))


# --- what the pages of second looks check, too -----------------------------------------------------------------------


def check_values(project: Project, dimension: str, label: str, error_tag: str) -> None:
    """Raise AdjudicationRefused where the label is none of the dimension, or the tag no error tag."""
    schema, sentence = project.schema, ""
    if not schema.is_legal(dimension, label):
        expected = listed(schema[dimension].values) if dimension in schema else gettext("one of its dimensions")
        sentence = gettext("{label!r} is not a label of {dimension}; expected one of {expected}.").format(
            label=label, dimension=dimension, expected=expected
        )
    elif error_tag and error_tag not in ErrorTag.values:
        sentence = gettext("{error_tag!r} is not an error tag; expected one of {values}.").format(
            error_tag=error_tag, values=listed(ErrorTag.values)
        )
    if sentence:
        raise AdjudicationRefused(sentence)


def check_independence(*, by: User, proposition: Proposition, dimension: str) -> None:
    """Raise AdjudicationRefused where `by` has voted on the cell, even if withdrawn, or still labels its story."""
    if (proposition.pk, dimension) in adjudication_queue.voted_on(by, [proposition.pk]):
        raise AdjudicationRefused(gettext("You voted on this cell yourself; another expert must decide it."))
    check_finished(by=by, story=proposition.table.story)


def check_finished(*, by: User, story: Story) -> None:
    if not workload.has_finished(by, story):
        raise AdjudicationRefused(gettext("You still label this story yourself; finish it first."))


def check_claim(*, by: User, story: Story, now: datetime) -> None:
    """Raise AdjudicationRefused where another expert has claimed the story."""
    if claim := claims.holder(story=story, by=by, now=now):
        raise AdjudicationRefused(
            gettext("{shown_name} decides story {number} now; take another one.").format(
                shown_name=claim.expert.shown_name, number=story.number
            )
        )


def lock_propositions(propositions: Iterable[int]) -> None:
    """Lock propositions in the order in which savers do. Their locks serialise with savers and with other experts also
    where there is no gold label to lock yet."""
    list(Proposition.objects.filter(pk__in=set(propositions)).order_by("id").select_for_update().values_list("pk"))


def _gold_of(propositions: Iterable[int]) -> dict[Cell, GoldLabel]:
    """Lock the propositions; return the gold labels of their cells."""
    pks = set(propositions)
    lock_propositions(pks)
    rows = GoldLabel.objects.filter(proposition__in=pks).select_related("decided_by")
    return {(gold.proposition_id, gold.dimension): gold for gold in rows}


# --- one cell --------------------------------------------------------------------------------------------------------


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
    flag as it is. `replaces` is the decided label that the expert knows to be replaced, "" for none: another one is
    refused, and a decision of the expert's own, if with this label or the new one, may have any revision; None asks
    nothing. What stands already, with the same label, reason and tag, is returned as it is. Raises AdjudicationRefused
    where the expert ever voted on the cell or still labels the story, where another expert has claimed it, where votes
    are missing, where the label is not legal, or where it overrules somebody without a reason.
    """
    story, cell, reason = proposition.table.story, (proposition.pk, dimension), reason.strip()
    check_values(story.project, dimension, label, error_tag)
    gold = _gold_of([proposition.pk]).get(cell)
    check_independence(by=by, proposition=proposition, dimension=dimension)
    decision = gold if gold is not None and gold.method == Method.ADJUDICATED else None
    own = decision if decision is not None and decision.decided_by_id == by.pk else None
    at, pk = (gold.revision, gold.pk) if gold else (0, 0)
    # A browser whose answer was lost knows only the label of the expert's own decision.
    seen = (at == revision and row in (None, pk)) or (own is not None and bool(replaces) and own.label == replaces)
    if decision and (seen or (own and replaces is not None)) and not decision.disturbed:
        # Confirming another expert's decision may leave its reason and tag out.
        pairs = (reason, decision.reason), (error_tag, decision.error_tag)
        same = all(new == old or (not new and not own) for new, old in pairs)
        if same and decision.label == label and guideline_flag in (None, decision.guideline_flag):
            return decision
    if not seen:
        raise DecidedMeanwhile(gold)
    if decision and replaces is not None and decision.label not in (label, replaces):
        sentence = gettext("This cell is decided: {label}. Say that you replace that, then choose again.")
        raise AdjudicationRefused(sentence.format(label=decision.label))
    check_claim(by=by, story=story, now=now)
    votes = votes_of({cell})[cell]
    _check_decidable(proposition, dimension, gold, votes, by=by, label=label, reason=reason)
    if gold is not None and gold.label == label and gold.decided_by_id not in {None, by.pk}:
        # Confirming a decision keeps the first expert's reason.
        reason, error_tag = reason or gold.reason, error_tag or gold.error_tag
    after = decided(
        cell, label, by=by, at=now, votes=votes, project=story.project, before=gold,
        reason=reason, error_tag=error_tag, guideline_flag=guideline_flag,
    )  # fmt: skip
    try:
        write_gold([Change(cell, gold, after, votes)], project=story.project, by=by, now=now)
    except ChangedMeanwhile as error:
        raise DecidedMeanwhile(_gold_of([proposition.pk]).get(cell)) from error
    return _gold_of([proposition.pk])[cell]


def _check_decidable(
    proposition: Proposition, dimension: str, gold: GoldLabel | None, votes: list[GoldVote], *, by: User, label: str,
    reason: str,
) -> None:  # fmt: skip
    """Raise AdjudicationRefused for a cell whose votes are not all in, and for overruling without a reason."""
    sentence = ""
    if gold is None and (votes or not (proposition.imported_labels or {}).get(dimension)):
        raise AdjudicationRefused(gettext("The votes of this cell are not all in yet."))
    if gold is None:
        sentence = gettext("Say why: this label was imported, and no votes explain a decision.")
    elif gold.method in {Method.UNANIMOUS, Method.MAJORITY}:
        sentence = gettext("Say why: the votes settled this cell, and you overrule them.")
    elif gold.decided_by is not None and gold.decided_by_id != by.pk and gold.label != label:
        sentence = gettext("Say why: {shown_name} decided this cell, and you overrule it.").format(
            shown_name=gold.decided_by.shown_name
        )
    if sentence and not reason:
        raise AdjudicationRefused(sentence)


@transaction.atomic
def file_case(*, by: User, proposition: Proposition, dimension: str, filed: bool) -> GoldLabel:
    """Put a cell on the list of cases for the guideline, or take it off. The label and its revision stay as they
    are."""
    story = proposition.table.story
    check_finished(by=by, story=story)
    gold = _gold_of([proposition.pk]).get((proposition.pk, dimension))
    if gold is None:
        raise AdjudicationRefused(gettext("This cell cannot be filed before it has all its votes or a decision."))
    if gold.guideline_flag != filed:
        GoldLabel.objects.file_case(gold, filed)
        gold.guideline_flag = filed
        action = "guideline_case.filed" if filed else "guideline_case.removed"
        audit.record(by=by, project=story.project, action=action, target=f"{proposition.uid} {dimension}")
    return gold


# --- taking back -----------------------------------------------------------------------------------------------------


@transaction.atomic
def undo_decision(
    *, by: User, proposition: Proposition, dimension: str, revision: int, now: datetime
) -> GoldLabel | None:
    """Take the expert's own last decision back, as `undo_decisions` does. Returns what stands now, None where nothing
    does."""
    cell = proposition.pk, dimension
    undo_decisions(by=by, project=proposition.table.story.project, cells={cell: revision}, now=now)
    return _gold_of([proposition.pk]).get(cell)


@transaction.atomic
def undo_decisions(*, by: User, project: Project, cells: Mapping[Cell, int], now: datetime) -> None:
    """Take the expert's last decision on each cell back, on all or on none: the decision before it returns, else the
    result of the rule. `cells` has the revision of each; one that was taken back before stays as it is.

    Raises DecidedMeanwhile where a cell is not at its revision, and AdjudicationRefused where the standing decision is
    not the expert's own; in a story that the expert still labels no refusal says more, as it would show the gold.
    """
    propositions = {proposition for proposition, _ in cells}
    labels, votes, past = _gold_of(propositions), votes_of(set(cells)), histories(propositions)
    changes = []
    for cell, revision in cells.items():
        gold, events, standing = labels.get(cell), past[cell], votes[cell]
        moved = gold is None or gold.revision != revision
        if moved and events and (events[-1].undoes, events[-1].by_id) == (revision, by.pk):
            continue  # sent again, as the answer was lost
        if gold is None or moved or gold.method != Method.ADJUDICATED or gold.decided_by_id != by.pk:
            story = Proposition.objects.select_related("table__story__project").get(pk=cell[0]).table.story
            check_finished(by=by, story=story)
            if moved:
                raise DecidedMeanwhile(gold)
            raise AdjudicationRefused(gettext("Only your own decision can be taken back."))
        after: GoldLabel | None
        if earlier := standing_decisions(events)[-2:-1]:  # as it was, on the votes it was made on
            event = earlier[0]
            assert event.by, "a decision is somebody's"
            decided_on = from_json(event.votes)
            after = decided(
                cell, event.after, by=event.by, at=event.at, votes=decided_on, project=project, before=gold,
                reason=event.reason, error_tag=event.error_tag,
            )  # fmt: skip
            after.rule_version, after.disturbed = event.rule_version, differ(decided_on, standing)
        else:
            after = settled(cell, votes=standing, project=project, before=gold, now=now)
        changes.append(Change(cell, gold, after, standing, undoes=revision))
    write_gold(changes, project=project, by=by, now=now)


# --- many cells ------------------------------------------------------------------------------------------------------


def _open(cells: QuerySet[GoldLabel], by: User) -> QuerySet[Any]:
    own_votes = Vote.objects.filter(
        annotator=by, proposition_id=OuterRef("proposition_id"), dimension=OuterRef("dimension")
    )
    return cells.filter(method=Method.OPEN).order_by().annotate(voted=Exists(own_votes))


def preview(*, by: User, cells: QuerySet[GoldLabel]) -> dict[str, Any]:
    """Return the effect of `accept_plurality` on `cells`: {total, by_dimension, tied, voted_on}. The last two count
    open cells that stay, because no label leads or because the expert voted on them."""
    by_dimension: Counter[str] = Counter()
    tied = voted_on = 0
    for dimension, votes, voted in _open(cells, by).values_list("dimension", "votes", "voted"):
        if voted:
            voted_on += 1
        elif plurality([vote.label for vote in from_json(votes)]) is None:
            tied += 1
        else:
            by_dimension[dimension] += 1
    return {"total": by_dimension.total(), "by_dimension": by_dimension, "tied": tied, "voted_on": voted_on}


def accept_plurality(
    *, by: User, project: Project, cells: QuerySet[GoldLabel], seen_until: datetime, now: datetime
) -> int:
    """Adjudicate each open cell among `cells` in which one label has more votes than any other; return how many.

    Left as they are: decided cells, ties, cells on which `by` ever voted, stories that another expert has claimed, and
    cells that changed after `seen_until`, the time of the preview. Works in batches, each atomic, so that annotators
    who save meanwhile wait for a moment only; doing it again after an interruption does the rest.
    """
    taken = Claim.objects.of_others(by, project, now).values("story_id")
    acceptable = _open(cells, by).filter(voted=False, decided_at__lte=seen_until)
    rows = acceptable.exclude(proposition__table__story__in=taken).order_by("proposition_id")
    pairs = list(rows.values_list("pk", "proposition_id"))
    settled_cells = 0
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        with transaction.atomic():
            lock_propositions(proposition for _, proposition in batch)
            # Read again: a vote may have changed a cell since.
            standing = GoldLabel.objects.filter(pk__in=[pk for pk, _ in batch], method=Method.OPEN)
            labels = {
                gold: label
                for gold in standing.filter(decided_at__lte=seen_until).order_by("proposition_id", "dimension")
                if (label := plurality([vote.label for vote in from_json(gold.votes)])) is not None
            }
            _decide_all(labels, by=by, at=now, project=project, reason=BULK_REASON)
        settled_cells += len(labels)
    return settled_cells


def _decide_all(
    labels: Mapping[GoldLabel, str], *, by: User, at: datetime, project: Project, reason: str, error_tag: str = ""
) -> None:
    """Decide open cells, each by its label, on the votes that left it open."""
    changes = []
    for gold, label in labels.items():
        cell, votes = (gold.proposition_id, gold.dimension), from_json(gold.votes)
        after = decided(
            cell, label, by=by, at=at, votes=votes, project=project, before=gold, reason=reason, error_tag=error_tag
        )
        changes.append(Change(cell, gold, after, votes))
    write_gold(changes, project=project, by=by, now=at)


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

    Raises AdjudicationRefused if one of them is no longer open, or not as it was seen, if the expert voted on one or
    still labels its story, if another expert has claimed a story, and without a reason.
    """
    for dimension in {dimension for _, dimension in cells}:
        check_values(project, dimension, label, error_tag)
    propositions = {proposition for proposition, _ in cells}
    lock_propositions(propositions)
    rows = adjudication_queue.of_project(project).filter(proposition__in=propositions, method=Method.OPEN)
    standing = {(gold.proposition_id, gold.dimension): gold for gold in rows.select_related("proposition__table")}
    changed = sum(cell not in standing or standing[cell].revision != revision for cell, revision in cells.items())
    stories = {standing[cell].proposition.table.story_id for cell in cells if cell in standing}
    sentence = ""
    if not reason.strip():
        sentence = gettext("Say why: cells that are decided together need a reason.")
    elif not 1 <= len(cells) <= MOST_ALIKE:
        sentence = gettext("Between 1 and {most_alike} cells are decided at once, and {cells} were given.").format(
            most_alike=MOST_ALIKE, cells=len(cells)
        )
    elif changed:
        sentence = gettext("{changed} of the {cells} cells changed meanwhile; nothing was decided.").format(
            changed=changed, cells=len(cells)
        )
    elif not adjudication_queue.voted_on(by, propositions).isdisjoint(cells):
        sentence = gettext("You voted on one of these cells yourself; nothing was decided.")
    elif stories & workload.unfinished(project, by):
        sentence = gettext("You still label one of these stories yourself; nothing was decided.")
    elif claim := Claim.objects.of_others(by, project, now).filter(story__in=stories).first():
        sentence = gettext("{shown_name} decides one of these stories now; nothing was decided.").format(
            shown_name=claim.expert.shown_name
        )
    if sentence:
        raise AdjudicationRefused(sentence)
    labels = {standing[cell]: label for cell in sorted(cells)}
    try:
        _decide_all(labels, by=by, at=now, project=project, reason=reason.strip(), error_tag=error_tag)
    except ChangedMeanwhile as error:
        raise AdjudicationRefused(gettext("One of the cells changed meanwhile; nothing was decided.")) from error
