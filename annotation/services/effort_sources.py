"""Events that time on task is counted from. An app above adds those of its own work by `register` when it is ready."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, QuerySet


@dataclass(frozen=True, slots=True)
class Source:
    """The events of an activity, and the names of their columns. `story` may be null where `project` says whose they
    are."""

    model: type[Model]
    person: str
    story: str
    at: str
    arrived: str
    chosen: dict[str, str] = field(default_factory=dict)
    measured: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    project: str = ""

    @property
    def events(self) -> QuerySet[Any]:
        chosen = self.model._default_manager.filter(**self.chosen)
        return chosen.exclude(**self.left_out) if self.left_out else chosen

    @property
    def of_project(self) -> str:
        return self.project or f"{self.story}__project"


further: dict[str, Source] = {}
"""Sources that apps above have registered, by activity."""


def register(activity: str, source: Source) -> None:
    """Count the events of an app above as this activity."""
    further[activity] = source
