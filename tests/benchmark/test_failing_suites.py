"""What a suite did not foresee ends in one sentence that names it, the step and the sample; everything else goes on,
and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Dataset, Run, RunItem
from benchmark.services.evaluating import read_again
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.reports import forget_report, report_of
from benchmark.suites import registry
from benchmark.suites.guards import SuiteFailed, guarded
from benchmark.suites.questions import BadQuestion, Question, Sample
from benchmark.suites.reports import Analysis, Repetitions, Spread
from benchmark.suites.settings import Settings
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import SUMS, imported
from workers.models import Call, ItemState
from workers.services.jobs import retry_failed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failing_suite]
ODD = SUMS.index((2, 7)) + 1
"""The number of the sum that functions here trip over."""


@pytest.fixture
def dataset(tiny, alice, cast) -> Dataset:
    imported(alice, cast)
    return Dataset.objects.get()


@pytest.fixture
def breaking(tiny, monkeypatch):
    """Registers the sums with one function that raises where it is handed the odd one: `breaking("parse")`."""

    def make(name: str, trips: Callable[..., bool] | None = None) -> None:
        own = getattr(SUITE.items if name == "item" else SUITE, name) or (lambda view: {"parts": []})

        def broken(*args: Any) -> Any:
            if (trips or _is_odd)(*args):
                raise KeyError("unforeseen")
            return own(*args)

        own_pages = {"items": replace(SUITE.items, item=broken)} if name == "item" else {name: broken}
        monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, **own_pages)))

    return make


def _is_odd(of: Any, *more: Any) -> bool:
    return getattr(of, "question", of).sample.number == ODD


def mended(monkeypatch) -> None:
    monkeypatch.setitem(registry._suites, "tiny", guarded(SUITE))


def launched(cast, dataset: Dataset) -> Run:
    models = [make_endpoint(name, provider="baseline", model=name) for name in ("adder", "counter")]
    plan = Plan(dataset, models, ["repeat", "sum"], suite="tiny", options={"politeness": "now"}, max_tokens=20)
    return work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))


def shown(alice, run: Run, name: str, *more: Any, **query: Any) -> str:
    page = alice.get(reverse(f"benchmark:{name}", args=[run.project.slug, run.uid, *more]), query)
    assert page.status_code == 200, (name, page.status_code)
    return unescape(written(page))


def at(run: Run, step: str, model: str = "adder", number: int = ODD) -> RunItem:
    return RunItem.objects.select_related("item__call").get(
        entrant__run=run, entrant__name=model, step=step, sample__number=number
    )


LOG = "; the log of the program says where"


def test_a_question_that_cannot_be_made_fails_alone(breaking, dataset, alice, cast, caplog):
    breaking("request")
    run = launched(cast, dataset)
    odd = at(run, "repeat")
    told = f"Tiny sums could not make the question of Repeating, sum {ODD} (KeyError: 'unforeseen'){LOG}."
    assert (odd.item.state, odd.item.problem) == (ItemState.FAILED, told) and "KeyError: 'unforeseen'" in caplog.text
    others = RunItem.objects.filter(entrant__run=run).exclude(sample__number=ODD)
    assert set(others.values_list("item__state", flat=True)) == {ItemState.DONE} and others.count() == 2 * 2 * 11
    assert told in shown(alice, run, "run_item", odd.pk)


def test_a_worker_that_does_not_know_the_suite_says_so_and_does_no_harm(tiny, monkeypatch, dataset, cast, alice):
    adder = make_endpoint("adder", provider="baseline", model="adder")
    plan = Plan(dataset, [adder], ["repeat", "sum"], suite="tiny", options={"politeness": "now"}, max_tokens=20)
    run = start_run(by=cast.alice, plan=plan, now=timezone.now())
    known = registry._suites.pop("tiny")  # as in a process from before the suite was added
    try:
        work_off(run)
    finally:
        registry._suites["tiny"] = known
    told = "There is no suite 'tiny' in this process; where it was added since, start server and workers anew."
    assert set(RunItem.objects.filter(entrant__run=run).values_list("item__problem", flat=True)) == {told}
    assert told in shown(alice, run, "run_item", at(run, "repeat").pk)
    assert retry_failed(job=run.job, now=timezone.now())
    work_off(run)
    assert set(RunItem.objects.filter(entrant__run=run).values_list("item__state", flat=True)) == {ItemState.DONE}


def test_what_was_chosen_and_cannot_be_asked_is_told_as_the_suite_says_it(tiny, monkeypatch, dataset, cast):
    def request(question):
        raise BadQuestion("The tone is wrong.")

    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, request=request)))
    run = launched(cast, dataset)
    assert {one.item.problem for one in RunItem.objects.select_related("item")} == {"The tone is wrong."}
    assert run.job.state == "finished"

    def request(question):
        raise ValueError("first\nsecond\0" + "x" * 5000)

    question = Question(Sample("sum-0", "c", {}, {}), "sum", Settings(), None)
    with pytest.raises(SuiteFailed) as caught:
        guarded(replace(SUITE, request=request)).request(question)
    sentence = str(caught.value)  # short, and of one line
    assert len(sentence) < 400 and "\n" not in sentence and "\0" not in sentence and "first second" in sentence


def test_an_answer_that_cannot_be_read_is_kept_and_taken_in_later(breaking, monkeypatch, dataset, alice, cast):
    breaking("parse", lambda question, answer: _is_odd(question) and question.step == "sum")
    run = launched(cast, dataset)
    odd = at(run, "sum")
    told = f"Tiny sums could not read the answer to Adding, sum {ODD} (KeyError: 'unforeseen'){LOG}."
    assert (odd.item.state, odd.item.problem, odd.call) == (ItemState.FAILED, f"{told} The answer is kept.", None)
    assert odd.item.call.answer == "9"
    page = shown(alice, run, "run_item", odd.pk)
    assert told in page and ">9</pre>" in page
    metrics = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert (metrics.stories, metrics.value_of("right")) == (11, 1.0)
    mended(monkeypatch)
    calls = Call.objects.count()
    retry_failed(job=run.job, now=timezone.now())
    work_off(run)
    assert at(run, "sum").repaired == {"said": 9} and Call.objects.count() == calls
    # nor does reading again change what it cannot read
    RunItem.objects.filter(entrant__run=run, step="sum").update(repaired={"said": 0})
    breaking("parse")
    told = rf"^22 parses changed, and 4 answers stay as before: Tiny sums could not read .* Repeating, sum {ODD} \("
    with pytest.raises(RunRefused, match=told):
        read_again(by=None, run=run, now=timezone.now())
    assert at(run, "sum").repaired == {"said": 0} and at(run, "sum", number=1).repaired == {"said": 3}
    with pytest.raises(CommandError, match="0 parses changed, and 4 answers stay"):
        call_command("runs", "reread", run.uid, stdout=StringIO())


@pytest.mark.once
def test_an_item_that_cannot_be_shown_keeps_its_page(breaking, dataset, alice, cast):
    run = launched(cast, dataset)
    breaking("item")
    page = shown(alice, run, "run_item", at(run, "sum").pk)
    assert f"Tiny sums could not show Adding, sum {ODD} (KeyError: 'unforeseen')" in page
    assert "Raw answer" in page and ">9</pre>" in page and "= ?" in page
    assert "could not show" not in shown(alice, run, "run_item", at(run, "sum", number=1).pk)


@pytest.mark.once
def test_a_model_that_cannot_be_scored_stands_beside_the_others_with_the_reason(
    breaking, monkeypatch, dataset, alice, cast
):
    breaking("measure", lambda entered: entered.name == "counter")
    run = launched(cast, dataset)
    told = f"Tiny sums could not score what counter said (KeyError){LOG}"
    board = reverse("benchmark:leaderboard", args=[cast.project.slug])
    for name in ("run_results", "run_report"):
        page = shown(alice, run, name)
        assert told in page and "adder" in page, name
    out = StringIO()
    call_command("leaderboard", project=cast.project.slug, json=True, stdout=out)
    assert [row["model"] for row in json.loads(out.getvalue())["groups"]["tiny"]] == ["adder"]
    assert told in unescape(alice.get(board).content.decode())
    breaking("measure", lambda entered: True)
    forget_report(run)
    for name in ("run_results", "run_report"):
        assert "Tiny sums could not score what adder said (KeyError)" in shown(alice, run, name), name
    assert told in unescape(alice.get(board).content.decode())
    mended(monkeypatch)
    forget_report(run)
    assert [one.groups["tiny"] is None for one in report_of(run).entrants] == [False, False]


@pytest.mark.once
def test_a_figure_that_is_no_number_is_said_of_its_model_and_the_others_keep_theirs(
    tiny, monkeypatch, dataset, alice, cast
):
    def measure(entered):
        own = SUITE.measure(entered)
        figures = own["tiny"].metrics
        if entered.name != "counter":
            return own
        analysis = Analysis(repetitions=Repetitions(Spread(repetitions=2, mean=float("nan"))))
        return {"tiny": replace(own["tiny"], metrics=replace(figures, analyses={"repaired": analysis}))}

    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, measure=measure)))
    run = launched(cast, dataset)
    for name in ("run_results", "run_report"):
        page = shown(alice, run, name)
        assert "Tiny sums has a figure of counter that is not a number, so none is kept." in page and "adder" in page
    assert [one.groups["tiny"] is None for one in report_of(run).entrants] == [False, True]


@pytest.mark.once
def test_an_estimate_says_what_the_suite_could_not_do(breaking, dataset, alice, cast):
    make_endpoint("adder", provider="baseline", model="adder")
    sent = {
        "dataset": dataset.version, "endpoints": ["adder"], "steps": ["repeat", "sum"], "politeness": "now",
        "repetitions": 1, "max_tokens": 20, "seed": 3,
    }  # fmt: skip
    for name, told in (("request", "make the question of Repeating"), ("expected", "say what answers Repeating")):
        breaking(name)
        page = alice.get(reverse("benchmark:estimate", args=[cast.project.slug]), sent)
        assert page.status_code == 200
        assert f"Tiny sums could not {told}, sum {ODD} (KeyError" in unescape(page.content.decode())
        breaking(name, lambda question: True)
        page = alice.get(reverse("benchmark:prompt_preview", args=[cast.project.slug]), sent | {"shown": "sum"})
        assert page.status_code == 200 and "Tiny sums could not" in unescape(page.content.decode())
