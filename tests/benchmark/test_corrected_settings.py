"""A setting that a server refuses is corrected after the launch: the run says what its models were asked with."""

import json

import pytest

from tests.benchmark.settled import make_endpoint, published, started, work_off
from tests.servers.odd import Odd, OddServer
from tests.workers.test_holding import GOOD
from workers.services.endpoints import save_endpoint
from workers.services.jobs import apply_action


@pytest.mark.django_db(transaction=True)
def test_a_run_keeps_the_settings_of_its_answers(cast, make_story):
    def reply(path: str, headers: dict, body: bytes) -> Odd:
        if b'"system"' in body:
            return Odd(400, json.dumps({"error": {"message": "System role not supported"}}).encode())
        return Odd(200, json.dumps(GOOD).encode())

    with OddServer(reply) as server:
        endpoint = make_endpoint("gemma", provider="openai", base_url=server.url + "/v1", max_concurrency=1)
        run = work_off(started(cast, published(cast, make_story, 8), [endpoint]))
        entrant = run.entrants.get()
        assert run.job.state == "paused" and "System role not supported" in run.job.note
        assert server.asked < 8 and entrant.asked_as.no_system_role is None
        save_endpoint(by="alice", endpoint=endpoint, values={"no_system_role": True})
        assert apply_action(run.job, "resume") == ""
        run = work_off(run)
    entrant.refresh_from_db()
    assert run.job.state == "finished" and entrant.asked_as.no_system_role is True
    save_endpoint(by="alice", endpoint=endpoint, values={"no_system_role": False})
    entrant.refresh_from_db()
    assert entrant.asked_as.no_system_role is True
