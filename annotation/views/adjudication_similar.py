"""Open cells that are alike: one after another, or all at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, project_access, unfinished
from annotation.forms.adjudication import AlikeForm, KindForm
from annotation.models import (
    ErrorTag,
    GoldLabel,
    Method,
    Project,
    Proposition,
    Role,
    Story,
    adjudication_queue,
    similar_cells,
)
from annotation.models.similar_cells import Kind, Place
from annotation.services import adjudication_bulk as bulk
from annotation.services import claims
from annotation.services.adjudication import AdjudicationRefused
from annotation.views.adjudication import pace_of, settings_of
from annotation.views.adjudication_cells import Cell, CellReader

A_PAGE = 20
KINDS = 100


@require_GET
def similar(request: HttpRequest, slug: str) -> HttpResponse:
    """The kinds of open cells, the most frequent first; of one kind its cells, one after another."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = KindForm(request.GET, project=access.project)
    if not form.is_valid():
        return _kinds(request, access)
    kind, now = form.kind, timezone.now()
    rows = similar_cells.open_to(
        access.project, access.user, unfinished=unfinished(access), now=now, dimension=kind.dimension
    )
    places = similar_cells.places(rows, kind)
    page_places = _following(places, request.GET.get("after", ""))[:A_PAGE]
    labels = _labels(page_places)
    stories = {gold.proposition.table.story_id: gold.proposition.table.story for gold in labels}
    others = claims.claim(by=request.user, project=access.project, stories=stories, now=now)
    free = [gold for gold in labels if gold.proposition.table.story_id not in others]
    if not free:
        messages.info(request, gettext("No cell of this kind is left for you."))
        return redirect("annotation:similar", slug)
    cells = _cells(access, free)
    last = page_places[-1]
    way = f"{reverse('annotation:similar', args=[slug])}?{_query(kind)}&after={last.number}.{last.position}"
    own = [story for pk, story in stories.items() if pk not in others]
    context = {
        "kind": kind,
        "dimension": access.project.schema[kind.dimension],
        "kind_query": _query(kind),
        "alike": len(places),
        "rows": cells,
        "todo": len(cells),
        "stories": own,
        "tags": list(enumerate(ErrorTag.choices, 1)),
        "settings": settings_of(access, story="similar", stories=[story.uid for story in own], following=way),
    }
    return render(request, "annotation/adjudication/similar.html", access.context | context | pace_of(access, now))


