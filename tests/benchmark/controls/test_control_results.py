"""What a report says of controls: who remembers and who reads, what is missing, what stayed as it was, and which
stories flip."""

from __future__ import annotations

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


@pytest.fixture
def world(tmp_path):
    return controlled_world(tmp_path, "renamed", "storyless")


@pytest.fixture
def run(world) -> Run:
    return world[1]


@pytest.fixture
def admin(client, world):
    client.force_login(world[0].alice)
    return client


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
    reads = RunItem.objects.filter(entrant__run=control, entrant__name=READS, repaired_score=1.0)[:23]
    RunItem.objects.filter(pk__in=[item.pk for item in reads]).update(
        call=None, official=None, repaired=None, score=None, repaired_score=None
    )
    row = _rows(run)[READS, "renamed"]
    assert row.missing == [0, 23] and (row.n, row.asked) == (QUESTIONS - 23, QUESTIONS)
    low, high = row.bounds
    assert high - low == pytest.approx(23 / QUESTIONS) and low <= row.value <= high
    # what it did answer is as it was: nothing is taken for memory that is only missing
    assert abs(row.value) < 0.02 and row.p == 1.0 and row.verdict == "no"
    assert row.shares.second == 23 / QUESTIONS and not row.shares.alike
    table = tables_of(document_of(run))["controls-opentom-repaired"]()
    [cells] = [cells for cells in table.rows if (cells["model"], cells["control"]) == (READS, "Other names")]
    missing = [cells["first_missing"], cells["second_missing"].value]
    assert (missing, cells["alike"]) == ([0.0, 23 / QUESTIONS], "no")
    assert (cells["n"], cells["asked"]) == (QUESTIONS - 23, QUESTIONS)
    assert [cells["lowest"], cells["highest"]] == row.bounds


def test_a_control_of_which_nothing_was_read_stays_a_row(run):
    control = run.controls.get(control="renamed")
    RunItem.objects.filter(entrant__run=control, entrant__name=READS).update(
        call=None, official=None, repaired=None, score=None, repaired_score=None
    )
    row = _rows(run)[READS, "renamed"]
    assert (row.value, row.n, row.asked, row.missing) == (None, 0, QUESTIONS, [0, QUESTIONS])
    assert row.reason == "no sample has a score both ways" and row.verdict == "–"


def test_the_report_shows_controls_and_gives_them_as_files(run, admin, world):
    where = [run.project.slug, run.uid]
    page = written(admin.get(reverse("benchmark:run_report", args=where)))
    for told in (
        "Controls",
        "Under the control",
        "correction over the 4 tests",
        "Narratives whose answers flip: Accuracy, repaired parse",
    ):
        assert told in page, told
    assert "No baseline was asked" in page and "What controls leave as it is" in page
    for suffix in ("csv", "json", "tex"):
        file = admin.get(reverse("benchmark:run_table", args=[*where, "controls-opentom-repaired", suffix]))
        assert file.status_code == 200 and b"remembers" in b"".join(
            file.streaming_content if file.streaming else [file.content]
        )
    document = document_of(run)
    names = {"controls-opentom-repaired", "cues-opentom-repaired"}
    assert names <= set(plots_of(document)) and {"controls-left-repaired", "flips-opentom-repaired"} <= set(
        tables_of(document)
    )
    for name in names:
        assert b"remembers" in admin.get(reverse("benchmark:run_plot", args=[*where, name, "svg"])).content
    saved = save_run_snapshot(by=world[0].alice, run=run)
    assert "controls" in saved.metrics


def test_what_stayed_as_it_is_is_listed_with_its_reason(run):
    RunItem.objects.filter(entrant__run=run.controls.get(control="renamed"), sample__number__in=(2, 3, 7)).delete()
    left = next(row for row in document_of(run).controls.left if row.control == "renamed")
    assert (left.same, left.numbers) == (3, "2–3, 7")
    assert left.why == "It names nobody, and nothing that the lists of names have."


def test_a_control_of_other_rules_has_no_figures_and_the_others_keep_theirs(run, admin):
    for control in run.controls.all():
        control.params["control_lists"] = 1  # since then the rules of renaming are others
        control.save()
    forget_report(run)
    assert {control for _, control in _rows(run)} == {"storyless"}
    told = (
        "Other names: no figures. The run was asked with version 1 of the name lists of controls, and this "
        "program has version 2"
    )
    for one in (run, run.controls.get(control="renamed")):
        page = written(admin.get(reverse("benchmark:run_report", args=[run.project.slug, one.uid])))
        assert (told if one == run else told.partition("figures. ")[2]) in page


