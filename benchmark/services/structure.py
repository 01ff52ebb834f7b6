"""Structure against answers: what the models of a project come to, as chosen, kept until a score changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.core.cache import cache

from benchmark.domain.association import (
    Beyond,
    Crossing,
    Observation,
    beyond_category,
    correlation,
    crossed,
    median_structure,
    of_whole_stories,
)
from benchmark.domain.tables import Absent
from benchmark.domain.tables.categories import in_order
from benchmark.services.at_once import AT_ONCE
from benchmark.services.leaderboards import KEPT_SECONDS, SEED
from benchmark.services.structure_joins import Joined, Joining, Pair
from benchmark.services.structure_sides import Measure, Sides
from benchmark.suites.groups import MetricGroup
from benchmark.suites.questions import Parse
from benchmark.suites.results import RunEntrant
from benchmark.suites.showing.entrants import short_names_of
from core.digests import json_digest
from core.made_by import made_by
from core.messages import Sentence, gettext_noop
from core.statistics import Estimate, method

QUESTIONS, STORIES = "questions", "stories"
"""The units that are counted: each question, or each story, whose answer is right where all of its questions are
answered right."""
ALL = gettext_noop("All models")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """The two sides of a comparison. `cut` is the score from which a structure is right, None for the median; `models`
    those that are compared; `structure_run` and `answers_run` are ids of runs, empty for the newest of each model."""

    measure: Measure
    answers: MetricGroup
    models: tuple[str, ...]
    parse: Parse = "repaired"
    cut: float | None = None
    counted: str = QUESTIONS
    structure_run: str = ""
    answers_run: str = ""


@dataclass(frozen=True, slots=True)
class Related:
    """A correlation of structure and answers: of one model or of all, over one category or all, in one measure."""

    model: str
    part: str
    estimate: Estimate
    section: str = ""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The table of all models and of each, the mixed model, and correlations by category and by measure, those of all
    models first."""

    tables: Mapping[str, Crossing]
    beyond: Beyond
    categories: Sequence[Related]
    measures: Sequence[Related]


@dataclass(slots=True)
class Association:
    """The results of a choice. `joined` has who has observations, `absent` who has none, with the reason; `datasets`
    are those of the runs, by id."""

    choice: Choice
    cut: float
    joined: list[Joined]
    absent: list[Absent]
    metrics: Metrics | None
    method: str
    datasets: list[int]

    @property
    def stories(self) -> frozenset[int]:
        """The numbers of the stories behind the figures."""
        return frozenset(place.story for joined in self.joined for place in joined.places)


def is_at_hand(sides: Sides, choice: Choice) -> bool:
    """Return whether nobody waits for what the choice comes to: it is kept, or it is of few answers."""
    pairs = _pairs(sides, choice, choice.measure)[0]
    listed = _listed(pairs, _other_pairs(sides, choice))
    if sum(len(pair.answers.numbers) for pair in pairs) <= AT_ONCE or _key("nothing", listed, choice, None) in cache:
        return True
    return all(_key(what, listed, choice, cut) in cache for what, cut in (("tables", choice.cut), ("relations", None)))


def _other_pairs(sides: Sides, choice: Choice) -> dict[str, list[Pair]]:
    """Return the pairs in every measure, by its key."""
    return {measure.key: _pairs(sides, choice, measure)[0] for measure in sides.measures}


def _listed(pairs: Sequence[Pair], others: Mapping[str, Sequence[Pair]]) -> list[Pair]:
    return [pair for measure_pairs in (pairs, *others.values()) for pair in measure_pairs]


def association_of(sides: Sides, choice: Choice) -> Association:
    """Return what the choice comes to; without `figures` where no model has structures and answers of a common
    story."""
    pairs, absent = _pairs(sides, choice, choice.measure)
    other_pairs = _other_pairs(sides, choice)
    listed = _listed(pairs, other_pairs)
    joining = Joining([side for pair in listed for side in pair.entrants], choice.parse)
    joined = [joining.joined(pair, choice.measure, choice.answers) for pair in pairs]
    absent += [
        Absent(joined_pair.pair.model, joined_pair.why or gettext_noop("no story in common"))
        for joined_pair in joined
        if not joined_pair.observations
    ]
    joined = [joined_pair for joined_pair in joined if joined_pair.observations]
    observations = [seen for joined_pair in joined for seen in joined_pair.observations]
    cut = choice.cut
    if cut is None:
        cut = _kept("median", lambda: median_structure(observations), listed, choice, None) if observations else None
    cut = 0.5 if cut is None else cut

    metrics = None
    if observations:
        counted = counted_of(observations, choice)
        tables = _kept("tables", lambda: _tables(counted, choice, cut), listed, choice, choice.cut)
        beyond, categories, measures = _kept(
            "relations", lambda: _relations(counted, choice, sides, joining, other_pairs), listed, choice, None
        )  # whatever the cut is, which is moved often
        metrics = Metrics(tables, beyond, categories, measures)
    else:
        _kept("nothing", lambda: True, listed, choice, None)  # or every look would wait for it anew
    return Association(choice, cut, joined, absent, metrics, method(seed=SEED, unit="stories"), joining.datasets)


