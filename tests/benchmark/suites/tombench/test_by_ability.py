"""Methods are held against each other by the abilities of the paper, of which the data name kinds."""

from __future__ import annotations

import pytest

from benchmark.services.documents import document_of, tables_of
from benchmark.suites.tombench.metrics import ABILITIES, ability_of
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.structure_world import structure_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
KINDS = ("Emotion: Mixed emotions", "Non-Literal Communication: Faux pas", "Non-literal communication: Humor")


def test_methods_are_compared_by_the_abilities_of_the_paper(tmp_path):
    world = structure_world(tmp_path)
    samples = list(world.questions.samples.order_by("number"))
    for at, sample in enumerate(samples[:9]):
        sample.content |= {"ability": KINDS[at % 3]}
        sample.save(update_fields=["content"])
    asked = {"dataset": world.questions, "endpoints": [world.models["random"]], "steps": ("answer",)}
    thinking = worked_off(started(**asked, suite="tombench", repetitions=1, method="cot"))
    document = document_of(thinking)
    rows = document.by_method.parts["tombench"]["repaired"]
    assert list(dict.fromkeys(row.part for row in rows)) == ["Emotion", "Belief", "Non-literal communication"]
    counts = {row.part: row.score.n for row in rows if row.way == "cot"}
    assert counts == {"Emotion": 3, "Non-literal communication": 6, "Belief": len(samples) - 9}
    table = tables_of(document)["method-parts-tombench-repaired"]()
    assert table.title == "Accuracy by method and ability, repaired parse"
    assert "over the 3 tests of this table" in table.notes[0] or "over the 0 tests of this table" in table.notes[0]
    assert table.notes[1].startswith("Score: missing answers at their worst.")


def test_a_kind_is_of_the_ability_that_it_begins_with():
    assert {ability_of(kind) for kind in KINDS} == {"Emotion", "Non-literal communication"} < {*ABILITIES}
    assert ability_of("Belief: Content false beliefs Belief: Second-order beliefs") == "Belief"
