"""A judge reads beliefs in free words: launched with a run, scored beside the embedder, held against people, corrected
for its error."""

import json
import re
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.domain.tables import Table
from benchmark.models import JudgeTest, JudgeTestItem, Run, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.estimates import estimate
from benchmark.services.judges import version_of
from benchmark.services.plans import RunRefused
from benchmark.services.reports import forget_report, report_of
from benchmark.suites import registry
from benchmark.suites.registry import suite_named
from judge.domain.calibration.tables import Metric
from judge.models import Alignment, AlignmentStudy
from judge.services.calibration import calibrated, reported
from judge.services.corrections import scores_of_runs
from judge.services.judgements import judgements_of
from judge.services.watches import WatchPlan, start_watch, watchable_of
from tests.benchmark.planning import planned
from tests.benchmark.settled import work_off, written
from tests.benchmark.suites.fantom.judged_world import (
    MANY,
    MODELS,
    RIGHT,
    SHARE,
    World,
    answered_by_functions,
    figures,
    groups_of,
    judged_world,
    overall_of,
)
from tests.copies import copied
from workers.providers.scripted.backend import FUNCTIONS
from workers.services.run_to_end import run_to_end

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
STORY = r"\b[Ss]tor(?:y|ies)\b"
"""What pages of conversations do not speak of."""


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    """The conversations with models and judges, made once."""
    answered_by_functions(monkeypatch)
    return copied("fantom with judges", lambda: judged_world(tmp_path, monkeypatch))


@pytest.fixture
def judged(tmp_path, monkeypatch) -> tuple[World, Run]:
    """The same with a run that the judge who never errs has judged, and its report, made once."""

    def made() -> tuple[World, Run]:
        world = judged_world(tmp_path, monkeypatch)
        run = world.run("oracle-judge")
        report_of(run)
        return world, run

    answered_by_functions(monkeypatch)
    return copied("fantom judged", made)


def verdicts_of(run: Run, **of_items):
    found = RunItem.objects.filter(entrant__run=run, **{"step": "judge", **of_items})
    return found.select_related("sample").order_by("sample__position")


def sides(run: Run) -> list[str]:
    """The letter under which each judge's call has the right text."""
    return [item.repaired["right_is"] for item in verdicts_of(run, entrant__name="careful")]


def cells_of(table: Table, model: str) -> dict:
    return next(dict(row) for row in table.rows if row["model"] == model)


def test_a_judge_reads_free_beliefs_alone_and_its_verdicts_are_scored_beside_the_embedder(world):
    alone = world.run()
    assert alone.steps == ["answer"] and alone.judge is None and alone.title.endswith("FANToM")
    assert not {"judge_answer_format", "self_test"} & alone.params.keys()
    assert not verdicts_of(alone).exists() and "told-repaired" not in tables_of(document_of(alone))
    oracle, models = world.endpoints["oracle-judge"], [world.endpoints[name] for name in MODELS]
    plan = planned(world.dataset, models, [], suite="fantom", judge=oracle, self_test=False)
    expected = {line.step: line.calls for line in estimate(plan).lines}
    assert expected["judge"] == MANY, "of one model's perfect answers the other's are the same calls"
    run = world.run("oracle-judge")
    assert run.steps == ["answer", "judge"]
    judged = verdicts_of(run)
    assert {one.sample.content["kind"] for one in judged} == {"distance"} and judged.count() == 2 * MANY
    for model in MODELS:
        found = figures(run, model)
        assert found["repaired"]["overall"]["accuracy"] == SHARE[model]
        assert found["official"] is None and found["reason"] == "The released code has no judge."
        assert found["levels"]["chance"] == {"value": 0.5, "n": MANY}
        assert figures(run, model, "fantom-star-toy")["repaired"], "the embedder's figures stand beside"
    assert sides(run).count("A") == sides(run).count("B") == MANY / 2
    # careful: of every six things one is told as by one who heard all, one answer states neither
    row = cells_of(tables_of(document_of(run))["told-repaired"](), "careful")
    cells = [row[f"inaccessible {verdict}"] for verdict in ("right", "wrong", "neither", "cannot tell", "unreadable")]
    assert cells == [8, 2, 2, 0, 0]


