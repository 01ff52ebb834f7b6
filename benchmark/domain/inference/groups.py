"""Letters of models that cannot be told apart: two models without a common letter are shown to differ.

A letter stands for models that follow each other in the order, so that letters can be read down a column: `a`, `ab`,
`b–d`. Letters of all-pairwise comparisons (Piepho 2004, Journal of Computational and Graphical Statistics 13(2)) need
not be so: where the first and the second of three models differ, the first and the third do not, the outer two share
one that the middle one lacks. Here a pair is apart only if every pair around it differs too. That claims nothing that
was not shown; what was shown besides stands in the matrix of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from string import ascii_lowercase


def letters(models: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The letters of each model, `models` best first, `a` being the group that reaches highest.

    `different` are the pairs shown to differ; a pair that could not be tested is not among them and so shares a letter.
    """
    rank = {model: at for at, model in enumerate(models)}
    apart = {frozenset((rank[first], rank[second])) for first, second in different}
    alike = (max(b for b in range(a, len(models)) if frozenset((a, b)) not in apart) for a in range(len(models)))
    reach = list(accumulate(alike, max))
    starts = [at for at, end in enumerate(reach) if not at or end > reach[at - 1]]
    return {
        model: _span([group for group, at in enumerate(starts) if at <= rank[model] <= reach[at]]) for model in models
    }


def _span(groups: Sequence[int]) -> str:
    """One letter, two side by side, or the first and the last of more."""
    first, last = _name(groups[0]), _name(groups[-1])
    return f"{first}–{last}" if len(groups) > 2 else "".join(map(_name, groups))


def _name(at: int) -> str:
    """a … z, then a2 … z2, so that letters run together can still be read."""
    turn, letter = divmod(at, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")
