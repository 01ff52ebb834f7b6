"""OmniToM's description of its prompt sets for whoever launches and reports runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import Schema
from benchmark.suites.omnitom.data import JUDGE, LABEL, record_of
from benchmark.suites.omnitom.labels import scheme_of
from benchmark.suites.omnitom.prompting.examples import (
    CALIBRATION,
    CALIBRATION_SPLIT,
    SOURCES,
    WITH_EXAMPLES,
    example_count_of,
    examples_for,
    level_of,
    sample_corpus,
    sample_serves,
    sourced_examples,
)
from benchmark.suites.omnitom.prompting.requests import REQUESTS
from benchmark.suites.omnitom.prompting.sets import NAMES, NAMES_OF_ANY, PromptSet, built_in, load_prompt_set
from benchmark.suites.prompt_sets import BadPromptSet, PromptSets
from benchmark.suites.questions import Question
from benchmark.suites.settings import Settings
from core.messages import Sentence, gettext_noop, listed, worded
from workers.providers.contract import Request


def _load(base: str, files: Mapping[str, str], name: str) -> PromptSet:
    return load_prompt_set(files, name=name, base=base)


def _hashes(schema: Schema, prompts: PromptSet, settings: Settings, steps: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the wording by step; none of judging where the judge reads no prompt."""
    hashes = {}
    for step in steps:
        if step == JUDGE and not settings.judge_reads_prompts:
            continue
        level = level_of(step, settings.options["level"], settings.options["judge_level"])
        hashes[step] = prompts.content_hash(step, level)
        _check_places(prompts, settings, step, level)
        _check_dimensions(schema, prompts, step, level, settings.answer_format)
    return hashes


def _check_places(prompts: PromptSet, settings: Settings, step: str, level: int) -> None:
    answer_format = settings.answer_format
    if example_count_of(settings, step) and not prompts.has_place(step, level, "examples", answer_format):
        raise BadPromptSet(f"{prompts.name} has no place for examples in {step}-level{level}; choose 0 examples.")
    if step == JUDGE and settings.options["with_story"] and not prompts.has_place(step, level, "story", answer_format):
        raise BadPromptSet(
            f"{prompts.name} has no place for the story in {step}-level{level}; let the judge go without the story."
        )


def _check_dimensions(schema: Schema, prompts: PromptSet, step: str, level: int, answer_format: str) -> None:
    """Refuse words about OmniToM's dimensions for gold of another schema, as far as they can be told from words about
    this one's."""
    defines_labels = any(prompts.has_place(step, level, place, answer_format) for place in ("labels", "definitions"))
    if step == LABEL and not defines_labels and not scheme_of(schema).official:
        raise BadPromptSet(
            f"{prompts.name} has no place for {{labels}} or {{definitions}} in label-level{level}, so that "
            f"it cannot name the labels of {schema.reference}."
        )


def _source_and_count(question: Question, count: int) -> tuple[str, int]:
    source, examples = sourced_examples(question.sample, question.step, question.settings, question.resources, count)
    return source, len(examples)


def _serving(schema: Schema, settings: Settings, steps: Sequence[str], categories: Collection[str]) -> frozenset[str]:
    """The categories of which the sample corpus has nothing, and all of them where calibration stories are
    preferred."""
    with_examples = [step for step in steps if example_count_of(settings, step)]
    if not with_examples:
        return frozenset()
    if not all(sample_serves(step, schema) for step in with_examples):
        return frozenset(categories)
    served = {record.category for record in sample_corpus().records}
    return frozenset(categories) - (set() if settings.options["examples_from"] == CALIBRATION else served)


def _condition(settings: Settings, step: str, digest: str | None, asking: Mapping[str, str]) -> tuple[str, list[Any]]:
    name, level = settings.options["prompt_set"], settings.options["level"]
    description: list[object] = [name, Sentence("level {level}", level=level)]
    condition = [name, level, digest]
    if asking:
        description += [worded(aspect, value) for aspect, value in asking.items()]
        condition += [dict(asking)]
    if count := example_count_of(settings, step):
        source = settings.options["examples_from"]
        form = gettext_noop("{count} examples from {source}") if count > 1 else gettext_noop("1 example from {source}")
        description.append(form.format(count=count, source=SOURCES[source]))
        condition += [count, source]
    return listed(description), condition


def filled(schema: Schema, prompts: PromptSet, step: str, level: int, answer_format: str) -> Request:
    """The prompt for gold of a schema with a story of the shipped sample in it; its gold table stands in for
    predictions. Raises BadPromptSet."""
    records = [record_of(sample.as_json()) for sample in sample_records()]
    record = records[0]
    shows_examples = (
        level == WITH_EXAMPLES
        and sample_serves(step, schema)
        and prompts.has_place(step, level, "examples", answer_format)
    )
    how: dict[str, Any] = {
        "story": record.story,
        "category": record.category,
        "level": level,
        "answer_format": answer_format,
        "schema": schema,
        "prompt_set": prompts,
        "examples": examples_for(record.category, step, record.story, records, 1) if shows_examples else (),
    }
    if step == LABEL:
        how["rows"] = record.rows
    if step == JUDGE:
        how |= {"predictions": [row.as_told for row in record.rows], "gold": record.rows}
        how["with_story"] = prompts.has_place(step, level, "story", answer_format)
    return REQUESTS[step](**how)


def prompting_of(schema: Schema) -> PromptSets[PromptSet]:
    """Return the prompt sets for gold of a schema."""
    names = NAMES if scheme_of(schema).official else NAMES_OF_ANY
    return PromptSets(
        names=names,
        built_in=built_in,
        load=partial(_load, names[-1]),
        hashes=partial(_hashes, schema),
        filled=partial(filled, schema),
        example_count=example_count_of,
        example_source=_source_and_count,
        sources=SOURCES,
        split=CALIBRATION_SPLIT,
        serving=partial(_serving, schema),
        condition=_condition,
        example_file="extract-level3.txt",
        guide="omnitom/prompt_files.html",
    )
