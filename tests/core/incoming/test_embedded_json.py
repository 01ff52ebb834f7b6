"""JSON in a model's text: which object counts, what is tolerated, and how long it takes."""

from __future__ import annotations

import json

from core.incoming.embedded_json import values_in
from core.incoming.text import MAX_DEPTH, too_deep

RIGHT = {"rows": {"1": {"order": "1"}}}
TEXT = json.dumps(RIGHT)
HOLDING = {
    "plain": TEXT,
    "byte order mark": f"\ufeff{TEXT}",
    "prose around": f"Here it is: {TEXT} I hope that it helps.",
    "braces around": f"I use {{this form}}: {TEXT} and leave {{minor facts}} out.",
    "an open brace before": f"He wrote {{ and then {TEXT}",
    "brackets around": f"[see {TEXT}]",
    "fence": f"```json\n{TEXT}\n```",
    "fence with a blank": f"``` json\n{TEXT}\n```",
    "fence in capitals": f"```JSON\n{TEXT}\n```",
    "fence of tildes": f"~~~\n{TEXT}\n~~~",
    "fence without a line end": f"```json{TEXT}```",
    "fence without an end": f"```json\n{TEXT}",
    "repeated": TEXT * 2,
    "an example before": f'For instance {{"rows": {{}}}} would be empty.\n{TEXT}',
    "a draft before": f'{{"rows": {{"1": {{"order": "0"}}}}}}\nNo, rather:\n{TEXT}',
    "a draft that was broken off before": f'{{"rows": {{"1": {{"order": "0"\nOnce more:\n{TEXT}',
    "another object behind": f'{TEXT}\n{{"note": "done"}}',
    "a broken one behind": f'{TEXT}\n{{"rows": {{"1"',
    "wrapped": f'{{"answer": {TEXT}}}',
    "wrapped behind a draft": f'{{"rows": {{}}}}\nRather: {{"answer": {TEXT}}}',
    "comment": '{"rows": {"1": {"order": "1"}} // one row\n}',
    "trailing commas": '{"rows": {"1": {"order": "1",},},}',
    "Python's literal": "{'rows': {'1': {'order': '1'}}}",
    "many lines": json.dumps(RIGHT, indent=2),
}
ROWS = [{"actor": "world", "belief": "it rains"}, {"actor": "Mia", "belief": "it is dry"}]
LINES = "\n".join(map(json.dumps, ROWS))


def test_the_last_object_with_the_field_counts():
    for text in HOLDING.values():
        assert values_in(text).object_with("rows") == RIGHT


def test_without_the_field_there_is_no_object():
    for text in ["", "rows", '{"note": 1}', '{"rows": {"1"', '["rows"]', '"rows"', "{rows: 1}"]:
        assert values_in(text).object_with("rows") is None


def test_an_outer_object_goes_before_a_nested_one():
    text = '{"verdict": "A", "why": {"verdict": "B"}}'
    for outer in (text, f'{{"answer": {text}}}', f"[{text}]"):
        assert values_in(outer).object_with("verdict") == json.loads(text)


def test_strings_keep_what_looks_like_syntax():
    text = 'So: {"verdict": "A, } // no [ comment",}'
    assert values_in(text).object_with("verdict") == {"verdict": "A, } // no [ comment"}


def test_lists_and_lines_are_rows():
    for text in [
        json.dumps(ROWS),
        f"```\n{json.dumps(ROWS)}\n```",
        LINES,
        f"```jsonl\n{LINES}\n```",
        f"As [1] says: {LINES}",
    ]:
        assert values_in(text).rows("actor", "belief") == ROWS


def test_lists_of_one_object_are_parts_of_a_table():
    text = f"{json.dumps({'rows of': ROWS})} {json.dumps({'of the world': ROWS[:1], 'of Mia': ROWS[1:]})}"
    assert values_in(text).rows("actor", "belief") == ROWS


def test_values_have_their_places():
    text = f'So: {TEXT}\n{{"x"}} {json.dumps(ROWS)}.'
    found = values_in(text)
    assert [json.loads(text[start:end]) for start, end in found.places] == list(found.values) == [RIGHT, ROWS]
    assert values_in(f" {TEXT}\n").places == ((0, len(TEXT) + 2),)


def test_rows_of_a_table_that_was_cut_off_are_none():
    cut = json.dumps({"rows": ROWS})[:-5]
    assert values_in(cut).values and values_in(cut).rows("actor") is None
    assert values_in(f"{LINES}\n{cut[:20]}").rows("actor") is None


def test_fields_of_rows_have_any_spelling():
    assert values_in('[{"Actor": "Mia", "truth status": "true"}]').rows("actor", "truth_status")
    assert values_in('[{"Actor": "Mia"}]').rows("belief") is None
    assert len(values_in('[{"Actor": "Mia"}, {"note": "done"}]').rows("actor") or ()) == 2


def test_an_empty_list_is_a_table_without_rows():
    assert values_in("```json\n[]\n```").rows("actor") == []
    assert values_in(f"{json.dumps(ROWS)} []").rows("actor") == ROWS
    assert values_in("nothing").rows("actor") is None


def test_a_megabyte_of_brackets_ends():
    """Quadratic time would be hours."""
    for piece in [
        "{",
        "[",
        "{}",
        '{"',
        '{"a":',
        '{"a":[',
        "{'a':[1,],}",
        "{//",
        '{"a" /* ',
        '{"x {x}"}}',
        '"',
        "\\",
        "[]]",
        "{x}",
    ]:
        for before, after in (("", ""), ("{", "}")):
            assert values_in(f"{before}{piece * (1_000_000 // len(piece))}{after}").object_with("rows") is None


def test_what_nests_too_deeply_is_not_read():
    deep = '{"a": ' * (MAX_DEPTH + 9) + "1" + "}" * (MAX_DEPTH + 9)
    assert not any(too_deep(value) for value in values_in(f"So: {deep}").values)
