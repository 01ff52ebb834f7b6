"""A judge that leaves rows out is asked once more, for these rows alone."""

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
from benchmark.suites.omnitom.parsing.answers import parse_extraction
from tests.benchmark.settled import make_endpoint, started, work_off, written
from workers.models import Call, Endpoint, ItemState
from workers.providers.scripted.backend import FUNCTIONS
from workers.services.jobs import retry_failed

pytestmark = pytest.mark.django_db(transaction=True)
ONCE = "had its follow-up already"


def side(rows: list, others: list, ids: list[int], answer_format: str) -> str:
    """Half a judgement in which every one of these rows matches the first of the other side."""
    if answer_format == "structured":
        return json.dumps([{"id": at, "matches": [1] if others else []} for at in ids])
    text = io.StringIO()
    counted = ((*rows[at - 1], 1) for at in ids)
    csv.writer(text, lineterminator="\n").writerows([("Actor", "Belief", "MatchCount"), *counted])
    return text.getvalue()


def forgetful(body) -> str:
    """Judges everything at first but the last gold row and, of three predicted rows on, the second; the rest when it is
    asked again."""
    task = body["task"]
    predictions, gold, answer_format = task["predictions"], task["gold"], task["answer_format"]
    again = body["messages"][-2]["role"] == "assistant" or "no judgement yet" in body["messages"][-1]["content"]
    skipped = {2} if len(predictions) > 2 else set()
    ids = [at for at in range(1, len(predictions) + 1) if (at in skipped) == again]
    first = side(predictions, gold, ids, answer_format)
    second = side(gold, predictions, [n for n in range(1, len(gold) + 1) if (n == len(gold)) == again], answer_format)
    if answer_format == "structured":
        return f'{{"predictions": {first}, "gold": {second}}}'
    return f"Prediction Table:\n{first}\nGround Truth Table:\n{second}"


@pytest.fixture(autouse=True)
def _functions(monkeypatch):
    """`mute` says nothing at first."""
    monkeypatch.setitem(FUNCTIONS, "forgetful", forgetful)
    anew = "no judgement yet"
    mute = lambda body: forgetful(body) if anew in body["messages"][-1]["content"] else ""  # noqa: E731
    monkeypatch.setitem(FUNCTIONS, "mute", mute)


def run_of(cast, gold, models, answer_format: str = "text", seed: int = 1, **options):
    judge = Endpoint.objects.filter(name="judge").first() or make_endpoint("judge")
    judge.options = {"function": "forgetful"} | options
    judge.save()
    plan = {"judge": judge, "answer_format": answer_format, "seed": seed}  # of another seed nothing is known yet
    return work_off(started(cast, gold, [models["omniscient"]], ("extract", "judge"), **plan))


def overall(run) -> ReportRow:
    return report_of(run).entrants[0].groups["stage1"].parses.overall("repaired")


def followed_up(run):
    ask_missing(by=None, run=run, now=timezone.now())
    return work_off(run)


def places(run, step: str = FOLLOW_UP):
    return RunItem.objects.filter(entrant__run=run, step=step).select_related("item", "call", "sample")


def test_a_follow_up_is_estimated_and_asked_once_when_somebody_says_so(cast, gold, models):
    run = run_of(cast, gold, models)
    calls, launched = Call.objects.count(), estimate(plan_of(run)).total.calls
    read_again(by=None, run=run, now=timezone.now())
    assert Call.objects.count() == calls and with_gaps(run).count() == 4
    found = estimate_of_follow_ups(run)
    assert found.total.calls == 4 and found.total.input_tokens > 0
    assert [line.step_name for line in found.lines] == ["Follow-up"]
    ask_missing(by=None, run=run, now=timezone.now())
    # items of the run's job, so that pausing, budget and batch hold for them too
    items = run.job.items.filter(step=FOLLOW_UP)
    assert items.count() == 4 and set(items.values_list("state", "endpoint")) == {(ItemState.WAITING, run.judge_id)}
    run = work_off(run)
    rows = {row.step: row for row in step_progress(run, now=timezone.now())}
    assert (rows["follow"].total, rows["follow"].done, rows["follow"].made) == (4, 4, 4)
    assert run.job.items.count() == launched + 4 and Call.objects.count() == calls + 4
    later = run.spec["later"][-1]
    assert (later["did"], later["judgements"]) == ("followed up", 4) and len(later["prompt"]) == 64
    before = overall(run)
    assert read_again(by=None, run=run, now=timezone.now()) == 0
    assert (overall(run), Call.objects.count()) == (before, calls + 4)
    with pytest.raises(RunRefused, match=ONCE):
        ask_missing(by=None, run=run, now=timezone.now())


