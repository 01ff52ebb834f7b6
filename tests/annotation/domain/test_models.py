"""What a model is asked in place of people, what its answers are read as, and the baselines that need no model."""

import asyncio
import csv
import io
import json
from collections import Counter
from dataclasses import astuple, replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from annotation.domain import drafting
from annotation.domain.baselines import actors_in, majority, omniscient_rows
from annotation.domain.drafting import MOST_ROWS, drafting_request, read_draft
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, SHIPPED
from annotation.domain.tasks import EXTRACT, LABEL, STRUCTURED, ExtractionTask, LabelTask, Row, register_writer
from judge.domain.lexical import align, contradict
from workers.providers import registry
from workers.providers.contract import Request, Spec, Stop
from workers.providers.errors import Rejected

# --- baselines

LABELLED = {
    "kind": "label",
    "rows": [
        {"id": "p1", "actor": "Ines", "belief": "It is in the bag"},
        {"id": "p2", "actor": "world", "belief": "It is gone"},
    ],
    "dimensions": {"truth": ["True", "False", "Unknown"], "order": ["0", "1"]},
    "counts": {"truth": {"False": 9, "True": 4}},
}


def ask(model: str, task: dict, **options):
    backend = registry.make(Spec("baseline", model, options=options.pop("options", {})))
    body = backend.body(Request((), max_tokens=1, task=task, **options))
    json.dumps(body, allow_nan=False)  # the ledger stores it
    return asyncio.run(backend.complete(body, timeout=1, call="c"))


def labels(model: str, task: dict = LABELLED, **options) -> dict:
    return json.loads(ask(model, task, **options).text)["rows"]


def test_the_majority_is_the_commonest_label_of_each_dimension_in_the_form_that_is_asked_for():
    # truth: False was counted 9 times; nothing was counted for order: the schema's first
    assert labels("majority") == {one: {"truth": "False", "order": "0"} for one in ("p1", "p2")}
    rows = ask("majority", LABELLED | {"answer_format": "structured"}).text
    assert json.loads(rows)["rows"][0] == {"id": "p1", "truth": "False", "order": "0"}
    lines = ask("majority", LABELLED | {"answer_format": "text", "columns": ["order", "truth"]}).text.splitlines()
    assert lines[0].startswith("Actor | Belief | Order | Truth-Status")
    assert lines[2] == "Ines | It is in the bag | 0 | False"
    # ties go to the first, and labels of another schema do not count
    for counts, expected in [({"b": 2, "a": 1}, "b"), ({"b": 1, "a": 1}, "a"), ({}, "a"), ({"gone": 9, "b": 1}, "b")]:
        assert majority(counts, ["a", "b"]) == expected


def test_random_labels_follow_the_seed_and_the_sample():
    task = LABELLED | {"rows": [{"id": str(at), "actor": "Ines", "belief": f"b{at}"} for at in range(600)]}
    drawn = labels("random", task)
    assert drawn == labels("random", task) == labels("random", task, options={"seed": 0})
    assert drawn != labels("random", task, seed=1) != labels("random", task, seed=2)
    assert labels("random", task, seed=1) == labels("random", task, options={"seed": 1})
    assert drawn != labels("random", task, sample=1)
    # uniform: of 600 draws from three, 200 expected, standard deviation √(600 · 1/3 · 2/3) = 11.5; four of them are 46
    counts = Counter(row["truth"] for row in drawn.values())
    assert set(counts) == {"True", "False", "Unknown"}
    assert all(abs(count - 200) < 46 for count in counts.values())
    alone = labels("random", LABELLED | {"rows": LABELLED["rows"][1:]})
    assert alone["p2"] == labels("random")["p2"], "it does not depend on the other rows"


def test_the_omniscient_reader_gives_every_fact_to_everybody():
    story = "Ines puts the key in the bag. Then Tomas moves it to the drawer."
    facts = ["Ines puts the key in the bag", "Then Tomas moves it to the drawer"]
    rows = [("world", fact, "0") for fact in facts]
    rows += [(actor, fact, "1") for actor in ("Ines", "Tomas") for fact in facts]
    assert [astuple(row) for row in omniscient_rows(story, ["Ines", "Tomas"])] == rows
    task = {"kind": "extract", "story": story, "actors": ["Ines", "Tomas"]}
    answer = ask("omniscient", task)
    table = [tuple(line.split(" | ")) for line in answer.text.splitlines()]
    assert table == [("Actor", "Belief", "Order"), ("---", "---", "---"), *rows]
    assert (answer.stop, answer.usage.input, answer.usage.output, answer.model) == (Stop.END, 0, 0, "omniscient")
    told = json.loads(ask("omniscient", task | {"answer_format": "structured"}).text)["rows"]
    assert [tuple(row.values()) for row in told] == rows
    # sentences end where they end, and actors are names that open no sentence
    facts = [row.belief for row in omniscient_rows('Mr. Bell asks "Why?" He goes|stays!\n\nEnd')]
    assert facts[:3] == ['Mr. Bell asks "Why?"', "He goes/stays!", "End"]
    assert actors_in("Then Ines sees Mr. Bell. Later she tells Ines of Tomas.") == ["Ines", "Mr. Bell", "Tomas"]


