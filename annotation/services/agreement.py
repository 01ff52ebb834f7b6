"""Agreement of a project, from the votes in the database to the report; results are kept in the cache.

The report is a function of what is kept of each story (`services/counts.py`) and of its sums
(`services/agreement_sums.py`), so that a vote costs the count and the sums of one story. Who agrees with whom is a
function of kinds of cells, which are kept of each story, too (`services/vote_kinds.py`). Results are kept by the state
of the counts and by what computes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q

from annotation.domain.agreement import annotators as by_annotator
from annotation.domain.agreement.annotators import AnnotatorReport, Confusion, Matches, MatchesWithout, Skill
from annotation.domain.agreement.cell_kinds import weighted
from annotation.domain.agreement.extraction import reconciliation_overlap
from annotation.domain.agreement.report import AgreementReport, Waiting, measure_sums
from annotation.domain.agreement.votes import Votes
from annotation.domain.columns import Echo, defused
from annotation.domain.leave_one_out import Rule
from annotation.models import (
    AnnotatorCounts,
    Project,
    Proposition,
    StoryCounts,
    TableKind,
    User,
)
from annotation.services.agreement_sums import ProjectSums, project_sums
from annotation.services.counts import refresh
from annotation.services.vote_kinds import cell_kinds
from core.digests import text_digest
from core.made_by import made_by

SEED = 20260101
CACHE_SECONDS = 7 * 24 * 3600
_Computed = TypeVar("_Computed")


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is computed of the sums of votes at once."""

    report: AgreementReport
    waiting: Waiting


@dataclass(frozen=True, slots=True)
class Extraction:
    """Numbers of propositions that were reviewed, and of those that needed no remark of reconciliation; `overlap` is
    the share of these."""

    reviewed: int
    unremarked: int
    overlap: float | None


def agreement_report(*, project: Project, split: str | None = None, category: str | None = None) -> AgreementReport:
    """Return the report as `specs/command-line.md` fixes it: shares are fractions, undefined values None with a
    reason."""
    return _cached("report", project, split, category, _compute_report).report


def annotator_report(*, project: Project, split: str | None = None, category: str | None = None) -> AnnotatorReport:
    """Return who agrees with whom, and each annotator with the settled labels."""
    return _cached("annotators", project, split, category, _compute_annotators)


ANNOTATOR_COLUMNS = (
    "annotator", "dimension", "gold", "cells", "agree", "share", "settled_by_votes", "settled_by_expert", "open",
)  # fmt: skip


def annotator_lines(report: AnnotatorReport) -> Iterator[str]:
    """Yield every annotator against the settled labels as CSV, a row for each gold, annotator and dimension, the
    unbiased gold first."""
    writer = csv.writer(Echo())
    yield writer.writerow(ANNOTATOR_COLUMNS)
    golds = {
        "without the annotator": report.against_others,
        "with the annotator's own votes": report.against_resolved,
    }
    for gold, by_name in golds.items():
        for name, by_dimension in sorted(by_name.items()):
            for dimension, row in by_dimension.items():
                share = "" if row.share is None else row.share
                settled = [row.votes, row.expert, row.open] if isinstance(row, MatchesWithout) else ["", "", ""]
                yield writer.writerow([defused(name), dimension, gold, row.cells, row.agree, share, *settled])


def second_opinions(
    *, project: Project, split: str | None = None, category: str | None = None
) -> Mapping[str, Mapping[str, Skill]]:
    """Return the skill by annotator and dimension; seconds of work on a large project."""
    return _cached("opinions", project, split, category, _compute_opinions)


def extraction_report(*, project: Project) -> Extraction:
    """Return how many propositions were reviewed, and how many of these needed no remark of reconciliation."""
    rows = Proposition.objects.filter(table__story__project=project, table__kind=TableKind.GOLD, reviewed=True)
    rows = rows.filter(table__story__withdrawn_at__isnull=True)
    counts = rows.aggregate(reviewed=Count("id"), unremarked=Count("id", filter=Q(remark="")))
    return Extraction(**counts, overlap=reconciliation_overlap(counts["reviewed"], counts["unremarked"]))


def waiting_report(*, project: Project, split: str | None = None, category: str | None = None) -> Waiting:
    """Return how many propositions wait for votes, and their stories."""
    return _cached("report", project, split, category, _compute_report).waiting