def test_a_structured_judge_is_another_version_and_another_seed_is_none(judged):
    world, text = judged
    structured, other = world.run("oracle-judge", judge_answer_format="structured"), world.run("oracle-judge", seed=2)
    assert version_of(other) == version_of(text) != version_of(structured)
    for model in MODELS:
        assert figures(text, model)["repaired"] == figures(structured, model)["repaired"]
    call = verdicts_of(structured).first().call
    assert json.loads(call.body)["schema"]["properties"]["verdict"]["enum"] == ["A", "B", "neither", "cannot tell"]
    assert sides(text) != sides(other) and {*sides(text)} == {*sides(other)} == {"A", "B"}


def test_a_judge_that_leans_to_a_place_flips_where_the_texts_are_swapped(world, client):
    run = world.run("leaning-judge", passes=2)
    assert version_of(run) != version_of(world.run("leaning-judge"))
    first, second = (list(verdicts_of(run, entrant__name="careful", step=step)) for step in ("judge", "judge2"))
    pairs = list(zip(first, second, strict=True))
    assert len(pairs) == MANY
    assert all({one.repaired["right_is"] for one in pair} == {"A", "B"} for pair in pairs)
    # of every third thing it says A twice: once the right text, once the wrong one
    turned = [at for at, one in enumerate(first) if one.unreadable.endswith("where the texts are swapped")]
    assert turned == [2, 5, 8, 11] and all(sorted(first[at].repaired["passes"]) == ["right", "wrong"] for at in turned)
    kept = [RIGHT["careful"][at] for at in range(MANY) if at not in turned]
    overall = overall_of(run, "careful")
    assert overall["accuracy"] == sum(kept) / len(kept) and overall["unreadable"] == len(turned)
    study = world.study(run, 2 * MANY)
    [judge], _settled = calibrated(study, only=version_of(run))
    [report] = reported(study, [judge], [judge])
    flips = report.calibration.flips
    assert (flips.passes, flips.rows, len(flips.names)) == (2, 4 * MANY, 4 * len(turned))
    client.force_login(world.cast.alice)
    slug = run.project.slug
    address = reverse("judge:calibration", args=[slug, study.uid])
    assert "Asked in 2 passes about 48" in written(client.get(address, {"judge": version_of(run)}))
    shown = client.get(reverse("benchmark:run_item", args=[slug, run.uid, first[2].pk])).content.decode()
    assert "With both texts swapped:" in shown
    assert client.get(reverse("benchmark:run_item", args=[slug, run.uid, second[2].pk])).status_code == 200


def test_what_the_judge_says_nothing_of_is_missing_with_bounds(world, monkeypatch):
    run = world.run("unsure-judge")
    none, unsure = "judgement: it gives no verdict", "judgement: it cannot tell"
    assert [one.unreadable for one in verdicts_of(run, entrant__name="careful")[:4]] == [none, unsure, none, ""]
    overall = overall_of(run, "careful")
    # careful is right of things 0, 1, 3, 4, 6, 7, 9, 10; without 0, 1 and 2 that is 6 of 9; three may be right or not
    assert overall["accuracy"] == 6 / 9 and overall["unreadable"] == 3
    assert overall["bounds"]["accuracy"] == [6 / 12, 9 / 12]
    judged = {one.number: one.predicted[0] for one in judgements_of(run) if one.model == "careful"}
    rows = [judged[number] for number in sorted(judged)][:3]
    assert [(row.count, row.missing, row.cannot_tell) for row in rows] == [
        (None, True, False),
        (None, False, True),
        (None, True, False),
    ]
    told = cells_of(tables_of(document_of(run))["told-repaired"](), "careful")
    assert (told["inaccessible unreadable"], told["inaccessible cannot tell"]) == (2, 1)
    # an empty answer is missing, and the judge is not asked
    monkeypatch.setitem(FUNCTIONS, "careful", lambda body: " ")
    run = world.run("oracle-judge", seed=2)
    assert {one.unreadable for one in verdicts_of(run, entrant__name="careful")} == {"is empty"}
    assert overall_of(run, "careful")["bounds"]["accuracy"] == [0.0, 1.0]
    run = world.run("lexical-judge")
    verdicts = {one.repaired["verdict"] for one in verdicts_of(run, entrant__name="hasty")}
    assert verdicts <= {"right", "wrong", "neither"} and "neither" in verdicts, "it goes by words"


