"""Values that pages and bodies of the API take alike: one mark for both doors, so that neither takes what the other
refuses."""

from typing import Annotated

from annotation.models import ErrorTag, Role
from core.incoming.shapes import SPACE, Among, Like
from core.messages import Sentence, gettext_noop

MAX_REASON = 2000
MAX_MESSAGE = 4000
MAX_ADDITION = 20_000
MAX_LABEL = 40


def words(most: int) -> Like:
    expected = Sentence("a text of at most {most} characters that says something, without NUL", most=most)
    return Like(rf"^[^\u0000]*[^{SPACE}\u0000][^\u0000]*$", expected, max_length=most)


def text_of(most: int) -> Like:
    expected = Sentence("a text of at most {most} characters, without NUL", most=most)
    return Like(r"^[^\u0000]*$", expected, max_length=most)


MESSAGE, REMARK, REASON, ADDITION = words(MAX_MESSAGE), words(MAX_REASON), text_of(MAX_REASON), text_of(MAX_ADDITION)
"""A comment or its answer; why a proposition is flagged, or many cells are decided; why a cell is; what a project adds
to a guideline."""
LABEL = Like(words(MAX_LABEL).pattern, gettext_noop("a label"), max_length=MAX_LABEL)
Label = Annotated[str, LABEL]
NO_LABEL = text_of(MAX_LABEL)
NoLabel = Annotated[str, NO_LABEL]
Reason = Annotated[str, REASON]
TAGS = ("", *ErrorTag.values)
Tag = Annotated[str, Among(TAGS)]
ROLES = tuple(Role.values)
OUTCOMES = ("accepted", "declined")
"""Answers of experts to a flag."""

_ATOM = r"[-!#$%&'*+/=?^_`{|}~0-9A-Za-z]+"
_OTHER = (
    r"\u00a1-\u00ac\u00ae-\u061b\u061d-\u167f\u1681-\u180d\u180f-\u1fff"
    r"\u2070-\u2fff\u3001-\ud7ff\uf900-\ufdff\ufe30-\ufefe\uff01-\uffef"
)
_LETTER, _LETTER_OR_DIGIT = f"A-Za-z{_OTHER}", f"A-Za-z0-9{_OTHER}"
_NAME = f"[{_LETTER_OR_DIGIT}](?:[-{_LETTER_OR_DIGIT}]{{0,61}}[{_LETTER_OR_DIGIT}])?"
_LAST = f"(?:[{_LETTER}][-{_LETTER}]{{0,61}}[{_LETTER}]|[Xx][Nn]--[A-Za-z0-9]{{1,59}})"
EMAIL = Like(
    rf"^$|^{_ATOM}(?:\.{_ATOM})*@(?:localhost|(?:{_NAME}\.)+{_LAST})$",
    gettext_noop("an e-mail address, or nothing"),
    max_length=254,
)
"""What Django's own check takes, in a form that the API can describe: without quoted names and addresses of machines in
brackets, and without white space and invisible characters that turn text."""
