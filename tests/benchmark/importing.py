"""A user's copy of a benchmark, read and kept at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.models import Project, User
from benchmark.models import Dataset
from benchmark.services.imports import copy_of, keep_copy
from benchmark.suites.contract import Suite


def import_benchmark(
    *, by: User | None, project: Project, suite: Suite, folder: Path, options: Mapping[str, Any], note: str = ""
) -> tuple[Dataset, bool]:
    """Return (the dataset of these samples, whether it is a new one): the same samples are one dataset.

    `options` are those of the suite's `load_options`. Raises BadImport with one sentence; then nothing was kept.
    """
    return keep_copy(by=by, project=project, copy=copy_of(suite, folder, options), note=note)
