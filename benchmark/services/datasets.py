"""Freezing gold: a version that can no longer change, and which version the present gold is."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from django.core.cache import cache
from django.db import transaction
from django.db.models import Max

from annotation.domain.shipped_schemas import version_shown
from annotation.models import (
    AuditEvent,
    GoldEvent,
    GoldLabel,
    Project,
    Proposition,
    Story,
    TableKind,
    User,
    Vote,
    VoteEvent,
)
from annotation.services import audit
from annotation.services.decisions import Decisions, decisions_in
from annotation.services.vote_provenance import VoteProvenance, provenance_of
from benchmark.models import Dataset, DatasetSample
from core.language import gettext_noop

IMPORTED = "imported"
_AT_ONCE = 200
_KNOWN_SECONDS = 60

ByPerson = dict[str, list[list[str]]]
"""{user name: [[label of each dimension, "" without one] of each proposition]}."""


class FreezeRefused(ValueError):
    """Gold of which nothing can be frozen. Its text says why in one sentence."""


@transaction.atomic
def freeze(*, by: User | None, project: Project, note: str = "") -> tuple[Dataset, bool]:
    """Return (the version of the present gold, whether it is a new one). Stories with an unsettled cell are left out
    and counted.

    Raises FreezeRefused where no story is settled.
    """
    Project.objects.select_for_update().get(pk=project.pk)  # two at once would take one number
    rows = list(_rows(project))
    samples = [row for row in rows if row is not None]
    if not samples:
        raise FreezeRefused(gettext_noop(f"No story of {project.name} has a gold table with every label settled."))
    digest = _digest(project, [row.digest for row in samples])
    if frozen := Dataset.objects.filter(project=project, digest=digest).first():
        return frozen, False
    newest = Dataset.objects.filter(project=project).aggregate(newest=Max("version"))["newest"] or 0
    methods = Counter(method for row in samples for cells in row.methods for method in cells)
    dataset = Dataset.objects.create(
        project=project,
        version=newest + 1,
        digest=digest,
        schema_name=project.schema_name,
        schema_version=project.schema_version,
        rule_version=project.rule_version,
        overlap=project.overlap,
        unanimity_dimensions=project.unanimity_dimensions,
        stories_count=len(samples),
        propositions_count=sum(len(row.beliefs) for row in samples),
        left_out=len(rows) - len(samples),
        methods=dict(sorted(methods.items())),
        note=note,
        created_by=by,
    )
    for position, row in enumerate(samples):
        row.dataset, row.position = dataset, position
    DatasetSample.objects.bulk_create(samples, batch_size=_AT_ONCE)
    details = {"stories": len(samples), "digest": digest[:12]}
    audit.record(
        by=by, project=project, action="dataset.frozen", target=gettext_noop(f"version {dataset.version}"), **details
    )
    return dataset, True


def present_digest(project: Project) -> str | None:
    """Return the digest that a version frozen now would have; None where no story is settled."""
    digests = [row.digest for row in _rows(project) if row is not None]
    return _digest(project, digests) if digests else None


def known_digest(project: Project) -> str | None:
    """`present_digest`, read anew only once something was voted, decided or logged: it takes seconds for a large
    corpus.

    A transaction that commits out of the order of its ids moves no mark, hence the lifetime of a minute.
    """
    votes, gold = (model.objects.aggregate(last=Max("pk"))["last"] for model in (VoteEvent, GoldEvent))
    logged = AuditEvent.objects.filter(project=project).aggregate(last=Max("pk"))["last"]
    key = f"gold:{project.pk}:{project.schema.reference}:{project.rule_version}:{votes}:{gold}:{logged}"
    return cache.get_or_set(key, lambda: present_digest(project) or "", _KNOWN_SECONDS) or None


def present_version(project: Project) -> Dataset | None:
    """The version that the present gold is, whichever number it has; None where it is not frozen. As fresh as
    `known_digest`."""
    return Dataset.objects.filter(project=project, digest=known_digest(project) or "").first()


def gold_is_frozen(project: Project) -> bool:
    """Return whether the present gold is a frozen version that has every story of the project: nothing is left to label
    or decide."""
    same_size = Dataset.objects.filter(project=project, stories_count=project.stories.in_use().count())
    digests = set(same_size.values_list("digest", flat=True))
    return bool(digests) and known_digest(project) in digests


def _digest(project: Project, stories: list[str]) -> str:
    versions = [version_shown(project.schema), project.rule_version]
    return hashlib.sha256("\n".join([*versions, *stories]).encode()).hexdigest()


class _Held(NamedTuple):
    """Rows of a batch of stories by proposition id; `tables` by story id."""

    tables: dict[int, list[Proposition]]
    gold: dict[int, dict[str, tuple[str, str]]]
    votes: dict[int, dict[str, dict[str, str]]]
    decisions: Decisions
    provenance: VoteProvenance


def _rows(project: Project) -> Iterator[DatasetSample | None]:
    """A story in use with a gold table in the corpus's order; None for one with an unsettled cell."""
    keys = project.schema.keys
    stories = list(
        Story.objects.filter(project=project, tables__kind=TableKind.GOLD)
        .in_use()
        .select_related("category", "split")
        .order_by("id")
    )
    for at in range(0, len(stories), _AT_ONCE):
        batch = stories[at : at + _AT_ONCE]
        frozen = _held(batch)
        for story in batch:
            yield _row(story, frozen, keys)


