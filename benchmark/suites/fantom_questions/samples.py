"""Questions about a conversation as samples of a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.suites.fantom_questions.data import Fantom
from benchmark.suites.fantom_questions.question_types import NO_BELIEF, type_of
from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, YES_NO, QuestionSet, Row
from benchmark.suites.questions import Sample
from core.messages import Sentence, gettext_noop

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
