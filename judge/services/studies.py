"""Studies of alignment: made from a frame of tables, drawn from it at random, and grown on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from annotation.models import Project, Role, User
from annotation.services import audit
from annotation.services.audit import register
from benchmark.suites.registry import suite_named
from core.plain import plain
from judge.domain.alignment import MOST_LINKS, STORIES, ClusterName, StudyOrigin, Table, TableOrigin
from judge.domain.sampling import Drawn, Unit, sample
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.models.alignment_study import MOST_PEOPLE
from judge.services.settling import Refused, Superseded, give_out, settle_if_done

ACTIONS = {
    "alignment.closed": pgettext_lazy("audit log", "alignment study closed"),
    "alignment.given": pgettext_lazy("audit log", "tables to align given"),
    "alignment.grown": pgettext_lazy("audit log", "tables to align added"),
    "alignment.made": pgettext_lazy("audit log", "alignment study made"),
    "alignment.reopened": pgettext_lazy("audit log", "alignment study opened again"),
    "alignment.released": pgettext_lazy("audit log", "table to align freed"),
}
DETAILS = {"alignments": pgettext_lazy("audit log", "alignments"), "worker": pgettext_lazy("audit log", "person")}


def register_words() -> None:
    """Have the audit log say these words."""
    register(ACTIONS, DETAILS)


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
LONGEST_REASON = 2000
"""Characters of why a judge was chosen."""
MOST_ROWS = 1000
"""Rows of one table that a page can show."""


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """A model's table of one story with its gold table, as `AlignmentTask` keeps them. `key` is that of its unit."""

    key: str
    cluster: str
    number: int
    text: str
    predictions: Table
    gold: Table
    story: int | None = None
    language: str = "en"
    origin: TableOrigin | None = None


Load = Callable[[Collection[str]], Sequence[DrawnTable]]
"""Reads the tables of these keys; asked once the sample is drawn, since a frame has many more."""


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
    if not 1 <= total <= min(len(units), MOST_TABLES):
        raise Refused(
            _("The number of tables is {total}; expected 1 to {most}, as many as there are.").format(
                total=f"{total:,}", most=f"{min(len(units), MOST_TABLES):,}"
            )
        )
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
    study = AlignmentStudy(
        project=project, name=plan.name.strip(), seed=plan.seed, overlap=plan.overlap, most_links=plan.most_links,
        audience=plan.audience, blind_share=plan.blind_share, origin=plain(origin), created_by=by,
        frame=[[unit.key, unit.story, *unit.stratum] for unit in units],
    )  # fmt: skip
    try:
        with transaction.atomic():
            study.save()
    except IntegrityError as error:
        raise Refused(
            _("There is a study named {name} already; choose another name.").format(name=plan.name.strip())
        ) from error
    _add(study, drawn, load, by, annotators, now)
    audit.record(by=by, project=project, action="alignment.made", target=study.name, tables=len(drawn), seed=plan.seed)
    return study


@transaction.atomic
def grow_study(
    *, by: User | None, study: AlignmentStudy, more: int, load: Load, annotators: Collection[User], now: datetime
) -> int:
    """Draw `more` tables from the frame of the study, which keeps those that it has; return how many it has now.
    Without `annotators` those who align in it now get them. Raises Refused."""
    study = AlignmentStudy.objects.select_for_update(of=("self",)).select_related("project").get(pk=study.pk)
    if study.closed_at is not None:
        raise Refused(_("This study is closed; open it again before it grows."))
    if more < 1:
        raise Refused(_("The number of further tables is {more}; expected 1 or more.").format(more=more))
    people = annotators or _aligning(study)
    drawn = drawn_of(study.units, study.tasks.count() + more, study.seed)
    _add(study, drawn, load, by, list(people), now)
    audit.record(by=by, project=study.project, action="alignment.grown", target=study.name, tables=len(drawn))
    return len(drawn)


def _aligning(study: AlignmentStudy) -> QuerySet[User]:
    """Return the members who have tables of a study: nobody who left the project, or whose tables were taken back."""
    active = Alignment.objects.active().filter(task__study=study)
    members = User.objects.filter(memberships__project=study.project_id, is_active=True)
    return members.filter(pk__in=active.values("annotator"))


@transaction.atomic
def close_study(*, by: User, study: AlignmentStudy, now: datetime | None) -> None:
    """Close a study, or open it again where `now` is None."""
    study.close(now)
    verb = "closed" if now else "reopened"
    audit.record(by=by, project=study.project, action=f"alignment.{verb}", target=study.name)


