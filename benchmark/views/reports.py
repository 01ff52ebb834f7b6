"""Report pages, of a run as it is now and as it was when somebody saved it, and their parts: plots, then the tables
behind them, in the order in which they are read."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.access import RunAccess, results_access, run_access, run_document, snapshot_access, snapshot_document
from benchmark.addresses import chosen_leaderboard
from benchmark.controls.chosen import CONTROLS
from benchmark.domain.tables import Table
from benchmark.models import Snapshot
from benchmark.services import snapshots as service
from benchmark.services.calibration import calibration
from benchmark.services.comparison_tables import CORRECTED
from benchmark.services.documents import ACROSS, Document, results_of, suites_of, tables_of
from benchmark.services.downloads import no_official_output
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plans import RunRefused
from benchmark.services.plot_data import Picture, plots_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import group_suite, ordered_keys, suite_named
from benchmark.suites.results import Explorer, Section
from benchmark.views.across import snapshot_across
from benchmark.views.compare import snapshot_comparison
from benchmark.views.leaderboard import comparable, leaderboard_chart
from benchmark.views.tables import (
    Address,
    Href,
    address_of,
    files_of,
    item_links,
    no_link,
    page_table,
    plot_of,
    snapshot_item_links,
)
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop
from core.views.pages import Context


def run_results(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/_run_results.html", access.context | context)


def pieces(access: RunAccess, document: Document, chosen: Mapping[str, str]) -> Context:
    """Return what the fragment and the report page of a run both show."""
    slug, uid = access.project.project.slug, access.run.uid
    address = address_of("run", slug, uid)
    charts = {
        group: leaderboard_chart(slug, document.groups[group], group)
        for group in ordered_keys(document.groups)
        if document.groups[group]
    }
    kinds = {entrant.kind for entrants in document.groups.values() for entrant in entrants}
    no_folder = no_official_output(access.run)
    admin = access.project.at_least(Role.ADMIN)
    shows_outputs = not no_folder and not document.withheld
    return {
        "document": document,
        "control": CONTROLS.get(access.run.control),
        "noun": suite_named(access.run.suite).noun,
        "nouns": suite_named(access.run.suite).noun[1],
        "charts": charts,
        "sections": sections_of(document, address, chosen, item_links(slug)),
        "explorer": explorer_of(document, address, chosen, item_links(slug)),
        "people": "person" in kinds,
        "incomplete": access.run.job.state != "finished",
        "entrants": comparable(document.groups),
        "outputs": list(access.run.entrants.all()) if shows_outputs else [],
        "withheld": document.withheld,
        "no_folder": no_folder,
        "calibrations": calibration.links([access.run], access.project.user) if admin else [],
    }


def run_report(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/report.html", access.context | context)


@require_POST
def save_run_snapshot(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(service.save_run_snapshot, by=request.user, run=access.run, title=title)
    return _saved(request, slug, gettext_noop("report"), make, back=reverse("benchmark:runs", args=[slug]))


def _saved(request: UserRequest, slug: str, kept: str, make: Callable[[], Snapshot], *, back: str) -> HttpResponse:
    """Save what is `kept` and open it; go `back` with the reason where that is refused."""
    try:
        report = made_once(request, lambda: make().uid)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect(back)
    messages.success(
        request,
        Sentence("A snapshot of the {kept} was saved. Share its address with members of the project.", kept=kept),
    )
    return redirect("benchmark:snapshot", slug, report)


@require_POST
def save_leaderboard_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    """Keep the whole ranking that the posted `query` is the address of, whatever its reader may see of it."""
    project_access(request.user, slug, role=Role.EXPERT)
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(QueryDict(request.POST.get("query", "")), access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)

    def make() -> Snapshot:
        whole = leaderboard_of(
            chosen.dataset,
            chosen.answer_format,
            chosen.params["split"],
            suite=chosen.suite,
            all_runs=chosen.every,
            asked=chosen.asked,
        )
        title = request.POST.get("title", "")
        return service.save_leaderboard_snapshot(
            by=request.user, dataset=chosen.dataset, leaderboard=whole, query=chosen.params, title=title
        )

    back = f"{reverse('benchmark:leaderboard', args=[slug])}?{chosen.query}"
    return _saved(request, slug, gettext_noop("leaderboard"), make, back=back)


@require_POST
def save_across_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    """Keep the page of all models, whatever its reader may see of it."""
    access = results_access(request.user, slug, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(service.save_across_snapshot, by=request.user, project=access.project, title=title)
    return _saved(request, slug, gettext_noop("page"), make, back=reverse("benchmark:across", args=[slug]))


def snapshots(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    reports = Snapshot.objects.filter(project=access.project).select_related("created_by", "run").defer("metrics")
    return render(request, "benchmark/results/snapshots.html", access.context | {"reports": reports[:200]})


def snapshot(request: UserRequest, slug: str, report: str) -> HttpResponse:
    """Show the saved document, down to the items as they were, whatever became of the runs since."""
    access, snapshot = snapshot_access(request.user, slug, report)
    document = snapshot_document(access, snapshot)
    address = address_of("snapshot", slug, snapshot.uid)
    if document.kind == ACROSS:
        return snapshot_across(request, access, snapshot, document, address)
    href = snapshot_item_links(slug, snapshot.uid)
    context = {
        "report": snapshot,
        "document": document,
        "withheld": document.withheld,
        "nouns": next((suite_named(group_suite(group)).noun[1] for group in document.groups), "stories"),
        "address": request.build_absolute_uri(request.path),
        "charts": {
            group: leaderboard_chart("", document.groups[group], group)
            for group in ordered_keys(document.groups)
            if document.groups[group]
        },
        "sections": sections_of(document, address, request.GET, href),
        "explorer": explorer_of(document, address, request.GET, href),
        "people": any(entrant.kind == "person" for entrants in document.groups.values() for entrant in entrants),
    }
    if document.kind == "comparison":
        context |= snapshot_comparison(slug, snapshot.uid, document, address)
    elif document.query is not None:
        context["now"] = f"{reverse('benchmark:leaderboard', args=[slug])}?{urlencode(document.query)}"
    return render(request, "benchmark/results/report.html", access.context | context)


Tables = Mapping[str, Callable[[], Table]]


def sections_of(document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link) -> Context:
    """Return the context of _sections.html in the chosen parse: the rankings as `heads`, then the parts of the page.
    In the report of a run, parts that the benchmark's paper prints stand before the others."""
    failed: list[str] = []
    tables, plots = tables_of(document, failed), plots_of(document, failed)
    parses = parses_in(document)
    parse = chosen_parse(chosen, parses)
    parts: dict[bool, list[Context]] = {True: [], False: []}
    for section in sections_in(document):
        if part := _part(section, parse, tables, plots, address, href):
            parts[section.paper and document.kind == "run"].append(part)
    return {
        "heads": {
            group: _table(group, tables[group](), address, href)
            for group in ordered_keys(document.groups)
            if group in tables
        },
        "paper": parts[True],
        "parts": parts[False],
        "parse": parse,
        "parses": parses,
        "failed": failed,
    }


