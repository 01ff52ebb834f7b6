"""The pictures by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType

from benchmark.suites.omnitom.kinds import KIND_HEADS
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.report import arguments
from benchmark.suites.omnitom.report.labels import slug_of
from benchmark.suites.omnitom.report.tables import names_by_kind
from benchmark.suites.results import ParseResults, ShownPicture
from core.language import gettext_noop


def plots() -> ModuleType:
    """Return the module of the functions that draw the pictures."""
    from benchmark.suites.omnitom import plots  # imports matplotlib

    return plots


def pictures(scheme: Scheme, results: ParseResults) -> dict[str, ShownPicture]:
    """Return the pictures of what has figures, and of what has analyses, in the parse."""
    return dict([*_of_metrics(scheme, results), *_of_analyses(scheme, results), *_of_labels(scheme, results)])


def _of_metrics(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    if extracted := results.read["stage1"]:
        arguments_of = partial(arguments.by_category, extracted, parse)
        yield (
            "f1-by-category",
            ShownPicture(
                gettext_noop("F1 by story category"), lambda: plots().f1_by_category, arguments_of, ("stage1",)
            ),
        )
    if labelled := results.read["stage2"]:
        arguments_of = partial(arguments.dimensions, labelled, parse, scheme)
        title, groups = gettext_noop("Accuracy by dimension"), ("stage2",)
        yield (
            "dimensions",
            ShownPicture(title, lambda: plots().accuracy_by_dimension, arguments_of, groups, whole=True),
        )


def _of_analyses(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse, first, second = results.parse, results.analysed["stage1"], results.analysed["stage2"]
    for by, name in names_by_kind(scheme).items():
        head = KIND_HEADS[by]
        if first:
            arguments_of = partial(arguments.extraction_by_kind, first, by, parse)
            yield (
                name,
                ShownPicture(gettext_noop(f"Extraction by {head}"), lambda: plots().by_kind, arguments_of, ("stage1",)),
            )
        if second:
            arguments_of = partial(arguments.labelling_by_kind, second, by, parse, scheme)
            title = gettext_noop(f"Labelling accuracy by {head} and dimension")
            yield f"{name}-dimensions", ShownPicture(title, lambda: plots().by_kind, arguments_of, ("stage2",))
    if first:
        arguments_of = partial(arguments.volume, first, parse)
        title = gettext_noop("Volume against precision and recall")
        yield "volume", ShownPicture(title, lambda: plots().volume, arguments_of, ("stage1",))
        arguments_of = partial(arguments.match_counts, first, parse)
        yield (
            "match-counts",
            ShownPicture(
                gettext_noop("MatchCount distribution"), lambda: plots().match_counts, arguments_of, ("stage1",)
            ),
        )


def _of_labels(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    for at, entrant in enumerate(results.analysed["stage2"], 1):
        arguments_of = partial(arguments.labels, entrant, parse, scheme)
        title = gettext_noop(f"Labels in gold and by {entrant.model}")
        yield f"labels-{at}", ShownPicture(title, lambda: plots().label_distribution, arguments_of)
        for dimension, name in scheme.titles.items():
            arguments_of = partial(arguments.confusion, entrant, dimension, parse, scheme)
            title = gettext_noop(f"{name}: gold labels and those of {entrant.model}")
            yield f"confusion-{at}-{slug_of(dimension)}", ShownPicture(title, lambda: plots().confusion, arguments_of)
