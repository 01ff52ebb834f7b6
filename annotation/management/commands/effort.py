from __future__ import annotations

from typing import Any

from django.utils import timezone

from annotation.domain.effort import IDLE_LIMITS, LIMIT, Activity, Outlook
from annotation.management.json_command import JsonCommand
from core.plain import plain


class Command(JsonCommand):
    help = "Says how long people worked on a project, at what pace, and how long the rest takes at it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")

    def work(self, **options) -> dict:
        from annotation.services.effort import effort_of  # the statistics libraries take a second to load

        efforts = effort_of(self.project(options["project"]), now=timezone.now())
        people = {
            row.person.username: {
                "acts": row.acts,
                "hours": dict(zip(Activity, row.hours, strict=True)),
                "outlooks": [_as_json(outlook) for outlook in row.outlooks],
            }
            for row in efforts.people
        }
        return {
            "project": options["project"],
            "idle_limit_seconds": LIMIT,
            "hours": efforts.total,
            "hours_by_activity": dict(zip(Activity, efforts.hours, strict=True)),
            "hours_by_idle_limit": {
                str(int(limit)): hours for limit, hours in zip(IDLE_LIMITS, efforts.by_limit, strict=True)
            },
            "people": people,
            "adjudication": _as_json(efforts.adjudication),
        }

    def say(self, result: dict) -> None:
        self.stdout.write(f"{result['hours']:.2f} hours, pauses over {int(LIMIT // 60)} minutes left out.")
        for name, row in result["people"].items():
            spent = ", ".join(f"{activity} {hours:.2f} h" for activity, hours in row["hours"].items() if hours)
            self.stdout.write(f"{name}: {spent or 'no time yet'}")
            for outlook in row["outlooks"]:
                self.stdout.write(f"  {_line(outlook)}")
        self.stdout.write(f"Adjudication: {_line(result['adjudication'])}")


def _as_json(outlook: Outlook) -> dict[str, Any]:
    return plain(outlook) | {"hours_left": outlook.hours_left}


def _line(outlook: dict[str, Any]) -> str:
    line = f"{outlook['done']} {outlook['unit']} done, {outlook['left']} left"
    if outlook["hours_left"] is None:
        return f"{line}; no pace yet: {outlook['pace'].get('reason', 'nothing is done')}"
    return f"{line}, {outlook['hours_left']:.2f} hours at the pace so far"
