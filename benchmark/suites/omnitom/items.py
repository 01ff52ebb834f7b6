"""Items on pages: an answer in both parses beside gold, its comparison with another model's, the filters that find
items, and the propositions within a story."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from annotation.domain.schema import WORLD, Schema
from benchmark.suites.groups import FinerItems, Floats
from benchmark.suites.items import Choice, Filter, KeptParse, ReadLine, Rows
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
from benchmark.suites.omnitom.judgements import Judging, rows_kept
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, Scheme
from benchmark.suites.omnitom.official import no_official_parse
from benchmark.suites.omnitom.parsing.answers import PredictedRow, parse_extraction
from benchmark.suites.omnitom.parsing.official import ExtractionRow, extraction_rows
from benchmark.suites.omnitom.parsing.values import repaired, row_key
from benchmark.suites.omnitom.results import ACTORS, KINDS, Stage1Result, Stage2Result, stage1_of, stage2_of
from benchmark.suites.omnitom.steps import STRUCTURED, judged_rows, judging_of
from benchmark.suites.questions import PARSES, ItemContext, ItemView, Sample
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import ratios
from judge.domain.judgements import CANNOT_TELL, RowJudgement

MOST_ROWS = 300
"""The most rows of a model's table that a page shows."""
BOTH = gettext_noop("Both parses")
YES, NO = "yes", "no"


# --- pages: tables are {name, rows, count, left}, rows are {actor, belief, …}


def item(view: ItemView) -> ItemContext:
    """Return the context of `omnitom/item.html` for the item's step; `unreadable` is the reason why no such answer has
    an official parse."""
    record, step = record_of_sample(view.question.sample, view.question.resources.schema), view.question.step
    pages = {EXTRACT: _extraction, LABEL: _labelling, FOLLOW_UP: _follow_up, JUDGE: _judgement}
    return {"unreadable": no_official_parse(record.scheme), **pages.get(step, _pass)(view, record)}


def _table(rows: Sequence[Json], name: str = "") -> Json:
    return {"name": name, "rows": rows[:MOST_ROWS], "count": len(rows), "left": max(0, len(rows) - MOST_ROWS)}


def _words(row: PredictedRow | ExtractionRow | GoldRow) -> Json:
    return {"actor": row.actor, "belief": row.belief}


def _predicted(view: ItemView, record: Record, answer: str | None = None) -> list[PredictedRow]:
    """Return the repaired parse of an extraction, that of the item's question without an `answer`."""
    text = view.question.answers.get(EXTRACT, "") if answer is None else answer
    structured = view.question.settings.answer_format == STRUCTURED
    return parse_extraction(text, structured=structured, scheme=record.scheme)


def _is_official(view: ItemView, record: Record) -> bool:
    return record.scheme.official and view.question.settings.answer_format != STRUCTURED


def _extraction(view: ItemView, record: Record) -> ItemContext:
    """Return the propositions of gold and of each parse. `in_gold`: a gold row has these very words. Whether it says
    the same is the judge's to decide."""
    gold_keys = {row_key(row.actor, row.belief) for row in record.rows}

    def extracted(rows: Iterable[PredictedRow | ExtractionRow]) -> list[Json]:
        return [
            {**_words(row), "order": row.order, "in_gold": row_key(row.actor, row.belief) in gold_keys} for row in rows
        ]

    tables = {}
    if view.answer is not None:
        mended = extracted(_predicted(view, record, view.answer))
        tables = {gettext_noop("Predicted"): mended}
        if _is_official(view, record):
            official = extracted(extraction_rows(view.answer))
            tables = {BOTH: mended} if official == mended else {"Official parse": official, "Repaired parse": mended}
    gold = [{**_words(row), "order": record.scheme.order_of(row.labels)} for row in record.rows]
    return {"gold": gold, "tables": [_table(rows, name) for name, rows in tables.items()]}


