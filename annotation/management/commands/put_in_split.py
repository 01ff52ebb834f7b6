from __future__ import annotations

from annotation.management.commands._scope import stories_numbered
from annotation.management.json_command import JsonCommand
from annotation.services.splits import put_in_split
from core.wording import counted


class Command(JsonCommand):
    help = "Puts stories into a split, which is made where there is none; an empty name takes them out of theirs."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--stories", nargs="+", type=int, required=True, metavar="NUMBER")
        parser.add_argument("--split", required=True, metavar="NAME")

    def work(self, **options) -> dict:
        project, name = self.project(options["project"]), options["split"]
        stories = stories_numbered(project, options["stories"])
        put = put_in_split(by=None, project=project, stories=stories, name=name)
        return {"project": project.slug, "split": name, "stories": put}

    def say(self, result: dict) -> None:
        where = f"put into {result['split']}" if result["split"] else "taken out of their split"
        self.stdout.write(f"{counted(result['stories'], 'story', 'stories')} {where}.")
