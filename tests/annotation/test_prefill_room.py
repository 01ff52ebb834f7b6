"""A model that reasons gets room for it beside its answer: as its endpoint says, or as a round says."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.models import Prefill
from annotation.services import prefill as service
from workers.models import Call
from workers.services.runner import Runner

pytestmark = pytest.mark.django_db(transaction=True)


def longest() -> set[int]:
    return {json.loads(call.body)["max_tokens"] for call in Call.objects.all()}


@pytest.fixture
def begin(cast, endpoint, make_story):
    """Works a round off and gives the longest answers of its calls: `begin(reasoning_tokens=500)`."""
    story = make_story()

    def work(**fields) -> set[int]:
        how = {"project": cast.project, "endpoint": endpoint, "stories": [story], "level": 1}
        planned = service.estimate(**how, **fields)
        service.start_prefill(by=cast.alice, now=timezone.now(), **how, **fields)
        Runner().run()
        assert {planned.output_tokens} == longest()  # one story, so one call
        return longest()

    return work


def test_without_room_the_answer_has_what_its_labels_need(begin):
    (bare,) = begin()
    assert bare < 1_000


def test_the_endpoint_says_how_much(begin, endpoint):
    endpoint.reasoning_tokens = 8_000
    endpoint.save()
    (most,) = begin()
    assert 8_000 < most < 9_000
    assert Prefill.objects.get().job.params["reasoning_tokens"] == 8_000


def test_a_round_may_say_otherwise(begin, endpoint):
    endpoint.reasoning_tokens = 8_000
    endpoint.save()
    (most,) = begin(reasoning_tokens=0)
    assert most < 1_000


def test_the_page_and_the_command_take_it(cast, endpoint, make_story, client, capsys):
    make_story()
    client.force_login(cast.alice)
    chosen = {"endpoint": endpoint.name, "level": 1, "reasoning_tokens": "5000", "start": "1"}
    assert client.post(reverse("annotation:prefills", args=[cast.project.slug]), chosen).status_code == 302
    assert Prefill.objects.get().job.params["reasoning_tokens"] == 5_000
    Prefill.objects.all().delete()
    options = [f"--project={cast.project.slug}", f"--endpoint={endpoint.name}"]
    with pytest.raises(CommandError, match=r"--reasoning-tokens is -1; a number from 0 to 1,000,000 is expected\."):
        call_command("prefill", *options, "--reasoning-tokens=-1")
    call_command("prefill", *options, "--reasoning-tokens=700", "--level=1")
    assert Prefill.objects.get().job.params["reasoning_tokens"] == 700
