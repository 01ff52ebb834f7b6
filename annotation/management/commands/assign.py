from datetime import date
from typing import Any

from annotation.management.json_command import ProjectCommand, day, people_named
from annotation.models import Project
from annotation.services.assignments import assign, plan_assignments
from core.wording import counted


class Command(ProjectCommand):
    help = "Assigns stories to annotators by the balanced, seeded rule."
    has_parts = True
    arguments = {
        "--annotators": {"required": True, "help": "user names, with commas"},
        "--seed": {"type": int, "default": 1},
        "--due": {"type": day, "metavar": "YYYY-MM-DD", "help": "the day to finish by"},
        "--without-table": {"action": "store_true", "help": "also stories that have no propositions yet"},
    }

    def on(
        self, project: Project, *, seed: int, due: date | None, without_table: bool, **options: Any
    ) -> dict[str, Any]:
        people = people_named(options["annotators"], project=project, noun="member").values()
        parts = project.stories.in_split(options["split"]).in_category(options["category"])
        stories = list(parts.values_list("id", flat=True))
        plan = plan_assignments(
            project=project, stories=stories, annotators=people, seed=seed, without_table=without_table
        )
        made = assign(by=None, project=project, assignments=plan.assignments, seed=seed, due=due)
        return {"project": project.slug, "assignments": made, "short": len(plan.short), "seed": seed}

    def say(self, result: dict[str, Any]) -> None:
        assignments, short = counted(result["assignments"], "assignment"), counted(result["short"], "story", "stories")
        self.stdout.write(f"{assignments} made; {short} short of annotators.")
