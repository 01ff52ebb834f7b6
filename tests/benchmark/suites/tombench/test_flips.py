"""The same letter in two repetitions, which show the options in another order, is another answer: the page says
which. An answer without any is told of in a sentence."""

from __future__ import annotations

import pytest

from benchmark.services import flips
from benchmark.services.reports import report_of
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.settled import make_endpoint
from tests.benchmark.structure_world import structure_world
from workers.services.progress import reasons_of

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


def test_letters_that_flip_are_told_by_the_options_that_they_meant(tmp_path, client):
    world = structure_world(tmp_path)
    asked = {"dataset": world.questions, "steps": ("answer",), "suite": "tombench"}
    letter = make_endpoint("always-a", options={"default": "[[A]]"})
    run = worked_off(started(**asked, endpoints=[letter], repetitions=2))
    report_of(run)
    found = flips.flips_of(run, run.entrants.get(), flips.REPETITIONS, set())
    pairs = flips.read(found)
    assert pairs and all(first.answer == second.answer for first, second in pairs)
    assert all(first.meant and second.meant and first.meant != second.meant for first, second in pairs)
    client.force_login(world.alice)
    page = client.get(f"{world.base}/runs/{run.uid}/flips/").content.decode()
    assert page.count("Read as:") == 2 * min(len(pairs), 25) and pairs[0][0].meant in page
    mute = worked_off(
        started(**asked, endpoints=[make_endpoint("mute", model="mute", options={"default": "Hm."})], repetitions=1)
    )
    assert "answers are unreadable: the model refused" in reasons_of([mute.job])[mute.job_id]
