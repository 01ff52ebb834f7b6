"""The result of trying an endpoint by one short question, as its row keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.plain import Json, plain, read_as


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """Features that a try showed to be supported; None for what was not asked for."""

    temperature: bool | None = None
    json_schema: bool | None = None
    reasons: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTry:
    """Outcome of a try with a JSON schema: whether the endpoint holds its answers to it, a sentence, and the beginning
    of the answer."""

    holds: bool
    sentence: str
    beginning: str = ""

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> SchemaTry:
        return cls(holds=kept["held"], sentence=kept["told"], beginning=kept["said"])

    def as_json(self) -> Json:
        """{held, told, said}."""
        return {"held": self.holds, "told": self.sentence, "said": self.beginning}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of a try. Where it is `ok`, `text` is the beginning of the answer, and the others came along with it;
    else it is the sentence of an error of this `kind`."""

    ok: bool
    text: str
    kind: str | None = None
    model: str | None = None
    seconds: float | None = None
    input: int | None = None
    output: int | None = None
    stop: str | None = None
    problem: str | None = None
    supported: Supported | None = None
    schema: SchemaTry | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Tried:
        """Return the result that `as_json` made."""
        supported, schema = kept.get("supported"), kept.get("schema")
        return read_as(
            cls,
            kept,
            text=kept["said"],
            supported=supported and read_as(Supported, supported),
            schema=schema and SchemaTry.from_json(schema),
        )

    def as_json(self) -> Json:
        """{ok, said[, kind][, model, seconds, input, output, stop, problem, supported[, schema]]}."""
        names = ("kind", "model", "seconds", "input", "output", "stop", "problem", "supported", "schema")
        others = {name: plain(value) for name in names if (value := getattr(self, name)) is not None}
        return {"ok": self.ok, "said": self.text, **others}
