"""Perceivers that need no model: by the throw of a coin, and everybody or nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

PERCEIVE = "tell perceivers"
"""The kind of task: {"sentences", "names", "usual" (whether a person perceives more than half of the sentences)}."""
Annotated = Iterable[Sequence[Sequence[str]]]
"""The perceivers of each sentence, by story."""


def array_of(sentences: Sequence[str], perceivers: Sequence[Sequence[str]]) -> str:
    """Return a JSON array with an object of each sentence and its perceivers; empty names are nobody."""
    scenes = zip(sentences, perceivers, strict=True)
    return json.dumps([{sentence: [name for name in names if name]} for sentence, names in scenes], ensure_ascii=False)


def mostly_perceived(stories: Annotated) -> bool:
    """Return whether a person of a story perceives more than half of its sentences."""
    perceived = pairs = 0
    for story in stories:
        perceivers = [{*names} - {""} for names in story]
        people = {name for names in perceivers for name in names}
        perceived += sum(map(len, perceivers))
        pairs += len(people) * len(perceivers)
    return 2 * perceived > pairs


def _random_perceivers(body: Body) -> str:
    """Each person perceives each sentence, or does not, as a coin falls."""
    task = body["task"]
    coin = generator(body, task["sentences"])
    drawn = [[name for name in task["names"] if coin.random() < 0.5] for _ in task["sentences"]]
    return array_of(task["sentences"], drawn)


def _usual_perceivers(body: Body) -> str:
    task = body["task"]
    return array_of(task["sentences"], [task["names"] if task["usual"] else []] * len(task["sentences"]))


SCENES = {
    "sentences": [
        "Ada entered the hall",
        "The pen is in the box",
        "The box is in the hall",
        "Ada moved the pen to the bag",
    ],
    "names": ["Ada"],
    "usual": True,
}
"""A task to try such a baseline with."""
BASELINES = (
    Baseline(name="random", task=PERCEIVE, answer=_random_perceivers, sample=SCENES, settings=seeded),
    Baseline(name="majority", task=PERCEIVE, answer=_usual_perceivers, sample=SCENES),
)
