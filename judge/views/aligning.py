"""The page on which one person aligns one table, and what its script calls."""

from collections import Counter
from random import Random

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, open_work, project_access
from annotation.forms.votes import MAX_DURATION_MS
from annotation.services.claims import claim
from annotation.services.open_work import Work
from annotation.views.saving import saved
from core.plain import Json, plain
from core.views.pages import Context
from judge.access import alignment_of, study_of, table_of
from judge.domain.alignment import Method, RowAnswer, Verdict, answers_as_json, both_sides, standing
from judge.domain.proposing import actor_key, propose
from judge.forms.alignments import LONGEST_REASON, AlignmentChangesIn, RowDecisionsIn
from judge.models import AlignmentState, AlignmentTask, SettledAlignment
from judge.services import settling
from judge.services.alignment_report import open_tables, taken_by_others
from judge.services.settling import Refused, alignments_of, decide, next_alignment, number_of


def rows_of(task: AlignmentTask) -> list[Json]:
    """Return the rows of both tables with their words, predictions first; rows of one actor have the same `group`."""
    groups: dict[str, int] = {}
    for table in (task.gold, task.predictions):  # gold says how actors are ordered: it is the same for every model
        for actor, *_rest in table:
            groups.setdefault(actor_key(actor), len(groups))
    return [
        {"row": f"{side}{place}", "actor": actor, "belief": belief, "group": groups[actor_key(actor)]}
        for side, table in (("p", task.predictions), ("g", task.gold))
        for place, (actor, belief, *_rest) in enumerate(table, 1)
    ]


def proposals_of(task: AlignmentTask) -> dict[str, Json]:
    """Return the proposed gold row of each predicted row that has one; `exact` if it is the same word for word."""
    return {
        f"p{at + 1}": {"gold": f"g{other + 1}", "exact": exact}
        for at, other, exact in propose(task.predictions, task.gold)
    }


