from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.json_command import JsonCommand
from core.plain import Json
from judge.models import AlignmentStudy
from judge.services.alignment_export import document_of


class Command(JsonCommand):
    help = "Prints how a study of alignment stands; with --json also every table with every answer and its provenance."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, metavar="TEXT", help="of the study")

    def work(self, **options: Any) -> Json:
        studies = AlignmentStudy.objects.filter(project=self.project(options["project"]), name=options["name"])
        study = studies.first()
        if study is None:
            raise CommandError(f"There is no study {options['name']!r} in this project.")
        return document_of(study, named=True)

    def say(self, result: Json) -> None:
        self.say_of("name", result["name"])
        self.say_of("progress", result["progress"])
        self.say_of("tables of two people", result["agreement"]["tables"])
        for table in result["open"]:
            people = ", ".join(table["may_decide"]) or "no member; it needs an expert or admin who did not align it"
            self.say_of(f"open rows of table {table['table']}", f"{table['open_rows']}, may be decided by {people}")
        counts = result["agreement"]["match_counts"]
        self.say_of("rows with the same MatchCount", f"{counts['agree']:,} of {counts['cells']:,}")
