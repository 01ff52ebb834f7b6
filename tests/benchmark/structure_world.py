"""The results world with questions about its stories: two to each story, answered by the same models, for tests of
structure against answers."""

from benchmark.models import Dataset, Run
from benchmark.services.imports import Copy, keep_copy
from benchmark.services.reports import report_of
from benchmark.suites.copies import Imported
from benchmark.suites.questions import Sample
from benchmark.suites.registry import suite_named
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.copies import copied

ELSEWHERE = "A story that has no belief table."


def structure_world(folder) -> ResultsWorld:
    """The world with `questions`, a dataset, and `answers`, a finished run of it; one question is about a story without
    a belief table."""
    return copied("structure", lambda: _made(folder))


def _made(folder) -> ResultsWorld:
    world = results_world(folder)
    world.questions = questions_of(world.dataset)
    world.answers = asked(world, "majority", "random", HOSTILE)
    return world


def questions_of(dataset: Dataset) -> Dataset:
    """Two questions about each story of the dataset, with its very text, and one about another story."""
    stories = [(sample.text, sample.category) for sample in dataset.samples.order_by("position")]
    texts = [story for story in stories for _ in range(2)] + [(ELSEWHERE, "Hinting Task Test")]
    samples = [_sample(at, *story) for at, story in enumerate(texts, 1)]
    copy = Copy(
        suite_named("tombench"), Imported("Questions", samples), {}, [str(at) for at in range(len(samples))], "q" * 64
    )
    return keep_copy(by=None, project=dataset.project, copy=copy)[0]


def _sample(at: int, story: str, category: str) -> Sample:
    content = {
        "story": story, "question": f"What does the first person think? ({at})",
        "options": ["A. It is here", "B. It is there"],
        "ability": "Belief", "language": "English",
    }  # fmt: skip
    letter = "AB"[at % 2]
    gold = {"answer": letter, "cell": letter, "ability": "Belief"}
    return Sample(f"task:{at}:en", f"task:{at}", content, gold, category=category, split="en", number=at)


def asked(world: ResultsWorld, *names: str) -> Run:
    endpoints = [world.models[name] for name in names]
    run = worked_off(
        started(dataset=world.questions, endpoints=endpoints, steps=("answer",), suite="tombench", repetitions=1)
    )
    report_of(run)
    return run
