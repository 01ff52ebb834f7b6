"""What a report says of methods: which help whom, with paired differences, whatever launch their runs are of, and what
is missing."""

from collections import Counter
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest import approx

from benchmark.domain.asked_again import AskedAgain
from benchmark.models import Entrant, Run, RunItem
from benchmark.services.documents import as_json, document_from, document_of, tables_of
from benchmark.services.launches import start_run
from benchmark.services.leaderboards import entrants_of, newest
from benchmark.services.plans import plan_of, plans_by_method
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import reports_of
from benchmark.services.snapshots import save_run_snapshot
from benchmark.suites.opentom import metrics
from core.plain import plain
from tests.benchmark.methods.world import GOLD, METHODS, QUESTIONS, STEADY, THINKS, TRUTHS, methods_world
from tests.benchmark.settled import make_endpoint, work_off, written

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = [key for key in GOLD if int(key[:8]) < 5]
OVERLOOKED = sum(GOLD[key] != TRUTHS[key] for key in ASKED) / QUESTIONS
FIRST, SECOND = "Coarse location, first order", "Coarse location, second order"


@pytest.fixture
def runs(tmp_path) -> list[Run]:
    return methods_world(tmp_path, *METHODS)[1]


@pytest.fixture
def alice(client, runs):
    client.force_login(runs[0].created_by)
    return client


def rows_of(run: Run) -> dict[tuple[str, str], AskedAgain]:
    return {(row.model, row.way): row for row in document_of(run).by_method.rows["opentom"]["repaired"]}


def part_rows(run: Run, parse: str = "repaired") -> dict[tuple[str, str, str], AskedAgain]:
    return {(row.model, row.way, row.part): row for row in document_of(run).by_method.parts["opentom"][parse]}


def table_of(run: Run, name: str):
    return tables_of(document_of(run))[name]()


def answers(run: Run, **of_items):
    return RunItem.objects.filter(entrant__run=run, entrant__name=THINKS, **of_items)


def lose(items) -> None:
    """Take the answers away."""
    items.update(call=None, official=None, repaired=None, score=None, repaired_score=None)


def test_a_method_that_helps_is_told_from_one_that_does_not(runs):
    assert len(ASKED) == QUESTIONS
    rows = rows_of(runs[0])
    assert list(rows) == [(model, method) for model in (STEADY, THINKS) for method in METHODS]
    helped, unhelped = rows[THINKS, "cot"], rows[THINKS, "s2a"]
    assert helped.value == approx(OVERLOOKED) and 0 < helped.p <= helped.p_adjusted < 1
    assert helped.interval[0] < helped.value < helped.interval[1]  # five narratives are few
    assert (helped.means[0], helped.score.value) == (1.0, 1.0) and helped.means[1] == approx(1 - OVERLOOKED)
    assert unhelped.value == rows[STEADY, "cot"].value == 0 and unhelped.n == QUESTIONS
    plain = rows[THINKS, "plain"]
    assert plain.score.value == approx(1 - OVERLOOKED) and plain.value is None and plain.why == ""
    assert "Holm's correction over the 4 tests" in table_of(runs[0], "methods-opentom-repaired").notes[0]
    # whichever of the runs is looked at
    assert [row.value for row in rows_of(runs[1]).values()] == [row.value for row in rows.values()]


def test_methods_are_compared_by_genre_in_the_macro_f1_of_the_paper(runs):
    rows = part_rows(runs[0])
    # of each of the five narratives two questions, whose right answers are no (the mover) and yes (the observer);
    # plain, the model says no to both: F1 of no 2 · 5 / (5 + 10), of yes 0, and their mean is 1/3
    hasty, thinking = rows[THINKS, "plain", FIRST], rows[THINKS, "cot", FIRST]
    assert hasty.score.value == approx(1 / 3) and hasty.score.n == 10 and hasty.value is None
    assert thinking.score.value == thinking.means[0] == 1.0 and thinking.means[1] == approx(1 / 3)
    assert thinking.value == approx(2 / 3) and thinking.interval[0] < 2 / 3 < thinking.interval[1]
    assert (thinking.n, thinking.bounds, thinking.p) == (10, None, None)
    # second order: all are wrong plain, all right after thinking
    assert rows[THINKS, "cot", SECOND].value == 1.0 and rows[THINKS, "cot", "Attitude"].value == 0.0
    assert {row.value for (_, method, _), row in rows.items() if method == "s2a"} == {0.0}
    document = document_of(runs[0])
    table = tables_of(document)["method-parts-opentom-repaired"]()
    assert table.title == "Macro F1 by method and genre, repaired parse"
    ways = [(row["model"], row["method"]) for row in table.rows[:3]]
    assert ways == [(STEADY, "Plain"), (STEADY, "Chain of thought"), (STEADY, "System 2 Attention")]
    assert not any(column.header == "p, Holm" for column in table.columns)
    assert table.rows[4][f"{SECOND} value"].value == 1.0
    kept = document_from(as_json(document)).by_method
    assert plain(kept.parts) == plain(document.by_method.parts)


