from __future__ import annotations

from django.core.management.base import CommandError

from annotation.models import Project
from core.management import json_command


class JsonCommand(json_command.JsonCommand):
    """A command about a project."""

    @staticmethod
    def project(slug: str) -> Project:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"There is no project {slug!r}.")
        return project
