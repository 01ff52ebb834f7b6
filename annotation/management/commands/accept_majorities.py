from typing import Any

from django.utils import timezone

from annotation.management.json_command import ProjectCommand, check_dimension, member_named
from annotation.models import Project, adjudication_queue, workload
from annotation.services import adjudication as bulk
from core.wording import counted


class Command(ProjectCommand):
    help = "Has an expert settle open cells in which one label has more votes than any other, by that label."
    has_parts = True
    arguments = {
        "--dimension": {"metavar": "KEY"},
        "--expert": {"required": True, "metavar": "NAME", "help": "user name of who decides"},
        "--preview": {"action": "store_true", "help": "decide nothing; say what would be"},
    }

    def on(self, project: Project, *, expert: str, dimension: str | None, **options: Any) -> dict[str, Any]:
        person, now = member_named(project, expert), timezone.now()
        check_dimension(project, dimension)
        filters = {"split": options["split"], "category": options["category"], "dimension": dimension}
        cells = adjudication_queue.cells(
            project, unfinished=workload.unfinished(project, person), status="open",
            **{name: value for name, value in filters.items() if value},
        )  # fmt: skip
        preview, settled = bulk.preview(by=person, cells=cells), 0
        if not options["preview"]:
            settled = bulk.accept_plurality(by=person, project=project, cells=cells, seen_until=now, now=now)
        left = {name: preview[name] for name in ("tied", "voted_on")}
        return {
            "project": project.slug, "expert": person.username, "settled": settled,
            "would_settle": preview["total"], "by_dimension": dict(preview["by_dimension"]), "left": left,
        }  # fmt: skip

    def say(self, result: dict[str, Any]) -> None:
        for dimension, cells in result["by_dimension"].items():
            self.stdout.write(f"{dimension}: {counted(cells, 'cell')} with a leading label")
        left = result["left"]
        self.stdout.write(
            f"Settled: {counted(result['settled'], 'cell')}. Left open: {left['tied']} without a leading label, "
            f"{left['voted_on']} on which {result['expert']} voted."
        )