def test_a_lexical_judge_finds_the_best_assignment_of_beliefs_of_the_same_actor():
    # "aaaa bbbb" is X itself: 1. "aaaa" in "aaaa bbbb": token-set ratio 1, plain ratio 2·4/(9+4) = 0.615, mean 0.808.
    # "bbbb" and "aaaa" share nothing: 0. Greedy: 1 + 0; crosswise: 0.808 + 0.808.
    predictions = [["Ines", "aaaa bbbb"], ["Ines", "bbbb"]]
    gold = [["Ines", "aaaa bbbb"], ["Ines", "aaaa"]]
    assert align(predictions, gold) == align(predictions, gold, threshold=0.8) == [(0, 1), (1, 0)]
    # 0.808 is below 0.81: of the pairs above only the identical one is left, and the others push nothing aside
    assert align(predictions, gold, threshold=0.81) == [(0, 0)]
    for one, other, found in [
        (["Ines", "aaaa"], ["Ines", "bbbb"], []),  # texts that share nothing are no pair even without a threshold
        (["Ines", "the key is here"], ["Tomas", "the key is here"], []),
        ([" ines ", "The Key is here"], ["Ines", "the key is here"], [(0, 0)]),
    ]:
        assert align([one], [other], threshold=0) == found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=1, max_size=4), st.data())
def test_no_other_assignment_is_better(left, data):
    right = data.draw(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=len(left), max_size=4))
    found = align([["x", one] for one in left], [["x", one] for one in right], threshold=0.3)
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)

    def close(one: str, other: str) -> float:
        return 0 if contradict(one, other) else (fuzz.token_set_ratio(one, other) + fuzz.ratio(one, other)) / 200

    def value(pairs) -> float:
        return sum(near for one, other in pairs if (near := close(left[one], right[other])) >= 0.3)

    best = max(value(enumerate(order)) for order in permutations(range(len(right)), len(left)))
    assert value(found) == pytest.approx(best, abs=1e-4)


def test_the_verdict_is_two_tables_with_match_counts():
    predictions, gold = [["Ines", 'the "key", here'], ["Tomas", "rain"]], [["Ines", 'the "key", here']]
    task = {"kind": "judge", "predictions": predictions, "gold": gold}
    text = ask("lexical-judge", task).text
    first, second = text.removeprefix("Prediction Table:\n").split("\nGround Truth Table:\n")
    rows = [list(csv.reader(io.StringIO(part))) for part in (first, second)]
    assert rows[0] == [["Actor", "Belief", "MatchCount"], ["Ines", 'the "key", here', "1"], ["Tomas", "rain", "0"]]
    assert rows[1] == [["Actor", "Belief", "MatchCount"], ["Ines", 'the "key", here', "1"]]
    assert json.loads(ask("lexical-judge", task | {"answer_format": "structured"}).text) == {
        "predictions": [{"id": 1, "matches": [1]}, {"id": 2, "matches": []}],
        "gold": [{"id": 1, "matches": [1]}],
    }


def test_settings_and_tasks_that_cannot_work_are_refused():
    names = "majority, random, omniscient, lexical-judge, first-option, tracker"
    threshold = "a number from 0 to 1 is expected"
    for model, options, told in [
        ("oracle", {}, f"There is no baseline 'oracle'; there are {names}."),
        ("lexical-judge", {"threshold": "high"}, f"The option threshold is 'high'; {threshold}."),
        ("lexical-judge", {"threshold": 55}, f"The option threshold is 55; {threshold}."),
    ]:
        with pytest.raises(Rejected, match=f"^{told}$"):
            registry.make(Spec("baseline", model, options=options))
    for task, told in [({"kind": "judge"}, "not judge"), ({}, "not answer freely")]:
        with pytest.raises(Rejected, match=rf"The baseline majority can only label or choose( or [\w ]+)*, {told}\."):
            ask("majority", task)
    register_writer(STRUCTURED)
    with pytest.raises(ValueError, match="'structured' already"):
        register_writer(replace(STRUCTURED, labels=lambda task, rows: ""))


# --- tasks

COUNTS = LabelTask(rows=[Row(1, "Ines", "Three is more than two")], dimensions={"truth": ("True", "False")})
WHOLE = LabelTask(
    rows=[Row(1, "Ines", "Three is more than two"), Row(2, "world", "The key is in the drawer")],
    dimensions={"truth": ("True", "False"), "order": ("0", "1")},
    counts={"order": {"1": 2}},
    answer_format="text",
    columns=("truth", "order"),
    header=("Actor", "Truth"),
)


