from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands.prefill import RoundCommand
from annotation.management.json_command import dollars
from annotation.models import Prefill
from core.plain import Json
from workers.services.jobs import ACTIONS, require_action

TAKES = {"resume": ("budget", "wait"), "retry": ("wait",)}
"""The options of those actions that have any."""


class Command(RoundCommand):
    help = (
        "Does to a round of suggestions what its page does: pause, resume and cancel it, or ask its failed items "
        "again (retry). Resuming also asks for what the round holds back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=list(ACTIONS))
        parser.add_argument("round", metavar="ROUND", help="its id, as in the address of its page")
        parser.add_argument("--budget", metavar="USD", help="resume: a hard cap")
        parser.add_argument("--wait", action="store_true", help="resume, retry: run it to its end")

    def work(self, **options: Any) -> Json:
        action, uid = options["action"], options["round"]
        prefill = Prefill.objects.select_related("job", "endpoint", "project").filter(uid=uid).first()
        if prefill is None:
            raise ValueError(f"There is no round {uid!r}; its id is the last part of its page's address.")
        takes = TAKES.get(action, ())
        for name in ("budget", "wait"):
            if options[name] and name not in takes:
                fit = ", ".join(f"--{option}" for option in takes) or "no option"
                raise ValueError(f"--{name} is not for {action}, which takes {fit}.")
        dollars(options["budget"])
        require_action(prefill.job, action, budget=options["budget"] or "", what="round")
        return self.progress_after(prefill, wait=options["wait"])
