from __future__ import annotations

from collections.abc import Collection

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.services.structure import Association, association_of
from benchmark.services.structure_sides import QUESTIONS, STORIES, Sides, choice_of, lacking, sides_of
from benchmark.services.structure_tables import PICTURE, TABLES, cut_text, picture_of, tables_of, verdict_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import suite_of_gold
from core.plain import Json, plain


class Command(JsonCommand):
    help = (
        "Compares the answers of a project's models to questions with the belief structures that they built of the "
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
        parser.add_argument("--parse", choices=PARSES, help="repaired if not given")
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

    def work(self, **options) -> Json:
        check_output(options)
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise ValueError(f"There is no project {options['project']!r}.")
        association = _association(project, sides_of(project), options)
        finding, how = verdict_of(association)
        result = {
            "measure": association.choice.measure.key,
            "right": cut_text(association),
            "finding": finding,
            "how": how,
            "rows": [
                {"model": model, "cells": table.cells, "missing": table.missing, "stories": table.stories}
                | plain(table.difference)
                | {"bounds": table.bounds}
                for model, table in association.tables.items()
            ],
            "absent": association.absent,
        }
        if output := options["output"]:
            name = options["name"] or (TABLES[0] if output.endswith((".csv", ".json", ".tex")) else PICTURE)
            plots = {PICTURE: picture_of(association)}
            content = content_of(output, name, tables_of(association), plots, width=options["width"])
            result |= plain(written(output, content))
        return result

    def say(self, result: Json) -> None:
        self.stdout.write(f"{result['finding']}\n{result['how']}\nRight structure: {result['right']}.")
        heads = ("both", "structure", "answer", "neither", "missing", "points")
        self.stdout.write(f"{'':36}" + "".join(f"{head:>10}" for head in heads) + "  95 % interval")
        for row in result["rows"]:
            cells = "".join(f"{count:>10}" for count in (*row["cells"], row["missing"]))
            value = "–" if row["value"] is None else f"{100 * row['value']:+z.1f}"
            ends = ", ".join(f"{100 * end:+z.1f}" for end in row["interval"] or ()) or "–"
            self.stdout.write(f"{row['model'][:35]:36}{cells}{value:>10}  [{ends}]")
        if reasons := dict.fromkeys(row["reason"] for row in result["rows"] if row.get("reason")):
            self.stdout.write(f"No value or interval [–]: {'; or '.join(reasons)}.")
        for absent in result["absent"]:
            self.stdout.write(f"Not among them: {absent.model} ({absent.why}).")
        if "path" in result:
            self.stdout.write(f"path: {result['path']}")


def _association(project: Project, sides: Sides, options: Json) -> Association:
    """Return the results that the options ask for. Raises ValueError."""
    if need := lacking(sides, project):
        raise ValueError(need[0])
    params = {"structure": options["structures"], "run": options["answers"]}
    params |= {name: options[name] for name in ("measure", "cut", "counted", "parse")}
    given = {name: value for name, value in params.items() if value}
    choice, problem = choice_of(sides, given, options["model"] or ())
    _check("--measure", options["measure"], [measure.key for measure in sides.measures])
    for model in options["model"] or ():
        _check("--model", model, sides.models(choice.measure, choice.answers.key))
    _check("--structures", options["structures"], sides.structure_runs(choice.measure))
    _check("--answers", options["answers"], sides.runs(choice.answers.key))
    if problem:
        raise ValueError(problem.replace("; the median is taken", ""))
    association = association_of(sides, choice)
    if not association.tables:
        raise ValueError("No chosen model has figures of both for a common story.")
    return association


def _check(option: str, value: str | None, among: Collection[str]) -> None:
    if value and value not in among:
        raise ValueError(f"{option} {value}: there is none of that name; there are: {', '.join(among)}.")
