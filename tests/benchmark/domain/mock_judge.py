"""The judge of the official mock backend, which matches equal rows."""

from collections import Counter
from collections.abc import Iterable, Sequence

from benchmark.suites.omnitom.data import Record
from benchmark.suites.omnitom.parsing.official import judgement
from judge.domain.text import key


def exact_match_counts(left: Iterable[tuple[str, str]], right: Iterable[tuple[str, str]]) -> list[int]:
    """Return what the official mock judge answers: for each left row, how many right rows have its actor and belief."""
    counts = Counter((key(actor), key(belief)) for actor, belief in right)
    return [counts[key(actor), key(belief)] for actor, belief in left]


def mock_judgement(predictions: Sequence[tuple[str, str]], record: Record) -> str:
    """Return what the official mock judge answers about the predicted rows (actor, belief) and all gold rows."""
    gold = [(row.actor, row.belief) for row in record.rows]
    sides = ((predictions, gold), (gold, predictions))
    counted = ([(*row, count) for row, count in zip(a, exact_match_counts(a, b), strict=True)] for a, b in sides)
    return judgement(*counted)