@transaction.atomic
def choose_judge(
    *,
    by: User | None,
    study: AlignmentStudy,
    version: str,
    name: str,
    verdict_count: int,
    reason: str,
    now: datetime,
    seen: str | None = None,
) -> None:
    """Keep with a study which version of a judge was chosen by it, and why; the log keeps earlier choices.

    `seen` is the `choice` that the person looked at, None for who replaces whatever there is. The study has the present
    choice afterwards, also where it is refused. Raises Superseded where it is not the one that was seen, unless it says
    the same; Refused without a reason, for one that is too long, and for a judge of which nothing is known: with a
    verdict on none of the rows that people aligned."""
    reason = reason.replace("\x00", "").strip()
    study.lock_choice()
    if (study.judge_version, study.judge_reason, study.judge_chosen_by) == (version, reason, by):
        return
    if seen is not None and seen != study.choice:
        raise Superseded(_superseded(study))
    _check_choice(verdict_count, reason)
    study.choose_judge(version, name=name[:200], reason=reason, by=by, at=now)
    audit.record(
        by=by, project=study.project, action="alignment.judge_chosen", target=study.name, judge=name, version=version,
        reason=reason,
    )  # fmt: skip


def _superseded(study: AlignmentStudy) -> str:
    """Say who chose what since."""
    by, judge = study.judge_chosen_by, study.judge_name
    if by is None:
        return _("{judge} was chosen since you opened this page; keep your choice again to replace that one.").format(
            judge=judge
        )
    return _("{person} chose {judge} since you opened this page; keep your choice again to replace that one.").format(
        person=by.shown_name, judge=judge
    )


def _check_choice(verdict_count: int, reason: str) -> None:
    if not verdict_count:
        raise Refused(_("This judge has no verdict on any row that people aligned, so it cannot be chosen."))
    if not reason:
        raise Refused(_("Say why this judge is chosen."))
    if len(reason) > LONGEST_REASON:
        raise Refused(
            _("The reason has {count} characters; at most {most} are kept.").format(
                count=f"{len(reason):,}", most=f"{LONGEST_REASON:,}"
            )
        )


def _check(project: Project, plan: Plan, annotators: Collection[User]) -> None:
    name = plan.name.strip()
    if not name:
        raise Refused(_("The study has no name."))
    if len(name) > MOST_NAME or min(name) < " ":
        raise Refused(
            _("The name of the study is {count} characters long; expected one line of 1 to {most}.").format(
                count=len(name), most=MOST_NAME
            )
        )
    if not 0 <= plan.seed <= MOST_SEED:
        raise Refused(_("The seed is {seed}; expected 0 to {most}.").format(seed=plan.seed, most=MOST_SEED))
    if not 1 <= plan.overlap <= MOST_PEOPLE:
        raise Refused(
            _("The overlap is {overlap}; expected 1 to {most} people a table.").format(
                overlap=plan.overlap, most=MOST_PEOPLE
            )
        )
    if not 1 <= plan.most_links <= MOST_LINKS:
        raise Refused(
            _("The links of a row are {links}; expected 1 to {most}.").format(links=plan.most_links, most=MOST_LINKS)
        )
    if not 0 <= plan.blind_share <= 100:
        raise Refused(_("The share without proposals is {share} %; expected 0 to 100.").format(share=plan.blind_share))
    if len(set(annotators)) < plan.overlap:
        raise Refused(
            _("Each table is for {overlap} people; choose as many annotators, or a smaller overlap.").format(
                overlap=plan.overlap
            )
        )
    members = set(project.memberships.values_list("user_id", flat=True))
    if stranger := next((user for user in annotators if user.pk not in members), None):
        raise Refused(
            _("{person} is not a member of {project}.").format(person=stranger.username, project=project.name)
        )


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
    made = AlignmentTask.objects.bulk_create(_task(study, fresh[table.key], table) for table in load(fresh.keys()))
    if len(made) < len(fresh):
        raise Refused(_("Some of the tables that were drawn are not there any more; were runs deleted?"))
    for task in made:
        settle_if_done(task=task, now=now)
    give_out(by=by, study=study, annotators=annotators)


def _task(study: AlignmentStudy, drawn: Drawn, table: DrawnTable) -> AlignmentTask:
    if max(len(table.predictions), len(table.gold)) > MOST_ROWS:
        raise Refused(
            _("A table of story {number} has more than {most} rows; nobody could align it.").format(
                number=table.number, most=f"{MOST_ROWS:,}"
            )
        )
    source, category = drawn.unit.stratum
    return AlignmentTask(
        study=study, key=table.key, source=source, category=category, place=drawn.place,
        probability=drawn.probability, story_id=table.story, cluster=table.cluster, number=table.number,
        text=table.text, language=table.language, origin=plain(table.origin) or {},
        predictions=[list(row[:2]) for row in table.predictions], gold=[list(row[:2]) for row in table.gold],
    )  # fmt: skip
