"""Answers of a planned run that need no call: the ledger has them already, or a rule gives them. Keys are made as for a
call; nothing is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.models import DatasetSample
from benchmark.services.asking import prompts_of, step_request
from benchmark.services.estimates import Cached, Line, steps_asked
from benchmark.services.judges import HANDLER as TESTS
from benchmark.services.judges import SELF_TEST, calls_of
from benchmark.services.judges import request_of as test_request
from benchmark.services.plans import HANDLER, Plan, draft_of
from benchmark.services.run_items import answers_by
from benchmark.suites.registry import suite_named
from workers.models import Call, Endpoint
from workers.models.call import COMPLETED
from workers.providers import registry
from workers.providers.contract import Request, for_endpoint
from workers.providers.errors import BackendError
from workers.services.planning import key_of

_AT_ONCE = 800
Answers = dict[tuple[int, int], str]
"""Texts of answers by (dataset sample id, repetition)."""


def cached_answers(
    plan: Plan, stories: Sequence[DatasetSample], parts: Sequence[Line]
) -> dict[tuple[int, str], Cached]:
    """Return the questions that need no call, by (endpoint id of the model, step).

    A question that needs an earlier answer is looked up only where that answer is cached. `stories` are all of the run,
    `parts` what is asked, the steps of a model in the order in which one needs the other.
    """
    seeker = _Seeker(plan, stories)
    answers_by_part: dict[tuple[int, str], Answers] = {}
    for part in parts:
        key = (part.model.pk, part.step)
        if part.step == SELF_TEST:
            calls = calls_of(seeker.draft)
            requests = {(story.pk, 0): test_request(story, pairs, seeker.draft) for story, pairs in calls}
            looks = _has_answers(part.asked)
            answers_by_part[key] = _completed_answers(part.asked, requests, texts=False) if looks else {}
            continue
        earlier: dict[str, Answers] = {}
        for step in plan.definition.needed(part.step, steps_asked(plan, part.model)):
            if plan.source is None:
                earlier[step] = answers_by_part.get((part.model.pk, step), {})
                continue
            rows = answers_by(plan.source, part.model).filter(step=step)
            turns = rows.values_list("sample_id", "repetition", "call__answer")
            earlier[step] = {(sample, turn): answer for sample, turn, answer in turns}
        answers_by_part[key] = seeker.answers(part, earlier)
    return {key: set(answers) for key, answers in answers_by_part.items()}


class _Seeker:
    """Looks up the questions of a draft run in the ledger."""

    def __init__(self, plan: Plan, stories: Sequence[DatasetSample]) -> None:
        self.draft = draft_of(plan, stories)
        self.prompts, self.repetitions = prompts_of(self.draft), plan.repetitions
        self.requests: dict[tuple[str, int, int], Request | str] = {}

    def answers(self, part: Line, earlier: Mapping[str, Answers]) -> Answers:
        """Return the answers of a part that are cached or known without asking, with their texts where another step
        needs them.

        `earlier` holds, by step, the answers that this part's questions need; a question that lacks one of them is
        skipped."""
        looks = _has_answers(part.asked)
        if not (looks or earlier):
            return {}
        requests: dict[tuple[int, int], Request] = {}
        for story in DatasetSample.in_full(part.stories):
            for key in ((story.pk, turn) for turn in range(self.repetitions)):
                if all(key in answers for answers in earlier.values()):
                    earlier_answers = {step: answers[key] for step, answers in earlier.items()}
                    request = self._request(story, part.step, key[1], earlier_answers)
                    requests |= {} if isinstance(request, str) else {key: request}
        unasked = {key: request.preset_answer for key, request in requests.items() if request.preset_answer is not None}
        asked = {key: request for key, request in requests.items() if key not in unasked} if looks else {}
        texts = bool(suite_named(self.draft.suite).following(part.step))
        return unasked | _completed_answers(part.asked, asked, texts=texts)

    def _request(self, story: DatasetSample, step: str, turn: int, earlier_answers: Mapping[str, str]) -> Request | str:
        """Return the request, or the reason why there is none. One without earlier answers is built once for all
        models."""
        key = (step, story.pk, turn)
        if earlier_answers:
            return step_request(story, step, self.draft, self.prompts, earlier_answers, turn)
        if key not in self.requests:
            self.requests[key] = step_request(story, step, self.draft, self.prompts, repetition=turn)
        return self.requests[key]


def _has_answers(endpoint: Endpoint) -> bool:
    return Call.objects.filter(endpoint=endpoint, handler__in=(HANDLER, TESTS), state__in=COMPLETED).exists()


def _completed_answers(endpoint: Endpoint, requests: Mapping[tuple[int, int], Request], *, texts: bool) -> Answers:
    """Return the answers of the ledger to these requests. Returns none for an in-process engine, which would load its
    model."""
    if endpoint.about.in_process:
        return {}
    cells_by_key: dict[str, list[tuple[int, int]]] = {}
    try:
        backend = registry.make(replace(endpoint.spec, api_key_env=""))  # making a key needs no API key
    except BackendError:
        return {}
    for cell, request in requests.items():
        try:
            body = backend.body(for_endpoint(request, endpoint.spec))
        except BackendError:
            continue
        cells_by_key.setdefault(key_of(endpoint, body, request.sample), []).append(cell)
    fields = ("key", "answer") if texts else ("key", "state")
    answers: Answers = {}
    keys = list(cells_by_key)
    for at in range(0, len(keys), _AT_ONCE):
        calls = Call.objects.filter(key__in=keys[at : at + _AT_ONCE], state__in=COMPLETED)
        for key, text in calls.values_list(*fields):
            answers |= dict.fromkeys(cells_by_key[key], text)
    return answers
