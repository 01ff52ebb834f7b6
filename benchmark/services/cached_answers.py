"""Which of a run's answers the ledger has already: its keys are made as for a call, and nothing is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchmark.models import DatasetSample
from benchmark.services.asking import prompts_of, stage_request
from benchmark.services.estimates import Cached, Part
from benchmark.services.judge_test_calls import calls_of
from benchmark.services.judge_test_calls import request_of as test_request
from benchmark.services.judge_tests import PURPOSE as TESTS
from benchmark.services.judge_tests import SELF_TEST
from benchmark.services.plans import Plan
from benchmark.services.runs import PURPOSE
from benchmark.services.stored_plans import draft_of
from benchmark.services.taken_over import extracted_by
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


def cached_answers(
    plan: Plan, stories: Sequence[DatasetSample], parts: Sequence[Part]
) -> dict[tuple[int, str], Cached]:
    """Questions by (endpoint id of the model, stage). What needs an earlier answer is looked for where that is known.

    `stories` are all of the run, `parts` what is asked, a model's steps in the order in which one needs the other.
    """
    seeker = _Seeker(plan, stories)
    found: dict[tuple[int, str], Answers] = {}
    for part in parts:
        place = (part.model.pk, part.stage)
        if part.stage == SELF_TEST:
            found[place] = seeker.tests(part)
            continue
        needs = plan.definition.step(part.stage).needs
        said = {step: _earlier(plan, part.model, step, found) for step in needs}
        found[place] = seeker.answers(part, said)
    return {place: set(held) for place, held in found.items()}


def _earlier(plan: Plan, model: Endpoint, step: str, found: Mapping[tuple[int, str], Answers]) -> Answers:
    """The answers of a model at an earlier step: of the run that they are taken over from, else those that are known."""
    if plan.source is None:
        return found.get((model.pk, step), {})
    held = extracted_by(plan.source, model).values_list("sample_id", "repetition", "call__answer")
    return {(sample, turn): answer for sample, turn, answer in held}


class _Seeker:
    """Looks up the questions of a draft run in the ledger."""

    def __init__(self, plan: Plan, stories: Sequence[DatasetSample]) -> None:
        self.draft = draft_of(plan, stories)
        self.prompts, self.repetitions = prompts_of(self.draft), plan.repetitions
        self.requests: dict[tuple[str, int, int], Request | str] = {}

    def answers(self, part: Part, earlier: Mapping[str, Answers]) -> Answers:
        """The answers that the ledger has, with their texts where another step needs them. `earlier` are the answers by step to those that this one
        needs; a question that lacks one of them is not looked for."""
        if not _has_answers(part.asked):
            return {}
        asked: dict[tuple[int, int], Request] = {}
        for story in part.stories:
            for place in ((story.pk, turn) for turn in range(self.repetitions)):
                if all(place in answers for answers in earlier.values()):
                    said = {step: answers[place] for step, answers in earlier.items()}
                    request = self._request(story, part.stage, place[1], said)
                    asked |= {} if isinstance(request, str) else {place: request}
        return _found(part.asked, asked, texts=bool(suite_named(self.draft.suite).following(part.stage)))

    def tests(self, part: Part) -> Answers:
        calls = calls_of(self.draft)
        asked = {(story.pk, 0): test_request(story, pairs, self.draft) for story, pairs in calls}
        return _found(part.asked, asked, texts=False) if _has_answers(part.asked) else {}

    def _request(self, story: DatasetSample, stage: str, turn: int, said: Mapping[str, str]) -> Request | str:
        """A question that rests on no answer is made once for all models."""
        key = (stage, story.pk, turn)
        if said:
            return stage_request(story, stage, self.draft, self.prompts, said, turn)
        if key not in self.requests:
            self.requests[key] = stage_request(story, stage, self.draft, self.prompts, repetition=turn)
        return self.requests[key]


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
