"""Answers that were made elsewhere become a run: matched by id or by exactly what was asked, read and scored as a
model's, never told as free, and no page opens with them where the site has runs of its own."""

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
from benchmark.services import leaderboard_scope
from benchmark.services.across import rankings_across
from benchmark.services.archiving import delete_run
from benchmark.services.documents import document_of
from benchmark.services.extending import extend_run
from benchmark.services.launches import run_again
from benchmark.services.leaderboard_scope import finished_runs, leaderboard_of
from benchmark.services.leaderboards import selections_of
from benchmark.services.made_elsewhere import files
from benchmark.services.made_elsewhere.files import HARNESS, BadFile, read_made
from benchmark.services.plans import RunRefused
from benchmark.services.reports import report_of, reports_of, scores_of
from benchmark.suites.reasons import NOT_IN_FILE
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny_copies import RIGHT, cast_with_sums, imported
from workers.models import Call, Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
MODEL = ("--model", "acme/large 2")
STAMP = "2026-11-23T07-11-42.212490"
SAMPLES = f"samples_sums_{STAMP}.jsonl"
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


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def command(cast):
    """`command(name, *arguments)`: what the command prints about the cast's project."""
    return partial(_printed, cast)


def _printed(cast, name: str, *arguments: object) -> dict:
    out, told = io.StringIO(), ["--project", cast.project.slug, "--json"]
    call_command(name, *map(str, arguments), *told, stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


@pytest.fixture
def bring(cast, tmp_path):
    """`bring(answers, *flags)`: what the command prints of a file with this content, its name first where it
    matters."""

    def make(content, *flags: str, name: str = "answers.json", beside=()) -> dict:
        paths = [_written(tmp_path / one, text) for one, text in ((name, content), *beside)]
        return _printed(cast, "import_answers", *paths, *flags)

    return make


def _written(path: Path, content) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def some(*numbers: int) -> dict[str, str]:
    return {f"sum-{at}": RIGHT[f"sum-{at}"] for at in numbers}


def overall(run: Run):
    return report_of(run).entrants[0].groups["tiny"].parses.overall("repaired")


def test_they_are_read_and_scored_as_the_answers_of_a_model(bring, cast):
    told = bring(RIGHT | {"sum-0": "I say 4"}, *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["run"], told["answers"], told["missing"]) == (run.uid, 12, [])
    make_endpoint("adder", provider="baseline", model="adder")
    asked = ("--project", cast.project.slug, "--suite", "tiny", "--step", "all", "--endpoint", "adder", "--wait")
    call_command("run_benchmark", *asked, stdout=io.StringIO(), stderr=io.StringIO())  # as it is told to people
    asked = Run.objects.exclude(pk=run.pk).get()

    def parses(of: Run) -> dict:
        items = RunItem.objects.filter(entrant__run=of, step="sum")
        return {item.sample.key: (item.official, item.repaired, item.score) for item in items.select_related("sample")}

    mine, theirs = parses(run), parses(asked)
    assert {key for key in mine if mine[key] != theirs[key]} == {"sum-0"} and set(mine) == set(theirs)
    right = [scores_of(of)["repaired"]["tiny"]["overall"]["right"] for of in (run, asked)]
    assert right[0] < right[1]


def test_a_run_has_the_samples_that_the_file_answers_or_the_whole_dataset(bring):
    told = bring(some(1, 2), *MODEL)
    run = Run.objects.select_related("job").get()
    assert (told["samples"], told["taken"], told["answers"], told["state"]) == (12, 2, 2, "finished")
    assert (told["missing_answers"], len(told["missing"])) == (10, 10)
    items = RunItem.objects.filter(entrant__run=run)
    assert sorted(items.values_list("sample__key", "item__state")) == [("sum-1", "done"), ("sum-2", "done")]
    assert (run.parameters.stories, run.imported.samples, run.imported.taken) == (2, 12, 2)
    assert (overall(run).stories, overall(run).bounds_of("right")) == (2, pytest.approx([1.0, 1.0]))
    told = bring(some(1, 2), "--model", "other", "--whole")
    run = Run.objects.get(uid=told["run"])
    assert (told["missing_answers"], len(told["missing"]), told["state"]) == (10, 10, "finished with failures")
    lost = RunItem.objects.filter(entrant__run=run, call=None)
    assert set(lost.values_list("unreadable", "item__state", "item__problem")) == {(NOT_IN_FILE, "failed", NOT_IN_FILE)}
    assert overall(run).bounds_of("right") == pytest.approx([2 / 12, 1.0])


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


def test_a_file_that_cannot_be_taken_is_one_sentence_and_leaves_nothing(bring):
    figures, other = ("results.json", LM_EVAL_RESULTS), ("b.json", LM_EVAL_RESULTS | {"model_name": "acme/3"})
    for name, content, said in [
        ("a.json", "[1]", "a.json holds no answers; expected one JSON object"),
        ("a.json", '{"sum-0": 3}', "a.json, answer 'sum-0': it is not a text"),
        ("a.json", '{"who": "me"}', "none of its 1 answers is to a sample .* samples are called like 'sum-0'"),
        ("a.json", "{", "a.json"),
        ("a.json", '{"results": {}, "lm_eval_version": "1", "date": 1e400}', "a.json is damaged: .* expected: Results"),
        ("a.jsonl", '{"doc": {}, "resps": [["1"]]}\n{', "a.jsonl, line 2"),
        ("a.jsonl", '{"doc": {}, "resps": [[["-3.2", "False"]]]}', "a.jsonl, line 1: its resps are not texts"),
        ("a.jsonl", '{"doc": {"date": 1e400}, "resps": [["1"]]}', "none of its 1 answers is to a sample"),
        ("a.jsonl", '{"text": "x"}', "a.jsonl, line 1: it has no doc and resps"),
        (
            "a.jsonl",
            '{"doc_id": [1], "doc": {}, "resps": [["x"]]}',
            "a.jsonl, line 1, doc_id: it is a list; expected a",
        ),
        (*figures, r"results\.json has figures and no answers; give the file of samples"),
    ]:
        with pytest.raises(CommandError, match=said):
            bring(content, *MODEL, name=name)
    with pytest.raises(CommandError, match="The file does not say which model answered"):
        bring(RIGHT)
    with pytest.raises(CommandError, match=r"is repetition 2; the run has 1"):
        bring({"sum-0/1": "3"}, *MODEL, "--repetitions", "1")
    with pytest.raises(CommandError, match=r"several models, a.json of acme/2 and b.json of acme/3"):
        bring(LM_EVAL_RESULTS, name="a.json", beside=[other])
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


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
    document = document_of(run)
    facts = dict(document.facts)
    assert facts["Prompts, calls and price"] == "not known: imported"
    assert facts["Model as written there"] == "acme/large 2"
    methods = {part["heading"]: part["text"] for part in document.methods}
    assert "made elsewhere" in methods["Answers"] and "Prompts" not in methods
    shown = written(alice.get(f"{address}items/{RunItem.objects.filter(entrant__run=run).first().pk}/"))
    assert "imported" in shown and "$" not in shown.split("<main")[1]
    assert work_off(run).job.state == "finished"


# --- beside runs of the site


@pytest.fixture
def ours(command) -> Run:
    """A run of two models about the first six of twelve sums."""
    for name, said in (("three", "3"), ("seven", "7")):
        make_endpoint(name, options={"default": said})
    models = ("--endpoint", "three", "--endpoint", "seven")
    told = command("run_benchmark", "--suite", "tiny", "--step", "all", *models, "--limit", 6, "--wait")
    return Run.objects.select_related("dataset").get(uid=told["run"])


@pytest.fixture
def elsewhere(bring):
    """`elsewhere(model, count, *flags)`: an import of so many of the answers."""
    return lambda model, count, *flags: Run.objects.get(
        uid=bring(some(*range(count)), "--model", model, *flags, name=f"{model}.json")["run"]
    )


def test_no_page_opens_with_answers_made_elsewhere(ours, elsewhere, command, alice, cast):
    models = {"three", "seven"}
    for number, imports in enumerate(
        (
            [("elsewhere", 3, ["--whole"])],
            [("elsewhere", 12, [])],
            [("elsewhere", 12, []), ("further", 12, []), ("third", 12, ["--whole"])],
            [("elsewhere", 6, []), ("further", 6, []), ("third", 6, [])],
            [("elsewhere", 2, [])],
        )
    ):
        runs = [elsewhere(f"{model} {number}", count, *flags) for model, count, flags in imports]
        board = leaderboard_of(ours.dataset, "text", None, suite="tiny")
        assert {row.name for row in board.entrants["tiny"]} == models and len(board.chosen.stories) == 6
        [ranking] = rankings_across(cast.project)
        assert {model.name for model in ranking.places.values()} == models
        assert {row["model"] for row in command("leaderboard")["groups"]["tiny"]} == models
        for page in ("leaderboard", "differences", "across"):
            shown = written(alice.get(reverse(f"benchmark:{page}", args=[cast.project.slug])))
            assert "three" in shown and "seven" in shown and "nothing to compare" not in shown.lower(), page
        named = {absence.model for absence in board.absent}
        assert named >= {f"{model} {number}" for model, _, _ in imports}, "they are named beside the ranking"
        for run in runs:
            delete_run(by=cast.alice, run=run, now=timezone.now())


def test_a_ranking_is_of_the_runs_with_most_answers(elsewhere):
    partly, full = elsewhere("partial", 2, "--whole"), elsewhere("full", 7)
    dataset = full.dataset

    def chosen_of() -> list[int]:
        runs = finished_runs(dataset, "text", "tiny")
        return [len(selection.stories) for selection in selections_of(dataset, reports_of(runs), runs)]

    assert chosen_of() == [7, 12]
    board = leaderboard_of(dataset, "text", None, suite="tiny")
    assert {row.name for row in board.entrants["tiny"]} == {"partial", "full"}
    assert {run.pk for run in board.runs} == {partly.pk, full.pk}
    # of runs of ours, too, a larger one with few answers gives way to a fuller one
    for run in (partly, full):
        spec = {name: value for name, value in run.spec.items() if name != "imported"}
        Run.objects.filter(pk=run.pk).update(spec=spec)
    assert not any(run.imported for run in finished_runs(dataset, "text", "tiny")) and chosen_of() == [7, 12]


def test_a_newer_version_with_an_import_alone_is_not_shown(ours, elsewhere, cast, alice):
    assert imported(alice, cast, set_most="8").status_code == 302
    run = elsewhere("elsewhere", 3, "--dataset", "2")
    assert run.dataset.version == 2 and leaderboard_scope.version_to_show(cast.project) == ours.dataset
    assert [scope["dataset"].version for scope in leaderboard_scope.leaderboard_scopes(cast.project)] == [1, 2]
    assert leaderboard_scope.suite_to_show(ours.dataset) == "tiny"
    assert leaderboard_scope.answer_format_to_show(ours.dataset, "tiny") == "text"
    Run.objects.filter(pk=ours.pk).update(answer_format="structured")
    elsewhere("further", 3, "--dataset", "1")
    assert leaderboard_scope.answer_format_to_show(ours.dataset, "tiny") == "structured"


# --- lm-evaluation-harness: the layout of its version 0.4.13


def _sample(doc_id: int, doc: dict, asked, *resps: str, filter: str = "none") -> dict:
    argument = {"arg_0": asked, "arg_1": {"until": ["\n\n"], "do_sample": False}}
    told = {"target": "x", "metrics": ["exact_match"], "doc_hash": "0", "exact_match": 0.0, "filter": filter}
    of = {"doc_id": doc_id, "doc": doc, "arguments": {"gen_args_0": argument}, "resps": [list(resps)]}
    return told | of | {"filtered_resps": [resps[0]]}


def _lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_what_does_not_match_and_what_is_double_is_listed(bring):
    asked = {"arguments": [["?", {}]]}
    text = _lines(
        [
            {"doc_id": 0, "doc": {"id": "sum-0"}, "resps": [["3"]], "filter": "none", **asked},
            {"doc_id": 0, "doc": {"id": "sum-0"}, "resps": [["3"]], "filter": "strict", **asked},
            {"doc_id": 1, "doc": {"id": "sum-1"}, "resps": [["7"]], **asked},
            {"doc_id": 2, "doc": {"id": "sum-1"}, "resps": [["8"]], **asked},
            {"doc_id": 3, "doc": {"id": "elsewhere"}, "arguments": [["Who?", {}]], "resps": [["me"]]},
            _sample(4, {"q": "no id"}, "please: 5 + 6 = ?", "11"),
        ]
    )
    dry = bring(text, *MODEL, "--dry-run", name=SAMPLES)
    assert not Run.objects.exists() and not Call.objects.exists() and dry["run"] is None
    told = bring(text, *MODEL, name=SAMPLES)
    assert told | {"run": None} == {name: told.get(name) for name in told} | dry
    assert (told["tool"], told["facts"]["task"], told["format"]) == (HARNESS, "sums", "lm-eval")
    assert [row["where"] for row in told["double"]] == ["line 4"] and "neither counts" in told["double"][0]["why"]
    why = "no sample is called 'elsewhere', and no sample has exactly this text"
    assert told["unmatched"] == [{"where": "line 5", "why": why}]
    assert told["answers"] == 2 and "sum-1" in told["missing"] and "sum-2" not in told["missing"]


def test_samples_of_a_chat_are_matched_by_what_the_user_said_and_results_say_how_it_was_asked(bring, tmp_path):
    # a prompt as it is logged where a chat template is applied
    said = [("system", "Be careful."), ("user", "please: 3 + 4 = ?")]
    chat = [json.dumps([{"role": role, "content": text} for role, text in said])]
    lines = [
        _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4"),
        _sample(1, {"text": "nothing that names it"}, chat, "7", "8"),
        _sample(0, {"id": "sum-0"}, "1 + 2", "3", "4", filter="letter"),
    ]
    told = bring(_lines(lines), name=SAMPLES, beside=[(f"results_{STAMP}.json", LM_EVAL_RESULTS)])
    assert (told["model"], told["tool"], told["version"]) == ("acme/2", HARNESS, "0.4.13")
    assert (told["records"], told["answers"], told["by_id"], told["by_text"], told["repetitions"]) == (4, 4, 2, 2, 2)
    assert told["unmatched"] == told["double"] == []
    facts = told["facts"]
    assert (facts["time"], facts["seed"], facts["asked by"]) == (STAMP, "3", "local-chat-completions")
    assert facts["model arguments"] == "model=acme/2, max_tokens=9" and facts["generation"] == "until=['\\n\\n']"
    call = RunItem.objects.get(sample__key="sum-1", step="sum", repetition=1).call
    assert [one["role"] for one in json.loads(call.body)["messages"]] == ["system", "user"]
    # what only begins as a chat is what the user said
    for text in ("[{" + '"a": [' * 50_000, '[{"role": "user", "role": "system", "content": "x"}]', "[{3 + 4}]"):
        path = _written(tmp_path / SAMPLES, _sample(0, {"id": "sum-0"}, [text], "3"))
        assert read_made(path, path.name).records[0].messages == [{"role": "user", "content": text}]
    # of several tasks in one file equal answers are kept to the first document of each
    rows = [_sample(0, {"id": name}, "?", "3", filter=filter) for name in ("sum-0", "sum-1") for filter in ("a", "b")]
    made = read_made(_written(tmp_path / "all.jsonl", _lines(rows)), "all.jsonl")
    assert [list(record.ids) for record in made.records] == [["sum-0"], ["sum-1"]]


# --- inspect_ai


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


def test_a_log_of_inspect_ai_is_read_by_its_own_package_with_the_reasoning_beside_each_answer(cast, tmp_path):
    for format in ("eval", "json"):
        path = _log(tmp_path / format, log_format=format)
        made = read_made(path, path.name)
        assert (made.model, made.tool, made.facts["task"]) == ("mockllm/model", "inspect_ai", "sums") and made.version
        records = [(record.ids[0], record.text, record.turn) for record in made.records]
        assert records == [("else", "me", 0), ("sum-0", "3", 0), ("sum-1", "8", 0)]
        assert made.records[1].messages == [{"role": "user", "content": "1 + 2"}]
    from inspect_ai.model import ContentReasoning, ContentText

    thought = partial(ContentReasoning, type="reasoning")
    kept_apart = (
        [thought(reasoning="One and two."), ContentText(text="3")],
        [
            thought(reasoning="Zq81", redacted=True, summary="Adds up."),
            thought(reasoning="Sure."),
            ContentText(text="7"),
        ],
        [thought(reasoning="Zq82", redacted=True), ContentText(text="me")],
    )
    path = _log(tmp_path / "logs", kept_apart)
    call_command("import_answers", str(path), "--project", cast.project.slug, stdout=io.StringIO())
    said = {(call.answer, call.reasoning) for call in Call.objects.all()}
    assert said == {("3", "One and two."), ("7", "Adds up.\n\nSure.")}


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
