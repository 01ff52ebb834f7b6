"""Separators between the parts of a text that is put together: the one place where each language says its own.

English has a sign and a space; Chinese has full-width signs without one, a sign of its own between the things of a
list, and nothing between sentences. A translated text is never followed by a sign that is written out: code calls these
functions, templates have the tag `joint` and the filter `listed` (templatetags/texts.py).
"""

import re
from collections.abc import Callable, Iterable

from django.utils.translation import gettext, pgettext

LIST = "list"
_HAN = re.compile("[\u3400-\u9fff]")
_WIDE = re.compile("[，。：；、（）？！]")
"""Full-width signs, which bring their own space."""
_LATIN = re.compile("[A-Za-z0-9%]")


def joint(sign: str) -> str:
    """Return what a sign is in the language of the reader, with the space that it brings: of `,` `:` `;` `.` `(` `)`,
    of `. ` and a space between sentences, and of `list` between the things of one. Raises KeyError for another."""
    signs: dict[str, Callable[[], str]] = {
        ",": lambda: gettext(", "),
        ":": lambda: gettext(": "),
        ";": lambda: gettext("; "),
        ".": lambda: gettext("."),
        ". ": lambda: gettext(".") + joint(" "),
        " ": lambda: pgettext("two sentences", "{first} {second}").format(first="", second=""),
        "(": lambda: gettext(" ("),
        ")": lambda: gettext(")"),
        LIST: lambda: pgettext("between the things of a list", ", "),
    }
    return signs[sign]()


def listed(parts: Iterable[object]) -> str:
    """Return things one after the other: `first, second`."""
    return joint(LIST).join(map(str, parts))


def clauses(*parts: str) -> str:
    """Return the clauses that there are as one sentence: `12 done; 3 left`."""
    return joint(";").join(filter(None, parts))


def labelled(name: object, text: object) -> str:
    """Return a name with what is told of it: `Order: how many minds`."""
    return f"{name}{joint(':')}{text}"


def noted(text: object, note: object) -> str:
    """Return a text with a note in brackets: `6 rows (2 blank)`."""
    return f"{text}{joint('(')}{note}{joint(')')}"


def sentences(*parts: str) -> str:
    """Return the sentences that there are, one after the other."""
    return joint(" ").join(filter(None, parts))


def seamed(before: str, after: str) -> str:
    """Return two parts of a Chinese sentence, one of them a value that is put in, as one: with a space where Chinese
    meets Latin letters or digits, with none between Chinese words or beside a full-width sign. Within the parts nothing
    changes."""
    left, right = before.rstrip(" "), after.lstrip(" ")
    if not left or not right:
        return before + after
    last, first = left[-1], right[0]
    if _WIDE.match(last) or _WIDE.match(first) or (_HAN.match(last) and _HAN.match(first)):
        return left + right
    if (_HAN.match(last) and _LATIN.match(first)) or (_LATIN.match(last) and _HAN.match(first)):
        return f"{left} {right}"
    return before + after