def test_wrong_and_neither_are_two_answers_between_repetitions_and_to_read(world, client):
    run = world.run("oracle-judge", repetitions=2)

    def same() -> dict:
        return figures(run, "careful")["analyses"]["repaired"]["repetitions"]

    assert same()["same_answer"] == same()["same_score"] == 1.0
    again = verdicts_of(run, entrant__name="careful", repetition=1)
    changed = next(item for item in again if item.repaired["verdict"] == "wrong")
    changed.repaired |= {"verdict": "neither"}
    changed.save()
    forget_report(run)
    assert (same()["same_answer"], same()["same_score"]) == ((MANY - 1) / MANY, 1.0)
    assert same()["stories"] == [[changed.sample.cluster, 1, 1]]
    client.force_login(world.cast.alice)
    page = client.get(reverse("benchmark:flips", args=[run.project.slug, run.uid]))
    assert [first.sample.number for first, _ in page.context["rows"]] == [changed.sample.number]


def test_answers_that_are_there_are_judged_anew_with_no_other_figures(world, client):
    run = world.run()
    anew = world.judged_anew(run, "oracle-judge")
    assert anew.steps == ["judge"]
    assert verdicts_of(anew, step="answer").count() == 2 * MANY, "only answers that are judged are taken over"
    assert {key for key, found in groups_of(anew, "careful").items() if found} == {"fantom-told"}
    assert overall_of(anew, "careful")["accuracy"] == SHARE["careful"]
    client.force_login(world.cast.alice)
    shown, other = (
        written(client.get(reverse(f"benchmark:{name}", args=[run.project.slug, anew.uid]))).partition("<main")[2]
        for name in ("run", "judge_anew")
    )
    assert re.search(rf"answers of\s+<a href=.[^>]*{run.uid}", shown)
    assert "Another judge reads the answers that are there" in other and "xtract" not in shown + other


def test_the_judge_is_tested_on_pairs_with_the_published_wrong_belief(world):
    run = world.run("oracle-judge", self_test=True)
    test = JudgeTest.objects.get(suite="fantom")
    run_to_end(job=test.job)
    items = list(JudgeTestItem.objects.filter(test=test))
    kinds = {one.pairs[0]["kind"]: one.counts[0] for one in items}
    assert {len(one.pairs) for one in items} == {1} and len(items) == 12
    assert (kinds["identical"], kinds["unlike"]) == (1, 0)
    assert test.judge_id == run.judge_id and test.version == version_of(run)


def rows_are_by(study: AlignmentStudy, client) -> list[str]:
    """What the calibration of a study groups rows by, in its file; its page says no word of another suite."""
    address = reverse("judge:calibration", args=[study.project.slug, study.uid])
    text = written(client.get(address)).lower()
    assert [word for word in ("actor role", "actors", "proposition", "extract", "stage 1") if word in text] == []
    document = client.get(f"{address}agreement.json").json()
    by = list(dict.fromkeys(row["by"] for row in document["rows"]))
    assert ("agreement by order" in text) == ("Order" in by)
    assert [note for note in document["notes"] if "Orders" in note] == []
    return by


