"""The small copy from its import to the downloads, asked by a method of two steps."""

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
from tests.benchmark.suites.opentom.small import GOLD, PLACES, TRUTHS
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PERSPECTIVE = "simtom-perspective"
FALSE = {key for key, truth in TRUTHS.items() if GOLD[key] != truth}
"""The questions whose belief is false."""


def post_copy(client, cast, folder):
    """Send the folder as an archive to the page that imports it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"OpenToM/{path.name}")
    file = SimpleUploadedFile("OpenToM.zip", buffer.getvalue(), "application/zip")
    address = reverse("benchmark:import_copy", args=[cast.project.slug, "opentom"])
    return client.post(address, {"file": file, "set_narratives": "all"})


@pytest.fixture
def say(monkeypatch):
    """Makes an endpoint that answers by a function: `say("wise", lambda body: "Yes")`."""

    def make(name: str, answer) -> str:
        monkeypatch.setitem(FUNCTIONS, name, answer)
        make_endpoint(name, model=name, options={"function": name})
        return name

    return make


def command(*arguments, **options) -> dict:
    out = io.StringIO()
    call_command(*arguments, "--json", stdout=out, **options)
    return json.loads(out.getvalue())


def test_a_run_from_the_import_to_the_downloads(alice, cast, copy_of, say):
    slug = cast.project.slug
    assert post_copy(alice, cast, copy_of()).status_code == 302
    for name, answers in (("oracle", GOLD), ("omniscient", TRUTHS)):
        say(name, lambda body, answers=answers: answers.get(body["task"].get("key"), "A hat was carried."))
    page = written(alice.get(reverse("benchmark:launch", args=[slug]), {"dataset": 1}))
    assert "OpenToM" in page and "SimToM" in page and "First what the person knows" in page
    sent = {"dataset": 1, "endpoints": ["oracle", "omniscient"], "steps": ["answer"], "method": "simtom"}
    sent |= {"repetitions": 1, "max_tokens": 100, "seed": 1, "title": "Two minds"}
    estimated = written(alice.get(reverse("benchmark:estimate", args=[slug]), sent))
    # of each narrative the mover's, the observer's and the narrator's story, and 23 answers, by two models
    assert "520 calls" in estimated and "230 questions" in estimated
    preview = written(alice.get(reverse("benchmark:prompt_preview", args=[slug]), sent | {"shown": PERSPECTIVE}))
    assert "Which of these events does Ines know about?" in preview
    launched = alice.post(reverse("benchmark:launch", args=[slug]), sent)
    assert launched.status_code == 302, launched.content.decode()
    run = work_off(Run.objects.get())
    _answers_are_those_of_the_models(run)
    _figures_follow(run)
    _pages_show_them(run, alice)
    _tables_and_pictures_are_downloaded(run, alice)


def _answers_are_those_of_the_models(run):
    asked = RunItem.objects.filter(entrant__run=run)
    answered = asked.filter(step="answer")
    assert asked.filter(step=PERSPECTIVE).count() == answered.count() == 2 * 230
    assert asked.filter(step=PERSPECTIVE).values("call").distinct().count() == 2 * 30
    prompt = answered.filter(sample__key="00000000/location_cg_fo/1").first().call.body
    assert "You are Tomas. This is what you know:\\n\\nA hat was carried." in prompt
    for name, wrong in (("oracle", set()), ("omniscient", FALSE)):
        of_model = answered.filter(entrant__name=name).exclude(repaired_score=1.0)
        assert set(of_model.values_list("sample__key", flat=True)) == wrong and len(FALSE) == 5 * 15
    # the released code does not read places of nested names, or of articles that are no article
    nested = answered.filter(entrant__name="oracle", score=0.0)
    assert {int(item.sample.key[:8]) for item in nested} <= {0, 5, 1, 6, 4, 9}
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


def _pages_show_them(run, client):
    where, of_item = [run.project.slug, run.uid], {"sample__key": "00000001/location_fg_fo_new/3", "step": "answer"}
    item = RunItem.objects.get(entrant__run=run, entrant__name="omniscient", **of_item)
    pages = {
        name: written(client.get(reverse(f"benchmark:{name}", args=args), data))
        for name, args, data in (
            *((name, where, {}) for name in ("run", "run_made", "run_results")),
            ("run_report", where, {"parse": "repaired"}),
            ("run_items", where, {"step": "answer"}),
            ("run_item", [*where, item.pk], {}),
            ("leaderboard", where[:1], {}),
            ("differences", where[:1], {}),
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


def _tables_and_pictures_are_downloaded(run, client):
    own = ("genres", "gap", "kinds", "unreadable", "unfaithful")
    document = document_of(run)
    tables, pictures = tables_of(document), plots_of(document)
    for parse in ("official", "repaired"):
        assert {f"{name}-{parse}" for name in own} <= set(tables) and f"genres-{parse}" in pictures
        assert f"batches-{parse}" not in tables, "ten narratives are all in the first of the five samples"
    assert tables["genres-repaired"]().beside_a_paper and not tables["opentom"]().beside_a_paper
    where = [run.project.slug, run.uid]
    for name in own:
        for suffix in ("csv", "json", "tex"):
            file = client.get(reverse("benchmark:run_table", args=[*where, f"{name}-repaired", suffix]))
            assert file.status_code == 200 and b"omniscient" in file.content
    for suffix, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        file = client.get(reverse("benchmark:run_plot", args=[*where, "genres-repaired", suffix]))
        assert file.content.startswith(start)
    assert client.get(reverse("benchmark:run_scores", args=where)).status_code == 200


def test_the_command_imports_long_narratives_and_runs_the_baselines(cast, copy_of):
    where = {"project": cast.project.slug}
    told = command("import_suite", "opentom", copy_of(), "--option", "narratives=long", **where)
    assert told["samples"] == 46 == Dataset.objects.get().stories_count
    for name in ("random", "majority"):
        make_endpoint(name, provider="baseline", model=name)
    asked = ("--suite", "opentom", "--endpoint", "random", "--endpoint", "majority", "--wait")
    scores = command("run_benchmark", *asked, **where)["scores"]
    assert scores["random"]["repaired"]["opentom"]["overall"]["accuracy"] > 0
    [table] = [group_table(entrants, "opentom") for entrants in document_of(Run.objects.get()).groups.values()]
    majority = scores["majority"]["repaired"]["opentom"]["overall"]["accuracy"]
    chance, most = table.totals
    assert (most["model"], most["repaired_accuracy"].value, most["stories"]) == ("Majority baseline", majority, 46)
    assert (chance["model"], chance["stories"]) == ("Chance level", 46)
    assert 1 / 3 < chance["repaired_accuracy"].value < 1 / 2
    assert LEVELS_NOTE in table.notes and NO_BASELINE not in table.notes
    multihop = RunItem.objects.filter(entrant__name="majority", sample__gold__type="multihop-fo")
    # long narratives are unseen ones: half of the answers about fullness say equally, a quarter each less and more
    fullness = [item.call.answer for item in multihop if item.sample.content["kind"] == "fullness"]
    assert {*fullness} == {"equally full"}


def test_a_copy_that_is_not_the_released_one_is_refused_on_the_page(cast, alice, copy_of):
    folder = copy_of({"attitude.json": b"{"})
    told = written(post_copy(alice, cast, folder))
    assert "attitude.json is not the released file" in told and not Dataset.objects.exists()
    assert post_copy(Client(), cast, folder).status_code == 302  # to the log-in


def test_both_questions_on_a_place_are_asked_in_one_session_by_calls_that_answer_the_first_ones_too(cast, copy_of, say):
    where = {"project": cast.project.slug}
    command("import_suite", "opentom", copy_of(), "--option", "narratives=long", **where)

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

    asked = ("--suite", "opentom", "--endpoint", say("contrary", contrary), "--wait")
    calls = {"joint": {"made": 46, "reused": 46}, "plain": {"made": 8, "reused": 38}}
    for method, unfaithful in (("joint", 0), ("plain", 1)):
        assert command("run_benchmark", *asked, "--method", method, **where)["calls"] == calls[method]
        [metrics] = report_of(Run.objects.latest("pk")).entrants
        found = metrics.groups["opentom"].analysed("repaired").kept["opentom"]["unfaithful"]
        assert [found[order]["of_all"]["value"] for order in ("first", "second")] == [unfaithful] * 2


def test_a_model_that_refuses_is_missing_and_one_that_answers_otherwise_is_wrong(cast, alice, copy_of, say):
    post_copy(alice, cast, copy_of())
    asked = ["--suite", "opentom", "--method", "plain", "--wait"]
    for name, answer in (("refuses", "I can't help with that."), ("elsewhere", "In the aquarium.")):
        asked += ["--endpoint", say(name, lambda body, answer=answer: answer)]
    command("run_benchmark", *asked, project=cast.project.slug)
    run = Run.objects.get()
    repaired = {row.name: row.groups["opentom"].parses.overall("repaired") for row in report_of(run).entrants}
    assert repaired["refuses"].value_of("accuracy") is None and repaired["refuses"].unreadable_reasons == {REFUSED: 230}
    assert repaired["elsewhere"].value_of("accuracy") == 0.0 and not repaired["elsewhere"].unreadable_reasons
    pages = {}
    for name in repaired:
        item = RunItem.objects.filter(entrant__name=name, sample__content__kind="fine").first()
        pages[name] = written(alice.get(reverse("benchmark:run_item", args=[cast.project.slug, run.uid, item.pk])))
    assert "The model refused. It is unreadable in the repaired parse." in pages["refuses"]
    assert "The answer gives “aquarium”, which is none of the possible answers" in pages["elsewhere"]
    assert "none of the possible answers" not in pages["refuses"] and "unreadable in" not in pages["elsewhere"]


def test_a_cut_answer_outside_the_set_is_missing():
    for state, why in [("truncated", TRUNCATED), ("succeeded", "")]:
        parsed = Parsed({"label": 3}, {"label": -2, "outside": "cupb"}, 0.0, 0.0, stray=True)
        assert _unreadable_reason(SimpleNamespace(state=state, problem=""), parsed) == why
