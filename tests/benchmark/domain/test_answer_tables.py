"""Tables in answers, in the shapes that models write them in: what a person would read, or nothing."""

from __future__ import annotations

import json

from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.parsing.answers import parse_counts, parse_extraction, parse_labels, says_nothing

DRAWER, GONE = "the key is in the drawer", "the key is gone"
ROWS = [("world", DRAWER, "0"), ("Mia", GONE, "1")]
OBJECTS = [dict(zip(("actor", "belief", "order"), row, strict=True)) for row in ROWS]
HEADER = "| Actor | Belief | Order |\n|---|---|---|\n"


def table(*rows, header: str = HEADER) -> str:
    return header + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def propositions(text: str) -> list[tuple[str, ...]]:
    return [tuple(row[:3]) for row in parse_extraction(text)]


def test_rows_are_read_whatever_separates_their_cells():
    html = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS)
    for name, text in {
        "numbers without a header": f"| 1 | world | {DRAWER} | 0 |\n| 2 | Mia | {GONE} | 1 |",
        "doubled pipes": "".join(f"|| {' | '.join(row)} ||\n" for row in ROWS),
        "numbers with a point": f"1. | world | {DRAWER} | 0\n2. | Mia | {GONE} | 1",
        "numbers that the header lacks": table(*((str(at), *row) for at, row in enumerate(ROWS, 1))),
        "full-width pipes": table(*ROWS).replace("|", "｜"),
        "a drawn box": "┌──┬──┐\n" + table(*ROWS, header="│ Actor │ Belief │ Order │\n├──┼──┤\n").replace("|", "│"),
        "HTML": f"<table><tr><th>Actor<th>Belief<th>Order</tr>{html}</table>",
        "HTML over many lines": f"<tr>\n<th>Actor</th>\n<th>Belief</th>\n<th>Order</th>\n</tr>{html}",
        "commas": f'Actor,Belief,Order\nworld,"{DRAWER}",0\nMia,{GONE},1\n\nMia, who left, does not know, 1',
        "a fence of CSV without a header": f"```csv\nworld,{DRAWER},0\nMia,{GONE},1\n```",
        "semicolons": f"Actor;Belief;Order\nworld;{DRAWER};0\nMia;{GONE};1",
        "tabs": f"Actor\tBelief\tOrder\nworld\t{DRAWER}\t0\nMia\t{GONE}\t1",
        "tabs without a header": f"world\t{DRAWER}\t0\nMia\t{GONE}\t1",
        "named cells": f"- Actor: world | Belief: {DRAWER} | Order: 0\n- Actor: Mia | Belief: {GONE} | Order: 1",
        "named cells, commas": f"1. **Actor:** world, **Belief:** {DRAWER}, **Order:** 0\n"
        f"2. **Actor:** Mia, **Belief:** {GONE}, **Order:** 1",
        "a name on each line": f"Actor: world\nBelief: {DRAWER}\nOrder: 0\n\nActor: Mia\nBelief: {GONE}\nOrder: 1",
        "white space that ends no line": table(
            ("world", DRAWER.replace("key ", "key\u2028"), "0"), ("Mia", GONE.replace("key ", "key\x85"), "1")
        ),
        "line ends of another kind only": table(*ROWS).replace("\n", "\u2028"),
        "letters without a header": f"(a) | world | {DRAWER} | 0\n(b) | Mia | {GONE} | 1",
        "letters and numbers": f"| P1 | world | {DRAWER} | 0 |\n| P2 | Mia | {GONE} | 1 |",
        "numbers with gaps": f"| 1 | world | {DRAWER} | 0 |\n| 4 | Mia | {GONE} | 1 |",
        "remarks without a header": f"world | {DRAWER} | 0 | note\nMia | {GONE} | 1 | note 2",
        "a quotation": "".join(f"> {line}\n" for line in table(*ROWS).splitlines()),
        "a row over two lines": table(("world", DRAWER.replace("key ", "key\n"), "0"), ROWS[1]),
        "rows over two lines without outer pipes": f"Actor | Belief | Order\nworld | {DRAWER[:7]}\n{DRAWER[8:]} | 0\n"
        f"Mia | {GONE} |\n1",
        "line breaks in a cell": table(("world", DRAWER.replace("key ", "key<br/>"), "0"), ROWS[1]),
        "commas and blank lines": f"Actor,Belief,Order\n\nworld,{DRAWER},0\n\nMia,{GONE},1\n\nMia left, so 1.",
        "dashes": f"- world – {DRAWER} – 0\n- Mia – {GONE} – 1",
        "semicolons without a header": f"world; {DRAWER}; 0\nMia; {GONE}; 1",
        "commas without a header": f"world,{DRAWER},0\nMia,{GONE},1",
        "YAML": f"- actor: \"world\"\n  belief: '{DRAWER}'\n  order: 0\n- actor: Mia\n  belief: >-\n    the key\n"
        "    is gone\n  order: 1",
        "remarks in the header, in another order": "| Belief (proposition) | Order (0-3) | Actor |\n|---|---|---|\n"
        f"| {DRAWER} | 0 | world |\n| {GONE} | 1 | Mia |",
        "Chinese names in another order": f"| 信念 | 角色 | 阶数 |\n|---|---|---|\n| {DRAWER} | world | 零阶 |\n"
        f"| {GONE} | Mia | 一阶 |",
        "Chinese named cells": f"- 角色：world，信念：{DRAWER}，阶数：0\n- 角色：Mia，信念：{GONE}，阶数：1",
        "JSON": json.dumps(OBJECTS),
        "lines of JSON": "\n".join(map(json.dumps, OBJECTS)),
        "lists of JSON by actor": json.dumps({row["actor"]: [row] for row in OBJECTS}),
        "lists of JSON by order under a name": json.dumps(
            {"beliefs": {f"order {row['order']}": [row] for row in OBJECTS}}
        ),
        "lists of JSON under headings": "\n".join(f"## {row['actor']}\n{json.dumps([row])}" for row in OBJECTS),
        "carriage returns": table(*ROWS).replace("\n", "\r\n"),
    }.items():
        assert propositions(text) == ROWS, name


