"""The page of an item: the answer in both parses beside gold, row by row and cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from annotation.domain.schema import WORLD, Schema
from benchmark.suites.groups import FinerItems, Floats
from benchmark.suites.items import MOST_LINES, Choice, Filter, KeptParse, ReadLine, Rows
from benchmark.suites.omnitom.analyses import BUCKETS, read_labels, stage1_rows, stage2_rows, why_uncounted
from benchmark.suites.omnitom.data import (
    EXTRACT,
    FOLLOW_UP,
    JUDGE,
    LABEL,
    GoldRow,
    Record,
    cell_labels,
    record_of_sample,
    records_of,
)
from benchmark.suites.omnitom.judgements import PASSES, Judging, rows_kept
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, Scheme
from benchmark.suites.omnitom.official import no_official_parse
from benchmark.suites.omnitom.parses import judged_rows, stage1_of, stage2_of
from benchmark.suites.omnitom.parsing.extraction import PredictedRow, parse_extraction
from benchmark.suites.omnitom.parsing.official import ExtractionRow, extraction_rows
from benchmark.suites.omnitom.parsing.values import repaired, row_key
from benchmark.suites.omnitom.results import ACTORS, KINDS, Stage1Result, Stage2Result
from benchmark.suites.omnitom.steps import STRUCTURED, judging_of
from benchmark.suites.questions import PARSES, ItemContext, ItemView, Sample
from core.messages import Sentence, gettext_noop
from core.statistics import ratios
from judge.domain.judgements import CANNOT_TELL, RowJudgement

MOST_ROWS = 300
Parse = Mapping[str, Any]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """The first `rows` of a table, how many it has, and how many are left out."""

    name: str
    rows: Sequence[Row]
    count: int
    left: int

    @classmethod
    def of(cls, rows: Sequence[Row], name: str = "") -> Table[Row]:
        """Return the table of rows, of which as many are shown as a page takes."""
        return cls(name, rows[:MOST_ROWS], len(rows), max(0, len(rows) - MOST_ROWS))


@dataclass(frozen=True, slots=True)
class ExtractedRow:
    """A proposition. `in_gold`: a gold row has these very words; whether it says the same is the judge's to decide."""

    actor: str
    belief: str
    order: str
    in_gold: bool = False


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row that a follow-up was asked about, with its `side` and its `number` there, and the count that it got."""

    side: str
    number: int
    actor: str
    belief: str
    count: int | None


@dataclass(frozen=True, slots=True)
class CountedRow:
    """A row of a judgement with its counts in the `parses` that have the row, None of one that got none.

    `is_shown` says whether the judge saw it. `number` and `matches`, the rows of the other table, are of structured
    judgements alone.
    """

    actor: str
    belief: str
    order: str
    parses: tuple[str, ...]
    official: int | None = None
    repaired: int | None = None
    differs: bool = False
    is_shown: bool = True
    number: int | None = None
    matches: str = ""
    note: str = ""

    @property
    def unmatched(self) -> bool:
        """True where nothing matches the row in either parse; a row without a count may match."""
        counts = [count for count in (self.official, self.repaired) if count is not None]
        return bool(counts) and max(counts) <= 0 and ("repaired" not in self.parses or self.repaired is not None)


@dataclass(frozen=True, slots=True)
class LabelCell:
    """A label of gold, the one that was read, and the one that the official parse read where that is another."""

    gold: str
    predicted: str
    right: bool
    officially: str | None


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A proposition of gold with its cells; `answered` says whether the answer has a row for it."""

    actor: str
    belief: str
    is_shown: bool
    answered: bool
    cells: Sequence[LabelCell]


def item(view: ItemView) -> ItemContext:
    """Return what `omnitom/item.html` takes for the item's step; `unreadable` says why there is no official parse of
    any such answer."""
    record = record_of_sample(view.question.sample, view.question.resources.schema)
    return {"unreadable": no_official_parse(record.scheme), **_of_step(view, record)}


def _of_step(view: ItemView, record: Record) -> ItemContext:
    step, structured = view.question.step, view.question.settings.answer_format == STRUCTURED
    if step == EXTRACT:
        return _extraction(view, record, structured)
    if step == LABEL:
        return _labelling(view, record, record.scheme)
    if step == FOLLOW_UP:
        return _follow_up(view, record)
    return _pass(view, record) if step in PASSES else _judgement(view, record, structured)


