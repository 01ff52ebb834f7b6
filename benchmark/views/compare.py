"""Two entrants side by side: the picture of differences, the table behind it, and the stories on which they differ
most."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.models import Role
from benchmark.access import check_open, closed_in, results_access
from benchmark.addresses import ChosenComparison, chosen_comparison, ranking_in
from benchmark.domain.tables import Column
from benchmark.models import Run
from benchmark.services import snapshots
from benchmark.services.comparison_tables import corrected_difference_table, difference_table
from benchmark.services.comparisons import (
    ComparedMetric,
    Comparison,
    NotChosen,
    NotComparable,
    items_behind,
    items_of,
    numbers_around,
    pair_of,
    set_beside,
    side_by_side,
)
from benchmark.services.documents import Document
from benchmark.services.leaderboard_scope import ranking_with
from benchmark.services.plans import RunRefused
from benchmark.services.plot_data import comparison_picture
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
    page_table,
    plot_of,
    snapshot_items_url,
)
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop, listed, word
from core.plain import Json
from core.views.charts import Row, dot_chart
from core.views.pages import Context

STORIES_A_PAGE = 25


def compare(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        chosen = chosen_comparison(request.GET, access)
    except NotComparable as error:
        return _refused(request, access, error)
    comparison, asked = chosen.comparison, chosen.asked
    pair, query = chosen.entrants[comparison.group], urlencode(asked)
    category = request.GET.get("category", "")
    stories = [story for story in comparison.stories if category in ("", story["category"])]
    page = Paginator(stories, STORIES_A_PAGE).get_page(request.GET.get("page"))
    sides = [
        partial(items_url, slug, entrant.run, model=entrant.entrant, split=comparison.split)
        if entrant.entrant
        else None
        for entrant in pair
    ]
    opening = _opening(comparison, sides, f"?{query}")
    parses = ("repaired",) if chosen.unofficial else ("repaired", "official")
    context = {
        "asked": asked,
        "unofficial": chosen.unofficial,
        "swapped": urlencode(asked | {"a": asked["b"], "b": asked["a"]}),
        "everywhere": urlencode({name: value for name, value in asked.items() if name != "split"}),
        "all_pairs": f"{reverse('benchmark:differences', args=[slug])}?{_leaderboard_query(chosen)}",
        **comparison_parts(comparison, slug, address_of("comparison", slug, query=query), opening),
        "category": category,
        "query": f"{query}&{urlencode({'category': category})}" if category else query,
        "all_stories": query,
        "page": page,
        "withheld": comparison.withheld,
        "stories": _story_rows(slug, pair, comparison.group, list(page), query),
        "tabs": [
            {
                "title": listed([group_named(group).title, word(parse)]),
                "query": urlencode({**asked, "group": group, "parse": parse}),
                "here": (group, parse) == (comparison.group, comparison.parse),
            }
            for group in chosen.entrants
            for parse in parses
        ],
    }
    return render(request, "benchmark/results/compare.html", access.context | context)


def _refused(request: UserRequest, access: ProjectAccess, error: Exception, status: int = 200) -> HttpResponse:
    context = {"problem": str(error), "unchosen": isinstance(error, NotChosen)}
    return render(request, "benchmark/results/compare.html", access.context | context, status=status)


def _leaderboard_query(chosen: ChosenComparison) -> str:
    """Return the query of a ranking that has both, as the leaderboard's address asks for it: the one that the reader
    came from, if it does."""
    run, asked, comparison = chosen.runs[0], chosen.asked, chosen.comparison
    came_from, keys = {"split": comparison.split, **ranking_in(asked)}, [asked["a"], asked["b"]]
    ranking = ranking_with(run.dataset, run.answer_format, comparison.group, keys, asked=came_from)
    query = {"version": run.dataset.version, "answer_format": run.answer_format, "split": ranking.pop("split", "")}
    query |= {"group": comparison.group, "parse": comparison.parse, **ranking}
    return urlencode({name: value for name, value in query.items() if value})


def _opening(comparison: Comparison, sides: Sequence[Callable[..., str] | None], stories: str = "") -> Href:
    """Link either side of a row to its items, and the difference to its stories, which are at the address `stories`."""
    items_of = dict(zip(("first", "second"), sides, strict=False))
    step = group_named(comparison.group).scored

    def href(row: Mapping[str, Any], column: Column) -> str:
        items = items_of.get(column.key)
        if column.cell(row).value is None:
            return ""
        if column.key == "value" and stories:
            return f"{stories}&{urlencode({'category': row['category']})}#stories"
        where = measured(comparison.group, row["key"], comparison.parse)
        return items(step=step, category=row["category"], **where) if items else ""

    return href


def snapshot_comparison(slug: str, report: str, document: Document, address: Address) -> Context:
    """Return the parts of a saved comparison, whose cells open the items as they were, and `now`, its address as it is
    now, "" if a run was deleted."""
    comparison, keys = document.comparison, document.keys or ()
    assert comparison, "a document of this kind has one"
    parts = [key.partition(".") for key in keys]
    sides = [
        partial(snapshot_items_url, slug, report, model=entrant) if entrant.isdecimal() else None
        for _, _, entrant in parts
    ]
    runs = {uid for uid, _, _ in parts}
    query = {**dict(zip("ab", keys, strict=False)), "group": comparison.group, "parse": comparison.parse}
    now = f"{reverse('benchmark:compare', args=[slug])}?{urlencode(query | {'split': comparison.split})}"
    context = comparison_parts(comparison, slug, address, _opening(comparison, sides))
    return context | {"now": now if Run.objects.filter(uid__in=runs).count() == len(runs) else ""}


def comparison_parts(comparison: Comparison, slug: str, address: Address, href: Href) -> Context:
    """Return picture, tables and downloads of a comparison, present or saved. `corrected` is the table of corrected
    differences or the reason why there is none, "" for a reader who may not know."""
    group, corrected = group_named(comparison.group), comparison.corrected
    by_key = {row.key: row for row in corrected.rows} if corrected else {}
    rows = [
        Row(label=row.what, first=row, second=by_key.get(row.key) if not row.category else None, aside=_p_text(row))
        for row in comparison.rows
    ]
    table = page_table(
        "differences", difference_table(comparison), href=href, files=files_of("table", "differences", address)
    )
    chart = dot_chart(
        "Difference",
        rows,
        unit=Sentence("{first} minus {second} (points)", first=comparison.first, second=comparison.second),
        zero=True,
        heads=(gettext_noop("Judged"), gettext_noop("Corrected")) if by_key else ("Value",),
        aside=gettext_noop("Holm, judged") if by_key else gettext_noop("Holm"),
        lead=table["lead"],
    )
    context = {
        "comparison": comparison,
        "chart": chart,
        "corrected": corrected.reason if corrected else "",
        "differences": table,
        "story_files": files_of("table", "stories", address),
        "plot": plot_of("two-models", comparison_picture(comparison).title, address),
        "score": group.score_title,
        "noun": nouns_of_group(comparison.group),
        "of_sets": bool(group.unit),
        "overall": _overall(comparison),
    }
    if not corrected or not corrected.rows:
        return context
    calibrations = [calibration_url(slug, side.study, side.version) for side in corrected.sides]
    hrefs = dict(zip(("corrected_first", "corrected_second"), calibrations, strict=True))
    context["corrected"] = page_table(
        "corrected",
        corrected_difference_table(comparison, corrected),
        files=files_of("table", "corrected", address),
        href=lambda row, column: hrefs.get(column.key, "") if row.get(column.key) is not None else "",
    )
    sources = zip((comparison.first, comparison.second), corrected.sides, calibrations, strict=True)
    context["corrected_by"] = [
        {"model": model, "corrected_by": corrected_by(side), "href": url} for model, side, url in sources
    ]
    return context


def _p_text(row: ComparedMetric) -> str:
    if row.p_adjusted is None:
        return "–"
    return f"p {row.p_adjusted:.3f}" if row.p_adjusted >= 0.001 else "p < .001"


def _overall(comparison: Comparison) -> Context:
    """Return the score over all stories in words, with its `value`."""
    row = next(row for row in comparison.rows if row.key == group_named(comparison.group).score and not row.category)
    tests, verdict, interval = comparison.tests, gettext_noop("not tested"), ""
    if row.p_adjusted is not None:
        verdict = Sentence(
            "{outcome} (Holm-adjusted {row} over the {counted_tests} of the table below)",
            outcome=gettext_noop("shown to differ") if row.differs() else gettext_noop("not shown to differ"),
            row=_p_text(row),
            counted_tests=Sentence("{tests} test", tests=1) if tests == 1 else Sentence("{tests} tests", tests=tests),
        )
    if ends := row.interval:
        interval = Sentence("(95 % interval {low} to {high})", low=points(ends[0]), high=points(ends[1]))
    elif row.reason:
        interval = Sentence("(no interval: {reason})", reason=row.reason)
    shown = Sentence("{value} points", value=points(row.value))
    return {"value": row.value, "shown_value": shown, "shown_interval": interval, "verdict": verdict}


def points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+z.1f}".replace("-", "−")


def _story_rows(
    slug: str, pair: Sequence[EntrantResults], group: str, stories: Sequence[Json], query: str
) -> list[Context]:
    """Return stories with both scores as cells that open their items; `beside` is the address of both answers side by
    side, "" if either has no item."""
    items = items_behind(pair, group, [story["number"] for story in stories])
    rows = []
    for story in stories:
        cells = []
        for entrant, value, sign in zip(pair, (story["first"], story["second"]), (1, -1), strict=True):
            item = items.get((entrant.key, story["number"]))
            if value is not None:
                text = f"{100 * value:.1f}"
            elif entrant.kind == "person":
                text = gettext_noop("not labelled")
            elif story["number"] not in entrant.numbers:
                text = gettext_noop("not asked")
            else:
                text = gettext_noop("not known") if group_named(group).unit else "unreadable"
            href = reverse("benchmark:run_item", args=[slug, entrant.run, item]) if item else ""
            ahead = (story["difference"] or 0) * sign > 0
            cells.append({"text": text, "href": href, "ahead": ahead, "model": entrant.model})
        page = reverse("benchmark:compare_story", args=[slug, story["number"]])
        beside = f"{page}?{query}" if all(cell["href"] for cell in cells) else ""
        rows.append(story | {"cells": cells, "gap": points(story["difference"]), "beside": beside})
    return rows


@require_POST
def save_comparison_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    project_access(request.user, slug, role=Role.EXPERT)
    access = results_access(request.user, slug)

    def make() -> str:
        return snapshots.save_comparison_snapshot(
            by=request.user, project=access.project, runs=list(chosen.runs), comparison=chosen.whole,
            keys=[chosen.asked["a"], chosen.asked["b"]], title=request.POST.get("title", ""),
        ).uid  # fmt: skip

    try:
        chosen = chosen_comparison(request.POST, access)
        report = made_once(request, make)
    except (NotComparable, RunRefused) as error:
        return _refused(request, access, error, status=400)
    return redirect("benchmark:snapshot", slug, report)


ASKED = ("a", "b", "group", "parse", "split")
"""Names in the address of a comparison that this one keeps."""


@require_GET
def compare_story(request: UserRequest, slug: str, number: int) -> HttpResponse:
    """Show the prompt once, both answers, and both parses of each beside gold; `step` in the address is another step
    than the one that is scored."""
    access = results_access(request.user, slug)
    asked = {name: value for name in ASKED if (value := request.GET.get(name, ""))}
    try:
        runs, entrants = pair_of(access.project, asked.get("a", ""), asked.get("b", ""))
    except NotComparable as error:
        return _refused(request, access, error)
    group = group_named(asked["group"] if asked.get("group") in entrants else next(iter(entrants)))
    check_open(access, number, runs[0])
    pair, suite, closed = entrants[group.key], suite_named(runs[0].suite), closed_in(access, runs[0])
    items = items_of(pair, number, suite)
    if not items:
        raise Http404(gettext_noop("Neither of the two has an answer about this here."))
    chosen_steps = (request.GET.get("step", ""), group.scored, *items)
    step = next(name for name in chosen_steps if name in items)
    query, only = urlencode(asked), request.GET.get("only", "") == "differences"
    questions = set_beside(pair, items[step], group, closed)
    context = {
        "number": number,
        "names": [entrant.model for entrant in pair],
        "noun": suite.noun,
        "category": next(item for item in items[step] if item).sample.category,
        "score": suite.step(step).score or "score",
        "steps": [suite.step(name) for name in items],
        "only": only,
        "step": step,
        "query": query,
        "comparison_href": f"{reverse('benchmark:compare', args=[slug])}?{query}#stories",
        "questions": questions,
        "counting": sum(row["counts"] and row["differs"] for row in questions),
        "set_title": group.score_title,
        "around": numbers_around(pair, number, closed),
        "beside": side_by_side(items[step], closed, only=only),
    }
    return render(request, "benchmark/results/compare_story.html", access.context | context)
