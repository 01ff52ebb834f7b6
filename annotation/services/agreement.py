"""Agreement of a project, from the votes in the database to the report; results are kept in the cache.

The report is a function of what is kept of each story (`services/counts.py`) and of its sums
(`services/agreement_sums.py`), so that a vote costs the count and the sums of one story. Who agrees with whom is
computed from the votes. Both are kept by the state of the counts and by what computes.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q

from annotation.domain.agreement import annotators as by_annotator
from annotation.domain.agreement.extraction import reconciliation_overlap
from annotation.domain.agreement.report import measure_sums
from annotation.domain.agreement.votes import Votes
from annotation.domain.leave_one_out import Rule
from annotation.domain.schema import Schema
from annotation.domain.spreadsheet import Echo, defused
from annotation.models import (
    AnnotatorCounts,
    GoldEvent,
    GoldLabel,
    Method,
    Project,
    Proposition,
    StoryCounts,
    TableKind,
    User,
    Vote,
)
from annotation.services.agreement_sums import ProjectSums, project_sums
from annotation.services.counts import refresh
from annotation.services.decisions import Decisions, decisions_in
from core.made_by import made_by

SEED = 20260101
_LABELS = 100  # a dimension and a label in one integer: dimension × 100 + label
_CHUNK = 4000
CACHE_SECONDS = 7 * 24 * 3600


def agreement_report(*, project: Project, split: str | None = None, category: str | None = None) -> dict:
    """Return the report as `specs/command-line.md` fixes it: shares are fractions, undefined values None with a
    reason."""
    return _cached("report", project, split, category, _compute_report)["report"]


def annotator_report(*, project: Project, split: str | None = None, category: str | None = None) -> dict:
    """Return {pairs, confusions, against_others, against_resolved}: pairs of annotators, confusion by dimension, and by
    annotator and dimension how many cells of theirs match the label that is settled without them, and the settled label
    that contains their own votes."""
    return _cached("annotators", project, split, category, _compute_annotators)


ANNOTATOR_COLUMNS = (
    "annotator", "dimension", "gold", "cells", "agree", "share", "settled_by_votes", "settled_by_expert", "open",
)  # fmt: skip
GOLDS = {"against_others": "without the annotator", "against_resolved": "with the annotator's own votes"}
"""The golds that annotators are compared with, the unbiased one first."""


def annotator_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield every annotator against the settled labels as CSV, a row for each gold, annotator and dimension; `report`
    is `annotator_report`."""
    writer = csv.writer(Echo())
    yield writer.writerow(ANNOTATOR_COLUMNS)
    for which, gold in GOLDS.items():
        for name, by_dimension in sorted(report[which].items()):
            for dimension, row in by_dimension.items():
                share = row["agree"] / row["cells"] if row["cells"] else ""
                settled = [row.get(how, "") for how in ("votes", "expert", "open")]
                yield writer.writerow([defused(name), dimension, gold, row["cells"], row["agree"], share, *settled])


def second_opinions(*, project: Project, split: str | None = None, category: str | None = None) -> dict:
    """Return annotator → dimension → skill by Dawid–Skene and by MACE; seconds of work on a large project."""
    return _cached("opinions", project, split, category, _compute_opinions)


def extraction_report(*, project: Project) -> dict:
    """Stage 1: reviewed propositions and how many needed no reconciliation remark."""
    rows = Proposition.objects.filter(table__story__project=project, table__kind=TableKind.GOLD, reviewed=True)
    rows = rows.filter(table__story__set_aside_at__isnull=True)
    counts = rows.aggregate(reviewed=Count("id"), unremarked=Count("id", filter=Q(remark="")))
    return {**counts, "overlap": reconciliation_overlap(counts["reviewed"], counts["unremarked"])}


def waiting_report(*, project: Project, split: str | None = None, category: str | None = None) -> dict:
    """Propositions with votes of which some dimension lacks votes, and their stories: why counts of cells differ."""
    return _cached("report", project, split, category, _compute_report)["waiting"]