# --- extraction
# --------------------------------------------------------------------------------------------------------------
def _extraction(view: ItemView, record: Record, structured: bool) -> ItemContext:
    gold = [ExtractedRow(row.actor, row.belief, record.scheme.order_of(row.labels)) for row in record.rows]
    if view.answer is None:
        return {"gold": gold, "tables": []}
    answer, alone = view.answer, structured or not record.scheme.official
    mended = _extracted(parse_extraction(answer, structured=structured, scheme=record.scheme), record)
    official = None if alone else _extracted(extraction_rows(answer), record)
    same = official == mended
    tables = [Table.of(mended, gettext_noop("Predicted") if alone else "Both parses" if same else "Repaired parse")]
    if not same and official is not None:
        tables.insert(0, Table.of(official, "Official parse"))
    return {"gold": gold, "tables": tables}


def _extracted(rows: Iterable[PredictedRow | ExtractionRow], record: Record) -> list[ExtractedRow]:
    gold_keys = {row_key(row.actor, row.belief) for row in record.rows}
    return [
        ExtractedRow(row.actor, row.belief, row.order, in_gold=row_key(row.actor, row.belief) in gold_keys)
        for row in rows
    ]


# --- judging
# -----------------------------------------------------------------------------------------------------------------
def _follow_up(view: ItemView, record: Record) -> ItemContext:
    """The rows that were asked for and what the follow-up says of each."""
    texts = view.question.answers
    predicted = _read_rows(view, record)
    before, after = (
        judged_rows(record, given, judging_of(view.question))
        for given in ({name: text for name, text in texts.items() if name != FOLLOW_UP}, texts)
    )
    sides: tuple[Sequence[PredictedRow | GoldRow], ...] = (predicted, record.shown_rows)
    rows = [
        AskedRow(side, at, row.actor, row.belief, later.count)
        for side, rows, earlier, counts in zip((gettext_noop("Predicted"), "Gold"), sides, before, after, strict=True)
        for at, (row, first, later) in enumerate(zip(rows, earlier, counts, strict=True), 1)
        if first.missing
    ]
    return {"asked": Table.of(rows)}


def _read_rows(view: ItemView, record: Record) -> list[PredictedRow]:
    extraction = view.question.answers.get(EXTRACT, "")
    structured = view.question.settings.answer_format == STRUCTURED
    return parse_extraction(extraction, structured=structured, scheme=record.scheme)


def _judgement(view: ItemView, record: Record, structured: bool) -> ItemContext:
    official, mended, extraction = view.official, view.repaired or {}, view.question.answers.get(EXTRACT, "")
    gold, aborted = _gold_counts(record, official, mended), (official or {}).get("aborted", {})
    predicted = _predicted_counts(extraction, official, mended, structured, record.scheme)
    how = judging_of(view.question)
    if how.by_id or not how.as_published or how.passes > 1:
        sides = judged_rows(record, view.question.answers, how)
        predicted = [(name, _annotated_rows(rows, sides[0], how)) for name, rows in predicted]
        noted_rows = iter(_annotated_rows([row for row in gold if row.is_shown], sides[1], how))
        gold = [next(noted_rows) if row.is_shown else row for row in gold]
    tables = [Table.of(rows, name) for name, rows in predicted]
    return {"predicted": tables, "gold": gold, "aborted": aborted.get(JUDGE, ""), "official": official is not None}


def _pass(view: ItemView, record: Record) -> ItemContext:
    """Return what one pass says of each row, in the order in which it was shown them."""
    mended, predicted = view.repaired or {}, _read_rows(view, record)
    order = mended.get("order") or {}
    sides: list[list[CountedRow]] = []
    for side, rows in (("pred", predicted), ("gold", record.shown_rows)):
        counts = mended.get(side) or [None] * len(rows)
        places = order.get(side) or range(len(rows))
        sides.append(
            [CountedRow(rows[at].actor, rows[at].belief, "", ("repaired",), repaired=counts[at]) for at in places]
        )
    return {
        "predicted": [Table.of(sides[0], "Predicted, as shuffled")],
        "gold": sides[1],
        "official": False,
        "pass": True,
    }


