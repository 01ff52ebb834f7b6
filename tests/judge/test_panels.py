"""Judges of a study together, without a model's own family, whether they favour it, and two versions side by side."""

import csv
import json
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.templatetags.values import brackets, coefficient, p_value, percent, percent_interval
from benchmark.models import RunItem
from benchmark.services.archiving import archive_run
from benchmark.services.judges import judged_at
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.suites.reasons import NO_JUDGEMENT
from judge.domain.calibration.agreement import NOTHING
from judge.models import SettledAlignment
from judge.services import panels
from judge.services.calibration import calibrated, choose_calibrated, reported
from judge.services.panels import bridge_document, family_of, panel_report
from tests.api.conftest import token_of
from tests.benchmark.results_world import HOSTILE
from tests.judge.conftest import second_judge
from workers.models import Endpoint

pytestmark = pytest.mark.django_db(transaction=True)
NO_VERDICT = "the judge has no verdict on any story"


def silent_judge(world):
    run = second_judge(world, verdict=None)
    RunItem.objects.filter(entrant__run=run, step=judged_at(run)).update(unreadable=NO_JUDGEMENT)
    return run


def rows_by_judge(response) -> dict[str, dict[str, str]]:
    return {row["Judge"]: row for row in csv.DictReader(StringIO(response.content.decode()))}


def test_families_are_read_by_one_rule_that_an_admin_corrects():
    names = ("gpt-4o", "meta-llama/Llama-3.1-8B", "7b", "claude-3-opus")
    assert [family_of(Endpoint(model=name)) for name in names] == ["gpt", "llama", "b", "claude"]
    assert family_of(Endpoint(model="o3-mini", family=" GPT ")) == "gpt"


def test_a_panel_leaves_a_judge_out_of_its_own_family(world, study):
    second_judge(world)
    Endpoint.objects.filter(name="omniscient").update(family="Omni")
    lexical, strict = calibrated(study)[0]
    assert [lexical.name, strict.name] == ["lexical-judge", "strict"]
    report = panel_report(study, [lexical, strict])
    # the nine tables with rows are the omniscient model's, so that the lexical judge alone is left to vote
    assert {one["judge"]: one["left_out"] for one in report["judges"].values()} == {"lexical-judge": 0, "strict": 9}
    assert report["tables"] == 9 and report["majority"].known == 0  # one voice is no majority
    both = panel_report(study, [lexical, strict], apart=False)
    assert {one["left_out"] for one in both["judges"].values()} == {0}
    # of two that differ nothing is decided; where both leave a row, that stands
    assert 0 < both["majority"].known < both["judges"][lexical.version]["known"]
    sensitive, blind = both["judges"].values()
    assert sensitive["matched_counts"] > 0 > sensitive["unmatched_counts"] and blind["skill"].sensitivity < 0.1
    # strict says 0 of its own family, whose F1 by people is not 0, and of the others, which people left too
    favour = blind["self_preference"]
    assert favour["own"].value < 0 == favour["others"].value and favour["preference"].value == favour["own"].value
    low, high = favour["preference"].interval
    assert low < 0 < high and favour["p"] > 0.05, "one row in nine stories shows nothing"
    favour = sensitive["self_preference"]["preference"]
    assert favour.value is None and favour.reason
    change = bridge_document(study, lexical.version, strict.version)
    rows = {one["model"]: one for one in change["models"]}
    assert change["tables"] == 18 and change["judged_by_one"] == 0 and change["gained"] == 0 < change["lost"]
    changed = rows["omniscient"]
    assert changed["new"]["value"] == 0 < changed["old"]["value"]
    assert changed["change"]["value"] == -changed["old"]["value"]
    assert changed["places"] == [1, 1] and rows[HOSTILE]["places"] == [2, 1] and change["reordered"]
    # a model of several runs has the run's uid with its name, and is of its family in each
    name = f"omniscient · {world.run.uid}"
    study.frame = [[key, story, f"{model} · {world.run.uid}", kind] for key, story, model, kind in study.frame]
    study.save()
    for task in study.tasks.all():
        task.source = f"{task.source} · {world.run.uid}"
        task.save()
    report = panel_report(study, calibrated(study)[0])
    members = [*report["judges"].values()]
    assert [one["left_out"] for one in members] == [0, 9] and report["families"][name] == "omni"
    assert members[1]["self_preference"]["own"].value < 0


