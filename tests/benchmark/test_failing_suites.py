"""What a suite did not foresee ends in one sentence that names it, the step and the sample; everything else goes on,
and nothing is lost."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from html import unescape
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
from benchmark.suites import guards, registry
from benchmark.suites.guards import SuiteFailed, guarded
from benchmark.suites.questions import BadQuestion, Question, Sample
from benchmark.suites.reports import Analysis, Repetitions, Spread
from benchmark.suites.results import Choice, Explorer, ShownPicture, ShownTable
from benchmark.suites.settings import Settings
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import SUMS, cast_with_sums
from tests.copies import copied
from workers.models import Call, ItemState
from workers.services.jobs import retry_failed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.failing_suite]
ODD = SUMS.index((2, 7)) + 1
"""The number of the sum that functions here trip over."""
LOG = "; the log of the program says where"


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def run(db, tiny, client) -> Run:
    """A finished run of the sums, made once, whose admin is logged in."""
    cast, run = copied("a run of sums", _finished)
    client.force_login(cast.alice)
    return run


def _finished() -> tuple:
    cast = cast_with_sums()
    return cast, launched(cast)


def launched(cast, *, work: bool = True) -> Run:
    models = [make_endpoint(name, provider="baseline", model=name) for name in ("adder", "counter")]
    settings = {"options": {"politeness": "now"}, "max_tokens": 20}
    plan = Plan(Dataset.objects.get(), models, ["repeat", "sum"], suite="tiny", **settings)
    run = start_run(by=cast.alice, plan=plan, now=timezone.now())
    return work_off(run) if work else run


@pytest.fixture
def breaks(tiny, monkeypatch):
    """Registers the sums with other functions, of a part or of the suite itself; without any, with its own again."""

    def register(part: str = "", **functions: Any) -> None:
        own = {part: replace(getattr(SUITE, part), **functions)} if part else functions
        monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, **own)))

    return register


def _raises(*args: Any, **kwargs: Any) -> Any:
    raise KeyError("unforeseen")


def _is_odd(of: Any, *more: Any) -> bool:
    return getattr(of, "question", of).sample.number == ODD


def tripping(own: Callable, trips: Callable = _is_odd) -> Callable:
    return lambda *args: _raises() if trips(*args) else own(*args)


def shown(client, run: Run, name: str, *more: Any, status: int = 200) -> str:
    response = client.get(reverse(f"benchmark:{name}", args=[run.project.slug, run.uid, *more]))
    assert response.status_code == status, (name, response.status_code)
    return unescape(written(response))


def at(run: Run, step: str, model: str = "adder", number: int = ODD) -> RunItem:
    places = RunItem.objects.select_related("item__call")
    return places.get(entrant__run=run, entrant__name=model, step=step, sample__number=number)


# --- the contract: every function of it is guarded


def _broken(value: Any) -> Any:
    """A suite, or a part of one, with functions that raise in the place of its own."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _broken(getattr(value, one.name)) for one in fields(value) if one.init})
    if isinstance(value, dict):
        return {key: _broken(one) for key, one in value.items()}
    return tuple(map(_broken, value)) if isinstance(value, tuple) else _raises if callable(value) else value


