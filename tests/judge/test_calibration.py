"""The calibration report of a judge: what people settled next to what it said, down to rows; on page and command."""

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
from benchmark.domain.tables import to_csv, to_json, to_latex
from benchmark.models import Audience, Dataset, Run, RunItem
from benchmark.services.archiving import archive_run, delete_run, deletion_of
from benchmark.services.comparison_tables import correction_table
from benchmark.services.judges import judged_at
from benchmark.services.plans import RunRefused
from benchmark.services.snapshots import save_run_snapshot
from core.ids import new_uid
from judge.domain.alignment import RowAnswer, SettledRow
from judge.domain.calibration.agreement import NO_MATCH
from judge.domain.calibration.corrected import difference
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.tables import Metric, Side
from judge.domain.corrections import Corrections
from judge.models import AlignmentStudy, SettledAlignment
from judge.services import calibration
from judge.services.alignment_tables import groups_of, units_of
from judge.services.calibration import calibrated, choose_calibrated, judged_document, reported, reports_of
from judge.services.calibration_tables import agreement_table, scores_table
from judge.services.corrections import scores_of_runs
from judge.services.judgements import calibrations_of
from judge.services.settling import Refused
from judge.services.studies import close_study
from tests.api.conftest import token_of
from tests.benchmark.results_world import HOSTILE
from tests.benchmark.settled import written
from tests.judge.conftest import add_judgements, aligns_again, copied_run

pytestmark = pytest.mark.django_db(transaction=True)


def only_judge(study):
    [judge], _ = calibrated(study)
    return judge


def models_of(study):
    judge = only_judge(study)
    return {one.model: one for one in reported(study, [judge], [judge])[0].models}


def command(study, **given) -> str:
    call_command("calibrate_judge", project=study.project.slug, study="First", **given, stdout=(out := StringIO()))
    return out.getvalue()


def read_csv(response) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(response.content.decode())))


def logit(share: float) -> float:
    return log(share / (1 - share))


def test_the_report_compares_every_row_that_people_settled(world, study, admin, base):
    judge, settled = only_judge(study), calibrated(study)[1]
    assert judge.name == "lexical-judge" and len(settled) == len(judge.judged) == 18
    # the hostile model's tables have no rows: nobody aligned them, so they show no agreement
    assert (len(judge.joined.tables), judge.joined.empty) == (9, 9)
    [report] = reported(study, [judge], [judge])
    overall, models = report.calibration.overall, {one.model: one for one in report.models}
    assert overall.rows == sum(len(one.rows) for one in judge.judged.values() if one.predicted and one.gold)
    # people leave what the judge matched once in a table: nothing that they match is missed
    assert overall.sensitivity.value == 1 and 0 < overall.specificity.value < 1
    unclear = [one for one in judge.judged.values() if one.number == 1 and len(one.predicted) > 1]
    assert overall.unclear == (len(unclear), 0) and len(unclear) > 0
    # the omniscient model's tables are all matched by the judge, one row fewer by people
    right = models["omniscient"].f1
    assert right.judged > right.value and right.aligned == 9 and right.interval[0] < right.value < right.judged
    assert models[HOSTILE].f1.value == 0
    assert {one.more for one in models.values()} == {0, 9}, "there are no more stories than these"
    assert reported(study, [judge], [judge])[0].selection.reason == "lexical-judge has no rival."
    page = admin.get(base)
    text = page.content.decode()
    assert "Agreement by story" in text and "Corrected scores" in text
    assert "people aligned in <bdi>First</bdi>." in written(page), "names of either direction"
    assert "<script>alert" not in text and text.count("agreement.csv") == 1, "pictures have no files of their own"
    assert "Judge’s self-test: not tested." in written(page) and "of categories of which people" not in text
    # the score by the judge alone is the mean of the F1 of each judged story, its interval symmetrical on the logit
    spread = 0
    for model, stories in judge.joined.models.items():
        scores, alone = [one.judged.f1 for one in stories], models[model].alone
        n, mean = len(scores), sum(scores) / len(scores)
        assert (alone.n, alone.value) == (n, pytest.approx(mean))
        if max(scores) - min(scores) >= 1e-9:
            spread += 1
            low, high = alone.interval
            assert low < mean < high and (logit(low) + logit(high)) / 2 == pytest.approx(logit(mean), rel=1e-3)
            assert f"{100 * low:.1f}" in text
    assert spread
    # the rows behind it
    confusion = report.calibration.confusion
    rows = admin.get(f"{base}rows/?judge={judge.version}&people=0&said=1")
    assert rows.context["rows"] == confusion["0", "1"] and b"prediction" in rows.content
    assert "<bdi>lexical-judge</bdi> beside people in <bdi>First</bdi>:" in written(rows)
    assert admin.get(f"{base}rows/?judge={judge.version}").context["rows"] == sum(confusion.values())
    differing = admin.get(f"{base}rows/?differing=1&model=omniscient").context["rows"]
    apart = [rows for (people, said), rows in confusion.items() if (people == "0") != (said == "0")]
    assert differing == sum(apart) > 0
    assert admin.get(f"{base}rows/?judge=other").status_code == 404
    admin.force_login(world.esi)
    assert admin.get(base).status_code == 403