def _gold_counts(record: Record, official: Parse | None, mended: Parse) -> list[CountedRow]:
    ours, theirs = iter(mended.get("gold", ())), list((official or {}).get("gold", ()))
    rows = []
    for at, row in enumerate(record.rows):
        count = next(ours, None) if row.is_shown else None
        predicted = theirs[at] if at < len(theirs) else None
        rows.append(
            CountedRow(
                row.actor, row.belief, record.scheme.order_of(row.labels), PARSES, official=predicted, repaired=count,
                differs=official is not None and predicted != count, is_shown=row.is_shown,
            )
        )  # fmt: skip
    return rows


def _predicted_counts(
    extraction: str, official: Parse | None, mended: Parse, structured: bool, scheme: Scheme
) -> list[tuple[str, list[CountedRow]]]:
    """Return (name, rows): one table where both parses have the same rows, otherwise one of each."""
    ours = parse_extraction(extraction, structured=structured, scheme=scheme)
    rows = _counted(ours, mended.get("pred", ()), "repaired")
    if structured or not scheme.official:
        return [(gettext_noop("Predicted"), rows)]
    theirs = extraction_rows(extraction)
    officially = _counted(theirs, (official or {}).get("pred", ()), "official")
    keys = [[row_key(row.actor, row.belief) for row in side] for side in (theirs, ours)]
    if keys[0] != keys[1]:
        return [("Predicted, official parse", officially), ("Predicted, repaired parse", rows)]
    merged = [
        replace(
            row, parses=PARSES, official=other.official,
            differs=official is not None and other.official != row.repaired,
        )
        for row, other in zip(rows, officially, strict=True)
    ]  # fmt: skip
    return [(gettext_noop("Predicted"), merged)]


def _counted(
    rows: Sequence[PredictedRow | ExtractionRow], counts: Sequence[int | None], parse: str
) -> list[CountedRow]:
    padded = list(counts) + [None] * (len(rows) - len(counts))
    return [
        CountedRow(
            row.actor, row.belief, row.order, (parse,),
            official=count if parse == "official" else None, repaired=count if parse == "repaired" else None,
        )
        for row, count in zip(rows, padded, strict=False)
    ]  # fmt: skip


def _annotated_rows(rows: Sequence[CountedRow], judgements: Sequence[RowJudgement], how: Judging) -> list[CountedRow]:
    """Return the rows of a side with what the judge says beyond a count, where they are those that it was asked
    about."""
    if len(rows) != len(judgements):
        return list(rows)
    return [
        replace(
            row, number=at if how.by_id else None, matches=_listed(judgement.links or ()), note=_note(judgement)
        )
        for at, (row, judgement) in enumerate(zip(rows, judgements, strict=True), 1)
    ]  # fmt: skip


def _note(judgement: RowJudgement) -> str:
    """Say how the row came to its count, where more than one pass says something of it."""
    if judgement.settled:
        return "settled by rule"
    verdicts = ", ".join(map(str, judgement.verdicts))
    if judgement.flipped:
        return f"flips: {verdicts}"
    return CANNOT_TELL if judgement.cannot_tell else ""


def _listed(links: Sequence[int]) -> str:
    return ", ".join(str(place + 1) for place in links[:20])


# --- labelling
# ---------------------------------------------------------------------------------------------------------------
def _labelling(view: ItemView, record: Record, scheme: Scheme) -> ItemContext:
    ours = iter((view.repaired or {}).get("predicted", ()))
    theirs = list((view.official or {}).get("predicted", ()))
    rows = []
    for at, row in enumerate(record.rows):
        mended = next(ours, None) if row.is_shown else None
        predicted = theirs[at] if at < len(theirs) else None
        rows.append(_labelled_row(row, scheme, mended, predicted, official=view.official is not None))
    right = [sum(row.cells[at].right for row in rows) for at in range(len(scheme.keys))]
    return {
        "dimensions": scheme.schema.dimensions,
        "rows": rows,
        "right": right,
        "answered": view.repaired is not None,
        "missing": view.repaired is not None and bool(view.unreadable),
        "aborted": (view.official or {}).get("aborted", {}).get(LABEL, ""),
        "official": view.official is not None,
    }


