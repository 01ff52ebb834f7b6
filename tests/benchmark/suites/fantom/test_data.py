"""A copy that is wrong, cut or changed is refused in one sentence that says where."""

from __future__ import annotations

import json

import pytest

from benchmark.suites.contract import BadImport
from benchmark.suites.fantom.samples import load
from tests.benchmark.suites.fantom.conftest import belief, records


def refusal(path) -> str:
    with pytest.raises(BadImport) as caught:
        load(path)
    return str(caught.value)


def changed(*place, value) -> list:
    copy = records()
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copy


def test_a_question_is_a_sample(small):
    imported = load(small())
    assert (imported.title, imported.licence, imported.problems) == (
        "FANToM (short conversations)", "For evaluation only.", [],
    )  # fmt: skip
    assert list(imported.files) == ["fantom_v1.json"] and len(imported.files["fantom_v1.json"]) == 64
    assert len(imported.samples) == 3 + 2 * 4 + 6 + 18
    samples = {sample.key: sample for sample in imported.samples}
    nested = samples["1-1-0/belief0/choice"]
    assert (nested.cluster, nested.group, nested.category) == ("1", "1-1-0", "Belief, choice")
    assert nested.content["people"] == ["Ida", "Bea"] and nested.content["character"] == "Ida"
    assert (nested.content["scenario"], nested.content["order"]) == ("inaccessible", "second-order:acyclic")
    assert nested.content["options"][nested.gold["key"]] == nested.gold["right"][0]
    wholly = {sample.group for sample in imported.samples if sample.content["wholly_accessible"]}
    assert wholly == {"2-0-0"}  # of 1-1-0 a belief is accessible, the rest is not
    assert samples["1-0-0/answerability/yn/Bea"].content["names"] == ["Ole", "Ida", "Bea"]


def test_the_full_conversation_has_those_who_came_later(small):
    late = changed(2, "answerabilityQAs_binary", 2, "correct_answer", value="no:long")
    late[2]["answerabilityQA_list"] |= {"correct_answer": ["Tom", "Una"], "wrong_answer": ["Vic"]}
    folder = small(late)
    short = {sample.key: sample for sample in load(folder).samples}
    full = {sample.key: sample for sample in load(folder, conversation="full").samples}
    assert set(full) - set(short) == {"2-0-0/answerability/yn/Vic"}
    assert "Pia" in full["2-0-0/fact"].content["conversation"]
    assert "Pia" not in short["2-0-0/fact"].content["conversation"]
    for key in ("2-0-0/answerability/list", "2-0-0/answerability/yn/Tom"):
        assert (short[key].content["scenario"], full[key].content["scenario"]) == ("accessible", "inaccessible")
    assert full["2-0-0/info_accessibility/list"].content["scenario"] == "accessible"
    assert short["2-0-0/fact"].content["wholly_accessible"] and not full["2-0-0/fact"].content["wholly_accessible"]


def test_what_is_odd_is_said(small):
    odd = records()
    odd[0]["beliefQAs"][0] = belief("What does the text believe about it?", "Nothing.", "Much.", "inaccessible")
    odd[2] = json.loads(json.dumps(odd[2]).replace("Vic", "Tomas"))
    imported = load(small(odd, licence=None))
    told = [(problem["line"], problem["message"]) for problem in imported.problems]
    assert [line for line, _ in told] == [0, 1, 3] and imported.licence == ""
    assert told[0][1].startswith("No LICENSE lies beside the file")
    assert "Set 1-0-0: “What does the text believe about it?” asks about the belief of nobody" in told[1][1]
    assert "Set 2-0-0: the name Tom is part of Tomas" in told[2][1]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, "fantom_v1.json: it is an object; expected a list of sets of questions."),
        ([], "expected a list of sets of questions."),
        (changed(1, "set_id", value="1-1"), "fantom_v1.json, [1].set_id: "),
        (changed(1, "set_id", value="1-0-0"), "fantom_v1.json: set 1-0-0 occurs 2 times; expected each set once."),
        (changed(0, "short_context", value=" "), "fantom_v1.json, [0].short_context: "),
        (changed(2, "factQA", "question", value=3), "fantom_v1.json, [2].factQA.question: "),
        (changed(0, "beliefQAs", 0, "missed_info_accessibility", value="hidden"), "fantom_v1.json, [0].beliefQAs[0].missed_info_accessibility: "),
        (changed(0, "answerabilityQAs_binary", 1, "correct_answer", value="maybe"), "fantom_v1.json, [0].answerabilityQAs_binary[1].correct_answer: "),
        (changed(0, "infoAccessibilityQA_list", "wrong_answer", value="Bea"), "fantom_v1.json, [0].infoAccessibilityQA_list.wrong_answer: "),
        (records()[:2], "fantom_v1.json: the number of sets is 2; expected 3."),
        (changed(2, "beliefQAs", value=[]), "fantom_v1.json: the number of questions on beliefs is 3; expected 4."),
    ],
)  # fmt: skip
def test_a_changed_file_is_refused(small, value, told):
    assert told in refusal(small(value))


def test_a_cut_file_is_refused_with_its_line(small):
    file = small() / "fantom_v1.json"
    file.write_text(json.dumps(records(), indent=1)[:2000])
    assert refusal(file).startswith("fantom_v1.json, line ")
    file.write_bytes(b'[{"set_id": "\xff"}]')
    assert refusal(file).startswith("fantom_v1.json")


def test_a_folder_has_the_file_and_a_licence_that_can_be_read(small, tmp_path):
    folder = small()
    (folder / "other.json").write_text("[]")
    assert "the number of JSON files is 2; expected fantom_v1.json alone." in refusal(folder)
    (folder / "other.json").unlink()
    (folder / "LICENSE").write_text(" ")
    assert refusal(folder) == "LICENSE is empty; expected the licence that comes with FANToM, or no such file."
    (folder / "LICENSE").write_bytes(b"\xff")
    assert "LICENSE is not UTF-8 (byte 0)." in refusal(folder)
    assert "cannot be read (No such file or directory)" in refusal(tmp_path / "no.json")


def test_the_vectors_copy_is_not_the_released_file(shared):
    told = refusal(shared / "vectors" / "fantom" / "fantom_mini.json")
    assert told == "fantom_mini.json: the number of sets is 20; expected 870."
