"""Prompts: a system and a user prompt, from the texts in `prompts/`.

A set has the files `<method>-<language>.txt`, the system prompt with `{letters}`, and `user-<language>.txt` with
`{story}`, `{question}` and `{options}`. The wording is our own; headings, order and the form of the answer are those of
the released code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.methods.contract import Answering, Put
from benchmark.methods.program import digest_of
from benchmark.suites.tombench.data import LETTERS, Item, OfferedOptions

PROMPT_SET = "tombench-1"
"""The name of the texts; a changed wording is a new set."""
DIRECT, COT = "direct", "cot"
METHODS = (DIRECT, COT)
"""Only the letter; or reasoning step by step, then the letter."""
_FOLDER = Path(__file__).parent / "prompts" / PROMPT_SET
HOW_AFTER = {
    "en": "There, write the letter of your option between double square brackets, in the form [[letter]].",
    "zh": "在这一行把所选选项的字母写在双层方括号里，形式为 [[字母]]。",
}
"""What follows the instruction to write a last line."""
_CHOICE = {"en": (", ", " or "), "zh": ("、", " 或 ")}


@dataclass(frozen=True, slots=True)
class Prompt:
    """The two messages of one try."""

    system: str
    user: str


def render_prompt(item: Item, displayed: OfferedOptions, *, method: str = DIRECT) -> Prompt:
    """Return the prompt of an item with its options as they are shown, in the item's language.

    The system prompt names the letters that the item has, two or four. Raises ValueError for a method that is not one
    of METHODS.
    """
    lines = [f"{letter}. {text}" for letter, text in zip(LETTERS, displayed.texts, strict=False)]
    texts = {"story": item.story.strip(), "question": item.question.strip(), "options": "\n".join(lines)}
    return Prompt(
        _fill(_template(_system_file(method, item.language)), {"letters": _choice(displayed.letters, item.language)}),
        _fill(_template(_user_file(item.language)), texts),
    )


def put_of(item: Item, displayed: OfferedOptions, person: str = "") -> Put:
    """Return the question with its options as they are shown, as methods put it; `person` is through whose eyes it
    looks, empty where nobody's."""
    alone, reasoning = (render_prompt(item, displayed, method=method) for method in METHODS)
    story, start = item.story.strip(), _template(_user_file(item.language)).index("{story}")
    return Put(
        story=story,
        question=item.question,
        how="",
        how_after=HOW_AFTER[item.language],
        people=(person,) if person else (),
        language=item.language,
        frame=(alone.user[:start], alone.user[start + len(story) :]),
        answering=Answering(alone.system, reasoning.system),
    )


def prompt_digest(method: str, language: str) -> str:
    """Return the SHA-256, in hexadecimal digits, of all wording that enters a prompt of a method and a language.

    Raises ValueError for a method that is not one of METHODS.
    """
    texts = (_template(_system_file(method, language)), _template(_user_file(language)))
    return digest_of(*texts)


def _system_file(method: str, language: str) -> str:
    if method not in METHODS:
        raise ValueError(f"There is no method {method!r}; expected one of {', '.join(METHODS)}.")
    return f"{method}-{language}.txt"


def _user_file(language: str) -> str:
    return f"user-{language}.txt"


@cache
def _template(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip()


def _fill(template: str, texts: Mapping[str, str]) -> str:
    """The template with its placeholders filled in one pass, so that braces in a story stay what they are."""
    return re.sub(r"\{(\w+)\}", lambda match: texts[match[1]], template)


def _choice(letters: str, language: str) -> str:
    """`A, B, C or D`, in the words of the language."""
    comma, last = _CHOICE[language]
    return comma.join(letters[:-1]) + last + letters[-1]
