"""The share of people's links that are proposals which they accepted: what a page proposes can lead who aligns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from judge.domain.proposal_effect import Lacking, Linked, ProposalEffect, effect_of
from judge.domain.proposing import propose
from judge.models import Alignment, AlignmentEvent, AlignmentState, AlignmentStudy, AlignmentTask
from judge.services.cluster_names import cluster_of


@dataclass(frozen=True, slots=True)
class Accepted:
    """Links in alignments that were handed in: how many of the `links` stand as they were proposed and `accepted`, and
    how many of all proposals that people accepted do not stand: the `changed` ones."""

    links: int
    accepted: int
    changed: int


def accepted_of(study: AlignmentStudy) -> Accepted:
    """Return how many links of a study were accepted as proposed. Two statements."""
    handed_in = Alignment.objects.handed_in().filter(task__study=study)
    links = sum(
        len(answer.links) for alignment in handed_in.only("answers") for answer in alignment.answers_by_row.values()
    )
    last: dict[tuple[int, str], bool] = {}
    proposed: set[tuple[int, str]] = set()
    events = AlignmentEvent.objects.filter(alignment__in=handed_in).exclude(row="").order_by("id")
    for alignment, row, accepted in events.values_list("alignment", "row", "accepted").iterator():
        last[alignment, row] = accepted
        if accepted:
            proposed.add((alignment, row))
    accepted = sum(last[place] for place in proposed)
    return Accepted(links, accepted, len(proposed) - accepted)


def effect_of_proposals(study: AlignmentStudy) -> ProposalEffect | None:
    """Return how much likelier people link what a page proposes where it does; None of a study that shows proposals to
    everybody. One statement."""
    if not study.blind_share:
        return None
    proposed: dict[int, set[tuple[str, str]]] = {}
    linked_proposals = []
    given, lacking = Counter[bool](), Counter[bool]()
    rows = Alignment.objects.active().filter(task__study=study).select_related("task").order_by("pk")
    for alignment in rows.defer("task__text"):
        alignment.task.study = study
        given[alignment.is_blind] += 1
        if alignment.state != AlignmentState.HANDED_IN:
            lacking[alignment.is_blind] += 1
            continue
        pairs = proposed.setdefault(alignment.task_id, _pairs(alignment.task))
        linked = {(row, other) for row, answer in alignment.answers_by_row.items() for other in answer.links}
        linked_proposals.append(Linked(alignment.task.cluster, alignment.is_blind, len(pairs), len(pairs & linked)))
    left_out = Lacking(lacking[False], given[False], lacking[True], given[True])
    return effect_of(linked_proposals, seed=study.seed, over=cluster_of(study), lacking=left_out)


def _pairs(task: AlignmentTask) -> set[tuple[str, str]]:
    return {
        (f"p{proposal.prediction + 1}", f"g{proposal.gold + 1}") for proposal in propose(task.predictions, task.gold)
    }
