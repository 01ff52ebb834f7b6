"""FANToM as it is distributed, one JSON file of sets of questions in an archive; and its questions as samples."""

import hashlib
import io
import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from benchmark.suites.copies import (
    BadImport,
    CopyFile,
    CopySource,
    bytes_of,
    check_released,
    released_bytes,
    rows_of_csv,
)
from benchmark.suites.questions import Sample
from core.incoming.damage import MOST_UNPACKED, damage_as, fault_of
from core.incoming.misfit import Misfit, kind_of
from core.incoming.shapes import Among, Filled, Like, Open
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop
from core.plain import Json

FACT, DISTANCE, CHOICE, LIST, YES_NO = "fact", "distance", "choice", "list", "yes_no"
"""The fact; a belief in free words, and between two options; all who know, and whether one of them does."""
ANSWERABILITY, INFORMATION = "answerability", "info_accessibility"
TOPICS = (ANSWERABILITY, INFORMATION)
ACCESSIBLE, INACCESSIBLE = "accessible", "inaccessible"
"""The scenarios: whether the character had access to what was said, or has a false belief."""
YES, NO, NOT_THERE = "yes", "no", "no:long"
"""Gold of a yes or no question; the last is of a character who is not in the short conversation."""
SCENARIOS: Mapping[str, str] = {INACCESSIBLE: "false belief", ACCESSIBLE: "control"}
TYPES: Mapping[tuple[str, str], str] = {
    (FACT, ""): gettext_noop("Fact"),
    (CHOICE, ""): gettext_noop("Belief, choice"),
    (DISTANCE, ""): gettext_noop("Belief, free"),
    (LIST, ANSWERABILITY): gettext_noop("Answerability, list"),
    (YES_NO, ANSWERABILITY): gettext_noop("Answerability, yes or no"),
    (LIST, INFORMATION): gettext_noop("Information, list"),
    (YES_NO, INFORMATION): gettext_noop("Information, yes or no"),
}
"""Titles of types of questions, by kind and topic."""
SHORT_TYPES: Mapping[str, str] = {name: name for name in TYPES.values()}
SHORT_IN_PANELS: Mapping[str, str] = {
    "Belief, choice": "Choice",
    "Belief, free": "Free",
    "Answerability, list": "Ans. list",
    "Answerability, yes or no": "Ans. y/n",
    "Information, list": "Info list",
    "Information, yes or no": "Info y/n",
}
"""Names of types for narrow panels of a picture."""
NO_BELIEF = "no belief"
ORDERS: Mapping[str, str] = {
    "first-order": "First order",
    "second-order": "Second order",
    "second-order:accessible": gettext_noop("Second, accessible"),
    "second-order:cyclic": gettext_noop("Second, cyclic"),
    "second-order:acyclic": gettext_noop("Second, acyclic"),
}
"""Orders of belief as the file names them; the second holds those after it."""


FACET_VALUES: Mapping[str, str] = {
    **{scenario: name.capitalize() for scenario, name in SCENARIOS.items()},
    **ORDERS,
    NO_BELIEF: "No belief",
}
"""The names of scenarios and orders where a score is given by them."""


Scenario = Annotated[str, Among((ACCESSIBLE, INACCESSIBLE))]
SetId = Annotated[str, Like(r"^\d+-\d+-\d+$", "conversation, part and set, such as 3-0-0")]


class FactRecord(Open):
    question: Filled
    correct_answer: Filled


class BeliefRecord(Open):
    question: Filled
    tom_type: Filled
    correct_answer: Filled
    wrong_answer: Filled
    missed_info_accessibility: Scenario


class ListRecord(Open):
    question: Filled
    correct_answer: list[Filled]
    wrong_answer: list[Filled]
    missed_info_accessibility: Scenario


class YesNoRecord(Open):
    question: Annotated[str, Like(r"^Does .+ know", "a question such as “Does Linda know …”")]
    correct_answer: Annotated[str, Among((YES, NO, NOT_THERE))]
    missed_info_accessibility: Scenario


class SetRecord(Open):
    """A set of questions about one piece of information; names of fields are the file's."""

    set_id: SetId
    short_context: Filled
    full_context: Filled
    factQA: FactRecord
    beliefQAs: list[BeliefRecord]
    answerabilityQA_list: ListRecord
    infoAccessibilityQA_list: ListRecord
    answerabilityQAs_binary: list[YesNoRecord]
    infoAccessibilityQAs_binary: list[YesNoRecord]


@dataclass(frozen=True, slots=True)
class Fantom:
    """A copy of the benchmark: the records of its sets by id, in the order of the file, and the SHA-256 of each file
    that was read by name, as 64 hexadecimal digits. `name` is that of the JSON file, `unchecked` what could not be
    told of it."""

    sets: Mapping[str, SetRecord]
    name: str
    digests: Mapping[str, str]
    unchecked: str = ""


