from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser
from django.core.validators import validate_slug

from annotation.management.json_command import JsonCommand
from benchmark.models import StoredPromptSet
from benchmark.services.asking import prompt_set_named
from benchmark.services.prompt_sets import LARGEST, add_prompt_set, discard_prompt_set, names_of, prompting_of
from benchmark.suites.registry import suite_of_gold

LONGEST_NAME: Any = StoredPromptSet._meta.get_field("name").max_length


class Command(JsonCommand):
    help = (
        "Loads a team's own prompts from a folder of .txt files, for runs to use; with --discard lets go of a "
        "set that no run used."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="what runs call it: letters, digits, hyphens")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--folder", type=Path, metavar="PATH", help="its .txt files make up the set")
        parser.add_argument("--discard", action="store_true")

    def work(self, **options: Any) -> dict[str, Any]:
        project, name, folder = self.project(options["project"]), options["name"], options["folder"]
        suite = suite_of_gold(project.schema)
        if options["discard"]:
            if folder is not None:
                raise ValueError("--discard takes the name of a set, and no --folder.")
            if not discard_prompt_set(by=None, project=project, name=name):
                is_project_set = (
                    name in names_of(project, suite)
                    and StoredPromptSet.objects.filter(project=project, name=name).exists()
                )
                why = "was used by a run" if is_project_set else f"is not a prompt set of {project.slug}'s own"
                raise ValueError(f"{name} {why}: it stays as it is.")
            return {"prompt_set": name, "discarded": True}
        if folder is None:
            raise ValueError("Name the folder that holds the set's .txt files: --folder PATH.")
        try:
            validate_slug(name)
        except ValidationError:
            raise ValueError(f"The name is {name!r}; expected letters, digits, hyphens and underscores.") from None
        if len(name) > LONGEST_NAME:
            raise ValueError(f"The name is longer than {LONGEST_NAME} characters.")
        stored = add_prompt_set(by=None, project=project, suite=suite, name=name, files=_files(folder))
        prompts = prompt_set_named(prompting_of(suite), stored.name, project)
        levels = {step.key: list(prompts.levels(step.key)) for step in suite.launched}
        return {"prompt_set": stored.name, "files": len(stored.files), "levels": levels}


def _files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; expected one that holds the set's .txt files.")
    paths = sorted(path for path in folder.glob("*.txt") if path.is_file())
    if sum(path.stat().st_size for path in paths) > LARGEST:
        raise ValueError(f"The files of {folder} are larger than 1 MB together.")
    return {path.name: path.read_bytes() for path in paths}
