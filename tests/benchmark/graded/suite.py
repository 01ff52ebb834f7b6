"""A suite whose judge says yes or no of one free answer, as many benchmarks of questions have it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.domain.schema import WORLD
from benchmark.domain.estimating import StoryScore
from benchmark.suites.contract import Asking, Copied, Suite
from benchmark.suites.copies import Imported
from benchmark.suites.groups import MetricGroup
from benchmark.suites.judges import Judge, JudgeTest, Pairs, Settings
from benchmark.suites.measuring import measured_samples
from benchmark.suites.questions import Entered, Outcome, Parsed, Question, Sample, Step
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.settings import Setting
from judge.domain.contrast import Row
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body, Message, Request

ANSWERS = (
    "The key is in the drawer", "The cake is in the oven", "The ball is under the bed", "The letter is on the table",
    "The cat is in the garden", "The ring is in the box",
)  # fmt: skip
STEPS = (Step("tell", "Telling"), Step("grade", "Grading", judged=True, needs=("tell",)))
_TITLES = {"title": "Answers", "noun": "telling", "headers": {"right": "Right"}, "score_title": "Right answers"}
_STEPS = {"prompt": "tell", "rests_on": ("tell", "grade"), "scored": "grade", "judged": True}
GROUP = MetricGroup(key="graded", shares=("right",), score="right", **_TITLES, **_STEPS)


def load(folder: Path) -> Imported:
    samples = []
    for at, text in enumerate(ANSWERS, start=1):
        split, asked = "shown" if at == 6 else "asked", {"question": f"Where is it ({at})?"}
        samples.append(Sample(f"q{at}", f"c{at}", asked, {"answer": text}, number=at, split=split))
    return Imported("Places", samples)


def _asked(kind: str, **task: str) -> Request:
    return Request(messages=(Message("user", str(task)),), max_tokens=20, task={"kind": kind, **task})


def request(question: Question) -> Request | str:
    if question.step == "tell":
        return _asked("tell", text=question.sample.content["question"])
    return _grade(question, question.answers["tell"], question.sample.gold["answer"])


def _grade(question: Question, said: str, gold: str) -> Request:
    return _asked("grade", said=said, gold=gold, tone=question.settings.options["tone"])


def _verdict(answer: str) -> int | None:
    return {"yes": 1, "no": 0}.get(answer.strip().lower())


def parse(question: Question, answer: str) -> Parsed:
    if question.step == "tell":
        return Parsed(None, {"text": answer}, None, None)
    right = _verdict(answer)
    score = None if right is None else float(right)
    return Parsed(None, {"right": right}, None, score, "" if right is not None else "no verdict")


def expected(question: Question) -> str:
    return question.sample.gold["answer"] if question.step == "tell" else "yes"


def _score(sample: Sample, outcomes: list[Outcome]) -> StoryScore:
    graded = [one for one in outcomes if one.step == "grade" and one.repaired]
    value = float(bool(graded) and all(one.repaired["right"] for one in graded if one.repaired))
    return StoryScore(sample.category, *([{"right": value}] * 3), official={"right": value})


def measure(entered: Entered) -> Mapping[str, GroupMetrics | None]:
    return {"graded": measured_samples(entered, GROUP, _score)}


def _rows(sample: Sample) -> list[Row]:
    return [(WORLD, sample.gold["answer"])]


def _about(question: Question, pairs: Pairs) -> Request:
    (pair,) = pairs
    return _grade(question, pair.belief, question.sample.gold["answer"])


def _counts(question: Question, pairs: Pairs, answer: str) -> list[int | None]:
    return [_verdict(answer)]


def _instrument(settings: Settings) -> dict[str, Any]:
    return {"tone": settings.options["tone"]}


def _strict(body: Body) -> str:
    """Grades right what is worded as gold is, and says nothing of a text that denies."""
    said, gold = body["task"]["said"], body["task"]["gold"]
    return "hm" if " not " in said else "yes" if said.rstrip(".") == gold else "no"


_TEST = JudgeTest(
    rows=_rows, request=_about, counts=_counts, most_calls=4, least_pairs=1, spared="shown", settings=("options",)
)
_BASELINE = Baseline(name="strict", task="grade", answer=_strict, sample={"said": "a", "gold": "a", "tone": "mild"})
SUITE = Suite(
    name="graded",
    title="Graded places",
    steps=STEPS,
    groups=(GROUP,),
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    copied=Copied(load=load),
    noun=("place", "places"),
    settings=(Setting("tone", "Tone", "mild", choices=(("mild", "mild"), ("stern", "stern"))),),
    judge=Judge(instrument=_instrument, test=_TEST),
    asking=Asking(baselines=(_BASELINE,)),
)
