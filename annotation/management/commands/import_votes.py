from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from annotation.management.commands._importing import ImportCommand, add_encoding, check_readable, counted
from annotation.services.vote_import import import_votes


class Command(ImportCommand):
    help = "Imports votes from CSV or .xlsx: story_id,actor,belief,dimension,annotator,label[,occurrence][,created_at]."

    def add_arguments(self, parser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--project", required=True, metavar="SLUG")
        add_encoding(parser)

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
        return self.judged(result.as_dict(), taken=result.created + result.unchanged, problems=result.problems.total)

    def say(self, result: dict) -> None:
        votes = counted(result["votes"], "vote")
        refused = result["votes"] - result["created"] - result["unchanged"]
        refused_text = f", {refused} not imported" if refused else ""
        self.stdout.write(f"{votes}: {result['created']} created, {result['unchanged']} unchanged{refused_text}.")
        for annotator in result["annotators"]:
            self.stdout.write(f"  {annotator['name']}: {annotator['kind']}, {counted(annotator['votes'], 'vote')}")
        if result["kept"]:
            self.stdout.write(f"{counted(result['kept'], 'vote')} cast in the product kept.")
        self.say_problems(result)
