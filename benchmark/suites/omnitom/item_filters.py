"""The rows of answers that figures count, and the filters by which the page of items finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annotation.domain.schema import WORLD
from benchmark.suites.items import Choice, Filter, KeptParse, Rows
from benchmark.suites.omnitom.analyses import BUCKETS
from benchmark.suites.omnitom.cells import read_labels
from benchmark.suites.omnitom.collecting import records_of
from benchmark.suites.omnitom.counted_rows import stage1_rows, stage2_rows, why_uncounted
from benchmark.suites.omnitom.item_parses import JudgedRows, stage1_of, stage2_of
from benchmark.suites.omnitom.kinds import ACTORS, KINDS
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.omnitom.step_keys import JUDGE, LABEL
from core.messages import gettext_noop


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
        return stage1_of(record, JudgedRows.from_json(parse.parsed), mended=not parse.official)
    return stage2_of(record, parse.parsed["predicted"], mended=not parse.official)


def rows_by(scheme: Scheme) -> Rows:
    """Return the rows of answers about gold of a scheme; official parses are of OmniToM's own alone."""
    unreadable = _unreadable if scheme.official else None
    return Rows(steps=(JUDGE, LABEL), filters=_filters(scheme), count=_count, share=_share, unreadable=unreadable)
