"""In-context examples of a run: from the sample corpus or from calibration stories, never a story that the run asks about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from annotation.services.sample import sample_records
from benchmark.models import DatasetStory, Run, Stage
from benchmark.suites.omnitom.prompting import Example, examples_for
from benchmark.suites.omnitom.records import Record, record_of
from workers.models import Endpoint

if TYPE_CHECKING:
    from benchmark.services.plans import Plan

WITH_EXAMPLES = 4
"""The prompt level that has in-context examples."""
SAMPLE, CALIBRATION = "sample", "calibration"
SOURCES = {SAMPLE: "the sample corpus", CALIBRATION: "calibration stories"}
CALIBRATION_SPLIT = "calibration"
"""The split of a project whose stories may serve as examples."""


def reads_prompts(endpoint: Endpoint | None) -> bool:
    """A baseline computes its answer from the tables; it sees no wording, no examples, and as a judge no story."""
    return endpoint is not None and endpoint.about.reads_prompts


def level_of(stage: str, level: int, judge_level: int) -> int:
    return judge_level if stage == Stage.JUDGE else level


def wanted(stage: str, *, level: int, judge_level: int, shots: int, examples: int) -> int:
    """How many examples a prompt of the stage is to have: none below level 4."""
    count = shots if stage == Stage.JUDGE else examples
    return count if level_of(stage, level, judge_level) == WITH_EXAMPLES else 0


def wanted_by(run: Run, stage: str) -> int:
    """The same of a run; none for a judge that reads no prompt."""
    if stage == Stage.JUDGE and not reads_prompts(run.judge):
        return 0
    held = {name: run.params.get(name, 0) for name in ("judge_level", "shots", "examples")}
    return wanted(stage, level=run.level, **held)


def calibration_of(plan: Plan, stories: Sequence[DatasetStory]) -> list[int]:
    """Numbers of the dataset's calibration stories that may serve where `stories` are asked; none where nothing needs them.

    They serve a category of which the sample corpus has nothing, and every category where the plan prefers them.
    """
    counts = {name: getattr(plan, name) for name in ("level", "judge_level", "shots", "examples")}
    if not any(wanted(stage, **counts) for stage in plan.stages if stage != Stage.JUDGE or reads_prompts(plan.judge)):
        return []
    asked, served = {story.number for story in stories}, {record.category for record in _sample()}
    needed = {story.category for story in stories} - (set() if plan.examples_from == CALIBRATION else served)
    held = plan.dataset.stories.filter(split=CALIBRATION_SPLIT, category__in=needed).order_by("position")
    return [number for number in held.values_list("number", flat=True) if number not in asked]


def examples_of(story: DatasetStory, stage: str, run: Run) -> tuple[Example, ...]:
    """What the prompt about the story shows: of the run's source, and of the other one where that has none for the category."""
    count = wanted_by(run, stage)
    return _from(story, stage, run, count)[1] if count else ()


def _from(story: DatasetStory, stage: str, run: Run, count: int) -> tuple[str, tuple[Example, ...]]:
    """(the source that was used, its examples), both empty where neither has any."""
    chosen = run.params.get("examples_from", SAMPLE)
    numbers = tuple(run.params.get("example_stories", ()))
    for source in (chosen, *(one for one in SOURCES if one != chosen)):
        key = (run.dataset_id, run.dataset.digest, numbers) if source == CALIBRATION else None
        if found := _found(story.category, stage, story.text, count, key):
            return source, found
    return "", ()


@lru_cache(8192)
def _found(
    category: str, stage: str, text: str, count: int, key: tuple[int, str, tuple[int, ...]] | None
) -> tuple[Example, ...]:
    return examples_for(category, stage, text, _records(*key) if key else _sample(), count)


@lru_cache(1)
def _sample() -> tuple[Record, ...]:
    return tuple(map(record_of, sample_records()))


@lru_cache(16)
def _records(dataset: int, digest: str, numbers: tuple[int, ...]) -> tuple[Record, ...]:
    """By digest too, as another database's dataset may have the same id."""
    held = DatasetStory.objects.filter(dataset=dataset, number__in=numbers).order_by("position")
    return tuple(record_of(one.record) for one in held)


def examples_used(run: Run, stages: Iterable[str], stories: Sequence[DatasetStory]) -> list[dict[str, Any]]:
    """[{stage, category, from, least, most}]: how many examples the prompts about a category's stories really show; `from` is
    a key of SOURCES, empty where neither has any that can serve. Only stages that are to show examples are listed."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for stage in stages:
        count = wanted_by(run, stage)
        for story in stories if count else ():
            source, examples = _from(story, stage, run, count)
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
