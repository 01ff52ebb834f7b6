"""The samples of a dataset as files may know them: by their ids, their texts, and what a run would ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.domain.provenance import Statements
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import prompts_of, sample_of
from benchmark.services.made_elsewhere.matching import FileSample, Index
from benchmark.services.made_elsewhere.records import BadFile, Made, Record, texts_in
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.question_sizes import request_of
from benchmark.services.stored_plans import draft_of
from benchmark.suites.answers import BadAnswers
from benchmark.suites.contract import Answered, BadQuestion
from benchmark.suites.guarding import SuiteFailed


def read_by_ids(
    plan: Plan, stories: Sequence[DatasetSample], made: Made, declared: Statements
) -> tuple[Plan, Mapping[str, Answered]]:
    """Return the plan with the settings that answers are read by which the suite's own ids name, and what these ids are
    of."""
    own = plan.definition.answer_ids
    if own is None:
        return plan, {}
    answers = {name: record.text for record in made.records for name in record.ids}
    options = {option.name: declared.ids.get(option.name, option.default) for option in own.options}

    every = stories if len(stories) == plan.dataset.stories_count else plan.dataset.samples.all()
    try:
        ids = own.named([sample_of(story) for story in every], answers, **options)
    except BadAnswers as error:
        raise BadFile(f"{made.name}: {error}") from error
    except SuiteFailed as error:
        raise RunRefused(str(error)) from error
    used = not ids.keys().isdisjoint(answers)
    return (_with_settings(plan, own.settings) if used else plan), ids


def _with_settings(plan: Plan, settings: Options) -> Plan:
    """Return the plan with the settings that go with the ids, without those that the importer stated otherwise."""
    defaults = {setting.name: setting.for_imports.default for setting in plan.definition.settings}
    unsaid = {name: value for name, value in settings.items() if plan.options[name] == defaults[name]}
    return replace(plan, options={**plan.options, **unsaid})


def index_of(
    plan: Plan, stories: Sequence[DatasetSample], records: Sequence[Record], step: str, ids: Mapping[str, Answered]
) -> Index:
    """Return the samples by their ids, and where an id is not enough by what is asked about them."""
    if not any(record.texts or record.messages for record in records):
        return Index([FileSample(story.pk, story.key) for story in stories], ids)

    def asked() -> Iterator[tuple[int, Sequence[str]]]:
        draft = draft_of(plan, stories)
        prompts = prompts_of(draft)
        for story in stories:
            yield story.pk, _asked(story, step, draft, prompts)

    suite = plan.definition
    candidates = [
        FileSample(
            story.pk,
            story.key,
            parts=[_text_of(story, name) for name in suite.told_by],
            apart=[list(texts_in(story.content.get(name))) for name in suite.told_apart_by],
        )
        for story in stories
    ]
    return Index(candidates, ids, asked)


def _asked(story: DatasetSample, step: str, draft: Run, prompts: Any) -> list[str]:
    """Return the prompt that a run would send, whole and without the system's part; none where it cannot be made
    alone."""
    try:
        request = request_of(story, step, draft, prompts)
    except (BadQuestion, SuiteFailed, KeyError):
        return []
    if isinstance(request, str):
        return []
    texts = [message.content for message in request.messages]
    return ["\n\n".join(texts), *[message.content for message in request.messages if message.role == "user"][-1:]]


def _text_of(story: DatasetSample, name: str) -> str:
    return " ".join(texts_in(story.content.get(name)))
