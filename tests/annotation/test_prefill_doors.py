"""Pages, commands and the API of rounds do the same: estimate, budget, batch, room to reason, one sentence where they
refuse, and a calm end."""

import io
import json
import os
import signal
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.models import Prefill, Scope, Suggestion
from annotation.services import prefill as service
from tests.annotation.prefilling import CELLS, begin, suggest
from tests.api.conftest import token_of
from workers.domain.pricing import dollars
from workers.models import Call, Endpoint, Item, ItemState, Job, JobState
from workers.services.jobs import ACTIONS
from workers.services.runner import Runner

pytestmark = pytest.mark.django_db(transaction=True)
PAGE, API = "/p/minds/prefill/", "/api/v1/projects/minds/prefills/"
ASKED = {"endpoint": "tiny", "level": "3", "split": "", "category": ""}


def command(name: str, *arguments: str) -> tuple[dict, str]:
    """What it printed on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command(name, *arguments, "--json", stdout=out, stderr=err, no_color=True)
    return json.loads(out.getvalue()), err.getvalue()


def prefill(*arguments: str, endpoint: str = "tiny") -> tuple[dict, str]:
    return command("prefill", "--project", "minds", "--endpoint", endpoint, *arguments)


def refused(ask, *arguments: str, **options) -> str:
    with pytest.raises(CommandError) as caught:
        ask(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(endpoint: Endpoint, **fields) -> Endpoint:
    Endpoint.objects.filter(pk=endpoint.pk).update(**fields)
    endpoint.refresh_from_db()
    return endpoint


def read(client, path: str) -> str:
    return " ".join(client.get(path).content.decode().split())


@pytest.fixture
def alice(client, cast):
    client.force_login(cast.alice)
    return client


def test_the_pages_estimate_start_show_and_discard(endpoint, make_story, alice):
    make_story(1), make_story(2, category="Hinting Task Test")
    changed(endpoint, price_output=Decimal(10))
    asked = ASKED | {"category": "Hinting Task Test"}
    page = alice.post(PAGE, asked).content.decode()
    assert "1 call<" in page and "14 cells" in page and "$0.0058" in page  # (400 + 2 × 90) tokens × $10 a million
    address = alice.post(PAGE, asked | {"start": "1"})["Location"]
    Runner().run()
    assert "finished" in alice.get(address).content.decode()
    assert alice.get(f"{address}progress/").status_code == 200
    assert Suggestion.objects.count() == 14
    alice.post(f"{PAGE}discard/")
    assert Suggestion.objects.count() == 0


def test_the_command_estimates_takes_a_budget_and_a_batch_and_sees_a_round_through(endpoint, make_story, cast, alice):
    make_story(1, category="Hinting Task Test")
    changed(endpoint, provider="openai")
    _, told = prefill()
    assert "580 out, at a price that is unknown. Answers" in told
    Prefill.objects.all().delete()
    Job.objects.all().delete()
    changed(endpoint, provider="scripted", price_input=Decimal(0), price_output=Decimal(10), batches=True)
    asked = {"project": cast.project, "endpoint": endpoint, "stories": list(cast.project.stories.all()), "level": 3}
    for share in (Decimal("0.25"), Decimal("0.5")):
        changed(endpoint, price_batch=share)
        plain, batched = (service.estimate(**asked, batch=batch)["cost"] for batch in (False, True))
        assert plain > 0 and batched == plain * share
    assert dollars(batched) in alice.post(PAGE, ASKED | {"batch": "on"}).content.decode()
    _, told = prefill("--budget", "2.5", "--batch")
    # (400 + 2 × 90) tokens × $10 a million, at half price
    assert f"1 call, one a story, for {2 * CELLS} cells" in told and "580 out, $0.0029." in told
    job = Prefill.objects.get().job
    assert (job.budget, job.batch) == (Decimal("2.5"), True)
    make_story(2), make_story(3)
    result, _ = prefill("--wait")
    assert (result["items"], result["calls"]) == ({"done": 2, "failed": 0, "unreadable": 0}, {"made": 2, "reused": 0})
    assert result["left_out"] == 1


def test_what_the_command_cannot_do_is_one_sentence(endpoint, make_story):
    make_story()
    assert refused(prefill, endpoint="none").startswith("There is no endpoint 'none'; there are: tiny")
    for budget in ("much", "-1", "NaN", "Infinity", "0.00001", "1e9"):
        told = refused(prefill, f"--budget={budget}")
        assert told.startswith(f"The budget is '{budget}'; expected US dollars, 0 or more")
    for limit in ("0", "-3"):
        assert refused(prefill, f"--limit={limit}") == f"The limit is {limit}; expected 1 story or more."
    told = refused(prefill, "--reasoning-tokens=-1")
    assert told == "--reasoning-tokens is -1; a number from 0 to 1,000,000 is expected."
    assert not Prefill.objects.exists()


def test_the_limit_counts_stories_with_something_open(cast, endpoint, make_story):
    stories = [make_story(number) for number in range(1, 6)]
    suggest(stories[0])
    running = begin(cast, endpoint, [stories[1]])
    result, told = prefill("--limit", "2")
    items = Item.objects.filter(job=Prefill.objects.get(uid=result["round"]).job)
    # the first has its suggestions, the second is asked for by another round
    assert set(items.values_list("key", flat=True)) == {stories[2].uid, stories[3].uid}
    assert result["left_out"] == 1 and "2 calls, one a story" in told
    assert f"1 story is left out until this has ended with it: {running.uid} (tiny, running)." in told


def test_a_model_that_reasons_gets_room_beside_its_answer(cast, endpoint, make_story, alice):
    """As its endpoint says, or as a round says."""
    for number, (of_endpoint, of_round, room) in enumerate(((0, None, 0), (8_000, None, 8_000), (8_000, 0, 0)), 1):
        changed(endpoint, reasoning_tokens=of_endpoint)
        own = {} if of_round is None else {"reasoning_tokens": of_round}
        asked = {"project": cast.project, "endpoint": endpoint, "stories": [make_story(number)], "level": 1, **own}
        planned = service.estimate(**asked)["output_tokens"]
        made = begin(cast, endpoint, asked["stories"], level=1, **own)
        Runner().run()
        assert json.loads(Call.objects.get(items__job=made.job).body)["max_tokens"] == planned
        assert room < planned < room + 1_000 and made.job.params["reasoning_tokens"] == room
    make_story(4)
    assert alice.post(PAGE, {**ASKED, "reasoning_tokens": "5000", "start": "1"}).status_code == 302
    make_story(5)
    call_command(
        "prefill", "--project=minds", "--endpoint=tiny", "--reasoning-tokens=700", stdout=(out := io.StringIO())
    )
    assert f"round: {Prefill.objects.latest('id').uid}" in out.getvalue(), "in words where no JSON is asked for"
    last = Prefill.objects.order_by("-id")[:2]
    assert [one.job.params["reasoning_tokens"] for one in last] == [700, 5_000]


def test_an_interrupt_lets_what_is_in_flight_come_to_its_end(endpoint, make_story, monkeypatch):
    for number in range(1, 21):
        make_story(number)
    changed(endpoint, options={"delay": 1.0}, max_concurrency=4)
    before, interrupted = signal.getsignal(signal.SIGINT), []

    def look(bar, **_) -> None:
        if Call.objects.filter(state="sent").count() == 4 and not interrupted:
            interrupted.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("workers.management.console.JobBar.refresh", look)
    result, told = prefill("--wait")
    assert interrupted and "Ending: waiting for the answers that are on their way." in told
    assert f"The round is not done. A worker goes on with it, or: manage.py work --job {result['job']}" in told
    # four in flight: all four answers are kept, the other sixteen wait, nothing is lost
    assert (result["state"], result["items"]["done"]) == ("running", 4)
    assert Item.objects.filter(state="waiting").count() == 16
    assert set(Call.objects.exclude(state="planned").values_list("state", flat=True)) == {"answered"}
    assert signal.getsignal(signal.SIGINT) is before


def test_a_round_with_unreadable_answers_says_so_on_its_page_in_the_list_and_in_the_command(
    endpoint, make_story, alice
):
    make_story(1, text="Say NONSENSE"), make_story(2)
    changed(endpoint, options={"script": [{"when": "NONSENSE", "text": "blah"}]})
    result, told = prefill("--wait")
    reason = "The answer holds no JSON object with rows."
    assert result["state"] == "finished, some unreadable" and result["failures"] is None
    assert result["unreadable_answers"] == {"count": 1, "of": 2, "commonest": reason, "times": 1}
    said = "The round is finished, some unreadable: 1 of 2 answers is unreadable. The commonest reason: "
    assert said + reason in told
    listed, page = read(alice, PAGE), read(alice, f"{PAGE}{result['round']}/")
    for text in (listed, page):
        assert ">finished, some unreadable</span>" in text and "badge-partly" in text
        assert "1 done, 1 unreadable" in text and reason in text
    assert f"1 of 2 answers is unreadable: {reason}" in listed and "1 of 2 answers is unreadable." in page
    changed(endpoint, options={"default": "blah"})
    make_story(3)
    told = refused(prefill, "--wait")  # of the first and third story
    assert told.startswith("The round came to nothing, no answer is readable: 2 of 2 answers are unreadable.")


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


def act(*arguments: str) -> dict:
    return command("prefill_round", *arguments)[0]


def api_of(person, scope: Scope = Scope.WRITE) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person, scope)}")
    return client


def post(person, made, action: str, *, scope: Scope = Scope.WRITE, **body: str):
    return api_of(person, scope).post(f"{API}{made.uid}/{action}/", body, format="json")


def test_the_command_resumes_with_a_budget_pauses_cancels_and_retries(held):
    for arguments, told in [
        (("pause", "nothing"), "There is no round 'nothing'; its id is the last part of its page's address."),
        (("pause", held.uid, "--wait"), "--wait is not for pause, which takes no option."),
        (("retry", held.uid, "--budget", "5"), "--budget is not for retry, which takes --wait."),
        (("resume", held.uid, "--budget", "much"), "The budget is 'much'; expected US dollars"),
    ]:
        assert refused(act, *arguments).startswith(told)
    assert "a budget is for one that is paused" in refused(act, "resume", held.uid, "--budget", "5")
    assert states(held) == [ItemState.WAITING, ItemState.HELD]
    told = act("pause", held.uid)
    assert (told["round"], told["state"], told["held_back"]) == (held.uid, "paused", 1)
    told = act("resume", held.uid, "--budget", "2.5")
    assert (told["state"], told["held_back"], states(held)) == ("running", 0, [ItemState.WAITING] * 2)
    held.job.refresh_from_db()
    assert (held.job.budget, held.job.note) == (Decimal("2.5"), "")
    assert refused(act, "resume", held.uid) == "The round is running; expected paused to resume it."
    Item.objects.filter(job=held.job).update(state=ItemState.HELD)
    told = act("resume", held.uid, "--wait")
    assert (told["state"], told["items"]) == ("finished", {"done": 2, "failed": 0, "unreadable": 0})
    assert (told["cost"], told["known_cost"], told["unpriced_calls"]) == (0.0, 0.0, 0)
    for options in (["--wait"], []):
        Suggestion.objects.all().delete()
        Item.objects.filter(job=held.job).update(state=ItemState.FAILED, problem="It broke.")
        assert act("retry", held.uid, *options)["items"]["done"] == (2 if options else 0)
    assert act("cancel", held.uid)["state"] == "cancelled"
    assert "start a new one instead" in refused(act, "retry", held.uid)


def test_the_api_does_what_the_command_does_for_admins_with_a_token_to_write(cast, held):
    body = api_of(cast.alice).get(f"{API}{held.uid}/").json()
    assert (body["state"], body["held_back"], body["note"]) == ("running", 1, "tiny: Set its key.")
    assert (body["endpoint"], body["level"], body["created_by"], body["budget"]) == ("tiny", 3, "alice", None)
    for person, status in ((cast.bob, 403), (cast.esi, 403), (cast.charlie, 404)):
        assert {post(person, held, action).status_code for action in ACTIONS} == {status}
    assert post(cast.alice, held, "pause", scope=Scope.READ).status_code == 403
    for action, given, status in [
        ("resume", {"budget": "much"}, 400),
        ("resume", {"budget": "-1"}, 400),
        ("resume", {"budjet": "5"}, 400),
        ("pause", {"budget": "5"}, 422),
        ("resume", {"budget": "5"}, 422),  # it is running
        ("stop", {}, 404),
    ]:
        answer = post(cast.alice, held, action, **given)
        assert answer.status_code == status and answer.json()["error"]["message"].endswith(".")
    assert states(held) == [ItemState.WAITING, ItemState.HELD] and Job.objects.get().state == JobState.RUNNING
    answer = post(cast.alice, held, "resume")
    assert (answer.status_code, answer.json()["held_back"], answer.json()["note"]) == (200, 0, "")
    assert states(held) == [ItemState.WAITING] * 2
    asked = (("pause", {}, "paused"), ("resume", {"budget": "2.5"}, "running"), ("cancel", {}, "cancelled"))
    for action, given, state in asked:
        answer = post(cast.alice, held, action, **given).json()
        assert answer["state"] == state == Job.objects.get().state
    assert answer["budget"] == "2.5000"


def test_rounds_are_listed_in_few_statements(cast, held, make_story):
    alice, counts = api_of(cast.alice), []
    for numbers in ((), range(3, 8)):
        for number in numbers:
            begin(cast, Endpoint.objects.get(), [make_story(number)])
        with CaptureQueriesContext(connection) as captured:
            rows = alice.get(API).json()["results"]
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert len(rows) == 6 and rows[-1]["round"] == held.uid and rows[-1]["held_back"] == 1
