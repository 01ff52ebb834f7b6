"""Judgements row by row: how a judge is asked about two tables, and what its answers come to.

A judge may be asked in several passes, from the second on with the rows of both tables in another order, and rows that
are equal in both tables can be settled before anything is asked. `judge.domain.judgements` says what becomes of the
verdicts on a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from benchmark.suites.omnitom.data import EXTRACT, FOLLOW_UP, JUDGE, GoldRow, Record, pairs_of
from benchmark.suites.omnitom.parsing.answers import PredictedRow, linked, parse_counts, parse_extraction
from benchmark.suites.omnitom.parsing.official import (
    JudgedRow,
    OversizedField,
    align,
    extraction_rows,
    judgement,
    parse_judgement,
)
from benchmark.suites.omnitom.parsing.values import row_key
from benchmark.suites.settings import Settings
from core.digests import text_digest
from core.plain import Json
from judge.domain.judgements import CANNOT_TELL, PassVerdict, RowJudgement, row_judgement
from judge.domain.text import key, normalise_space

SAME, LINKS = "same", "links"
"""The answer formats of a judge: as those of the models, or links between numbered rows."""
NOTHING, EXACT, NORMALISED = "none", "exact", "normalised"
"""The rows that are settled before a judge is asked."""
MOST_PASSES = 5
FIRST = JUDGE
PASSES = tuple(f"{FIRST}{number}" for number in range(2, MOST_PASSES + 1))
"""The keys of the passes from the second on, among texts as among steps."""


@dataclass(frozen=True, slots=True)
class Judging:
    """Settings by which a judge is asked and read: `structured` as the models are, with `links` by numbered rows
    whatever they answer in; what of `settle` needs no judge; in how many `passes`, whose orders `seed` and the `key` of
    the sample make."""

    structured: bool = False
    links: bool = False
    settle: str = NOTHING
    passes: int = 1
    seed: int = 1
    key: str = ""

    @classmethod
    def of(cls, settings: Settings, sample: str = "") -> Judging:
        """Return how the judge of a run with these settings is asked about a sample; one that reads no prompt answers
        alike in every pass, and is asked once."""
        return cls(
            structured=settings.answer_format == "structured",
            links=settings.options["judge_answer_format"] == LINKS,
            settle=settings.options["settle"],
            passes=settings.options["passes"] if settings.judge_reads_prompts else 1,
            seed=settings.seed,
            key=sample,
        )

    @property
    def by_id(self) -> bool:
        """True where the judge answers with ids of rows."""
        return self.structured or self.links

    @property
    def as_published(self) -> bool:
        """True where the judge's answer is the text that the released code reads."""
        return not self.by_id and self.settle == NOTHING

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its passes among texts."""
        return (FIRST, *PASSES[: self.passes - 1])

    def order(self, turn: int, side: int, rows: int) -> list[int]:
        """Return the places of the rows of a side (0 predicted, 1 gold) in the order in which pass `turn`, from 0,
        shows them; the first pass shows them as they stand. It is the same wherever it is made."""
        drawn = [text_digest(f"{self.seed} {self.key} {turn} {side} {at}") if turn else "" for at in range(rows)]
        return sorted(range(rows), key=drawn.__getitem__)


AS_PUBLISHED = Judging()
"""One pass in free text, of all rows."""


Sides = tuple[list[RowJudgement], list[RowJudgement]]
Texts = Mapping[str, str]


def judged(texts: Texts, predicted: Sequence[PredictedRow], gold: Sequence[GoldRow], how: Judging) -> Sides:
    """Return the judgement of every predicted and every gold row. `texts` are the answers of the passes by name, and
    `follow_up`, which fills the gaps of the first one."""
    rules = settled(pairs_of(predicted), pairs_of(gold), how.settle)
    passes = [pass_verdicts(texts.get(name, ""), predicted, gold, how, turn) for turn, name in enumerate(how.names)]
    later = pass_verdicts(texts.get(FOLLOW_UP, ""), predicted, gold, how)
    sides = []
    for side, rule in enumerate(rules):
        passes[0][side][:] = [
            more if first is None else first for first, more in zip(passes[0][side], later[side], strict=True)
        ]
        by_row = zip(rule, *(read[side] for read in passes), strict=True)
        sides.append([row_judgement(links, tuple(row_passes)) for links, *row_passes in by_row])
    return sides[0], sides[1]


def pass_verdicts(
    text: str, predicted: Sequence[PredictedRow], gold: Sequence[GoldRow], how: Judging, turn: int = 0
) -> tuple[list[PassVerdict | None], list[PassVerdict | None]]:
    """Return what one answer says of each row, in the order of the tables; None of a row that it leaves out."""
    orders = how.order(turn, 0, len(predicted)), how.order(turn, 1, len(gold))
    if how.by_id:
        shown: Sequence[list[PassVerdict | None]] = linked(text, len(predicted), len(gold), cannot_tell=how.links)
    else:
        counts = parse_counts(text, [predicted[at] for at in orders[0]], [gold[at] for at in orders[1]])
        shown = [[None if count is None else PassVerdict(count, None) for count in side] for side in counts]
    sides: list[list[PassVerdict | None]] = []
    for side, order, other in zip(shown, orders, orders[::-1], strict=True):
        placed: list[PassVerdict | None] = [None] * len(order)
        for at, verdict in zip(order, side, strict=True):
            links = verdict and verdict.links
            links = None if links is None else tuple(sorted(other[to] for to in links))
            placed[at] = verdict and PassVerdict(verdict.count, links)
        sides.append(placed)
    return sides[0], sides[1]


Row = tuple[str, str]


def settled(
    predicted: Sequence[Row], gold: Sequence[Row], rule: str
) -> tuple[list[tuple[int, ...] | None], list[tuple[int, ...] | None]]:
    """Return the rows that each row (actor, belief) of a side equals by the rule, None of one that is not settled.
    Where one table is empty, the rule settles the other: nothing can match."""
    if rule == NOTHING:
        return [None] * len(predicted), [None] * len(gold)
    sides = [
        [(row_key(*row) if rule == NORMALISED else (key(row[0]), key(row[1]))) for row in rows]
        for rows in (predicted, gold)
    ]
    out: list[list[tuple[int, ...] | None]] = []
    for mine, other in (sides, sides[::-1]):
        places = defaultdict(list)
        for at, row in enumerate(other):
            places[row].append(at)
        out.append([tuple(places[row]) if row in places else None if other else () for row in mine])
    return out[0], out[1]


def unsettled(predicted: Sequence[Row], gold: Sequence[Row], rule: str) -> tuple[list[int], list[int]]:
    """Return the places of the rows of either side that a judge has to be asked about."""
    sides = settled(predicted, gold, rule)
    return tuple([at for at, links in enumerate(side) if links is None] for side in sides)  # type: ignore[return-value]


DETAIL = "rows"
"""The entry of a kept judgement that says more of its rows than counts."""
_KEPT_SIDES = ("pred", "gold")


def detail_of(sides: Sides, how: Judging) -> Json:
    """Return {"rows": {"pred": […], "gold": […]}} of a judge that says more than a count of each row: per row the
    verdicts of its passes, each a count, "cannot tell" or null, with `links` and `settled` where there are any. Empty
    of a judge that says no more."""
    if how.as_published and how.passes == 1:
        return {}
    detail: dict[str, list[Json]] = {name: [] for name in _KEPT_SIDES}
    for name, side in zip(_KEPT_SIDES, sides, strict=True):
        for row in side:
            passes = [verdict and (CANNOT_TELL if verdict.count is None else verdict.count) for verdict in row.passes]
            links = {} if row.links is None else {"links": list(row.links)}
            detail[name].append({"passes": passes} | links | ({"settled": True} if row.settled else {}))
    return {DETAIL: detail}


def rows_kept(repaired: Mapping[str, object]) -> Sides:
    """Return the judgement of every row of either side as its parse was kept. Of one that keeps counts alone, a row
    with a count was judged in one pass, and a row without one was left out."""
    detail = repaired.get(DETAIL)
    sides: Sides = [], []
    for name, side in zip(_KEPT_SIDES, sides, strict=True):
        counts: Sequence[int | None] = repaired.get(name) or ()  # type: ignore[assignment]
        rows = detail[name] if isinstance(detail, dict) else [{"passes": [count]} for count in counts]
        for row, count in zip(rows, counts, strict=True):
            passes = tuple(
                None if verdict is None else PassVerdict(None if verdict == CANNOT_TELL else verdict, None)
                for verdict in row["passes"]
            )
            links = tuple(row["links"]) if "links" in row else None
            side.append(RowJudgement(count, links, passes, row.get("settled", False)))
    return sides


def released_text(record: Record, texts: Texts, how: Judging) -> str:
    """Return the first pass of a judgement as the two tables that the released code reads, a MatchCount being the
    number of links, with the rows that were settled by rule. A row without a count is left out, which official scoring
    counts 0."""
    predicted, shown = pairs_of(extraction_rows(texts.get(EXTRACT, ""))), pairs_of(record.shown_rows)
    first: Sequence[Sequence[JudgedRow]] = (), ()
    if how.by_id:  # the rows that links give a count, in the words that official parsing has for them
        read = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
        sides = pass_verdicts(texts.get(FIRST, ""), read, record.shown_rows, how)
        words = [row.officially or (row.actor, row.belief) for row in read], shown
        first = [
            [
                JudgedRow(*row, verdict.count)
                for row, verdict in zip(rows, side, strict=True)
                if verdict and verdict.count is not None
            ]
            for rows, side in zip(words, sides, strict=True)
        ]
    else:
        with suppress(OversizedField):
            first = parse_judgement(texts.get(FIRST, ""))
    rules = settled(predicted, shown, how.settle)
    tables = []
    for rows, judged_rows, ruled_rows, rule in zip(
        (predicted, pairs_of(record.rows)), first, (predicted, shown), rules, strict=True
    ):
        ruled = {row: len(links) for row, links in zip(ruled_rows, rule, strict=True) if links is not None}
        counts = zip(rows, align(rows, judged_rows), strict=True)
        tables.append(
            [(normalise_space(row[0]), normalise_space(row[1]), ruled.get(row, count)) for row, count in counts]
        )
    return judgement(*tables)