def _held(stories: list[Story]) -> _Held:
    tables: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=stories).select_related("table").order_by("position")
    for row in live:
        tables[row.table.story_id].append(row)
    gold: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    labels = GoldLabel.objects.filter(proposition__table__story__in=stories, proposition__removed_at__isnull=True)
    for pk, key, label, method in labels.values_list("proposition_id", "dimension", "label", "method"):
        gold[pk][key] = (label, method)
    votes: dict[int, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    cast = Vote.objects.cast().filter(proposition__table__story__in=stories)
    for pk, key, name, label in cast.values_list("proposition_id", "dimension", "annotator__username", "label"):
        votes[pk][name][key] = label
    decisions = decisions_in(GoldEvent.objects.filter(proposition__table__story__in=stories))
    return _Held(tables, gold, votes, decisions, provenance_of(stories))


def _row(story: Story, frozen: _Held, keys: tuple[str, ...]) -> DatasetSample | None:
    beliefs, methods, table = [], [], frozen.tables[story.pk]
    for row in table:
        imported = row.imported_labels or {}
        cells = [frozen.gold[row.pk].get(key, (imported.get(key, ""), IMPORTED)) for key in keys]
        if not all(label for label, _ in cells):
            return None
        labels = {key: label for key, (label, _) in zip(keys, cells, strict=True)}
        beliefs.append({"actor": row.actor, "belief": row.belief, "labels": labels})
        methods.append([method for _, method in cells])
    if not beliefs:
        return None
    content = {
        "number": story.number,
        "category": story.category.name,
        "split": story.split.name if story.split else "",
        "text": story.text,
        "beliefs": beliefs,
        "methods": methods,
        "votes": _by_person(table, frozen.votes, keys),
        "adjudications": _by_person(table, frozen.decisions, keys),
    }
    gold = {"beliefs": beliefs}
    if content["votes"]:  # no part of the digest: it follows from the votes, and gold of before it was kept is the same
        gold["provenance"] = _provenance(story, table, frozen.provenance, keys)
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
    values = {name: content[name] for name in ("number", "category", "split", "methods", "votes", "adjudications")}
    identity = {"key": str(story.number), "cluster": str(story.number), "digest": digest}
    return DatasetSample(story=story, content={"story": story.text}, gold=gold, **identity, **values)


def _provenance(story: Story, table: list[Proposition], held: VoteProvenance, keys: tuple[str, ...]) -> dict:
    """Return what `DatasetSample` says of it."""
    suggested = [[held.suggested[row.pk].get(key, "") for key in keys] for row in table]
    return {
        "suggested": suggested if any(map(any, suggested)) else [],
        "blind": _by_person(table, held.blind, keys),
        "unknown": _by_person(table, held.unknown, keys),
    }


def _by_person(table: list[Proposition], labels: dict[int, dict[str, dict[str, str]]], keys) -> ByPerson:
    names = sorted({name for row in table for name in labels[row.pk]})
    return {name: [[labels[row.pk][name].get(key, "") for key in keys] for row in table] for name in names}
