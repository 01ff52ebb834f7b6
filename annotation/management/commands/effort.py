from typing import Any

from django.utils import timezone

from annotation.domain.effort import IDLE_LIMITS, LIMIT, Activity, Outlook
from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from core.plain import Json, plain


class Command(ProjectCommand):
    help = "Says how long people worked on a project, at what pace, and how long the rest takes at it."

    def on(self, project: Project, **options: Any) -> Json:
        from annotation.services.effort import effort_of  # the statistics libraries take a second to load

        efforts = effort_of(project, now=timezone.now())
        by_limit = zip(IDLE_LIMITS, efforts["by_limit"], strict=True)
        return {
            "project": project.slug,
            "idle_limit_seconds": LIMIT,
            "hours": efforts["total"],
            "hours_by_activity": dict(zip(Activity, efforts["hours"], strict=True)),
            "hours_by_idle_limit": {str(int(limit)): hours for limit, hours in by_limit},
            "people": {
                row["person"].username: {
                    "acts": row["acts"],
                    "hours": dict(zip(Activity, row["hours"], strict=True)),
                    "outlooks": list(map(_ahead, row["outlooks"])),
                }
                for row in efforts["people"]
            },
            "adjudication": _ahead(efforts["adjudication"]),
        }

    def say(self, result: Json) -> None:
        self.stdout.write(f"{result['hours']:.2f} hours, pauses over {int(LIMIT // 60)} minutes left out.")
        for name, person in result["people"].items():
            spent = ", ".join(f"{activity} {hours:.2f} h" for activity, hours in person["hours"].items() if hours)
            self.stdout.write(f"{name}: {spent or 'no time yet'}")
            for outlook in person["outlooks"]:
                self.stdout.write(f"  {_line(outlook)}")
        self.stdout.write(f"Adjudication: {_line(result['adjudication'])}")


def _ahead(outlook: Outlook) -> Json:
    return plain(outlook) | {"hours_left": outlook.forecast.value}


def _line(outlook: Json) -> str:
    line, forecast = f"{outlook['done']} {outlook['unit']} done, {outlook['left']} left", outlook["forecast"]
    if forecast["value"] is None:
        return f"{line}; no pace yet: {forecast.get('reason')}"
    line = f"{line}, {forecast['value']:.2f} hours at the pace so far"
    if not forecast["interval"]:
        return f"{line} (no interval: {forecast['reason']})" if forecast.get("reason") else line
    low, high = forecast["interval"]
    return f"{line} (95 % prediction: {low:.2f} to {high:.2f})"
