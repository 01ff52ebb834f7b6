"""The small copy from its import to the downloads, asked by a method of two steps."""

from __future__ import annotations

import io
import json
import zipfile
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from benchmark.models import Dataset, Run, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.evaluating import _unreadable_reason
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import report_of
from benchmark.services.result_tables import group_table
from benchmark.suites.questions import Parsed
from benchmark.suites.reasons import REFUSED, TRUNCATED
from benchmark.suites.showing.levels import LEVELS_NOTE, NO_BASELINE
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.suites.opentom.small import PLACES, small, truths
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PERSPECTIVE = "simtom-perspective"
GOLD = {
    f"{key}/{name.removesuffix('.json')}/{index}": question["answer"]
    for name, entries in small().items()
    if not name.startswith("meta")
    for key, questions in entries.items()
    for index, question in enumerate(questions)
}
FALSE = {key for key, truth in truths().items() if GOLD[key] != truth}
"""The questions whose belief is false."""


def zipped(folder) -> SimpleUploadedFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"OpenToM/{path.name}")
    return SimpleUploadedFile("OpenToM.zip", buffer.getvalue(), "application/zip")


def answering(answers):
    return lambda body: answers[body["task"]["key"]] if "key" in body["task"] else "A hat was carried."


@pytest.fixture
def run(cast, client, copy_of, monkeypatch) -> Run:
    """A run of two models, imported and launched on the pages."""
    client.force_login(cast.alice)
    slug = cast.project.slug
    address = reverse("benchmark:import_copy", args=[slug, "opentom"])
    assert client.post(address, {"file": zipped(copy_of()), "set_narratives": "all"}).status_code == 302
    for name, answers in (("oracle", GOLD), ("omniscient", truths())):
        monkeypatch.setitem(FUNCTIONS, name, answering(answers))
        make_endpoint(name, model=name, options={"function": name})
    page = written(client.get(reverse("benchmark:launch", args=[slug]), {"dataset": 1}))
    assert "OpenToM" in page and "SimToM" in page and "First what the person knows" in page
    sent = {
        "dataset": 1, "endpoints": ["oracle", "omniscient"], "steps": ["answer"], "method": "simtom", "repetitions": 1,
        "max_tokens": 100,
        "seed": 1, "title": "Two minds",
    }  # fmt: skip
    estimated = written(client.get(reverse("benchmark:estimate", args=[slug]), sent))
    # of each narrative the mover's, the observer's and the narrator's story, and 23 answers, by two models
    assert "520 calls" in estimated and "230 questions" in estimated
    preview = written(client.get(reverse("benchmark:prompt_preview", args=[slug]), sent | {"shown": PERSPECTIVE}))
    assert "Which of these events does Ines know about?" in preview
    launched = client.post(reverse("benchmark:launch", args=[slug]), sent)
    assert launched.status_code == 302, launched.content.decode()
    return work_off(Run.objects.get())


def test_a_run_from_the_import_to_the_downloads(run, cast, client):
    _answers_are_those_of_the_models(run)
    _figures_follow(run)
    _pages_show_them(run, cast, client)
    _tables_and_pictures_are_downloaded(run, cast, client)


def _answers_are_those_of_the_models(run):
    asked = RunItem.objects.filter(entrant__run=run)
    assert asked.filter(step=PERSPECTIVE).count() == asked.filter(step="answer").count() == 2 * 230
    assert asked.filter(step=PERSPECTIVE).values("call").distinct().count() == 2 * 30
    prompt = asked.filter(step="answer", sample__key="00000000/location_cg_fo/1").first().call.body
    assert "You are Tomas. This is what you know:\\n\\nA hat was carried." in prompt
    wrong = {
        name: set(
            asked.filter(step="answer", entrant__name=name)
            .exclude(repaired_score=1.0)
            .values_list("sample__key", flat=True)
        )
        for name in ("oracle", "omniscient")
    }
    assert wrong == {"oracle": set(), "omniscient": FALSE} and len(FALSE) == 5 * 15
    nested = asked.filter(step="answer", entrant__name="oracle", score=0.0)
    assert {item.sample.key[:8] for item in nested} <= {
        "00000000",
        "00000005",
        "00000001",
        "00000006",
        "00000004",
        "00000009",
    }
    assert all(item.sample.content["kind"] == "fine" for item in nested) and nested.exists()


