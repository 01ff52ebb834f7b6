"""Copies that are read, and those that are refused with file, line and reason."""

from __future__ import annotations

import csv
import json
import re

import pytest

from benchmark.suites.copies import BadImport
from benchmark.suites.percept_fantom import data
from benchmark.suites.percept_fantom.data import COUNTS, LEFT_OUT, load, utterances_of
from tests.benchmark.suites.fantom import conftest as fantom
from tests.benchmark.suites.percept_fantom import own

CHANGED = {
    "part_id": ("3", "line 3, part_id: it is '3'; expected conversation and part"),
    "utterance": ("hello", "line 3, utterance: it is 'hello'; expected a speaker and a colon first"),
    "perceivers": ("[n for n in 'ab']", "line 3, perceivers: it is .*; expected a Python list of names"),
}

OPTIONS = re.compile(r"(.+?)\n\(a\) (.+)\n\(b\) (.+)\n\nChoose an answer from above:", re.DOTALL)


def test_a_cell_that_cannot_be_is_refused_with_its_line(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    for column, (cell, told) in CHANGED.items():
        rows = own.rows()
        rows[1][column] = cell
        with pytest.raises(BadImport, match=f"Percept-FANToM.csv, {told}"):
            load(own.write(tmp_path, rows))


def test_a_copy_is_read(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    own.write_beside(tmp_path, own.rows())
    copy = load(tmp_path)
    assert (copy.title, copy.licence, copy.problems) == ("Percept-FANToM", "For evaluation only.", [])
    assert [*copy.files] == ["fantom_v1.json", data.FILE, data.BESIDE]
    assert load(tmp_path / "fantom_v1.json") == copy
    samples = {sample.key: sample for sample in copy.samples}
    # no facts and no beliefs in free words: 4 choices, 6 lists, 18 yes or no questions
    assert len(samples) == 28 and not any(key.endswith(("fact", "dist")) for key in samples)
    nested = samples["1-1-0/belief0/choice"]
    assert (nested.cluster, nested.group, nested.content["belief"]) == ("1", "1-1-0", "false belief")
    assert nested.content["scenarios"] == ["accessible", "inaccessible"] and nested.content["people"] == ["Ida", "Bea"]
    assert [*zip(utterances_of(nested), nested.gold["perceivers"], strict=True)][2] == (
        "Ole: The pears in my garden are ripe.", ["Ida", "Ole"],
    )  # fmt: skip


def test_a_file_that_cannot_be_is_refused(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    for made, told in (
        ({"columns": own.COLUMNS[:-1]}, "line 1: there is no column perceivers"),
        ({"made": own.rows()[:-1]}, "the number of utterances is 10; expected 11"),
        ({"made": own.rows()[:-3]}, "the number of parts of conversations is 2; expected 3"),
        (
            {"made": [own.rows()[0], own.rows()[4], *own.rows()[1:]]},
            "line 4, part_id: part 1-0 goes on after another one",
        ),
        ({"made": [{**own.rows()[0], "perceivers": ["Bo"]}, *own.rows()[1:]]}, "is not the released file: its SHA-256"),
        ({"records": fantom.records()[:2]}, "fantom_v1.json: the number of sets is 2; expected 3"),
    ):
        with pytest.raises(BadImport, match=told):
            load(own.write(tmp_path, **made))
    own.write(tmp_path)
    own.write_beside(tmp_path, [{**own.rows()[0], "perceivers": ["Bo"]}, *own.rows()[1:]])
    with pytest.raises(
        BadImport, match=r"conv_with_perceivers.csv, line 2: part '1-0' differs from Percept-FANToM.csv"
    ):
        load(tmp_path)
    own.write_beside(tmp_path, own.rows()[:8])
    with pytest.raises(
        BadImport, match=r"conv_with_perceivers.csv: the number of parts of conversations is 2; expected 3"
    ):
        load(tmp_path)
    (tmp_path / data.BESIDE).unlink()
    for raw, told in (
        (b"part_id\n\xff", r"line 2: byte 8 is not UTF-8"),
        (
            b'part_id,utterance,utterance_symbol_removed,perceivers\n"1-0',
            "line 2: the quote before '1-0' is never closed",
        ),
    ):
        (tmp_path / data.FILE).write_bytes(raw)
        with pytest.raises(BadImport, match=f"Percept-FANToM.csv, {told}"):
            load(tmp_path)
    (tmp_path / data.FILE).unlink()
    with pytest.raises(BadImport, match=r"Percept-FANToM.csv is missing in .*; expected it beside the file of FANToM"):
        load(tmp_path)
    own.write(tmp_path)
    monkeypatch.setattr("benchmark.suites.percept_fantom.data.LEFT_OUT", {"2-0"})
    with pytest.raises(BadImport, match="the number of sets about annotated conversations is 2; expected 3"):
        load(tmp_path)


def test_another_wording_of_a_conversation_is_said(tmp_path, monkeypatch):
    records = fantom.records()
    records[2]["short_context"] = records[2]["short_context"].replace("pier", "Makenzie pier")
    rows = own.rows()
    rows[-1]["utterance"] = rows[-1]["utterance"].replace("pier", "Mackenzie pier")
    own.released(monkeypatch, own.write(tmp_path, rows, records=records))
    assert load(tmp_path).problems == []  # a slip that the released code mends
    records[2]["short_context"] = records[2]["short_context"].replace("late", "early")
    problems = load(own.write(tmp_path, rows, records=records)).problems
    assert [(one["line"], one["message"]) for one in problems] == [
        (1, "Set 2-0-0: its conversation is not word by word the annotated one, which is asked about."),
    ]  # fmt: skip


def _as_raw(shared, key: dict[int, int]) -> list[dict]:
    """The questions of the released file in the shape of the file of FANToM, whose other gold is made up: everybody
    knows."""
    records: dict[str, dict] = {}
    with (shared / "data" / "FANToM" / "flattened_fantom.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            number, kind, set_id, question = int(row[""]), row["question_type"], row["set_id"], row["question"]
            made = records.setdefault(
                set_id, {"set_id": set_id, "short_context": "A: b", "full_context": "A: b", "beliefQAs": []}
            )
            if kind == "fact":
                made["factQA"] = {"question": question, "correct_answer": "x"}
            elif kind.endswith("multiple-choice"):
                asked, *texts = OPTIONS.fullmatch(question).groups()
                right = key[number]
                scenario = kind.split(":")[2]
                made["beliefQAs"].append(
                    {
                        "question": asked,
                        "tom_type": "first-order",
                        "correct_answer": texts[right],
                        "wrong_answer": texts[1 - right],
                        "missed_info_accessibility": scenario,
                    }
                )
            elif "belief" not in kind:
                name = ("answerabilityQA" if "answerability" in kind else "infoAccessibilityQA") + (
                    "_list" if kind.endswith("list") else "s_binary"
                )
                gold = (
                    {"correct_answer": [], "wrong_answer": []} if kind.endswith("list") else {"correct_answer": "yes"}
                )
                told = {"question": question, "missed_info_accessibility": "inaccessible", **gold}
                made[name] = told if kind.endswith("list") else [*made.get(name, []), told]
    return [*records.values()]


def test_the_real_files_have_what_the_specification_counts(shared, tmp_path):
    key = json.loads((shared / "vectors" / "fantom" / "choice_key_flattened_fantom.json").read_text())
    records = _as_raw(shared, {number: right for number, _, _, right in key["rows"]})
    (tmp_path / "fantom_v1.json").write_text(json.dumps(records))
    for name in (data.FILE, data.BESIDE):
        (tmp_path / name).symlink_to(shared / "data" / "Percept-FANToM" / name)
    copy = load(tmp_path)  # 870 sets, 368 parts, 1,540 beliefs; 311 parts and 7,129 utterances
    sets = {sample.group for sample in copy.samples}
    assert len(sets) == COUNTS["sets"] == 739 and len({one.rpartition("-")[0] for one in sets}) == 311
    beliefs = {
        kind: {s.group for s in copy.samples if s.category == "Belief, choice" and s.content["belief"] == kind}
        for kind in ("false belief", "true belief")
    }
    assert {kind: len(found) for kind, found in beliefs.items()} == {"false belief": 543, "true belief": 341}
    assert len(beliefs["false belief"] & beliefs["true belief"]) == 145 and len(LEFT_OUT) == 57
    assert sum(sample.category == "Belief, choice" for sample in copy.samples) == 1309