def test_every_table_of_the_report_is_a_file(study, admin, base):
    """The page names the files; they have what the report has, in CSV, JSON and LaTeX."""
    [report] = reports_of(study).reports
    page, version = admin.get(base).content.decode(), report.judge.version
    for name in ("corrected", "match-counts"):
        for suffix in ("json", "tex"):
            assert f'href="{base}{name}.{suffix}?judge={version}"' in page
            assert admin.get(f"{base}{name}.{suffix}").status_code == 200
    # a formula is led by an apostrophe
    scores = {row["Model"].lstrip("'"): row for row in read_csv(admin.get(f"{base}corrected.csv"))}
    right = models_of(study)
    assert scores.keys() == right.keys() and scores["omniscient"]["Aligned stories"] == "9"
    score = float(scores["omniscient"]["F1, corrected (%)"])
    assert score == pytest.approx(100 * right["omniscient"].f1.value, abs=0.01)
    rows = read_csv(admin.get(f"{base}match-counts.csv"))
    counts = {(row["People"], row["Judge"]): int(row["Rows"]) for row in rows}
    assert counts == report.calibration.confusion and sum(counts.values()) == report.calibration.overall.rows
    assert admin.get(f"{base}paired.csv").status_code == 200 and f"{base}paired.csv" not in page, "it has no rival"
    rows = admin.get(f"{base}agreement.json?judge={version}").json()["rows"]
    [second] = [row for row in rows if row["by"] == "Order" and row["group"] == "2"]
    found = report.calibration.by["order"]["2"]
    assert (second["rows"], second["by_story"]["value"]) == (found.rows, pytest.approx(found.by_story.value))
    assert {row["by"] for row in rows} == {"All rows", "Category", "Model", "Actor role", "Order", "Table"}
    assert b"Specificity" in admin.get(f"{base}agreement.csv").content
    assert admin.get(f"{base}agreement.csv?judge=other").status_code == 404
    # figures without interval or value have their reason
    undefined = replace(report.calibration.overall, sensitivity=SpannedEstimate(None, 0, reason=NO_MATCH))
    table = agreement_table(replace(report, calibration=replace(report.calibration, overall=undefined)))
    row = json.loads(to_json(table))["rows"][0]
    assert row["sensitivity"] == {"value": None, "reason": NO_MATCH}
    assert all("interval" not in cell for cell in row.values() if isinstance(cell, dict) and "reason" in cell)
    kept = sorted(study.tasks.values_list("number", flat=True).distinct())[:3]
    SettledAlignment.objects.filter(task__study=study).exclude(task__number__in=kept).delete()
    assert written(admin.get(base)).count("an interval needs at least 5 stories") > 4


