"""Reads a label schema from a JSON file; the first mistake ends it, with one sentence that names file, place and what was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from annotation.domain.duplicates import first_duplicate
from annotation.domain.schema import CHECKS, Check, Dimension, Label, Schema

T = TypeVar("T")

MAX_BYTES = 1_000_000
MAX_DIMENSIONS = 20
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,19}")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,19}")
RESERVED = ("story_id", "position", "actor", "belief", "labels", "overall")
"""Names of other columns beside which dimensions are written."""


class BadSchema(ValueError):
    """The file holds no schema that can be used; one sentence."""


def read_schema(raw: bytes, file: str) -> Schema:
    """Return the schema that a file holds. Raises BadSchema."""
    if len(raw) > MAX_BYTES:
        raise BadSchema(f"{file}: the file is larger than {MAX_BYTES // 1_000_000} MB; expected one label schema.")
    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise BadSchema(f"{file}: byte {error.start} is not UTF-8; expected JSON in UTF-8.") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadSchema(f"{file}, {place}: the file is not JSON; expected one JSON object.") from error
    except RecursionError as error:
        raise BadSchema(f"{file}: the JSON is nested too deeply; expected one label schema.") from error
    except _Twice as error:
        raise BadSchema(
            f"{file}: the field {str(error)[:60]!r} occurs twice in one object; expected it once."
        ) from error
    return schema_of_document(document, file)


def schema_of_document(document: Any, file: str) -> Schema:
    """Return the schema that a JSON object describes; `file` is named where it does not. Raises BadSchema."""
    whole = _Place(file, "", document).object("name", "version", "title", "dimensions", "checks")
    dimensions = whole["dimensions"].each(_dimension, 1, MAX_DIMENSIONS)
    for what in ("key", "name", "short"):
        whole["dimensions"].once([getattr(one, what) for one in dimensions], what)
    schema = Schema(
        name=whole["name"].matching(_NAME, "1 to 40 small letters, digits and hyphens, a letter first"),
        version=whole["version"].matching(_VERSION, "a text of 1 to 20 letters, digits, dots and hyphens"),
        title=whole["title"].text(60),
        dimensions=tuple(dimensions),
    )
    checks = whole["checks"].each(lambda place: _check(place, schema), 0, 100)
    return Schema(schema.name, schema.version, schema.title, schema.dimensions, tuple(checks))


def document_of(schema: Schema) -> dict[str, Any]:
    """Return the JSON object that `schema_of_document` reads back as an equal schema."""
    return {
        "name": schema.name,
        "version": schema.version,
        "title": schema.title,
        "dimensions": [
            {
                "key": one.key,
                "name": one.name,
                "short": one.short,
                "question": one.question,
                "labels": [{"value": it.value, "digit": it.digit, "meaning": it.meaning} for it in one.labels],
            }
            for one in schema.dimensions
        ],
        "checks": [_check_document(one) for one in schema.checks],
    }


def _check_document(check: Check) -> dict[str, Any]:
    document: dict[str, Any] = {"check": check.kind, "dimension": check.dimension, "labels": list(check.labels)}
    if check.beside is not None:
        document["with"] = {"dimension": check.beside[0], "labels": list(check.beside[1])}
    return document | {"message": check.message}


class _Twice(ValueError):
    """A field that occurs twice; its name."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice(first_duplicate(name for name, _ in pairs))
    return found


