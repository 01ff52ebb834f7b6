"""Every reader of JSON finds the same value, in whatever a model writes around it."""

import json
from collections.abc import Callable
from typing import Any

from annotation.domain.drafting import read_draft
from annotation.domain.labelling import read_labels
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import Row
from benchmark.suites.fantom.judge import A, verdict_in
from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.parsing.answers import linked, parse_counts, parse_extraction, parse_labels
from benchmark.suites.omnitom.parsing.values import ignores_schema
from benchmark.suites.percept_fantom.parsing import repaired_scenes as scenes_of_fantom
from benchmark.suites.percept_tomi.parsing import repaired_scenes as scenes_of_tomi
from tests.marked import JSON_FORMS, formed

STORY = "Ines puts the key into the drawer."
ROWS = [Row(1, "world", "The key is in the drawer"), Row(2, "Ines", "The key is in the bag")]


def labels(at: int) -> dict[str, Any]:
    of_row = {key: DEFAULT_SCHEMA[key].values[at] for key in DEFAULT_SCHEMA.keys}
    return {"rows": {"1": of_row, "2": of_row}}


def table(belief: str) -> dict[str, Any]:
    actors = ("Ines", "world")
    return {"rows": [{"actor": actor, "belief": belief, "order": "1"} for actor in actors]}


def by_id(at: int) -> dict[str, Any]:
    return {"rows": [{"id": 1, **{key: DEFAULT_SCHEMA[key].values[at] for key in DIMENSIONS}}]}


def judged(*matches: int) -> dict[str, Any]:
    sides = [{"id": 1, "matches": list(matches)}]
    return {"predictions": sides, "gold": sides}


GOLD = [GoldRow("Ines", "It is wet", ("1",) * len(DIMENSIONS), "1", ("Ines", "It is wet"))]
PREDICTED = parse_extraction(json.dumps(table("It rains")))[:1]
READERS: dict[str, tuple[Callable[[str], Any], Any, Any]] = {
    # name: (reader, right value, another one)
    "pre-filled labels": (lambda text: read_labels(text, ROWS, DEFAULT_SCHEMA), labels(0), labels(1)),
    "drafted table": (lambda text: read_draft(text, STORY), table("The key is gone"), table("A draft")),
    "extraction": (parse_extraction, table("It rains"), table("A draft")),
    "structured extraction": (lambda text: parse_extraction(text, structured=True), table("It rains"), table("No")),
    "labels": (lambda text: parse_labels(text, GOLD), by_id(0), by_id(1)),
    "judgement": (lambda text: parse_counts(text, PREDICTED, GOLD), judged(1), judged()),
    "links": (lambda text: linked(text, 1, 1), judged(1), judged()),
    "verdict": (lambda text: verdict_in(text, structured=True), {"verdict": "B"}, {"verdict": "A"}),
    "perceptions of ToMi": (
        lambda text: scenes_of_tomi(text, ["Ines moved it."]), [{"Ines moved it.": ["Ines"]}], [{"Ines moved it.": []}],
    ),
    "perceptions of FANToM": (
        lambda text: scenes_of_fantom(text, ["Ines: Hello."]), [{"Ines: Hello.": ["Bo"]}], [{"Ines: Hello.": []}],
    ),
}  # fmt: skip


def test_every_reader_finds_the_last_complete_value():
    for name, (read, right, wrong) in READERS.items():
        text, other = json.dumps(right), json.dumps(wrong)
        expected = read(text)
        assert expected != read(other) and expected != read("")
        for form in JSON_FORMS:
            for written in (text, json.dumps(right, indent=2)):
                assert read(formed(form, written, other)) == expected, (name, form)
        # one that was cut off is whole or none
        for end in range(len(text)):
            assert read(text[:end]) in (read(""), expected), text[:end]
        for piece in ("{", '{"rows": ['):  # of a hostile megabyte it comes back
            assert read(piece * (300_000 // len(piece))) == read(""), name


def test_rows_come_as_lists_and_lines_too():
    rows = [{"actor": "Ines", "belief": "It rains", "order": "1"}, {"actor": "world", "belief": "It rains", "order": 0}]
    lines = "\n".join(map(json.dumps, rows))
    expected = parse_extraction(json.dumps({"rows": rows}))
    assert len(expected) == 2
    for text in (json.dumps(rows), lines, f"```jsonl\n{lines}\n```"):
        assert parse_extraction(text) == expected and not ignores_schema(text, "rows")
        assert len(read_draft(text, STORY)[0]) == 2
    numbered = [{"id": at, **labels(0)["rows"]["1"]} for at in (1, 2)]
    for text in (json.dumps(numbered), "\n".join(map(json.dumps, numbered)), json.dumps(labels(0)["rows"])):
        assert read_labels(text, ROWS, DEFAULT_SCHEMA) == read_labels(json.dumps(labels(0)), ROWS, DEFAULT_SCHEMA)
    # both sides of a judgement may be objects of their own
    both = judged(1)
    text = "\n\n".join(json.dumps({side: both[side]}) for side in both)
    assert parse_counts(text, PREDICTED, GOLD) == parse_counts(json.dumps(both), PREDICTED, GOLD) == ([1], [1])
    # a verdict in JSON is read in both formats
    for text in ['{"verdict": "a "}', '```json\n{"verdict": "A"}\n```', 'So:\n{"verdict": "A"}']:
        assert verdict_in(text, structured=True) == verdict_in(text, structured=False) == A