def test_runs_that_share_answers_are_both_judged_and_other_gold_is_not(world, study):
    """A run that asks the same shares the calls of an earlier one; a judgement next to other gold counts for
    nothing."""
    copied, keys = copied_run(world.run), {unit.key for unit in study.units}

    def of_copy(key: str) -> str:
        return key.replace(world.run.uid, copied.uid)

    # an answer that runs share is one table of a frame
    alone, both = units_of([world.run]), units_of([world.run, copied])
    assert both == alone and all(unit.stratum[0] in {one.name for one in world.run.entrants.all()} for unit in both)
    assert {unit.key for unit in units_of([copied])} == {of_copy(unit.key) for unit in alone}
    expected = scores_of_runs([world.run])[world.run.pk]
    study.frame += [[of_copy(key), story, f"{model} · {copied.uid}", kind] for key, story, model, kind in study.frame]
    study.origin["runs"].append(copied.uid)
    study.save()
    judge = only_judge(study)
    assert set(judge.judged) == keys | set(map(of_copy, keys)) and judge.joined.left_out == 0
    # a study that has both of them all the same corrects by the tables that people aligned
    found = scores_of_runs([world.run])[world.run.pk]
    assert found.aligned == expected.aligned > 0 and found.scores.keys() == expected.scores.keys()
    for entrant, scores in expected.scores.items():
        assert found.scores[entrant][Metric.F1].value == pytest.approx(scores[Metric.F1].value)
    study.frame = [row for row in study.frame if row[0] in keys]
    assert set(only_judge(study).judged) == keys, "what could not be drawn is no part of the report"
    gold = Dataset.objects.get(pk=world.run.dataset_id)
    gold.pk, gold.uid, gold.version, gold.digest = None, new_uid(), "2", "0" * 64
    gold.save()
    Run.objects.filter(pk=copied.pk).update(dataset=gold)
    study.origin["runs"] = [copied.uid]
    study.frame = [[of_copy(key), *rest] for key, *rest in study.frame]
    assert calibrated(study)[0] == []


def test_runs_under_a_study_or_a_choice_are_not_deleted(world, study):
    """They can be archived; a run by another version of the judge, or of no judge, can be deleted."""
    why = f"Watches or studies rest on this run: “{study.name}”. Archive it instead."
    assert deletion_of(world.run).refused == why
    with pytest.raises(RunRefused, match="Archive it instead"):
        delete_run(by=None, run=world.run, now=timezone.now())
    judging, other = copied_run(world.run, judge=world.run.judge, title="Judged anew"), copied_run(world.run)
    add_judgements(judging, world.run)
    judging.refresh_from_db()
    [judge] = reports_of(study).judges
    assert deletion_of(judging).refused == ""
    study.choose_judge(judge.version, name=judge.name, reason="Best.", by=world.alice, at=timezone.now())
    assert (deletion_of(judging).refused, deletion_of(other).refused) == (why, "")
    with pytest.raises(RunRefused, match="rest on this run: “First”"):
        delete_run(by=None, run=judging, now=timezone.now())
    assert archive_run(by=None, run=judging, now=timezone.now())
    Run.objects.filter(pk=judging.pk).update(answer_format="structured")
    judging.refresh_from_db()
    assert deletion_of(judging).refused == ""
    study.delete()
    assert deletion_of(world.run).refused == ""


def test_agreement_stands_by_order_for_rows_of_either_side(world, study, admin, base):
    """Gold rows have gold's order, predictions the one that the model gave; every row is in one group."""
    [judge], settled = calibrated(study)
    found = reported(study, [judge], [judge])[0].calibration
    by_order = found.by["order"]
    assert {"1", "2"} <= set(by_order) <= {"0", "1", "2", "3", "4", ""}
    assert sum(one.rows for one in by_order.values()) == found.overall.rows
    gold = {sample.number: sample.gold["beliefs"] for sample in world.run.dataset.samples.all()}
    numbers = {one.key: one.number for one in settled}
    second = sum(row["labels"]["order"] == "2" for table in judge.joined.tables for row in gold[numbers[table.key]])
    rows = [row for table in judge.joined.tables for row in table.rows if row.groups["order"] == "2"]
    assert sum(row.side == Side.GOLD for row in rows) == second > 0 and len(rows) == by_order["2"].rows
    # the omniscient model gives all its rows the same order
    orders = {row.groups["order"] for table in judge.joined.tables for row in table.rows if row.side == Side.PREDICTION}
    assert orders == {"0"}
    assert "Agreement by order" in admin.get(base).content.decode()
    assert admin.get(f"{base}rows/?order=2").context["rows"] == len(rows)
    # a study whose answers are gone has its report, without orders
    RunItem.objects.filter(entrant__run=world.run, step="extract").update(call=None)
    of_tables = groups_of(settled, project=study.project).values()
    groups = {key: {group for of in of_tables for side in of[key] for group in side} for key in ("role", "order")}
    assert len(of_tables) == len(settled) and groups == {"role": {"world", "actors"}, "order": {""}}


