"""Labels as a person reads them: decorations come off, a label is never guessed."""

from __future__ import annotations

import re
from functools import lru_cache

from annotation.domain.schema import Dimension
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA, Scheme, canonical
from judge.domain.text import normalise_space

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


def _composites() -> dict[str, str]:
    """Both halves of labels such as Desire/Intention, together in either order and alone: each is in one label only."""
    labels: dict[str, str] = {}
    for value in SCHEMA["content_type"].values:
        halves = [half.strip().lower() for half in value.split("/")]
        for spelling in (" ".join(halves), " ".join(reversed(halves)), *halves):
            labels[spelling] = labels[spelling.replace(" ", "")] = value
    return labels


_CONTENT = _composites()


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
    if label := _label_in(dimension, text, scheme):
        return label
    for decoration in (_REMARK, _PREFIX):
        match = decoration.search(text)
        if match and not _label_in(dimension, match[1], scheme):
            text = text[: match.start()] + text[match.end() :]
    return _label_in(dimension, text, scheme)


def _label_in(dimension: str, text: str, scheme: Scheme) -> str | None:
    if not scheme.official:
        return _spelled(scheme.schema[dimension], text)
    if SCHEMA.is_legal(dimension, label := canonical(dimension, text)):
        return label
    if dimension != "content_type":
        return None
    words = normalise_space(_JOINT.sub(" ", text.lower())).strip(" .*`\"'“”")
    return _CONTENT.get(words) or _CONTENT.get(words.removesuffix("s"))


def _spelled(dimension: Dimension, text: str) -> str | None:
    """Return the label that a text says but for its case, marks and joints; of a label with a slash one half does,
    where no other label has it."""
    spellings = _spellings(dimension)
    folded = _folded(text)
    candidates = (folded, _characters(folded), normalise_space(_JOINT.sub(" ", folded)))
    return next((label for spelling in candidates if (label := spellings.get(spelling))), None)


@lru_cache(256)
def _spellings(dimension: Dimension) -> dict[str, str]:
    labels: dict[str, set[str]] = {}
    for value in dimension.values:
        folded = _folded(value)
        halves = [half.strip() for half in folded.split("/")]
        for spelling in {folded, _characters(folded), " ".join(halves), " ".join(reversed(halves)), *halves}:
            labels.setdefault(spelling, set()).add(value)
    return {spelling: values.pop() for spelling, values in labels.items() if spelling and len(values) == 1}


def _folded(text: str) -> str:
    return normalise_space(text).casefold().strip(" .*`\"'“”")


def _characters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _order(text: str) -> str | None:
    numbers = {_whole(number) for number in _NUMBER.findall(text)}
    numbers |= {_ORDINALS[word] for word in _WORD.findall(text.lower()) if word in _ORDINALS}
    return numbers.pop() if len(numbers) == 1 else None


def _whole(number: str) -> str:
    bare = number.removesuffix(".0")
    return str(int(bare)) if bare.isdecimal() else bare
