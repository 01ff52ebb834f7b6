"""Judges of a study together, without a model's own family, whether they favour it, and two versions side by side."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.templatetags.values import brackets, coefficient, percent, percent_interval
from benchmark.models import RunItem
from benchmark.services.archiving import archive_run
from benchmark.services.judge_versions import judged_at
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.suites.reasons import NO_JUDGEMENT
from judge.domain.calibration.agreement import NOTHING
from judge.models import SettledAlignment
from judge.services import panels
from judge.services.calibration import calibrated, choose_calibrated, report_of, reported
from judge.services.panels import bridge_report, family_of, panel_report
from judge.services.studies import choose_judge
from tests.api.conftest import token_of
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE
from tests.judge.test_calibration import add_judgements, copied_run, study, world  # noqa: F401 - fixtures
from workers.models import Endpoint

pytestmark = pytest.mark.django_db(transaction=True)

NO_VERDICT = "the judge has no verdict on any story"


def second_judge(world, name="strict"):  # noqa: F811
    """A judge that says of every row of a kept judgement that it is not matched, beside the same answers."""
    said = list(RunItem.objects.filter(entrant__run=world.run, step=judged_at(world.run)).select_related("entrant"))
    run = copied_run(world.run)
    run.judge = endpoint(name, model=f"acme/{'Omni' if name == 'strict' else name}-7b")
    run.spec = run.spec | {"judge": {"name": name, "model": run.judge.model}}
    run.save()
    entrants = {one.position: one for one in run.entrants.all()}
    for item in said:
        item.entrant, item.pk, item.item = entrants[item.entrant.position], None, None
        kept = item.repaired or {}
        item.repaired = kept | {side: [0] * len(kept.get(side) or ()) for side in ("pred", "gold")}
        item.save()
    return run


def test_families_are_read_by_one_rule_that_an_admin_corrects():
    names = ("gpt-4o", "meta-llama/Llama-3.1-8B", "7b", "claude-3-opus")
    assert [family_of(Endpoint(model=name)) for name in names] == ["gpt", "llama", "b", "claude"]
    assert family_of(Endpoint(model="o3-mini", family=" GPT ")) == "gpt"


def test_a_panel_leaves_a_judge_out_of_its_own_family(world, study):  # noqa: F811
    second_judge(world)
    Endpoint.objects.filter(name="omniscient").update(family="Omni")
    judges, _ = calibrated(study)
    lexical, strict = judges
    assert [one.name for one in judges] == ["lexical-judge", "strict"]
    report = panel_report(study, judges)
    # the nine tables with rows are the omniscient model's, so that the lexical judge alone is left to vote
    assert {one.judge.name: one.left_out for one in report.judges} == {"lexical-judge": 0, "strict": 9}
    assert report.tables == 9 and report.panel.majority.known == 0  # one voice is no majority
    both = panel_report(study, judges, apart=False)
    assert {one.left_out for one in both.judges} == {0}
    # of two that differ nothing is decided; where both leave a row, that stands
    assert 0 < both.panel.majority.known < both.panel.columns[lexical.version].known
    sensitive, blind = both.judges
    assert sensitive.skill.evidence(True) > 0 > sensitive.skill.evidence(False) and blind.skill.sensitivity < 0.1
    # strict says 0 of its own family, whose F1 by people is not 0, and of the others, which people left too
    preference = blind.preference
    assert preference.own.value < 0 == preference.others.value and preference.preference.value == preference.own.value
    low, high = preference.preference.interval
    assert low < 0 < high and preference.p > 0.05, "one row in nine stories shows nothing"
    assert sensitive.preference.preference.value is None and sensitive.preference.preference.reason
    change, tables, only = bridge_report(study, lexical, strict)
    rows = {one.model: one for one in change.models}
    assert tables == 18 and only == 0 and change.gained == 0 < change.lost
    changed = rows["omniscient"]
    assert changed.new.value == 0 < changed.old.value and changed.change.value == -changed.old.value
    assert changed.places == (1, 1) and rows[HOSTILE].places == (2, 1) and change.reordered


def test_a_judge_that_says_nothing_has_no_skill_to_show(world, study):  # noqa: F811
    silenced(world)
    lexical, silent = panel_report(study, calibrated(study)[0]).judges
    assert (lexical.agreement.known > 0, silent.agreement.known) == (True, 0)
    preference = silent.preference  # unreadable answers are scores of nought, and no opinion of a family
    assert {one.value for one in (preference.own, preference.others, preference.preference)} == {None}
    assert preference.preference.reason == NOTHING and lexical.preference.others.value is not None
    client = Client()
    client.force_login(world.alice)
    assert (
        lexical.skill.evidence(False) < 0
        and client.get(f"{world.base}/calibration/{study.uid}/panel/").status_code == 200
    )
    assert percent_interval((-0.012, -0.0)) == "−1.20% – 0.00%" and coefficient(-0.5) == "−0.500"
    assert (brackets((-0.012, 0.5)), percent(-0.1)) == ("[−1.2, 50.0]", "−10.00%")


def test_every_table_of_the_panel_is_a_file_of_the_judges_that_are_ticked(world, study):  # noqa: F811
    second_judge(world)
    judges, _settled = calibrated(study)
    client, base = Client(), f"{world.base}/calibration/{study.uid}/panel/"
    client.force_login(world.alice)

    def file(name, more=""):
        return client.get(f"{base}{name}{more}")

    for own in ("", "&own=1"):
        query = "&".join(f"judge={one.version}" for one in judges) + own
        page = client.get(f"{base}?{query}").content.decode()
        report = panel_report(study, judges, apart=not own)
        for name in ("panel", "weights"):
            assert [f'href="{base}{name}.{end}?{escape(query)}"' in page for end in ("csv", "json", "tex")] == [
                True
            ] * 3
        told = {row["judge"]: row for row in file("panel.json", f"?{query}").json()["rows"]}
        assert list(told) == [*(one.name for one in judges), "Majority", "Weighted by calibration"]
        assert {name: row["known"] for name, row in told.items()} == {
            **{one.judge.name: report.panel.columns[one.judge.version].known for one in report.judges},
            "Majority": report.panel.majority.known, "Weighted by calibration": report.panel.weighted.known,
        }  # fmt: skip
        lines = csv.DictReader(StringIO(file("weights.csv", f"?{query}").content.decode()))
        left = {row["Judge"]: int(row["Left out of tables"]) for row in lines}
        assert left == {one.judge.name: one.left_out for one in report.judges}
    row = file("weights.json").json()["rows"][1]
    preference = panel_report(study, judges).judges[1].preference.preference
    assert row["preference"] == {"value": None, "reason": preference.reason} and preference.value is None
    assert file("weights.tex").status_code == 200 and file("nothing.csv").status_code == 404
    alone = file("panel.csv", f"?judge={judges[0].version}")
    assert alone.url == base, "which says why there is none"


def test_a_chosen_judge_whose_runs_are_archived_is_said_to_have_no_report(world, study):  # noqa: F811
    run = second_judge(world)
    [strict] = [one for one in calibrated(study)[0] if one.name == "strict"]
    choose_calibrated(by=world.alice, study=study, judge=strict.brief, reason="Best.", now=timezone.now())
    client, why = Client(), "Its runs are archived, so that it has no report here"
    client.force_login(world.alice)
    address = f"{world.base}/calibration/{study.uid}/"
    assert why not in client.get(address).content.decode()
    archive_run(by=None, run=run, now=timezone.now())
    page = client.get(address).content.decode()
    assert "Chosen: <bdi>strict</bdi>." in page and why in page


def test_where_nothing_is_settled_the_judge_is_not_said_to_be_silent(world, study):  # noqa: F811
    """That it has no verdict would blame it for what people have still to do."""
    SettledAlignment.objects.filter(task__study=study).delete()
    client = Client()
    client.force_login(world.alice)
    page = client.get(f"{world.base}/calibration/{study.uid}/").content.decode()
    assert "is settled by people yet" in page and "Why this judge" not in page
    assert "(no verdict)" not in page and "has no verdict on any row" not in page


def silenced(world):  # noqa: F811
    """A second judge without a verdict on any row."""
    run = second_judge(world)
    for item in RunItem.objects.filter(entrant__run=run, step=judged_at(run)):
        item.repaired |= {side: [None] * len(item.repaired.get(side) or ()) for side in ("pred", "gold")}
        item.unreadable = NO_JUDGEMENT
        item.save()
    return run


def test_the_report_of_a_judge_that_says_nothing_says_so_and_it_cannot_be_chosen(world, study):  # noqa: F811
    silenced(world)
    judges = {one.name: one.brief for one in calibrated(study)[0]}
    silent = judges["strict"]
    assert (silent.compared_rows, judges["lexical-judge"].compared_rows > 0, silent.tables) == (0, True, 9)
    client, base = Client(), f"{world.base}/calibration/{study.uid}/"
    client.force_login(world.alice)
    assert client.get(base).context["judge"].name == "lexical-judge"
    page = client.get(f"{base}?judge={silent.version}")
    told, report = " ".join(page.content.decode().split()), page.context["report"]
    assert "Rows on which both have a verdict: 0." in told and "nothing is known of it" in told
    assert "Why this judge" not in told and "strict (no verdict)" in told
    omniscient = next(one for one in report.models if one.model == "omniscient")
    assert (omniscient.alone.value, omniscient.alone.reason, omniscient.f1.tuning) == (None, NO_VERDICT, 0)
    assert omniscient.f1.value == pytest.approx(omniscient.people.value)
    answer = client.post(base, {"judge": silent.version, "reason": "It is cheap."}, follow=True).content.decode()
    study.refresh_from_db()
    assert "it cannot be chosen" in answer and not study.judge_version
    with pytest.raises(CommandError, match="it cannot be chosen"):
        call_command(
            "calibrate_judge", project=world.dataset.project.slug, study="First", choose=silent.version, reason="Cheap."
        )
    lines = {row["Judge"]: row for row in csv.DictReader(StringIO(client.get(f"{base}judges.csv").content.decode()))}
    assert lines["strict"]["Rows with both verdicts"] == "0" and lines["strict"]["Tables"] == "9"
    assert lines["strict"]["No figure because"] == NOTHING and not lines["lexical-judge"]["No figure because"]
    scores = client.get(f"{base}corrected.csv?judge={silent.version}").content.decode()
    [line] = [row for row in csv.DictReader(StringIO(scores)) if row["Model"] == "omniscient"]
    assert (line["F1, judge alone (%)"], line["No figure because"]) == ("", NO_VERDICT)


def test_a_ranking_is_of_the_chosen_judge_else_of_one_with_verdicts(world, study):  # noqa: F811
    """A newer judge without a verdict takes no ranking over, and where it is asked for nobody has a rank."""
    silent = silenced(world)

    def ranking(**asked):
        found = leaderboard_of(world.dataset, "text", None, asked=asked)
        return found.rankings["stage1"].chosen["judge"], found.entrants["stage1"]

    def ranks(entrants):
        return {(ranked := one.ranking["official"]) and ranked.rank for one in entrants}

    name, entrants = ranking()
    assert "lexical-judge" in name and ranks(entrants) != {None}
    name, entrants = ranking(judge=next(one for one in _judges(world) if "strict" in one))
    assert "strict" in name and ranks(entrants) == {None}
    assert "the judge has no verdict" in entrants[0].no_letters["official"]
    for item in RunItem.objects.filter(entrant__run=silent, step=judged_at(silent)):
        item.repaired |= {side: [0] * len(item.repaired.get(side) or ()) for side in ("pred", "gold")}
        item.unreadable = ""
        item.save()
    cache.clear()
    strict = next(one.brief for one in calibrated(study)[0] if one.name == "strict")
    by = {"by": None, "reason": "Stricter.", "now": timezone.now()}
    choose_judge(study=study, version=strict.version, name=strict.name, verdict_count=strict.compared_rows, **by)
    assert "strict" in ranking()[0]


def _judges(world):  # noqa: F811
    return leaderboard_of(world.dataset, "text", None).conditions["judge"]


def test_a_model_of_several_runs_is_of_its_family_in_each(world, study):  # noqa: F811
    """Its tables have the run's uid beside its name in a study of several runs."""
    second_judge(world)
    Endpoint.objects.filter(name="omniscient").update(family="Omni")
    study.frame = [[key, story, f"{model} · {world.run.uid}", kind] for key, story, model, kind in study.frame]
    study.save()
    for task in study.tasks.all():
        task.source = f"{task.source} · {world.run.uid}"
        task.save()
    report = panel_report(study, calibrated(study)[0])
    assert {one.judge.name: one.left_out for one in report.judges} == {"lexical-judge": 0, "strict": 9}
    assert report.families[f"omniscient · {world.run.uid}"] == "omni"
    assert report.judges[1].preference.own.value < 0


