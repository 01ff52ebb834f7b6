"""The history of a cell with its threads, flagged propositions, cases for the guideline, and where annotators were
overruled."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotation.access import ProjectAccess, open_work, project_access, unfinished
from annotation.domain.resolution import from_json
from annotation.forms.adjudication import OutcomeForm, ReplyForm
from annotation.models import (
    Assignment,
    CellComment,
    GoldEvent,
    GoldLabel,
    Method,
    Proposition,
    PropositionFlag,
    Role,
    VoteEvent,
    adjudication_queue,
)
from annotation.services import remarks
from annotation.views.adjudication_cells import CellReader, names_of, proposition_in_gold
from core.idempotency.forms import made_once
from core.views.pages import Context

A_PAGE = 40


def history(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Show who did what to a cell, on which votes, and the threads of its annotators, with a reply."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    schema = access.project.schema
    if row.table.story_id in unfinished(access):
        raise Http404(gettext("You still label this story."))
    comments = CellComment.objects.filter(proposition=row, dimension=dimension).select_related("thread_of")
    form = ReplyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        thread = get_object_or_404(comments, uid=form.cleaned_data["thread"]).thread_of
        chosen = {"text": form.cleaned_data["text"], "thread_of": thread}
        place = {"proposition": row, "dimension": dimension}
        made_once(request, lambda: remarks.add_comment(by=request.user, **place, **chosen).uid)
        form = ReplyForm()
    cell = CellReader(access, [row]).cell(row, schema[dimension])
    named = remarks.annotators_named(cell.gold, voted=cell.voted)
    context = {
        "cell": cell,
        "named": named,
        "timeline": _timeline(row, dimension, named=named, number=request.GET.get("page", "1")),
        "threads": _threads(remarks.threads_of(row, dimension), named=named),
        "form": form,
    }
    template = "_history.html" if request.htmx else "history.html"
    return render(request, f"annotation/adjudication/{template}", access.context | context)


def _timeline(proposition: Proposition, dimension: str, *, named: bool, number: str) -> Page:
    """Return a page of the changes of the gold label and, once names may be shown, of the votes, newest first."""
    place = {"proposition": proposition, "dimension": dimension}
    gold = GoldEvent.objects.filter(**place).select_related("by").order_by("-at", "-id")
    votes = VoteEvent.objects.filter(**place).select_related("annotator").order_by("-received_at", "-id")
    if not named:
        votes = votes.none()
    page = Paginator(range(gold.count() + votes.count()), A_PAGE).get_page(number)
    until = page.number * A_PAGE
    changes: list[Context] = [{"at": event.at, "gold": event} for event in gold[:until]]
    changes += [{"at": vote.received_at, "vote": vote} for vote in votes[:until]]
    changes.sort(key=lambda change: (change["at"], "gold" in change), reverse=True)
    page.object_list = changes[until - A_PAGE : until]
    if named:
        _add_names([change for change in page.object_list if "gold" in change])
    return page


def _add_names(changes: Sequence[Context]) -> None:
    """Add to changes of gold the (name, label) of the votes that they rest on."""
    votes_by_change = [from_json(change["gold"].votes) for change in changes]
    names = names_of(vote.annotator for votes in votes_by_change for vote in votes)
    for change, votes in zip(changes, votes_by_change, strict=True):
        change["votes"] = [(names.get(vote.annotator, ""), vote.label) for vote in votes]


def _threads(threads: list[remarks.Thread], *, named: bool) -> list[Context]:
    """Return the threads, one an annotator; annotators are numbered while names would tell whose vote is whose."""
    rows = []
    for number, thread in enumerate(threads, 1):
        hidden = gettext("An annotator ({threads})").format(threads=number)
        messages = [
            {"by": by.shown_name if (by := thread.speaker(comment, named=named)) else hidden, "comment": comment}
            for comment in thread.messages
        ]
        name = thread.annotator.shown_name if named else hidden
        rows.append({"uid": thread.uid, "name": name, "messages": messages})
    return rows


@require_GET
def overruled(request: HttpRequest, slug: str) -> HttpResponse:
    """List the cells where the annotator's vote and an expert's decision differ, in stories on which the annotator has
    no open work."""
    access = project_access(request.user, slug)
    schema = access.project.schema
    rows = adjudication_queue.overruled(access.project, request.user, unfinished=open_work(access))
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    assignments = Assignment.objects.active().filter(annotator=request.user, story__project=access.project)
    assigned = set(assignments.values_list("story_id", flat=True))
    page.object_list = [
        {
            "gold": gold,
            "dimension": schema[gold.dimension],
            "can_open": gold.proposition.table.story_id in assigned,
        }
        for gold in page
    ]
    return render(request, "annotation/adjudication/overruled.html", access.context | {"page": page})


@require_GET
def guideline_cases(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    schema = access.project.schema
    every = adjudication_queue.guideline_cases(access.project).exclude(
        proposition__table__story_id__in=unfinished(access)
    )
    counts = adjudication_queue.by_dimension(every)
    chosen = request.GET.get("dimension", "")
    rows = every.filter(dimension=chosen) if chosen in schema else every
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    page.object_list = _cases(access, list(page))
    context = {
        "page": page,
        "chosen": chosen,
        "counts": [{"dimension": each, "count": counts.get(each.key, 0)} for each in schema.dimensions],
        "total": sum(counts.values()),
        "query": f"dimension={chosen}" if chosen in schema else "",
    }
    return render(request, "annotation/adjudication/guideline_cases.html", access.context | context)


def _cases(access: ProjectAccess, labels: Sequence[GoldLabel]) -> list[Context]:
    """Return the cases of a page, each with the labels that were voted, if the expert did not vote there, and the
    number of open cells that are `alike`."""
    voted_by_user = adjudication_queue.voted_on(access.user, {gold.proposition_id for gold in labels})
    votes = {
        gold.pk: sorted(vote.label for vote in from_json(gold.votes))
        for gold in labels
        if (gold.proposition_id, gold.dimension) not in voted_by_user
    }
    decided = [gold for gold in labels if votes.get(gold.pk) and gold.method == Method.ADJUDICATED]
    rows = adjudication_queue.open_to(access.project, access.user, unfinished=unfinished(access), now=timezone.now())
    counts = adjudication_queue.kinds(rows.filter(dimension__in={gold.dimension for gold in decided}))
    alike = {gold.pk: counts[adjudication_queue.kind_of(gold.dimension, gold.votes)] for gold in decided}
    schema = access.project.schema
    return [
        {
            "gold": gold,
            "dimension": schema[gold.dimension],
            "votes": votes.get(gold.pk, []),
            "alike": alike.get(gold.pk, 0),
        }
        for gold in labels
    ]


def flags(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    rows = (
        PropositionFlag.objects.filter(proposition__table__story__project=access.project)
        .exclude(proposition__table__story__in=unfinished(access))
        .select_related("proposition__table__story__project", "author", "outcome_by")
        .order_by("outcome", "-created_at")
    )
    form = OutcomeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        outcome = form.cleaned_data
        flag = get_object_or_404(rows, uid=outcome.pop("flag"))
        if not remarks.decide_flag(by=request.user, flag=flag, **outcome, now=timezone.now()):
            messages.error(request, gettext("Somebody decided this flag before you; nothing was changed."))
        return redirect(request.get_full_path())
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "waiting": rows.filter(outcome="").count()}
    return render(request, "annotation/adjudication/flags.html", access.context | context)
