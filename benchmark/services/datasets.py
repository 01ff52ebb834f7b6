"""Publishing gold: a version that can no longer change, and which version the present gold is."""

from __future__ import annotations

from collections import Counter

from django.db import transaction
from django.db.models import Max

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Dataset, DatasetSample
from benchmark.services import gold_digests
from benchmark.services.gold_digests import digest_of, present_digest
from benchmark.services.gold_samples import samples_of
from core.messages import Sentence

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
    stories = gold_digests.states(project)
    rows = dict(samples_of(project, list(stories)))
    gold_digests.keep(stories, rows)
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