def test_a_report_is_made_once_until_people_settle_more(world, study, admin, base, monkeypatch):
    """Rows decided anew change figures; a story withdrawn and gold that changed do not, as tables are kept; tables of
    which people can tell nothing count as not aligned."""

    def figures():
        return admin.get(f"{base}agreement.json").json()["rows"][0]

    before = figures()
    with monkeypatch.context() as patched:
        patched.setattr(calibration, "report_of", lambda *_, **__: pytest.fail("made anew"))
        assert admin.get(base).status_code == 200
    assert Story.objects.filter(project=study.project).update(withdrawn_at=timezone.now()) > 0
    Proposition.objects.filter(table__story__project=study.project).update(belief="Something else")
    assert figures() == before
    aligned = SettledAlignment.objects.filter(task__source="omniscient")
    settled = next(one for one in aligned if any(row.answer.links for row in one.answers.values()))
    settled.take({row: SettledRow(RowAnswer(verdict="none"), "adjudicated") for row in settled.answers}, timezone.now())
    assert figures()["by_story"]["value"] < before["by_story"]["value"]
    of_one = study.tasks.filter(source="omniscient").values_list("category", flat=True).first()
    SettledAlignment.objects.filter(task__category=of_one, task__source="omniscient").delete()
    assert "of categories of which people" in admin.get(base).content.decode()
    for one in aligned.all():
        unclear = {row: SettledRow(RowAnswer(verdict="unclear"), "adjudicated") for row in one.answers}
        one.take(unclear, timezone.now())
    row = figures()
    assert (row["known"], row["by_story"]["value"]) == (0, None), row
    page = admin.get(base).content.decode()
    assert "no story was aligned" in page and "no row has a verdict of both people and the judge" in page
    # two versions with one name each have their digest
    other = copied_run(world.run, judge=world.run.judge, answer_format="structured")
    add_judgements(other, world.run)
    names = [one.name for one in reports_of(study).judges]
    assert len(names) == 2 and all(name.startswith("lexical-judge · ") for name in names)


def test_tables_without_a_place_in_the_report_are_counted_on_its_page(world, study, admin, base):
    """One table settled before an earlier one of its stratum, one of other rows, and one that the judge left out."""
    assert only_judge(study).joined.left_out == 0
    first, *_, unfit, unjudged = study.tasks.filter(source="omniscient").order_by("place")
    SettledAlignment.objects.get(task=first).delete()
    unfit.predictions = unfit.predictions[:-1]
    unfit.save()
    settled = SettledAlignment.objects.get(task=unfit)
    rows = {name: row for name, row in settled.answers.items() if name != f"p{len(unfit.predictions) + 1}"}
    settled.take(rows, timezone.now())
    items = RunItem.objects.filter(entrant__run=world.run, entrant__name="omniscient", step=judged_at(world.run))
    items.filter(sample__number=unjudged.number, repaired__isnull=False).update(repaired=None)
    study.tasks.filter(pk=unjudged.pk).update(place=1)
    found = only_judge(study).joined
    assert found.waiting + found.unjudged + found.unfit + len(found.tables) + found.empty == 17 and found.waiting > 0
    assert (found.left_out, len(found.models["omniscient"])) == (1, 8)
    page = admin.get(base).content.decode()
    assert f"Waiting for earlier tables of their stratum: {found.waiting}." in page
    assert "that the judge did not judge: 1;" in page


