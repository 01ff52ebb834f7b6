from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._output import file_output
from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.addresses import of_parse
from benchmark.domain.tables import Table, table_data
from benchmark.management.commands._comparing import compared
from benchmark.management.commands._runs import run_of
from benchmark.management.commands._studies import study_contents, study_of
from benchmark.management.commands.leaderboard import Asked, add_filters, asked_for
from benchmark.services.across import models_across, rankings_across
from benchmark.services.across_tables import pictures_across, tables_across
from benchmark.services.comparison_tables import pair_table
from benchmark.services.comparison_tables import tables_of as tables_of_comparison
from benchmark.services.documents import document_of, leaderboard_document, tables_of
from benchmark.services.downloads import WRITERS, table_file
from benchmark.services.entered_rows import rows_of
from benchmark.services.plot_data import WIDTHS, Picture, comparison_picture, plots_of
from benchmark.suites.questions import PARSES
from core.plain import Json

Tables = Mapping[str, Callable[[], Table]]
Plots = Mapping[str, Picture]
FORMATS = {"csv": "csv", "json": "json", "latex": "tex"}
PICTURES = ("svg", "pdf", "png")
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
        parser.add_argument("--width", choices=WIDTHS, help="of a plot: a column of a paper, or its text by default")

    def work(self, **options: Any) -> Json:
        project, name = self.project(options["project"]), options["table"]
        tables, plots = contents_of(project, options)
        if options["output"]:
            return _written(options["output"], name, tables, plots, options["width"] or "page")
        if options["width"]:
            raise ValueError("--width is for plots, which --output writes.")
        if name is None:
            titles = {key: str(make().title) for key, make in tables.items()}
            return {"tables": titles, "plots": {key: str(picture.title) for key, picture in plots.items()}}
        table = of_parse(_named(tables, name, "table")(), options["parse"] or "")
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


def contents_of(project: Project, options: Mapping[str, Any]) -> tuple[Tables, Plots]:
    """Return the tables and plots of the results page that the options choose."""
    if options["other_run"]:
        if not options["run"]:
            raise ValueError("--other-run is compared with a run: name it with --run.")
        _, _, comparison = compared(run_of(options["run"]), run_of(options["other_run"]), options)
        return tables_of_comparison(comparison), {"two-models": comparison_picture(comparison)}
    if options["run"]:
        document = document_of(run_of(options["run"]))
        return tables_of(document), plots_of(document)
    if study := study_of(options["table"]):
        return study_contents(project, study, options["filter"] or ())
    if options["table"] in ACROSS:
        return _across(project, options["model"] if options["table"] == "model" else None)
    asked = asked_for(project, options)
    kind, entrants = options["kind"], asked.leaderboard.entrants
    groups = {
        group: [entrant for entrant in rows if not kind or entrant.kind == kind] for group, rows in entrants.items()
    }
    entered = [] if kind else rows_of(project, asked.suite)
    document = leaderboard_document("Leaderboard", groups, asked.leaderboard.absent, entered)
    tables = {**tables_of(document), **_differences(asked)}
    return (tables if options["table"] else {**tables, **_across(project, None)[0]}), plots_of(document)


def _across(project: Project, name: str | None) -> tuple[Tables, Plots]:
    """Return the tables and plots of all models across suites, or of the model of that name."""
    rankings = rankings_across(project)
    models = {model.name: model for model in models_across(rankings)}
    if name is not None and name not in models:
        raise ValueError(f"No suite has a figure of a model {name!r}; there are: {', '.join(models) or 'none'}.")
    model = models[name] if name is not None else None
    return tables_across(rankings, model), pictures_across(rankings, model)


def _differences(asked: Asked) -> Tables:
    """Return the tables `differences-GROUP-PARSE` of all pairs."""
    return {
        f"differences-{group}-{parse}": partial(pair_table, asked.leaderboard, group, parse)
        for group, entrants in asked.leaderboard.entrants.items()
        for parse in PARSES
        if any(entrant.parses.of(parse) for entrant in entrants)
    }


def _written(output: str, name: str | None, tables: Tables, plots: Plots, width: str) -> Json:
    suffix = PurePath(output).suffix.removeprefix(".")
    if suffix in WRITERS:
        data = table_file(_named(tables, name, "table")(), suffix, name or "")
    elif suffix in PICTURES:
        data = _named(plots, name, "plot").draw(format=suffix, theme="light", width=width)
    else:
        expected = ", ".join((*WRITERS, *PICTURES))
        raise ValueError(f"--output ends in {suffix or 'nothing'!r}; expected one of {expected}.")
    with file_output(output, mode="wb") as handle:
        return {"path": output, "bytes": handle.write(data)}


def _named(contents: Mapping[str, Any], name: str | None, what: str) -> Any:
    if name not in contents:
        wrong = f"There is no {what} {name!r}" if name else f"Name the {what}"
        raise ValueError(f"{wrong}; there are: {', '.join(contents) or 'none'}.")
    return contents[name]