Sets = Mapping[str, Sequence[Sample]]
"""All questions of each set."""
ORDER_SEED = 99


def question_sets(records: Mapping[str, SetRecord]) -> dict[str, list[Sample]]:
    """Return all questions of sets, those on characters who are not in the short conversation among them, without a
    conversation. The order of options is drawn anew with the released code's seed, one draw a belief in the order of
    the file.

    A key is `<set>/fact`, `<set>/belief<n>/dist` or `/choice`, `<set>/<topic>/list` or `<set>/<topic>/yn/<character>`.
    """
    draws = random.Random(ORDER_SEED)
    return {set_id: list(_questions(record, draws)) for set_id, record in records.items()}


def _questions(record: SetRecord, draws: random.Random) -> Iterator[Sample]:
    fact, names = record.factQA, names_of(record)

    def question(
        place: str, kind: str, text: str, scenario: str, right: Sequence[str], wrong: Sequence[str] = (), **more: Any
    ) -> Sample:
        order, character, topic = more.get("order", NO_BELIEF), more.get("character", ""), more.get("topic", "")
        people = (character,) if character else _believers(kind, text, order, names)
        content = {
            "kind": kind,
            "topic": topic,
            "question": text,
            "options": list(more.get("options", ())),
            "fact_question": fact.question,
            "fact_answer": fact.correct_answer,
            "scenario": scenario,
            "order": order,
            "character": people[0] if people else "",
            "people": list(people),
            "names": list(names),
        }
        gold = {"right": list(right), "wrong": list(wrong), "key": more.get("key", 0)}
        set_id, category = record.set_id, TYPES[kind, topic]
        return Sample(f"{set_id}/{place}", set_id.partition("-")[0], content, gold, category=category, group=set_id)

    yield question("fact", FACT, fact.question, "", [fact.correct_answer])
    for index, belief in enumerate(record.beliefQAs):
        texts = [belief.correct_answer, belief.wrong_answer]
        about = (belief.question, belief.missed_info_accessibility, texts[:1])
        yield question(f"belief{index}/dist", DISTANCE, *about, texts[1:], order=belief.tom_type)
        key = int(draws.choice([True, False]))
        options = texts[::-1] if key else texts
        yield question(
            f"belief{index}/choice", CHOICE, *about, texts[1:], order=belief.tom_type, options=options, key=key
        )
    for topic, every, single in (
        (ANSWERABILITY, record.answerabilityQA_list, record.answerabilityQAs_binary),
        (INFORMATION, record.infoAccessibilityQA_list, record.infoAccessibilityQAs_binary),
    ):
        asked = (every.question, every.missed_info_accessibility, every.correct_answer, every.wrong_answer)
        yield question(f"{topic}/list", LIST, *asked, topic=topic)
        for one in single:
            name, scenario = _asked_about(one), one.missed_info_accessibility
            place = f"{topic}/yn/{name}"
            yield question(place, YES_NO, one.question, scenario, [one.correct_answer], topic=topic, character=name)


def _asked_about(record: YesNoRecord) -> str:
    return record.question.partition("Does ")[2].split(" know", 1)[0]


def names_of(record: SetRecord) -> tuple[str, ...]:
    """Return the characters that the questions of a set are about, in the order in which they come up."""
    each = [
        (record.answerabilityQA_list, record.answerabilityQAs_binary),
        (record.infoAccessibilityQA_list, record.infoAccessibilityQAs_binary),
    ]
    listed = [[*every.correct_answer, *every.wrong_answer, *map(_asked_about, single)] for every, single in each]
    return tuple(dict.fromkeys(chain(*listed)))


