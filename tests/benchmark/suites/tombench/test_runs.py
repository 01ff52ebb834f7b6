"""Runs about questions with letters: abilities of the paper, and letters that flip."""

import pytest

from benchmark.services import flips
from benchmark.services.documents import document_of, tables_of
from benchmark.services.reports import report_of
from benchmark.suites.tombench.metrics import ABILITIES, ability_of
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.settled import make_endpoint
from tests.benchmark.structure_world import structure_world
from workers.services.progress import reasons_of

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
KINDS = ("Emotion: Mixed emotions", "Non-Literal Communication: Faux pas", "Non-literal communication: Humor")


@pytest.fixture
def world(tmp_path):
    return structure_world(tmp_path)


def test_methods_are_compared_by_the_abilities_of_the_paper_of_which_the_data_name_kinds(world):
    assert {ability_of(kind) for kind in KINDS} == {"Emotion", "Non-literal communication"} < {*ABILITIES}
    assert ability_of("Belief: Content false beliefs Belief: Second-order beliefs") == "Belief"
    samples = list(world.questions.samples.order_by("number"))
    for at, sample in enumerate(samples[:9]):
        sample.content |= {"ability": KINDS[at % 3]}
        sample.save(update_fields=["content"])
    asked = {"dataset": world.questions, "endpoints": [world.models["random"]], "steps": ("answer",)}
    document = document_of(worked_off(started(**asked, suite="tombench", repetitions=1, method="cot")))
    rows = document.by_method.parts["tombench"]["repaired"]
    assert list(dict.fromkeys(row.part for row in rows)) == ["Emotion", "Belief", "Non-literal communication"]
    counts = {row.part: row.score.n for row in rows if row.way == "cot"}
    assert counts == {"Emotion": 3, "Non-literal communication": 6, "Belief": len(samples) - 9}
    table = tables_of(document)["method-parts-tombench-repaired"]()
    assert table.title == "Accuracy by method and ability, repaired parse"
    assert "over the 3 tests of this table" in table.notes[0] or "over the 0 tests of this table" in table.notes[0]
    assert table.notes[1].startswith("Score: missing answers at their worst.")


def test_letters_that_flip_are_told_by_the_options_that_they_meant(world, client):
    """The same letter in two repetitions, which show the options in another order, is another answer."""
    asked = {"dataset": world.questions, "steps": ("answer",), "suite": "tombench"}
    letter = make_endpoint("always-a", options={"default": "[[A]]"})
    run = worked_off(started(**asked, endpoints=[letter], repetitions=2))
    report_of(run)
    pairs = flips.read(flips.flips_of(run.entrants.get(), flips.REPETITIONS, set()))
    assert pairs and all(first.answer == second.answer for first, second in pairs)
    assert all(first.meant and second.meant and first.meant != second.meant for first, second in pairs)
    client.force_login(world.alice)
    page = client.get(f"{world.base}/runs/{run.uid}/flips/").content.decode()
    assert page.count("Read as:") == 2 * min(len(pairs), 25) and pairs[0][0].meant in page
    silent = make_endpoint("mute", model="mute", options={"default": "Hm."})
    mute = worked_off(started(**asked, endpoints=[silent], repetitions=1))
    assert "answers are unreadable: the model refused" in reasons_of([mute.job])[mute.job_id]
