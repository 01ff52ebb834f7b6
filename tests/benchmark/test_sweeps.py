"""A sweep: models by prompt level in one launch, and one table of what it found, as tables 9 and 5 of the paper."""

import csv
import io
import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.models import AuditEvent
from benchmark.models import Run, RunItem, SweepPick
from benchmark.services import sweep_results
from benchmark.services.archiving import deletion_of
from benchmark.services.judges import judged_beside
from benchmark.services.runs import launched_with, sweep_of
from benchmark.services.sweep_results import choose_model, choosings_of, levels_table, models_table
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.selection import Rival
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.calibration_tables import rows_by_level
from judge.services.studies import Plan, make_study
from tests.benchmark.settled import LABELS, baselines, make_endpoint, published, work_off, written
from tests.cast import new_cast, new_story
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = [("Ines", f"the {thing} is in the bag") for thing in ("key", "coin", "ring", "map")]


def skilled(right):
    """A model that extracts and labels so many of four rows rightly as `right` says of the length of its prompt."""

    def answer(body) -> str:
        known = right(sum(len(message["content"]) for message in body["messages"]))
        task = body["task"]
        if task["kind"] == "extract":
            rows = ROWS[:known] + [("Ines", f"nothing {at} is so") for at in range(4 - known)]
            return "\n".join(["Actor | Belief | Order", *(f"{actor} | {belief} | 1" for actor, belief in rows)])
        columns = task["columns"]
        lines = [
            [row["actor"], row["belief"], *(LABELS[name] if at < known else "wrong" for name in columns)]
            for at, row in enumerate(task["rows"])
        ]
        return "\n".join(" | ".join(line) for line in [["Actor", "Belief", *columns], *lines])

    return answer


@pytest.fixture
def cast():
    return new_cast()


@pytest.fixture
def dataset(cast, client, monkeypatch):
    """Twelve stories of four rows, published; Alice is signed in."""
    monkeypatch.setitem(FUNCTIONS, "learns", skilled(lambda length: 4 if length > 2_000 else 1))
    monkeypatch.setitem(FUNCTIONS, "steady", skilled(lambda length: 3))
    for name in ("learns", "steady"):
        make_endpoint(name, model=name, options={"function": name})
    baselines()
    client.force_login(cast.alice)
    return published(cast, lambda number, **fields: new_story(cast, number, rows=ROWS, **fields), 12)


def posted(dataset, **chosen):
    return {
        "dataset": dataset.version, "endpoints": ["learns", "steady"], "steps": ["extract", "judge", "label"],
        "judge": "lexical-judge", "judge_level": 4, "shots": 3, "level": 3, "examples": 0, "examples_from": "sample",
        "answer_format": "text", "prompt_set": "omnitom-1", "max_tokens": 2000, "seed": 1, "repetitions": 1,
        "judge_answer_format": "same", "passes": "1", "settle": "none", **chosen,
    }  # fmt: skip


def launched(client, cast, dataset, **chosen) -> list[Run]:
    """The runs of a launch, worked off."""
    made = client.post(reverse("benchmark:launch", args=[cast.project.slug]), posted(dataset, **chosen))
    assert made.status_code == 302, written(made)
    runs = launched_with(Run.objects.get(uid=made.url.rstrip("/").rpartition("/")[2]))
    for run in runs:
        assert not work_off(run).job.has_failed
    return runs


def judged_at_level(level, agreement, rivals=()):
    name = f"judge, L{level}"
    judge = SimpleNamespace(name=name, judge="judge", level=level)
    overall = SimpleNamespace(by_story=SpannedEstimate(agreement, 9))
    nothing = SpannedEstimate(None, 0)
    told = [
        Rival(f"judge, L{other}", nothing, SpannedEstimate(difference, 9), p, p)
        for other, difference, p in rivals
    ]  # fmt: skip
    calibration, selection = SimpleNamespace(overall=overall), SimpleNamespace(rivals=told)
    return SimpleNamespace(judge=judge, calibration=calibration, selection=selection)


