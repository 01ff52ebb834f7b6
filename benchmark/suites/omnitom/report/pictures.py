"""The pictures by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmark.suites.omnitom.kinds import KIND_HEADS
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.report import drawn
from benchmark.suites.omnitom.report.labels import slug_of
from benchmark.suites.omnitom.report.tables import names_by_kind
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.results import ParseResults, ShownPicture
from core.messages import Sentence, gettext_noop, word


def pictures(scheme: Scheme, results: ParseResults) -> dict[str, ShownPicture]:
    """Return the pictures of what has figures, and of what has analyses, in the parse."""
    return dict([*_of_metrics(scheme, results), *_of_analyses(scheme, results), *_of_labels(scheme, results)])


def _of_metrics(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    if extracted := results.read[STAGE1]:
        plot = partial(drawn.by_category, extracted, parse)
        yield (
            "f1-by-category",
            ShownPicture(gettext_noop("F1 by story category"), plot, (STAGE1,)),
        )
    if labelled := results.read[STAGE2]:
        plot = partial(drawn.dimensions, labelled, parse, scheme)
        title, groups = gettext_noop("Accuracy by dimension"), (STAGE2,)
        yield (
            "dimensions",
            ShownPicture(title, plot, groups, whole=True),
        )


def _of_analyses(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse, first, second = results.parse, results.analysed[STAGE1], results.analysed[STAGE2]
    for by, name in names_by_kind(scheme).items():
        head = KIND_HEADS[by]
        if first:
            plot = partial(drawn.extraction_by_kind, first, by, parse)
            yield (
                name,
                ShownPicture(Sentence("Extraction by {head}", head=head), plot, (STAGE1,)),
            )
        if second:
            plot = partial(drawn.labelling_by_kind, second, by, parse, scheme)
            title = Sentence("Labelling accuracy by {head} and dimension", head=head)
            yield f"{name}-dimensions", ShownPicture(title, plot, (STAGE2,))
    if first:
        plot = partial(drawn.volume_against_shares, first, parse)
        yield "volume", ShownPicture(gettext_noop("Volume against precision and recall"), plot, (STAGE1,))
        plot = partial(drawn.counts_of_matches, first, parse)
        yield (
            "match-counts",
            ShownPicture(gettext_noop("MatchCount distribution"), plot, (STAGE1,)),
        )


def _of_labels(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    for at, entrant in enumerate(results.analysed[STAGE2], 1):
        plot = partial(drawn.labels, entrant, parse, scheme)
        title = Sentence("Labels in gold and by {model}", model=entrant.model)
        yield f"labels-{at}", ShownPicture(title, plot)
        for dimension, name in scheme.titles.items():
            plot = partial(drawn.confusion_of, entrant, dimension, parse, scheme)
            title = Sentence("{name}: gold labels and those of {model}", name=word(name), model=entrant.model)
            yield f"confusion-{at}-{slug_of(dimension)}", ShownPicture(title, plot)
