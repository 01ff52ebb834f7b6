"""Extractions that were lost stay lost where another run takes them over: missing, not gone."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.downloads import output_files, zipped
from benchmark.services.items import STATES, state_of
from benchmark.services.reports import report_of, scores_of
from benchmark.services.watching import shortfall_of_run, step_progress
from benchmark.suites.omnitom.data import EXTRACT
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records

pytestmark = pytest.mark.django_db(transaction=True)
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
