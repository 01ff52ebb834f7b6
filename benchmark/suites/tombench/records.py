"""One line of a ToMBench file, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.duplicates import first_duplicate
from benchmark.suites.tombench.options import LETTERS, clean_option

ABILITY, ANSWER = "能力\nABILITY", "答案\nANSWER"
FIELDS = {"en": ("STORY", "QUESTION", "OPTION-"), "zh": ("故事", "问题", "选项")}
"""By language: the fields of story and question, and what stands before the letter in those of the options."""
_CELL = re.compile(rf"\s*([{LETTERS}])\s*\.?\s*")


class BadToMBench(ValueError):
    """What is wrong with a copy of ToMBench, as one sentence that names the file and, where there is one, the line."""


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
    """Read one line; `where` names file and line in the sentences. Raises BadToMBench.

    The bare token NaN stands for an option that does not exist. The Chinese option C decides whether there are two or four, as in the
    released code: one English item has four where the Chinese has two, and loses two of them.
    """
    found = _object(where, line)
    count = 2 if _option(where, found, "zh", "C") is None else 4
    texts = {language: _text(where, found, language, count) for language in FIELDS}
    answer = _filled(where, found, ANSWER)
    cell = _CELL.fullmatch(answer)
    if cell is None or cell[1] not in LETTERS[:count]:
        raise BadToMBench(f"{where}: the answer is {answer[:40]!r}; expected a letter from A to {LETTERS[count - 1]}.")
    return Record(_filled(where, found, ABILITY), answer, texts)


def _object(where: str, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_constant, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise BadToMBench(f"{where} is not UTF-8 (byte {error.start}).") from error
    except BadToMBench as error:
        raise BadToMBench(f"{where}: {error}") from error
    except json.JSONDecodeError as error:
        raise BadToMBench(f"{where} is not valid JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:
        raise BadToMBench(f"{where} cannot be read as JSON.") from error
    if not isinstance(found, dict):
        raise BadToMBench(f"{where} is not a JSON object.")
    return found


def _constant(token: str) -> None:
    if token != "NaN":
        raise BadToMBench(f"{token} is not a value here; expected texts, or NaN for an option that is missing.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = first_duplicate(name for name, _ in pairs)
    if twice is not None:
        raise BadToMBench(f"the field {twice[:60]!r} occurs twice.")
    return dict(pairs)


def _text(where: str, found: Mapping[str, Any], language: str, count: int) -> Text:
    story, question, prefix = FIELDS[language]
    options = [_option(where, found, language, letter) for letter in LETTERS]
    if (options[2] is None) != (options[3] is None):
        raise BadToMBench(f"{where}: only one of {prefix}C and {prefix}D is missing; expected both or neither.")
    held = tuple(option for option in options[:count] if option is not None)
    if len(held) < count:
        missing = next(letter for letter, option in zip(LETTERS, options, strict=True) if option is None)
        raise BadToMBench(f"{where}: {prefix}{missing} is missing; expected {count} options.")
    return Text(_filled(where, found, story), _filled(where, found, question), held)


def _option(where: str, found: Mapping[str, Any], language: str, letter: str) -> str | None:
    """The raw text of an option, None where it is NaN."""
    field = FIELDS[language][2] + letter
    if field in found and found[field] is None:
        return None
    text = _filled(where, found, field)
    if not clean_option(text, letter):
        raise BadToMBench(f"{where}: {field} holds a letter without a text.")
    return text


def _filled(where: str, found: Mapping[str, Any], field: str) -> str:
    text = found.get(field)
    if not isinstance(text, str) or not text.strip():
        raise BadToMBench(f"{where}: {field.replace(chr(10), ' ')} is not a text; expected one that is not empty.")
    return text
