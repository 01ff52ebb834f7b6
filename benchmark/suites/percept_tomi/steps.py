"""The calls of Percept-ToMi: who perceives what, where people think things are by the true perceptions, and the
question itself by a method."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchmark.methods.contract import Put, Scene
from benchmark.methods.perceptom import PERCEIVE as PERCEIVED
from benchmark.methods.program import method_named, parsed_by
from benchmark.suites.perceiving.asking import (
    ANSWER,
    BELIEF,
    METHODS,
    PERCEIVE,
    PERCEPTIONS,
    SCENES,
    Levels,
    Unit,
    array_of,
    mostly_perceived,
    parsed_perceptions,
    request_of_step,
    steps_telling,
)
from benchmark.suites.perceiving.asking import BASELINES as PERCEIVING
from benchmark.suites.percept_tomi.data import believed_place, track
from benchmark.suites.percept_tomi.parsing import (
    NO_OUTPUT,
    is_scored,
    named_place,
    official_right,
    official_shares,
    repaired_scenes,
    repaired_shares,
)
from benchmark.suites.questions import Parsed, Question, Sample
from benchmark.suites.settings import Setting
from core.messages import gettext_noop
from core.plain import Json
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body, Request

TELL = "answer Percept ToMi"
"""The kind of task: {"key", "sentences", "thing", "people", "containers", "usual" (the number, from 0, of the container
that is right most often)}, with "perceivers" where they are given."""


def _tracked_place(body: Body) -> str:
    """Return where the last scene that these people perceived put the thing, by the perceivers of the task where it has
    them."""
    task = body["task"]
    scenes = track(task["sentences"])
    if "perceivers" in task:
        scenes = [
            replace(scene, perceivers=tuple(names)) for scene, names in zip(scenes, task["perceivers"], strict=True)
        ]
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
    Baseline(
        name="random",
        task=TELL,
        answer=lambda body: str(generator(body, body["task"]["key"]).choice(body["task"]["containers"])),
        sample=_SAMPLE,
        settings=seeded,
    ),
    Baseline(
        name="majority",
        task=TELL,
        answer=lambda body: str(body["task"]["containers"][body["task"]["usual"]]),
        sample=_SAMPLE,
    ),
    Baseline(name="tracker", task=TELL, answer=_tracked_place, sample=_SAMPLE),
    Baseline(name="tracker", task=PERCEIVE, answer=_tracked_perceivers, sample=SCENES),
)


STEPS = steps_telling(TELL)
USUAL = "percept-tomi usual"
"""The name under which `usual_container` is derived."""
PROSE, LIST = "prose", "list"
STORY = Setting(
    "story",
    gettext_noop("Story"),
    PROSE,
    help=gettext_noop(
        "The released code writes the story as a list of its sentences in quotation marks, the paper as prose."
    ),
    choices=((PROSE, "as prose"), (LIST, "as a list of sentences, as the released code does")),
)
HOW = (
    "Assume that people perceive everything that happens in the room where they are, and nothing that happens "
    "elsewhere. Say as exactly as the story allows which container it is"
)


def put_of(sample: Sample, form: str = PROSE) -> Put:
    """Return the question as methods put it, its story as prose or as a list."""
    content = sample.content
    scenes = zip(content["sentences"], sample.gold["perceivers"], strict=True)
    return Put(
        story=str(content["sentences"]) if form == LIST else prose(content["sentences"]),
        question=content["question"],
        how=f"{HOW}, in one sentence without an explanation.",
        how_after=f"{HOW}.",
        people=tuple(content["people"]),
        scenes=tuple(Scene(f"{sentence}.", tuple(name for name in names if name)) for sentence, names in scenes),
    )


def prose(sentences: Sequence[str]) -> str:
    """Return sentences as a text."""
    return " ".join(f"{sentence}." for sentence in sentences)


def request(question: Question) -> Request | str:
    """Return the request of one step."""
    sample, content = question.sample, question.sample.content
    task: Json = {
        "kind": TELL,
        "key": sample.key,
        **{name: content[name] for name in ("sentences", "thing", "people", "containers")},
        "usual": question.resources.derived(USUAL, usual_container),
    }
    put, method = put_of(sample, question.settings.options[STORY.name]), method_named(METHODS, question.settings)
    given = {"perceivers": sample.gold["perceivers"]}
    return request_of_step(question, put, content["sentences"], LEVELS, method, task, given=given, unasked=NO_OUTPUT)


def _units(sample: Sample) -> list[Unit]:
    scenes = zip(sample.content["sentences"], sample.gold["perceivers"], strict=True)
    return [({*names} - {""}, set()) for sentence, names in scenes if is_scored(sentence)]


LEVELS = Levels(
    "percept-tomi perceived", lambda samples: mostly_perceived(sample.gold["perceivers"] for sample in samples), _units
)


def usual_container(samples: Sequence[Sample]) -> int:
    """Return which container of a story is right most often, its number from 0; of equally frequent ones the first."""
    counts: Counter[int] = Counter(sample.content["containers"].index(sample.gold["answer"]) for sample in samples)
    return min(counts, key=lambda at: (-counts[at], at))


def parse(question: Question, answer: str) -> Parsed:
    """Return what the released code and a careful reader read in an answer; of an earlier step of a method the text as
    it is."""
    sample = question.sample
    if question.step == PERCEPTIONS:
        annotated = (answer, sample.content["sentences"], sample.gold["perceivers"])
        scenes = repaired_scenes(*annotated[:2])
        return parsed_perceptions(official_shares(*annotated), repaired_shares(*annotated), scenes, "sentence")
    if question.step == BELIEF:
        return _parsed_place(sample, answer.strip())
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = method_named(METHODS, question.settings)
    parsed = _parsed_place(sample, method.read(answer.strip()))
    return parsed_by(method, partial(put_of, sample), question.answers, parsed)


def _parsed_place(sample: Sample, text: str) -> Parsed:
    gold = sample.gold["answer"]
    right = official_right(text, gold)
    containers, candidates = sample.content["containers"], sample.gold["candidates"]
    place, why = named_place(text, containers, candidates)
    return Parsed(
        official={"right": right},
        repaired={"place": place},
        score=None if right is None else float(right),
        repaired_score=None if place is None else float(place == gold),
        unreadable=why,
        stray=place is not None and place not in (*containers, *candidates),
    )


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    sample = question.sample
    if question.step in (PERCEPTIONS, PERCEIVED):
        return array_of([f"{sentence}." for sentence in sample.content["sentences"]], sample.gold["perceivers"])
    if question.step in (BELIEF, ANSWER):
        return f"In the {sample.gold['answer']}."
    return prose(sample.content["sentences"])
