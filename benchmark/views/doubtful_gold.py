"""Doubtful gold: the experts' queue, and the page on which they look again without seeing what models said."""

from collections.abc import Iterable, Sequence
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import UserRequest, unfinished
from annotation.domain.resolution import shuffled
from annotation.forms.adjudication import CellIn, DecisionForm, DecisionsIn, TakenBack
from annotation.models import Claim, Role, Story, adjudication_queue
from annotation.services import claims
from annotation.services.adjudication import AdjudicationRefused, DecidedMeanwhile
from annotation.views.adjudication import settings_of
from annotation.views.saving import saved
from benchmark.access import results_access
from benchmark.addresses import ChosenDoubts, chosen_doubts, readable
from benchmark.services.doubtful_gold import (
    BLIND,
    PUBLISHED,
    SIMULATED,
    DoubtfulCell,
    doubtful_table,
    look_again,
    take_back,
)
from benchmark.views.downloads import table_response
from benchmark.views.gold_kinds import version_options
from benchmark.views.tables import files_of
from core.plain import Json
from core.views.pages import Context

A_PAGE, LISTED = 12, 25
NAME = "doubtful-gold"
LOOK = ("label", "revision", "row", "reason", "replaces")
"""Names of an expert's answer about a cell: `row` is the id of its gold label, and `replaces` the expert's earlier
label."""


def _chosen(request: UserRequest, slug: str) -> ChosenDoubts:
    return readable(chosen_doubts(request.GET.dict(), results_access(request.user, slug, role=Role.EXPERT)))


def _cells(chosen: ChosenDoubts, doubts: Sequence[DoubtfulCell]) -> list[Context]:
    """Return {doubt, dimension, voted, own, for_me, label, chips} of each cell as an expert sees it: blind, with an
    empty label, unless somebody has looked at it. `own` says whether the look is the reader's."""
    schema, user = chosen.dataset.schema, chosen.access.user
    votes = adjudication_queue.voted_on(user, [doubt.proposition.pk for doubt in doubts])
    cells: list[Context] = []
    for doubt in doubts:
        voted, look = (doubt.proposition.pk, doubt.dimension) in votes, None if doubt.waits else doubt.look
        label, dimension = look.label if look else "", schema[doubt.dimension]
        # all labels, gold's and the models' first (`between`) in an order that tells neither
        between = shuffled([doubt.gold, doubt.proposed], doubt.id)
        meanings = {known.value: known.meaning for known in dimension.labels}
        chips = [
            {
                "label": value,
                "digit": dimension.digit(value),
                "meaning": meanings[value],
                "between": value in between,
                "chosen": value == label,
            }
            for value in dict.fromkeys([*between, *dimension.values])
            if value in meanings
        ]
        cells.append(
            {
                "doubt": doubt,
                "dimension": dimension,
                "voted": voted,
                "label": label,
                "own": look is not None and look.by_id == user.pk,
                "for_me": doubt.waits and not voted,
                "chips": chips,
            }
        )
    return cells


@require_GET
def doubtful(request: UserRequest, slug: str) -> HttpResponse:
    """The queue: cells that wait for a second look, or those that had one with what came of it."""
    access = results_access(request.user, slug, role=Role.EXPERT)
    chosen = chosen_doubts(request.GET.dict(), access)
    context: Context = {"chosen": chosen}
    if chosen and not chosen.waiting:
        done = request.GET.get("show") == "looked-at"
        listed = chosen.gold.looked_at if done else chosen.gold.waiting
        page = Paginator(listed, LISTED).get_page(request.GET.get("page"))

        def address(kind: str, name: str, suffix: str) -> str:
            return f"{reverse('benchmark:doubtful_file', args=[slug, suffix])}?{chosen.query}"

        context |= {
            "versions": version_options(chosen.datasets),
            "done": done,
            "page": page,
            "cells": _cells(chosen, list(page)),
            "query": chosen.query + ("&show=looked-at" if done else ""),
            "notes": [SIMULATED, BLIND, PUBLISHED],
            "files": files_of("table", NAME, address),
        }
    return render(request, "benchmark/doubtful/queue.html", access.context | context)


