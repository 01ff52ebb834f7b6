"""The calibration report of a judge: what people settled beside what it said, down to rows; on page and command."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from io import StringIO
from math import log
from urllib.parse import parse_qsl, urlencode

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import AuditEvent, Proposition, Story
from annotation.templatetags.values import p_value
from benchmark.domain.tables import to_csv, to_json, to_latex
from benchmark.models import Audience, Dataset, Run, RunItem
from benchmark.services.archiving import archive_run, delete_run, deletion_of
from benchmark.services.correction_tables import correction_table
from benchmark.services.judge_versions import judged_at
from benchmark.services.plans import RunRefused
from benchmark.services.snapshots import save_run_snapshot
from core.ids import new_uid
from judge.domain.alignment import Method, RowAnswer, SettledRow, StudyOrigin
from judge.domain.calibration.agreement import NO_MATCH
from judge.domain.calibration.corrected import difference
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.tables import Metric, Side
from judge.domain.corrections import Corrections
from judge.domain.sampling import Unit
from judge.models import AlignmentStudy, SettledAlignment
from judge.services import calibration
from judge.services.alignment_tables import groups_of, units_of
from judge.services.calibration import calibrated, choose_calibrated, judges_of, report_of, reported, reports_of
from judge.services.calibration_documents import judged_document
from judge.services.calibration_tables import agreement_table, scores_table
from judge.services.corrections import scores_of_runs
from judge.services.judgements import calibrations_of, judgements_of
from judge.services.settling import Refused
from judge.services.studies import DrawnTable, Plan, close_study, make_study
from tests.api.conftest import token_of
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.benchmark.settled import written
from workers.models import Job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def keys_of(world) -> dict[str, str]:
    """The key of the unit of each extraction."""
    items = RunItem.objects.filter(entrant__run=world.run, step="extract", call__isnull=False)
    return {
        call: f"{world.run.uid}:{model}:{number}"
        for call, model, number in items.values_list("call__uid", "entrant__position", "sample__number")
    }


@pytest.fixture
def study(world) -> AlignmentStudy:
    """People say what the judge says, but for the first row of each table that it matched, which they leave, and the
    second, of which they cannot tell in the first story. The last model's tables are aligned in three stories only."""
    keys = keys_of(world)
    said = {keys[one.judged_call]: one for one in judgements_of(world.run) if one.judged_call in keys}
    units = [Unit(key, f"story {one.number}", (one.model, one.category)) for key, one in said.items()]
    tables = {
        key: DrawnTable(
            key,
            f"story {one.number}",
            one.number,
            "Ines puts the key in the bag.",
            [("world" if at % 2 else "Ines", f"prediction {at}") for at in range(len(one.predicted))],
            [("Ines", f"gold {at}") for at in range(len(one.gold))],
        )
        for key, one in said.items()
    }
    made = make_study(
        by=world.alice, project=world.dataset.project, plan=Plan("First", len(units), overlap=1), units=units,
        load=lambda chosen: [tables[key] for key in chosen], annotators=[world.bob],
        origin=StudyOrigin(suite="omnitom", runs=[world.run.uid]), now=timezone.now(),
    )  # fmt: skip
    for task in made.tasks.filter(settled=None):
        SettledAlignment(task=task).take(settled_rows(said[task.key]), timezone.now())
    return made


def settled_rows(one) -> dict:
    rows, left = {}, False
    for letter, other, side in (("p", "g", one.predicted), ("g", "p", one.gold)):
        for at, row in enumerate(side, 1):
            links = tuple(f"{other}{place + 1}" for place in row.links or ()) or ((f"{other}1",) if row.matched else ())
            answer = RowAnswer(links) if links else RowAnswer(verdict="none")
            if letter == "p" and row.matched and not left:
                answer, left = RowAnswer(verdict="none"), True
            rows[f"{letter}{at}"] = SettledRow(answer, Method.SINGLE.value)
    if one.number == 1 and "p2" in rows:
        rows["p2"] = SettledRow(RowAnswer(verdict="unclear"), Method.SINGLE.value)
    return rows


def test_the_report_compares_every_row_that_people_settled(world, study):
    judges, settled = calibrated(study)
    [judge] = judges
    assert judge.name == "lexical-judge" and len(settled) == len(judge.judged) == 18
    # the hostile model's tables have no rows: nobody aligned them, so they show no agreement
    assert (len(judge.joined.tables), judge.joined.empty) == (9, 9)
    report = report_of(judge, study)
    overall = report.calibration.overall
    assert overall.rows == sum(len(one.rows) for one in judge.judged.values() if one.predicted and one.gold)
    # people leave what the judge matched once in a table: nothing that they match is missed
    assert overall.sensitivity.value == 1 and 0 < overall.specificity.value < 1
    unclear = [one for one in judge.judged.values() if one.number == 1 and len(one.predicted) > 1]
    assert overall.unclear == (len(unclear), 0) and len(unclear) > 0
    models = {one.model: one for one in report.models}
    # the omniscient model's tables are all matched by the judge, one row fewer by people
    right = models["omniscient"].f1
    assert right.judged > right.value and right.aligned == 9 and right.interval[0] < right.value < right.judged
    assert models[HOSTILE].f1.value == 0
    assert reported(study, judges, judges)[0][1].reason == "lexical-judge has no rival."


