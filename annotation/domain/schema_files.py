"""Read a label schema from a JSON file; the first mistake ends it, with one sentence that names file, place and what
was expected."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from annotation.domain.schema import CHECKS, Check, Dimension, Label, Schema
from core.duplicates import first_duplicate
from core.incoming.misfit import Misfit, Wrong, refusal
from core.incoming.shapes import Among, Counted, Like, Printable, Shape, Within
from core.incoming.text import NotJson, json_of
from core.plain import Json

MAX_BYTES = 1_000_000
MAX_DIMENSIONS = 20
RESERVED = ("story_id", "position", "actor", "belief", "labels", "overall")
"""Names of other columns beside which dimensions are written."""


class BadSchema(ValueError):
    """The file does not hold a usable schema; the message is one sentence."""


def read_schema(raw: bytes, file: str) -> Schema:
    """Return the schema that a file holds. Raises BadSchema."""
    if len(raw) > MAX_BYTES:
        raise BadSchema(f"{file}: the file is larger than {MAX_BYTES // 1_000_000} MB; expected one label schema.")
    try:
        document = json_of(raw)
    except NotJson as error:
        raise BadSchema(error.message_for(file)) from error
    return schema_of_document(document, file)


def schema_of_document(document: Any, file: str) -> Schema:
    """Return the schema that a JSON object describes; `file` is named where it does not. Raises BadSchema."""
    try:
        described = _Document.of(document)
        dimensions = tuple(row.dimension for row in described.dimensions)
        schema = Schema(described.name, described.version, described.title, dimensions)
        return replace(schema, checks=tuple(_check(row, at, schema) for at, row in enumerate(described.checks)))
    except Misfit as error:
        raise BadSchema(error.message_for(file)) from error


def document_of(schema: Schema) -> Json:
    """Return the JSON object that `schema_of_document` reads back as an equal schema."""
    texts = ("key", "name", "short", "question")
    dimensions = [
        {name: getattr(dimension, name) for name in texts} | {"labels": [asdict(label) for label in dimension.labels]}
        for dimension in schema.dimensions
    ]
    checks = []
    for check in schema.checks:
        beside = check.beside and {"with": {"dimension": check.beside[0], "labels": list(check.beside[1])}}
        about = {"check": check.kind, "dimension": check.dimension, "labels": list(check.labels)}
        checks.append(about | (beside or {}) | {"message": check.message})
    head = {"name": schema.name, "version": schema.version, "title": schema.title}
    return head | {"dimensions": dimensions, "checks": checks}


Name = Annotated[str, Like(r"^[a-z][a-z0-9-]{0,39}$", "1 to 40 small letters, digits and hyphens, a letter first")]
Version = Annotated[
    str, Like(r"^[A-Za-z0-9][A-Za-z0-9.-]{0,19}$", "a text of 1 to 20 letters, digits, dots and hyphens")
]
Key = Annotated[str, Like(r"^[a-z][a-z0-9_]{0,19}$", "1 to 20 small letters, digits and underscores, a letter first")]
Text12 = Annotated[str, Printable(12)]
Text40 = Annotated[str, Printable(40)]
Text60 = Annotated[str, Printable(60)]
Text200 = Annotated[str, Printable(200)]
Text300 = Annotated[str, Printable(300)]


def _once(rows: list[Any], *names: str) -> list[Any]:
    """Return `rows`; raise where two have equal `names`: letter case does not tell labels apart."""
    for name in names:
        _differ((getattr(row, name) for row in rows), {"value": "label"}.get(name, name))
    return rows


def _differ(values: Iterable[Any], what: str) -> None:
    twice = first_duplicate(value.lower() if isinstance(value, str) else value for value in values)
    if twice is not None:
        raise refusal(f"another {what} for each", f"the {what} {twice!r} occurs twice")


class _Label(Shape):
    value: Text40
    digit: Annotated[int, Within(0, 9, "a digit from 0 to 9, the key that chooses the label")]
    meaning: Text300


class _Dimension(Shape):
    key: Key
    name: Text40
    short: Text12
    question: Text300
    labels: Annotated[list[_Label], Counted(2, 10)]

    @field_validator("key")
    @classmethod
    def _is_free(cls, key: str) -> str:
        if key in RESERVED:
            raise refusal("another key", f"{key} is the name of another column of exports")
        return key

    @field_validator("labels")
    @classmethod
    def _labels_differ(cls, labels: list[_Label]) -> list[_Label]:
        return _once(labels, "value", "digit")

    @property
    def dimension(self) -> Dimension:
        labels = tuple(Label(label.value, label.digit, label.meaning) for label in self.labels)
        return Dimension(self.key, self.name, self.short, self.question, labels)


class _Document(Shape):
    name: Name
    version: Version
    title: Text60
    dimensions: Annotated[list[_Dimension], Counted(1, MAX_DIMENSIONS)]
    checks: Annotated[list[Any], Counted(0, 100)]

    @field_validator("dimensions")
    @classmethod
    def _dimensions_differ(cls, dimensions: list[_Dimension]) -> list[_Dimension]:
        return _once(dimensions, "key", "name", "short")


def _of_the_schema(key: Any, info: ValidationInfo) -> Any:
    return _one_of(key, _schema(info).keys)


def _of_the_dimension(label: Any, info: ValidationInfo) -> Any:
    return _one_of(label, _legal(info)) if "dimension" in info.data else label


def _one_of(value: Any, legal: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in legal:
        raise refusal(f"one of {', '.join(legal)}")
    return value


def _legal(info: ValidationInfo) -> tuple[str, ...]:
    return _schema(info)[info.data["dimension"]].values


def _schema(info: ValidationInfo) -> Schema:
    schema: Schema = (info.context or {})["schema"]
    return schema


class _Cells(Shape):
    """Labels of a dimension of the context's `schema`."""

    dimension: Annotated[str, BeforeValidator(_of_the_schema)]
    labels: list[Annotated[str, BeforeValidator(_of_the_dimension)]]

    @field_validator("labels", mode="before")
    @classmethod
    def _as_many_as_there_are(cls, labels: Any, info: ValidationInfo) -> Any:
        most = len(_legal(info)) if "dimension" in info.data else 10
        if not isinstance(labels, list) or not 1 <= len(labels) <= most:
            raise refusal(
                f"a list of 1 to {most}", f"it is a list of {len(labels)}" if isinstance(labels, list) else ""
            )
        return labels

    @field_validator("labels")
    @classmethod
    def _labels_differ(cls, labels: list[str]) -> list[str]:
        _differ(labels, "label")
        return labels


class _OneCheck(_Cells):
    check: Annotated[str, Among(tuple(CHECKS))]
    message: Text200


class _PairCheck(_OneCheck):
    """A check that looks at two dimensions."""

    beside: _Cells = Field(alias="with")

    @field_validator("beside")
    @classmethod
    def _is_another(cls, beside: _Cells, info: ValidationInfo) -> _Cells:
        if beside.dimension == info.data.get("dimension"):
            raise refusal("another dimension", f"it is the same dimension, {beside.dimension}")
        return beside


def _check(value: Any, at: int, schema: Schema) -> Check:
    """Return the cross-check at position `at` of the document. Raises Misfit."""
    if not isinstance(value, dict) or "check" not in value:
        place, expected = f"checks[{at}]", f"an object whose check is one of {', '.join(CHECKS)}"
        raise Misfit([Wrong(place, place, "the field check is missing", expected)])
    shape = _PairCheck if value["check"] == "not_together" else _OneCheck
    described = shape.of(value, start=("checks", at), schema=schema)
    beside = (described.beside.dimension, tuple(described.beside.labels)) if isinstance(described, _PairCheck) else None
    return Check(described.check, described.dimension, tuple(described.labels), described.message, beside)
