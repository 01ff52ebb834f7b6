"""Lines of a project's checklist on question sets, published gold and runs."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.models import Project, Role
from annotation.services.checklist import State, Step, state_of
from annotation.services.progress import Totals
from benchmark.models import AnchorWatch, Dataset, Run
from benchmark.models.watch import LATE
from core.wording import counted
from judge.services.alignment_report import open_tables_of, settled_studies_of


def steps_of(project: Project, totals: Totals) -> list[Step]:
    """Return the steps: question sets where there are some, publishing, running, aligning while a study is open,
    calibrating once one is settled, watching once something is. Five statements."""
    versions = list(Dataset.objects.filter(project=project).order_by("version").values_list("version", "suite"))
    gold, sets = ([version for version, suite in versions if bool(suite) == is_set] for is_set in (False, True))
    runs = Run.objects.listed().filter(project=project).count()
    return [
        *_sets(len(sets)),
        _publish(gold, totals),
        _run(runs),
        *_align(project),
        *_calibrate(project),
        *_watch(project),
    ]


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


def _align(project: Project) -> list[Step]:
    tables, settled = open_tables_of(project)
    if not tables:
        return []
    progress = gettext("{settled:,} of {tables} settled").format(settled=settled, tables=counted(tables, "table"))
    state = State.DONE if settled == tables else State.BEGUN
    step = Step(
        "align",
        gettext("Align models' tables"),
        state,
        progress,
        "judge:studies",
        gettext("Align"),
        Role.ANNOTATOR,
        optional=True,
    )
    return [step]


def _calibrate(project: Project) -> list[Step]:
    count, chosen = settled_studies_of(project)
    if not count:
        return []
    studies = counted(count, "study", "studies")
    progress = (
        gettext("a judge chosen by {chosen} of {studies}").format(chosen=chosen, studies=studies)
        if chosen
        else gettext("{studies} settled").format(studies=studies)
    )
    parts = (gettext("Calibrate the judge"), state_of(chosen, count), progress, "judge:studies")
    return [Step("calibrate", *parts, gettext("Calibrate"))]


def _watch(project: Project) -> list[Step]:
    """A watch needs a look where something was noticed that nobody noted, or a repeat is overdue."""
    now = timezone.now()
    watches = list(AnchorWatch.objects.filter(project=project).values_list("concerns", "due_at"))
    if not watches:
        return []
    late = now - LATE
    looks = sum(bool(concerns) or (due is not None and due < late) for concerns, due in watches)
    how_many = counted(len(watches), "watch", "watches")
    progress = how_many
    if looks:
        sentence = ngettext("{looks} of {watches} needs a look", "{looks} of {watches} need a look", looks)
        progress = sentence.format(looks=looks, watches=how_many)
    state = State.BEGUN if looks else State.DONE
    parts = (gettext("Watch judges and models"), state, progress, "benchmark:watches", gettext("Watches"))
    return [Step("watch", *parts, optional=True, without_stories=True)]
