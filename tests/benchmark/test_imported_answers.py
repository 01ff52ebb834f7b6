"""Answers that were made elsewhere become a run: matched by id or by exactly what was asked, read and scored as a
model's, and never told as free."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.documents import document_of
from benchmark.services.extending import extend_run
from benchmark.services.launches import run_again
from benchmark.services.made_elsewhere import files
from benchmark.services.made_elsewhere.files import HARNESS, BadFile, read_made
from benchmark.services.plans import RunRefused
from benchmark.services.reports import report_of, scores_of
from benchmark.suites.reasons import NOT_IN_FILE
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny_copies import RIGHT, cast_with_sums
from workers.models import Call, Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


def _sample(doc_id: int, doc: dict, asked, *resps: str, filter: str = "none") -> dict:
    argument = {"arg_0": asked, "arg_1": {"until": ["\n\n"], "do_sample": False}}
    return {
        "doc_id": doc_id, "doc": doc, "target": "x", "arguments": {"gen_args_0": argument}, "resps": [list(resps)],
        "filtered_resps": [resps[0]], "filter": filter, "metrics": ["exact_match"], "doc_hash": "0", "exact_match": 0.0,
    }  # fmt: skip


LM_EVAL_RESULTS = {
    "results": {"sums": {"exact_match,none": 0.5}}, "configs": {"sums": {"generation_kwargs": {"until": ["\n\n"]}}},
    "n-shot": {"sums": 0}, "n-samples": {"sums": {"original": 2, "effective": 2}}, "date": 1795417892.9,
    "lm_eval_version": "0.4.13", "model_source": "local-chat-completions", "model_name": "acme/2",
    "config": {
        "model": "local-chat-completions", "gen_kwargs": {}, "random_seed": 3,
        "model_args": {"model": "acme/2", "api_key": "hidden", "max_tokens": 9},
    },
    "system_instruction": "Be careful.",
}  # fmt: skip


STAMP = "2026-11-23T07-11-42.212490"


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def bring(cast, tmp_path):
    """`bring(answers, *flags)`: what the command prints of a file with this content, its name first where it
    matters."""

    def make(content, *flags: str, name: str = "answers.json", beside=()) -> dict:
        paths = [_written(tmp_path / one, text) for one, text in ((name, content), *beside)]
        out = io.StringIO()
        call_command("import_answers", *paths, "--json", "--project", cast.project.slug, *flags, stdout=out)
        return json.loads(out.getvalue())

    return make


def _written(path: Path, content) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


MODEL = ("--model", "acme/large 2")


SOME = {key: RIGHT[key] for key in ("sum-1", "sum-2")}


def test_they_are_read_and_scored_as_the_answers_of_a_model(bring, cast):
    told = bring(RIGHT | {"sum-0": "I say 4"}, *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["run"], told["answers"], told["missing"]) == (run.uid, 12, [])
    make_endpoint("adder", provider="baseline", model="adder")
    asked = ("--project", cast.project.slug, "--suite", "tiny", "--step", "all", "--endpoint", "adder", "--wait")
    call_command("run_benchmark", *asked, stdout=io.StringIO(), stderr=io.StringIO())
    asked = Run.objects.exclude(pk=run.pk).get()

    def parses(of: Run) -> dict:
        items = RunItem.objects.filter(entrant__run=of, step="sum")
        return {item.sample.key: (item.official, item.repaired, item.score) for item in items.select_related("sample")}

    def right(of: Run) -> float:
        return scores_of(of)["repaired"]["tiny"]["overall"]["right"]

    mine, theirs = parses(run), parses(asked)
    assert {key for key in mine if mine[key] != theirs[key]} == {"sum-0"} and set(mine) == set(theirs)
    assert right(run) < right(asked)


def test_a_run_has_the_samples_that_the_file_answers_or_the_whole_dataset(bring):
    told = bring(SOME, *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["samples"], told["taken"], told["answers"], told["state"]) == (12, 2, 2, "finished")
    assert (told["missing_answers"], len(told["missing"])) == (10, 10)
    items = RunItem.objects.filter(entrant__run=run)
    assert sorted(items.values_list("sample__key", "item__state")) == [("sum-1", "done"), ("sum-2", "done")]
    assert (run.parameters.stories, run.imported.samples, run.imported.taken) == (2, 12, 2)
    row = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert (row.stories, row.bounds_of("right")) == (2, pytest.approx([1.0, 1.0]))
    told = bring(SOME, "--model", "other", "--whole")
    run = Run.objects.get(uid=told["run"])
    assert (told["missing_answers"], len(told["missing"]), told["state"]) == (10, 10, "finished with failures")
    lost = RunItem.objects.filter(entrant__run=run, call=None)
    assert set(lost.values_list("unreadable", "item__state", "item__problem")) == {(NOT_IN_FILE, "failed", NOT_IN_FILE)}
    row = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert row.bounds_of("right") == pytest.approx([2 / 12, 1.0])


def test_what_does_not_match_and_what_is_double_is_listed(bring):
    asked = {"arguments": [["?", {}]]}
    lines = [
        {"doc_id": 0, "doc": {"id": "sum-0"}, "resps": [["3"]], "filter": "none", **asked},
        {"doc_id": 0, "doc": {"id": "sum-0"}, "resps": [["3"]], "filter": "strict", **asked},
        {"doc_id": 1, "doc": {"id": "sum-1"}, "resps": [["7"]], **asked},
        {"doc_id": 2, "doc": {"id": "sum-1"}, "resps": [["8"]], **asked},
        {"doc_id": 3, "doc": {"id": "elsewhere"}, "arguments": [["Who?", {}]], "resps": [["me"]]},
        _sample(4, {"q": "no id"}, "please: 5 + 6 = ?", "11"),
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    dry = bring(text, *MODEL, "--dry-run", name=f"samples_sums_{STAMP}.jsonl")
    assert not Run.objects.exists() and not Call.objects.exists() and dry["run"] is None
    told = bring(text, *MODEL, name=f"samples_sums_{STAMP}.jsonl")
    assert {name: told[name] for name in dry if name != "run"} == {name: dry[name] for name in dry if name != "run"}
    assert (told["tool"], told["facts"]["task"], told["format"]) == (HARNESS, "sums", "lm-eval")
    assert [row["where"] for row in told["double"]] == ["line 4"] and "neither counts" in told["double"][0]["why"]
    assert told["unmatched"] == [
        {"where": "line 5", "why": "no sample is called 'elsewhere', and no sample has exactly this text"}
    ]
    assert told["answers"] == 2 and "sum-1" in told["missing"] and "sum-2" not in told["missing"]


REFUSED = [
    ("a.json", "[1]", "a.json holds no answers; expected one JSON object"),
    ("a.json", '{"sum-0": 3}', "a.json, answer 'sum-0': it is not a text"),
    ("a.json", '{"who": "me"}', "none of its 1 answers is to a sample .* samples are called like 'sum-0'"),
    ("a.json", "{", "a.json"),
    ("a.json", '{"results": {}, "lm_eval_version": "1", "date": 1e400}', "a.json is damaged: .* expected: Results"),
    ("a.jsonl", '{"doc": {}, "resps": [["1"]]}\n{', "a.jsonl, line 2"),
    ("a.jsonl", '{"doc": {}, "resps": [[["-3.2", "False"]]]}', "a.jsonl, line 1: its resps are not texts"),
    ("a.jsonl", '{"doc": {"date": 1e400}, "resps": [["1"]]}', "none of its 1 answers is to a sample"),
    ("a.jsonl", '{"text": "x"}', "a.jsonl, line 1: it has no doc and resps"),
    ("a.jsonl", '{"doc_id": [1], "doc": {}, "resps": [["x"]]}', "a.jsonl, line 1, doc_id: it is a list; expected a"),
]


def test_a_file_that_cannot_be_taken_is_one_sentence_and_leaves_nothing(bring):
    for name, content, said in REFUSED:
        with pytest.raises(CommandError, match=said):
            bring(content, *MODEL, name=name)
    with pytest.raises(CommandError, match="The file does not say which model answered"):
        bring(RIGHT)
    with pytest.raises(CommandError, match=r"is repetition 2; the run has 1"):
        bring({"sum-0/1": "3"}, *MODEL, "--repetitions", "1")
    with pytest.raises(CommandError, match=r"results\.json has figures and no answers; give the file of samples"):
        bring(LM_EVAL_RESULTS, name="results.json")
    with pytest.raises(CommandError, match=r"several models, a.json of acme/2 and b.json of acme/3"):
        bring(LM_EVAL_RESULTS, name="a.json", beside=[("b.json", LM_EVAL_RESULTS | {"model_name": "acme/3"})])
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


def test_the_same_answers_are_one_run_and_repetitions_are_counted(bring):
    first = bring(RIGHT, *MODEL)
    with pytest.raises(CommandError, match=rf"are a run already: .* \({first['run']}\)"):
        bring(RIGHT, *MODEL)
    twice = {f"{key}/{turn}": text for key, text in RIGHT.items() for turn in range(2)}
    told = bring(twice, "--model", "another", "--option", "politeness=now")
    run = Run.objects.get(uid=told["run"])
    assert (told["answers"], told["missing"], run.params["repetitions"]) == (24, [], 2)
    assert run.params["options"]["politeness"] == "now", "settings are those it is read by"
    assert Run.objects.count() == 2 and Endpoint.objects.filter(provider="imported", active=False).count() == 2


def test_nothing_is_asked_of_it_and_nothing_says_that_it_was_free(bring, cast, alice):
    told = bring(RIGHT, *MODEL)
    run = Run.objects.select_related("job", "dataset", "project").get()
    assert (told["cost"], told["unpriced_calls"]) == (None, 12)
    for refused in (run_again, extend_run):
        with pytest.raises(RunRefused, match="were imported"):
            refused(by=None, run=run, now=timezone.now())
    with pytest.raises(CommandError, match="were imported"):
        call_command("runs", "retry", run.uid)
    address = reverse("benchmark:run", args=[cast.project.slug, run.uid])
    page = written(alice.get(address))
    assert "imported from" in page and "answers.json" in page
    for absent in ("calls made", "$0", "Run again", "Extend"):
        assert absent not in page, absent
    listed = written(alice.get(reverse("benchmark:runs", args=[cast.project.slug])))
    assert "imported" in listed and "$0" not in listed
    made = written(alice.get(f"{address}made/"))
    assert run.imported.digest in made and "acme/large 2" in made
    facts = dict(document_of(run).facts)
    assert facts["Prompts, calls and price"] == "not known: imported"
    assert facts["Model as written there"] == "acme/large 2"
    methods = {part["heading"]: part["text"] for part in document_of(run).methods}
    assert "made elsewhere" in methods["Answers"] and "Prompts" not in methods
    item = RunItem.objects.filter(entrant__run=run).first()
    shown = written(alice.get(f"{address}items/{item.pk}/"))
    assert "imported" in shown and "$" not in shown.split("<main")[1]
    assert work_off(run).job.state == "finished"


# --- lm-evaluation-harness: the layout of its version 0.4.13
# ----------------------------------------------------------------------


def _chat(text: str) -> list[str]:
    """A prompt as it is logged where a chat template is applied."""
    return [json.dumps([{"role": "system", "content": "Be careful."}, {"role": "user", "content": text}])]


def test_samples_of_a_chat_are_matched_by_what_the_user_said_and_results_say_how_it_was_asked(bring):
    samples = [
        _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4"),
        _sample(1, {"text": "nothing that names it"}, _chat("please: 3 + 4 = ?"), "7", "8"),
        _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4", filter="letter"),
    ]
    lines = "".join(json.dumps(line) + "\n" for line in samples)
    told = bring(lines, name=f"samples_sums_{STAMP}.jsonl", beside=[(f"results_{STAMP}.json", LM_EVAL_RESULTS)])
    assert (told["model"], told["tool"], told["version"]) == ("acme/2", HARNESS, "0.4.13")
    assert (told["records"], told["answers"], told["by_id"], told["by_text"], told["repetitions"]) == (4, 4, 2, 2, 2)
    assert told["unmatched"] == told["double"] == []
    facts = told["facts"]
    assert (facts["time"], facts["seed"], facts["asked by"]) == (STAMP, "3", "local-chat-completions")
    assert facts["model arguments"] == "model=acme/2, max_tokens=9" and facts["generation"] == "until=['\\n\\n']"
    call = RunItem.objects.get(sample__key="sum-1", step="sum", repetition=1).call
    assert [one["role"] for one in json.loads(call.body)["messages"]] == ["system", "user"]


def test_a_text_that_only_begins_as_a_chat_is_what_the_user_said(tmp_path):
    path = tmp_path / f"samples_sums_{STAMP}.jsonl"
    for text in ("[{" + '"a": [' * 50_000, '[{"role": "user", "role": "system", "content": "x"}]', "[{3 + 4}]"):
        path.write_text(json.dumps(_sample(0, {"id": "sum-0"}, [text], "3")), "utf-8")
        assert read_made(path, path.name).records[0].messages == [{"role": "user", "content": text}]


def test_samples_of_several_tasks_in_one_file_keep_equal_answers_to_the_first_document_of_each(tmp_path):
    rows = [_sample(0, {"id": name}, "?", "3", filter=filter) for name in ("sum-0", "sum-1") for filter in ("a", "b")]
    made = read_made(_written(tmp_path / "all.jsonl", "\n".join(map(json.dumps, rows))), "all.jsonl")
    assert [list(record.ids) for record in made.records] == [["sum-0"], ["sum-1"]]


# --- inspect_ai
# --------------------------------------------------------------------------------------------------------------------
def _log(folder: Path, content=("3", "8", "me"), **how) -> Path:
    """A real log of inspect_ai, of its own mock model."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    samples = [Sample(id="sum-0", input="1 + 2"), Sample(id="sum-1", input="3 + 4"), Sample(id="else", input="Who?")]
    outputs = [ModelOutput.from_content("mockllm/model", said) for said in content]
    for output in outputs:  # else its tokens are counted, by a table from the network
        output.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = inspect_ai.Task(dataset=MemoryDataset(samples), solver=generate(), name="sums")
    inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_samples=1, **how)
    return next(path for path in folder.iterdir() if path.suffix in (".eval", ".json"))