def _figures_follow(run):
    metrics = {row.name: row.groups["opentom"] for row in report_of(run).entrants}
    assert metrics["oracle"].parses.overall("repaired").value_of("accuracy") == 1.0
    omniscient = metrics["omniscient"]
    assert omniscient.parses.overall("repaired").value_of("accuracy") == pytest.approx(155 / 230, abs=1e-9)
    told = omniscient.analysed("repaired").kept["opentom"]
    # first order: the mover's ten are right ("No"), of the observer's ten the five unseen are "Yes": No 15 hits of 15
    # in gold and 20 answered
    assert told["f1"]["Coarse location, first order"]["value"] == pytest.approx((30 / 35 + 0) / 2)
    assert told["unreadable"]["Coarse location, first order"]["value"] == 0
    unfaithful = told["unfaithful"]["first"]
    assert (unfaithful["pairs"], unfaithful["unreadable"], unfaithful["unfaithful"]) == (20, 0, 0)
    kinds = told["kinds"]["Multi-hop, first order"]
    assert kinds["mean"]["value"] == pytest.approx((kinds["fullness"]["value"] + kinds["accessibility"]["value"]) / 2)


def _pages_show_them(run, cast, client):
    slug, item = (
        cast.project.slug,
        RunItem.objects.get(
            entrant__run=run, entrant__name="omniscient", sample__key="00000001/location_fg_fo_new/3", step="answer"
        ),
    )
    pages = {
        name: written(client.get(reverse(f"benchmark:{name}", args=[slug, *args]), data))
        for name, args, data in (
            ("run", [run.uid], {}),
            ("run_made", [run.uid], {}),
            ("run_results", [run.uid], {}),
            ("run_report", [run.uid], {"parse": "repaired"}),
            ("run_items", [run.uid], {"step": "answer"}),
            ("run_item", [run.uid, item.pk], {}),
            ("leaderboard", [], {}),
            ("differences", [], {}),
        )
    }
    assert item.sample.content["story"][:30] in pages["run_item"] and "the observer’s view" in pages["run_item"]
    assert "All questions about this narrative" in pages["run_item"]
    assert pages["run_item"].count("/items/") >= 22, "each of the other questions about it leads to its page"
    assert "230 questions" in pages["run"] and "simtom" in pages["run_made"]
    assert "Taking the perspective" in pages["run_items"] and "00000001" not in pages["leaderboard"]
    assert "Questions were asked by the method SimToM" in pages["run_report"]
    for title in ("Macro F1 by genre", "Whose view", "Multi-hop by kind", "Unreadable and unfaithful answers"):
        assert title in pages["run_report"], title


def _tables_and_pictures_are_downloaded(run, cast, client):
    own = ("genres", "gap", "kinds", "unreadable", "unfaithful")
    document = document_of(run)
    tables, pictures = tables_of(document), plots_of(document)
    for parse in ("official", "repaired"):
        assert {f"{name}-{parse}" for name in own} <= set(tables) and f"genres-{parse}" in pictures
        assert f"batches-{parse}" not in tables, "ten narratives are all in the first of the five samples"
    assert tables["genres-repaired"]().beside_a_paper and not tables["opentom"]().beside_a_paper
    where = [cast.project.slug, run.uid]
    for name in own:
        for suffix in ("csv", "json", "tex"):
            file = client.get(reverse("benchmark:run_table", args=[*where, f"{name}-repaired", suffix]))
            assert file.status_code == 200 and b"omniscient" in file.content
    for suffix, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        file = client.get(reverse("benchmark:run_plot", args=[*where, "genres-repaired", suffix]))
        assert file.content.startswith(start)
    assert client.get(reverse("benchmark:run_scores", args=where)).status_code == 200


def test_the_command_imports_long_narratives_and_runs_the_baselines(cast, copy_of):
    out = io.StringIO()
    call_command(
        "import_suite", "opentom", copy_of(), "--option", "narratives=long", "--json", project=cast.project.slug,
        stdout=out
    )  # fmt: skip
    assert json.loads(out.getvalue())["samples"] == 46 == Dataset.objects.get().stories_count
    for name in ("random", "majority"):
        make_endpoint(name, provider="baseline", model=name)
    out = io.StringIO()
    call_command(
        "run_benchmark", "--project", cast.project.slug, "--suite", "opentom", "--endpoint", "random", "--endpoint",
        "majority", "--wait", "--json",
        stdout=out,
    )  # fmt: skip
    scores = json.loads(out.getvalue())["scores"]
    assert scores["random"]["repaired"]["opentom"]["overall"]["accuracy"] > 0
    [table] = [group_table(entrants, "opentom") for entrants in document_of(Run.objects.get()).groups.values()]
    majority = scores["majority"]["repaired"]["opentom"]["overall"]["accuracy"]
    chance, most = table.totals
    assert (most["model"], most["repaired_accuracy"].value, most["stories"]) == ("Majority baseline", majority, 46)
    assert (
        chance["model"] == "Chance level"
        and 1 / 3 < chance["repaired_accuracy"].value < 1 / 2
        and chance["stories"] == 46
    )
    assert LEVELS_NOTE in table.notes and NO_BASELINE not in table.notes
    said = {
        item.sample.content["kind"]: item.call.answer
        for item in RunItem.objects.filter(entrant__name="majority", sample__gold__type="multihop-fo")
    }
    # long narratives are unseen ones: half of the answers about fullness say equally, a quarter each less and more
    assert said["fullness"] == "equally full"


