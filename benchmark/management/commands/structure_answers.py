from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.domain.association.crossing import Crossing
from benchmark.domain.tables import Absent
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.services.structure import QUESTIONS, STORIES, Association, association_of
from benchmark.services.structure_choice import choice_of, lacking
from benchmark.services.structure_sides import Sides, sides_of
from benchmark.services.structure_tables import PICTURE, TABLES, cut_text, picture_of, tables_of, verdict_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import suite_of_gold
from core.plain import WHERE_THERE_IS_ONE, Json, plain
from core.statistics import Estimate


@dataclass(frozen=True, slots=True)
class PrintedCrossing:
    """The answers of a model against its structures, or those of all models, as the command prints them."""

    model: str
    table: Crossing

    @property
    def missing(self) -> int:
        """The number of answers that have no cell."""
        return self.table.asked - sum(self.table.cells)

    def as_json(self) -> Json:
        """{model, cells, missing, stories, value, n, interval[, clusters][, reason], bounds}."""
        return {
            "model": self.model,
            "cells": plain(self.table.cells),
            "missing": self.missing,
            "stories": self.table.stories,
            **plain(self.table.difference),
            "bounds": plain(self.table.bounds),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedAssociation:
    """The measure of the structure, from which score on it is right, what the mixed model comes to, a row for each
    model, who is not among them, and the file that was written."""

    measure: str
    right: str
    finding: str
    how: str
    rows: Sequence[PrintedCrossing]
    absent: Sequence[Absent]
    path: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bytes: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


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

    def work(self, **options) -> PrintedAssociation:
        check_output(options)
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise ValueError(f"There is no project {options['project']!r}.")
        association = _association(project, sides_of(project), options)
        verdict = verdict_of(association)
        result = PrintedAssociation(
            measure=association.choice.measure.key,
            right=cut_text(association),
            finding=verdict.finding,
            how=verdict.how,
            rows=[PrintedCrossing(model, table) for model, table in association.metrics.tables.items()],
            absent=association.absent,
        )
        if not options["output"]:
            return result
        tables, metrics = tables_of(association), {PICTURE: picture_of(association)}
        name = options["name"] or (TABLES[0] if options["output"].endswith((".csv", ".json", ".tex")) else PICTURE)
        file = written(options["output"], content_of(options["output"], name, tables, metrics, width=options["width"]))
        return replace(result, path=file.path, bytes=file.bytes)

    def say(self, result: PrintedAssociation) -> None:
        self.stdout.write(result.finding)
        self.stdout.write(result.how)
        self.stdout.write(f"Right structure: {result.right}.")
        self.stdout.write(
            f"{'':36}{'both':>7}{'struct.':>9}{'answer':>8}{'neither':>9}{'missing':>9}"
            f"{'points':>9}{'95 % interval':>18}"
        )
        for row in result.rows:
            cells = "".join(
                f"{count:>{width}}"
                for count, width in zip((*row.table.cells, row.missing), (7, 9, 8, 9, 9), strict=True)
            )
            self.stdout.write(f"{row.model[:35]:36}{cells}{_points(row.table.difference)}")
        if reasons := dict.fromkeys(gain.reason for row in result.rows if (gain := row.table.difference).reason):
            self.stdout.write(f"No value or interval [–]: {'; or '.join(reasons)}.")
        for absent in result.absent:
            self.stdout.write(f"Not among them: {absent.model} ({absent.why}).")
        if result.path is not None:
            self.stdout.write(f"path: {result.path}")


def _association(project: Project, sides: Sides, options: Json) -> Association:
    """Return what the options ask for. Raises ValueError."""
    if why := lacking(sides, project):
        raise ValueError(why.message)
    params = {"structure": options["structures"], "run": options["answers"]}
    params |= {name: options[name] for name in ("measure", "cut", "counted", "parse")}
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


def _points(difference: Estimate) -> str:
    if difference.value is None:
        return f"{'–':>9}{'[–]':>18}"
    interval = difference.interval
    ends = "[{:+z.1f}, {:+z.1f}]".format(*(100 * end for end in interval)) if interval else "[–]"
    return f"{100 * difference.value:+z9.1f}{ends:>18}"
