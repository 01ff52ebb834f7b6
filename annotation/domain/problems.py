"""What an importer could not use, line by line, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LISTED_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    line: int
    message: str

    def as_dict(self) -> dict:
        return {"file": self.file, "line": self.line, "message": self.message}


class Problems(list[Problem]):
    """The first problems of an import. A file of another kind has one a line: beyond MAX_LISTED_PROBLEMS they are only counted."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self._last: Problem | None = None

    def add(self, problem: Problem) -> None:
        self.total += 1
        self._last = problem
        if len(self) < MAX_LISTED_PROBLEMS:
            self.append(problem)

    def as_dicts(self) -> list[dict]:
        """The listed problems in order of file and line; the last entry counts those that are not listed."""
        listed = [problem.as_dict() for problem in self]
        if unlisted := self.total - len(self):
            rest = Problem(self._last.file, self._last.line, f"{unlisted} more problems are not listed.")
            listed.append(rest.as_dict())
        return listed
