"""Lengths of the questions of a run that is to be launched, and of the answers that are to be expected."""

import json
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace

from benchmark.models import DatasetSample, Run
from benchmark.services.asking import prompts_of, question_of, step_request
from benchmark.services.judges import calls_of
from benchmark.services.judges import request_of as test_request
from benchmark.suites.prompt_sets import PromptSet
from benchmark.suites.registry import suite_named
from core.digests import json_digest
from workers.domain.pricing import Extent
from workers.providers.contract import Request


@dataclass(frozen=True, slots=True)
class Size:
    """Lengths of one question and of the answer that is to be expected, which holds no reasoning. Questions with one
    digest are one call; an empty one is of what is not asked."""

    question: Extent
    answer: Extent
    digest: str = ""


def extent_of(request: Request | str) -> Extent:
    """Return how much text is sent; nothing where nothing is to be asked."""
    if isinstance(request, str):
        return Extent()
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema else ""
    return sum((Extent.of(message.content) for message in request.messages), Extent.of(schema))


def sizes_of(draft: Run, questions: Iterable[tuple[str, DatasetSample]]) -> dict[str, dict[int, Size]]:
    """Return sizes by step and dataset sample id of `questions`: (step, sample), in which the same may come again.
    Raises BadPromptSet."""
    prompts, suite, draft = prompts_of(draft), suite_named(draft.suite), copy(draft)
    draft.params = replace(draft.parameters, own={**draft.parameters.own, **suite.asking.estimated_with}).as_json()
    samples_by_step: dict[str, dict[int, DatasetSample]] = {}
    for step, sample in questions:
        samples_by_step.setdefault(step, {})[sample.pk] = sample
    sizes: dict[str, dict[int, Size]] = {}
    for step, samples in samples_by_step.items():
        at_step = sizes.setdefault(step, {})
        for sample in DatasetSample.in_full(samples.values()):
            question = question_of(draft, sample, step, answers_expected(draft, sample, step, prompts), prompts)
            request = suite.request(question)
            # a question to a judge rests on answers that nobody has yet: no two are known to be one call
            digest = ""
            if not suite.step(step).judged and not isinstance(request, str):
                how = [request.max_tokens, request.temperature, request.seed]
                texts = [[message.role, message.content] for message in request.messages]
                digest = json_digest([texts, request.schema, request.task, how], default=str)[:20]
            at_step[sample.pk] = Size(extent_of(request), Extent.of(suite.expected(question)), digest)
    return sizes


def request_of(sample: DatasetSample, step: str, draft: Run, prompts: PromptSet | None) -> Request | str:
    """Return what would be asked; earlier answers, which nobody has yet, are those of a perfect model."""
    return step_request(sample, step, draft, prompts, answers_expected(draft, sample, step, prompts))


def answers_expected(draft: Run, sample: DatasetSample, step: str, prompts: PromptSet | None) -> dict[str, str]:
    """Return what a perfect model would have answered at the steps that this one needs."""
    suite = suite_named(draft.suite)
    answers: dict[str, str] = {}
    for needed in suite.needed(step, draft.steps):
        earlier = answers_expected(draft, sample, needed, prompts)
        answers[needed] = suite.expected(question_of(draft, sample, needed, earlier, prompts))
    return answers


def test_sizes(run: Run) -> dict[int, Size]:
    """Return sizes of the calls that test the run's judge, by dataset sample id."""
    sizes_by_story = {}
    for story, pairs in calls_of(run):
        answer = sum((Extent.of(f"{pair.actor}{pair.belief}") for pair in pairs), Extent())  # a judge repeats the rows
        sizes_by_story[story.pk] = Size(extent_of(test_request(story, pairs, run)), answer + answer)
    return sizes_by_story
