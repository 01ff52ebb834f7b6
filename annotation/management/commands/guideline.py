from __future__ import annotations

from pathlib import Path

from django.core.exceptions import ValidationError

from annotation.forms.projects import GuidelineForm
from annotation.management.json_command import JsonCommand
from annotation.models import Guideline, Project
from annotation.services.projects import write_guideline


class Command(JsonCommand):
    help = "Says what a project adds to the guideline of each dimension; with a file, writes that of one."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dimension", metavar="KEY", help="this one alone")
        parser.add_argument("--text", type=Path, metavar="FILE.md", help="in English; an empty file takes it away")
        parser.add_argument("--text-zh", type=Path, metavar="FILE.md", help="in Chinese; what is not given stays")

    def work(self, **options) -> dict:
        project, dimension = self.project(options["project"]), options["dimension"]
        keys = project.schema.keys
        if dimension and dimension not in keys:
            raise ValueError(f"{project.slug} has no dimension {dimension!r}; it has: {', '.join(keys)}.")
        files = {name: options[name] for name in ("text", "text_zh") if options[name]}
        if files and not dimension:
            raise ValueError("A file is the text of one dimension: name it by --dimension.")
        texts = _texts(project)
        before = dict(texts[dimension]) if files else {}
        if files:
            given = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
            write_guideline(by=None, project=project, dimension=dimension, **_checked(given))
            texts = _texts(project)
        selected = {key: texts[key] for key in keys if not dimension or key == dimension}
        changed = [name for name in files if texts[dimension][name] != before[name]]
        return {"project": project.slug, "changed": changed, "guidelines": selected}

    def say(self, result: dict) -> None:
        for dimension, texts in result["guidelines"].items():
            for name, text in texts.items():
                mark = " (changed)" if name in result["changed"] else ""
                self.stdout.write(f"{dimension}, {'Chinese' if name == 'text_zh' else 'English'}{mark}: {text or '–'}")


def _texts(project: Project) -> dict[str, dict[str, str]]:
    """Return dimension → what the project adds to it, by language; empty where it adds nothing."""
    rows = Guideline.objects.filter(project=project).values_list("dimension", "text", "text_zh")
    texts_by_dimension = {dimension: {"text": text, "text_zh": text_zh} for dimension, text, text_zh in rows}
    return {key: texts_by_dimension.get(key, {"text": "", "text_zh": ""}) for key in project.schema.keys}


def _checked(texts: dict[str, str]) -> dict[str, str]:
    """Return these texts as the page's form reads them. Raises ValidationError."""
    form = GuidelineForm(texts)
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    return {name: form.cleaned_data[name] for name in texts}