@require_GET
def doubtful_file(request: UserRequest, slug: str, data: str) -> HttpResponse:
    chosen = _chosen(request, slug)
    tables = {NAME: partial(doubtful_table, chosen.gold, chosen.dataset.schema)}
    return table_response(tables, NAME, data, f"{slug}-{NAME}")


@require_GET
def second_look(request: UserRequest, slug: str) -> HttpResponse:
    """Cells to look at, in the order of doubt, from the one that `cell` names or that follows `after`, in stories that
    no other expert has claimed; the page's script claims them."""
    chosen = _chosen(request, slug)
    waiting = [cell for cell in _cells(chosen, chosen.gold.waiting) if cell["for_me"]]
    named = _cells(chosen, [doubt for doubt in chosen.gold.cells if doubt.id == request.GET.get("cell")])
    others = [cell for cell in waiting if cell not in named]
    after = next((at for at, cell in enumerate(others, 1) if cell["doubt"].id == request.GET.get("after")), 0)
    cells = [*named, *others[after:], *others[:after]][:A_PAGE]
    claims_of_others = Claim.objects.of_others(chosen.access.user, chosen.access.project, timezone.now())
    taken = set(claims_of_others.values_list("story_id", flat=True))
    free = [cell for cell in cells if cell["doubt"].proposition.table.story_id not in taken]
    if not free:
        sentence = (
            _("Other experts look at what is left.") if cells else _("No doubtful cell is left for you to look at.")
        )
        messages.info(request, sentence)
        return redirect(f"{reverse('benchmark:doubtful', args=[slug])}?{chosen.query}")
    stories = list(dict.fromkeys(cell["doubt"].proposition.table.story for cell in free))
    context = {
        "cells": free,
        "stories": stories,
        "todo": sum(cell["for_me"] for cell in free),
        "left_in_all": len(waiting),
        "pace": {"all": 0},
        "query": chosen.query,
        "settings": _settings(chosen, stories, after=free[-1]["doubt"].id),
    }
    return render(request, "benchmark/doubtful/look.html", chosen.access.context | context)


def _settings(chosen: ChosenDoubts, stories: list[Story], *, after: str) -> Context:
    """Return what the script of the adjudication pages needs, with addresses of second looks."""
    slug, query = chosen.access.project.slug, chosen.query
    cell = reverse("benchmark:doubtful_cell", args=[slug, "PROPOSITION", "dimension"])
    cell = f"{cell.replace('/dimension/', '/DIMENSION/')}?{query}"
    return settings_of(
        chosen.access,
        story=f"doubtful-{chosen.dataset.version}",
        stories=stories,
        following=f"{reverse('benchmark:second_look', args=[slug])}?{query}&after={after}",
        save=f"{reverse('benchmark:save_looks', args=[slug])}?{query}",
        undo=f"{reverse('benchmark:undo_looks', args=[slug])}?{query}",
        cell=cell,
        history=f"{cell}&history=1",
    )


@require_POST
@transaction.atomic
def save_looks(request: UserRequest, slug: str) -> JsonResponse:
    """Keep what an expert says of doubtful cells; the answer has each cell as it then stands."""
    chosen = _chosen(request, slug)

    def save(posted: DecisionsIn) -> Json:
        doubts = [chosen.gold.named(change.proposition, change.dimension) for change in posted.changes]
        for story in {cell.proposition.table.story for cell in doubts}:
            claims.keep_up(by=chosen.access.user, story=story, now=timezone.now())
        for change, cell in zip(posted.changes, doubts, strict=True):
            _look(chosen, cell, {name: getattr(change, name) for name in LOOK})
        fragments = _fragments(request, slug, posted.changes)
        saved_cells = [
            fragment | {"idempotency_key": change.idempotency_key, "changed_at": change.changed_at.isoformat()}
            for change, fragment in zip(posted.changes, fragments, strict=True)
        ]
        return {"saved": saved_cells, "warnings": {}}

    return saved(request, DecisionsIn, save, made=_("made these decisions"), refused=AdjudicationRefused)


def _look(chosen: ChosenDoubts, cell: DoubtfulCell, answer: Json) -> None:
    """Keep an expert's answer about a cell, whose names are in LOOK."""
    who: Json = {"by": chosen.access.user, "labelling": chosen.labelling, "now": timezone.now()}
    look_again(proposition=cell.proposition, dimension=cell.dimension, **who, **answer)


