"""A copy that is wrong, cut or changed is refused in one sentence that says where."""

import csv
import hashlib
import io
import json
import tarfile

import pytest

from benchmark.management.commands.import_suite import Command
from benchmark.suites.copies import BadImport
from benchmark.suites.fantom.parsing import load
from benchmark.suites.fantom_questions import data
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
    assert (imported.title, imported.licence) == ("FANToM (short conversations)", "For evaluation only.")
    assert imported.problems == [] and len(imported.samples) == 3 + 2 * 4 + 6 + 18
    assert list(imported.files) == ["fantom_v1.json"] and len(imported.files["fantom_v1.json"]) == 64
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
    lines, told = zip(*((problem["line"], problem["message"]) for problem in imported.problems), strict=True)
    assert lines == (0, 0, 0) and imported.licence == ""
    assert told[0].startswith("No LICENSE lies beside the file")
    assert "Set 1-0-0: “What does the text believe about it?” asks about the belief of nobody" in told[1]
    assert told[1].endswith("(1-0-0/belief0/choice).") and "Set 2-0-0: the name Tom is part of Tomas" in told[2]


def test_a_changed_file_is_refused(small):
    for value, told in (
        ({}, "fantom_v1.json: it is an object; expected a list of sets of questions."),
        ([], "expected a list of sets of questions."),
        (changed(1, "set_id", value="1-0-0"), "fantom_v1.json: set 1-0-0 occurs 2 times; expected each set once."),
        (records()[:2], "fantom_v1.json: the number of sets is 2; expected 3."),
        (changed(2, "beliefQAs", value=[]), "fantom_v1.json: the number of questions on beliefs is 3; expected 4."),
        (changed(1, "set_id", value="1-1"), "fantom_v1.json, set 1-1 of conversation 1, set_id: "),
        (changed(1, "set_id", value=None), "fantom_v1.json, set 2 of the file, set_id: "),
    ):
        assert told in refusal(small(value))
    for place, value, told in (
        ((0, "short_context"), " ", "short_context"),
        ((0, "factQA", "question"), 3, "factQA.question"),
        ((0, "beliefQAs", 0, "missed_info_accessibility"), "hidden", "beliefQAs[0].missed_info_accessibility"),
        ((0, "answerabilityQAs_binary", 1, "correct_answer"), "maybe", "answerabilityQAs_binary[1].correct_answer"),
        ((0, "infoAccessibilityQA_list", "wrong_answer"), "Bea", "infoAccessibilityQA_list.wrong_answer"),
    ):
        said = refusal(small(changed(*place, value=value)))
        assert said.startswith(f"fantom_v1.json, set 1-0-0 of conversation 1, {told}: ")


def test_a_cut_file_is_refused(small):
    file = small() / "fantom_v1.json"
    file.write_text(json.dumps(records(), indent=1)[:2000])
    assert refusal(file).startswith("fantom_v1.json, line ")
    file.write_bytes(b'[{"set_id": "\xff"}]')
    assert refusal(file).startswith("fantom_v1.json")


def test_a_folder_has_the_file_and_a_licence_that_can_be_read(small, tmp_path):
    folder = small()
    (folder / "other.json").write_text("[]")
    assert "the number of JSON files is 2; expected fantom_v1.json alone, or fantom.tar.gz." in refusal(folder)
    (folder / "other.json").unlink()
    for raw, told in (
        (b" ", "LICENSE is empty; expected the licence that comes with FANToM, or no such file."),
        (b"\xff", "LICENSE, line 1: byte 0 is not UTF-8; expected text in UTF-8."),
    ):
        (folder / "LICENSE").write_bytes(raw)
        assert told in refusal(folder)
    assert f"no.json is missing in {tmp_path}; expected the file of FANToM." == refusal(tmp_path / "no.json")


