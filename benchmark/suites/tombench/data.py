"""ToMBench as it is distributed: 20 JSON Lines files, each item in English and in Chinese, and a licence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmark.suites.copies import BadImport, CopyFile, CopySource, bytes_of, licence_in
from benchmark.suites.tombench.metrics import gold_letter
from benchmark.suites.tombench.options import clean_options
from benchmark.suites.tombench.records import FIELDS, Record, read_record
from benchmark.suites.tombench.released import unlike_released
from core.messages import gettext_noop

LANGUAGES = tuple(FIELDS)


class Expected(NamedTuple):
    """The numbers of items, of distinct English stories, and of items with two options."""

    items: int
    stories: int
    two_options: int = 0


FILES: Mapping[str, Expected] = {
    "Ambiguous Story Task": Expected(200, 101),
    "Completion of Failed Actions": Expected(20, 20),
    "Discrepant Desires": Expected(20, 20),
    "Discrepant Emotions": Expected(40, 21),
    "Discrepant Intentions": Expected(40, 24),
    "Emotion Regulation": Expected(20, 20),
    "False Belief Task": Expected(600, 100),
    "Faux-pas Recognition Test": Expected(560, 145, 280),
    "Hidden Emotions": Expected(80, 21),
    "Hinting Task Test": Expected(103, 103),
    "Knowledge-Attention Links": Expected(20, 20),
    "Knowledge-Pretend Play Links": Expected(30, 30),
    "Moral Emotions": Expected(40, 20),
    "Multiple Desires": Expected(20, 20),
    "Percepts-Knowledge Links": Expected(40, 22),
    "Persuasion Story Task": Expected(100, 100),
    "Prediction of Actions": Expected(20, 20),
    "Scalar Implicature Test": Expected(200, 157),
    "Strange Story Task": Expected(407, 210, 204),
    "Unexpected Outcome Test": Expected(300, 209),
}
"""The title of each file's content, by its name without `.jsonl`, which is also the name of the task."""


SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/zhchen18/ToMBench",
    folder="data",
    licence=gettext_noop(
        "MIT: use and change it freely where its notice is kept. Its authors mean it for evaluation only."
    ),
    checked=gettext_noop(
        "Items, stories and items with two options of each file are counted, and every line is held against the "
        "released one. Other files with the ending .jsonl are refused."
    ),
    files=(
        CopyFile("*.jsonl", gettext_noop("the 20 files of questions, one for each task")),
        CopyFile("LICENSE", gettext_noop("the licence, at the top of the repository")),
    ),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One question in one language.

    `key` is `<task>:<line>:<language>` with the task in lower case and hyphens and the line counted from 1. `cluster`
    names the story: items of a file with the same English text share it, in both languages. `options` are the raw
    texts, in their original order, two or four; `answer` is the raw cell.
    """

    key: str
    cluster: str
    task: str
    ability: str
    language: str
    line: int
    story: str
    question: str
    options: tuple[str, ...]
    answer: str

    @property
    def trimmed_ability(self) -> str:
        """The ability without outer space: one item of the Scalar Implicature Test has some."""
        return self.ability.strip()

    @property
    def gold(self) -> str:
        """The original letter of the right option."""
        return gold_letter(self.answer)

    @property
    def cleaned_options(self) -> tuple[str, ...]:
        """The texts of the options without their letters, in their original order."""
        return clean_options(self.options)


@dataclass(frozen=True, slots=True)
class ToMBench:
    """A copy of the benchmark: items by file, line and language; the text of its licence; the SHA-256 of its 20 files
    as 64 hexadecimal digits."""

    items: tuple[Item, ...]
    licence: str
    digest: str


def read_tombench(folder: Path, *, languages: Sequence[str] = LANGUAGES) -> ToMBench:
    """Read the 20 files and the LICENSE of a folder, and check the counts of items, stories and items with two options,
    and that they are the released ones.

    Both languages are checked, whichever are wanted; the Chinese option C decides how many options an item has in
    either. Files of other kinds in the folder are left alone. Raises BadImport.
    """
    if not languages or not {*languages} <= {*LANGUAGES} or len({*languages}) < len(languages):
        raise BadImport(f"The languages are {', '.join(languages) or 'none'}; expected en, zh or both, each once.")
    _check_names(folder)
    items: list[Item] = []
    digest = hashlib.sha256()
    for task in FILES:
        raw = bytes_of(folder / f"{task}.jsonl", f"the {len(FILES)} files of ToMBench")
        digest.update(f"{task}.jsonl {hashlib.sha256(raw).hexdigest()}\n".encode())
        items += _items_of(task, raw, languages)
    return ToMBench(tuple(items), licence_in(folder, "ToMBench"), digest.hexdigest())


def _check_names(folder: Path) -> None:
    if not folder.is_dir():
        raise BadImport(f"{folder} is not a folder; expected that of the {len(FILES)} files of ToMBench.")
    names = {path.name for path in folder.iterdir() if path.suffix.lower() == ".jsonl"}
    expected = {f"{task}.jsonl" for task in FILES}
    if missing := sorted(expected - names):
        raise BadImport(f"{missing[0]} is missing in {folder}; expected the {len(FILES)} files of ToMBench.")
    if others := sorted(names - expected):
        raise BadImport(f"{others[0]} in {folder} is not a file of ToMBench.")


def _items_of(task: str, raw: bytes, languages: Sequence[str]) -> Iterator[Item]:
    """The items of a file, in the order of its lines and of `languages`."""
    lines = _lines(raw)
    records = [read_record(f"{task}.jsonl, line {line}", text) for line, text in enumerate(lines, start=1)]
    if why := [*filter(None, (_unlike_counts(task, records), unlike_released(task, lines)))]:
        raise BadImport(" ".join(why))
    slug = task.lower().replace(" ", "-")
    first_line: dict[str, int] = {}
    for line, record in enumerate(records, start=1):
        told_first = first_line.setdefault(record.texts["en"].story, line)
        for language in languages:
            text = record.texts[language]
            yield Item(
                key=f"{slug}:{line}:{language}",
                cluster=f"{slug}:{told_first}",
                task=task,
                ability=record.ability,
                language=language,
                line=line,
                story=text.story,
                question=text.question,
                options=text.options,
                answer=record.answer,
            )


def _lines(raw: bytes) -> list[bytes]:
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return lines if lines[-1].strip() else lines[:-1]


def _unlike_counts(task: str, records: Sequence[Record]) -> str:
    """Say which number of a file is not the released one; empty where all are."""
    counts = (
        len(records),
        len({record.texts["en"].story for record in records}),
        sum(record.option_count == 2 for record in records),
    )
    nouns = ("items", "distinct English stories", "items with two options")
    for noun, count, expected in zip(nouns, counts, FILES[task], strict=True):
        if count != expected:
            return f"{task}.jsonl: the number of {noun} is {count}; expected {expected}."
    return ""
