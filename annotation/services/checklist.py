"""The steps of a project from its first story to its first run: how far each is, and who goes on with it.

An app above adds its own steps by `register` when it is ready; every list costs a constant number of statements.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext, ngettext, pgettext

from annotation.models import Assignment, BeliefTable, Project, Proposition, Role
from annotation.services.progress import Totals
from core.joints import listed
from core.plain import Json
from core.wording import counted


class State(StrEnum):
    NOT_BEGUN = "not begun"
    BEGUN = "begun"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `progress` says how far it is in numbers, `page` is the address name where it is done, by `role` or a
    higher one, and `action` what its button says.

    An `optional` step is never the next one. One `without_stories` makes sense in a project that has none.
    """

    key: str
    name: str
    state: State
    progress: str
    page: str
    action: str
    role: Role = Role.ADMIN
    optional: bool = False
    without_stories: bool = False

    @property
    def progress_text(self) -> str:
        """The progress, or that the step is not begun."""
        return self.progress or gettext("not begun")


_further: list[Callable[[Project, Totals], list[Step]]] = []


def register(steps: Callable[[Project, Totals], list[Step]]) -> None:
    """Add the steps that an app above has after the gold of a project."""
    if steps not in _further:
        _further.append(steps)


def checklist(project: Project, totals: Totals, annotators: Iterable[Json]) -> list[Step]:
    """Return the steps in the order of the work. Of a project without stories that has begun something else these are
    the steps that need none."""
    further = [step for steps in _further for step in steps(project, totals)]
    if not totals.stories and any(step.without_stories and step.state != State.NOT_BEGUN for step in further):
        own = [step for step in further if step.without_stories]
        return [_import(project, totals, optional=True), _people(project, 0), *own]
    labelled = totals.cells > 0 and totals.unlabelled == 0
    has_tables = 0 < totals.stories <= totals.tables
    return [
        _import(project, totals),
        _split(project),
        # Before the tables, which experts write.
        _people(project, project.overlap, 0 if has_tables else project.table_experts),
        _tables(project, totals),
        _assign(project, totals, labelled),
        _label(list(annotators), labelled),
        _adjudicate(totals),
        *further,
    ]


def next_of(steps: Sequence[Step], role: Role) -> Step | None:
    """Return the first step that is not done and that this role goes on with; of an expert's, deciding what is open
    comes before tables."""
    own = [step for step in steps if step.state != State.DONE and not step.optional and role.rank >= step.role.rank]
    decide = [step for step in own if step.key == "adjudicate" and step.state == State.BEGUN and role == Role.EXPERT]
    return next(iter(decide or own), None)


def state_of(done: int, needed: int) -> State:
    """Return the state of a step of which `done` of `needed` are done; where nothing is needed, it is not begun."""
    if not done:
        return State.NOT_BEGUN
    return State.DONE if done >= needed else State.BEGUN


def _import(project: Project, totals: Totals, *, optional: bool = False) -> Step:
    withdrawn = project.stories.filter(withdrawn_at__isnull=False).count()
    progress = counted(totals.stories, "story", "stories") if totals.stories or withdrawn else ""
    progress += gettext(", {withdrawn:,} withdrawn").format(withdrawn=withdrawn) if withdrawn else ""
    state = State.DONE if progress else State.NOT_BEGUN
    return Step(
        "import", gettext("Import stories"), state, progress, "annotation:import", gettext("Import"), optional=optional
    )


def _split(project: Project) -> Step:
    counts = (
        project.splits.annotate(count=Count("stories", filter=Q(stories__withdrawn_at__isnull=True)))
        .filter(count__gt=0)
        .order_by("-count", "name")
    )
    parts = [f"{count:,} {name}" for name, count in counts.values_list("name", "count")]
    state = State.DONE if parts else State.NOT_BEGUN
    progress = listed(parts[:3])
    if len(parts) > 3:
        progress = gettext("{names} and {count} more").format(names=progress, count=len(parts) - 3)
    place = ("annotation:stories", gettext("Draw a split"))
    return Step("split", gettext("Set stories apart"), state, progress, *place, optional=True)


