"""Structure against answers: do right answers come with a right belief structure?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator

from annotation.access import ProjectAccess, UserRequest
from benchmark.access import results_access, waiting_for
from benchmark.domain.association import RIGHT
from benchmark.domain.tables import Column, Table
from benchmark.services.structure import (
    ALL,
    NAMES,
    QUESTIONS,
    STORIES,
    Association,
    Choice,
    Measure,
    Related,
    Sides,
    apart_of,
    association_of,
    choice_of,
    lacking,
    sides_of,
)
from benchmark.services.structure_tables import (
    PICTURE,
    all_sentences,
    answer_rows,
    cut_text,
    picture_of,
    question_texts,
    sides_on_page,
    tables_of,
    verdict_of,
)
from benchmark.suites.groups import ANSWERS
from benchmark.suites.questions import PARSES
from benchmark.views.downloads import plot_response, table_response
from benchmark.views.tables import address_of, files_of, page_table
from core.messages import Sentence, gettext_noop, listed
from core.views.charts import PLAIN, DotChart, Row, dot_chart
from core.views.pages import Context

APART_A_PAGE = 25
APART = {"answer": "Answer right, structure wrong", "structure": gettext_noop("Structure right, answer wrong")}
MOST_MODELS = 4
"""The most models with rows of their own in the page's tables. With more, the files have each model's rows."""
COUNTED = {QUESTIONS: gettext_noop("Questions"), STORIES: gettext_noop("Whole stories")}


def structure(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    sides = sides_of(access.project)
    if need := lacking(sides):
        return render(request, "benchmark/results/structure.html", access.context | {"lacking": need})
    choice, problem = choice_of(sides, request.GET.dict(), request.GET.getlist("model"))
    query = _query(request.GET, choice)
    context = {
        "sides": _offered(sides, choice),
        "choice": choice,
        "problem": problem,
        "cut": request.GET.get("cut", "") if problem else "" if choice.cut is None else f"{100 * choice.cut:g}",
        "query": query,
        "others": [(name, value) for name, value in parse_qsl(query) if name != "model"],
        "every": len(choice.models) == len(sides.models(choice.measure, choice.answers.key)),
    }
    association = association_of(sides, choice)
    context |= {
        "median": f"{100 * association.cut:g}",
        "cut_text": cut_text(association),
        "waiting": waiting_for(access, association.stories),
        "absent": association.absent,
    }
    if association.tables and not context["waiting"]:
        context |= _parts(slug, association, query) | _apart(request, slug, association, query)
    return render(request, "benchmark/results/structure.html", access.context | context)


def _query(params: QueryDict, choice: Choice) -> str:
    """Return the address of the choice, without the page and the list of questions."""
    pairs = [(name, value) for name in (*NAMES, "model") for value in params.getlist(name) if value and name != "cut"]
    return urlencode(pairs + ([("cut", f"{100 * choice.cut:g}")] if choice.cut is not None else []))


def _offered(sides: Sides, choice: Choice) -> Context:
    measures: dict[str, list[Measure]] = {}
    for measure in sides.measures:
        measures.setdefault(measure.title, []).append(measure)
    models = sides.models(choice.measure, choice.answers.key)
    answers = [(group.key, group.title) for group in sides.groups(ANSWERS)]
    parses, newest = [(parse, parse) for parse in reversed(PARSES)], ("", gettext_noop("Newest of each model"))
    structure_runs, runs = sides.structure_runs(choice.measure).items(), sides.runs(choice.answers.key).items()
    selects = [
        ("answers", gettext_noop("Answers"), answers, choice.answers.key),
        ("counted", gettext_noop("Count"), COUNTED.items(), choice.counted),
        ("parse", gettext_noop("Parse"), parses, choice.parse),
        ("structure", gettext_noop("Run of structures"), [newest, *structure_runs], choice.structure_run),
        ("run", gettext_noop("Run of answers"), [newest, *runs], choice.answers_run),
    ]
    return {
        "measures": measures,
        "selects": selects if answers[1:] else selects[1:],
        "models": [(model, model in choice.models) for model in models],
    }


def _parts(slug: str, association: Association, query: str) -> Context:
    """Return the charts and tables of the page with their files."""
    address, tables = address_of("structure", slug, query=query), {}
    for name, make in tables_of(association).items():
        if name == "observations":
            continue
        table = make()
        models = {row["model"] for row in table.rows}
        if "part" in {column.key for column in table.columns} and len(models) > MOST_MODELS + 1:
            note = gettext_noop("Here all models together; the files have a row for each.")
            rows = [row for row in table.rows if row["model"] == ALL]
            table = replace(table, rows=rows, notes=[note, *table.notes])
        tables[name] = page_table(name, table, files=files_of("table", name, address))
    finding, how = verdict_of(association)
    return {
        "finding": finding,
        "how": how,
        "chart": _answers_chart(association),
        "chart_files": files_of("plot", PICTURE, address),
        "by_category": _related_chart(gettext_noop("By category"), association.categories),
        "by_measure": _related_chart(gettext_noop("By figure of the structure"), association.measures),
        "tables": tables,
        "long_files": [file for file in files_of("table", "observations", address) if file["label"] != "LaTeX"],
        "counts": len(association.tables) - (ALL in association.tables),
    }


def _answers_chart(association: Association) -> DotChart:
    rows = [
        Row(label=model, first=right, second=wrong, aside=difference)
        for model, right, wrong, difference in answer_rows(association)
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
    """Return the correlations of all models together, or of the only one."""
    first = next((model for _, model, _ in related), "")
    rows = [
        Row(label=part, first=estimate, n=Sentence("{n} answers", n=f"{estimate.n:,}"))
        for part, model, estimate in related
        if model == first
    ]
    unit = gettext_noop("Correlation of structure and answers, lines are 95 % intervals over stories")
    return dot_chart(title, rows, unit=unit, zero=True, notation=PLAIN, heads=("r",))


def _apart(request: UserRequest, slug: str, association: Association, query: str) -> Context:
    """Return one page of the questions of which only the answer, or only the structure, is right."""
    right = request.GET["show"] if request.GET.get("show") in APART else "answer"
    listed = {key: apart_of(association, key) for key in APART}
    page = Paginator(listed[right], APART_A_PAGE).get_page(request.GET.get("page"))
    asked = question_texts(association, [int(row["question"]) for row in page])
    rows = [_row(slug, row, query, asked) for row in page]
    heads = {
        "story": gettext_noop("Story"),
        "question": gettext_noop("Question"),
        "category": gettext_noop("Category"),
        "model": gettext_noop("Model"),
    }
    columns = [Column(key=key, header=header) for key, header in heads.items()]
    columns.append(Column(key="structure", header=gettext_noop("Structure"), unit="%", kind="share", digits=1))
    table = Table(title=gettext_noop("Where structure and answer fall apart"), columns=columns, rows=rows)
    return {
        "apart": [
            {"key": key, "title": title, "count": len(listed[key]), "here": key == right}
            for key, title in APART.items()
        ],
        "page": page,
        "apart_query": f"{query}&show={right}".strip("&"),
        "rows": rows,
        "apart_table": page_table(
            "apart", table, href=lambda row, column: row["href"] if column.key == "story" else ""
        ),
    }


def _row(slug: str, row: Any, query: str, asked: Mapping[int, str]) -> Context:
    story, question = int(row["story"]), int(row["question"])
    where = urlencode({"of": row["model"], "question": question})
    return {
        "model": row["model"],
        "category": row["category"],
        "story": story,
        "structure": row["structure"],
        "question": Truncator(asked.get(question, f"Question {question}")).chars(160),
        "href": f"{reverse('benchmark:structure_story', args=[slug, story])}?{where}&{query}".strip("&"),
    }


def _chosen(request: UserRequest, access: ProjectAccess) -> Association | None:
    """Return the results that the address of a file or a story asks for. Returns None if there are none, which the page
    explains. Raises PermissionDenied if the reader has open work on one of the stories."""
    sides = sides_of(access.project)
    if lacking(sides):
        return None
    choice, problem = choice_of(sides, request.GET.dict(), request.GET.getlist("model"))
    association = association_of(sides, choice)
    if waiting := waiting_for(access, association.stories):
        raise PermissionDenied(waiting)
    return None if problem or not association.tables else association


def _to_page(request: UserRequest, slug: str) -> HttpResponse:
    return redirect(f"{reverse('benchmark:structure', args=[slug])}?{request.GET.urlencode()}")


def structure_table(request: UserRequest, slug: str, table: str, data: str) -> HttpResponse:
    association = _chosen(request, results_access(request.user, slug))
    if association is None:
        return _to_page(request, slug)
    tables = {f"structure-{name}": make for name, make in tables_of(association).items()}
    return table_response(tables, f"structure-{table}", data, f"{slug}-structure-{table}")


def structure_plot(request: UserRequest, slug: str, plot: str, picture: str) -> HttpResponse:
    association = _chosen(request, results_access(request.user, slug))
    if association is None:
        return _to_page(request, slug)
    return plot_response(request, {PICTURE: picture_of(association)}, plot, picture, f"{slug}-structure-{plot}")


def structure_story(request: UserRequest, slug: str, number: int) -> HttpResponse:
    """Show the structure that a model built of a story next to gold, and its answer to a question."""
    access = results_access(request.user, slug)
    association = _chosen(request, access)
    if association is None:
        return _to_page(request, slug)
    asked = [request.GET.get("of", ""), str(number), request.GET.get("question", "")]
    row = next(
        (row for row in association.frame if [row["model"], str(row["story"]), str(row["question"])] == asked), None
    )
    if row is None:
        raise Http404(gettext_noop("This model has no such question about this story."))
    words = []
    for name, least in (("structure", association.cut), ("answer", RIGHT)):
        state = "missing" if np.isnan(row[name]) else "right" if row[name] >= least else "wrong"
        score = "" if np.isnan(row[name]) or name == "answer" else f" ({100 * row[name]:.1f} %)"
        words.append(f"{name.capitalize() if name == 'structure' else name} {state}{score}")
    context = {
        "number": number,
        "model": row["model"],
        "category": row["category"],
        "cut_text": cut_text(association),
        "sides": sides_on_page(association, row),
        "query": _query(request.GET, association.choice),
        "description": listed(words),
    }
    return render(request, "benchmark/results/structure_story.html", access.context | context)
