"""Freezing gold: a version that can no longer change, and how two versions differ."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.domain.schema import SCHEMAS
from annotation.models import GoldLabel, Project, Proposition, Story, TableKind, User, Vote
from annotation.services import audit
from benchmark.models import Dataset, DatasetStory

IMPORTED = "imported"
_AT_ONCE = 200


class FreezeRefused(ValueError):
    """Says in one sentence why there is nothing to freeze."""


@transaction.atomic
def freeze(*, by: User | None, project: Project, note: str = "") -> tuple[Dataset, bool]:
    """(the version of the present gold, whether it is a new one). Stories with an unsettled cell are left out and counted.

    Raises FreezeRefused where no story is settled.
    """
    Project.objects.select_for_update().get(pk=project.pk)  # two at once would take one number
    rows = list(_rows(project))
    kept = [row for row in rows if row is not None]
    if not kept:
        raise FreezeRefused(f"No story of {project.name} has a gold table with every label settled.")
    digest = _digest(project.schema_version, [row.digest for row in kept])
    if held := Dataset.objects.filter(project=project, digest=digest).first():
        return held, False
    newest = Dataset.objects.filter(project=project).aggregate(newest=Max("version"))["newest"] or 0
    methods = Counter(method for row in kept for cells in row.methods for method in cells)
    dataset = Dataset.objects.create(
        project=project,
        version=newest + 1,
        digest=digest,
        schema_version=project.schema_version,
        rule_version=project.rule_version,
        stories_count=len(kept),
        propositions_count=sum(len(row.beliefs) for row in kept),
        left_out=len(rows) - len(kept),
        methods=dict(sorted(methods.items())),
        note=note,
        created_by=by,
    )
    for position, row in enumerate(kept):
        row.dataset, row.position = dataset, position
    DatasetStory.objects.bulk_create(kept, batch_size=_AT_ONCE)
    details = {"stories": len(kept), "digest": digest[:12]}
    audit.record(by=by, project=project, action="dataset.frozen", target=f"version {dataset.version}", **details)
    return dataset, True


def present_digest(project: Project) -> str | None:
    """What the digest of a version would be that were frozen now; None where no story is settled."""
    digests = [row.digest for row in _rows(project) if row is not None]
    return _digest(project.schema_version, digests) if digests else None


def _digest(schema_version: str, digests: list[str]) -> str:
    return hashlib.sha256("\n".join([schema_version, *digests]).encode()).hexdigest()


def _rows(project: Project) -> Iterator[DatasetStory | None]:
    """A story with a gold table in the corpus's order; None for one with an unsettled cell."""
    keys = SCHEMAS[project.schema_version].keys
    stories = list(
        Story.objects.filter(project=project, tables__kind=TableKind.GOLD)
        .select_related("category", "split")
        .order_by("id")
    )
    for at in range(0, len(stories), _AT_ONCE):
        batch = stories[at : at + _AT_ONCE]
        tables, gold, votes = _held(batch)
        for story in batch:
            yield _row(story, tables[story.pk], gold, votes, keys)


def _held(stories: list[Story]):
    tables: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=stories).select_related("table").order_by("position")
    for row in live:
        tables[row.table.story_id].append(row)
    gold: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    held = GoldLabel.objects.filter(proposition__table__story__in=stories, proposition__removed_at__isnull=True)
    for pk, key, label, method in held.values_list("proposition_id", "dimension", "label", "method"):
        gold[pk][key] = (label, method)
    votes: dict[int, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    cast = Vote.objects.cast().filter(proposition__table__story__in=stories)
    for pk, key, name, label in cast.values_list("proposition_id", "dimension", "annotator__username", "label"):
        votes[pk][name][key] = label
    return tables, gold, votes


def _row(story: Story, table: list[Proposition], gold, votes, keys) -> DatasetStory | None:
    beliefs, methods = [], []
    for row in table:
        imported = row.imported_labels or {}
        cells = [gold[row.pk].get(key, (imported.get(key, ""), IMPORTED)) for key in keys]
        if not all(label for label, _ in cells):
            return None
        labels = {key: label for key, (label, _) in zip(keys, cells, strict=True)}
        beliefs.append({"actor": row.actor, "belief": row.belief, "labels": labels})
        methods.append([method for _, method in cells])
    if not beliefs:
        return None
    content = [story.number, story.category.name, story.text, beliefs]
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
    return DatasetStory(
        story=story,
        number=story.number,
        category=story.category.name,
        split=story.split.name if story.split else "",
        text=story.text,
        beliefs=beliefs,
        methods=methods,
        votes=_whole_votes(table, votes, keys),
        digest=digest,
    )


def _whole_votes(table: list[Proposition], votes, keys) -> dict[str, list[list[str]]]:
    """Of the annotators who voted on every cell of the story."""
    names = sorted({name for row in table for name in votes[row.pk]})
    found = {name: [[votes[row.pk][name].get(key, "") for key in keys] for row in table] for name in names}
    return {name: rows for name, rows in found.items() if all(all(cells) for cells in rows)}


@dataclass(slots=True)
class Difference:
    """What became of the stories of `old` in `new`: numbers of stories, and changed labels as (dimension, count)."""

    added: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    retold: list[int] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)
    labels: Counter = field(default_factory=Counter)


def difference(old: Dataset, new: Dataset) -> Difference:
    """`changed` has {number, rows added, rows removed, cells: [(actor, belief, dimension, before, after)]} of each story."""
    before, after = ({row.number: row for row in one.stories.defer("votes")} for one in (old, new))
    found = Difference(sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys()))
    for number in sorted(before.keys() & after.keys()):
        one, other = before[number], after[number]
        if one.digest == other.digest:
            continue
        if (one.text, one.category) != (other.text, other.category):
            found.retold.append(number)
        found.changed.append(_changes(one, other, found.labels))
    return found


def _changes(one: DatasetStory, other: DatasetStory, labels: Counter) -> dict[str, Any]:
    old, new = _numbered(one.beliefs), _numbered(other.beliefs)
    cells = []
    for place in old.keys() & new.keys():
        for key, before in old[place].items():
            after = new[place].get(key, "")
            if before != after:
                labels[key] += 1
                cells.append((place[0], place[1], key, before, after))
    return {
        "number": one.number,
        "rows_added": len(new.keys() - old.keys()),
        "rows_removed": len(old.keys() - new.keys()),
        "cells": sorted(cells),
    }


def _numbered(beliefs: list[dict]) -> dict[tuple[str, str, int], dict[str, str]]:
    seen: Counter = Counter()
    found = {}
    for one in beliefs:
        place = (one["actor"], one["belief"])
        found[(*place, seen[place])] = one["labels"]
        seen[place] += 1
    return found