def test_of_several_versions_the_last_counts():
    draft = [("world", "the key is in the bag", "0"), ("Mia", "the bag is shut", "1")]
    for name, text in {
        "by its heading": f"Draft:\n{table(draft[0])}\nFinal table:\n\n{table(*ROWS)}",
        "by a heading without headers": f"Draft:\nworld | a draft | 0\n\nFinal:\nworld | {DRAWER} | 0\n"
        f"Mia | {GONE} | 1",
        "by the sentence between": f"{table(*draft)}\nWait, the second row is wrong.\n\n{table(*ROWS)}",
        "by its rows": f"{table(*ROWS)}\nHere it is in a fence:\n```\n{table(*ROWS)}```",
        "by the same actors and orders": f"{table(*draft)}\n{table(*ROWS)}",
        "a draft in JSON": f"{json.dumps(OBJECTS[:1]).replace(DRAWER, 'a draft')}\nFinal table:\n{table(*ROWS)}",
        "a final list": f"{table(*draft)}\nFinal:\n```json\n{json.dumps(OBJECTS)}\n```",
        "lists by name": json.dumps({"draft": OBJECTS[:1], "final": OBJECTS}).replace(DRAWER, "a draft", 1),
        "lines of JSON": f"{json.dumps(OBJECTS[0]).replace(DRAWER, 'a draft')}\nFinal:\n"
        + "\n".join(map(json.dumps, OBJECTS)),
        "a list and then lines": f"{json.dumps(OBJECTS[:1]).replace(DRAWER, 'a draft')}\nFinal:\n"
        + "\n".join(map(json.dumps, OBJECTS)),
        "an example before": f'Rows are like {{"actor": "Mia", "belief": "a belief", "order": 1}}.\n{table(*ROWS)}',
    }.items():
        assert propositions(text) == ROWS, name


def test_parts_of_a_table_are_joined():
    world, mia = ROWS
    more = [("Mia", "the drawer is shut", "1"), ("world", "it rains", "0")]
    for name, text, rows in (
        ("by order", f"## Order 0\n{table(world)}\n## Order 1\n{table(mia)}", ROWS),
        ("by actor", f"**world**\n{table(world)}\n**Mia**\n{table(mia)}", ROWS),
        ("by scene", f"Scene 1\n{table(*ROWS)}\nScene 2\n{table(*more)}", [*ROWS, *more]),
        ("continued", f"{table(*ROWS)}\n(continued)\n{table(*more)}", [*ROWS, *more]),
    ):
        assert propositions(text) == rows, name
    corrected = f"{table(*ROWS, *more)}\nOne row with another order:\n{table(('Mia', GONE, '2'))}"
    assert propositions(corrected) == [world, ("Mia", GONE, "2"), *more]


