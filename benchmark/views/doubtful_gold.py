"""Doubtful gold: the experts' queue, and the page on which they look again without seeing what models said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, unfinished
from annotation.domain.ordering import shuffled
from annotation.domain.schema import Dimension
from annotation.forms.adjudication import DecisionForm
from annotation.forms.decisions import CellIn, DecisionsIn, TakenBack
from annotation.models import Role, Story, adjudication_queue
from annotation.services import claims
from annotation.services.adjudication import AdjudicationRefused, DecidedMeanwhile
from annotation.views.saving import CellFragment, DecidedCell, LastAction, SavedCell, saved
from benchmark.access import results_access
from benchmark.addresses import ChosenDoubts, chosen_doubts
from benchmark.models import SecondLook
from benchmark.services.doubtful_gold import DoubtfulCell
from benchmark.services.doubtful_tables import BLIND, PUBLISHED, SIMULATED, STATES, doubtful_table, state_of
from benchmark.services.downloads import TABLE_TYPES, table_file
from benchmark.services.second_looks import look_again, take_back
from benchmark.views.files import NAMES, PageFile
from core.plain import Json, plain
from core.views.pages import Context

A_PAGE, LISTED = 12, 25


def _chosen(request: HttpRequest, slug: str) -> tuple[ProjectAccess, ChosenDoubts | None]:
    access = results_access(request.user, slug, role=Role.EXPERT)
    return access, chosen_doubts(request.GET.dict(), access)


def _chosen_doubts(request: HttpRequest, slug: str) -> ChosenDoubts:
    """Return what the address asks for. Raises Http404 where there is none, PermissionDenied where it waits."""
    _access, chosen = _chosen(request, slug)
    if chosen is None:
        raise Http404(_("No finished run has labelled published gold."))
    if chosen.waiting:
        raise PermissionDenied(chosen.waiting)
    return chosen


@dataclass(frozen=True, slots=True)
class Chip:
    """A label to choose; `between` says whether it is gold's or the models', `chosen` whether an expert gave it."""

    label: str
    digit: int
    meaning: str
    between: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class Look:
    """An expert's answer about a cell, of the `revision` of its gold label with the id `row`; `replaces` is the label
    that the expert gave it before."""

    label: str
    revision: int
    row: int
    reason: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class PageCell:
    """A doubtful cell as an expert sees it: blind, unless somebody has looked at it. `chips` are all labels of its
    dimension, gold's and the models' first, in an order that tells neither."""

    doubt: DoubtfulCell
    dimension: Dimension
    voted: bool
    own: bool

    @property
    def id(self) -> str:
        return self.doubt.id

    @property
    def state(self) -> str:
        return STATES[state_of(self.doubt)]

    @property
    def for_me(self) -> bool:
        return self.doubt.waits and not self.voted

    @property
    def label(self) -> str:
        """Return what was said, empty before."""
        return self.doubt.look.label if self.doubt.look and not self.doubt.waits else ""

    @property
    def chips(self) -> list[Chip]:
        first = shuffled([self.doubt.gold, self.doubt.proposed], self.id)
        values = [*first, *(value for value in self.dimension.values if value not in first)]
        meanings = {label.value: label.meaning for label in self.dimension.labels}
        return [
            Chip(value, self.dimension.digit(value), meanings[value], value in first, value == self.label)
            for value in values
            if value in meanings
        ]


def _cells(chosen: ChosenDoubts, doubts: list[DoubtfulCell]) -> list[PageCell]:
    schema, user = chosen.dataset.schema, chosen.access.user
    voted = adjudication_queue.voted_on(user, [doubt.proposition.pk for doubt in doubts])
    return [
        PageCell(
            doubt,
            schema[doubt.dimension],
            (doubt.proposition.pk, doubt.dimension) in voted,
            doubt.look is not None and not doubt.waits and doubt.look.by_id == user.pk,
        )
        for doubt in doubts
    ]


@require_GET
def doubtful(request: HttpRequest, slug: str) -> HttpResponse:
    """The queue: cells that wait for a second look, or those that had one with what came of it."""
    access, chosen = _chosen(request, slug)
    context: Context = {"chosen": chosen}
    if chosen and not chosen.waiting:
        done = request.GET.get("show") == "looked-at"
        page = Paginator(chosen.gold.looked_at if done else chosen.gold.waiting, LISTED).get_page(
            request.GET.get("page")
        )
        address = reverse("benchmark:doubtful_file", args=[slug, "SUFFIX"])
        context |= {
            "done": done,
            "page": page,
            "cells": _cells(chosen, list(page)),
            "query": chosen.query + ("&show=looked-at" if done else ""),
            "notes": [SIMULATED, BLIND, PUBLISHED],
            "files": [
                PageFile(f"{address.replace('SUFFIX', suffix)}?{chosen.query}", NAMES[suffix])
                for suffix in ("csv", "json", "tex")
            ],
        }
    return render(request, "benchmark/doubtful/queue.html", access.context | context)


@require_GET
def doubtful_file(request: HttpRequest, slug: str, data: str) -> HttpResponse:
    chosen = _chosen_doubts(request, slug)
    if data not in TABLE_TYPES:
        raise Http404(_("There is no such format of tables."))
    content = table_file(doubtful_table(chosen.gold, chosen.dataset.schema), data, "doubtful-gold")
    response = HttpResponse(content, content_type=f"{TABLE_TYPES[data]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-doubtful-gold.{data}"'
    return response


@require_GET
def second_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Cells to look at, in the order of doubt, from the one that `cell` names or that follows `after`; their stories
    are claimed."""
    chosen = _chosen_doubts(request, slug)
    waiting = [cell for cell in _cells(chosen, chosen.gold.waiting) if cell.for_me]
    named = [cell for cell in _cells(chosen, list(chosen.gold.cells)) if cell.id == request.GET.get("cell")]
    others = [cell for cell in waiting if cell not in named]
    cells = [*named, *_following(others, request.GET.get("after", ""))][:A_PAGE]
    stories = {cell.doubt.proposition.table.story_id: cell.doubt.proposition.table.story for cell in cells}
    taken = claims.claim(by=chosen.access.user, project=chosen.access.project, stories=stories, now=timezone.now())
    free = [cell for cell in cells if cell.doubt.proposition.table.story_id not in taken]
    if not free:
        sentence = (
            _("Other experts look at what is left.") if taken else _("No doubtful cell is left for you to look at.")
        )
        messages.info(request, sentence)
        return redirect(f"{reverse('benchmark:doubtful', args=[slug])}?{chosen.query}")
    claimed = [story for pk, story in stories.items() if pk not in taken]
    context = {
        "cells": free,
        "stories": claimed,
        "todo": sum(cell.for_me for cell in free),
        "left_in_all": len(waiting),
        "pace": {"all": 0},
        "query": chosen.query,
    }
    context["settings"] = _settings(chosen, claimed, after=free[-1].id)
    return render(request, "benchmark/doubtful/look.html", chosen.access.context | context)


