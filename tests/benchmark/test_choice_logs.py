"""Logs of inspect_ai over questions with options: a letter is read in the order in which the log shows the options, and
the score is the one that the log reports."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Dataset, DatasetSample, Run, RunItem
from benchmark.services.asking import sample_answered
from benchmark.services.evaluating import read_again
from benchmark.services.made_elsewhere.files import BadFile, Record
from benchmark.services.made_elsewhere.importing import Statements, import_answers, preview_of
from benchmark.services.made_elsewhere.matching import order_shown
from benchmark.services.plans import Plan
from benchmark.services.reports import report_of
from benchmark.suites.reasons import NOT_IN_FILE
from benchmark.suites.registry import suite_named
from tests.benchmark.choice_logs import accuracy_of, log_of, options_of, question, right_of
from tests.benchmark.importing import import_benchmark
from tests.benchmark.suites.tombench.conftest import released
from workers.models import Call

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
ROWS = [question(at) for at in range(12)]


@pytest.fixture
def solvers() -> Any:
    return pytest.importorskip("inspect_ai.solver", reason="inspect_ai is not installed: pip install inspect_ai")


@pytest.fixture
def dataset(cast, tmp_path, monkeypatch) -> Dataset:
    folder = tmp_path / "copy"
    folder.mkdir()
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (folder / "Hidden Keys.jsonl").write_text(lines, encoding="utf-8")
    (folder / "LICENSE").write_text("Use it well.")
    released(monkeypatch, folder)
    suite = suite_named("tombench")
    return import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})[0]


def brought(dataset: Dataset, path: Path, *, whole: bool = False, **options: str) -> tuple[Run, dict]:
    declared = Statements(model="" if path.suffix == ".eval" else "m", whole=whole)
    plan = Plan(dataset=dataset, endpoints=[], steps=["answer"], suite="tombench", repetitions=0, options=options)
    preview = preview_of([(path, path.name)], plan, declared)
    return import_answers(by=None, preview=preview, now=timezone.now()), preview.summary


def items(run: Run) -> Any:
    return run.entrants.get().items


def scores(run: Run) -> set[float]:
    """The scores of both parses."""
    parses = report_of(run).entrants[0].groups["tombench"].parses
    return {round(float(parses.overall(parse).cells["accuracy"].value), 6) for parse in ("official", "repaired")}


def orders(run: Run) -> set[tuple[int, ...]]:
    """The orders in which options were shown."""
    return {tuple(json.loads(body)["shown"]) for body in items(run).values_list("call__body", flat=True)}


def fallible(prompt: str, call: int) -> str:
    """A model that is right in three of four questions, and else takes the option that is shown first."""
    row, shown = _asked(prompt)
    wanted = right_of(row) if ROWS.index(row) % 4 else next(iter(shown))
    return f"I look for it there.\nANSWER: {shown[wanted]}"


def _asked(prompt: str) -> tuple[dict, dict[str, str]]:
    """The question that is asked, and its options' letters."""
    plain = prompt.replace("\u00a0", " ")
    (row,) = [row for row in ROWS if row["QUESTION"] in plain and all(option in prompt for option in options_of(row))]
    return row, {text: letter for letter, text in re.findall(r"^([A-D])[).] (.+)$", prompt, re.MULTILINE)}


LAYOUTS = ("together", "question first", "story apart", "whole row apart", "typographic")
TEMPLATE = "{question}\n\nOptions:\n{choices}\n\nSay ANSWER: and a letter."


def _sample(row: dict, layout: str = "together", **metadata: Any) -> Any:
    from inspect_ai.dataset import Sample

    text, own = {
        "together": (f"{row['STORY']}\n\n{row['QUESTION']}", {}),
        "question first": (f"Question: {row['QUESTION']}\nStory:\n  {row['STORY'].replace('. ', '.  ')}", {}),
        "story apart": (row["QUESTION"], {"story": row["STORY"]}),
        "whole row apart": (row["QUESTION"], {"row": row}),
        "typographic": (f"{row['STORY']}\n{row['QUESTION']}".replace(" ", "\u00a0"), {}),
    }[layout]
    told = {"ability": row["能力\nABILITY"], **own, **metadata}
    return Sample(input=text, choices=options_of(row), target=row["答案\nANSWER"], metadata=told)


