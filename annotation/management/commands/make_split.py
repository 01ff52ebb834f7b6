from __future__ import annotations

from annotation.management.json_command import JsonCommand
from annotation.services.splits import LEFT_ALONE, make_split
from core.wording import counted


class Command(JsonCommand):
    help = "Draws a seeded split: so many stories of each category apart, the others as the rest."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", default="calibration")
        parser.add_argument("--rest", default="main")
        parser.add_argument("--per-category", type=int, default=3)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument(
            "--categories", nargs="*", default=[], metavar="NAME[=N]",
            help="only these (default: all), and how many of each where it is not --per-category",
        )  # fmt: skip

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        names = set(project.categories.values_list("name", flat=True))
        numbers = dict(_number_of(text, names, options["per_category"]) for text in options["categories"])
        drawn = make_split(
            by=None,
            project=project,
            name=options["name"],
            rest=options["rest"],
            per_category=options["per_category"],
            seed=options["seed"],
            numbers=numbers or None,
        )
        summary = {"project": project.slug, "seed": options["seed"], "splits": drawn.counts}
        return summary | {"too_small": drawn.too_small}

    def say(self, result: dict) -> None:
        parts = ", ".join(f"{name}: {counted(count, 'story', 'stories')}" for name, count in result["splits"].items())
        self.stdout.write(f"{parts}.")
        for sentence in result["too_small"]:
            self.stdout.write(f"{LEFT_ALONE} {sentence}")


def _number_of(text: str, names: set[str], per_category: int) -> tuple[str, int]:
    """Read NAME or NAME=N; a category whose own name ends so is taken by its name."""
    name, sign, number = text.rpartition("=")
    if not sign or text in names:
        return text, per_category
    if not number.isdecimal():
        raise ValueError(f"{text}: a whole number is expected after the =.")
    return name, int(number)
