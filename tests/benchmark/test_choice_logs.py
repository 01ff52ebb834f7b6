"""Logs of inspect_ai over questions with options: a letter is read in the order in which the log shows the options, and
the score is the one that the log reports."""

from __future__ import annotations

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
from benchmark.suites.tombench import data
from tests.benchmark.choice_logs import accuracy_of, log_of, options_of, question, right_of
from tests.benchmark.importing import import_benchmark
from workers.models import Call

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
ROWS = [question(at) for at in range(12)]


@pytest.fixture
def dataset(cast, tmp_path, monkeypatch) -> Dataset:
    monkeypatch.setattr(data, "FILES", {"Hidden Keys": (12, 12, 4)})
    folder = tmp_path / "copy"
    folder.mkdir()
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (folder / "Hidden Keys.jsonl").write_text(lines, encoding="utf-8")
    (folder / "LICENSE").write_text("Use it well.")
    suite = suite_named("tombench")
    made, _ = import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})
    return made


def brought(dataset: Dataset, path: Path, *, whole: bool = False, **options: str) -> tuple[Run, dict]:
    declared = Statements(model="" if path.suffix == ".eval" else "m", whole=whole)
    plan = Plan(dataset=dataset, endpoints=[], steps=["answer"], suite="tombench", repetitions=0, options=options)
    preview = preview_of([(path, path.name)], plan, declared)
    return import_answers(by=None, preview=preview, now=timezone.now()), preview.summary


def scores(run: Run) -> dict[str, float]:
    parses = report_of(run).entrants[0].groups["tombench"].parses
    return {parse: round(float(parses.overall(parse).values["accuracy"]), 6) for parse in ("official", "repaired")}


def fallible(prompt: str, call: int) -> str:
    """A model that is right in three of four questions, and else takes the option that is shown first."""
    (row,) = [row for row in ROWS if _asks(prompt, row)]
    shown = {text: letter for letter, text in re.findall(r"^([A-D])[).] (.+)$", prompt, re.MULTILINE)}
    wanted = right_of(row) if ROWS.index(row) % 4 else next(iter(shown))
    return f"I look for it there.\nANSWER: {shown[wanted]}"


def _asks(prompt: str, row: dict) -> bool:
    return row["QUESTION"] in prompt.replace("\u00a0", " ") and all(option in prompt for option in options_of(row))


def _sample(row: dict, layout: str, **fields: Any) -> Any:
    from inspect_ai.dataset import Sample

    texts = {
        "together": {"input": f"{row['STORY']}\n\n{row['QUESTION']}"},
        "question first": {"input": f"Question: {row['QUESTION']}\nStory:\n  {row['STORY'].replace('. ', '.  ')}"},
        "story apart": {"input": row["QUESTION"], "metadata": {"story": row["STORY"]}},
        "whole row apart": {"input": row["QUESTION"], "metadata": {"row": row}},
        "typographic": {"input": f"{row['STORY']}\n{row['QUESTION']}".replace(" ", "\u00a0")},
    }[layout]
    metadata = {"ability": row["能力\nABILITY"], **texts.get("metadata", {})}
    return Sample(choices=options_of(row), target=row["答案\nANSWER"], **texts | {"metadata": metadata} | fields)


LAYOUTS = ("together", "question first", "story apart", "whole row apart", "typographic")


TEMPLATE = "{question}\n\nOptions:\n{choices}\n\nSay ANSWER: and a letter."


def _logged(folder: Path, solver: Any = None, answer: Any = fallible, layout: str = "together", **how: Any) -> Path:
    """A log about all questions, by the solver that inspect_ai has for choices where none is given."""
    solvers = pytest.importorskip("inspect_ai.solver", reason="inspect_ai is not installed: pip install inspect_ai")
    samples = [_sample(row, layout) for row in ROWS]
    return log_of(folder, samples, solver or solvers.multiple_choice(**how.pop("choices", {})), answer, **how)


