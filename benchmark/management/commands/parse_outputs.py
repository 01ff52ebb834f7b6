import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from benchmark.suites.answers import BadAnswers, Parser, Row
from benchmark.suites.registry import parsers
from core.incoming.json_lines import lines_of, object_of_line
from core.incoming.shapes import Open
from core.incoming.text import NotJson, json_of, unwritable
from core.management.json_command import JsonCommand

Line = Mapping[str, object]
"""The id of a text, and what official parsing makes of it; empty for a blank line."""
Given = Mapping[str, Callable[[Any], list[Row]]]
"""What the rows beside the text of an id are, by option."""


class Command(JsonCommand):
    help = "Prints, line by line, what official parsing makes of raw model texts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=list(parsers()))
        parser.add_argument("file", type=Path, metavar="FILE.jsonl", help="""each line {"id", "text"}""")
        for option, kinds in _options().items():
            what = "; ".join(f"{kind}: {parsers()[kind].options[option]}" for kind in kinds)
            parser.add_argument(
                f"--{option}", type=Path, metavar="FILE", help=f"{what}, or an object of such lists by id"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        # A line a text is this command's output with --json and without.
        super().handle(*args, **{**options, "json": False})

    def work(self, **options: Any) -> list[Line]:
        path, parser = options["file"], parsers()[options["kind"]]
        files = {name: options[name] for name in _options() if options[name]}
        if foreign := [option for option in files if option not in parser.options]:
            kinds = _options()[foreign[0]]
            alike = [f"--{option}" for option, owners in _options().items() if owners == kinds]
            raise ValueError(f"{' and '.join(alike)} {'are' if len(alike) > 1 else 'is'} for {' and '.join(kinds)}.")
        for file in (path, *files.values()):
            if not file.exists():
                raise ValueError(f"There is no file {file}.")
            if file.is_dir():
                raise ValueError(f"{file} is a folder; expected a file.")
        given = {name: _given(file, parser.columns) for name, file in files.items()}
        with path.open("rb") as handle:
            lines = [_parsed(raw, parser, given, f"{path}, line {number}: ") for number, raw in lines_of(handle)]
        if not any(lines):
            raise ValueError(f"{path} holds no text; expected a JSON object on each line.")
        return lines

    def say(self, result: list[Line]) -> None:
        for line in filter(None, result):
            self.stdout.write(json.dumps(line))


def _options() -> dict[str, list[str]]:
    """Return the options for tables beside a text, with the kinds that have each."""
    kinds_by_option: dict[str, list[str]] = {}
    for kind, parser in parsers().items():
        for option in parser.options:
            kinds_by_option.setdefault(option, []).append(kind)
    return kinds_by_option


def _parsed(raw: bytes | None, parser: Parser, given: Given, where: str) -> Line:
    """Return the parsed line, empty for a blank one."""
    try:
        value = object_of_line(raw, nan=True, unfit=unwritable)
        if value is None:
            return {}
        text = _Text.of(value)
        return {"id": text.id, **parser.parse(text.text, {name: rows(text.id) for name, rows in given.items()})}
    except ValueError as error:
        raise ValueError(f"{where}{error}") from error


class _Text(Open):
    """A raw answer of a model, under whatever name."""

    id: Any
    text: str


def _given(path: Path, columns: Row) -> Callable[[Any], list[Row]]:
    """Return the rows of a file by id: one list for every text, or a list for each id."""
    try:
        value = json_of(path.read_bytes())
    except NotJson as error:
        raise BadAnswers(error.message_for(str(path))) from error
    if isinstance(value, Mapping):
        by_id = {name: _rows(rows, path, columns) for name, rows in value.items()}

        def rows_of(text_id: Any) -> list[Row]:
            if str(text_id) not in by_id:
                raise BadAnswers(f"{path} has no rows for the id {str(text_id)[:60]!r}.")
            return by_id[str(text_id)]

        return rows_of
    rows = _rows(value, path, columns)
    return lambda text_id: rows


def _rows(value: Any, path: Path, columns: Row) -> list[Row]:
    width = len(columns)
    wrong = not isinstance(value, list) or not all(
        isinstance(row, list) and len(row) >= width and all(isinstance(cell, str) for cell in row[:width])
        for row in value
    )
    if wrong:
        raise BadAnswers(f"{path}: expected a list of [{', '.join(columns)}].")
    return [tuple(row[:width]) for row in value]
