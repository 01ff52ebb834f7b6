"""Structure against answers: do right answers come with a right belief structure?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.access import ProjectAccess
from annotation.models import Role
from benchmark.access import results_access, waiting_for
from benchmark.addresses import table_named
from benchmark.domain.association import Observation
from benchmark.domain.tables import Table
from benchmark.services.at_once import answers_at_once
from benchmark.services.downloads import TABLE_TYPES, table_file
from benchmark.services.structure import (
    ALL,
    QUESTIONS,
    STORIES,
    Association,
    Choice,
    Related,
    association_of,
    is_at_hand,
)
from benchmark.services.structure_choice import NAMES, Lacking, Step, choice_of, lacking
from benchmark.services.structure_sides import Measure, Sides, sides_of
from benchmark.services.structure_stories import ANSWER, APART, Apart, apart_of, place_of, questions_text, sides_on_page
from benchmark.services.structure_tables import (
    PICTURE,
    all_sentences,
    answer_rows,
    cut_text,
    picture_of,
    tables_of,
    verdict_of,
)
from benchmark.suites.groups import ANSWERS
from benchmark.suites.questions import PARSES
from benchmark.views.at_once import following
from benchmark.views.files import files_of
from benchmark.views.plots import plot_response
from benchmark.views.tables import page_table
from core.messages import Sentence, gettext_noop, listed
from core.views.charts import PLAIN, DotChart, Row, dot_chart
from core.views.pages import Context

APART_A_PAGE = 25
MOST_MODELS = 4
"""The most models whose own rows tables on the page have; with more they have those of all together, and the files have
each one's."""
STEPS: Mapping[Step, tuple[str, str]] = {
    "import": ("import_copy", gettext_noop("Import the questions")),
    "publish": ("datasets", gettext_noop("Publish the gold")),
    "launch": ("launch", gettext_noop("Launch a run")),
    "run": ("run", gettext_noop("Open the run")),
}
"""The page of each step that a project lacks, and the words of its button."""
COUNTED = {QUESTIONS: gettext_noop("Questions"), STORIES: gettext_noop("Whole stories")}


