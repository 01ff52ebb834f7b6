from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, project_access, proposition_of, story_of
from annotation.domain.ordering import plurality, shuffled
from annotation.domain.schema import SCHEMAS
from annotation.forms.adjudication import DecisionForm, OutcomeForm, QueueFilter, ReplyForm
from annotation.models import (
    CellComment,
    ErrorTag,
    GoldEvent,
    GoldLabel,
    Method,
    Proposition,
    PropositionFlag,
    Role,
    User,
    Vote,
    VoteEvent,
    adjudication_queue,
    workload,
)
from annotation.services import adjudication as service
from annotation.services import remarks

BULK = 2000


def queue(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    rows = _queue(access, form)
    if request.method == "POST":
        cells = rows.filter(method=Method.OPEN, voted=False).select_related("proposition__table__story__project")[:BULK]
        done = service.accept_pluralities(by=request.user, project=access.project, cells=cells, now=timezone.now())
        messages.success(request, f"{done} cells were settled by their majority. Decided cells were left as they are.")
        return redirect(request.get_full_path())
    schema = SCHEMAS[access.project.schema_version]
    left = adjudication_queue.left(access.project)
    page = Paginator(rows.select_related("proposition__table__story__category", "decided_by"), 40)
    page = page.get_page(request.GET.get("page"))
    for gold in page:
        gold.shown_dimension = schema[gold.dimension]
        gold.shown_votes = [] if gold.voted else shuffled(_labels(gold), f"{gold.proposition.uid}:{gold.dimension}")
    context = {
        "form": form,
        "page": page,
        "left": [{"dimension": one, "count": left.get(one.key, 0)} for one in schema.dimensions],
        "total": sum(left.values()),
        "most": max(left.values(), default=0),
        "leading": sum(plurality(_labels(gold)) is not None for gold in page if gold.method == Method.OPEN),
        "query": urlencode({name: value for name, value in form.chosen.items()}),
    }
    return render(request, "annotation/adjudication/queue.html", access.context | context)


def _labels(gold: GoldLabel) -> list[str]:
    return [vote["label"] for vote in gold.votes]


def _queue(access: ProjectAccess, form: QueueFilter):
    return adjudication_queue.queue(access.project, expert=access.user, unfinished=_unfinished(access), **form.chosen)


def _unfinished(access: ProjectAccess) -> set[int]:
    dimensions = len(SCHEMAS[access.project.schema_version].dimensions)
    rows = workload.of_annotator(access.project, access.user, dimensions)
    return {row["story"].pk for row in rows if not row["finished"]}


@require_GET
def screen(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """One story: cells to decide first, settled ones quietly beside them."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if row.pk in _unfinished(access):
        return render(request, "annotation/adjudication/unfinished.html", access.context | {"story": row})
    schema = SCHEMAS[access.project.schema_version]
    propositions = list(Proposition.objects.gold_of(row))
    held = _cells(access, propositions)
    rows = []
    for proposition in propositions:
        cells = [_cell(access, proposition, one, held.get((proposition.pk, one.key))) for one in schema.dimensions]
        rows.append(
            {
                "proposition": proposition,
                "decide": [cell for cell in cells if cell["needs"] or cell["adjudicated"]],
                "settled": [cell for cell in cells if not cell["needs"] and not cell["adjudicated"] and cell["gold"]],
                "todo": sum(cell["needs"] for cell in cells),
            }
        )
    context = {
        "story": row,
        "rows": rows,
        "todo": sum(one["todo"] for one in rows),
        "tags": ErrorTag.choices,
        "next_url": _next_story(access, row),
        "waiting": len(propositions) * len(schema.dimensions) - len(held),
    }
    return render(request, "annotation/adjudication/screen.html", access.context | context)


def _cells(access: ProjectAccess, propositions) -> dict:
    rows = adjudication_queue.queue(access.project, expert=access.user, unfinished=set(), status="all")
    rows = rows.filter(proposition__in=propositions).select_related("decided_by")
    return {(gold.proposition_id, gold.dimension): gold for gold in rows}


def _cell(access: ProjectAccess, proposition: Proposition, dimension, gold: GoldLabel | None) -> dict:
    """What the template of one cell needs. Names come with the votes only once the cell is decided."""
    labels = _labels(gold) if gold else []
    decided = bool(gold and gold.method == Method.ADJUDICATED)
    needs = bool(gold and (gold.method == Method.OPEN or gold.disturbed))
    counts = {label: labels.count(label) for label in labels}
    order = list(dict.fromkeys(shuffled(labels, f"{proposition.uid}:{dimension.key}")))
    others = [label.value for label in dimension.labels if label.value not in counts]
    return {
        "proposition": proposition,
        "dimension": dimension,
        "gold": gold,
        "needs": needs,
        "adjudicated": decided,
        "voted": bool(gold and gold.voted),
        "chips": [{"label": label, "count": counts[label], "digit": dimension.digit(label)} for label in order],
        "others": [{"label": label, "digit": dimension.digit(label)} for label in others],
        "id": f"{proposition.uid}-{dimension.key}",
        "own": bool(gold and gold.decided_by_id == access.user.pk),
        "tags": ErrorTag.choices,
    }


def _next_story(access: ProjectAccess, story) -> str:
    """The story of the next cell in the queue that is not in this one, or the queue itself."""
    rows = adjudication_queue.queue(access.project, expert=access.user, unfinished=_unfinished(access))
    found = (
        rows.filter(voted=False)
        .exclude(proposition__table__story=story)
        .values_list("proposition__table__story__uid", flat=True)
        .first()
    )
    slug = access.project.slug
    return (
        reverse("annotation:adjudicate", args=[slug, found])
        if found
        else reverse("annotation:adjudication", args=[slug])
    )


@require_POST
def decide(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Takes or takes back a decision; answers with the cell as it then stands."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    schema = SCHEMAS[access.project.schema_version]
    if dimension not in schema:
        raise Http404("There is no such dimension.")
    form, problem, status = DecisionForm(request.POST), "", 200
    place = {"by": request.user, "proposition": row, "dimension": dimension, "now": timezone.now()}
    try:
        if "undo" in request.POST:
            service.undo_decision(**place, revision=_revision(request))
        elif form.is_valid():
            service.adjudicate(**place, **form.cleaned_data)
        else:
            problem, status = "; ".join(f"{name}: {errors[0]}" for name, errors in form.errors.items()), 422
    except service.DecidedMeanwhile as error:
        problem, status = str(error), 409
    except service.AdjudicationRefused as error:
        problem, status = str(error), 422
    gold = _cells(access, [row]).get((row.pk, dimension))
    context = {"cell": _cell(access, row, schema[dimension], gold), "problem": problem, "fresh": status == 200}
    return render(request, "annotation/adjudication/_cell.html", access.context | context, status=status)


def _revision(request: HttpRequest) -> int:
    raw = request.POST.get("revision", "")
    return int(raw) if raw.isdecimal() and len(raw) < 10 else -1


def history(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Who did what to a cell, on which votes; and the threads of its annotators, with a reply."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    schema = SCHEMAS[access.project.schema_version]
    if dimension not in schema or row.table.story_id in _unfinished(access):
        raise Http404("There is no such dimension, or you still label this story.")
    form = ReplyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        thread_of = get_object_or_404(User, pk=_revision_of(request, "thread_of"), memberships__project=access.project)
        text = form.cleaned_data["text"]
        remarks.add_comment(by=request.user, proposition=row, dimension=dimension, text=text, thread_of=thread_of)
        return redirect(request.path)
    cell = {"proposition": row, "dimension": dimension}
    threads: dict[User, list] = {}
    for one in CellComment.objects.filter(**cell).select_related("author", "thread_of"):
        threads.setdefault(one.thread_of, []).append(one)
    decided = not GoldLabel.objects.filter(**cell, method=Method.OPEN).exists()
    context = {
        "proposition": row,
        "dimension": schema[dimension],
        "events": GoldEvent.objects.filter(**cell).select_related("by").order_by("-id"),
        "votes": VoteEvent.objects.filter(**cell).select_related("annotator").order_by("-id") if decided else [],
        "decided": decided,
        "threads": threads.items(),
        "form": form,
    }
    return render(request, "annotation/adjudication/history.html", access.context | context)


def _revision_of(request: HttpRequest, name: str) -> int:
    raw = request.POST.get(name, "")
    return int(raw) if raw.isdecimal() and len(raw) < 10 else 0


@require_GET
def overruled(request: HttpRequest, slug: str) -> HttpResponse:
    """Where the annotator's vote and an expert's decision differ, in stories that the annotator has finished."""
    access = project_access(request.user, slug)
    votes = (
        Vote.objects.cast()
        .filter(annotator=request.user, proposition__table__story__project=access.project)
        .exclude(proposition__table__story__in=_unfinished(access))
    )
    own = {
        (vote.proposition_id, vote.dimension): vote.label for vote in votes.only("proposition_id", "dimension", "label")
    }
    decided = (
        adjudication_queue.of_project(access.project)
        .filter(method=Method.ADJUDICATED, proposition__votes__annotator=request.user)
        .select_related("proposition__table__story")
        .distinct()
        .order_by("-decided_at")
    )
    schema = SCHEMAS[access.project.schema_version]
    rows = [
        {"gold": gold, "mine": own[gold.proposition_id, gold.dimension], "dimension": schema[gold.dimension]}
        for gold in decided
        if own.get((gold.proposition_id, gold.dimension), gold.label) != gold.label
    ]
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    return render(request, "annotation/adjudication/overruled.html", access.context | {"page": page})


@require_GET
def guideline_cases(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    schema = SCHEMAS[access.project.schema_version]
    rows = (
        adjudication_queue.of_project(access.project)
        .filter(guideline_flag=True)
        .select_related("proposition__table__story", "decided_by")
        .order_by("dimension", "-decided_at")
    )
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    for gold in page:
        gold.shown_dimension = schema[gold.dimension]
    return render(request, "annotation/adjudication/guideline_cases.html", access.context | {"page": page})


def flags(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    rows = PropositionFlag.objects.filter(proposition__table__story__project=access.project)
    form = OutcomeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        flag = get_object_or_404(
            rows.select_related("proposition__table__story__project"), uid=request.POST.get("flag")
        )
        decided = remarks.decide_flag(by=request.user, flag=flag, **form.cleaned_data, now=timezone.now())
        if not decided:
            messages.error(request, "Somebody decided this flag before you; nothing was changed.")
        return redirect(request.get_full_path())
    rows = rows.select_related("proposition__table__story", "author", "outcome_by").order_by("outcome", "-created_at")
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    return render(request, "annotation/adjudication/flags.html", access.context | {"page": page})