def _part(
    section: Section, parse: str, tables: Tables, plots: Mapping[str, Picture], address: Address, href: Href
) -> Context | None:
    """Return a part of one parse, with the sentences of a suite that could not make a table. Returns None if the
    document has nothing of it."""
    plot_names = [plot for name in section.pictures if (plot := _named(name, parse, plots))]
    table_names = [table for name in section.tables if (table := _named(name, parse, tables))]
    if not plot_names and not table_names:
        return None
    part: Context = {"title": section.title, "tables": [], "failed": []}
    for name in table_names:
        try:
            part["tables"].append(_table(name, tables[name](), address, href))
        except SuiteFailed as error:
            part["failed"].append(str(error))
    alone = len(plot_names) == 1
    return part | {"plots": [plot_of(name, plots[name].title, address, alone=alone) for name in plot_names]}


def sections_in(document: Document) -> list[Section]:
    """Return the parts of a page: tables that the papers of its suites print, parts of all suites, those that a suite
    arranges itself, and single repetitions."""
    keys = ordered_keys(document.groups)
    pairs = Section(gettext_noop("Differences between all pairs"), tuple(f"pairs-{key}" for key in keys))
    repeated = [f"{name}-{key}" for key in keys for name in ("repetitions", "repetition-stories", "prompts")]
    papers = [section for suite in suites_of(document) for section in suite.results.sections if section.paper]
    sections = [*papers, pairs]
    if document.by_method:
        names = ("method-parts", "method-scores", "methods")
        pictures = tuple(f"{name}-{key}" for name in names for key in keys)
        tables = tuple(f"{name}-{key}" for key in keys for name in names)
        sections.append(Section(gettext_noop("By method"), pictures, tables))
    if document.corrections:
        sections.append(Section(gettext_noop("Corrected for the judge's error"), (), (CORRECTED,)))
    if document.controls:
        pictures = tuple(f"{name}-{key}" for name in ("controls", "cues") for key in keys)
        tables = (*(f"controls-{key}" for key in keys), "controls-left", *(f"flips-{key}" for key in keys))
        sections.append(Section("Controls", pictures, tables))
    for suite in suites_of(document):
        for group in suite.groups:
            name = f"categories-{group.key}"
            if group.by_category and not suite.arranges(name):
                title = Sentence("{score_title} by category", score_title=group.score_title)
                sections.append(Section(title, (name,), (name,)))
        sections += [section for section in suite.results.sections if not section.paper]
        if not suite.arranges("judge-tests"):
            sections.append(Section(gettext_noop("Self-test of judges"), (), ("judge-tests",)))
    return [*sections, Section(gettext_noop("Single repetitions"), (), tuple(repeated))]