@pytest.mark.parametrize(
    ("layout", "choices", "how"),
    [
        *((layout, {}, {"shuffled": 3, "log_format": "eval"}) for layout in LAYOUTS),
        ("together", {}, {"log_format": "json"}),
        ("together", {"shuffle": 5}, {"log_format": "json"}),
        ("together", {"cot": True}, {"shuffled": 8}),
        ("together", {"template": TEMPLATE}, {"shuffled": 8}),
    ],
)
def test_its_score_is_the_one_that_the_log_reports(solvers, dataset, tmp_path, layout, choices, how):
    from inspect_ai.scorer import choice

    if "shuffle" in choices:
        choices = {"shuffle": random.Random(choices["shuffle"])}
    samples, solver = [_sample(row, layout) for row in ROWS], solvers.multiple_choice(**choices)
    path = log_of(tmp_path / "logs", samples, solver, fallible, scorer=choice(), **how)
    run, told = brought(dataset, path)
    reported = round(accuracy_of(path), 6)
    assert 0.5 < reported < 1 and scores(run) == {reported}
    assert (told["unmatched"], told["double"], told["by_text"], told["taken"]) == ([], [], 12, 12)
    run.job.refresh_from_db()
    assert run.job.state == "finished" and run.parameters.options["order"] == "logged"


KEPT = Path(__file__).parent / "logs"


def test_a_kept_log_has_the_score_that_it_reports(solvers, dataset):
    """Of version 0.3.285."""
    for name, several in (("shuffled_dataset.eval", True), ("shuffled_by_the_solver.json", False)):
        run, told = brought(dataset, KEPT / name)
        reported = round(accuracy_of(KEPT / name), 6)
        assert scores(run) == {reported} and 0 < reported < 1
        assert (told["by_text"], told["unmatched"], told["version"]) == (5, [], "0.3.285")
        assert len(orders(run)) > 1 or not several


def test_several_epochs_are_repetitions_each_in_its_own_order(solvers, dataset, tmp_path):
    def right(prompt: str, call: int) -> str:
        row, shown = _asked(prompt)
        return shown[right_of(row)]  # not the form that is asked for, so that the solver leaves its shuffled prompt

    solver = solvers.multiple_choice(shuffle=random.Random(4))
    run, told = brought(dataset, log_of(tmp_path / "logs", [_sample(row) for row in ROWS], solver, right, epochs=3))
    assert (told["answers"], told["repetitions"]) == (36, 3)
    assert scores(run) == {1.0} and len(orders(run)) > 6
    read_again(by=None, run=run, now=timezone.now())
    assert scores(Run.objects.get(pk=run.pk)) == {1.0}


# --- what a log lacks
def silent(how: str) -> Any:
    """A solver that raises, or says nothing, of every fourth sample."""
    from inspect_ai.solver import solver

    @solver
    def silent_solver() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            if state.metadata["place"] % 4 == 1:
                if how == "error":
                    raise RuntimeError("out of memory")
                state.completed = True
            return state

        return solve

    return silent_solver()


@pytest.mark.parametrize(
    ("how", "why"), [("error", "RuntimeError('out of memory')"), ("nothing", "The log has no answer.")]
)
def test_a_sample_without_an_answer_is_told_and_not_part_of_the_run(solvers, dataset, tmp_path, how, why):
    from inspect_ai.scorer import choice

    samples = [_sample(row, place=place) for place, row in enumerate(ROWS)]
    solver = [silent(how), solvers.multiple_choice()]
    path = log_of(tmp_path / "logs", samples, solver, fallible, scorer=choice(), shuffled=2, fail_on_error=False)
    run, told = brought(dataset, path)
    assert (told["samples"], told["taken"], len(told["missing"])) == (24, 9, 15)
    assert [row["why"] for row in told["unanswered"]] == [why] * 3 and told["unmatched"] == []
    assert items(run).count() == 9
    if how == "error":
        assert scores(run) >= {round(accuracy_of(path), 6)}
    whole, _ = brought(dataset, path, whole=True)
    lost = RunItem.objects.filter(entrant__run=whole, call=None)
    assert lost.count() == 15 and set(lost.values_list("unreadable", flat=True)) == {NOT_IN_FILE}
    assert set(lost.values_list("item__problem", flat=True)) == {why, NOT_IN_FILE}


def test_what_is_not_known_is_refused(solvers, dataset, tmp_path):
    from inspect_ai.dataset import Sample

    # a sample that a limit stopped says so
    samples = [_sample(row) for row in ROWS]
    path = log_of(tmp_path / "stopped", samples, solvers.multiple_choice(), fallible, message_limit=1)
    with pytest.raises(BadFile, match=r"holds no answers: The log has no answer: .* its limit of message"):
        brought(dataset, path)
    # a log that does not show the options behind letters
    samples = [
        Sample(id=f"hidden-keys:{at}:en", input=f"{row['STORY']} {row['QUESTION']}", target="A")
        for at, row in enumerate(ROWS, 1)
    ]
    path = log_of(tmp_path / "logs", samples, solvers.generate(), lambda *asked: "ANSWER: B")
    with pytest.raises(BadFile, match=r"sample hidden-keys:10:en, epoch 1: the order in which the options"):
        brought(dataset, path)
    run, _ = brought(dataset, path, order="unshuffled")
    chosen = items(run).values_list("repaired__choice", flat=True)
    assert set(chosen) == {"B"} and run.parameters.options["order"] == "unshuffled"


