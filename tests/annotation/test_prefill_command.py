"""The command does what the page does: estimate, budget, batch, one sentence where it refuses, and a calm end."""

from __future__ import annotations

import io
import json
import os
import signal
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Prefill
from tests.annotation.prefilling import CELLS, begin, suggest
from workers.models import Call, Endpoint, EndpointRateLimit, Item

pytestmark = pytest.mark.django_db(transaction=True)


def prefill(*arguments: str, name: str = "tiny") -> tuple[dict, str]:
    """What it printed on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command(
        "prefill", "--project", "minds", "--endpoint", name, "--json", *arguments, stdout=out, stderr=err, no_color=True
    )
    return json.loads(out.getvalue()), err.getvalue()


def test_it_sees_a_round_through(endpoint, make_story):
    make_story(1), make_story(2)
    result, _ = prefill("--wait")
    assert result["items"] == {"done": 2, "failed": 0, "unreadable": 0}
    assert result["calls"] == {"made": 2, "reused": 0}
    assert result["left_out"] == 0
    with pytest.raises(CommandError, match="There is no endpoint 'none'; there are: tiny"):
        prefill(name="none")


def test_it_estimates_and_takes_a_budget_and_a_batch(endpoint, make_story):
    make_story(category="Hinting Task Test")
    endpoint.price_output, endpoint.batches = Decimal(10), True
    endpoint.save()
    _, told = prefill("--budget", "2.5", "--batch")
    # (400 + 2 × 90) tokens × $10 a million, at half price
    assert f"1 call, one a story, for {2 * CELLS} cells" in told and "580 out, $0.0029." in told
    job = Prefill.objects.get().job
    assert (job.budget, job.batch) == (Decimal("2.5"), True)


def test_an_unknown_price_is_said_in_words(endpoint, make_story):
    make_story(category="Hinting Task Test")
    Endpoint.objects.update(provider="openai", price_input=None, price_output=None)
    _, told = prefill()
    assert "580 out, at a price that is unknown. Answers" in told


def test_a_budget_or_limit_that_is_none_is_refused(endpoint, make_story):
    make_story()
    for budget in ("much", "-1", "NaN", "Infinity", "0.00001", "1e9"):
        with pytest.raises(CommandError, match=r"The budget is '.+'; expected US dollars, 0 or more"):
            prefill(f"--budget={budget}")
    for limit in ("0", "-3"):
        with pytest.raises(CommandError, match=f"The limit is {limit}; expected 1 story or more."):
            prefill(f"--limit={limit}")
    assert not Prefill.objects.exists()


def test_the_limit_counts_stories_with_something_open(cast, endpoint, make_story):
    stories = [make_story(number) for number in range(1, 6)]
    suggest(stories[0])
    running = begin(cast, endpoint, [stories[1]])
    result, told = prefill("--limit", "2")
    items = Item.objects.filter(job=Prefill.objects.get(uid=result["round"]).job)
    # the first has its suggestions, the second is asked for by another round
    assert set(items.values_list("key", flat=True)) == {stories[2].uid, stories[3].uid}
    assert result["left_out"] == 1
    assert f"1 story is left out: the round {running.uid} (tiny, running) has not ended with it." in told
    assert "2 calls, one a story" in told


def test_what_cannot_label_is_refused(make_story):
    make_story()
    for model in ("omniscient", "lexical-judge"):
        made = Endpoint.objects.create(name=f"base-{model}", provider="baseline", model=model)
        EndpointRateLimit.objects.create(endpoint=made)
        with pytest.raises(CommandError, match=f"{made.name} cannot label: {model} is a baseline for another task"):
            prefill(name=made.name)
    assert not Prefill.objects.exists()


def test_an_interrupt_lets_what_is_in_flight_come_to_its_end(endpoint, make_story, monkeypatch):
    for number in range(1, 21):
        make_story(number)
    endpoint.options, endpoint.max_concurrency = {"delay": 1.0}, 4
    endpoint.save()
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
    endpoint, make_story, cast, client
):
    make_story(1, text="Say NONSENSE"), make_story(2)
    endpoint.options = {"script": [{"when": "NONSENSE", "text": "blah"}]}
    endpoint.save()
    result, told = prefill("--wait")
    reason = "The answer holds no JSON object with rows."
    assert result["state"] == "finished, some unreadable" and result["failures"] is None
    assert result["unreadable_answers"] == {"count": 1, "of": 2, "commonest": reason, "times": 1}
    assert (
        f"The round is finished, some unreadable: 1 of 2 answers is unreadable. The commonest reason: {reason}" in told
    )
    client.force_login(cast.alice)
    listed = " ".join(client.get("/p/minds/prefill/").content.decode().split())
    page = " ".join(client.get(f"/p/minds/prefill/{result['round']}/").content.decode().split())
    for text in (listed, page):
        assert ">finished, some unreadable</span>" in text and "badge-partly" in text
        assert "1 done, 1 unreadable" in text and reason in text
    assert f"1 of 2 answers is unreadable: {reason}" in listed and "1 of 2 answers is unreadable." in page


def test_a_round_without_a_usable_answer_ends_with_one(endpoint, make_story):
    make_story(1), make_story(2)
    endpoint.options = {"default": "blah"}
    endpoint.save()
    with pytest.raises(
        CommandError, match=r"^The round came to nothing, no answer is readable: 2 of 2 answers are unreadable\."
    ):
        prefill("--wait")
