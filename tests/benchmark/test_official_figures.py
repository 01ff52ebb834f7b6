"""A run's official figures are one thing, wherever they are read: report, leaderboard, command, download,
score_outputs."""

from __future__ import annotations

import io
import zipfile

import pytest

from benchmark.models import AnswerFormat, Run, RunItem
from benchmark.services.comparisons import NotComparable, compare, pair_of, why_unreadable
from benchmark.services.downloads import output_files, zipped
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import report_of, scores_of
from benchmark.services.result_tables import group_table
from benchmark.suites.omnitom.data import record_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.official import STRUCTURED, score_official
from tests.benchmark.evaluation import OracleWorld
from tests.benchmark.test_hostile_answers import LONG, labelled, record, saying
from tests.servers import ModelServer

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]

STORIES = 7
SKILL = {"recall": 1.0, "invented": 0.0, "accuracy": dict.fromkeys(DIMENSIONS, 1.0)}
TOO_LONG = labelled(lambda _: LONG)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ModelServer(folder=tmp_path_factory.mktemp("models")) as held:
        yield held


@pytest.fixture
def world(server, tmp_path):
    records = [record(number) for number in range(1, STORIES + 1)]
    return OracleWorld(tmp_path, records, server, {"model": SKILL, "second": SKILL, "judge": {}})


def scored_elsewhere(run: Run) -> dict:
    """What score_outputs makes of the very answers of the run."""
    texts: dict[int, dict[str, str]] = {}
    held = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    for number, step, answer in held.values_list("sample__number", "step", "call__answer"):
        texts.setdefault(number, {})[step] = answer
    return score_official([record_of(one.record) for one in run.dataset.samples.order_by("position")], texts).as_json()


def everywhere(run: Run, group: str) -> dict:
    """{place: the official overall figures there, None without}; the report has no mean to compare but that."""
    table = next(iter(leaderboard_of(run.dataset, run.answer_format, None).entrants[group])).parses.official
    report = report_of(run).entrants[0].groups[group].parses.official
    command = scores_of(run)["official"][group]
    found = {"leaderboard": table and table.told(), "report": report and report.told(), "command": command}
    return {place: metrics and _without_interval(metrics["overall"]) for place, metrics in found.items()}


def _without_interval(overall: dict) -> dict:
    beside = ("interval", "reasons", "n", "unreadable", "bounds")
    return {name: value for name, value in overall.items() if name not in beside}


def metrics_in(run: Run) -> set[str]:
    content = b"".join(zipped(output_files(run.entrants.get())))
    return {name for name in zipfile.ZipFile(io.BytesIO(content)).namelist() if name.startswith("metrics/")}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"when": "tale 3!", "mode": "error-400"}, ("Story 3 has no answer for label; official scoring needs one of " "every story.")),  # noqa: E501
        (saying({5: TOO_LONG})[0], "Story 5, label: "),
    ],
)  # fmt: skip
def test_one_answer_that_lacks_or_aborts_leaves_no_official_figure_anywhere(world, rule, reason):
    world.server.control(rules=[rule])
    run = world.run(steps=("label",))
    elsewhere = scored_elsewhere(run)
    assert elsewhere["stage2"] is None and elsewhere["reason"]["stage2"].startswith(reason)
    assert everywhere(run, "stage2") == {"leaderboard": None, "report": None, "command": None}
    assert not metrics_in(run)
    # each says why, in the same words
    sentence = elsewhere["reason"]["stage2"]
    assert scores_of(run)["official"]["reason"]["stage2"] == sentence
    [entry] = leaderboard_of(run.dataset, run.answer_format, None).entrants["stage2"]
    assert report_of(run).entrants[0].groups["stage2"].reason == entry.metrics.reason == sentence
    assert sentence in group_table([entry], "stage2").notes
    # a missing answer is missing when repaired, a long one is read: 7 − 1 of 7 labels, nothing unreadable
    overall = scores_of(run)["repaired"]["stage2"]["overall"]
    assert (overall["stories"], overall["unreadable"]) == ((6, 1) if rule["mode"] == "error-400" else (7, 0))


