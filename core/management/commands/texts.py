"""Collect the texts of code, templates and scripts into the catalogues of their translations."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.catalogues.files import (
    DOMAINS,
    FRAME,
    LOCALES,
    entries,
    own_apps,
    path_of,
    sources,
    texts_by_catalogue,
    translated,
    update,
)


class Command(BaseCommand):
    help = "Write the texts of code, templates and scripts into the catalogues of all apps (make texts)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("app", nargs="*", help="only the catalogues of these apps")
        parser.add_argument("--check", action="store_true", help="fail where a text has no translation, for a release")

    def handle(self, *args: Any, **options: Any) -> None:
        lacking = 0
        catalogues = texts_by_catalogue(sources(settings.BASE_DIR, own_apps(), FRAME))
        for locale in LOCALES:
            paths = {
                (app, domain): path_of(settings.BASE_DIR, app, locale, domain)
                for app in own_apps()
                for domain in DOMAINS
            }
            translations = {
                text: translated(entry)
                for path in paths.values()
                for text, entry in entries(path).items()
                if all(translated(entry))
            }
            for (app, domain), texts in sorted(catalogues.items()):
                if not options["app"] or app in options["app"]:
                    without = update(paths[app, domain], locale, texts, translations)
                    lacking += without
                    self.stdout.write(f"{app} {domain} {locale}: {len(texts)} texts, {without} not translated.")
        if options["check"] and lacking:
            raise CommandError(f"{lacking} texts have no translation; a release expects one for each.")
