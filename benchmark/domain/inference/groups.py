"""Which models cannot be told apart, as letters: two models share a letter unless their difference is shown.

Compact letter display by insert and absorb: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise
comparisons", Journal of Computational and Graphical Statistics 13(2). One group of all models is split at each pair
that differs, into one without the first and one without the second; groups within another are dropped. Sharing a
letter does not mean being equal, and it is not transitive: `ab` shares with `a` and with `b`, which differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase


def letters(models: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The letters of each model, `models` best first, `a` being the group that reaches highest.

    `different` are the pairs shown to differ; a pair that could not be tested is not among them and so shares a letter.
    """
    rank = {model: at for at, model in enumerate(models)}
    groups = [frozenset(range(len(models)))] if models else []
    for first, second in sorted((rank[a], rank[b]) for a, b in different):
        groups = _split(groups, first, second)
    names = {group: _name(at) for at, group in enumerate(sorted(groups, key=sorted))}
    return {
        model: "".join(names[group] for group in sorted(names, key=sorted) if rank[model] in group) for model in models
    }


def _split(groups: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    kept = [group for group in groups if not {first, second} <= group]
    halves = {group - {one} for group in groups if {first, second} <= group for one in (first, second)}
    for half in sorted(halves, key=lambda group: (-len(group), sorted(group))):
        if not any(half <= group for group in kept):
            kept.append(half)
    return kept


def _name(at: int) -> str:
    """a … z, then a2 … z2, so that letters run together can still be read."""
    turn, letter = divmod(at, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")