def test_runs_that_share_answers_are_both_judged_and_other_gold_is_not(world, study):
    """A run that asks the same shares the calls of an earlier one; a judgement beside other gold says nothing here."""
    copied = copied_run(world.run)
    keys = {unit.key for unit in study.units}
    study.frame += [[key.replace(world.run.uid, copied.uid), *rest] for key, *rest in study.frame]
    study.origin["runs"].append(copied.uid)
    study.save()
    [judge], _ = calibrated(study)
    assert set(judge.judged) == keys | {key.replace(world.run.uid, copied.uid) for key in keys}
    assert judge.joined.left_out == 0
    study.frame = [row for row in study.frame if row[0] in keys]
    [judge], _ = calibrated(study)
    assert set(judge.judged) == keys, "what could not be drawn is no part of the report"
    gold = Dataset.objects.get(pk=world.run.dataset_id)
    gold.pk, gold.uid, gold.version, gold.digest = None, new_uid(), "2", "0" * 64
    gold.save()
    Run.objects.filter(pk=copied.pk).update(dataset=gold)
    study.origin["runs"] = [copied.uid]
    study.frame = [[key.replace(world.run.uid, copied.uid), *rest] for key, *rest in study.frame]
    assert judges_of(study, []) == []


def copied_run(run: Run) -> Run:
    """A run of the same models with the same calls of the step that is judged."""
    items = list(RunItem.objects.filter(entrant__run=run, step="extract").select_related("entrant"))
    job = Job.objects.get(pk=run.job_id)
    job.pk, job.uid = None, new_uid()
    job.save()
    copied = Run.objects.get(pk=run.pk)
    copied.pk, copied.uid, copied.job, copied.judge = None, new_uid(), job, None
    copied.save()
    for entrant in run.entrants.all():
        mine = [item for item in items if item.entrant_id == entrant.pk]
        entrant.pk, entrant.run = None, copied
        entrant.save()
        for item in mine:
            item.pk, item.entrant, item.item = None, entrant, None
            item.save()
    return copied


def test_a_run_whose_tables_people_align_stays(world, study):
    why = f"People align tables of this run in “{study.name}”; archive it instead."
    assert deletion_of(world.run).refused == why
    with pytest.raises(RunRefused, match="archive it instead"):
        delete_run(by=None, run=world.run, now=timezone.now())
    study.delete()
    assert deletion_of(world.run).refused == ""


def test_a_run_by_whose_judge_a_choice_was_made_stays(world, study):
    """Archiving it stays possible; a run by another version of the judge, or of no judge, may go."""
    judging = copied_run(world.run)
    Run.objects.filter(pk=judging.pk).update(judge=world.run.judge_id, title="Judged anew")
    add_judgements(judging, world.run)
    other = copied_run(world.run)
    judging.refresh_from_db()
    [judge] = reports_of(study).judges
    assert deletion_of(judging).refused == ""
    study.choose_judge(judge.version, name=judge.name, reason="Best.", by=world.alice, at=timezone.now())
    why = "Its judge, lexical-judge, was chosen in “First”; archive it instead."
    assert (deletion_of(judging).refused, deletion_of(other).refused) == (why, "")
    with pytest.raises(RunRefused, match="was chosen in “First”"):
        delete_run(by=None, run=judging, now=timezone.now())
    assert archive_run(by=None, run=judging, now=timezone.now())
    Run.objects.filter(pk=judging.pk).update(answer_format="structured")
    judging.refresh_from_db()
    assert deletion_of(judging).refused == ""


def test_a_judge_whose_runs_were_deleted_meanwhile_is_not_chosen(world, study):
    [judge] = reports_of(study).judges
    Run.objects.filter(uid__in=judge.runs).update(deleted_at=timezone.now())
    with pytest.raises(Refused, match="runs of this judge were deleted meanwhile"):
        choose_calibrated(by=world.alice, study=study, judge=judge, reason="Best.", now=timezone.now())


def test_pages_show_the_report_and_the_rows_behind_it(world, study):
    client = Client()
    client.force_login(world.alice)
    address = f"{world.base}/calibration/{study.uid}/"
    page = client.get(address)
    text = page.content.decode()
    assert page.status_code == 200 and "Agreement by story" in text and "Corrected scores" in text
    assert "<script>alert" not in text and text.count("agreement.csv") == 1, "pictures have no files of their own"
    assert "more aligned stories, as far" not in text and (p_value(None), p_value(0.0), p_value(0.5)) == (
        "–", "<0.0001", "0.5000",
    )  # fmt: skip
    [judge], _ = calibrated(study)
    assert {one.more for one in report_of(judge, study).models} == {0, 9}, "there are no more stories than these"
    confusion = report_of(judge, study).calibration.confusion
    rows = client.get(f"{address}rows/?judge={judge.version}&people=0&said=1")
    assert rows.context["rows"] == confusion["0", "1"] and b"prediction" in rows.content
    assert "<bdi>lexical-judge</bdi> beside people in <bdi>First</bdi>:" in written(rows), "names of either direction"
    assert "people aligned in <bdi>First</bdi>." in written(page)
    everything = client.get(f"{address}rows/?judge={judge.version}").context["rows"]
    assert everything == sum(confusion.values())
    differing = client.get(f"{address}rows/?differing=1&model=omniscient").context["rows"]
    apart = [pair for pair in confusion.items() if (pair[0][0] == "0") != (pair[0][1] == "0")]
    assert differing == sum(rows for _, rows in apart) and differing > 0
    assert client.get(f"{address}rows/?judge=other").status_code == 404
    client.force_login(world.esi)
    assert client.get(address).status_code == 403


