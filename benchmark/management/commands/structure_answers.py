from __future__ import annotations

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.services.structure import QUESTIONS, STORIES, Association, association_of
from benchmark.services.structure_choice import choice_of, lacking
from benchmark.services.structure_sides import Sides, sides_of
from benchmark.services.structure_tables import PICTURE, TABLES, cut_text, picture_of, tables_of, verdict_of
from benchmark.suites.asked import PARSES
from benchmark.suites.registry import suite_of_gold
from core.plain import Json, plain


class Command(JsonCommand):
    help = (
        "Holds the answers of a project's models to questions against the belief structures that they built of the "
        "same stories. With --output it writes a table (csv, json, tex) or the plot (svg, pdf, png)."
    )

    def add_arguments(self, parser) -> None:
        measures = [f"{group.key}.{group.score}" for group in suite_of_gold().groups]
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--measure",
            metavar="NAME",
            help=f"the metric of the structure, such as {measures[0]}; two with a comma between them, such as "
            f"{','.join(measures[:2])}, are right where both are",
        )
        parser.add_argument(
            "--cut", metavar="PERCENT", help="from which score on a structure is right; the median if not given"
        )
        parser.add_argument("--counted", choices=[QUESTIONS, STORIES], help="questions if not given, or whole stories")
        parser.add_argument("--reading", choices=PARSES, help="repaired if not given")
        parser.add_argument(
            "--structures", metavar="RUN", help="the run of belief tables; the newest of each model if not given"
        )
        parser.add_argument(
            "--answers", metavar="RUN", help="the run of questions; the newest of each model if not given"
        )
        parser.add_argument("--model", action="append", metavar="NAME", help="again for several; all if not given")
        parser.add_argument(
            "--name", choices=[*TABLES, PICTURE], help="what to write: two-by-two or the plot if not given"
        )
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)

    def work(self, **options) -> dict:
        check_output(options)
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise ValueError(f"There is no project {options['project']!r}.")
        association = _association(project, sides_of(project), options)
        result = {
            "measure": association.choice.measure.key,
            "right": cut_text(association),
            **verdict_of(association),
            "rows": [_row(model, table) for model, table in association.metrics.tables.items()],
            "absent": plain(association.absent),
        }
        if not options["output"]:
            return result
        tables, metrics = tables_of(association), {PICTURE: picture_of(association)}
        name = options["name"] or (TABLES[0] if options["output"].endswith((".csv", ".json", ".tex")) else PICTURE)
        file = written(options["output"], content_of(options["output"], name, tables, metrics, width=options["width"]))
        return result | plain(file)

    def say(self, result: dict) -> None:
        self.stdout.write(result["finding"])
        self.stdout.write(result["how"])
        self.stdout.write(f"Right structure: {result['right']}.")
        self.stdout.write(
            f"{'':36}{'both':>7}{'struct.':>9}{'answer':>8}{'neither':>9}{'missing':>9}"
            f"{'points':>9}{'95 % interval':>18}"
        )
        for row in result["rows"]:
            cells = "".join(
                f"{count:>{width}}"
                for count, width in zip((*row["cells"], row["missing"]), (7, 9, 8, 9, 9), strict=True)
            )
            self.stdout.write(f"{row['model'][:35]:36}{cells}{_points(row)}")
        if reasons := dict.fromkeys(row["reason"] for row in result["rows"] if row.get("reason")):
            self.stdout.write(f"No value or interval [–]: {'; or '.join(reasons)}.")
        for absent in result["absent"]:
            self.stdout.write(f"Not among them: {absent['model']} ({absent['why']}).")
        if "path" in result:
            self.stdout.write(f"path: {result['path']}")


def _association(project: Project, sides: Sides, options: Json) -> Association:
    """Return what the options ask for. Raises ValueError."""
    if why := lacking(sides, project):
        raise ValueError(why.message)
    params = {"structure": options["structures"], "run": options["answers"]}
    params |= {name: options[name] for name in ("measure", "cut", "counted", "reading")}
    choice, problems = choice_of(
        sides, {name: value for name, value in params.items() if value}, options["model"] or ()
    )
    measures = [measure.key for measure in sides.measures]
    _check("--measure", options["measure"], measures)
    models = sides.models(choice.measure, choice.answers.key)
    for model in options["model"] or ():
        _check("--model", model, models)
    _check("--structures", options["structures"], sides.structure_runs(choice.measure))
    _check("--answers", options["answers"], sides.runs(choice.answers.key))
    if problems:
        raise ValueError(problems[0].replace("; the median is taken", ""))
    association = association_of(sides, choice)
    if association.metrics is None:
        raise ValueError("No chosen model has figures of both for a common story.")
    return association


def _check(option: str, value: str | None, among) -> None:
    if value and value not in among:
        raise ValueError(f"{option} {value}: there is none of that name; there are: {', '.join(among)}.")


def _row(model: str, table) -> Json:
    return {
        "model": model,
        "cells": table.cells,
        "missing": table.asked - sum(table.cells),
        "stories": table.stories,
        **plain(table.difference),
        "bounds": table.bounds,
    }


def _points(row: Json) -> str:
    if row["value"] is None:
        return f"{'–':>9}{'[–]':>18}"
    ends = "[{:+z.1f}, {:+z.1f}]".format(*(100 * end for end in row["interval"])) if row["interval"] else "[–]"
    return f"{100 * row['value']:+z9.1f}{ends:>18}"
