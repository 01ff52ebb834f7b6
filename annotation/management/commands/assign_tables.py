from typing import Any

from annotation.management.json_command import EXPERTS, ProjectCommand, people_named
from annotation.models import Project
from annotation.services.assignments import give_tables, plan_tables
from core.wording import counted


class Command(ProjectCommand):
    help = "Gives stories without a belief table to experts who write it, by the balanced, seeded rule."
    has_parts = True
    arguments = {
        "--experts": {"required": True, "help": "user names, with commas"},
        "--seed": {"type": int, "default": 1},
    }

    def on(self, project: Project, *, seed: int, **options: Any) -> dict[str, Any]:
        people = people_named(options["experts"], project=project, noun="expert", roles=EXPERTS).values()
        parts = project.stories.in_split(options["split"]).in_category(options["category"])
        stories = list(parts.values_list("id", flat=True))
        plan = plan_tables(project=project, stories=stories, experts=people, seed=seed)
        given = give_tables(by=None, project=project, assignments=plan.assignments, seed=seed)
        return {"project": project.slug, "tables": given, "short": len(plan.short), "seed": seed}

    def say(self, result: dict[str, Any]) -> None:
        tables, short = counted(result["tables"], "table"), counted(result["short"], "story", "stories")
        self.stdout.write(f"{tables} given; {short} short of experts.")
