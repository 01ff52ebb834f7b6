from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._runs import run_of
from benchmark.models import Run, SweepPick
from benchmark.services.sweep_choices import Choosing, choose_model, choosing_document, choosings_of, pick_document
from benchmark.services.sweeps import sweep_of
from core.plain import Json

ASKED = ("group", "model", "level", "reason")


class Command(JsonCommand):
    help = (
        "Prints every model at every level of the sweep that a run was launched in, and the one that was chosen, else "
        "the best, beside all others; or keeps with --group, --model, --level and --reason which one is taken and why."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("--group", default="", metavar="KEY", help="the metric group, as printed without it")
        parser.add_argument("--model", default="", metavar="NAME")
        parser.add_argument("--level", type=int, metavar="N")
        parser.add_argument("--reason", default="", metavar="TEXT")

    def work(self, **options: Any) -> Json:
        run = run_of(options["run"])
        runs = sweep_of(run)
        if not runs:
            raise ValueError(f"{run.title} is of no sweep: launch it at several levels.")
        given = [name for name in ASKED if options[name] not in ("", None)]
        if given and len(given) < len(ASKED):
            raise ValueError("--group, --model, --level and --reason go together.")
        replaced = _choose(runs, options) if given else None
        replacement = {"replaced": replaced and pick_document(replaced)} if given else {}
        groups = [choosing_document(choosing) for choosing in choosings_of(runs)]
        return {"run": run.uid, "groups": groups, **replacement}

    def say(self, result: Json) -> None:
        if replaced := result.get("replaced"):
            by = replaced["by"] or "a command"
            pick = f"{replaced['model']} L{replaced['level']}: {replaced['reason']}"
            self.stdout.write(f"in place of {pick} (chosen by {by}, {replaced['at']})")
        for choosing in result["groups"]:
            chosen = choosing["chosen"]
            pick = f"{chosen['model']} L{chosen['level']}: {chosen['reason']}" if chosen else "none"
            self.stdout.write(f"{choosing['group']}, chosen: {pick}")
            self.stdout.write(f"  {' '.join(filter(None, [choosing['found'], choosing['beyond']]))}")


def _choose(runs: list[Run], options: dict[str, Any]) -> SweepPick | None:
    choosing = next((candidate for candidate in choosings_of(runs) if candidate.group.key == options["group"]), None)
    if choosing is None:
        raise ValueError(f"The sweep has no score of {options['group']!r}.")
    key = _key(choosing, options["model"], options["level"])
    return choose_model(
        by=None, runs=runs, key=key, group=choosing.group.key, reason=options["reason"], now=timezone.now()
    )  # fmt: skip


def _key(choosing: Choosing, model: str, level: int) -> str:
    keys = [candidate.key for candidate in choosing.candidates if (candidate.model, candidate.level) == (model, level)]
    if len(keys) == 1:
        return keys[0]
    names = ", ".join(candidate.name for candidate in choosing.candidates)
    raise ValueError(f"{len(keys)} candidates are {model} L{level}; there are {names}.")
