"""A judge that leaves rows out is asked once more, for these rows alone."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from benchmark.domain.report_rows import ReportRow
from benchmark.models import RunItem
from benchmark.services.estimates import estimate
from benchmark.services.evaluating import read_again
from benchmark.services.follow_ups import ask_missing, estimate_of_follow_ups, gaps_of, with_gaps
from benchmark.services.plans import RunRefused, plan_of
from benchmark.services.reports import report_of
from benchmark.services.watching import step_progress
from benchmark.suites.omnitom.data import EXTRACT, FOLLOW_UP, JUDGE
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from workers.models import Call, Endpoint, ItemState
from workers.providers.scripted.backend import FUNCTIONS
from workers.services.jobs import retry_failed

pytestmark = pytest.mark.django_db(transaction=True)


def judged(rows: list, others: list, answer_format: str, ids: list[int] | None = None) -> str:
    """A judgement in which every row matches the first of the other side."""
    ids = ids or list(range(1, len(rows) + 1))
    if answer_format == "structured":
        return json.dumps([{"id": at, "matches": [1] if others else []} for at in ids])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [("Actor", "Belief", "MatchCount"), *((*rows[at - 1], 1) for at in ids)]
    )
    return text.getvalue()


def forgetful(body) -> str:
    """Judges everything at first but the last gold row and, of three predicted rows on, the second; the rest when it is
    asked again."""
    task = body["task"]
    predictions, gold, answer_format = task["predictions"], task["gold"], task["answer_format"]
    again = body["messages"][-2]["role"] == "assistant" or "no judgement yet" in body["messages"][-1]["content"]
    skipped = {2} if len(predictions) > 2 else set()
    ids = [
        [at for at in range(1, len(predictions) + 1) if (at in skipped) == again],
        [at for at in range(1, len(gold) + 1) if (at == len(gold)) == again],
    ]
    sides = [
        judged(predictions, gold, answer_format, ids[0])
        if ids[0]
        else "[]"
        if answer_format == "structured"
        else "Actor,Belief,MatchCount\n"
    ]
    sides.append(
        judged(gold, predictions, answer_format, ids[1])
        if ids[1]
        else "[]"
        if answer_format == "structured"
        else "Actor,Belief,MatchCount\n"
    )
    if answer_format == "structured":
        return f'{{"predictions": {sides[0]}, "gold": {sides[1]}}}'
    return f"Prediction Table:\n{sides[0]}\nGround Truth Table:\n{sides[1]}"


def mute(body) -> str:
    """Says nothing at first."""
    return forgetful(body) if "no judgement yet" in body["messages"][-1]["content"] else ""


@pytest.fixture(autouse=True)
def _function(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "forgetful", forgetful)
    monkeypatch.setitem(FUNCTIONS, "mute", mute)


@pytest.fixture
def gold(cast, make_story):
    return published(cast, make_story)


def run_of(cast, gold, answer_format: str = "text", **judge):
    options = {"function": "forgetful"} | judge.pop("options", {})
    held = make_endpoint("judge", options=options, **judge)
    return work_off(
        started(cast, gold, [baselines()["omniscient"]], ("extract", "judge"), judge=held, answer_format=answer_format)
    )


def overall(run) -> ReportRow:
    return report_of(run).entrants[0].groups["stage1"].parses.overall("repaired")


def followed_up(run):
    ask_missing(by=None, run=run, now=timezone.now())
    return work_off(run)


@pytest.mark.parametrize("answer_format", ["text", "structured"])
def test_the_missing_rows_are_asked_for_and_fill_the_judgement(cast, gold, answer_format):
    run = run_of(cast, gold, answer_format)
    before, official = overall(run), report_of(run).entrants[0].groups["stage1"].parses.official
    assert before.stories == 4 and before.unreadable == 0
    assert before.unjudged.rows == gaps_of(run)["rows"] == gaps_of(run)["all_rows"] >= 4
    low, high = before.bounds_of("f1")
    assert low < before.value_of("f1") <= high
    run = followed_up(run)
    after = overall(run)
    assert after.unjudged is None and after.bounds_of("f1") == [after.value_of("f1")] * 2
    assert low <= after.value_of("f1") <= high
    assert report_of(run).entrants[0].groups["stage1"].parses.official == official
    assert gaps_of(run) == {"rows": 0, "judgements": 0, "all_rows": 0}
    places = RunItem.objects.filter(entrant__run=run, step=FOLLOW_UP).select_related("item", "call")
    assert {one.item.state for one in places} == {"done"} and len(places) == 4
    assert all(one.repaired["judged"] == one.repaired["asked"] > 0 for one in places)


@pytest.mark.parametrize("answer_format", ["text", "structured"])
def test_the_question_is_the_same_conversation_with_only_these_rows(cast, gold, answer_format):
    run = followed_up(run_of(cast, gold, answer_format))
    first, later = (
        RunItem.objects.filter(entrant__run=run, step=step).order_by("sample").select_related("call", "sample").first()
        for step in (JUDGE, FOLLOW_UP)
    )
    assert first.call_id != later.call_id and first.call.key != later.call.key
    messages, before = later.call.request["messages"], first.call.request["messages"]
    assert messages[: len(before)] == before
    assert messages[len(before)] == {"role": "assistant", "content": first.call.answer.strip()}
    asked = messages[-1]["content"]
    gold_rows = [(one["actor"], one["belief"]) for one in first.sample.beliefs]
    assert gold_rows[-1][1] in asked and all(belief not in asked for _, belief in gold_rows[:-1])
    if answer_format == "structured":
        held = later.call.request["schema"]["properties"]["gold"]["items"]["properties"]
        assert held["id"]["enum"] == [len(gold_rows)]
        extraction = RunItem.objects.get(entrant=first.entrant, sample=first.sample, step=EXTRACT).call.answer
        matched = later.call.request["schema"]["$defs"]["prediction"]["enum"]
        assert matched == list(range(1, len(parse_extraction(extraction, structured=True)) + 1))


def test_nobody_asks_unless_somebody_says_so_and_never_twice(cast, gold):
    run = run_of(cast, gold)
    calls = Call.objects.count()
    read_again(by=None, run=run, now=timezone.now())
    assert Call.objects.count() == calls and with_gaps(run).count() == 4
    followed_up(run)
    assert Call.objects.count() == calls + 4
    with pytest.raises(RunRefused, match="had its follow-up already"):
        ask_missing(by=None, run=run, now=timezone.now())


def test_a_follow_up_that_says_nothing_is_unreadable_and_leaves_the_gaps(cast, gold):
    script = [{"when": "no judgement yet", "text": "I have said all."}]
    run = run_of(cast, gold, options={"script": script})
    before = overall(run)
    run = followed_up(run)
    assert overall(run) == before
    places = RunItem.objects.filter(entrant__run=run, step=FOLLOW_UP)
    assert set(places.values_list("unreadable", "item__state")) == {("no judgement", ItemState.UNREADABLE)}
    assert gaps_of(run)["judgements"] == 0 and gaps_of(run)["all_rows"] > 0
    with pytest.raises(RunRefused):
        ask_missing(by=None, run=run, now=timezone.now())


def test_a_judgement_without_any_row_is_asked_for_all_and_becomes_one(cast, gold):
    run = run_of(cast, gold, options={"function": "mute"})
    assert overall(run).unreadable_reasons == {"no judgement": 4}
    run = followed_up(run)
    after = overall(run)
    assert after.stories == 4 and after.unreadable == 0
    judgements = RunItem.objects.filter(entrant__run=run, step=JUDGE)
    assert set(judgements.values_list("item__state", "unreadable")) == {(ItemState.DONE, "")}


def test_failed_follow_ups_are_retried(cast, gold):
    script = [{"when": "no judgement yet", "fail": "rejected"}]
    run = run_of(cast, gold, options={"script": script})
    run = followed_up(run)
    assert RunItem.objects.filter(entrant__run=run, step=FOLLOW_UP, item__state=ItemState.FAILED).count() == 4
    Endpoint.objects.filter(pk=run.judge_id).update(options={"function": "forgetful"})
    assert retry_failed(job=run.job, now=timezone.now()) == 4
    work_off(run)
    assert overall(run).unjudged is None


def test_reading_again_after_a_follow_up_changes_nothing(cast, gold):
    run = followed_up(run_of(cast, gold))
    before, calls = overall(run), Call.objects.count()
    assert read_again(by=None, run=run, now=timezone.now()) == 0
    assert (overall(run), Call.objects.count()) == (before, calls)


def test_follow_ups_are_counted_and_estimated(cast, gold):
    run = run_of(cast, gold)
    launched = estimate(plan_of(run)).total.calls
    found = estimate_of_follow_ups(run)
    assert found.total.calls == 4 and found.total.input_tokens > 0
    assert [line.step_name for line in found.lines] == ["Follow-up"]
    run = followed_up(run)
    rows = {row.step: row for row in step_progress(run, now=timezone.now())}
    assert (rows["follow"].total, rows["follow"].done, rows["follow"].made) == (4, 4, 4)
    assert run.job.items.count() == launched + 4
    [later] = run.spec["later"]
    assert (later["did"], later["judgements"]) == ("followed up", 4) and len(later["prompt"]) == 64


def test_the_pages_offer_it_and_show_what_was_asked(cast, gold, client):
    run = run_of(cast, gold)
    base = f"/p/{run.project.slug}/runs/{run.uid}/"
    client.force_login(cast.alice)
    page = written(client.get(base))
    assert "Ask for the missing rows" in page and "without a judgement" in page
    asked = written(client.get(f"{base}follow-up/"))
    assert "4 calls" in asked
    assert client.post(f"{base}follow-up/").status_code == 302
    run = work_off(run)
    place = RunItem.objects.filter(entrant__run=run, step=FOLLOW_UP).first()
    shown = written(client.get(f"{base}items/{place.pk}/"))
    assert "Rows that were asked for" in shown and "no judgement yet" in shown
    assert "The judge gave this row no count" not in shown
    assert "Follow-up" in written(client.get(base))
    again = written(client.get(f"{base}follow-up/", follow=True))
    assert "had its follow-up already" in again
    client.force_login(cast.bob)
    assert client.get(f"{base}follow-up/").status_code in (403, 404)


def test_the_command_asks_and_says_before_what_it_costs(cast, gold):
    run = run_of(cast, gold)
    out, said = io.StringIO(), io.StringIO()
    call_command("runs", "follow-up", run.uid, "--wait", "--json", stdout=out, stderr=said)
    told = json.loads(out.getvalue())
    assert (told["asked"], told["state"]) == (4, "finished") and "Up to 4 calls" in said.getvalue()
    assert "unjudged" not in told["scores"]["repaired"]["stage1"]["overall"]
    with pytest.raises(CommandError, match="had its follow-up already"):
        call_command("runs", "follow-up", run.uid, stdout=out, stderr=said)


def test_a_follow_up_is_an_item_of_the_run_s_job(cast, gold):
    """So that pausing, budget and batch hold for it too."""
    run = run_of(cast, gold)
    ask_missing(by=None, run=run, now=timezone.now())
    items = run.job.items.filter(step=FOLLOW_UP)
    assert items.count() == 4 and set(items.values_list("state", "endpoint")) == {(ItemState.WAITING, run.judge_id)}