def test_what_the_judge_alone_gives_has_its_interval_over_stories(world, study):
    """The mean of the F1 of each judged story, its interval symmetrical on the logit."""
    client = Client()
    client.force_login(world.alice)
    page = client.get(f"{world.base}/calibration/{study.uid}/")
    [judge], _ = calibrated(study)
    told = {one.model: one.alone for one in page.context["report"].models}
    assert set(told) == set(judge.joined.models)
    spread = 0
    for model, stories in judge.joined.models.items():
        scores = [one.judged.f1 for one in stories]
        n, mean = len(scores), sum(scores) / len(scores)
        assert (told[model].n, told[model].value) == (n, pytest.approx(mean))
        if max(scores) - min(scores) < 1e-9:
            continue
        spread += 1
        low, high = told[model].interval
        assert low < mean < high
        assert (logit(low) + logit(high)) / 2 == pytest.approx(logit(mean), rel=1e-3)
        assert f"{100 * low:.1f}" in page.content.decode(), "it stands below the score"
    assert spread


def test_why_figures_have_no_interval_stands_below_them(world, study):
    client = Client()
    client.force_login(world.alice)
    kept = sorted(study.tasks.values_list("number", flat=True).distinct())[:3]
    SettledAlignment.objects.filter(task__study=study).exclude(task__number__in=kept).delete()
    page = written(client.get(f"{world.base}/calibration/{study.uid}/"))
    assert page.count("an interval needs at least 5 stories") > 4, "at the figures of all rows, and of every group"


def logit(share: float) -> float:
    return log(share / (1 - share))


def test_an_undefined_figure_keeps_its_reason_in_the_file_for_programs(world, study):
    """People and the judge of every row of one table say that nothing matches: sensitivity is of no row."""
    report = reports_of(study).reports[0][0]
    undefined = replace(report.calibration.overall, sensitivity=SpannedEstimate(None, 0, reason=NO_MATCH))
    table = agreement_table(replace(report, calibration=replace(report.calibration, overall=undefined)))
    row = json.loads(to_json(table))["rows"][0]
    assert row["sensitivity"] == {"value": None, "reason": NO_MATCH}
    assert all("interval" not in cell for cell in row.values() if isinstance(cell, dict) and "reason" in cell)


def test_agreement_stands_by_order_for_rows_of_either_side(world, study):
    """Gold rows have gold's order, predictions the one that the model gave; every row is in one group."""
    [judge], settled = calibrated(study)
    found = report_of(judge, study).calibration
    by_order = found.by["order"]
    assert set(by_order) <= {"0", "1", "2", "3", "4", ""} and {"1", "2"} <= set(by_order)
    assert sum(one.rows for one in by_order.values()) == found.overall.rows
    gold = {sample.number: sample.gold["beliefs"] for sample in world.run.dataset.samples.all()}
    numbers = {one.key: one.number for one in settled}
    second = sum(row["labels"]["order"] == "2" for table in judge.joined.tables for row in gold[numbers[table.key]])
    rows = [row for table in judge.joined.tables for row in table.rows if row.groups["order"] == "2"]
    assert sum(row.side == Side.GOLD for row in rows) == second > 0 and len(rows) == by_order["2"].rows
    # the omniscient model gives all its rows the same order
    said = {row.groups["order"] for table in judge.joined.tables for row in table.rows if row.side == Side.PREDICTION}
    assert said == {"0"}
    client = Client()
    client.force_login(world.alice)
    address = f"{world.base}/calibration/{study.uid}/"
    assert "Agreement by order" in client.get(address).content.decode()
    assert client.get(f"{address}rows/?order=2").context["rows"] == len(rows)
    # a study whose answers are gone has its report, without orders
    RunItem.objects.filter(entrant__run=world.run, step="extract").update(call=None)
    of_tables = groups_of(settled, project=study.project).values()
    groups = {key: {group for of in of_tables for side in of[key] for group in side} for key in ("role", "order")}
    assert len(of_tables) == len(settled) and groups == {"role": {"world", "actors"}, "order": {""}}


def test_a_report_is_made_once_until_people_settle_more(world, study, monkeypatch):
    """One file has every group; what nobody aligned is told; of two versions with one name each has its digest."""
    client, address = Client(), f"{world.base}/calibration/{study.uid}/"
    client.force_login(world.alice)
    [(report, _)] = reports_of(study).reports
    text = written(client.get(address))
    assert "Judge’s self-test: not tested." in text and "of categories of which people" not in text
    rows = client.get(f"{address}agreement.json?judge={report.judge.version}").json()["rows"]
    [second] = [row for row in rows if row["by"] == "Order" and row["group"] == "2"]
    found = report.calibration.by["order"]["2"]
    assert (second["rows"], second["by_story"]["value"]) == (found.rows, pytest.approx(found.by_story.value))
    assert {row["by"] for row in rows} == {"All rows", "Category", "Model", "Actor role", "Order", "Table"}
    assert b"Specificity" in client.get(f"{address}agreement.csv").content
    assert client.get(f"{address}agreement.csv?judge=other").status_code == 404
    monkeypatch.setattr(calibration, "report_of", lambda *_, **__: pytest.fail("made anew"))
    assert client.get(address).status_code == 200
    monkeypatch.undo()
    of_one = study.tasks.filter(source="omniscient").values_list("category", flat=True).first()
    SettledAlignment.objects.filter(task__category=of_one, task__source="omniscient").delete()
    assert "of categories of which people" in client.get(address).content.decode()
    other = copied_run(world.run)
    Run.objects.filter(pk=other.pk).update(judge=world.run.judge_id, answer_format="structured")
    add_judgements(other, world.run)
    names = [one.name for one in reports_of(study).judges]
    assert len(names) == 2 and all(name.startswith("lexical-judge · ") for name in names)


