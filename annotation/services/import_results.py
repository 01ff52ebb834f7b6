"""Words on an import: the same in pages, commands and the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from django.utils.translation import gettext

from annotation.domain.left_out import MOST_NAMES, LeftOut
from annotation.domain.problems import Problems
from core import joints
from core.incoming.sheets import Sheets
from core.wording import counted


class ImportResult(Protocol):
    """The result of an import of any kind."""

    problems: Problems
    left_out: LeftOut

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


def not_used(left_out: LeftOut) -> str:
    """Return sentences that name the unused columns, fields and sheets of the input; empty if all was used."""
    names = ""
    if left_out.names:
        more = " …" if len(left_out.names) == MOST_NAMES else ""
        names = gettext("Not used: {names}.").format(names=joints.listed(left_out.names) + more)
    return joints.sentences(names, *map(_of_sheets, left_out.sheets))


def _of_sheets(sheets: Sheets) -> str:
    others = joints.listed(f"“{name}”" for name in sheets.left)
    return gettext("The sheet “{read}” was read; not read: {others}.").format(read=sheets.read, others=others)


def summary(left_out: LeftOut, input_: str, done: Iterable[str], *clauses: str) -> str:
    """Return a sentence about an import: how much came in, what was done with it, and what else there is to say; then
    what of the input was not used."""
    outcomes = joints.joint(",").join(filter(None, done))
    text = joints.clauses(joints.labelled(input_, outcomes), *clauses) + joints.joint(".")
    return joints.sentences(text, not_used(left_out))