def _labelled_row(
    row: GoldRow, scheme: Scheme, mended: list[str] | None, labels: list[str] | None, *, official: bool
) -> LabelledRow:
    cells = []
    for at, dimension in enumerate(scheme.keys):
        gold = repaired(dimension, row.labels[at], scheme)
        ours, theirs = mended[at] if mended else "", labels[at] if labels else ""
        officially = theirs if official and theirs != ours else None
        cells.append(LabelCell(gold, ours, bool(mended) and ours == gold, officially))
    return LabelledRow(row.actor, row.belief, row.is_shown, mended is not None, cells)


def _named(names: Iterable[str]) -> tuple[Choice, ...]:
    return tuple((name, name) for name in names)


def _filters(scheme: Scheme) -> tuple[Filter, ...]:
    schema = scheme.schema
    return (
        *([Filter("order", gettext_noop("Order"), _named(KINDS["order"]))] if scheme.ordered else []),
        Filter("role", gettext_noop("Actor role"), ((WORLD, WORLD), (ACTORS, gettext_noop("Actors")))),
        # called `matches` it would hide the method of that name of the page's <form>, and htmx would fail on it
        Filter("match_count", "MatchCount", _named(BUCKETS), steps=(JUDGE,)),
        Filter("dimension", "Dimension", tuple(scheme.titles.items()), steps=(LABEL,)),
        Filter(
            "gold",
            gettext_noop("Gold label"),
            on="dimension",
            choices_on={name: _named(schema[name].values) for name in scheme.keys},
            steps=(LABEL,),
        ),
        Filter(
            "said",
            gettext_noop("Label said"),
            on="dimension",
            choices_on={name: _named(read_labels(name, scheme)) for name in scheme.keys},
            steps=(LABEL,),
        ),
    )


def _count(parse: KeptParse, chosen: Mapping[str, str]) -> tuple[int, int]:
    result = _result(parse)
    kinds = {name: chosen.get(name, "") for name in KINDS}
    if isinstance(result, Stage1Result):
        return stage1_rows(result, matches=chosen.get("match_count", ""), **kinds)
    dimension, gold, predicted = (chosen.get(name, "") for name in ("dimension", "gold", "said"))
    return stage2_rows(result, **kinds, dimension=dimension, gold=gold, predicted=predicted)


def _share(chosen: Mapping[str, str]) -> str:
    """A dimension alone asks for every item with a cell of it: right and wrong ones make the figure."""
    return "Right" if "dimension" in chosen and not {"gold", "said"} & chosen.keys() else ""


def _unreadable(parse: KeptParse) -> int:
    result = _result(parse)
    rows = len(result.gold_counts if isinstance(result, Stage1Result) else result.gold)
    return rows if why_uncounted(result) else 0


def _result(parse: KeptParse) -> Stage1Result | Stage2Result:
    record = records_of(parse.resources)[parse.sample.key]
    if parse.step == JUDGE:
        return stage1_of(record, parse.parsed, mended=not parse.official)
    return stage2_of(record, parse.parsed["predicted"], mended=not parse.official)


def rows_by(scheme: Scheme) -> Rows:
    """Return the rows of answers about gold of a scheme; official parses are of OmniToM's own alone."""
    unreadable = _unreadable if scheme.official else None
    return Rows(steps=(JUDGE, LABEL), filters=_filters(scheme), count=_count, share=_share, unreadable=unreadable)


NOUN = (gettext_noop("proposition"), gettext_noop("propositions"))
Parses = Sequence[Mapping[str, Any]]


def texts(sample: Sample, schema: Schema) -> list[tuple[str, str]]:
    """Return actor and belief of each gold proposition."""
    return [(row.actor, row.belief) for row in record_of_sample(sample, schema).rows]


