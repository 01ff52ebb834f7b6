from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from annotation.forms.projects import GuidelineForm
from annotation.management.json_command import ProjectCommand, check_dimension
from annotation.models import Guideline, Project
from annotation.services.projects import write_guideline


class Command(ProjectCommand):
    help = "Says what a project adds to the guideline of each dimension; with a file, writes that of one."
    arguments = {
        "--dimension": {"metavar": "KEY", "help": "this one alone"},
        "--text": {"type": Path, "metavar": "FILE.md", "help": "in English; an empty file takes it away"},
        "--text-zh": {"type": Path, "metavar": "FILE.md", "help": "in Chinese; what is not given stays"},
    }

    def on(self, project: Project, *, dimension: str | None, **options: Any) -> dict[str, Any]:
        check_dimension(project, dimension)
        files = {name: options[name] for name in ("text", "text_zh") if options[name]}
        changed, before = list[str](), _texts(project)
        texts = before
        if files:
            if not dimension:
                raise ValueError("A file is the text of one dimension: name it by --dimension.")
            form = GuidelineForm({name: path.read_text(encoding="utf-8") for name, path in files.items()})
            if not form.is_valid():
                raise ValidationError(form.errors.as_data())
            given = {name: form.cleaned_data[name] for name in files}
            write_guideline(by=None, project=project, dimension=dimension, **given)
            texts = _texts(project)
            changed = [name for name in files if texts[dimension][name] != before[dimension][name]]
        selected = {key: text for key, text in texts.items() if not dimension or key == dimension}
        return {"project": project.slug, "changed": changed, "guidelines": selected}

    def say(self, result: dict[str, Any]) -> None:
        for dimension, texts in result["guidelines"].items():
            for name, text in texts.items():
                mark = " (changed)" if name in result["changed"] else ""
                self.stdout.write(f"{dimension}, {'Chinese' if name == 'text_zh' else 'English'}{mark}: {text or '–'}")


def _texts(project: Project) -> dict[str, dict[str, str]]:
    """Return dimension → the project's additions by language, "" if it adds nothing."""
    rows = Guideline.objects.filter(project=project).values_list("dimension", "text", "text_zh")
    texts_by_dimension = {dimension: {"text": text, "text_zh": text_zh} for dimension, text, text_zh in rows}
    return {key: texts_by_dimension.get(key, {"text": "", "text_zh": ""}) for key in project.schema.keys}
