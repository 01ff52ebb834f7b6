"""What a report says of controls: who remembers and who reads, what is missing, what stayed as it was, and which
stories flip."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmark.domain.asked_again import AskedAgain
from benchmark.models import Run, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.flips import REPETITIONS, counts_of, flips_of, ways_of
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import forget_report
from benchmark.services.snapshots import save_run_snapshot
from tests.benchmark.controls.world import QUESTIONS, READS, REMEMBERS, controlled_world
from tests.benchmark.settled import written

pytestmark = pytest.mark.django_db(transaction=True)
LOST = {"call": None, "official": None, "repaired": None, "score": None, "repaired_score": None}


@pytest.fixture
def world(tmp_path):
    return controlled_world(tmp_path, "renamed", "storyless")


@pytest.fixture
def run(world) -> Run:
    return world[1]


@pytest.fixture
def page(client, world):
    """A page about the run in one line: `page("flips", model=1)`."""
    client.force_login(world[0].alice)

    def get(name: str, *more, uid: str = world[1].uid, **query) -> str:
        return written(client.get(reverse(f"benchmark:{name}", args=[world[1].project.slug, uid, *more]), query))

    return get


def _rows(run: Run) -> dict[tuple[str, str], AskedAgain]:
    rows = document_of(run).controls.rows["opentom"]["repaired"]
    return {(row.model, row.way): row for row in rows}


def test_a_model_that_remembers_is_told_from_one_that_reads(run):
    rows = _rows(run)
    remembers, reads = rows[REMEMBERS, "renamed"], rows[READS, "renamed"]
    assert remembers.value > 0.4 and remembers.interval[0] > 0.4
    assert abs(reads.value) < 0.02 and reads.same_answer > 0.98
    assert rows[READS, "storyless"].value > 0.4
    for row in rows.values():
        assert row.n == QUESTIONS and row.value == pytest.approx(row.means[0] - row.means[1])
    assert len(remembers.flips) == sum(flipped for _, _, flipped in remembers.stories) > QUESTIONS / 3


def test_a_missing_answer_is_counted_with_bounds_and_not_dropped(run):
    control = run.controls.get(control="renamed")
    control_items = RunItem.objects.filter(entrant__run=control)
    reads = control_items.filter(entrant__name=READS, repaired_score=1.0)[:23]
    RunItem.objects.filter(pk__in=[item.pk for item in reads]).update(**LOST)
    control_items.filter(sample__number__in=(2, 3, 7)).delete()
    RunItem.objects.filter(entrant__run__control="storyless", entrant__name=READS).update(**LOST)
    forget_report(run)
    rows, document = _rows(run), document_of(run)
    row, asked = rows[READS, "renamed"], QUESTIONS - 3
    lost = row.missing[1]
    assert 20 <= lost <= 23 and row.missing[0] == 0 and (row.n, row.asked) == (asked - lost, asked)
    low, high = row.bounds
    assert high - low == pytest.approx(lost / asked) and low <= row.value <= high
    # what it did answer is as it was: nothing is taken for memory that is only missing
    assert abs(row.value) < 0.02 and row.p == 1.0 and row.verdict == "no"
    assert row.shares.second == lost / asked and not row.shares.alike
    table = tables_of(document)["controls-opentom-repaired"]()
    [cells] = [cells for cells in table.rows if (cells["model"], cells["control"]) == (READS, "Other names")]
    missing = [cells["first_missing"], cells["second_missing"].value]
    assert (missing, cells["alike"]) == ([0.0, lost / asked], "no")
    assert (cells["n"], cells["asked"]) == (asked - lost, asked)
    assert [cells["lowest"], cells["highest"]] == row.bounds
    # a control of which nothing was read stays a row
    row = rows[READS, "storyless"]
    assert (row.value, row.n, row.asked, row.missing) == (None, 0, QUESTIONS, [0, QUESTIONS])
    assert row.reason == "no sample has a score both ways" and row.verdict == "–"
    # what stayed as it is is listed with its reason
    left = next(row for row in document.controls.left if row["control"] == "renamed")
    assert (left["same"], left["numbers"]) == (3, "2–3, 7")
    assert left["why"] == "It names nobody, and nothing that the lists of names have."


def test_the_report_shows_controls_and_gives_them_as_files(run, page, client, world):
    report = page("run_report")
    for told in (
        "Controls",
        "Under the control",
        "correction over the 4 tests",
        "Narratives whose answers flip: Accuracy, repaired parse",
        "No baseline was asked",
        "What controls leave as it is",
    ):
        assert told in report, told
    where = [run.project.slug, run.uid]
    for suffix in ("csv", "json", "tex"):
        file = client.get(reverse("benchmark:run_table", args=[*where, "controls-opentom-repaired", suffix]))
        assert b"remembers" in b"".join(file.streaming_content if file.streaming else [file.content])
    document = document_of(run)
    assert {"controls-left-repaired", "flips-opentom-repaired"} <= set(tables_of(document))
    for name in ("controls-opentom-repaired", "cues-opentom-repaired"):
        assert name in plots_of(document)
        assert b"remembers" in client.get(reverse("benchmark:run_plot", args=[*where, name, "svg"])).content
    assert "controls" in save_run_snapshot(by=world[0].alice, run=run).metrics


def test_a_control_of_other_rules_has_no_figures_and_the_others_keep_theirs(run, page):
    for control in run.controls.all():
        control.params["control_lists"] = 1  # since then the rules of renaming are others
        control.save()
    forget_report(run)
    assert {control for _, control in _rows(run)} == {"storyless"}
    told = "The run was asked with version 1 of the name lists of controls, and this program has version 2"
    assert f"Other names: no figures. {told}" in page("run_report")
    assert told in page("run_report", uid=run.controls.get(control="renamed").uid)


def test_answers_that_flip_are_read_side_by_side(run, page):
    models = {entrant.name: entrant.pk for entrant in run.entrants.all()}
    shown = page("flips", model=models[REMEMBERS], against="renamed")
    flips = len(_rows(run)[REMEMBERS, "renamed"].flips)
    assert f"of {flips}" in shown and "As published" in shown and "Other names" in shown
    assert f'<b>{flips}</b> <span class="muted">of {QUESTIONS}</span>' in shown
    item = RunItem.objects.filter(entrant__run__control="renamed", entrant__name=REMEMBERS).first()
    read = page("run_item", item.pk, uid=item.entrant.run.uid)
    assert "Under the control “other names”" in read and "<mark" in read and "as published" in read
    # the page opens on the first model and control with flips, and keeps to a model or a control that was asked for
    RunItem.objects.filter(entrant__run=run).exclude(entrant__name=REMEMBERS).update(repaired_score=None, call=None)
    forget_report(run)
    opened = page("flips")
    assert f"<bdi>{REMEMBERS}</bdi>: as published against other names" in opened and f"of {flips}" in opened
    empty = page("flips", model=models[READS])
    assert f"<bdi>{READS}</bdi> answered nothing both as published and against other names." in empty
    first = run.entrants.order_by("pk")[0]
    first.endpoint.provider, first.endpoint.model = "baseline", "majority"
    first.endpoint.save()
    names = re.findall(r'<th scope="row"><bdi>(.+?)</bdi>', page("flips"))
    assert names[-1] == first.name and len(names) == run.entrants.count() > 1, "baselines stand below models"


def again(item: RunItem, *, label, score: float | None) -> None:
    """A second answer to the question of an item, which says that label."""
    read = {"official": {"label": label}, "repaired": {"label": label}, "repaired_score": score}
    same = {name: getattr(item, name) for name in ("entrant", "sample", "step", "call")}
    unreadable = "" if score is not None else "says none of the answers"
    RunItem.objects.create(**same, **read, repetition=1, unreadable=unreadable)


def test_repetitions_can_be_held_against_the_first_one(run):
    assert [way for way, _ in ways_of(run)] == ["renamed", "storyless"]
    run.params["repetitions"] = 2
    entrant = run.entrants.get(name=READS)
    first, second, third, fourth = RunItem.objects.filter(entrant=entrant, repaired_score=1.0)[:4]
    again(first, label=9, score=0.0)
    again(second, **second.repaired, score=1.0)
    again(third, label=None, score=None)
    forget_report(run)
    assert (REPETITIONS, "repetitions") in ways_of(run)
    counts = counts_of(run, ["renamed", REPETITIONS], set())
    assert counts[entrant.endpoint_id, REPETITIONS] == (2, 3)
    flips = flips_of(entrant, REPETITIONS, set())
    assert [pair[0][0] for pair in flips] == [first.pk, third.pk], "unreadable is a flip"
    assert [pair[0][0] for pair in flips_of(entrant, REPETITIONS, {first.sample.number})] == [third.pk]
    assert counts[entrant.endpoint_id, "renamed"] == (len(flips_of(entrant, "renamed", set())), QUESTIONS)
    assert counts_of(run, [REPETITIONS], {first.sample.number})[entrant.endpoint_id, REPETITIONS] == (1, 2)
    # two wrong answers are the same only where they say the same
    RunItem.objects.filter(repetition=1).delete()
    RunItem.objects.filter(pk=fourth.pk).update(repaired={"label": 7}, repaired_score=0.0)
    again(fourth, label=8, score=0.0)
    forget_report(run)
    counts_of(run, [REPETITIONS], set())
    [(before, after)] = flips_of(entrant, REPETITIONS, set())
    assert before[0] == fourth.pk and before[2] == after[2], "of equal scores"
    table = tables_of(document_of(Run.objects.get(pk=run.pk)))["repetition-stories-opentom-repaired"]()
    [row] = [row for row in table.rows if row["model"] == READS]
    assert (row["story"], row["compared"], row["flipped"], row["same"]) == (fourth.sample.cluster, 1, 1, 0.0)


def test_flips_are_counted_once_until_answers_change(run):
    endpoint = run.entrants.get(name=READS).endpoint_id

    def counted() -> tuple[int, int]:
        return counts_of(run, ["renamed"], set())[endpoint, "renamed"]

    document_of(run)
    flips, both = counted()
    with CaptureQueriesContext(connection) as asked:
        assert counted() == (flips, both)
    assert not any('"step", "' in query["sql"] for query in asked)
    item = RunItem.objects.filter(entrant__run=run, entrant__name=READS, repaired_score=1.0).first()
    RunItem.objects.filter(pk=item.pk).update(repaired_score=0.0, repaired={"label": 9})
    forget_report(run)
    assert counted() == (flips + 1, both)
    document_of(run)
    RunItem.objects.filter(pk=item.pk).update(repaired_score=None, call=None)
    assert counted() == (flips, both - 1)
