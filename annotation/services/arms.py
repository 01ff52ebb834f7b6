"""The suggestions that an annotator sees, and when. Decided by the server alone, from what was drawn for the
assignment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from annotation.domain.arms import Arm, DrawUnit, draw_arm, untouched
from annotation.models import Assignment, Project, Proposition, Story, Suggestion, Vote, VoteEvent

Cell = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Suggested:
    """The suggestion of a cell and its arm for one assignment."""

    label: str
    source: str
    arm: Arm


DRAWN = ("arms_seed", "arms_unit", "blind_share", "reveal_share")


def awaits_draw(assignment: Assignment) -> bool:
    """Return whether there are suggestions in the story, and the arms of the assignment are not drawn yet."""
    suggestions = Suggestion.objects.filter(proposition__table__story=assignment.story_id)
    return not assignment.arms_drawn_at and suggestions.exists()


def draw_for(*, assignment: Assignment, now: datetime) -> None:
    """Draw the arms of an assignment, once: when its grid is first opened with suggestions in the story."""
    if awaits_draw(assignment):
        project = Project.objects.get(pk=assignment.story.project_id)
        drawn = {"arms_drawn_at": now, **{name: getattr(project, name) for name in DRAWN}}
        Assignment.objects.filter(pk=assignment.pk, arms_drawn_at=None).update(**drawn)
        assignment.refresh_from_db(fields=list(drawn))  # another tab may have been first


def arm_of(assignment: Assignment, proposition: str, dimension: str) -> Arm:
    """Return the arm of one cell for this assignment; NONE before the arms were drawn. The slot stands for the
    annotator, so that an archive carries the draw to an installation where people have other numbers."""
    if not assignment.arms_drawn_at:
        return Arm.NONE
    return draw_arm(
        seed=assignment.arms_seed,
        unit=DrawUnit(assignment.arms_unit),
        story=assignment.story.uid,
        blind=assignment.blind_share,
        reveal=assignment.reveal_share,
        proposition=proposition,
        dimension=dimension,
        annotator=assignment.slot,
    )


def suggestions_on(*, assignment: Assignment, ids: Mapping[str, int]) -> dict[Cell, Suggested]:
    """Return (proposition id, dimension) → its suggestion; empty, without a query, before the arms of the assignment
    were drawn. `ids` maps uids to proposition ids."""
    if not assignment.arms_drawn_at:
        return {}
    uids = {pk: uid for uid, pk in ids.items()}
    rows = Suggestion.objects.filter(proposition_id__in=uids)
    return {
        (pk, key): Suggested(label, source, arm_of(assignment, uids[pk], key))
        for pk, key, label, source in rows.values_list("proposition_id", "dimension", "label", "source")
    }


def shown_to(*, assignment: Assignment, ids: Mapping[str, int], voted: Iterable[Cell]) -> dict[Cell, Suggested]:
    """Return the suggestions that the grid may show now: cells of the arm `shown`, and of `reveal` where the
    annotator's vote stands."""
    cast = set(voted)
    return {
        cell: suggestion
        for cell, suggestion in suggestions_on(assignment=assignment, ids=ids).items()
        if suggestion.arm is Arm.SHOWN or (suggestion.arm is Arm.REVEAL and cell in cast)
    }


ByPerson = dict[int, dict[str, dict[str, str]]]
"""Labels by proposition id, user name and dimension."""
Provenance = tuple[dict[int, dict[str, str]], ByPerson, ByPerson]
_IMPORTED = VoteEvent.objects.filter(
    annotator=OuterRef("annotator"), idempotency_key=OuterRef("idempotency_key"), origin="import"
)
"""The change that a vote stands by, where it was imported."""


def provenance_of(stories: Sequence[Story]) -> Provenance:
    """Return how the votes that stand on the gold tables of these stories came about: (labels that a model suggested
    for cells on which somebody voted in an arm, by proposition id and dimension; votes that no suggestion can have
    touched; imported votes, of which nobody here knows what their annotators saw).

    A vote is blind where its arm was, where it was the first one of a reveal, or where there was no suggestion to see.
    One that was imported, and that nobody has changed since, is not known to be blind.
    """
    shown: dict[int, dict[str, str]] = defaultdict(dict)
    untouched_votes: ByPerson = defaultdict(lambda: defaultdict(dict))
    unknown: ByPerson = defaultdict(lambda: defaultdict(dict))
    live = Proposition.objects.live_gold().filter(table__story__in=stories)
    # The last label that each annotator gave a cell before its suggestion was revealed.
    events = VoteEvent.objects.filter(proposition__in=live, arm=Arm.REVEAL, suggested="", applied=True)
    before = events.exclude(label="").order_by("changed_at")
    first = {
        (pk, key, name): label
        for pk, key, name, label in before.values_list("proposition_id", "dimension", "annotator__username", "label")
    }
    columns = ("proposition_id", "dimension", "annotator__username", "label", "arm", "suggested", "imported")
    armed = set()
    cast = Vote.objects.cast().filter(proposition__in=live).annotate(imported=Exists(_IMPORTED))
    for pk, key, name, label, arm, suggested, imported in cast.values_list(*columns):
        if imported:
            unknown[pk][name][key] = label
            continue
        if arm == Arm.NONE:
            blind = "" if suggested else label
        else:
            armed.add((pk, key))
            blind = untouched(arm, label, first=first.get((pk, key, name), ""), nothing="")
        if blind:
            untouched_votes[pk][name][key] = blind
    if armed:
        for pk, key, label in Suggestion.objects.filter(proposition__in=live).values_list(
            "proposition_id", "dimension", "label"
        ):
            if (pk, key) in armed:
                shown[pk][key] = label
    return shown, untouched_votes, unknown
