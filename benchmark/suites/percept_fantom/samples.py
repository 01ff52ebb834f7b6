"""Questions about annotated conversations as samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.suites.copies import BadImport, Imported, licence_beside
from benchmark.suites.fantom_questions.data import Fantom, check_counts, file_of, read_fantom
from benchmark.suites.fantom_questions.flattening import question_sets
from benchmark.suites.fantom_questions.rows import (
    ACCESSIBLE,
    CHOICE,
    INACCESSIBLE,
    LIST,
    NOT_THERE,
    YES_NO,
    QuestionSet,
    Row,
    Sets,
)
from benchmark.suites.fantom_questions.samples import Problem, names_of, oddities, sample_of, without_licence
from benchmark.suites.percept_fantom.annotation import Parts, read_annotation
from benchmark.suites.questions import Sample

LEFT_OUT = frozenset(
    [
        "5-0",
        "7-0",
        "9-0",
        "10-0",
        "10-1",
        "45-0",
        "49-0",
        "57-0",
        "57-1",
        "59-0",
        "62-0",
        "65-0",
        "67-1",
        "68-0",
        "76-0",
        "76-1",
        "79-0",
        "85-1",
        "92-1",
        "104-0",
        "106-0",
        "109-0",
        "109-1",
        "110-0",
        "116-0",
        "116-1",
        "120-0",
        "133-0",
        "138-0",
        "149-0",
        "149-1",
        "156-0",
        "157-0",
        "162-0",
        "168-0",
        "168-1",
        "168-2",
        "192-1",
        "193-0",
        "193-1",
        "195-0",
        "202-1",
        "203-1",
        "212-0",
        "212-1",
        "222-0",
        "226-0",
        "229-1",
        "232-0",
        "237-0",
        "246-0",
        "246-1",
        "249-0",
        "249-1",
        "255-0",
        "255-1",
        "255-2",
    ]
)
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
    check_counts(copy)
    annotation = read_annotation(folder)
    sets = annotated_sets(copy)
    _check_sets(copy.name, sets, annotation.parts)
    samples = list(samples_of(sets, annotation.parts))
    problems = [*without_licence(copy.name, licence), *_differing(copy, sets, annotation.parts)]
    problems += oddities(replace(copy, sets=sets))
    digests = {**copy.digests, **annotation.digests}
    return Imported("Percept-FANToM", samples, licence, digests, problems, unchecked=copy.unchecked)


def annotated_sets(copy: Fantom) -> Sets:
    """Return the sets of questions about annotated conversations, the order of options drawn over these alone, as in
    the released code."""
    return question_sets([record for record in copy.records if record.set_id.rpartition("-")[0] not in LEFT_OUT])


def samples_of(sets: Sets, parts: Parts) -> Iterator[Sample]:
    """Return the choices, lists and yes or no questions without those on characters who are not in the conversation,
    who perceives what beside them; a part without annotation has none."""
    for set_id, question_set in sets.items():
        rows = [row for row in question_set.rows if row.kind in ASKED and row.right != (NOT_THERE,)]
        utterances = parts.get(set_id.rpartition("-")[0], ())
        text = "\n".join(utterance.text for utterance in utterances) or question_set.short_context
        wholly_accessible = all(row.scenario == ACCESSIBLE for row in rows)
        scenarios = [
            scenario for scenario in (ACCESSIBLE, INACCESSIBLE) if any(row.scenario == scenario for row in rows)
        ]
        for row in rows:
            sample = sample_of(row, question_set, text, names_of(question_set), wholly_accessible)
            content = {**sample.content, "scenarios": scenarios, "belief": SCENARIO_NAMES[row.scenario]}
            yield replace(
                sample,
                content=content,
                gold={**sample.gold, "perceivers": [list(utterance.perceivers) for utterance in utterances]},
            )


def utterances_of(sample: Sample) -> list[str]:
    """Return the utterances of a sample's conversation, one for each of its gold's perceivers."""
    return str(sample.content["conversation"]).split("\n")


def _check_sets(name: str, sets: Sets, parts: Parts) -> None:
    counts = {
        "sets": len(sets),
        "sets with a false belief": sum(_has_belief(question_set.rows, INACCESSIBLE) for question_set in sets.values()),
        "sets with a true belief": sum(_has_belief(question_set.rows, ACCESSIBLE) for question_set in sets.values()),
    }
    for what, count in counts.items():
        if count != COUNTS[what]:
            raise BadImport(
                f"{name}: the number of {what} about annotated conversations is {count:,}; expected {COUNTS[what]:,}."
            )
    for set_id in sets:
        if set_id.rpartition("-")[0] not in parts:
            raise BadImport(f"{name}: set {set_id} is about a conversation that the annotation lacks.")


def _has_belief(rows: Sequence[Row], scenario: str) -> bool:
    return any(row.kind == CHOICE and row.scenario == scenario for row in rows)


def _differing(copy: Fantom, sets: Sets, parts: Parts) -> Iterator[Problem]:
    """Conversations that the two files have in other words: the annotated ones are asked about."""
    reported: set[str] = set()
    for set_id, question_set in sets.items():
        part = set_id.rpartition("-")[0]
        if part not in reported and _mended(question_set) != [utterance.text.strip() for utterance in parts[part]]:
            reported.add(part)
            message = f"Set {set_id}: its conversation is not word by word the annotated one, which is asked about."
            yield {"file": copy.name, "line": copy.lines.get(set_id, 0), "message": message}


def _mended(question_set: QuestionSet) -> list[str]:
    text = question_set.short_context
    for wrong, right in _TYPOS.items():
        text = text.replace(wrong, right)
    return [line.strip() for line in text.split("\n") if line.strip()]
