from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management.commands._importing import check_readable
from annotation.management.json_command import JsonCommand
from annotation.models import Membership, Role
from annotation.services.archive_import import import_archive
from annotation.services.archive_sections import left_out


class Command(JsonCommand):
    help = "Makes a project from an archive. Its people become imported annotators, but for those of --match."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.zip")
        parser.add_argument("--project", required=True, metavar="SLUG", help="the new project's name")
        parser.add_argument(
            "--match", default="", metavar="NAME,…",
            help="accounts that are the archive's people of the same name, and become members",
        )  # fmt: skip
        parser.add_argument("--discard", action="store_true", help="first take away what a broken-off import left")

    def work(self, *, file: Path, project: str, match: str, discard: bool, **options: Any) -> dict[str, Any]:
        matched = [name.strip() for name in match.split(",") if name.strip()]
        with check_readable(file).open("rb") as source:
            rows = import_archive(
                by=None, source=source, slug=project, now=timezone.now(), matched=matched, discard=discard
            )
        for sentence in left_out(rows):
            self.note(sentence)
        if not Membership.objects.filter(project__slug=project, role=Role.ADMIN).exists():
            self.note(f"{project} has no admin but the site admins; add_member gives it one.")
        return {"project": project, "rows": rows}
