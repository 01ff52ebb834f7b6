"""Assignments at stories: planned by a pure rule, held by the database."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import date, datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Length
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from annotation.domain.assignment import Plan, PlanError, plan
from annotation.domain.pace import is_over
from annotation.models import (
    AnnotatorCounts,
    Assignment,
    BeliefTable,
    Project,
    Proposition,
    Story,
    StoryCounts,
    User,
    Vote,
    VoteEvent,
)
from annotation.services import audit
from annotation.services.drafts import Refused, take_slot
from annotation.services.gold import resolve_cells
from annotation.services.stories import NO_SEED, SEEDS
from core.plain import Json


def stories_to_assign(
    project: Project,
    *,
    split: str | None = None,
    category: str | None = None,
    slots: str | None = None,
    person: User | None = None,
    without_table: bool = False,
) -> QuerySet[Story]:
    """Return the stories in use that match, in order of number, each with its `assigned_count`.

    `slots` is "free" (short of annotators), "full" or empty; `person` is assigned to each; stories that have no
    propositions are left out, unless `without_table`.
    """
    stories: QuerySet[Any] = project.stories.in_use().in_split(split).in_category(category)
    if not without_table:
        stories = stories.filter(counts__propositions__gt=0)
    here = Assignment.objects.active().filter(story=OuterRef("pk")).order_by()
    if person:
        stories = stories.filter(Exists(here.filter(annotator=person)))
    count = Subquery(here.values("story").annotate(n=Count("pk")).values("n"), output_field=IntegerField())
    stories = stories.annotate(assigned_count=Coalesce(count, Value(0))).order_by("number")
    if slots == "free":
        stories = stories.filter(assigned_count__lt=project.overlap)
    elif slots == "full":
        stories = stories.filter(assigned_count__gte=project.overlap)
    return stories


def assignments_at(stories: QuerySet[Story], *, annotators: Iterable[User | int]) -> QuerySet[Assignment]:
    """Return what these people are assigned to among the stories."""
    return Assignment.objects.active().filter(story__in=stories.order_by().values("pk"), annotator__in=annotators)


def foreseen(assignments: QuerySet[Assignment]) -> Json:
    """Return the consequences of a release: the `count` of assignments that it ends, with (person, count) in order of
    shown name as `loads`, and how many `votes` it withdraws."""
    here = assignments.filter(annotator=OuterRef("annotator"), story=OuterRef("story")).order_by()
    votes = AnnotatorCounts.objects.filter(Exists(here)).aggregate(votes=Coalesce(Sum("cells"), 0))
    count_of = dict(assignments.order_by().values_list("annotator").annotate(Count("pk")))
    people = sorted(User.objects.filter(pk__in=count_of), key=lambda person: person.shown_name)
    return votes | {"loads": [(person, count_of[person.pk]) for person in people], "count": sum(count_of.values())}


def plan_assignments(
    *, project: Project, stories: Collection[int], annotators: Collection[int], seed: int, without_table: bool = False
) -> Plan:
    """Return the assignments that the plan would add to these stories for these annotators, given the assignments that
    there are. It balances propositions; stories that have none are left out, unless `without_table` counts them as one,
    and so are those withdrawn.

    Raises PlanError where the seed, the overlap or the annotators will not do.
    """
    if seed not in SEEDS:
        raise PlanError(NO_SEED)
    counts = StoryCounts.objects.filter(story__project=project)
    weight_of = dict(counts.values_list("story_id", "propositions"))
    used = set(project.stories.in_use().order_by().values_list("id", flat=True)).intersection(stories)
    weights = {pk: weight_of[pk] for pk in used if weight_of[pk] or without_table}
    annotators_of: dict[int, set[int]] = defaultdict(set)
    load: dict[int, int] = defaultdict(int)
    assignments = Assignment.objects.active().filter(story__project=project)
    for story, annotator in assignments.values_list("story_id", "annotator_id"):
        annotators_of[story].add(annotator)
        load[annotator] += max(1, weight_of[story])
    return plan(weights, sorted(annotators), overlap=project.overlap, seed=seed, assigned=annotators_of, load=load)


@transaction.atomic
def assign(
    *,
    by: User | None,
    project: Project,
    assignments: Collection[tuple[int, int]],
    seed: int | None = None,
    due: date | None = None,
) -> int:
    """Create the assignments, to be finished by the end of `due`. Each takes the lowest free slot; a slot that someone
    else took meanwhile is tried again, and a story that is full by then is left as it is: the database, not this
    function, keeps the overlap. Returns the number created. Raises DayHasPassed.
    """
    check_due(due)
    taken: dict[int, set[int]] = defaultdict(set)
    rows = Assignment.objects.active().filter(story__in={story for story, _ in assignments})
    for story, slot in rows.values_list("story_id", "slot"):
        taken[story].add(slot)
    created = sum(
        _assign_one(by, project, story, annotator, taken[story], seed, due) for story, annotator in sorted(assignments)
    )
    if created:
        people = sorted(
            User.objects.filter(id__in={annotator for _, annotator in assignments}).values_list("username", flat=True)
        )
        details = {"assignments": created, "seed": seed} | ({"due": due.isoformat()} if due else {})
        audit.record(by=by, project=project, action="assignment.created", target=", ".join(people), **details)
    return created


def _assign_one(
    by: User | None, project: Project, story: int, annotator: int, taken: set[int], seed: int | None, due: date | None
) -> bool:
    for slot in range(1, project.overlap + 1):
        if slot in taken:
            continue
        taken.add(slot)
        try:
            with transaction.atomic():
                Assignment.objects.create(
                    story_id=story, annotator_id=annotator, slot=slot, overlap=project.overlap, seed=seed, due=due,
                    assigned_by=by,
                )  # fmt: skip
            return True
        except IntegrityError:
            if Assignment.objects.active().filter(story_id=story, annotator_id=annotator).exists():
                return False
    return False


class DayHasPassed(ValueError):
    """Nobody can be told to finish by this day; the message is one sentence."""


def check_due(due: date | None, assignments: QuerySet[Assignment] | None = None) -> None:
    """Raise DayHasPassed where the day is over, unless it is the day that all these assignments have already."""
    now = timezone.now()
    if due is None or not is_over(due, now):
        return
    if assignments is not None and assignments.exists() and not assignments.exclude(due=due).exists():
        return
    written = {"due": date_format(due, gettext("j F Y")), "today": date_format(now, gettext("j F Y"))}
    raise DayHasPassed(gettext("{due} has passed; today is {today} (UTC).").format(**written))


@transaction.atomic
def set_due(*, by: User | None, project: Project, assignments: QuerySet[Assignment], due: date | None) -> int:
    """Set, or with None take away, the day by which these assignments shall be finished; returns how many. Raises
    DayHasPassed."""
    check_due(due, assignments)
    people = sorted(set(assignments.order_by().values_list("annotator__username", flat=True)))
    changed = Assignment.objects.active().filter(pk__in=assignments.order_by().values("pk")).update(due=due)
    if changed:
        day = due.isoformat() if due else "none"
        audit.record(
            by=by, project=project, action="assignment.due", target=", ".join(people), assignments=changed, due=day
        )
    return changed


def release_all(*, by: User | None, assignments: QuerySet[Assignment], now: datetime) -> tuple[int, int]:
    """Release the assignments one after the other, each in a transaction of its own, so that others go on voting
    meanwhile; returns (how many, votes withdrawn)."""
    released = votes = 0
    rows = assignments.select_related("story__project", "annotator").defer("story__text", "story__translations")
    for assignment in list(rows):
        votes += release(by=by, assignment=assignment, now=now)
        released += 1
    return released, votes


@transaction.atomic
def release(*, by: User | None, assignment: Assignment, now: datetime) -> int:
    """Release the assignment and withdraw its votes, as events: nothing is lost. Returns how many votes were
    withdrawn."""
    if not Assignment.objects.active().filter(pk=assignment.pk).update(released_at=now):
        return 0
    votes = list(
        Vote.objects.cast()
        .select_for_update()
        .filter(annotator_id=assignment.annotator_id, proposition__table__story_id=assignment.story_id)
    )
    events = []
    for vote in votes:
        key, cell = f"release-{uuid.uuid4().hex}", (vote.proposition_id, vote.dimension)
        named = {"proposition_id": cell[0], "dimension": cell[1], "annotator_id": vote.annotator_id}
        moments = {"changed_at": now, "received_at": now}
        events.append(
            VoteEvent(**named, **moments, label="", previous=vote.label, idempotency_key=key, origin="release")
        )
        vote.label, vote.changed_at, vote.idempotency_key = "", now, key
    Vote.objects.bulk_update(votes, ["label", "changed_at", "idempotency_key"], batch_size=500)
    VoteEvent.objects.bulk_create(events)
    cells = {(vote.proposition_id, vote.dimension) for vote in votes}
    resolve_cells(project=assignment.story.project, cells=cells, now=now, by=by)
    details = {"story": assignment.story.number, "votes": len(votes)}
    person = assignment.annotator.username
    audit.record(by=by, project=assignment.story.project, action="assignment.released", target=person, **details)
    return len(votes)


EXPERTS = range(1, 3)
CHARACTERS = 100
"""A story weighs one for so many characters of its text: nothing else is known of its table before it is written."""


def plan_tables(*, project: Project, stories: Collection[int], experts: Collection[int], seed: int) -> Plan:
    """Return who would write which of these stories' tables; stories with a table are left out. Raises PlanError."""
    settled = Proposition.objects.live_gold().filter(table__story__project=project).values("table__story")
    every = dict(project.stories.order_by().values_list("id", Length("text")))
    rows = Story.objects.filter(id__in=stories, project=project).in_use().exclude(id__in=settled)
    bare = set(rows.values_list("id", flat=True))
    writers: dict[int, set[int]] = defaultdict(set)
    load: dict[int, int] = defaultdict(int)
    drafts = BeliefTable.objects.drafts().filter(story__project=project)
    for story, author in drafts.values_list("story_id", "author_id"):
        writers[story].add(author)
        load[author] += 1 + every[story] // CHARACTERS
    weights = {story: 1 + every[story] // CHARACTERS for story in bare}
    return plan(
        weights, sorted(experts), overlap=project.table_experts, seed=seed, assigned=writers, load=load, allowed=EXPERTS
    )


@transaction.atomic
def give_tables(*, by: User | None, project: Project, assignments: Collection[tuple[int, int]], seed: int) -> int:
    """Give each (story, expert) pair a slot of the story; returns how many. A story that is full by then is left."""
    stories = Story.objects.select_related("project").in_bulk([story for story, _ in assignments])
    experts = User.objects.in_bulk([expert for _, expert in assignments])
    given = 0
    for story, expert in sorted(assignments):
        try:
            draft = take_slot(by=by, story=stories[story], expert=experts[expert])
        except Refused:
            continue
        given += 1
        if by is None or by.pk != expert:
            BeliefTable.objects.filter(pk=draft.pk).update(given_by=by)
    if given:
        people = ", ".join(sorted(person.username for person in experts.values()))
        audit.record(by=by, project=project, action="tables.given", target=people, tables=given, seed=seed)
    return given
