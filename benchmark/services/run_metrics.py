"""The metrics of a run as they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from benchmark.suites.reports import GroupMetrics
from core.plain import Json, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantMetrics:
    """The metrics of an entrant or person by metric group; of a person `id` is None, and there are `role` and
    `number`. `failed` is the sentence of a suite that could not score what this one said: then no group has metrics.

    Of a group that nobody was asked about there are None. What single stories came to is in `StoryScores`.
    """

    id: int | None
    name: str
    kind: str
    groups: Mapping[str, GroupMetrics | None] = field(default_factory=dict)
    role: str = ""
    number: int | None = None
    failed: str = ""
    story_scores: int | None = field(default=None, compare=False)

    def as_json(self) -> Json:
        """Return what is kept: the groups by key beside what else it says."""
        kept: Json = {"id": self.id, "name": self.name, "kind": self.kind, "story_scores": self.story_scores}
        kept |= {group: plain(metrics) for group, metrics in self.groups.items()}
        person = {"role": self.role, "number": self.number} if self.id is None else {}
        return kept | person | ({"failed": self.failed} if self.failed else {})

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> EntrantMetrics:
        names = {attribute.name for attribute in fields(cls)} - {"groups"}
        groups = {
            name: None if metrics is None else GroupMetrics.from_json(metrics)
            for name, metrics in kept.items()
            if name not in names
        }
        return cls(groups=groups, **{name: kept[name] for name in names & kept.keys()})


@dataclass(frozen=True, slots=True)
class Answered:
    """The number of answers of an entrant at a step that came under one model name, their tokens, and when the last of
    them came, in ISO 8601."""

    entrant: int
    name: str
    step: str
    answered_by: str
    answers: int
    input_tokens: int | None
    output_tokens: int | None
    last: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetrics:
    """The metrics of a run over so many `stories`, with these `numbers`: of each entrant, and who answered. `scored` is
    how many items have an answer, `places` what `reports.places_of` counts, `version` what made them; empty where a
    suite failed, as that is tried again."""

    stories: int
    numbers: Sequence[int]
    entrants: Sequence[EntrantMetrics]
    answers: Sequence[Answered]
    scored: int
    places: Sequence[int]
    version: str

    def as_json(self) -> Json:
        kept = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        kept["entrants"] = [entrant.as_json() for entrant in self.entrants]
        return kept | {"answers": plain(self.answers)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> RunMetrics:
        entrants = [EntrantMetrics.from_json(row) for row in kept["entrants"]]
        return cls(**{**kept, "entrants": entrants, "answers": [Answered(**row) for row in kept["answers"]]})
