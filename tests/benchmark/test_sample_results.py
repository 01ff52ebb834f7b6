"""What the sample shows of evaluation: made once, completed where it was broken off, and to be seen on every page."""

from __future__ import annotations

import json
from io import StringIO
from itertools import pairwise

import pytest
from django.core.management import call_command

from annotation.domain.scripted_readers import READERS
from annotation.models import Project, User, Vote
from annotation.services.projects import create_project
from annotation.services.sample import SLUG, load_sample
from benchmark.models import Dataset, Run, SharedReport
from benchmark.services import sample_results
from benchmark.services.calibrating import calibrated
from benchmark.services.calibrating import report_of as report_of_judge
from benchmark.services.reports import report_of
from judge.models import Alignment, AlignmentStudy
from judge.services.alignment_report import progress_of
from tests.sample import sample
from workers.models import Call

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


KEPT = (Project, Vote, Dataset, Run, SharedReport, Call, AlignmentStudy, Alignment)


def loaded() -> dict:
    out = StringIO()
    call_command("load_sample", "--once", "--json", stdout=out)
    return json.loads(out.getvalue())


def made() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in KEPT}


def test_what_was_broken_off_is_completed_and_nothing_is_doubled(client, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    sample()
    for name in ("run_to_end", "freeze_run", "add_alignment"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(sample_results, name, killed)
            loaded()
    assert loaded()["project"] == SLUG
    once = made()
    assert [once[name] for name in ("Project", "Dataset", "Run", "SharedReport", "AlignmentStudy")] == [1, 1, 1, 2, 1]
    loaded()
    assert made() == once
    _models_differ_as_they_are_meant_to(Run.objects.get())
    _every_page_of_results_shows_them(client)
    _a_judge_is_calibrated_by_tables_that_people_aligned(client)


def _models_differ_as_they_are_meant_to(run: Run) -> None:
    rows = {row["name"]: row for row in report_of(run).as_json()["entrants"]}
    careful, hasty, literal = (rows[reader.name] for reader in READERS)
    f1 = [row["stage1"]["repaired"]["overall"]["f1"] for row in (careful, hasty, literal, rows["omniscient"])]
    right = [row["stage2"]["repaired"]["overall"]["overall_accuracy"] for row in (careful, hasty, literal)]
    assert f1 == sorted(f1, reverse=True) and right == sorted(right, reverse=True)
    assert min(first - second for first, second in pairwise(f1)) > 0.05


def _every_page_of_results_shows_them(client) -> None:
    client.force_login(User.objects.get(username="admin"))
    run, reports = Run.objects.get(), SharedReport.objects.values_list("uid", flat=True)
    for address in ("results/", *(f"results/reports/{uid}/" for uid in reports), f"runs/{run.uid}/results/"):
        page = client.get(f"/p/{SLUG}/{address}", follow=True)
        assert page.status_code == 200 and "sample-hasty" in page.content.decode(), address


def _a_judge_is_calibrated_by_tables_that_people_aligned(client) -> None:
    study = AlignmentStudy.objects.get()
    progress = progress_of(study)
    assert 0 < progress.settled < progress.tables and 0 < progress.handed_in < progress.wanted
    assert progress.open_rows  # where the two differ: an expert decides
    (judge,), _ = calibrated(study)
    found = report_of_judge(judge, seed=study.seed)
    assert judge.name == sample_results.JUDGE and 0.5 < found.calibration.overall.by_story.value < 1
    page = client.get(f"/p/{SLUG}/calibration/{study.uid}/", follow=True)
    assert page.status_code == 200 and sample_results.JUDGE in page.content.decode()


def test_a_sample_of_an_earlier_version_and_a_project_of_its_name_stay_as_they_are(cast):
    create_project(by=cast.alice, slug=SLUG, name="Ours")
    before = made()
    assert loaded()["project"] == SLUG
    assert made() == before and before["Run"] == 0


def test_a_reader_answers_about_what_it_does_not_know():
    reader = READERS[0]
    unknown = {"kind": "extract", "story": "Ines counts to three. Ola listens to Ines."}
    assert "Ines counts to three" in reader.answer({"task": unknown})
    rows = {"rows": [{"id": 1, "actor": "Ines", "belief": "It rains"}], "dimensions": {"truth": ["True", "False"]}}
    assert json.loads(reader.answer({"task": {"kind": "label", **rows}})) == {"rows": {"1": {"truth": "True"}}}
    assert "nothing else" in reader.answer({"task": {"kind": "choose"}})


def test_the_sample_is_loaded_at_most_once(db):
    load_sample()
    with pytest.raises(ValueError, match="already"):
        load_sample()
