"""The name of what figures of a study are over, as the suite that its tables came of calls it."""

from __future__ import annotations

from collections.abc import Callable

from judge.domain.cluster_names import STORIES, ClusterName
from judge.models import AlignmentStudy

_find: Callable[[str], ClusterName] | None = None


def names_from(find: Callable[[str], ClusterName]) -> None:
    """Say where the names are found: `find` returns what the suite of that name resamples whole."""
    global _find
    _find = find


def cluster_of(study: AlignmentStudy) -> ClusterName:
    """Return what figures of a study are over: stories where its tables came of no suite."""
    suite = study.came_of.suite
    return _find(suite) if suite and _find else STORIES
