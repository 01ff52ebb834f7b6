"""One question of FANToM, and what kinds there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FACT, DISTANCE, CHOICE, LIST, YES_NO = "fact", "distance", "choice", "list", "yes_no"
"""The fact; a belief in free words, and between two options; all who know, and whether one of them does."""
ANSWERABILITY, INFORMATION = "answerability", "info_accessibility"
ACCESSIBLE, INACCESSIBLE = "accessible", "inaccessible"
"""The scenarios: whether the character had access to what was said, or has a false belief."""
YES, NO, NOT_THERE = "yes", "no", "no:long"
"""Gold of a yes or no question; the last is of a character who is not in the short conversation."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question.

    `id` is `<set>/fact`, `<set>/belief<n>/dist` or `/choice`, `<set>/<topic>/list` or `<set>/<topic>/yn/<character>`.
    `scenario` is empty of a fact; `topic` is answerability or information access, empty of the others; `order` is a
    belief's kind as the file names it, such as `second-order:cyclic`. `right` and `wrong` are texts of a fact and a
    belief, names of a list; of a yes or no question `right` is one label. `options` are those of a choice as shown,
    `key` is the place of the right one.
    """

    id: str
    set_id: str
    kind: str
    question: str
    scenario: str
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    topic: str = ""
    order: str = ""
    character: str = ""
    options: tuple[str, ...] = ()
    key: int = 0

    @property
    def part_id(self) -> str:
        return self.set_id.rpartition("-")[0]

    @property
    def conversation_id(self) -> str:
        return self.set_id.partition("-")[0]

    @property
    def subject(self) -> str:
        """The person whose belief a question is about, in lower case: the word after its first "does "."""
        return self.question.lower().partition("does ")[2].split(" ", 1)[0]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A piece of information in a part of a conversation, and all questions about it."""

    set_id: str
    short_context: str
    full_context: str
    fact_question: str
    fact_answer: str
    rows: tuple[Row, ...]


Sets = Mapping[str, QuestionSet]
