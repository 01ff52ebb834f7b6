"""The calls of the suites on perceivers: who perceives what, the question with the true perceivers in place of the
story, and the question itself by a method."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.methods.answering import prompt
from benchmark.methods.contract import PEOPLE, PERCEIVERS, Method, Put
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEPTOM, asked_perceptions
from benchmark.methods.perceptom import PERCEIVE as PERCEIVED
from benchmark.methods.program import digest_of, methods_for, program_of, request_by, steps_with
from benchmark.suites.groups import LEFT_OUT, MetricGroup
from benchmark.suites.measuring import statement_digest
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL, SHARES, WHOLE
from benchmark.suites.questions import Parsed, Question, Resources, Sample, Step
from benchmark.suites.settings import Setting
from core.messages import gettext_noop, word
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body, Request, Task

PERCEIVE = "tell perceivers"
"""The kind of task: {"sentences", "names", "usual" (whether a person perceives more than half of the sentences)}."""


def array_of(sentences: Sequence[str], perceivers: Sequence[Sequence[str]]) -> str:
    """Return a JSON array with an object of each sentence and its perceivers; empty names are nobody."""
    scenes = zip(sentences, perceivers, strict=True)
    return json.dumps([{sentence: [name for name in names if name]} for sentence, names in scenes], ensure_ascii=False)


def mostly_perceived(stories: Iterable[Sequence[Sequence[str]]]) -> bool:
    """Return whether a person of a story perceives more than half of its sentences; a story has the perceivers of
    each."""
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


Unit = tuple[Set[str], Set[str]]
"""The true perceivers of a sentence or an utterance, and who is left out, whatever is answered."""


def people_of(sample: Sample) -> set[str]:
    """Return the people of a text by the data: whoever perceives some sentence of it."""
    return {name for names in sample.gold["perceivers"] for name in names if name}


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a suite by the `units` of its samples. Whether a person perceives more than half of them is derived
    from all samples by `mostly`, under `name`."""

    name: str
    mostly: Callable[[Sequence[Sample]], bool]
    units: Callable[[Sample], Sequence[Unit]]

    def everybody(self, resources: Resources) -> bool:
        """Return whether a person perceives more than half of the units."""
        return resources.derived(self.name, self.mostly)

    def chance(self, sample: Sample) -> float | None:
        """Return the recall to be expected where each person perceives each unit, or does not, as a coin falls; None
        without a unit."""
        people, units = people_of(sample), self.units(sample)
        return fmean(0.5 ** len(people - aside) for _, aside in units) if units else None

    def majority(self, sample: Sample, resources: Resources) -> float | None:
        """Return the recall where everybody perceives every unit, or nobody does any, whichever is commoner; None
        without a unit."""
        named, units = people_of(sample) if self.everybody(resources) else set(), self.units(sample)
        return fmean(named - aside == perceivers - aside for perceivers, aside in units) if units else None


PERCEPTIONS, BELIEF, ANSWER = "perceptions", "belief", "answer"
METHODS = methods_for(PEOPLE, PERCEIVERS)
PRECURSORS = Setting(
    "precursors",
    gettext_noop("Perceptions and beliefs"),
    True,
    help=gettext_noop("Besides the questions, ask who perceives what, and for beliefs from the true perceptions."),
)
BY_PERCEPTION = (PERCEPTOM.name, ORACLE_PERCEPTION.name)
"""The methods that ask about what people perceive alone."""
UNREADABLE = gettext_noop("holds no array of {kind}s and perceivers")
_GIVEN = "These are the {kind}s of a {story} in their order, each with the people who perceive it:"
_by_method = program_of(METHODS, ANSWER)


def program(options: Options) -> tuple[str, ...]:
    """Return the steps of a run: those of its method and the answer, after the two precursors where they are asked."""
    before = (PERCEPTIONS, BELIEF) if options.get(PRECURSORS.name, PRECURSORS.default) else ()
    return (*before, *_by_method(options))


def steps_telling(task: str) -> tuple[Step, ...]:
    """Return the steps of a suite on perceivers, to whose questions baselines answer by `task`."""
    return (
        Step(
            PERCEPTIONS,
            gettext_noop("Perception inference"),
            task=PERCEIVE,
            answers=(gettext_noop("perceptions"), gettext_noop("perceptions")),
            score=gettext_noop("recall"),
        ),
        Step(BELIEF, gettext_noop("Perception-to-belief inference"), task=task),
        *steps_with(METHODS, Step(ANSWER, gettext_noop("Answering"), task=task)),
    )