class _Place:
    """A value of the file, and where it stands there, such as dimensions[2].key. What it is not raises BadSchema."""

    def __init__(self, file: str, where: str, value: Any) -> None:
        self.file, self.where, self.value = file, where, value

    def refuse(self, found: str, expected: str) -> NoReturn:
        place = f", {self.where}" if self.where else ""
        raise BadSchema(f"{self.file}{place}: {found}; expected {expected}.")

    def object(self, *names: str) -> dict[str, _Place]:
        """The fields, all of `names` and no others."""
        if not isinstance(self.value, dict):
            self.refuse(f"it is {_kind(self.value)}", f"an object with {', '.join(names)}")
        for name in (*self.value, *names):
            if name not in names:
                self.refuse(f"there is no field {name[:60]!r}", f"only {', '.join(names)}")
            if name not in self.value:
                self.refuse(f"the field {name} is missing", f"an object with {', '.join(names)}")
        start = f"{self.where}." if self.where else ""
        return {name: _Place(self.file, start + name, self.value[name]) for name in names}

    def each(self, read: Callable[[_Place], T], least: int, most: int) -> list[T]:
        if not isinstance(self.value, list) or not least <= len(self.value) <= most:
            found = f"a list of {len(self.value)}" if isinstance(self.value, list) else _kind(self.value)
            self.refuse(f"it is {found}", f"a list of {least} to {most}")
        return [read(_Place(self.file, f"{self.where}[{at}]", one)) for at, one in enumerate(self.value)]

    def once(self, found: Sequence[Any], what: str) -> None:
        """Refuses two that would be taken for one: letter case does not tell labels apart."""
        twice = first_duplicate(one.lower() if isinstance(one, str) else one for one in found)
        if twice is not None:
            self.refuse(f"the {what} {twice!r} occurs twice", f"another {what} for each")

    def text(self, most: int) -> str:
        value = self.value
        if not (isinstance(value, str) and 0 < len(value) <= most and value.isprintable() and value == value.strip()):
            self.refuse(
                f"it is {_kind(value)}", f"a text of 1 to {most} printable characters, without spaces around it"
            )
        return value

    def matching(self, pattern: re.Pattern[str], expected: str) -> str:
        if not isinstance(self.value, str) or not pattern.fullmatch(self.value):
            self.refuse(f"it is {_kind(self.value)}", expected)
        return self.value

    def digit(self) -> int:
        if type(self.value) is not int or not 0 <= self.value <= 9:
            self.refuse(f"it is {_kind(self.value)}", "a digit from 0 to 9, the key that chooses the label")
        return self.value

    def one_of(self, known: tuple[str, ...]) -> str:
        if not isinstance(self.value, str) or self.value not in known:
            self.refuse(f"it is {_kind(self.value)}", f"one of {', '.join(known)}")
        return self.value


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:60]) + (f" of {len(value)} characters" if len(value) > 60 else "")
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return str(value)[:40]
    return "an object" if isinstance(value, dict) else "a list"


def _dimension(place: _Place) -> Dimension:
    told = place.object("key", "name", "short", "question", "labels")
    key = told["key"].matching(_KEY, "1 to 20 small letters, digits and underscores, a letter first")
    if key in RESERVED:
        told["key"].refuse(f"{key} is the name of another column of exports", "another key")
    labels = told["labels"].each(_label, 2, 10)
    told["labels"].once([one.value for one in labels], "label")
    told["labels"].once([one.digit for one in labels], "digit")
    return Dimension(key, told["name"].text(40), told["short"].text(12), told["question"].text(300), tuple(labels))


def _label(place: _Place) -> Label:
    told = place.object("value", "digit", "meaning")
    return Label(told["value"].text(40), told["digit"].digit(), told["meaning"].text(300))


def _check(place: _Place, schema: Schema) -> Check:
    if not isinstance(place.value, dict) or "check" not in place.value:
        place.refuse("the field check is missing", f"an object whose check is one of {', '.join(CHECKS)}")
    kind = _Place(place.file, f"{place.where}.check", place.value["check"]).one_of(tuple(CHECKS))
    told = place.object("check", "dimension", "labels", *(["with"] if kind == "not_together" else []), "message")
    dimension, labels = _cells(told, schema)
    beside = _cells(told["with"].object("dimension", "labels"), schema) if "with" in told else None
    if beside is not None and beside[0] == dimension:
        told["with"].refuse(f"it is the same dimension, {dimension}", "another dimension")
    return Check(kind, dimension, labels, told["message"].text(200), beside)


def _cells(told: dict[str, _Place], schema: Schema) -> tuple[str, tuple[str, ...]]:
    dimension = told["dimension"].one_of(schema.keys)
    legal = schema[dimension].values
    labels = told["labels"].each(lambda place: place.one_of(legal), 1, len(legal))
    told["labels"].once(labels, "label")
    return dimension, tuple(labels)
