"""Publishing gold: a version that can no longer change, and which version the present gold is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
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
    """Return (the version of the present gold, whether it is a new one). Stories with an unsettled cell are left out
    and counted.

    Raises PublishRefused where no story is settled.
    """
    Project.objects.select_for_update().get(pk=project.pk)  # two at once would take one number
    stories = gold_samples.states(project)
    rows = dict(samples_of(project, list(stories)))
    gold_samples.keep(stories, rows)
    samples = [row for row in rows.values() if row is not None]
    if not samples:
        raise PublishRefused(
            Sentence("No story of {project} has a gold table with every label settled.", project=project.name)
        )
    digest = digest_of(project, [row.digest for row in samples])
    if published := Dataset.objects.filter(project=project, digest=digest).first():
        return published, False
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
        by=by,
        project=project,
        action="dataset.published",
        target=Sentence("version {dataset}", dataset=dataset.version),
        **details,
    )
    return dataset, True


def version_of(project: Project, digest: str | None) -> Dataset | None:
    """Return the version that has this digest."""
    return Dataset.objects.filter(project=project, suite="", digest=digest).first() if digest else None


def gold_is_published(project: Project) -> bool:
    """Return whether the present gold is a published version that has every story of the project: nothing is left to
    label or decide."""
    same_size = Dataset.objects.filter(project=project, stories_count=project.stories.in_use().count())
    digests = set(same_size.values_list("digest", flat=True))
    return bool(digests) and present_digest(project) in digests


def contents_of(dataset: Dataset) -> Json:
    """Return what `Copy.summary` of `services/imports.py` says of a copy before it is kept; "problems" is None where
    the version is the project's own gold."""
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
    rows = dataset.samples.exclude(**{name: ""}).order_by(name).values_list(name)
    return dict(rows.annotate(Count("pk")))


RULES = {"schema_version": gettext_noop("Label schema"), "rule_version": gettext_noop("Rules that settle labels")}
Place = tuple[str, str, int]
"""(actor, belief, how many equal rows stand before it in its table)"""


@dataclass(slots=True)
class Cells:
    """Labels that people gave, cell by cell and person by person: how many are new, gone or other ones, and in which
    stories."""

    counts: Counter = field(default_factory=Counter)
    stories: list[int] = field(default_factory=list)

    def compare(self, number: int, before: Mapping[tuple, str], after: Mapping[tuple, str]) -> None:
        """Labels by (user name, proposition, place of the dimension) of one story."""
        kinds = Counter(
            "new" if not before.get(cell) else "gone" if not after.get(cell) else "changed"
            for cell in before.keys() | after.keys()
            if before.get(cell, "") != after.get(cell, "")
        )
        self.counts += kinds
        self.stories += [number] if kinds else []


@dataclass(frozen=True, slots=True)
class Changed:
    """A story whose propositions or labels are others: how many rows came and went, and (actor, belief, dimension,
    before, after) of each cell."""

    number: int
    rows_added: int
    rows_removed: int
    cells: Sequence[tuple[str, str, str, str, str]]


@dataclass(slots=True)
class Difference:
    """The changes from `old` to `new`. Stories are numbers; `labels` counts changed labels by dimension.

    `moved` has (number, split before, split after), `rules` (what, before, after) and `settled` cells by (method
    before, method after).
    """

    added: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    retold: list[int] = field(default_factory=list)
    reordered: list[int] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    labels: Counter = field(default_factory=Counter)
    moved: list[tuple[int, str, str]] = field(default_factory=list)
    rules: list[tuple[str, str, str]] = field(default_factory=list)
    settled: Counter = field(default_factory=Counter)
    votes: Cells = field(default_factory=Cells)
    adjudications: Cells = field(default_factory=Cells)


def difference(old: Dataset, new: Dataset, closed: Set[int] = frozenset()) -> Difference:
    """Stories in `closed` are taken out of both before anything is compared or counted."""
    before, after = (
        {row.number: row for row in version.samples.all() if row.number not in closed} for version in (old, new)
    )
    difference = Difference(sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys()))
    pairs = ((rule, getattr(old, name), getattr(new, name)) for name, rule in RULES.items())
    difference.rules = [rule for rule in pairs if rule[1] != rule[2]]
    for number in sorted(before.keys() & after.keys()):
        if before[number].digest != after[number].digest:
            _compare(difference, before[number], after[number])
    return difference


def _compare(difference: Difference, old_story: DatasetSample, new_story: DatasetSample) -> None:
    number = old_story.number
    if (old_story.text, old_story.category) != (new_story.text, new_story.category):
        difference.retold.append(number)
    if old_story.split != new_story.split:
        difference.moved.append((number, old_story.split, new_story.split))
    changes = _changes(old_story, new_story, difference.labels)
    if changes.cells or changes.rows_added or changes.rows_removed:
        difference.changed.append(changes)
    elif old_story.beliefs != new_story.beliefs:
        difference.reordered.append(number)
    methods = [_by_place(row, row.methods) for row in (old_story, new_story)]
    for proposition in methods[0].keys() & methods[1].keys():
        pairs = zip(methods[0][proposition], methods[1][proposition], strict=True)
        difference.settled.update(pair for pair in pairs if pair[0] != pair[1])
    if old_story.votes != new_story.votes:
        difference.votes.compare(number, *(_cells(row, row.votes) for row in (old_story, new_story)))
    if old_story.adjudications != new_story.adjudications:
        difference.adjudications.compare(number, *(_cells(row, row.adjudications) for row in (old_story, new_story)))


def _changes(old_story: DatasetSample, new_story: DatasetSample, labels: Counter) -> Changed:
    old, new = (_by_place(row, [belief["labels"] for belief in row.beliefs]) for row in (old_story, new_story))
    cells = []
    for proposition in old.keys() & new.keys():
        for key, before in old[proposition].items():
            after = new[proposition].get(key, "")
            if before != after:
                labels[key] += 1
                cells.append((proposition[0], proposition[1], key, before, after))
    return Changed(old_story.number, len(new.keys() - old.keys()), len(old.keys() - new.keys()), sorted(cells))


def _by_place(story: DatasetSample, values: list[Any]) -> dict[Place, Any]:
    """`values`, one a proposition, by the proposition."""
    seen: Counter = Counter()
    by_proposition = {}
    for belief, value in zip(story.beliefs, values, strict=True):
        proposition = (belief["actor"], belief["belief"])
        by_proposition[(*proposition, seen[proposition])] = value
        seen[proposition] += 1
    return by_proposition


def _cells(story: DatasetSample, people: Mapping[str, list[list[str]]]) -> dict[tuple, str]:
    return {
        (name, proposition, at): label
        for name, rows in people.items()
        for proposition, labels in _by_place(story, rows).items()
        for at, label in enumerate(labels)
        if label
    }