def test_pages_and_command_of_panel_and_bridge(world, study):  # noqa: F811
    client, base = Client(), f"{world.base}/calibration/{study.uid}"
    client.force_login(world.alice)
    assert "A panel wants several judges" in client.get(f"{base}/panel/").content.decode()
    told = {"project": world.dataset.project.slug, "study": "First", "json": True}
    with pytest.raises(CommandError, match="A panel wants at least two judges"):
        call_command("calibrate_judge", **told, panel=True)
    anew = f"{world.base}/runs/{world.run.uid}/judge/"
    assert f'href="{anew}"' in client.get(f"{base}/panel/").content.decode()
    assert client.get(anew).context["form"].fields["judge"].initial != world.run.judge.name
    second_judge(world)
    judges, _ = calibrated(study)
    page = client.get(f"{base}/panel/").content.decode()
    assert "Weighted by calibration" in page and "<bdi>strict</bdi>" in page and "<script>alert" not in page
    assert "Tick at least two judges." in client.get(f"{base}/panel/?judge={judges[0].version}").content.decode()
    assert f"{base}/paired.csv" in client.get(f"{base}/").content.decode()
    paired = client.get(f"{base}/paired.csv?judge={judges[0].version}").content.decode().splitlines()
    assert len(paired) == 2 and paired[1].startswith("strict,"), paired
    call_command("calibrate_judge", **told, panel=True, stdout=(out := StringIO()))
    assert {one["judge"] for one in json.loads(out.getvalue())["judges"].values()} == {"lexical-judge", "strict"}
    versions = [one.version[:12] for one in judges]
    call_command("calibrate_judge", **told, bridge=versions, stdout=(out := StringIO()))
    assert json.loads(out.getvalue())["tables"] == 18
    token, bare = {"Authorization": f"Token {token_of(world.alice)}"}, Client()
    api = f"/api/v1/projects/{told['project']}/alignment/{study.uid}/calibration/"
    for tail, given in (
        ("", {}), ("panel/", {"panel": True}), ("panel/?own=true", {"panel": True, "own": True}),
        ("bridge/?old={}&new={}".format(*versions), {"bridge": versions}),
    ):  # fmt: skip
        call_command("calibrate_judge", **told, **given, stdout=(out := StringIO()))
        answer = bare.get(api + tail, headers=token)
        assert answer.status_code == 200, answer.content
        expected = json.loads(out.getvalue())
        assert answer.json() == (expected if tail else expected | {"study": study.uid}), tail
        if not tail:
            rivals = {one["judge"]: one["rivals"] for one in expected["judges"]}
            assert [one["name"] for one in rivals["lexical-judge"]] == ["strict"]
            [rival], [back] = rivals.values()
            assert (
                rival["difference"]["value"] == pytest.approx(-back["difference"]["value"]) and rival["p"] is not None
            )
    for given in ({}, {"panel": True}, {"bridge": versions}):
        call_command("calibrate_judge", **told | {"json": False}, **given, stdout=(out := StringIO()))
        assert "{'" not in out.getvalue() and "lexical-judge" in out.getvalue()
        if not given:
            [judge, _other] = calibrated(study)[0]
            overall = report_of(judge, study).calibration.overall
            low, high = overall.kappa.interval
            assert f"  kappa: {overall.kappa.value:.3f} [{low:.3f}, {high:.3f}]" in out.getvalue()
            assert f"rows with both verdicts: {overall.known:,} of {overall.rows:,} in " in out.getvalue()
            assert reported(study, [judge, _other], [judge])[0][1].caution in out.getvalue()
    for tail in ("bridge/?old=0&new=0", f"bridge/?old={versions[0]}&new=0000"):
        assert bare.get(api + tail, headers=token).status_code == 422
    assert bare.get(f"{api}bridge/?old=x&new=0", headers=token).status_code == 400
    assert bare.get(api, headers={"Authorization": f"Token {token_of(world.esi)}"}).status_code == 403
    with pytest.raises(CommandError, match="No judge of version nothing judged"):
        call_command("calibrate_judge", **told, bridge=["nothing", versions[0]])
    for person, status in ((world.esi, 403), (world.charlie, 404)):
        client.force_login(person)
        assert client.get(f"{base}/panel/").status_code == status


def test_a_panel_is_kept_until_a_judge_says_more_or_a_family_changes(world, study, monkeypatch):  # noqa: F811
    second = second_judge(world)
    client, address, computed = Client(), f"{world.base}/calibration/{study.uid}/panel/", []
    client.force_login(world.alice)
    work_out = panels.panel
    monkeypatch.setattr(panels, "panel", lambda *args, **given: computed.append(1) or work_out(*args, **given))

    def computes(query: str = "") -> bool:
        computed.clear()
        assert client.get(address + query).status_code == 200
        return bool(computed)

    assert computes() and not computes()
    Endpoint.objects.filter(name="strict").update(family="other")
    assert computes() and not computes()
    assert computes("?own=1")
    RunItem.objects.filter(entrant__run=second, step=judged_at(second)).first().delete()
    assert computes()
