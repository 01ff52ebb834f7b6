"""Tables of structure against answers, kinds of gold and doubtful gold for the command `results`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._output import file_output
from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.addresses import of_parse
from benchmark.domain.tables import Table, table_data
from benchmark.management.commands._files import Plots, Tables, add_width, content_of, named_in
from benchmark.management.commands._runs import compared, run_of
from benchmark.management.commands.leaderboard import add_filters, asked_for
from benchmark.services.across import models_across, rankings_across, tables_across
from benchmark.services.comparison_tables import pair_table
from benchmark.services.documents import ACROSS as DOCUMENT
from benchmark.services.documents import Document, document_of, leaderboard_document
from benchmark.services.doubtful_gold import doubtful_gold, doubtful_table
from benchmark.services.downloads import document_files, table_file
from benchmark.services.entered_rows import rows_of
from benchmark.services.gold_kind_tables import tables_of as gold_tables
from benchmark.services.gold_kinds import OVERALL, gold_metrics_of, labelled_versions, labelling_of
from benchmark.services.structure import NAMES, association_of, choice_of, lacking, sides_of
from benchmark.services.structure_tables import PICTURE, picture_of
from benchmark.services.structure_tables import tables_of as structure_tables
from benchmark.suites.questions import PARSES
from core.plain import Json

FILTERS = {"structure": (*NAMES, "model"), "gold": ("version", "dimension"), "doubtful-gold": ("version",)}
"""Filters by page, under their names in addresses."""


def study_of(table: str | None) -> str | None:
    """Return the page that a table is of, such as `structure` of `structure-two-by-two`."""
    return next((name for name in FILTERS if table and (table == name or table.startswith(f"{name}-"))), None)


def study_contents(project: Project, study: str, given: Sequence[str]) -> tuple[Tables, Plots]:
    """Return the tables and plots of a page under filters `NAME=VALUE`. Raises ValueError."""
    filters = [(name, value) for name, _, value in (text.partition("=") for text in given)]
    if unknown := next((name for name, _ in filters if name not in FILTERS[study]), None):
        raise ValueError(f"--filter {unknown}: expected one of {', '.join(FILTERS[study])}.")
    if study == "structure":
        return _structure(project, filters)
    chosen = dict(filters)
    datasets, version = labelled_versions(project), chosen.get("version")
    dataset = next((candidate for candidate in datasets if version in (None, str(candidate.version))), None)
    labelling = labelling_of(dataset) if dataset else None
    if labelling is None or not labelling.entrants:
        there = ", ".join(str(candidate.version) for candidate in datasets) or "none"
        raise ValueError(f"No finished run labelled that version of the gold; versions that models labelled: {there}.")
    if study == "doubtful-gold":
        gold = doubtful_gold(labelling)
        return {study: partial(doubtful_table, gold, labelling.dataset.schema)}, {}
    metrics, dimension = gold_metrics_of(labelling), chosen.get("dimension")
    _check("dimension", dimension, metrics.keys)
    tables = gold_tables(metrics, metrics.keys.index(dimension) if dimension else OVERALL)
    return {f"gold-{name}": make for name, make in tables.items()}, {}


def _structure(project: Project, filters: Sequence[tuple[str, str]]) -> tuple[Tables, Plots]:
    sides = sides_of(project)
    if need := lacking(sides):
        raise ValueError(need)
    models = [value for name, value in filters if name == "model"]
    chosen = {name: value for name, value in filters if name != "model"}
    choice, problem = choice_of(sides, chosen, models)
    _check("measure", chosen.get("measure"), [measure.key for measure in sides.measures])
    for model in models:
        _check("model", model, sides.models(choice.measure, choice.answers.key))
    _check("structure", chosen.get("structure"), sides.structure_runs(choice.measure))
    _check("run", chosen.get("run"), sides.runs(choice.answers.key))
    if problem:
        raise ValueError(problem.replace("; the median is taken", ""))
    association = association_of(sides, choice)
    if not association.tables:
        raise ValueError("No chosen model has figures of both for a common story.")
    tables = {f"structure-{name}": make for name, make in structure_tables(association).items()}
    return tables, {f"structure-{PICTURE}": picture_of(association)}


def _check(name: str, value: str | None, among: Sequence[str] | Mapping[str, str]) -> None:
    if value and value not in among:
        raise ValueError(f"--filter {name}={value}: there is none of that name; there are: {', '.join(among)}.")


FORMATS = {"csv": "csv", "json": "json", "latex": "tex"}
ACROSS = ("across", "correlations", "model")


class Command(JsonCommand):
    help = (
        "Prints a table of the results pages: of the leaderboard, of the report of a --run, of two models compared "
        "(--run and --other-run), of models across suites, or of structure against answers, kinds of gold and doubtful "
        "gold (structure-two-by-two, gold-ranks, doubtful-gold). Without TABLE it lists those of the leaderboard. With "
        "--output it writes a table (csv, json, tex) or a plot (svg, pdf, png)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "table", nargs="?", metavar="TABLE", help="its name, or that of a plot; lists them by default"
        )
        add_filters(parser)
        parser.add_argument("--run", metavar="UID", help="the report of this run instead of the leaderboard")
        parser.add_argument("--other-run", metavar="UID", help="compares a model of --run with one of this run")
        parser.add_argument("--model", metavar="NAME", help="of --run, or the model across suites")
        parser.add_argument("--other-model", metavar="NAME", help="of --other-run, if it has several")
        parser.add_argument("--group", metavar="KEY", help="the metric group that is compared")
        parser.add_argument("--parse", choices=PARSES, help="only the columns of this parse")
        parser.add_argument(
            "--kind", choices=("model", "baseline", "person"), help="only these rows of the leaderboard"
        )
        parser.add_argument(
            "--filter",
            action="append",
            metavar="NAME=VALUE",
            help="a filter of the pages structure, gold and doubtful-gold as in their addresses, such as cut=50",
        )
        parser.add_argument("--format", choices=[*FORMATS], default="csv", help="csv by default")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)

    def work(self, **options: Any) -> Json:
        project, name = self.project(options["project"]), options["table"]
        tables, plots = contents_asked_for(project, options)
        if options["output"]:
            data = content_of(options["output"], name, tables, plots, width=options["width"])
            with file_output(options["output"], mode="wb") as handle:
                return {"path": options["output"], "bytes": handle.write(data)}
        if options["width"]:
            raise ValueError("--width is for plots, which --output writes.")
        if name is None:
            titles = {key: str(make().title) for key, make in tables.items()}
            return {"tables": titles, "plots": {key: str(picture.title) for key, picture in plots.items()}}
        table = of_parse(named_in(tables, name, "table")(), options["parse"] or "")
        if options["json"]:
            return {"table": name, **table_data(table)}
        return {"file": table_file(table, FORMATS[options["format"]], name).decode()}

    def say(self, result: Json) -> None:
        if "file" in result:
            self.stdout.write(result["file"])
        elif "tables" in result:
            for kind in ("tables", "plots"):
                self.stdout.write(f"{kind}:")
                for name, title in result[kind].items():
                    self.stdout.write(f"  {name:44} {title}")
        else:
            super().say(result)


def contents_asked_for(project: Project, options: Mapping[str, Any]) -> tuple[Tables, Plots]:
    """Return the tables and plots of the results page that the options choose."""
    if study := study_of(options["table"]) if not options["run"] else None:
        return study_contents(project, study, options["filter"] or ())
    model, more = "", dict[str, Callable[[], Table]]()
    if options["other_run"]:
        if not options["run"]:
            raise ValueError("--other-run is compared with a run: name it with --run.")
        _, _, comparison = compared(run_of(options["run"]), run_of(options["other_run"]), options)
        document = Document(kind="comparison", comparison=comparison)
    elif options["run"]:
        document = document_of(run_of(options["run"]))
    elif options["table"] in ACROSS:
        document = Document(kind=DOCUMENT, rankings=rankings_across(project))
        model = _model(document, options["model"]) if options["table"] == "model" else ""
    else:
        (_, suite, _, leaderboard), kind = asked_for(project, options), options["kind"]
        groups = {
            group: [entrant for entrant in rows if not kind or entrant.kind == kind]
            for group, rows in leaderboard.entrants.items()
        }
        entered = [] if kind else rows_of(project, suite)
        document = leaderboard_document("Leaderboard", groups, leaderboard.absent, entered)
        more = {
            f"differences-{group}-{parse}": partial(pair_table, leaderboard, group, parse)
            for group, entrants in leaderboard.entrants.items()
            for parse in PARSES
            if any(entrant.parses.of(parse) for entrant in entrants)
        }
        if not options["table"]:
            more |= tables_across(rankings_across(project))
    return {**document_files("table", document, model), **more}, document_files("plot", document, model)


def _model(document: Document, name: str | None) -> str:
    """Return the key of the model of that name. Raises ValueError. Without a name it is that of all models."""
    models = {own: key for key, own in models_across(document.rankings or ()).items()}
    if name is not None and name not in models:
        raise ValueError(f"No suite has a figure of a model {name!r}; there are: {', '.join(models) or 'none'}.")
    return models[name] if name is not None else ""
