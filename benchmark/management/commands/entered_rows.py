from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from benchmark.domain.drawn import PaperRow
from benchmark.models import EnteredKind, EnteredRow
from benchmark.services.entered_rows import add_row, edit_row, enterable_suites, remove_row
from benchmark.suites.registry import suite_named
from core.plain import Json

ACTIONS = ("list", "figures", "add", "edit", "remove")


class Command(JsonCommand):
    help = (
        "Rows of papers below leaderboards and reports: human figures, and published ones. list says which there "
        "are, figures which a suite takes, add, edit and remove change one; edit keeps what is not given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", metavar="NAME", help="of all suites if not given, for list")
        parser.add_argument("--name", metavar="NAME", help="what the row is called, such as Human")
        parser.add_argument("--kind", choices=EnteredKind.values)
        parser.add_argument("--source", metavar="TEXT", help="a citation, such as Kim et al. 2023, table 9")
        parser.add_argument(
            "--figure", action="append", default=[], metavar="KEY=PERCENT", help="again for several; KEY= takes it away"
        )
        parser.add_argument("--rename", metavar="NAME", help="edit: another name")

    def work(self, **options: Any) -> Json:
        project, action = self.project(options["project"]), options["action"]
        offered = enterable_suites(project)
        if options["suite"] and options["suite"] not in offered:
            raise ValueError(f"There is no suite {options['suite']!r}; expected one of {', '.join(offered)}.")
        if action == "list":
            rows = EnteredRow.objects.filter(project=project)
            rows = rows.filter(suite=options["suite"]) if options["suite"] else rows
            return {"project": project.slug, "rows": [_row(row) for row in rows]}
        if not options["suite"]:
            raise ValueError("--suite says which benchmark a row is of; give it, too.")
        suite = suite_named(options["suite"])
        if action == "figures":
            return {"figures": {metric.key: f"{metric.heading}: {metric.title}" for metric in suite.enterable}}
        name, metrics = options["name"] or "", _metrics(options["figure"])
        if options["rename"] and action != "edit":
            raise ValueError("--rename is for edit, which gives a row another name.")
        if action == "add":
            entry = PaperRow(name, options["kind"] or "", options["source"] or "", metrics)
            return {"row": _row(add_row(by=None, project=project, suite=suite, entry=entry))}
        rows = EnteredRow.objects.filter(project=project, suite=suite.name)
        row = rows.filter(name=name).first()
        if row is None:
            names = ", ".join(rows.values_list("name", flat=True)) or "none"
            raise ValueError(f"{suite.title} has no row {name!r}; there are: {names}.")
        if action == "remove":
            remove_row(by=None, row=row)
            return {"removed": name}
        kind, source = options["kind"] or row.kind, options["source"] or row.source
        entry = PaperRow(options["rename"] or name, kind, source, row.metrics | metrics)
        return {"row": _row(edit_row(by=None, row=row, entry=entry))}

    def say(self, result: Json) -> None:
        for key, title in result.get("figures", {}).items():
            self.stdout.write(f"{key:44} {title}")
        if "removed" in result:
            self.stdout.write(f"removed: {result['removed']}")
        for row in result.get("rows", [result["row"]] if "row" in result else []):
            metrics = ", ".join(f"{key} {text}" for key, text in row["figures"].items())
            self.stdout.write(f"{row['suite']}: {row['name']} ({row['kind']}; {row['source']}): {metrics}")


def _row(row: EnteredRow) -> Json:
    return {"suite": row.suite, "name": row.name, "kind": row.kind, "source": row.source, "figures": row.metrics}


def _metrics(arguments: list[str]) -> dict[str, str]:
    metrics = {}
    for argument in arguments:
        key, equals, text = argument.rpartition("=")
        if not equals:
            raise ValueError(f"--figure {argument!r} has no equals sign; expected KEY=PERCENT.")
        metrics[key] = text
    return metrics
