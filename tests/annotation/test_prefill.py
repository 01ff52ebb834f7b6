"""Pre-filling from start to effect: suggestions by the scripted backend, rounds beside each other, arms, what the grid
shows, what is never touched."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.domain.arms import Arm
from annotation.domain.drafting import read_draft
from annotation.domain.labelling import answer_schema, labelling_request, read_labels
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import Row
from annotation.models import Assignment, Prefill, Project, Proposition, SuggestedRow, Suggestion, Vote, VoteEvent
from annotation.services import prefill as service
from annotation.services import prefill_rounds
from annotation.services.arms import arm_of, draw_for
from annotation.services.prefill import PrefillRefused
from annotation.services.votes import save_votes
from tests.annotation.prefilling import CELLS, begin, change, shares, suggest
from tests.marked import MARKS, UNCLOSED, completed
from workers.models import Call, Endpoint, EndpointRateLimit, Item, ItemState
from workers.providers.contract import UNCLOSED as WITHIN_REASONING
from workers.providers.scripted.functions import FUNCTIONS
from workers.services.jobs import cancel_job, pause_job
from workers.services.runner import Runner

atomic = pytest.mark.django_db(transaction=True)
ROWS = [Row(1, "world", "The key is in the drawer"), Row(2, "Ines", "The key is in the bag")]


def test_every_level_asks_for_every_row_and_tells_more():
    example = prefill_rounds.example_of("False Belief Task", DEFAULT_SCHEMA, "")
    assert prefill_rounds.example_of("False Belief Task", DEFAULT_SCHEMA, example[0])[0] != example[0]
    asked = {"story": "Ines {puts} the key.", "category": "False Belief Task", "rows": ROWS, "schema": DEFAULT_SCHEMA}
    for level, least in ((1, 20), (2, 300), (3, 700), (4, 3000)):
        request = labelling_request(**asked, level=level, example=example)
        system, question = (one.content for one in request.messages)
        assert "2 | Ines | The key is in the bag" in question and "Ines {puts} the key." in question
        assert ("A worked example" in system) == (level == 4)
        assert "{" not in system.replace('{"', "").split("A worked example")[0]
        assert len(system) > least
    schema = answer_schema(ROWS, DEFAULT_SCHEMA)
    assert schema["properties"]["rows"]["required"] == ["1", "2"]
    labels = schema["$defs"]["labels"]
    legal = {one.key: one.values for one in DEFAULT_SCHEMA.dimensions}
    assert {key: tuple(one["enum"]) for key, one in labels["properties"].items()} == legal
    assert labels["additionalProperties"] is False


def test_what_is_not_legal_is_missing_and_never_guessed():
    whole = {key: DEFAULT_SCHEMA[key].values[0] for key in DEFAULT_SCHEMA.keys}
    text = "Here you are:\n```json\n" + json.dumps({"rows": {"1": whole, "2": whole | {"order": "seven"}}}) + "\n```"
    read, problem = read_labels(text, ROWS, DEFAULT_SCHEMA)
    assert read[1] == whole and "order" not in read[2]
    assert (missing(read), problem) == (1, "1 of 14 labels are missing or not legal.")
    assert read_labels("I cannot say.", ROWS, DEFAULT_SCHEMA)[1] == "The answer holds no JSON object with rows."
    for beginnings in ("{" * 1_000_000, '{"a":' * 200_000, '{"' * 500_000):
        assert missing(read_labels(beginnings, ROWS, DEFAULT_SCHEMA)[0]) == 14
    assert read_labels("{the rows} {{ " + text, ROWS, DEFAULT_SCHEMA)[0] == read


def missing(labels) -> int:
    return 14 - sum(map(len, labels.values()))


def labels(at: int) -> str:
    """Labels of both rows: of every dimension the legal value at this place, from the end."""
    of_row = {key: DEFAULT_SCHEMA[key].values[-1 - at] for key in DEFAULT_SCHEMA.keys}
    return json.dumps({"rows": {"1": of_row, "2": of_row}})


def draft(belief: str) -> str:
    return json.dumps({"rows": [{"actor": "Ines", "belief": belief, "order": "1"}]})


def test_thoughts_that_a_model_leaves_in_its_text_are_no_answer():
    final, table, story = labels(1), draft("The key is in the drawer"), "Ines puts the key into the drawer."
    partial = json.dumps({"rows": {"1": json.loads(final)["rows"]["1"]}})
    for mark in MARKS.values():

        def read(answer: str, mark=mark):
            return read_labels(completed(mark.format(thought=labels(0), answer=answer)).text, ROWS, DEFAULT_SCHEMA)

        assert read(final) == read_labels(final, ROWS, DEFAULT_SCHEMA)
        # the thought has what the answer lacks, which stays missing
        assert (missing(read(partial)[0]), missing(read("I cannot say.")[0])) == (len(DEFAULT_SCHEMA.keys), 14)
        drafted = completed(mark.format(thought=draft("The key is gone"), answer=table)).text
        assert read_draft(drafted, story) == read_draft(table, story)
    for mark in UNCLOSED.values():
        assert missing(read_labels(completed(mark.format(thought=labels(0))).text, ROWS, DEFAULT_SCHEMA)[0]) == 14
        assert read_draft(completed(mark.format(thought=draft("It is gone"))).text, story)[0] == ()


@atomic
def test_every_open_cell_gets_a_legal_suggestion_with_its_call(cast, endpoint, make_story, assign, cast_vote):
    stories = [make_story(number) for number in range(1, 6)]
    row, other = Proposition.objects.gold_of(stories[0])
    bob, bea, _ = assign(stories[0])
    cast_vote(bob, row, "order", "0")
    cast_vote(bea, other, "context", "Neutral")
    cast_vote(bea, other, "context", "", at=timezone.now() + timedelta(seconds=1))  # withdrawn is still touched
    before = {"proposition": row, "dimension": "context", "label": "Temporal", "source": "before"}
    Suggestion.objects.create(**before, created_at=timezone.now())
    made = begin(cast, endpoint, stories)
    Runner().run()
    made.job.refresh_from_db()
    assert made.job.state == "finished"
    stands = Suggestion.objects.labels()
    assert len(stands) == 5 * 2 * CELLS - 2 and stands.keys().isdisjoint({(row.pk, "order"), (other.pk, "context")})
    assert Suggestion.objects.get(proposition=row, dimension="context").source == "before"
    found = Suggestion.objects.exclude(source="before").select_related("call")
    assert all(DEFAULT_SCHEMA.is_legal(one.dimension, one.label) for one in found)
    assert {(one.call.handler, one.source) for one in found} == {("prefill", "tiny (tiny-1)")}
    assert Call.objects.count() == 5
    with pytest.raises(PrefillRefused, match="has a vote or a suggestion already"):
        begin(cast, endpoint, stories)


@atomic
def test_a_refusal_and_nonsense_are_unreadable_and_cost_that_story_alone(cast, endpoint, make_story, monkeypatch):
    texts = ["Say NO", "Say NONSENSE", "Think", "Forget to answer", "plain"]
    stories = [make_story(number, text=text, rows=[(row.actor, row.belief) for row in ROWS])
               for number, text in enumerate(texts, 1)]  # fmt: skip
    endpoint.options = {"script": [
        {"when": "Say NO\n", "stop": "refusal", "text": "I will not."},
        {"when": "NONSENSE", "text": "blah"},
        {"when": "Think", "text": f"<think>\n{labels(0)}\nNo.\n</think>\n{labels(1)}"},
        {"when": "Forget", "text": f"<think>\n{labels(0)}"},
    ]}  # fmt: skip
    endpoint.save()
    made = begin(cast, endpoint, stories)
    Runner().run()
    states = dict(Item.objects.filter(job=made.job).values_list("key", "problem"))
    assert [states[story.uid] for story in stories] == [
        "Refused by the provider: the model declined to answer.", "The answer holds no JSON object with rows.", "",
        WITHIN_REASONING, "",
    ]  # fmt: skip
    suggested = Suggestion.objects.values_list("proposition__table__story", flat=True)
    assert sorted(suggested) == sorted([stories[2].pk, stories[4].pk] * 2 * CELLS)
    final = Suggestion.objects.filter(proposition__table__story=stories[2]).values_list("dimension", "label")
    assert dict(final) == {key: DEFAULT_SCHEMA[key].values[-2] for key in DEFAULT_SCHEMA.keys}
    thought = Call.objects.get(items__key=stories[2].uid)
    assert labels(0) in thought.reasoning and thought.answer == labels(1)


@atomic
def test_a_drafted_table_is_the_final_one(cast, bare, endpoint, monkeypatch):
    text = f"<think>{draft('A draft row')}</think>{draft('The final row')}"
    monkeypatch.setitem(FUNCTIONS, "thinker", lambda body: text)
    Endpoint.objects.update(options={"function": "thinker"})
    begin(cast, Endpoint.objects.get(), [bare(1)], kind="tables", level=None)
    Runner().run()
    assert list(SuggestedRow.objects.values_list("belief", flat=True)) == ["The final row"]


@atomic
def test_baselines_suggest_without_a_model(cast, make_story):
    for number, name in enumerate(("majority", "random"), 1):
        baseline = Endpoint.objects.create(name=name, provider="baseline", model=name)
        EndpointRateLimit.objects.create(endpoint=baseline)
        begin(cast, baseline, [make_story(number)])
    Runner().run()
    counts = prefill_rounds.sample_counts(DEFAULT_SCHEMA)
    for one in Suggestion.objects.filter(source__startswith="majority"):
        assert counts[one.dimension][one.label] == max(counts[one.dimension].values())
    assert Suggestion.objects.count() == 4 * CELLS
    story = make_story(3)
    for model in ("omniscient", "lexical-judge"):
        baseline = Endpoint.objects.create(name=f"base-{model}", provider="baseline", model=model)
        told = f"{baseline.name} cannot label: {model} is a baseline for another task; majority and random can."
        with pytest.raises(PrefillRefused, match=told):
            begin(cast, baseline, [story])


@atomic
def test_a_story_is_asked_for_by_one_round_until_that_has_ended_with_it(cast, endpoint, make_story, client):
    stories = [make_story(number) for number in range(1, 4)]
    first = begin(cast, endpoint, stories[:2])
    told = f"2 stories are left out until this has ended with them: {first.uid} (tiny, running)."
    planned = service.estimate(project=cast.project, endpoint=endpoint, level=3, stories=stories)
    assert (planned["stories"], planned["cells"], planned["left_out"]) == (1, 2 * CELLS, told)
    second = begin(cast, endpoint, stories)
    assert list(Item.objects.filter(job=second.job).values_list("key", flat=True)) == [stories[2].uid]
    pause_job(job=first.job)
    which = rf"{first.uid} \(tiny, paused\), {second.uid} \(tiny, running\)\."
    with pytest.raises(PrefillRefused, match=f"3 stories are left out until this has ended with them: {which}"):
        begin(cast, endpoint, stories)
    assert Prefill.objects.count() == 2
    client.force_login(cast.alice)
    asked = {"endpoint": "tiny", "level": "3", "split": "", "category": ""}
    page = client.post("/p/minds/prefill/", asked).content.decode()
    assert "Nothing else is open: 3 stories are left out until" in page and 'name="start"' not in page
    make_story(4)
    page = client.post("/p/minds/prefill/", asked).content.decode()
    assert "3 stories are left out" in page and "Nothing else" not in page and 'name="start"' in page
    cancel_job(job=first.job, now=timezone.now())
    cancel_job(job=second.job, now=timezone.now())
    third = begin(cast, endpoint, stories[:1])
    suggest(stories[1], "other")
    fourth = begin(cast, endpoint, stories[2:])
    suggest(stories[2], "other")  # meanwhile: it is not asked and not paid
    Runner().run()
    assert Item.objects.get(job=third.job).state == ItemState.DONE
    item = Item.objects.get(job=fourth.job)
    assert (item.state, item.problem) == (ItemState.FAILED, prefill_rounds.CLOSED_MEANWHILE)
    assert Call.objects.count() == 1


@atomic
def test_an_answer_for_closed_cells_says_so(cast, endpoint, make_story, assign, cast_vote):
    stories = [make_story(1), make_story(2)]
    made = begin(cast, endpoint, stories)
    Runner().run()
    receive = prefill_rounds.LabelRound().receive

    def answered(story) -> tuple[Item, Call]:
        """The item of a story and its call, before the answer is taken."""
        item = Item.objects.select_related("job", "endpoint", "call").get(job=made.job, key=story.uid)
        return item, item.call

    # every cell has its suggestion by now
    (received,) = receive([answered(stories[0])]).values()
    told = "0 of 14 cells were still open; the others keep the vote or suggestion that they have."
    assert (received.state, received.problem) == (ItemState.UNREADABLE, told)
    # one cell of 14 was voted on after the question
    Suggestion.objects.all().delete()
    row = Proposition.objects.gold_of(stories[1]).first()
    cast_vote(assign(stories[1])[0], row, "order", DEFAULT_SCHEMA["order"].values[0])
    (received,) = receive([answered(stories[1])]).values()
    assert received.state == ItemState.DONE and received.problem.startswith("13 of 14 cells were still open")
    assert Suggestion.objects.count() == 13
    # two items of one story in one turn: the second finds nothing open
    Suggestion.objects.all().delete()
    item, call = answered(stories[0])
    again = Item(pk=item.pk + 1000, job=item.job, endpoint=item.endpoint, key=item.key)
    received = receive([(item, call), (again, call)])
    assert [one.state for one in received.values()] == [ItemState.DONE, ItemState.UNREADABLE]


def test_a_draw_is_kept_when_the_shares_change(cast, suggested):
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=cast.project.pk).update(blind_share=60, reveal_share=41)
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
    grid = f"/p/minds/work/{story.uid}/"
    assert "data-suggested" not in client.get(grid).content.decode()
    page = client.post(grid, follow=True).content.decode()
    assignment = Assignment.objects.select_related("story__project").get(pk=assignments[0].pk)
    arms = {
        (row.uid, key): arm_of(assignment, row.uid, key)
        for row in Proposition.objects.gold_of(story)
        for key in DEFAULT_SCHEMA.keys
    }
    shown = sum(arm is Arm.SHOWN for arm in arms.values())
    assert page.count("data-suggested") == shown < len(arms)
    uid, revealed = next(cell for cell, arm in arms.items() if arm is Arm.REVEAL)
    first, second = DEFAULT_SCHEMA[revealed].values[:2]

    def vote(**fields) -> dict:
        body = {"proposition": uid, "dimension": revealed, "changed_at": timezone.now().isoformat(), "saw": True}
        return client.post(f"{grid}votes/", {"changes": [body | fields]}, content_type="application/json").json()

    assert vote(label=first, idempotency_key="k1")["saved"][0]["revealed"] == [second, "tiny"]
    kept = Vote.objects.get()
    assert (kept.arm, kept.suggested) == ("reveal", "")  # the first vote cannot have seen it, whatever the browser says
    vote(label=second, idempotency_key="k2", accepted=True)
    kept.refresh_from_db()
    assert (kept.label, kept.suggested) == (second, second)
    assert list(VoteEvent.objects.order_by("id").values_list("accepted", flat=True)) == [False, True]
    assert client.get(grid).content.decode().count("data-suggested") == shown + 1


def test_a_vote_stores_its_arm_and_what_it_saw(cast, suggested, make_story, assign, cast_vote):
    second = DEFAULT_SCHEMA["order"].values[1]
    for number, arm, saw, kept in ((1, "shown", True, second), (2, "shown", False, ""), (3, "blind", True, "")):
        story, assignments = suggested(number)
        shares(cast, 100 if arm == "blind" else 0, 0)
        assignment = Assignment.objects.select_related("story__project").get(pk=assignments[0].pk)
        draw_for(assignment=assignment, now=timezone.now())
        changes = [change(Proposition.objects.gold_of(story).first(), "order", second, saw=saw, accepted=saw)]
        save_votes(by=cast.bob, assignment=assignment, changes=changes, now=timezone.now())
        vote, event = Vote.objects.order_by("id").last(), VoteEvent.objects.order_by("id").last()
        assert (vote.arm, vote.suggested) == (event.arm, event.suggested) == (arm, kept)
        assert event.accepted == bool(kept)
    story = make_story(4)
    cast_vote(assign(story)[0], Proposition.objects.gold_of(story).first(), "order", "0")
    assert Vote.objects.get(proposition__table__story=story).arm == "", "without suggestions there is none"
