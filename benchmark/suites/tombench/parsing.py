"""The option that an answer chooses: as the released code extracts it, and as a person reads it."""

import re

from benchmark.suites.tombench.data import LETTERS, OfferedOptions

_LAST_CAPITAL = re.compile(rf"[{LETTERS}](?=[^{LETTERS}]*\Z)")


def extract_official(answer: str) -> str:
    """Return the letter that the released code takes from an answer: always one of A to D.

    The first of these that there is: `[[A]]`, `[[B]]`, `[[C]]`, `[[D]]`, tried in this order and not in the order of
    the text; `[A]` to `[D]` likewise; the last capital A to D, also inside a word; `A`.
    """
    for form in ("[[{}]]", "[{}]"):
        for letter in LETTERS:
            if form.format(letter) in answer:
                return letter
    last = _LAST_CAPITAL.search(answer)
    return last[0] if last else "A"


def parse_official(answer: str, displayed: OfferedOptions) -> str:
    """Return the original letter of the option that the released code takes an answer for.

    Empty where the letter stands for no option that was shown: a vote like any other, which is never right.
    """
    return displayed.original_of[extract_official(answer)]


def choice_in(answer: str, displayed: OfferedOptions) -> tuple[str | None, str]:
    """Return the original letter of the option that an answer commits to, as a person reads it, or what it chooses that
    was not offered, which is never right; None where it names none, or leaves it between several, and why."""
    # its patterns take a tenth of a second to compile, which no start has to wait for
    from benchmark.suites.tombench.letters import committed

    letter, why = committed(answer, displayed.texts)
    return letter and (displayed.original_of.get(letter) or letter), why


def parse_repaired(answer: str, displayed: OfferedOptions) -> str | None:
    """Return the letter of `choice_in`."""
    return choice_in(answer, displayed)[0]
