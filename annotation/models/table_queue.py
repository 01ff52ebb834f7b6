"""Stories by how far their belief table is, as one expert may know it: never what another one wrote."""

from collections import Counter
from typing import Any

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext_lazy

from annotation.models.belief_table import BeliefTable, Proposition
from annotation.models.project import Project
from annotation.models.story import Story
from annotation.models.user import User

STATES = {
    "open": gettext_lazy("To write"),
    "mine": gettext_lazy("My drafts"),
    "handed": gettext_lazy("Handed in"),
    "ready": gettext_lazy("Ready to reconcile"),
    "others": gettext_lazy("Written by others"),
    "done": gettext_lazy("Done"),
}
"""States of tables in the order of the work; *open* still needs an expert, *handed* waits for the other one."""
WORK = ("mine", "ready", "open")
"""States in which an expert has something to do, those that were begun first."""


def with_states(project: Project, user: User | None) -> QuerySet[Any]:
    """Return the project's stories in use with `table_state`, one of STATES for this person, and `given`: an admin gave
    it to them."""
    drafts = BeliefTable.objects.drafts().filter(story=OuterRef("pk"))
    own = drafts.filter(author=user) if user is not None else drafts.none()
    return (
        project.stories.in_use()
        .order_by("number")
        .annotate(
            taken=_count(drafts),
            submitted=_count(drafts.filter(submitted_at__isnull=False)),
            own=Exists(own),
            own_in=Exists(own.filter(submitted_at__isnull=False)),
            given=Exists(own.filter(given_by__isnull=False)),
            settled=Exists(Proposition.objects.live_gold().filter(table__story=OuterRef("pk"))),
        )
        .annotate(
            table_state=Case(
                When(settled=True, then=Value("done")),
                When(submitted__gte=Greatest(F("taken"), Value(project.table_experts)), then=Value("ready")),
                When(own_in=True, then=Value("handed")),
                When(own=True, then=Value("mine")),
                When(taken__gte=project.table_experts, then=Value("others")),
                default=Value("open"),
                output_field=CharField(),
            )
        )
    )


def by_table(stories: QuerySet[Story], project: Project, state: str) -> QuerySet[Story]:
    """Return the stories whose table is in that state whoever asks: none, drafts, ready or done."""
    all_stories = with_states(project, None)
    chosen = {
        "done": all_stories.filter(settled=True),
        "ready": all_stories.filter(table_state="ready"),
        "drafts": all_stories.filter(taken__gt=0).exclude(table_state__in=("ready", "done")),
        "none": all_stories.filter(settled=False, taken=0),
    }
    return stories.filter(pk__in=chosen[state].order_by().values("pk"))


def open_to(project: Project, user: User, *, reconciles: bool) -> set[int]:
    """Return the stories whose table this person writes: of an own draft until there is gold, and where the person
    `reconciles` of everybody's that are all handed in. A table that nobody has begun is nobody's work yet."""
    drafts = BeliefTable.objects.drafts().filter(story__project=project, story__withdrawn_at=None).order_by()
    without_gold = ~Exists(Proposition.objects.live_gold().filter(table__story=OuterRef("story")))
    rows = drafts.filter(without_gold).values_list("story_id", "author_id", "submitted_at")
    experts = Counter(story for story, _, _ in rows)
    handed_in = Counter(story for story, _, submitted_at in rows if submitted_at is not None)
    own = {story for story, author, _ in rows if author == user.pk}
    ready = {story for story, count in handed_in.items() if count >= max(project.table_experts, experts[story])}
    return own | ready if reconciles else own


def _count(drafts: QuerySet[BeliefTable]) -> Coalesce:
    counted = drafts.order_by().values("story").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))


def counts(stories: QuerySet[Any]) -> dict[str, int]:
    """Return state → stories, over what `with_states` returned."""
    rows = dict(stories.order_by().values_list("table_state").annotate(count=Count("pk")))
    return {state: rows.get(state, 0) for state in STATES}


def next_of(stories: QuerySet[Any], *, after: int | None) -> Story | None:
    """Return the next story with work for this person: their drafts first, then what is ready, then what is open; of
    each the next number after `after`, and from the beginning again. That one itself comes last of all."""
    left = stories.filter(table_state__in=WORK)
    ranks = [When(table_state=state, then=Value(at)) for at, state in enumerate(WORK)]
    rank = Case(*ranks, output_field=IntegerField())
    itself = Case(When(number=-1 if after is None else after, then=Value(1)), default=Value(0))
    behind = Case(When(number__gt=after or -1, then=Value(0)), default=Value(1), output_field=IntegerField())
    return left.annotate(itself=itself, rank=rank, behind=behind).order_by("itself", "rank", "behind", "number").first()


def found_by(stories: QuerySet[Story], text: str) -> QuerySet[Story]:
    """Return the stories with that number, or with these words in their text or a translation."""
    text = text.strip()
    words = Q(text__icontains=text)
    if text.isdecimal() and len(text) < 19:
        return stories.filter(words | Q(number=int(text)))
    return stories.filter(words)
