from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.domain.corpus_files import lines_of
from benchmark.suites.answers import BadAnswers
from benchmark.suites.omnitom.judge_alignment import align
from benchmark.suites.omnitom.judge_tables import JudgedRow, read_judgement
from benchmark.suites.omnitom.pipe_tables import extraction_rows, label_rows
from benchmark.suites.omnitom.records import object_of_line
from core.incoming.shapes import Open
from core.incoming.text import NotJson, json_of
from core.management.json_command import JsonCommand

Rows = list[tuple[str, str]]


class Command(JsonCommand):
    help = "Prints, line by line, what official parsing makes of raw model texts."

    def add_arguments(self, parser) -> None:
        parser.add_argument("kind", choices=["extract", "label", "judge"])
        parser.add_argument("file", type=Path, metavar="FILE.jsonl", help="""each line {"id", "text"}""")
        for side, rows in (("pred", "predicted"), ("gold", "gold")):
            told = f"judge: JSON [[actor, belief], …] of the {rows} rows, or an object of such lists by id"
            parser.add_argument(f"--{side}", type=Path, metavar="FILE", help=told)

    def handle(self, *args, **options) -> None:
        # A line a text is this command's output with --json and without.
        super().handle(*args, **{**options, "json": False})

    def work(self, **options) -> list[dict]:
        path, sides = options["file"], [options["pred"], options["gold"]]
        if options["kind"] != "judge" and any(sides):
            raise ValueError("--pred and --gold are for judge.")
        for one in filter(None, [path, *sides]):
            if not one.exists():
                raise ValueError(f"There is no file {one}.")
            if one.is_dir():
                raise ValueError(f"{one} is a folder; expected a file.")
        parse = _parser(options["kind"], [_given(one) if one else None for one in sides])
        with path.open("rb") as handle:
            found = [_parsed(raw, parse, f"{path}, line {number}: ") for number, raw in lines_of(handle)]
        if not any(found):
            raise ValueError(f"{path} holds no text; expected a JSON object on each line.")
        return found

    def say(self, result: list[dict]) -> None:
        for line in filter(None, result):
            self.stdout.write(json.dumps(line))


def _parsed(raw: bytes | None, parse: Callable[[Any, str], dict], where: str) -> dict | None:
    try:
        value = object_of_line(raw)
        return None if value is None else _Text.of(value).parsed(parse)
    except ValueError as error:
        raise ValueError(f"{where}{error}") from error


class _Text(Open):
    """A raw answer of a model, under whatever name."""

    id: Any
    text: str

    def parsed(self, parse: Callable[[Any, str], dict]) -> dict:
        return {"id": self.id, **parse(self.id, self.text)}


def _parser(kind: str, given: Sequence[Callable[[Any], Rows] | None]) -> Callable[[Any, str], dict]:
    if kind == "extract":
        return lambda _, text: {"rows": extraction_rows(text)}
    if kind == "label":
        return lambda _, text: {"rows": [row.cells() for row in label_rows(text)]}

    def judge(story: Any, text: str) -> dict:
        found = read_judgement(text)
        pred, gold = (
            _counted(rows(story), judged) if rows else [row.keyed() for row in judged]
            for rows, judged in zip(given, (found.predictions, found.gold), strict=True)
        )
        return {"pred": pred, "gold": gold}

    return judge


def _counted(rows: Rows, judged: Sequence[JudgedRow]) -> list[list]:
    return [[*row, count] for row, count in zip(rows, align(rows, judged), strict=True)]


def _given(path: Path) -> Callable[[Any], Rows]:
    """The rows of a file by id: one list for every text, or a list for each id."""
    try:
        value = json_of(path.read_bytes())
    except NotJson as error:
        raise BadAnswers(error.told(str(path))) from error
    if isinstance(value, Mapping):
        by_id = {name: _rows(rows, path) for name, rows in value.items()}
        return lambda story: _of(by_id, str(story), path)
    rows = _rows(value, path)
    return lambda story: rows


def _of(by_id: Mapping[str, Rows], story: str, path: Path) -> Rows:
    if story not in by_id:
        raise BadAnswers(f"{path} has no rows for the id {story[:60]!r}.")
    return by_id[story]


def _rows(value: Any, path: Path) -> Rows:
    wrong = not isinstance(value, list) or not all(
        isinstance(row, list) and len(row) >= 2 and all(isinstance(cell, str) for cell in row[:2]) for row in value
    )
    if wrong:
        raise BadAnswers(f"{path}: expected a list of [actor, belief].")
    return [(row[0], row[1]) for row in value]