def _cached(kind: str, project: Project, split: str | None, category: str | None, compute) -> dict:
    """Return what was computed of this state of the project, else compute it.

    A story is counted anew after every change of its votes, gold or propositions, and its rows of `AnnotatorCounts`
    then have new ids: where the highest and the number of rows are as before, nothing changed. The time of the last
    vote tells apart what a restored database calls by the same ids.
    """
    refresh(project)
    state = AnnotatorCounts.objects.filter(story__project=project).aggregate(Max("id"), Count("id"), Max("last"))
    aside = list(project.stories.filter(set_aside_at__isnull=False).order_by("id").values_list("id", flat=True))
    placed = [sorted(_scope(project, split, category))] if split or category else aside
    rule = [project.rule_version, project.overlap, project.unanimity_dimensions]
    described = json.dumps([made_by(), kind, project.pk, *rule, split, category, placed, *map(str, state.values())])
    key = "agreement:" + hashlib.sha256(described.encode()).hexdigest()
    figures = cache.get(key)
    if figures is None:
        figures = compute(project, split, category)
        cache.set(key, figures, CACHE_SECONDS)
    return figures


def _scope(project: Project, split: str | None, category: str | None) -> list[int]:
    """Return the stories that are asked for."""
    stories = project.stories.in_use().in_split(split).in_category(category)
    return list(stories.order_by("id").values_list("id", flat=True))


def _sums(project: Project, split: str | None, category: str | None) -> ProjectSums:
    """Return the sums of the votes on the stories that are asked for."""
    counts = StoryCounts.objects.filter(story__project=project, story__set_aside_at__isnull=True).order_by("story")
    if split or category:
        counts = counts.filter(story__in=project.stories.in_split(split).in_category(category))
    rows = list(counts.values_list("story_id", "patterns"))
    stories, patterns = [story for story, _ in rows], [bytes(packed) for _, packed in rows]
    return project_sums((project.pk, split, category), project.schema, project.overlap, stories, patterns)


def _stories(project: Project, split: str | None, category: str | None) -> dict[int, int]:
    """Return proposition id → story id over the live gold tables that are asked for."""
    rows = Proposition.objects.live_gold().filter(table__story__project=project)
    rows = rows.filter(table__story__set_aside_at__isnull=True)
    if split:
        rows = rows.filter(table__story__split__name=split)
    if category:
        rows = rows.filter(table__story__category__name=category)
    return dict(rows.values_list("id", "table__story_id"))


def _columns(schema: Schema, proposition_ids: np.ndarray) -> np.ndarray:
    """Return the standing votes on a range of propositions: label codes, proposition ids and annotator ids, shape (3,
    V).

    Read in chunks: half a million live tuples would cost the garbage collector as long as the database.
    """
    codes = {
        (d.key, label): _LABELS * at + d.values.index(label)
        for at, d in enumerate(schema.dimensions)
        for label in d.values
    }
    chunks = [np.empty((3, 0), dtype=np.int64)]
    if len(proposition_ids):
        ranged = Vote.objects.cast().filter(
            proposition_id__gte=int(proposition_ids[0]), proposition_id__lte=int(proposition_ids[-1])
        )
        rows = ranged.values_list("dimension", "label", "proposition_id", "annotator_id").iterator(_CHUNK)
        while chunk := list(islice(rows, _CHUNK)):
            keys, labels, propositions, people = zip(*chunk, strict=True)
            coded = [codes.get(pair, -1) for pair in zip(keys, labels, strict=True)]
            chunks.append(np.array([coded, propositions, people], dtype=np.int64))
    return np.concatenate(chunks, axis=1)