# --- samples of the harness
NUMBERED = "{STORY} {QUESTION} 1) {OPTION-A} 2) {OPTION-B} 3) {OPTION-C} 4) {OPTION-D}"


def test_letters_in_an_order_that_nobody_knows_are_refused(dataset, tmp_path):
    plain = {f"hidden-keys:{at}:en": "[[A]]" for at in range(1, 13)}
    named = {"doc": {"id": "hidden-keys:3:en"}, "resps": [["A"]]}
    numbered = {"doc": {}, "arguments": [[NUMBERED.format(**ROWS[0])]], "resps": [["A"]]}
    for name, content, said in (
        ("answers.json", plain, "answers.json, answer 'hidden-keys:1:en': the order in which"),
        ("samples.jsonl", named, "samples.jsonl, line 1: .* the file does not show them"),
        ("samples.jsonl", numbered, "samples.jsonl, line 1: .*order=unshuffled or order=released"),
    ):
        (tmp_path / name).write_text(json.dumps(content))
        with pytest.raises(BadFile, match=said):
            brought(dataset, tmp_path / name)
    assert not Run.objects.exists()


def _document(at: int, options: list[str], **changed: Any) -> str:
    """A sample of the harness whose prompt shows these options."""
    row = ROWS[at]
    shown = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", options, strict=False))
    prompt = f"{row['STORY']}\n{row['QUESTION']}\n{shown}\nAnswer:"
    document = {"doc": {"story": row["STORY"], "question": row["QUESTION"]}, "arguments": [[prompt]], "resps": [["B"]]}
    return json.dumps(document | changed)


def test_samples_of_the_harness_are_read_and_shown_in_the_order_of_their_prompt(dataset, tmp_path, alice):
    path = tmp_path / "samples.jsonl"

    def read(*lines: str) -> tuple[Run, dict]:
        path.write_text("\n".join(lines))
        return brought(dataset, path)

    lines = [_document(at, [*options_of(row)[1:], options_of(row)[0]]) for at, row in enumerate(ROWS)]
    chosen = dict(items(read(*lines)[0]).values_list("sample__key", "repaired__choice"))
    letters = ["A" if len(options_of(row)) == 2 else "C" for row in ROWS]
    assert chosen == {f"hidden-keys:{at}:en": letter for at, letter in enumerate(letters, 1)}
    document, options = {"story": ROWS[0]["STORY"], "question": ROWS[0]["QUESTION"]}, options_of(ROWS[0])[::-1]
    run, _ = read(_document(0, [], arguments=None, doc=document | {"choices": options}))
    assert items(run).get().repaired == {"choice": "C"}
    others = _document(0, [], arguments=None, doc=document | {"choices": ["In the air", "On the sea"]})
    _, told = read(others, lines[1])
    assert told["unmatched"] == [{"where": "line 1", "why": "shows other options than the question has here"}]
    # and shown in it
    run, _ = read(_document(0, options))
    address = reverse("benchmark:run", args=[run.project.slug, run.uid])
    page = alice.get(f"{address}items/{items(run).get().pk}/").content.decode()
    places = [page.index(f">{text}") if f">{text}" in page else page.index(text) for text in options]
    assert places == sorted(places) and "as the files show it" in alice.get(address).content.decode()


def test_options_of_a_conversation_are_read_in_the_order_of_the_prompt():
    suite, both = suite_named("fantom"), [{"role": "user", "content": "Where is it?\n(a) In the bag.\n(b) In the box."}]
    content = {"kind": "belief:multiple-choice", "options": ["In the box.", "In the bag."], "names": []}
    story = DatasetSample(key="q", cluster="c", content=content, gold={"key": 0, "right": ["In the box."]})
    run = Run(suite="fantom", spec={"imported": {"file": "a.json"}})
    assert suite.texts.lettered and order_shown(Record("1", [], "b", messages=both), content["options"]) == (1, 0)
    call = Call(body=json.dumps({"messages": both, "shown": [1, 0]}))
    sample = sample_answered(run, story, call)
    assert (sample.content["options"], sample.gold["key"]) == (["In the bag.", "In the box."], 1)
    assert sample_answered(run, story, Call(body='{"messages": []}')).content == content
    assert sample_answered(Run(suite="fantom"), story, call).content == content
