"""What the lexical judge no longer takes for the same, on sentences by hand and on contrast pairs made from gold."""

import json
from random import Random

from rapidfuzz import fuzz

from annotation.domain.sample_corpus import sample_records
from judge.domain import lexical
from judge.domain.lexical import THRESHOLD, align
from judge.domain.rewording import moved, negated
from workers.providers import registry
from workers.providers.contract import Request, Spec


def matched(one: str, other: str) -> bool:
    return bool(align([["Ines", one]], [["Ines", other]]))


def test_what_contradicts_is_no_match_and_what_may_be_the_same_still_is():
    knows, drinks, box = "Ruben knows where the mug is", "Ruben drinks coffee", "The key is in the box"
    for one, other in [
        (knows, "Ruben does not know where the mug is"), (knows, "Ruben doesn't know where the mug is"),
        (knows, "Ruben doesn’t know where the mug is"), (knows, "Ruben hardly knows where the mug is"),
        ("The mug is in the sink", "The mug is no longer in the sink"), (drinks, "Ruben never drinks coffee"),
        ("Ruben always drinks coffee", "Ruben rarely drinks coffee"), (drinks, "Ruben seldom drinks coffee"),
        (box, "The key is in the basket"), ("The red key is in the old box", "The red key is in the old basket"),
        ("Leyla cracked the mug", "Ruben cracked the mug"), ("Four books are missing", "Six books are missing"),
        ("4 books are missing", "Six books are missing"),
        ("forty books are on the desk", "forty-five books are on the desk"),
        ("The door of the house is open now", "The door of the house was closed by Anna"),
        ("小明知道球在盒子里", "小明不知道球在盒子里"), ("球在盒子里", "球在篮子里"),
        ("小明有三个苹果", "小明有五个苹果"), ("小红今天在学校里很高兴", "小红今天在学校里很难过"),
    ]:  # fmt: skip
        assert not matched(one, other) and not matched(other, one), one
    for one, other in [
        (box, "the key is in the box."), (box, "The key's in the box"), ("Anna took the key", "Anna takes the key"),
        ("Anna moved the keys", "Anna moves the key"), ("The colour is grey", "The color is grey"),
        ("Four books are missing", "4 books are missing"), ("The glass is not full", "The glass is empty"),
        ("Two of the six life jackets are dry", "Two of the jackets are dry"),
        ("Anna doesn't like the soup", "Anna dislikes the soup"), ("No one sees the key", "Nobody sees the key"),
        ("Ruben barely knows Leyla", "Ruben hardly knows Leyla"),
        ("Ruben scarcely sees the mug", "Ruben does not see the mug"),
        ("Ruben believes that Leyla cracked the mug", "Ruben thinks Leyla cracked the mug"),
        ("Mateo and Inga are friends", "Inga and Mateo are friends"), ("小明非常喜欢猫", "小明喜欢猫"),
    ]:  # fmt: skip
        assert matched(one, other) and matched(other, one), one


def close(one: str, other: str) -> bool:
    """What the judge went by before it had guards."""
    one, other = one.lower(), other.lower()
    return (fuzz.token_set_ratio(one, other) + fuzz.ratio(one, other)) / 200 >= THRESHOLD


def assert_sees_through(beliefs: list[str], least: int) -> None:
    denied = [(belief, made) for belief in beliefs if (made := negated(belief))]
    elsewhere = [(belief, made) for belief in beliefs if (made := moved(belief, Random(1)))]
    assert len(denied) >= least and len(elsewhere) >= 5
    assert all(close(*pair) for pair in denied), "similarity alone takes every denial for the same"
    assert sum(close(*pair) for pair in elsewhere) >= 0.9 * len(elsewhere)
    assert [pair for pair in [*denied, *elsewhere] if matched(*pair)] == []
    assert all(matched(belief, belief) for belief in beliefs if any(map(str.isalnum, belief)))


def test_every_denied_row_is_told_apart(shared):
    assert_sees_through(sorted({row.belief for one in sample_records() for row in one.beliefs}), least=200)
    lines = (shared / "vectors" / "omnitom" / "records" / "clean_30.jsonl").read_text(encoding="utf-8").splitlines()
    assert_sees_through(sorted({row["belief"] for line in lines for row in json.loads(line)["beliefs"]}), least=300)


def test_answers_of_another_version_are_not_this_ones(monkeypatch):
    """The body is what the ledger's key is made of."""
    backend = registry.make(Spec("baseline", "lexical-judge"))
    request = Request((), max_tokens=1, task={"kind": "judge", "predictions": [], "gold": []})
    before = backend.body(request)
    monkeypatch.setattr("judge.domain.lexical.RULES", lexical.RULES + 1)
    assert before != backend.body(request) and before["rules"] == 3
