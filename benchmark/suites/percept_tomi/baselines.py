"""Answers that need no model: at random, by what is right most often, and by rules that follow who is where."""

from benchmark.suites.perceiving.asking import BASELINES as PERCEIVING
from benchmark.suites.perceiving.asking import PERCEIVE, SCENES, array_of
from benchmark.suites.percept_tomi.data import believed_place, track, with_perceivers
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

TELL = "answer Percept ToMi"
"""The kind of task: {"key", "sentences", "thing", "people", "containers", "usual" (the number, from 0, of the container
that is right most often)}, with "perceivers" where they are given."""


def _random_place(body: Body) -> str:
    return str(generator(body, body["task"]["key"]).choice(body["task"]["containers"]))


def _usual_place(body: Body) -> str:
    return str(body["task"]["containers"][body["task"]["usual"]])


def _tracked_place(body: Body) -> str:
    """Return where the last scene that these people perceived put the thing, by the perceivers of the task where it has
    them."""
    task = body["task"]
    scenes = track(task["sentences"])
    if "perceivers" in task:
        scenes = with_perceivers(scenes, task["perceivers"])
    return believed_place(scenes, task["thing"], *task["people"]) or "nowhere"


def _tracked_perceivers(body: Body) -> str:
    sentences = body["task"]["sentences"]
    return array_of(sentences, [scene.perceivers for scene in track(sentences)])


_SAMPLE = {
    "key": "x", "sentences": SCENES["sentences"],
    "thing": "pen", "people": ["Ada"], "containers": ["box", "bag"], "usual": 0,
}  # fmt: skip
BASELINES = (
    *PERCEIVING,
    Baseline(name="random", task=TELL, answer=_random_place, sample=_SAMPLE, settings=seeded),
    Baseline(name="majority", task=TELL, answer=_usual_place, sample=_SAMPLE),
    Baseline(name="tracker", task=TELL, answer=_tracked_place, sample=_SAMPLE),
    Baseline(name="tracker", task=PERCEIVE, answer=_tracked_perceivers, sample=SCENES),
)
