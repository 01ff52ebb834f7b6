from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.models import Audience, ResultsVisibility
from benchmark.services.visibility import set_audience


class Command(JsonCommand):
    help = "Says who of a project sees results of models, the lowest role; with --audience changes it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--audience", choices=Audience.values)

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        if options["audience"]:
            set_audience(by=None, project=project, audience=Audience(options["audience"]))
        held = ResultsVisibility.objects.filter(project=project).first()
        return {"project": project.slug, "audience": held.audience if held else Audience.ADMINS.value}