def _follow_up(view: ItemView, record: Record) -> ItemContext:
    """Return the context of a judgement with the rows alone that were asked for, and the count of the follow-up."""
    texts, how = view.question.answers, judging_of(view.question)
    without = {step: text for step, text in texts.items() if step != FOLLOW_UP}
    before, after = (judged_rows(record, given, how) for given in (without, texts))
    tables: tuple[Sequence[PredictedRow | GoldRow], ...] = (_predicted(view, record), record.shown_rows)
    asked = []
    for table, first, later in zip(tables, before, after, strict=True):
        rows = [_counted(row, PARSES[1:], repaired=of_row.count) for row, of_row in zip(table, later, strict=True)]
        _annotate(rows, later, how)
        asked.append([row for row, of_row in zip(rows, first, strict=True) if of_row.missing])
    predicted = [_table(asked[0], gettext_noop("Predicted"))]
    return {"predicted": predicted, "gold": asked[1], "official": False, "follow_up": True}


def _counted(
    row: PredictedRow | ExtractionRow | GoldRow,
    parses: Sequence[str],
    order: str = "",
    *,
    official: int | None = None,
    repaired: int | None = None,
    compared: bool = False,
    is_shown: bool = True,
) -> Json:
    """Return a row of a judgement with its counts in the `parses` that have the row, None if it got none. `number` and
    `matches`, the rows of the other table, are of structured judgements only."""
    counts = [count for count in (official, repaired) if count is not None]
    settled = "repaired" not in parses or repaired is not None  # a row without a count may match
    return {
        **_words(row),
        "parses": parses,
        "number": None,
        "matches": "",
        "note": "",
        "unmatched": bool(counts) and max(counts) <= 0 and settled,
        "official": official,
        "repaired": repaired,
        "differs": compared and official != repaired,
        "is_shown": is_shown,
        "order": order,
    }


def _judgement(view: ItemView, record: Record) -> ItemContext:
    official, mended, how = view.official, view.repaired or {}, judging_of(view.question)
    ours, theirs = iter(mended.get("gold", ())), _padded((official or {}).get("gold", ()), len(record.rows))
    gold, compared = [], official is not None
    parses = PARSES if compared else PARSES[1:]
    for row, officially in zip(record.rows, theirs, strict=True):
        count, order = next(ours, None) if row.is_shown else None, record.scheme.order_of(row.labels)
        counted = _counted(
            row, parses, order, official=officially, repaired=count, compared=compared, is_shown=row.is_shown
        )
        gold.append(counted)
    tables = _predicted_tables(view, record)
    if how.by_id or not how.as_published or how.passes > 1:
        sides = judged_rows(record, view.question.answers, how)
        for rows, judgements in (*((rows, sides[0]) for rows in tables.values()), (gold, sides[1])):
            _annotate([row for row in rows if row["is_shown"]], judgements, how)
    return {
        "predicted": [_table(rows, name) for name, rows in tables.items()],
        "gold": gold,
        "aborted": (official or {}).get("aborted", {}).get(JUDGE, ""),
        "official": official is not None,
    }


def _predicted_tables(view: ItemView, record: Record) -> dict[str, list[Json]]:
    """Return one table if both parses have the same rows, otherwise one of each."""
    ours, kept, title = _predicted(view, record), view.official or {}, gettext_noop("Predicted")
    counts = _padded((view.repaired or {}).get("pred", ()), len(ours))
    mended = [_counted(row, PARSES[1:], row.order, repaired=n) for row, n in zip(ours, counts, strict=True)]
    if not _is_official(view, record):
        return {title: mended}
    theirs = extraction_rows(view.question.answers.get(EXTRACT, ""))
    rows = list(zip(theirs, _padded(kept.get("pred", ()), len(theirs)), strict=True))
    if [row_key(row.actor, row.belief) for row in theirs] != [row_key(row.actor, row.belief) for row in ours]:
        officially = [_counted(row, PARSES[:1], row.order, official=count) for row, count in rows]
        return {"Predicted, official parse": officially, "Predicted, repaired parse": mended}
    compared = view.official is not None
    return {
        title: [
            _counted(row, PARSES, row.order, official=officially, repaired=count, compared=compared)
            for row, count, (_, officially) in zip(ours, counts, rows, strict=True)
        ]
    }


