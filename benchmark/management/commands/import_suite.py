import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser, DjangoHelpFormatter

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._plans import options_given
from benchmark.services.imports import copy_of, keep_copy, together
from benchmark.suites.registry import suite_named, suites

MOST_PROBLEMS = 10
"""The number of problems of a copy that are printed."""
APART = ("files", "problems", "unchecked", "licence", "terms")
"""What is printed in a way of its own, or not at all."""


class _WithLines(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of what stands below the options."""


class Command(JsonCommand):
    help = "Keeps your copy of a benchmark as a dataset of a project, for runs; the same samples are the same version."

    def add_arguments(self, parser: CommandParser) -> None:
        importable = {name: suite for name, suite in suites().items() if suite.copied.load}
        parser.formatter_class = _WithLines
        parser.epilog = "\n\n".join(
            "\n".join([f"{name}:", *(f"  {line}" for line in suite.copied.source.lines)])
            for name, suite in importable.items()
            if suite.copied.source
        )
        parser.add_argument("suite", choices=importable)
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="the benchmark's folder, or its files")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="say what would be kept, and keep nothing")
        defaults = [
            f"{name}: {setting.name}={setting.default}"
            for name in importable
            for setting in suite_named(name).copied.options
        ]
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="; ".join(defaults) or "none so far"
        )
        parser.add_argument("--note", default="", help="What this copy is for.")

    def say(self, result: dict[str, Any]) -> None:
        problems = result["problems"]
        for name, value in result.items():
            if name not in APART:
                self.say_of(name, value)
        for name, digest in result["files"].items():
            self.stdout.write(f"{name}: {digest}")
        self.stdout.write(f"licence: {result['terms'] or 'not known'}")
        self.stdout.write(f"problems: {len(problems) or 'none'}")
        for problem in problems[:MOST_PROBLEMS]:
            line = f", line {problem['line']:,}" if problem["line"] else ""
            self.stdout.write(f"  {problem['file']}{line}: {problem['message']}")
        if more := problems[MOST_PROBLEMS:]:
            self.stdout.write(f"  {len(more):,} more; --json lists all.")
        self.stdout.write(f"not checked: {result['unchecked'] or 'nothing'}")

    def work(self, **options: Any) -> dict[str, Any]:
        suite, project = suite_named(options["suite"]), self.project(options["project"])
        given = options_given(suite.copied.options, options["option"])
        with together(options["paths"]) as path:
            copy = copy_of(suite, path, given)
        version = None
        if not options["dry_run"]:
            version = keep_copy(by=None, project=project, copy=copy, note=options["note"])[0].version
        terms = suite.copied.source.licence if suite.copied.source else ""
        return {"project": project.slug, "suite": suite.name, "dataset": version, **copy.summary, "terms": terms}
