from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation.domain.formats import DATA_SET, EXPORT_FORMATS, GOLD, VOTES
from annotation.management.commands._output import file_output, folder_output
from annotation.management.json_command import ProjectCommand
from annotation.models import Project, TableKind
from annotation.services.gold_export import gold_records, line_of, vote_lines
from annotation.services.progress import Progress
from core.wording import counted


class Command(ProjectCommand):
    help = "Exports gold: records, every vote with its lineage, or a folder with a Croissant description."
    arguments = {
        "--format": {"required": True, "choices": list(EXPORT_FORMATS)},
        "--output": {"required": True, "metavar": "PATH"},
        "--complete-only": {"action": "store_true", "help": "leave out stories with an unsettled cell"},
        "--pseudonyms": {"action": "store_true", "help": f"{VOTES.key}: people are named A1, A2 …"},
    }

    def on(self, project: Project, *, format: str, output: str, **options: Any) -> dict[str, Any]:
        totals = Progress(project).totals()
        if format == DATA_SET.key:
            from annotation.services.croissant import FILES, write_croissant  # takes a third of a second to load

            with folder_output(output, names=FILES, mark="croissant.json") as folder:
                counts = write_croissant(project, folder, site_url=settings.SITE_URL, now=timezone.now())
        else:
            counts = {"stories": 0, "propositions": 0}
            with file_output(output, mode="w", encoding="utf-8", newline="") as handle:
                if format == GOLD.key:
                    for record in gold_records(project, complete_only=options["complete_only"]):
                        counts["stories"] += 1
                        counts["propositions"] += len(record.beliefs)
                        handle.write(line_of(record.as_json()))
                else:
                    handle.writelines(vote_lines(project, pseudonyms=options["pseudonyms"]))
                    counts["stories"] = project.stories.in_use().filter(tables__kind=TableKind.GOLD).count()
                    counts["propositions"] = totals.propositions
        if totals.unlabelled:
            self.note(f"{counted(totals.unlabelled, 'cell')} without a settled label.")
        return {"format": format, "path": str(output), **counts}
