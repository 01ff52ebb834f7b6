from __future__ import annotations

from django.utils import timezone

from annotation.management.commands._scope import add_scope, check_scope, member_named
from annotation.management.json_command import JsonCommand
from annotation.models import Role, adjudication_queue, workload
from annotation.services import adjudication as bulk
from core.wording import counted


class Command(JsonCommand):
    help = "Has an expert settle open cells in which one label has more votes than any other, by that label."

    def add_arguments(self, parser) -> None:
        add_scope(parser)
        parser.add_argument("--dimension", metavar="KEY")
        parser.add_argument("--expert", required=True, metavar="NAME", help="user name of who decides")
        parser.add_argument("--preview", action="store_true", help="decide nothing; say what would be")

    def work(self, **options) -> dict:
        project, now = self.project(options["project"]), timezone.now()
        expert = member_named(project, options["expert"], noun="expert", roles=(Role.EXPERT, Role.ADMIN))
        check_scope(project, split=options["split"], category=options["category"])
        if (dimension := options["dimension"]) and dimension not in project.schema:
            raise ValueError(
                f"{project.slug} has no dimension {dimension!r}; it has: {', '.join(project.schema.keys)}."
            )
        filters = {name: options[name] for name in ("split", "category", "dimension") if options[name]}
        waiting = workload.unfinished(project, expert)
        cells = adjudication_queue.cells(project, unfinished=waiting, status="open", **filters)
        preview, settled = bulk.preview(by=expert, cells=cells), 0
        if not options["preview"]:
            settled = bulk.accept_plurality(by=expert, project=project, cells=cells, seen_until=now, now=now)
        left = {name: preview[name] for name in ("tied", "voted_on")}
        return {
            "project": project.slug, "expert": expert.username, "settled": settled,
            "would_settle": preview["total"], "by_dimension": dict(preview["by_dimension"]), "left": left,
        }  # fmt: skip

    def say(self, result: dict) -> None:
        for dimension, cells in result["by_dimension"].items():
            self.stdout.write(f"{dimension}: {counted(cells, 'cell')} with a leading label")
        left = result["left"]
        self.stdout.write(
            f"Settled: {counted(result['settled'], 'cell')}. Left open: {left['tied']} without a leading label, "
            f"{left['voted_on']} on which {result['expert']} voted."
        )