def test_missing_answers_are_values_with_bounds(runs):
    lose(answers(runs[1], pk__in=[item.pk for item in answers(runs[1], step="answer")[:23]]))
    row = rows_of(runs[0])[THINKS, "cot"]
    assert row.missing == [23, 0] and (row.n, row.asked) == (QUESTIONS - 23, QUESTIONS)
    low, high = row.bounds
    assert low - 1e-9 <= row.value <= high and high - low == approx(23 / QUESTIONS)
    assert row.value == approx(row.means[0] - row.means[1]) and not row.shares.alike


def test_a_missing_answer_leaves_bounds_in_its_genre_alone(runs):
    lose(answers(runs[1], step="answer", sample__key="00000000/location_cg_fo/0"))
    rows = part_rows(runs[0])
    row = rows[THINKS, "cot", FIRST]
    # what was read is right: 1; with the lost one wrong its own label has 2 · 4 / (5 + 4) = 8/9, and the other, which
    # it is then taken for, 2 · 5 / (5 + 6) = 10/11
    assert row.score.value == 1.0 and row.score.n == 9
    # over the nine questions read both ways, plain says no to all, which is right of four: 2 · 4 / (4 + 9), and 0
    assert (row.n, row.asked, row.missing) == (9, 10, [1, 0]) and row.value == approx(1 - 8 / 13 / 2)
    assert (row.shares.first, row.shares.second) == (0.1, 0.0)
    assert row.bounds == approx([(8 / 9 + 10 / 11) / 2 - 1 / 3, 2 / 3])
    assert rows[THINKS, "cot", "Attitude"].bounds is None
    # official scoring needs an answer to every question
    official = part_rows(runs[0], "official")[THINKS, "cot", "Attitude"]
    assert (official.score, official.why) == (None, "No official figures.")
    note = table_of(runs[0], "method-parts-opentom-official").notes[-1]
    assert note == "Without a score: chain of thought, no official figures: thinks."


@pytest.mark.failing_suite
def test_parts_that_a_suite_cannot_make_are_told_and_the_rest_is_there(runs, alice, monkeypatch):
    def unforeseen(*_):
        raise KeyError("unforeseen")

    monkeypatch.setattr(metrics, "macro_bounds", unforeseen)
    by_method = document_of(runs[0]).by_method
    told = "OpenToM could not compare methods by part (KeyError); the log of the program says where."
    assert by_method.without_parts == {"opentom": told} and by_method.rows["opentom"] and not by_method.parts
    page = written(alice.get(reverse("benchmark:run_report", args=[runs[0].project.slug, runs[0].uid])))
    assert "could not compare methods by part (KeyError)" in page and "Accuracy by method" in page


def test_who_was_not_asked_or_has_not_answered_stands_there_without_a_score(runs):
    lose(answers(runs[1]))
    rows = rows_of(runs[0])
    assert (rows[THINKS, "cot"].why, rows[THINKS, "cot"].score) == ("No answer yet.", None)
    assert rows[STEADY, "cot"].score.value == 1.0
    Entrant.objects.filter(run=runs[1], name=THINKS).delete()
    Entrant.objects.filter(run=runs[2], name=THINKS).update(spec={"name": THINKS, "options": {"other": 1}})
    rows = rows_of(runs[0])
    assert (rows[THINKS, "cot"].why, rows[THINKS, "cot"].score) == ("Not asked.", None)
    assert rows[THINKS, "s2a"].why == "The endpoint had other settings."
    scores = table_of(runs[0], "method-scores-opentom-repaired")
    lacking = "chain of thought, not asked: thinks; System 2 Attention, the endpoint had other settings: thinks."
    assert scores.rows[-1]["cot"].value is None and scores.notes[-1] == f"Without a score: {lacking}"
    assert table_of(runs[0], "methods-opentom-repaired").notes[-1] == f"Without a difference: {lacking}"


