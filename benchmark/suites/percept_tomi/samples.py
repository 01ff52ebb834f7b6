"""Questions as samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.copies import BadImport, Imported
from benchmark.suites.percept_tomi.data import FILE, PerceptQuestion, read_percept_tomi
from benchmark.suites.percept_tomi.tracker import UnknownSentence, places_of, track
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

TYPES: Mapping[str, tuple[str, str]] = {
    "first_order_no_tom": ("first order", "true belief"),
    "first_order_tom": ("first order", "false belief"),
    "second_order_no_tom": ("second order", "true belief"),
    "second_order_tom": ("second order", "false belief"),
}
"""Order and scenario of each question type."""
CATEGORIES: ShortNames = {
    gettext_noop("First order, true belief"): "1st true",
    gettext_noop("First order, false belief"): "1st false",
    gettext_noop("Second order, true belief"): "2nd true",
    gettext_noop("Second order, false belief"): "2nd false",
}
LICENCE = "No licence comes with the file. The paper announces CC BY-NC 4.0, which is the licence of ToMi too."


def load(folder: Path) -> Imported:
    """Return the 600 questions of a copy. Raises BadImport."""
    copy = read_percept_tomi(folder)
    samples = list(samples_of(copy.questions))
    problems = [problem for question in copy.questions for problem in _problems(question)]
    return Imported("Percept-ToMi", samples, copy.licence or LICENCE, {FILE: copy.digest}, problems)


def samples_of(questions: Sequence[PerceptQuestion]) -> Iterator[Sample]:
    """Return the samples of questions, those about one story in one cluster. Raises BadImport."""
    clusters: dict[tuple[str, ...], str] = {}
    for question in questions:
        cluster = clusters.setdefault(question.story, f"story-{question.key}")
        yield _sample(question, cluster)


def _problems(question: PerceptQuestion) -> Iterator[dict[str, str | int]]:
    for number, names in enumerate(question.perceivers, start=1):
        if "" in names:
            yield {
                "file": FILE,
                "line": question.line,
                "message": f"Sentence {number} has an empty name as its perceiver; it is read as perceived by nobody.",
            }


def _sample(question: PerceptQuestion, cluster: str) -> Sample:
    order, scenario = TYPES[question.type]
    content = {
        "sentences": list(question.story),
        "question": question.question,
        "thing": question.thing,
        "people": list(question.people),
        "order": order,
        "scenario": scenario,
        "containers": _containers(question),
    }
    gold = {
        "answer": question.answer,
        "perceivers": [list(names) for names in question.perceivers],
        "candidates": list(question.candidates),
        "type": question.type,
        "raw_type": question.raw_type,
    }
    return Sample(question.key, cluster, content, gold, category=f"{order.capitalize()}, {scenario}")


def _containers(question: PerceptQuestion) -> list[str]:
    """The places where the story puts the thing, in their order."""
    try:
        places = places_of(track(question.story), question.thing)
    except UnknownSentence as error:
        raise BadImport(f"{FILE}, line {question.line}, story: {error}") from error
    if question.answer not in places:
        raise BadImport(
            f"{FILE}, line {question.line}, answer: it is {question.answer[:40]!r}; expected a place where "
            f"the story puts the {question.thing}."
        )
    return places
