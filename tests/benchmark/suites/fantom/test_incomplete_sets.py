"""A set of which not all questions were asked is measured nowhere: the paper's tables and the metric groups count the
same sets, and say how many are left out."""

from types import SimpleNamespace

import pytest
from django.utils import translation

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.metrics import measure
from benchmark.suites.fantom.parsing import load, parses_of
from benchmark.suites.fantom_questions.asking import right_answer
from benchmark.suites.fantom_questions.data import CHOICE
from benchmark.suites.fantom_questions.pages import incomplete_sentences
from benchmark.suites.questions import Entered, Outcome
from benchmark.suites.registry import nouns_of_group
from benchmark.suites.reports import Analysis, GroupMetrics
from benchmark.suites.settings import Settings
from benchmark.suites.showing import missing
from core.templatetags.texts import translated as shown
from tests.benchmark.suites.phrasings import Resources


@pytest.fixture
def metrics(small):
    """What a perfect model comes to that was asked some of the questions, and gave no answer to those of `missing`."""
    samples, toy = load(small()).samples, embedder_named("toy")

    def outcome(sample, missing: tuple[str, ...]) -> Outcome:
        if sample.key in missing:
            return Outcome("answer", None, None, without="failed")
        return Outcome("answer", *parses_of(sample, right_answer(sample), toy))

    def measured(asked=lambda sample: True, *missing: str):
        chosen = [sample for sample in samples if asked(sample)]
        outcomes = {sample.key: [outcome(sample, missing)] for sample in chosen}
        settings = Settings({"embedder": "toy"})
        return measure(Entered("m", "model", chosen, outcomes, ["answer"], settings, Resources(samples)))

    return measured


def _paper(found, scenario: str, parse: str = "repaired"):
    return found["fantom-questions"].analyses[parse].kept["fantom"]["scenarios"][scenario]


def test_questions_of_one_kind_measure_no_set(metrics):
    found = metrics(lambda sample: sample.content["kind"] == CHOICE)
    assert found["fantom"] is found["fantom-star-toy"] is None
    for parse in ("official", "repaired"):
        table = _paper(found, "inaccessible", parse)
        for name in ("all", "all_star", "characters"):
            assert (table[name]["n"], table[name].get("incomplete")) == (0, 2)
        assert table["choice"]["n"] == 2 and "incomplete" not in table["answerability all"]


def test_a_set_that_the_limit_cut_is_in_neither_table(metrics):
    found = metrics(lambda sample: sample.group != "1-1-0" or not sample.key.endswith("yn/Bea"))
    whole = _paper(found, "inaccessible")["all"]
    assert (whole["n"], whole["incomplete"], whole["value"]) == (1, 1, 1.0)
    group = found["fantom"]
    assert (group.parses.overall("repaired").stories, group.analyses["repaired"].incomplete) == (1, 1)
    # of the control 1-1-0 has an accessible choice alone, which was asked: officially it counts as before, as the
    # released code has it
    assert _paper(found, "accessible", "official")["all"]["n"] == 2
    assert "incomplete" not in _paper(found, "accessible")["all"]
    assert found["fantom-control"].analyses["official"].incomplete == 0


def test_what_was_asked_and_has_no_answer_leaves_the_set_in_with_bounds(metrics):
    whole = _paper(metrics(lambda sample: True, "1-0-0/answerability/list"), "inaccessible")["all"]
    assert (whole["n"], whole["bounds"]) == (1, [0.5, 1.0]) and "incomplete" not in whole


def test_a_table_says_how_many_sets_are_incomplete_once_for_models_that_lack_the_same():
    lacking, right = BoundedEstimate(None, 0, incomplete=642), BoundedEstimate(1.0, 2)
    estimates = {"all": lacking, "all_star": lacking, "choice": right}
    entrants = [SimpleNamespace(model=name) for name in ("a", "b", "c")]
    told = incomplete_sentences(entrants, [estimates, estimates, {"all": right}], {"all": "ALL", "all_star": "ALL*"})
    assert told == ["Sets of which not all questions were asked are in no figure of sets (ALL, ALL*: 642), of a, b."]
    models = [
        SimpleNamespace(model=name, metrics=GroupMetrics(analyses={"repaired": Analysis({"incomplete": sets})}))
        for name, sets in (("a", 1), ("b", 1200), ("c", 1200), ("d", 0))
    ]
    english = missing._incomplete_sets(models)
    assert english == [
        "1 set, of which not all questions were asked, has no figure, of a.",
        "1,200 sets, of which not all questions were asked, have no figure, of b, c.",
    ]
    with translation.override("zh-hans"):
        chinese = [shown(sentence) for sentence in english]
        assert chinese == ["有 1 组未问全部问题，没有数值，涉及 a。", "有 1,200 组未问全部问题，没有数值，涉及 b，c。"]


def test_figures_of_sets_are_by_no_category_and_count_sets_in_both_readings(metrics):
    control = metrics()["fantom-control"]
    for parse, sets in (("official", 2), ("repaired", 1)):
        found = control.parses.of(parse)
        # 2-0-0 alone is wholly accessible; officially the accessible choice of 1-1-0 counts as a set, too
        assert (found.overall.stories, list(found.by_category)) == (sets, [])
        assert set(control.by_sample[parse].categories) == {""}
    nouns = {"fantom": ("set", "sets"), "fantom-questions": ("question", "questions")}
    assert {group: nouns_of_group(group) for group in nouns} == nouns
