"""The result of an import of any kind, in the same words for pages, commands and the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.utils.translation import gettext

from annotation.domain.problems import MOST_NAMES, LeftOut, Problems
from core import joints
from core.plain import plain
from core.wording import counted


@dataclass(slots=True)
class ImportResult:
    """`taken` counts what is new or changed, `there` what the project had already. COUNTS are fields of its JSON."""

    problems: Problems = field(default_factory=Problems)
    left_out: LeftOut = field(default_factory=LeftOut)
    COUNTS: ClassVar[tuple[str, ...]] = ()

    @property
    def taken(self) -> int:
        raise NotImplementedError

    @property
    def there(self) -> int:
        raise NotImplementedError

    @property
    def summary(self) -> str:
        """One sentence on what was taken and what was not."""
        raise NotImplementedError

    def sentence(self, input_: str, done: Iterable[str], *clauses: str) -> str:
        """Return a sentence about an import: the size of the input, what was done with it, further clauses; then the
        unused parts of the input."""
        outcomes = joints.joint(",").join(filter(None, done))
        problems = counted(self.problems.total, "problem") if self.problems.total else ""
        text = joints.clauses(joints.labelled(input_, outcomes), *clauses, problems) + joints.joint(".")
        return joints.sentences(text, self.not_used)

    @property
    def not_used(self) -> str:
        """Sentences that name the unused columns, fields and sheets of the input. Empty if all were used."""
        names, parts = self.left_out.names, []
        if names:
            more = " …" if len(names) == MOST_NAMES else ""
            parts.append(gettext("Not used: {names}.").format(names=joints.listed(names) + more))
        for sheets in self.left_out.sheets:
            others = joints.listed(f"“{name}”" for name in sheets.left)
            text = gettext("The sheet “{read}” was read; not read: {others}.")
            parts.append(text.format(read=sheets.read, others=others))
        return joints.sentences(*parts)

    def heading(self, *, kept: bool) -> str:
        """Return the outcome of the input as a whole."""
        if not kept:
            return gettext("Checked: nothing was kept")
        if self.taken:
            return gettext("Imported in part") if self.problems else gettext("Imported")
        if self.there and not self.problems:
            return gettext("Nothing new: all of it is here already")
        return gettext("Nothing was imported")

    def as_dict(self) -> dict[str, Any]:
        return {
            "summary": self.summary,
            **{name: getattr(self, name) for name in self.COUNTS},
            **self.left_out.as_json(),
            "problems": plain(self.problems.listed()),
        }