def _pairs(sides: Sides, choice: Choice, measure: Measure) -> tuple[list[Pair], list[Absent]]:
    """Return the pair of each chosen model in a measure, and the models that lack one of the two."""
    pairs, absent = [], []
    for model in choice.models:
        structures = {part.group.noun: _structure(sides, choice, part, model) for part in measure.parts}
        answers = sides.entrant(choice.answers.key, model, choice.answers_run)
        there = tuple(entrant for entrant in structures.values() if entrant)
        if len(there) == len(structures) and answers:
            pairs.append(Pair(model, there, answers))
        else:
            lacks = next((noun for noun, entrant in structures.items() if not entrant), choice.answers.noun)
            absent.append(Absent(model, Sentence("no {lacks} in the chosen run", lacks=lacks)))
    return pairs, absent


def _structure(sides: Sides, choice: Choice, part: Measure, model: str) -> RunEntrant | None:
    chosen = {part.group.key for part in choice.measure.parts}
    return sides.entrant(part.group.key, model, choice.structure_run if part.group.key in chosen else "")


def _kept(what: str, compute: Callable[[], T], pairs: Sequence[Pair], choice: Choice, cut: float | None) -> T:
    """Return what `compute` makes, computed once for the same scores, choice and cut."""
    key = _key(what, pairs, choice, cut)
    cached: T | None = cache.get(key)
    if cached is None:
        cached = compute()
        cache.set(key, cached, KEPT_SECONDS)
    return cached


def _key(what: str, pairs: Sequence[Pair], choice: Choice, cut: float | None) -> str:
    compared = [
        made_by(),
        sorted({(pair.model, *(side.scores for side in pair.entrants)) for pair in pairs}),
        [choice.measure.key, choice.answers.key, choice.parse, cut, choice.counted, choice.models],
    ]
    return f"structure-{what}:" + json_digest(compared)


def counted_of(observations: Sequence[Observation], choice: Choice) -> list[Observation]:
    """Return what is counted: the questions, or whole stories."""
    return of_whole_stories(observations) if choice.counted == STORIES else list(observations)


def _tables(counted: Sequence[Observation], choice: Choice, cut: float) -> dict[str, Crossing]:
    return {model: crossed(_of(model, counted), cut, seed=SEED) for model in _models(choice, counted)}


def _relations(
    counted: Sequence[Observation],
    choice: Choice,
    sides: Sides,
    joining: Joining,
    pairs: Mapping[str, Sequence[Pair]],
) -> tuple[Beyond, list[Related], list[Related]]:
    """Return what needs no cut: the mixed model, and the correlations by category and by measure."""
    measures = []
    for measure in sides.measures:
        joined = [joining.joined(pair, measure, choice.answers) for pair in pairs[measure.key]]
        seen = counted_of([observation for of_model in joined for observation in of_model.observations], choice)
        measures += [
            Related(model, measure.label, _correlation(_of(model, seen)), measure.title)
            for model in _models(choice, seen)
        ]
    return beyond_category(counted, seed=SEED), _by_category(counted, choice), measures


def _models(choice: Choice, observations: Sequence[Observation]) -> list[str]:
    """All models together, where there are several, then each."""
    present = {seen.model for seen in observations}
    models = [model for model in choice.models if model in present]
    return [ALL, *models] if len(models) > 1 else models


def _of(model: str, observations: Sequence[Observation]) -> list[Observation]:
    return [seen for seen in observations if model in (ALL, seen.model)]


def _by_category(observations: Sequence[Observation], choice: Choice) -> list[Related]:
    names = in_order({seen.category for seen in observations}, short_names_of(choice.measure.group.key))
    return [
        Related(model, name, _correlation([seen for seen in _of(model, observations) if seen.category == name]))
        for name in names
        for model in _models(choice, [seen for seen in observations if seen.category == name])
    ]


def _correlation(observations: Sequence[Observation]) -> Estimate:
    return correlation(
        [seen.structure.answered for seen in observations],
        [seen.answer.answered for seen in observations],
        [seen.story for seen in observations],
        [seen.model for seen in observations],
        seed=SEED,
    )
