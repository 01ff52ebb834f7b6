from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from benchmark.services.datasets import publish_version


class Command(JsonCommand):
    help = "Publishes a version of a project's gold; equal gold is the same version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--note", default="", help="What this version is for.")

    def work(self, **options: Any) -> dict[str, Any]:
        dataset, created = publish_version(
            by=None, project=self.project(options["project"]), note=options["note"][:200]
        )
        if options["note"] and not created:
            self.note(f"The note was not kept: gold is as in version {dataset.version}, and a version does not change.")
        return {
            "project": dataset.project.slug,
            "version": dataset.version,
            "new": created,
            "digest": dataset.digest,
            "stories": dataset.stories_count,
            "propositions": dataset.propositions_count,
            "left_out": dataset.left_out,
            "methods": dataset.methods,
        }
