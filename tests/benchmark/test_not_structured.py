"""In a run of structured output a table is no answer: its endpoint does not hold the schema, and the run says so."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from benchmark.domain.report_rows import ReportRow
from benchmark.models import RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.evaluating import read_again
from benchmark.services.items import ChosenItems, items_of
from benchmark.services.reports import report_of
from benchmark.services.snapshots import save_run_snapshot
from benchmark.services.watching import schema_breakers
from benchmark.suites.reasons import NOT_STRUCTURED
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off
from workers.models import Call

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
STEPS = ("extract", "judge", "label")
TABLE = "Actor | Belief | Order\nworld | The key is in the drawer | 0"
ROWS = json.dumps({"rows": [{"actor": "world", "belief": "The key is in the drawer", "order": "0"}]})
COUNTS = "Prediction Table:\nActor,Belief,MatchCount\nworld,The key is in the drawer,1\n"


@pytest.fixture
def gold(cast, make_story):
    return published(cast, make_story)


def overall_of(run, group: str) -> ReportRow:
    return report_of(run).entrants[0].groups[group].parses.overall("repaired")


def run_of(cast, gold, text: str, *, answer_format: str = "structured", judge=None, steps=STEPS):
    judge = judge or baselines()["lexical-judge"]
    model = make_endpoint("model", options={"default": text})
    return work_off(started(cast, gold, [model], steps, judge=judge, answer_format=answer_format))


def test_a_table_is_unreadable_in_a_structured_run_and_an_answer_in_a_free_one(cast, gold):
    run = run_of(cast, gold, TABLE, steps=("extract", "judge"))
    overall = overall_of(run, "stage1")
    assert (overall.stories, overall.value_of("f1"), overall.unreadable_reasons) == (0, None, {NOT_STRUCTURED: 4})
    extracted = RunItem.objects.filter(entrant__run=run, step="extract").select_related("item")
    assert {(one.unreadable, one.item.state) for one in extracted} == {(NOT_STRUCTURED, "unreadable")}
    row = tables_of(document_of(run))["unreadable-repaired"]().rows[0]
    assert (row["stage1_unreadable"].value, row["stage1_answers"].value) == (4, 4)


def test_free_text_takes_the_same_table(cast, gold):
    run = run_of(cast, gold, TABLE, answer_format="text", steps=("extract", "judge"))
    assert overall_of(run, "stage1").unreadable == 0 and schema_breakers(run) == []


def test_labels_in_a_table_are_unreadable_too(cast, gold):
    labels = "world | The key is in the drawer | 0 | True | Shared | Explicit | Location | Narration | Neutral"
    run = run_of(cast, gold, labels, steps=("label",))
    assert overall_of(run, "stage2").unreadable_reasons == {NOT_STRUCTURED: 4}


def test_a_judge_that_answers_tables_judges_nothing(cast, gold):
    judge = make_endpoint("judge", options={"default": COUNTS})
    run = run_of(cast, gold, ROWS, judge=judge, steps=("extract", "judge"))
    overall = overall_of(run, "stage1")
    assert list(overall.unreadable_reasons) == ["the judge's answer is not structured: its endpoint ignored the schema"]
    [broken] = schema_breakers(run)
    told = (broken.endpoint, broken.step, broken.broken, broken.answers, broken.entrant)
    assert told == ("judge", "judge", 4, 4, None)


def test_what_counts_as_structured(cast, gold):
    whys = {
        "I would rather not.": NOT_STRUCTURED,
        '{"labels": []}': NOT_STRUCTURED,
        '{"rows": [{}]}': "no readable row",
        "": "no readable row",
        f"```json\n{ROWS}\n```": "",
        '{"rows": []}': "",
    }
    # calls are kept by model: each text has one of its own
    models = [make_endpoint(f"m{at}", model=f"m{at}", options={"default": text}) for at, text in enumerate(whys)]
    judge = baselines()["lexical-judge"]
    run = work_off(started(cast, gold, models, ("extract", "judge"), judge=judge, answer_format="structured"))
    for model, (text, why) in zip(models, whys.items(), strict=True):
        extracted = RunItem.objects.filter(entrant__run=run, entrant__name=model.name, step="extract")
        assert set(extracted.values_list("unreadable", flat=True)) == {why}, text


def test_the_run_page_names_the_endpoint_and_opens_the_answers(cast, gold, client):
    script = [{"text": TABLE, "times": 3}]
    model = make_endpoint("model", options={"script": script, "default": ROWS}, max_concurrency=1)
    asked = started(
        cast, gold, [model], ("extract", "judge"), judge=baselines()["lexical-judge"], answer_format="structured"
    )
    run = work_off(asked)
    client.force_login(cast.alice)
    page = " ".join(client.get(f"/p/{run.project.slug}/runs/{run.uid}/").content.decode().split())
    assert "<bdi>model</bdi> does not hold the schema" in page and "3 of 4 answers" in page
    entrant = run.entrants.get()
    assert f"?model={entrant.pk}&amp;step=extract&amp;problem=unstructured" in page
    chosen = ChosenItems(model=entrant.pk, step="extract", problem="unstructured")
    assert items_of(run, chosen).count() == 3
    assert "<bdi>lexical-judge</bdi> does not hold" not in page, "the judge is not to blame for what it was given"
    listed = client.get(
        f"/p/{run.project.slug}/runs/{run.uid}/items/?step=extract&problem=unstructured"
    ).content.decode()
    assert listed.count(NOT_STRUCTURED) >= 3


def scoring(run) -> str:
    return next(one["text"] for one in document_of(run).methods if one["heading"] == "Scoring")


def test_the_methods_text_names_whoever_ignored_the_schema_and_counts_the_answers(cast, gold):
    script = [{"text": TABLE, "times": 3}]
    model = make_endpoint("model", options={"script": script, "default": ROWS}, max_concurrency=1)
    judge = make_endpoint("judge", options={"default": COUNTS})
    run = work_off(started(cast, gold, [model], ("extract", "judge"), judge=judge, answer_format="structured"))
    told = "The schema was ignored by model in 3 of 4 answers of extraction; judge in 1 of 4 answers of judging."
    assert told in scoring(run)
    saved_as_it_was = save_run_snapshot(by=None, run=run).metrics["methods"]
    assert any(told in one["text"] for one in saved_as_it_was)


@pytest.mark.parametrize(("text", "answer_format"), [(ROWS, "structured"), (TABLE, "text")])
def test_the_methods_text_says_where_nobody_ignored_the_schema(cast, gold, text, answer_format):
    told = scoring(run_of(cast, gold, text, answer_format=answer_format, steps=("extract", "judge")))
    assert ("No endpoint ignored the schema." in told) == (answer_format == "structured") and "ignored by" not in told


def test_reading_again_finds_an_ignored_schema(cast, gold):
    run = run_of(cast, gold, TABLE, steps=("extract", "judge"))
    RunItem.objects.filter(entrant__run=run, step="extract").update(unreadable="", repaired={"rows": 1})
    calls = Call.objects.count()
    assert read_again(by=None, run=run, now=timezone.now()) == 4
    assert overall_of(run, "stage1").unreadable_reasons == {NOT_STRUCTURED: 4}
    assert Call.objects.count() == calls
