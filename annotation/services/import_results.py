"""Words on an import: the same in pages, commands and the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from django.utils.translation import gettext

from annotation.domain.problems import Problems
from core import joints
from core.wording import counted


class ImportResult(Protocol):
    """The result of an import of any kind."""

    problems: Problems

    @property
    def taken(self) -> int:
        """Count of what is new or changed by it."""

    @property
    def there(self) -> int:
        """Count of what of the input was in the project already."""

    @property
    def summary(self) -> str:
        """One sentence on what was taken and what was not."""


def heading(result: ImportResult, *, kept: bool) -> str:
    """Return what became of the input as a whole."""
    if not kept:
        return gettext("Checked: nothing was kept")
    if result.taken:
        return gettext("Imported in part") if result.problems else gettext("Imported")
    if result.there and not result.problems:
        return gettext("Nothing new: all of it is here already")
    return gettext("Nothing was imported")


def not_taken(problems: Problems) -> str:
    """Return a clause: how much of the input cannot be used; empty where all can."""
    return counted(problems.total, "problem") if problems.total else ""


def summary(input_: str, done: Iterable[str], *clauses: str) -> str:
    """Return one sentence about an import: how much came in, what was done with it, and what else there is to say."""
    outcomes = joints.joint(",").join(filter(None, done))
    return joints.clauses(joints.labelled(input_, outcomes), *clauses) + joints.joint(".")