def test_a_judge_that_says_nothing_shows_no_skill_and_cannot_be_chosen(world, study, admin, base):
    silent_judge(world)
    judges = calibrated(study)[0]
    lexical, silent = panel_report(study, judges)["judges"].values()
    assert lexical["known"] > 0 == silent["known"] and lexical["unmatched_counts"] < 0
    favour = silent["self_preference"]  # unreadable answers are scores of 0, and no opinion of a family
    assert {favour[name].value for name in ("own", "others", "preference")} == {None}
    assert favour["preference"].reason == NOTHING and lexical["self_preference"]["others"].value is not None
    assert admin.get(f"{base}panel/").status_code == 200
    assert percent_interval((-0.012, -0.0)) == "−1.20% – 0.00%" and coefficient(-0.5) == "−0.500"
    assert (brackets((-0.012, 0.5)), percent(-0.1)) == ("[−1.2, 50.0]", "−10.00%")
    assert [p_value(value) for value in (None, 0.0, 0.5)] == ["–", "<0.0001", "0.5000"]
    other, brief = (judge.brief for judge in judges)
    assert (brief.name, brief.compared_rows, brief.tables) == ("strict", 0, 9) and other.compared_rows > 0
    assert admin.get(base).context["judge"].name == "lexical-judge"
    page = admin.get(f"{base}?judge={brief.version}")
    text, report = " ".join(page.content.decode().split()), page.context["report"]
    assert "Rows on which both have a verdict: 0." in text and "nothing is known of it" in text
    assert "Why this judge" not in text and "strict (no verdict)" in text
    omniscient = next(one for one in report.models if one.model == "omniscient")
    assert (omniscient.alone.value, omniscient.alone.reason, omniscient.f1.tuning) == (None, NO_VERDICT, 0)
    assert omniscient.f1.value == pytest.approx(omniscient.people.value)
    answer = admin.post(base, {"judge": brief.version, "reason": "It is cheap."}, follow=True).content.decode()
    study.refresh_from_db()
    assert "it cannot be chosen" in answer and not study.judge_version
    chosen = {"project": study.project.slug, "study": "First", "choose": brief.version, "reason": "Cheap."}
    with pytest.raises(CommandError, match="it cannot be chosen"):
        call_command("calibrate_judge", **chosen)
    rows = rows_by_judge(admin.get(f"{base}judges.csv"))
    assert (rows["strict"]["Rows with both verdicts"], rows["strict"]["Tables"]) == ("0", "9")
    assert rows["strict"]["No figure because"] == NOTHING and not rows["lexical-judge"]["No figure because"]
    scores = csv.DictReader(StringIO(admin.get(f"{base}corrected.csv?judge={brief.version}").content.decode()))
    [row] = [row for row in scores if row["Model"] == "omniscient"]
    assert (row["F1, judge alone (%)"], row["No figure because"]) == ("", NO_VERDICT)
    SettledAlignment.objects.filter(task__study=study).delete()
    page = admin.get(base).content.decode()
    assert "is settled by people yet" in page and "Why this judge" not in page
    assert "(no verdict)" not in page and "has no verdict on any row" not in page, "people have not settled anything"


def test_every_table_of_the_panel_is_a_file_of_the_selected_judges(world, study, admin, base):
    second_judge(world)
    judges, _settled = calibrated(study)
    address = f"{base}panel/"
    for own in ("", "&own=1"):
        query = "&".join(f"judge={one.version}" for one in judges) + own
        page = admin.get(f"{address}?{query}").content.decode()
        report = panel_report(study, judges, apart=not own)
        for name in ("panel", "weights"):
            assert all(f'href="{address}{name}.{end}?{escape(query)}"' in page for end in ("csv", "json", "tex"))
        rows = admin.get(f"{address}panel.json?{query}").json()["rows"]
        members = report["judges"].values()
        columns = [*(one["agreement"] for one in members), report["majority"], report["weighted"]]
        names = [*(one.name for one in judges), "Majority", "Weighted by calibration"]
        known = [column.known for column in columns]
        assert [(row["judge"], row["known"]) for row in rows] == list(zip(names, known, strict=True))
        weights = rows_by_judge(admin.get(f"{address}weights.csv?{query}"))
        left = {name: int(row["Left out of tables"]) for name, row in weights.items()}
        assert left == {one["judge"]: one["left_out"] for one in members}
    row = admin.get(f"{address}weights.json").json()["rows"][1]
    preference = panel_report(study, judges)["judges"][judges[1].version]["self_preference"]["preference"]
    assert row["preference"] == {"value": None, "reason": preference.reason} and preference.value is None
    assert [admin.get(f"{address}{name}").status_code for name in ("weights.tex", "nothing.csv")] == [200, 404]
    assert admin.get(f"{address}panel.csv?judge={judges[0].version}").url == address, "which says why there is none"


def test_a_ranking_is_of_the_chosen_judge_else_of_one_with_verdicts(world, study):
    """A newer judge without a verdict takes no ranking over; if it is asked for, nobody has a rank."""
    silent = silent_judge(world)

    def ranking(**asked):
        found = leaderboard_of(world.dataset, "text", None, asked=asked)
        return found.rankings["stage1"].chosen["judge"], found.entrants["stage1"]

    def ranks(entrants):
        return {(ranked := one.ranking["official"]) and ranked.rank for one in entrants}

    name, entrants = ranking()
    assert "lexical-judge" in name and ranks(entrants) != {None}
    judges = leaderboard_of(world.dataset, "text", None).conditions["judge"]
    name, entrants = ranking(judge=next(one for one in judges if "strict" in one))
    assert "strict" in name and ranks(entrants) == {None}
    assert "the judge has no verdict" in entrants[0].no_letters["official"]
    for item in RunItem.objects.filter(entrant__run=silent, step=judged_at(silent)):
        item.repaired |= {side: [0] * len(item.repaired.get(side) or ()) for side in ("pred", "gold")}
        item.unreadable = ""
        item.save()
    cache.clear()
    strict = next(one.brief for one in calibrated(study)[0] if one.name == "strict")
    by = {"by": None, "reason": "Stricter.", "now": timezone.now()}
    choose_calibrated(study=study, judge=strict, **by)
    assert "strict" in ranking()[0]