def _fragments(request: UserRequest, slug: str, named: Iterable[CellIn]) -> list[Json]:
    """Return {proposition, dimension, html} of each cell; the last is empty if the cell is no longer there."""
    chosen = _chosen(request, slug)
    doubts = {(doubt.proposition.uid, doubt.dimension): doubt for doubt in chosen.gold.cells}
    keys = [(one.proposition, one.dimension) for one in named]
    there = [key for key in keys if key in doubts]
    cells = dict(zip(there, _cells(chosen, [doubts[key] for key in there]), strict=True))
    return [
        {"proposition": key[0], "dimension": key[1]}
        | {"html": _fragment(request, chosen, cells[key]) if key in cells else ""}
        for key in keys
    ]


def _fragment(request: UserRequest, chosen: ChosenDoubts, cell: Context) -> str:
    context = {"cell": cell, "query": chosen.query}
    return render_to_string("benchmark/doubtful/_cell.html", chosen.access.context | context, request)


@require_http_methods(["GET", "POST"])
def undo_looks(request: UserRequest, slug: str) -> JsonResponse:
    """The look that this expert took last and can take back, null for none; a POST takes back those that it names."""
    chosen = _chosen(request, slug)
    if request.method == "GET":
        own = (cell for cell in chosen.gold.looked_at if cell.look and cell.look.by_id == chosen.access.user.pk)
        last, look_page = next(own, None), reverse("benchmark:second_look", args=[slug])
        if last is None or last.look is None:
            return JsonResponse({"undo": None})
        cell = {"proposition": last.proposition.uid, "dimension": last.dimension, "revision": last.revision}
        taken_back = {
            "cells": [cell],
            "label": last.look.label,
            "story": last.story,
            "dimension": chosen.dataset.schema[last.dimension].name,
            "url": f"{look_page}?{chosen.query}&cell={last.id}",
        }
        return JsonResponse({"undo": taken_back})

    def undo(posted: TakenBack) -> Json:
        for named_cell in posted.cells:
            cell = chosen.gold.named(named_cell.proposition, named_cell.dimension)
            take_back(by=chosen.access.user, proposition=cell.proposition, dimension=cell.dimension, now=timezone.now())
        return {"cells": _fragments(request, slug, posted.cells)}

    return saved(request, TakenBack, undo, made=_("made these decisions"), refused=AdjudicationRefused)


@require_http_methods(["GET", "POST"])
def doubtful_cell(request: UserRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """A cell as a fragment of the page; its history once somebody has looked at it; and, without JavaScript, a look."""
    chosen = chosen_doubts(request.GET.dict(), results_access(request.user, slug, role=Role.EXPERT))
    cells = chosen.gold.cells if chosen and not chosen.waiting else ()
    cell = next((cell for cell in cells if (cell.proposition.uid, cell.dimension) == (proposition, dimension)), None)
    if chosen is None or cell is None or cell.proposition.table.story_id in unfinished(chosen.access):
        if request.htmx:
            raise Http404(_("There is no such cell."))
        return redirect("benchmark:doubtful", slug)
    if request.method == "POST":
        form, now = DecisionForm(request.POST), timezone.now()
        try:
            if "undo" in request.POST:
                take_back(by=chosen.access.user, proposition=cell.proposition, dimension=cell.dimension, now=now)
            elif form.is_valid():
                _look(chosen, cell, {name: form.cleaned_data[name] for name in LOOK})
            else:
                messages.error(request, form.problem)
        except (AdjudicationRefused, DecidedMeanwhile) as error:
            messages.error(request, str(error))
        way = f"{reverse('benchmark:second_look', args=[slug])}?{chosen.query}"
        return redirect(f"{way}&after={cell.id}")
    if "history" in request.GET:
        if cell.waits:
            return render(request, "benchmark/doubtful/_blind.html", chosen.access.context)
        return redirect("annotation:cell_history", slug, proposition, dimension)
    return HttpResponse(_fragment(request, chosen, _cells(chosen, [cell])[0]))
