from functools import partial
from pathlib import Path
from typing import Any

from annotation.domain.formats import CORPUS_FORMATS, WHAT_IT_SEEMS
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.management.commands._importing import READING, ImportCommand
from annotation.models import Project, Role, User
from annotation.services.corpus_import import files_of, import_corpus
from annotation.services.file_imports import format_of
from annotation.services.import_results import Source
from annotation.services.schemas import find_schema
from core.incoming.encodings import BadText
from core.incoming.sheets import BadSheet


class Command(ImportCommand):
    help = "Imports stories (and gold tables, where the format has them). Importing a file again changes nothing."

    arguments = {
        "format": {"choices": [*sorted(CORPUS_FORMATS), WHAT_IT_SEEMS], "help": "auto: what the files seem to be"},
        "paths": {"nargs": "+", "type": Path, "metavar": "PATH"},
        "--admin": {"metavar": "USERNAME", "help": "of a new project (default: the only site admin)"},
        "--schema": {
            "metavar": "NAME:VERSION", "help": f"that a new project labels by (default: {DEFAULT_SCHEMA.reference})",
        },
        "--language": {"choices": ["en", "zh"], "default": "en"},
        **READING,
        "--dry-run": {"action": "store_true", "help": "read and check, keep nothing"},
        "--strict": {"action": "store_true", "help": "stop at the first broken line, keep nothing"},
    }  # fmt: skip

    def work(
        self, *, project: str, paths: list[Path], schema: str | None, dry_run: bool, **options: Any
    ) -> dict[str, Any]:
        """Import into a project that may not be there yet."""
        files = files_of(paths, format=options["format"])
        sources: list[Source] = [(str(path), partial[Any](path.open, "rb")) for path in files]
        try:
            chosen, seems = format_of(sources, options["format"], encoding=options["encoding"])
        except (BadSheet, BadText) as error:
            raise ValueError(f"Nothing was imported: {error}") from error
        if options["format"] == WHAT_IT_SEEMS:
            self.note(seems)
        if chosen.key not in CORPUS_FORMATS:
            raise ValueError("Nothing was imported: no format of stories fits.")
        result = import_corpus(
            by=None,
            project_slug=project,
            format=chosen.key,
            sources=sources,
            **{name: options[name] for name in ("encoding", "language", "strict")},
            dry_run=dry_run,
            admin=self._admin(options["admin"], project),
            schema=find_schema(schema) if schema is not None else None,
        )
        if not (result.stories or result.problems):
            raise ValueError("Nothing was imported: the input holds no story.")
        orphans = Project.objects.filter(slug=project).exclude(memberships__role=Role.ADMIN)
        if result.created and orphans.exists():
            self.note(f"{project} has no admin but the site admins; add_member gives it one.")
        return self.judged(result, kept=not dry_run, problems_to=options["problems"])

    def _admin(self, name: str | None, slug: str) -> User | None:
        if name is None:
            site_admins = User.objects.filter(is_superuser=True, is_active=True)[:2]
            return site_admins[0] if len(site_admins) == 1 else None
        person = User.objects.filter(username=name).first()
        if person is None:
            raise ValueError(f"There is nobody called {name!r}.")
        is_new = not Project.objects.filter(slug=slug).exists()
        if not is_new and not person.memberships.filter(project__slug=slug, role=Role.ADMIN).exists():
            self.note(f"{slug} exists already, so --admin changes nothing; use add_member.")
        return person

    def detail(self, result: dict[str, Any]) -> list[str]:
        return [f"{category}: {count}" for category, count in result["by_category"].items()]