def test_people_align_and_the_judges_score_is_corrected(judged, client, monkeypatch, own_registry):
    world, run = judged
    blunt = world.judged_anew(run, "blunt-judge")
    study = world.study(run, 2 * MANY - 6)
    task = study.tasks.first()
    assert (len(task.predictions), len(task.gold)) == (1, 1) and task.predictions[0][0] == task.gold[0][0] == "Bea"
    assert task.text.startswith("What does Bea believe") and "Ole: I carried" in task.text
    judges, settled = calibrated(study)
    assert len(settled) == study.tasks.count()
    reports = {report.judge.name: report for report in reported(study, judges, judges)}
    sharp, dull = (reports[name].calibration.overall for name in ("oracle-judge", "blunt-judge"))
    # the oracle says what people say; the blunt judge takes answers for right that are not, and misses none
    assert (sharp.by_story.value, sharp.sensitivity.value, sharp.specificity.value) == (1, 1, 1)
    assert dull.sensitivity.value == 1 and dull.specificity.value < 1 and dull.by_story.value < 1
    assert set(reports["blunt-judge"].calibration.by["order"]) == {"1"}
    found = scores_of_runs([run, blunt])
    for one, exact in ((run, True), (blunt, False)):
        for entrant in one.entrants.all():
            score, is_right = found[one.pk].scores[entrant.pk][Metric.F1], SHARE[entrant.name]
            assert score.interval is not None and score.interval[0] <= is_right <= score.interval[1]
            assert (score.judged == is_right) is exact
    table = tables_of(document_of(blunt))["corrected"]()
    headers = {column.header for column in table.columns}
    assert {"Aligned conversations", "Judged questions", "Right, by the judge"} <= headers
    assert "Precision" not in headers and len(table.rows) == 2
    row = cells_of(table, "hasty")
    assert abs(row["corrected-f1"].value - SHARE["hasty"]) < abs(row["lenient-f1"] - SHARE["hasty"])
    client.force_login(world.cast.alice)
    assert rows_are_by(study, client) == ["All rows", "Category", "Model", "Order", "Table"]
    suite = suite_named("fantom")
    ungrouped = replace(suite, judge=replace(suite.judge, groupings=()))
    monkeypatch.setattr(registry, "_suites", {**registry._suites, "fantom": ungrouped})
    other = world.study(run, MANY)
    assert rows_are_by(other, client) == ["All rows", "Category", "Model", "Table"], "a suite may group no rows"


def test_pages_show_it_from_the_launch_to_the_corrected_score(world, client):
    slug = world.cast.project.slug
    client.force_login(world.cast.alice)

    def page(name: str, *args, **query) -> str:
        return written(client.get(reverse(name, args=[slug, *args]), query))

    launch = reverse("benchmark:launch", args=[slug])
    form = client.get(launch, {"dataset": world.dataset.version}).context["form"]
    assert form["judge"].value() in (None, "")
    assert [field.name for field in form.judge_fields] == ["judge", "judge_answer_format", "passes"]
    posted = {"dataset": world.dataset.version, "suite": "fantom", "endpoints": list(MODELS), "steps": ["answer"]}
    posted |= {"method": ["plain"], "embedder": "toy", "max_tokens": 500, "seed": 1, "repetitions": 1}
    posted |= {"judge": "oracle-judge", "judge_answer_format": "text", "passes": "1", "self_test": ""}
    assert client.post(launch, posted).status_code == 302
    run = work_off(Run.objects.get())
    assert run.judge.name == "oracle-judge" and run.steps == ["answer", "judge"]
    preview = page("benchmark:prompt_preview", **posted, shown="judge")
    assert "Say which of two beliefs the answer states" in preview
    study = world.study(run, 12)
    shown = page("benchmark:run_item", run.uid, verdicts_of(run).first().pk)
    assert "Verdict on the answer" in shown and "the right belief" in shown
    report = page("benchmark:run_results", run.uid)
    assert "Beliefs told freely, by a judge" in report and "Aligned conversations" in report
    assert "oracle-judge" in page("benchmark:leaderboard", version=world.dataset.version)
    told = page("judge:calibration", study.uid)
    for words in (
        "Agreement by question",
        "Intervals are over conversations",
        "Right, by the judge, corrected",
        "aligned conversations",
        "Right, by the judge over categories",
        "95 % intervals over aligned conversations",
    ):
        assert words in told, words
    heads = re.findall(r"<th scope=.col.[^>]*>(.*?)</th>|<h2[^>]*>(.*?)</h2>|<summary>(.*?)</summary>", told)
    assert len(heads) > 20 and not re.search(rf"\b(F1|Precision|Recall)\b|{STORY}", str(heads))
    behind = page("judge:calibration_rows", study.uid)
    assert ">Question</th>" in behind and ">Story</th>" not in behind
    for table in ("agreement", "corrected", "judges", "paired"):
        address = reverse("judge:calibration_table", args=[slug, study.uid, table, "json"])
        file = client.get(address).json()
        titles = [column["title"] for column in file["columns"]]
        made = "; ".join([*titles, *file["notes"]])
        assert ("onversations" in made or table == "judges") and not re.search(rf"F1|{STORY}", made), table
        for data in ("csv", "tex"):
            text = client.get(address.removesuffix("json") + data).content.decode()
            assert all(title in text for title in titles if title.isascii()), (table, data)


