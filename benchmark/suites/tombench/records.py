"""One line of a ToMBench file, checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from benchmark.suites.copies import BadImport
from benchmark.suites.tombench.options import LETTERS, clean_option
from core.incoming.misfit import Misfit
from core.incoming.shapes import Filled, Open
from core.incoming.text import NotJson, json_of

ABILITY, ANSWER = "能力\nABILITY", "答案\nANSWER"
FIELDS = {"en": ("STORY", "QUESTION", "OPTION-"), "zh": ("故事", "问题", "选项")}
"""By language: the fields of story and question, and what stands before the letter in those of the options."""
_CELL = re.compile(rf"\s*([{LETTERS}])\s*\.?\s*")


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of an item in one language; `options` in their original order, as raw as they are."""

    story: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One item: raw ability, raw answer cell, and its texts by language, with two or four options in all of them."""

    ability: str
    answer: str
    texts: Mapping[str, Text]

    @property
    def option_count(self) -> int:
        return len(self.texts["zh"].options)


def read_record(where: str, line: bytes) -> Record:
    """Read one line; `where` names file and line in the sentences. Raises BadImport.

    The bare token NaN stands for an option that does not exist. The Chinese option C decides whether there are two or
    four, as in the released code: one English item has four where the Chinese has two, and loses two of them.
    """
    try:
        value = json_of(line, nan=True)
        item, by_language = _Item.of(value), {name: shape.of(value) for name, shape in _BY_LANGUAGE.items()}
    except NotJson as error:
        raise BadImport(f"{where}, {error.with_line()}" if error.line else f"{where}: {error}") from error
    except Misfit as error:
        raise BadImport(error.message_for(where)) from error
    count = 2 if by_language["zh"].c is None else 4
    texts = {language: _text(where, fields, language, count) for language, fields in by_language.items()}
    cell = _CELL.fullmatch(item.answer)
    if cell is None or cell[1] not in LETTERS[:count]:
        raise BadImport(
            f"{where}: the answer is {item.answer[:40]!r}; expected a letter from A to {LETTERS[count - 1]}."
        )
    return Record(item.ability, item.answer, texts)


def _missing(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


Option = Annotated[Filled | None, BeforeValidator(_missing)]
"""None for an option that does not exist."""


class _Item(Open):
    ability: Annotated[Filled, Field(alias=ABILITY)]
    answer: Annotated[Filled, Field(alias=ANSWER)]


class _InOneLanguage(Open):
    story: Filled
    question: Filled
    a: Option
    b: Option
    c: Option
    d: Option


def _named(language: str) -> Callable[[str], str]:
    """The names of the fields in a language."""
    story, question, prefix = FIELDS[language]
    names = {"story": story, "question": question} | {letter.lower(): prefix + letter for letter in LETTERS}
    return names.__getitem__


class _English(_InOneLanguage):
    model_config = ConfigDict(alias_generator=_named("en"))


class _Chinese(_InOneLanguage):
    model_config = ConfigDict(alias_generator=_named("zh"))


_BY_LANGUAGE: Mapping[str, type[_InOneLanguage]] = {"en": _English, "zh": _Chinese}


def _text(where: str, fields: _InOneLanguage, language: str, count: int) -> Text:
    prefix, options = FIELDS[language][2], (fields.a, fields.b, fields.c, fields.d)
    if (fields.c is None) != (fields.d is None):
        raise BadImport(f"{where}: only one of {prefix}C and {prefix}D is missing; expected both or neither.")
    for letter, option in zip(LETTERS, options, strict=True):
        if option is not None and not clean_option(option, letter):
            raise BadImport(f"{where}: {prefix}{letter} holds a letter without a text.")
    present = tuple(option for option in options[:count] if option is not None)
    if len(present) < count:
        missing = next(letter for letter, option in zip(LETTERS, options, strict=True) if option is None)
        raise BadImport(f"{where}: {prefix}{missing} is missing; expected {count} options.")
    return Text(fields.story, fields.question, present)
