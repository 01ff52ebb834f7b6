"""Which of a run's answers the ledger has already: its keys are made as for a call, and nothing is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchmark.models import DatasetSample, Stage
from benchmark.services.asking import NO_ANSWERS, prompts_of, stage_request
from benchmark.services.estimates import Known, Part
from benchmark.services.judge_tests import PURPOSE as TESTS
from benchmark.services.judge_tests import SELF_TEST, calls_of
from benchmark.services.judge_tests import request_of as test_request
from benchmark.services.plans import Plan, extracted_by
from benchmark.services.runs import PURPOSE, draft_of
from benchmark.suites.registry import suite_named
from workers.models import Call, Endpoint
from workers.models.call import COMPLETED
from workers.providers import registry
from workers.providers.contract import Backend, Request
from workers.providers.errors import BackendError
from workers.services.planning import key_of

_AT_ONCE = 800
Answers = dict[tuple[int, int], str]
"""By (dataset sample id, repetition)."""


def known_answers(plan: Plan, stories: Sequence[DatasetSample], parts: Sequence[Part]) -> dict[tuple[int, str], Known]:
    """Questions by (endpoint id of the model, stage). What needs an earlier answer is looked for where that is known.

    `stories` are all of the run, `parts` what is asked, a model's extraction before its judgement.
    """
    seeker = _Seeker(plan, stories)
    if not plan.definition.protocol:
        return {(part.model.pk, part.stage): seeker.repeated(part) for part in parts}
    found: dict[tuple[int, str], Known] = {}
    extractions: dict[int, Answers] = {}
    for part in parts:
        if part.stage == SELF_TEST:
            held = seeker.tests(part)
        elif part.stage == Stage.JUDGE:
            said = _taken_over(plan, part.model) if plan.source else extractions.get(part.model.pk, {})
            held = seeker.judgements(part, said)
        else:
            held = seeker.answers(part)
        if part.stage == Stage.EXTRACT:
            extractions[part.model.pk] = held
        found[part.model.pk, part.stage] = set(held)
    return found


def _taken_over(plan: Plan, model: Endpoint) -> Answers:
    held = extracted_by(plan.source, model).values_list("sample_id", "repetition", "call__answer")
    return {(sample, turn): answer for sample, turn, answer in held}


class _Seeker:
    """Makes each story's question once for all models."""

    def __init__(self, plan: Plan, stories: Sequence[DatasetSample]) -> None:
        self.draft = draft_of(plan, stories)
        self.prompts, self.repetitions = prompts_of(self.draft), plan.repetitions
        self.requests: dict[tuple[str, int, int], Request] = {}

    def answers(self, part: Part) -> Answers:
        if not _has_answers(part.asked):
            return {}
        turns = range(self.repetitions)
        asked = {(story.pk, turn): self._once(story, part.stage, turn) for turn in turns for story in part.stories}
        return _found(part.asked, asked, texts=part.stage == Stage.EXTRACT)

    def judgements(self, part: Part, extractions: Answers) -> Answers:
        if not _has_answers(part.asked):
            return {}
        stories = {story.pk: story for story in part.stories}
        asked = {
            (pk, turn): self._request(stories[pk], Stage.JUDGE, turn, {Stage.EXTRACT: text})
            for (pk, turn), text in extractions.items()
            if pk in stories
        }
        return _found(part.asked, asked, texts=False)

    def repeated(self, part: Part) -> Known:
        """Of a suite without a protocol; nothing where an earlier answer is needed, which is not looked for."""
        if not _has_answers(part.asked) or suite_named(self.draft.suite).step(part.stage).needs:
            return set()
        asked = {
            (one.pk, turn): stage_request(one, part.stage, self.draft, None, repetition=turn)
            for turn in range(self.repetitions)
            for one in part.stories
        }
        requests = {place: request for place, request in asked.items() if not isinstance(request, str)}
        return set(_found(part.asked, requests, texts=False))

    def tests(self, part: Part) -> Answers:
        calls = calls_of(self.draft.dataset, self.draft.params)
        asked = {(story.pk, 0): test_request(story, pairs, self.draft) for story, pairs in calls}
        return _found(part.asked, asked, texts=False) if _has_answers(part.asked) else {}

    def _once(self, story: DatasetSample, stage: str, turn: int) -> Request:
        key = (stage, story.pk, turn)
        if key not in self.requests:
            self.requests[key] = self._request(story, stage, turn)
        return self.requests[key]

    def _request(self, story: DatasetSample, stage: str, turn: int, answers: Mapping[str, str] = NO_ANSWERS) -> Request:
        return stage_request(story, stage, self.draft, self.prompts, answers, turn)


def _has_answers(endpoint: Endpoint) -> bool:
    return Call.objects.filter(endpoint=endpoint, purpose__in=(PURPOSE, TESTS), state__in=COMPLETED).exists()


def _found(endpoint: Endpoint, requests: Mapping[tuple[int, int], Request], *, texts: bool) -> Answers:
    backend = _backend(endpoint)
    if backend is None:
        return {}
    stories: dict[str, list[tuple[int, int]]] = {}
    for story, request in requests.items():
        stories.setdefault(_key(endpoint, backend, request), []).append(story)
    fields = ("key", "answer") if texts else ("key", "state")
    found: Answers = {}
    for keys in _chunks(list(stories)):
        for key, text in Call.objects.filter(key__in=keys, state__in=COMPLETED).values_list(*fields):
            found |= dict.fromkeys(stories[key], text)
    return found


def _backend(endpoint: Endpoint) -> Backend | None:
    """Without its key, which lies where the worker runs and is no part of what is asked; None for an engine, which would
    load its model."""
    if endpoint.about.in_process:
        return None
    try:
        return registry.make(replace(endpoint.spec, api_key_env=""))
    except BackendError:
        return None


def _key(endpoint: Endpoint, backend: Backend, request: Request) -> str:
    try:
        body = backend.body(request)
    except BackendError:
        return ""
    return key_of(endpoint, body, request.sample)


def _chunks(keys: list[str]) -> Iterable[list[str]]:
    return (keys[at : at + _AT_ONCE] for at in range(0, len(keys), _AT_ONCE))
