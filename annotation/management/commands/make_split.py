from typing import Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.stories import LEFT_ALONE, make_split
from core.wording import counted


class Command(ProjectCommand):
    help = "Draws a seeded split: so many stories of each category apart, the others as the rest."
    arguments = {
        "--name": {"default": "calibration"},
        "--rest": {"default": "main"},
        "--per-category": {"type": int, "default": 3},
        "--seed": {"type": int, "default": 1},
        "--categories": {
            "nargs": "*", "default": [], "metavar": "NAME[=N]",
            "help": "only these (default: all), and how many of each where it is not --per-category",
        },
    }  # fmt: skip

    def on(
        self, project: Project, *, categories: list[str], per_category: int, seed: int, **options: Any
    ) -> dict[str, Any]:
        names, numbers = set(project.categories.values_list("name", flat=True)), dict[str, int]()
        for text in categories:
            name, sign, number = text.rpartition("=")
            if not sign or text in names:  # a category whose own name ends in =N is taken by its name
                numbers[text] = per_category
            elif number.isdecimal():
                numbers[name] = int(number)
            else:
                raise ValueError(f"{text}: a whole number is expected after the =.")
        counts, small = make_split(
            by=None, project=project, name=options["name"], rest=options["rest"], per_category=per_category,
            seed=seed, numbers=numbers or None,
        )  # fmt: skip
        return {"project": project.slug, "seed": seed, "splits": counts, "too_small": small}

    def say(self, result: dict[str, Any]) -> None:
        parts = ", ".join(f"{name}: {counted(count, 'story', 'stories')}" for name, count in result["splits"].items())
        self.stdout.write(f"{parts}.")
        for sentence in result["too_small"]:
            self.stdout.write(f"{LEFT_ALONE} {sentence}")
