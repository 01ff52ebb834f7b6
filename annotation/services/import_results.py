"""The result of an import of any kind, in the same words for pages, commands and the log."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar

from django.utils.translation import gettext

from annotation.domain.problems import MOST_NAMES, LeftOut, Problems
from core import joints
from core.plain import plain
from core.wording import counted

Opener = Callable[[], AbstractContextManager[BinaryIO]]
Source = tuple[str, Opener]
"""The name of a file, and a function that opens it."""


@dataclass(slots=True)
class ImportResult:
    """A subclass counts what its input held in SIZE, one of NOUN each, and what was done with it by the names of
    OUTCOMES: their sentences, those of ALWAYS also for none. COUNTS are the fields of its JSON. TAKEN are the outcomes
    that change the project."""

    problems: Problems = field(default_factory=Problems)
    left_out: LeftOut = field(default_factory=LeftOut)
    created: int = 0
    unchanged: int = 0
    SIZE: ClassVar[str] = ""
    NOUN: ClassVar[tuple[str, ...]] = ()
    OUTCOMES: ClassVar[Mapping[str, str]] = {}
    ALWAYS: ClassVar[tuple[str, ...]] = ("created", "unchanged")
    TAKEN: ClassVar[tuple[str, ...]] = ("created",)
    COUNTS: ClassVar[tuple[str, ...]] = ()

    @property
    def taken(self) -> int:
        return sum(getattr(self, name) for name in self.TAKEN)

    @property
    def there(self) -> int:
        """What the project had already."""
        return self.unchanged

    @property
    def clauses(self) -> tuple[str, ...]:
        """Further clauses of the summary."""
        return ()

    @property
    def summary(self) -> str:
        """What was done with the input, in one sentence, and the unused parts of the input."""
        counts = {name: getattr(self, name) for name in self.OUTCOMES}
        done = (
            gettext(self.OUTCOMES[name]).format(**{name: count})
            for name, count in counts.items()
            if count or name in self.ALWAYS
        )
        size = counted(getattr(self, self.SIZE), *self.NOUN)
        problems = counted(self.problems.total, "problem") if self.problems.total else ""
        text = joints.clauses(joints.labelled(size, joints.joint(",").join(done)), *self.clauses, problems)
        return joints.sentences(text + joints.joint("."), self.not_used)

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
        counts = {name: getattr(self, name) for name in self.COUNTS}
        problems = plain(self.problems.listed())
        return {"summary": self.summary, **counts, **self.left_out.as_json(), "problems": problems}