def test_the_missing_rows_are_asked_for_and_fill_the_judgement(cast, gold, models):
    for answer_format in ("text", "structured"):
        run = run_of(cast, gold, models, answer_format)
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
        asked = places(run)
        assert {one.item.state for one in asked} == {"done"} and len(asked) == 4
        assert all(one.repaired["judged"] == one.repaired["asked"] > 0 for one in asked)
        check_question(run, answer_format)


def check_question(run, answer_format: str) -> None:
    """It is the same conversation, with only these rows."""
    first, later = (places(run, step).order_by("sample").first() for step in (JUDGE, FOLLOW_UP))
    assert first.call_id != later.call_id and first.call.key != later.call.key
    messages, before = later.call.request["messages"], first.call.request["messages"]
    assert messages[: len(before)] == before
    assert messages[len(before)] == {"role": "assistant", "content": first.call.answer.strip()}
    asked = messages[-1]["content"]
    *others, last = [one["belief"] for one in first.sample.beliefs]
    assert last in asked and all(belief not in asked for belief in others)
    if answer_format == "structured":
        schema = later.call.request["schema"]
        assert schema["properties"]["gold"]["items"]["properties"]["id"]["enum"] == [len(others) + 1]
        extraction = RunItem.objects.get(entrant=first.entrant, sample=first.sample, step=EXTRACT).call.answer
        predicted = parse_extraction(extraction, structured=True)
        assert schema["$defs"]["prediction"]["enum"] == list(range(1, len(predicted) + 1))


def test_what_says_nothing_leaves_the_gaps_or_is_asked_for_all(cast, gold, models):
    silent = [{"when": "no judgement yet", "text": "I have said all."}]
    run = run_of(cast, gold, models, script=silent)
    before = overall(run)
    run = followed_up(run)
    assert overall(run) == before
    assert {(one.unreadable, one.item.state) for one in places(run)} == {("no judgement", ItemState.UNREADABLE)}
    assert gaps_of(run)["judgements"] == 0 and gaps_of(run)["all_rows"] > 0
    with pytest.raises(RunRefused):
        ask_missing(by=None, run=run, now=timezone.now())
    run = run_of(cast, gold, models, seed=2, function="mute")  # a judgement without any row
    assert overall(run).unreadable_reasons == {"no judgement": 4}
    after = overall(followed_up(run))
    assert after.stories == 4 and after.unreadable == 0
    assert {(one.item.state, one.unreadable) for one in places(run, JUDGE)} == {(ItemState.DONE, "")}
    failing = [{"when": "no judgement yet", "fail": "rejected"}]  # those that failed are retried
    run = followed_up(run_of(cast, gold, models, seed=3, script=failing))
    assert places(run).filter(item__state=ItemState.FAILED).count() == 4
    Endpoint.objects.filter(pk=run.judge_id).update(options={"function": "forgetful"})
    assert retry_failed(job=run.job, now=timezone.now()) == 4
    assert overall(work_off(run)).unjudged is None


def test_pages_and_the_command_offer_it_say_what_it_costs_and_show_what_was_asked(cast, gold, models, alice):
    run = run_of(cast, gold, models)
    base = f"/p/{run.project.slug}/runs/{run.uid}/"
    page = written(alice.get(base))
    assert "Ask for the missing rows" in page and "without a judgement" in page
    assert "4 calls" in written(alice.get(f"{base}follow-up/"))
    assert alice.post(f"{base}follow-up/").status_code == 302
    run = work_off(run)
    shown = written(alice.get(f"{base}items/{places(run).first().pk}/"))
    assert "These counts fill the gaps" in shown and "no judgement yet" in shown
    assert "The judge gave this row no count" not in shown
    assert "Follow-up" in written(alice.get(base))
    assert ONCE in written(alice.get(f"{base}follow-up/", follow=True))
    run, out, said = run_of(cast, gold, models, seed=2), io.StringIO(), io.StringIO()
    call_command("runs", "follow-up", run.uid, "--wait", "--json", stdout=out, stderr=said)
    told = json.loads(out.getvalue())
    assert (told["asked"], told["state"]) == (4, "finished") and "Up to 4 calls" in said.getvalue()
    assert "unjudged" not in told["scores"]["repaired"]["stage1"]["overall"]
    with pytest.raises(CommandError, match=ONCE):
        call_command("runs", "follow-up", run.uid, stdout=out, stderr=said)
