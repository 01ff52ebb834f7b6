"""A run and its scores, as people read them in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmark.suites.registry import group_named, nouns_of_group
from core.management.json_command import JsonCommand
from workers.management.ending import printed_of


def say_run(command: JsonCommand, summary: Mapping[str, Any]) -> None:
    for name, value in printed_of(summary).items():
        if name == "scores":
            say_scores(command, value)
        elif name == "judge_test":
            command.stdout.write(f"self-test of the judge: {value['told']}")
        else:
            command.say_of(name, value)


def say_scores(command: JsonCommand, scores: Mapping[str, Any], model: str = "") -> None:
    """One line a measure. `scores`: {official, repaired}, or those by model."""
    if "official" not in scores:
        for name, scores_of_model in scores.items():
            say_scores(command, scores_of_model, name)
        return
    if model:
        command.stdout.write(f"\n{model}")
    for parse, of_parse in scores.items():
        for group, why in (of_parse.get("reason") or {}).items():
            if scores["repaired"][group]:  # else nobody asked for what it is about
                command.note(f"{model}{', ' if model else ''}{parse}, {group_named(group).title}: {why}")
        groups = {name: metrics for name, metrics in of_parse.items() if name != "reason" and metrics}
        wide = max((len(group_named(group).title) for group in groups), default=0)
        for group, metrics in groups.items():
            for name, value in metrics["overall"].items():
                if isinstance(value, str | int | float):
                    line = f"{group_named(group).title:<{wide}}  {_called(group, name):24}"
                    command.stdout.write(f"{parse:10}{line}{_short(value):>12}")


def _called(group: str, name: str) -> str:
    """The name of a number of a metric group: its samples by the suite's noun, a metric by its heading."""
    counts = {
        "stories": nouns_of_group(group)[1],
        "n": "n",
        "unreadable": "unreadable",
        "undefined": "without a figure",
    }
    return counts.get(name) or group_named(group).headers.get(name, name)


def say_metrics(command: JsonCommand, scores: Mapping[str, Any]) -> None:
    """One line a metric of {parse: {"answers", "metrics"}}, whose metrics may be nested."""
    for parse, scored in scores.items():
        for name, value in _flat(scored["metrics"]):
            command.stdout.write(f"{parse:10}{name:<60}{_short(value):>12}")


def _flat(metrics: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str | int | float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}, ")
        elif isinstance(value, str | int | float):
            yield f"{path}{name}", value


def _short(value: str | int | float) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def percent(share: float | None) -> str:
    """Return a share as per cent, a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"