def test_a_copy_that_is_not_the_released_one_is_refused_on_the_page(cast, client, copy_of):
    client.force_login(cast.alice)
    address = reverse("benchmark:import_copy", args=[cast.project.slug, "opentom"])
    folder = copy_of({"attitude.json": b"{"})
    told = written(client.post(address, {"file": zipped(folder), "set_narratives": "all"}))
    assert "attitude.json, line 1, column 2" in told and not Dataset.objects.exists()
    assert Client().post(address, {"file": zipped(folder)}).status_code == 302  # to the log-in


def test_both_questions_on_a_place_are_asked_in_one_session_by_calls_that_answer_the_first_ones_too(
    cast, copy_of, monkeypatch
):
    options = ("--option", "narratives=long")
    call_command("import_suite", "opentom", copy_of(), *options, project=cast.project.slug, stdout=io.StringIO())

    def contrary(body) -> str:
        """No to every first question; asked in one session it says what goes with that, asked alone the original
        place."""
        key = body["task"]["key"]
        if "location_cg" in key:
            return "No"
        if "location_fg" not in key:
            return GOLD[key]
        old, new = PLACES[int(key[:8]) % 5]
        return new if [message["role"] for message in body["messages"]][-2] == "assistant" else old

    monkeypatch.setitem(FUNCTIONS, "contrary", contrary)
    make_endpoint("contrary", model="contrary", options={"function": "contrary"})
    rates = {}
    for method in ("joint", "plain"):
        out = io.StringIO()
        call_command(
            "run_benchmark", "--project", cast.project.slug, "--suite", "opentom", "--endpoint", "contrary", "--method",
            method, "--wait", "--json",
            stdout=out,
        )  # fmt: skip
        run = Run.objects.latest("pk")
        assert json.loads(out.getvalue())["calls"] == (
            {"made": 46, "reused": 46} if method == "joint" else {"made": 8, "reused": 38}
        )
        [metrics] = report_of(run).entrants
        found = metrics.groups["opentom"].analysed("repaired").kept["opentom"]["unfaithful"]
        rates[method] = [found[order]["of_all"]["value"] for order in ("first", "second")]
    assert rates == {"joint": [0, 0], "plain": [1, 1]}


def test_a_model_that_refuses_is_missing_and_one_that_answers_otherwise_is_wrong(cast, client, copy_of, monkeypatch):
    client.force_login(cast.alice)
    slug = cast.project.slug
    address = reverse("benchmark:import_copy", args=[slug, "opentom"])
    client.post(address, {"file": zipped(copy_of()), "set_narratives": "all"})
    for name, answer in (("refuses", "I can't help with that."), ("elsewhere", "In the aquarium.")):
        monkeypatch.setitem(FUNCTIONS, name, lambda body, answer=answer: answer)
        make_endpoint(name, model=name, options={"function": name})
    flags = ("--project", slug, "--suite", "opentom", "--method", "plain", "--wait", "--json")
    call_command("run_benchmark", *flags, "--endpoint", "refuses", "--endpoint", "elsewhere", stdout=io.StringIO())
    run = Run.objects.get()
    repaired = {row.name: row.groups["opentom"].parses.overall("repaired") for row in report_of(run).entrants}
    assert repaired["refuses"].value_of("accuracy") is None and repaired["refuses"].unreadable_reasons == {REFUSED: 230}
    assert repaired["elsewhere"].value_of("accuracy") == 0.0 and not repaired["elsewhere"].unreadable_reasons
    pages = {}
    for name in repaired:
        item = RunItem.objects.filter(entrant__run=run, entrant__name=name, sample__content__kind="fine").first()
        pages[name] = written(client.get(reverse("benchmark:run_item", args=[slug, run.uid, item.pk])))
    assert "The model refused. It is unreadable in the repaired parse." in " ".join(pages["refuses"].split())
    assert "The answer gives “aquarium”, which is none of the possible answers" in pages["elsewhere"]
    assert "none of the possible answers" not in pages["refuses"] and "unreadable in" not in pages["elsewhere"]


def test_a_cut_answer_outside_the_set_is_missing():
    for state, why in [("truncated", TRUNCATED), ("succeeded", "")]:
        parsed = Parsed({"label": 3}, {"label": -2, "outside": "cupb"}, 0.0, 0.0, stray=True)
        assert _unreadable_reason(SimpleNamespace(state=state, problem=""), parsed) == why
