"""The stories and cells that a round of suggestions may still ask for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet
from django.utils.translation import gettext, ngettext

from annotation.domain.tasks import EXTRACT, LABEL
from annotation.models import (
    DraftRow,
    Prefill,
    Project,
    Proposition,
    RoundKind,
    Story,
    SuggestedRow,
    Suggestion,
    VoteEvent,
)
from core.catalogues.sentences import translated
from core.joints import listed, noted
from core.messages import gettext_noop
from workers.models import Endpoint, Item

Cell = tuple[int, str]
TASKS = {RoundKind.LABELS: LABEL, RoundKind.TABLES: EXTRACT}
"""The kind of task that a round asks (annotation/domain/labelling.py, annotation/domain/drafting.py)."""
_CANNOT = {
    RoundKind.LABELS: gettext_noop("{endpoint} cannot label: {model} is a baseline for another task; {able} can."),
    RoundKind.TABLES: gettext_noop(
        "{endpoint} cannot write belief tables: {model} is a baseline for another task; {able} can."
    ),
}


class PrefillRefused(ValueError):
    """Says in one sentence why it cannot be done."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Stories with open cells, or without a table, that no other round asks for; `cells` by story id, none where tables
    are asked for. `covered` counts by round those that one asks for."""

    stories: list[Story]
    cells: dict[int, set[Cell]]
    covered: dict[Prefill, int] = field(default_factory=dict)

    @property
    def left_out(self) -> str:
        """One sentence about the stories that rounds cover; empty where there are none."""
        count = sum(self.covered.values())
        if not count:
            return ""
        which = listed(
            noted(prefill.uid, listed((prefill.endpoint.name, translated(prefill.job.standing))))
            for prefill in self.covered
        )
        many = len(self.covered) > 1
        if many:
            sentence = ngettext(
                "{count} story is left out: the rounds {which} have not ended with it.",
                "{count} stories are left out: the rounds {which} have not ended with them.",
                count,
            )
        else:
            sentence = ngettext(
                "{count} story is left out: the round {which} has not ended with it.",
                "{count} stories are left out: the round {which} has not ended with them.",
                count,
            )
        return sentence.format(count=count, which=which)


def scope_of(*, project: Project, stories: Sequence[Story], kind: str = RoundKind.LABELS) -> Scope:
    """Return what a new round may ask for, in the order of `stories`. A round asks for a story until its item has
    ended, also while the round is paused."""
    cells = open_cells(stories) if kind == RoundKind.LABELS else {}
    open_ = {pk for pk, left in cells.items() if left} if kind == RoundKind.LABELS else without_table(stories)
    asking = _asking(project, kind)
    chosen: list[Story] = []
    covered: dict[Prefill, int] = defaultdict(int)
    for story in stories:
        if story.withdrawn_at or story.pk not in open_:
            continue
        if story.uid in asking:
            covered[asking[story.uid]] += 1
        else:
            chosen.append(story)
    return Scope(chosen, cells, dict(covered))


def _asking(project: Project, kind: str) -> dict[str, Prefill]:
    """Return story uid → the round of that kind that has not ended with it."""
    rounds = {
        prefill.job_id: prefill for prefill in project.prefills.filter(kind=kind).select_related("endpoint", "job")
    }
    items = Item.objects.still_open().filter(job__in=rounds)
    return {uid: rounds[job] for uid, job in items.values_list("key", "job_id")}


def open_cells(stories: Collection[Story]) -> dict[int, set[Cell]]:
    """Return by story id the cells that may get a suggestion: nobody ever voted on them, and they have none. Three
    queries."""
    ids = [story.pk for story in stories]
    live = Proposition.objects.live_gold().filter(table__story__in=ids)
    taken = set(VoteEvent.objects.filter(proposition__in=live).values_list("proposition_id", "dimension").distinct())
    taken |= set(Suggestion.objects.filter(proposition__in=live).values_list("proposition_id", "dimension"))
    keys = {story.pk: story.project.schema.keys for story in stories}
    cells: dict[int, set[Cell]] = defaultdict(set)
    for pk, story in live.values_list("pk", "table__story"):
        cells[story] |= {(pk, key) for key in keys[story]} - taken
    return cells


def without_table(stories: Collection[Story]) -> set[int]:
    """Return the ids of the stories of which a model may draft the table: there is none, no expert has begun one, and
    no model has drafted one. Three queries."""
    ids = {story.pk for story in stories}
    live = Proposition.objects.live_gold().filter(table__story__in=ids)
    ids -= set(live.order_by().values_list("table__story", flat=True).distinct())
    begun = DraftRow.objects.filter(table__story__in=ids)
    ids -= set(begun.order_by().values_list("table__story", flat=True).distinct())
    return ids - set(SuggestedRow.objects.filter(story__in=ids, number=1).values_list("story", flat=True))


def endpoints_for(kind: str) -> QuerySet[Endpoint]:
    """Return the endpoints in use that can do what a round of this kind asks: every one but the baselines that stand
    for another task."""
    return Endpoint.objects.usable().able_to(TASKS[RoundKind(kind)])


def check_able(endpoint: Endpoint, kind: str) -> None:
    """Raise PrefillRefused for a baseline of another task than a round of this kind asks."""
    task = TASKS[RoundKind(kind)]
    if endpoint.tasks is not None and task not in endpoint.tasks:
        able = gettext(" and ").join(name for name, model in endpoint.about.models.items() if task in model.tasks)
        raise PrefillRefused(
            gettext(_CANNOT[RoundKind(kind)]).format(endpoint=endpoint.name, model=endpoint.model, able=able)
        )