def test_the_released_archive_is_taken_and_a_changed_one_is_not(small, monkeypatch):
    folder = small()
    packed = folder / "fantom.tar.gz"

    def pack(*names: str) -> None:
        with tarfile.open(packed, "w:gz") as archive:
            for name in names:
                archive.add(folder / "fantom_v1.json", name)
        release()

    def release() -> None:
        monkeypatch.setitem(data.DIGESTS, packed.name, hashlib.sha256(packed.read_bytes()).hexdigest())

    pack("fantom/fantom_v1.json")
    alone = load(folder / "fantom_v1.json")
    assert "The digest of fantom_v1.json as it was released is not known" in alone.unchecked
    for path in (packed, folder):
        imported = load(path)
        assert imported.unchecked == "" and list(imported.files) == ["fantom.tar.gz", "fantom_v1.json"]
        assert imported.samples == alone.samples and imported.files["fantom_v1.json"] == alone.files["fantom_v1.json"]
    pack("fantom_v1.json", "other.json")
    assert refusal(packed) == "fantom.tar.gz: the number of JSON files is 2; expected fantom_v1.json alone."
    packed.write_bytes(packed.read_bytes() + b"\0")
    assert refusal(packed).startswith("fantom.tar.gz is not the released archive: its SHA-256 begins with ")
    packed.write_bytes(b"no archive")
    release()
    assert refusal(packed).startswith("fantom.tar.gz cannot be read as an archive")


def test_a_belief_whose_texts_were_swapped_is_found_by_the_list_of_questions(small, monkeypatch):
    """The released code draws the order of options: a wrong text in the place of the right one changes what is
    shown."""
    folder = small()
    lines = io.StringIO(newline="")
    rows = csv.writer(lines)
    rows.writerow(["", "index", "question", "question_type", "set_id"])
    sets = data.question_sets(data.read_fantom(folder / "fantom_v1.json").sets)
    for at, sample in enumerate(sample for questions in sets.values() for sample in questions):
        text, options = sample.content["question"], sample.content["options"]
        if options:
            text += "\n(a) {}\n(b) {}\n\nChoose an answer from above:".format(*options)
        rows.writerow([at, at, text, "", sample.group])
    beside = folder / "flattened_fantom.csv"
    beside.write_text(lines.getvalue(), newline="")
    assert refusal(folder).startswith("flattened_fantom.csv is not the released file")
    digest = hashlib.sha256(beside.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    monkeypatch.setitem(data.DIGESTS, "flattened_fantom.csv", digest)
    assert load(folder).files["flattened_fantom.csv"] == digest
    swapped = records()
    one = swapped[1]["beliefQAs"][0]
    one["correct_answer"], one["wrong_answer"] = one["wrong_answer"], one["correct_answer"]
    small(swapped)
    told = "it has another question or other options than flattened_fantom.csv, line "
    assert refusal(folder).startswith(f"fantom_v1.json, set 1-1-0: {told}")


def test_the_list_of_questions_is_as_released(shared):
    raw = (shared / "data" / "FANToM" / "flattened_fantom.csv").read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(raw).hexdigest() == data.DIGESTS["flattened_fantom.csv"]
    sets = data.question_sets(data.read_fantom(shared / "vectors" / "fantom" / "fantom_mini.json").sets)
    first, samples = next(iter(sets.items()))
    rows = csv.DictReader(io.StringIO(raw.decode(), newline=""))
    listed = [row["question"] for row in rows if row["set_id"] == first]
    assert all(text.startswith(sample.content["question"]) for text, sample in zip(listed, samples, strict=True))
    # of these few sets the order of options is drawn otherwise
    options = {line[4:] for text in listed for line in text.splitlines() if line.startswith(("(a) ", "(b) "))}
    assert options == {option for sample in samples for option in sample.content["options"]}


def test_the_command_prints_problems_as_sentences_and_how_many_more():
    out = io.StringIO()
    problems = [{"file": "fantom_v1.json", "line": at, "message": f"Set {at} is odd."} for at in range(12)]
    result = {"digest": "abc", "files": {"fantom_v1.json": "def"}, "problems": problems}
    Command(stdout=out).say(result | {"unchecked": "Its digest is not known.", "terms": "For evaluation only."})
    said = out.getvalue().splitlines()
    assert said[2:5] == ["licence: For evaluation only.", "problems: 12", "  fantom_v1.json: Set 0 is odd."]
    assert "  fantom_v1.json, line 9: Set 9 is odd." in said
    assert said[-2:] == ["  2 more; --json lists all.", "not checked: Its digest is not known."]
