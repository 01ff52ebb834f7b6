"""A copy is read, or refused in one sentence that names file and place."""

import json
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest

from benchmark.suites.copies import BadImport
from benchmark.suites.opentom.data import batches, batches_of, ids_of, load, long_batches
from tests.benchmark.suites.opentom.small import small


def refusal(folder: Path) -> str:
    with pytest.raises(BadImport) as caught:
        load(folder)
    return str(caught.value)


def changed(name: str, *path: str | int, to: object) -> dict[str, object]:
    """The file with what stands at a path replaced."""
    holder = {name: deepcopy(small()[name])}
    inner = holder
    for step in (name, *path)[:-1]:
        inner = inner[step]
    inner[(name, *path)[-1]] = to
    return holder


def test_a_file_or_licence_that_is_missing_or_says_nothing(copy_of):
    expected = dict.fromkeys(small(), "nine files and the LICENSE of OpenToM")
    for name, what in (expected | {"LICENSE": "licence that comes with OpenToM"}).items():
        folder = copy_of()
        (folder / name).unlink()
        assert refusal(folder) == f"{name} is missing in {folder}; expected the {what}."
    for raw, told in (
        (b" \n", "LICENSE is empty; expected the licence that comes with OpenToM."),
        (b"ab\xff", "LICENSE, line 1: byte 2 is not UTF-8; expected text in UTF-8."),
    ):
        (folder / "LICENSE").write_bytes(raw)
        assert refusal(folder) == told


def test_a_file_that_is_cut_or_in_which_one_word_differs(copy_of):
    cut = json.dumps(small()["attitude.json"], indent=1).encode()[:-20]
    other = changed("attitude.json", "00000003", 0, "question", to="What would be Kofi's attitude?")
    for files in ({"attitude.json": cut}, other):
        told = refusal(copy_of(files))
        assert told.startswith("attitude.json is not the released file: its SHA-256 begins with ")
        assert "; expected " in told
    folder = copy_of()
    files, path = load(folder).files, folder / "attitude.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(folder).files == files, "line ends of Windows are the same copy"


def test_samples_are_questions_of_narratives_and_of_long_ones(copy_of):
    imported = load(copy_of())
    assert len(imported.samples) == 230 and len({sample.cluster for sample in imported.samples}) == 10
    assert (imported.title, imported.licence) == ("OpenToM (596 narratives)", "Use it to evaluate.")
    by_key = {sample.key: sample for sample in imported.samples}
    first = by_key["00000000/attitude/0"].gold
    assert (first["mover"], first["observer"], first["places"]) == ("Ines", "Tomas", ["a box", "a donation box"])
    assert first["observed"] is False
    views = [by_key[f"00000001/location_fg_fo_new/{index}"].content["perspective"] for index in range(4)]
    assert views == ["narrator", "narrator", "mover", "observer"]
    assert by_key["00000001/location_fg_so_new/1"].content["people"] == ["Bea", "Noah"]
    assert by_key["00000001/attitude/0"].content["people"] == ["Bea"]
    long = load(copy_of(), narratives="long").samples
    assert len(long) == 46 and all(sample.content["story"].startswith("It rained. ") for sample in long)


def test_long_narratives_are_in_a_sample_of_each_shuffle(copy_of):
    keys = [str(at) for at in range(100)]
    first, second, third, fourth, fifth = drawn = long_batches(keys)
    assert [len(batch) for batch in drawn] == [50] * 5 and first == batches(keys)[0]
    assert {*first, *second} == {*third, *fourth} == {*keys} and {*first} & {*third} and {*third} != {*fifth}
    # two of them make the first sample of each of three shuffles, and are asked about other fullness in each
    samples = load(copy_of(), narratives="long").samples
    attitude = [sample for sample in samples if sample.content["kind"] == "attitude"]
    assert [batches_of(sample, "coarse") for sample in attitude] == [[1, 3, 5]] * 2
    by_number = Counter(number for sample in samples for number in batches_of(sample, "fine"))
    assert by_number == dict.fromkeys((1, 3, 5), 2 * 15) and {sample.split for sample in samples} <= {"sampled", "rest"}
    assert ids_of(samples, {}, part="fine") == {}


def test_the_batches_of_a_part_are_its_questions_without_two_of_fullness(copy_of):
    """Ten narratives are all in the first of the batches; of each multi-hop file four of six questions are asked, two
    of them about fullness."""
    samples = load(copy_of()).samples
    of_part = {part: [sample for sample in samples if part in sample.gold["batches"]] for part in ("coarse", "fine")}
    # coarse 2 + 2 and fine 4 + 2 questions about places, 4 + 4 multi-hop ones, 1 of attitude
    assert {part: len(found) for part, found in of_part.items()} == {"coarse": 130, "fine": 150}
    assert {sample.gold["batches"]["fine"] for sample in of_part["fine"]} == {1}
    kinds = [sample.content["kind"] for sample in of_part["fine"] if sample.gold["type"] == "multihop-so"]
    assert kinds.count("fullness") == kinds.count("accessibility") == 20
    assert {sample.split for sample in samples} == {"sampled", "rest"}