def test_pages_command_and_api_of_panel_and_bridge_are_for_admins(world, study, admin, base):
    given = {"project": study.project.slug, "study": "First"}

    def printed(**more) -> str:
        call_command("calibrate_judge", **given, **more, stdout=(out := StringIO()))
        return out.getvalue()

    anew = f"{world.base}/runs/{world.run.uid}/judge/"
    page = admin.get(f"{base}panel/").content.decode()
    assert "A panel wants several judges" in page and f'href="{anew}"' in page
    assert admin.get(anew).context["form"].fields["judge"].initial != world.run.judge.name
    with pytest.raises(CommandError, match="A panel wants at least two judges"):
        printed(panel=True)
    second_judge(world)
    judges, _ = calibrated(study)
    page = admin.get(f"{base}panel/").content.decode()
    assert "Weighted by calibration" in page and "<bdi>strict</bdi>" in page and "<script>alert" not in page
    assert "Tick at least two judges." in admin.get(f"{base}panel/?judge={judges[0].version}").content.decode()
    assert f"{base}paired.csv" in admin.get(base).content.decode()
    assert list(rows_by_judge(admin.get(f"{base}paired.csv?judge={judges[0].version}"))) == ["strict"]
    versions = [one.version[:12] for one in judges]
    token, bare = {"Authorization": f"Token {token_of(world.alice)}"}, Client()
    api = f"/api/v1/projects/{study.project.slug}/alignment/{study.uid}/calibration/"
    documents = {}
    for tail, options in (
        ("", {}),
        ("panel/", {"panel": True}),
        ("panel/?own=true", {"panel": True, "own": True}),
        ("bridge/?old={}&new={}".format(*versions), {"bridge": versions}),
    ):
        answer, document = bare.get(api + tail, headers=token), json.loads(printed(**options, json=True))
        assert answer.status_code == 200, answer.content
        assert answer.json() == (document if tail else document | {"study": study.uid}), tail
        documents[tail.partition("/")[0]] = document
        assert "{'" not in printed(**options) and "lexical-judge" in printed(**options)
    rivals = {one["judge"]: one["rivals"] for one in documents[""]["judges"]}
    assert [one["name"] for one in rivals["lexical-judge"]] == ["strict"]
    [rival], [back] = rivals.values()
    assert rival["difference"]["value"] == pytest.approx(-back["difference"]["value"]) and rival["p"] is not None
    assert {one["judge"] for one in documents["panel"]["judges"].values()} == {"lexical-judge", "strict"}
    assert documents["bridge"]["tables"] == 18
    report, _other = reported(study, judges, judges)
    overall, text = report.calibration.overall, printed()
    low, high = overall.kappa.interval
    assert f"  kappa: {overall.kappa.value:.3f} [{low:.3f}, {high:.3f}]" in text
    assert (
        f"rows with both verdicts: {overall.known:,} of {overall.rows:,} in " in text
        and report.selection.caution in text
    )
    for tail, status in (("old=0&new=0", 422), (f"old={versions[0]}&new=0000", 422), ("old=x&new=0", 400)):
        assert bare.get(f"{api}bridge/?{tail}", headers=token).status_code == status
    assert bare.get(api, headers={"Authorization": f"Token {token_of(world.esi)}"}).status_code == 403
    with pytest.raises(CommandError, match="No judge of version nothing judged"):
        printed(bridge=["nothing", versions[0]])
    for person, status in ((world.esi, 403), (world.charlie, 404)):
        admin.force_login(person)
        assert admin.get(f"{base}panel/").status_code == status


def test_a_panel_is_kept_until_a_judge_says_more_or_a_family_changes(world, study, admin, base, monkeypatch):
    second, computed, compute = second_judge(world), [], panels.panel
    monkeypatch.setattr(panels, "panel", lambda *args, **given: computed.append(1) or compute(*args, **given))

    def computes(query: str = "") -> bool:
        computed.clear()
        assert admin.get(f"{base}panel/{query}").status_code == 200
        return bool(computed)

    assert computes() and not computes()
    Endpoint.objects.filter(name="strict").update(family="other")
    assert computes() and not computes()
    assert computes("?own=1")
    RunItem.objects.filter(entrant__run=second, step=judged_at(second)).first().delete()
    assert computes()
    # a chosen judge whose runs are archived has no report
    why = "Its runs are archived, so that it has no report here"
    [strict] = [one for one in calibrated(study)[0] if one.name == "strict"]
    choose_calibrated(by=world.alice, study=study, judge=strict.brief, reason="Best.", now=timezone.now())
    assert why not in admin.get(base).content.decode()
    archive_run(by=None, run=second, now=timezone.now())
    page = admin.get(base).content.decode()
    assert "Chosen: <bdi>strict</bdi>." in page and why in page