def _following(cells: list[PageCell], after: str) -> list[PageCell]:
    """Return the cells that follow the one of that id, those before it behind them."""
    at = next((place for place, cell in enumerate(cells, 1) if cell.id == after), 0)
    return cells[at:] + cells[:at]


def _settings(chosen: ChosenDoubts, stories: list[Story], *, after: str) -> Context:
    """Return what the script of the adjudication pages needs, with addresses of second looks."""
    slug, query = chosen.access.project.slug, chosen.query
    guideline = reverse("annotation:guideline", args=[slug, "dimension"])
    cell = reverse("benchmark:doubtful_cell", args=[slug, "PROPOSITION", "dimension"])
    cell = cell.replace("/dimension/", "/DIMENSION/")
    return {
        "annotator": chosen.access.user.pk,
        "story": f"doubtful-{chosen.dataset.version}",
        "stories": [story.uid for story in stories],
        "now": timezone.now().isoformat(),
        "goesOn": chosen.access.project.decides_and_goes_on,
        "urls": {
            "save": f"{reverse('benchmark:save_looks', args=[slug])}?{query}",
            "undo": f"{reverse('benchmark:undo_looks', args=[slug])}?{query}",
            "claims": reverse("annotation:keep_claims", args=[slug]),
            "cell": f"{cell}?{query}",
            "history": f"{cell}?{query}&history=1",
            "guideline": guideline.replace("/dimension/", "/DIMENSION/"),
            "next": f"{reverse('benchmark:second_look', args=[slug])}?{query}&after={after}",
            "login": reverse("login"),
        },
    }


@require_POST
@transaction.atomic
def save_looks(request: HttpRequest, slug: str) -> JsonResponse:
    """Keep what an expert says of doubtful cells; the answer has each cell as it then stands."""
    chosen = _chosen_doubts(request, slug)

    def save(posted: DecisionsIn) -> Json:
        doubts = [_doubt(chosen, change) for change in posted.changes]
        for story in {cell.proposition.table.story for cell in doubts}:
            claims.keep_up(by=chosen.access.user, story=story, now=timezone.now())
        for change, cell in zip(posted.changes, doubts, strict=True):
            _look(chosen, cell, Look(change.label, change.revision, change.row, change.reason, change.replaces))
        fragments = _fragments(request, slug, posted.changes)
        saved_cells = [
            SavedCell(
                fragment.proposition,
                fragment.dimension,
                fragment.html,
                change.idempotency_key,
                change.changed_at.isoformat(),
            )
            for change, fragment in zip(posted.changes, fragments, strict=True)
        ]
        return {"saved": plain(saved_cells), "warnings": {}}

    return saved(request, DecisionsIn, save, made=_("made these decisions"), refused=AdjudicationRefused)


