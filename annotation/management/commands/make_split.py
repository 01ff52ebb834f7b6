from __future__ import annotations

from annotation.management.json_command import JsonCommand
from annotation.services.splits import make_split


class Command(JsonCommand):
    help = "Draws a seeded split: so many stories of each category apart, the others as the rest."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", default="calibration")
        parser.add_argument("--rest", default="main")
        parser.add_argument("--per-category", type=int, default=3)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--categories", nargs="*", default=[], metavar="NAME", help="only these (default: all)")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        counts = make_split(
            by=None,
            project=project,
            name=options["name"],
            rest=options["rest"],
            per_category=options["per_category"],
            seed=options["seed"],
            categories=options["categories"],
        )
        return {"project": project.slug, "seed": options["seed"], "splits": counts}
