"""From a place in a run to the request for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from annotation.domain.schema import SCHEMAS
from annotation.models import Project
from annotation.services.sample import sample_records
from benchmark.domain.omnitom.pipe_tables import extraction_rows
from benchmark.domain.omnitom.prompting import (
    BadPromptSet,
    Example,
    PromptSet,
    built_in,
    examples_for,
    extraction_request,
    judging_request,
    labelling_request,
    load_prompt_set,
)
from benchmark.domain.omnitom.prompting.sets import NAMES
from benchmark.domain.omnitom.readings.extraction import read_extraction
from benchmark.domain.omnitom.records import Record, record_of
from benchmark.models import DatasetStory, Form, Run, RunItem, Stage, StoredPromptSet
from workers.backends.contract import Request

if TYPE_CHECKING:
    from benchmark.services.plans import Plan

WITH_EXAMPLES = 4
"""The prompt level that has in-context examples."""


def prompt_set_named(name: str, project: Project) -> PromptSet:
    """A built-in set, or the project's own. Raises BadPromptSet."""
    if name in NAMES:
        return built_in(name)
    held = StoredPromptSet.objects.filter(project=project, name=name).first()
    if held is None:
        own = StoredPromptSet.objects.filter(project=project).values_list("name", flat=True)
        raise BadPromptSet(f"There is no prompt set {name!r}; there are {', '.join([*NAMES, *own])}.")
    return _loaded(held.pk)


@lru_cache(32)
def _loaded(pk: int) -> PromptSet:
    held = StoredPromptSet.objects.get(pk=pk)
    return load_prompt_set(held.files, name=held.name)


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """SHA-256 of the wording by stage. Raises BadPromptSet where the set has no prompt of the level."""
    prompts = prompt_set_named(plan.prompt_set, plan.dataset.project)
    hashes = {}
    for stage in plan.stages:
        level = level_of(stage, plan.level, plan.judge_level)
        hashes[stage] = prompts.content_hash(stage, level)
        wanted = plan.shots if stage == Stage.JUDGE else plan.examples
        if level == WITH_EXAMPLES and wanted and not prompts.has_place(stage, level, "examples"):
            raise BadPromptSet(f"{prompts.name} has no place for examples in {stage}-level{level}; choose 0 examples.")
    return hashes


def level_of(stage: str, level: int, judge_level: int) -> int:
    return judge_level if stage == Stage.JUDGE else level


def request_for(place: RunItem, extraction: str = "") -> Request:
    """What a place asks. `place.story` and `place.entrant.run.dataset` are loaded; `extraction` is the raw answer to be judged."""
    run = place.entrant.run
    prompts = prompt_set_named(run.prompt_set, run.project)
    return stage_request(place.story, place.stage, run, prompts, extraction)


def stage_request(story: DatasetStory, stage: str, run: Run, prompts: PromptSet, extraction: str = "") -> Request:
    held = run.params
    level = level_of(stage, run.level, held["judge_level"])
    record = record_of(story.record)
    how: dict[str, Any] = {
        "story": story.text,
        "category": story.category,
        "level": level,
        "form": run.form,
        "schema": SCHEMAS[run.dataset.schema_version],
        "prompt_set": prompts,
        "max_tokens": held["max_tokens"],
        "seed": held["seed"],
    }
    if level == WITH_EXAMPLES:
        how["examples"] = _examples(story, stage, held["shots" if stage == Stage.JUDGE else "examples"])
    if stage == Stage.EXTRACT:
        return extraction_request(**how)
    if stage == Stage.LABEL:
        return labelling_request(rows=record.rows, counts=_counts(run.dataset_id, run.dataset.digest), **how)
    rows = predicted_rows(extraction, run.form)
    return judging_request(predictions=rows, gold=record.rows, with_story=held["with_story"], **how)


def predicted_rows(extraction: str, form: str) -> list[tuple[str, str]]:
    """What the judge is shown of an extraction: the rows of official parsing, of structured output those of its own reading."""
    rows = read_extraction(extraction) if form == Form.STRUCTURED else extraction_rows(extraction)
    return [(row.actor, row.belief) for row in rows]


def _examples(story: DatasetStory, stage: str, count: int) -> tuple[Example, ...]:
    return _examples_for(story.category, stage, story.text, count) if count else ()


@lru_cache(8192)
def _examples_for(category: str, stage: str, text: str, count: int) -> tuple[Example, ...]:
    return examples_for(category, stage, text, _sample(), count)


@lru_cache(1)
def _sample() -> tuple[Record, ...]:
    return tuple(map(record_of, sample_records()))


@lru_cache(8)
def _counts(dataset: int, digest: str) -> Mapping[str, Mapping[str, int]]:
    """How often each label stands in the dataset's gold: what the majority baseline goes by. By digest, as another database's
    dataset may have the same id."""
    counts: dict[str, Counter[str]] = {}
    for beliefs in DatasetStory.objects.filter(dataset=dataset).values_list("beliefs", flat=True):
        for belief in beliefs:
            for key, label in belief["labels"].items():
                counts.setdefault(key, Counter())[label] += 1
    return {key: dict(found) for key, found in counts.items()}
