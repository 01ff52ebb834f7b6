from __future__ import annotations

from functools import partial
from pathlib import Path

from annotation.management.json_command import JsonCommand
from annotation.services.corpus_import import FORMATS, files_of, import_corpus


class Command(JsonCommand):
    help = "Imports stories (and gold tables, where the format has them). Importing a file again changes nothing."

    def add_arguments(self, parser) -> None:
        parser.add_argument("format", choices=sorted(FORMATS))
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--language", choices=["en", "zh"], default="en")
        parser.add_argument("--dry-run", action="store_true", help="read and check, keep nothing")
        parser.add_argument("--strict", action="store_true", help="stop at the first broken line, keep nothing")

    def work(self, **options) -> dict:
        files = files_of(options["paths"], format=options["format"])
        result = import_corpus(
            by=None,
            project_slug=options["project"],
            format=options["format"],
            sources=[(str(path), partial(path.open, "rb")) for path in files],
            language=options["language"],
            dry_run=options["dry_run"],
            strict=options["strict"],
            progress=self.note if options["verbosity"] > 1 else lambda message: None,
        )
        return result.as_dict()

    def say(self, result: dict) -> None:
        self.stdout.write(
            f"{result['stories']} stories: {result['created']} created, {result['unchanged']} unchanged; "
            f"{result['propositions']} propositions."
        )
        for category, count in result["by_category"].items():
            self.stdout.write(f"  {category}: {count}")
        for problem in result["problems"]:
            self.note(f"{problem['file']}, line {problem['line']}: {problem['message']}")
