"""All figures of the official vectors, in both languages and for all their models, and the command that scores answers
made elsewhere."""

import json
from functools import cache
from io import StringIO
from itertools import product

import pytest
from django.core.management import CommandError, call_command

from benchmark.suites.tombench.data import TRIES, load
from benchmark.suites.tombench.metrics import (
    VotedItem,
    is_correct_officially,
    majority,
    official_accuracies,
    repaired_accuracies,
)
from benchmark.suites.tombench.parsing import extract_official, parse_official, parse_repaired
from benchmark.suites.tombench.steps import first_option

RUNS = tuple(product(("en", "zh"), ("oracle", "always_A", "random_seed29", "sloppy", "unparseable")))
READ = cache(load)


def voted(vectors, vector_items, tries, language, model, read):
    answers = vectors["runs"][language][model]["model_answers"]
    return {
        name: VotedItem(
            sample.category,
            sample.gold["ability"],
            sample.gold["cell"],
            tuple(read(answers[f"{name}/{one}"], tries[language][f"{name}/{one}"]) for one in range(TRIES)),
        )
        for (tongue, name), sample in vector_items.items()
        if tongue == language
    }


def test_items_options_letters_and_majorities(vectors, vector_items, tries):
    for task, items in vectors["items"].items():
        for one in items:
            sample = vector_items["en", f"{task}/{one['line']}"]
            assert (sample.gold["cell"], sample.gold["ability"]) == (one["answer"], one["ability"])
            assert len(sample.content["options"]) == one["n_options"]
            assert sample.content["story"].startswith(one["STORY"])
    for language, shown in tries.items():
        assert {name: dict(one.original_of) for name, one in shown.items()} == vectors["option_maps"][language]
        for name, answer in vectors["runs"][language]["always_A"]["model_answers"].items():
            assert first_option({"task": {"letters": shown[name].letters}}) == answer
    assert [[answer, extract_official(answer)] for answer, _ in vectors["unit_extract"]] == vectors["unit_extract"]
    assert [[votes, majority(votes)] for votes, _ in vectors["unit_majority"]] == vectors["unit_majority"]


def test_answers_votes_and_accuracies(vectors, vector_items, tries):
    for language, model in RUNS:
        run = vectors["runs"][language][model]
        assert run["expected_parsed"] == {
            name: [extract_official(answer), parse_official(answer, tries[language][name])]
            for name, answer in run["model_answers"].items()
        }
        items = voted(vectors, vector_items, tries, language, model, parse_official)
        assert run["expected_votes"] == {
            name: {"votes": list(item.votes), "majority": majority(item.votes), "correct": is_correct_officially(item)}
            for name, item in items.items()
        }
        found, expected = official_accuracies(list(items.values())), run["expected_metrics"]
        for groups, official in ((found.tasks, expected["tasks"]), (found.abilities, expected["abilities"])):
            # the released code leaves out what is 0; the vectors are rounded to ten decimals
            assert {name: round(one.value, 10) for name, one in groups.items() if one.correct} == official
            assert {one.value for name, one in groups.items() if name not in official} <= {0.0}
        assert len(found.tasks) == 10 and len(found.abilities) == 15 and found.overall.items == 94


def test_repaired_accuracies(vectors, vector_items, tries):
    for language in ("en", "zh"):
        oracle, nothing, always_a = (
            repaired_accuracies([*voted(vectors, vector_items, tries, language, model, parse_repaired).values()])
            for model in ("oracle", "unparseable", "always_A")
        )
        # also with `A. ` as gold
        assert {one.value for one in (*oracle.tasks.values(), *oracle.abilities.values())} == {1.0}
        assert len(oracle.abilities) == 14  # two that differ in a space are one
        assert (nothing.overall.items, nothing.overall.correct, nothing.overall.unparsed) == (94, 0, 94)
        assert always_a.overall.unparsed == 0


@pytest.fixture
def command(shared, tmp_path, monkeypatch):
    """Scores answers by the command; the copy is read once in each language."""
    monkeypatch.setattr("benchmark.suites.tombench.metrics.load", READ)

    def run(answers, **options) -> str:
        out, file = StringIO(), tmp_path / "answers.json"
        file.write_text(json.dumps(answers))
        call_command(
            "score_outputs", "tombench", data=shared / "data" / "ToMBench", answers=file, stdout=out, **options
        )
        return out.getvalue()

    return run


def test_answers_made_elsewhere_come_to_the_official_answers_and_figures(vectors, command):
    for language, model in RUNS:
        run = vectors["runs"][language][model]
        official = json.loads(command(run["model_answers"], language=language, json=True))["official"]
        assert official == {"answers": run["expected_parsed"], "metrics": run["expected_metrics"]}
    printed = command(vectors["runs"]["en"]["oracle"]["model_answers"])
    assert "False Belief Task" in printed and "1.000000" in printed


def test_the_repaired_reading_says_what_it_could_not_read_and_what_is_no_answer_is_refused(vectors, command):
    repaired = json.loads(command(vectors["runs"]["en"]["unparseable"]["model_answers"], json=True))["repaired"]
    assert (repaired["metrics"]["overall"], repaired["metrics"]["unparsed"]) == (None, 94)
    assert repaired["metrics"]["bounds"] == [0.0, 1.0] and {*repaired["metrics"]["tasks"].values()} == {None}
    assert set(repaired["answers"].values()) == {None}
    # a letter that is not offered is wrong, two letters are no choice
    given = dict(
        zip((f"False Belief Task/{at}/0" for at in range(3)), ("E", "Answer: A, C", "[[A]][[B]]"), strict=True)
    )
    repaired = json.loads(command(given, json=True))["repaired"]
    assert [*repaired["answers"].values()] == ["E", None, None] and repaired["answers"].keys() == given.keys()
    assert (repaired["metrics"]["overall"], repaired["metrics"]["unparsed"]) == (0.0, 2)
    for name in ("False Belief Task/600/0", "False Belief Task/0/5", "Other/0/0", "nonsense"):
        with pytest.raises(CommandError, match="there is no question"):
            command({name: "[[A]]"})
    with pytest.raises(CommandError, match="is not a text"):
        command({"False Belief Task/0/0": 3})