def _functions(value: Any, path: str = "") -> Iterator[tuple[str, Callable]]:
    """Every function of a suite that is guarded, with the path to it."""
    if is_dataclass(value) and not isinstance(value, type):
        for name in (one.name for one in fields(value) if path + one.name not in guards._UNGUARDED):
            yield from _functions(getattr(value, name), f"{path}{name}.")
    elif isinstance(value, dict | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _functions(one, path)
    elif callable(value):
        yield path.removesuffix("."), value


def test_an_unforeseen_error_in_any_function_is_one_short_sentence(tiny):
    made_by_functions, paths = {"results.tables.make", "results.pictures.plot"}, set()
    for suite in registry.suites().values():
        question = Question(Sample("k", "c", {}, {}, number=7), suite.steps[0].key, Settings(), None)
        told = rf"^{suite.title} could not .+; the log of the program says where\.$"
        for path, call in _functions(guarded(_broken(suite))):
            paths.add(path)
            with pytest.raises(SuiteFailed, match=told):
                list(call(question))  # files are made one by one
    assert guards._ACTIONS.keys() - made_by_functions <= paths

    def request(question):
        raise ValueError("first\nsecond\0" + "x" * 5000)

    question = Question(Sample("sum-0", "c", {}, {}), "sum", Settings(), None)
    with pytest.raises(SuiteFailed) as caught:
        guarded(replace(SUITE, request=request)).request(question)
    sentence = str(caught.value)
    assert len(sentence) < 400 and "\n" not in sentence and "\0" not in sentence and "first second" in sentence


# --- asking and reading


def test_a_question_that_cannot_be_made_fails_alone(breaks, alice, cast, caplog):
    breaks(request=tripping(SUITE.request))
    run = launched(cast)
    odd = at(run, "repeat")
    told = f"Tiny sums could not make the question of Repeating, sum {ODD} (KeyError: 'unforeseen'){LOG}."
    assert (odd.item.state, odd.item.problem) == (ItemState.FAILED, told) and "KeyError: 'unforeseen'" in caplog.text
    others = RunItem.objects.filter(entrant__run=run).exclude(sample__number=ODD)
    assert set(others.values_list("item__state", flat=True)) == {ItemState.DONE} and others.count() == 2 * 2 * 11
    assert told in shown(alice, run, "run_item", odd.pk)


def test_a_worker_that_does_not_know_the_suite_says_so_and_does_no_harm(breaks, cast, alice):
    run = launched(cast, work=False)
    known = registry._suites.pop("tiny")  # as in a process from before the suite was added
    try:
        work_off(run)
    finally:
        registry._suites["tiny"] = known
    places = RunItem.objects.filter(entrant__run=run)
    told = "There is no suite 'tiny' in this process; where it was added since, start server and workers anew."
    assert set(places.values_list("item__problem", flat=True)) == {told}
    assert told in shown(alice, run, "run_item", at(run, "repeat").pk)

    def request(question):
        raise BadQuestion("The tone is wrong.")

    for own, state, problem in (({"request": request}, "failed", "The tone is wrong."), ({}, "done", "")):
        breaks(**own)
        assert retry_failed(job=run.job, now=timezone.now())
        assert work_off(run).job.state == "finished"
        assert set(places.values_list("item__state", "item__problem")) == {(state, problem)}, "as the suite says it"


def test_an_answer_that_cannot_be_read_is_kept_and_taken_in_later(breaks, alice, cast):
    breaks(parse=tripping(SUITE.parse, lambda question, answer: _is_odd(question) and question.step == "sum"))
    run = launched(cast)
    odd = at(run, "sum")
    told = f"Tiny sums could not read the answer to Adding, sum {ODD} (KeyError: 'unforeseen'){LOG}."
    assert (odd.item.state, odd.item.problem, odd.call) == (ItemState.FAILED, f"{told} The answer is kept.", None)
    assert odd.item.call.answer == "9"
    page = shown(alice, run, "run_item", odd.pk)
    assert told in page and ">9</pre>" in page
    metrics = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert (metrics.stories, metrics.value_of("right")) == (11, 1.0)
    breaks()
    calls = Call.objects.count()
    retry_failed(job=run.job, now=timezone.now())
    work_off(run)
    assert at(run, "sum").repaired == {"said": 9} and Call.objects.count() == calls
    # nor does reading again change what it cannot read
    RunItem.objects.filter(entrant__run=run, step="sum").update(repaired={"said": 0})
    breaks(parse=tripping(SUITE.parse))
    told = rf"^22 parses changed, and 4 answers stay as before: Tiny sums could not read .* Repeating, sum {ODD} \("
    with pytest.raises(RunRefused, match=told):
        read_again(by=None, run=run, now=timezone.now())
    assert at(run, "sum").repaired == {"said": 0} and at(run, "sum", number=1).repaired == {"said": 3}
    with pytest.raises(CommandError, match="0 parses changed, and 4 answers stay"):
        call_command("runs", "reread", run.uid, stdout=io.StringIO())


# --- measuring and showing


@pytest.mark.once
def test_a_model_that_cannot_be_scored_stands_beside_the_others_with_the_reason(breaks, run, client):
    told = "Tiny sums could not score what counter said (KeyError)" + LOG
    slug = run.project.slug

    def says(sentence: str, *board: str) -> None:
        forget_report(run)
        for name in ("run_results", "run_report"):
            page = shown(client, run, name)
            assert sentence in page and "adder" in page, name
        page = unescape(client.get(reverse("benchmark:leaderboard", args=[slug])).content.decode())
        assert all(part in page for part in board)

    breaks(measure=tripping(SUITE.measure, lambda entered: entered.name == "counter"))
    says(told, told)
    out = io.StringIO()
    call_command("leaderboard", project=slug, json=True, stdout=out)
    assert [row["model"] for row in json.loads(out.getvalue())["groups"]["tiny"]] == ["adder"]
    breaks(measure=_raises)
    says("Tiny sums could not score what adder said (KeyError)", told)

    def measure(entered):
        own = SUITE.measure(entered)
        if entered.name != "counter":
            return own
        analysis = Analysis().with_parts(repetitions=Repetitions(Spread(repetitions=2, mean=float("nan"))))
        return {"tiny": replace(own["tiny"], analyses={"repaired": analysis})}

    breaks(measure=measure)
    says("Tiny sums has a figure of counter that is not a number, so none is kept.")
    assert [one.groups["tiny"] is None for one in report_of(run).entrants] == [False, True]
    breaks()
    forget_report(run)
    assert [one.groups["tiny"] is None for one in report_of(run).entrants] == [False, False]


@pytest.mark.once
def test_a_part_of_a_page_says_that_it_failed_and_the_rest_is_there(breaks, run, client):
    why = f"(KeyError){LOG}."
    part, glance = Choice("part", "Part", [("a", "A")]), {"glance": ShownTable(_raises)}
    matrices = f"Tiny sums could not show its confusion matrices {why}"
    for functions, told in (
        ({"tables": _raises}, f"Tiny sums could not make its tables {why}"),
        ({"tables": lambda results: glance}, f"Tiny sums could not make this table {why}"),
        ({"pictures": _raises}, f"Tiny sums could not make its pictures {why}"),
        ({"explorer": Explorer("matrices", "Matrices", _raises, _raises)}, matrices),
        ({"explorer": Explorer("matrices", "Matrices", lambda results: [part], _raises)}, matrices),
    ):
        breaks("results", **functions)
        for name in ("run_results", "run_report"):
            page = shown(client, run, name)
            assert told in page and "Right sums by category" in page and "adder" in page, (name, told)
    breaks("results", methods=_raises)
    page = shown(client, run, "run_report")
    assert f"Tiny sums could not write its part of the methods section {why}" in page and "sign-flip test" in page
    breaks("items", item=tripping(lambda view: {"parts": []}))
    page = shown(client, run, "run_item", at(run, "sum").pk)
    assert f"Tiny sums could not show Adding, sum {ODD} (KeyError: 'unforeseen')" in page
    assert "Raw answer" in page and ">9</pre>" in page and "= ?" in page
    assert "could not show" not in shown(client, run, "run_item", at(run, "sum", number=1).pk)


@pytest.mark.once
def test_a_file_that_cannot_be_made_is_the_sentence_and_so_is_what_is_refused(breaks, run, client, tmp_path):
    why = f"(KeyError){LOG}."
    tables, pictures = {"glance": ShownTable(_raises)}, {"glance": ShownPicture("Glance", _raises)}
    breaks("results", tables=lambda results: tables, pictures=lambda results: pictures)
    told = f"Tiny sums could not make this table {why}"
    assert told in shown(client, run, "run_table", "glance-repaired", "csv", status=503)
    drawn = f"Tiny sums could not draw this picture {why}"
    assert drawn in shown(client, run, "run_plot", "glance-repaired", "pdf", status=503)
    address = reverse("benchmark:run_plot", args=[run.project.slug, run.uid, "glance-repaired", "svg"])
    inline = client.get(address, {"theme": "light"})
    assert (inline.status_code, inline["Content-Type"]) == (200, "image/svg+xml")
    assert drawn in " ".join(inline.content.decode().replace('</tspan><tspan x="8" dy="20">', " ").split(">"))

    def exchange(exchanged):
        yield "first.txt", b"one"
        raise KeyError("unforeseen")

    breaks("released", exchange=exchange)
    address = reverse("benchmark:official_output", args=[run.project.slug, run.uid, run.entrants.first().pk])
    with zipfile.ZipFile(io.BytesIO(b"".join(client.get(address)))) as archive:
        assert archive.namelist() == ["first.txt", "not-whole.txt"]
        told = archive.read("not-whole.txt").decode()
    assert told == f"Tiny sums could not make the files of its released code {why}\n"
    breaks("gold", unfit=_raises)
    plan = Plan(run.dataset, [run.entrants.first().endpoint], ["repeat", "sum"], suite="tiny", max_tokens=20)
    with pytest.raises(RunRefused, match=r"^Tiny sums could not say whether it can ask about these samples"):
        start_run(by=None, plan=plan, now=timezone.now())
    breaks("released", score=_raises)
    (tmp_path / "answers.json").write_text('{"a": "b"}')
    with pytest.raises(CommandError, match=r"^Tiny sums could not score these answers"):
        call_command("score_outputs", "tiny", data=tmp_path, answers=tmp_path / "answers.json")
    sent = {"dataset": run.dataset.version, "endpoints": ["adder"], "steps": ["repeat", "sum"], "politeness": "now"}
    sent |= {"repetitions": 1, "max_tokens": 20, "seed": 3}
    for name, told in (("request", "make the question of Repeating"), ("expected", "say what answers Repeating")):
        breaks(**{name: tripping(getattr(SUITE, name))})
        page = client.get(reverse("benchmark:estimate", args=[run.project.slug]), sent)
        assert page.status_code == 200
        assert f"Tiny sums could not {told}, sum {ODD} (KeyError" in unescape(page.content.decode())
        breaks(**{name: _raises})
        page = client.get(reverse("benchmark:prompt_preview", args=[run.project.slug]), sent | {"shown": "sum"})
        assert page.status_code == 200 and "Tiny sums could not" in unescape(page.content.decode())
