"""Contrast pairs by hand, and that nothing is made where the rules cannot be sure of a sentence."""

from collections import Counter
from random import Random

import pytest

from annotation.domain.sample_corpus import sample_records
from judge.domain.contrast import ALIKE, BY_RULE, PAIRS_OF_A_KIND, Kind, contrast_calls, pairs_of, rates, summary_line
from judge.domain.rewording import moved, negated, paraphrased


def test_a_sentence_is_denied_or_left_alone():
    for text, expected in [
        ("The mug is cracked", "The mug is not cracked"), ("They want to go", "They do not want to go"),
        ("Leyla knows how the mug was cracked", "Leyla does not know how the mug was cracked"),
        ("Mr Lindqvist walks his dog past the bakery", "Mr Lindqvist does not walk his dog past the bakery"),
        ("Anselm baked the pie", "Anselm did not bake the pie"), ("Ines has waited", "Ines has not waited"),
        ("Ruben has a cracked mug", "Ruben does not have a cracked mug"), ("Amina is not angry", "Amina is angry"),
        ("The trip can take place", "The trip cannot take place"),
        ("Mateo and Inga are friends", "Mateo and Inga are not friends"),
        ("Bruce does not know of the film", "Bruce knows of the film"),
        ("Freya didn't see the card", "Freya saw the card"), ("小明知道球在哪里", "小明不知道球在哪里"),
        ("小明不知道球在哪里", "小明知道球在哪里"), ("球在盒子里", "球不在盒子里"),
        ("The will is in the drawer", "The will is not in the drawer"),
        ("Ruben's mug has a crack", None),  # two words before "has": another rule might take "mug" for the subject
        ("但是小明现在走了", None), ("Some of the guests ate the soup", None), ("All six life jackets are dry", None),
        ("Anna took the ball and left", None), ("Being needed persuades Ola", None), ("He never does not know", None),
        ("Leyla jumps", None),
    ]:  # fmt: skip
        assert negated(text) == expected


def test_a_sentence_in_other_words():
    for text, expected in [
        ("Leyla and Ruben are flatmates", "Ruben and Leyla are flatmates"),
        ("Helene is Priya's manager", "Helene is the manager of Priya"),
        ("Ruben believes that Leyla cracked the mug", "Ruben thinks that Leyla cracked the mug"),
        ("Leyla does not know where the card is", "Leyla has no idea where the card is"),
        ("Noor looks for her scarf", "Noor searches for her scarf"),
        ("小明认为妈妈很高兴", "小明觉得母亲很开心"),
        ("It rains", None),
    ]:
        assert paraphrased(text) == expected


def test_a_place_becomes_another_of_its_kind_and_a_feeling_its_opposite():
    rooms = {moved("Karim goes into the shed", Random(seed), {"kitchen"}) for seed in range(60)}
    assert len(rooms) > 5 and "Karim goes into the kitchen" not in rooms and "Karim goes into the box" not in rooms
    felt = {moved("Ola is happy", Random(seed)) for seed in range(60)}
    opposite = "sad angry upset afraid worried nervous unhappy jealous annoyed embarrassed disappointed"
    assert felt <= {f"Ola is {word}" for word in opposite.split()}
    things = {moved("It is in an envelope", Random(seed)) for seed in range(20)}
    assert things == {"It is in an armchair", "It is in an oven"}
    assert moved("球在盒子里", Random(1)) not in (None, "球在盒子里")
    for unsure in (
        "The ticket office is closed", "Anna is in the box office", "She is annoyed with him", "It rains",
        "The basket is old",
    ):  # fmt: skip
        assert moved(unsure, Random(1)) is None


ROWS = [
    ("world", "The ball is in the box"), ("Anna", "The ball is in the box"), ("Ben", "The ball is in the drawer"),
    ("Ben", "Anna hid the ball"), ("Anna", "It rains in Rome"),
]  # fmt: skip