def test_headings_of_a_story_name_parts():
    earlier, later = ("Mia", DRAWER, "1"), ("Mia", GONE, "1")
    for first, second in (
        ("### Morning", "### Evening"),
        ("**True beliefs**", "**Mistaken beliefs**"),
        ("## Initial beliefs", "## Updated beliefs"),
        ("### Scene 1", "### Final scene"),
        ("## Initially", "## Finally"),
        ("### Mia", "### What Mia gets wrong"),
        ("Here it is.", "I also missed:"),
        ("Rows:", "Additional rows:"),
    ):
        assert propositions(f"{first}\n{table(earlier)}\n{second}\n{table(later)}") == [earlier, later], second
    for first, second in (("### Draft", "### Final table"), ("## Initial table", "## Corrections"), ("", "Wait, no.")):
        assert propositions(f"{first}\n{table(earlier)}\n{second}\n{table(later)}") == [later], second


def test_rows_of_json_stay_whatever_their_order():
    rows = [{**OBJECTS[1], "order": order} for order in ("epistemic", None, 1.0, "1 or 2")]
    assert [row[2] for row in propositions(json.dumps(rows))] == ["epistemic", "", "1", "1 or 2"]
    assert propositions(f"{json.dumps(OBJECTS)}\nNote: order | counts | minds") == ROWS


def test_records_of_named_cells():
    for text, rows in (
        (f"Actor: Mia\nBelief: {GONE}\nEvidence: she says so\nOrder: 1\n", [ROWS[1]]),
        (
            f"- actor: Mia\n  order: 1\n  belief: >\n    the key\n    is gone\n- actor: world\n  belief: {DRAWER}",
            [ROWS[1], ("world", DRAWER, "")],
        ),
        (f"Actor: Mia\nBelief: {GONE}\nOrder: 1\nShe left.\nActor: world\nBelief: {DRAWER}\nOrder: 0", ROWS[::-1]),
    ):
        assert propositions(text) == rows, text


def test_actors_with_letters_for_names_stay():
    rows = [("A", GONE, "1"), ("B", DRAWER, "1")]
    assert propositions("".join(f"| {' | '.join(row)} | a note |\n" for row in rows)) == rows
    assert propositions(table(("1", GONE, "1"), ("2", DRAWER, "1"))) == [("1", GONE, "1"), ("2", DRAWER, "1")]


def test_tables_of_something_else_are_left_out():
    other = "| Actor | Rows | Order |\n|---|---|---|\n| world | 1 | 0 |\n| Mia | 1 | 1 |\n"
    assert propositions(f"{table(*ROWS)}\n\nOrder | Meaning | Rows\n0 | facts | 1") == ROWS
    for text in (f"{table(*ROWS)}\n### Summary\n{other}", f"{other}\n{table(*ROWS)}"):
        assert propositions(text) == ROWS, text


def test_a_cell_over_several_rows_stands_in_each():
    rows = f"<tr><td rowspan=2>Mia</td><td>{GONE}</td><td>1</td></tr><tr><td>{DRAWER}</td><td rowspan='x'>1</td></tr>"
    text = f"<table><tr><td colspan=3>Beliefs</td></tr><tr><th>Actor<th>Belief<th>Order</tr>{rows}</table>"
    assert propositions(text) == [("Mia", GONE, "1"), ("Mia", DRAWER, "1")]


def test_a_table_in_json_that_was_cut_off_is_none():
    assert propositions(json.dumps({"beliefs": OBJECTS})[:-8]) == []
    assert propositions(f"{json.dumps({'rows': OBJECTS})} Rather none: {json.dumps({'rows': []})}") == []
    assert propositions('[{"actor": "Mia", "belief": NaN, "order": 1}]') == []


