"""Every function of the contract is guarded, and what stands behind each on a page, in a file or in a command says in
one sentence that it failed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable as CallableType
from dataclasses import fields, is_dataclass, replace
from html import unescape
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Dataset, Run
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan, RunRefused
from benchmark.suites import guards, registry
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed, guarded
from benchmark.suites.questions import Question, Sample
from benchmark.suites.results import Choice, Explorer, ShownPicture, ShownTable
from benchmark.suites.settings import Settings
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import imported

pytestmark = pytest.mark.failing_suite


def _functions(part: Any, path: str = "") -> set[str]:
    """The names of all functions that the contract has of a part, of whichever suite: `tables.make` is one of what it
    makes."""
    found = set()
    for name, hint in get_type_hints(part).items():
        for kind in _kinds(hint):
            if get_origin(kind) is CallableType:
                found.add(path + name)
                made = {found for one in get_args(kind)[1:] for found in _kinds(one)}
                found |= {
                    nested for one in made & {ShownTable, ShownPicture} for nested in _functions(one, f"{path}{name}.")
                }
            elif is_dataclass(kind):
                found |= _functions(kind, f"{path}{name}.")
    return found


def _kinds(hint: Any) -> set[Any]:
    """The kinds that a type is made of, without the functions' own arguments."""
    kind = get_origin(hint) or hint
    if kind is CallableType or is_dataclass(kind):
        return {hint if kind is CallableType else kind}
    return {kind for one in get_args(hint) for kind in _kinds(one)}


def _raises(*args: Any, **kwargs: Any) -> Any:
    raise KeyError("unforeseen")


@pytest.mark.parametrize("name", ["omnitom", "tombench", "tiny"])
def test_an_unforeseen_error_is_one_sentence(tiny, name):
    suite = registry.suite_named(name)
    safe = guarded(_broken(suite))
    question = Question(Sample("k", "c", {}, {}, number=7), suite.steps[0].key, Settings(), None)
    paths = {path for path in _functions(Suite) if not path.startswith(guards._UNGUARDED)}
    assert guards._ACTIONS.keys() <= paths
    for path in paths:
        for call in _found(safe, path.split(".")):
            with pytest.raises(
                SuiteFailed, match=rf"^{suite.title} could not .+; the log of the program says where\.$"
            ):
                list(call(question))  # files are made one by one


def _broken(part: Any, path: str = "") -> Any:
    """The part with functions that raise in the place of its own."""
    values = {one.name: getattr(part, one.name) for one in fields(part)}
    return replace(part, **{name: _broken_value(value, f"{path}{name}.") for name, value in values.items()})


def _broken_value(value: Any, path: str) -> Any:
    if is_dataclass(value) and not path.startswith(guards._UNGUARDED):
        return _broken(value, path)
    if isinstance(value, dict):
        return {key: _broken_value(one, path) for key, one in value.items()}
    return _raises if callable(value) else value


def _found(part: Any, path: list[str]) -> list[Any]:
    """The functions under a path; none where the suite has no such part."""
    if part is None or not hasattr(part, path[0]):
        return []
    value = getattr(part, path[0])
    parts = list(value.values()) if isinstance(value, dict) else [value]
    return (
        [one for one in parts if one] if len(path) == 1 else [found for one in parts for found in _found(one, path[1:])]
    )


def breaks(monkeypatch, part: str, **functions: Any) -> None:
    own = replace(getattr(SUITE, part), **functions)
    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, **{part: own})))


@pytest.fixture
def run(tiny, alice, cast) -> Run:
    imported(alice, cast)
    models = [make_endpoint(name, provider="baseline", model=name) for name in ("adder", "counter")]
    plan = Plan(Dataset.objects.get(), models, ["repeat", "sum"], suite="tiny", max_tokens=20)
    return work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))


