"""Questions as samples of a dataset."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmark.suites.answers import Answered
from benchmark.suites.copies import Imported
from benchmark.suites.opentom.data import (
    ATTITUDE,
    COARSE,
    FILES,
    FINE,
    FULLNESS,
    PARTS,
    Narrative,
    OpenQuestion,
    OpenToM,
    genre_of,
    read_opentom,
)
from benchmark.suites.opentom.parsing import gold_label
from benchmark.suites.questions import Sample
from core.plain import Json

SEED = 42
BATCHES, BATCH_SIZE = 5, 50
_LEFT_OUT = 2


class Sampled(NamedTuple):
    """A question that the released code asks: in which batch (from 1), and its number among those of its narrative in a
    part (from 0)."""

    batch: int
    number: int
    question: OpenQuestion

    @property
    def id(self) -> str:
        """The name of the question in the released code's result files, as `id_of` makes it."""
        return id_of(self.batch, self.question.narrative.key, self.number)


def id_of(batch: int, narrative: str, number: int) -> str:
    """Return the name of a question in the released code's result files, unique within a part:
    `batch-<batch>/<narrative>/<number>`."""
    return f"batch-{batch}/{narrative}/{number}"


def batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of narratives; `keys` are those of all, in the order of the file."""
    shuffled = list(keys)
    random.Random(SEED).shuffle(shuffled)
    return [shuffled[start : start + BATCH_SIZE] for start in range(0, BATCHES * BATCH_SIZE, BATCH_SIZE)]


def long_batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of long narratives, two of each shuffle; `keys` are those of all, in the
    order of the file."""
    shuffled, generator = list(keys), random.Random(SEED)
    drawn: list[list[str]] = []
    while len(drawn) < BATCHES:
        generator.shuffle(shuffled)
        drawn += [shuffled[:BATCH_SIZE], shuffled[BATCH_SIZE : 2 * BATCH_SIZE]]
    return drawn[:BATCHES]


def sampled(copy: OpenToM, part: str, *, long: bool = False) -> Iterator[Sampled]:
    """Yield the questions that the released code asks in a part (`coarse` or `fine`), or about long narratives, in its
    order."""
    left_out = np.random.RandomState(SEED)
    keys_of_all = [key for key, narrative in copy.narratives.items() if narrative.long_text or not long]
    for batch, keys in enumerate((long_batches if long else batches)(keys_of_all), start=1):
        for key in keys:
            for number, question in enumerate(_asked(copy, key, part, left_out)):
                yield Sampled(batch, number, question)


def _asked(copy: OpenToM, key: str, part: str, left_out: np.random.RandomState) -> Iterator[OpenQuestion]:
    for file in FILES:
        questions = copy.questions[file.name][key]
        if file.kind in (COARSE, FINE):
            yield from questions if file.kind == part else ()
            continue
        if file.kind:
            yield from questions
            continue
        fullness = [question.index for question in questions if question.kind == FULLNESS]
        dropped = {*left_out.choice(fullness, _LEFT_OUT, replace=False).tolist()}
        yield from (question for question in questions if question.index not in dropped)


ALL, LONG = "all", "long"
SAMPLED, REST = "sampled", "rest"
"""Splits: the questions of the five samples on which the benchmark's own figures rest, and the others."""
InBatches = Mapping[str, int | list[int]]
"""By part, the number of the sample of narratives that a question is in; of a long narrative all of them, as its
samples overlap."""


def load(folder: Path, *, narratives: str = ALL) -> Imported:
    """Return the questions of a copy, about the narratives or about the long ones. Raises BadImport."""
    copy = read_opentom(folder)
    samples = list(_samples(copy, long=narratives == LONG))
    title = f"OpenToM ({'100 long' if narratives == LONG else '596'} narratives)"
    return Imported(title, samples, copy.licence, copy.digests)


def _samples(copy: OpenToM, *, long: bool) -> Iterator[Sample]:
    batches = _batches(copy, long=long)
    for key, narrative in copy.narratives.items():
        if narrative.long_text or not long:
            questions = [question for file in FILES for question in copy.questions[file.name][key]]
            coarse = {_view(question): question for question in questions if question.kind == COARSE}
            for question in questions:
                first = coarse.get(_view(question)) if question.kind == FINE else None
                yield sample_of(question, batches.get(question.key, {}), long=long, first=first)


def _view(question: OpenQuestion) -> tuple[str, tuple[str, ...]]:
    return question.type, people_of(question)


def _batches(copy: OpenToM, *, long: bool) -> Mapping[str, InBatches]:
    batches: defaultdict[str, dict[str, int | list[int]]] = defaultdict(dict)
    for part in PARTS:
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for row in sampled(copy, part, long=long):
            numbers[row.question.key].append(row.batch)
        for key, each in numbers.items():
            batches[key][part] = each if long else each[0]
    return batches


def batches_of(sample: Sample, part: str) -> list[int]:
    """Return the numbers of the samples of narratives in which a question is asked in a part."""
    numbers: int | list[int] = sample.gold["batches"].get(part, [])
    return [numbers] if isinstance(numbers, int) else numbers


def sample_of(
    question: OpenQuestion,
    batches: InBatches | None = None,
    *,
    long: bool = False,
    first: OpenQuestion | None = None,
) -> Sample:
    """Return a question about a narrative, or about its long form, as a sample; `batches` are those
    that it is in, `first` is the question that goes before it in one session."""
    narrative = question.narrative
    content: Json = {
        "story": narrative.long_text if long else narrative.text,
        "question": question.text,
        "kind": question.kind,
        "people": list(people_of(question)),
        "perspective": perspective_of(question),
    }
    if first:
        content["first"] = {"key": first.key, "question": first.text}
    gold = {
        "answer": question.answer,
        "label": gold_label(question.kind, question.answer, narrative.places),
        "places": list(narrative.places),
        "object": narrative.object,
        "mover": narrative.mover,
        "observer": narrative.observer,
        "observed": narrative.observed,
        "personality": narrative.personality,
        "type": question.type,
        "batches": dict(batches or {}),
    }
    category = genre_of(question.type, question.kind)
    return Sample(question.key, narrative.key, content, gold, category=category, split=SAMPLED if batches else REST)


def people_of(question: OpenQuestion) -> tuple[str, ...]:
    """Return through whose eyes a question looks: nobody's for the narrator's view, the observer's for an attitude."""
    narrative = question.narrative
    if question.kind == ATTITUDE:
        return (narrative.observer,)
    first = _named_first(narrative, question.text)
    if first is None:
        return ()
    other = narrative.observer if first == narrative.mover else narrative.mover
    return (first, other) if question.type.endswith("-so") else (first,)


def _named_first(narrative: Narrative, text: str) -> str | None:
    subject = text.removeprefix("From ").partition("'s perspective")[0]
    return subject if subject in (narrative.mover, narrative.observer) else None


def perspective_of(question: OpenQuestion) -> str:
    """Return whose view a question is about: the mover's, the observer's, or the narrator's."""
    people, narrative = people_of(question), question.narrative
    return "narrator" if not people else "mover" if people[0] == narrative.mover else "observer"


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any], *, part: str) -> dict[str, Answered]:
    """Return what the ids of a part's answers are of: the questions that the released code samples, in its order. Of
    long narratives, whose samples overlap, there are none."""
    numbers: Counter[str] = Counter()
    ids: dict[str, Answered] = {}
    for sample in samples:
        if isinstance(batch := sample.gold["batches"].get(part), int):
            ids[id_of(batch, sample.cluster, numbers[sample.cluster])] = Answered((sample.key,))
            numbers[sample.cluster] += 1
    return ids
