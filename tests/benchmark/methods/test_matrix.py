"""Every suite by every method that it takes, from one launch over HTTP to the report, with models that answer by rule.

The server knows an answer to the very prompts alone that the suite makes of the answers before: a prompt in other
words, or one that does not rest on what this model said earlier, gets an answer that nobody can read, and shows.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.asking import question_of
from benchmark.services.documents import document_of
from benchmark.services.launches import start_runs
from benchmark.services.plans import Plan, methods_of, plans_by_method
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, INACCESSIBLE
from benchmark.suites.questions import Question, Sample
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.rule_server import answering
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.opentom import small
from tests.benchmark.suites.percept_fantom import own as percept_fantom_copy
from tests.benchmark.suites.percept_tomi import own as percept_tomi_copy
from tests.benchmark.suites.tombench import conftest as tombench_copy
from workers.providers.contract import Request

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
ORACLE, OMNISCIENT, RANDOM = "oracle", "omniscient", "random"
UNREADABLE = "?"


@dataclass(frozen=True)
class Small:
    """A small copy of a suite: `write` makes it the released one, `truth` is the answer of who believes that everybody
    knows everything, None where it is the right one. `limit` is how many samples are asked about."""

    write: Callable[[pytest.MonkeyPatch, Path], Path]
    truth: Callable[[Question], str | None]
    limit: int
    options: dict = field(default_factory=dict)


def _opentom(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    return small.released(patch, folder / "OpenToM")


def _percept_tomi(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    return percept_tomi_copy.released(patch, percept_tomi_copy.write(folder))


def _percept_fantom(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    return percept_fantom_copy.released(patch, percept_fantom_copy.write(folder))


def _tombench(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    ability = {"能力\nABILITY": "Belief: Identity false beliefs"}
    second = tombench_copy.record(**ability, STORY="Bo hides it.", 故事="他藏")
    for name, record in (("First Task", tombench_copy.record()), ("Second Task", second)):
        (folder / f"{name}.jsonl").write_bytes(json.dumps(record).encode() + b"\n")
    (folder / "LICENSE").write_text("Use it well.")
    return tombench_copy.released(patch, folder)


def _place_of_the_thing(question: Question) -> str | None:
    """Where the thing is, which the story says last, whatever somebody thinks who has left."""
    last = question.sample.content["containers"][1]
    return f"In the {last}." if last != question.sample.gold["answer"] else None


def _other_belief(question: Question) -> str | None:
    """The wrong text of a belief that somebody cannot have."""
    content, gold = question.sample.content, question.sample.gold
    if content["scenario"] != INACCESSIBLE or content["kind"] not in (CHOICE, DISTANCE):
        return None
    return gold["wrong"][0] if content["kind"] == DISTANCE else f"({'ba'[gold['key']]})"


def _other_letter(question: Question) -> str | None:
    """Another letter than the right one, of the items of one task."""
    if question.sample.category != "Second Task":
        return None
    right = suite_named("tombench").expected(question)
    return next(letter for letter in ("[[A]]", "[[B]]") if letter != right)


def _true_of_the_world(question: Question) -> str | None:
    key = question.sample.key
    return small.TRUTHS[key] if small.TRUTHS[key] != suite_named("opentom").expected(question) else None


COPIES = {
    "opentom": Small(_opentom, _true_of_the_world, 8),
    "fantom": Small(_percept_fantom, _other_belief, 6),
    "percept-tomi": Small(_percept_tomi, _place_of_the_thing, 4),
    "percept-fantom": Small(_percept_fantom, _other_belief, 6, {"precursors": False}),
    "tombench": Small(_tombench, _other_letter, 4),
}


def _said(model: str, question: Question, request: Request, answering_step: str) -> str:
    """Return what a model answers: to earlier steps whatever a perfect one would, to the question itself by its
    rule."""
    suite = suite_named(question.resources.dataset.suite)
    if question.step != answering_step or model == ORACLE:
        return suite.expected(question)
    if model == RANDOM:
        draws = next(one for one in suite.asking.baselines if one.name == RANDOM and one.task == request.task["kind"])
        return draws.answer({"task": request.task, "seed": 1, "sample": 0})
    return COPIES[suite.name].truth(question) or suite.expected(question)


def _answers(run: Run) -> dict[tuple[str, ...], str]:
    """What each model answers to every prompt of a run, by model and the texts of the prompt."""
    suite, known = suite_named(run.suite), {}
    for sample in {item.sample for item in RunItem.objects.filter(entrant__run=run).select_related("sample")}:
        for model in (ORACLE, OMNISCIENT, RANDOM):
            earlier: dict[str, str] = {}
            for step in run.steps:
                needed = {name: earlier[name] for name in suite.needed(step, run.steps)}
                question = question_of(run, sample, step, needed)
                request = suite.request(question)
                earlier[step] = _said(model, question, request, run.steps[-1])
                known[model, *(message.content for message in request.messages)] = earlier[step]
    return known


def _overlooked(run: Run, truth: Callable[[Question], str | None]) -> set[str]:
    samples: set[Sample] = {item.sample for item in RunItem.objects.filter(entrant__run=run).select_related("sample")}
    return {sample.key for sample in samples if truth(question_of(run, sample, run.steps[-1])) is not None}


@pytest.mark.parametrize("name", COPIES)
def test_a_suite_by_all_its_methods_over_http(name, cast, tmp_path, monkeypatch):
    copy, suite = COPIES[name], suite_named(name)
    dataset = import_benchmark(
        by=None, project=cast.project, suite=suite, folder=copy.write(monkeypatch, tmp_path), options={}
    )[0]
    # The first question of a session is another sample's, whose rule `known` has not; opentom/test_runs.py asks it.
    methods = [method for method in methods_of(suite) if method != "joint"]
    known: dict[tuple[str, ...], str] = {}

    def answer(body: dict) -> str:
        return known.get((body["model"], *(message["content"] for message in body["messages"])), UNREADABLE)

    with answering(answer) as address:
        models = [
            make_endpoint(model, provider="vllm", model=model, base_url=address)
            for model in (ORACLE, OMNISCIENT, RANDOM)
        ]
        plan = Plan(
            dataset, models, ["answer"], name, limit=copy.limit, max_tokens=50, repetitions=1, options=copy.options
        )
        plans = plans_by_method(plan, methods)
        runs = start_runs(by=cast.alice, plans=plans, now=timezone.now())
        for run in runs:
            known |= _answers(run)
        runs = [work_off(run) for run in runs]
    for run in runs:
        _each_is_right_where_its_rule_is(run, copy)
    _methods_stand_beside_each_other(runs[0], methods)


def _each_is_right_where_its_rule_is(run: Run, copy: Small) -> None:
    answered = RunItem.objects.filter(entrant__run=run, step=run.steps[-1])
    assert run.job.state == "finished" and not answered.filter(call=None).exists()
    wrong = {
        model: set(
            answered.filter(entrant__name=model).exclude(repaired_score=1.0).values_list("sample__key", flat=True)
        )
        for model in (ORACLE, OMNISCIENT, RANDOM)
    }
    overlooked = _overlooked(run, copy.truth)
    assert wrong[ORACLE] == set(), run.title
    assert wrong[OMNISCIENT] == overlooked and 0 < len(overlooked) < copy.limit, run.title
    assert not answered.filter(entrant__name=RANDOM, repaired_score=None).exists() and wrong[RANDOM], run.title


def _methods_stand_beside_each_other(run: Run, methods: list[str]) -> None:
    for group, by_parse in document_of(run).by_method.rows.items():
        rows = {(row.model, row.way): row for row in by_parse["repaired"]}
        assert list(rows)[: len(methods)] == [(next(iter(rows))[0], method) for method in methods], group
        for method in methods[1:]:
            assert rows[ORACLE, method].value in (0, None) and rows[OMNISCIENT, method].value in (0, None)
            assert rows[ORACLE, method].missing == [0, 0] and not rows[ORACLE, method].why, (group, method)