def page(alice, run: Run, name: str, *more: Any, status: int = 200) -> str:
    response = alice.get(reverse(f"benchmark:{name}", args=[run.project.slug, run.uid, *more]))
    assert response.status_code == status, (name, response.status_code)
    return unescape(written(response))


LOG = "(KeyError); the log of the program says where."


PART = Choice("part", "Part", [("a", "A")])


MATRICES = f"Tiny sums could not show its confusion matrices {LOG}"


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_part_of_a_page_says_that_it_failed_and_the_rest_is_there(run, monkeypatch, alice):
    for functions, told in (
        ({"tables": _raises}, f"Tiny sums could not make its tables {LOG}"),
        ({"tables": lambda results: {"glance": ShownTable(_raises)}}, f"Tiny sums could not make this table {LOG}"),
        ({"pictures": _raises}, f"Tiny sums could not make its pictures {LOG}"),
        ({"explorer": Explorer("matrices", "Matrices", _raises, _raises)}, MATRICES),
        ({"explorer": Explorer("matrices", "Matrices", lambda results: [PART], _raises)}, MATRICES),
    ):
        breaks(monkeypatch, "results", **functions)
        for name in ("run_results", "run_report"):
            shown = page(alice, run, name)
            assert told in shown and "Right sums by category" in shown and "adder" in shown, (name, told)
    breaks(monkeypatch, "results", methods=_raises)
    shown = page(alice, run, "run_report")
    assert f"Tiny sums could not write its part of the methods section {LOG}" in shown and "sign-flip test" in shown


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_what_is_refused_says_so_in_the_same_words(run, monkeypatch, cast, tmp_path):
    breaks(monkeypatch, "gold", unfit=_raises)
    plan = Plan(run.dataset, [run.entrants.first().endpoint], ["repeat", "sum"], suite="tiny", max_tokens=20)
    with pytest.raises(RunRefused, match=r"^Tiny sums could not say whether it can ask about these samples"):
        start_run(by=cast.alice, plan=plan, now=timezone.now())
    breaks(monkeypatch, "released", score=_raises)
    (tmp_path / "answers.json").write_text('{"a": "b"}')
    with pytest.raises(CommandError, match=r"^Tiny sums could not score these answers"):
        call_command("score_outputs", "tiny", data=tmp_path, answers=tmp_path / "answers.json")


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_file_that_cannot_be_made_is_a_page_with_the_sentence(run, monkeypatch, alice):
    breaks(
        monkeypatch,
        "results",
        tables=lambda results: {"glance": ShownTable(_raises)},
        pictures=lambda results: {"glance": ShownPicture("Glance", _raises)},
    )
    told = f"Tiny sums could not make this table {LOG}"
    assert told in page(alice, run, "run_table", "glance-repaired", "csv", status=503)
    drawn = f"Tiny sums could not draw this picture {LOG}"
    assert drawn in page(alice, run, "run_plot", "glance-repaired", "pdf", status=503)
    address = reverse("benchmark:run_plot", args=[run.project.slug, run.uid, "glance-repaired", "svg"])
    inline = alice.get(address, {"theme": "light"})
    assert (inline.status_code, inline["Content-Type"]) == (200, "image/svg+xml")
    assert drawn in " ".join(inline.content.decode().replace('</tspan><tspan x="8" dy="20">', " ").split(">"))


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_folder_that_cannot_be_made_whole_says_so_in_a_file(run, monkeypatch, alice):
    def exchange(exchanged):
        yield "first.txt", b"one"
        raise KeyError("unforeseen")

    breaks(monkeypatch, "released", exchange=exchange)
    entrant = run.entrants.first().pk
    sent = alice.get(reverse("benchmark:official_output", args=[run.project.slug, run.uid, entrant]))
    with zipfile.ZipFile(io.BytesIO(b"".join(sent))) as archive:
        assert archive.namelist() == ["first.txt", "not-whole.txt"]
        told = archive.read("not-whole.txt").decode()
    assert told == f"Tiny sums could not make the files of its released code {LOG}\n"
