import time
from typing import Any

from django.utils import timezone

from annotation.domain.labelling import LEVELS
from annotation.management.json_command import JsonCommand, ProjectCommand, dollars
from annotation.models import Prefill, Project, RoundKind
from annotation.services.prefill import estimate, progress_of_rounds, start_prefill
from annotation.services.prefill_rounds import scope_of
from core.plain import Json
from workers.domain.pricing import dollars as dollars_of
from workers.management.commands.work import interruptible
from workers.management.console import JobBar, endpoint_named, failure_of, note_end, printed_of
from workers.models import JobState
from workers.services.endpoint_rules import BOUNDS
from workers.services.progress import Shortfall
from workers.services.run_to_end import run_to_end

DEFAULT_LEVEL = 3


class RoundCommand(JsonCommand):
    """A command about one round of suggestions: it prints the round's progress."""

    shortfall: Shortfall

    def progress_after(self, prefill: Prefill, *, wait: bool) -> Json:
        """Return the progress of a round; with `wait` that at its end, after writing what it lacks."""
        if wait:
            bar = JobBar(prefill.job, time.monotonic)
            try:
                with interruptible(self.note) as stop:
                    run_to_end(job=prefill.job, on_progress=bar.refresh, stop=stop)
            finally:
                bar.close()
            if stop.is_set() and prefill.job.state == JobState.RUNNING:
                command = f"manage.py work --job {prefill.job.uid}"
                self.note(f"The round is not done. A worker goes on with it, or: {command}")
        prefill.job.refresh_from_db()
        [(progress, self.shortfall)] = progress_of_rounds([prefill])
        if wait:
            note_end(prefill.job, self.shortfall, "round", self.note)
        return progress

    def say(self, result: Json) -> None:
        super().say(printed_of(result))

    def failure(self, result: Json) -> str:
        return failure_of(result["state"], self.shortfall, "round")


class Command(RoundCommand, ProjectCommand):
    help = (
        "Has a model suggest labels for the stories of a project, or draft their belief tables, and says before what "
        "that costs at most; with --wait sees it through. Asked to end (Ctrl-C, SIGTERM), it makes no more calls and "
        "waits for the answers "
        "that are on their way."
    )

    has_parts = True
    arguments = {
        "--endpoint": {"required": True, "metavar": "NAME"},
        "--kind": {"choices": RoundKind.values, "default": RoundKind.LABELS.value},
        "--level": {"type": int, "choices": LEVELS, "help": "of the prompt for labels, 3 where not said"},
        "--limit": {"type": int, "metavar": "N", "help": "the first N stories that still have something open"},
        "--budget": {"metavar": "USD", "help": "a hard cap: no call is made that could exceed it"},
        "--reasoning-tokens": {
            "type": int, "metavar": "N",
            "help": "room that each answer has beside its text; without it, what the endpoint says",
        },
        "--batch": {"action": "store_true", "help": "as a batch, at the provider's lower price"},
        "--wait": {"action": "store_true"},
    }  # fmt: skip

    def on(self, project: Project, *, kind: str, limit: int | None, **options: Any) -> Json:
        endpoint, budget = endpoint_named(options["endpoint"]), dollars(options["budget"])
        if limit is not None and limit < 1:
            raise ValueError(f"The limit is {limit}; expected 1 story or more.")
        level, tokens = options["level"], options["reasoning_tokens"]
        if level and kind != RoundKind.LABELS:
            raise ValueError(f"--level is {level}; belief tables have one prompt, without levels.")
        least, most = BOUNDS["reasoning_tokens"]
        if tokens is not None and not least <= tokens <= most:
            raise ValueError(f"--reasoning-tokens is {tokens}; a number from {least} to {most:,} is expected.")
        rows = project.stories.in_split(options["split"]).in_category(options["category"])
        stories = list(rows.select_related("project", "category").order_by("number"))
        scope = scope_of(project=project, stories=stories, kind=kind)
        request = {
            "project": project, "endpoint": endpoint, "kind": kind, "batch": options["batch"],
            "level": level or (DEFAULT_LEVEL if kind == RoundKind.LABELS else None), "reasoning_tokens": tokens,
            "stories": scope.stories[:limit] or stories,  # without any, start says why
        }  # fmt: skip
        if scope.left_out:
            self.note(scope.left_out)
        planned = estimate(**request)
        if planned["stories"]:
            cells = f", for {planned['cells']:,} cells" if planned["cells"] else ""
            cost = "at a price that is unknown" if planned["cost"] is None else dollars_of(planned["cost"])
            self.note(
                f"{planned['stories']:,} call{'' if planned['stories'] == 1 else 's'}, one a story{cells}: at most "
                f"{planned['input_tokens']:,} tokens in and {planned['output_tokens']:,} out, "
                f"{cost}. Answers that the ledger has already cost nothing."
            )
        prefill = start_prefill(by=None, budget=budget, now=timezone.now(), **request)
        progress = self.progress_after(prefill, wait=options["wait"])
        return progress | {"left_out": sum(scope.covered.values())}