def _cached(
    kind: str,
    project: Project,
    split: str | None,
    category: str | None,
    compute: Callable[[Project, str | None, str | None], _Computed],
) -> _Computed:
    """Return what was computed of this state of the project, else compute it.

    A story is counted anew after every change of its votes, gold or propositions, and its rows of `AnnotatorCounts`
    then have new ids: where the highest and the number of rows are as before, nothing changed. The time of the last
    vote tells apart what a restored database calls by the same ids.
    """
    refresh(project)
    state = AnnotatorCounts.objects.filter(story__project=project).aggregate(Max("id"), Count("id"), Max("last"))
    withdrawn = list(project.stories.filter(withdrawn_at__isnull=False).order_by("id").values_list("id", flat=True))
    placed = [sorted(_scope(project, split, category))] if split or category else withdrawn
    rule = [project.rule_version, project.overlap, project.unanimity_dimensions]
    described = json.dumps([made_by(), kind, project.pk, *rule, split, category, placed, *map(str, state.values())])
    key = "agreement:" + text_digest(described)
    report = cache.get(key)
    if report is None:
        report = compute(project, split, category)
        cache.set(key, report, CACHE_SECONDS)
    return report


def _scope(project: Project, split: str | None, category: str | None) -> list[int]:
    """Return the stories that are asked for."""
    stories = project.stories.in_use().in_split(split).in_category(category)
    return list(stories.order_by("id").values_list("id", flat=True))


def _sums(project: Project, split: str | None, category: str | None) -> ProjectSums:
    """Return the sums of the votes on the stories that are asked for."""
    counts = StoryCounts.objects.filter(story__project=project, story__withdrawn_at__isnull=True).order_by("story")
    if split or category:
        counts = counts.filter(story__in=project.stories.in_split(split).in_category(category))
    rows = list(counts.values_list("story_id", "patterns"))
    stories, patterns = [story for story, _ in rows], [bytes(packed) for _, packed in rows]
    return project_sums((project.pk, split, category), project.schema, project.overlap, stories, patterns)


def _compute_report(project: Project, split: str | None, category: str | None) -> _Measured:
    kept = _sums(project, split, category)
    rows, overall = measure_sums(kept.sums, seed=SEED, resamples=kept.resamples)
    counts = AnnotatorCounts.objects.filter(story__project=project, story__withdrawn_at__isnull=True)
    if split or category:
        counts = counts.filter(story__in=project.stories.in_split(split).in_category(category))
    voted = np.stack([sums.voted for sums in kept.sums])
    report = AgreementReport(
        stories=int(voted.any(axis=0).sum()),
        propositions=int(voted.sum(axis=1).max(initial=0)),
        annotators=counts.aggregate(people=Count("annotator", distinct=True))["people"],
        incomplete=int(voted.sum()) - overall.cells,
        overall=overall,
        dimensions=dict(zip(project.schema.keys, rows, strict=True)),
    )
    return _Measured(report, Waiting(int(kept.waiting.sum()), int((kept.waiting > 0).sum())))


def _votes(project: Project, split: str | None, category: str | None) -> dict[str, tuple[Votes, by_annotator.Settled]]:
    """Return by dimension the votes on the stories that are asked for, one cell for all that are alike, and how these
    are settled."""
    kinds = cell_kinds(project, _scope(project, split, category))
    people = {person for kind, _ in kinds for person, _ in (*kind.votes, *kind.decisions)}
    voters = {person for kind, _ in kinds for person, _ in kind.votes}
    names = dict(User.objects.filter(id__in=people).values_list("id", "username"))
    return {dimension.key: weighted(dimension, kinds, names, voters) for dimension in project.schema.dimensions}


def _compute_annotators(project: Project, split: str | None, category: str | None) -> AnnotatorReport:
    confusions: dict[str, Confusion] = {}
    against: dict[str, dict[str, Matches]] = {}
    without: dict[str, dict[str, MatchesWithout]] = {}
    complete: list[Votes] = []
    for key, (votes, settled) in _votes(project, split, category).items():
        full = votes.complete(project.overlap)
        complete.append(full)
        confusions[key] = Confusion(list(votes.labels), by_annotator.label_confusion(full).tolist())
        for row in by_annotator.against_resolved(votes, settled.label):
            against.setdefault(row.annotator, {})[key] = row
        rule = Rule(project.rule_version, project.overlap, key in project.unanimity_dimensions)
        for other in by_annotator.against_others(votes, settled, rule):
            without.setdefault(other.annotator, {})[key] = other
    return AnnotatorReport(
        pairs=by_annotator.pairs(complete),
        confusions=confusions,
        against_others=without,
        against_resolved=against,
    )


def _compute_opinions(project: Project, split: str | None, category: str | None) -> Mapping[str, Mapping[str, Skill]]:
    opinions: dict[str, dict[str, Skill]] = {}
    for key, (votes, _) in _votes(project, split, category).items():
        for name, skills in by_annotator.second_opinions(votes.complete(project.overlap)).items():
            opinions.setdefault(name, {})[key] = skills
    return opinions
