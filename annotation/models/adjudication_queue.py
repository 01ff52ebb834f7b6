"""Named reads of the experts' queue: a constant number of statements, whatever the size of the project."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery

from annotation.domain.resolution import from_json
from annotation.models.belief_table import Proposition
from annotation.models.gold import GoldLabel, Method
from annotation.models.project import Project
from annotation.models.story import Claim, Story
from annotation.models.user import User
from annotation.models.vote import Vote, VoteQuerySet

TODO = Q(method=Method.OPEN) | Q(method=Method.ADJUDICATED, disturbed=True)
STATUSES = {
    "todo": TODO,
    "open": Q(method=Method.OPEN),
    "disturbed": Q(method=Method.ADJUDICATED, disturbed=True),
    "adjudicated": Q(method=Method.ADJUDICATED),
    "majority": Q(method=Method.MAJORITY),
    "all": Q(),
}
BETWEEN = "|"

Group = tuple[int, int, float, int]
"""A story with cells of a queue: its id, its number, the smallest agreement among the cells (1 without votes), and the
number of cells."""
Place = tuple[int, int, int]
"""Place of a cell in the order of stories and their rows: story number, position, and the id of its gold label."""


class Kind(NamedTuple):
    """Kind of cells that are alike: what they have in common; `votes` are the labels, sorted, with a bar between."""

    dimension: str
    votes: str

    @property
    def labels(self) -> list[str]:
        return self.votes.split(BETWEEN)


def of_project(project: Project | int) -> QuerySet[GoldLabel]:
    # A list of story ids, not a join: rows of stories are long, and the ids come from an index alone.
    stories = Story.objects.filter(project=project).in_use().order_by().values("id")
    return GoldLabel.objects.filter(proposition__table__story_id__in=stories, proposition__removed_at__isnull=True)


def cells(
    project: Project, *, unfinished: Iterable[int] = (), status: str = "todo", **filters: str
) -> QuerySet[GoldLabel]:
    """Return the cells that match, in no order.

    `unfinished` are the stories that the expert still labels: they are left out. `filters`: dimension, category, split,
    text (in actor, belief or story, or a story's number) and pair, two labels with a bar between, both voted for; of
    `A|A`, cells where two annotators chose A.
    """
    rows = of_project(project).filter(STATUSES[status])
    stories = Story.objects.filter(project=project).order_by()
    if unfinished := set(unfinished):
        rows = rows.exclude(proposition__table__story_id__in=unfinished)
    if filters.get("dimension"):
        rows = rows.filter(dimension=filters["dimension"])
    if filters.get("category") or filters.get("split"):
        part = stories.in_category(filters.get("category")).in_split(filters.get("split"))
        rows = rows.filter(proposition__table__story_id__in=part.values("id"))
    if text := filters.get("text"):
        is_number = text.isdecimal() and len(text) < 18
        mentioned = Q(text__icontains=text) | (Q(number=int(text)) if is_number else Q())
        rows = rows.filter(
            Q(proposition__belief__icontains=text)
            | Q(proposition__actor__icontains=text)
            | Q(proposition__table__story_id__in=stories.filter(mentioned).values("id"))
        )
    if filters.get("pair"):
        first, _, second = filters["pair"].partition(BETWEEN)
        votes = _votes_here(label=first)
        if first == second:
            rows = rows.filter(Exists(votes.values("label").annotate(count=Count("id")).filter(count__gte=2)))
        else:
            rows = rows.filter(Exists(votes), Exists(_votes_here(label=second)))
    return rows


def _votes_here(**chosen: Any) -> VoteQuerySet:
    return Vote.objects.filter(proposition_id=OuterRef("proposition_id"), dimension=OuterRef("dimension"), **chosen)


def not_voted_on(rows: QuerySet[GoldLabel], expert: User) -> QuerySet[GoldLabel]:
    """Return those of the cells on which the expert never voted."""
    return rows.exclude(Exists(_votes_here(annotator=expert)))


def open_to(
    project: Project, expert: User, *, unfinished: Iterable[int], now: datetime, dimension: str = ""
) -> QuerySet[GoldLabel]:
    """Return the open cells that the expert may decide: without those that the expert voted on, of stories that the
    expert still labels, and of stories that another expert has claimed."""
    rows = cells(project, unfinished=unfinished, status="open", dimension=dimension)
    taken = Claim.objects.of_others(expert, project, now).values("story_id")
    return not_voted_on(rows, expert).exclude(proposition__table__story__in=taken).order_by()


def by_story(rows: QuerySet[GoldLabel], project: Project) -> list[Group]:
    """Return the stories of `cells`, lowest agreement first, then in story order."""
    numbers = dict(Story.objects.filter(project=project).order_by().values_list("id", "number"))
    counted = (
        rows.order_by().values_list("proposition__table__story_id").annotate(lowest=Min("agreement"), cells=Count("id"))
    )
    groups = [(story, numbers[story], 1.0 if low is None else low, count) for story, low, count in counted]
    return sorted(groups, key=lambda group: (group[2], group[1]))


def left(project: Project) -> dict[str, dict[str, int]]:
    """Return by dimension the numbers of cells to decide (`todo`) and of those that an expert decided (`decided`)."""
    rows = of_project(project).filter(method__in=[Method.OPEN, Method.ADJUDICATED]).order_by()
    counted = rows.values("dimension").annotate(todo=Count("id", filter=TODO), every=Count("id"))
    return {row["dimension"]: {"todo": row["todo"], "decided": row["every"] - row["todo"]} for row in counted}


def awaiting(project: Project, expert: User) -> set[int]:
    """Return the stories with a cell that this expert may still decide. Every page of results asks for them."""
    cells = not_voted_on(of_project(project).filter(TODO), expert).order_by()
    return set(cells.values_list("proposition__table__story_id", flat=True).distinct())


def voted_on(expert: User, propositions: Iterable[Proposition | int]) -> set[tuple[int, str]]:
    """Return the cells that the expert ever voted on: a withdrawn vote keeps its row."""
    rows = Vote.objects.filter(annotator=expert, proposition__in=propositions)
    return set(rows.values_list("proposition_id", "dimension"))


def votes_on(propositions: Iterable[Any]) -> dict[tuple[int, str], list[tuple[int, str]]]:
    """Return the standing votes by cell, (annotator id, label) each."""
    votes_by_cell: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
    rows = Vote.objects.cast().filter(proposition__in=propositions).order_by("annotator_id")
    for proposition, dimension, annotator, label in rows.values_list(
        "proposition_id", "dimension", "annotator_id", "label"
    ):
        votes_by_cell[proposition, dimension].append((annotator, label))
    return votes_by_cell


def guideline_cases(project: Project) -> QuerySet[GoldLabel]:
    # The few flagged rows first, by their partial index: a join alone would walk every cell of the project.
    rows = of_project(project).filter(pk__in=GoldLabel.objects.filter(guideline_flag=True).values("pk"))
    return rows.select_related("proposition__table__story", "decided_by").order_by("-decided_at", "-id")


def overruled(project: Project, annotator: User, *, unfinished: Iterable[int]) -> QuerySet[GoldLabel]:
    """Return the decisions against a standing vote of the annotator (`mine`), newest first, in stories that they have
    finished."""
    rows = of_project(project).filter(method=Method.ADJUDICATED)
    own_votes = _votes_here(annotator=annotator).cast().values("label")
    return (
        rows.exclude(proposition__table__story_id__in=set(unfinished))
        .annotate(mine=Subquery(own_votes))
        .filter(mine__isnull=False)
        .exclude(mine=F("label"))
        .select_related("proposition__table__story")
        .order_by("-decided_at", "-id")
    )


def kind_of(dimension: str, votes: Iterable[Any]) -> Kind:
    return Kind(dimension, BETWEEN.join(sorted(vote.label for vote in from_json(votes))))


def kinds(rows: QuerySet[GoldLabel]) -> Counter[Kind]:
    """Return how many of the cells are of each kind."""
    return Counter(kind_of(*row) for row in rows.values_list("dimension", "votes"))


def places(rows: QuerySet[GoldLabel], kind: Kind) -> list[Place]:
    """Return the cells of a kind, in the order of stories and their rows."""
    listed = rows.filter(dimension=kind.dimension).values_list(
        "votes", "proposition__table__story__number", "proposition__position", "id"
    )
    return sorted(
        (number, position, pk) for votes, number, position, pk in listed if kind_of(kind.dimension, votes) == kind
    )
