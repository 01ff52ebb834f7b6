"""The contents of a version in numbers, and where an imported copy came from."""

from __future__ import annotations

from django.db.models import Count

from benchmark.models import Dataset
from core.plain import Json


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