@pytest.mark.parametrize(
    ("layout", "how"),
    [
        *((layout, {"shuffled": 3, "log_format": "eval"}) for layout in LAYOUTS),
        ("together", {"log_format": "json"}),
        ("together", {"choices": {"shuffle": 5}, "log_format": "json"}),
        ("together", {"choices": {"cot": True}, "shuffled": 8}),
        ("together", {"choices": {"template": TEMPLATE}, "shuffled": 8}),
    ],
)
def test_its_score_is_the_one_that_the_log_reports(dataset, tmp_path, layout, how):
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")
    from inspect_ai.scorer import choice

    choices = how.get("choices", {})
    if "shuffle" in choices:
        how = how | {"choices": {"shuffle": random.Random(choices["shuffle"])}}
    path = _logged(tmp_path / "logs", layout=layout, scorer=choice(), **how)
    run, told = brought(dataset, path)
    reported = round(accuracy_of(path), 6)
    assert 0.5 < reported < 1 and scores(run) == {"official": reported, "repaired": reported}
    assert (told["unmatched"], told["double"], told["by_text"], told["taken"]) == ([], [], 12, 12)
    run.job.refresh_from_db()
    assert run.job.state == "finished" and run.parameters.options["order"] == "logged"


# --- what a log lacks
# ------------------------------------------------------------------------------------------------------------------
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
def test_a_sample_without_an_answer_is_told_and_not_part_of_the_run(dataset, tmp_path, how, why):
    solvers = pytest.importorskip("inspect_ai.solver", reason="inspect_ai is not installed: pip install inspect_ai")
    from inspect_ai.scorer import choice

    samples = [_sample(row, "together") for row in ROWS]
    for place, sample in enumerate(samples):
        sample.metadata["place"] = place
    solver = [silent(how), solvers.multiple_choice()]
    path = log_of(tmp_path / "logs", samples, solver, fallible, scorer=choice(), shuffled=2, fail_on_error=False)
    run, told = brought(dataset, path)
    assert (told["samples"], told["taken"], len(told["missing"])) == (24, 9, 15)
    assert [row["why"] for row in told["unanswered"]] == [why] * 3 and told["unmatched"] == []
    assert run.entrants.get().items.count() == 9
    if how == "error":
        assert scores(run)["repaired"] == round(accuracy_of(path), 6)
    whole, _ = brought(dataset, path, whole=True)
    lost = RunItem.objects.filter(entrant__run=whole, call=None)
    assert lost.count() == 15 and set(lost.values_list("unreadable", flat=True)) == {NOT_IN_FILE}
    assert sorted(set(lost.values_list("item__problem", flat=True))) == sorted({why, NOT_IN_FILE})


def test_a_sample_that_a_limit_stopped_says_so(dataset, tmp_path):
    path = _logged(tmp_path / "logs", message_limit=1)
    with pytest.raises(BadFile, match=r"holds no answers: The log has no answer: .* its limit of message"):
        brought(dataset, path)


def test_several_epochs_are_repetitions_each_in_its_own_order(dataset, tmp_path):
    def right(prompt: str, call: int) -> str:
        (row,) = [row for row in ROWS if _asks(prompt, row)]
        shown = {text: letter for letter, text in re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)}
        return shown[right_of(row)]  # not the form that is asked for, so that the solver leaves its shuffled prompt

    path = _logged(tmp_path / "logs", answer=right, choices={"shuffle": random.Random(4)}, epochs=3)
    run, told = brought(dataset, path)
    assert (told["answers"], told["repetitions"]) == (36, 3)
    assert scores(run) == {"official": 1.0, "repaired": 1.0}
    assert len({tuple(call["shown"]) for call in _bodies(run)}) > 6
    read_again(by=None, run=run, now=timezone.now())
    assert scores(Run.objects.get(pk=run.pk)) == {"official": 1.0, "repaired": 1.0}


def _bodies(run: Run) -> list[dict]:
    return [json.loads(body) for body in run.entrants.get().items.values_list("call__body", flat=True)]


# --- what is not known is refused
# ------------------------------------------------------------------------------------------------------------------
def test_a_log_that_does_not_show_options_behind_letters_is_refused(dataset, tmp_path):
    solvers = pytest.importorskip("inspect_ai.solver", reason="inspect_ai is not installed: pip install inspect_ai")
    from inspect_ai.dataset import Sample

    samples = [Sample(id=f"hidden-keys:{at}:en", input=f"{row['STORY']} {row['QUESTION']}", target="A")
               for at, row in enumerate(ROWS, 1)]  # fmt: skip
    path = log_of(tmp_path / "logs", samples, solvers.generate(), lambda *asked: "ANSWER: B")
    with pytest.raises(BadFile, match=r"sample hidden-keys:10:en, epoch 1: the order in which the options"):
        brought(dataset, path)
    run, _ = brought(dataset, path, order="unshuffled")
    chosen = run.entrants.get().items.values_list("repaired__choice", flat=True)
    assert set(chosen) == {"B"} and run.parameters.options["order"] == "unshuffled"


