"""Sentences with an id and parameters, translated for each reader.

A `Sentence` is an English text that also has an id, which catalogues translate, and parameters:
`Sentence("{count} of {total} failed", count=3, total=9)`. A parameter that is a sentence is translated too; any other,
such as a name that somebody gave, is shown as it is. Columns keep ids and parameters (`stored`, `restored`, `as_text`,
`from_text`); the API and files have the English text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

SIGN = "="
"""Beginning of the keys that stored sentences have. Any other key that begins so is stored with one more of it, so that
nothing that somebody wrote is taken for a sentence."""
ID, PARAMETERS, TEXT = f"{SIGN}message", f"{SIGN}parameters", f"{SIGN}text"
MARK = f'{{"{ID}": '
"""Beginning of a sentence as a text, for a column or a key."""


class Sentence(str):
    """An English sentence with its id and parameters."""

    __slots__ = ("id", "parameters")
    id: str
    parameters: Mapping[str, str]

    def __new__(cls, id: str, /, **parameters: object) -> Sentence:
        texts = {name: str(value) for name, value in parameters.items()}
        return cls._made(id, texts)

    @classmethod
    def _made(cls, id: str, parameters: Mapping[str, str], spelling: str = "") -> Sentence:
        """Return the sentence as its id says it, or in another spelling. An id without parameters may have braces."""
        sentence = str.__new__(cls, spelling or (id.format(**parameters) if parameters else id))
        sentence.id, sentence.parameters = id, parameters
        return sentence

    def __str__(self) -> str:
        """Return the sentence itself, so that an error that was raised with it says it as one."""
        return self

    def __getitem__(self, key: Any) -> str:
        """Return a part of the text; the sentence itself where nothing is cut off."""
        part = super().__getitem__(key)
        return self if len(part) == len(self) else part

    def format(self, **parameters: object) -> Sentence:  # type: ignore[override]  # a place has a name
        """Return the sentence of this id with these parameters."""
        return Sentence(self.id, **parameters)

    def lower(self) -> Sentence:
        """Return the sentence in small letters; other languages have it as it is."""
        return self._made(self.id, self.parameters, super().lower())

    def capitalize(self) -> Sentence:
        """Return the sentence with a capital, the rest in small letters; other languages have it as it is."""
        return self._made(self.id, self.parameters, super().capitalize())

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence._made, (self.id, dict(self.parameters), "".join(self))


def gettext_noop(text: str) -> str:
    """Return a text as a message without parameters. It has the name by which gettext's tools find texts."""
    return Sentence(text)


class Refusal(ValueError):
    """An error whose text is one sentence for the person who asked. `field` names the field to change, if any."""

    def __init__(self, text: str, field: str = "", /, **parameters: object) -> None:
        super().__init__(text if isinstance(text, Sentence) else Sentence(text, **parameters))
        self.field = field


def noted(text: object, note: object) -> Sentence:
    """Return a text with a note in brackets: `6 rows (2 blank)`."""
    return Sentence("{text} ({note})", text=text, note=note)


def labelled(name: object, text: object) -> Sentence:
    """Return a name with what is said of it: `Order: how many minds`."""
    return Sentence("{name}: {text}", name=name, text=text)


def listed(parts: Iterable[object]) -> str:
    """Return the things that there are, one after the other: `first, second`."""
    return _in_a_row(_LIST, parts)


def clauses(*parts: object) -> str:
    """Return the clauses that there are as one sentence: `12 done; 3 left`."""
    return _in_a_row(_CLAUSES, parts)


def alternatives(*parts: object) -> str:
    """Return the clauses of which one or the other holds: `nothing is scored; or all are alike`."""
    return _in_a_row(_ALTERNATIVES, parts)


def facts(*parts: object) -> str:
    """Return the facts that there are side by side, with a dot between them: `Free text · level 2`."""
    return _in_a_row(_FACTS, parts)


def worded(name: object, value: object) -> Sentence:
    """Return a name with its value after it: `level 2`, `the call failed 3`."""
    return Sentence("{name} {value}", name=word(str(name)), value=value)


def quantity(count: int, singular: str, plural: str) -> Sentence:
    """Return a number with its noun: `1 row`, `2,860 rows`."""
    return Sentence("{count} {noun}", count=f"{count:,}", noun=word(singular if count == 1 else plural))


def sentences(*parts: object) -> str:
    """Return the sentences that there are, one after the other."""
    return _in_a_row(_SENTENCES, parts)


def capitalised(text: str) -> str:
    """Return a text with a capital first letter."""
    return _spelt(text, text[:1].upper() + text[1:])


def uncapitalised(text: str) -> str:
    """Return a text with a small first letter, as it stands within a sentence."""
    return _spelt(text, text[:1].lower() + text[1:])


def as_sentence(clause: str) -> Sentence:
    """Return a clause as a sentence of its own: with a capital and a full stop."""
    return Sentence("{text}.", text=capitalised(clause))


def _spelt(text: str, spelling: str) -> str:
    return Sentence._made(text.id, text.parameters, spelling) if isinstance(text, Sentence) else spelling


_LIST, _CLAUSES = Sentence("{first}, {second}"), Sentence("{first}; {second}")
_SENTENCES, _FACTS = Sentence("{first} {second}"), Sentence("{first} · {second}")
_ALTERNATIVES = Sentence("{first}; or {second}")


def _in_a_row(form: Sentence, parts: Iterable[object]) -> str:
    texts = [text for text in map(str, parts) if text]
    return reduce(lambda first, second: form.format(first=first, second=second), texts[1:], texts[0]) if texts else ""


def word(text: str) -> Sentence:
    """Return a word of the product, such as the name of a parse or a unit, that is translated where it stands in a
    sentence."""
    return text if isinstance(text, Sentence) else Sentence(text)


def stored(value: Any) -> Any:
    """Return a value of JSON with each sentence as an object of its id and parameters, and as a key as a text."""
    if isinstance(value, Sentence):
        body = {ID: value.id} | ({PARAMETERS: stored(value.parameters)} if value.parameters else {})
        return body if Sentence._made(value.id, value.parameters) == value else body | {TEXT: "".join(value)}
    if isinstance(value, Mapping):
        return {_as_key(name): stored(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [stored(item) for item in value]
    return value


def restored(value: Any) -> Any:
    """Return what `stored` was given, with its sentences; tuples are lists."""
    if isinstance(value, dict):
        if ID in value:
            return Sentence._made(value[ID], restored(value.get(PARAMETERS, {})), value.get(TEXT, ""))
        return {
            (from_text(name) if name.startswith(MARK) else name.removeprefix(SIGN)): restored(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [restored(item) for item in value]
    return value


def as_text(value: str) -> str:
    """Return a sentence, or a text that somebody wrote, as a text for a column: itself where it says all."""
    says_more = isinstance(value, Sentence) and value != value.id
    if not says_more and not value.startswith(MARK):
        return value
    return json.dumps(stored(value if says_more else Sentence("{text}", text="".join(value))), ensure_ascii=False)


def from_text(text: str) -> Sentence:
    """Return the sentence of a column; a text that somebody wrote is a sentence that no catalogue has."""
    return restored(json.loads(text)) if text.startswith(MARK) else word(text)


def _as_key(name: Any) -> Any:
    text = as_text(name) if isinstance(name, str) else name
    return SIGN + text if isinstance(text, str) and text.startswith(SIGN) else text
