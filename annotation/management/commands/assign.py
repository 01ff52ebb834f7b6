from __future__ import annotations

from annotation.management.commands._assigned import day
from annotation.management.commands._scope import add_scope, check_scope, people_named
from annotation.management.json_command import JsonCommand
from annotation.services.assignments import assign, plan_assignments
from core.wording import counted


class Command(JsonCommand):
    help = "Assigns stories to annotators by the balanced, seeded rule."

    def add_arguments(self, parser) -> None:
        add_scope(parser)
        parser.add_argument("--annotators", required=True, help="user names, with commas")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--due", type=day, metavar="YYYY-MM-DD", help="the day to finish by")
        parser.add_argument("--without-table", action="store_true", help="also stories that have no propositions yet")

    def work(self, **options) -> dict:
        project, split, category = self.project(options["project"]), options["split"], options["category"]
        check_scope(project, split=split, category=category)
        people = people_named(options["annotators"], project=project, noun="member")
        stories = project.stories.in_split(split).in_category(category)
        plan = plan_assignments(
            project=project,
            stories=list(stories.values_list("id", flat=True)),
            annotators=people.values(),
            seed=options["seed"],
            without_table=options["without_table"],
        )
        made = assign(by=None, project=project, assignments=plan.assignments, seed=options["seed"], due=options["due"])
        return {"project": project.slug, "assignments": made, "short": len(plan.short), "seed": options["seed"]}

    def say(self, result: dict) -> None:
        assignments, short = counted(result["assignments"], "assignment"), counted(result["short"], "story", "stories")
        self.stdout.write(f"{assignments} made; {short} short of annotators.")