def test_a_method_that_is_launched_later_joins_the_run_that_is_there(runs):
    plain = runs[0]
    (later,) = plans_by_method(replace(plan_of(plain), limit=46, title="Later", seed=5), ["self-ask"])
    run = work_off(start_run(by=None, plan=later, now=timezone.now()))
    row = rows_of(plain)[STEADY, "self-ask"]
    assert (row.n, row.beside, row.value) == (46, run.uid, 0)
    few = "Not all were asked about the same questions (46 to 115)"
    lead = [f"{few}: differences are over what both have, scores are not."]
    assert table_of(plain, "method-scores-opentom-repaired").lead == lead
    # its own report is of its own samples alone
    assert {found.n for found in rows_of(run).values() if found.n} == {46}
    # of several runs by a method the one with the most of the samples counts, not the newest
    (small_one,) = plans_by_method(replace(plan_of(plain), limit=5), ["cot"])
    start_run(by=None, plan=small_one, now=timezone.now())
    assert rows_of(plain)[STEADY, "cot"].n == QUESTIONS
    # a baseline has one row in a ranking however many methods it was launched by
    majority = make_endpoint("majority", provider="baseline", model="majority")
    for baseline in plans_by_method(replace(plan_of(plain), endpoints=[majority], limit=23), ["plain", "cot"]):
        runs.append(work_off(start_run(by=None, plan=baseline, now=timezone.now())))
    rows = newest(entrants_of(runs, reports_of(runs), "opentom"))
    assert Counter(row.name for row in rows) == {STEADY: len(METHODS), THINKS: len(METHODS), "majority": 1}
    told = {row.name: row.settings for row in rows}
    assert "method" in told[STEADY] and "method" not in told["majority"]


def test_without_the_plain_method_scores_stand_and_say_so_and_a_run_alone_says_nothing(runs):
    Run.objects.filter(pk=runs[0].pk).update(archived_at=timezone.now())
    rows = rows_of(runs[1])
    assert rows[STEADY, "s2a"].score.value == 1.0 and rows[STEADY, "s2a"].why == "Not asked plain."
    assert rows[STEADY, "plain"].why == "Not asked."
    lead = ["Nobody was asked plain with these settings: launch that, and differences stand here."]
    assert table_of(runs[1], "method-scores-opentom-repaired").lead == lead
    assert "methods-opentom-repaired" not in plots_of(document_of(runs[1]))
    Run.objects.exclude(pk=runs[1].pk).update(archived_at=timezone.now())
    assert document_of(runs[1]).by_method is None


def test_the_report_shows_methods_and_gives_them_as_files(runs, alice):
    run = runs[0]
    where = [run.project.slug, run.uid]
    page = written(alice.get(reverse("benchmark:run_report", args=where)))
    titles = ("By method", "Macro F1 by method and genre", "Accuracy by method", "Accuracy: methods less plain")
    for told in (*titles, "Chain of thought", "Shown to differ"):
        assert told in page, told
    beside = Entrant.objects.get(run=runs[1], name=THINKS)
    assert f"{reverse('benchmark:run_items', args=[where[0], runs[1].uid])}?model={beside.pk}" in page
    for table in ("method-parts-opentom-repaired", "method-scores-opentom-repaired", "methods-opentom-repaired"):
        for suffix in ("csv", "json", "tex"):
            file = alice.get(reverse("benchmark:run_table", args=[*where, table, suffix]))
            assert b"thinks" in b"".join(file.streaming_content if file.streaming else [file.content])
        drawn = alice.get(reverse("benchmark:run_plot", args=[*where, table, "svg"]))
        assert b"chain of thought" in drawn.content and (b"Loc c (F)" in drawn.content) == ("parts" in table)
    saved = save_run_snapshot(by=None, run=run)
    assert "by_method" in saved.metrics
    shown = written(alice.get(reverse("benchmark:snapshot", args=[where[0], saved.uid])))
    assert "Accuracy by method" in shown and f"model={beside.pk}" not in shown