def _tables(project: Project, totals: Totals) -> Step:
    written = Exists(Proposition.objects.live_gold().filter(table__story=OuterRef("story")))
    of_work = BeliefTable.objects.drafts().filter(~written, story__project=project, story__withdrawn_at__isnull=True)
    drafts = of_work.values("story").distinct().count()
    begun = bool(drafts) and totals.tables < totals.stories
    state = State.BEGUN if begun else state_of(totals.tables, totals.stories)
    fewest = totals.tables or totals.stories
    progress = ngettext("{tables:,} of {stories} has one", "{tables:,} of {stories} have one", fewest).format(
        tables=totals.tables, stories=counted(totals.stories, "story", "stories")
    )
    progress += gettext(", experts write {drafts:,}").format(drafts=drafts) if begun else ""
    progress = "" if state == State.NOT_BEGUN else progress
    place = ("annotation:tables", gettext("Open the tables"))
    return Step("tables", gettext("Write belief tables"), state, progress, *place, Role.EXPERT)


def _people(project: Project, overlap: int, experts: int = 0) -> Step:
    """The step of inviting people, of whom a story takes `overlap` annotators and its belief table `experts`."""
    counts = Counter(project.memberships.values_list("role", flat=True))
    by_role = {
        Role.ANNOTATOR: counted(counts[Role.ANNOTATOR], "annotator"),
        Role.EXPERT: counted(counts[Role.EXPERT], "expert"),
        Role.ADMIN: counted(counts[Role.ADMIN], "admin"),
    }
    progress = listed(by_role[role] for role in Role if counts[role])
    annotators, writers = counts[Role.ANNOTATOR], counts[Role.EXPERT] + counts[Role.ADMIN]
    if annotators < overlap:
        progress += gettext("; a story takes {annotators}").format(annotators=counted(overlap, "annotator"))
    if writers < experts:
        progress += gettext("; a belief table takes {experts}").format(experts=counted(experts, "expert"))
    if alone := counts.total() < 2:
        progress += gettext("; who works alone chooses one expert a table in the settings")
    enough = annotators >= overlap and writers >= experts
    state = State.NOT_BEGUN if alone else State.DONE if enough else State.BEGUN
    place = ("annotation:people", gettext("Invite"))
    return Step("people", gettext("Invite people"), state, progress, *place, optional=not overlap)


def _assign(project: Project, totals: Totals, labelled: bool) -> Step:
    used = {"story__project": project, "story__withdrawn_at__isnull": True, "story__counts__propositions__gt": 0}
    rows = Assignment.objects.active().filter(**used).order_by()
    counts = list(rows.values("story").annotate(count=Count("id")).values_list("count", flat=True))
    full = sum(count >= project.overlap for count in counts)
    state = State.BEGUN if counts and full < totals.tables else state_of(full, totals.tables)
    sentence = gettext("{full:,} of {tables} with all annotators") if counts else ""
    progress = sentence.format(full=full, tables=counted(totals.tables, "table"))
    place = ("annotation:assignments", gettext("Assign"))
    return Step("assign", gettext("Assign stories"), state, progress, *place, optional=labelled)


def _label(annotators: Sequence[Json], labelled: bool) -> Step:
    cells, cast = sum(row["cells"] for row in annotators), sum(row["cast"] for row in annotators)
    sentence = gettext("{cast:,} of {cells} labelled") if cast else ""
    progress = sentence.format(cast=cast, cells=counted(cells, "assigned cell"))
    place = ("annotation:assignments", gettext("See who is behind"))
    return Step("label", pgettext("to do", "Label"), state_of(cast, cells), progress, *place, optional=labelled)


def _adjudicate(totals: Totals) -> Step:
    state = State.DONE if totals.settled == totals.cells and totals.cells else State.NOT_BEGUN
    sentence = gettext("{settled:,} of {cells} settled") if totals.settled else ""
    progress = sentence.format(settled=totals.settled, cells=counted(totals.cells, "cell"))
    if totals.to_decide:
        state = State.BEGUN
        to_decide = gettext("{cells} to decide").format(cells=counted(totals.to_decide, "cell"))
        progress = "; ".join(filter(None, [to_decide, progress]))
    nothing_open = totals.unlabelled == 0 and not totals.to_decide
    place = ("annotation:adjudication", gettext("Adjudicate"))
    return Step("adjudicate", gettext("Adjudicate"), state, progress, *place, Role.EXPERT, optional=nothing_open)