def add_judgements(run: Run, of: Run) -> None:
    """Give a copied run the judgements of another one."""
    entrants = dict(run.entrants.values_list("name", "pk"))
    for item in RunItem.objects.filter(entrant__run=of, step=judged_at(of)).select_related("entrant"):
        item.pk, item.entrant_id, item.item = None, entrants[item.entrant.name], None
        item.save()


def test_tables_without_a_place_in_the_report_are_counted_on_its_page(world, study):
    """One table settled before an earlier one of its stratum, one of other rows, and one that the judge left out."""
    [judge], _ = calibrated(study)
    assert judge.joined.left_out == 0
    first, *_, unfit, unjudged = study.tasks.filter(source="omniscient").order_by("place")
    SettledAlignment.objects.get(task=first).delete()
    unfit.predictions = unfit.predictions[:-1]
    unfit.save()
    settled = SettledAlignment.objects.get(task=unfit)
    rows = {name: row for name, row in settled.answers.items() if name != f"p{len(unfit.predictions) + 1}"}
    settled.take(rows, timezone.now())
    RunItem.objects.filter(
        entrant__run=world.run, entrant__name="omniscient", sample__number=unjudged.number, repaired__isnull=False,
        step=judged_at(world.run),
    ).update(repaired=None)  # fmt: skip
    study.tasks.filter(pk=unjudged.pk).update(place=1)
    [judge], _ = calibrated(study)
    found = judge.joined
    assert found.waiting + found.unjudged + found.unfit + len(found.tables) + found.empty == 17 and found.waiting > 0
    assert (found.left_out, len(found.models["omniscient"])) == (1, 8)
    client = Client()
    client.force_login(world.alice)
    page = client.get(f"{world.base}/calibration/{study.uid}/").content.decode()
    assert f"Waiting for earlier tables of their stratum: {found.waiting}." in page
    assert "that the judge did not judge: 1;" in page


def test_who_still_aligns_does_not_see_whose_tables_they_are(world, study):
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=world.alice, slot=1)
    client = Client()
    client.force_login(world.alice)
    assert client.get(f"{world.base}/calibration/{study.uid}/").status_code == 403
    close_study(by=world.alice, study=study, now=timezone.now())  # it could be opened again
    assert client.get(f"{world.base}/calibration/{study.uid}/").status_code == 403
    download = client.get(reverse("judge:download_json", args=[study.project.slug, study.uid])).json()
    assert not any("model" in table for table in download["tables"])


def test_the_command_prints_the_report(world, study):
    out = StringIO()
    call_command("calibrate_judge", project=world.dataset.project.slug, study="First", stdout=out, json=True)
    [judge] = json.loads(out.getvalue())["judges"]
    assert judge["calibration"]["overall"]["sensitivity"]["value"] == 1
    assert judge["corrected"]["omniscient"]["scores"]["f1"]["aligned"] == 9
    with pytest.raises(CommandError, match="There is no study 'Second' in"):
        call_command("calibrate_judge", project=world.dataset.project.slug, study="Second")


def test_study_run_results_and_checklist_lead_to_the_report_of_the_judge(world, study):
    """Not who still aligns, nor an expert; nor a run whose judge judged no table of the study."""
    client = Client()
    client.force_login(world.alice)
    [judge], _ = calibrated(study)
    address = f"/p/{world.dataset.project.slug}/calibration/{study.uid}/"
    alignment = f"{world.base}/alignment/{study.uid}/"
    assert f'href="{address}"' in client.get(alignment).content.decode()
    assert f'href="{alignment}"' in client.get(address).content.decode()
    run = f"{world.base}/runs/{world.run.uid}"
    pages = [f"{run}/results/", f"{run}/report/", f"{world.base}/results/"]
    told = [f'href="{address}?judge={judge.version}"' in client.get(page).content.decode() for page in pages]
    assert told == [True, True, True]
    assert "1 study settled" in client.get(f"{world.base}/").content.decode()
    other = world.another("random", steps=("label",), judge=None)
    assert calibrations_of([other], world.alice) == []
    client.force_login(world.esi)
    assert all(study.uid not in client.get(page).content.decode() for page in pages)
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=world.alice, slot=1)
    assert calibrations_of([world.run], world.alice) == []


