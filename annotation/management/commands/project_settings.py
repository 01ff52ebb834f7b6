from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import model_to_dict
from django.utils import timezone

from annotation.forms.projects import CARD_FIELDS, CardForm, SettingsForm
from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.projects import change_settings, foresee
from core.wording import counted

_NAMES = SettingsForm.Meta.fields


class Command(ProjectCommand):
    help = "Says what a project's settings are; with --set changes them, as the page does."

    arguments = {
        "--set": {
            "action": "append", "default": [], "metavar": "NAME=VALUE",
            "help": f"several times; true or false, and dimensions with commas between. One of: {', '.join(_NAMES)}",
        },
        "--card": {
            "action": "append", "default": [], "metavar": "NAME=VALUE",
            "help": f"several times; what the dataset card says, one of: {', '.join(CARD_FIELDS)}",
        },
        "--preview": {"action": "store_true", "help": "change nothing; say what a rule would settle anew"},
    }  # fmt: skip

    def on(self, project: Project, *, preview: bool, **options: Any) -> dict[str, Any]:
        given = dict(_pair("set", text, _NAMES) for text in options["set"])
        data = model_to_dict(project, _NAMES)
        for name, value in given.items():
            if isinstance(data[name], bool) and value not in ("true", "false"):
                raise ValueError(f"{name} is {value[:40]!r}; expected true or false.")
            data[name] = [key for key in value.split(",") if key] if name == "unanimity_dimensions" else value
        texts = dict(_pair("card", text, CARD_FIELDS) for text in options["card"])
        form = SettingsForm(data, instance=Project.objects.get(pk=project.pk))
        card_form = CardForm(project.dataset_card | texts)
        for each in (form, card_form):
            if not each.is_valid():
                raise ValidationError(each.errors.as_data())
        changes = {name: form.cleaned_data[name] for name in given}
        if texts:
            changes["dataset_card"] = card_form.cleaned_data
        would = foresee(project=project, changes=changes)
        changed = []
        if changes and not preview:
            changed = change_settings(by=None, project=project, changes=changes, now=timezone.now())
        settings = model_to_dict(project, [*_NAMES, "dataset_card"]) | (changes if preview else {})
        card = settings.pop("dataset_card")
        cells = {"settled": would["settled"], "to_experts": would["opened"], "waiting": would["waiting"]}
        return {"project": project.slug, "changed": changed, "cells": cells, "settings": settings, "card": card}

    def say(self, result: dict[str, Any]) -> None:
        for name, value in result["settings"].items():
            written = str(value).lower() if isinstance(value, bool) else str(value)
            if isinstance(value, list):
                written = ",".join(value)
            self.stdout.write(f"{name}={written}{' (changed)' if name in result['changed'] else ''}")
        for name, text in result["card"].items():
            if text:
                self.stdout.write(f"card {name}={text}")
        cells = result["cells"]
        if any(cells.values()):
            settled = counted(cells["settled"], "cell")
            further = f"{cells['to_experts']} to experts, {cells['waiting']} wait for votes"
            self.stdout.write(f"By the rule {settled} settled anew, {further}.")


def _pair(option: str, text: str, names: Collection[str]) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or name not in names:
        raise ValueError(f"--{option} {text[:60]!r}: expected NAME=VALUE, with one of {', '.join(names)}.")
    return name, value