def _believers(kind: str, question: str, order: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return through whose eyes a question on a belief looks, outermost first: one of `names` or, of a belief of second
    order, two; nobody's where it does not name one of them in its place."""
    if kind not in (CHOICE, DISTANCE):
        return ()
    text = question.partition("does ")[2]
    mentions = sorted((match.start(), name) for name in names if (match := re.search(rf"\b{re.escape(name)}\b", text)))
    if not mentions or mentions[0][0]:
        return ()
    return tuple(name for _, name in mentions[: 2 if order.startswith("second") else 1])


def about(questions: Sequence[Sample], conversation: str) -> list[Sample]:
    """Return the questions of a set about a conversation."""
    whole = all(sample.content["scenario"] in ("", ACCESSIBLE) for sample in questions)
    return [
        replace(sample, content={"conversation": conversation, **sample.content, "wholly_accessible": whole})
        for sample in questions
    ]


def of_the_short(questions: Sequence[Sample]) -> list[Sample]:
    """Return the questions of a set without those on characters who are not in the short conversation."""
    return [sample for sample in questions if sample.gold["right"] != [NOT_THERE]]


def in_full(questions: Sequence[Sample]) -> list[Sample]:
    """Return the questions of a set as they are labelled in the full conversation: who was not there at first does not
    know, either."""
    missed = {
        (sample.content["topic"], sample.content["kind"])
        for sample in questions
        if (sample.gold["wrong"] if sample.content["kind"] == LIST else sample.gold["right"][0] != YES)
    }
    relabelled = []
    for sample in questions:
        topic, kind = sample.content["topic"], sample.content["kind"]
        scenario = INACCESSIBLE if (topic, kind) in missed else ACCESSIBLE
        relabelled.append(replace(sample, content={**sample.content, "scenario": scenario}) if topic else sample)
    return relabelled


ARCHIVE, FILE, FLATTENED = "fantom.tar.gz", "fantom_v1.json", "flattened_fantom.csv"
DIGESTS = {
    ARCHIVE: "1d08dfa0ea474c7f83b9bc7e3a7b466eab25194043489dd618b4c5223e1253a4",
    FLATTENED: "c57c5a09fefdec92e3e7bf2f78cbb9c786ca4b8a4d5184d2979ef1c16f28b49e",
}
"""The SHA-256 of released files, as 64 hexadecimal digits, line ends of the second as they were released."""
SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/skywalker023/fantom",
    licence=gettext_noop(
        "The code is under MIT. The data have no licence of their own: their authors give them out for evaluation only."
    ),
    checked=gettext_noop(
        "Sets, parts and questions of each kind are counted. The digest of the archive is checked; that of the JSON "
        "file alone is not known, so use the archive if you can."
    ),
    files=(
        CopyFile(
            ARCHIVE,
            gettext_noop("the archive that the loader of the repository fetches, as it is; or the JSON file inside it"),
        ),
        CopyFile("LICENSE", gettext_noop("the licence of the repository"), optional=True),
        CopyFile(
            FLATTENED,
            gettext_noop("a list of all questions, of the repository chanijung/PercepToM: each is held against it"),
            optional=True,
        ),
    ),
)


def read_fantom(path: Path) -> Fantom:
    """Read the sets of a file, JSON or the released archive of it, and compare them with PercepToM's list of questions
    if it is next to it. Raises BadImport."""
    name, raw, digests = _source(path)
    try:
        value = json_of(raw)
    except NotJson as error:
        raise BadImport(error.message_for(name)) from error
    if not isinstance(value, list) or not value:
        raise BadImport(f"{name}: it is {kind_of(value)}; expected a list of sets of questions.")
    records = []
    for number, entry in enumerate(value):
        try:
            records.append(SetRecord.of(entry))
        except Misfit as error:
            raise BadImport(error.message_for(f"{name}, {_set_text(number, entry)}")) from error
    for set_id, count in Counter(record.set_id for record in records).items():
        if count > 1:
            raise BadImport(f"{name}: set {set_id} occurs {count} times; expected each set once.")
    sets = {record.set_id: record for record in records}
    if (listed := path.with_name(FLATTENED)).is_file():
        content = released_bytes(listed, "the list of questions", DIGESTS[FLATTENED])
        _compare_flattened(content, name, question_sets(sets))
        digests[FLATTENED] = DIGESTS[FLATTENED]
    unchecked = Sentence(
        "The digest of {name} as it was released is not known, so a changed text or answer in it is "
        "not noticed: import {archive}, whose digest is checked.",
        name=name,
        archive=ARCHIVE,
    )
    return Fantom(sets, name, digests, "" if path.name.endswith(_ARCHIVED) else unchecked)


_ARCHIVED = (".tar.gz", ".tgz")


def file_of(path: Path) -> Path:
    """Return the file that a path is, or that the folder holds: the released archive, else its only JSON file. Raises
    BadImport."""
    if not path.is_dir():
        return path
    if (path / ARCHIVE).is_file():
        return path / ARCHIVE
    files = sorted(path.glob("*.json"))
    if len(files) != 1:
        raise BadImport(f"{path.name}: the number of JSON files is {len(files)}; expected {FILE} alone, or {ARCHIVE}.")
    return files[0]


