"""Runs whose calls failed: what they end as, and that no leaderboard shows them as a row or drops them without a
word."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.absences import Absence
from benchmark.services.downloads import output_files, zipped
from benchmark.services.evaluating import read_again
from benchmark.services.items import STATES, state_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import report_of, scores_of
from benchmark.services.watching import shortfall_of_run, step_progress
from benchmark.suites.omnitom.data import EXTRACT
from benchmark.views.leaderboard import named_together
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from tests.benchmark.settled import written
from workers.models import Endpoint, Item, Job, JobOutcome

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Scripted to fail: rejected."


@pytest.fixture
def dataset(tmp_path):
    """Of five stories; `dead` never answers, and what `odd` answers cannot be read."""
    endpoint("dead", options={"script": [{"fail": "rejected"}]})
    endpoint("odd", options={"default": "no table at all"})
    return published(write_records(tmp_path / "records.jsonl", generated(5)))


@pytest.fixture
def page(dataset, admin_client):
    return lambda address="": written(admin_client.get(f"/p/{dataset.project.slug}/{address}"))


def run_of(dataset, *names: str) -> Run:
    models = list(Endpoint.objects.filter(name__in=names))
    run = worked_off(started(dataset=dataset, endpoints=models, steps=["label"]))
    run.job.refresh_from_db()
    return run


def shown(dataset) -> list[tuple[str, str]]:
    """The rows of models, and their runs."""
    found = leaderboard_of(dataset, "text", None).entrants["stage2"]
    return [(one.name, one.run) for one in found if one.kind != "person"]


def test_a_model_without_an_answer_is_named_and_has_no_row(dataset, page, capsys):
    run = run_of(dataset, "dead")
    assert (run.job.outcome, run.job.standing) == (JobOutcome.FAILED, "failed")
    found = leaderboard_of(dataset, "text", None)
    assert shown(dataset) == [] and (found.fitting, found.failed) == ([], [run])
    [absent] = found.absent
    assert (absent.model, absent.run, absent.failed, absent.problem) == ("dead", run.uid, 5, REASON)
    board, own, listed = page("results/"), page(f"runs/{run.uid}/"), page("runs/")
    assert board.count("has no figures of") == board.count(REASON) == 1 and "· 1 failed" in board
    assert "5 of 5 items failed." in own and f"/runs/{run.uid}/items/?state=failed" in own and "state-done" not in own
    for text in (own, listed):
        assert ">failed</span>" in text and REASON in text and ">finished</span>" not in text
    asked = ["--project", dataset.project.slug, "--suite", "omnitom", "--step", "label", "--json"]
    with pytest.raises(CommandError, match=r"^The run failed, no item got an answer: 5 of 5 items failed\."):
        call_command("run_benchmark", *asked, "--endpoint", "dead", "--wait")
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "failed" and told["failures"] == {"count": 5, "of": 5, "commonest": REASON, "times": 5}
    call_command("leaderboard", "--project", dataset.project.slug, "--json")
    out, err = capsys.readouterr()
    assert json.loads(out)["absent"][0]["model"] == "dead"
    assert f"all 5 calls failed. The commonest reason: {REASON}" in err
    one = Absence("stage1", "dead", "run", "Title", failed=40, problem=REASON)
    other = Absence("stage1", "dead", "run", "Title", failed=3, problem="another reason")
    held = named_together([one, Absence("stage2", "dead", "run", "Title", failed=5, problem=REASON), other])
    assert [(line["groups"], line["failed"]) for line in held] == [("extraction and labelling", 45), ("extraction", 3)]


def test_a_run_whose_every_answer_is_unreadable_did_not_simply_finish(dataset, page, capsys):
    run = run_of(dataset, "odd")
    assert run.job.outcome == JobOutcome.USELESS
    assert shown(dataset) == [("odd", run.uid)], "its answers are the model's own: it keeps its row"
    own, listed = page(f"runs/{run.uid}/"), page("runs/")
    reason = Item.objects.filter(job=run.job).first().problem
    for text in (own, listed):
        assert ">finished, none readable</span>" in text and reason in text
        assert ">finished</span>" not in text and "state-done" not in text and "state-unreadable" in text
    assert "5 of 5 answers are unreadable." in own and f"/runs/{run.uid}/items/?state=unreadable" in own
    with pytest.raises(CommandError, match=r"no answer is readable: 5 of 5 answers are unreadable\."):
        call_command("work", f"--job={run.job.uid}", "--json")
    assert json.loads(capsys.readouterr().out)["unreadable_answers"]["count"] == 5
    # answers that are read anew change how the run came out
    Item.objects.filter(job=run.job).update(state="done", problem="")  # as an earlier parser read them
    Job.objects.filter(pk=run.job_id).update(outcome=JobOutcome.FINISHED)
    RunItem.objects.filter(entrant__run=run).update(unreadable="")
    assert read_again(by=None, run=run, now=timezone.now()) == 5
    run.job.refresh_from_db()
    assert run.job.outcome == JobOutcome.USELESS


def test_a_run_that_failed_or_a_model_without_an_answer_in_it_hides_nobody(dataset):
    good, bad = run_of(dataset, "odd"), run_of(dataset, "odd")  # with the same settings: only the newest is shown
    places = RunItem.objects.filter(entrant__run=bad)
    places.update(call=None, official=None, repaired=None, score=None, repaired_score=None, unreadable="")
    Item.objects.filter(job=bad.job).update(state="failed", problem=REASON)
    Job.objects.filter(pk=bad.job_id).update(outcome=JobOutcome.FAILED)
    found = leaderboard_of(dataset, "text", None)
    assert shown(dataset) == [("odd", good.uid)]
    assert [one.run for one in found.absent] == [bad.uid] and found.failed == [bad]
    both = run_of(dataset, "odd", "dead")
    found = leaderboard_of(dataset, "text", None)
    assert both.job.outcome == JobOutcome.USELESS and both in found.fitting
    assert shown(dataset) == [("odd", both.uid)] and "dead" in {one.model for one in found.absent}


# --- extractions that were lost stay lost where another run takes them over: missing, not gone


STORIES = 5
TABLE = "Actor | Belief | Order\nworld | It rains. | 0"


@pytest.fixture
def models(db):
    """A model whose first call is rejected for good, and two judges."""
    script = [{"fail": "rejected", "times": 1}]
    return {
        "flaky": endpoint("flaky", options={"script": script, "default": TABLE}),
        "lexical-judge": endpoint("lexical-judge", "baseline"),
        "omniscient": endpoint("omniscient", "baseline"),
    }


@pytest.fixture
def source(models, tmp_path) -> Run:
    dataset = published(write_records(tmp_path / "records.jsonl", generated(STORIES)))
    chosen = [models["flaky"], models["omniscient"]]
    plan = {"steps": ["extract", "judge"], "judge": models["lexical-judge"]}
    run = worked_off(started(dataset=dataset, endpoints=chosen, **plan))
    assert lost(run).count() == 1
    return run


def lost(run: Run):
    return RunItem.objects.filter(entrant__run=run, step=EXTRACT, call=None)


def judged(source: Run, models, *names: str, steps=("judge",), **plan) -> Run:
    asked = {"judge": models["lexical-judge"], "source": source} | plan
    chosen = [models[name] for name in names]
    return worked_off(started(dataset=source.dataset, endpoints=chosen, steps=list(steps), **asked))


def test_a_lost_extraction_is_missing_when_it_is_judged_anew_and_is_not_asked_again(source, models):
    before, number = scores_of(source)["flaky"], lost(source).get().sample.number
    for names in (("flaky", "omniscient"), ("flaky",)):
        run = judged(source, models, *names)
        after = scores_of(run) if len(names) == 1 else scores_of(run)["flaky"]
        assert after["official"]["reason"]["stage1"].startswith(f"Story {number} has no answer for extract")
        assert after["official"]["stage1"] is None is before["official"]["stage1"]
        # one of five: 1 unreadable, the bounds a fifth of the scale apart
        overall = after["repaired"]["stage1"]["overall"]
        assert overall == before["repaired"]["stage1"]["overall"]
        assert overall["unreadable"] == 1 and overall["stories"] == STORIES - 1
        low, high = overall["bounds"]["f1"]
        assert high - low == pytest.approx(1 / STORIES)
        assert report_of(run).stories == STORIES
        without = report_of(run).entrants[0].groups["stage1"].analysed("repaired").kept["outputs"]["without"]
        assert without["calls"] == {"the call failed": 1}
    place = lost(run).select_related("item").get()
    assert (place.item, place.unreadable, state_of(place)) == (None, "the call failed", "failed")
    assert list(RunItem.objects.filter(STATES["failed"], entrant__run=run)) == [place]
    assert not RunItem.objects.filter(STATES["waiting"], entrant__run=run).exists()
    extracted = next(row for row in step_progress(run, now=timezone.now()) if row.step == EXTRACT)
    assert (extracted.total, extracted.done, extracted.failed) == (STORIES, STORIES - 1, 1)
    again = judged(run, models, "flaky")  # a second time over
    assert lost(again).get().unreadable == "the call failed" and scores_of(again) == scores_of(run)
    # the run finished with failures
    run.job.refresh_from_db()
    assert (run.job.outcome, run.job.items.filter(state="failed").count()) == ("partly", 0)
    failures = shortfall_of_run(run).failures
    assert (failures.count, failures.sentence) == (1, "The extraction was lost in the run that it was taken over from.")
    whole = judged(source, models, "omniscient")
    whole.job.refresh_from_db()
    assert whole.job.outcome == "finished"


@pytest.mark.parametrize("lacking", ["a call", "stories"])
def test_page_and_official_folder_agree_beside_labelling(models, tmp_path, lacking):
    """Labelling of all five stories beside judging of a run that lost an extraction, or was about three of them."""
    dataset = published(write_records(tmp_path / "records.jsonl", generated(STORIES)))
    model = models["flaky"] if lacking == "a call" else endpoint("plain", options={"default": TABLE})
    models[model.name], limit = model, 0 if lacking == "a call" else 3
    plan = {"steps": ["extract", "judge"], "judge": models["lexical-judge"], "limit": limit}
    source = worked_off(started(dataset=dataset, endpoints=[model], **plan))
    run = judged(source, models, model.name, steps=("judge", "label"))
    archive = zipfile.ZipFile(io.BytesIO(b"".join(zipped(output_files(run.entrants.get())))))
    assert "metrics/stage1_overall.csv" not in archive.namelist()
    metrics = report_of(run).entrants[0].groups["stage1"]
    assert metrics.parses.official is None and "has no answer for extract" in metrics.reason
    assert metrics.parses.overall("repaired").stories == (STORIES - 1 if lacking == "a call" else 3)