def test_who_aligns_sees_the_question_and_one_row_on_each_side(judged, client):
    world, run = judged
    study = world.study(run, 4, align=False)
    client.force_login(world.cast.bob)
    own = Alignment.objects.filter(annotator=world.cast.bob).first()
    page = client.get(reverse("judge:align", args=[study.project.slug, own.uid])).content.decode()
    assert own.task.predictions[0][1] in page and own.task.gold[0][1] in page and "What does Bea believe" in page
    assert [name for name in (*MODELS, "oracle-judge", run.uid) if name in page] == []


def test_what_has_no_interval_says_of_how_many_conversations_it_would(judged, client, capsys):
    world, run = judged
    slug = world.cast.project.slug
    world.judged_anew(run, "blunt-judge")
    study = world.study(run, 3)
    client.force_login(world.cast.alice)
    names = ("study", "download_json", "calibration", "calibration_panel")
    pages = [client.get(reverse(f"judge:{name}", args=[slug, study.uid])) for name in names]
    outcomes = []
    for more in ([], ["--panel"], ["--json"]):
        call_command("calibrate_judge", "--project", slug, "--study", study.name, *more)
        outcomes.append(capsys.readouterr().out)
    for told in [*(page.content.decode() for page in pages), *outcomes]:
        assert re.search(r"an interval needs at least 5 (aligned )?conversations", told)
        assert not re.search(r"\b(at least 5|aligned|no|any|all|of|over) stor(y|ies)\b", told)
    assert "at least 5 aligned conversations" in outcomes[0]
    assert not re.search(STORY, written(pages[-1]).partition("<main")[2]), "the panel speaks of conversations"
    assert "Price a question" in written(client.get(reverse("judge:run_judges", args=[slug, run.uid])))
    assert "agreement by question" in outcomes[0] and "careful: Right, by the judge corrected" in outcomes[0]
    assert not re.search(rf"F1|{STORY}", "".join(outcomes[:2]))


def test_a_watch_counts_conversations_as_its_anchors(judged, client, capsys):
    world, run = judged
    what = next(one for one in watchable_of(run) if one.judges)
    watch = start_watch(by=world.cast.alice, plan=WatchPlan(run, what, stories=6, drop=0.2), now=timezone.now())
    client.force_login(world.cast.alice)
    told = [
        written(client.get(reverse(f"judge:{name}", args=[run.project.slug, uid]))).partition("<main")[2]
        for name, uid in (("watch", watch.uid), ("new_watch", run.uid))
    ]
    call_command("watches", "show", watch.uid)
    told.append(capsys.readouterr().out)
    assert "Some conversations of this run" in told[1] and "6 conversations every 7 days" in told[2]
    assert [re.findall(STORY, re.sub("<[^>]*>", " ", text)) for text in told] == [[], [], []]
    with pytest.raises(RunRefused, match="answers about 12 conversations; 40 were asked for"):
        start_watch(by=world.cast.alice, plan=WatchPlan(run, what, stories=40), now=timezone.now())


def test_the_command_asks_a_judge_that_is_named_and_none_else(world):
    given = ["--project", world.cast.project.slug, "--suite", "fantom", "--endpoint", "careful", "--wait"]
    call_command("run_benchmark", *given)
    call_command("run_benchmark", *given, "--judge", "oracle-judge", "--option", "judge_answer_format=structured")
    call_command("run_benchmark", *given, "--step", "judge", "--judge", "blunt-judge", "--no-self-test")
    plain, judged, anew = Run.objects.order_by("id")
    assert (plain.steps, plain.judge) == (["answer"], None)
    assert (judged.steps, judged.params["judge_answer_format"]) == (["answer", "judge"], "structured")
    assert overall_of(judged, "careful")["accuracy"] == SHARE["careful"]
    assert (anew.steps, anew.source) == (["judge"], judged)