def test_links_lead_to_the_report_for_those_who_may_see_it(world, study, admin, base):
    """Not who still aligns, nor an expert; nor from a run whose judge judged no table of the study."""
    judge, alignment = only_judge(study), f"{world.base}/alignment/{study.uid}/"
    assert f'href="{base}"' in admin.get(alignment).content.decode()
    assert f'href="{alignment}"' in admin.get(base).content.decode()
    run = f"{world.base}/runs/{world.run.uid}"
    pages = [f"{run}/results/", f"{run}/report/", f"{world.base}/results/"]
    assert all(f'href="{base}?judge={judge.version}"' in admin.get(page).content.decode() for page in pages)
    assert "1 study settled" in admin.get(f"{world.base}/").content.decode()
    other = world.another("random", steps=("label",), judge=None)
    assert calibrations_of([other], world.alice) == []
    admin.force_login(world.esi)
    assert all(study.uid not in admin.get(page).content.decode() for page in pages)
    aligns_again(study, world.alice)
    assert calibrations_of([world.run], world.alice) == []
    admin.force_login(world.alice)
    assert admin.get(base).status_code == 403
    close_study(by=world.alice, study=study, now=timezone.now())  # it could be opened again
    assert admin.get(base).status_code == 403
    download = admin.get(reverse("judge:download_json", args=[study.project.slug, study.uid])).json()
    assert not any("model" in table for table in download["tables"])


def test_links_take_as_many_statements_however_many_studies_and_runs(world, study):
    with CaptureQueriesContext(connection) as few:
        [link] = calibrations_of([world.run], world.alice)
    for number in range(3):
        again = AlignmentStudy.objects.get(pk=study.pk)
        again.pk, again.uid, again.name = None, new_uid(), f"Study {number}"
        again.origin = {"runs": ["gone"]} if number == 2 else again.origin
        again.save()
        task = study.tasks.order_by("pk")[number]
        settled = task.settled
        task.pk, task.uid, task.study = None, new_uid(), again
        task.save()
        settled.pk, settled.task = None, task
        settled.save()
    runs = [world.run, copied_run(world.run, judge=world.run.judge), copied_run(world.run)]
    with CaptureQueriesContext(connection) as many:
        links = calibrations_of(runs, world.alice)
    assert [one["study"].name for one in links] == ["Study 1", "Study 0", "First"]
    assert {one["version"] for one in links} == {link["version"]} and len(many) == len(few) == 4


def others(world, study, admin):
    """Log in who may see no corrected score: an admin who aligns in the study again, and an expert."""
    aligns_again(study, world.alice)
    world.show_to(Audience.EXPERTS)
    for person in (world.alice, world.esi):
        admin.force_login(person)
        yield person


