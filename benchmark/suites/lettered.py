"""Questions that are answered by the letter of an option, and the order in which a text shows their options."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

Order = tuple[int, ...]
"""The places of the options in the data, from 0, in the order in which they are shown."""
OPTION_ORDER = "shown"
"""The name in a sample's content of the order in which the record of an answer shows its options."""


@dataclass(frozen=True, slots=True)
class Lettered:
    """Answers by the letter of an option, read at the `step`.

    `options` names the list in a sample's content, in the order of the data, which is empty for a question without
    options. `setting` names the setting for the order in which a run shows them. It is empty where that is the order of
    the data.
    """

    step: str
    options: str
    setting: str = ""


_QUOTES = str.maketrans("‘’‚‛“”„‟´`", "''''\"\"\"\"''")
_LETTER = r"([a-z])[\"'*]{0,3}\s{0,2}[)\]】>.:、=–—-]{1,3}"
_LABEL = re.compile(rf"(?<![a-z0-9]){_LETTER}\s{{0,9}}[^\w\n]{{0,4}}")
_OWN_LETTER = re.compile(r"[a-d]\s{0,2}[.:)、]\s{0,9}[^\w\n]{0,4}")
_END = re.compile(
    rf"[^\w\n]{{0,9}}(?:\n|\Z|(?:(?:option|choice|answer)\s|选项\s?)?{_LETTER})|[^\w\s]{{0,3}}(?:[.!?;](?!\w)|。)"
)
"""The end of an option: that of its line, or of its sentence, or the next letter."""
_EDGES = re.compile(r"\A[\W_]+|[\W_]+\Z")


def order_in(text: str, options: Sequence[str]) -> Order | None:
    """Return the order in which a text shows the options, each behind its letter: `A) …`, `(b) …`, `C: …`, and so on.

    Returns None where the text does not show all of them so, and where it shows them in several orders.
    """
    text, keys = _plain(text), _keys(options)
    longest_first = sorted({key: "".join(key.split()) for key in keys}.items(), key=lambda item: -len(item[1]))
    orders: set[Order] = set()
    block: list[str] = []
    end = 0
    for label in _LABEL.finditer(text):
        if label.start() < end:  # the letter that an option has in the data, behind the one under which it is shown
            continue
        own = _OWN_LETTER.match(text, label.end())
        starts = [label.end(), *([own.end()] if own else [])]
        ends = ((key, _end_of(text, at, packed)) for key, packed in longest_first for at in starts)
        option = next(((key, at) for key, at in ends if at and _END.match(text, at)), None)
        if not option:
            continue
        key, end = option
        letter = ord(label[1]) - ord("a")
        if letter != len(block):
            block = []
        if letter == len(block):
            block.append(key)
        if len(block) == len(keys) and (order := _places(block, keys)):
            orders.add(order)
    return orders.pop() if len(orders) == 1 else None


def order_of(choices: Sequence[str], options: Sequence[str]) -> Order | None:
    """Return the order of the options in a list of them. Returns None where the list has other texts."""
    keys = _keys(options)
    listed = [_key(choice) for choice in choices]
    bare = [_key(_OWN_LETTER.sub("", _plain(choice).lstrip(), count=1)) for choice in choices]
    return _places([key if key in keys else other for key, other in zip(listed, bare, strict=True)], keys)


def order_of_appearance(text: str, options: Sequence[str]) -> Order | None:
    """Return the order in which a text has the options, with letters or without. Returns None where it lacks one."""
    plain = "".join(_plain(text).split())
    packed = ["".join(key.split()) for key in _keys(options)]
    matches = re.finditer("|".join(re.escape(key) for key in sorted(packed, key=len, reverse=True)), plain)
    last = {match[0]: match.start() for match in matches}
    if len(last) < len(packed):
        return None
    return tuple(sorted(range(len(packed)), key=lambda place: last[packed[place]]))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()


def _keys(options: Sequence[str]) -> list[str]:
    """Return the keys of options in the order of the data, in which each may carry its own letter: `B. Box`."""
    own = [rf"\A\s*{letter}\s*[.:、)](?![a-z]\.)" for letter in ascii_lowercase]
    return [_key(re.sub(pattern, "", _plain(option), count=1)) for pattern, option in zip(own, options, strict=False)]


def _key(option: str) -> str:
    """Return an option without case, outer punctuation and the spelling of blanks and quotes."""
    plain = " ".join(_plain(option).split())
    return _EDGES.sub("", plain) or plain


def _end_of(text: str, at: int, packed: str) -> int:
    """Return where an option ends that begins in a place of the text, whatever blanks either has, 0 where it does
    not."""
    for character in packed:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] != character:
            return 0
        at += 1
    return at


def _places(listed: Sequence[str], keys: Sequence[str]) -> Order | None:
    """Return the places that these keys have among all, each once. Returns None where they are not the same ones."""
    if sorted(listed) != sorted(keys):
        return None
    free: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        free.setdefault(key, []).append(place)
    return tuple(free[key].pop(0) for key in listed)
