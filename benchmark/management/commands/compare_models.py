from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._comparing import add_choices, compared
from benchmark.management.commands._files import PICTURES, add_width, check_output, content_of, written
from benchmark.management.commands._runs import run_of
from benchmark.services.comparison_tables import tables_of
from benchmark.services.comparisons import ComparedMetric
from benchmark.services.plot_data import comparison_picture
from benchmark.suites.registry import nouns_of_group
from core.plain import plain

DIFFERENCES, STORIES, PLOT = "differences", "stories", "two-models"


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

    def work(self, **options) -> dict:
        check_output(options)
        _, _, comparison = compared(run_of(options["run"]), run_of(options["other"]), options)
        result = {
            "first": comparison.first,
            "second": comparison.second,
            "stage": comparison.group,
            "reading": comparison.parse,
            "selection": comparison.selection,
            "n": comparison.n,
            "rows": plain(comparison.rows),
        }
        result["notes"] = comparison.lead
        if not options["output"]:
            return result
        drawn = options["output"].endswith(tuple(f".{suffix}" for suffix in PICTURES))
        name = options["name"] or (PLOT if drawn else DIFFERENCES)
        plots = {PLOT: comparison_picture(comparison)}
        file = written(
            options["output"],
            content_of(options["output"], name, tables_of(comparison), plots, width=options["width"]),
        )
        return result | plain(file)

    def say(self, result: dict) -> None:
        over = result["selection"] or f"all {nouns_of_group(result['stage'])[1]} that both have"
        self.stdout.write(f"{result['first']} minus {result['second']}, {result['reading']} parse, {over}")
        for note in result["notes"]:
            self.stdout.write(note)
        self.stdout.write(f"{'':28}{'points':>8}{'95 % interval':>18}  shown to differ")
        rows = [ComparedMetric.from_json(row) for row in result["rows"]]
        for row in rows:
            self.stdout.write(f"{row.what:28}{_points(row)}  {row.verdict}")
        if reasons := dict.fromkeys(row.reason for row in rows if row.reason):
            self.stdout.write(f"No interval [–]: {'; or '.join(reasons)}.")
        if "path" in result:
            self.stdout.write(f"path: {result['path']}")


def _points(row: ComparedMetric) -> str:
    """Return the difference in points with its interval."""
    if row.value is None:
        return f"{'–':>8}{'':18}"
    ends = "[{:+z.1f}, {:+z.1f}]".format(*(100 * end for end in row.interval)) if row.interval else "[–]"
    return f"{100 * row.value:+z8.1f}{ends:>18}"
