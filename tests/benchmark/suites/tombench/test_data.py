"""Copies that are read, those that are refused with file and line, and the order in which options are shown."""

import shutil
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.copies import BadImport
from benchmark.suites.tombench.data import clean_option, load, options_of, seeded_order, show
from tests.benchmark.suites.tombench.conftest import record

NAN = float("nan")
TWO = {"选项C": NAN, "选项D": NAN, "OPTION-C": NAN, "OPTION-D": NAN}


def refusal(folder):
    with pytest.raises(BadImport) as caught:
        load(folder)
    return str(caught.value)


def test_an_item_in_both_languages(small):
    folder = small(record(), record(**TWO))
    copy = load(folder)
    assert [sample.key for sample in copy.samples] == [
        f"{name}-task:{line}:{language}"
        for name, line in (("first", 1), ("second", 1), ("second", 2))
        for language in ("en", "zh")
    ]
    english, chinese = copy.samples[2:4]
    assert (english.category, english.content["ability"]) == ("Second Task", "Belief: Location false beliefs")
    assert english.content["options"] == ["Drawer", "B. Box", "Bag", "Vase"]
    assert options_of(english) == ("Drawer", "Box", "Bag", "Vase")
    assert chinese.content["options"][0] == "A.抽屉" and options_of(chinese) == ("抽屉", "盒子", "书包", "花瓶")
    assert (chinese.content["story"], chinese.content["question"]) == ("伊内斯把钥匙藏在盒子里。", "钥匙在哪里？")
    assert {sample.cluster for sample in copy.samples[2:]} == {"second-task:1"}
    assert copy.samples[0].cluster == "first-task:1"  # the same text in another file is another story
    assert copy.licence == "Use it well."
    path = folder / "Second Task.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(folder).samples == copy.samples, "a byte order mark and line ends of Windows are no change"


def test_odd_cells_are_read(small):
    def second(**changed):
        return load(small(record(**changed), record(**TWO))).samples[2]

    cell, ability = second(**{"答案\nANSWER": "A. "}), second(**{"能力\nABILITY": "Desire "})
    assert (cell.gold["cell"], cell.gold["answer"]) == ("A. ", "A")
    assert (ability.gold["ability"], ability.content["ability"]) == ("Desire ", "Desire")
    # the Chinese options decide how many there are
    copy = load(small(record(), record(**{"选项C": NAN, "选项D": NAN})))
    options = [sample.content["options"] for sample in copy.samples[4:]]
    assert options == [["Drawer", "B. Box"], ["A.抽屉", "B. 盒子"]]


def test_files_that_are_missing_or_cannot_be_read(small):
    for name in ("First Task.jsonl", "Second Task.jsonl", "LICENSE"):
        folder = small(record(), record(**TWO))
        (folder / name).unlink()
        assert refusal(folder).startswith(f"{name} is missing in {folder}; expected the")
    for raw, sentence in ((b" \n", "LICENSE is empty;"), (b"\xff", "LICENSE, line 1: byte 0 is not UTF-8;")):
        (folder / "LICENSE").write_bytes(raw)
        assert refusal(folder).startswith(sentence)
    (folder / "First Task.jsonl").unlink()
    (folder / "First Task.jsonl").mkdir()
    assert refusal(folder).startswith("First Task.jsonl cannot be read (")
    (folder / "Third Task.jsonl").write_text("{}\n")
    assert refusal(folder) == f"Third Task.jsonl in {folder} is not a file of ToMBench."


def test_a_changed_copy_is_refused(shared, tmp_path):
    """One letter of gold in one line; how lines end is no change."""
    folder = shutil.copytree(shared / "data" / "ToMBench", tmp_path / "ToMBench")
    folder.chmod(0o755)
    path = folder / "Hinting Task Test.jsonl"
    path.chmod(0o644)
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    at = next(at for at, line in enumerate(lines) if b'ANSWER": "A"' in line)
    lines[at] = lines[at].replace(b'ANSWER": "A"', b'ANSWER": "B"')
    path.write_bytes(b"\n".join(lines))
    assert refusal(folder).startswith("Hinting Task Test.jsonl is not the released file: its SHA-256 begins with ")
    path.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    assert len(load(folder).samples) == 2 * 2860


