"""Agreement of a project, from the votes in the database to the report."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import Count, Q

from annotation.domain.agreement import annotators as by_annotator
from annotation.domain.agreement.annotators import AnnotatorReport, Matches, MatchesWithout, Settled, Skill
from annotation.domain.agreement.report import (
    AgreementReport,
    f1_estimate,
    measure,
    overlap_estimate,
    reconciliation_overlap,
)
from annotation.domain.agreement.votes import Votes
from annotation.domain.columns import Echo, defused
from annotation.domain.resolution import Rule
from annotation.models import GoldEvent, GoldLabel, Method, Pair, Project, Proposition, Story, TableKind, User, Vote
from annotation.services.counts import version_of
from annotation.services.decisions import decisions_in
from core.kept import kept

SEED = 20260101
ANNOTATOR_COLUMNS = (
    "annotator", "dimension", "gold", "cells", "agree", "share", "settled_by_votes", "settled_by_expert", "open",
)  # fmt: skip


def _versions(*, project: Project, split: str | None = None, category: str | None = None) -> object:
    rule = [project.rule_version, project.overlap, project.unanimity_dimensions]
    return [version_of(project), rule, _scope(project, split, category)]


def _scope(project: Project, split: str | None, category: str | None) -> list[int]:
    stories = project.stories.in_use().in_split(split).in_category(category)
    return list(stories.order_by("id").values_list("id", flat=True))


def _votes(project: Project, stories: Sequence[int]) -> tuple[dict[str, Votes], dict[str, list[int]]]:
    """Return by dimension the votes on these stories, and the proposition of each cell."""
    rows: dict[str, list[tuple[int, int, int, str]]] = defaultdict(list)
    cast = Vote.objects.cast().on_gold().filter(proposition__table__story__in=stories).order_by()
    columns = ("dimension", "proposition__table__story_id", "proposition_id", "annotator_id", "label")
    for key, *row in cast.values_list(*columns).iterator():
        rows[key].append(tuple(row))
    people = sorted({row[2] for of_dimension in rows.values() for row in of_dimension})
    names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
    votes, cells = {}, {}
    for dimension in project.schema.dimensions:
        legal = [
            (story, pk, names[person], label)
            for story, pk, person, label in rows[dimension.key]
            if label in dimension.values
        ]
        cells[dimension.key] = sorted({pk for _, pk, _, _ in legal})
        votes[dimension.key] = Votes.of(dimension.key, dimension.values, legal, [names[pk] for pk in people])
    return votes, cells


def agreement_report(*, project: Project, split: str | None = None, category: str | None = None) -> AgreementReport:
    """Return the report as `specs/command-line.md` fixes it: shares are fractions, undefined values None with a
    reason."""
    return measured(project=project, split=split, category=category)[0]


@kept("agreement", depends_on=_versions)
def measured(
    *, project: Project, split: str | None = None, category: str | None = None
) -> tuple[AgreementReport, tuple[int, int]]:
    """Return the report, and the numbers of propositions that wait for votes on some dimension and of their stories."""
    votes, cells = _votes(project, _scope(project, split, category))
    rows, overall = measure([each.tally for each in votes.values()], overlap=project.overlap, seed=SEED)
    fewest: dict[int, list[int]] = {}
    story_of: dict[int, int] = {}
    for at, (key, each) in enumerate(votes.items()):
        for pk, story, count in zip(cells[key], each.story.tolist(), each.counts.sum(axis=1).tolist(), strict=True):
            fewest.setdefault(pk, [0] * len(votes))[at] = count
            story_of[pk] = story
    waiting = [pk for pk, counts in fewest.items() if min(counts) < project.overlap]
    report = AgreementReport(
        stories=len(set(story_of.values())),
        propositions=max((len(of_dimension) for of_dimension in cells.values()), default=0),
        annotators=len({person for each in votes.values() for person in np.unique(each.annotator).tolist()}),
        incomplete=sum(map(len, cells.values())) - overall.cells,
        overall=overall,
        dimensions=dict(zip(votes, rows, strict=True)),
    )
    return report, (len(waiting), len({story_of[pk] for pk in waiting}))


@kept("annotators", depends_on=_versions)
def annotator_report(*, project: Project, split: str | None = None, category: str | None = None) -> AnnotatorReport:
    """Return the agreement of each pair of annotators, and of each annotator with the settled labels."""
    stories = _scope(project, split, category)
    votes, cells = _votes(project, stories)
    here = {"proposition__table__story__in": stories}
    gold = {
        (pk, key): (label, method == Method.ADJUDICATED)
        for pk, key, label, method in GoldLabel.objects.settled()
        .filter(**here)
        .order_by()
        .values_list("proposition_id", "dimension", "label", "method")
    }
    decisions = decisions_in(GoldEvent.objects.filter(**here))
    confusions: dict[str, list[list[int]]] = {}
    against: dict[str, dict[str, Matches]] = {}
    without: dict[str, dict[str, MatchesWithout]] = {}
    complete: list[Votes] = []
    for key, each in votes.items():
        settled = _settled(each, cells[key], gold, decisions)
        full = each.complete(project.overlap)
        complete.append(full)
        confusions[key] = by_annotator.label_confusion(full).tolist()
        for row in by_annotator.against_resolved(each, settled.label):
            against.setdefault(row.annotator, {})[key] = row
        rule = Rule(project.rule_version, project.overlap, key in project.unanimity_dimensions)
        for other in by_annotator.against_others(each, settled, rule):
            without.setdefault(other.annotator, {})[key] = other
    return AnnotatorReport(
        pairs=by_annotator.pairs(complete), confusions=confusions, against_others=without, against_resolved=against
    )


def _settled(votes: Votes, cells: Sequence[int], gold: Mapping[Any, Any], decisions: Mapping[Any, Any]) -> Settled:
    codes = {label: at for at, label in enumerate(votes.labels)}
    labels = [gold.get((pk, votes.dimension), ("", False)) for pk in cells]
    decided = {
        at: {name: said[votes.dimension] for name, said in decisions[pk].items() if votes.dimension in said}
        for at, pk in enumerate(cells)
        if pk in decisions
    }
    return Settled(
        np.array([codes.get(label, -1) for label, _ in labels], dtype=np.int64),
        np.array([adjudicated for _, adjudicated in labels], dtype=bool),
        {at: said for at, said in decided.items() if said},
    )


@kept("opinions", depends_on=_versions)
def second_opinions(
    *, project: Project, split: str | None = None, category: str | None = None
) -> Mapping[str, Mapping[str, Skill]]:
    """Return the skill by annotator and dimension; seconds of work on a large project."""
    opinions: dict[str, dict[str, Skill]] = {}
    votes, _ = _votes(project, _scope(project, split, category))
    for key, each in votes.items():
        for name, skills in by_annotator.second_opinions(each.complete(project.overlap)).items():
            opinions.setdefault(name, {})[key] = skills
    return opinions


def annotator_lines(report: AnnotatorReport) -> Iterator[str]:
    """Yield every annotator against the settled labels as CSV, a row for each gold, annotator and dimension, the
    unbiased gold first."""
    writer = csv.writer(Echo())
    yield writer.writerow(ANNOTATOR_COLUMNS)
    golds = {"without the annotator": report.against_others, "with the annotator's own votes": report.against_resolved}
    for gold, by_name in golds.items():
        for name, by_dimension in sorted(by_name.items()):
            for dimension, row in by_dimension.items():
                share = "" if row.share is None else row.share
                settled = [row.votes, row.expert, row.open] if isinstance(row, MatchesWithout) else ["", "", ""]
                yield writer.writerow([defused(name), dimension, gold, row.cells, row.agree, share, *settled])


def extraction_report(*, project: Project) -> dict[str, float | None]:
    """Return {reviewed, unremarked, overlap}: the numbers of propositions that were reviewed and that needed no remark
    of reconciliation, and the share of these."""
    rows = Proposition.objects.filter(table__story__project=project, table__kind=TableKind.GOLD, reviewed=True)
    rows = rows.filter(table__story__withdrawn_at__isnull=True)
    counts = rows.aggregate(reviewed=Count("id"), unremarked=Count("id", filter=Q(remark="")))
    return counts | {"overlap": reconciliation_overlap(counts["reviewed"], counts["unremarked"])}


def table_report(*, project: Project, split: str | None = None, category: str | None = None) -> dict[str, Any]:
    """Return {stories, reviewed, unremarked, added, removed, revised, overlap, f1} for these stories: numbers of rows
    by the remark of reconciliation, and the overlap and the F1 between the experts as estimates over stories."""
    every = Story.objects.filter(project=project).in_use().in_split(split).in_category(category)
    # Where only one expert wrote a table, nobody agreed or differed.
    standing = Pair.objects.standing().order_by()
    of_both = standing.filter(b__isnull=False).values("story")
    of_one = standing.filter(proposition__isnull=False, story__in=every).exclude(story__in=of_both)
    stories = every.exclude(pk__in=of_one.values("story"))
    reviewed = Proposition.objects.filter(table__story__in=stories, table__kind=TableKind.GOLD, reviewed=True)
    remarks = {"unremarked": "", "added": "added", "removed": "removed", "revised": "revised"}
    counts = {name: Count("id", filter=Q(remark=remark)) for name, remark in remarks.items()}
    by_story: list[Any] = list(
        reviewed.order_by().values("table__story").annotate(rows=Count("id"), **counts).order_by("table__story")
    )
    # Rows of A, rows of B, and pairs of them that say the same, for each settled story.
    made, a, b = standing.filter(story__in=stories), Q(a__isnull=False), Q(b__isnull=False)
    pairs = made.filter(story__in=made.filter(proposition__isnull=False).values("story")).values("story")
    rows = pairs.annotate(first=Count("id", filter=a), second=Count("id", filter=b), both=Count("id", filter=a & b))
    matched = list(rows.order_by("story").values_list("first", "second", "both"))
    return {
        "stories": len(by_story),
        "reviewed": sum(row["rows"] for row in by_story),
        **{name: sum(row[name] for row in by_story) for name in remarks},
        "overlap": overlap_estimate([(row["rows"], row["unremarked"]) for row in by_story]),
        "f1": f1_estimate(matched),
    }