def _kinds(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    now, schema = timezone.now(), access.project.schema
    rows = similar_cells.open_to(access.project, access.user, unfinished=unfinished(access), now=now)
    counts = similar_cells.kinds(rows)
    listed = [
        {"kind": kind, "dimension": schema[kind.dimension], "count": count, "query": _query(kind)}
        for kind, count in counts.most_common(KINDS)
    ]
    context = {"kinds": listed, "more": len(counts) - len(listed), "cells": counts.total()}
    return render(request, "annotation/adjudication/kinds.html", access.context | context | pace_of(access, now))


def _query(kind: Kind) -> str:
    return urlencode({"dimension": kind.dimension, "votes": kind.votes})


def _following(places: list[Place], after: str) -> list[Place]:
    """Return the places that follow `after`, a story's number and a row's position with a dot between; from the first
    on where none does."""
    number, _, position = after.partition(".")
    if not (number.isdecimal() and position.isdecimal()):
        return places
    return [place for place in places if place[:2] > (int(number), int(position))] or places


def _labels(places: list[Place]) -> list[GoldLabel]:
    gold_by_id = GoldLabel.objects.select_related("proposition__table__story__category").in_bulk(
        [place.gold for place in places]
    )
    return [gold_by_id[place.gold] for place in places if place.gold in gold_by_id]


@dataclass(frozen=True, slots=True)
class _SimilarCell:
    """A cell of a page, with its proposition and story."""

    proposition: Proposition
    story: Story
    cell: Cell


def _cells(access: ProjectAccess, labels: list[GoldLabel]) -> list[_SimilarCell]:
    reader = CellReader(access, [gold.proposition for gold in labels])
    schema = access.project.schema
    return [
        _SimilarCell(
            gold.proposition, gold.proposition.table.story, reader.cell(gold.proposition, schema[gold.dimension])
        )
        for gold in labels
    ]


@require_http_methods(["GET", "POST"])
def alike(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all cells of a kind and decide those that are left ticked by one label, all or none. A guideline case says
    kind, label and reason."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    chosen = _of_case(access, request.GET.get("case", "")) or request.GET.dict()
    form = AlikeForm(request.POST or None, initial=chosen, project=access.project)
    if request.method == "POST" and form.is_valid() and _decided(request, access, form):
        return redirect("annotation:similar", slug)
    kind_form = KindForm(request.POST or chosen, project=access.project)
    if not kind_form.is_valid():
        return redirect("annotation:similar", slug)
    kind, now = kind_form.kind, timezone.now()
    rows = similar_cells.open_to(
        access.project, access.user, unfinished=unfinished(access), now=now, dimension=kind.dimension
    )
    places = similar_cells.places(rows, kind)
    context = {
        "kind": kind,
        "dimension": access.project.schema[kind.dimension],
        "kind_query": _query(kind),
        "form": form,
        "labels": _labels(places[: bulk.MOST_ALIKE]),
        "ticked": {cell.partition(":")[0] for cell in request.POST.getlist("cell")},
        "more": max(0, len(places) - bulk.MOST_ALIKE),
    }
    return render(request, "annotation/adjudication/alike.html", access.context | context)


def _of_case(access: ProjectAccess, case: str) -> dict[str, str] | None:
    """Return kind, label and reason of a decided cell, named by the proposition's uid and the dimension."""
    uid, _, dimension = case.partition("-")
    rows = adjudication_queue.of_project(access.project).filter(method=Method.ADJUDICATED)
    rows = rows.exclude(proposition__table__story__in=unfinished(access)).select_related("proposition__table__story")
    gold = rows.filter(proposition__uid=uid, dimension=dimension).first()
    if gold is None:
        return None
    kind = similar_cells.kind_of(gold.dimension, gold.votes)
    reason = (
        gettext("As in story {number}: {reason}").format(number=gold.proposition.table.story.number, reason=gold.reason)
        if gold.reason
        else ""
    )
    return {**kind._asdict(), "label": gold.label, "reason": reason, "error_tag": gold.error_tag}


def _decided(request: HttpRequest, access: ProjectAccess, form: AlikeForm) -> bool:
    """Decide the cells that the form names; where that is refused, say why."""
    cleaned = form.cleaned_data
    try:
        cells = {
            (pk, cleaned["dimension"]): cleaned["cells"][uid]
            for uid, pk in _ids(access.project, cleaned["cells"]).items()
        }
        decision = {"label": cleaned["label"], "reason": cleaned["reason"], "error_tag": cleaned["error_tag"]}
        bulk.decide_alike(by=request.user, project=access.project, cells=cells, now=timezone.now(), **decision)
    except AdjudicationRefused as error:
        form.add_error(None, str(error))
        return False
    count = len(cells)
    messages.success(
        request,
        ngettext(
            "{count} cell decided: {label}. Undo takes it back.",
            "{count} cells decided: {label}. Undo takes all of them back.",
            count,
        ).format(count=count, label=cleaned["label"]),
    )
    return True


def _ids(project: Project, uids: Iterable[str]) -> dict[str, int]:
    rows = adjudication_queue.of_project(project).filter(proposition__uid__in=list(uids))
    ids = dict(rows.values_list("proposition__uid", "proposition_id"))
    if set(uids) - set(ids):
        raise AdjudicationRefused(
            gettext("One of the propositions is no longer in its story's table; nothing was decided.")
        )
    return ids
