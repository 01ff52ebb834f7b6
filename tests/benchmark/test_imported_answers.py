"""Answers that were made elsewhere become a run: matched by id or by exactly what was asked, read and scored as a
model's, and never told as free."""

from __future__ import annotations

import io
import json
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
from benchmark.services.made_elsewhere.files import HARNESS, BadFile, Record, read_made
from benchmark.services.made_elsewhere.matching import FileSample, Index, match
from benchmark.services.plans import RunRefused
from benchmark.services.reports import report_of, scores_of
from benchmark.suites.reasons import NOT_IN_FILE
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.tiny_copies import SUMS, imported
from tests.cast import new_cast
from tests.copies import copied
from workers.models import Call, Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast(db, tiny):
    return copied("imported answers", _with_copy)


def _with_copy():
    from django.test import Client

    cast, admin = new_cast(), Client()
    admin.force_login(cast.alice)
    imported(admin, cast)
    return cast


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
RIGHT = {f"sum-{at}": str(first + second) for at, (first, second) in enumerate(SUMS)}


def test_they_are_read_and_scored_as_the_answers_of_a_model(bring, cast):
    told = bring(RIGHT | {"sum-0": "I say 4"}, *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["run"], told["state"], told["answers"], told["missing"]) == (
        run.uid,
        "finished, some unreadable",
        12,
        [],
    ) or (told["state"], told["answers"]) == ("finished", 12)
    make_endpoint("adder", provider="baseline", model="adder")
    call_command(
        "run_benchmark", "--project", cast.project.slug, "--suite", "tiny", "--step", "all", "--endpoint", "adder",
        "--wait",
        stdout=io.StringIO(), stderr=io.StringIO(),
    )  # fmt: skip
    asked = Run.objects.exclude(pk=run.pk).get()

    def parses(of: Run) -> dict:
        items = RunItem.objects.filter(entrant__run=of, step="sum")
        return {item.sample.key: (item.official, item.repaired, item.score) for item in items.select_related("sample")}

    mine, theirs = parses(run), parses(asked)
    assert {key for key in mine if mine[key] != theirs[key]} == {"sum-0"} and set(mine) == set(theirs)
    assert (
        scores_of(run)["repaired"]["tiny"]["overall"]["right"]
        < scores_of(asked)["repaired"]["tiny"]["overall"]["right"]
    )


def test_a_run_has_the_samples_that_the_file_answers(bring):
    told = bring({key: RIGHT[key] for key in ("sum-1", "sum-2")}, *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["samples"], told["taken"], told["answers"], told["state"]) == (12, 2, 2, "finished")
    assert (told["missing_answers"], len(told["missing"])) == (10, 10)
    items = RunItem.objects.filter(entrant__run=run)
    assert sorted(items.values_list("sample__key", "item__state")) == [("sum-1", "done"), ("sum-2", "done")]
    assert (run.parameters.stories, run.imported.samples, run.imported.taken) == (2, 12, 2)
    row = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert (row.stories, row.bounds_of("right")) == (2, pytest.approx([1.0, 1.0]))


def test_of_a_whole_what_the_file_lacks_is_missing_and_bounds_allow_for_it(bring):
    told = bring({key: RIGHT[key] for key in ("sum-1", "sum-2")}, *MODEL, "--whole")
    run = Run.objects.select_related("job").get()
    assert (told["missing_answers"], len(told["missing"]), told["state"]) == (10, 10, "finished with failures")
    lost = RunItem.objects.filter(entrant__run=run, call=None)
    assert set(lost.values_list("unreadable", "item__state", "item__problem")) == {(NOT_IN_FILE, "failed", NOT_IN_FILE)}
    row = report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")
    assert row.bounds_of("right") == pytest.approx([2 / 12, 1.0])


