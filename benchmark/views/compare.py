"""Two entrants side by side: the picture of differences, the table behind it, and the stories on which they differ
most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from benchmark.access import check_open, closed_in, results_access
from benchmark.addresses import ChosenComparison, chosen_comparison, ranking_in
from benchmark.domain.tables import Column
from benchmark.models import Run
from benchmark.services import side_by_side as service
from benchmark.services import snapshots
from benchmark.services.comparison_tables import corrected_difference_table, difference_table
from benchmark.services.comparisons import (
    ComparedMetric,
    ComparedStory,
    Comparison,
    NotChosen,
    NotComparable,
    items_behind,
    pair_of,
)
from benchmark.services.documents import Document
from benchmark.services.leaderboard_scope import ranking_with
from benchmark.services.plans import RunRefused
from benchmark.suites.registry import group_named, nouns_of_group, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.corrected import corrected_by
from benchmark.suites.showing.entrants import measured
from benchmark.views.tables import (
    Address,
    Href,
    address_of,
    calibration_url,
    files_of,
    items_url,
    no_link,
    page_table,
    plot_of,
    snapshot_items_url,
)
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop, listed, word
from core.views.charts import Row, dot_chart
from core.views.pages import Context

STORIES_A_PAGE = 25


def compare(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        chosen = chosen_comparison(request.GET, access)
    except NotComparable as error:
        context = {"problem": str(error), "unchosen": isinstance(error, NotChosen)}
        return render(request, "benchmark/results/compare.html", access.context | context)
    comparison, query = chosen.comparison, chosen.query
    category = request.GET.get("category", "")
    stories = [story for story in comparison.stories if category in ("", story.category)]
    page = Paginator(stories, STORIES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        **chosen.context,
        "all_pairs": f"{reverse('benchmark:differences', args=[slug])}?{_leaderboard_query(chosen)}",
        **comparison_parts(comparison, slug, address_of("comparison", slug, query=query), _opening(slug, chosen)),
        "category": category,
        "query": f"{query}&{urlencode({'category': category})}" if category else query,
        "all_stories": query,
        "page": page,
        "withheld": comparison.withheld,
        "stories": _with_items(access, chosen, list(page)),
        "tabs": _tabs(chosen),
    }
    return render(request, "benchmark/results/compare.html", access.context | context)


def _tabs(chosen: ChosenComparison) -> list[Context]:
    """Return the tabs of a comparison: the same two entrants by every metric group and parse."""
    return [
        {
            "title": listed([group_named(group).title, word(parse)]),
            "query": urlencode({**chosen.asked, "group": group, "parse": parse}),
            "here": (group, parse) == (chosen.group, chosen.parse),
        }
        for group in chosen.entrants
        for parse in chosen.parses
    ]


def _leaderboard_query(chosen: ChosenComparison) -> str:
    """Return the query of a ranking that has both, as the leaderboard's address asks for it: the one that the reader
    came from, if it does."""
    run, group, params = chosen.runs[0], chosen.group, chosen.asked
    came_from = {"split": chosen.comparison.split, **ranking_in(params)}
    ranking = ranking_with(run.dataset, run.answer_format, group, [params["a"], params["b"]], asked=came_from)
    query = {"version": run.dataset.version, "answer_format": run.answer_format, "split": ranking.pop("split", "")}
    query |= {"group": group, "parse": chosen.parse, **ranking}
    return urlencode({name: value for name, value in query.items() if value})


def _opening(slug: str, chosen: ChosenComparison) -> Href:
    """Return links for a comparison: either side of a row opens its items, the difference the stories that it is of."""
    sides = dict(zip(("first", "second"), chosen.pair, strict=True))
    step = group_named(chosen.group).scored

    def href(row: Mapping[str, Any], column: Column) -> str:
        if column.cell(row).value is None:
            return ""
        if column.key == "value":
            return f"?{chosen.query}&{urlencode({'category': row['category']})}#stories"
        entrant = sides.get(column.key)
        if entrant is None or not entrant.entrant:
            return ""
        where = {"category": row["category"], "split": chosen.comparison.split}
        where |= measured(chosen.group, row["key"], chosen.parse)
        return items_url(slug, entrant.run, **{"model": entrant.entrant, "step": step} | where)

    return href


def snapshot_opening(slug: str, report: str, document: Document) -> Href:
    """Return links for a saved comparison: either side of a row opens its items as they were; `document` says of whom
    it is."""
    comparison = document.comparison
    entrants = [key.partition(".")[2] for key in document.keys or ()]
    sides = dict(zip(("first", "second"), entrants, strict=False))
    step = group_named(comparison.group).scored

    def href(row: Mapping[str, Any], column: Column) -> str:
        entrant = sides.get(column.key, "")
        if row.get(column.key) is None or not entrant.isdecimal():
            return ""
        where = {"category": row["category"], **measured(comparison.group, row["key"], comparison.parse)}
        return snapshot_items_url(slug, report, **{"model": entrant, "step": step} | where)

    return href


def comparison_parts(comparison: Comparison, slug: str, address: Address, href: Href = no_link) -> Context:
    """Return picture, tables and downloads of a comparison, present or saved."""
    corrected = {row.key: row for row in comparison.corrected.rows} if comparison.corrected else {}
    rows = [
        Row(
            label=row.what,
            first=row,
            second=corrected[row.key] if row.key in corrected and not row.category else None,
            aside=_verdict(row),
        )
        for row in comparison.rows
    ]
    files = files_of("table", "differences", address)
    table = page_table("differences", difference_table(comparison), href=href, files=files)
    unit = Sentence("{first} minus {second} (points)", first=comparison.first, second=comparison.second)
    return {
        "comparison": comparison,
        "chart": dot_chart(
            "Difference",
            rows,
            unit=unit,
            zero=True,
            heads=(gettext_noop("Judged"), gettext_noop("Corrected")) if corrected else ("Value",),
            aside=gettext_noop("Holm, judged") if corrected else gettext_noop("Holm"),
            lead=table["lead"],
        ),
        "corrected": corrected_part(comparison, address, slug),
        "corrected_by": corrected_by_links(comparison, slug),
        "differences": table,
        "story_files": files_of("table", "stories", address),
        "plot": plot_of(
            "two-models",
            Sentence(
                "{first} and {second} by {group}",
                first=comparison.first,
                second=comparison.second,
                group=nouns_of_group(comparison.group)[0],
            ),
            address,
        ),
        "score": group_named(comparison.group).score_title,
        "noun": nouns_of_group(comparison.group),
        "of_sets": bool(group_named(comparison.group).unit),
        "overall": _overall(comparison),
    }


def corrected_by_links(comparison: Comparison, slug: str) -> list[Context]:
    """Return the study and judge of the corrected scores of both, with the address of their calibration report."""
    corrected = comparison.corrected
    if corrected is None or not corrected.rows:
        return []
    return [
        {
            "model": model,
            "corrected_by": corrected_by(side),
            "href": calibration_url(slug, side.study, side.version),
        }
        for model, side in zip((comparison.first, comparison.second), corrected.sides, strict=True)
    ]


def corrected_part(comparison: Comparison, address: Address, slug: str) -> Context | str:
    """Return the table of corrected differences, whose scores open the calibration report that they rest on; or why
    there is none, empty for who may not know."""
    corrected = comparison.corrected
    if corrected is None or not corrected.rows:
        return corrected.reason if corrected else ""
    sides = dict(zip(("corrected_first", "corrected_second"), corrected.sides, strict=True))

    def href(row: Mapping[str, Any], column: Column) -> str:
        side = sides.get(column.key)
        return calibration_url(slug, side.study, side.version) if side and row.get(column.key) is not None else ""

    table = corrected_difference_table(comparison, corrected)
    return page_table("corrected", table, href=href, files=files_of("table", "corrected", address))


def _verdict(row: ComparedMetric) -> str:
    if row.p_adjusted is None:
        return "–"
    return f"p {row.p_adjusted:.3f}" if row.p_adjusted >= 0.001 else "p < .001"


def _overall(comparison: Comparison) -> Context:
    """Return the score over all stories in words, with its `value`."""
    row = next(row for row in comparison.rows if row.key == group_named(comparison.group).score and not row.category)
    outcome = gettext_noop("shown to differ") if row.differs() else gettext_noop("not shown to differ")
    tests = comparison.tests
    counted_tests = Sentence("{tests} test", tests=tests) if tests == 1 else Sentence("{tests} tests", tests=tests)
    tested = Sentence(
        "{outcome} (Holm-adjusted {row} over the {counted_tests} of the table below)",
        outcome=outcome,
        row=_verdict(row),
        counted_tests=counted_tests,
    )
    return {
        "value": row.value,
        "shown_value": Sentence("{value} points", value=points(row.value)),
        "shown_interval": _interval(row),
        "verdict": tested if row.p_adjusted is not None else gettext_noop("not tested"),
    }


def _interval(row: ComparedMetric) -> str:
    if ends := row.interval:
        return Sentence("(95 % interval {low} to {high})", low=points(ends[0]), high=points(ends[1]))
    return Sentence("(no interval: {reason})", reason=row.reason) if row.reason else ""


def points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+z.1f}".replace("-", "−")


def _with_items(access: ProjectAccess, chosen: ChosenComparison, stories: Sequence[ComparedStory]) -> list[Context]:
    """Return stories with both scores as cells that open their items; `beside` is the address of both answers side by
    side, "" if either has no item."""
    items = items_behind(chosen.pair, chosen.group, [story.number for story in stories])
    return [_story_row(access, chosen, story, items) for story in stories]


def _story_row(
    access: ProjectAccess, chosen: ChosenComparison, story: ComparedStory, items: Mapping[tuple[str, int], int]
) -> Context:
    number, gap = story.number, story.difference or 0
    cells = [
        {
            "text": _without_score(entrant, number, chosen.group) if value is None else f"{100 * value:.1f}",
            "href": _item_url(access, entrant, items.get((entrant.key, number))),
            "ahead": gap * sign > 0,
            "model": entrant.model,
        }
        for entrant, value, sign in zip(chosen.pair, (story.first, story.second), (1, -1), strict=True)
    ]
    beside = f"{reverse('benchmark:compare_story', args=[access.project.slug, number])}?{chosen.query}"
    both = all(cell["href"] for cell in cells)
    row = {"number": number, "category": story.category, "cells": cells, "gap": points(story.difference)}
    return row | {"beside": beside if both else ""}


def _without_score(entrant: EntrantResults, number: int, group: str) -> str:
    """Say why a story has no score of an entrant, in a word or two."""
    if entrant.kind == "person":
        return gettext_noop("not labelled")
    if number not in entrant.numbers:
        return gettext_noop("not asked")
    return gettext_noop("not known") if group_named(group).unit else "unreadable"


def _item_url(access: ProjectAccess, entrant: EntrantResults, pk: int | None) -> str:
    if pk is None:
        return ""
    return reverse("benchmark:run_item", args=[access.project.slug, entrant.run, pk])


def comparison_now(slug: str, document: Document) -> str:
    """Return the address of a saved comparison as it is now; empty where a run was deleted."""
    first, second = document.keys
    uids = {key.partition(".")[0] for key in (first, second)}
    if Run.objects.filter(uid__in=uids).count() < len(uids):  # one was deleted since
        return ""
    comparison = document.comparison
    params = {"group": comparison.group, "parse": comparison.parse, "split": comparison.split}
    return f"{reverse('benchmark:compare', args=[slug])}?{urlencode({'a': first, 'b': second} | params)}"


@require_POST
def save_comparison_snapshot(request: HttpRequest, slug: str) -> HttpResponse:
    project_access(request.user, slug, role=Role.EXPERT)
    access = results_access(request.user, slug)
    try:
        chosen = chosen_comparison(request.POST, access)
    except NotComparable as error:
        return render(request, "benchmark/results/compare.html", access.context | {"problem": str(error)}, status=400)
    title = request.POST.get("title", "")

    def make() -> str:
        return snapshots.save_comparison_snapshot(
            by=request.user, project=access.project, runs=chosen.runs,
            keys=[chosen.asked["a"], chosen.asked["b"]],
            comparison=chosen.whole, title=title,
        ).uid  # fmt: skip

    try:
        report = made_once(request, make)
    except RunRefused as error:
        return render(request, "benchmark/results/compare.html", access.context | {"problem": str(error)}, status=400)
    return redirect("benchmark:snapshot", slug, report)


ASKED = ("a", "b", "group", "parse", "split")
"""Names in the address of a comparison that this one keeps."""


@require_GET
def compare_story(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the prompt once, both answers, and both parses of each beside gold; `step` in the address is another step
    than the one that is scored."""
    access = results_access(request.user, slug)
    asked = {name: value for name in ASKED if (value := request.GET.get(name, ""))}
    try:
        runs, entrants = pair_of(access.project, asked.get("a", ""), asked.get("b", ""))
    except NotComparable as error:
        return render(request, "benchmark/results/compare.html", access.context | {"problem": str(error)})
    group = asked.get("group", "")
    group = group if group in entrants else next(iter(entrants))
    check_open(access, number, runs[0])
    pair, suite, closed = entrants[group], suite_named(runs[0].suite), closed_in(access, runs[0])
    steps = service.steps_of(pair, number)
    if not steps:
        raise Http404(gettext_noop("Neither of the two has an answer about this here."))
    step = service.step_on_page(request.GET.get("step", ""), steps, group_named(group).scored)
    query, only = urlencode(asked), request.GET.get("only", "") == "differences"
    context = {
        "number": number,
        "names": [entrant.model for entrant in pair],
        "noun": suite.noun,
        "category": next(item for item in steps[step] if item).sample.category,
        "score": suite.step(step).score or "score",
        "steps": service.tabs(steps, suite.steps, step),
        "only": only,
        "step": step,
        "query": query,
        "comparison_href": f"{reverse('benchmark:compare', args=[slug])}?{query}#stories",
        "questions": (questions := service.set_beside(pair, steps[step], group_named(group), closed)),
        "counting": sum(row.counts and row.differs for row in questions),
        "set_title": group_named(group).score_title,
        "around": service.numbers_around(pair, number, closed),
        "beside": service.side_by_side(steps[step], closed, only=only),
    }
    return render(request, "benchmark/results/compare_story.html", access.context | context)
