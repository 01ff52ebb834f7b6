from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError

from annotation.domain.assignment import PlanError
from annotation.models import Project, User
from annotation.services.assignments import assign, plan_seats


class Command(BaseCommand):
    help = "Assigns stories to annotators by the balanced, seeded rule."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--annotators", required=True, help="user names, with commas")
        parser.add_argument("--split", metavar="NAME")
        parser.add_argument("--category", metavar="NAME")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args, **options) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        names = [name.strip() for name in options["annotators"].split(",") if name.strip()]
        people = dict(
            User.objects.filter(memberships__project=project, username__in=names).values_list("username", "id")
        )
        if missing := [name for name in names if name not in people]:
            raise CommandError(f"{', '.join(missing)}: no member of {project.slug} has this name.")
        stories = project.stories.in_split(options["split"]).in_category(options["category"])
        try:
            plan = plan_seats(
                project=project,
                stories=list(stories.values_list("id", flat=True)),
                annotators=people.values(),
                seed=options["seed"],
            )
        except PlanError as error:
            raise CommandError(str(error)) from error
        done = assign(by=None, project=project, seats=plan.seats, seed=options["seed"])
        result = {"project": project.slug, "seats": done.created, "short": len(plan.short), "seed": options["seed"]}
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            self.stdout.write(f"{done.created} seats were assigned; {len(plan.short)} stories lack annotators.")
