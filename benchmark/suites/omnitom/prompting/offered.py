"""OmniToM's description of its prompt sets for launches and reports."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.data import JUDGE, LABEL
from benchmark.suites.omnitom.labels import scheme_of
from benchmark.suites.omnitom.prompting.examples import (
    CALIBRATION,
    CALIBRATION_SPLIT,
    SOURCES,
    WITH_EXAMPLES,
    example_count_of,
    examples_for,
    examples_of,
    level_of,
    sample_corpus,
    sample_serves,
)
from benchmark.suites.omnitom.prompting.requests import Asking
from benchmark.suites.omnitom.prompting.sets import NAMES, NAMES_OF_ANY, PromptSet, built_in, load_prompt_set
from benchmark.suites.prompt_sets import BadPromptSet, PromptSets
from benchmark.suites.questions import Question
from benchmark.suites.settings import Settings
from core.messages import Sentence, gettext_noop, listed, worded
from workers.providers.contract import Request


def _hashes(schema: Schema, prompts: PromptSet, settings: Settings, steps: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of the wording by step, none for judging if the judge reads no prompt. Raises BadPromptSet if
    a prompt has no place for what it is to show."""
    hashes = {}
    for step in steps:
        if step == JUDGE and not settings.judge_reads_prompts:
            continue
        level = level_of(step, settings)
        hashes[step] = prompts.content_hash(step, level)
        places = prompts.template(step, level, settings.answer_format).placeholders
        if example_count_of(settings, step) and "examples" not in places:
            raise BadPromptSet(f"{prompts.name} has no place for examples in {step}-level{level}; choose 0 examples.")
        if step == JUDGE and settings.options["with_story"] and "story" not in places:
            raise BadPromptSet(
                f"{prompts.name} has no place for the story in {step}-level{level}; let the judge go without the story."
            )
        # words about OmniToM's dimensions can be told from words about this schema's only by their placeholders
        if step == LABEL and not {"labels", "definitions"} & places and not scheme_of(schema).official:
            raise BadPromptSet(
                f"{prompts.name} has no place for {{labels}} or {{definitions}} in label-level{level}, so that "
                f"it cannot name the labels of {schema.reference}."
            )
    return hashes


def _source_and_count(question: Question, count: int) -> tuple[str, int]:
    source, examples = examples_of(question.sample, question.step, question.settings, question.resources, count)
    return source, len(examples)


def _serving(schema: Schema, settings: Settings, steps: Sequence[str], categories: Collection[str]) -> frozenset[str]:
    """Return the categories of which the sample corpus has nothing, or all of them if calibration stories are
    preferred."""
    with_examples = [step for step in steps if example_count_of(settings, step)]
    if not with_examples:
        return frozenset()
    if settings.options["examples_from"] == CALIBRATION or not all(
        sample_serves(step, schema) for step in with_examples
    ):
        return frozenset(categories)
    return frozenset(categories) - {record.category for record in sample_corpus()}


def _condition(settings: Settings, step: str, digest: str | None, asking: Mapping[str, str]) -> tuple[str, list[Any]]:
    name, level = settings.options["prompt_set"], settings.options["level"]
    description: list[object] = [name, Sentence("level {level}", level=level)]
    description += [worded(aspect, value) for aspect, value in asking.items()]
    condition = [name, level, digest, *([dict(asking)] if asking else [])]
    if count := example_count_of(settings, step):
        source = settings.options["examples_from"]
        form = gettext_noop("{count} examples from {source}") if count > 1 else gettext_noop("1 example from {source}")
        description.append(form.format(count=count, source=SOURCES[source]))
        condition += [count, source]
    return listed(description), condition


def filled(schema: Schema, prompts: PromptSet, step: str, level: int, answer_format: str) -> Request:
    """Return the prompt for gold of a schema with a story of the shipped sample in it; its gold table stands in for
    predictions. Raises BadPromptSet."""
    record = sample_corpus()[0]
    places = prompts.template(step, level, answer_format).placeholders
    shows_examples = level == WITH_EXAMPLES and sample_serves(step, schema) and "examples" in places
    asking = Asking(
        step=step,
        story=record.story,
        category=record.category,
        level=level,
        answer_format=answer_format,
        schema=schema,
        prompt_set=prompts,
        examples=examples_for(record.category, step, record.story, sample_corpus(), 1) if shows_examples else (),
        rows=record.rows,
    )
    if step == JUDGE:
        asking = replace(asking, predictions=[row.as_told for row in record.rows], with_story="story" in places)
    return asking.request()


def prompting_of(schema: Schema) -> PromptSets[PromptSet]:
    """Return the prompt sets for gold of a schema."""
    names = NAMES if scheme_of(schema).official else NAMES_OF_ANY
    return PromptSets(
        names=names,
        built_in=built_in,
        load=lambda files, name: load_prompt_set(files, name=name, base=names[-1]),
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
