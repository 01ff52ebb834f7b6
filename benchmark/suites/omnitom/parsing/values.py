"""Labels as a person reads them: decorations come off, a label is never guessed."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from annotation.domain.schema import Dimension
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA, Scheme, canonical
from core.incoming.embedded_json import plain_name, values_in
from core.plain import Json
from core.texts import storable
from judge.domain.text import normalise_space

_DROPPED = dict.fromkeys(map(ord, '"“”„«»`*\\\u200b\u200c\u200d\u2060\ufeff'))
_ALIKE = str.maketrans({"’": "'", "‘": "'", "‛": "'", "–": "-", "—": "-"})
_AROUND_PIPE = re.compile(r"\s*\|\s*")
_OUTER = " '.。_"


def fold(text: str) -> str:
    """`text` without what models change at will: case, white space, quotes, emphasis, trailing periods."""
    plain = unicodedata.normalize("NFC", text).translate(_DROPPED).translate(_ALIKE)
    return normalise_space(plain).casefold().strip(_OUTER)


@lru_cache(maxsize=1024)  # the rows of a story are asked for once with each table that they are paired with
def row_key(actor: str, belief: str) -> str:
    """Return what rows are paired by. A pipe belongs to the text on either side of it, so that a split cell still
    pairs."""
    return _AROUND_PIPE.sub("|", f"{fold(actor)}|{fold(belief)}")


def pair(expected: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """Return, for each expected key, the index of its row in `keys`, the n-th of equal keys with the n-th; None without
    one."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for at in range(len(keys) - 1, -1, -1):
        waiting[keys[at]].append(at)
    return [waiting[key].pop() if waiting.get(key) else None for key in expected]


def by_position(pairs: Sequence[int | None], expected: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """`pairs` with reworded rows filled in from their position; `expected` and `keys` are the rows' actors.

    Only where both tables have the same number of rows, more than half are paired, each with the row at its own place,
    and the actors agree: then there is one row left for one place.
    """
    paired = [at for at, place in enumerate(pairs) if place is not None]
    in_place = len(expected) == len(keys) and all(pairs[at] == at for at in paired)
    if not in_place or 2 * len(paired) <= len(expected):
        return list(pairs)
    return [at if place is None and fold(expected[at]) == fold(keys[at]) else place for at, place in enumerate(pairs)]


_PREFIX = re.compile(r"^([^:=]{1,40})[:=]\s*(?=\S)")
_REMARK = re.compile(r"\s*[(\[（]([^()\[\]（）]*)[)\]）]\s*$")
_JOINT = re.compile(r"\s*(?:[-_/&,+\\]|\band\b|\bor\b)\s*")
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,/]\d+)*")
_ORDINALS = {
    **dict.fromkeys(("zero", "zeroth", "零"), "0"),
    **dict.fromkeys(("one", "first", "一"), "1"),
    **dict.fromkeys(("two", "second", "二"), "2"),
    **dict.fromkeys(("three", "third", "三"), "3"),
}
_WORD = re.compile(r"[a-z]+|[零一二三]")
_BLANKS = frozenset({"", "-", "--", "---", "–", "—", "?", "n/a", "na", "none", "null", "nan"})
_LONGEST = 200


def is_blank(text: str) -> bool:
    return normalise_space(text).lower() in _BLANKS


@lru_cache(maxsize=8192)
def repaired(dimension: str, text: str, scheme: Scheme = OMNITOM_SCHEME) -> str:
    """The legal label of a scheme's dimension that `text` says, otherwise the text itself (illegal), or "" (missing).

    Forgiven are a name before the label (`Truth: True`), a remark in brackets after it (`True (inferred)`), and another
    joint between the halves of a label (`Desire and Intention`). Two labels, or a negated one, are not a label.
    """
    text = normalise_space(text)
    if not scheme.official and (named := _spelled(scheme.schema[dimension], text)):
        return named  # whatever it looks like: some schema has a label None
    if is_blank(text):
        return ""
    if len(text) > _LONGEST:
        return text
    label = _order(text) if scheme.schema[dimension].counts else _label(dimension, text, scheme)
    return label if label and label in scheme.legal[dimension] else text


