"""What OmniToM says of its prompt sets to whoever launches and reports runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotation.domain.sample_corpus import sample_records
from benchmark.suites.contract import Question
from benchmark.suites.omnitom.prompting.choosing import (
    CALIBRATION,
    CALIBRATION_SPLIT,
    SOURCES,
    WITH_EXAMPLES,
    level_of,
    sample_corpus,
    sourced_examples,
    wanted_by,
)
from benchmark.suites.omnitom.prompting.examples import examples_for
from benchmark.suites.omnitom.prompting.requests import REQUESTS
from benchmark.suites.omnitom.prompting.sets import NAMES, PromptSet, built_in, load_prompt_set
from benchmark.suites.omnitom.records import record_of
from benchmark.suites.prompt_sets import BadPromptSet, PromptSets, Settings
from workers.providers.contract import Request


def _load(files: Mapping[str, str], name: str) -> PromptSet:
    return load_prompt_set(files, name=name)


def _hashes(prompts: PromptSet, settings: Settings, steps: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the wording by step; none of judging where the judge reads no prompt."""
    hashes = {}
    for step in steps:
        if step == "judge" and not settings["judge_reads_prompts"]:
            continue
        level = level_of(step, settings["level"], settings["judge_level"])
        hashes[step] = prompts.content_hash(step, level)
        _check_places(prompts, settings, step, level)
    return hashes


def _check_places(prompts: PromptSet, settings: Settings, step: str, level: int) -> None:
    answer_format = settings["form"]
    if wanted_by(settings, step) and not prompts.has_place(step, level, "examples", answer_format):
        raise BadPromptSet(f"{prompts.name} has no place for examples in {step}-level{level}; choose 0 examples.")
    if step == "judge" and settings["with_story"] and not prompts.has_place(step, level, "story", answer_format):
        raise BadPromptSet(
            f"{prompts.name} has no place for the story in {step}-level{level}; let the judge go without the story."
        )


def _shown(question: Question, count: int) -> tuple[str, int]:
    source, examples = sourced_examples(question.sample, question.step, question.settings, question.resources, count)
    return source, len(examples)


def _serving(settings: Settings, steps: Sequence[str], categories: Collection[str]) -> frozenset[str]:
    """The categories of which the sample corpus has nothing, and all of them where calibration stories are preferred."""
    if not any(wanted_by(settings, step) for step in steps):
        return frozenset()
    served = {record.category for record in sample_corpus().records}
    return frozenset(categories) - (set() if settings["examples_from"] == CALIBRATION else served)


def _condition(settings: Settings, step: str, digest: str | None, asking: Mapping[str, str]) -> tuple[str, list[Any]]:
    name, level = settings["prompt_set"], settings["level"]
    description, condition = f"{name}, level {level}", [name, level, digest]
    if asking:
        description += "".join(f", {aspect} {value}" for aspect, value in asking.items())
        condition += [dict(asking)]
    if count := wanted_by(settings, step):
        source = settings.get("examples_from", "")
        description += f", {count} example{'s' if count > 1 else ''} from {SOURCES.get(source, source)}"
        condition += [count, source]
    return description, condition


def filled(prompts: PromptSet, step: str, level: int, answer_format: str) -> Request:
    """The prompt with a story of the shipped sample in it; its gold table stands in for predictions. Raises BadPromptSet."""
    records = [record_of(sample) for sample in sample_records()]
    record = records[0]
    shows_examples = level == WITH_EXAMPLES and prompts.has_place(step, level, "examples", answer_format)
    how: dict[str, Any] = {
        "story": record.story,
        "category": record.category,
        "level": level,
        "answer_format": answer_format,
        "prompt_set": prompts,
        "examples": examples_for(record.category, step, record.story, records, 1) if shows_examples else (),
    }
    if step == "label":
        how["rows"] = record.rows
    if step == "judge":
        how |= {"predictions": [row.as_told for row in record.rows], "gold": record.rows}
        how["with_story"] = prompts.has_place(step, level, "story", answer_format)
    return REQUESTS[step](**how)


PROMPTING = PromptSets(
    names=NAMES,
    built_in=built_in,
    load=_load,
    hashes=_hashes,
    filled=filled,
    wanted=wanted_by,
    shown=_shown,
    sources=SOURCES,
    split=CALIBRATION_SPLIT,
    serving=_serving,
    condition=_condition,
    example_file="extract-level3.txt",
    guide="omnitom/prompt_files.html",
)