def test_a_judge_that_cannot_be_compared_with_the_best_is_neither_alike_nor_worse():
    best = judged_at_level(4, 0.9, [(1, 0.3, 0.01), (2, 0.1, 0.4), (3, None, None)])
    others = [judged_at_level(1, 0.6), judged_at_level(2, 0.8), judged_at_level(3, None)]
    found = rows_by_level(SimpleNamespace(reports=[*others, best]))["judge"]
    assert {level: alike for level, (_, alike) in found.items()} == {1: False, 2: True, 3: None, 4: True}
    silent = rows_by_level(SimpleNamespace(reports=[judged_at_level(1, None), judged_at_level(2, None)]))["judge"]
    assert [alike for _, alike in silent.values()] == [None, None]


def test_one_launch_asks_at_each_level_and_one_table_has_what_it_found(cast, dataset, client):
    slug, chosen = cast.project.slug, {"levels": [1, 4], "title": "Prompts"}
    estimated = written(client.get(reverse("benchmark:estimate", args=[slug]), posted(dataset, **chosen)))
    assert "144 calls" in estimated  # 12 stories × 2 models × 2 levels × extraction, judging, labelling
    runs = launched(client, cast, dataset, **chosen)
    assert runs == sweep_of(runs[0])
    assert [(run.level, run.title) for run in runs] == [(1, "Prompts: prompt level 1"), (4, "Prompts: prompt level 4")]
    table = levels_table(runs, cast.alice)
    cells = {
        (row["group"], row["model"]): (row["l1"].value, row["l4"].value, row["best"], row["alike"])
        for row in table.rows
    }
    assert cells["stage1", "learns"] == (0.25, 1, "L4", "L4") and cells["stage1", "steady"][:2] == (0.75, 0.75)
    assert cells["stage2", "learns"] == (0.25, 1, "L4", "L4") and cells["stage2", "steady"][3] is None
    assert all(row["l4"].interval for row in table.rows)
    # all of it is right in every story, in every resample too: the choice owes nothing to luck
    told = "learns L4 is the highest of 4. Corrected for the optimism of choosing the highest, it is at 100.0 % ["
    assert [told in note for note in table.notes] == [False, True, True, *[False] * (len(table.notes) - 3)]
    marked = {(table.rows[at]["group"], table.rows[at]["model"], key) for at, key in table.marks()}
    assert {("stage1", "learns", "l4"), ("stage2", "learns", "l4")} <= marked
    assert ("stage1", "learns", "l1") not in marked
    [learns, steady] = models_table(runs).rows
    assert [row[key].value for row in (learns, steady) for key in ("stage1", "stage2")] == [1, 1, 0.75, 0.75]

    address = reverse("benchmark:run_sweep", args=[slug, runs[0].uid])
    shown = written(client.get(address))
    assert shown.count(told) == 4, "below the table and at the choice of each block"
    assert "Stage 1: extraction (F1)" in shown and "L4" in shown and "100.00" in shown
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}levels.csv").content.decode())))
    assert [row["Model"] for row in rows] == ["learns", "steady"] * 2
    for name in ("levels", "models"):
        assert b"tabular" in client.get(f"{address}{name}.tex").content
    assert "Sweep</a>" in written(client.get(reverse("benchmark:run", args=[slug, runs[1].uid])))
    for refused, why in (
        ({"levels": [7]}, "7"),
        ({"judge_levels": [1, 4], "steps": ["label"]}, "Nothing of this launch is judged"),
    ):
        assert why in written(client.post(reverse("benchmark:launch", args=[slug]), posted(dataset, **refused)))


def test_commands_and_interface_sweep_levels_of_models_and_of_judges(cast, dataset, client, capsys):
    slug = cast.project.slug
    call_command(
        "run_benchmark", "--project", slug, "--suite", "omnitom", "--step", "extract", "--endpoint", "steady",
        "--levels", "1", "2", "--limit", "2", "--wait", "--json",
    )  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert set(told["levels"]) == {"1", "2"} and told["levels"]["1"]["state"] == "finished"
    run = Run.objects.get(uid=told["levels"]["2"]["run"])
    anew, runs = reverse("api:judge_anew", args=[slug, run.uid]), reverse("api:runs", args=[slug])
    body = {"judge": "learns", "judge_levels": [1, 3], "options": {"self_test": False}}
    assert client.post(anew, body, content_type="application/json").status_code == 201
    judges = judged_beside(run)
    assert judges == launched_with(judges[0]) and [one.params["judge_level"] for one in judges] == [1, 3]
    body = {"dataset": dataset.version, "endpoints": ["learns"], "steps": ["label"], "levels": [2, 3], "limit": 1}
    made = client.post(runs, body, content_type="application/json")
    assert made.status_code == 201, made.content
    assert len(sweep_of(Run.objects.get(uid=made.json()["run"]))) == 2