def test_corrected_scores_stand_in_reports_and_leaderboards_with_their_calibration(world, study, admin, base):
    """In tables, files and what is saved; a run of which nothing was aligned has the reason."""
    study.tasks.filter(source=HOSTILE).delete()
    study.frame = [row for row in study.frame if row[2] != HOSTILE]
    study.save()
    judge, expected = only_judge(study), models_of(study)["omniscient"].f1
    run, results = f"{world.base}/runs/{world.run.uid}", f"{world.base}/results"
    reason = "people aligned none of its tables"
    opened = f'href="{base}?judge={judge.version}"'
    assert "Scores corrected for the judge" in admin.get(f"{run}/report/").content.decode()
    page = written(admin.get(f"{results}/?runs=all"))
    assert page.count(opened) > 5 and f"First · lexical-judge · {judge.version[:6]}" in page
    assert 'class="square"' in page
    assert b"corrected" in admin.get(f"{results}/figures/leaderboard-stage1.svg").content
    of_run = f"{results}/snapshots/{save_run_snapshot(by=world.alice, run=world.run).uid}"
    saved = admin.post(f"{results}/snapshot/", {"query": "runs=all"}).url.rstrip("/")
    assert opened in written(admin.get(f"{saved}/"))
    tables = [(f"{place}/tables/corrected", "") for place in (run, of_run)]
    tables += [(f"{place}/tables/stage1", "corrected_") for place in (results, saved)]
    for address, prefix in tables:
        rows = {row["model"]: row for row in admin.get(f"{address}.json?runs=all").json()["rows"]}
        row, score = rows["omniscient"], "corrected_f1" if prefix else "corrected-f1"
        assert row[score]["value"] == pytest.approx(expected.value), row
        assert row[score]["interval"] == pytest.approx(list(expected.interval))
        assert (row[f"{prefix}aligned"], row[f"{prefix}unjudged"], row[f"{prefix}unseen"]) == (9, 0, 0)
        assert row[f"{prefix}effective"] == pytest.approx(expected.effective)
        if prefix:
            assert (rows[HOSTILE].get(score), rows[HOSTILE]["corrected_by"]) == (None, reason)
        else:
            assert row["lenient-f1"] == pytest.approx(expected.judged, abs=1e-6) and row["official-f1"] is not None
        for suffix in ("csv", "tex"):
            file = admin.get(f"{address}.{suffix}?runs=all").content.decode()
            assert "Effective sample size" in file and (not prefix or reason in file)
    warns = Corrections(uid="", study="First", group="stage1", rows=[], differing=0.01, warns=True)
    assert "differs by model (p = 0.010)" in correction_table(warns).lead[0]
    # one row of a table without a count, and a category of which nothing is aligned
    item = RunItem.objects.filter(entrant__run=world.run, entrant__name="omniscient", step=judged_at(world.run)).first()
    item.repaired["pred"][0] = None
    item.save()
    tasks = study.tasks.filter(source="omniscient")
    kind = tasks.first().category
    SettledAlignment.objects.filter(task__in=tasks.filter(category=kind)).delete()
    there = [place[3] for place in study.frame if place[2] == "omniscient"]
    for address, prefix in (tables[0], tables[2]):
        rows = {row["model"]: row for row in admin.get(f"{address}.json?runs=all").json()["rows"]}
        assert rows["omniscient"][f"{prefix}unjudged"] == 1
        assert rows["omniscient"][f"{prefix}unseen"] == pytest.approx(there.count(kind) / len(there))
    for _ in others(world, study, admin):
        assert {admin.get(f"{address}.json").status_code for address, prefix in tables if not prefix} == {404}
        assert admin.get(f"{of_run}/").status_code == 200
        for address in (results, saved):
            rows = admin.get(f"{address}/tables/stage1.json?runs=all").json()["rows"]
            assert all(row.get("corrected_f1") is None and "First" not in str(row) for row in rows)
        assert study.uid not in written(admin.get(f"{results}/?runs=all"))


