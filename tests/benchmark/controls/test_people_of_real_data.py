"""Who is renamed in the real data: everybody whom the data name, and of what no person is called only what
docs/benchmarks.md lists."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmark.controls.renaming import Renaming, renaming_of
from benchmark.suites.opentom.data import load as load_opentom
from benchmark.suites.percept_fantom.data import read_annotation
from benchmark.suites.questions import Sample
from benchmark.suites.registry import suite_named

_WORDS = """
    Aegean Aeria Airion Aquatica Asteria Attention Basement Bali Bedroom Bulldogs Cantonese Circuiton Closet
    Conan Cosplay Crane Cyberton Dalmatians Didi Doraemon Eve Expo Facebook Ferrero Frigoria Fridge Glockta
    Google Huskies Jiangzhe Liuzhou Lumina Maotai Mechano Mexican Michelin Milaria Nimbus Orbis Orleans Piece
    Pixelon Relevant Room Santorini Selene Serenitas Silica Silvatica Skyhaven Skyport Solaris Stardust Sudoku
    Superman Supreme Sylvana Tai Taobao Terra Thai Thursdays Tote Vegetables Venus Vienna Virdana Wanping Weibo
    Xiamen Yueyang 小巧 老钟
"""
NOBODY = frozenset(_WORDS.split())
"""What was taken for people before, and everything that was found to be none when all that is renamed was read."""


def told(samples: Iterable[Sample], suite: str) -> list[tuple[Sample, Renaming]]:
    """One sample of each story with its renaming."""
    controls, stories = suite_named(suite).controls, {}
    for sample in samples:
        stories.setdefault((sample.cluster, sample.split, str(sample.content[controls.story])), sample)
    return [(sample, renaming_of(sample, controls, 1)) for sample in stories.values()]


def _still(name: str, text: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", text))


def test_of_the_conversations_everybody_who_hears_is_renamed_and_nobody_else(shared):
    samples = [
        Sample(
            part, part, {"conversation": "\n".join(text for text, _ in spoken), "names": []},
            {"perceivers": [list(names) for _, names in spoken]},
        )
        for part, spoken in read_annotation(shared / "data" / "Percept-FANToM").items()
    ]  # fmt: skip
    heard, misspelled = 0, {}
    for sample, names in told(samples, "percept-fantom"):
        people = {name for each in sample.gold["perceivers"] for name in each}
        text = names.of(sample.content["conversation"])
        rest = text
        for other in names.others:
            rest = rest.replace(other, "")
        assert people <= {*names.people} and not any(_still(name, rest) for name in people), sample.key
        misspelled |= {name: sample.key for name in {*names.people} - people}
        heard += len(people)
    assert (len(samples), heard) == (311, 1071)
    assert {*misspelled} == {"Sid", "Scarlet", "Vic", "John"}


def test_of_the_narratives_mover_and_observer_are_renamed_and_nobody_else(shared):
    counts = []
    for narratives in ("all", "long"):
        samples = load_opentom(shared / "data" / "OpenToM", narratives=narratives).samples
        renamings = told([sample for sample in samples if sample.key.endswith("/location_cg_fo/0")], "opentom")
        for sample, names in renamings:
            assert {*names.people} == {sample.gold["mover"], sample.gold["observer"]}
            text = names.of(sample.content["story"])
            assert not any(_still(name, text) for name in names.people), sample.key
        counts.append(len(renamings))
    assert counts == [596, 100]


def test_of_stories_of_tomi_all_perceivers_are_renamed(shared):
    samples = suite_named("percept-tomi").copied.load(shared / "data" / "Percept-ToMi").samples
    renamings = told(samples, "percept-tomi")
    for sample, names in renamings:
        before = "\n".join(sample.content["sentences"])
        after = names.of(before)
        assert {*re.findall(r"\b[A-Z]\w+", before)} & {*re.findall(r"\b[A-Z]\w+", after)} <= {"The", "TV"}, sample.key
    assert len(renamings) == 529


def test_of_tombench_two_places_are_taken_for_people(shared):
    renamings = told(suite_named("tombench").copied.load(shared / "data" / "ToMBench").samples, "tombench")
    wrong = {name for _, names in renamings for name in names.people} & NOBODY
    assert wrong == {"Milaria", "Pixelon"}
    counts = Counter(sample.split for sample, names in renamings for _ in names.people)
    assert counts == {"en": 3205, "zh": 1730}
    same = next(names for sample, names in renamings if sample.key.startswith("persuasion-story-task:33:en"))
    assert same.people["Xiaowei"] == same.people["Xiao Wei"]


def _belief_tables(shared: Path) -> Iterable[Sample]:
    sample = Path(__file__).parents[3] / "annotation" / "sample" / "stories.jsonl"
    for file in (shared / "vectors" / "omnitom" / "records" / "all_47.jsonl", sample):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            key = f"{file.stem}-{record['story_id']}"
            yield Sample(key, key, {"story": record["story"]}, {"beliefs": record["beliefs"]})


def test_of_belief_tables_all_actors_are_renamed(shared):
    renamings = told(_belief_tables(shared), "omnitom")
    assert not {name for _, names in renamings for name in names.people} & NOBODY
    named = missed = 0
    for sample, names in renamings:
        for actor in {belief["actor"] for belief in sample.gold["beliefs"]}:
            words = {*re.findall(r"\b[A-Z][a-z]+", actor)} & {*re.findall(r"\b[A-Z][a-z]+", sample.content["story"])}
            for word in words - {"Xiao", "Aunt", "Dad", "Dr", "Farmer", "Grandpa", "Mr", "The"}:
                named += 1
                missed += not any(word in name.split() for name in names.people)
    assert (named, missed) == (68, 0)