def test_links_to_reports_take_as_many_statements_however_many_studies_and_runs_there_are(world, study):
    with CaptureQueriesContext(connection) as few:
        [link] = calibrations_of([world.run], world.alice)
    for number in range(3):
        again = AlignmentStudy.objects.get(pk=study.pk)
        again.pk, again.uid, again.name = None, new_uid(), f"Study {number}"
        again.save()
        task = study.tasks.order_by("pk")[number]
        settled = task.settled
        task.pk, task.uid, task.study = None, new_uid(), again
        task.save()
        settled.pk, settled.task = None, task
        settled.save()
    foreign = AlignmentStudy.objects.get(name="Study 2")
    foreign.origin = {"runs": ["gone"]}
    foreign.save()
    runs = [world.run, copied_run(world.run), copied_run(world.run)]
    Run.objects.filter(pk=runs[1].pk).update(judge=world.run.judge_id)
    with CaptureQueriesContext(connection) as many:
        links = calibrations_of(runs, world.alice)
    assert [one["study"].name for one in links] == ["Study 1", "Study 0", "First"]
    assert {one["version"] for one in links} == {link["version"]}
    assert len(many) == len(few) == 4


def test_a_report_corrects_its_scores_and_keeps_them_for_whom_they_are(world, study):
    """Official, lenient and corrected scores stand in one table, which goes into files and a snapshot; it is for
    admins who align in the study no more."""
    client = Client()
    client.force_login(world.alice)
    base = f"{world.base}/runs/{world.run.uid}"
    [judge], _ = calibrated(study)
    expected = {one.model: one for one in report_of(judge, study).models}["omniscient"]
    assert "Scores corrected for the judge" in client.get(f"{base}/report/").content.decode()
    saved = save_run_snapshot(by=world.alice, run=world.run)
    shared = f"{world.base}/results/snapshots/{saved.uid}"
    addresses = [f"{base}/tables/corrected", f"{shared}/tables/corrected"]
    for address in addresses:
        kept = client.get(f"{address}.json").json()
        row = next(row for row in kept["rows"] if row["model"] == "omniscient")
        assert row["corrected-f1"]["value"] == pytest.approx(expected.f1.value), row
        assert row["corrected-f1"]["interval"] == pytest.approx(list(expected.f1.interval))
        assert row["lenient-f1"] == pytest.approx(expected.f1.judged, abs=1e-6) and row["official-f1"] is not None
        assert (row["aligned"], row["judged"], row["unjudged"], row["unseen"]) == (9, 9, 0, 0)
        assert row["effective"] == pytest.approx(expected.f1.effective)
        assert b"Effective sample size" in client.get(f"{address}.csv").content
        assert b"Effective sample size" in client.get(f"{address}.tex").content
    warns = Corrections(uid="", study="First", group="stage1", rows=[], differing=0.01, warns=True)
    assert "differs by model (p = 0.010)" in correction_table(warns).lead[0]
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=world.alice, slot=1)
    world.show_to(Audience.EXPERTS)
    for person in (world.alice, world.esi):
        client.force_login(person)
        assert [client.get(f"{address}.json").status_code for address in addresses] == [404, 404]
        assert client.get(f"{shared}/").status_code == 200


def test_corrected_scores_say_how_many_rows_the_judge_left_out_and_what_people_did_not_see(world, study):
    """One row of a table without a count, and a category of which nothing is aligned."""
    client = Client()
    client.force_login(world.alice)
    item = RunItem.objects.filter(entrant__run=world.run, entrant__name="omniscient", step=judged_at(world.run)).first()
    item.repaired["pred"][0] = None
    item.save()
    tasks = study.tasks.filter(source="omniscient")
    kind = tasks.first().category
    SettledAlignment.objects.filter(task__in=tasks.filter(category=kind)).delete()
    rows = client.get(f"{world.base}/runs/{world.run.uid}/tables/corrected.json").json()["rows"]
    [row] = [row for row in rows if row["model"] == "omniscient"]
    there = [place for place in study.frame if place[2] == "omniscient"]
    assert row["unjudged"] == 1 and row["unseen"] == pytest.approx(
        sum(place[3] == kind for place in there) / len(there)
    )
    [ranked] = [
        one for one in client.get(f"{world.base}/results/tables/stage1.json?runs=all").json()["rows"]
        if one["model"] == "omniscient"
    ]  # fmt: skip
    assert (ranked["corrected_unjudged"], ranked["corrected_unseen"]) == (1, pytest.approx(row["unseen"]))


def test_an_answer_that_runs_share_is_one_table_of_a_frame(world, study):
    """A study that has both of them all the same corrects by the tables that people aligned."""
    copied = copied_run(world.run)
    alone, both = units_of([world.run]), units_of([world.run, copied])
    assert both == alone and all(unit.stratum[0] in {one.name for one in world.run.entrants.all()} for unit in both)
    assert {unit.key for unit in units_of([copied])} == {unit.key.replace(world.run.uid, copied.uid) for unit in alone}
    expected = scores_of_runs([world.run])[world.run.pk]
    study.frame += [
        [key.replace(world.run.uid, copied.uid), story, f"{model} · {copied.uid}", kind]
        for key, story, model, kind in study.frame
    ]
    study.name, study.origin["runs"] = "Both", [world.run.uid, copied.uid]
    study.save()
    found = scores_of_runs([world.run])[world.run.pk]
    assert found.aligned == expected.aligned > 0 and found.scores.keys() == expected.scores.keys()
    for entrant, scores in expected.scores.items():
        assert found.scores[entrant][Metric.F1].value == pytest.approx(scores[Metric.F1].value)


