"""Models that leave their thoughts in the text: what pre-filling and drafts take is the answer."""

from __future__ import annotations

import json

import pytest

from annotation.domain.drafting import read_draft
from annotation.domain.labelling import read_labels
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import Row
from annotation.models import SuggestedRow, Suggestion
from tests.annotation.prefilling import begin
from tests.marked import MARKS, UNCLOSED, completed
from workers.models import Call, Endpoint, EndpointRateLimit, Item, ItemState
from workers.providers.contract import UNCLOSED as WITHIN_REASONING
from workers.providers.scripted.functions import FUNCTIONS
from workers.services.runner import Runner

ROWS = [Row(1, "world", "The key is in the drawer"), Row(2, "Ines", "The key is in the bag")]
STORY = "Ines puts the key into the drawer."


def labels(at: int) -> str:
    """Labels of both rows: of every dimension the legal value at this place, from the end."""
    of_row = {key: DEFAULT_SCHEMA[key].values[-1 - at] for key in DEFAULT_SCHEMA.keys}
    return json.dumps({"rows": {"1": of_row, "2": of_row}})


def draft(*beliefs: str) -> str:
    return json.dumps({"rows": [{"actor": "Ines", "belief": belief, "order": "1"} for belief in beliefs]})


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_of_a_thought(mark):
    def left_of(thought: str, answer: str) -> str:
        return completed(MARKS[mark].format(thought=thought, answer=answer)).text

    final, table = labels(1), draft("The key is in the drawer")
    assert read_labels(left_of(labels(0), final), ROWS, DEFAULT_SCHEMA) == read_labels(final, ROWS, DEFAULT_SCHEMA)
    # the thought has what the answer lacks, which stays missing
    partial = json.dumps({"rows": {"1": json.loads(final)["rows"]["1"]}})
    assert read_labels(left_of(labels(0), partial), ROWS, DEFAULT_SCHEMA).missing == len(DEFAULT_SCHEMA.keys)
    assert read_labels(left_of(labels(0), "I cannot say."), ROWS, DEFAULT_SCHEMA).missing == 14
    assert read_draft(left_of(draft("The key is gone"), table), STORY) == read_draft(table, STORY)


def test_an_unclosed_thought_suggests_nothing():
    for mark in UNCLOSED:
        text = completed(UNCLOSED[mark].format(thought=labels(0))).text
        assert read_labels(text, ROWS, DEFAULT_SCHEMA).missing == 14
        assert read_draft(completed(UNCLOSED[mark].format(thought=draft("It is gone"))).text, STORY).rows == ()


@pytest.fixture
def model(db, monkeypatch):
    """Makes a scripted model that says a text."""

    def make(text: str) -> Endpoint:
        monkeypatch.setitem(FUNCTIONS, "thinker", lambda body: text)
        made = Endpoint.objects.create(
            name="thinker", provider="scripted", model="thinker", options={"function": "thinker"}
        )
        EndpointRateLimit.objects.create(endpoint=made)
        return made

    return make


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("text", "state"),
    [
        (f"<think>\n{labels(0)}\nNo.\n</think>\n{labels(1)}", ItemState.DONE),
        (f"<think>\n{labels(0)}", ItemState.UNREADABLE),
    ],
)
def test_a_round_suggests_what_was_answered(cast, make_story, model, text, state):
    story = make_story(1, rows=[(row.actor, row.belief) for row in ROWS])
    begin(cast, model(text), [story])
    Runner().run()
    item, call = Item.objects.get(), Call.objects.get()
    assert item.state == state and labels(0) in call.reasoning
    right = {key: DEFAULT_SCHEMA[key].values[-2] for key in DEFAULT_SCHEMA.keys} if state == ItemState.DONE else {}
    assert dict(Suggestion.objects.values_list("dimension", "label")) == right
    assert call.answer == (labels(1) if right else "")
    assert item.problem == ("" if right else WITHIN_REASONING)


@pytest.mark.django_db(transaction=True)
def test_a_drafted_table_is_the_final_one(cast, bare, model):
    text = f"<think>{draft('A draft row')}</think>{draft('The final row')}"
    begin(cast, model(text), [bare(1)], kind="tables", level=None)
    Runner().run()
    assert list(SuggestedRow.objects.values_list("belief", flat=True)) == ["The final row"]
