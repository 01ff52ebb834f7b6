"""What the sample shows of evaluation: made once, completed where it was broken off, and to be seen on every page."""

import json
from io import StringIO
from itertools import pairwise

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.domain.sample_corpus import sample_records
from annotation.domain.scripted_readers import FURTHER_READERS, READERS
from annotation.domain.shipped_schemas import OMNITOM
from annotation.models import Project, User, Vote
from annotation.services.projects import create_project
from annotation.services.sample import SLUG, load_sample
from benchmark.domain.gold_kinds import Kind, Move
from benchmark.models import Dataset, Run, Snapshot
from benchmark.services import sample_results
from benchmark.services.gold_kinds import OVERALL, gold_metrics_of, labelling_of
from benchmark.services.reports import report_of
from judge.models import Alignment, AlignmentStudy, AnchorWatch
from judge.services import runs as shown
from judge.services.alignment_report import effect_of_proposals, progress_of
from judge.services.calibration import calibrated, reported
from judge.services.sample import SAMPLE_JUDGES
from judge.services.watch_reports import DRIFT, read_watch
from tests.sample import sample
from workers.models import Call
from workers.providers.scripted.functions import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


STORIES = [record.as_json() for record in sample_records()]
KEPT = (Project, Vote, Dataset, Run, Snapshot, Call, AlignmentStudy, Alignment, AnchorWatch)


def loaded() -> dict:
    out = StringIO()
    call_command("load_sample", "--once", "--json", stdout=out)
    return json.loads(out.getvalue())


def made() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in KEPT}


