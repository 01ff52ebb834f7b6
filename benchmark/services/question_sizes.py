"""How long the questions of a run are that is to be launched, and the answers that are to be expected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from benchmark.models import DatasetSample, Run
from benchmark.services.asking import prompts_of, question_of, stage_request
from benchmark.services.judge_test_calls import calls_of
from benchmark.services.judge_test_calls import request_of as test_request
from benchmark.suites.prompt_sets import PromptSet
from benchmark.suites.registry import suite_named
from workers.domain.pricing import Extent
from workers.providers.contract import Request


@dataclass(frozen=True, slots=True)
class Size:
    """How long one question is, and the answer that is to be expected, which holds no reasoning. Questions with one digest are one call; an
    empty one is of a question that was not made."""

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
    """Return sizes by step and dataset sample id of `questions`: (step, sample), in which the same may come again. Raises BadPromptSet.

    Where the suite measures its samples, a whole request is made for one sample of each category, and of the others only what is their
    own is measured, as the wording around it is the same for a category; else every request is made once.
    """
    suite, prompts = suite_named(draft.suite), prompts_of(draft)
    around: dict[tuple[str, str], Extent] = {}
    sizes_by_step: dict[str, dict[int, Size]] = {}
    for step, sample in questions:
        sizes = sizes_by_step.setdefault(step, {})
        if sample.pk in sizes:
            continue
        if suite.sizes is None:
            question = question_of(draft, sample, step, answers_expected(draft, sample, step, prompts), prompts)
            request = suite.request(question)
            sizes[sample.pk] = Size(extent_of(request), Extent.of(suite.expected(question)), _digest(request))
            continue
        own_extent, answer = suite.sizes.of(question_of(draft, sample, step, prompts=prompts))
        if (step, sample.category) not in around:
            around[step, sample.category] = extent_of(request_of(sample, step, draft, prompts)) - own_extent
        sizes[sample.pk] = Size(around[step, sample.category] + own_extent, answer)
    return sizes_by_step


def _digest(request: Request | str) -> str:
    if isinstance(request, str):
        return ""
    how = [request.max_tokens, request.temperature, request.seed]
    asked = [[[message.role, message.content] for message in request.messages], request.schema, request.task, how]
    return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()


def request_of(sample: DatasetSample, step: str, draft: Run, prompts: PromptSet | None) -> Request | str:
    """Return what would be asked; earlier answers, which nobody has yet, are those of a perfect model."""
    return stage_request(sample, step, draft, prompts, answers_expected(draft, sample, step, prompts))


def answers_expected(draft: Run, sample: DatasetSample, step: str, prompts: PromptSet | None) -> dict[str, str]:
    """Return what a perfect model would have answered at the steps that this one needs."""
    suite = suite_named(draft.suite)
    answers: dict[str, str] = {}
    for needed in suite.needed(step, draft.stages):
        earlier = answers_expected(draft, sample, needed, prompts)
        answers[needed] = suite.expected(question_of(draft, sample, needed, earlier, prompts))
    return answers


def test_sizes(run: Run) -> dict[int, Size]:
    """Return sizes of the calls that test the run's judge, by dataset sample id."""
    sizes = suite_named(run.suite).sizes
    sizes_by_story = {}
    for story, pairs in calls_of(run):
        pair_texts = [(pair["actor"], pair["belief"]) for pair in pairs]
        answer = sizes.pairs(pair_texts, run.form) if sizes else Extent()
        sizes_by_story[story.pk] = Size(extent_of(test_request(story, pairs, run)), answer)
    return sizes_by_story
