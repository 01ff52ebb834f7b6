"""The names of kinds of questions and of scenarios on pages."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.suites.fantom_questions.rows import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INACCESSIBLE,
    INFORMATION,
    LIST,
    YES_NO,
    Row,
)
from core.messages import gettext_noop

SCENARIOS: Mapping[str, str] = {INACCESSIBLE: "false belief", ACCESSIBLE: "control"}
TYPES: Mapping[tuple[str, str], str] = {
    (FACT, ""): gettext_noop("Fact"),
    (CHOICE, ""): gettext_noop("Belief, choice"),
    (DISTANCE, ""): gettext_noop("Belief, free"),
    (LIST, ANSWERABILITY): gettext_noop("Answerability, list"),
    (YES_NO, ANSWERABILITY): gettext_noop("Answerability, yes or no"),
    (LIST, INFORMATION): gettext_noop("Information, list"),
    (YES_NO, INFORMATION): gettext_noop("Information, yes or no"),
}
"""Titles of types of questions, by kind and topic."""
SHORT_TYPES: Mapping[str, str] = {name: name for name in TYPES.values()}
SHORT_IN_PANELS: Mapping[str, str] = {
    "Belief, choice": "Choice",
    "Belief, free": "Free",
    "Answerability, list": "Ans. list",
    "Answerability, yes or no": "Ans. y/n",
    "Information, list": "Info list",
    "Information, yes or no": "Info y/n",
}
"""Names of types for narrow panels of a picture."""
NO_BELIEF = "no belief"
ORDERS: Mapping[str, str] = {
    "first-order": "First order",
    "second-order": "Second order",
    "second-order:accessible": gettext_noop("Second, accessible"),
    "second-order:cyclic": gettext_noop("Second, cyclic"),
    "second-order:acyclic": gettext_noop("Second, acyclic"),
}
"""Orders of belief as the file names them; the second holds those after it."""


FACET_VALUES: Mapping[str, str] = {
    **{scenario: name.capitalize() for scenario, name in SCENARIOS.items()},
    **ORDERS,
    NO_BELIEF: "No belief",
}
"""The names of scenarios and orders where a score is given by them."""


def type_of(row: Row) -> str:
    """Return what a question's type is called."""
    return TYPES[row.kind, row.topic]
