"""Shared by the commands that read files: an input that is refused as a whole is reported, and the command ends with
1."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.json_command import Arguments, ProjectCommand
from annotation.services.import_results import ImportResult
from core.incoming.encodings import ENCODINGS
from core.wording import counted

FILE: Arguments = {"file": {"type": Path, "metavar": "FILE"}}
READING: Arguments = {
    "--encoding": {
        "choices": [name for name in ENCODINGS if name], "default": "",
        "help": "of a file that is neither UTF-8 nor UTF-16",
    },
    "--problems": {"type": Path, "metavar": "FILE.csv", "help": "write every problem to this file"},
}  # fmt: skip


class ImportCommand(ProjectCommand):
    """A subclass returns what `judged` makes of its result; `detail` is what it prints between outcome and problems."""

    refusal = ""
    result: ImportResult

    def handle(self, *args: Any, **options: Any) -> None:
        self.refusal = ""
        super().handle(*args, **options)
        if self.refusal:
            raise CommandError(self.refusal)

    def judged(self, result: ImportResult, *, kept: bool, problems_to: Path | None = None) -> dict[str, Any]:
        """Return the result as a dictionary; where nothing was taken of lines of which some are problems, the command
        will end with the first. Writes all problems to `problems_to`."""
        self.result, self.heading = result, result.heading(kept=kept)
        if problems_to is not None:
            with problems_to.open("wb") as handle:
                handle.writelines(result.problems.csv_lines())
        if result.problems and not (result.taken or result.there):
            first, total = result.problems.grouped()[0], counted(result.problems.total, "problem")
            self.refusal = f"Nothing was imported: {total}, the first in {first.sentence}"
        return {"outcome": self.heading, **result.as_dict()}

    def say(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{self.heading}. {self.result.summary}")
        self.stdout.writelines(f"  {line}\n" for line in self.detail(result))
        for sentence in self.result.problems.sentences():
            self.note(sentence)

    def detail(self, result: dict[str, Any]) -> list[str]:
        return []


def check_readable(path: Path) -> Path:
    """Return the path. Raises ValueError if there is no such file."""
    if path == Path():
        raise ValueError("The file has no name.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected a file.")
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    return path