def _padded(counts: Sequence[int | None], rows: int) -> list[int | None]:
    return [*counts, *[None] * rows][:rows]


def _annotate(rows: Sequence[Json], judgements: Sequence[RowJudgement], how: Judging) -> None:
    """Add what the judge says beyond a count to the rows of a side, if they are those that it was asked about."""
    for at, (row, judgement) in enumerate(
        zip(rows, judgements, strict=True) if len(rows) == len(judgements) else (), 1
    ):
        note: str = CANNOT_TELL if judgement.cannot_tell else ""
        if judgement.settled:
            note = "settled by rule"
        elif judgement.flipped:
            note = f"flips: {', '.join(map(str, judgement.verdicts))}"
        links = ", ".join(str(place + 1) for place in (judgement.links or ())[:20])
        row |= {"number": at if how.by_id else None, "matches": links, "note": note}


def _pass(view: ItemView, record: Record) -> ItemContext:
    """Return the count of one pass for each row."""
    mended, sides = view.repaired or {}, []
    tables: tuple[Sequence[PredictedRow | GoldRow], ...] = (_predicted(view, record), record.shown_rows)
    for side, rows in zip(("pred", "gold"), tables, strict=True):
        counts = mended.get(side) or [None] * len(rows)
        sides.append([_counted(row, PARSES[1:], repaired=count) for row, count in zip(rows, counts, strict=True)])
    return {"predicted": [_table(sides[0], gettext_noop("Predicted"))], "gold": sides[1], "official": False}


def _labelling(view: ItemView, record: Record) -> ItemContext:
    """Return gold propositions with a cell per dimension: the label of gold, the one that was read, and the one of the
    official parse if that is another."""
    scheme, official = record.scheme, view.official is not None
    ours = iter((view.repaired or {}).get("predicted", ()))
    theirs = list((view.official or {}).get("predicted", ()))
    rows = []
    for at, row in enumerate(record.rows):
        mended = next(ours, None) if row.is_shown else None
        labels = theirs[at] if at < len(theirs) else None
        cells = []
        for place, dimension in enumerate(scheme.keys):
            gold, read = repaired(dimension, row.labels[place], scheme), mended[place] if mended else ""
            officially = labels[place] if labels else ""
            cells.append(
                {
                    "gold": gold, "predicted": read, "right": bool(mended) and read == gold,
                    "officially": officially if official and officially != read else None,
                }
            )  # fmt: skip
        rows.append({**_words(row), "is_shown": row.is_shown, "answered": mended is not None, "cells": cells})
    return {
        "dimensions": scheme.schema.dimensions,
        "rows": rows,
        "right": [sum(row["cells"][at]["right"] for row in rows) for at in range(len(scheme.keys))],
        "answered": view.repaired is not None,
        "missing": view.repaired is not None and bool(view.unreadable),
        "aborted": (view.official or {}).get("aborted", {}).get(LABEL, ""),
        "official": official,
    }


# --- lines by which an answer is compared with another model's


def lines(view: ItemView) -> Sequence[ReadLine]:
    """Return the lines of an item.

    - Labelling: each label of each gold proposition.
    - Extraction: the propositions, and whether gold has them in these words, without a mark, as the judge decides.
    - Judgement and follow-up: the number of predicted propositions that each gold one was matched with.
    """
    step, page = view.question.step, item(view)
    if step == LABEL:
        marked = []
        for row in page["rows"]:
            for dimension, cell in zip(page["dimensions"], row["cells"], strict=True):
                label = cell["predicted"] or None
                officially = label if cell["officially"] is None else cell["officially"] or None
                line = ReadLine(
                    about=_about(row),
                    part=dimension.short,
                    gold=cell["gold"],
                    official=officially if page["official"] else None,
                    repaired=label,
                    right=cell["right"] if label else None,
                    officially_right=officially == cell["gold"] if page["official"] and officially else None,
                )
                marked.append(line)
        return marked
    if step == EXTRACT:
        return list(_extraction_lines(page))
    return [
        ReadLine(about=_about(row), official=_times(row["official"]), repaired=_times(row["repaired"]))
        for row in page["gold"]
    ]


