from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import check_readable
from annotation.management.json_command import JsonCommand
from annotation.services.schemas import load_schema
from core.wording import counted


class Command(JsonCommand):
    help = "Checks a label schema and keeps it, so that a new project can choose it. Loading it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.json")

    def work(self, **options: Any) -> dict[str, Any]:
        file = check_readable(options["file"])
        schema, is_new = load_schema(by=None, raw=file.read_bytes(), file=str(file))
        return {
            "schema": schema.reference,
            "title": schema.title,
            "created": is_new,
            "dimensions": schema.labels,
            "checks": len(schema.checks),
        }

    def say(self, result: dict[str, Any]) -> None:
        if not result["created"]:
            self.stdout.write(f"{result['schema']} is here already, with the same content; nothing was changed.")
            return
        dimensions = result["dimensions"].values()
        sentence = (
            counted(len(dimensions), "dimension"),
            counted(sum(map(len, dimensions)), "label"),
            counted(result["checks"], "cross-check"),
        )
        self.stdout.write(f"{result['schema']} is loaded: {', '.join(sentence)}. A new project can choose it.")