def test_what_changes_after_people_aligned_reaches_the_reports_that_are_kept(world, study):
    """Rows decided anew change figures; a story withdrawn and gold that changed do not, as tables are kept; tables of
    which people can tell nothing count as not aligned."""
    client, address = Client(), f"{world.base}/calibration/{study.uid}/"
    client.force_login(world.alice)

    def figures():
        return client.get(f"{address}agreement.json").json()["rows"][0]

    before = figures()
    assert Story.objects.filter(project=study.project).update(withdrawn_at=timezone.now()) > 0
    Proposition.objects.filter(table__story__project=study.project).update(belief="Something else")
    assert figures() == before
    aligned = SettledAlignment.objects.filter(task__source="omniscient")
    settled = next(one for one in aligned if any(row.answer.links for row in one.answers.values()))
    settled.take({row: SettledRow(RowAnswer(verdict="none"), "adjudicated") for row in settled.answers}, timezone.now())
    assert figures()["by_story"]["value"] < before["by_story"]["value"]
    for one in aligned.all():
        unclear = {row: SettledRow(RowAnswer(verdict="unclear"), "adjudicated") for row in one.answers}
        one.take(unclear, timezone.now())
    row = figures()
    assert (row["known"], row["by_story"]["value"]) == (0, None), row
    page = client.get(address).content.decode()
    assert "no story was aligned" in page and "no row has a verdict of both people and the judge" in page


def test_the_choice_of_a_judge_is_kept_with_who_when_and_why(world, study):
    """Without a reason, or of a judge that judged nothing here, nothing is kept; the checklist's step is then done."""
    client, address = Client(), f"{world.base}/calibration/{study.uid}/"
    client.force_login(world.alice)
    [judge], _ = calibrated(study)
    for sent, told in (
        ({"judge": judge.version, "reason": "  "}, "Say why this judge is chosen."),
        ({"judge": judge.version, "reason": "x" * 2001}, "The reason has 2,001 characters; at most 2,000 are kept."),
        ({"judge": "other", "reason": "Best."}, "No judge of that version judged tables of this study."),
    ):
        refused = client.post(address, sent, follow=True).content.decode()
        assert told in refused and f">{sent['reason']}</textarea>" in refused, "what was typed stays"
        study.refresh_from_db()
        assert (study.judge_version, study.judge_chosen_at) == ("", None)
    page = client.post(address, {"judge": judge.version, "reason": "Misses <nothing>."}, follow=True)
    assert "Misses &lt;nothing&gt;.</q>" in page.content.decode() and world.alice.shown_name in page.content.decode()
    study.refresh_from_db()
    assert (study.judge_version, study.judge_name, study.judge_chosen_by) == (judge.version, judge.name, world.alice)
    event = AuditEvent.objects.get(action="alignment.judge_chosen")
    assert event.details["reason"] == "Misses <nothing>."
    assert "a judge chosen by 1 of 1 study" in client.get(f"{world.base}/").content.decode()
    out = StringIO()
    call_command("calibrate_judge", project=study.project.slug, study="First", stdout=out, json=True)
    assert json.loads(out.getvalue())["chosen"]["by"] == world.alice.username
    client.force_login(world.esi)
    assert client.post(address, {"judge": judge.version, "reason": "Mine."}).status_code == 403


def test_a_choice_that_another_replaced_meanwhile_is_told_before_it_replaces_that(world, study):
    """Of two windows the second is refused by name, keeps what was typed, and may then choose knowingly. The
    very same choice sent twice is one."""
    client, address = Client(), f"{world.base}/calibration/{study.uid}/"
    client.force_login(world.alice)
    [judge], _ = calibrated(study)

    def sent(reason, seen=""):
        return client.post(address, {"judge": judge.version, "reason": reason, "seen": seen}, follow=True)

    assert sent("First.").context["seen"] == sent("First.").context["seen"] != "", "sent twice"
    refused = sent("Second.")
    why = "chose lexical-judge since you opened this page; keep your choice again to replace that one."
    assert f"{world.alice.shown_name} {why}" in written(refused)
    assert "First.</q>" in written(refused) and ">Second.</textarea>" in written(refused)
    study.refresh_from_db()
    assert study.judge_reason == "First." and f'value="{study.choice}"' in written(refused)
    assert "Second.</q>" in written(sent("Second.", refused.context["seen"]))
    assert AuditEvent.objects.filter(action="alignment.judge_chosen").count() == 2
    told = {"project": study.project.slug, "study": "First", "choose": judge.version, "reason": "Third."}
    call_command("calibrate_judge", **told, stdout=(out := StringIO()))
    assert f"Second. (chosen by {world.alice.username}, " in out.getvalue()
    unknown = client.post(address, {"judge": "none", "reason": "Fourth.", "seen": "2020-01-01"}, follow=True)
    assert unknown.context["seen"] == "2020-01-01", "another refusal says nothing of the choice"
    assert "judge was chosen since you opened this page" in written(sent("Fourth.", "2020-01-01"))


