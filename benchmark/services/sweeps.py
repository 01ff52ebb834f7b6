"""Sweeps: one launch that asks the same at several levels of a setting, a run each, as a paper chooses its prompts."""

from typing import Any

from benchmark.models import Run
from benchmark.services.asking import chosen_of, reads_prompts
from benchmark.services.judge_versions import judge_name, judged_at
from benchmark.services.plans import swept_settings
from benchmark.services.runs import launched_with
from benchmark.suites.registry import suite_named


def sweep_of(run: Run) -> list[Run]:
    """Return the runs of the launch of a run that make answers of their own at several choices of a swept setting, in
    the order of the launch, or the one whose answers several judges of the launch judge; none of other launches."""
    suite = suite_named(run.suite)
    own = [other for other in launched_with(run) if other.source_id is None and other.suite == run.suite]
    swept = [setting.name for setting in swept_settings(suite).values() if setting not in suite.judging_settings]
    first: dict[tuple[Any, ...], Run] = {}
    for other in own:
        first.setdefault(tuple(level_of(other, name) for name in swept), other)
    return list(first.values()) if swept and own[1:] else []


def level_of(run: Run, name: str) -> Any:
    """Return what a run has chosen of a setting."""
    return chosen_of(run).get(name)


NO_LEVEL = 0
"""The level of a judge that reads no prompt; those of prompts begin with 1."""


def level_name(level: int | str) -> str:
    """Return what a level is called in tables."""
    return f"L{level}" if level != NO_LEVEL else "–"


def judges_of_launch(run: Run) -> dict[str, list[int]]:
    """Return by name the levels of the prompts by which the judges of a run's launch were asked, `NO_LEVEL` of one that
    reads no prompt."""
    levels_by_judge: dict[str, set[int]] = {}
    for other in launched_with(run):
        if judged_at(other):
            levels_by_judge.setdefault(judge_name(other), set()).add(judging_level(other) or NO_LEVEL)
    return {name: sorted(levels) for name, levels in levels_by_judge.items()}


def judging_level(run: Run) -> int | None:
    """Return the level of the prompt by which a run's judge was asked, None for one that reads no prompt."""
    suite = suite_named(run.suite)
    swept = [setting.name for setting in swept_settings(suite).values() if setting in suite.judging_settings]
    return level_of(run, swept[0]) if swept and reads_prompts(run.judge) else None