NUMBERED = "{STORY} {QUESTION} 1) {OPTION-A} 2) {OPTION-B} 3) {OPTION-C} 4) {OPTION-D}"
PLAIN = {f"hidden-keys:{at}:en": "[[A]]" for at in range(1, 13)}


NAMED = {"doc": {"id": "hidden-keys:3:en"}, "resps": [["A"]]}


def test_letters_in_an_order_that_nobody_knows_are_refused(dataset, tmp_path):
    numbered = {"doc": {}, "arguments": [[NUMBERED.format(**ROWS[0])]], "resps": [["A"]]}
    for name, content, said in (
        ("answers.json", PLAIN, "answers.json, answer 'hidden-keys:1:en': the order in which"),
        ("samples.jsonl", NAMED, "samples.jsonl, line 1: .* the file does not show them"),
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


def test_samples_of_the_harness_are_read_in_the_order_of_their_prompt(dataset, tmp_path):
    lines = [_document(at, [*options_of(row)[1:], options_of(row)[0]]) for at, row in enumerate(ROWS)]
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(lines))
    run, told = brought(dataset, path)
    chosen = dict(run.entrants.get().items.values_list("sample__key", "repaired__choice"))
    assert chosen == {
        f"hidden-keys:{at}:en": "A" if len(options_of(row)) == 2 else "C" for at, row in enumerate(ROWS, 1)
    }
    document = {"story": ROWS[0]["STORY"], "question": ROWS[0]["QUESTION"]}
    path.write_text(_document(0, [], arguments=None, doc=document | {"choices": options_of(ROWS[0])[::-1]}))
    run, _ = brought(dataset, path)
    assert run.entrants.get().items.get().repaired == {"choice": "C"}
    others = _document(0, [], arguments=None, doc=document | {"choices": ["In the air", "On the sea"]})
    path.write_text(f"{others}\n{lines[1]}")
    _, told = brought(dataset, path)
    assert told["unmatched"] == [{"where": "line 1", "why": "shows other options than the question has here"}]


def test_a_page_of_an_item_shows_options_as_they_were_shown(dataset, tmp_path, alice):
    options = options_of(ROWS[0])[::-1]
    path = tmp_path / "samples.jsonl"
    path.write_text(_document(0, options))
    run, _ = brought(dataset, path)
    address = reverse("benchmark:run", args=[run.project.slug, run.uid])
    page = alice.get(f"{address}items/{run.entrants.get().items.get().pk}/").content.decode()
    places = [page.index(f">{text}") if f">{text}" in page else page.index(text) for text in options]
    assert places == sorted(places) and "as the files show it" in alice.get(address).content.decode()


def test_options_of_a_conversation_are_read_in_the_order_of_the_prompt():
    suite = suite_named("fantom")
    content = {"kind": "belief:multiple-choice", "options": ["In the box.", "In the bag."], "names": []}
    story = DatasetSample(key="q", cluster="c", content=content, gold={"key": 0, "right": ["In the box."]})
    run = Run(suite="fantom", spec={"imported": {"file": "a.json"}})
    assert suite.texts.lettered and order_shown(Record("1", [], "b", messages=BOTH), content["options"]) == (1, 0)
    call = Call(body=json.dumps({"messages": BOTH, "shown": [1, 0]}))
    sample = sample_answered(run, story, call)
    assert (sample.content["options"], sample.gold["key"]) == (["In the bag.", "In the box."], 1)
    assert sample_answered(run, story, Call(body='{"messages": []}')).content == content
    assert sample_answered(Run(suite="fantom"), story, call).content == content


BOTH = [{"role": "user", "content": "Where is it?\n(a) In the bag.\n(b) In the box."}]


# --- logs as they were kept, of version 0.3.285
# ------------------------------------------------------------------------------------------------------------------
KEPT = Path(__file__).parent / "logs"


@pytest.mark.parametrize("name", ["shuffled_dataset.eval", "shuffled_by_the_solver.json"])
def test_a_kept_log_has_the_score_that_it_reports(dataset, name):
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")
    run, told = brought(dataset, KEPT / name)
    reported = round(accuracy_of(KEPT / name), 6)
    assert scores(run) == {"official": reported, "repaired": reported} and 0 < reported < 1
    assert (told["by_text"], told["unmatched"], told["version"]) == (5, [], "0.3.285")
    assert len({tuple(body["shown"]) for body in _bodies(run)}) > 1 or name.endswith(".json")
