"""Annotation of who hears each utterance: the CSV files of Percept-FANToM, whose cells hold Python literals, which are
read as literals and never evaluated."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.suites.copies import (
    BadImport,
    CopyFile,
    CopySource,
    Imported,
    licence_beside,
    released_bytes,
    rows_of_csv,
)
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ARCHIVE,
    CHOICE,
    INACCESSIBLE,
    LIST,
    YES_NO,
    Fantom,
    Sets,
    about,
    check_counts,
    check_numbers,
    file_of,
    oddities,
    of_the_short,
    question_sets,
    read_fantom,
    without_licence,
)
from benchmark.suites.fantom_questions.data import SOURCE as FANTOM
from benchmark.suites.questions import Sample
from core.messages import gettext_noop
from core.plain import Json

FILE = "Percept-FANToM.csv"
DIGEST = "69ceaa7c1abc894ad8ef7a811d772f399393bf725e8dab7a4197465f74337691"
"""The SHA-256 of the released file, as 64 hexadecimal digits, line ends as they were released."""


Parts = Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
"""The utterances of each part of a conversation, such as 3-0, in their order, as they stand, the speaker first, each
with those who hear it."""


def read_annotation(folder: Path) -> Parts:
    """Return the parts of the annotation in a folder, and check that it is the released one. Raises BadImport."""
    parts: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for _, row in rows_of_csv(released_bytes(folder / FILE, "it beside the file of FANToM", DIGEST)):
        parts.setdefault(row["part_id"], []).append((row["utterance"], tuple(ast.literal_eval(row["perceivers"]))))
    return parts


SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/chanijung/PercepToM",
    folder="dataset/Percept_FANToM",
    licence=gettext_noop(
        "The repository has no licence file; the paper announces CC BY-NC 4.0: share and adapt with attribution, not "
        "commercially. FANToM’s data are for evaluation only."
    ),
    checked=gettext_noop(
        "Sets are counted, the SHA-256 of the annotation is checked, and FANToM’s file as that benchmark has it."
    ),
    files=(
        CopyFile(FILE, gettext_noop("who hears each utterance")),
        CopyFile(ARCHIVE, gettext_noop("FANToM itself, from its own repository; or the JSON file inside it")),
        *(file for file in FANTOM.files if file.optional),
    ),
)


LEFT_OUT = frozenset((
    "5-0", "7-0", "9-0", "10-0", "10-1", "45-0", "49-0", "57-0", "57-1", "59-0", "62-0", "65-0", "67-1", "68-0",
    "76-0", "76-1", "79-0", "85-1", "92-1", "104-0", "106-0", "109-0", "109-1", "110-0", "116-0", "116-1", "120-0",
    "133-0", "138-0", "149-0", "149-1", "156-0", "157-0", "162-0", "168-0", "168-1", "168-2", "192-1", "193-0",
    "193-1", "195-0", "202-1", "203-1", "212-0", "212-1", "222-0", "226-0", "229-1", "232-0", "237-0", "246-0",
    "246-1", "249-0", "249-1", "255-0", "255-1", "255-2",
))  # fmt: skip
"""The parts of FANToM's conversations that nobody annotated; the released code draws the order of options without
them."""
COUNTS = {"sets": 739, "sets with a false belief": 543, "sets with a true belief": 341}
"""The part of FANToM's released file that is about annotated conversations."""
SCENARIO_NAMES = {ACCESSIBLE: "true belief", INACCESSIBLE: "false belief"}
ASKED = (CHOICE, LIST, YES_NO)
_TYPOS = {"Makenzie": "Mackenzie", "Everevt": "Everett", "extricurricular": "extracurricular"}
"""The spellings that the released code mends in conversations, so that they say what was annotated."""


def load(folder: Path) -> Imported:
    """Return the questions of a copy: a folder with the file of FANToM and the annotation of Percept-FANToM. Raises
    BadImport."""
    folder = folder if folder.is_dir() else folder.parent
    file = file_of(folder)
    copy, licence = read_fantom(file), licence_beside(file, "FANToM")
    check_counts(copy.name, question_sets(copy.sets))
    parts = read_annotation(folder)
    sets = annotated_sets(copy)
    counts = {
        "sets": len(sets),
        "sets with a false belief": sum(_has(questions, INACCESSIBLE, CHOICE) for questions in sets.values()),
        "sets with a true belief": sum(_has(questions, ACCESSIBLE, CHOICE) for questions in sets.values()),
    }
    check_numbers(copy.name, counts, COUNTS, " about annotated conversations")
    if lacking := [set_id for set_id in sets if part_of(set_id) not in parts]:
        raise BadImport(f"{copy.name}: set {lacking[0]} is about a conversation that the annotation lacks.")
    problems = [*without_licence(copy.name, licence), *_differing(copy, sets, parts), *oddities(copy, sets)]
    samples = list(samples_of(copy, parts))
    return Imported(
        "Percept-FANToM", samples, licence, {**copy.digests, FILE: DIGEST}, problems, unchecked=copy.unchecked
    )


def part_of(set_id: str) -> str:
    """Return the part of a conversation that a set is about."""
    return set_id.rpartition("-")[0]


def annotated_sets(copy: Fantom) -> Sets:
    """Return the sets of questions about annotated conversations, the order of options drawn over these alone, as in
    the released code."""
    return question_sets({set_id: record for set_id, record in copy.sets.items() if part_of(set_id) not in LEFT_OUT})


def samples_of(copy: Fantom, parts: Parts) -> Iterator[Sample]:
    """Yield the choices, lists and yes or no questions without those on characters who are not in the conversation,
    with who perceives what; a part without annotation has none."""
    for set_id, questions in annotated_sets(copy).items():
        asked = of_the_short([sample for sample in questions if sample.content["kind"] in ASKED])
        utterances = parts.get(part_of(set_id), ())
        text = "\n".join(utterance for utterance, _ in utterances) or copy.sets[set_id].short_context.strip()
        scenarios = [scenario for scenario in (ACCESSIBLE, INACCESSIBLE) if _has(asked, scenario)]
        perceivers = [list(names) for _, names in utterances]
        for sample in about(asked, text):
            belief = SCENARIO_NAMES[sample.content["scenario"]]
            content = {**sample.content, "scenarios": scenarios, "belief": belief}
            yield replace(sample, content=content, gold={**sample.gold, "perceivers": perceivers})


def _has(questions: Sequence[Sample], scenario: str, *kinds: str) -> bool:
    return any(
        sample.content["scenario"] == scenario and (not kinds or sample.content["kind"] in kinds)
        for sample in questions
    )


def utterances_of(sample: Sample) -> list[str]:
    """Return the utterances of a sample's conversation, one for each of its gold's perceivers."""
    return str(sample.content["conversation"]).split("\n")


def _differing(copy: Fantom, sets: Sets, parts: Parts) -> Iterator[Json]:
    """Yield the conversations that the two files have in other words: the annotated ones are asked about."""
    reported: set[str] = set()
    for set_id in sets:
        part, text = part_of(set_id), copy.sets[set_id].short_context
        for wrong, right in _TYPOS.items():
            text = text.replace(wrong, right)
        lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
        if part not in reported and lines != [utterance.strip() for utterance, _ in parts[part]]:
            reported.add(part)
            message = f"Set {set_id}: its conversation is not word by word the annotated one, which is asked about."
            yield {"file": copy.name, "line": 0, "message": message}