def _named(name: str, parse: str, parts: Mapping[str, Any]) -> str:
    """Return the name with the parse or by itself, whichever exists. Returns "" if neither does."""
    return next((candidate for candidate in (f"{name}-{parse}", name) if candidate in parts), "")


def parses_in(document: Document) -> list[str]:
    """Return the repaired parse, and the official one if anybody has it."""
    entrants = [entrant for group_entrants in document.groups.values() for entrant in group_entrants]
    return [name for name in ("repaired", "official") if any(entrant.parses.of(name) for entrant in entrants)]


def chosen_parse(chosen: Mapping[str, str], parses: Sequence[str]) -> str:
    parse = chosen.get("parse", "")
    return parse if parse in parses else next(iter(parses), "repaired")


def explorer_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> Context | None:
    """Return the context of _explorer.html for the choices in `chosen`. Returns None without an explorer, without
    anything to show, and if that is withheld."""
    suite = next((candidate for candidate in suites_of(document) if candidate.results.explorer), None)
    if document.withheld or suite is None or suite.results.explorer is None:
        return None
    try:
        return _explorer(document, suite, suite.results.explorer, address, chosen, href)
    except SuiteFailed as error:
        return {"key": suite.results.explorer.key, "title": suite.results.explorer.title, "failed": str(error)}


def _explorer(
    document: Document, suite: Suite, explorer: Explorer, address: Address, chosen: Mapping[str, str], href: Href
) -> Context | None:
    choices_by_parse = {name: explorer.choices(results_of(document, suite, name)) for name in parses_in(document)}
    parses = [name for name, choices in choices_by_parse.items() if choices]
    if not parses:
        return None
    parse = chosen_parse(chosen, parses)
    values = {}
    for choice in choices_by_parse[parse]:
        offered, selected = [value for value, _ in choice.options], chosen.get(choice.field, "")
        values[choice.field] = selected if selected in offered else offered[0]
    shows = explorer.shows(values)
    tables, plots = tables_of(document), plots_of(document)
    matrix, picture, table = (f"{name}-{parse}" for name in (shows.matrix, shows.picture, shows.table))
    return {
        "key": explorer.key,
        "title": explorer.title,
        "choices": [
            {"field": choice.field, "label": choice.label, "options": choice.options, "value": values[choice.field]}
            for choice in choices_by_parse[parse]
        ],
        "parse": parse,
        "parses": parses,
        "matrix": _matrix(matrix, plots[matrix].title, tables[matrix](), address, href),
        "picture": plot_of(picture, plots[picture].title, address),
        "table": _table(table, tables[table](), address, href),
    }


def _matrix(name: str, title: str, table: Table, address: Address, href: Href) -> Context:
    """Return a confusion matrix: counts with a `shade` from 0 to 10, the share of the gold label's rows."""
    columns = {column.key: column for column in table.columns}
    labels = [key for key in columns if key not in ("gold", "total") and not key.endswith(" share")]
    rows = []
    for row in table.rows:
        cells = []
        for label in labels:
            column, share = columns[label], columns[f"{label} share"]
            count = column.cell(row).value
            shade = round(10 * (share.cell(row).value or 0))
            cell = {"count": count, "href": href(row, column) if count else "", "shade": shade}
            beside = {"interval": share.aside(row), "why": share.cell(row).no_interval} if count else {}
            cells.append(cell | {"same": label == row["gold"]} | beside)
        total = columns["total"].cell(row).value
        linked = href(row, columns["total"]) if total else ""
        rows.append({"gold": row["gold"], "cells": cells, "total": {"count": total, "href": linked}})
    return {
        "title": title,
        "labels": labels,
        "rows": rows,
        "notes": [*table.dashes, *table.notes],
        "table_files": files_of("table", name, address),
        "plot_files": files_of("plot", name, address),
    }


def _table(name: str, table: Table, address: Address, href: Href) -> Context:
    return page_table(name, table, href=href, files=files_of("table", name, address))
