"""Structures and answers of the same stories: what of two runs is about the same text, model by model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models.fields.json import KeyTransform

from benchmark.domain.association import Observation, lowest
from benchmark.models import DatasetSample, Run, StoryScores
from benchmark.services.structure_sides import Measure
from benchmark.suites.figures import cases_by_story, categories_of
from benchmark.suites.groups import MetricGroup
from benchmark.suites.questions import Columns, Parse
from benchmark.suites.registry import suite_named
from benchmark.suites.results import RunEntrant
from core.messages import Sentence, gettext_noop, word

Texts = Mapping[int, str]
"""The text of the story of each sample of a dataset, by number."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One model's structures, an entrant of a run for each part of the measure, and its answers, another."""

    model: str
    structures: tuple[RunEntrant, ...]
    answers: RunEntrant

    @property
    def entrants(self) -> tuple[RunEntrant, ...]:
        return (*self.structures, self.answers)


@dataclass(frozen=True, slots=True)
class Place:
    """Place that an observation comes from: the numbers of the story's sample and of the question's."""

    story: int
    question: int


@dataclass(slots=True)
class Links:
    """The questions of one run about stories of another, in their order; `without_story` counts questions about a story
    that the other has not, `without_question` stories that no question is about."""

    places: list[Place] = field(default_factory=list)
    without_story: int = 0
    without_question: int = 0


@dataclass(slots=True)
class Joined:
    """The observations of one model, each with its place, and the links that they come from. `undefined` counts
    questions one of whose figures is not defined; `why` says why there are none at all."""

    pair: Pair
    observations: list[Observation] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    links: Links = field(default_factory=Links)
    undefined: int = 0
    why: str = ""


class Joining:
    """Joins the pairs of models in one parse; texts, and the scores of a group that is needed, are read once for all of
    them."""

    def __init__(self, entrants: Sequence[RunEntrant], parse: Parse) -> None:
        runs = Run.objects.filter(uid__in={entrant.run for entrant in entrants})
        self.runs = {uid: (dataset, suite) for uid, dataset, suite in runs.values_list("uid", "dataset_id", "suite")}
        self.texts = {key: _texts(*key) for key in set(self.runs.values())}
        self.parse = parse
        self._scores = StoryScores.objects.filter(pk__in={entrant.scores for entrant in entrants})
        self._columns: dict[str, dict[int, Columns | None]] = {}
        self._links: dict[tuple[Any, ...], Links] = {}

    @property
    def datasets(self) -> list[int]:
        """The ids of the datasets of all runs."""
        return sorted({dataset for dataset, _ in self.runs.values()})

    def joined(self, pair: Pair, measure: Measure, answers: MetricGroup) -> Joined:
        """Return the observations of a pair in one measure of structure, and in the score of answers."""
        columns = {}
        groups = [part.group for part in measure.parts]
        for side, group in zip(pair.entrants, (*groups, answers), strict=True):
            columns[group.key] = self._columns_of(group.key)[side.scores]
            if not columns[group.key]:
                return Joined(
                    pair, why=Sentence("no {parse} figures of {noun}", parse=word(self.parse), noun=word(group.noun))
                )
        if len({self.runs[side.run] for side in pair.structures}) > 1:
            return Joined(pair, why=gettext_noop("its structures are of different versions of the gold"))
        structures, questions = columns[groups[0].key], columns[answers.key]
        built = [cases_by_story(columns[part.group.key], part.share) for part in measure.parts]
        answered = cases_by_story(questions, answers.score)
        categories = categories_of(structures)
        joined = Joined(pair, links=self._linked(pair, structures, questions))
        for place in joined.links.places:
            structure = lowest([cases.get(place.story) for cases in built])
            answer = answered[place.question]
            if structure is None or answer is None:
                joined.undefined += 1
                continue
            category = categories[place.story]
            joined.observations.append(Observation(pair.model, place.story, category, structure, answer))
            joined.places.append(place)
        return joined

    def _columns_of(self, group: str) -> dict[int, Columns | None]:
        """Return the columns of a metric group in the parse, by the id of the scores."""
        if group not in self._columns:
            of_parse = KeyTransform(self.parse, KeyTransform(group, "metrics"))
            kept = self._scores.annotate(kept=of_parse).values_list("pk", "kept")
            self._columns[group] = {pk: Columns.of_json(columns) if columns else None for pk, columns in kept}
        return self._columns[group]

    def _linked(self, pair: Pair, structures: Columns, questions: Columns) -> Links:
        asked = [self.runs[side.run] for side in (pair.structures[0], pair.answers)]
        # alike for all models of the same runs
        key = *asked, *(tuple(column) for side in (structures, questions) for column in (side.stories, side.categories))
        if key not in self._links:
            texts = [self.texts[run] for run in asked]
            self._links[key] = _links(texts, categories_of(structures), categories_of(questions))
        return self._links[key]


def _links(texts: Sequence[Texts], stories: Mapping[int, str], questions: Mapping[int, str]) -> Links:
    """Link each question to the story of its very text; of several with one text to that of its category, else to the
    first."""
    by_text: dict[str, list[int]] = {}
    for number in stories:
        if text := texts[0].get(number):
            by_text.setdefault(text, []).append(number)
    links = Links()
    for question, category in questions.items():
        numbers = by_text.get(texts[1].get(question, ""))
        if not numbers:
            links.without_story += 1
            continue
        story = next((number for number in numbers if stories[number] == category), numbers[0])
        links.places.append(Place(story, question))
    links.without_question = len(stories.keys() - {place.story for place in links.places})
    return links


def _texts(dataset: int, suite: str) -> Texts:
    rows = DatasetSample.objects.filter(dataset=dataset).values_list("number", f"content__{suite_named(suite).story}")
    return {number: text for number, text in rows if isinstance(text, str)}
