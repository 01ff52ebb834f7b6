from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._options import options_given
from benchmark.services.imports import import_benchmark
from benchmark.suites.contract import BadImport
from benchmark.suites.registry import suite_named, suites


class Command(JsonCommand):
    help = "Keeps your copy of a benchmark as a dataset of a project, for runs; the same samples are the same version."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        importable = [name for name, suite in suites().items() if suite.load]
        parser.add_argument("--suite", required=True, choices=importable)
        parser.add_argument("--path", required=True, metavar="FOLDER", help="the folder of the benchmark's files")
        defaults = [
            f"{name}: {setting.name}={setting.default}"
            for name in importable
            for setting in suite_named(name).load_options
        ]
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="; ".join(defaults) or "none so far"
        )
        parser.add_argument("--note", default="", help="What this copy is for.")

    def work(self, **options) -> dict:
        suite, project = suite_named(options["suite"]), self.project(options["project"])
        given = options_given(suite.load_options, options["option"])
        try:
            dataset, created = import_benchmark(
                by=None, project=project, suite=suite, folder=Path(options["path"]), options=given, note=options["note"]
            )
        except BadImport as error:
            raise CommandError(str(error)) from error
        return {
            "project": project.slug,
            "version": dataset.version,
            "new": created,
            "suite": suite.name,
            "title": dataset.title,
            "digest": dataset.digest,
            "samples": dataset.stories_count,
        }
