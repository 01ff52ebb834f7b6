"""Sentences of rules that know no framework, in the language of who reads them.

Who runs the rules installs what translates (`install`); until then, and wherever nobody reads another language, a
sentence is as it was written. The names are those of gettext, by which the texts of the code are found.
"""

from collections.abc import Callable

_translators: tuple[Callable[[str], str], Callable[[str, str, int], str]] = (
    lambda text: text,
    lambda singular, plural, count: singular if count == 1 else plural,
)


def install(translate: Callable[[str], str], translate_counted: Callable[[str, str, int], str]) -> None:
    """Have `translate` translate sentences, and `translate_counted` those that have a number."""
    global _translators
    _translators = (translate, translate_counted)


def gettext(text: str) -> str:
    """Return a text in the language of the present reader."""
    return _translators[0](text)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Return the form of a text that goes with the number, in the language of the present reader."""
    return _translators[1](singular, plural, count)
