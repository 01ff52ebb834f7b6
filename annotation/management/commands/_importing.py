"""Shared by the commands that read files: an input that is refused as a whole is reported, and the command ends with
1."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import CommandError

from annotation.management.json_command import JsonCommand
from core.incoming.encodings import ENCODINGS


class ImportCommand(JsonCommand):
    refusal = ""

    def handle(self, *args, **options) -> None:
        self.refusal = ""
        super().handle(*args, **options)
        if self.refusal:
            raise CommandError(self.refusal)

    def judged(self, result: dict, *, taken: int, problems: int) -> dict:
        """Return the result as it is; where nothing was `taken` of lines of which so many are problems, the command
        will end with the first."""
        if not taken and problems:
            first, total = result["problems"][0], counted(problems, "problem")
            self.refusal = (
                f"Nothing was imported: {total}, the first in {first['file']}, line {first['line']}: {first['message']}"
            )
        return result

    def say_problems(self, result: dict) -> None:
        for problem in result["problems"]:
            self.note(f"{problem['file']}, line {problem['line']}: {problem['message']}")


def add_encoding(parser: ArgumentParser) -> None:
    names = [name for name in ENCODINGS if name]
    parser.add_argument("--encoding", choices=names, default="", help="of a file that is neither UTF-8 nor UTF-16")


def counted(count: int, noun: str, several: str = "") -> str:
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def check_readable(path: Path) -> Path:
    """Raise ValueError where there is no such file."""
    if path == Path():
        raise ValueError("The file has no name.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected a file.")
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    return path
