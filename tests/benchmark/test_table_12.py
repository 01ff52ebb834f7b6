"""Table 12 counts the model's own answers; the judge's failures and failed calls stand apart (paper, D.4)."""

from __future__ import annotations

import pytest

from benchmark.domain.tables import Cell
from benchmark.models import RunItem
from benchmark.services import items as service
from benchmark.services.documents import document_of, tables_of
from benchmark.services.items import ChosenItems
from benchmark.services.reports import report_of
from tests.benchmark.settled import make_endpoint, started, work_off

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
STEPS = ("extract", "judge", "label")


def row_of(run, parse: str = "repaired") -> dict:
    [row] = tables_of(document_of(run))[f"unreadable-{parse}"]().rows
    return {key: Cell.of(cell).value for key, cell in row.items()}


def missing(run) -> dict[str, int]:
    return report_of(run).entrants[0].groups["stage1"].parses.overall("repaired").unreadable_reasons


def test_a_judge_that_fails_is_not_the_model_s_fault(cast, gold, models):
    """Four perfect extractions and no judgement: none of four answers is unreadable, four extractions lack a
    judgement."""
    for at, (options, why) in enumerate(
        (
            ({"default": "I cannot."}, "no judgement"),
            ({"script": [{"text": "No.", "stop": "refusal"}]}, "the judge refused"),
            ({"script": [{"text": "No.", "stop": "length"}]}, "the judge's answer was cut off"),
            ({"script": [{"fail": "rejected"}]}, "judgement: the call failed"),
        )
    ):
        judge = make_endpoint(f"judge-{at}", model=f"judge-{at}", options=options)
        run = work_off(started(cast, gold, [models["omniscient"]], ("extract", "judge"), judge=judge))
        row = row_of(run)
        assert (row["stage1"], row["stage1_unreadable"], row["stage1_answers"]) == (0, 0, 4)
        assert (row["stage1_calls"], row["stage1_judgements"]) == (0, 4)
        assert missing(run) == {why: 4}
        assert service.items_of(run, ChosenItems(step="judge", problem="unjudged")).count() == 4
        assert service.items_of(run, ChosenItems(step="extract", problem="unreadable")).count() == 0


def test_a_failed_call_is_no_unreadable_output(cast, gold, models):
    """One of four extractions fails, one says nothing that can be read: one of three answers is unreadable, one call is
    without."""
    rows = "Actor | Belief | Order\nworld | The key is in the drawer | 0"
    script = [{"fail": "rejected", "times": 1}, {"text": "I would rather not.", "times": 1}]
    model = make_endpoint("model", options={"script": script, "default": rows}, max_concurrency=1)
    run = work_off(started(cast, gold, [model], ("extract", "judge"), judge=models["lexical-judge"]))
    row = row_of(run)
    assert row["stage1"] == pytest.approx(1 / 3) and (row["stage1_unreadable"], row["stage1_answers"]) == (1, 3)
    assert (row["stage1_calls"], row["stage1_judgements"]) == (1, 0)
    assert missing(run) == {"no readable row": 1, "the call failed": 1}
    found = service.items_of(run, ChosenItems(step="judge", problem="missing"))
    assert sorted(one.step for one in found) == ["extract", "judge"]


def test_a_failed_labelling_call_is_named(cast, gold):
    model = make_endpoint("model", options={"script": [{"fail": "rejected", "times": 1}], "default": "So be it."})
    run = work_off(started(cast, gold, [model]))
    row = row_of(run)
    assert (row["stage2_unreadable"], row["stage2_answers"], row["stage2_calls"]) == (3, 3, 1)
    notes = " ".join(tables_of(document_of(run))["unreadable-repaired"]().notes)
    assert "model: no readable row 3, the call failed 1" in notes


def test_the_official_reading_counts_what_official_parsing_finds_no_row_in(cast, gold, models):
    """A renamed column costs a person nothing; nothing is what official parsing finds in prose."""
    model = make_endpoint("model", options={"default": "I would rather not."})
    run = work_off(started(cast, gold, [model], STEPS, judge=models["lexical-judge"]))
    row = row_of(run, "official")
    assert (row["stage1_unreadable"], row["stage1_answers"]) == (4, 4)
    assert (row["stage2_unreadable"], row["stage2_answers"]) == (4, 4)


@pytest.mark.parametrize("answer_format", ["text", "structured"])
def test_an_empty_table_counts_as_an_answer(cast, gold, models, answer_format):
    text = '{"rows": []}' if answer_format == "structured" else "Actor | Belief | Order\n--- | --- | ---"
    model = make_endpoint("model", options={"default": text})
    run = work_off(started(cast, gold, [model], STEPS, judge=models["lexical-judge"], answer_format=answer_format))
    row, [entrant] = row_of(run), report_of(run).entrants
    assert (row["stage1_unreadable"], row["stage2_unreadable"], row["stage1_answers"]) == (0, 0, 4)
    for group, name in (("stage1", "recall"), ("stage1", "f1"), ("stage2", "overall_accuracy")):
        overall = entrant.groups[group].parses.overall("repaired")
        assert (overall.stories, overall.unreadable, overall.value_of(name)) == (4, 0, 0)
    assert set(RunItem.objects.filter(entrant__run=run).values_list("unreadable", flat=True)) == {""}


def test_a_table_that_was_cut_off_before_its_first_row_is_no_empty_table(cast, gold, models):
    script = [{"text": "Actor | Belief | Order", "stop": "length"}]
    model = make_endpoint("model", options={"script": script})
    run = work_off(started(cast, gold, [model], STEPS, judge=models["lexical-judge"]))
    assert missing(run) == {"the answer was cut off": 4}
    assert (row_of(run)["stage1_unreadable"], row_of(run)["stage2_unreadable"]) == (4, 4)
    assert set(RunItem.objects.filter(entrant__run=run, step="label").values_list("repaired_score", flat=True)) == {
        None
    }
