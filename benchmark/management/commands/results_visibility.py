import argparse
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from benchmark.models import Audience, ResultsVisibility
from benchmark.services.visibility import set_audience


class Command(JsonCommand):
    help = (
        "Says who of a project sees results of models, the lowest role; with --audience or --once-published changes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--audience", choices=Audience.values)
        parser.add_argument(
            "--once-published",
            action=argparse.BooleanOptionalAction,
            default=None,
            help="experts and annotators only while every story is settled and the present gold is a published version",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        project = self.project(options["project"])
        visibility = ResultsVisibility.objects.filter(project=project).first() or ResultsVisibility(project=project)
        if options["audience"] or options["once_published"] is not None:
            audience = Audience(options["audience"] or visibility.audience)
            set_audience(by=None, project=project, audience=audience, once_published=options["once_published"])
            visibility = ResultsVisibility.objects.filter(project=project).first() or visibility
        return {
            "project": project.slug,
            "audience": Audience(visibility.audience).value,
            "once_published": visibility.once_published,
        }
