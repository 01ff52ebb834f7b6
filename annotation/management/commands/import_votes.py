from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.management.commands._importing import FILE, READING, ImportCommand, check_readable
from annotation.models import Project
from annotation.services.vote_import import import_votes
from core.wording import counted


class Command(ImportCommand):
    help = "Imports votes from CSV or .xlsx: story_id,actor,belief,dimension,annotator,label[,occurrence][,created_at]."
    arguments = {**FILE, **READING}

    def on(self, project: Project, *, file: Path, encoding: str, **options: Any) -> dict[str, Any]:
        with check_readable(file).open("rb") as handle:
            result = import_votes(
                by=None, project=project, handle=handle, file=str(file), encoding=encoding, now=timezone.now()
            )
        return self.judged(result, kept=True, problems_to=options["problems"])

    def detail(self, result: dict[str, Any]) -> list[str]:
        return [f"{row['name']}: {row['kind']}, {counted(row['votes'], 'vote')}" for row in result["annotators"]]
