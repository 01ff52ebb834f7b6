"""Judgements of a model: what a judge says of each row of two tables, in one pass or in several.

A row has a verdict of a pass that says something of it: it is matched, it is not, or the judge cannot tell. More than
half of the verdicts decide; where no verdict has so many, the row stays without a count. A row of which any two
verdicts differ has flipped.
"""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

Verdict = Literal["cannot tell", "unmatched", "matched"]
CANNOT_TELL: Verdict = "cannot tell"
UNMATCHED: Verdict = "unmatched"
MATCHED: Verdict = "matched"


class PassVerdict(NamedTuple):
    """An answer's verdict on a row: how many rows of the other table it matches, None where it cannot tell, and which,
    by their places from 0, None where the answer gives only counts."""

    count: int | None  # type: ignore[assignment]  # it hides tuple.count, which verdicts have no use for
    links: tuple[int, ...] | None

    @property
    def verdict(self) -> Verdict:
        if self.count is None:
            return CANNOT_TELL
        return MATCHED if self.count > 0 else UNMATCHED


@dataclass(frozen=True, slots=True)
class RowJudgement:
    """The judgement of a row. `count` is None where nothing is decided; `links` are the places of the rows that it
    matches, from 0, None where the form gives only counts; `passes` has the verdict of each pass, None of one that
    left the row out. `settled` says that a rule decided, and nobody was asked."""

    count: int | None
    links: tuple[int, ...] | None
    passes: tuple[PassVerdict | None, ...] = ()
    settled: bool = False

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(of_pass.verdict for of_pass in self.passes if of_pass is not None)

    @property
    def missing(self) -> bool:
        """True where no pass says anything of the row: it can be asked about once more."""
        return not self.settled and not self.verdicts

    @property
    def cannot_tell(self) -> bool:
        """True where the passes say something, and decide nothing."""
        return self.count is None and not self.missing

    @property
    def flipped(self) -> bool:
        return len(set(self.verdicts)) > 1

    @property
    def matched(self) -> bool | None:
        """True where the row has a match in the other table; None where nothing is decided."""
        return None if self.count is None else self.count > 0


def row_judgement(rule: tuple[int, ...] | None, passes: tuple[PassVerdict | None, ...]) -> RowJudgement:
    """Return the judgement of a row: by `rule` where that names the rows that it matches, else by the verdict
    of more than half of its passes."""
    if rule is not None:
        return RowJudgement(len(rule), rule, settled=True)
    given = [of_pass for of_pass in passes if of_pass is not None]
    verdicts = Counter(of_pass.verdict for of_pass in given)
    verdict = next((verdict for verdict, count in verdicts.items() if 2 * count > len(given)), None)
    if verdict is None or verdict == CANNOT_TELL:
        return RowJudgement(None, None, passes)
    # of the passes of that verdict the commonest, of equals the first, as a counter keeps the order
    alike = Counter(of_pass for of_pass in given if of_pass.verdict == verdict)
    count, links = max(alike, key=lambda of_pass: alike[of_pass])
    return RowJudgement(count, links, passes)


@dataclass(frozen=True, slots=True)
class StoryJudgement:
    """The judgement of one prediction table by one judge: the rows of both tables, in their order.

    `version` is the digest of the judge, `run` and `model` name whose answer was judged where, `sample` is the key of
    the story in its dataset, `repetition` counts from 0 where everything was asked several times. `judged_call` is the
    uid of the call whose answer was judged: judges of the same answer have it in common. `calls` are the uids of the
    judge's own calls, `price` what they cost together in US dollars, None where that is unknown.
    """

    version: str
    run: str
    model: str
    sample: str
    number: int
    category: str
    repetition: int
    judged_call: str
    predicted: tuple[RowJudgement, ...]
    gold: tuple[RowJudgement, ...]
    calls: tuple[str, ...]
    price: Decimal | None

    @property
    def rows(self) -> tuple[RowJudgement, ...]:
        return self.predicted + self.gold
