from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import Counter
from dataclasses import astuple, replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.domain.baselines import actors_in, majority, omniscient_rows
from annotation.domain.tasks import STRUCTURED, register_writer
from judge.domain.lexical import align, contradict
from workers.providers import registry
from workers.providers.contract import Request, Spec, Stop
from workers.providers.errors import Rejected

LABEL = {
    "kind": "label",
    "rows": [
        {"id": "p1", "actor": "Ines", "belief": "It is in the bag"},
        {"id": "p2", "actor": "world", "belief": "It is gone"},
    ],
    "dimensions": {"truth": ["True", "False", "Unknown"], "order": ["0", "1"]},
    "counts": {"truth": {"False": 9, "True": 4}},
}


def ask(model: str, task: dict, **options):
    backend = registry.make(Spec("baseline", model, options=options.pop("options", {})))
    body = backend.body(Request((), max_tokens=1, task=task, **options))
    json.dumps(body, allow_nan=False)  # the ledger stores it
    return asyncio.run(backend.complete(body, timeout=1, call="c"))


def labels(model: str, task: dict = LABEL, **options) -> dict:
    return json.loads(ask(model, task, **options).text)["rows"]


def test_the_majority_is_the_commonest_label_of_each_dimension():
    # truth: False was counted 9 times; nothing was counted for order: the schema's first
    assert labels("majority") == {one: {"truth": "False", "order": "0"} for one in ("p1", "p2")}


def test_ties_go_to_the_first_and_labels_of_another_schema_do_not_count():
    for counts, expected in [({"b": 2, "a": 1}, "b"), ({"b": 1, "a": 1}, "a"), ({}, "a"), ({"gone": 9, "b": 1}, "b")]:
        assert majority(counts, ["a", "b"]) == expected


def test_random_labels_follow_the_seed_and_the_sample():
    task = LABEL | {"rows": [{"id": str(at), "actor": "Ines", "belief": f"b{at}"} for at in range(600)]}
    drawn = labels("random", task)
    assert drawn == labels("random", task) == labels("random", task, options={"seed": 0})
    assert drawn != labels("random", task, seed=1) != labels("random", task, seed=2)
    assert labels("random", task, seed=1) == labels("random", task, options={"seed": 1})
    assert drawn != labels("random", task, sample=1)
    # uniform: of 600 draws from three, 200 expected, standard deviation √(600 · 1/3 · 2/3) = 11.5; four of them are 46
    counts = Counter(row["truth"] for row in drawn.values())
    assert set(counts) == {"True", "False", "Unknown"}
    assert all(abs(count - 200) < 46 for count in counts.values())


def test_a_random_label_does_not_depend_on_the_other_rows():
    assert labels("random", LABEL | {"rows": LABEL["rows"][1:]})["p2"] == labels("random")["p2"]


def test_the_omniscient_reader_gives_every_fact_to_everybody():
    story = "Ines puts the key in the bag. Then Tomas moves it to the drawer."
    facts = ["Ines puts the key in the bag", "Then Tomas moves it to the drawer"]
    rows = [("world", fact, "0") for fact in facts]
    rows += [(actor, fact, "1") for actor in ("Ines", "Tomas") for fact in facts]
    assert [astuple(row) for row in omniscient_rows(story, ["Ines", "Tomas"])] == rows
    task = {"kind": "extract", "story": story, "actors": ["Ines", "Tomas"]}
    table = [tuple(line.split(" | ")) for line in ask("omniscient", task).text.splitlines()]
    assert table == [("Actor", "Belief", "Order"), ("---", "---", "---"), *rows]
    told = json.loads(ask("omniscient", task | {"answer_format": "structured"}).text)["rows"]
    assert [tuple(row.values()) for row in told] == rows


def test_sentences_end_where_they_end():
    facts = [row.belief for row in omniscient_rows('Mr. Bell asks "Why?" He goes|stays!\n\nEnd')]
    assert facts[:3] == ['Mr. Bell asks "Why?"', "He goes/stays!", "End"]


def test_actors_are_names_that_open_no_sentence():
    assert actors_in("Then Ines sees Mr. Bell. Later she tells Ines of Tomas.") == ["Ines", "Mr. Bell", "Tomas"]


def test_the_best_assignment_is_found_where_the_greedy_one_is_worse():
    # "aaaa bbbb" is X itself: 1. "aaaa" in "aaaa bbbb": token-set ratio 1, plain ratio 2·4/(9+4) = 0.615, mean 0.808.
    # "bbbb" and "aaaa" share nothing: 0. Greedy: 1 + 0; crosswise: 0.808 + 0.808.
    predictions = [["Ines", "aaaa bbbb"], ["Ines", "bbbb"]]
    gold = [["Ines", "aaaa bbbb"], ["Ines", "aaaa"]]
    assert align(predictions, gold) == [(0, 1), (1, 0)]


