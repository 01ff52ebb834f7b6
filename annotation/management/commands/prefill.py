from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from annotation.domain.labelling import LEVELS
from annotation.management.commands._money import dollars
from annotation.management.commands._rounds import progress_after
from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from annotation.models import Project, RoundKind
from annotation.services.prefill import Estimate, estimate, start_prefill
from annotation.services.prefill_progress import RoundProgress
from annotation.services.prefill_scope import Scope, scope_of
from core.plain import Json
from workers.domain.pricing import dollars as dollars_of
from workers.management.console import endpoint_named, failure_of, printed_of
from workers.services.endpoint_rules import BOUNDS

DEFAULT_LEVEL = 3


@dataclass(frozen=True, slots=True)
class StartedRound:
    """A round that was started, and how many stories other rounds ask for already."""

    progress: RoundProgress
    left_out: int

    def as_json(self) -> Json:
        return self.progress.as_json() | {"left_out": self.left_out}


class Command(JsonCommand):
    help = (
        "Has a model suggest labels for the stories of a project, or draft their belief tables, and says before what "
        "that costs at most; with --wait sees it through. Asked to end (Ctrl-C, SIGTERM), it makes no more calls and "
        "waits for the answers "
        "that are on their way."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--endpoint", required=True, metavar="NAME")
        parser.add_argument("--kind", choices=RoundKind.values, default=RoundKind.LABELS.value)
        parser.add_argument("--level", type=int, choices=LEVELS, help="of the prompt for labels, 3 where not said")
        parser.add_argument("--split", metavar="NAME")
        parser.add_argument("--category", metavar="NAME")
        parser.add_argument("--limit", type=int, metavar="N", help="the first N stories that still have something open")
        parser.add_argument("--budget", metavar="USD", help="a hard cap: no call is made that could exceed it")
        parser.add_argument(
            "--reasoning-tokens",
            type=int,
            metavar="N",
            help="room that each answer has beside its text; without it, what the endpoint says",
        )
        parser.add_argument("--batch", action="store_true", help="as a batch, at the provider's lower price")
        parser.add_argument("--wait", action="store_true")

    def work(self, **options) -> StartedRound:
        project, endpoint = self.project(options["project"]), endpoint_named(options["endpoint"])
        budget = dollars(options["budget"])
        scope = _scope(project, options)
        request = {"project": project, "endpoint": endpoint, "kind": options["kind"], "batch": options["batch"]}
        request["level"] = _level(options)
        request["reasoning_tokens"] = _tokens(options["reasoning_tokens"])
        request["stories"] = scope.stories[: options["limit"]] or _stories(
            project, options
        )  # without any, start says why
        self._say_before(estimate(**request), scope)
        prefill = start_prefill(by=None, budget=budget, now=timezone.now(), **request)
        progress = progress_after(prefill, wait=options["wait"], tell=self.note)
        return StartedRound(progress, left_out=sum(scope.covered.values()))

    def say(self, result: StartedRound) -> None:
        super().say(printed_of(result.as_json()))

    def failure(self, result: StartedRound) -> str:
        return failure_of(result.progress.state, result.progress.shortfall, "round")

    def _say_before(self, planned: Estimate, scope: Scope) -> None:
        if scope.left_out:
            self.note(scope.left_out)
        if planned.stories:
            cells = f", for {planned.cells:,} cells" if planned.cells else ""
            self.note(
                f"{planned.stories:,} call{'' if planned.stories == 1 else 's'}, one a story{cells}: at most "
                f"{planned.input_tokens:,} tokens in and {planned.output_tokens:,} out, "
                f"{_priced(planned.cost)}. Answers that the ledger has already cost nothing."
            )


def _priced(cost: Decimal | None) -> str:
    return "at a price that is unknown" if cost is None else dollars_of(cost)


def _scope(project: Project, options: dict) -> Scope:
    if options["limit"] is not None and options["limit"] < 1:
        raise ValueError(f"The limit is {options['limit']}; expected 1 story or more.")
    check_scope(project, split=options["split"], category=options["category"])
    return scope_of(project=project, stories=_stories(project, options), kind=options["kind"])


def _level(options: dict) -> int | None:
    if options["kind"] == RoundKind.LABELS:
        return options["level"] or DEFAULT_LEVEL
    if options["level"]:
        raise ValueError(f"--level is {options['level']}; belief tables have one prompt, without levels.")
    return None


def _stories(project: Project, options: dict) -> list:
    stories = project.stories.in_split(options["split"]).in_category(options["category"])
    return list(stories.select_related("project", "category").order_by("number"))


def _tokens(tokens: int | None) -> int | None:
    least, most = BOUNDS["reasoning_tokens"]
    if tokens is not None and not least <= tokens <= most:
        raise ValueError(f"--reasoning-tokens is {tokens}; a number from {least} to {most:,} is expected.")
    return tokens