def test_what_was_broken_off_is_completed_nothing_is_doubled_and_every_page_shows_it(client, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    sample()
    for name in ("run_to_end", "start_runs", "save_run_snapshot", "add_alignment", "add_watch"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(shown if name.startswith("add_") else sample_results, name, killed)
            loaded()
    assert loaded()["project"] == SLUG
    once = made()
    assert [once[name] for name in ("Project", "Dataset", "Snapshot", "AlignmentStudy")] == [1, 1, 2, 1]
    # the first, further models, two prompt levels, two judges
    assert Run.objects.listed().count() == 1 + 1 + 2 + 2
    loaded()
    with pytest.raises(ValueError, match="already"):
        load_sample()
    assert made() == once
    run = Run.objects.get(title=sample_results.TITLE)
    # models differ as they are meant to
    rows = {
        row.name: {group: metrics.parses.overall("repaired") for group, metrics in row.groups.items() if metrics}
        for row in report_of(run).entrants
    }
    careful, hasty, literal = (rows[reader.name] for reader in READERS)
    f1 = [row["stage1"].value_of("f1") for row in (careful, hasty, literal, rows["omniscient"])]
    right = [row["stage2"].value_of("overall_accuracy") for row in (careful, hasty, literal)]
    assert f1 == sorted(f1, reverse=True) and right == sorted(right, reverse=True)
    assert min(first - second for first, second in pairwise(f1)) > 0.05
    # every page of results shows them
    client.force_login(User.objects.get(username="admin"))
    reports = Snapshot.objects.values_list("uid", flat=True)
    for address in ("results/", *(f"results/snapshots/{uid}/" for uid in reports), f"runs/{run.uid}/results/"):
        page = client.get(f"/p/{SLUG}/{address}", follow=True)
        assert page.status_code == 200 and "sample-hasty" in page.content.decode(), address
    # judges are calibrated by tables that people aligned
    study = AlignmentStudy.objects.get()
    progress = progress_of(study)
    assert 0 < progress.settled < progress.tables and 0 < progress.handed_in < progress.wanted
    assert progress.open_rows  # where the two differ: an expert decides
    effect = effect_of_proposals(study)  # of proposals on links, by those who see none
    assert effect["shown"].n > effect["blind"].n > 0 and effect["difference"].interval
    judges, _ = calibrated(study)
    reports = reported(study, judges, judges)
    agreement = {one.judge.name: one.calibration.overall.by_story.value for one in reports}
    steady, hasty = sample_results.OTHER_JUDGES
    assert 1 > agreement[sample_results.JUDGE] > agreement[steady] > agreement[hasty] > 0.7
    for page in ("", "panel/"):
        told = client.get(f"/p/{SLUG}/calibration/{study.uid}/{page}", follow=True)
        assert told.status_code == 200 and steady in told.content.decode(), page
    # a watch notices one drop
    watch = AnchorWatch.objects.get()
    found = read_watch(watch, now=timezone.now())
    assert [(one["kind"], one["number"]) for one in found.concerns] == [(DRIFT, found.repeats[-1].row.number)]
    assert found.chart and found.chart.spread > 0 and not found.overdue
    page = client.get(f"/p/{SLUG}/watches/{watch.uid}/").content.decode()
    assert "has fallen" in page and "cannot be used" not in page
    # gold is doubted and some was labelled beside suggestions
    metrics = gold_metrics_of(labelling_of(Dataset.objects.get()))
    assert (
        metrics.provenance["suggested"] > 500
        and (moved := metrics.moves[OVERALL][Move.TO_MAJORITY]).value * moved.n > 20
    )
    assert metrics.kinds[Kind.BLIND] > 30 and metrics.kinds[Kind.UNKNOWN] > metrics.kinds[Kind.BLIND]
    client.force_login(User.objects.get(username="esi"))  # an expert is who looks at it again
    page = client.get(f"/p/{SLUG}/results/gold/doubtful/")
    assert 5 < len(page.context["chosen"].gold.waiting) < 40
    client.force_login(User.objects.get(username="admin"))
    # items and levels are told apart
    for group in ("stage1", "stage2"):
        report = client.get(f"/p/{SLUG}/results/items/?group={group}").context["report"]
        assert report.models == len(READERS) + len(FURTHER_READERS) and any(row["apart"] for row in report.rows), group
        finer = client.get(f"/p/{SLUG}/results/items/?group={group}&level=finer").context["report"]
        assert len(finer.rows) > 150 and finer.models == report.models
    run = Run.objects.get(title__startswith=sample_results.SWEEP_TITLE, level=3)
    page = client.get(f"/p/{SLUG}/runs/{run.uid}/sweep/").content.decode()
    assert "L1" in page and "L3" in page and "sample-literal" in page


def test_a_project_of_its_name_stays_as_it_is(cast):
    create_project(by=cast.alice, slug=SLUG, name="Ours")
    before = made()
    assert loaded()["project"] == SLUG
    assert made() == before and before["Run"] == 0


def test_readers_answer_about_what_they_do_not_know_and_err_more_when_told_less():
    reader, story = READERS[0], STORIES[0]
    unknown = {"kind": "extract", "story": "Ines counts to three. Ola listens to Ines."}
    assert "Ines counts to three" in reader.answer({"task": unknown})
    rows = {"rows": [{"id": 1, "actor": "Ines", "belief": "It rains"}], "dimensions": {"truth": ["True", "False"]}}
    assert json.loads(reader.answer({"task": {"kind": "label", **rows}})) == {"rows": {"1": {"truth": "True"}}}
    assert "nothing else" in reader.answer({"task": {"kind": "choose"}})
    rows = [{"id": at, "actor": one["actor"], "belief": one["belief"]} for at, one in enumerate(story["beliefs"])]
    task = {"kind": "label", "rows": rows, "dimensions": {one.key: list(one.values) for one in OMNITOM.dimensions}}

    def right(letters: int) -> int:
        messages = [{"role": "system", "content": "x" * letters}]
        said = json.loads(READERS[2].answer({"task": task, "messages": messages}))["rows"]
        gold = [
            (str(at), key, label) for at, one in enumerate(story["beliefs"]) for key, label in one["labels"].items()
        ]
        return sum(said[at][key] == label for at, key, label in gold)

    assert right(0) < right(700) < right(1400) == right(5000)


def test_every_reader_answers_as_a_judge_by_its_skill():
    names = [reader.name for reader in (*READERS, *FURTHER_READERS)]
    assert set(names) == set(SAMPLE_JUDGES)
    gold = [["Ines", f"There are {at} apples on the table"] for at in range(1, 30)]
    task = {"kind": "judge", "predictions": gold[:20], "gold": gold, "answer_format": "structured"}
    matched = {}
    for name in names:
        said = json.loads(FUNCTIONS[name]({"task": task}))
        assert len(said["predictions"]) == 20 and len(said["gold"]) == 29
        matched[name] = sum(bool(row["matches"]) for row in said["predictions"])
        assert FUNCTIONS[name]({"task": task}) == FUNCTIONS[name]({"task": task})
    assert matched["sample-careful"] > matched["sample-literal"] > 5