def test_a_comparison_pairs_corrected_scores_by_story(world, study, admin, base):
    """Its differences are those of the corrected scores of both, adjusted among themselves; in the files, the API and a
    saved one, and for admins who align in the study no more."""
    query = urlencode({"a": world.entrant("omniscient"), "b": world.entrant(HOSTILE)})
    one, other = (models_of(study)[name].f1 for name in ("omniscient", HOSTILE))
    expected, p, _ = difference(one, other)
    compare, differences = f"{world.base}/results/compare", f"{world.base}/results/differences"
    page, opened = written(admin.get(f"{compare}/?{query}")), f'href="{base}?judge={only_judge(study).version}"'
    assert opened in page and "Corrected for the judge" in page and "<script>alert" not in page
    saved = admin.post(f"{compare}/snapshot/", dict(parse_qsl(query))).url.rstrip("/")
    assert opened in written(admin.get(f"{saved}/"))
    tables = [f"{compare}/tables/corrected", f"{saved}/tables/corrected"]
    for table in tables:
        rows = {row["what"]: row for row in admin.get(f"{table}.json?{query}").json()["rows"]}
        row = rows["F1"]
        assert row["value"]["value"] == pytest.approx(expected.value) and row["p"] == pytest.approx(p)
        assert row["value"]["interval"] == pytest.approx(list(expected.interval))
        smallest = min(row["p"] for row in rows.values())
        assert len(rows) == 3 and min(row["p_adjusted"] for row in rows.values()) == pytest.approx(min(1, 3 * smallest))
        for suffix in ("csv", "tex"):
            assert b"Judged stories" in admin.get(f"{table}.{suffix}?{query}").content
    api = Client(headers={"authorization": f"Token {token_of(world.alice)}"})
    places = f"/api/v1/projects/{study.project.slug}"
    corrected = api.get(f"{places}/comparison/?{query}").json()["corrected"]
    assert corrected["rows"][2]["value"]["value"] == pytest.approx(expected.value)
    [group] = [one for one in api.get(f"{places}/leaderboard/").json()["groups"] if one["key"] == "stage1"]
    scores = {row["model"]: row["corrected_f1"]["value"] for row in group["rows"]}
    assert scores["omniscient"] == pytest.approx(one.value)
    assert "corrected for the judge" in written(admin.get(f"{differences}/?group=stage1"))
    tables.append(f"{differences}/corrected-stage1")
    [row] = admin.get(f"{tables[-1]}.json").json()["rows"]
    assert (row["value"]["value"], row["p_adjusted"]) == pytest.approx((expected.value, p))
    for _ in others(world, study, admin):
        assert [admin.get(f"{table}.json?{query}").status_code for table in tables] == [404, 404, 404]
        assert study.uid not in written(admin.get(f"{compare}/?{query}"))


def test_corrected_scores_of_a_leaderboard_are_kept_and_ask_no_more_with_more_runs(world, study, admin, monkeypatch):
    address = f"{world.base}/results/?runs=all"

    def asked() -> int:
        admin.get(address)
        with CaptureQueriesContext(connection) as statements:
            assert "Study and judge" in admin.get(address).content.decode()
        return len(statements)

    few = asked()
    world.another("omniscient")
    assert asked() == few
    monkeypatch.setattr("judge.services.corrections.judged_tables", lambda *_: pytest.fail("corrected again"))
    admin.get(address)
    with pytest.raises(pytest.fail.Exception):  # what people say has changed
        SettledAlignment.objects.first().take(SettledAlignment.objects.first().answers, timezone.now())
        admin.get(address)


def test_a_model_without_a_corrected_score_has_its_pooled_score_in_files(study, admin, base):
    score = models_of(study)["omniscient"].f1
    own = SettledAlignment.objects.filter(task__study=study, task__source="omniscient")
    own.exclude(task__in=study.tasks.filter(source="omniscient", place=1)[:2]).delete()
    judge = only_judge(study)
    [report] = reported(study, [judge], [judge])
    selection = report.selection
    [one] = [one for one in report.models if one.model == "omniscient"]
    assert score.interval and one.f1.value is None and one.f1.tuning == 1
    [row] = [row for row in admin.get(f"{base}corrected.json").json()["rows"] if row["model"] == "omniscient"]
    assert row["tuning"] is None and "pooled" not in row, "no score by the error on all models either"
    assert re.search(r"model=omniscient.><bdi>omniscient</bdi>", admin.get(base).content.decode())
    document = judged_document(report)
    assert document["caution"] == (selection.caution or None) and document["reason"] == selection.reason
    assert document["corrected"]["omniscient"]["scores"]["f1"]["tuning"] is None
    pooled = replace(report, models=[replace(one, pooled=score)], differing=replace(report.differing, p=0.9))
    table = scores_table(pooled)
    [row] = csv.DictReader(StringIO(to_csv(table).decode()))
    told = float(row["F1, by the judge's error on all models (%)"])
    assert told == pytest.approx(100 * score.value, abs=0.01) and row["λ"] == ""
    assert f"{100 * score.value:.1f}" in str(to_latex(table)) and "That it does is not shown" in table.notes[1]
    warned = scores_table(replace(pooled, differing=replace(report.differing, p=0.0)))
    assert "Do not use" in warned.notes[1]


