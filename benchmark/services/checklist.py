"""Lines of a project's checklist on question sets, published gold and runs."""

from __future__ import annotations

from django.utils.translation import gettext

from annotation.models import Project
from annotation.services.checklist import State, Step
from annotation.services.progress import Totals
from benchmark.models import Dataset, Run
from core.wording import counted


def steps_of(project: Project, totals: Totals) -> list[Step]:
    """Return the steps: question sets where there are some, publishing, running. Two statements."""
    versions = list(Dataset.objects.filter(project=project).order_by("version").values_list("version", "suite"))
    gold, sets = ([version for version, suite in versions if bool(suite) == is_set] for is_set in (False, True))
    runs = Run.objects.listed().filter(project=project).count()
    return [*_sets(len(sets)), _publish(gold, totals), _run(runs)]


def _sets(count: int) -> list[Step]:
    if not count:
        return []
    parts = (
        gettext("Import question sets"),
        State.DONE,
        counted(count, "copy", "copies"),
        "benchmark:datasets",
        gettext("Datasets"),
    )
    return [Step("sets", *parts, optional=True, without_stories=True)]


def _publish(versions: list[int], totals: Totals) -> Step:
    state = State.DONE if versions else State.NOT_BEGUN
    progress = ""
    if versions:
        counted_versions = counted(len(versions), "version")
        progress = gettext("{versions}, the newest {newest}").format(versions=counted_versions, newest=versions[-1])
    return Step("publish", gettext("Publish the gold"), state, progress, "benchmark:datasets", gettext("Publish"))


def _run(runs: int) -> Step:
    state = State.DONE if runs else State.NOT_BEGUN
    progress = counted(runs, "run") if runs else ""
    return Step("run", gettext("Run models"), state, progress, "benchmark:runs", gettext("Runs"), without_stories=True)
