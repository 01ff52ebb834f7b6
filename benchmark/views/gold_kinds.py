"""Effect of suggestions and adjudication on gold: scores of models by how the gold came about."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import UserRequest
from benchmark.access import closed_to, results_access
from benchmark.addresses import ChosenGold, chosen_gold, readable
from benchmark.domain.gold_kinds import REFERENCE, Kind, Move, in_order
from benchmark.domain.tables import Column
from benchmark.models import Dataset
from benchmark.services.gold_kind_tables import (
    LEFT_OUT,
    MOVES,
    NAMES,
    STANDING_VOTES,
    UNRANKED_NOTE,
    VOTES,
    dimension_sentence,
    tables_of,
)
from benchmark.services.gold_kinds import (
    ALL_VOTES,
    BLIND_VOTES,
    EVERY,
    MOVED,
    OVERALL,
    OVERRULED,
    UNDECIDED,
    WHICH,
    cell_rows,
    material_of,
    places_of,
)
from benchmark.views.downloads import table_response
from benchmark.views.tables import address_of, files_of, page_table
from core.messages import Sentence, listed
from core.views.charts import PERCENT, DotChart, Row, dot_chart
from core.views.pages import Context
from core.wording import counted

PAGE = 25
SECTIONS = {
    "kinds": ("by-kind", "ranks", "swaps"),
    "moves": ("moves",),
    "ceiling": ("ceiling",),
    "standing-in": ("standing-in", "annotators"),
}
"""The tables below each picture."""


@require_GET
def gold_kinds(request: UserRequest, slug: str) -> HttpResponse:
    """The page: pictures of one kind of gold beside what it is compared with, whether ranks change, and all tables."""
    access = results_access(request.user, slug)
    chosen = chosen_gold(request.GET.dict(), access)
    context: Context = {"lacking": chosen is None}
    if chosen:
        context |= {"chosen": chosen, "metrics": chosen.metrics, "waiting": chosen.waiting}
        context["versions"] = version_options(chosen.datasets)
        context["dimension"] = _key(chosen, chosen.dimension)
        context["dimensions"] = [
            (_key(chosen, at), dimension_sentence(chosen.metrics, at)) for at in chosen.metrics.scores
        ]
        if not context["waiting"]:
            context |= _parts(chosen)
    return render(request, "benchmark/results/gold_kinds.html", access.context | context)


def version_options(datasets: Sequence[Dataset]) -> list[tuple[int, str]]:
    return [(dataset.version, Sentence("Version {version}", version=dataset.version)) for dataset in datasets]


def _parts(chosen: ChosenGold) -> Context:
    address = address_of("gold_kinds", chosen.slug, query=chosen.query())
    made = tables_of(chosen.metrics, chosen.dimension)
    tables = {
        name: page_table(name, table, href=_links(chosen), files=files_of("table", name, address))
        for name, make in made.items()
        if name != "by-dimension" and (table := make()).rows
    }
    charts = {
        "kinds": _chart(chosen),
        "moves": _moves_chart(chosen),
        "ceiling": _ceiling_chart(chosen),
        "standing-in": _standing_in_chart(chosen),
    }
    kinds = [kind for kind in chosen.metrics.kinds if kind in REFERENCE]
    return {
        "tabs": [(NAMES[kind], chosen.query(kind=kind.value), kind == chosen.kind) for kind in kinds],
        "verdict": _verdict(chosen),
        "sections": [
            (name, charts[name], [tables[table_name] for table_name in SECTIONS[name] if table_name in tables])
            for name in SECTIONS
            if name == "kinds" or charts[name]
        ],
        "all_files": files_of("table", "by-dimension", address),
        "cells_href": _cells_address(chosen),
    }


def _cells_address(chosen: ChosenGold, **others: Any) -> str:
    return f"{reverse('benchmark:gold_kinds_cells', args=[chosen.slug])}?{chosen.query(**others)}"


def _links(chosen: ChosenGold) -> Any:
    def href(row: Mapping[str, Any], column: Column) -> str:
        if column.cell(row).value is None:
            return ""
        if column.key in MOVES:
            show = {Move.TO_GOLD: OVERRULED, Move.UNDECIDED: UNDECIDED}.get(Move(column.key), MOVED)
            return _cells_address(chosen, kind=Kind.ALL.value, show=show, dimension=_key(chosen, row["at"]))
        if column.key in NAMES and "kind" not in row and "who" not in row:
            return _cells_address(chosen, kind=column.key, model=row["model"])
        return ""

    return href


def _chart(chosen: ChosenGold) -> DotChart | None:
    """Return each model's score on the chosen kind of gold, next to the gold that it is compared with."""
    if chosen.kind not in REFERENCE:
        return None
    scores, other = chosen.metrics.scores[chosen.dimension], REFERENCE[chosen.kind]
    inside = chosen.metrics.cells.in_dimension(chosen.dimension)
    count = counted(int((inside & (chosen.metrics.cells.by_kind()[chosen.kind] >= 0)).sum()), "cell")
    rows = [
        Row(
            label=model,
            first=scores[model][chosen.kind],
            second=scores[model][other],
            bounds=scores[model][chosen.kind].bounds,
            n=count,
            href=_cells_address(chosen, model=model),
        )
        for model in in_order(scores)
    ]
    title = _("Accuracy: {dimension}").format(dimension=_(dimension_sentence(chosen.metrics, chosen.dimension)))
    heads = NAMES[chosen.kind], NAMES[other]
    unit = _("Right cells (%), lines are 95 % intervals over stories")
    return dot_chart(title, rows, notation=PERCENT, heads=heads, unit=unit)


