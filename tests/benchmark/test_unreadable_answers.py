"""What is an answer and what is none, and whose fault that is: table 12 counts the model's own answers; the judge's
failures and failed calls stand apart (paper, D.4); where a schema was asked for, a table is no answer."""

import json

import pytest
from django.utils import timezone

from benchmark.domain.tables import Cell
from benchmark.models import RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.evaluating import read_again
from benchmark.services.items import ChosenItems, items_of
from benchmark.services.reports import report_of
from benchmark.services.snapshots import save_run_snapshot
from benchmark.services.watching import schema_breakers
from benchmark.suites.reasons import NOT_STRUCTURED
from tests.benchmark.settled import make_endpoint, started, work_off, written
from workers.models import Call

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
TABLE = "Actor | Belief | Order\nworld | The key is in the drawer | 0"
ROWS = json.dumps({"rows": [{"actor": "world", "belief": "The key is in the drawer", "order": "0"}]})
COUNTS = "Prediction Table:\nActor,Belief,MatchCount\nworld,The key is in the drawer,1\n"
PROSE = "I would rather not."
NOT_JUDGED = "the judge's answer is not structured: its endpoint ignored the schema"


@pytest.fixture
def run_of(cast, gold, models):
    """A finished run: `run_of(model, "extract", "judge")`, of all steps without, judged by rule unless `judge` is
    another."""

    def make(model, *steps: str, **plan):
        steps = steps or ("extract", "judge", "label")
        return work_off(started(cast, gold, [model], steps, **{"judge": models["lexical-judge"]} | plan))

    return make


def saying(text: str = "", name: str = "model", **options):
    return make_endpoint(name, model=name, max_concurrency=1, options={"default": text} | options)


def overall_of(run, group: str = "stage1"):
    return report_of(run).entrants[0].groups[group].parses.overall("repaired")


def row_of(run, parse: str = "repaired") -> dict:
    """The run's row of table 12, without the names of its columns' group."""
    [row] = tables_of(document_of(run))[f"unreadable-{parse}"]().rows
    return {key: Cell.of(cell).value for key, cell in row.items()}


def scoring(run) -> str:
    return next(one["text"] for one in document_of(run).methods if one["heading"] == "Scoring")


# --- table 12
def test_a_judge_that_fails_is_not_the_model_s_fault(run_of, models):
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
        run = run_of(models["omniscient"], "extract", "judge", judge=judge)
        row = row_of(run)
        assert (row["stage1"], row["stage1_unreadable"], row["stage1_answers"]) == (0, 0, 4)
        assert (row["stage1_calls"], row["stage1_judgements"]) == (0, 4)
        assert overall_of(run).unreadable_reasons == {why: 4}
        assert items_of(run, ChosenItems(step="judge", problem="unjudged")).count() == 4
        assert items_of(run, ChosenItems(step="extract", problem="unreadable")).count() == 0


def test_a_failed_call_is_no_unreadable_output(run_of):
    """One of four calls of each step fails, one says nothing that can be read: one of three answers is unreadable."""
    script = [{"when": "Story 1.", "fail": "rejected"}, {"when": "Story 2.", "text": PROSE}]
    run = run_of(saying(TABLE, script=script))
    row = row_of(run)
    for stage in ("stage1", "stage2"):
        assert row[stage] == pytest.approx(1 / 3)
        assert [row[f"{stage}_{name}"] for name in ("unreadable", "answers", "calls")] == [1, 3, 1]
        assert overall_of(run, stage).unreadable_reasons == {"no readable row": 1, "the call failed": 1}
    assert row["stage1_judgements"] == 0
    notes = " ".join(tables_of(document_of(run))["unreadable-repaired"]().notes)
    assert "model: no readable row 2, the call failed 2" in notes, "of both steps"
    found = items_of(run, ChosenItems(step="judge", problem="missing"))
    assert sorted(one.step for one in found) == ["extract", "judge"]


def test_an_empty_table_is_an_answer_and_prose_and_a_table_cut_off_before_its_first_row_are_none(run_of):
    for answer_format, text in (("text", "Actor | Belief | Order\n--- | --- | ---"), ("structured", '{"rows": []}')):
        run = run_of(saying(text, name=answer_format), answer_format=answer_format)
        row, [entrant] = row_of(run), report_of(run).entrants
        assert (row["stage1_unreadable"], row["stage2_unreadable"], row["stage1_answers"]) == (0, 0, 4)
        for group, name in (("stage1", "recall"), ("stage1", "f1"), ("stage2", "overall_accuracy")):
            overall = entrant.groups[group].parses.overall("repaired")
            assert (overall.stories, overall.unreadable, overall.value_of(name)) == (4, 0, 0)
        assert set(RunItem.objects.filter(entrant__run=run).values_list("unreadable", flat=True)) == {""}
    row = row_of(run_of(saying(PROSE)), "official")
    assert [row[f"{stage}_{name}"] for stage in ("stage1", "stage2") for name in ("unreadable", "answers")] == [4] * 4
    run = run_of(saying(name="cut", script=[{"text": "Actor | Belief | Order", "stop": "length"}]))
    assert overall_of(run).unreadable_reasons == {"the answer was cut off": 4}
    assert (row_of(run)["stage1_unreadable"], row_of(run)["stage2_unreadable"]) == (4, 4)
    labels = RunItem.objects.filter(entrant__run=run, step="label")
    assert set(labels.values_list("repaired_score", flat=True)) == {None}