def test_what_does_not_match_and_what_is_double_is_listed(bring, cast):
    lines = [
        {"doc_id": 0, "doc": {"id": "sum-0"}, "arguments": [["?", {}]], "resps": [["3"]], "filter": "none"},
        {"doc_id": 0, "doc": {"id": "sum-0"}, "arguments": [["?", {}]], "resps": [["3"]], "filter": "strict"},
        {"doc_id": 1, "doc": {"id": "sum-1"}, "arguments": [["?", {}]], "resps": [["7"]]},
        {"doc_id": 2, "doc": {"id": "sum-1"}, "arguments": [["?", {}]], "resps": [["8"]]},
        {"doc_id": 3, "doc": {"id": "elsewhere"}, "arguments": [["Who?", {}]], "resps": [["me"]]},
        {
            "doc_id": 4,
            "doc": {"q": "no id"},
            "arguments": {"gen_args_0": {"arg_0": "please: 5 + 6 = ?"}},
            "resps": [["11"]],
        },
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    dry = bring(text, *MODEL, "--dry-run", name="samples_sums_2026-01-01T00-00-00.jsonl")
    assert not Run.objects.exists() and not Call.objects.exists() and dry["run"] is None
    told = bring(text, *MODEL, name="samples_sums_2026-01-01T00-00-00.jsonl")
    assert {name: told[name] for name in dry if name != "run"} == {name: dry[name] for name in dry if name != "run"}
    assert (told["tool"], told["facts"]["task"], told["format"]) == (HARNESS, "sums", "lm-eval")
    assert [row["where"] for row in told["double"]] == ["line 4"] and "neither counts" in told["double"][0]["why"]
    assert told["unmatched"] == [
        {"where": "line 5", "why": "no sample is called 'elsewhere', and no sample has exactly this text"}
    ]
    assert told["answers"] == 2 and "sum-1" in told["missing"] and "sum-2" not in told["missing"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", "[1]", "a.json holds no answers; expected one JSON object"),
        ("a.json", '{"sum-0": 3}', "a.json, answer 'sum-0': it is not a text"),
        (
            "a.json",
            '{"who": "me"}',
            "none of its 1 answers is to a sample .*: no sample is called 'who'.* samples are called like 'sum-0'",
        ),
        ("a.json", "{", "a.json"),
        ("a.jsonl", '{"doc": {}, "resps": [["1"]]}\n{', "a.jsonl, line 2"),
        ("a.jsonl", '{"doc": {}, "resps": [[["-3.2", "False"]]]}', ("a.jsonl, line 1: its resps are not texts; a task " "that compares likelihoods")),  # noqa: E501
        ("a.jsonl", '{"doc": {"date": 1e400}, "resps": [["1"]]}', "none of its 1 answers is to a sample"),
        ("a.json", '{"results": {}, "lm_eval_version": "1", "date": 1e400}', "a.json is damaged: .* expected: Results"),
        ("a.jsonl", '{"text": "x"}', "a.jsonl, line 1: it has no doc and resps"),
        ("a.jsonl", '{"doc_id": [1], "doc": {}, "resps": [["x"]]}', "a.jsonl, line 1, doc_id: it is a list; expected a "
                                                                   "number or a text."),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_taken_is_one_sentence_and_leaves_nothing(bring, name, content, said):
    with pytest.raises(CommandError, match=said):
        bring(content, *MODEL, name=name)
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


def test_the_model_has_to_be_named_and_the_same_answers_are_one_run(bring):
    with pytest.raises(CommandError, match="The file does not say which model answered"):
        bring(RIGHT)
    first = bring(RIGHT, *MODEL)
    with pytest.raises(CommandError, match=rf"are a run already: .* \({first['run']}\)"):
        bring(RIGHT, *MODEL)
    bring(RIGHT, "--model", "another")
    assert Run.objects.count() == 2 and Endpoint.objects.filter(provider="imported", active=False).count() == 2


def test_repetitions_are_counted_and_settings_are_those_it_is_read_by(bring):
    twice = {f"{key}/{turn}": text for key, text in RIGHT.items() for turn in range(2)}
    told = bring(twice, *MODEL, "--option", "politeness=now")
    assert (told["answers"], told["missing"], Run.objects.get().params["repetitions"]) == (24, [], 2)
    assert Run.objects.get().params["options"]["politeness"] == "now"
    with pytest.raises(CommandError, match=r"is repetition 2; the run has 1"):
        bring({"sum-0/1": "3"}, *MODEL, "--repetitions", "1")


def test_nothing_is_asked_of_it_and_nothing_says_that_it_was_free(bring, cast, client):
    told = bring(RIGHT, *MODEL)
    run = Run.objects.select_related("job", "dataset", "project").get()
    assert (told["cost"], told["unpriced_calls"]) == (None, 12)
    for refused in (
        lambda: run_again(by=None, run=run, now=timezone.now()),
        lambda: extend_run(by=None, run=run, now=timezone.now()),
    ):
        with pytest.raises(RunRefused, match="were imported"):
            refused()
    with pytest.raises(CommandError, match="were imported"):
        call_command("runs", "retry", run.uid)
    client.force_login(cast.alice)
    address = reverse("benchmark:run", args=[cast.project.slug, run.uid])
    page = " ".join(client.get(address).content.decode().split())
    assert "imported from" in page and "answers.json" in page and "calls made" not in page and "$0" not in page
    assert "Run again" not in page and "Extend" not in page
    listed = client.get(reverse("benchmark:runs", args=[cast.project.slug])).content.decode()
    assert "imported" in listed and "$0" not in listed
    made = client.get(f"{address}made/").content.decode()
    assert run.imported.digest in made and "acme/large 2" in made
    facts = dict(document_of(run).facts)
    assert (
        facts["Prompts, calls and price"] == "not known: imported" and facts["Model as written there"] == "acme/large 2"
    )
    methods = {part["heading"]: part["text"] for part in document_of(run).methods}
    assert "made elsewhere" in methods["Answers"] and "Prompts" not in methods
    item = RunItem.objects.filter(entrant__run=run).first()
    shown = " ".join(client.get(f"{address}items/{item.pk}/").content.decode().split())
    assert "imported" in shown and "$" not in shown.split("<main")[1]
    assert work_off(run).job.state == "finished"


# --- matching, without a database
# ------------------------------------------------------------------------------------------------
FILE_SAMPLES = [
    FileSample(1, "a", ["Story one. Where is the ball?"], ["Story one, which is long.", "Where is the ball?"]),
    FileSample(2, "b", ["Story two. Where is the ball?"], ["Story two, which is long.", "Where is the ball?"]),
]


def _matched(*records: Record):
    return match(records, Index(FILE_SAMPLES), steps=["answer"], turns=1)


def test_an_answer_is_matched_by_the_whole_prompt_or_by_story_and_question_together():
    whole = _matched(Record("1", [], "x", ["Story  two.\nWhere is the ball?"]))
    assert list(whole.answers) == [(2, "answer", 0)]
    parts = _matched(Record("1", [], "x", ["Where is the ball?", "Story one, which is long.", "noise"]))
    assert list(parts.answers) == [(1, "answer", 0)]
    alone = _matched(Record("1", [], "x", ["Where is the ball?"]))
    assert not alone.answers and "no sample has exactly this text" in alone.unmatched[0][1]


def test_equal_doubles_count_once_and_others_not_at_all():
    equal = _matched(Record("1", ["a"], "x"), Record("2", ["a"], "x"))
    assert [record.where for record in equal.answers.values()] == ["1"] and "counts once" in equal.double[0][1]
    unequal = _matched(Record("1", ["a"], "x"), Record("2", ["a"], "y"), Record("3", ["a"], "x"))
    assert not unequal.answers and [where for where, _ in unequal.double] == ["2", "3"]


def test_a_step_that_nobody_is_asked_is_not_answered():
    assert "is an answer at 'judge'; expected answer" in _matched(Record("1", ["a"], "x", step="judge")).unmatched[0][1]


# --- lm-evaluation-harness: the layout of its version 0.4.13
# ----------------------------------------------------------------------
def _sample(doc_id: int, doc: dict, asked, *resps: str, filter: str = "none") -> dict:
    argument = {"arg_0": asked, "arg_1": {"until": ["\n\n"], "do_sample": False}}
    return {
        "doc_id": doc_id, "doc": doc, "target": "x", "arguments": {"gen_args_0": argument}, "resps": [list(resps)],
        "filtered_resps": [resps[0]], "filter": filter, "metrics": ["exact_match"], "doc_hash": "0", "exact_match": 0.0,
    }  # fmt: skip


def _chat(text: str) -> list[str]:
    """A prompt as it is logged where a chat template is applied."""
    return [json.dumps([{"role": "system", "content": "Be careful."}, {"role": "user", "content": text}])]


SAMPLES = [
    _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4"),
    _sample(1, {"text": "nothing that names it"}, _chat("please: 3 + 4 = ?"), "7", "8"),
    _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4", filter="letter"),
]
LM_EVAL_RESULTS = {
    "results": {"sums": {"exact_match,none": 0.5}},
    "configs": {"sums": {"generation_kwargs": {"until": ["\n\n"]}}},
    "n-shot": {"sums": 0},
    "n-samples": {"sums": {"original": 2, "effective": 2}},
    "date": 1795417892.9,
    "lm_eval_version": "0.4.13",
    "config": {
        "model": "local-chat-completions",
        "model_args": {"model": "acme/2", "api_key": "hidden", "max_tokens": 9},
        "gen_kwargs": {},
        "random_seed": 3,
    },
    "model_source": "local-chat-completions",
    "model_name": "acme/2",
    "system_instruction": "Be careful.",
}
STAMP = "2026-11-23T07-11-42.212490"


def test_samples_of_a_chat_are_matched_by_what_the_user_said_and_results_say_how_it_was_asked(bring):
    lines = "".join(json.dumps(line) + "\n" for line in SAMPLES)
    told = bring(lines, name=f"samples_sums_{STAMP}.jsonl", beside=[(f"results_{STAMP}.json", LM_EVAL_RESULTS)])
    assert (told["model"], told["tool"], told["version"]) == ("acme/2", HARNESS, "0.4.13")
    assert (told["records"], told["answers"], told["by_id"], told["by_text"], told["repetitions"]) == (4, 4, 2, 2, 2)
    assert told["unmatched"] == told["double"] == []
    facts = told["facts"]
    assert (facts["time"], facts["seed"], facts["asked by"]) == (STAMP, "3", "local-chat-completions")
    assert facts["model arguments"] == "model=acme/2, max_tokens=9" and facts["generation"] == "until=['\\n\\n']"
    call = RunItem.objects.get(sample__key="sum-1", step="sum", repetition=1).call
    assert [one["role"] for one in json.loads(call.body)["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    "text",
    ["[{" + '"a": [' * 50_000, '[{"role": "user", "role": "system", "content": "x"}]', "[{3 + 4}]"],
    ids=["deep", "a field twice", "no JSON"],
)
def test_a_text_that_only_begins_as_a_chat_is_what_the_user_said(tmp_path, text):
    path = tmp_path / f"samples_sums_{STAMP}.jsonl"
    path.write_text(json.dumps(_sample(0, {"id": "sum-0"}, [text], "3")), "utf-8")
    assert read_made(path, path.name).records[0].messages == [{"role": "user", "content": text}]


def test_samples_of_several_tasks_in_one_file_keep_equal_answers_to_the_first_document_of_each(tmp_path):
    rows = [_sample(0, {"id": name}, "?", "3", filter=filter) for name in ("sum-0", "sum-1") for filter in ("a", "b")]
    made = read_made(_written(tmp_path / "all.jsonl", "\n".join(map(json.dumps, rows))), "all.jsonl")
    assert [list(record.ids) for record in made.records] == [["sum-0"], ["sum-1"]]


def test_results_alone_hold_no_answers_and_files_of_two_models_are_two_runs(bring):
    with pytest.raises(CommandError, match=r"results\.json has figures and no answers; give the file of samples"):
        bring(LM_EVAL_RESULTS, name="results.json")
    with pytest.raises(CommandError, match=r"several models, a.json of acme/2 and b.json of acme/3"):
        bring(LM_EVAL_RESULTS, name="a.json", beside=[("b.json", LM_EVAL_RESULTS | {"model_name": "acme/3"})])


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


@pytest.mark.parametrize("format", ["eval", "json"])
def test_a_log_of_inspect_ai_is_read_by_its_own_package(tmp_path, format):
    path = _log(tmp_path / "logs", log_format=format)
    made = read_made(path, path.name)
    assert (made.model, made.tool, made.facts["task"]) == ("mockllm/model", "inspect_ai", "sums") and made.version
    assert [(record.ids[0], record.text, record.turn) for record in made.records] == [
        ("else", "me", 0),
        ("sum-0", "3", 0),
        ("sum-1", "8", 0),
    ]
    assert made.records[1].messages == [{"role": "user", "content": "1 + 2"}]


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


def test_without_its_package_a_log_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    (tmp_path / "a.eval").write_bytes(b"PK")
    with pytest.raises(BadFile, match=r"a\.eval: Logs of inspect_ai are read by its own package"):
        read_made(tmp_path / "a.eval", "a.eval")


def test_an_error_without_words_and_a_log_too_large_are_one_sentence(tmp_path, monkeypatch):
    def silent(*args, **how):
        raise ValueError

    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", " " * 10_000)
    monkeypatch.setattr(files, "_inspect_package", lambda name: SimpleNamespace(read_eval_log=silent))
    with pytest.raises(BadFile, match=r"^a\.eval cannot be read as a log of inspect_ai: ValueError$"):
        read_made(path, "a.eval")
    monkeypatch.setattr(files.oversize, "__kwdefaults__", {"most_bytes": 5_000, "most_files": 9})
    with pytest.raises(BadFile, match=r"^a\.eval unpacks to more than 0 MB\.$"):
        read_made(path, "a.eval")
