"""The published gold that a command names, with the models that labelled it."""

from __future__ import annotations

from annotation.models import Project
from benchmark.services.gold_kinds import Labelling, labelled_versions, labelling_of


def labelling_named(slug: str, version: int | None) -> Labelling:
    """Return who labelled a version of a project, the newest if not given. Raises ValueError where nobody did."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise ValueError(f"There is no project {slug!r}.")
    datasets = labelled_versions(project)
    dataset = next((candidate for candidate in datasets if version in (None, candidate.version)), None)
    labelling = labelling_of(dataset) if dataset else None
    if labelling is None or not labelling.entrants:
        there = ", ".join(str(candidate.version) for candidate in datasets) or "none"
        raise ValueError(f"No finished run labelled that version of the gold; versions that models labelled: {there}.")
    return labelling
