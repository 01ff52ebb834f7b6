"""Gold without one person, by hand."""

from __future__ import annotations

from annotation.domain.leave_one_out import By, Cell, Rule, gold_without

THREE, STRICT = Rule("1", 3), Rule("1", 3, demand_unanimity=True)


def voted(gold: str, *labels: str, **more) -> Cell:
    return Cell(gold, dict(zip("abcdefghi", labels, strict=False)), more.pop("decisions", {}), **more)


def test_a_cell_without_a():
    for cell, rule, expected in [
        # a says X with the others: they are two of two, unanimous without a
        (voted("X", "X", "X", "X"), THREE, ("X", By.VOTES)),
        # a against both others: their Y stands
        (voted("Y", "X", "Y", "Y"), THREE, ("Y", By.VOTES)),
        # a made the majority: the others are one to one
        (voted("X", "X", "X", "Y"), THREE, ("", By.NOTHING)),
        # five votes, four without a: Y has 2 of 4, no majority; with three Y it has 3 of 4
        (voted("X", "X", "X", "X", "Y", "Y"), Rule("1", 5), ("", By.NOTHING)),
        (voted("Y", "X", "X", "Y", "Y", "Y"), Rule("1", 5), ("Y", By.VOTES)),
        # the same with unanimity demanded, where an expert had to decide: the expert's label is gold
        (voted("Z", "X", "X", "Y", decided=True, decisions={"e": "Z"}), STRICT, ("Z", By.EXPERT)),
        # two votes a cell: one is left, which settles nothing
        (voted("X", "X", "X"), Rule("1", 2), ("", By.NOTHING)),
        # a record's label rests on nobody's vote
        (voted("X", "Y", recorded=True), THREE, ("X", By.RECORD)),
        # a decided the cell alone: nothing but a's word; with votes that settle it, those
        (Cell("X", {}, {"a": "X"}, decided=True), THREE, ("", By.NOTHING)),
        (Cell("X", {"b": "Y", "c": "Y", "d": "Y"}, {"a": "X"}, decided=True), THREE, ("Y", By.VOTES)),
        (Cell("X", {"b": "Y", "c": "Y", "d": "X"}, {"a": "X"}, decided=True), STRICT, ("", By.NOTHING)),
        # a overruled e: e's decision takes its place; e overruled a: gold is e's anyway
        (Cell("X", {}, {"a": "X", "e": "Y"}, decided=True), THREE, ("Y", By.EXPERT)),
        (Cell("Y", {}, {"a": "X", "e": "Y"}, decided=True), THREE, ("Y", By.EXPERT)),
        # two others decided differently: nobody knows which of them would stand
        (Cell("X", {}, {"a": "X", "e": "Y", "f": "Z"}, decided=True), THREE, ("", By.NOTHING)),
    ]:
        assert gold_without("a", cell, rule) == expected


def test_who_had_nothing_to_do_with_the_cell_leaves_gold_as_it_is():
    assert gold_without("z", voted("X", "X", "X", "Y"), THREE) == ("X", By.VOTES)
    assert gold_without("z", Cell("X", {}, {"a": "X"}, decided=True), THREE) == ("X", By.EXPERT)