def _verdict(chosen: ChosenGold) -> str:
    """Return whether ranks change, in words, and a note about models that are not ranked."""
    order = chosen.metrics.orders[chosen.dimension].get(chosen.kind) if chosen.kind else None
    if order is None:
        return ""
    tau, swaps = order
    value = "" if tau.value is None else f"{tau.value:.2f}"
    value += f" [{tau.interval[0]:.2f}, {tau.interval[1]:.2f}]" if tau.interval else ""
    if tau.value is None:
        text = _("Whether ranks change cannot be told.")
    elif not swaps:
        text = _("Ranks do not change: Kendall’s τ {tau}, {count} models.").format(tau=value, count=tau.n)
    else:
        certain = [swap for swap in swaps if (ends := swap["shift"].interval) and not ends[0] <= 0 <= ends[1]]
        text = (
            _("Ranks change, and more than chance did it: {pairs} swap. Kendall’s τ {tau}.")
            if certain
            else _("{pairs} swap, which chance can do: Kendall’s τ {tau}.")
        )
        text = text.format(pairs=listed(f"{swap['first']} / {swap['second']}" for swap in swaps[:3]), tau=value)
    return f"{text} {_(UNRANKED_NOTE)}" if chosen.metrics.unranked else text


def _moves_chart(chosen: ChosenGold) -> DotChart | None:
    """Return how many labels moved from the suggestion to the majority, and how many went to an expert, by
    dimension."""
    metrics, drawn_moves = chosen.metrics, (Move.TO_MAJORITY, Move.UNDECIDED)
    if not any(metrics.moves[OVERALL][move].n for move in drawn_moves):
        return None
    rows = [
        Row(
            label=_(dimension_sentence(metrics, at)),
            first=moves[Move.TO_MAJORITY] if metrics.provenance["suggested"] else None,
            second=moves[Move.UNDECIDED],
            href=_cells_address(chosen, kind=Kind.ALL.value, show=MOVED, dimension=_key(chosen, at)),
            n=counted(moves[Move.UNDECIDED].n, "cell"),
        )
        for at, moves in metrics.moves.items()
    ]
    heads = MOVES[Move.TO_MAJORITY], MOVES[Move.UNDECIDED]
    unit = _("Labels that moved (%), lines are 95 % intervals over stories")
    return dot_chart(_("How far labels moved"), rows, notation=PERCENT, heads=heads, unit=unit, zero=True)


