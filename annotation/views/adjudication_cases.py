"""The history of a cell with its threads, flagged propositions, cases for the guideline, and where annotators were
overruled."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import UserRequest, open_work, project_access, proposition_in_gold, unfinished
from annotation.domain.resolution import from_json
from annotation.forms.adjudication import OutcomeForm, ReplyForm
from annotation.models import (
    Assignment,
    CellComment,
    GoldEvent,
    Method,
    Proposition,
    Role,
    VoteEvent,
    adjudication_queue,
)
from annotation.services import remarks
from annotation.views.adjudication_cells import cells_of, names_of
from core.idempotency.forms import made_once
from core.views.pages import Context

A_PAGE = 40


@require_http_methods(["GET", "POST"])
def history(request: UserRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Show who did what to a cell, on which votes, and the threads of its annotators, with a reply."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    if row.table.story_id in unfinished(access):
        raise Http404(gettext("You still label this story."))
    form = ReplyForm(request.POST or None)
    if form.is_valid():
        comments = CellComment.objects.filter(proposition=row, dimension=dimension).select_related("thread_of")
        thread = get_object_or_404(comments, uid=form.cleaned_data["thread"]).thread_of
        reply = {"proposition": row, "dimension": dimension, "text": form.cleaned_data["text"], "thread_of": thread}
        made_once(request, lambda: remarks.add_comment(by=request.user, **reply).uid)
        form = ReplyForm()
    (cell,) = cells_of(access, [(row, access.project.schema[dimension])])
    named = remarks.annotators_named(cell["gold"], voted=cell["voted"])
    threads: list[Context] = []
    for number, each in enumerate(remarks.threads_of(row, dimension), 1):
        # Annotators are numbered while names would tell whose vote is whose.
        hidden = gettext("An annotator ({threads})").format(threads=number)
        said = [
            {"by": by.shown_name if (by := each.speaker(comment, named=named)) else hidden, "comment": comment}
            for comment in each.messages
        ]
        shown_name = each.annotator.shown_name if named else hidden
        threads.append({"uid": each.uid, "name": shown_name, "messages": said})
    context = {
        "cell": cell,
        "named": named,
        "timeline": _timeline(row, dimension, named=named, number=request.GET.get("page", "1")),
        "threads": threads,
        "form": form,
    }
    template = "_history.html" if request.htmx else "history.html"
    return render(request, f"annotation/adjudication/{template}", access.context | context)


def _timeline(proposition: Proposition, dimension: str, *, named: bool, number: str) -> Page[Any]:
    """Return a page of the changes of the gold label and, once names may be shown, of the votes, newest first; changes
    of gold then have the (name, label) of the votes that they rest on."""
    place = {"proposition": proposition, "dimension": dimension}
    gold = GoldEvent.objects.filter(**place).select_related("by").order_by("-at", "-id")
    votes = VoteEvent.objects.filter(**place).select_related("annotator").order_by("-received_at", "-id")
    if not named:
        votes = votes.none()
    page: Page[Any] = Paginator(range(gold.count() + votes.count()), A_PAGE).get_page(number)
    until = page.number * A_PAGE
    changes: list[Context] = [{"at": event.at, "gold": event} for event in gold[:until]]
    changes += [{"at": vote.received_at, "vote": vote} for vote in votes[:until]]
    changes.sort(key=lambda change: (change["at"], "gold" in change), reverse=True)
    page.object_list = shown = changes[until - A_PAGE : until]
    if named:
        settled = [(change, from_json(change["gold"].votes)) for change in shown if "gold" in change]
        names = names_of(vote.annotator for _, cast in settled for vote in cast)
        for change, cast in settled:
            change["votes"] = [(names.get(vote.annotator, ""), vote.label) for vote in cast]
    return page


@require_GET
def overruled(request: UserRequest, slug: str) -> HttpResponse:
    """List the cells where the annotator's vote and an expert's decision differ, in stories on which the annotator has
    no open work."""
    access = project_access(request.user, slug)
    rows = adjudication_queue.overruled(access.project, request.user, unfinished=open_work(access))
    page: Page[Any] = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    assignments = Assignment.objects.active().filter(annotator=request.user, story__project=access.project)
    assigned = set(assignments.values_list("story_id", flat=True))
    page.object_list = [
        {
            "gold": gold,
            "dimension": access.project.schema[gold.dimension],
            "can_open": gold.proposition.table.story_id in assigned,
        }
        for gold in page
    ]
    return render(request, "annotation/adjudication/overruled.html", access.context | {"page": page})


@require_GET
def guideline_cases(request: UserRequest, slug: str) -> HttpResponse:
    """List the filed cells, each with the labels that were voted, if the expert did not vote there, and the number of
    open cells that are `alike`."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    schema, hidden = access.project.schema, unfinished(access)
    every = adjudication_queue.guideline_cases(access.project).exclude(proposition__table__story_id__in=hidden)
    counts = Counter(every.order_by().values_list("dimension", flat=True))
    chosen = request.GET.get("dimension", "")
    rows = every.filter(dimension=chosen) if chosen in schema else every
    page: Page[Any] = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    own = adjudication_queue.voted_on(request.user, {gold.proposition_id for gold in page})
    kinds = {
        gold: adjudication_queue.kind_of(gold.dimension, gold.votes)
        for gold in page
        if gold.votes and (gold.proposition_id, gold.dimension) not in own
    }
    decided = [gold for gold in kinds if gold.method == Method.ADJUDICATED]
    open_cells = adjudication_queue.open_to(access.project, request.user, unfinished=hidden, now=timezone.now())
    alike = adjudication_queue.kinds(open_cells.filter(dimension__in={gold.dimension for gold in decided}))
    page.object_list = [
        {
            "gold": gold,
            "dimension": schema[gold.dimension],
            "votes": kinds[gold].labels if gold in kinds else [],
            "alike": alike[kinds[gold]] if gold in decided else 0,
        }
        for gold in page
    ]
    context = {
        "page": page,
        "chosen": chosen,
        "counts": [{"dimension": each, "count": counts[each.key]} for each in schema.dimensions],
        "total": counts.total(),
        "query": f"dimension={chosen}" if chosen in schema else "",
    }
    return render(request, "annotation/adjudication/guideline_cases.html", access.context | context)


@require_http_methods(["GET", "POST"])
def flags(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    rows = remarks.flags_of(access.project, unfinished=unfinished(access))
    form = OutcomeForm(request.POST or None)
    if form.is_valid():
        outcome = form.cleaned_data
        flag = get_object_or_404(rows, uid=outcome.pop("flag"))
        if not remarks.decide_flag(by=request.user, flag=flag, **outcome, now=timezone.now()):
            messages.error(request, gettext("Somebody decided this flag before you; nothing was changed."))
        return redirect(request.get_full_path())
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "waiting": rows.filter(outcome="").count()}
    return render(request, "annotation/adjudication/flags.html", access.context | context)
