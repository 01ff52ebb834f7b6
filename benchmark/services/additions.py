"""What this app adds to pages of annotation: lines of the checklist of a project, and open work."""

from django.utils.translation import gettext

from annotation.models import Project, Role, User, adjudication_queue
from annotation.services.checklist import State, Step
from annotation.services.open_work import Work, register
from annotation.services.progress import Totals
from benchmark.models import Dataset, Run
from benchmark.services.visibility import shows_results
from core.wording import counted


def register_work() -> None:
    register(Work.SECOND_LOOKS, _to_look_at)


def _to_look_at(project: Project, user: User, role: Role) -> set[int]:
    """Return the stories with a doubtful cell of any version that this person may look at again: experts who see
    results, unless they voted on it."""
    if role != Role.EXPERT or not shows_results(project, role):
        return set()
    # with NumPy, which nothing that other roles open needs
    from benchmark.services.doubtful_gold import doubtful_gold
    from benchmark.services.gold_kinds import labelled_versions, labelling_of

    waiting = []
    for dataset in labelled_versions(project):
        labelling = labelling_of(dataset)
        if labelling.entrants:
            waiting += doubtful_gold(labelling).waiting
    voted = adjudication_queue.voted_on(user, {cell.proposition.pk for cell in waiting})
    return {cell.proposition.table.story_id for cell in waiting if (cell.proposition.pk, cell.dimension) not in voted}


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
