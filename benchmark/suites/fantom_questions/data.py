"""FANToM as it is distributed: one JSON file of sets of questions, in an archive."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from benchmark.suites.copies import (
    BadImport,
    CopyFile,
    CopySource,
    bytes_of,
    check_released,
    digest_of,
    rows_of_csv,
    text_of,
)
from benchmark.suites.questions import Sample
from core.incoming.damage import MOST_UNPACKED, damage_as, fault_of
from core.incoming.misfit import Misfit, kind_of
from core.incoming.shapes import Among, Filled, Like, Open
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop

FACT, DISTANCE, CHOICE, LIST, YES_NO = "fact", "distance", "choice", "list", "yes_no"
"""The fact; a belief in free words, and between two options; all who know, and whether one of them does."""
ANSWERABILITY, INFORMATION = "answerability", "info_accessibility"
ACCESSIBLE, INACCESSIBLE = "accessible", "inaccessible"
"""The scenarios: whether the character had access to what was said, or has a false belief."""
YES, NO, NOT_THERE = "yes", "no", "no:long"
"""Gold of a yes or no question; the last is of a character who is not in the short conversation."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question.

    `id` is `<set>/fact`, `<set>/belief<n>/dist` or `/choice`, `<set>/<topic>/list` or `<set>/<topic>/yn/<character>`.
    `scenario` is empty of a fact; `topic` is answerability or information access, empty of the others; `order` is a
    belief's kind as the file names it, such as `second-order:cyclic`. `right` and `wrong` are texts of a fact and a
    belief, names of a list; of a yes or no question `right` is one label. `options` are those of a choice as shown,
    `key` is the place of the right one.
    """

    id: str
    set_id: str
    kind: str
    question: str
    scenario: str
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    topic: str = ""
    order: str = ""
    character: str = ""
    options: tuple[str, ...] = ()
    key: int = 0

    @property
    def part_id(self) -> str:
        return self.set_id.rpartition("-")[0]

    @property
    def conversation_id(self) -> str:
        return self.set_id.partition("-")[0]

    @property
    def subject(self) -> str:
        """The person whose belief a question is about, in lower case: the word after its first "does "."""
        return self.question.lower().partition("does ")[2].split(" ", 1)[0]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A piece of information in a part of a conversation, and all questions about it."""

    set_id: str
    short_context: str
    full_context: str
    fact_question: str
    fact_answer: str
    rows: tuple[Row, ...]


Sets = Mapping[str, QuestionSet]


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


ORDER_SEED = 99


def question_sets(records: Sequence[SetRecord]) -> dict[str, QuestionSet]:
    """Return the sets by id. The order of options is drawn anew with the released code's seed, one draw a belief in the
    order of the file."""
    draws = random.Random(ORDER_SEED)
    return {record.set_id: _question_set(record, draws) for record in records}


def _question_set(record: SetRecord, draws: random.Random) -> QuestionSet:
    fact = record.factQA
    rows = [Row(f"{record.set_id}/fact", record.set_id, FACT, fact.question, "", (fact.correct_answer,))]
    for index, belief in enumerate(record.beliefQAs):
        rows += _belief(record.set_id, index, belief, wrong_first=draws.choice([True, False]))
    for topic, everybody, single in (
        (ANSWERABILITY, record.answerabilityQA_list, record.answerabilityQAs_binary),
        (INFORMATION, record.infoAccessibilityQA_list, record.infoAccessibilityQAs_binary),
    ):
        rows += _knowing(record.set_id, topic, everybody, single)
    return QuestionSet(
        record.set_id,
        record.short_context.strip(),
        record.full_context.strip(),
        fact.question,
        fact.correct_answer,
        tuple(rows),
    )


def _belief(set_id: str, index: int, belief: BeliefRecord, *, wrong_first: bool) -> list[Row]:
    texts = (
        (belief.wrong_answer, belief.correct_answer) if wrong_first else (belief.correct_answer, belief.wrong_answer)
    )
    free = Row(
        id=f"{set_id}/belief{index}/dist",
        set_id=set_id,
        kind=DISTANCE,
        question=belief.question,
        scenario=belief.missed_info_accessibility,
        right=(belief.correct_answer,),
        wrong=(belief.wrong_answer,),
        order=belief.tom_type,
    )
    return [free, replace(free, id=f"{set_id}/belief{index}/choice", kind=CHOICE, options=texts, key=int(wrong_first))]