def test_pairs_below_the_threshold_neither_count_nor_push_a_good_pair_aside():
    predictions = [["Ines", "aaaa bbbb"], ["Ines", "bbbb"]]
    gold = [["Ines", "aaaa bbbb"], ["Ines", "aaaa"]]
    # 0.808 is below 0.81: of the pairs above only the identical one is left
    assert align(predictions, gold, threshold=0.8) == [(0, 1), (1, 0)]
    assert align(predictions, gold, threshold=0.81) == [(0, 0)]


def test_texts_that_share_nothing_are_no_pair_even_without_a_threshold():
    assert align([["Ines", "aaaa"]], [["Ines", "bbbb"]], threshold=0) == []


def test_only_beliefs_of_the_same_actor_are_compared():
    assert align([["Ines", "the key is here"]], [["Tomas", "the key is here"]]) == []
    assert align([[" ines ", "The Key is here"]], [["Ines", "the key is here"]]) == [(0, 0)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=1, max_size=4), st.data())
def test_no_other_assignment_is_better(left, data):
    right = data.draw(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=len(left), max_size=4))
    found = align([["x", one] for one in left], [["x", one] for one in right], threshold=0.3)
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)

    def value(pairs) -> float:
        return sum(close for one, other in pairs if (close := _close(left[one], right[other])) >= 0.3)

    best = max(value(enumerate(order)) for order in permutations(range(len(right)), len(left)))
    assert value(found) == pytest.approx(best, abs=1e-4)


def _close(one: str, other: str) -> float:
    from rapidfuzz import fuzz

    return 0 if contradict(one, other) else (fuzz.token_set_ratio(one, other) + fuzz.ratio(one, other)) / 200


def test_the_verdict_is_two_tables_with_match_counts():
    predictions, gold = [["Ines", 'the "key", here'], ["Tomas", "rain"]], [["Ines", 'the "key", here']]
    text = ask("lexical-judge", {"kind": "judge", "predictions": predictions, "gold": gold}).text
    first, second = text.removeprefix("Prediction Table:\n").split("\nGround Truth Table:\n")
    rows = [list(csv.reader(io.StringIO(part))) for part in (first, second)]
    assert rows[0] == [["Actor", "Belief", "MatchCount"], ["Ines", 'the "key", here', "1"], ["Tomas", "rain", "0"]]
    assert rows[1] == [["Actor", "Belief", "MatchCount"], ["Ines", 'the "key", here', "1"]]
    task = {"kind": "judge", "answer_format": "structured", "predictions": predictions, "gold": gold}
    assert json.loads(ask("lexical-judge", task).text) == {
        "predictions": [{"id": 1, "matches": [1]}, {"id": 2, "matches": []}],
        "gold": [{"id": 1, "matches": [1]}],
    }


def test_labels_come_in_the_form_that_is_asked_for():
    rows = ask("majority", LABEL | {"answer_format": "structured"}).text
    assert json.loads(rows)["rows"][0] == {"id": "p1", "truth": "False", "order": "0"}
    lines = ask("majority", LABEL | {"answer_format": "text", "columns": ["order", "truth"]}).text.splitlines()
    assert (
        lines[0].startswith("Actor | Belief | Order | Truth-Status")
        and lines[2] == "Ines | It is in the bag | 0 | False"
    )


def test_a_form_of_answers_has_a_name_of_its_own():
    register_writer(STRUCTURED)
    with pytest.raises(ValueError, match="'structured' already"):
        register_writer(replace(STRUCTURED, labels=lambda task, rows: ""))


def test_a_baseline_ends_costs_nothing_and_names_itself():
    answer = ask("omniscient", {"kind": "extract", "story": "It rains."})
    assert (answer.stop, answer.usage.input, answer.usage.output, answer.model) == (Stop.END, 0, 0, "omniscient")


def test_settings_that_cannot_work():
    for model, options, told in [
        (
            "oracle",
            {},
            (
                "There is no baseline 'oracle'; there are majority, random, omniscient, lexical-judge, "
                "first-option, tracker."
            ),
        ),
        ("lexical-judge", {"threshold": "high"}, "The option threshold is 'high'; a number from 0 to 1 is expected."),
        ("lexical-judge", {"threshold": 55}, "The option threshold is 55; a number from 0 to 1 is expected."),
    ]:
        with pytest.raises(Rejected, match=f"^{told}$".replace("?", r"\?")):
            registry.make(Spec("baseline", model, options=options))


def test_a_baseline_does_only_what_it_can():
    for task, told in [({"kind": "judge"}, "not judge"), ({}, "not answer freely")]:
        with pytest.raises(Rejected, match=rf"The baseline majority can only label or choose( or [\w ]+)*, {told}\."):
            ask("majority", task)
