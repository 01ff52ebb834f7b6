"""All figures of the official vectors, in both languages and for all their models."""

from __future__ import annotations

from collections import defaultdict

import pytest

from benchmark.suites.tombench.data import TRIES, official_orders, show
from benchmark.suites.tombench.metrics import (
    VotedItem,
    is_correct_officially,
    majority,
    official_accuracies,
    repaired_accuracies,
)
from benchmark.suites.tombench.parsing import extract_official, parse_official, parse_repaired
from benchmark.suites.tombench.steps import first_option

MODELS = ("oracle", "always_A", "random_seed29", "sloppy", "unparseable")
runs = pytest.mark.parametrize(("language", "model"), [(one, other) for one in ("en", "zh") for other in MODELS])


@pytest.fixture(scope="session")
def shown(vector_items):
    """The options of every try, by language and question of the vectors, in the official order."""
    by_file = defaultdict(list)
    for (language, name), item in vector_items.items():
        by_file[language, item.task].append((name, item))
    found = {}
    for (language, _), items in by_file.items():
        orders = official_orders(len(item.options) for _, item in items)
        for (name, item), tries in zip(items, orders, strict=True):
            for attempt, order in enumerate(tries):
                found[language, f"{name}/{attempt}"] = show(item.cleaned_options, order)
    return found


def voted(vectors, vector_items, shown, language, model, read):
    answers = vectors["runs"][language][model]["model_answers"]
    return {
        name: VotedItem(
            item.task,
            item.ability,
            item.answer,
            tuple(read(answers[f"{name}/{one}"], shown[language, f"{name}/{one}"]) for one in range(TRIES)),
        )
        for (tongue, name), item in vector_items.items()
        if tongue == language
    }


def test_items(vectors, vector_items):
    for task, items in vectors["items"].items():
        for one in items:
            item = vector_items["en", f"{task}/{one['line']}"]
            assert (item.answer, item.ability, len(item.options)) == (one["answer"], one["ability"], one["n_options"])
            assert item.story.startswith(one["STORY"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_option_maps(vectors, shown, language):
    maps = {name: dict(one.original_of) for (tongue, name), one in shown.items() if tongue == language}
    assert maps == vectors["option_maps"][language]


def test_extraction(vectors):
    assert [[answer, extract_official(answer)] for answer, _ in vectors["unit_extract"]] == vectors["unit_extract"]


def test_majority(vectors):
    assert [[votes, majority(votes)] for votes, _ in vectors["unit_majority"]] == vectors["unit_majority"]


@runs
def test_parsed_answers(vectors, shown, language, model):
    run = vectors["runs"][language][model]
    assert run["expected_parsed"] == {
        name: [extract_official(answer), parse_official(answer, shown[language, name])]
        for name, answer in run["model_answers"].items()
    }


@runs
def test_votes(vectors, vector_items, shown, language, model):
    items = voted(vectors, vector_items, shown, language, model, parse_official)
    assert vectors["runs"][language][model]["expected_votes"] == {
        name: {"votes": list(item.votes), "majority": majority(item.votes), "correct": is_correct_officially(item)}
        for name, item in items.items()
    }


@runs
def test_accuracies(vectors, vector_items, shown, language, model):
    items = voted(vectors, vector_items, shown, language, model, parse_official)
    found = official_accuracies(list(items.values()))
    expected = vectors["runs"][language][model]["expected_metrics"]
    for groups, official in ((found.tasks, expected["tasks"]), (found.abilities, expected["abilities"])):
        # the released code leaves out what is 0; the vectors are rounded to ten decimals
        assert {name: round(one.value, 10) for name, one in groups.items() if one.correct} == official
        assert {one.value for name, one in groups.items() if name not in official} <= {0.0}
    assert len(found.tasks) == 10 and len(found.abilities) == 15
    assert found.overall.items == 94


@pytest.mark.parametrize("language", ["en", "zh"])
def test_repaired_accuracies(vectors, vector_items, shown, language):
    def accuracy(model):
        items = voted(vectors, vector_items, shown, language, model, parse_repaired)
        return repaired_accuracies(list(items.values()))

    oracle = accuracy("oracle")
    assert {one.value for one in (*oracle.tasks.values(), *oracle.abilities.values())} == {
        1.0
    }  # also with `A. ` as gold
    assert len(oracle.abilities) == 14  # two that differ in a space are one
    nothing = accuracy("unparseable")
    assert (nothing.overall.items, nothing.overall.correct, nothing.overall.unparsed) == (94, 0, 94)
    assert accuracy("always_A").overall.unparsed == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_option_is_the_model_that_always_answers_a(vectors, shown, language):
    run = vectors["runs"][language]["always_A"]["model_answers"]
    for name, answer in run.items():
        assert first_option({"task": {"letters": shown[language, name].letters}}) == answer
