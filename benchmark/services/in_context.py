"""In-context examples of a run: from the sample corpus or from calibration stories, never a story that the run asks about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmark.models import DatasetSample, Run, Stage
from benchmark.services.asking import DatasetResources, reads_prompts, sample_of, settings_of
from benchmark.suites.omnitom.prompting import choosing
from benchmark.suites.omnitom.prompting.choosing import (
    CALIBRATION,
    CALIBRATION_SPLIT,
    SOURCES,
    sample_corpus,
    sourced_examples,
    wanted,
)

if TYPE_CHECKING:
    from benchmark.services.plans import Plan


def wanted_by(run: Run, stage: str) -> int:
    """How many examples the prompts of a run's stage are to show; none for a judge that reads no prompt."""
    return choosing.wanted_by(settings_of(run), stage)


def calibration_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[int]:
    """Numbers of the dataset's calibration stories that may serve where `stories` are asked; none where nothing needs them.

    They serve a category of which the sample corpus has nothing, and every category where the plan prefers them.
    """
    if not plan.definition.protocol:
        return []
    counts = {name: getattr(plan, name) for name in ("level", "judge_level", "shots", "examples")}
    if not any(wanted(stage, **counts) for stage in plan.stages if stage != Stage.JUDGE or reads_prompts(plan.judge)):
        return []
    asked, served = {story.number for story in stories}, {record.category for record in sample_corpus().records}
    needed = {story.category for story in stories} - (set() if plan.examples_from == CALIBRATION else served)
    held = plan.dataset.samples.filter(split=CALIBRATION_SPLIT, category__in=needed).order_by("position")
    return [number for number in held.values_list("number", flat=True) if number not in asked]


def examples_used(run: Run, stages: Iterable[str], stories: Sequence[DatasetSample]) -> list[dict[str, Any]]:
    """[{stage, category, from, least, most}]: how many examples the prompts about a category's stories really show; `from` is
    a key of SOURCES, empty where neither has any that can serve. Only stages that are to show examples are listed."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    settings, resources = settings_of(run), DatasetResources(run.dataset)
    for stage in stages:
        count = wanted_by(run, stage)
        for story in stories if count else ():
            source, examples = sourced_examples(sample_of(story), stage, settings, resources, count)
            fresh = {"stage": str(stage), "category": story.category, "from": source, "least": count, "most": 0}
            row = found.setdefault((fresh["stage"], story.category, source), fresh)
            row["least"], row["most"] = min(row["least"], len(examples)), max(row["most"], len(examples))
    return [found[key] for key in sorted(found)]


def examples_told(run: Run, stage: str) -> str:
    """How many examples the prompts of a stage really showed, in words; empty where they were to show none."""
    groups: dict[str, list[str]] = {}
    for row in run.spec.get("examples", ()):
        if row["stage"] == stage:
            groups.setdefault(_number(row), []).append(row["category"])
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"{said} ({', '.join(names)})" for said, names in groups.items())


def _number(row: Mapping[str, Any]) -> str:
    if not row["most"]:
        return "none, as no story can serve"
    count = str(row["most"]) if row["least"] == row["most"] else f"{row['least']} to {row['most']}"
    return f"{count} from {SOURCES[row['from']]}"


def judge_told(run: Run) -> str:
    """Which judge, and what of its settings it saw: a baseline sees neither prompt nor story, and has rules of a version."""
    if run.judge is None:
        return "–"
    if not reads_prompts(run.judge):
        return f"{run.judge.name}, rules {(run.spec.get('judge') or {}).get('rules', 1)}"
    story = "with the story" if run.params.get("with_story") else "without the story"
    return f"{run.judge.name}, level {run.params.get('judge_level')}, {story}"