def _look(chosen: ChosenDoubts, cell: DoubtfulCell, look: Look) -> SecondLook:
    return look_again(
        by=chosen.access.user,
        labelling=chosen.labelling,
        proposition=cell.proposition,
        dimension=cell.dimension,
        label=look.label,
        revision=look.revision,
        row=look.row,
        reason=look.reason,
        replaces=look.replaces,
        now=timezone.now(),
    )


def _look_of(form: DecisionForm) -> Look:
    values = form.cleaned_data
    return Look(values["label"], values["revision"], values["row"], values["reason"], values["replaces"])


def _doubt(chosen: ChosenDoubts, named: CellIn) -> DoubtfulCell:
    for cell in chosen.gold.cells:
        if (cell.proposition.uid, cell.dimension) == (named.proposition, named.dimension):
            return cell
    raise AdjudicationRefused(_("This cell is not doubtful, or its gold changed since it was published."))


def _fragments(request: HttpRequest, slug: str, named: Iterable[CellIn]) -> list[CellFragment]:
    chosen = _chosen_doubts(request, slug)
    cells_by_key = {
        (cell.doubt.proposition.uid, cell.dimension.key): cell for cell in _cells(chosen, list(chosen.gold.cells))
    }
    return [
        CellFragment(
            named_cell.proposition,
            named_cell.dimension,
            _fragment(request, chosen, cell)
            if (cell := cells_by_key.get((named_cell.proposition, named_cell.dimension))) is not None
            else "",
        )
        for named_cell in named
    ]


def _fragment(request: HttpRequest, chosen: ChosenDoubts, cell: PageCell, **more: Any) -> str:
    context = {"cell": cell, "query": chosen.query}
    return render_to_string("benchmark/doubtful/_cell.html", chosen.access.context | context | more, request)


@require_http_methods(["GET", "POST"])
def undo_looks(request: HttpRequest, slug: str) -> JsonResponse:
    """The look that this expert took last and can take back, null for none; a POST takes back those that it names."""
    chosen = _chosen_doubts(request, slug)
    if request.method == "GET":
        return JsonResponse({"undo": plain(_last(chosen))})

    def undo(posted: TakenBack) -> Json:
        for named_cell in posted.cells:
            cell = _doubt(chosen, named_cell)
            take_back(by=chosen.access.user, proposition=cell.proposition, dimension=cell.dimension, now=timezone.now())
        return {"cells": plain(_fragments(request, slug, posted.cells))}

    return saved(request, TakenBack, undo, made=_("made these decisions"), refused=AdjudicationRefused)


def _last(chosen: ChosenDoubts) -> LastAction | None:
    own = [cell for cell in chosen.gold.looked_at if cell.look and cell.look.by_id == chosen.access.user.pk]
    if not own:
        return None
    cell = own[0]
    return LastAction(
        cells=[DecidedCell(cell.proposition.uid, cell.dimension, cell.revision)],
        label=cell.look.label if cell.look else "",
        story=cell.story,
        dimension=chosen.dataset.schema[cell.dimension].name,
        url=f"{reverse('benchmark:second_look', args=[chosen.access.project.slug])}?{chosen.query}&cell={cell.id}",
    )


@require_http_methods(["GET", "POST"])
def doubtful_cell(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """A cell as a fragment of the page; its history once somebody has looked at it; and, without JavaScript, a look."""
    _access, chosen = _chosen(request, slug)
    cell = _cell_named(chosen, proposition, dimension) if chosen and not chosen.waiting else None
    if chosen is None or cell is None:
        if request.htmx:
            raise Http404(_("There is no such cell."))
        return redirect("benchmark:doubtful", slug)
    if request.method == "POST":
        return _posted(request, chosen, cell)
    if "history" in request.GET:
        if cell.doubt.waits:
            return render(request, "benchmark/doubtful/_blind.html", chosen.access.context)
        return redirect("annotation:cell_history", slug, proposition, dimension)
    return HttpResponse(_fragment(request, chosen, cell))


def _cell_named(chosen: ChosenDoubts, proposition: str, dimension: str) -> PageCell | None:
    cells = _cells(chosen, list(chosen.gold.cells))
    named = [cell for cell in cells if (cell.doubt.proposition.uid, cell.dimension.key) == (proposition, dimension)]
    if not named or named[0].doubt.proposition.table.story_id in unfinished(chosen.access):
        return None
    return named[0]


def _posted(request: HttpRequest, chosen: ChosenDoubts, cell: PageCell) -> HttpResponse:
    way = f"{reverse('benchmark:second_look', args=[chosen.access.project.slug])}?{chosen.query}"
    form = DecisionForm(request.POST)
    try:
        if "undo" in request.POST:
            take_back(
                by=chosen.access.user,
                proposition=cell.doubt.proposition,
                dimension=cell.dimension.key,
                now=timezone.now(),
            )
        elif form.is_valid():
            _look(chosen, cell.doubt, _look_of(form))
        else:
            messages.error(request, form.problem)
    except (AdjudicationRefused, DecidedMeanwhile) as error:
        messages.error(request, str(error))
    return redirect(f"{way}&after={cell.id}")
