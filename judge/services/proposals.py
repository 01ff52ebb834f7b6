"""How far people's links are proposals that they accepted: what a page proposes can lead who aligns."""

from __future__ import annotations

from dataclasses import dataclass

from judge.models import Alignment, AlignmentEvent, AlignmentStudy


@dataclass(frozen=True, slots=True)
class Accepted:
    """Of the `links` in alignments that were handed in, those that stand as they were proposed and `accepted`; of all
    proposals that people accepted, `changed` ones do not stand."""

    links: int
    accepted: int
    changed: int


def accepted_of(study: AlignmentStudy) -> Accepted:
    """Return how many links of a study were accepted as proposed. Two statements."""
    handed_in = Alignment.objects.handed_in().filter(task__study=study)
    links = sum(len(answer.links) for one in handed_in.only("answers") for answer in one.said.values())
    last: dict[tuple[int, str], bool] = {}
    proposed: set[tuple[int, str]] = set()
    events = AlignmentEvent.objects.filter(alignment__in=handed_in).exclude(row="").order_by("id")
    for alignment, row, accepted in events.values_list("alignment", "row", "accepted").iterator():
        last[alignment, row] = accepted
        if accepted:
            proposed.add((alignment, row))
    accepted = sum(last[place] for place in proposed)
    return Accepted(links, accepted, len(proposed) - accepted)