def test_a_model_and_level_are_chosen_by_a_paired_test_and_kept_with_a_reason(cast, dataset, client):
    swept = launched(client, cast, dataset, levels=[1, 4])
    address = reverse("benchmark:run_sweep", args=[cast.project.slug, swept[1].uid])
    [extraction, _labelling] = choosings_of(swept)
    assert (extraction.looked["name"], extraction.chosen) == ("learns L4", None), "the best, as long as none is chosen"
    assert extraction.finding == "learns L4 is better than learns L1, steady L1, steady L4." and not extraction.beyond
    worse = next(one for one in extraction.candidates if one["name"] == "learns L1")
    [turned] = [one for one in choosings_of(swept, [worse["key"]])[0].against if one["name"] == "learns L4"]
    assert (turned["difference"], turned["shown"]) == (-0.75, True)
    for sent, why in (
        ({"reason": " "}, "Say why this model is chosen."),
        ({"reason": "x" * 2001}, "The reason has 2,001 characters; at most 2,000 are kept."),
        ({"key": "none.1", "reason": "Best."}, "The sweep has no score of that model."),
        ({"group": "stage9", "reason": "Best."}, "The sweep has no score of that model."),
    ):
        asked = {"group": "stage1", "key": worse["key"]} | sent
        refused = client.post(address, asked, follow=True)
        assert why in written(refused) and not SweepPick.objects.exists()
        kept = f">{sent.get('reason', '')}</textarea>" in refused.content.decode()
        assert kept or sent.get("group") == "stage9", "what was typed stays in its form"
    client.post(address, {"group": "stage1", "key": worse["key"], "reason": "Costs <less>."})
    page = client.get(address).content.decode()
    [run] = [run for run in swept if run.uid == worse["run"]]
    [left] = [one for one in swept if one != run]
    why = "Its sweep chose learns (Stage 1: extraction); archive it instead."
    assert (deletion_of(run).refused, deletion_of(left).refused) == (why, "")
    assert "Costs &lt;less&gt;.</q>" in page and cast.alice.shown_name in page
    assert "learns L1 is worse than learns L4, steady L1, steady L4." in page
    assert AuditEvent.objects.get(action="sweep.model_chosen").details["model"] == "learns L1"
    chosen = {"by": None, "runs": swept, "key": extraction.looked["key"], "group": "stage1"}
    choose_model(**chosen, reason="Best!", now=timezone.now())
    assert SweepPick.objects.count() == 1, "a later choice takes the place of the earlier one"
    refused = client.post(address, {"group": "stage1", "key": worse["key"], "reason": "Mine.", "seen": "2020-01-01"})
    why = "learns L4 was chosen since you opened this page; keep your choice again to replace that one."
    assert why in written(refused) and ">Mine.</textarea>" in written(refused)
    now = SweepPick.objects.get()
    assert now.reason == "Best!" and f'name="seen" value="{now.seen}"' in written(refused)
    asked = {"group": "stage1", "key": worse["key"], "seen": now.seen, "reason": "Mine."}
    assert client.post(address, asked).status_code == 302
    assert "learns L1 was chosen since" in written(client.post(address, asked | {"reason": "Ours."}))
    choose_model(**chosen, reason="Best.", now=timezone.now())
    read = client.get(reverse("api:run_sweep", args=[cast.project.slug, swept[0].uid])).json()["groups"]
    kept = read[0]["chosen"]
    assert (kept["model"], kept["level"], kept["reason"], kept["by"]) == ("learns", 4, "Best.", None)
    assert read[1]["chosen"] is None and read[0]["without_optimism"]["value"] == 1 and len(read[0]["against"]) == 3
    client.force_login(cast.esi)
    assert client.post(address, {"group": "stage1", "key": worse["key"], "reason": "Mine."}).status_code == 403