def recovered(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return whether the judge found each gold proposition among the predictions; nan where it said nothing of it."""
    record = record_of_sample(sample, schema)
    places = [at for at, row in enumerate(record.rows) if row.is_shown]
    scores = np.full((len(parses), len(record.rows), 1), np.nan)
    for turn, parsed in enumerate(parses):
        gold = rows_kept(parsed)[1]
        if len(gold) == len(places):
            scores[turn, places, 0] = [np.nan if row.matched is None else float(row.matched) for row in gold]
    return scores


def labelled(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return the share of each gold proposition's labels that are right, then each dimension's by itself; nan where
    nobody is asked about it, or gold has no label."""
    record = record_of_sample(sample, schema)
    gold = np.array([row.labels for row in record.rows], dtype=object).reshape(len(record.rows), len(schema.keys))
    scores = np.full((len(parses), len(record.rows), 1 + len(schema.keys)), np.nan)
    for turn, rows in enumerate(cell_labels(sample, schema, parses)):
        for at, labels in rows.items():
            right = np.equal(gold[at], np.array(labels, dtype=object)).astype(float)
            scores[turn, at, 1:] = np.where(gold[at] == "", np.nan, right)
    finite = np.isfinite(scores[..., 1:])
    scores[..., 0] = ratios(np.nansum(scores[..., 1:], axis=-1), finite.sum(axis=-1).astype(float))
    return scores


RECOVERED = FinerItems(noun=NOUN, metrics=("recall",), texts=texts, scores=recovered)


def labelled_by(scheme: Scheme) -> FinerItems:
    """Return the propositions as they are labelled by a scheme."""
    metrics = (ALL_DIMENSIONS, *(scheme.share_of(key) for key in scheme.keys))
    return FinerItems(noun=NOUN, metrics=metrics, texts=texts, scores=labelled)


YES, NO = "yes", "no"


def lines(view: ItemView) -> Sequence[ReadLine]:
    """Return the lines of an item: of a labelling each label of each gold proposition; of an extraction the
    propositions, whether gold has them in these words, which no mark is made of, as the judge decides; of a judgement
    how many predicted propositions each gold one was matched with; of a follow-up the same of the propositions that it
    is about."""
    step, page = view.question.step, item(view)
    if step == LABEL:
        return list(_label_lines(page))
    if step == EXTRACT:
        return list(_extraction_lines(page))
    if step == FOLLOW_UP:
        return [
            ReadLine(about=_about(row), part=row.side, repaired=_times(row.count))
            for row in page["asked"].rows[:MOST_LINES]
        ]
    return [
        ReadLine(about=_about(row), official=_times(row.official), repaired=_times(row.repaired))
        for row in page["gold"]
    ]


def _label_lines(page: Mapping[str, Any]) -> Iterator[ReadLine]:
    for row in page["rows"]:
        for dimension, cell in zip(page["dimensions"], row.cells, strict=True):
            label = cell.predicted or None
            officially = label if cell.officially is None else cell.officially or None
            yield ReadLine(
                about=_about(row),
                part=dimension.short,
                gold=cell.gold,
                official=officially if page["official"] else None,
                repaired=label,
                right=cell.right if label else None,
                officially_right=officially == cell.gold if page["official"] and officially else None,
            )


def _extraction_lines(page: Mapping[str, Any]) -> Iterator[ReadLine]:
    """Yield gold's propositions in its order, then what else was predicted."""
    read: dict[str, dict[str, str]] = {}
    for table in page["tables"]:
        for row in table.rows:
            for parse in PARSES if table.name == "Both parses" else [_parse_of(table.name)]:
                read.setdefault(_about(row), {})[parse] = YES
    gold = list(dict.fromkeys(map(_about, page["gold"])))
    answered = bool(page["tables"])
    for about in dict.fromkeys([*gold, *read]):
        parses = read.get(about, {})
        official, repaired = (parses.get(parse, NO if answered else None) for parse in PARSES)
        yield ReadLine(about=about, gold=YES if about in gold else NO, official=official, repaired=repaired)


def _parse_of(name: str) -> str:
    return "official" if name.startswith("Official") else "repaired"


def _about(row: ExtractedRow | AskedRow | CountedRow | LabelledRow) -> str:
    return f"{row.actor}: {row.belief}"


def _times(count: int | None) -> str | None:
    return None if count is None else Sentence("matched {count}", count=count)
