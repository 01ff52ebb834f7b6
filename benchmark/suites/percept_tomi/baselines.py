"""Answers that need no model: at random, by what is right most often, and by rules that follow who is where."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmark.suites.percept_tomi.tracker import UnknownSentence, believed_place, track, with_perceivers
from workers.providers.baseline.provider import Baseline, generator, seeded
from workers.providers.contract import Body

TELL, PERCEIVE = "answer Percept ToMi", "tell perceivers"
"""The kinds of tasks. TELL: {"key", "sentences", "thing", "people", "containers", "usual" (the number, from 0, of the container that is right most
often)}, with "perceivers" where they are given. PERCEIVE: {"sentences", "names", "usual" (whether a person perceives more than half of
the sentences)}."""


def array_of(sentences: Sequence[str], perceivers: Sequence[Sequence[str]]) -> str:
    """Return a JSON array with an object of each sentence and its perceivers; empty names are nobody."""
    scenes = zip(sentences, perceivers, strict=True)
    return json.dumps([{sentence: [name for name in names if name]} for sentence, names in scenes], ensure_ascii=False)


def _random_place(body: Body) -> str:
    return str(generator(body, body["task"]["key"]).choice(body["task"]["containers"]))


def _random_perceivers(body: Body) -> str:
    """Each person perceives each sentence, or does not, as a coin falls."""
    task = body["task"]
    coin = generator(body, task["sentences"])
    drawn = [[name for name in task["names"] if coin.random() < 0.5] for _ in task["sentences"]]
    return array_of(task["sentences"], drawn)


def _usual_place(body: Body) -> str:
    return str(body["task"]["containers"][body["task"]["usual"]])


def _usual_perceivers(body: Body) -> str:
    task = body["task"]
    return array_of(task["sentences"], [task["names"] if task["usual"] else []] * len(task["sentences"]))


def _tracked_place(body: Body) -> str:
    """Where the last scene that these people perceived put the thing; by the perceivers of the task where it has them."""
    task = body["task"]
    try:
        scenes = track(task["sentences"])
    except UnknownSentence as error:
        return str(error)
    if "perceivers" in task:
        scenes = with_perceivers(scenes, task["perceivers"])
    return believed_place(scenes, task["thing"], *task["people"]) or "nowhere"


def _tracked_perceivers(body: Body) -> str:
    sentences = body["task"]["sentences"]
    try:
        return array_of(sentences, [scene.perceivers for scene in track(sentences)])
    except UnknownSentence as error:
        return str(error)


_TOLD = {
    "key": "x", "sentences": ["Ada entered the hall", "The pen is in the box", "The box is in the hall", "Ada moved the pen to the bag"],
    "thing": "pen", "people": ["Ada"], "containers": ["box", "bag"], "usual": 0,
}  # fmt: skip
_SCENES = {"sentences": _TOLD["sentences"], "names": ["Ada"], "usual": True}
BASELINES = (
    Baseline(name="random", task=TELL, answer=_random_place, sample=_TOLD, settings=seeded),
    Baseline(name="random", task=PERCEIVE, answer=_random_perceivers, sample=_SCENES, settings=seeded),
    Baseline(name="majority", task=TELL, answer=_usual_place, sample=_TOLD),
    Baseline(name="majority", task=PERCEIVE, answer=_usual_perceivers, sample=_SCENES),
    Baseline(name="tracker", task=TELL, answer=_tracked_place, sample=_TOLD),
    Baseline(name="tracker", task=PERCEIVE, answer=_tracked_perceivers, sample=_SCENES),
)
