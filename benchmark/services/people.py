"""The material of a person's figures of a run: the labels of the frozen version, story by story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmark.models import DatasetSample, Run, StoryScores
from benchmark.services.human_results import gold_without_person, labels_by
from benchmark.services.leaderboards import people_of
from benchmark.services.reports import report_of
from benchmark.suites.registry import suite_named
from benchmark.suites.story_scores import columns_of


@dataclass(frozen=True, slots=True)
class Person:
    """`key` is what an address calls the person, `shown` stands for the name, `name` is that of the scores."""

    key: str
    shown: str
    name: str
    role: str

    @property
    def username(self) -> str:
        return self.name.removesuffix(" (expert)") if self.role == "expert" else self.name


def person_of(run: Run, key: str) -> Person | None:
    """Return the person of a run by the last part of an entrant's key; None for one without figures."""
    group = suite_named(run.suite).people
    people = [person for person in report_of(run).entrants if person.id is None]
    pseudonyms = people_of(people)
    person = {f"p{at}": person for at, person in enumerate(people, 1)}.get(key)
    if person is None or not person.groups[group]:
        return None
    return Person(key, pseudonyms[person.name], person.name, person.role)


def stories_of(run: Run, person: Person) -> list[dict[str, Any]]:
    """Return {number, category, values: {share: value}} of each story with a label of the person, as the repaired
    parse counts it."""
    scores = StoryScores.objects.get(run=run, entrant=None, person=person.name)
    columns = columns_of(scores.metrics[suite_named(run.suite).people], "repaired")
    rows = zip(columns.stories, columns.categories, strict=True)
    return [
        {
            "number": number,
            "category": category,
            "values": {name: values[at] for name, values in columns.values.items()},
        }
        for at, (number, category) in enumerate(rows)
    ]


def cells_of(run: Run, person: Person, story: DatasetSample) -> list[dict[str, Any]]:
    """Return {actor, belief, cells: [{gold, said, settled}]} of each proposition, none of a story without a label of
    the person. `gold` is without what the person had to do with it where the others settle the cell, else (`settled` is
    empty) the label that stands; `said` is empty in a cell without one."""
    labels = labels_by(story, person.role).get(person.username, [])
    if not labels:
        return []
    keys = run.dataset.schema.keys
    without = gold_without_person(story, person.username, run.dataset)
    return [
        {
            "actor": belief["actor"],
            "belief": belief["belief"],
            "cells": [
                {"gold": gold or belief["labels"][key], "said": label, "settled": by.value}
                for key, label, (gold, by) in zip(keys, said, settled, strict=True)
            ],
        }
        for belief, said, settled in zip(story.beliefs, labels, without, strict=True)
    ]