@require_http_methods(["GET", "POST"])
def align(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Both tables next to the story. A POST hands the table in, or takes it back."""
    access, alignment = alignment_of(request.user, slug, uid)
    if request.method == "POST":
        try:
            if "back" in request.POST:
                settling.take_back(alignment=alignment, now=timezone.now())
            else:
                settling.hand_in(alignment=alignment, now=timezone.now())
                return redirect(f"{reverse('judge:next', args=[slug])}?after={alignment.uid}")
        except Refused as error:
            messages.error(request, str(error))
        return redirect("judge:align", slug, uid)
    task = alignment.task
    editable = alignment.is_open and task.study.closed_at is None
    newest = alignment.events.order_by("-changed_at").values_list("changed_at", flat=True).first()
    place = [slug, uid]
    # nothing here depends on what others did, or on whose table it is
    settings = _settings(access, task, alignment.uid, editable) | {
        "now": timezone.now().isoformat(),
        "newest": newest.isoformat() if newest else None,
        "proposals": {} if alignment.is_blind else proposals_of(task),
        "answers": alignment.answers,
        "urls": {
            **{name: reverse(f"judge:{name}", args=place) for name in ("save", "answers", "undo")},
            "next": f"{reverse('judge:next', args=[slug])}?after={uid}",
            "login": reverse("login"),
        },
    }
    context = {
        "alignment": number_of(alignment),
        "task": task,
        "navigation": "judge:studies",
        "editable": editable,
        "compound": task.study.most_links > 1,
        "settings": settings,
    }
    return render(request, "judge/align.html", access.context | context)


def _settings(access: ProjectAccess, task: AlignmentTask, uid: str, editable: bool) -> Context:
    """Return what the script of both pages needs."""
    return {
        "annotator": access.user.pk,
        "story": uid,
        "editable": editable,
        "most": task.study.most_links,
        "longestDuration": MAX_DURATION_MS,
        "rows": rows_of(task),
    }


@require_GET
def next_table(request: UserRequest, slug: str) -> HttpResponse:
    """Open the next table that is to be aligned, after the one named by `after`, or the list."""
    access = project_access(request.user, slug)
    following = next_alignment(
        access.project, request.user, after=request.GET.get("after", ""), but=open_work(access, before=Work.ALIGNMENT)
    )
    if following is None:
        if alignments_of(access.project, request.user):
            sentence = _("Every table that was given to you is handed in, or waits for your labelling.")
            messages.success(request, sentence)
        return redirect("judge:studies", slug)
    return redirect("judge:align", slug, following.uid)


@require_GET
def answers(request: UserRequest, slug: str, uid: str) -> JsonResponse:
    """The answers as they stand, for a page whose change was refused."""
    _, alignment = alignment_of(request.user, slug, uid)
    return JsonResponse({"answers": alignment.answers, "editable": alignment.state == AlignmentState.OPEN})


@require_POST
def save(request: UserRequest, slug: str, uid: str) -> JsonResponse:
    """Save changes of rows, all or none."""
    _, alignment = alignment_of(request.user, slug, uid)

    def save_all(posted: AlignmentChangesIn) -> Json:
        changes = [entry.change for entry in posted.changes]
        settling.save_changes(alignment=alignment, changes=changes, now=timezone.now())
        rows = [
            {"row": change.row, "idempotency_key": change.idempotency_key, "changed_at": change.changed_at.isoformat()}
            for change in changes
        ]
        return {"saved": rows, "warnings": {}}

    return saved(request, AlignmentChangesIn, save_all, made="made these links", refused=Refused)


@require_GET
def undo(request: UserRequest, slug: str, uid: str) -> JsonResponse:
    """The rows as they were before this person's last action (with `?redo=1`: last undo); null for none."""
    _, alignment = alignment_of(request.user, slug, uid)
    step = settling.last_step(alignment=alignment, redo="redo" in request.GET)
    if step is None:
        return JsonResponse({"undo": None})
    action, rows = step
    return JsonResponse(
        {"undo": {"action": action, "rows": [{"row": row, "answer": plain(answer)} for row, answer in rows]}}
    )


@require_GET
def decide_table(request: UserRequest, slug: str, uid: str, table: str) -> HttpResponse:
    """Both tables as the majority has them; open rows show what people said, without names and in no order."""
    access, study = study_of(request.user, slug, uid)
    task = table_of(access, study, table)
    settled = SettledAlignment.objects.filter(task=task).first()
    others = taken_by_others(access.project, request.user, timezone.now())
    taken = others.get(task.story_id or 0, "") if settled and settled.open_rows else ""
    editable = settled is not None and not taken
    rows, waits = settled.answers if settled else {}, bool(settled and settled.open_rows)
    place = [slug, uid, table]
    settings = _settings(access, task, task.uid, editable) | {
        "stories": [task.story.uid] if task.story and waits else [],
        "proposals": {},
        "answers": answers_as_json(standing(rows)),
        "methods": {row: settled_row.method for row, settled_row in rows.items()},
        "votes": _votes(task, [row for row, settled_row in rows.items() if settled_row.method == Method.OPEN]),
        "revision": settled.revision if settled else 0,
        "urls": {
            "save": reverse("judge:save_decisions", args=place),
            "claims": reverse("annotation:keep_claims", args=place[:1]),
            "next": reverse("judge:study", args=place[:2]),
            "login": reverse("login"),
        },
    }
    context = {
        "study": study,
        "task": task,
        "navigation": "judge:studies",
        "settled": settled,
        "taken": taken,
        "editable": editable,
        "compound": study.most_links > 1,
        "settings": settings,
        "longest": LONGEST_REASON,
    }
    return render(request, "judge/decide.html", access.context | context)


def _votes(task: AlignmentTask, open_rows: list[str]) -> dict[str, str]:
    """Return what people said of each open row, most often first and else in an order that names nobody."""
    people = [both_sides(alignment.answers_by_row, task.rows) for alignment in task.alignments.handed_in()]

    def text(answer: RowAnswer) -> str:
        if answer.links:
            return ", ".join(link.upper() for link in answer.links)
        return _("cannot tell") if answer.verdict == Verdict.UNCLEAR else _("no match")

    votes = {}
    for row in open_rows:
        answers = [text(person[row]) for person in people]
        Random(f"{task.uid} {row}").shuffle(answers)
        votes[row] = "; ".join(f"{count} × {said}" for said, count in Counter(answers).most_common())
    return votes


@require_POST
def save_decisions(request: UserRequest, slug: str, uid: str, table: str) -> JsonResponse:
    """Take an expert's decisions, all or none; the answer says where the next open table is."""
    access, study = study_of(request.user, slug, uid)
    task = table_of(access, study, table)

    def save(posted: RowDecisionsIn) -> Json:
        now = timezone.now()
        # the expert who decides the rows claims the project's story of the table, if it has one
        taken = claim(by=request.user, stories=[task.story_id], now=now) if task.story_id is not None else {}
        if task.story_id in taken:
            name = taken[task.story_id].expert.shown_name
            raise Refused(_("{name} decides on this story now; look again in a few minutes.").format(name=name))
        settled = decide(
            by=request.user, task=task, revision=posted.revision, reason=posted.reason, now=now,
            decisions=[(entry.row, entry.answer.answer) for entry in posted.decisions],
        )  # fmt: skip
        others = taken_by_others(access.project, request.user, now)
        busy = {*open_work(access, before=Work.ALIGNED_ROWS), *others}
        waiting = open_tables(study, request.user, but=busy)["tables"]
        following = [other.task.uid for other in waiting if other.task_id != task.pk][:1]
        address = reverse("judge:decide" if following else "judge:study", args=[slug, uid, *following])
        return {"next": address, "open_rows": settled.open_rows}

    return saved(request, RowDecisionsIn, save, made="made these decisions", refused=Refused)
