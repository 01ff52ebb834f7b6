from __future__ import annotations

import shutil
from collections import Counter

import pytest

from benchmark.suites.copies import BadImport
from benchmark.suites.tombench.data import FILES, _items_of, read_tombench
from tests.benchmark.suites.tombench.conftest import record
from tests.benchmark.suites.tombench.released import clean_option_officially

NAN = float("nan")
TWO = {"选项C": NAN, "选项D": NAN, "OPTION-C": NAN, "OPTION-D": NAN}


def sentence_of(folder, **options):
    with pytest.raises(BadImport) as caught:
        read_tombench(folder, **options)
    return str(caught.value)


def test_an_item_in_both_languages(small):
    copy = read_tombench(small(record(), record(**TWO)))
    assert [item.key for item in copy.items] == [
        f"{name}-task:{line}:{language}"
        for name, line in (("first", 1), ("second", 1), ("second", 2))
        for language in ("en", "zh")
    ]
    english, chinese = copy.items[2:4]
    assert (english.task, english.ability, english.line) == ("Second Task", "Belief: Location false beliefs", 1)
    assert english.options == ("Drawer", "B. Box", "Bag", "Vase")
    assert english.cleaned_options == ("Drawer", "Box", "Bag", "Vase")
    assert chinese.options[0] == "A.抽屉" and chinese.cleaned_options == ("抽屉", "盒子", "书包", "花瓶")
    assert (chinese.story, chinese.question) == ("伊内斯把钥匙藏在盒子里。", "钥匙在哪里？")
    assert {item.cluster for item in copy.items[2:]} == {"second-task:1"}
    assert copy.items[0].cluster == "first-task:1"  # the same text in another file is another story
    assert copy.licence == "Use it well."


def test_the_chinese_options_decide_how_many_there_are(small):
    copy = read_tombench(small(record(), record(**{"选项C": NAN, "选项D": NAN})))
    assert [item.options for item in copy.items[4:]] == [("Drawer", "B. Box"), ("A.抽屉", "B. 盒子")]


def test_an_answer_cell_with_dot_and_space(small):
    item = read_tombench(small(record(**{"答案\nANSWER": "A. "}), record(**TWO))).items[2]
    assert (item.answer, item.gold) == ("A. ", "A")


def test_an_ability_with_a_space_behind_it(small):
    item = read_tombench(small(record(**{"能力\nABILITY": "Desire "}), record(**TWO))).items[2]
    assert (item.ability, item.trimmed_ability) == ("Desire ", "Desire")


def test_a_byte_order_mark_and_windows_line_ends(small):
    folder = small(record(), record(**TWO))
    path, items = folder / "Second Task.jsonl", read_tombench(folder).items
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_tombench(folder).items == items


@pytest.mark.parametrize("name", ["First Task.jsonl", "Second Task.jsonl", "LICENSE"])
def test_a_missing_file(small, name):
    folder = small(record(), record(**TWO))
    (folder / name).unlink()
    assert sentence_of(folder).startswith(f"{name} is missing in {folder}; expected the")


def test_a_file_of_another_name(small):
    folder = small(record(), record(**TWO))
    (folder / "Third Task.jsonl").write_text("{}\n")
    assert sentence_of(folder) == f"Third Task.jsonl in {folder} is not a file of ToMBench."


def test_a_folder_in_the_place_of_a_file(small):
    folder = small(record(), record(**TWO))
    (folder / "First Task.jsonl").unlink()
    (folder / "First Task.jsonl").mkdir()
    assert sentence_of(folder).startswith("First Task.jsonl cannot be read (")


@pytest.mark.parametrize(
    ("raw", "sentence"), [(b" \n", "LICENSE is empty;"), (b"\xff", "LICENSE, line 1: byte 0 is not UTF-8;")]
)
def test_a_licence_that_says_nothing(small, raw, sentence):
    folder = small(record(), record(**TWO))
    (folder / "LICENSE").write_bytes(raw)
    assert sentence_of(folder).startswith(sentence)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([record()], "Second Task.jsonl: the number of items is 1; expected 2."),
        ([record()] * 3, "Second Task.jsonl: the number of items is 3; expected 2."),
        ([], "Second Task.jsonl: the number of items is 0; expected 2."),
        (
            [record(), record(STORY="Another.", **TWO)],
            "Second Task.jsonl: the number of distinct English stories is 2; expected 1.",
        ),
        ([record(), record()], "Second Task.jsonl: the number of items with two options is 0; expected 1."),
    ],
)
def test_a_wrong_count(small, lines, sentence):
    assert sentence_of(small(*lines)) == sentence


ITEM = "expected an object with 能力 ABILITY, 答案 ANSWER."
ENGLISH = "expected an object with STORY, QUESTION, OPTION-A, OPTION-B, OPTION-C, OPTION-D."


