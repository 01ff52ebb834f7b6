"""The plan of a round of suggestions, as its job keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from core.plain import Json
from workers.models import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundParams:
    """Parameters that a round asks with: the version of its `prompt`, its `level` (None for tables), and the tokens
    that an answer may take beside its text."""

    project: str
    level: int | None
    prompt: str
    reasoning_tokens: int

    @classmethod
    def of(cls, job: Job) -> RoundParams:
        """Return the plan that a job keeps."""
        return cls(**job.params)

    @property
    def label_level(self) -> int:
        """The level of a round for labels. Raises ValueError for one for tables."""
        if self.level is None:
            raise ValueError("A round for tables has no level of its prompt.")
        return self.level

    def as_json(self) -> Json:
        return asdict(self)