def test_a_log_of_inspect_ai_is_read_by_its_own_package(tmp_path):
    for format in ("eval", "json"):
        path = _log(tmp_path / format, log_format=format)
        made = read_made(path, path.name)
        assert (made.model, made.tool, made.facts["task"]) == ("mockllm/model", "inspect_ai", "sums") and made.version
        records = [(record.ids[0], record.text, record.turn) for record in made.records]
        assert records == [("else", "me", 0), ("sum-0", "3", 0), ("sum-1", "8", 0)]
        assert made.records[1].messages == [{"role": "user", "content": "1 + 2"}]


def test_a_log_that_cannot_be_read_is_one_sentence(tmp_path, monkeypatch):
    def silent(*args, **how):
        raise ValueError

    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", " " * 10_000)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "inspect_ai.log", None)
        with pytest.raises(BadFile, match=r"a\.eval: Logs of inspect_ai are read by its own package"):
            read_made(path, "a.eval")
    monkeypatch.setattr(files, "_inspect_package", lambda name: SimpleNamespace(read_eval_log=silent))
    with pytest.raises(BadFile, match=r"^a\.eval cannot be read as a log of inspect_ai: ValueError$"):
        read_made(path, "a.eval")
    monkeypatch.setattr(files.oversize, "__kwdefaults__", {"most_bytes": 5_000, "most_files": 9})
    with pytest.raises(BadFile, match=r"^a\.eval unpacks to more than 0 MB\.$"):
        read_made(path, "a.eval")


def test_reasoning_that_a_log_of_inspect_ai_keeps_apart_stays_beside_the_answer(cast, tmp_path):
    content = pytest.importorskip("inspect_ai.model", reason="inspect_ai is not installed: pip install inspect_ai")
    thought, told = partial(content.ContentReasoning, type="reasoning"), content.ContentText
    said = (
        [thought(reasoning="One and two."), told(text="3")],
        [thought(reasoning="Zq81", redacted=True, summary="Adds up."), thought(reasoning="Sure."), told(text="7")],
        [thought(reasoning="Zq82", redacted=True), told(text="me")],
    )
    path = _log(tmp_path / "logs", said)
    call_command("import_answers", str(path), "--project", cast.project.slug, stdout=io.StringIO())
    assert {(call.answer, call.reasoning) for call in Call.objects.all()} == {
        ("3", "One and two."),
        ("7", "Adds up.\n\nSure."),
    }
