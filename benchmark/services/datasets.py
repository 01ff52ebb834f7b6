"""Publishing gold: a version that can no longer change, and which version the present gold is."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Dataset, DatasetSample
from benchmark.services import gold_samples
from benchmark.services.gold_samples import digest_of, present_digest, samples_of
from core.messages import Sentence, gettext_noop
from core.plain import Json

_AT_ONCE = 200


class PublishRefused(ValueError):
    """Gold of which nothing can be published. Its text says why in one sentence."""


@transaction.atomic
def publish_version(*, by: User | None, project: Project, note: str = "") -> tuple[Dataset, bool]:
    """Return (version of the present gold, whether it is new). Raises PublishRefused if no story is settled."""
    Project.objects.select_for_update().get(pk=project.pk)  # two at once would take one number
    stories = gold_samples.states(project)
    rows = dict(samples_of(project, list(stories)))
    gold_samples.keep(project, stories, rows)
    samples = [row for row in rows.values() if row is not None]
    if not samples:
        raise PublishRefused(
            Sentence("No story of {project} has a gold table with every label settled.", project=project.name)
        )
    digest = digest_of(project, [row.digest for row in samples])
    if published := Dataset.objects.filter(project=project, digest=digest).first():
        return published, False
    methods = Counter(method for row in samples for cells in row.methods for method in cells)
    dataset = keep_version(
        samples,
        by=by,
        project=project,
        digest=digest,
        action="dataset.published",
        details={"stories": len(samples)},
        overlap=project.overlap,
        unanimity_dimensions=project.unanimity_dimensions,
        propositions_count=sum(len(row.beliefs) for row in samples),
        left_out=len(rows) - len(samples),
        methods=dict(sorted(methods.items())),
        note=note,
    )
    return dataset, True


def keep_version(
    samples: Sequence[DatasetSample],
    *,
    by: User | None,
    project: Project,
    digest: str,
    action: str,
    details: Json,
    **fields: Any,
) -> Dataset:
    """Keep samples, in their order, as the next version of a project, whose row the caller has locked."""
    newest = Dataset.objects.filter(project=project).aggregate(version=Max("version"))
    dataset = Dataset.objects.create(
        project=project,
        version=(newest["version"] or 0) + 1,
        digest=digest,
        schema_name=project.schema_name,
        schema_version=project.schema_version,
        rule_version=project.rule_version,
        stories_count=len(samples),
        created_by=by,
        **fields,
    )
    for position, row in enumerate(samples):
        row.dataset, row.position = dataset, position
    DatasetSample.objects.bulk_create(samples, batch_size=_AT_ONCE)
    target = Sentence("version {dataset}", dataset=dataset.version)
    audit.record(by=by, project=project, action=action, target=target, **details, digest=digest[:12])
    return dataset


def version_of(project: Project, digest: str | None) -> Dataset | None:
    """Return the version that has this digest."""
    return Dataset.objects.filter(project=project, suite="", digest=digest).first() if digest else None


def gold_is_published(project: Project) -> bool:
    """Return whether the present gold is a published version that has every story of the project."""
    same_size = Dataset.objects.filter(project=project, stories_count=project.stories.in_use().count())
    digests = set(same_size.values_list("digest", flat=True))
    return bool(digests) and present_digest(project) in digests


def contents_of(dataset: Dataset) -> Json:
    """Return the contents of a version, as `Copy.summary` has those of a copy; gold has no "problems"."""
    origin, samples = dataset.origin, dataset.samples
    return {
        "title": dataset.title,
        "digest": dataset.digest,
        "files": origin.get("files", {}),
        "unchecked": origin.get("unchecked", ""),
        "samples": dataset.stories_count,
        "clusters": samples.values("cluster").distinct().count(),
        "sets": samples.exclude(group="").values("group").distinct().count(),
        "by_split": samples_by(dataset, "split"),
        "by_category": samples_by(dataset, "category"),
        "problems": origin.get("problems"),
        "licence": origin.get("licence", ""),
    }


def samples_by(dataset: Dataset, name: str) -> dict[str, int]:
    """Return how many samples there are of each value of a column, without those where it is empty."""
    return dict(dataset.samples.exclude(**{name: ""}).order_by(name).values_list(name).annotate(Count("pk")))


RULES = {"schema_version": gettext_noop("Label schema"), "rule_version": gettext_noop("Rules that settle labels")}
Place = tuple[str, str, int]
"""(actor, belief, how many equal rows stand before it in its table)"""


def difference(old: Dataset, new: Dataset, closed: Set[int] = frozenset()) -> Json:
    """Return the changes between two versions of gold, without stories in `closed`; stories are numbers.

    {"added", "removed", "retold", "reordered": stories, "changed": [{"number", "rows_added", "rows_removed", "cells":
    [(actor, belief, dimension, before, after)]}], "labels": changed labels by dimension, "moved": [(number, split
    before, after)], "rules": [(rule, before, after)], "settled": cells by (method before, after), "votes" and
    "adjudications": (labels by "new", "gone" and "changed", stories)}
    """
    before, after = (
        {row.number: row for row in version.samples.all() if row.number not in closed} for version in (old, new)
    )
    rules = ((rule, getattr(old, name), getattr(new, name)) for name, rule in RULES.items())
    found: Json = {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        **{name: [] for name in ("retold", "reordered", "changed", "moved")},
        "labels": Counter(),
        "rules": [rule for rule in rules if rule[1] != rule[2]],
        "settled": Counter(),
        "votes": (Counter(), []),
        "adjudications": (Counter(), []),
    }
    for number in sorted(before.keys() & after.keys()):
        if before[number].digest != after[number].digest:
            _compare(found, before[number], after[number])
    return found


def _compare(found: Json, old: DatasetSample, new: DatasetSample) -> None:
    number = old.number
    if (old.text, old.category) != (new.text, new.category):
        found["retold"].append(number)
    if old.split != new.split:
        found["moved"].append((number, old.split, new.split))
    before, after = (_by_place(row, [belief["labels"] for belief in row.beliefs]) for row in (old, new))
    cells = [
        (*proposition[:2], key, label, after[proposition].get(key, ""))
        for proposition in before.keys() & after.keys()
        for key, label in before[proposition].items()
        if label != after[proposition].get(key, "")
    ]
    found["labels"].update(key for _, _, key, _, _ in cells)
    added, removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    if cells or added or removed:
        change = {"number": number, "rows_added": added, "rows_removed": removed, "cells": sorted(cells)}
        found["changed"].append(change)
    elif old.beliefs != new.beliefs:
        found["reordered"].append(number)
    methods = [_by_place(row, row.methods) for row in (old, new)]
    for proposition in methods[0].keys() & methods[1].keys():
        pairs = zip(methods[0][proposition], methods[1][proposition], strict=True)
        found["settled"].update(pair for pair in pairs if pair[0] != pair[1])
    for name in ("votes", "adjudications"):
        before, after = (_cells(row, getattr(row, name)) for row in (old, new))
        kinds = Counter(
            "new" if not before.get(cell) else "gone" if not after.get(cell) else "changed"
            for cell in before.keys() | after.keys()
            if before.get(cell, "") != after.get(cell, "")
        )
        found[name][0].update(kinds)
        found[name][1].extend([number] if kinds else [])


def _by_place(story: DatasetSample, values: list[Any]) -> dict[Place, Any]:
    """Return `values`, one per proposition, by the proposition."""
    seen = Counter[tuple[str, str]]()
    by_proposition = {}
    for belief, value in zip(story.beliefs, values, strict=True):
        proposition = (belief["actor"], belief["belief"])
        by_proposition[(*proposition, seen[proposition])] = value
        seen[proposition] += 1
    return by_proposition


def _cells(story: DatasetSample, people: Mapping[str, list[list[str]]]) -> dict[tuple[Any, ...], str]:
    """Return the labels by (user name, proposition, place of the dimension)."""
    return {
        (name, proposition, at): label
        for name, rows in people.items()
        for proposition, labels in _by_place(story, rows).items()
        for at, label in enumerate(labels)
        if label
    }
