"""The ids of the answers files that suites score lead to the samples of a dataset: to those whose questions were
answered, and to no others."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest
from django.utils import timezone

from benchmark.services.made_elsewhere.files import BadFile, Record
from benchmark.services.made_elsewhere.importing import Statements, import_answers, preview_of
from benchmark.services.made_elsewhere.matching import FileSample, Index, match
from benchmark.services.plans import Plan
from benchmark.suites.fantom.parsing import FULL, SHORT
from benchmark.suites.fantom.parsing import samples_of as fantom_samples
from benchmark.suites.fantom_questions.data import NOT_THERE, read_fantom
from benchmark.suites.opentom.data import load as load_opentom
from benchmark.suites.opentom.data import named_questions
from benchmark.suites.percept_fantom.data import annotated_sets
from benchmark.suites.percept_fantom.data import samples_of as percept_fantom_samples
from benchmark.suites.questions import BadQuestion, Question
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from benchmark.suites.tombench.data import load as load_tombench
from benchmark.suites.tombench.steps import parse
from tests.benchmark.importing import import_benchmark
from tests.benchmark.suites.tombench.conftest import record
from tests.benchmark.suites.tombench.conftest import small as small_tombench  # noqa: F401

pytestmark = pytest.mark.once
TWO_OPTIONS = dict.fromkeys(("选项C", "OPTION-C", "选项D", "OPTION-D"))


@cache
def _vectors(path, suite: str):
    return json.loads((path / "vectors" / suite / "vectors.json").read_text(encoding="utf-8"))


def _matched(suite, samples, answers, **options):
    """(key, step, repetition) of each answer, and (where, why) of those that are to nothing."""
    ids = suite_named(suite).released.answer_ids
    named = ids.named(samples, answers, **options) if ids else {}
    index = Index([FileSample(at, sample.key) for at, sample in enumerate(samples)], named)
    records = [Record(name, [name], text) for name, text in answers.items()]
    found = match(records, index, steps=["perceptions", "belief", "answer"], turns=5)
    places = {(samples[pk].key, step, turn): record.where for (pk, step, turn), record in found.answers.items()}
    assert not found.double and found.by_id == len(records) - len(found.unmatched)
    return places, found.unmatched


def test_of_opentom_they_lead_to_the_questions_that_the_released_code_samples(shared):
    samples = load_opentom(shared / "data" / "OpenToM").samples
    for part in ("coarse", "fine"):
        answers = _vectors(shared, "opentom")["runs"][part]["sloppy"]["model_answers"]
        places, unmatched = _matched("opentom", samples, answers, part=part)
        truth = {name: sample.key for name, sample in named_questions(samples, part).items()}
        assert unmatched == [] and len(places) == len(answers)
        assert all(truth[where] == key for (key, _, _), where in places.items())


class _Whole:
    """Resources of a dataset that holds these samples."""

    def __init__(self, samples):
        self.samples, self.kept = samples, {}

    def derived(self, name, compute):
        if name not in self.kept:
            self.kept[name] = compute(self.samples)
        return self.kept[name]


def test_of_tombench_they_lead_to_tries_whose_letters_mean_what_the_released_code_showed(shared):
    samples = load_tombench(shared / "data" / "ToMBench").samples
    by_key, whole = {sample.key: sample for sample in samples}, _Whole(samples)
    settings = Settings({"order": "released"})
    for language, runs in _vectors(shared, "tombench")["runs"].items():
        run = runs["random_seed29"]
        places, unmatched = _matched("tombench", samples, run["model_answers"], language=language)
        assert unmatched == [] and len(places) == len(run["model_answers"]) == 470
        for (key, step, turn), where in places.items():
            question = Question(by_key[key], step, settings, whole, {}, turn)
            read = parse(question, run["model_answers"][where]).official["choice"]
            assert read == run["expected_parsed"][where][1], where
    with pytest.raises(BadQuestion, match="draws orders for 5 tries"):
        parse(Question(samples[0], "answer", settings, whole, {}, 5), "[[A]]")


def test_of_fantom_they_are_keys_and_perceptions_are_to_all_questions_about_a_conversation(shared):
    copy = read_fantom(shared / "vectors" / "fantom" / "fantom_mini.json")
    answers = _vectors(shared, "fantom")["models"]["oracle"]["model_answers"]
    full, unmatched = _matched("fantom", list(fantom_samples(copy, FULL)), answers)
    assert unmatched == [] and len(full) == len(answers)
    # what is asked of full conversations alone is told
    short = {sample.key: sample for sample in fantom_samples(copy, SHORT)}
    places, unmatched = _matched("fantom", list(short.values()), answers)
    assert {key for key, _, _ in places} == {*short}
    assert {where for where, _ in unmatched} == set(answers) - {*short} != set()
    samples, vectors = list(percept_fantom_samples(copy, {})), _vectors(shared, "perceptfantom")
    places, unmatched = _matched("percept-fantom", samples, vectors["qa"]["oracle"]["model_answers"])
    annotated = [sample for questions in annotated_sets(copy).values() for sample in questions]
    absent = {sample.key for sample in annotated if sample.gold["right"] == [NOT_THERE]}
    assert {where for where, _ in unmatched} == absent != set()
    assert {step for _, step, _ in places} == {"answer"} and len(places) == 277 - len(absent)
    told = vectors["perc_inf"]["oracle"]["model_answers_by_part"]
    places, unmatched = _matched("percept-fantom", samples, told)
    about = {sample.key for sample in samples if sample.group.rpartition("-")[0] in told}
    assert unmatched == [] and {key for key, _, _ in places} == about and len(about) > len(told)
    assert {step for _, step, _ in places} == {"perceptions"}
    assert all(key.startswith(f"{where}-") for (key, _, _), where in places.items())
    own, part = samples[0].group, samples[0].group.rpartition("-")[0]
    places, _ = _matched("percept-fantom", samples, {part: "of all", own: "of this set"})
    assert places[samples[0].key, "perceptions", 0] == own
    assert {where for (key, _, _), where in places.items() if not key.startswith(f"{own}/")} <= {part}


# --- previews and runs
def _previewed(plan, path, answers: dict, **said):
    path.write_text(json.dumps(answers), encoding="utf-8")
    return preview_of([(path, path.name)], plan, Statements(**{"model": "m"} | said))


def _plan(cast, suite: str, folder, options: dict, steps=()) -> Plan:
    dataset, _ = import_benchmark(
        by=cast.alice, project=cast.project, suite=suite_named(suite), folder=folder, options=options
    )
    return Plan(dataset=dataset, endpoints=[], steps=[*steps], suite=suite, repetitions=0)


@pytest.mark.django_db(transaction=True)
def test_of_percept_tomi_the_shape_says_what_is_answered(shared, cast, tmp_path):
    plan = _plan(cast, "percept-tomi", shared / "data" / "Percept-ToMi", {})
    for task, step in (("qa", "answer"), ("perc_inf", "perceptions")):
        answers = _vectors(shared, "percepttomi")[task]["oracle"]["model_answers"]
        told = _previewed(plan, tmp_path / f"{task}.json", answers).summary
        assert (told["steps"], told["by_id"], told["answers"], told["unmatched"]) == ([step], 96, 96, [])
        assert len(told["missing"]) == 504


@pytest.mark.django_db(transaction=True)
def test_a_run_reads_them_by_the_settings_that_go_with_them(cast, tmp_path, small_tombench):  # noqa: F811
    folder = small_tombench(record(), record(**TWO_OPTIONS))
    plan, path = _plan(cast, "tombench", folder, {}, ["answer"]), tmp_path / "answers.json"
    answers = {"First Task/0/0": "[[A]]", "First Task/0/4": "[[A]]", "Second Task/9/0": "[[A]]"}
    preview = _previewed(plan, path, answers, ids={"language": "zh"})
    assert (preview.summary["settings"]["order"], preview.plan.repetitions) == ("released", 5)
    assert [row["where"] for row in preview.summary["unmatched"]] == ["answer 'Second Task/9/0'"]
    run = import_answers(by=cast.alice, preview=preview, now=timezone.now())
    assert run.params["options"]["order"] == "released"
    read = run.entrants.get().items.exclude(call=None).values_list("sample__key", "repetition", "official__choice")
    # random.Random(42) shuffles four places to [2, 1, 3, 0] first, and at the fifth try to [1, 2, 3, 0]
    assert sorted(read) == [("first-task:1:zh", 0, "C"), ("first-task:1:zh", 4, "B")]
    answers = {"first-task:1:zh": "[[A]]"}
    with pytest.raises(BadFile, match=r"answers\.json, answer 'first-task:1:zh': the order in which the options of"):
        _previewed(plan, path, answers)
    for order, choice in (("released", "C"), ("unshuffled", "A")):
        preview = _previewed(replace(plan, options={"order": order}), path, answers, model=order)
        run = import_answers(by=None, preview=preview, now=timezone.now())
        assert run.params["options"]["order"] == order
        assert run.entrants.get().items.values_list("official__choice", flat=True).get() == choice


@pytest.mark.django_db(transaction=True)
def test_released_ids_are_of_the_language_that_is_said_or_seen(cast, tmp_path, small_tombench):  # noqa: F811
    folder, path = small_tombench(record(), record(**TWO_OPTIONS)), tmp_path / "answers.json"
    plans = {of: _plan(cast, "tombench", folder, {"languages": of}, ["answer"]) for of in ("both", "en")}
    for languages, answers, language, said in (
        ("both", ["[[A]]"], "unsaid", "answers.json: the ids of the released code are the same in both languages"),
        ("both", ["盒子在这里 [[B]]", "[[A]]"], "en", "answers.json: 1 of 2 answers are written in Chinese, 'First T"),
        ("en", ["[[B]] 因为"], "unsaid", "and the dataset has no questions in Chinese"),
        ("en", ["[[A]]"], "zh", "answers.json: the dataset has no questions in Chinese"),
        ("both", ["盒子 [[B]]"], "unsaid", "zh"),
        ("both", ["盒子 [[B]]", "in the box, in the drawer", "not there"], "en", "en"),
        ("en", ["[[A]]"], "unsaid", "en"),
        ("both", ["The box: [[B]]"], "zh", "zh"),
    ):
        plan, named = plans[languages], {f"First Task/0/{at}": text for at, text in enumerate(answers)}
        if len(said) > 2:
            with pytest.raises(BadFile, match=re.escape(said)):
                _previewed(plan, path, named, ids={"language": language})
            continue
        preview = _previewed(plan, path, named, ids={"language": language})
        (pk,) = {pk for pk, _, _ in preview.matched.answers}
        assert plan.dataset.samples.get(pk=pk).split == said and len(preview.matched.answers) == len(answers)


@pytest.mark.django_db(transaction=True)
def test_answers_of_a_judge_are_refused_and_the_sentence_says_what_is_taken(cast, gold, tmp_path):
    plan = Plan(dataset=gold, endpoints=[], steps=["extract", "label"], suite="omnitom", repetitions=0)
    for content, step in (({"1": {"extract": "A believes B", "judge": "[]"}}, ""), ({"1": "[]"}, "judge")):
        with pytest.raises(BadFile, match=r"judged\.json, answer '1' is the answer of a judge") as told:
            _previewed(plan, tmp_path / "judged.json", content, step=step)
        assert "at Judging (judge); taken are" in str(told.value)
        assert "at Extraction (extract) or Labelling (label)" in str(told.value)
