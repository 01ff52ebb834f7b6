from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from annotation.management.commands._importing import ImportCommand, add_encoding, add_problems, check_readable
from annotation.services.vote_import import import_votes
from core.wording import counted


class Command(ImportCommand):
    help = "Imports votes from CSV or .xlsx: story_id,actor,belief,dimension,annotator,label[,occurrence][,created_at]."

    def add_arguments(self, parser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--project", required=True, metavar="SLUG")
        add_encoding(parser)
        add_problems(parser)

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        with check_readable(options["file"]).open("rb") as handle:
            result = import_votes(
                by=None,
                project=project,
                handle=handle,
                file=str(options["file"]),
                encoding=options["encoding"],
                now=timezone.now(),
                progress=lambda done: self.note(f"{done} rows read") if options["verbosity"] > 1 else None,
            )
        return self.judged(result, kept=True, problems_to=options["problems"])

    def say(self, result: dict) -> None:
        self.say_result()
        for annotator in result["annotators"]:
            self.stdout.write(f"  {annotator['name']}: {annotator['kind']}, {counted(annotator['votes'], 'vote')}")
        self.say_problems()
