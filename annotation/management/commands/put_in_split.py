from typing import Any

from annotation.management.json_command import ProjectCommand, stories_numbered
from annotation.models import Project
from annotation.services.stories import put_in_split
from core.wording import counted


class Command(ProjectCommand):
    help = "Puts stories into a split, which is made where there is none; an empty name takes them out of theirs."
    arguments = {
        "--stories": {"nargs": "+", "type": int, "required": True, "metavar": "NUMBER"},
        "--split": {"required": True, "metavar": "NAME"},
    }

    def on(self, project: Project, *, stories: list[int], split: str, **options: Any) -> dict[str, Any]:
        put = put_in_split(by=None, project=project, stories=stories_numbered(project, stories), name=split)
        return {"project": project.slug, "split": split, "stories": put}

    def say(self, result: dict[str, Any]) -> None:
        where = f"put into {result['split']}" if result["split"] else "taken out of their split"
        self.stdout.write(f"{counted(result['stories'], 'story', 'stories')} {where}.")