def test_a_request_keeps_a_task_whole_and_in_one_order():
    """As JSON, since requests are read from the ledger; the digest by which an answer is found again is of the task as
    it is written."""
    table = ExtractionTask(story="Ines counts.", actors=("Ines",), answer_format="text", header=("Actor",))
    for kind, task in (
        (LABEL, COUNTS),
        (LABEL, WHOLE),
        (EXTRACT, ExtractionTask(story="Ines counts.")),
        (EXTRACT, table),
    ):
        kept = json.loads(json.dumps(task.as_task(), sort_keys=True))
        assert kept["kind"] == kind
        assert type(task).from_task(kept).as_task() == task.as_task()
    assert list(COUNTS.as_task()) == ["kind", "rows", "dimensions", "counts"]
    whole = ["kind", "answer_format", "rows", "dimensions", "columns", "counts", "header"]
    assert list(WHOLE.as_task()) == whole


# --- drafts of tables: what cannot stand in one is left out and said, whatever was answered

STORY = "Ines puts the key in the bag. Tomas says “no” and moves it."
CHINESE = "小明把钥匙放进包里。"


def rows(*given) -> str:
    names = ("actor", "belief", "order")
    return json.dumps({"rows": [dict(zip(names, row, strict=False)) for row in given]})


GOOD = ("Ines", "The key is in the bag", "1")
LEFT_OUT = (
    "Left out: {} rows, without an actor or a proposition, too long, with HTML or control characters, or said before."
)


def test_an_answer_of_which_nothing_can_be_used_says_why():
    for answer, problem in [
        ("I cannot do that.", "The answer holds no JSON object with rows."),
        ('{"rows": {"1": {}}}', "The answer holds no JSON object with rows."),
        ('{"rows": [{"actor": "Ines", "belief": "The', "The answer holds no JSON object with rows."),
        ("{" * 100_000, "The answer holds no JSON object with rows."),
        (rows(), "The answer has no rows."),
        (rows(*[GOOD] * (MOST_ROWS + 1)), "The answer has 201 rows; a draft has at most 200."),
        (rows(("Bob", "It rains"), ("Alice", "It snows")), "No row names the world or an actor of this story."),
        (rows(("Ines", "<b>x</b> y")), LEFT_OUT.format("1 of 1")),
        (rows(("Ines", "x" * 2001)), LEFT_OUT.format("1 of 1")),
        (rows(("Ines", ""), ("", "It rains")), LEFT_OUT.format("2 of 2")),
        (json.dumps({"rows": [3, None, ["Ines"]]}), LEFT_OUT.format("3 of 3")),
    ]:
        assert read_draft(answer, STORY) == ((), problem)


def test_what_can_be_used_is_kept_and_the_rest_is_counted():
    answer = rows(
        ("world", "The key is in\nthe  bag", 0), GOOD, ("ines", "the key is in the bag."), ("Bob", "It rains", "seven"),
        ("Tomas", "The key &amp; the bag"), ("Tomas", "a\u202eb"), ("Tomas", "\ud800"),
        ("Ines and Tomas", "Ines is here", "1"),
    )  # fmt: skip
    drafted, problem = read_draft(f"Here it is:\n```json\n{answer}\n```", STORY)
    assert [(row.actor, row.belief, row.order) for row in drafted] == [
        ("world", "The key is in the bag", "0"), GOOD, ("Bob", "It rains", ""), ("Ines and Tomas", "Ines is here", "1"),
    ]  # fmt: skip
    named = "Rows with an actor whom the story does not name: 1."
    assert problem == f"{LEFT_OUT.format('4 of 8')} {named}"


def test_a_story_is_drafted_in_orders_of_its_schema():
    assert read_draft(rows(("小明", "钥匙在包里", "1")), CHINESE)[1] == ""
    answer = rows(("Ines", "The key is in the bag", "4"), ("world", "It rains", "0"))
    assert [row.order for row in read_draft(answer, STORY, ("1", "4"))[0]] == ["4", ""]
    assert [row.order for row in read_draft(answer, STORY)[0]] == ["", "0"]


def test_the_request_holds_the_story_the_orders_and_room_for_its_table():
    request = drafting_request(story="Ines {puts} the key.", reasoning_tokens=500)
    assert "Ines {puts} the key." in request.messages[1].content and request.max_tokens > 1300
    assert request.task == {"kind": "extract", "answer_format": "structured", "story": "Ines {puts} the key."}
    assert drafting_request(story="Ines. " * 500).max_tokens > request.max_tokens

    def directive(orders) -> str:
        return drafting_request(story=STORY, orders=orders).messages[0].content

    # the built-in one for every schema that comes with the program
    built_in = (Path(drafting.__file__).parent / "prompts" / "drafting-1" / "prompt.txt").read_text("utf-8").strip()
    assert {directive(schema.orders) for schema in SHIPPED.values()} == {built_in}
    assert drafting_request(story=STORY) == drafting_request(story=STORY, orders=DEFAULT_SCHEMA.orders)
    own = directive(("1", "2", "4", "7"))
    assert (
        'counts minds: "1" for what an actor holds about the world, "2" for what an actor holds about another mind, '
        '"4" for a mind about a mind about a mind about a mind, "7" for 7 minds, each about the next.\n'
    ) in own
    assert [a == b for a, b in zip(built_in.splitlines(), own.splitlines(), strict=True)].count(False) == 1