def _knowing(set_id: str, topic: str, everybody: ListRecord, single: Sequence[YesNoRecord]) -> Iterator[Row]:
    yield Row(
        id=f"{set_id}/{topic}/list",
        set_id=set_id,
        kind=LIST,
        question=everybody.question,
        scenario=everybody.missed_info_accessibility,
        right=tuple(everybody.correct_answer),
        wrong=tuple(everybody.wrong_answer),
        topic=topic,
    )
    for record in single:
        name = record.question.partition("Does ")[2].split(" know", 1)[0]
        yield Row(
            id=f"{set_id}/{topic}/yn/{name}",
            set_id=set_id,
            kind=YES_NO,
            question=record.question,
            scenario=record.missed_info_accessibility,
            right=(record.correct_answer,),
            topic=topic,
            character=name,
        )


def in_full(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a set as they are labelled in the full conversation: who was not there at first does not know,
    either."""
    scenarios = {}
    for topic in (ANSWERABILITY, INFORMATION):
        of_topic = [row for row in rows if row.topic == topic]
        scenarios[topic, LIST] = any(row.wrong for row in of_topic if row.kind == LIST)
        scenarios[topic, YES_NO] = any(row.right[0] != YES for row in of_topic if row.kind == YES_NO)
    return [
        replace(row, scenario=INACCESSIBLE if scenarios[row.topic, row.kind] else ACCESSIBLE) if row.topic else row
        for row in rows
    ]


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
_CHOOSE = "\n\nChoose an answer from above:"


def source_of(path: Path) -> tuple[str, bytes, dict[str, str]]:
    """Return name and bytes of FANToM's JSON file, which a path is or holds in the released archive, and the digests of
    what was read, by name. Raises BadImport."""
    name, raw = path.name, bytes_of(path, "the file of FANToM")
    digest = hashlib.sha256(raw).hexdigest()
    if not name.endswith((".tar.gz", ".tgz")):
        return name, raw, {name: digest}
    check_released(name, digest, DIGESTS[ARCHIVE], "archive")
    inner, content = _unpacked(name, raw)
    return inner, content, {name: digest, inner: hashlib.sha256(content).hexdigest()}


def _unpacked(name: str, raw: bytes) -> tuple[str, bytes]:
    """Return name and content of the only JSON file in an archive."""
    damaged = damage_as(lambda error: BadImport(f"{name} cannot be read as an archive ({fault_of(error)})."), BadImport)
    with damaged, tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as archive:
        files = [member for member in archive if member.isfile() and _is_json(member.name)]
        if len(files) != 1:
            raise BadImport(f"{name}: the number of JSON files is {len(files)}; expected {FILE} alone.")
        handle = archive.extractfile(files[0])
        content = handle.read(MOST_UNPACKED + 1) if handle else b""
    if len(content) > MOST_UNPACKED:
        raise BadImport(f"{name}: {files[0].name} is larger than {MOST_UNPACKED // 2**20:,} MB.")
    return Path(files[0].name).name, content


def _is_json(name: str) -> bool:
    return name.endswith(".json") and not Path(name).name.startswith(".")


def lines_of_entries(raw: bytes) -> list[int]:
    """Return the line, from 1, on which each entry of a JSON list begins; empty where it is not such a list."""
    try:
        text = raw.decode("utf-8-sig")
        lines: list[int] = []
        at, line, seen = text.index("[") + 1, 1, 0
        while True:
            at = _past(text, at, " \t\r\n,")
            if at >= len(text) or text[at] == "]":
                return lines
            line, seen = line + text.count("\n", seen, at), at
            lines.append(line)
            at = json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return []


def _past(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def check_flattened(path: Path, name: str, sets: Sets) -> dict[str, str]:
    """Hold every question, with the options of choices in their order, against PercepToM's list of the released ones.
    Returns its digest by name, nothing where there is no such list. Raises BadImport with set and line of the list."""
    if not path.is_file():
        return {}
    raw = bytes_of(path, "the list of questions")
    digest = digest_of(raw)
    check_released(path.name, digest, DIGESTS[FLATTENED])
    compare_flattened(raw, path.name, name, sets)
    return {path.name: digest}


def compare_flattened(raw: bytes, listed: str, name: str, sets: Sets) -> None:
    """`check_flattened` of a list whatever its digest."""
    expected = list(_listed(raw, listed))
    for row, (line, set_id, text) in zip(rows_in_order(sets), expected, strict=False):
        if (row.set_id, question_text(row)) != (set_id, text):
            what = "another question or other options" if row.set_id == set_id else f"a question of set {row.set_id}"
            raise BadImport(
                f"{name}, set {set_id}: it has {what} than {listed}, line {line}: {text[:80]!r} is expected."
            )


def rows_in_order(sets: Sets) -> Sequence[Row]:
    return [row for question_set in sets.values() for row in question_set.rows]


def question_text(row: Row) -> str:
    """A question as the list has it."""
    if row.kind != CHOICE:
        return row.question
    first, second = row.options
    return f"{row.question}\n(a) {first}\n(b) {second}{_CHOOSE}"


def _listed(raw: bytes, name: str) -> Iterator[tuple[int, str, str]]:
    """(line, set, question) of each row."""
    text = text_of(raw.replace(b"\r\n", b"\n"), name)
    return ((line, row["set_id"], row["question"]) for line, row in rows_of_csv(text, name, ("set_id", "question")))


COUNTS = {
    "sets": 870,
    "parts of conversations": 368,
    "questions on facts": 870,
    "questions on beliefs": 1_540,
    "lists": 1_740,
    "yes or no questions": 7_142,
}
"""The counts of the released file."""


@dataclass(frozen=True, slots=True)
class Fantom:
    """A copy of the benchmark: sets by id, in the order of the file, its records, and the SHA-256 of each file that was
    read by name, as 64 hexadecimal digits. `name` is that of the JSON file, `lines` where in it each set begins,
    `unchecked` what could not be told of it."""

    sets: Sets
    name: str
    digests: Mapping[str, str]
    records: Sequence[SetRecord] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    unchecked: str = ""


def read_fantom(path: Path) -> Fantom:
    """Read the sets of a file, JSON or the released archive of it, and compare them with PercepToM's list of questions
    if it is next to it. Raises BadImport."""
    name, raw, digests = source_of(path)
    try:
        value = json_of(raw)
    except NotJson as error:
        raise BadImport(error.message_for(name)) from error
    if not isinstance(value, list) or not value:
        raise BadImport(f"{name}: it is {kind_of(value)}; expected a list of sets of questions.")
    lines, records = lines_of_entries(raw), []
    for number, entry in enumerate(value):
        try:
            records.append(SetRecord.of(entry))
        except Misfit as error:
            line = f"line {lines[number]}, " if number < len(lines) else ""
            raise BadImport(error.message_for(f"{name}, {line}{_set_text(number, entry)}")) from error
    for set_id, count in Counter(record.set_id for record in records).items():
        if count > 1:
            raise BadImport(f"{name}: set {set_id} occurs {count} times; expected each set once.")
    sets = question_sets(records)
    listed = check_flattened(path.with_name(FLATTENED), name, sets)
    line_by_set = dict(zip((record.set_id for record in records), lines, strict=False))
    unchecked = "" if len(digests) > 1 else _unchecked(name)
    return Fantom(sets, name, digests | listed, records, line_by_set, unchecked)


def _unchecked(name: str) -> str:
    return Sentence(
        "The digest of {name} as it was released is not known, so a changed text or answer in it is "
        "not noticed: import {archive}, whose digest is checked.",
        name=name,
        archive=ARCHIVE,
    )


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


def check_counts(copy: Fantom) -> None:
    """Check that a file holds as much as the released one. Raises BadImport."""
    kinds = Counter(row.kind for question_set in copy.sets.values() for row in question_set.rows)
    counts = {
        "sets": len(copy.sets),
        "parts of conversations": len({set_id.rpartition("-")[0] for set_id in copy.sets}),
        "questions on facts": kinds[FACT],
        "questions on beliefs": kinds[CHOICE],
        "lists": kinds[LIST],
        "yes or no questions": kinds[YES_NO],
    }
    for what, count in counts.items():
        if count != COUNTS[what]:
            raise BadImport(f"{copy.name}: the number of {what} is {count:,}; expected {COUNTS[what]:,}.")


def _set_text(number: int, entry: object) -> str:
    """Return the name of an entry of the file: its set with its conversation."""
    set_id = entry.get("set_id") if isinstance(entry, dict) else None
    if not isinstance(set_id, str) or not set_id.strip():
        return f"set {number + 1:,} of the file"
    return f"set {set_id[:40]} of conversation {set_id[:40].partition('-')[0]}"


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


def type_of(row: Row) -> str:
    """Return what a question's type is called."""
    return TYPES[row.kind, row.topic]


Problem = Mapping[str, str | int]
LONGEST_CITED = 80
"""Characters of a question in a sentence about it."""


def names_of(question_set: QuestionSet) -> tuple[str, ...]:
    """Return the characters that the questions of a set are about, in the order in which they come up."""
    names: dict[str, None] = {}
    for row in question_set.rows:
        if row.topic:
            names |= dict.fromkeys((row.character,) if row.kind == YES_NO else (*row.right, *row.wrong))
    return tuple(names)


def people_of(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    """Return through whose eyes a question looks, outermost first: one of `names` or, of a belief of second order, two;
    nobody's where the question does not name one of them in its place."""
    if row.kind == YES_NO:
        return (row.character,)
    if row.kind not in (CHOICE, DISTANCE):
        return ()
    text = row.question.partition("does ")[2]
    mentions = sorted((match.start(), name) for name in names if (match := re.search(rf"\b{re.escape(name)}\b", text)))
    if not mentions or mentions[0][0]:
        return ()
    return tuple(name for _, name in mentions[: 2 if row.order.startswith("second") else 1])


def sample_of(row: Row, question_set: QuestionSet, text: str, names: Sequence[str], wholly_accessible: bool) -> Sample:
    """Return a question as a sample; `names` are those of `names_of`, `wholly_accessible` is said of the set."""
    people = people_of(row, names)
    content = {
        "conversation": text,
        "kind": row.kind,
        "topic": row.topic,
        "question": row.question,
        "options": list(row.options),
        "fact_question": question_set.fact_question,
        "fact_answer": question_set.fact_answer,
        "scenario": row.scenario,
        "order": row.order or NO_BELIEF,
        "character": row.character or (people[0] if people else ""),
        "people": list(people),
        "names": list(names),
        "wholly_accessible": wholly_accessible,
    }
    gold = {"right": list(row.right), "wrong": list(row.wrong), "key": row.key}
    return Sample(row.id, row.conversation_id, content, gold, category=type_of(row), group=row.set_id)


def row_of(sample: Sample) -> Row:
    """Return the question that a sample is."""
    content: Mapping[str, Any] = sample.content
    return Row(
        id=sample.key,
        set_id=sample.group,
        kind=content["kind"],
        question=content["question"],
        scenario=content["scenario"],
        right=tuple(sample.gold["right"]),
        wrong=tuple(sample.gold["wrong"]),
        topic=content["topic"],
        order="" if content["order"] == NO_BELIEF else content["order"],
        character=content["character"] if content["kind"] == YES_NO else "",
        options=tuple(content["options"]),
        key=sample.gold["key"],
    )


def without_licence(name: str, licence: str) -> Iterator[Problem]:
    """Say it where a copy came without its licence."""
    if not licence:
        message = gettext_noop(
            "No LICENSE lies beside the file, and the copy is kept without one. FANToM’s data are for evaluation only."
        )
        yield {"file": name, "line": 0, "message": message}


def _cut(question: str) -> str:
    """The beginning of a question, which says where it goes on."""
    return question if len(question) <= LONGEST_CITED else f"{question[: LONGEST_CITED - 1].rstrip()}…"


def oddities(copy: Fantom) -> Iterator[Problem]:
    """The parts of the file that make figures odd: `line` is where in it the set begins, and
    the sentence names the set, as a file can be all in one line."""
    for question_set in copy.sets.values():
        place: Problem = {"file": copy.name, "line": copy.lines.get(question_set.set_id, 0)}
        names = names_of(question_set)
        for part, whole in ((a, b) for a in names for b in names if a != b and a.lower() in b.lower()):
            message = Sentence(
                "Set {set_id}: the name {part} is part of {whole}; the official parse takes one for the other.",
                set_id=question_set.set_id,
                part=part,
                whole=whole,
            )
            yield {**place, "message": message}
        for row in question_set.rows:
            if row.kind == CHOICE and not people_of(row, names):
                message = Sentence(
                    "Set {set_id}: “{question}” asks about the belief of nobody who is in the conversation ({id}).",
                    set_id=question_set.set_id,
                    question=_cut(row.question),
                    id=row.id,
                )
                yield {**place, "message": message}