def test_where_every_answer_is_there_the_figures_are_equal_everywhere(world):
    world.server.control(rules=[])
    run = world.run()
    for group in ("stage1", "stage2"):
        expected = scored_elsewhere(run)[group]["overall"]
        assert everywhere(run, group) == dict.fromkeys(("leaderboard", "report", "command"), expected)
    assert "reason" not in scores_of(run)["official"] and len(metrics_in(run)) == 6


@pytest.mark.parametrize(
    ("step", "opening"),
    [("extract", "Draw up the belief table of this story."), ("judge", "Compare these two tables.")],
)
def test_stage_1_needs_both_of_its_answers(world, step, opening):
    world.server.control(rules=[{"when": f"{opening}\n\nStory:\n=====\nInes in tale 2!", "mode": "error-400"}])
    run = world.run(steps=("extract", "judge"))
    answered = RunItem.objects.filter(entrant__run=run, sample__number=2, call__isnull=False)
    assert list(answered.values_list("step", flat=True)) == ([] if step == "extract" else ["extract"])
    assert everywhere(run, "stage1") == {"leaderboard": None, "report": None, "command": None}
    sentence = f"Story 2 has no answer for {step}; official scoring needs one of every story."
    assert scored_elsewhere(run)["reason"]["stage1"] == scores_of(run)["official"]["reason"]["stage1"] == sentence


def test_a_selection_without_the_story_that_aborts_has_its_figures(world):
    """Official scoring averages only the selection: stories 1 to 4 of a run whose story 5 aborts."""
    world.server.control(rules=saying({5: TOO_LONG}))
    run = world.run(steps=("label",))
    small = world.run("second", steps=("label",), limit=4)
    key = f"run:{small.uid}"
    shown = {one.run: one.parses for one in leaderboard_of(run.dataset, run.answer_format, key).entrants["stage2"]}
    expected = scores_of(small)["official"]["stage2"]
    for uid in (run.uid, small.uid):
        assert _without_interval(shown[uid].overall("official").told) == expected["overall"]
    assert expected["overall"]["stories"] == "4"
    world.server.control(rules=[])
    whole = world.run("second", steps=("label",))
    shown = {one.run: one for one in leaderboard_of(run.dataset, run.answer_format, None).entrants["stage2"]}
    assert shown[run.uid].parses.official is None and shown[run.uid].ranking["official"] is None
    assert shown[whole.uid].parses.official and shown[whole.uid].ranking["official"].rank == 1


def test_a_model_without_official_figures_is_not_compared_by_them(world, client):
    world.server.control(rules=saying({5: TOO_LONG}))
    run = world.run("model", steps=("label",))
    world.server.control(rules=[])
    other = world.run("second", steps=("label",))
    keys = [f"{one.uid}.{one.entrants.get().pk}" for one in (run, other)]
    _, entries = pair_of(run.project, *keys)
    assert "Story 5, label" in why_unreadable(entries["stage2"], "stage2", "official")
    with pytest.raises(NotComparable, match="Story 5, label"):
        compare(entries["stage2"], "stage2", "official")
    assert compare(entries["stage2"], "stage2", "repaired").n == STORIES


def test_a_keep_that_was_not_asked_for_says_so(world):
    run = world.run(steps=("label",))
    reason = {"stage1": "No story has an answer for extract."}
    scores = scores_of(run)
    assert scores["official"]["stage1"] is None and scores["official"]["reason"] == reason
    assert scores["repaired"]["stage1"] is None and scores["repaired"]["reason"] == reason
    extracted = scores_of(world.run(steps=("extract",)))
    assert extracted["official"]["reason"]["stage1"] == "No story has an answer for judge."
    structured = scores_of(world.run(steps=("label",), answer_format=AnswerFormat.STRUCTURED))
    assert structured["official"]["stage2"] is None and structured["official"]["reason"]["stage2"] == STRUCTURED
