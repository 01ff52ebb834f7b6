"""Sets under a control: a set of which some questions change is held against itself as a whole, with its other answers
as published."""

from __future__ import annotations

import pytest
from django.utils import timezone

from benchmark.domain.asked_again import AskedAgain
from benchmark.domain.report_rows import ReportRow
from benchmark.models import RunItem
from benchmark.services.asked_again_tables import left_table
from benchmark.services.documents import document_of, tables_of
from benchmark.services.launches import add_controls
from benchmark.services.reports import forget_report, report_of
from benchmark.suites.fantom.parsing import load
from benchmark.suites.fantom_questions.asking import TELL
from benchmark.suites.fantom_questions.data import CHOICE, LIST
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, started, work_off
from tests.benchmark.suites.fantom.test_run import _oracle
from tests.cast import new_cast
from workers.providers.baseline.baseline import Baseline
from workers.providers.baseline.registered import register_baseline

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(small, own_registry):
    """A finished run of a model that takes the last of two options, and is right about all else, with its options
    shuffled."""
    folder = small()
    samples = load(folder).samples
    answers = {sample.key: "(b)" if sample.content["kind"] == CHOICE else _oracle(sample) for sample in samples}
    told = Baseline(
        name="last", task=TELL, answer=lambda body: answers[body["task"]["key"]], sample={"key": samples[0].key}
    )
    register_baseline(told)
    cast = new_cast()
    dataset = import_benchmark(
        by=cast.alice, project=cast.project, suite=suite_named("fantom"), folder=folder, options={}
    )[0]
    models = [make_endpoint("last", provider="baseline", model="last")]
    run = work_off(started(cast, dataset, models, ["answer"], suite="fantom", method="plain", embedder="toy"))
    add_controls(by=cast.alice, run=run, controls=["shuffled"], now=timezone.now())
    work_off(run.controls.get())
    return run


def _rows(run, group: str, parse: str = "repaired") -> list[AskedAgain]:
    return document_of(run).controls.rows[group][parse]


def test_sets_are_compared_of_which_choices_alone_are_shuffled(run):
    items = RunItem.objects.filter(entrant__run=run, sample__content__kind=CHOICE).select_related("sample")
    right = {
        item.sample.group: item.repaired["right"] for item in items if item.sample.content["scenario"] == "inaccessible"
    }
    asked = RunItem.objects.filter(entrant__run=run.controls.get())
    assert {item.sample.content["kind"] for item in asked.select_related("sample")} == {CHOICE}
    for group, sets in (("fantom", right), ("fantom-star-toy", right), ("fantom-control", {"2-0-0"})):
        [row] = _rows(run, group)
        assert (row.n, row.missing) == (len(sets), [0, 0]), group
        assert sum(row.means) == 1 and len(row.flips) == len(sets)
    [row] = _rows(run, "fantom")
    assert len(right) == 2 and row.means[0] == sum(right.values()) / 2
    # single questions: the four choices alone
    assert _rows(run, "fantom-questions")[0].n == 4


def test_a_figure_that_a_control_cannot_change_has_a_sentence_and_no_row(run):
    document = document_of(run)
    assert _rows(run, "fantom-facts") == [] and "controls-fantom-facts-repaired" not in tables_of(document)
    [left] = document.controls.left
    assert left.still == ["Token F1"] and left.same == 31
    told = "Shuffled options: changes nothing that counts for Token F1, so no difference is shown."
    assert told in left_table([left]).notes
    table = tables_of(document)["controls-fantom-repaired"]
    assert any("with its other answers as published" in note for note in table().notes)


def test_figures_of_a_control_follow_the_run_as_published(run):
    def overall() -> ReportRow:
        return report_of(run.controls.get()).entrants[0].groups["fantom"].parses.overall("repaired")

    assert overall().number_of("all") > 0
    lists = RunItem.objects.filter(entrant__run=run, sample__content__kind=LIST)
    lists.update(repaired={"right": False, "named": []}, repaired_score=0.0)
    forget_report(run)
    assert overall().value_of("all") == 0.0
    lists.update(
        call=None, official=None, repaired=None, repaired_score=None
    )  # an answer less makes them out of date by itself
    assert overall().unreadable > 0