def test_answers_that_flip_are_read_side_by_side(run, admin):
    address = reverse("benchmark:flips", args=[run.project.slug, run.uid])
    models = {entrant.name: entrant.pk for entrant in run.entrants.all()}
    page = written(admin.get(address, {"model": models[REMEMBERS], "against": "renamed"}))
    flips = len(_rows(run)[REMEMBERS, "renamed"].flips)
    assert f"of {flips}" in page and "As published" in page and "Other names" in page
    assert f'<b>{flips}</b> <span class="muted">of {QUESTIONS}</span>' in " ".join(page.split())
    # the page opens on the first model and control with flips, and keeps to a model or a control that was asked for
    RunItem.objects.filter(entrant__run=run).exclude(entrant__name=REMEMBERS).update(repaired_score=None, call=None)
    forget_report(run)
    opened = written(admin.get(address))
    assert f"<bdi>{REMEMBERS}</bdi>: as published against other names" in opened and f"of {flips}" in opened
    empty = written(admin.get(address, {"model": models[READS]}))
    assert f"<bdi>{READS}</bdi> answered nothing both as published and against other names." in empty
    item = RunItem.objects.filter(entrant__run__control="renamed", entrant__name=REMEMBERS).first()
    shown = written(admin.get(reverse("benchmark:run_item", args=[run.project.slug, item.entrant.run.uid, item.pk])))
    assert "Under the control “other names”" in shown and "<mark" in shown and "as published" in shown


def test_baselines_stand_below_models_among_what_flips(run, admin):
    first = run.entrants.order_by("pk")[0]
    first.endpoint.provider, first.endpoint.model = "baseline", "majority"
    first.endpoint.save()
    page = written(admin.get(reverse("benchmark:flips", args=[run.project.slug, run.uid])))
    names = re.findall(r'<th scope="row"><bdi>(.+?)</bdi>', page)
    assert names[-1] == first.name and len(names) == run.entrants.count() > 1


def test_repetitions_can_be_held_against_the_first_one(run):
    assert [way for way, _ in ways_of(run)] == ["renamed", "storyless"]
    run.params["repetitions"] = 2
    entrant = run.entrants.get(name=READS)
    first, second, third = RunItem.objects.filter(entrant=entrant, repaired_score=1.0)[:3]
    again(first, label=9, score=0.0)
    again(second, **second.repaired, score=1.0)
    again(third, label=None, score=None)
    forget_report(run)
    assert (REPETITIONS, "repetitions") in ways_of(run)
    counts = counts_of(run, ["renamed", REPETITIONS], set())
    assert counts[entrant.endpoint_id, REPETITIONS] == (2, 3)
    flips = flips_of(run, entrant, REPETITIONS, set())
    assert [pair[0][0] for pair in flips] == [first.pk, third.pk], "unreadable is a flip"
    assert [pair[0][0] for pair in flips_of(run, entrant, REPETITIONS, {first.sample.number})] == [third.pk]
    assert counts[entrant.endpoint_id, "renamed"] == (len(flips_of(run, entrant, "renamed", set())), QUESTIONS)
    assert counts_of(run, [REPETITIONS], {first.sample.number})[entrant.endpoint_id, REPETITIONS] == (1, 2)


def again(item: RunItem, *, label, score: float | None) -> None:
    """A second answer to the question of an item, which says that label."""
    read = {"official": {"label": label}, "repaired": {"label": label}, "repaired_score": score}
    RunItem.objects.create(
        entrant=item.entrant, sample=item.sample, step=item.step, repetition=1, call=item.call, **read,
        unreadable="" if score is not None else "says none of the answers",
    )  # fmt: skip


def test_two_wrong_answers_are_the_same_only_where_they_say_the_same(run):
    entrant = run.entrants.get(name=READS)
    wrong = RunItem.objects.filter(entrant=entrant, repaired_score=0.0).first() or _made_wrong(entrant)
    again(wrong, label=8, score=0.0)
    forget_report(run)
    run.params["repetitions"] = 2
    counts_of(run, [REPETITIONS], set())
    [(before, after)] = flips_of(run, entrant, REPETITIONS, set())
    assert before[0] == wrong.pk and before[2] == after[2], "of equal scores"
    document = document_of(Run.objects.get(pk=run.pk))
    table = tables_of(document)["repetition-stories-opentom-repaired"]()
    [row] = [row for row in table.rows if row["model"] == READS]
    assert (row["story"], row["compared"], row["flipped"], row["same"]) == (wrong.sample.cluster, 1, 1, 0.0)


def _made_wrong(entrant) -> RunItem:
    item = RunItem.objects.filter(entrant=entrant, repaired_score=1.0).first()
    item.repaired, item.repaired_score = {"label": 7}, 0.0
    item.save()
    return item


def test_flips_are_counted_once_until_answers_change(run):
    document_of(run)
    endpoint = run.entrants.get(name=READS).endpoint_id
    flips, both = counts_of(run, ["renamed"], set())[endpoint, "renamed"]
    with CaptureQueriesContext(connection) as asked:
        assert counts_of(run, ["renamed"], set())[endpoint, "renamed"] == (flips, both)
    assert not any('"step", "' in query["sql"] for query in asked)
    item = RunItem.objects.filter(entrant__run=run, entrant__name=READS, repaired_score=1.0).first()
    RunItem.objects.filter(pk=item.pk).update(repaired_score=0.0, repaired={"label": 9})
    forget_report(run)
    assert counts_of(run, ["renamed"], set())[endpoint, "renamed"] == (flips + 1, both)
    document_of(run)
    RunItem.objects.filter(pk=item.pk).update(repaired_score=None, call=None)
    assert counts_of(run, ["renamed"], set())[endpoint, "renamed"] == (flips, both - 1)
