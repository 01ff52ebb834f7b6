"""Lengths of the questions of a run that is to be launched, and of the answers that are to be expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from django.core.cache import cache

from benchmark.models import DatasetSample, Run
from benchmark.services.asking import prompts_of, question_of, settings_of, step_request
from benchmark.services.judge_tests import calls_of
from benchmark.services.judge_tests import request_of as test_request
from benchmark.suites.prompt_sets import PromptSet
from benchmark.suites.registry import suite_named
from core.digests import json_digest, text_digest
from core.kept import SECONDS, key_of
from core.plain import plain
from workers.domain.pricing import Extent
from workers.providers.contract import Request

FEWEST_KEPT = 500
"""Fewer questions are made sooner than they are looked up."""
TOGETHER = 2_000
"""Samples whose sizes are kept together, and are measured while somebody waits."""


@dataclass(frozen=True, slots=True)
class Size:
    """Lengths of one question and of the answer that is to be expected, which holds no reasoning. Questions with one
    digest are one call; an empty one is of a question that was not made."""

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
    """Return sizes by step and dataset sample id of `questions`: (step, sample), in which the same may come again;
    those of many are kept, as every change of the launch form asks for them. Raises BadPromptSet."""
    prompts = prompts_of(draft)
    return {step: _sizes_at(draft, step, samples, prompts) for step, samples in _by_step(questions).items()}


def _sizes_at(
    draft: Run, step: str, samples: Mapping[int, DatasetSample], prompts: PromptSet | None
) -> dict[int, Size]:
    if len(samples) < FEWEST_KEPT:
        return _made(draft, step, samples.values(), prompts)
    sizes: dict[int, Size] = {}
    for key, chunk in _kept_together(draft, step, samples, prompts):
        kept = cache.get(key)
        if kept is None:
            sizes |= _measured(key, draft, step, chunk, prompts)
        else:
            sizes |= {
                sample.pk: Size(Extent(*row[:2]), Extent(*row[2:4]), row[4])
                for sample, row in zip(chunk, kept, strict=True)
            }
    return sizes


def _measured(
    key: str, draft: Run, step: str, chunk: Sequence[DatasetSample], prompts: PromptSet | None
) -> dict[int, Size]:
    """Return the sizes of samples and keep them."""
    sizes = _made(draft, step, chunk, prompts)
    cache.set(key, [_columns(sizes[sample.pk]) for sample in chunk], SECONDS)
    return sizes


@dataclass(slots=True)
class Room:
    """About how many more samples may be measured while somebody waits."""

    left: int = 0


def are_kept(draft: Run, questions: Iterable[tuple[str, DatasetSample]], room: Room) -> bool:
    """Return whether the sizes of all questions are kept, after as many were measured as there is `room` for."""
    prompts = prompts_of(draft)
    for step, samples in _by_step(questions).items():
        for key, chunk in _kept_together(draft, step, samples, prompts):
            if key in cache:
                continue
            if room.left <= 0:
                return False
            room.left -= len(chunk)
            _measured(key, draft, step, chunk, prompts)
    return True


def _by_step(questions: Iterable[tuple[str, DatasetSample]]) -> dict[str, dict[int, DatasetSample]]:
    samples_by_step: dict[str, dict[int, DatasetSample]] = {}
    for step, sample in questions:
        samples_by_step.setdefault(step, {})[sample.pk] = sample
    return samples_by_step


def _kept_together(
    draft: Run, step: str, samples: Mapping[int, DatasetSample], prompts: PromptSet | None
) -> Iterator[tuple[str, list[DatasetSample]]]:
    """Yield samples whose sizes are kept together, with the key under which they are."""
    put = plain(replace(settings_of(draft), repetitions=1))  # how often is nothing of how one is put
    wording = [prompts.name, dict(prompts.files)] if prompts else None
    same = [draft.suite, draft.dataset.pk, draft.dataset.digest, draft.steps, step, put, wording]
    identity, every = json.dumps(same, sort_keys=True, default=str), list(samples.values())
    for at in range(0, len(every), TOGETHER):
        chunk = every[at : at + TOGETHER]
        asked = f"{identity}{[sample.pk for sample in chunk]}"
        yield key_of("sizes", asked), chunk


def _columns(size: Size) -> tuple[int, int, int, int, str]:
    """Return the size as it is kept."""
    question, answer = size.question, size.answer
    return question.ascii, question.other_bytes, answer.ascii, answer.other_bytes, size.digest


def _made(draft: Run, step: str, samples: Iterable[DatasetSample], prompts: PromptSet | None) -> dict[int, Size]:
    """Return the sizes of one step by sample id.

    Where the suite measures its samples, a whole request is made for one sample of each category, and of the others
    only what is their own is measured, as the wording around it is the same for a category; else every request is made
    once.
    """
    suite = suite_named(draft.suite)
    if suite.asking.sizes and suite.asking.sizes.measured_with:
        draft = copy(draft)
        own = {**draft.parameters.own, **suite.asking.sizes.measured_with}
        draft.params = replace(draft.parameters, own=own).as_json()
    identity = _instructions(draft, step, prompts) if suite.asking.sizes else ""
    around: dict[str, Extent] = {}
    sizes: dict[int, Size] = {}
    for sample in DatasetSample.in_full(samples):
        if suite.asking.sizes is None:
            question = question_of(draft, sample, step, answers_expected(draft, sample, step, prompts), prompts)
            request = suite.request(question)
            sizes[sample.pk] = Size(extent_of(request), Extent.of(suite.expected(question)), _digest(request))
            continue
        own_extent, answer = suite.asking.sizes.question(question_of(draft, sample, step, prompts=prompts))
        if sample.category not in around:
            around[sample.category] = extent_of(request_of(sample, step, draft, prompts)) - own_extent
        sizes[sample.pk] = Size(around[sample.category] + own_extent, answer, _unmade_digest(identity, sample))
    return sizes


def _instructions(draft: Run, step: str, prompts: PromptSet | None) -> str:
    """Return a key for everything except the sample that determines a step's questions, or "" after earlier answers."""
    suite = suite_named(draft.suite)
    if suite.step(step).judged:
        return ""
    judging = {setting.name for setting in suite.judging_settings}
    settings = settings_of(draft)
    options = {name: value for name, value in settings.options.items() if name not in judging}
    put = plain(replace(settings, options=options, repetitions=1, judge_reads_prompts=False))
    wording = [prompts.name, dict(prompts.files)] if prompts else None
    return json.dumps([draft.suite, step, put, wording], sort_keys=True, default=str)


def _unmade_digest(identity: str, sample: DatasetSample) -> str:
    """Return the digest of a question that is measured without being made."""
    return text_digest(f"{identity}{sample.pk}")[:20] if identity else ""


def _digest(request: Request | str) -> str:
    if isinstance(request, str):
        return ""
    how = [request.max_tokens, request.temperature, request.seed]
    asked = [[[message.role, message.content] for message in request.messages], request.schema, request.task, how]
    return json_digest(asked, default=str)[:20]


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
    sizes = suite_named(run.suite).asking.sizes
    sizes_by_story = {}
    for story, pairs in calls_of(run):
        pair_texts = [(pair.actor, pair.belief) for pair in pairs]
        answer = sizes.pairs(pair_texts, run.answer_format) if sizes else Extent()
        sizes_by_story[story.pk] = Size(extent_of(test_request(story, pairs, run)), answer)
    return sizes_by_story
