"""Lines of a project's checklist on alignment, calibration and watches."""

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.models import Project, Role
from annotation.services.checklist import State, Step, state_of
from annotation.services.progress import Totals
from core.wording import counted
from judge.models import AnchorWatch
from judge.models.watch import LATE
from judge.services.alignment_report import open_tables_of, settled_studies_of


def steps_of(project: Project, totals: Totals) -> list[Step]:
    """Return the steps: aligning while a study is open, calibrating once one is settled, watching once something is
    watched. Three statements."""
    return [*_align(project), *_calibrate(project), *_watch(project)]


def _align(project: Project) -> list[Step]:
    tables, settled = open_tables_of(project)
    if not tables:
        return []
    progress = gettext("{settled:,} of {tables} settled").format(settled=settled, tables=counted(tables, "table"))
    state = State.DONE if settled == tables else State.BEGUN
    parts = (gettext("Align models' tables"), state, progress, "judge:studies", gettext("Align"), Role.ANNOTATOR)
    return [Step("align", *parts, optional=True)]


def _calibrate(project: Project) -> list[Step]:
    count, chosen = settled_studies_of(project)
    if not count:
        return []
    text = gettext("a judge chosen by {chosen} of {studies}") if chosen else gettext("{studies} settled")
    progress = text.format(chosen=chosen, studies=counted(count, "study", "studies"))
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
    parts = (gettext("Watch judges and models"), state, progress, "judge:watches", gettext("Watches"))
    return [Step("watch", *parts, optional=True, without_stories=True)]