def test_of_a_structured_answer_lists_in_json_count():
    text = f"{table(*ROWS)}\n{json.dumps({row['actor']: [row] for row in OBJECTS})}"
    assert [tuple(row[:3]) for row in parse_extraction(text, structured=True)] == ROWS
    assert parse_extraction(table(*ROWS), structured=True) == []


def test_a_header_above_rows_that_cannot_be_read_is_no_empty_table():
    assert says_nothing(HEADER) and says_nothing(f"```\n{HEADER}```\n") and says_nothing("Actor,Belief,Order\n\n")
    for row in ("world -> the key is gone -> 0", "world | the key", "world: it rains"):
        assert not says_nothing(f"{HEADER}{row}\n") and propositions(f"{HEADER}{row}\n") == [], row


def test_a_table_that_repeats_half_of_another_replaces_it():
    later = [ROWS[0], ("Mia", "the drawer is open", "1")]
    assert propositions(f"{table(*ROWS)}\n\n{table(*later)}") == later


def test_rows_of_json_need_no_order():
    rows = [{"actor": actor, "belief": belief} for actor, belief, _ in ROWS]
    for text in (json.dumps(rows), json.dumps({"beliefs": rows}), "\n".join(map(json.dumps, rows))):
        assert propositions(text) == [(actor, belief, "") for actor, belief, _ in ROWS], text


def test_prose_is_no_table():
    for text in (
        "Mia, the key, and the drawer: 1, 2, 3.",
        "Actor: Mia is the one who looks.",
        "The belief: the key is gone.\nThe order: 1",
        "<p>Mia thinks that the key is gone.</p>",
        "The key – red – is gone.\nI used orders 0, 1, 2\nScenes 1; 2; 3",
    ):
        assert propositions(text) == [], text


LABELS = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "Neutral")
OTHER = ("0", "False", "Shared", "Explicit", "Location", "Narration", "Temporal")


def test_labels_are_read_off_the_same_tables(make_record):
    gold = make_record(1, ("Ines", "The key is here"), ("Bo", "It rains")).rows
    rows = [("Ines", "The key is here", *LABELS), ("Bo", "It rains", *OTHER)]
    header = "".join(f"<th>{name}</th>" for name in ("Actor", "Belief", *DIMENSIONS))
    html = f"<table><tr>{header}</tr>" + "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
    named = [dict(zip(("Actor", "Belief", *DIMENSIONS), row, strict=True)) for row in rows]
    for name, text in {
        "numbers": table(*((str(at), *row) for at, row in enumerate(rows, 1)), header=""),
        "HTML": f"{html}</table>",
        "named cells": "\n".join(" | ".join(f"{key}: {cell}" for key, cell in row.items()) for row in named),
        "parts": f"Row 1\n{table(rows[0], header='')}\nRow 2\n{table(rows[1], header='')}",
        "a corrected row": table(rows[0], ("Bo", "It rains", *LABELS), header="")
        + f"\nCorrected:\n{table(rows[1], header='')}",
    }.items():
        assert parse_labels(text, gold) == [LABELS, OTHER], name


def test_counts_are_read_off_html_and_numbered_tables(make_record):
    gold = make_record(1, ("Mia", GONE)).rows
    predicted = parse_extraction(table(*ROWS))
    sides = {
        "Prediction Table": [("world", DRAWER, "0"), ("Mia", GONE, "1")],
        "Ground Truth Table": [("Mia", GONE, "1")],
    }
    head = ("Actor", "Belief", "MatchCount")
    html = "".join(
        f"<h2>{title}</h2>\n<table>"
        + "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in (head, *rows))
        + "</table>\n"
        for title, rows in sides.items()
    )
    numbered = "".join(
        f"{title}:\nActor,Belief,MatchCount\n" + "".join(f"{at},{','.join(row)}\n" for at, row in enumerate(rows, 1))
        for title, rows in sides.items()
    )
    for text in (html.replace("<h2>", "").replace("</h2>", ""), numbered):
        assert parse_counts(text, predicted, gold) == ([0, 1], [1]), text


def test_the_shared_cases_of_tables(shared):
    lines = (shared / "cases" / "16-tables" / "tables.jsonl").read_text("utf-8").split("\n")
    for case in map(json.loads, filter(None, lines)):
        rows = [list(row[:3]) for row in parse_extraction(case["text"], structured=case["structured"])]
        assert rows == case["want"], case["name"]