def test_the_whole_of_tombench(tombench):
    samples = tombench.samples
    assert len(samples) == 2 * 2860
    assert len({sample.key for sample in samples}) == len(samples)
    assert len({sample.cluster for sample in samples}) == 1383 and tombench.licence.startswith("MIT License")
    assert Counter(len(sample.content["options"]) for sample in samples) == {4: 2 * 2376, 2: 2 * 484}
    assert all(sample.gold["answer"] in "ABCD"[: len(sample.content["options"])] for sample in samples)
    odd = [sample.key for sample in samples if sample.gold["answer"] != sample.gold["cell"]]
    assert odd == ["knowledge-attention-links:11:en", "knowledge-attention-links:11:zh"]
    assert sum(sample.content["ability"] != sample.gold["ability"] for sample in samples) == 2
    # clusters are English texts
    texts, clusters = {}, {"en": [], "zh": []}
    for sample in samples:
        clusters[sample.split].append(sample.cluster)
        if sample.split == "en":
            texts.setdefault((sample.category, sample.content["story"]), set()).add(sample.cluster)
    assert {len(of_text) for of_text in texts.values()} == {1} and clusters["en"] == clusters["zh"]


def test_options_lose_their_letters(tombench):
    for text, letter, cleaned in [
        ("A. Tote bag", "A", "Tote bag"),
        ("A.是", "A", "是"),
        (" B. 羞愧", "B", "羞愧"),
        ("A: 有", "A", "有"),
        ("A.  有 ", "A", "有"),
        ("B. 有", "A", "B. 有"),
        ("Ask about attraction C. Then go.", "C", "Ask about attraction C. Then go."),
        ("Because he is tired", "B", "Because he is tired"),
        ("A.他没有去学校\n。", "A", "他没有去学校。"),
        ("A. Go\r\n home", "A", "Go home"),
        ("A.I. decides", "A", "A.I. decides"),
    ]:
        assert clean_option(text, letter) == cleaned
    visible, doubled = 0, []
    for sample in tombench.samples:
        options = options_of(sample)
        for letter, text, raw in zip("ABCD", options, sample.content["options"], strict=False):
            assert text and not text.startswith((f"{letter}.", f"{letter}:"))
            visible += raw.replace(f"{letter}. ", "").startswith(f"{letter}.")  # as the released code cleans it
        doubled += [sample.key] if len(set(options)) < len(options) else []
    assert doubled == ["unexpected-outcome-test:166:en", "unexpected-outcome-test:168:en"]
    assert visible == 752  # `A.是`: with the official cleaning the original letter can be seen


@given(st.integers(0, 2**31 - 1), st.text(), st.integers(0, 9), st.sampled_from([2, 4]))
def test_an_order_is_a_permutation_that_depends_on_its_arguments_alone(seed, key, attempt, count):
    order = seeded_order(seed, key, attempt, count)
    assert sorted(order) == list(range(count)) and order == seeded_order(seed, key, attempt, count)
    options = ("w", "x", "y", "z")[:count]
    shown = show(options, order)
    for letter, text in zip(shown.letters, shown.texts, strict=True):
        assert options["ABCD".index(shown.original_of[letter])] == text, "every letter leads back to the option shown"


def test_seed_item_and_try_each_change_the_order_and_one_of_other_options_is_refused():
    keys = [f"item {at}" for at in range(40)]
    first = [seeded_order(1, key, 0, 4) for key in keys]
    assert first != [seeded_order(2, key, 0, 4) for key in keys]
    assert first != [seeded_order(1, key, 1, 4) for key in keys]
    assert len(set(first)) > 10
    for order in [(0,), (0, 0), (0, 1, 2), (1, 2)]:
        with pytest.raises(ValueError, match="does not fit 2 options"):
            show(("Yes", "No"), order)