def structure(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    sides = sides_of(access.project)
    if lacks := lacking(sides, access.project):
        return render(request, "benchmark/results/structure.html", access.context | _lacking(access, lacks))
    choice, problems = choice_of(sides, request.GET.dict(), request.GET.getlist("model"))
    query = _query(request.GET, choice)
    context = {
        "sides": _offered(sides, choice),
        "choice": choice,
        "problems": problems,
        "cut": request.GET.get("cut", "") if problems else "" if choice.cut is None else f"{100 * choice.cut:g}",
        "query": query,
        "others": [(name, value) for name, value in parse_qsl(query) if name != "model"],
        "every": len(choice.models) == len(sides.models(choice.measure, choice.answers.key)),
    }
    if answers_at_once() and not is_at_hand(sides, choice):
        context["computing"] = following(request)
        return render(request, "benchmark/results/structure.html", access.context | context)
    association = association_of(sides, choice)
    context |= {
        "median": f"{100 * association.cut:g}",
        "cut_text": cut_text(association),
        "waiting": waiting_for(access, association.stories),
        "absent": association.absent,
    }
    if association.metrics is not None and not context["waiting"]:
        context |= _parts(slug, association, query) | _apart(request, slug, association, query)
    return render(request, "benchmark/results/structure.html", access.context | context)


def _lacking(access: ProjectAccess, lacks: Lacking) -> Context:
    """Return what an empty page says, with the page of the next step for who may take it."""
    if lacks.step != "run" and not access.at_least(Role.ADMIN):
        return {"lacking": lacks.message}
    name, action = STEPS[lacks.step]
    place = [lacks.subject] if lacks.step in ("import", "run") else []
    on_version = f"?dataset={lacks.subject}" if lacks.step == "launch" and lacks.subject else ""
    href = reverse(f"benchmark:{name}", args=[access.project.slug, *place]) + on_version
    return {"lacking": lacks.message, "action": action, "href": href}


def _query(params: QueryDict, choice: Choice) -> str:
    """Return the address of the choice, without the page and what is listed."""
    pairs = [(name, value) for name in (*NAMES, "model") for value in params.getlist(name) if value and name != "cut"]
    return urlencode(pairs + ([("cut", f"{100 * choice.cut:g}")] if choice.cut is not None else []))


def _offered(sides: Sides, choice: Choice) -> Context:
    measures: dict[str, list[Measure]] = {}
    for measure in sides.measures:
        measures.setdefault(measure.title, []).append(measure)
    models = sides.models(choice.measure, choice.answers.key)
    return {
        "measures": measures,
        "answers": sides.groups(ANSWERS),
        "structure_runs": sides.structure_runs(choice.measure),
        "answer_runs": sides.runs(choice.answers.key),
        "models": [(model, model in choice.models) for model in models],
        "parses": list(reversed(PARSES)),
        "counted": COUNTED,
    }


def _parts(slug: str, association: Association, query: str) -> Context:
    """Return the charts and tables of the page with their files."""

    def address(kind: str, name: str, suffix: str) -> str:
        return f"{reverse(f'benchmark:structure_{kind}', args=[slug, name, suffix])}?{query}"

    assert association.metrics is not None
    tables = {
        name: page_table(name, _short(make()), files=files_of("table", name, address))
        for name, make in tables_of(association).items()
        if name != "observations"
    }
    files = [file for file in files_of("table", "observations", address) if file.label != "LaTeX"]
    return {
        "verdict": verdict_of(association),
        "chart": _answers_chart(association),
        "chart_files": files_of("plot", PICTURE, address),
        "by_category": _related_chart(gettext_noop("By category"), association.metrics.categories),
        "by_measure": _related_chart(gettext_noop("By figure of the structure"), association.metrics.measures),
        "tables": tables,
        "long_files": files,
        "counts": len(association.metrics.tables) - (ALL in association.metrics.tables),
    }


def _short(table: Table) -> Table:
    """Return the table with the rows of all models together, where it has a row for each of many in every part."""
    models = {row["model"] for row in table.rows}
    if "part" not in {column.key for column in table.columns} or len(models) <= MOST_MODELS + 1:
        return table
    note = gettext_noop("Here all models together; the files have a row for each.")
    return replace(table, rows=[row for row in table.rows if row["model"] == ALL], notes=[note, *table.notes])


def _answers_chart(association: Association) -> DotChart:
    rows = [
        Row(label=row.model, first=row.right, second=row.wrong, aside=row.difference)
        for row in answer_rows(association)
    ]
    return dot_chart(
        gettext_noop("Right answers given right and wrong structure"),
        rows,
        unit=gettext_noop("Right answers (%), lines are 95 % intervals over stories"),
        heads=(gettext_noop("Right"), gettext_noop("Wrong")),
        noun="structure",
        aside=gettext_noop("Difference"),
        lead=all_sentences(association),
    )


def _related_chart(title: str, related: Sequence[Related]) -> DotChart:
    """Draw the correlations of all models together, or of the only one."""
    model = next((relation.model for relation in related), "")
    rows = [
        Row(label=relation.part, first=relation.estimate, n=Sentence("{n} answers", n=f"{relation.estimate.n:,}"))
        for relation in related
        if relation.model == model
    ]
    unit = gettext_noop("Correlation of structure and answers, lines are 95 % intervals over stories")
    return dot_chart(title, rows, unit=unit, zero=True, notation=PLAIN, heads=("r",))


@dataclass(frozen=True, slots=True)
class ApartTab:
    """One of the two that may be right alone, with the number of such questions; `here` where they are listed."""

    key: str
    title: str
    count: int
    here: bool


@dataclass(frozen=True, slots=True)
class ApartRow:
    """A question of which one of the two is right: of which story, its score of structure in per cent, and the page on
    which both are read."""

    seen: Observation
    story: int
    structure: str
    question: str
    href: str


def _apart(request: HttpRequest, slug: str, association: Association, query: str) -> Context:
    """Return one page of the questions of which one of the two is right."""
    right = request.GET["show"] if request.GET.get("show") in APART else ANSWER
    listed = {key: apart_of(association, key) for key in APART}
    page = Paginator(listed[right], APART_A_PAGE).get_page(request.GET.get("page"))
    asked = questions_text(association.datasets, [apart.place.question for apart in page])
    return {
        "apart": [ApartTab(key, title, len(listed[key]), key == right) for key, title in APART.items()],
        "page": page,
        "apart_query": f"{query}&show={right}".strip("&"),
        "rows": [_row(slug, apart, query, asked) for apart in page],
    }


def _row(slug: str, apart: Apart, query: str, asked: Mapping[int, str]) -> ApartRow:
    where = urlencode({"of": apart.seen.model, "question": apart.place.question})
    page = reverse("benchmark:structure_story", args=[slug, apart.place.story])
    return ApartRow(
        seen=apart.seen,
        story=apart.place.story,
        structure=f"{100 * (apart.seen.structure.answered or 0):.1f}",
        question=asked.get(apart.place.question, f"Question {apart.place.question}"),
        href=f"{page}?{where}&{query}".strip("&"),
    )


def _chosen(request: HttpRequest, access: ProjectAccess) -> Association | None:
    """Return what the address of a file or a story asks for, None where there is nothing of it, which the page says.
    Raises PermissionDenied where its reader has open work on one of its stories."""
    sides = sides_of(access.project)
    if lacking(sides, access.project):
        return None
    choice, problems = choice_of(sides, request.GET.dict(), request.GET.getlist("model"))
    association = association_of(sides, choice)
    if waiting := waiting_for(access, association.stories):
        raise PermissionDenied(waiting)
    return None if problems or association.metrics is None else association


def _saying_why(request: HttpRequest, slug: str) -> HttpResponse:
    return redirect(f"{reverse('benchmark:structure', args=[slug])}?{request.GET.urlencode()}")


def structure_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    association = _chosen(request, results_access(request.user, slug))
    if association is None:
        return _saying_why(request, slug)
    named = table_named(tables_of(association), table)
    if data not in TABLE_TYPES:
        raise Http404(
            Sentence(
                "There is no format {data} of tables; there are {table_types}.",
                data=repr(data),
                table_types=listed(TABLE_TYPES),
            )
        )
    content = table_file(named, data, f"structure-{table}")
    response = HttpResponse(content, content_type=f"{TABLE_TYPES[data]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-structure-{table}.{data}"'
    return response


def structure_plot(request: HttpRequest, slug: str, plot: str, picture: str) -> HttpResponse:
    association = _chosen(request, results_access(request.user, slug))
    if association is None:
        return _saying_why(request, slug)
    return plot_response(request, {PICTURE: picture_of(association)}, plot, picture, f"{slug}-structure-{plot}")


def structure_story(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """One story: gold beside the structure that a model built, and its answer to a question."""
    access = results_access(request.user, slug)
    association = _chosen(request, access)
    if association is None:
        return _saying_why(request, slug)
    question = request.GET.get("question", "")
    cell = place_of(association, request.GET.get("of", ""), int(question)) if question.isdecimal() else None
    if cell is None or cell[1].place.story != number:
        raise Http404(gettext_noop("This model has no such question about this story."))
    joined, apart = cell
    choice = association.choice
    context = {
        "number": number,
        "seen": apart.seen,
        "cut_text": cut_text(association),
        "measure": choice.measure,
        "sides": sides_on_page(joined, choice.measure, choice.answers, apart.place),
        "query": _query(request.GET, choice),
        "description": _verdict(apart, association.cut),
    }
    return render(request, "benchmark/results/structure_story.html", access.context | context)


def _verdict(apart: Apart, cut: float) -> str:
    """Say which of the two is right."""
    words = []
    for name, case, least in (
        (gettext_noop("Structure"), apart.seen.structure, cut),
        ("answer", apart.seen.answer, 0.5),
    ):
        state = "missing" if case.answered is None else "right" if case.answered >= least else "wrong"
        score = "" if case.answered is None or name == "answer" else f" ({100 * case.answered:.1f} %)"
        words.append(f"{name} {state}{score}")
    return listed(words)
