"""Questions as samples of a dataset."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.suites.answers import Answered
from benchmark.suites.copies import Imported
from benchmark.suites.opentom.data import Narrative, OpenQuestion, OpenToM, read_opentom
from benchmark.suites.opentom.genres import genre_of
from benchmark.suites.opentom.kinds import ATTITUDE, COARSE, FILES, FINE, PARTS
from benchmark.suites.opentom.official import gold_label
from benchmark.suites.opentom.sampling import id_of, sampled
from benchmark.suites.questions import Sample
from core.plain import Json

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
