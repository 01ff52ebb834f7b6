"""The API is fuzzed from its own description, each request as every role: no 5xx, and every answer is one that the
description allows.

Runs in process through WSGI; each request is rolled back, so that cases neither depend on one another nor on their
order. What an address names that is not there is not there for anybody: such requests are made as one role, the next
as another.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import ignored_auth

from annotation.models import Proposition
from benchmark.models import Audience, ResultsVisibility, RunItem
from benchmark.services.datasets import publish_version
from benchmark.services.documents import document_of
from config.wsgi import application
from tests.annotation.prefilling import begin
from tests.api.conftest import OPERATIONS, token_of
from tests.benchmark.settled import baselines, settle, started, work_off
from tests.judge.alignment_world import new_study
from workers.models import Endpoint, EndpointRateLimit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.thorough]
SEED = 20260101
TIMES = int(os.environ.get("TEST_FUZZED") or 1)
"""How many times as many requests are made: more of them than one run needs find what only many do."""
EXAMPLES, FEW = 5 * TIMES, 2 * TIMES
"""Valid requests of an operation; of one on runs, of which there are many in one manner, and of one that is asked
nothing beside its address."""
ANYWHERE, THERE, FEW_THERE = TIMES, 2 * TIMES, TIMES
"""Invalid ones: whose address may be what is invalid, so that most find no operation; and to the address of something
that is there, where what they say is invalid."""
BOUNDED = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def one_connection(monkeypatch):
    """A request through WSGI closes old connections as it begins and ends; here that would be the test's own. And no
    worker is asked to try a model."""
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda endpoint: True)
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def place(cast, make_story, assign, cast_vote) -> dict[str, list[str]]:
    """Names of things that are there: a story that Bob labels, and one that is open for Esi."""
    stories = [make_story(1), make_story(2)]
    for one in assign(stories[0]):
        cast_vote(one, Proposition.objects.gold_of(stories[0]).first(), "order", "0")
    finished = Proposition.objects.gold_of(stories[1]).first()
    for one, label in zip(assign(stories[1]), ["True", "False", "Unknown"], strict=True):
        cast_vote(one, finished, "truth_status", label)
    propositions = [one.uid for story in stories for one in Proposition.objects.gold_of(story)]
    endpoint = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny")
    EndpointRateLimit.objects.create(endpoint=endpoint)
    made = begin(cast, endpoint, [make_story(3)])
    # a finished run with its report, whose results everybody sees
    settle(make_story(4))
    dataset, _ = publish_version(by=cast.alice, project=cast.project)
    models = baselines()
    run = work_off(started(cast, dataset, [models["majority"], models["random"]]))
    document_of(run)  # a request's own would be rolled back with it
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    item = RunItem.objects.filter(entrant__run=run).first()
    there = {"name": endpoint.name, "slug": "minds", "round": made.uid, "run": run.uid, "item": str(item.pk)}
    there |= {"version": str(dataset.version), "table": "stage2", "study": new_study(cast).uid, "dimension": "order"}
    several = {"story": [story.uid for story in stories], "proposition": propositions}
    return {name: [value] for name, value in there.items()} | several


@pytest.fixture
def tokens(cast) -> dict[str, dict[str, str]]:
    """The header of an annotator, the expert, the admin and the site admin.

    Roles differ in code alone: beside SQLite, who votes and who may do everything reach all that the database does.
    """
    cast.charlie.is_superuser = True
    cast.charlie.save()
    names = ("bob", "esi", "alice", "charlie") if connection.vendor == "sqlite" else ("bob", "charlie")
    return {name: {"Authorization": f"Token {token_of(getattr(cast, name))}"} for name in names}


@pytest.fixture
def described(tokens, one_connection, place):
    config = SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "generation": {"deterministic": True, "database": "none"},
            # Texts that happen to stand in the code of the last modules that were read say nothing about requests.
            "analysis": {"constants": {"enabled": False}},
            "dictionaries": {name: {"values": values} for name, values in place.items()},
            "parameters": {
                **{f"path.{name}": {"dictionary": name, "probability": 0.8} for name in place},
                "body.changes[*].proposition": {"dictionary": "proposition", "probability": 0.8},
            },
            # 422: which propositions there are, and what the rules make of a label, is no matter of a schema.
            "checks": {"positive_data_acceptance": {"expected-statuses": ["200", "201", "403", "404", "409", "422"]}},
        }
    )
    address = "/api/v1/schema/?format=json"
    return schemathesis.openapi.from_wsgi(address, application, config=config, headers=tokens["charlie"])


def answer_to(case, token: dict[str, str], guarded: set[str]) -> int:
    """The status of an answer that passed all checks; `guarded` holds the operations that were shown to answer nobody
    without a token: that check makes requests of its own, and finds the same whomever it takes the token from."""
    operation = case.operation.label
    with transaction.atomic():
        try:
            known = [ignored_auth] if operation in guarded else None
            status = case.call_and_validate(headers=token, excluded_checks=known).status_code
        finally:
            transaction.set_rollback(True)
    if status in (200, 201):
        guarded.add(operation)
    return status


def each_of(strategy: SearchStrategy[Case], number: int, check: Callable[[Case], None]) -> None:
    """Check so many different cases."""

    @settings(BOUNDED, max_examples=number)
    @given(case=strategy)
    def drawn(case: Case) -> None:
        check(case)

    drawn()


Place = Mapping[str, Sequence[str]]


def drawn_of(operation: APIOperation, mode: GenerationMode, place: Place) -> Iterator[tuple[SearchStrategy[Case], int]]:
    """Yield what cases of an operation are drawn from, and how many of them."""
    of_runs, says_more = "runs" in operation.definition.raw["tags"], operation.query or operation.body
    if mode is GenerationMode.POSITIVE:
        yield operation.as_strategy(generation_mode=mode), EXAMPLES if says_more and not of_runs else FEW
        return
    yield operation.as_strategy(generation_mode=mode), ANYWHERE
    if says_more:
        there = {one.name: place[one.name][0] for one in operation.path_parameters if one.name in place}
        strategy = operation.as_strategy(generation_mode=mode, path_parameters=there)
        yield strategy, FEW_THERE if of_runs else THERE


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_answer_breaks_the_description(described, tokens, place, mode):
    """Valid and invalid requests, each as every role; all checks of schemathesis."""
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) == OPERATIONS
    met: dict[str, set[int]] = {name: set() for name in tokens}
    guarded: set[str] = set()
    turns = cycle(tokens)

    def check(case: Case) -> None:
        known = (str(value) in place.get(name, [str(value)]) for name, value in case.path_parameters.items())
        for name in tokens if all(known) else [next(turns)]:  # all that its address names is there, as far as is known
            met[name].add(answer_to(case, tokens[name], guarded))

    for operation in operations:
        for strategy, number in drawn_of(operation, mode, place):
            try:
                each_of(strategy, number, check)
            except Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE, operation.label
    usual = {200, 404} if mode is GenerationMode.POSITIVE else {400, 404}
    for name, statuses in met.items():
        # Only the site admin gets as far as registering a model.
        made = {201} if mode is GenerationMode.POSITIVE and name == "charlie" else set()
        assert statuses >= usual | made, (name, statuses)
