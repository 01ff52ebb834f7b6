"""What this app adds to pages of annotation: the checklist of a project, open work, and words of the audit log."""

from django.utils.translation import gettext, pgettext_lazy

from annotation.models import Project, Role, User, adjudication_queue
from annotation.services.checklist import State, Step
from annotation.services.progress import Totals
from benchmark.models import Dataset, Run
from benchmark.services.visibility import shows_results
from core.wording import counted

ACTIONS = {
    "alignment.judge_chosen": pgettext_lazy("audit log", "judge of the alignments chosen"),
    "dataset.published": pgettext_lazy("audit log", "version published"),
    "dataset.imported": pgettext_lazy("audit log", "question set imported"),
    "judge.tested": pgettext_lazy("audit log", "judge tested"),
    "prompts.discarded": pgettext_lazy("audit log", "prompt set discarded"),
    "prompts.loaded": pgettext_lazy("audit log", "prompt set loaded"),
    "snapshot.saved": pgettext_lazy("audit log", "snapshot saved"),
    "results.entered": pgettext_lazy("audit log", "row of results entered"),
    "results.entry_changed": pgettext_lazy("audit log", "entered row changed"),
    "results.entry_removed": pgettext_lazy("audit log", "entered row removed"),
    "results.shown": pgettext_lazy("audit log", "audience of results changed"),
    "run.archived": pgettext_lazy("audit log", "run archived"),
    "run.deleted": pgettext_lazy("audit log", "run deleted"),
    "run.extended": pgettext_lazy("audit log", "run extended"),
    "run.followed_up": pgettext_lazy("audit log", "missing rows asked for"),
    "run.imported": pgettext_lazy("audit log", "answers imported"),
    "run.read_again": pgettext_lazy("audit log", "answers read again"),
    "run.renamed": pgettext_lazy("audit log", "run renamed"),
    "run.restored": pgettext_lazy("audit log", "run restored"),
    "run.started": pgettext_lazy("audit log", "run started"),
    "sweep.model_chosen": pgettext_lazy("audit log", "model of a sweep chosen"),
    "watch.noted": pgettext_lazy("audit log", "note on a watch"),
    "watch.resumed": pgettext_lazy("audit log", "watch resumed"),
    "watch.started": pgettext_lazy("audit log", "watch started"),
    "watch.stopped": pgettext_lazy("audit log", "watch stopped"),
}
DETAILS = {
    "answers": pgettext_lazy("audit log", "answers"),
    "asked": pgettext_lazy("audit log", "asked model"),
    "calls": pgettext_lazy("audit log", "calls"),
    "changed": pgettext_lazy("audit log", "changed"),
    "digest": pgettext_lazy("audit log", "digest"),
    "endpoint": pgettext_lazy("audit log", "endpoint"),
    "every": pgettext_lazy("audit log", "days between"),
    "file": pgettext_lazy("audit log", "file"),
    "files": pgettext_lazy("audit log", "files"),
    "items": pgettext_lazy("audit log", "items"),
    "group": pgettext_lazy("audit log", "metric group"),
    "judge": pgettext_lazy("audit log", "judge"),
    "judgements": pgettext_lazy("audit log", "judgements"),
    "models": pgettext_lazy("audit log", "models"),
    "once_published": pgettext_lazy("audit log", "once published"),
    "rounds": pgettext_lazy("audit log", "rounds"),
    "samples": pgettext_lazy("audit log", "questions"),
    "steps": pgettext_lazy("audit log", "steps"),
    "suite": pgettext_lazy("audit log", "suite"),
    "title": pgettext_lazy("audit log", "title"),
    "version": pgettext_lazy("audit log", "version"),
}


def to_look_at(project: Project, user: User, role: Role) -> set[int]:
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
    steps = []
    if sets:
        title, copies = gettext("Import question sets"), counted(len(sets), "copy", "copies")
        place = ("benchmark:datasets", gettext("Datasets"))
        steps.append(Step("sets", title, State.DONE, copies, *place, optional=True, without_stories=True))
    state, progress = State.DONE if gold else State.NOT_BEGUN, ""
    if gold:
        counted_versions = counted(len(gold), "version")
        progress = gettext("{versions}, the newest {newest}").format(versions=counted_versions, newest=gold[-1])
    steps.append(
        Step("publish", gettext("Publish the gold"), state, progress, "benchmark:datasets", gettext("Publish"))
    )
    runs = Run.objects.listed().filter(project=project).count()
    state, progress = (State.DONE, counted(runs, "run")) if runs else (State.NOT_BEGUN, "")
    place = ("benchmark:runs", gettext("Runs"))
    return [*steps, Step("run", gettext("Run models"), state, progress, *place, without_stories=True)]
