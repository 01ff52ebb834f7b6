from __future__ import annotations

from annotation.management.commands._importing import counted
from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from annotation.models import Role, User
from annotation.services.table_assignment import give_tables, plan_tables


class Command(JsonCommand):
    help = "Gives stories without a belief table to experts who write it, by the balanced, seeded rule."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--experts", required=True, help="user names, with commas")
        parser.add_argument("--split", metavar="NAME")
        parser.add_argument("--category", metavar="NAME")
        parser.add_argument("--seed", type=int, default=1)

    def work(self, **options) -> dict:
        project, split, category = self.project(options["project"]), options["split"], options["category"]
        check_scope(project, split=split, category=category)
        names = [name.strip() for name in options["experts"].split(",") if name.strip()]
        roles = (Role.EXPERT, Role.ADMIN)
        found = User.objects.filter(memberships__project=project, memberships__role__in=roles, username__in=names)
        people = dict(found.values_list("username", "id"))
        if missing := [name for name in names if name not in people]:
            raise ValueError(f"{', '.join(missing)}: no expert of {project.slug} has this name.")
        stories = list(project.stories.in_split(split).in_category(category).values_list("id", flat=True))
        plan = plan_tables(project=project, stories=stories, experts=people.values(), seed=options["seed"])
        given = give_tables(by=None, project=project, assignments=plan.assignments, seed=options["seed"])
        return {"project": project.slug, "tables": given, "short": len(plan.short), "seed": options["seed"]}

    def say(self, result: dict) -> None:
        tables, short = counted(result["tables"], "table"), counted(result["short"], "story", "stories")
        self.stdout.write(f"{tables} given; {short} short of experts.")