def _label(dimension: str, text: str, scheme: Scheme) -> str | None:
    """Return the label in a text, also without a remark behind it or a name before it that is no label itself."""
    label = _label_in(dimension, text, scheme)
    for decoration in () if label else (_REMARK, _PREFIX):
        match = decoration.search(text)
        if match and not _label_in(dimension, match[1], scheme):
            text = text[: match.start()] + text[match.end() :]
    return label or _label_in(dimension, text, scheme)


def _label_in(dimension: str, text: str, scheme: Scheme) -> str | None:
    if scheme.official and SCHEMA.is_legal(dimension, label := canonical(dimension, text)):
        return label
    if scheme.official and dimension != "content_type":  # no other one has labels with a slash
        return None
    return _spelled(scheme.schema[dimension], text)


def _spelled(dimension: Dimension, text: str) -> str | None:
    """Return the label that a text says but for its case, marks and joints, or a plural; of a label with a slash one
    half does, where no other label has it."""
    spellings = _spellings(dimension)
    folded = _folded(text)
    candidates = (folded, _characters(folded), _folded(_JOINT.sub(" ", folded)))
    either = (spellings.get(spelling) or spellings.get(spelling.removesuffix("s")) for spelling in candidates)
    return next(filter(None, either), None)


@lru_cache(256)
def _spellings(dimension: Dimension) -> dict[str, str]:
    labels: dict[str, set[str]] = {}
    for value in dimension.values:
        halves = [half.strip() for half in _folded(value).split("/")]
        spellings = {_folded(value), " ".join(halves), " ".join(reversed(halves)), *halves}
        for spelling in spellings | set(map(_characters, spellings)):
            labels.setdefault(spelling, set()).add(value)
    return {spelling: values.pop() for spelling, values in labels.items() if spelling and len(values) == 1}


def _folded(text: str) -> str:
    return normalise_space(text).casefold().strip(" .*`\"'“”")


def _characters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _order(text: str) -> str | None:
    """Return the one number that a text has, in digits or as a word."""
    bare = [number.removesuffix(".0") for number in _NUMBER.findall(text)]
    numbers = {str(int(number)) if number.isdecimal() else number for number in bare}
    numbers |= {_ORDINALS[word] for word in _WORD.findall(text.lower()) if word in _ORDINALS}
    return numbers.pop() if len(numbers) == 1 else None


def object_in(text: str, *, listed: bool = False) -> Json | None:
    """The last object with `rows` of an answer, or a list or lines of objects by `id` as its `rows`, with `listed` also
    those with actor and belief, which are read as tables otherwise. Returns None if there is none."""
    values = values_in(text)
    if value := values.object_with("rows"):
        return value
    rows = values.rows("actor", "belief")
    if rows and not listed:
        return None
    rows = rows or values.rows("id")
    return None if rows is None else {"rows": rows}


def ignores_schema(text: str, *names: str) -> bool:
    """Return whether an answer that was held to a schema is something else than an object with a list of one of these
    names.

    An empty text is a missing answer rather than another form of it.
    """
    value = (object_in(text, listed=True) if names == ("rows",) else values_in(text).object_with(*names)) or {}
    return bool(text.strip()) and not any(isinstance(value.get(name), list) for name in names)


def rows_in(value: Mapping[str, Any] | None, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list field, by plain names (`Truth-Status` and `truth_status` are `truthstatus`)."""
    listed = (value or {}).get(name)
    rows = listed if isinstance(listed, list) else []
    return [{plain_name(key): cell for key, cell in row.items()} for row in rows if isinstance(row, Mapping)]


def text_of(value: object) -> str:
    """A cell as text that every database holds; "" for what is neither a text nor a number.

    An answer was made storable as a text, but JSON escapes in it can spell what no database takes.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def place_of(value: object, count: int) -> int | None:
    """The place from 0 that an id from 1 names. Returns None where it names no row of `count`."""
    text = text_of(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    return int(text) - 1 if 1 <= int(text) <= count else None