def given_perceptions(put: Put, story: str = "story") -> str:
    """Return the prompt of the question with the true perceivers of every sentence in place of the story, which is
    called `story`."""
    perceivers = [scene.perceivers or () for scene in put.scenes]
    perceptions = array_of([scene.text for scene in put.scenes], perceivers)
    return prompt(put, f"{_GIVEN.format(kind=put.kind, story=story)}\n\n{perceptions}")


def prompt_digests(steps: Sequence[Step], put: Put, by_methods: Sequence[str], story: str = "story") -> dict[str, str]:
    """Return digests of the wording of each step: of the precursors from what they make of a question, of the others
    from `by_methods`."""
    precursors = digest_of(asked_perceptions(put), given_perceptions(put, story))
    return {step.key: precursors if step.key in (PERCEPTIONS, BELIEF) else digest_of(*by_methods) for step in steps}


def request_of_step(
    question: Question,
    put: Put,
    sentences: Sequence[str],
    levels: Levels,
    method: Method,
    task: Task,
    *,
    story: str = "story",
    given: Mapping[str, Any] | None = None,
    unasked: str = "",
) -> Request | str:
    """Return the request of one step: one call about perceivers or from the true ones, whatever the method of the run,
    else what the method asks. `task` is that of the question, with what is `given` beside it where perceivers are;
    `story` is what the text is called, `unasked` the answer to what cannot be asked.

    All questions about a text share the task about its perceivers: so nothing in that is of one alone."""
    if question.step not in (PERCEPTIONS, PERCEIVED, BELIEF):
        by_method = task if question.step == ANSWER else {"kind": question.step}
        return request_by(method, question, put, by_method, unasked=unasked)
    text, asked = given_perceptions(put, story), {**task, **(given or {})}
    if question.step != BELIEF:
        names, usual = sorted(people_of(question.sample)), levels.everybody(question.resources)
        text, asked = asked_perceptions(put), {"kind": PERCEIVE, "sentences": sentences, "names": names, "usual": usual}
    return Request(
        messages=put.messages(text),
        max_tokens=question.settings.max_tokens,
        temperature=0.0,
        seed=question.settings.seed,
        task=asked,
    )


def parsed_perceptions(
    official: Mapping[str, float | None] | None,
    repaired: Mapping[str, float | None] | None,
    scenes: Sequence[Any] | None,
    kind: str,
) -> Parsed:
    """Return what was read of perceivers: the shares of both parses, None where there is nothing to read, and the
    scenes; `kind` is what one is called."""
    return Parsed(
        official=official,
        repaired=dict(repaired or {}) | {"scenes": scenes},
        score=official[RECALL] if official else None,
        repaired_score=repaired[RECALL] if repaired else None,
        unreadable="" if repaired else UNREADABLE.format(kind=word(kind)),
        empty=scenes == [],
    )


def perceptions_stated(scenes: Sequence[tuple[int | None, Sequence[str] | None]], people: Sequence[str]) -> str:
    """Return what an answer says of who perceives what, in whatever order it does: of each sentence the people by their
    place among those that there are, which is the same under other names."""
    places = {name.casefold(): at for at, name in enumerate(people)}

    def numbered(names: Sequence[str] | None) -> list[str] | None:
        if names is None:
            return None
        return sorted({str(places.get(name.casefold(), name.casefold())) for name in names})

    read = [[-1 if at is None else at, numbered(names)] for at, names in scenes]
    return statement_digest(sorted(read, key=str))


def perceiving_group(key: str, *, whole: str, levels: Levels, of_types: bool = False, **own: Any) -> MetricGroup:
    """Return the group by recall with its levels; `whole` heads the share of texts without a mistake, with `of_types`
    there is the mean over categories, and `own` are other fields of the group."""
    mean = {f"{RECALL}_category_mean": gettext_noop("Mean of types")} if of_types else {}
    return MetricGroup(
        key=key,
        title=gettext_noop("Perception inference"),
        noun=gettext_noop("perception inference"),
        shares=SHARES,
        headers={RECALL: "Recall", ACCURACY: "Accuracy", WHOLE: whole} | mean,
        category_mean=RECALL if of_types else "",
        score=RECALL,
        score_title=gettext_noop("Perception recall"),
        prompt=PERCEPTIONS,
        rests_on=(PERCEPTIONS,),
        scored=PERCEPTIONS,
        unreadable_as=LEFT_OUT,
        chance=levels.chance,
        majority=levels.majority,
        **own,
    )
