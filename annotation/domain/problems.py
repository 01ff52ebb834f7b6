"""Problems found by an import, line by line, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

MAX_LISTED_PROBLEMS = 1_000


class ProblemTold(TypedDict):
    """A `Problem` as plain data."""

    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    line: int
    message: str

    def as_dict(self) -> ProblemTold:
        return {"file": self.file, "line": self.line, "message": self.message}


class Problems(list[Problem]):
    """The first problems of an import. A file of another kind has one a line: beyond MAX_LISTED_PROBLEMS they are only
    counted."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self._last: Problem | None = None
        self._lines: dict[tuple[str, int, str], int] = {}

    def add(self, problem: Problem, *, once: bool = False) -> None:
        """Add a problem. With `once`, a message that recurs on other lines is listed at the first of them, with their
        number."""
        self.total += 1
        key = (problem.file, 0 if once else problem.line, problem.message)
        if key in self._lines:
            self._lines[key] += 1
        elif len(self) < MAX_LISTED_PROBLEMS:
            self._lines[key] = 1
            self.append(problem)
        else:
            self._last = problem

    def as_dicts(self) -> list[ProblemTold]:
        """Return the listed problems in order of file and line; the last entry counts those that are not listed."""
        listed = [replace(problem, message=self._told(problem)).as_dict() for problem in self]
        if self._last is not None:
            unlisted = self.total - sum(self._lines.values())
            more = f"{unlisted} more problem{' is' if unlisted == 1 else 's are'} not listed."
            listed.append(replace(self._last, message=more).as_dict())
        return listed

    def _told(self, problem: Problem) -> str:
        more = self._lines.get((problem.file, 0, problem.message), 1) - 1
        return problem.message + (f" ({more:,} more line{'' if more == 1 else 's'} like it.)" if more else "")
