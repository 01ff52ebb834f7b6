from __future__ import annotations

from annotation.management.commands._scope import add_scope, check_scope, people_named
from annotation.management.json_command import JsonCommand
from annotation.models import Role
from annotation.services.assignments import give_tables, plan_tables
from core.wording import counted


class Command(JsonCommand):
    help = "Gives stories without a belief table to experts who write it, by the balanced, seeded rule."

    def add_arguments(self, parser) -> None:
        add_scope(parser)
        parser.add_argument("--experts", required=True, help="user names, with commas")
        parser.add_argument("--seed", type=int, default=1)

    def work(self, **options) -> dict:
        project, split, category = self.project(options["project"]), options["split"], options["category"]
        check_scope(project, split=split, category=category)
        roles = (Role.EXPERT, Role.ADMIN)
        people = people_named(options["experts"], project=project, noun="expert", roles=roles)
        stories = list(project.stories.in_split(split).in_category(category).values_list("id", flat=True))
        plan = plan_tables(project=project, stories=stories, experts=people.values(), seed=options["seed"])
        given = give_tables(by=None, project=project, assignments=plan.assignments, seed=options["seed"])
        return {"project": project.slug, "tables": given, "short": len(plan.short), "seed": options["seed"]}

    def say(self, result: dict) -> None:
        tables, short = counted(result["tables"], "table"), counted(result["short"], "story", "stories")
        self.stdout.write(f"{tables} given; {short} short of experts.")
