"""JSON in a model's text: which object counts, what is tolerated, and how long it takes."""

import json

from core.incoming.embedded_json import values_in
from core.incoming.text import MAX_DEPTH, too_deep
from tests.marked import JSON_FORMS, formed

RIGHT = {"rows": {"1": {"order": "1"}}}
TEXT = json.dumps(RIGHT)
DRAFT = json.dumps({"rows": {"1": {"order": "0"}}})
HOLDING = {
    "byte order mark": f"\ufeff{TEXT}",
    "an open brace before": f"He wrote {{ and then {TEXT}",
    "brackets around": f"[see {TEXT}]",
    "fence without an end": f"```json\n{TEXT}",
    "wrapped": f'{{"answer": {TEXT}}}',
    "wrapped behind a draft": f'{{"rows": {{}}}}\nRather: {{"answer": {TEXT}}}',
    "comment": '{"rows": {"1": {"order": "1"}} // one row\n}',
    "trailing commas": '{"rows": {"1": {"order": "1",},},}',
    "Python's literal": "{'rows': {'1': {'order': '1'}}}",
    "many lines": json.dumps(RIGHT, indent=2),
} | {form: formed(form, TEXT, DRAFT) for form in JSON_FORMS}
ROWS = [{"actor": "world", "belief": "it rains"}, {"actor": "Mia", "belief": "it is dry"}]
TABLE, LINES = json.dumps(ROWS), "\n".join(map(json.dumps, ROWS))


def test_the_last_object_with_the_field_counts():
    for name, text in HOLDING.items():
        assert values_in(text).object_with("rows") == RIGHT, name
    for text in ["", "rows", '{"note": 1}', '{"rows": {"1"', '["rows"]', '"rows"', "{rows: 1}"]:
        assert values_in(text).object_with("rows") is None
    nested = '{"verdict": "A", "why": {"verdict": "B"}}'  # an outer one goes before it
    for outer in (nested, f'{{"answer": {nested}}}', f"[{nested}]"):
        assert values_in(outer).object_with("verdict") == json.loads(nested)
    # strings keep what looks like syntax
    text = 'So: {"verdict": "A, } // no [ comment",}'
    assert values_in(text).object_with("verdict") == {"verdict": "A, } // no [ comment"}


def test_lists_lines_and_parts_of_a_table_are_rows():
    parts = f"{json.dumps({'rows of': ROWS})} {json.dumps({'of the world': ROWS[:1], 'of Mia': ROWS[1:]})}"
    jsonl = f"```jsonl\n{LINES}\n```"
    for text in [TABLE, f"```\n{TABLE}\n```", LINES, jsonl, f"As [1] says: {LINES}", parts, f"{TABLE} []"]:
        assert values_in(text).rows("actor", "belief") == ROWS
    assert values_in("```json\n[]\n```").rows("actor") == [], "a table without rows"
    cut = json.dumps({"rows": ROWS})[:-5]
    assert values_in(cut).values
    for text in ("nothing", cut, f"{LINES}\n{cut[:20]}"):
        assert values_in(text).rows("actor") is None, text
    # fields have any spelling
    assert values_in('[{"Actor": "Mia", "truth status": "true"}]').rows("actor", "truth_status")
    assert values_in('[{"Actor": "Mia"}]').rows("belief") is None
    assert len(values_in('[{"Actor": "Mia"}, {"note": "done"}]').rows("actor") or ()) == 2


def test_values_have_their_places():
    text = f'So: {TEXT}\n{{"x"}} {TABLE}.'
    found = values_in(text)
    assert [json.loads(text[start:end]) for start, end in found.places] == list(found.values) == [RIGHT, ROWS]
    assert values_in(f" {TEXT}\n").places == ((0, len(TEXT) + 2),)


def test_a_megabyte_of_brackets_ends_and_what_nests_too_deeply_is_not_read():
    """Quadratic time would be hours."""
    pieces = ["{", "[", "{}", '{"', '{"a":', '{"a":[', "{'a':[1,],}", "{//", '{"a" /* ', '{"x {x}"}}', '"', "\\"]
    for piece in [*pieces, "[]]", "{x}"]:
        for before, after in (("", ""), ("{", "}")):
            assert values_in(f"{before}{piece * (1_000_000 // len(piece))}{after}").object_with("rows") is None
    deep = '{"a": ' * (MAX_DEPTH + 9) + "1" + "}" * (MAX_DEPTH + 9)
    assert not any(too_deep(value) for value in values_in(f"So: {deep}").values)