def test_the_choice_of_a_judge_is_kept_with_who_when_and_why(world, study, admin, base):
    """Without a reason, or of a judge that judged nothing here or is gone, nothing is kept. Of two windows the second
    is refused by name, keeps what was typed, and may then choose knowingly. The very same choice sent twice is one."""
    judge = only_judge(study)

    def sent(reason, seen="", version=judge.version):
        return admin.post(base, {"judge": version, "reason": reason, "seen": seen}, follow=True)

    for version, reason, why in (
        (judge.version, "  ", "Say why this judge is chosen."),
        (judge.version, "x" * 2001, "The reason has 2,001 characters; at most 2,000 are kept."),
        ("other", "Best.", "No judge of that version judged tables of this study."),
    ):
        refused = sent(reason, version=version).content.decode()
        assert why in refused and f">{reason}</textarea>" in refused, "what was typed stays"
    study.refresh_from_db()
    assert (study.judge_version, study.judge_chosen_at) == ("", None)
    first = sent("Misses <nothing>.")
    assert "Misses &lt;nothing&gt;.</q>" in first.content.decode() and world.alice.shown_name in first.content.decode()
    assert sent("Misses <nothing>.").context["seen"] == first.context["seen"] != "", "sent twice"
    study.refresh_from_db()
    assert (study.judge_version, study.judge_name, study.judge_chosen_by) == (judge.version, judge.name, world.alice)
    assert AuditEvent.objects.get(action="alignment.judge_chosen").details["reason"] == "Misses <nothing>."
    assert "a judge chosen by 1 of 1 study" in admin.get(f"{world.base}/").content.decode()
    refused = sent("Second.")
    why = "lexical-judge was chosen since you opened this page; keep your choice again to replace that one."
    assert why in written(refused)
    assert "nothing&gt;.</q>" in written(refused) and ">Second.</textarea>" in written(refused)
    assert f'value="{study.choice}"' in written(refused)
    assert "Second.</q>" in written(sent("Second.", refused.context["seen"]))
    assert AuditEvent.objects.filter(action="alignment.judge_chosen").count() == 2
    assert json.loads(command(study, json=True))["chosen"]["by"] == world.alice.username
    replaced = command(study, choose=judge.version, reason="Third.")
    assert f"Second. (chosen by {world.alice.username}, " in replaced
    assert "judge was chosen since you opened this page" in written(sent("Fourth.", "2020-01-01"))
    admin.force_login(world.esi)
    assert sent("Mine.").status_code == 403
    Run.objects.filter(uid__in=judge.brief.runs).update(deleted_at=timezone.now())
    with pytest.raises(Refused, match="runs of this judge were deleted meanwhile"):
        choose_calibrated(by=world.alice, study=study, judge=judge.brief, reason="Best.", now=timezone.now())


def test_the_command_prints_the_report_and_keeps_a_choice(study, admin, base):
    [judge] = json.loads(command(study, json=True))["judges"]
    assert judge["calibration"]["overall"]["sensitivity"]["value"] == 1
    assert judge["corrected"]["omniscient"]["scores"]["f1"]["aligned"] == 9
    for given, why in (
        ({"study": "Second"}, "There is no study 'Second' in"),
        ({"choose": judge["version"]}, "--choose and --reason go together"),
        ({"reason": "Best."}, "--choose and --reason go together"),
        ({"choose": judge["version"], "reason": " "}, "Say why this judge is chosen."),
        ({"choose": "nothing", "reason": "Best."}, "No judge of version nothing judged"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("calibrate_judge", **{"project": study.project.slug, "study": "First", "json": True} | given)
        study.refresh_from_db()
        assert study.judge_chosen_at is None
    chosen = json.loads(command(study, choose=judge["version"][:12], reason="Best.", json=True))["chosen"]
    assert (chosen["version"], chosen["reason"], chosen["by"]) == (judge["version"], "Best.", None)
    assert "Best.</q>" in admin.get(base).content.decode()