def test_cells_that_few_stories_cannot_part_are_not_said_to_differ(cast, dataset, client):
    """Of four stories no test of several cells can show anything: every level is not shown to differ from the best."""
    runs = launched(client, cast, dataset, levels=[1, 4], limit=4)
    found = {(row["group"], row["alike"]) for row in levels_table(runs, cast.alice).rows}
    assert found == {(group, "L1, L4") for group in ("stage1", "stage2")}
    why = "4 stories can show no difference in 6 tests at once, however large it is"
    assert [one.beyond for one in choosings_of(runs)] == [why] * 2
    address = reverse("benchmark:run_sweep", args=[cast.project.slug, runs[0].uid])
    assert why in written(client.get(address))
    chinese = client.get(address, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "<h2>按模型的提示词级别</h2>" in chinese, "headings follow the reader's language, as captions do"
    paired = client.get(f"{address}paired.json").json()
    assert sweep_results.BEYOND_NOTE in paired["notes"] and {row["n"] for row in paired["rows"]} == {4}


def test_one_launch_sweeps_models_and_judges_and_asks_the_models_once(cast, dataset, client):
    slug = cast.project.slug
    chosen = {"levels": [1, 3], "judge": "steady", "judges": ["learns", "lexical-judge"], "judge_levels": [1, 4]}
    chosen |= {"limit": 3, "steps": ["extract", "judge"]}
    # 2 levels × 2 models × 3 stories × extraction and judging; 4 further runs judge 2 × 3 answers each
    estimated = written(client.get(reverse("benchmark:estimate", args=[slug]), posted(dataset, **chosen)))
    assert "48 calls" in estimated
    runs = launched(client, cast, dataset, **chosen)
    address = reverse("benchmark:run_sweep", args=[slug, runs[0].uid])
    assert [(one.level, one.judge.name, one.params["judge_level"]) for one in runs] == [
        (1, "steady", 1), (3, "steady", 1), (3, "steady", 4), (3, "learns", 1), (3, "learns", 4),
        (3, "lexical-judge", 4),
    ]  # fmt: skip
    extracted = [set(RunItem.objects.filter(entrant__run=one, step="extract").values_list("call")) for one in runs]
    assert extracted[1] == extracted[2] == extracted[5] and len(extracted[1]) == 6
    assert sweep_of(runs[4]) == runs[:2], "the table has each model at each level once"
    table = levels_table(runs[:2], cast.alice)
    assert table.notes[-1] == sweep_results.OPEN_NOTE
    judges = {row["model"]: row for row in table.rows if row["group"] == "judges"}
    open_levels = {"steady": "L1, L4", "learns": "L1, L4", "lexical-judge": "–"}
    expected = {name: f"not aligned yet: {levels}" for name, levels in open_levels.items()}
    assert {name: row["alike"] for name, row in judges.items()} == expected, "one that reads no prompt has no level"
    assert [column.key for column in table.columns if column.key.startswith("l")] == ["l1", "l3", "l4", "l0"]
    assert table.columns[4].header == "–" and table.columns[4].label == "no prompt"
    page = client.get(address).content.decode()
    assert f'href="/p/{slug}/runs/align/?run={runs[0].pk}&amp;run={runs[1].pk}"' in page
    study = make_study(
        by=cast.alice, project=cast.project, plan=Plan("First", 1, overlap=1), units=units_of(runs[:1]),
        load=lambda keys: load_tables(keys, project=cast.project), annotators=[cast.alice],
        origin=origin_of(runs[:1]), now=timezone.now(),
    )  # fmt: skip
    told = {row["alike"] for row in levels_table(runs[:2], cast.alice).rows if row["group"] == "judges"}
    assert told == {"you still align: L1, L4", "you still align: –"}
    page = client.get(address).content.decode()
    assert f'href="/p/{slug}/alignment/{study.uid}/"' in page and "runs/align/" not in page
    assert all(one.title in page for one in runs)