# --- runs of structured output
def test_a_table_is_unreadable_in_a_structured_run_and_an_answer_in_a_free_one(run_of):
    model = saying(TABLE)
    run = run_of(model, answer_format="structured")
    for group in ("stage1", "stage2"):
        overall = overall_of(run, group)
        assert (overall.stories, overall.unreadable_reasons) == (0, {NOT_STRUCTURED: 4})
    extracted = RunItem.objects.filter(entrant__run=run, step="extract").select_related("item")
    assert {(one.unreadable, one.item.state) for one in extracted} == {(NOT_STRUCTURED, "unreadable")}
    assert (row_of(run)["stage1_unreadable"], row_of(run)["stage1_answers"]) == (4, 4)
    extracted.update(unreadable="", repaired={"rows": 1})
    calls = Call.objects.count()
    assert read_again(by=None, run=run, now=timezone.now()) == 4 and Call.objects.count() == calls
    assert overall_of(run).unreadable_reasons == {NOT_STRUCTURED: 4}
    free = run_of(model, "extract", "judge", answer_format="text")
    assert overall_of(free).unreadable == 0 and schema_breakers(free) == []
    held = run_of(saying(ROWS, name="held"), "extract", "judge", answer_format="structured")
    for run, told in ((free, False), (held, True)):
        assert ("No endpoint ignored the schema." in scoring(run)) == told and "ignored by" not in scoring(run)


def test_whoever_ignores_the_schema_is_named_with_the_answers(run_of, cast, client):
    """A model does in three of four answers; a judge in the one that is left to it."""
    model = saying(ROWS, script=[{"text": TABLE, "times": 3}])
    run = run_of(model, "extract", "judge", judge=saying(COUNTS, name="judge"), answer_format="structured")
    assert overall_of(run).unreadable_reasons == {NOT_STRUCTURED: 3, NOT_JUDGED: 1}
    entrant = run.entrants.get()
    names = ("endpoint", "step", "broken", "answers", "entrant")
    broken = [tuple(one[name] for name in names) for one in schema_breakers(run)]
    assert broken == [("model", "extract", 3, 4, entrant.pk), ("judge", "judge", 1, 4, None)]
    told = "The schema was ignored by model in 3 of 4 answers of extraction; judge in 1 of 4 answers of judging."
    assert told in scoring(run)
    saved = save_run_snapshot(by=None, run=run).metrics["methods"]
    assert any(told in one["text"] for one in saved), "as it was"
    client.force_login(cast.alice)
    address = f"/p/{run.project.slug}/runs/{run.uid}/"
    page = written(client.get(address))
    assert "<bdi>model</bdi> does not hold the schema" in page and "3 of 4 answers" in page
    assert f"?model={entrant.pk}&amp;step=extract&amp;problem=unstructured" in page
    assert items_of(run, ChosenItems(model=entrant.pk, step="extract", problem="unstructured")).count() == 3
    listed = client.get(f"{address}items/?step=extract&problem=unstructured").content.decode()
    assert listed.count(NOT_STRUCTURED) >= 3
    by_rule = run_of(model, "extract", "judge", answer_format="structured")
    assert [one["endpoint"] for one in schema_breakers(by_rule)] == ["model"], (
        "a judge is not to blame for what it is given"
    )


def test_what_counts_as_structured(cast, gold, models):
    whys = {
        PROSE: NOT_STRUCTURED,
        '{"labels": []}': NOT_STRUCTURED,
        '{"rows": [{}]}': "no readable row",
        "": "no readable row",
        f"```json\n{ROWS}\n```": "",
        '{"rows": []}': "",
    }
    readers = [saying(text, name=f"m{at}") for at, text in enumerate(whys)]
    plan = {"judge": models["lexical-judge"], "answer_format": "structured"}
    run = work_off(started(cast, gold, readers, ("extract", "judge"), **plan))
    for model, (text, why) in zip(readers, whys.items(), strict=True):
        extracted = RunItem.objects.filter(entrant__run=run, entrant__name=model.name, step="extract")
        assert set(extracted.values_list("unreadable", flat=True)) == {why}, text