def test_no_made_row_is_gold_or_close_to_gold_of_its_actor():
    """Anna's ball in the box, told of Ben: he has "the ball is in the drawer", half of whose words {ball, drawer} ∪
    {ball} are there."""
    kinds = {pair.kind for pair in pairs_of(ROWS[1], ROWS, Random(1))}
    assert kinds == {Kind.IDENTICAL, Kind.NEGATED, Kind.PARAPHRASE, Kind.PLACE}
    rain = {pair.kind: pair.prediction for pair in pairs_of(ROWS[4], ROWS, Random(1))}
    assert rain[Kind.ACTOR] == ("Ben", "It rains in Rome")
    facts = pairs_of(("world", "It rains in Rome"), [*ROWS, ("world", "It rains in Rome")], Random(1))
    assert Kind.ACTOR not in {pair.kind for pair in facts}, "a fact of the world is no one's belief"


def sample() -> dict[int, list[tuple[str, str]]]:
    return {one.story_id: [(row.actor, row.belief) for row in one.beliefs] for one in sample_records()}


def test_calls_are_the_same_for_a_seed_and_hold_the_kinds_level():
    calls = contrast_calls(sample(), most=12, seed=1)
    assert calls == contrast_calls(dict(reversed(sample().items())), most=12, seed=1)
    assert calls != contrast_calls(sample(), most=12, seed=2)
    counts = Counter(pair.kind for pairs in calls.values() for pair in pairs)
    assert len(calls) == 12 and min(counts[kind] for kind in BY_RULE if kind != Kind.PLACE) >= 25, counts
    for story, pairs in calls.items():
        assert max(Counter(pair.kind for pair in pairs).values()) <= PAIRS_OF_A_KIND
        golds = [pair.gold for pair in pairs]
        assert len(set(golds)) == len(golds) and set(golds) <= set(sample()[story])
        for pair in pairs:
            assert (pair.prediction == pair.gold) == (pair.kind == Kind.IDENTICAL)
            assert pair.kind in ALIKE or pair.prediction not in sample()[story]
    assert contrast_calls({1: [("world", "It rains")], 2: [], 3: [("", "x"), ("a", " ")]}, most=9, seed=1) == {}


def test_a_wrong_belief_of_the_benchmark_is_a_pair_beside_those_by_rule():
    gold, wrong = ("Ann", "The key is in the drawer"), ("Ann", "The key is in the bag")
    samples = {number: [gold] for number in range(12)}
    calls = contrast_calls(samples, most=12, least=1, seed=1, unlike={number: [(wrong, gold)] for number in samples})
    pairs = [pair for call in calls.values() for pair in call]
    unlike = [pair for pair in pairs if pair.kind == Kind.UNLIKE]
    assert unlike and {(pair.prediction, pair.gold) for pair in unlike} == {(wrong, gold)}
    assert Kind.UNLIKE not in ALIKE and len(pairs) == 12
    told = {rate.kind: (rate.right, rate.n) for rate in rates([("unlike", 0), ("unlike", 1), ("identical", 1)])}
    assert told["unlike"] == (1, 2)
    assert "unlike" not in {rate.kind for rate in rates([("identical", 1)])}, "told of judges with such pairs alone"


def test_rates_by_kind_with_exact_intervals():
    judged = [("identical", 1)] * 3 + [("negated", 0)] * 9 + [("negated", 2), ("negated", None), ("actor", None)]
    held = {one.kind: one for one in rates(judged)}
    # all of 3: the lower end solves p^3 = 0.025, so 0.025^(1/3) = 0.2924
    assert (held["identical"].right, held["identical"].n, held["identical"].rate) == (3, 3, 1)
    assert held["identical"].interval == [pytest.approx(0.025 ** (1 / 3)), 1.0]
    # 9 of 10 answered: [0.5550, 0.9975], the textbook's exact interval; the one without an answer counts nowhere but as
    # such
    assert (held["negated"].right, held["negated"].n, held["negated"].missing) == (9, 10, 1)
    assert held["negated"].interval == [pytest.approx(0.5550, abs=1e-4), pytest.approx(0.9975, abs=1e-4)]
    actor = held["actor"]
    assert (actor.n, actor.missing, actor.rate, actor.interval) == (0, 1, None, None)
    assert summary_line(rates(judged)) == (
        "identical 3/3, paraphrase –, negated 9/10 (1 unanswered), other actor – (1 unanswered), other place "
        "or feeling –"
    )
    for count, right in [(0, 1), (1, 0), (3, 0), (-1, 1)]:  # from one on it is a match
        assert next(one for one in rates([("place", count)]) if one.kind == "place").right == right