def without(field):
    return {name: text for name, text in record().items() if name != field}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            b'{"STORY": "cut off',
            "column 11: it is not JSON (Unterminated string starting at); expected one JSON value.",
        ),
        (b"", "column 1: it is not JSON (Expecting value); expected one JSON value."),
        (b'{"STORY": "\xff"}', "Byte 11 is not UTF-8; expected JSON in UTF-8."),
        (b"[]", f"it is a list; {ITEM}"),
        (b"NaN", f"it is nan; {ITEM}"),
        (b"[" * 100_000, "The JSON is nested too deeply; expected at most 50 levels."),
        (b'{"n": ' + b"9" * 5000 + b"}", "It holds a number of too many digits; expected one JSON value."),
        (b'{"STORY": "a", "STORY": "b"}', "The field 'STORY' occurs twice in one object; expected it once."),
        (b'{"STORY": Infinity}', "It holds Infinity; expected a JSON value."),
        (without("STORY"), f"the field STORY is missing; {ENGLISH}"),
        (without("问题"), "the field 问题 is missing; expected an object with 故事, 问题, 选项A, 选项B, 选项C, 选项D."),
        (without("OPTION-D"), f"the field OPTION-D is missing; {ENGLISH}"),
        (without("能力\nABILITY"), f"the field 能力 ABILITY is missing; {ITEM}"),
        (record(STORY=NAN), "STORY: it is nan; expected a text that is not empty."),
        (record(QUESTION="  "), "QUESTION: it is '  '; expected a text that is not empty."),
        (record(**{"OPTION-B": 3}), "OPTION-B: it is 3; expected a text that is not empty."),
        (record(**{"选项B": "B. "}), "选项B holds a letter without a text."),
        (record(**{"选项B": NAN}), "选项B is missing; expected 4 options."),
        (record(**TWO | {"OPTION-A": NAN}), "OPTION-A is missing; expected 2 options."),
        (record(**{"OPTION-C": NAN, "OPTION-D": NAN}), "OPTION-C is missing; expected 4 options."),
        (record(**{"选项D": NAN}), "only one of 选项C and 选项D is missing; expected both or neither."),
        (
            record(**TWO | {"OPTION-D": "Vase"}),
            "only one of OPTION-C and OPTION-D is missing; expected both or neither.",
        ),
        (record(**{"答案\nANSWER": "E"}), "the answer is 'E'; expected a letter from A to D."),
        (record(**{"答案\nANSWER": "AB"}), "the answer is 'AB'; expected a letter from A to D."),
        (record(**TWO | {"答案\nANSWER": "C"}), "the answer is 'C'; expected a letter from A to B."),
    ],
)
def test_a_line_that_is_wrong(small, line, sentence):
    told = sentence_of(small(record(), line))
    assert told.removeprefix("Second Task.jsonl, line 2").lstrip(",: ") == sentence


def test_a_changed_copy_is_refused_with_file_and_line(shared, tmp_path):
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
    said = sentence_of(folder)
    assert said.startswith(
        f"Hinting Task Test.jsonl, line {at + 1}: it is not as released; the SHA-256 of the file begins"
    )
    path.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    assert len(read_tombench(folder).items) == 2 * 2860


def test_a_letter_of_a_story_is_refused_by_its_line_too(shared):
    """A changed story is one more of them: its count alone would not say where."""
    lines = (shared / "data" / "ToMBench" / "Ambiguous Story Task.jsonl").read_bytes().splitlines()
    lines[6] = lines[6].replace(b'"STORY": "', b'"STORY": "x', 1)
    with pytest.raises(BadImport) as refused:
        list(_items_of("Ambiguous Story Task", b"\n".join(lines), ("en",)))
    counted, line = str(refused.value).split(". Ambiguous Story Task.jsonl, ")
    assert counted == "Ambiguous Story Task.jsonl: the number of distinct English stories is 102; expected 101"
    assert line.startswith("line 7: it is not as released; the SHA-256 of the file begins with ")


def test_the_whole_of_tombench(tombench):
    assert len(tombench.items) == 2 * 2860 == 2 * sum(one.items for one in FILES.values())
    assert len({item.key for item in tombench.items}) == len(tombench.items)
    assert len({item.cluster for item in tombench.items}) == 1383
    assert tombench.licence.startswith("MIT License")
    assert Counter(len(item.options) for item in tombench.items) == {4: 2 * 2376, 2: 2 * 484}
    assert all(item.gold in "ABCD"[: len(item.options)] for item in tombench.items)
    assert [item.key for item in tombench.items if item.gold != item.answer] == [
        "knowledge-attention-links:11:en",
        "knowledge-attention-links:11:zh",
    ]
    assert sum(item.ability != item.trimmed_ability for item in tombench.items) == 2


def test_clusters_are_english_texts(tombench):
    texts = {}
    for item in tombench.items:
        if item.language == "en":
            texts.setdefault((item.task, item.story), set()).add(item.cluster)
    assert {len(clusters) for clusters in texts.values()} == {1}
    by_language = [[one.cluster for one in tombench.items if one.language == language] for language in ("en", "zh")]
    assert by_language[0] == by_language[1]


def test_real_options_lose_their_letters(tombench):
    for item in tombench.items:
        for letter, text in zip("ABCD", item.cleaned_options, strict=False):
            assert text and not text.startswith((f"{letter}.", f"{letter}:"))
    doubled = [item.key for item in tombench.items if len(set(item.cleaned_options)) < len(item.options)]
    assert doubled == ["unexpected-outcome-test:166:en", "unexpected-outcome-test:168:en"]
    visible = sum(
        clean_option_officially(text, letter).startswith(f"{letter}.")
        for item in tombench.items
        for letter, text in zip("ABCD", item.options, strict=False)
    )
    assert visible == 752  # `A.是`: with the official cleaning the original letter can be seen
