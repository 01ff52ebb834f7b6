"""The contract of commands that scripts rely on: one JSON object on standard output with --json, messages on standard
error, and an end with 0, or with 1 and one sentence."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from core.plain import plain
from core.storage import trouble_of

ENVIRONMENT = "environment"
"""The tag of checks on what an installation may change (`config/checks.py`)."""


class JsonCommand(BaseCommand):
    """A subclass writes `work(**options)`, which returns a mapping or a frozen dataclass, and, for people,
    `say(result)`; `refusals` become one sentence.

    `failure(result)` is the sentence with which the command ends with 1 although there is a result to be printed.
    """

    requires_system_checks: tuple[str, ...] = (ENVIRONMENT,)
    """Others look at the code, which no installation changes, and load every page for that: half of the time that a
    command takes to start."""
    refusals: tuple[type[Exception], ...] = (ValueError, OSError)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)

        def refuse(message: str) -> NoReturn:
            """Refuse as any other refusal does: argparse would print its usage and end with 2."""
            text = " ".join(message.split())
            sentence = f"{text[:1].upper()}{text[1:]}; --help says what can be given."
            if parser.called_from_command_line:
                parser.exit(1, f"CommandError: {sentence}\n")
            raise CommandError(sentence)

        vars(parser)["error"] = refuse
        parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.work(**options)
        except ValidationError as error:
            messages = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
            raise CommandError(
                "; ".join(f"{name}: {' '.join(sentences)}".lstrip(": ") for name, sentences in messages.items())
            ) from error
        except self.refusals as error:
            sentence = " ".join(str(error).split())
            if isinstance(error, OSError) and error.filename and error.strerror:
                # without the number that Python puts first
                sentence = f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}."
            raise CommandError(sentence) from error
        except DatabaseError as error:
            trouble = trouble_of(error) or f"The database refused: {str(error).splitlines()[0]}"
            raise CommandError(trouble) from error
        try:
            if options["json"]:
                self.stdout.write(json.dumps(plain(result), ensure_ascii=False))
            else:
                self.say(result)
            self.stdout.flush()
        except BrokenPipeError:  # whoever reads has seen enough; nothing is to be said at the interpreter's end either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if sentence := self.failure(result):
            raise CommandError(sentence)

    def work(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    def say(self, result: Any) -> None:
        for name, value in plain(result).items():
            self.say_of(name, value)

    def say_of(self, name: str, value: Any) -> None:
        for line in _lines(name, value):
            self.stdout.write(line)

    def failure(self, result: Any) -> str:
        return ""

    def note(self, message: str) -> None:
        self.stderr.write(message)


def _lines(name: str, value: Any) -> list[str]:
    """Return what a person reads of a value: counts by name stand in one line, other values by name each in one of
    their own."""
    if not isinstance(value, Mapping):
        return [f"{name}: {_plain(value)}"]
    if all(isinstance(number, int) and not isinstance(number, bool) for number in value.values()):
        return [f"{name}: {', '.join(f'{count:,} {_worded(what)}' for what, count in value.items()) or 'none'}"]
    return [f"{name}:", *(f"  {line}" for what, item in value.items() for line in _lines(_worded(what), item))]


def _plain(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _worded(name: object) -> str:
    return str(name).replace("_", " ")
