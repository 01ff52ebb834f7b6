from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.models import EnteredKind, EnteredRow
from benchmark.services.entered_rows import Entry, add_row, edit_row, enterable_suites, remove_row
from benchmark.suites.registry import suite_named

ACTIONS = ("list", "figures", "add", "edit", "remove")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRow:
    """A row as the command prints it; figures are texts of per cent by key."""

    suite: str
    name: str
    kind: str
    source: str
    figures: Mapping[str, str]

    @classmethod
    def of(cls, row: EnteredRow) -> PrintedRow:
        return cls(suite=row.suite, name=row.name, kind=row.kind, source=row.source, figures=row.metrics)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a project."""

    project: str
    rows: Sequence[PrintedRow]


@dataclass(frozen=True, slots=True)
class Figures:
    """What the figures of a suite are called, by key."""

    figures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Changed:
    """The row that was made or changed."""

    row: PrintedRow


@dataclass(frozen=True, slots=True)
class Removed:
    """The name of the row that was removed."""

    removed: str


class Command(JsonCommand):
    help = (
        "Rows of papers below leaderboards and reports: human figures, and published ones. list says which there "
        "are, figures which a suite takes, add, edit and remove change one; edit keeps what is not given."
    )

    def add_arguments(self, parser) -> None:
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

    def work(self, **options) -> Rows | Figures | Changed | Removed:
        project = self.project(options["project"])
        offered = enterable_suites(project)
        if options["suite"] and options["suite"] not in offered:
            raise ValueError(f"There is no suite {options['suite']!r}; expected one of {', '.join(offered)}.")
        if options["action"] == "list":
            rows = EnteredRow.objects.filter(project=project)
            rows = rows.filter(suite=options["suite"]) if options["suite"] else rows
            return Rows(project.slug, [PrintedRow.of(row) for row in rows])
        if not options["suite"]:
            raise ValueError("--suite says which benchmark a row is of; give it, too.")
        if options["action"] == "figures":
            metrics = suite_named(options["suite"]).enterable
            return Figures({metric.key: f"{metric.heading}: {metric.title}" for metric in metrics})
        return _changed(project, options)

    def say(self, result: Rows | Figures | Changed | Removed) -> None:
        if isinstance(result, Figures):
            for key, title in result.figures.items():
                self.stdout.write(f"{key:44} {title}")
        elif isinstance(result, Removed):
            self.stdout.write(f"removed: {result.removed}")
        else:
            for row in result.rows if isinstance(result, Rows) else [result.row]:
                metrics = ", ".join(f"{key} {text}" for key, text in row.figures.items())
                self.stdout.write(f"{row.suite}: {row.name} ({row.kind}; {row.source}): {metrics}")


def _changed(project: Project, options: Mapping[str, Any]) -> Changed | Removed:
    suite, name = suite_named(options["suite"]), options["name"] or ""
    if options["rename"] and options["action"] != "edit":
        raise ValueError("--rename is for edit, which gives a row another name.")
    if options["action"] == "add":
        entry = Entry(name, options["kind"] or "", options["source"] or "", _metrics(options["figure"]))
        return Changed(PrintedRow.of(add_row(by=None, project=project, suite=suite, entry=entry)))
    row = EnteredRow.objects.filter(project=project, suite=suite.name, name=name).first()
    if row is None:
        names = EnteredRow.objects.filter(project=project, suite=suite.name).values_list("name", flat=True)
        raise ValueError(f"{suite.title} has no row {name!r}; there are: {', '.join(names) or 'none'}.")
    if options["action"] == "remove":
        remove_row(by=None, row=row)
        return Removed(name)
    metrics = row.metrics | _metrics(options["figure"])
    entry = Entry(options["rename"] or name, options["kind"] or row.kind, options["source"] or row.source, metrics)
    return Changed(PrintedRow.of(edit_row(by=None, row=row, entry=entry)))


def _metrics(arguments: list[str]) -> dict[str, str]:
    metrics = {}
    for argument in arguments:
        key, equals, text = argument.rpartition("=")
        if not equals:
            raise ValueError(f"--figure {argument!r} has no equals sign; expected KEY=PERCENT.")
        metrics[key] = text
    return metrics
