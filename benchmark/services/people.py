"""The material of a person's figures of a run: the labels of the published version, story by story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.models import DatasetSample, Run, StoryScores
from benchmark.services.human_results import gold_without_person, labels_by
from benchmark.services.leaderboards import people_of
from benchmark.services.reports import report_of
from benchmark.suites.figures import KeptScores
from benchmark.suites.registry import suite_named


@dataclass(frozen=True, slots=True)
class Person:
    """`key` is what an address calls the person, `pseudonym` stands for the name, `name` is that of the scores."""

    key: str
    pseudonym: str
    name: str
    role: str

    @property
    def username(self) -> str:
        return self.name.removesuffix(" (expert)") if self.role == "expert" else self.name


def person_of(run: Run, key: str) -> Person | None:
    """Return the person of a run by the last part of an entrant's key; None for one without figures."""
    group = suite_named(run.suite).gold.people
    people = [person for person in report_of(run).entrants if person.id is None]
    pseudonyms = people_of(people)
    person = {f"p{at}": person for at, person in enumerate(people, 1)}.get(key)
    if person is None or not person.groups[group]:
        return None
    return Person(key, pseudonyms[person.name], person.name, person.role)


@dataclass(frozen=True, slots=True)
class LabelledStory:
    """A story with a label of a person, and the value of each share as the repaired parse counts it."""

    number: int
    category: str
    values: Mapping[str, float | None]


def stories_of(run: Run, person: Person) -> list[LabelledStory]:
    scores = StoryScores.objects.current().get(run=run, entrant=None, person=person.name)
    columns = KeptScores(scores.metrics).columns(suite_named(run.suite).gold.people, "repaired")
    rows = zip(columns.stories, columns.categories, strict=True)
    return [
        LabelledStory(number, category, {name: values[at] for name, values in columns.values.items()})
        for at, (number, category) in enumerate(rows)
    ]


@dataclass(frozen=True, slots=True)
class LabelledCell:
    """The `label` that a person gave a cell, empty for none. `gold` is without what the person had to do with it where
    the others settle the cell, else (`settled` is empty) the label that stands."""

    gold: str
    label: str
    settled: str


@dataclass(frozen=True, slots=True)
class LabelledProposition:
    actor: str
    belief: str
    cells: Sequence[LabelledCell]


def cells_of(run: Run, person: Person, story: DatasetSample) -> list[LabelledProposition]:
    """Return the propositions of a story, none of one without a label of the person."""
    labels = labels_by(story, person.role).get(person.username, [])
    if not labels:
        return []
    keys = run.dataset.schema.keys
    without = gold_without_person(story, person.username, run.dataset)
    return [
        LabelledProposition(
            belief["actor"],
            belief["belief"],
            [
                LabelledCell(gold or belief["labels"][key], label, by.value)
                for key, label, (gold, by) in zip(keys, row_labels, settled, strict=True)
            ],
        )
        for belief, row_labels, settled in zip(story.beliefs, labels, without, strict=True)
    ]
