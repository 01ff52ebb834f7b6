"""Stories on which structure and answer fall apart, and one of them with both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.domain.association import RIGHT, Observation, is_right
from benchmark.models import DatasetSample, RunItem
from benchmark.services.item_detail import parses_on_page
from benchmark.services.structure import Association
from benchmark.services.structure_joins import Joined, Place
from benchmark.services.structure_sides import Measure
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.plain import Json

ANSWER, STRUCTURE = "answer", "structure"
APART = {ANSWER: "Answer right, structure wrong", STRUCTURE: gettext_noop("Structure right, answer wrong")}
"""The two ways, by which of the two is right."""


@dataclass(frozen=True, slots=True)
class Apart:
    """A question to one model of which one of the two is right."""

    seen: Observation
    place: Place


def apart_of(association: Association, right: str) -> list[Apart]:
    """Return the questions of which `right` alone is right, the farthest from the cut first."""
    rows = [
        Apart(seen, place)
        for joined in association.joined
        for seen, place in zip(joined.observations, joined.places, strict=True)
        if seen.has_both_scores
        and is_right(seen.answer, RIGHT) is (right == ANSWER)
        and is_right(seen.structure, association.cut) is (right == STRUCTURE)
    ]
    return sorted(rows, key=lambda apart: _order(apart, association.cut))


def _order(apart: Apart, cut: float) -> tuple[Any, ...]:
    return -abs((apart.seen.structure.answered or 0.0) - cut), apart.place.story, apart.place.question, apart.seen.model


@dataclass(frozen=True, slots=True)
class Side:
    """An item of one of the two runs, as its suite shows it; `place` is None where the model was not asked."""

    title: str
    run: str
    place: RunItem | None
    parses: Json
    step: Any = None
    suite: Any = None


def sides_on_page(joined: Joined, measure: Measure, answers: MetricGroup, place: Place) -> list[Side]:
    """Return the structure that the model built of a story, in all parts that are to be right, and its answer to a
    question about it."""
    pair = joined.pair
    parts = zip(pair.structures, measure.parts, strict=True)
    structures = [
        _side(part.group.title if measure.beside else "Structure", entrant, part.group, place.story)
        for entrant, part in parts
    ]
    return [*structures, _side("Answer", pair.answers, answers, place.question)]


def _side(title: str, entrant: Any, group: MetricGroup, number: int) -> Side:
    items = RunItem.objects.filter(
        entrant=entrant.entrant, sample__number=number, step__in=[group.scored, group.prompt]
    )
    items = items.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call", "item")
    ordered = sorted(items, key=lambda item: (item.step != group.scored, item.repetition))
    answered = [item for item in ordered if item.call_id] or ordered
    if not answered:
        return Side(title, entrant.run, None, {})
    item = answered[0]
    suite = suite_named(item.entrant.run.suite)
    return Side(title, entrant.run, item, parses_on_page(item), suite.step(item.step), suite)


def place_of(association: Association, model: str, question: int) -> tuple[Joined, Apart] | None:
    """Return the observation of a model about a question; None where it has none."""
    for joined in association.joined:
        if joined.pair.model == model:
            for seen, place in zip(joined.observations, joined.places, strict=True):
                if place.question == question:
                    return joined, Apart(seen, place)
    return None


def questions_text(datasets: Sequence[int], numbers: Sequence[int]) -> dict[int, str]:
    """Return what is asked in each sample, where its content says it under `question`."""
    rows = DatasetSample.objects.filter(dataset__in=datasets, number__in=numbers)
    return {number: text for number, text in rows.values_list("number", "content__question") if isinstance(text, str)}
