from __future__ import annotations

from dataclasses import dataclass

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._comparing import add_choices, compared
from benchmark.management.commands._files import PICTURES, WrittenFile, add_width, check_output, content_of, written
from benchmark.management.commands._runs import run_of
from benchmark.services.comparison_tables import tables_of
from benchmark.services.comparisons import ComparedMetric, Comparison
from benchmark.services.plot_data import comparison_picture
from benchmark.suites.registry import nouns_of_group
from core.plain import Json, plain

DIFFERENCES, STORIES, PLOT = "differences", "stories", "two-models"


@dataclass(frozen=True, slots=True)
class PrintedComparison:
    """A comparison of two models, as the command prints it, and the `file` that was written of it."""

    comparison: Comparison
    file: WrittenFile | None = None

    def as_json(self) -> Json:
        """{first, second, group, parse, selection, n, rows, notes[, path, bytes]}."""
        return {
            "first": self.comparison.first,
            "second": self.comparison.second,
            "group": self.comparison.group,
            "parse": self.comparison.parse,
            "selection": self.comparison.selection,
            "n": self.comparison.n,
            "rows": plain(self.comparison.rows),
            "notes": plain(self.comparison.lead),
            **(plain(self.file) if self.file else {}),
        }


class Command(JsonCommand):
    help = (
        "Compares a model of a run with one of another run (or of the same one): mean differences with intervals and "
        "adjusted p, over all stories and in each category. With --output it writes a table (csv, json, tex) or the "
        "plot (svg, pdf, png)."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("other", metavar="OTHER", help="the run of the other model; it may be the same run")
        add_choices(parser)
        parser.add_argument("--name", choices=[DIFFERENCES, STORIES, PLOT], help="differences or the plot if not given")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)

    def work(self, **options) -> PrintedComparison:
        check_output(options)
        _, _, comparison = compared(run_of(options["run"]), run_of(options["other"]), options)
        if not options["output"]:
            return PrintedComparison(comparison)
        drawn = options["output"].endswith(tuple(f".{suffix}" for suffix in PICTURES))
        name = options["name"] or (PLOT if drawn else DIFFERENCES)
        plots = {PLOT: comparison_picture(comparison)}
        file = written(
            options["output"],
            content_of(options["output"], name, tables_of(comparison), plots, width=options["width"]),
        )
        return PrintedComparison(comparison, file)

    def say(self, result: PrintedComparison) -> None:
        comparison = result.comparison
        over = comparison.selection or f"all {nouns_of_group(comparison.group)[1]} that both have"
        self.stdout.write(f"{comparison.first} minus {comparison.second}, {comparison.parse} parse, {over}")
        for note in comparison.lead:
            self.stdout.write(note)
        self.stdout.write(f"{'':28}{'points':>8}{'95 % interval':>18}  shown to differ")
        for row in comparison.rows:
            self.stdout.write(f"{row.what:28}{_points(row)}  {row.verdict}")
        if reasons := dict.fromkeys(row.reason for row in comparison.rows if row.reason):
            self.stdout.write(f"No interval [–]: {'; or '.join(reasons)}.")
        if result.file:
            self.stdout.write(f"path: {result.file.path}")


def _points(row: ComparedMetric) -> str:
    """Return the difference in points with its interval."""
    if row.value is None:
        return f"{'–':>8}{'':18}"
    ends = "[{:+z.1f}, {:+z.1f}]".format(*(100 * end for end in row.interval)) if row.interval else "[–]"
    return f"{100 * row.value:+z8.1f}{ends:>18}"
