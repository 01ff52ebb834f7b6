"""What a project's checklist says of question sets, frozen gold and runs."""

from __future__ import annotations

from django.utils import timezone

from annotation.models import Project, Role
from annotation.services.checklist import State, Step, state_of
from annotation.services.progress import Totals
from benchmark.models import AnchorWatch, Dataset, Run
from benchmark.models.watch import LATE
from core.language import gettext_noop
from core.wording import counted
from judge.services.alignment_report import open_tables_of, settled_studies_of


def steps_of(project: Project, totals: Totals) -> list[Step]:
    """Return the steps: question sets where there are some, freezing, running, aligning while a study is open,
    calibrating once one is settled, watching once something is. Five statements."""
    versions = list(Dataset.objects.filter(project=project).order_by("version").values_list("version", "suite"))
    gold, sets = ([one for one, suite in versions if bool(suite) == is_set] for is_set in (False, True))
    runs = Run.objects.listed().filter(project=project).count()
    return [
        *_sets(len(sets)),
        _freeze(gold, totals),
        _run(runs),
        *_align(project),
        *_calibrate(project),
        *_watch(project),
    ]


def _sets(count: int) -> list[Step]:
    if not count:
        return []
    told = (
        gettext_noop("Import question sets"),
        State.DONE,
        counted(count, "copy", "copies"),
        "benchmark:datasets",
        gettext_noop("Datasets"),
    )
    return [Step("sets", *told, optional=True, without_stories=True)]


def _freeze(versions: list[int], totals: Totals) -> Step:
    state = State.DONE if versions else State.NOT_BEGUN
    figure = gettext_noop(f"{counted(len(versions), 'version')}, the newest {versions[-1]}") if versions else ""
    return Step("freeze", gettext_noop("Freeze the gold"), state, figure, "benchmark:datasets", "Freeze")


def _run(runs: int) -> Step:
    state = State.DONE if runs else State.NOT_BEGUN
    figure = counted(runs, "run") if runs else ""
    return Step("run", gettext_noop("Run models"), state, figure, "benchmark:runs", "Runs", without_stories=True)


def _align(project: Project) -> list[Step]:
    wanted, settled = open_tables_of(project)
    if not wanted:
        return []
    figure = gettext_noop(f"{settled:,} of {counted(wanted, 'table')} settled")
    state = State.DONE if settled == wanted else State.BEGUN
    step = Step(
        "align",
        gettext_noop("Align models' tables"),
        state,
        figure,
        "judge:studies",
        "Align",
        Role.ANNOTATOR,
        optional=True,
    )
    return [step]


def _calibrate(project: Project) -> list[Step]:
    count, chosen = settled_studies_of(project)
    if not count:
        return []
    studies = counted(count, "study", "studies")
    figure = gettext_noop(f"a judge chosen by {chosen} of {studies}") if chosen else gettext_noop(f"{studies} settled")
    told = (gettext_noop("Calibrate the judge"), state_of(chosen, count), figure, "judge:studies")
    return [Step("calibrate", *told, gettext_noop("Calibrate"))]


def _watch(project: Project) -> list[Step]:
    """A watch needs a look where something was noticed that nobody noted, or a repeat is overdue."""
    now = timezone.now()
    watches = list(AnchorWatch.objects.filter(project=project).values_list("concerns", "due_at"))
    if not watches:
        return []
    late = now - LATE
    looks = sum(bool(concerns) or (due is not None and due < late) for concerns, due in watches)
    all_told = counted(len(watches), "watch", "watches")
    figure = (
        gettext_noop(f"{looks} of {all_told} needs a look")
        if looks == 1
        else gettext_noop(f"{looks} of {all_told} need a look")
        if looks
        else all_told
    )
    state = State.BEGUN if looks else State.DONE
    told = (gettext_noop("Watch judges and models"), state, figure, "benchmark:watches", gettext_noop("Watches"))
    return [Step("watch", *told, optional=True, without_stories=True)]
