"""Pre-filling from start to effect: suggestions by the scripted backend, arms, what the grid shows, what is never
touched."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotation.domain.arms import Arm
from annotation.domain.labelling import answer_schema, labelling_request, read_labels
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import Row
from annotation.models import Assignment, Project, Proposition, Suggestion, Vote, VoteEvent
from annotation.services import prefill_rounds
from annotation.services.arms import arm_of, draw_for
from annotation.services.prefill import PrefillRefused
from annotation.services.votes import save_votes
from tests.annotation.prefilling import CELLS, begin, change, shares
from workers.models import Call, Endpoint, EndpointRateLimit, Item
from workers.services.runner import Runner

# --- the prompt and its answer
# -------------------------------------------------------------------------------------------
ROWS = [Row(1, "world", "The key is in the drawer"), Row(2, "Ines", "The key is in the bag")]


def test_the_schema_leaves_no_row_out_and_no_label_open():
    schema = answer_schema(ROWS, DEFAULT_SCHEMA)
    assert schema["properties"]["rows"]["required"] == ["1", "2"]
    labels = schema["$defs"]["labels"]
    assert {key: tuple(one["enum"]) for key, one in labels["properties"].items()} == {
        one.key: one.values for one in DEFAULT_SCHEMA.dimensions
    }
    assert labels["additionalProperties"] is False


def test_every_level_asks_for_every_row_and_tells_more():
    for level in [1, 2, 3, 4]:
        example = prefill_rounds.example_of("False Belief Task", DEFAULT_SCHEMA, "")
        request = labelling_request(
            story="Ines {puts} the key.",
            category="False Belief Task",
            rows=ROWS,
            schema=DEFAULT_SCHEMA,
            level=level,
            example=example,
        )
        system, question = (one.content for one in request.messages)
        assert "2 | Ines | The key is in the bag" in question
        assert "Ines {puts} the key." in question
        assert ("A worked example" in system) == (level == 4)
        assert "{" not in system.replace('{"', "").split("A worked example")[0]
        assert len(system) > {1: 20, 2: 300, 3: 700, 4: 3000}[level]


def test_an_example_is_never_the_story_that_is_asked():
    first = prefill_rounds.example_of("False Belief Task", DEFAULT_SCHEMA, "")
    assert prefill_rounds.example_of("False Belief Task", DEFAULT_SCHEMA, first.story).story != first.story


def test_what_is_not_legal_is_missing_and_never_guessed():
    whole = {key: DEFAULT_SCHEMA[key].values[0] for key in DEFAULT_SCHEMA.keys}
    text = "Here you are:\n```json\n" + json.dumps({"rows": {"1": whole, "2": whole | {"order": "seven"}}}) + "\n```"
    read = read_labels(text, ROWS, DEFAULT_SCHEMA)
    assert read.labels[1] == whole
    assert "order" not in read.labels[2]
    assert (read.missing, read.problem) == (1, "1 of 14 labels are missing or not legal.")
    assert read_labels("I cannot say.", ROWS, DEFAULT_SCHEMA).problem == "The answer holds no JSON object with rows."
    for beginnings in ("{" * 1_000_000, '{"a":' * 200_000, '{"' * 500_000):
        assert read_labels(beginnings, ROWS, DEFAULT_SCHEMA).missing == 14
    assert read_labels("{the rows} {{ " + text, ROWS, DEFAULT_SCHEMA).labels == read.labels


# --- a round
# ---------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
class TestRound:
    def test_every_open_cell_gets_a_legal_suggestion_with_its_call(self, cast, endpoint, make_story):
        stories = [make_story(number) for number in range(1, 6)]
        made = begin(cast, endpoint, stories)
        Runner().run()
        made.job.refresh_from_db()
        assert made.job.state == "finished"
        found = list(Suggestion.objects.select_related("call"))
        assert len(found) == 5 * 2 * CELLS
        assert all(DEFAULT_SCHEMA.is_legal(one.dimension, one.label) for one in found)
        assert {one.call.handler for one in found} == {"prefill"}
        assert Call.objects.count() == 5
        assert found[0].source == "tiny (tiny-1)"
        with pytest.raises(PrefillRefused, match="has a vote or a suggestion already"):
            begin(cast, endpoint, stories)

    def test_cells_with_a_vote_and_suggestions_that_are_there_stay(self, cast, endpoint, make_story, assign, cast_vote):
        story = make_story()
        row, other = Proposition.objects.gold_of(story)
        assignments = assign(story)
        cast_vote(assignments[0], row, "order", "0")
        cast_vote(assignments[1], other, "context", "Neutral")
        cast_vote(
            assignments[1], other, "context", "", at=timezone.now() + timedelta(seconds=1)
        )  # withdrawn is still touched
        now = timezone.now()
        Suggestion.objects.create(
            proposition=row, dimension="context", label="Temporal", source="before", created_at=now
        )
        begin(cast, endpoint, [story])
        Runner().run()
        labels = Suggestion.objects.labels()
        assert len(labels) == 2 * CELLS - 2
        assert (row.pk, "order") not in labels and (other.pk, "context") not in labels
        assert Suggestion.objects.get(proposition=row, dimension="context").source == "before"

    def test_a_refusal_and_nonsense_are_unreadable_and_cost_that_story_alone(self, cast, endpoint, make_story):
        stories = [make_story(1, text="Say NO"), make_story(2, text="Say NONSENSE"), make_story(3, text="plain")]
        endpoint.options = {
            "script": [
                {"when": "Say NO\n", "stop": "refusal", "text": "I will not."},
                {"when": "NONSENSE", "text": "blah"},
            ]
        }
        endpoint.save()
        made = begin(cast, endpoint, stories)
        Runner().run()
        states = dict(Item.objects.filter(job=made.job).values_list("key", "problem"))
        assert states[stories[0].uid] == "Refused by the provider: the model declined to answer."
        assert states[stories[1].uid] == "The answer holds no JSON object with rows."
        assert Suggestion.objects.filter(proposition__table__story=stories[2]).count() == 2 * CELLS
        assert Suggestion.objects.count() == 2 * CELLS

    def test_baselines_suggest_without_a_model(self, cast, make_story):
        for number, name in enumerate(("majority", "random"), 1):
            baseline = Endpoint.objects.create(name=name, provider="baseline", model=name)
            EndpointRateLimit.objects.create(endpoint=baseline)
            begin(cast, baseline, [make_story(number)])
        Runner().run()
        counts = prefill_rounds.sample_counts(DEFAULT_SCHEMA)
        for one in Suggestion.objects.filter(source__startswith="majority"):
            assert counts[one.dimension][one.label] == max(counts[one.dimension].values())
        assert Suggestion.objects.count() == 4 * CELLS

    def test_the_pages_estimate_start_and_show(self, cast, endpoint, make_story, client):
        make_story(1), make_story(2, category="Hinting Task Test")
        endpoint.price_output = Decimal(10)
        endpoint.save()
        client.force_login(cast.alice)
        asked = {"endpoint": "tiny", "level": "3", "split": "", "category": "Hinting Task Test"}
        page = client.post("/p/minds/prefill/", asked).content.decode()
        assert "1 call<" in page and "14 cells" in page and "$0.0058" in page  # (400 + 2 × 90) tokens × $10 a million
        address = client.post("/p/minds/prefill/", asked | {"start": "1"})["Location"]
        Runner().run()
        assert "finished" in client.get(address).content.decode()
        assert client.get(f"{address}progress/").status_code == 200
        assert Suggestion.objects.count() == 14
        client.post("/p/minds/prefill/discard/")
        assert Suggestion.objects.count() == 0


# --- arms
# -------------------------------------------------------------------------------------------------------------------
def test_the_database_refuses_shares_above_a_hundred(cast):
    with pytest.raises(IntegrityError):
        Project.objects.filter(pk=cast.project.pk).update(blind_share=60, reveal_share=41)


def test_a_draw_is_kept_when_the_shares_change(cast, suggested):
    story, assignments = suggested()
    shares(cast, 50, 20)
    rows = list(Proposition.objects.gold_of(story))
    draw_for(assignment=assignments[0], now=timezone.now())
    before = [arm_of(assignments[0], row.uid, key) for row in rows for key in DEFAULT_SCHEMA.keys]
    assert set(before) == {Arm.SHOWN, Arm.BLIND, Arm.REVEAL}
    shares(cast, 0, 0)
    again = Assignment.objects.select_related("story__project").get(pk=assignments[0].pk)
    draw_for(assignment=again, now=timezone.now())
    assert [arm_of(again, row.uid, key) for row in rows for key in DEFAULT_SCHEMA.keys] == before


def test_nothing_betrays_a_blind_cell_and_a_reveal_waits_for_the_vote(cast, suggested, client):
    story, assignments = suggested()
    shares(cast, 40, 30)
    client.force_login(cast.bob)
    assert "data-suggested" not in client.get(f"/p/minds/work/{story.uid}/").content.decode()
    page = client.post(f"/p/minds/work/{story.uid}/", follow=True).content.decode()
    assignment = Assignment.objects.select_related("story__project").get(pk=assignments[0].pk)
    shown = {
        (row.uid, key)
        for row in Proposition.objects.gold_of(story)
        for key in DEFAULT_SCHEMA.keys
        if arm_of(assignment, row.uid, key) is Arm.SHOWN
    }
    assert page.count("data-suggested") == len(shown) < 12 * CELLS
    row, revealed = next(
        (row, key)
        for row in Proposition.objects.gold_of(story)
        for key in DEFAULT_SCHEMA.keys
        if arm_of(assignment, row.uid, key) is Arm.REVEAL
    )
    first, second = DEFAULT_SCHEMA[revealed].values[:2]
    body = {
        "changes": [
            {
                "proposition": row.uid, "dimension": revealed, "label": first, "changed_at": timezone.now().isoformat(),
                "idempotency_key": "k1", "saw": True,
            }
        ]
    }  # fmt: skip
    answer = client.post(f"/p/minds/work/{story.uid}/votes/", body, content_type="application/json").json()
    assert answer["saved"][0]["revealed"] == [second, "tiny"]
    vote = Vote.objects.get()
    assert (vote.arm, vote.suggested) == ("reveal", "")  # the first vote cannot have seen it, whatever the browser says
    body["changes"][0] |= {
        "label": second,
        "idempotency_key": "k2",
        "changed_at": timezone.now().isoformat(),
        "accepted": True,
    }
    client.post(f"/p/minds/work/{story.uid}/votes/", body, content_type="application/json")
    vote.refresh_from_db()
    assert (vote.label, vote.suggested) == (second, second)
    assert list(VoteEvent.objects.order_by("id").values_list("accepted", flat=True)) == [False, True]
    assert client.get(f"/p/minds/work/{story.uid}/").content.decode().count("data-suggested") == len(shown) + 1


@pytest.mark.parametrize(
    ("arm", "saw", "suggestion"), [("shown", True, True), ("shown", False, False), ("blind", True, False)]
)
def test_a_vote_stores_its_arm_and_what_it_saw(cast, suggested, arm, saw, suggestion):
    story, assignments = suggested()
    shares(cast, 100 if arm == "blind" else 0, 0)
    draw_for(assignment=assignments[0], now=timezone.now())
    row = Proposition.objects.gold_of(story).first()
    second = DEFAULT_SCHEMA["order"].values[1]
    save_votes(
        by=cast.bob,
        assignment=assignments[0],
        changes=[change(row, "order", second, saw=saw, accepted=saw)],
        now=timezone.now(),
    )
    vote, event = Vote.objects.get(), VoteEvent.objects.get()
    assert (vote.arm, vote.suggested) == (event.arm, event.suggested) == (arm, second if suggestion else "")
    assert event.accepted == suggestion


def test_an_import_carries_no_arm(cast, make_story, assign, cast_vote):
    cast_vote(assign(make_story())[0], Proposition.objects.first(), "order", "0")
    assert Vote.objects.get().arm == ""
