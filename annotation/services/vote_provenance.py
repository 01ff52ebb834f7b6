"""Provenance of votes, what people saw when they voted: the suggestion of each cell, and the votes that it cannot have
touched."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from annotation.domain.arms import Arm, untouched
from annotation.models import Proposition, Story, Suggestion, Vote, VoteEvent
from annotation.models.belief_table import PropositionQuerySet

ByDimension = dict[str, str]
_IMPORTED = VoteEvent.objects.filter(
    annotator=OuterRef("annotator"), idempotency_key=OuterRef("idempotency_key"), origin="import"
)
"""The change that a vote stands by, where it was imported."""


@dataclass(slots=True)
class VoteProvenance:
    """`suggested` has the label that a model suggested for each cell on which somebody voted in an arm, by proposition
    id; `blind` the votes that no suggestion can have touched, by proposition id and user name; `unknown`, in the same
    form, the imported ones, of which nobody here knows what their annotators saw."""

    suggested: dict[int, ByDimension] = field(default_factory=lambda: defaultdict(dict))
    blind: dict[int, dict[str, ByDimension]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))
    unknown: dict[int, dict[str, ByDimension]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))


def provenance_of(stories: Sequence[Story]) -> VoteProvenance:
    """Return how the votes that stand on the gold tables of these stories came about.

    A vote is blind where its arm was, where it was the first one of a reveal, or where there was no suggestion to see.
    One that was imported, and that nobody has changed since, is not known to be blind.
    """
    provenance = VoteProvenance()
    live = Proposition.objects.live_gold().filter(table__story__in=stories)
    first = _first_votes(live)
    columns = ("proposition_id", "dimension", "annotator__username", "label", "arm", "suggested", "imported")
    armed = set()
    cast = Vote.objects.cast().filter(proposition__in=live).annotate(imported=Exists(_IMPORTED))
    for pk, key, name, label, arm, suggested, imported in cast.values_list(*columns):
        if imported:
            provenance.unknown[pk][name][key] = label
            continue
        if arm == Arm.NONE:
            blind = "" if suggested else label
        else:
            armed.add((pk, key))
            blind = untouched(arm, label, first=first.get((pk, key, name), ""), nothing="")
        if blind:
            provenance.blind[pk][name][key] = blind
    if armed:
        for pk, key, label in Suggestion.objects.filter(proposition__in=live).values_list(
            "proposition_id", "dimension", "label"
        ):
            if (pk, key) in armed:
                provenance.suggested[pk][key] = label
    return provenance


def _first_votes(live: PropositionQuerySet) -> dict[tuple[int, str, str], str]:
    """Return the last label that each annotator gave a cell before its suggestion was revealed."""
    events = VoteEvent.objects.filter(proposition__in=live, arm=Arm.REVEAL, suggested="", applied=True)
    rows = events.exclude(label="").order_by("changed_at")
    return {
        (pk, key, name): label
        for pk, key, name, label in rows.values_list("proposition_id", "dimension", "annotator__username", "label")
    }