def test_every_table_of_the_report_is_a_file(world, study):
    """The page names the files; they have what the report has, in CSV, JSON and LaTeX."""
    client, base = Client(), f"{world.base}/calibration/{study.uid}"
    client.force_login(world.alice)
    [(report, _)] = reports_of(study).reports
    page = client.get(f"{base}/").content.decode()

    def read(name: str) -> list[dict[str, str]]:
        for suffix in ("json", "tex"):
            assert f'href="{base}/{name}.{suffix}?judge={report.judge.version}"' in page
            assert client.get(f"{base}/{name}.{suffix}").status_code == 200
        return list(csv.DictReader(StringIO(client.get(f"{base}/{name}.csv").content.decode())))

    scores = {one["Model"].lstrip("'"): one for one in read("corrected")}  # a formula is led by an apostrophe
    assert set(scores) == {one.model for one in report.models}
    right = {one.model: one for one in report.models}["omniscient"].f1
    assert float(scores["omniscient"]["F1, corrected (%)"]) == pytest.approx(100 * right.value, abs=0.01)
    assert scores["omniscient"]["Aligned stories"] == "9"
    counts = {(one["People"], one["Judge"]): int(one["Rows"]) for one in read("match-counts")}
    assert counts == report.calibration.confusion and sum(counts.values()) == report.calibration.overall.rows
    assert client.get(f"{base}/paired.csv").status_code == 200 and f"{base}/paired.csv" not in page, "it has no rival"


def test_a_model_without_a_corrected_score_has_no_tuning_and_its_pooled_score_in_files(world, study):
    client, base = Client(), f"{world.base}/calibration/{study.uid}"
    client.force_login(world.alice)
    [whole], _ = calibrated(study)
    score = report_of(whole, study).models[0].f1
    own = SettledAlignment.objects.filter(task__study=study, task__source="omniscient")
    own.exclude(task__in=study.tasks.filter(source="omniscient", place=1)[:2]).delete()
    [judge], _ = calibrated(study)
    report = report_of(judge, study)
    [one] = [one for one in report.models if one.model == "omniscient"]
    assert score.interval and one.f1.value is None and one.f1.tuning == 1
    [told] = [row for row in client.get(f"{base}/corrected.json").json()["rows"] if row["model"] == "omniscient"]
    assert told["tuning"] is None and "pooled" not in told, "no score by the error on all models either"
    page = client.get(f"{base}/").content.decode()
    assert re.search(r"model=omniscient.><bdi>omniscient</bdi>", page)
    [(report, selection)] = reported(study, [judge], [judge])
    document = judged_document(report, selection)
    assert document["caution"] == (selection.caution or None) and document["reason"] == selection.reason
    assert document["corrected"]["omniscient"]["scores"]["f1"]["tuning"] is None
    pooled = replace(report, models=[replace(one, pooled=score)], differing=replace(report.differing, p=0.9))
    table = scores_table(pooled)
    head = "F1, by the judge's error on all models"
    [row] = csv.DictReader(StringIO(to_csv(table).decode()))
    assert float(row[f"{head} (%)"]) == pytest.approx(100 * score.value, abs=0.01) and row["λ"] == ""
    latex = to_latex(table)
    assert f"{100 * score.value:.1f}" in str(latex) and "That it does is not shown" in table.notes[1]
    warned = scores_table(replace(pooled, differing=replace(report.differing, p=0.0)))
    assert "Do not use" in warned.notes[1]


