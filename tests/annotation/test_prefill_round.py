"""What the page of a round does, the command and the API do with the same rules."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.models import Scope
from tests.annotation.prefilling import begin
from tests.api.conftest import token_of
from workers.models import Endpoint, Item, ItemState, Job, JobState
from workers.services.jobs import ACTIONS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def held(cast, endpoint, make_story):
    """A round over two stories; the first waits, the second was held back."""
    made = begin(cast, endpoint, [make_story(1), make_story(2)])
    second = Item.objects.filter(job=made.job).order_by("-id").first()
    Item.objects.filter(pk=second.pk).update(state=ItemState.HELD)
    Job.objects.filter(pk=made.job_id).update(note="tiny: Set its key.")
    return made


def states(made) -> list[str]:
    return list(Item.objects.filter(job=made.job).order_by("id").values_list("state", flat=True))


def prefill_round(*arguments: str) -> dict:
    out = io.StringIO()
    call_command("prefill_round", *arguments, "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as caught:
        call_command("prefill_round", *arguments, stdout=io.StringIO(), stderr=io.StringIO())
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def post(cast):
    """`post(cast.alice, made, "resume", budget="2")` of the API."""

    def send(person, made, action: str, *, scope: Scope = Scope.WRITE, **body: str):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person, scope)}")
        return client.post(f"/api/v1/projects/minds/prefills/{made.uid}/{action}/", body, format="json")

    return send


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_resumes_what_a_running_round_holds_back(held):
    assert "a budget is for one that is paused" in refused("resume", held.uid, "--budget", "5")
    told = prefill_round("resume", held.uid)
    assert (told["state"], told["held_back"], states(held)) == ("running", 0, [ItemState.WAITING] * 2)
    assert refused("resume", held.uid) == "The round is running; expected paused to resume it."
    held.job.refresh_from_db()
    assert held.job.note == ""


def test_the_command_pauses_resumes_with_a_budget_and_cancels(held):
    told = prefill_round("pause", held.uid)
    assert (told["round"], told["state"], told["held_back"]) == (held.uid, "paused", 1)
    assert prefill_round("resume", held.uid, "--budget", "2.5")["state"] == "running"
    held.job.refresh_from_db()
    assert held.job.budget == Decimal("2.5") and states(held) == [ItemState.WAITING] * 2
    assert prefill_round("cancel", held.uid)["state"] == "cancelled"
    assert "start a new one instead" in refused("retry", held.uid)


def test_the_command_sees_a_resumed_round_through(held):
    told = prefill_round("resume", held.uid, "--wait")
    assert (told["state"], told["items"]) == ("finished", {"done": 2, "failed": 0, "unreadable": 0})
    assert (told["cost"], told["known_cost"], told["unpriced_calls"]) == (0.0, 0.0, 0)


def test_failed_items_are_asked_again(held):
    Item.objects.filter(job=held.job).update(state=ItemState.FAILED, problem="It broke.")
    assert prefill_round("retry", held.uid, "--wait")["items"]["done"] == 2


def test_what_the_command_refuses(held):
    for arguments, told in [
        (("pause", "nothing"), "There is no round 'nothing'; its id is the last part of its page's address."),
        (("pause", held.uid, "--wait"), "--wait is not for pause, which takes no option."),
        (("retry", held.uid, "--budget", "5"), "--budget is not for retry, which takes --wait."),
        (("resume", held.uid, "--budget", "much"), "The budget is 'much'; expected US dollars"),
    ]:
        assert refused(*arguments).startswith(told)
    assert states(held) == [ItemState.WAITING, ItemState.HELD]


# --- the API ----------------------------------------------------------------------------------------------------------


def test_the_api_resumes_what_a_running_round_holds_back(cast, held, post, api_of):
    body = api_of(cast.alice).get(f"/api/v1/projects/minds/prefills/{held.uid}/").json()
    assert (body["state"], body["held_back"], body["note"]) == ("running", 1, "tiny: Set its key.")
    assert (body["endpoint"], body["level"], body["created_by"], body["budget"]) == ("tiny", 3, "alice", None)
    answer = post(cast.alice, held, "resume")
    assert (answer.status_code, answer.json()["held_back"], answer.json()["note"]) == (200, 0, "")
    assert states(held) == [ItemState.WAITING] * 2
    again = post(cast.alice, held, "resume")
    assert again.status_code == 422
    assert again.json()["error"]["message"] == "The round is running; expected paused to resume it."


def test_the_api_pauses_resumes_with_a_budget_and_cancels(cast, held, post):
    assert post(cast.alice, held, "pause").json()["state"] == "paused"
    answer = post(cast.alice, held, "resume", budget="2.5")
    assert (answer.json()["state"], answer.json()["budget"]) == ("running", "2.5000")
    assert post(cast.alice, held, "cancel").json()["state"] == "cancelled"
    assert Job.objects.get().state == JobState.CANCELLED


def test_what_the_api_refuses(cast, held, post):
    for action, body, status in [
        ("resume", {"budget": "much"}, 400),
        ("resume", {"budget": "-1"}, 400),
        ("resume", {"budjet": "5"}, 400),
        ("pause", {"budget": "5"}, 422),
        ("resume", {"budget": "5"}, 422),  # it is running
        ("stop", {}, 404),
    ]:
        answer = post(cast.alice, held, action, **body)
        assert answer.status_code == status and answer.json()["error"]["message"].endswith(".")
    assert states(held) == [ItemState.WAITING, ItemState.HELD]


def test_only_admins_with_a_token_to_write_act_on_rounds(cast, held, post):
    people = ((cast.bob, 403), (cast.esi, 403), (cast.charlie, 404))
    assert {
        (person.username, post(person, held, action).status_code == status)
        for person, status in people
        for action in ACTIONS
    } == {("bob", True), ("esi", True), ("charlie", True)}
    assert post(cast.alice, held, "pause", scope=Scope.READ).status_code == 403
    assert states(held) == [ItemState.WAITING, ItemState.HELD] and Job.objects.get().state == JobState.RUNNING


def test_rounds_are_listed_in_few_statements(cast, held, make_story, api_of):
    alice = api_of(cast.alice)

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert alice.get("/api/v1/projects/minds/prefills/").status_code == 200
        return len(captured)

    few = statements()
    for number in range(3, 8):
        begin(cast, Endpoint.objects.get(), [make_story(number)])
    assert statements() == few
    rows = alice.get("/api/v1/projects/minds/prefills/").json()["results"]
    assert len(rows) == 6 and rows[-1]["round"] == held.uid and rows[-1]["held_back"] == 1


@pytest.fixture
def api_of():
    def make(person) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person)}")
        return client

    return make