def _load(project: Project, split: str | None, category: str | None) -> dict[str, tuple[Votes, np.ndarray]]:
    """Return votes by dimension, each with the ids of the propositions of its cells (ascending, shape (C,)).

    Votes are read by a range of proposition ids and sorted out here: joining 469,203 of them to their stories takes
    the database three times as long.
    """
    schema = project.schema
    story_of = _stories(project, split, category)
    proposition_ids = np.array(sorted(story_of), dtype=np.int64)
    coded, proposition, person = _columns(schema, proposition_ids)
    names = dict(User.objects.filter(id__in=np.unique(person).tolist()).values_list("id", "username"))
    order = np.array(sorted(names))
    in_scope = np.isin(proposition, proposition_ids)
    loaded = {}
    for at, d in enumerate(schema.dimensions):
        mine = in_scope & (coded // _LABELS == at)
        ids, cell = np.unique(proposition[mine], return_inverse=True)
        story = np.array([story_of[int(pk)] for pk in ids], dtype=np.int64)
        people_names = tuple(names[int(pk)] for pk in order)
        votes = Votes(
            d.key, d.values, people_names, cell, np.searchsorted(order, person[mine]), coded[mine] % _LABELS, story
        )
        loaded[d.key] = (votes, ids)
    return loaded


def _compute_report(project: Project, split: str | None, category: str | None) -> dict:
    kept = _sums(project, split, category)
    rows, overall = measure_sums(kept.sums, seed=SEED, resamples=kept.resamples)
    counts = AnnotatorCounts.objects.filter(story__project=project, story__set_aside_at__isnull=True)
    if split or category:
        counts = counts.filter(story__in=project.stories.in_split(split).in_category(category))
    voted = np.stack([sums.voted for sums in kept.sums])
    report = {
        "stories": int(voted.any(axis=0).sum()),
        "propositions": int(voted.sum(axis=1).max(initial=0)),
        "annotators": counts.aggregate(people=Count("annotator", distinct=True))["people"],
        "incomplete": int(voted.sum()) - overall["cells"],
        "overall": overall,
        "dimensions": dict(zip(project.schema.keys, rows, strict=True)),
    }
    waiting = {"propositions": int(kept.waiting.sum()), "stories": int((kept.waiting > 0).sum())}
    return {"report": report, "waiting": waiting}


def _compute_annotators(project: Project, split: str | None, category: str | None) -> dict:
    loaded = _load(project, split, category)
    gold = GoldLabel.objects.settled().filter(proposition__table__story__project=project)
    settled = {
        (proposition, key): (label, method == Method.ADJUDICATED)
        for proposition, key, label, method in gold.values_list("proposition_id", "dimension", "label", "method")
    }
    decisions = decisions_in(GoldEvent.objects.filter(proposition__table__story__project=project))
    confusions, against, without = {}, {}, {}
    for key, (votes, ids) in loaded.items():
        full = votes.complete(project.overlap)
        settled_votes = _settled(votes, ids.tolist(), key, settled, decisions)
        confusions[key] = {"labels": list(votes.labels), "cells": by_annotator.label_confusion(full).tolist()}
        for row in by_annotator.against_resolved(votes, settled_votes.label):
            against.setdefault(row["annotator"], {})[key] = row
        for row in by_annotator.against_others(
            votes, settled_votes, Rule(project.rule_version, project.overlap, key in project.unanimity_dimensions)
        ):
            without.setdefault(row["annotator"], {})[key] = row
    complete = [votes.complete(project.overlap) for votes, _ in loaded.values()]
    return {
        "pairs": by_annotator.pairs(complete),
        "confusions": confusions,
        "against_others": without,
        "against_resolved": against,
    }


def _settled(votes: Votes, ids: list[int], key: str, gold: dict, decisions: Decisions) -> by_annotator.Settled:
    """Return how the cells of a dimension were settled; `ids` are their propositions."""
    code = {label: at for at, label in enumerate(votes.labels)}
    gold_of_cells = [gold.get((pk, key), ("", False)) for pk in ids]
    decided_by_cell = {
        at: {name: labels[key] for name, labels in decisions[pk].items() if key in labels}
        for at, pk in enumerate(ids)
        if pk in decisions
    }
    return by_annotator.Settled(
        np.array([code.get(label, -1) for label, _ in gold_of_cells], dtype=np.int64),
        np.array([decided for _, decided in gold_of_cells], dtype=bool),
        {at: by_name for at, by_name in decided_by_cell.items() if by_name},
    )


def _compute_opinions(project: Project, split: str | None, category: str | None) -> dict:
    opinions: dict[str, dict] = {}
    for key, (votes, _) in _load(project, split, category).items():
        for name, skills in by_annotator.second_opinions(votes.complete(project.overlap)).items():
            opinions.setdefault(name, {})[key] = skills
    return opinions
