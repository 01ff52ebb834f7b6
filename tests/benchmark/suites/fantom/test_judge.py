"""A judge reads beliefs in free words: launched with a run, scored beside the embedder, held against people, corrected
for its error."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmark.domain.tables import Table
from benchmark.models import Dataset, JudgeTest, JudgeTestItem, Run, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.estimates import estimate
from benchmark.services.judge_versions import version_of
from benchmark.services.launches import judging_plans, start_run
from benchmark.services.plans import RunRefused
from benchmark.services.reports import forget_report, report_of
from benchmark.suites import registry
from benchmark.suites.registry import suite_named
from judge.domain.calibration.tables import Metric
from judge.models import Alignment, AlignmentStudy
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.calibration import calibrated
from judge.services.calibration import report_of as report_of_judge
from judge.services.corrections import scores_of_runs
from judge.services.judgements import judgements_of
from judge.services.studies import Plan, make_study
from judge.services.watches import WatchPlan, start_watch, watchable_of
from tests.benchmark.planning import planned
from tests.benchmark.settled import started, work_off, written
from tests.benchmark.suites.fantom.judged_world import (
    MODELS,
    THINGS,
    answered_by_functions,
    endpoints,
    figures,
    groups_of,
    imported,
    said,
    states,
    thing_of,
)
from tests.cast import Cast, new_cast
from tests.copies import copied
from tests.judge.alignment_world import answer_all
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS
from workers.services.run_to_end import run_to_end

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
RIGHT = {model: [states(model, at) == "gold" for at in range(len(THINGS))] for model in MODELS}


@dataclass
class World:
    cast: Cast
    dataset: Dataset
    endpoints: dict[str, Endpoint]

    def run(self, judge: str = "", **fields) -> Run:
        models = [self.endpoints[name] for name in MODELS]
        judged = {"judge": self.endpoints[judge]} if judge else {}
        plan = {"suite": "fantom", "self_test": False} | judged | fields
        return work_off(started(self.cast, self.dataset, models, ["answer"], **plan))

    def judged_anew(self, run: Run, judge: str) -> Run:
        [plan] = judging_plans(run, judges=[self.endpoints[judge]], options={"self_test": False})
        return work_off(start_run(by=self.cast.alice, plan=plan, now=timezone.now()))

    def study(self, run: Run, tables: int, **fields) -> AlignmentStudy:
        plan = Plan("Free beliefs", tables, overlap=2, **fields)
        return make_study(
            by=self.cast.alice, project=self.cast.project, plan=plan, units=units_of([run]),
            load=lambda keys: load_tables(keys, project=self.cast.project),
            annotators=[self.cast.bob, self.cast.bea], origin=origin_of([run]), now=timezone.now(),
        )  # fmt: skip


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    """The conversations with models and judges, made once."""
    answered_by_functions(monkeypatch)
    return copied("fantom with judges", lambda: _made(tmp_path, monkeypatch))


def _made(folder: Path, monkeypatch) -> World:
    cast = new_cast()
    return World(cast, imported(cast, folder / "fantom", monkeypatch), endpoints())


@pytest.fixture
def judged(tmp_path, monkeypatch) -> tuple[World, Run]:
    """The same with a run that the judge who never errs has judged, and its report, made once."""

    def made() -> tuple[World, Run]:
        world = _made(tmp_path, monkeypatch)
        run = world.run("oracle-judge")
        report_of(run)
        return world, run

    answered_by_functions(monkeypatch)
    return copied("fantom judged", made)


def align(study: AlignmentStudy) -> None:
    """Both people link an answer with the right text where it states that, and say that it has no match elsewhere."""
    for own in Alignment.objects.waiting().select_related("task__study").order_by("pk"):
        text = own.task.predictions[0][1]
        answer_all(own, **({"p1": "g1"} if text == said(thing_of(text), "gold") else {}))


def rows_are_by(study: AlignmentStudy, cast: Cast) -> list[str]:
    """What the calibration of a study groups rows by, in its file; its page says no word of another suite."""
    client, address = Client(), reverse("judge:calibration", args=[study.project.slug, study.uid])
    client.force_login(cast.alice)
    text = written(client.get(address)).lower()
    assert [word for word in ("actor role", "actors", "proposition", "extract", "stage 1") if word in text] == []
    document = client.get(f"{address}agreement.json").json()
    by = list(dict.fromkeys(row["by"] for row in document["rows"]))
    assert ("Agreement by order".lower() in text) == ("Order" in by)
    assert [note for note in document["notes"] if "Orders" in note] == []
    return by


def cells_of(table: Table) -> dict[str, dict]:
    """The cells of each row, by model."""
    return {row["model"]: row for row in (dict(one) for one in table.rows)}


def test_without_a_judge_nothing_is_judged_and_nothing_is_kept_of_it(world):
    run = world.run()
    assert run.steps == ["answer"] and run.judge is None and run.title.endswith("FANToM")
    assert not {"judge_answer_format", "self_test"} & run.params.keys()
    assert not RunItem.objects.filter(step="judge").exists()
    assert "told-repaired" not in tables_of(document_of(run))


def test_a_judge_reads_free_beliefs_alone_and_its_verdicts_are_scored_beside_the_embedder(world):
    plan = planned(
        world.dataset, [world.endpoints[name] for name in MODELS], [], suite="fantom",
        judge=world.endpoints["oracle-judge"], self_test=False,
    )  # fmt: skip
    expected = {line.step: line.calls for line in estimate(plan).lines}
    run = world.run("oracle-judge")
    assert run.steps == ["answer", "judge"]
    judged = RunItem.objects.filter(entrant__run=run, step="judge").select_related("sample")
    assert {one.sample.content["kind"] for one in judged} == {"distance"} and judged.count() == 2 * len(THINGS)
    assert expected["judge"] == len(THINGS), "of one model's perfect answers the other's are the same calls"
    for model in MODELS:
        found = figures(run, model)
        assert found["repaired"]["overall"]["accuracy"] == sum(RIGHT[model]) / len(THINGS)
        assert found["official"] is None and found["reason"] == "The released code has no judge."
        assert found["levels"]["chance"] == {"value": 0.5, "n": len(THINGS)}
        assert figures(run, model, "fantom-star-toy")["repaired"], "the embedder's figures stand beside"
    # each text is A as often as B
    first = [one.repaired["right_is"] for one in judged if one.entrant_id == judged[0].entrant_id]
    assert first.count("A") == first.count("B") == len(THINGS) / 2
    # careful: of every six things one is told as by one who heard all, one answer states neither
    told = tables_of(document_of(run))["told-repaired"]()
    row = cells_of(told)["careful"]
    cells = [row[f"inaccessible {verdict}"] for verdict in ("right", "wrong", "neither", "cannot tell", "unreadable")]
    assert cells == [8, 2, 2, 0, 0]


def test_a_structured_judge_is_another_version_and_says_the_same(judged):
    world, text = judged
    structured = world.run("oracle-judge", judge_answer_format="structured")
    assert version_of(text) != version_of(structured)
    for model in MODELS:
        assert figures(text, model)["repaired"] == figures(structured, model)["repaired"]
    call = RunItem.objects.filter(entrant__run=structured, step="judge").first().call
    assert json.loads(call.body)["schema"]["properties"]["verdict"]["enum"] == ["A", "B", "neither", "cannot tell"]


def test_another_seed_draws_another_order_and_is_the_same_judge(world):
    one, other = world.run("oracle-judge", seed=1), world.run("oracle-judge", seed=2)
    assert version_of(one) == version_of(other)
    shown = [
        list(RunItem.objects.filter(entrant__run=run, step="judge").values_list("repaired__right_is", flat=True))
        for run in (one, other)
    ]
    assert shown[0] != shown[1] and {len(set(order)) for order in shown} == {2}


def test_a_judge_that_leans_to_a_place_flips_where_the_texts_are_swapped(world, client):
    run = world.run("leaning-judge", passes=2)
    assert version_of(run) != version_of(world.run("leaning-judge"))
    items = RunItem.objects.filter(entrant__run=run, entrant__name="careful").order_by("sample__position")
    first, second = (list(items.filter(step=step)) for step in ("judge", "judge2"))
    assert len(first) == len(second) == len(THINGS)
    shown = [[item.repaired["right_is"] for item in items] for items in (first, second)]
    assert all({*pair} == {"A", "B"} for pair in zip(*shown, strict=True))
    # of every third thing it says A twice: once the right text, once the wrong one
    turned = [at for at, one in enumerate(first) if one.unreadable.endswith("where the texts are swapped")]
    assert turned == [2, 5, 8, 11] and all(sorted(first[at].repaired["passes"]) == ["right", "wrong"] for at in turned)
    kept = [RIGHT["careful"][at] for at in range(len(THINGS)) if at not in turned]
    overall = figures(run, "careful")["repaired"]["overall"]
    assert overall["accuracy"] == sum(kept) / len(kept) and overall["unreadable"] == len(turned)
    study = world.study(run, 2 * len(THINGS))
    align(study)
    [judge], _settled = calibrated(study, only=version_of(run))
    flips = report_of_judge(judge, study).calibration.flips
    assert (flips.passes, flips.rows, len(flips.names)) == (2, 4 * len(THINGS), 4 * len(turned))
    client.force_login(world.cast.alice)
    address = reverse("judge:calibration", args=[run.project.slug, study.uid])
    page = client.get(address, {"judge": version_of(run)}).content.decode()
    assert "Asked in 2 passes about 48" in re.sub(r"\s+", " ", page)
    shown = client.get(reverse("benchmark:run_item", args=[run.project.slug, run.uid, first[2].pk])).content.decode()
    assert "With both texts swapped:" in shown
    assert client.get(reverse("benchmark:run_item", args=[run.project.slug, run.uid, second[2].pk])).status_code == 200


def test_what_the_judge_says_nothing_of_is_missing_with_bounds(world):
    run = world.run("unsure-judge")
    item = RunItem.objects.filter(entrant__run=run, step="judge", entrant__name="careful").order_by("sample__position")
    assert [one.unreadable for one in item[:4]] == [
        "judgement: it gives no verdict", "judgement: it cannot tell", "judgement: it gives no verdict", "",
    ]  # fmt: skip
    overall = figures(run, "careful")["repaired"]
    # careful is right of things 0, 1, 3, 4, 6, 7, 9, 10; without 0, 1 and 2 that is 6 of 9; three may be right or not
    assert overall["overall"]["accuracy"] == 6 / 9
    assert overall["overall"]["bounds"]["accuracy"] == [6 / 12, 9 / 12]
    assert overall["overall"]["unreadable"] == 3
    judged = {one.number: one for one in judgements_of(run) if one.model == "careful"}
    rows = [judged[number].predicted[0] for number in sorted(judged)][:3]
    assert [(row.count, row.missing, row.cannot_tell) for row in rows] == [
        (None, True, False), (None, False, True), (None, True, False),
    ]  # fmt: skip
    told = cells_of(tables_of(document_of(run))["told-repaired"]())["careful"]
    assert (told["inaccessible unreadable"], told["inaccessible cannot tell"]) == (2, 1)


def test_wrong_and_neither_are_two_answers_between_repetitions_and_to_read(world, client):
    run = world.run("oracle-judge", repetitions=2)
    told = figures(run, "careful")["analyses"]["repaired"]["repetitions"]
    assert told["same_answer"] == told["same_score"] == 1.0
    again = RunItem.objects.filter(entrant__run=run, entrant__name="careful", step="judge", repetition=1)
    changed = next(item for item in again.order_by("sample__position") if item.repaired["verdict"] == "wrong")
    changed.repaired |= {"verdict": "neither"}
    changed.save()
    forget_report(run)
    told = figures(run, "careful")["analyses"]["repaired"]["repetitions"]
    # wrong and neither are two answers with one score
    assert (told["same_answer"], told["same_score"]) == ((len(THINGS) - 1) / len(THINGS), 1.0)
    assert told["stories"] == [[changed.sample.cluster, 1, 1]]
    client.force_login(world.cast.alice)
    page = client.get(reverse("benchmark:flips", args=[run.project.slug, run.uid]))
    assert [first.sample.number for first, _ in page.context["rows"]] == [changed.sample.number]


def test_an_empty_answer_is_missing_and_the_judge_is_not_asked(world, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "careful", lambda body: " ")
    run = world.run("oracle-judge")
    judged = RunItem.objects.filter(entrant__run=run, step="judge", entrant__name="careful")
    assert {one.unreadable for one in judged} == {"is empty"}
    assert figures(run, "careful")["repaired"]["overall"]["bounds"]["accuracy"] == [0.0, 1.0]


def test_the_lexical_judge_goes_by_words(world):
    run = world.run("lexical-judge")
    verdicts = {one.repaired["verdict"] for one in RunItem.objects.filter(entrant__run=run, step="judge")}
    assert verdicts <= {"right", "wrong", "neither"} and "neither" in verdicts


def test_answers_that_are_there_are_judged_anew_with_no_other_figures(world, client):
    run = world.run()
    anew = world.judged_anew(run, "oracle-judge")
    assert anew.steps == ["judge"]
    taken = RunItem.objects.filter(entrant__run=anew, step="answer")
    assert taken.count() == 2 * len(THINGS), "only answers that are judged are taken over"
    assert {key for key, found in groups_of(anew, "careful").items() if found} == {"fantom-told"}
    assert figures(anew, "careful")["repaired"]["overall"]["accuracy"] == sum(RIGHT["careful"]) / len(THINGS)
    client.force_login(world.cast.alice)
    place = [world.cast.project.slug, anew.uid]
    pages = [
        written(client.get(reverse(f"benchmark:{name}", args=place))).partition("<main")[2]
        for name in ("run", "judge_anew")
    ]
    assert re.search(rf"answers of\s+<a href=.[^>]*{run.uid}", pages[0])
    assert "Another judge reads the answers that are there" in pages[1]
    assert [page for page in pages if "xtract" in page] == []


def test_the_judge_is_tested_on_pairs_with_the_published_wrong_belief(world):
    run = world.run("oracle-judge", self_test=True)
    test = JudgeTest.objects.get(suite="fantom")
    run_to_end(job=test.job)
    items = list(JudgeTestItem.objects.filter(test=test))
    kinds = {one.pairs[0]["kind"]: one.counts[0] for one in items}
    assert {len(one.pairs) for one in items} == {1} and len(items) == 12
    assert (kinds["identical"], kinds["unlike"]) == (1, 0)
    assert test.judge_id == run.judge_id and test.version == version_of(run)


def test_a_suite_that_groups_no_rows_has_no_groups_in_its_calibration(judged, monkeypatch, own_registry):
    world, run = judged
    study = world.study(run, len(THINGS))
    align(study)
    suite = suite_named("fantom")
    ungrouped = {**registry._suites, "fantom": replace(suite, judge=replace(suite.judge, groupings=()))}
    monkeypatch.setattr(registry, "_suites", ungrouped)
    assert rows_are_by(study, world.cast) == ["All rows", "Category", "Model", "Table"]


def test_people_align_and_the_judges_score_is_corrected(judged):
    world, run = judged
    blunt = world.judged_anew(run, "blunt-judge")
    study = world.study(run, 2 * len(THINGS) - 6)
    task = study.tasks.first()
    assert (len(task.predictions), len(task.gold)) == (1, 1) and task.predictions[0][0] == task.gold[0][0] == "Bea"
    assert task.text.startswith("What does Bea believe") and "Ole: I carried" in task.text
    align(study)
    judges, settled = calibrated(study)
    assert len(settled) == study.tasks.count()
    reports = {judge.name: report_of_judge(judge, study) for judge in judges}
    sharp, dull = (reports[name].calibration.overall for name in ("oracle-judge", "blunt-judge"))
    # the oracle says what people say; the blunt judge takes answers for right that are not, and misses none
    assert (sharp.by_story.value, sharp.sensitivity.value, sharp.specificity.value) == (1, 1, 1)
    assert dull.sensitivity.value == 1 and dull.specificity.value < 1 and dull.by_story.value < 1
    assert set(reports["blunt-judge"].calibration.by["order"]) == {"1"}
    assert rows_are_by(study, world.cast) == ["All rows", "Category", "Model", "Order", "Table"]
    found = scores_of_runs([run, blunt])
    for one, exact in ((run, True), (blunt, False)):
        ids = dict(one.entrants.values_list("name", "pk"))
        for model in MODELS:
            score = found[one.pk].scores[ids[model]][Metric.F1]
            is_right = sum(RIGHT[model]) / len(THINGS)
            assert score.interval is not None and score.interval[0] <= is_right <= score.interval[1]
            assert (score.judged == is_right) is exact
    document = document_of(blunt)
    table = tables_of(document)["corrected"]()
    headers = {column.header for column in table.columns}
    assert {"Aligned conversations", "Judged questions", "Right, by the judge"} <= headers
    assert "Precision" not in headers and len(table.rows) == 2
    row = cells_of(table)["hasty"]
    naive, corrected = row["lenient-f1"], row["corrected-f1"].value
    assert abs(corrected - sum(RIGHT["hasty"]) / len(THINGS)) < abs(naive - sum(RIGHT["hasty"]) / len(THINGS))


def test_pages_show_it_from_the_launch_to_the_corrected_score(world, client):
    cast, slug = world.cast, world.cast.project.slug
    client.force_login(cast.alice)
    page = client.get(reverse("benchmark:launch", args=[slug]) + f"?dataset={world.dataset.version}")
    form = page.context["form"]
    assert form["judge"].value() in (None, "") and [field.name for field in form.judge_fields] == [
        "judge",
        "judge_answer_format",
        "passes",
    ]
    posted = {
        "dataset": world.dataset.version, "suite": "fantom", "endpoints": list(MODELS), "steps": ["answer"],
        "method": ["plain"], "embedder": "toy", "max_tokens": 500, "seed": 1, "repetitions": 1,
        "judge": "oracle-judge", "judge_answer_format": "text", "passes": "1", "self_test": "",
    }  # fmt: skip
    page = client.post(reverse("benchmark:launch", args=[slug]), posted)
    assert page.status_code == 302, page.context["form"].errors
    run = work_off(Run.objects.get())
    assert run.judge.name == "oracle-judge" and run.steps == ["answer", "judge"]
    preview = client.get(reverse("benchmark:prompt_preview", args=[slug]), posted | {"shown": "judge"})
    assert "Say which of two beliefs the answer states" in preview.content.decode()
    study = world.study(run, 12)
    align(study)
    item = RunItem.objects.filter(entrant__run=run, step="judge").first()
    shown = client.get(reverse("benchmark:run_item", args=[slug, run.uid, item.pk])).content.decode()
    assert "Verdict on the answer" in shown and "the right belief" in shown
    report = client.get(reverse("benchmark:run_results", args=[slug, run.uid])).content.decode()
    assert "Beliefs told freely, by a judge" in report and "Aligned conversations" in report
    board = client.get(reverse("benchmark:leaderboard", args=[slug]) + f"?version={world.dataset.version}")
    assert "oracle-judge" in board.content.decode()
    pair = client.get(reverse("judge:calibration", args=[slug, study.uid]))
    told = pair.content.decode()
    assert pair.status_code == 200 and "Agreement by question" in told
    assert "Intervals are over conversations" in told and "Right, by the judge, corrected" in told
    assert "F1 of extraction" not in told and "aligned conversations" in told
    assert "Right, by the judge over categories" in told
    assert "95 % intervals over aligned conversations" in told
    heads = re.findall(r"<th scope=.col.[^>]*>(.*?)</th>|<h2[^>]*>(.*?)</h2>|<summary>(.*?)</summary>", written(pair))
    assert len(heads) > 20 and not re.search(r"\b(F1|Precision|Recall|[Ss]tor(y|ies))\b", str(heads))
    behind = written(client.get(reverse("judge:calibration_rows", args=[slug, study.uid])))
    assert ">Question</th>" in behind and ">Story</th>" not in behind
    for table in ("agreement", "corrected", "judges", "paired"):
        address = reverse("judge:calibration_table", args=[slug, study.uid, table, "json"])
        file = client.get(address).json()
        heads = [column["title"] for column in file["columns"]]
        made = "; ".join([*heads, *file["notes"]])
        assert "onversations" in made or table == "judges"
        assert not re.search(r"F1|[Ss]tor(y|ies)\b", made), table
        for data in ("csv", "tex"):
            text = client.get(address.removesuffix("json") + data).content.decode()
            assert all(head in text for head in heads if head.isascii()), (table, data)


def test_who_aligns_sees_the_question_and_one_row_on_each_side(judged):
    world, run = judged
    study = world.study(run, 4)
    client = Client()
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
    align(study)
    client.force_login(world.cast.alice)
    of_study = [client.get(reverse(f"judge:{name}", args=[slug, study.uid])) for name in ("study", "download_json")]
    names = ("calibration", "calibration_panel")
    reports = [client.get(reverse(f"judge:{name}", args=[slug, study.uid])) for name in names]
    pages = [*of_study, *reports]
    outcomes = []
    for more in ([], ["--panel"], ["--json"]):
        call_command("calibrate_judge", "--project", slug, "--study", study.name, *more)
        outcomes.append(capsys.readouterr().out)
    for told in [*(page.content.decode() for page in pages), *outcomes]:
        assert re.search(r"an interval needs at least 5 (aligned )?conversations", told)
        assert not re.search(r"\b(at least 5|aligned|no|any|all|of|over) stor(y|ies)\b", told)
    assert "at least 5 aligned conversations" in outcomes[0]
    assert not re.search(r"\b[Ss]tor(y|ies)\b", written(pages[-1]).partition("<main")[2]), (
        "the panel speaks of conversations"
    )
    assert "Price a question" in written(client.get(reverse("judge:run_judges", args=[slug, run.uid])))
    assert "agreement by question" in outcomes[0] and "careful: Right, by the judge corrected" in outcomes[0]
    assert not re.search(r"F1|[Ss]tor(y|ies)\b", "".join(outcomes[:2]))


def test_a_watch_counts_conversations_as_its_anchors(judged, client, capsys):
    world, run = judged
    what = next(one for one in watchable_of(run) if one.judges)
    watch = start_watch(by=world.cast.alice, plan=WatchPlan(run, what, stories=6, drop=0.2), now=timezone.now())
    client.force_login(world.cast.alice)
    slug = run.project.slug
    told = [
        written(client.get(reverse("judge:watch", args=[slug, watch.uid]))).partition("<main")[2],
        written(client.get(reverse("judge:new_watch", args=[slug, run.uid]))).partition("<main")[2],
    ]
    call_command("watches", "show", watch.uid)
    told.append(capsys.readouterr().out)
    assert "Some conversations of this run" in told[1] and "6 conversations every 7 days" in told[2]
    read = [re.sub("<[^>]*>", " ", text) for text in told]
    assert [re.findall(r"\b[Ss]tor(?:y|ies)\b", text) for text in read] == [[], [], []]
    with pytest.raises(RunRefused, match="answers about 12 conversations; 40 were asked for"):
        start_watch(by=world.cast.alice, plan=WatchPlan(run, what, stories=40), now=timezone.now())


def test_the_command_asks_a_judge_that_is_named_and_none_else(world, capsys):
    given = ["--project", world.cast.project.slug, "--suite", "fantom", "--endpoint", "careful", "--wait"]
    call_command("run_benchmark", *given)
    call_command("run_benchmark", *given, "--judge", "oracle-judge", "--option", "judge_answer_format=structured")
    plain, judged = Run.objects.order_by("id")
    assert (plain.steps, plain.judge) == (["answer"], None)
    assert (judged.steps, judged.params["judge_answer_format"]) == (["answer", "judge"], "structured")
    assert figures(judged, "careful")["repaired"]["overall"]["accuracy"] == sum(RIGHT["careful"]) / len(THINGS)
    call_command("run_benchmark", *given, "--step", "judge", "--judge", "blunt-judge", "--no-self-test")
    anew = Run.objects.order_by("id").last()
    assert (anew.steps, anew.source) == (["judge"], judged)
