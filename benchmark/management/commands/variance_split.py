from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._comparing import group_keys
from benchmark.management.commands._runs import run_of
from benchmark.services.variance import GroupSplit, split_of


class Command(JsonCommand):
    help = (
        "Says how much of the spread of a model's scores lies between samples, between prompts and between "
        "repetitions, over one run that asked everything several times, or several runs on one dataset."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("run", nargs="+", metavar="RUN")
        parser.add_argument("--model", required=True, metavar="NAME")
        parser.add_argument(
            "--group",
            default="",
            metavar="GROUP",
            help=f"the metric group, one of: {', '.join(group_keys())}; the first of the suite if not given",
        )

    def work(self, **options) -> GroupSplit:
        runs = [run_of(uid) for uid in dict.fromkeys(options["run"])]
        return split_of(runs, options["model"], options["group"])
