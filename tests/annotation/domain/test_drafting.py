"""The reading of a model's draft of a table: what cannot stand in one is left out and said, whatever was answered."""

from __future__ import annotations

import json
from pathlib import Path

from annotation.domain import drafting
from annotation.domain.drafting import MOST_ROWS, drafting_request, read_draft
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, SHIPPED

STORY = "Ines puts the key in the bag. Tomas says “no” and moves it."
CHINESE = "小明把钥匙放进包里。"


def rows(*given) -> str:
    names = ("actor", "belief", "order")
    return json.dumps({"rows": [dict(zip(names, row, strict=False)) for row in given]})


GOOD = ("Ines", "The key is in the bag", "1")


def test_an_answer_of_which_nothing_can_be_used_says_why():
    for answer, problem in [
        ("I cannot do that.", "The answer holds no JSON object with rows."),
        ('{"rows": {"1": {}}}', "The answer holds no JSON object with rows."),
        ('{"rows": [{"actor": "Ines", "belief": "The', "The answer holds no JSON object with rows."),
        ("{" * 100_000, "The answer holds no JSON object with rows."),
        (rows(), "The answer has no rows."),
        (rows(*[GOOD] * (MOST_ROWS + 1)), "The answer has 201 rows; a draft has at most 200."),
        (rows(("Bob", "It rains"), ("Alice", "It snows")), "No row names the world or an actor of this story."),
        (rows(("Ines", "钥匙在包里")), "1 of 1 rows is left out: 1 in another script than the story."),
        (rows(("Ines", "<b>x</b> y")), "1 of 1 rows is left out: 1 with HTML or control characters."),
        (rows(("Ines", "x" * 2001)), "1 of 1 rows is left out: 1 longer than a row may be."),
        (rows(("Ines", ""), ("", "It rains")), "2 of 2 rows are left out: 2 without an actor or a proposition."),
        (json.dumps({"rows": [3, None, ["Ines"]]}), "3 of 3 rows are left out: 3 without an actor or a proposition."),
    ]:
        drafted = read_draft(answer, STORY)
        assert (drafted.rows, drafted.problem) == ((), problem)


def test_what_can_be_used_is_kept_and_the_rest_is_counted():
    answer = rows(
        ("world", "The key is in\nthe  bag", 0), GOOD, ("ines", "the key is in the bag."), ("Bob", "It rains", "seven"),
        ("Tomas", "The key &amp; the bag"), ("Tomas", "a\u202eb"), ("Tomas", "\ud800"),
        ("Ines and Tomas", "Ines is here", "1"),
    )  # fmt: skip
    drafted = read_draft(f"Here it is:\n```json\n{answer}\n```", STORY)
    assert [(row.actor, row.belief, row.order) for row in drafted.rows] == [
        ("world", "The key is in the bag", "0"), GOOD, ("Bob", "It rains", ""), ("Ines and Tomas", "Ines is here", "1"),
    ]  # fmt: skip
    assert drafted.problem == (
        "4 of 8 rows are left out: 1 said before, 3 with HTML or control characters. "
        "1 row has an actor whom the story does not name."
    )


def test_a_story_is_drafted_in_its_own_script():
    assert read_draft(rows(("小明", "钥匙在包里", "1")), CHINESE).problem == ""
    assert "another script" in read_draft(rows(("小明", "The key is in the bag", "1")), CHINESE).problem


def test_the_request_holds_the_story_and_room_for_its_table():
    request = drafting_request(story="Ines {puts} the key.", reasoning_tokens=500)
    assert "Ines {puts} the key." in request.messages[1].content and request.max_tokens > 1300
    assert request.task == {"kind": "extract", "answer_format": "structured", "story": "Ines {puts} the key."}
    assert drafting_request(story="Ines. " * 500).max_tokens > request.max_tokens


def directive(orders) -> str:
    return drafting_request(story=STORY, orders=orders).messages[0].content


def test_the_prompt_is_the_built_in_one_for_every_schema_that_comes_with_the_program():
    built_in = (Path(drafting.__file__).parent / "prompts" / "drafting-1" / "prompt.txt").read_text("utf-8").strip()
    assert {directive(schema.orders) for schema in SHIPPED.values()} == {built_in}
    assert drafting_request(story=STORY) == drafting_request(story=STORY, orders=DEFAULT_SCHEMA.orders)


def test_the_prompt_names_the_orders_of_a_schema_of_its_own():
    built_in, own = directive(DEFAULT_SCHEMA.orders), directive(("1", "2", "4", "7"))
    assert (
        'counts minds: "1" for what an actor holds about the world, "2" for what an actor holds about another mind, '
        '"4" for a mind about a mind about a mind about a mind, "7" for 7 minds, each about the next.\n'
    ) in own
    assert [a == b for a, b in zip(built_in.splitlines(), own.splitlines(), strict=True)].count(False) == 1


def test_an_order_that_the_schema_has_not_is_left_out():
    answer = rows(("Ines", "The key is in the bag", "4"), ("world", "It rains", "0"))
    assert [row.order for row in read_draft(answer, STORY, ("1", "4")).rows] == ["4", ""]
    assert [row.order for row in read_draft(answer, STORY).rows] == ["", "0"]