def _extraction_lines(page: Mapping[str, Any]) -> Iterator[ReadLine]:
    """Yield gold's propositions in its order, then the others that were predicted."""
    read: dict[str, set[str]] = {}
    for table in page["tables"]:
        parse = "official" if table["name"].startswith("Official") else "repaired"
        for row in table["rows"]:
            read.setdefault(_about(row), set()).update(PARSES if table["name"] == BOTH else [parse])
    gold = list(dict.fromkeys(map(_about, page["gold"])))
    for about in dict.fromkeys([*gold, *read]):
        official, repaired = (
            (YES if parse in read.get(about, ()) else NO) if page["tables"] else None for parse in PARSES
        )
        yield ReadLine(about=about, gold=YES if about in gold else NO, official=official, repaired=repaired)


def _about(row: Mapping[str, Any]) -> str:
    return f"{row['actor']}: {row['belief']}"


def _times(count: int | None) -> str | None:
    return None if count is None else Sentence("matched {count}", count=count)


# --- filters by the rows that figures count


def rows_by(scheme: Scheme) -> Rows:
    """Return the rows of answers about gold of a scheme; only OmniToM's own has official parses."""

    def named(names: Iterable[str]) -> tuple[Choice, ...]:
        return tuple((name, name) for name in names)

    gold = {name: named(scheme.schema[name].values) for name in scheme.keys}
    said = {name: named(read_labels(name, scheme)) for name in scheme.keys}
    filters = (
        *([Filter("order", gettext_noop("Order"), named(KINDS["order"]))] if scheme.ordered else []),
        Filter("role", gettext_noop("Actor role"), ((WORLD, WORLD), (ACTORS, gettext_noop("Actors")))),
        # called `matches` it would hide the method of that name of the page's <form>, and htmx would fail on it
        Filter("match_count", "MatchCount", named(BUCKETS), steps=(JUDGE,)),
        Filter("dimension", "Dimension", tuple(scheme.titles.items()), steps=(LABEL,)),
        Filter("gold", gettext_noop("Gold label"), on="dimension", choices_on=gold, steps=(LABEL,)),
        Filter("said", gettext_noop("Label said"), on="dimension", choices_on=said, steps=(LABEL,)),
    )
    unreadable = _unreadable if scheme.official else None
    return Rows(steps=(JUDGE, LABEL), filters=filters, count=_count, share=_share, unreadable=unreadable)


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


# --- gold propositions one by one

NOUN = (gettext_noop("proposition"), gettext_noop("propositions"))
Parses = Sequence[Mapping[str, Any]]


def texts(sample: Sample, schema: Schema) -> list[tuple[str, str]]:
    """Return actor and belief of each gold proposition."""
    return [(row.actor, row.belief) for row in record_of_sample(sample, schema).rows]


def recovered(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return whether the judge found each gold proposition among the predictions; nan if it said nothing of it."""
    record = record_of_sample(sample, schema)
    places = [at for at, row in enumerate(record.rows) if row.is_shown]
    scores = np.full((len(parses), len(record.rows), 1), np.nan)
    for turn, parsed in enumerate(parses):
        gold = rows_kept(parsed)[1]
        if len(gold) == len(places):
            scores[turn, places, 0] = [np.nan if row.matched is None else float(row.matched) for row in gold]
    return scores


def labelled(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return the share of each gold proposition's labels that are right, then each dimension's; nan if nobody is asked
    about it, or gold has no label."""
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
