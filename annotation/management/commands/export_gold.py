from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation.domain.formats import DATA_SET, EXPORT_FORMATS, GOLD, VOTES
from annotation.domain.records import Record
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
            counts = _write_data_set(project, output)
        elif format == GOLD.key:
            counts = {"stories": 0, "propositions": 0}
            _write(output, _counted(gold_records(project, complete_only=options["complete_only"]), counts))
        else:
            _write(output, vote_lines(project, pseudonyms=options["pseudonyms"]))
            stories = project.stories.in_use().filter(tables__kind=TableKind.GOLD).count()
            counts = {"stories": stories, "propositions": totals.propositions}
        if totals.unlabelled:
            self.note(f"{counted(totals.unlabelled, 'cell')} without a settled label.")
        return {"format": format, "path": str(output), **counts}


def _write_data_set(project: Project, path: str) -> dict[str, int]:
    from annotation.services.croissant import FILES, write_croissant  # mlcroissant takes a third of a second to load

    with folder_output(path, names=FILES, mark="croissant.json") as folder:
        return write_croissant(project, folder, site_url=settings.SITE_URL, now=timezone.now())


def _counted(records: Iterable[Record], counts: dict[str, int]) -> Iterator[str]:
    for record in records:
        counts["stories"] += 1
        counts["propositions"] += len(record.beliefs)
        yield line_of(record.as_json())


def _write(output: str, lines: Iterable[str]) -> None:
    with file_output(output, mode="w", encoding="utf-8", newline="") as handle:
        handle.writelines(lines)
