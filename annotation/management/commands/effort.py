from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from annotation.domain.effort import IDLE_LIMITS, LIMIT, Activity, Outlook
from annotation.management.json_command import JsonCommand
from core.plain import Json, plain


@dataclass(frozen=True, slots=True)
class _Ahead:
    """What is left, as it is printed."""

    outlook: Outlook

    def as_json(self) -> Json:
        return plain(self.outlook) | {"hours_left": self.outlook.forecast.value}

    def __str__(self) -> str:
        line = f"{self.outlook.done} {self.outlook.unit} done, {self.outlook.left} left"
        forecast = self.outlook.forecast
        if forecast.value is None:
            return f"{line}; no pace yet: {forecast.reason}"
        if forecast.interval is None:
            why = f" (no interval: {forecast.reason})" if forecast.reason else ""
            return f"{line}, {forecast.value:.2f} hours at the pace so far{why}"
        low, high = forecast.interval
        return f"{line}, {forecast.value:.2f} hours at the pace so far (95 % prediction: {low:.2f} to {high:.2f})"


@dataclass(frozen=True, slots=True)
class _Person:
    """The work of one person: their acts, and hours by activity."""

    acts: int
    hours: Mapping[str, float]
    outlooks: Sequence[_Ahead]


@dataclass(frozen=True, slots=True)
class _Work:
    """The work on a project, by activity, by the longest pause that counts, and by user name."""

    project: str
    idle_limit_seconds: float
    hours: float
    hours_by_activity: Mapping[str, float]
    hours_by_idle_limit: Mapping[str, float]
    people: Mapping[str, _Person]
    adjudication: _Ahead


class Command(JsonCommand):
    help = "Says how long people worked on a project, at what pace, and how long the rest takes at it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")

    def work(self, **options) -> _Work:
        from annotation.services.effort import effort_of  # the statistics libraries take a second to load

        efforts = effort_of(self.project(options["project"]), now=timezone.now())
        people = {
            row.person.username: _Person(
                acts=row.acts,
                hours=dict(zip(Activity, row.hours, strict=True)),
                outlooks=[_Ahead(outlook) for outlook in row.outlooks],
            )
            for row in efforts.people
        }
        by_limit = zip(IDLE_LIMITS, efforts.by_limit, strict=True)
        return _Work(
            project=options["project"],
            idle_limit_seconds=LIMIT,
            hours=efforts.total,
            hours_by_activity=dict(zip(Activity, efforts.hours, strict=True)),
            hours_by_idle_limit={str(int(limit)): hours for limit, hours in by_limit},
            people=people,
            adjudication=_Ahead(efforts.adjudication),
        )

    def say(self, result: _Work) -> None:
        self.stdout.write(f"{result.hours:.2f} hours, pauses over {int(LIMIT // 60)} minutes left out.")
        for name, person in result.people.items():
            spent = ", ".join(f"{activity} {hours:.2f} h" for activity, hours in person.hours.items() if hours)
            self.stdout.write(f"{name}: {spent or 'no time yet'}")
            for outlook in person.outlooks:
                self.stdout.write(f"  {outlook}")
        self.stdout.write(f"Adjudication: {result.adjudication}")