def test_the_command_keeps_the_choice_of_a_judge(world, study):
    [judge], _ = calibrated(study)
    told = {"project": study.project.slug, "study": "First", "json": True}
    for given, why in (
        ({"choose": judge.version}, "--choose and --reason go together"),
        ({"reason": "Best."}, "--choose and --reason go together"),
        ({"choose": judge.version, "reason": " "}, "Say why this judge is chosen."),
        ({"choose": "nothing", "reason": "Best."}, "No judge of version nothing judged"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("calibrate_judge", **told, **given)
        study.refresh_from_db()
        assert study.judge_chosen_at is None
    call_command("calibrate_judge", **told, choose=judge.version[:12], reason="Best.", stdout=(out := StringIO()))
    chosen = json.loads(out.getvalue())["chosen"]
    assert (chosen["version"], chosen["reason"], chosen["by"]) == (judge.version, "Best.", None)
    client = Client()
    client.force_login(world.alice)
    assert "Best.</q>" in client.get(f"{world.base}/calibration/{study.uid}/").content.decode()


def test_the_leaderboard_has_corrected_scores_that_open_their_calibration(world, study):
    """As the report of the run has them, in the table, its files, the API and a saved one; a run of which nothing was
    aligned has the reason; it is for admins who align in the study no more."""
    client = Client()
    client.force_login(world.alice)
    study.tasks.filter(source=HOSTILE).delete()
    study.frame = [row for row in study.frame if row[2] != HOSTILE]
    study.save()
    [judge], _ = calibrated(study)
    expected = {one.model: one for one in report_of(judge, study).models}["omniscient"]
    query, reason = "runs=all", "people aligned none of its tables"
    page = written(client.get(f"{world.base}/results/?{query}"))
    opened = f'href="/p/{world.dataset.project.slug}/calibration/{study.uid}/?judge={judge.version}"'
    assert page.count(opened) > 5 and f"First · lexical-judge · {judge.version[:6]}" in page
    assert (
        'class="square"' in page
        and b"corrected" in client.get(f"{world.base}/results/figures/leaderboard-stage1.svg").content
    )
    saved = client.post(f"{world.base}/results/snapshot/", {"query": query}).url.rstrip("/").rpartition("/")[2]
    places = [f"{world.base}/results", f"{world.base}/results/snapshots/{saved}"]
    for place in places:
        rows = {row["model"]: row for row in client.get(f"{place}/tables/stage1.json?{query}").json()["rows"]}
        row = rows["omniscient"]
        assert row["corrected_f1"]["value"] == pytest.approx(expected.f1.value) and row["corrected_aligned"] == 9
        assert (row["corrected_unjudged"], row["corrected_unseen"]) == (0, 0)
        assert row["corrected_f1"]["interval"] == pytest.approx(list(expected.f1.interval))
        assert row["corrected_effective"] == pytest.approx(expected.f1.effective)
        assert (rows[HOSTILE].get("corrected_f1"), rows[HOSTILE]["corrected_by"]) == (None, reason)
        for suffix in ("csv", "tex"):
            file = client.get(f"{place}/tables/stage1.{suffix}?{query}").content.decode()
            assert reason in file and "Effective sample size" in file
    assert opened in written(client.get(f"{places[1]}/"))
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=world.alice, slot=1)
    world.show_to(Audience.EXPERTS)
    for person in (world.alice, world.esi):
        client.force_login(person)
        for place in places:
            rows = client.get(f"{place}/tables/stage1.json?{query}").json()["rows"]
            assert all(row.get("corrected_f1") is None and "First" not in str(row) for row in rows)
        assert study.uid not in written(client.get(f"{world.base}/results/?{query}"))


def test_corrected_scores_of_a_leaderboard_are_kept_and_ask_for_no_more_with_more_runs(world, study, monkeypatch):
    client = Client()
    client.force_login(world.alice)

    def asked() -> int:
        client.get(f"{world.base}/results/?runs=all")
        with CaptureQueriesContext(connection) as statements:
            assert "Study and judge" in client.get(f"{world.base}/results/?runs=all").content.decode()
        return len(statements)

    few = asked()
    world.another("omniscient")
    assert asked() == few
    monkeypatch.setattr("judge.services.corrections._made", lambda *found: pytest.fail("corrected again"))
    client.get(f"{world.base}/results/?runs=all")
    with pytest.raises(pytest.fail.Exception):  # what people say has changed
        SettledAlignment.objects.first().take(SettledAlignment.objects.first().answers, timezone.now())
        client.get(f"{world.base}/results/?runs=all")


def test_a_comparison_pairs_corrected_scores_by_story(world, study):
    """Its differences are those of the corrected scores of both, adjusted among themselves; in the files, the API and a
    saved one, and for admins who align in the study no more."""
    client = Client()
    client.force_login(world.alice)
    query = urlencode({"a": world.entrant("omniscient"), "b": world.entrant(HOSTILE)})
    [judge], _ = calibrated(study)
    one, other = ({of.model: of.f1 for of in report_of(judge, study).models}[name] for name in ("omniscient", HOSTILE))
    expected = difference(one, other)
    page = written(client.get(f"{world.base}/results/compare/?{query}"))
    opened = f'href="/p/{study.project.slug}/calibration/{study.uid}/?judge={judge.version}"'
    assert opened in page and "Corrected for the judge" in page and "<script>alert" not in page
    saved = client.post(f"{world.base}/results/compare/snapshot/", dict(parse_qsl(query))).url.rstrip("/")
    assert opened in written(client.get(f"{saved}/"))
    tables = [f"{world.base}/results/compare/tables/corrected", f"{saved}/tables/corrected"]
    for table in tables:
        rows = {row["what"]: row for row in client.get(f"{table}.json?{query}").json()["rows"]}
        row = rows["F1"]
        assert row["value"]["value"] == pytest.approx(expected.value) and row["p"] == pytest.approx(expected.p)
        assert row["value"]["interval"] == pytest.approx(list(expected.interval))
        smallest = min(row["p"] for row in rows.values())
        assert len(rows) == 3 and min(row["p_adjusted"] for row in rows.values()) == pytest.approx(min(1, 3 * smallest))
        for suffix in ("csv", "tex"):
            assert b"Judged stories" in client.get(f"{table}.{suffix}?{query}").content
    api = Client(headers={"authorization": f"Token {token_of(world.alice)}"})
    base = f"/api/v1/projects/{study.project.slug}"
    corrected = api.get(f"{base}/comparison/?{query}").json()["corrected"]
    assert corrected["rows"][2]["value"]["value"] == pytest.approx(expected.value)
    [group] = [one for one in api.get(f"{base}/leaderboard/").json()["groups"] if one["key"] == "stage1"]
    scores = {row["model"]: row["corrected_f1"]["value"] for row in group["rows"]}
    assert scores["omniscient"] == pytest.approx(one.value)
    differences = f"{world.base}/results/differences"
    assert "corrected for the judge" in written(client.get(f"{differences}/?group=stage1"))
    tables.append(f"{differences}/corrected-stage1")
    [row] = client.get(f"{tables[-1]}.json").json()["rows"]
    assert (row["value"]["value"], row["p_adjusted"]) == pytest.approx((expected.value, expected.p))
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=world.alice, slot=1)
    world.show_to(Audience.EXPERTS)
    for person in (world.alice, world.esi):
        client.force_login(person)
        assert [client.get(f"{table}.json?{query}").status_code for table in tables] == [404, 404, 404]
        assert study.uid not in written(client.get(f"{world.base}/results/compare/?{query}"))
