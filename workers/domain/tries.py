"""The result of trying an endpoint by one short question, as its row keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.plain import WHERE_THERE_IS_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """What a try showed to be supported; None for what was not asked for."""

    temperature: bool | None = None
    json_schema: bool | None = None
    reasons: bool | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Supported:
        return cls(
            temperature=kept.get("temperature"), json_schema=kept.get("json_schema"), reasons=kept.get("reasons")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTry:
    """Whether answers are held to a JSON schema, a sentence, and the beginning of the answer."""

    held: bool
    told: str
    said: str = ""

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> SchemaTry:
        return cls(held=kept["held"], told=kept["told"], said=kept.get("said", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of a try. Where it is `ok`, `said` is the beginning of the answer, and the others came along with it;
    else it is the sentence of an error of this `kind`."""

    ok: bool
    said: str
    kind: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    model: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    seconds: float | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    input: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    output: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    stop: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    problem: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    supported: Supported | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    schema: SchemaTry | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Tried:
        """Return the result that `core.plain.plain` made JSON of."""
        supported, schema = kept.get("supported"), kept.get("schema")
        return cls(
            ok=kept["ok"],
            said=kept["said"],
            kind=kept.get("kind"),
            model=kept.get("model"),
            seconds=kept.get("seconds"),
            input=kept.get("input"),
            output=kept.get("output"),
            stop=kept.get("stop"),
            problem=kept.get("problem"),
            supported=Supported.from_json(supported) if supported else None,
            schema=SchemaTry.from_json(schema) if schema else None,
        )
