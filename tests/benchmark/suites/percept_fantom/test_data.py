"""Copies that are read, and those that are refused with file, line and reason."""

import csv
import json
import re

import pytest

from benchmark.suites.copies import BadImport
from benchmark.suites.percept_fantom import data
from benchmark.suites.percept_fantom.data import COUNTS, LEFT_OUT, load, utterances_of
from tests.benchmark.suites.fantom import conftest as fantom
from tests.benchmark.suites.percept_fantom import own

OPTIONS = re.compile(r"(.+?)\n\(a\) (.+)\n\(b\) (.+)\n\nChoose an answer from above:", re.DOTALL)


def changed(at: int, **cells: object) -> list[dict]:
    return [{**row, **cells} if number == at else row for number, row in enumerate(own.rows())]


def test_a_copy_is_read(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    copy = load(tmp_path)
    assert (copy.title, copy.licence, copy.problems) == ("Percept-FANToM", "For evaluation only.", [])
    assert [*copy.files] == ["fantom_v1.json", data.FILE]
    assert load(tmp_path / "fantom_v1.json") == copy
    samples = {sample.key: sample for sample in copy.samples}
    # no facts and no beliefs in free words: 4 choices, 6 lists, 18 yes or no questions
    assert len(samples) == 28 and not any(key.endswith(("fact", "dist")) for key in samples)
    nested = samples["1-1-0/belief0/choice"]
    assert (nested.cluster, nested.group, nested.content["belief"]) == ("1", "1-1-0", "false belief")
    assert nested.content["scenarios"] == ["accessible", "inaccessible"] and nested.content["people"] == ["Ida", "Bea"]
    assert utterances_of(nested)[2] == "Ole: The pears in my garden are ripe."
    assert nested.gold["perceivers"][2] == ["Ida", "Ole"]


def test_a_file_that_cannot_be_is_refused(tmp_path, monkeypatch):
    def refused(told: str) -> None:
        with pytest.raises(BadImport, match=told):
            load(tmp_path)

    own.released(monkeypatch, own.write(tmp_path))
    for made, told in (
        ({"made": changed(0, perceivers=["Bo"])}, "is not the released file: its SHA-256"),
        ({"records": fantom.records()[:2]}, "fantom_v1.json: the number of sets is 2; expected 3"),
    ):
        own.write(tmp_path, **made)
        refused(told)
    own.write(tmp_path)
    (tmp_path / data.FILE).unlink()
    refused(r"Percept-FANToM.csv is missing in .*; expected it beside the file of FANToM")
    own.write(tmp_path)
    monkeypatch.setattr(data, "LEFT_OUT", {"2-0"})
    refused("the number of sets about annotated conversations is 2; expected 3")


def test_another_wording_of_a_conversation_is_said(tmp_path, monkeypatch):
    records = fantom.records()
    records[2]["short_context"] = records[2]["short_context"].replace("pier", "Makenzie pier")
    rows = own.rows()
    rows[-1]["utterance"] = rows[-1]["utterance"].replace("pier", "Mackenzie pier")
    own.released(monkeypatch, own.write(tmp_path, rows, records=records))
    assert load(tmp_path).problems == []  # a slip that the released code mends
    records[2]["short_context"] = records[2]["short_context"].replace("late", "early")
    [problem] = load(own.write(tmp_path, rows, records=records)).problems
    told = "Set 2-0-0: its conversation is not word by word the annotated one, which is asked about."
    assert (problem["line"], problem["message"]) == (0, told)


def _as_raw(shared, key: dict[int, int]) -> list[dict]:
    """The questions of the released file in the shape of the file of FANToM, whose other gold is made up: everybody
    knows."""
    records: dict[str, dict] = {}
    told = {"short_context": "A: b", "full_context": "A: b"}
    with (shared / "data" / "FANToM" / "flattened_fantom.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kind, question = row["question_type"], row["question"]
            made = records.setdefault(row["set_id"], {"set_id": row["set_id"], "beliefQAs": [], **told})
            asked = {"question": question, "correct_answer": "yes", "missed_info_accessibility": "inaccessible"}
            topic = "answerabilityQA" if "answerability" in kind else "infoAccessibilityQA"
            if kind == "fact":
                made["factQA"] = asked
            elif kind.endswith("multiple-choice"):
                text, *texts = OPTIONS.fullmatch(question).groups()
                right = key[int(row[""])]
                answers = {"correct_answer": texts[right], "wrong_answer": texts[1 - right]}
                scenario = {"tom_type": "first-order", "missed_info_accessibility": kind.split(":")[2]}
                made["beliefQAs"].append({"question": text, **answers, **scenario})
            elif kind.endswith("list"):
                made[f"{topic}_list"] = asked | {"correct_answer": [], "wrong_answer": []}
            elif "belief" not in kind:
                made.setdefault(f"{topic}s_binary", []).append(asked)
    return [*records.values()]


def test_the_real_files_have_what_the_specification_counts(shared, tmp_path):
    key = json.loads((shared / "vectors" / "fantom" / "choice_key_flattened_fantom.json").read_text())
    records = _as_raw(shared, {number: right for number, _, _, right in key["rows"]})
    (tmp_path / "fantom_v1.json").write_text(json.dumps(records))
    (tmp_path / data.FILE).symlink_to(shared / "data" / "Percept-FANToM" / data.FILE)
    copy = load(tmp_path)  # 870 sets, 368 parts, 1,540 beliefs
    sets = {sample.group for sample in copy.samples}
    assert len(sets) == COUNTS["sets"] == 739 and len({one.rpartition("-")[0] for one in sets}) == 311
    choices = [sample for sample in copy.samples if sample.category == "Belief, choice"]
    false, true = (
        {sample.group for sample in choices if sample.content["belief"] == kind}
        for kind in ("false belief", "true belief")
    )
    assert (len(false), len(true), len(false & true)) == (543, 341, 145)
    assert len(LEFT_OUT) == 57 and len(choices) == 1309