def _key(chosen: ChosenGold, at: int | None) -> str:
    return "" if at is None else chosen.metrics.keys[at]


def _ceiling_chart(chosen: ChosenGold) -> DotChart | None:
    """Annotators who are left out and models in their places, by all votes and by blind ones."""
    ceiling, blind = (chosen.metrics.ceilings[votes][chosen.dimension] for votes in (ALL_VOTES, BLIND_VOTES))
    if ceiling.people.value is None:
        return None
    places = counted(ceiling.cells, "place")
    rows = [Row(label=_(LEFT_OUT), first=ceiling.people, second=blind.people, n=places)]
    rows += [
        Row(label=name, first=ceiling.models[name][0], second=blind.models[name][0], n=places)
        for name in in_order(chosen.metrics.scores[OVERALL])
    ]
    unit = _("Right by the votes of others (%), lines are 95 % intervals over stories")
    return dot_chart(_("The ceiling"), rows, notation=PERCENT, heads=tuple(VOTES.values()), unit=unit)


def _standing_in_chart(chosen: ChosenGold) -> DotChart | None:
    """Return how often each model is at least as near to the other annotators as the one in whose place it stands: by
    blind votes, or, without any, by those that may be."""
    advantages = {
        votes: {model: test.advantage for model, (_, test) in tests.items() if test.advantage.value is not None}
        for votes, tests in chosen.metrics.standing_in.items()
    }
    votes, by_model = next(((votes, found) for votes, found in advantages.items() if found), ("", {}))
    rows = [
        Row(label=model, first=by_model[model], n=counted(by_model[model].n, "place"))
        for model in in_order(chosen.metrics.scores[OVERALL])
        if model in by_model
    ]
    if not rows:
        return None
    unit = _("Advantage (%), lines are 95 % intervals over stories")
    title = _("May a model stand in for an annotator?")
    head = _("Advantage, {votes}").format(votes=_(STANDING_VOTES[votes]).lower())
    return dot_chart(title, rows, notation=PERCENT, heads=(head,), unit=unit)


@require_GET
def gold_kinds_table(request: UserRequest, slug: str, table: str, data: str) -> HttpResponse:
    chosen = chosen_gold(request.GET.dict(), results_access(request.user, slug))
    if chosen is None:
        return redirect("benchmark:gold_kinds", slug)
    made = tables_of(readable(chosen).metrics, chosen.dimension)
    tables = {f"gold-{name}": make for name, make in made.items()}
    return table_response(tables, f"gold-{table}", data, f"{slug}-gold-{table}")


@require_GET
def gold_kinds_cells(request: UserRequest, slug: str) -> HttpResponse:
    """The cells behind a figure: those of a kind of gold and a dimension, with what a model said of each."""
    access = results_access(request.user, slug)
    chosen = chosen_gold(request.GET.dict(), access)
    if chosen is None:
        return redirect("benchmark:gold_kinds", slug)
    model, show = request.GET.get("model", ""), request.GET.get("show", "")
    model, show = model if model in chosen.metrics.models else "", show if show in WHICH else EVERY
    kind, material = chosen.kind or Kind.ALL, material_of(chosen.labelling)
    closed = closed_to(access, dataset=chosen.dataset)
    places = places_of(material, kind=kind, dimension=chosen.dimension, model=model, show=show, closed=closed)
    page = Paginator(places, PAGE).get_page(request.GET.get("page"))
    context = {
        "chosen": chosen,
        "key": _key(chosen, chosen.dimension),
        "kind": NAMES[kind],
        "dimension": dimension_sentence(chosen.metrics, chosen.dimension),
        "model": model,
        "models": chosen.metrics.models,
        "which": WHICH.items(),
        "show": show,
        "page": page,
        "rows": cell_rows(chosen.labelling, material, kind, model, list(page)),
        "query": chosen.query(model=model, show=show),
        "back": chosen.query(),
    }
    return render(request, "benchmark/results/gold_kind_cells.html", access.context | context)
