"""A worker, a command and pages ask for the report of a run at the same moment: it has one writer, and readers see one
whole state of it."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connections
from django.utils import timezone

from benchmark.models import RunItem, RunReport, StoryScores
from benchmark.models.report import REPLACED_KEPT
from benchmark.services import reports
from benchmark.services.leaderboards import ranked_entrants_of_run
from benchmark.services.reports import forget_report, report_of
from tests.benchmark.results_world import ResultsWorld, results_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def _at_once(work, times: int) -> list:
    outcomes: list = [None] * times

    def run(at: int) -> None:
        try:
            outcomes[at] = work()
        except Exception as error:
            outcomes[at] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


def test_two_who_compute_a_report_at_once_keep_one(world, monkeypatch):
    forget_report(world.run)
    together, compute = threading.Barrier(2), reports._rows

    def computed(run):
        rows = compute(run)
        together.wait(30)  # neither has written yet
        return rows

    def ranked():
        report = report_of(world.run)
        return report, ranked_entrants_of_run(world.run, report, "stage2")

    monkeypatch.setattr(reports, "_rows", computed)
    cache.clear()
    (first, first_rows), (second, second_rows) = _at_once(ranked, 2)
    assert first == second == report_of(world.run)
    assert [row.model for row in first_rows] == [row.model for row in second_rows]
    kept = set(StoryScores.objects.current().filter(run=world.run).values_list("pk", flat=True))
    assert {entrant.story_scores for entrant in first.entrants} == kept


def _one_answer_less(world) -> None:
    item = RunItem.objects.filter(entrant__run=world.run, entrant__name="majority", step="label").first()
    RunItem.objects.filter(pk=item.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)


def test_a_report_that_is_replaced_can_still_be_read(world):
    before = report_of(world.run)
    expected = {row.model: row.parses for row in ranked_entrants_of_run(world.run, before, "stage2")}
    _one_answer_less(world)
    after = report_of(world.run)
    cache.clear()
    rows = {row.model: row for row in ranked_entrants_of_run(world.run, before, "stage2")}
    assert {name: row.parses for name, row in rows.items()} == expected
    assert all(row.ranking["official"] for row in rows.values() if row.parses.official)
    assert not {one.story_scores for one in before.entrants} & {one.story_scores for one in after.entrants}


def test_replaced_scores_go_once_nobody_reads_them(world):
    before = {entrant.story_scores for entrant in report_of(world.run).entrants}
    _one_answer_less(world)
    report_of(world.run)
    assert before < set(StoryScores.objects.values_list("pk", flat=True))
    long_ago = timezone.now() - REPLACED_KEPT - timedelta(seconds=1)
    StoryScores.objects.filter(pk__in=before).update(replaced_at=long_ago)
    forget_report(world.run)
    report_of(world.run)
    assert not before & set(StoryScores.objects.values_list("pk", flat=True))


def test_a_run_that_is_deleted_meanwhile_has_no_rows(world, monkeypatch):
    forget_report(world.run)
    monkeypatch.setattr(reports.Run.objects, "select_for_update", lambda: reports.Run.objects.none())
    report = report_of(world.run)
    assert ranked_entrants_of_run(world.run, report, "stage2") == []
    assert not RunReport.objects.exists()
