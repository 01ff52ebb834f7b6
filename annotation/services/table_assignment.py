"""Giving stories to experts who write their belief tables, by the balanced rule of labelling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db import transaction
from django.db.models.functions import Length

from annotation.domain.assignment import Plan, plan
from annotation.models import BeliefTable, Project, Proposition, Story, User
from annotation.services import audit
from annotation.services.drafts import Refused, take_slot

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