def _source(path: Path) -> tuple[str, bytes, dict[str, str]]:
    """Return name and bytes of FANToM's JSON file, which a path is or holds in the released archive, and the digests of
    what was read, by name."""
    name, raw = path.name, bytes_of(path, "the file of FANToM")
    digests = {name: hashlib.sha256(raw).hexdigest()}
    if not name.endswith(_ARCHIVED):
        return name, raw, digests
    check_released(name, digests[name], DIGESTS[ARCHIVE], "archive")
    damaged = damage_as(lambda error: BadImport(f"{name} cannot be read as an archive ({fault_of(error)})."), BadImport)
    with damaged, tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as archive:
        members = [member for member in archive if member.isfile()]
        files = [m for m in members if m.name.endswith(".json") and not Path(m.name).name.startswith(".")]
        if len(files) != 1:
            raise BadImport(f"{name}: the number of JSON files is {len(files)}; expected {FILE} alone.")
        handle = archive.extractfile(files[0])
        content = handle.read(MOST_UNPACKED + 1) if handle else b""
    if len(content) > MOST_UNPACKED:
        raise BadImport(f"{name}: {files[0].name} is larger than {MOST_UNPACKED // 2**20:,} MB.")
    inner = Path(files[0].name).name
    return inner, content, digests | {inner: hashlib.sha256(content).hexdigest()}


def _set_text(number: int, entry: object) -> str:
    """Return the name of an entry of the file: its set with its conversation."""
    set_id = entry.get("set_id") if isinstance(entry, dict) else None
    if not isinstance(set_id, str) or not set_id.strip():
        return f"set {number + 1:,} of the file"
    return f"set {set_id[:40]} of conversation {set_id[:40].partition('-')[0]}"


def _compare_flattened(raw: bytes, name: str, sets: Sets) -> None:
    """Hold every question, with the options of choices in their order, against the list of the released ones. Raises
    BadImport with set and line of the list."""
    for sample, (line, row) in zip(chain(*sets.values()), rows_of_csv(raw), strict=False):
        expected, question = row["question"], sample.content["question"]
        if sample.content["kind"] == CHOICE:
            first, second = sample.content["options"]
            question += f"\n(a) {first}\n(b) {second}\n\nChoose an answer from above:"
        if (sample.group, question) != (row["set_id"], expected):
            same = sample.group == row["set_id"]
            what = "another question or other options" if same else f"a question of set {sample.group}"
            raise BadImport(
                f"{name}, set {row['set_id']}: it has {what} than {FLATTENED}, line {line}; expected {expected[:80]!r}."
            )


COUNTS = {
    "sets": 870,
    "parts of conversations": 368,
    "questions on facts": 870,
    "questions on beliefs": 1_540,
    "lists": 1_740,
    "yes or no questions": 7_142,
}
"""The counts of the released file."""


def check_counts(name: str, sets: Sets) -> None:
    """Check that a file holds as much as the released one. Raises BadImport."""
    kinds = Counter(sample.content["kind"] for sample in chain(*sets.values()))
    counts = {
        "sets": len(sets),
        "parts of conversations": len({set_id.rpartition("-")[0] for set_id in sets}),
        "questions on facts": kinds[FACT],
        "questions on beliefs": kinds[CHOICE],
        "lists": kinds[LIST],
        "yes or no questions": kinds[YES_NO],
    }
    check_numbers(name, counts, COUNTS)


def check_numbers(name: str, counts: Mapping[str, int], released: Mapping[str, int], of: str = "") -> None:
    """Check that a file has as many of each as the released one. Raises BadImport."""
    for what, count in counts.items():
        if count != released[what]:
            raise BadImport(f"{name}: the number of {what}{of} is {count:,}; expected {released[what]:,}.")


LONGEST_CITED = 80
"""Characters of a question in a sentence about it."""


def without_licence(name: str, licence: str) -> Iterator[Json]:
    """Say it where a copy came without its licence."""
    if not licence:
        message = gettext_noop(
            "No LICENSE lies beside the file, and the copy is kept without one. FANToM’s data are for evaluation only."
        )
        yield {"file": name, "line": 0, "message": message}


def oddities(copy: Fantom, sets: Sets) -> Iterator[Json]:
    """Yield what makes figures of sets odd; the sentence names the set."""
    for set_id, questions in sets.items():
        place = {"file": copy.name, "line": 0}
        names = questions[0].content["names"]
        for part, whole in ((a, b) for a in names for b in names if a != b and a.lower() in b.lower()):
            message = Sentence(
                "Set {set_id}: the name {part} is part of {whole}; the official parse takes one for the other.",
                set_id=set_id,
                part=part,
                whole=whole,
            )
            yield {**place, "message": message}
        for sample in questions:
            if sample.content["kind"] == CHOICE and not sample.content["people"]:
                text = sample.content["question"]
                cut = text if len(text) <= LONGEST_CITED else f"{text[: LONGEST_CITED - 1].rstrip()}…"
                message = Sentence(
                    "Set {set_id}: “{question}” asks about the belief of nobody who is in the conversation ({id}).",
                    set_id=set_id,
                    question=cut,
                    id=sample.key,
                )
                yield {**place, "message": message}
