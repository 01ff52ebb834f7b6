"""Studies of alignment: made from a frame of tables, drawn from it at random, and grown on demand."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from annotation.models import Project, Role, User
from annotation.services import audit
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.plain import plain
from judge.domain.alignment import MOST_LINKS, STORIES, ClusterName, StudyOrigin
from judge.domain.sampling import Drawn, Unit, sample
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.models.alignment_study import MOST_PEOPLE
from judge.services.settling import Refused, give_out, settle_if_done

ACTIONS = {
    "alignment.closed": pgettext_lazy("audit log", "alignment study closed"),
    "alignment.given": pgettext_lazy("audit log", "tables to align given"),
    "alignment.grown": pgettext_lazy("audit log", "tables to align added"),
    "alignment.made": pgettext_lazy("audit log", "alignment study made"),
    "alignment.reopened": pgettext_lazy("audit log", "alignment study opened again"),
    "alignment.released": pgettext_lazy("audit log", "table to align freed"),
}
DETAILS = {"alignments": pgettext_lazy("audit log", "alignments"), "worker": pgettext_lazy("audit log", "person")}


def cluster_named(suite: str) -> ClusterName:
    """Return what the suite of that name resamples whole; stories if there is no such suite."""
    try:
        return ClusterName(*suite_named(suite).cluster)
    except KeyError:
        return STORIES


def cluster_of(study: AlignmentStudy) -> ClusterName:
    """Return what figures of a study are over: stories if its tables came of no suite."""
    return cluster_named(study.came_of.suite)


MOST_TABLES = 5000
MOST_NAME = 120
MOST_SEED = 2**31 - 1
MOST_ROWS = 1000
"""Rows of one table that a page can show."""


Load = Callable[[Collection[str]], Sequence[AlignmentTask]]
"""Reads the tables of these keys, not saved yet; asked once the sample is drawn, since a frame has many more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of a study before it is made: `total` tables of the frame, each aligned by `overlap` people."""

    name: str
    total: int
    seed: int = 1
    overlap: int = 2
    most_links: int = 1
    audience: str = Role.EXPERT.value
    blind_share: int = 0


def strata_of(units: Sequence[Unit], drawn: Sequence[Drawn]) -> list[tuple[tuple[str, str], int, int]]:
    """Return (stratum, tables in the frame, tables drawn) by stratum."""
    there, taken = Counter(unit.stratum for unit in units), Counter(drawn_unit.unit.stratum for drawn_unit in drawn)
    return [(stratum, count, taken[stratum]) for stratum, count in sorted(there.items())]


def drawn_of(units: Sequence[Unit], total: int, seed: int) -> list[Drawn]:
    """Return the sample of so many tables. Raises Refused."""
    if not units:
        raise Refused(_("These runs have no answer that could be aligned."))
    _check_range(gettext_noop("The number of tables"), total, 1, min(len(units), MOST_TABLES))
    return sample(units, total, seed=seed)


@transaction.atomic
def make_study(
    *,
    by: User | None,
    project: Project,
    plan: Plan,
    units: Sequence[Unit],
    load: Load,
    annotators: Collection[User],
    origin: StudyOrigin,
    now: datetime,
) -> AlignmentStudy:
    """Make a study: draw its tables, keep them and give them to the annotators. Raises Refused."""
    _check(project, plan, annotators)
    drawn = drawn_of(units, plan.total, plan.seed)
    chosen = {name: getattr(plan, name) for name in ("seed", "overlap", "most_links", "audience", "blind_share")}
    frame = [[unit.key, unit.story, *unit.stratum] for unit in units]
    name = plan.name.strip()
    study = AlignmentStudy(project=project, name=name, origin=plain(origin), created_by=by, frame=frame, **chosen)
    try:
        with transaction.atomic():
            study.save()
    except IntegrityError as error:
        raise Refused(_("There is a study named {name} already; choose another name.").format(name=name)) from error
    _add(study, drawn, load, by, annotators, now)
    audit.record(by=by, project=project, action="alignment.made", target=study.name, tables=len(drawn), seed=plan.seed)
    return study


def _check(project: Project, plan: Plan, annotators: Collection[User]) -> None:
    name = plan.name.strip()
    if not name:
        raise Refused(_("The study has no name."))
    if len(name) > MOST_NAME or min(name) < " ":
        text = _("The name of the study is {count} characters long; expected one line of 1 to {most}.")
        raise Refused(text.format(count=len(name), most=MOST_NAME))
    _check_range(gettext_noop("The seed"), plan.seed, 0, MOST_SEED)
    _check_range(gettext_noop("The number of people a table"), plan.overlap, 1, MOST_PEOPLE)
    _check_range(gettext_noop("The number of links of a row"), plan.most_links, 1, MOST_LINKS)
    _check_range(gettext_noop("The per cent without proposals"), plan.blind_share, 0, 100)
    if len(set(annotators)) < plan.overlap:
        text = _("Each table is for {overlap} people; choose as many annotators, or a smaller overlap.")
        raise Refused(text.format(overlap=plan.overlap))
    members = set(project.memberships.values_list("user_id", flat=True))
    if stranger := next((user for user in annotators if user.pk not in members), None):
        text = _("{person} is not a member of {project}.")
        raise Refused(text.format(person=stranger.username, project=project.name))


def _check_range(called: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        text = _("{called} is {value}; expected {least} to {most}.")
        raise Refused(text.format(called=_(called), value=f"{value:,}", least=least, most=f"{most:,}"))


@transaction.atomic
def grow_study(
    *, by: User | None, study: AlignmentStudy, more: int, load: Load, annotators: Collection[User], now: datetime
) -> int:
    """Draw `more` tables from the frame of the study, which keeps those that it has; return how many it has now.
    Without `annotators` the members who have tables of it get them. Raises Refused."""
    study = AlignmentStudy.objects.select_for_update(of=("self",)).select_related("project").get(pk=study.pk)
    if study.closed_at is not None:
        raise Refused(_("This study is closed; open it again before it grows."))
    if more < 1:
        raise Refused(_("The number of further tables is {more}; expected 1 or more.").format(more=more))
    active = Alignment.objects.active().filter(task__study=study)
    members = User.objects.filter(memberships__project=study.project_id, is_active=True)
    people = list(annotators or members.filter(pk__in=active.values("annotator")))
    drawn = drawn_of(study.units, study.tasks.count() + more, study.seed)
    _add(study, drawn, load, by, people, now)
    audit.record(by=by, project=study.project, action="alignment.grown", target=study.name, tables=len(drawn))
    return len(drawn)


@transaction.atomic
def close_study(*, by: User, study: AlignmentStudy, now: datetime | None) -> None:
    """Close a study, or open it again if `now` is None."""
    study.close(now)
    verb = "closed" if now else "reopened"
    audit.record(by=by, project=study.project, action=f"alignment.{verb}", target=study.name)


def _add(
    study: AlignmentStudy,
    drawn: Sequence[Drawn],
    load: Load,
    by: User | None,
    annotators: Collection[User],
    now: datetime,
) -> None:
    """Bring the tasks of a study to this sample, and give the new ones out."""
    tasks = {task.key: task for task in study.tasks.defer("text", "predictions", "gold")}
    for drawn_unit in drawn:
        if (task := tasks.get(drawn_unit.unit.key)) and task.probability != drawn_unit.probability:
            task.probability = drawn_unit.probability
            task.save(update_fields=["probability"])
    fresh = {drawn_unit.unit.key: drawn_unit for drawn_unit in drawn if drawn_unit.unit.key not in tasks}
    made = list(load(fresh.keys()))
    for table in made:
        if max(len(table.predictions), len(table.gold)) > MOST_ROWS:
            text = _("A table of story {number} has more than {most} rows; nobody could align it.")
            raise Refused(text.format(number=table.number, most=f"{MOST_ROWS:,}"))
        drawn_unit = fresh[table.key]
        table.study, table.place, table.probability = study, drawn_unit.place, drawn_unit.probability
        table.source, table.category = drawn_unit.unit.stratum
        table.predictions, table.gold = ([list(row[:2]) for row in rows] for rows in (table.predictions, table.gold))
    made = AlignmentTask.objects.bulk_create(made)
    if len(made) < len(fresh):
        raise Refused(_("Some of the tables that were drawn are not there any more; were runs deleted?"))
    for task in made:
        settle_if_done(task=task, now=now)
    give_out(by=by, study=study, annotators=annotators)
