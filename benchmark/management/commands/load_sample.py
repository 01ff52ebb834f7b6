from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from annotation.services.sample import PASSWORD, PEOPLE, SLUG, load_sample, unfinished_sample
from benchmark.services.sample_results import add_results


class Command(JsonCommand):
    help = (
        "Loads the sample project with its log-ins, which are public, and the results of its run: not for an "
        "installation that others can reach."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="where any project exists do no more than complete a sample"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        if not options["once"] or not Project.objects.exists():
            load_sample()
        if project := unfinished_sample():
            add_results(project)
        elif not Project.objects.filter(slug=SLUG).exists():
            return {"project": None, "people": []}
        return {"project": SLUG, "password": PASSWORD, "people": list(PEOPLE)}

    def say(self, result: dict[str, Any]) -> None:
        if result["project"]:
            people = ", ".join(f"{name} ({PEOPLE[name][1].label.lower()})" for name in result["people"])
            self.stdout.write(f"Sample log-ins: {people}; the password of each is {result['password']}")
