"""The parts of a report page, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.omnitom.shown.labels import slug_of
from benchmark.suites.shown import Choice, Explored, Explorer, ReadingResults, Section

SECTIONS = (
    Section("The paper’s table 3", (), ("main-repaired", "main-official"), paper=True),
    Section("F1 by story category", ("f1-by-category",), ("categories-stage1",)),
    Section("Extraction by order", ("orders",), ("orders",)),
    Section("Labelling by order and dimension", ("orders-dimensions",), ("orders-dimensions",)),
    Section("Extraction by actor role", ("roles",), ("roles",)),
    Section("Labelling by actor role and dimension", ("roles-dimensions",), ("roles-dimensions",)),
    Section("Volume against precision and recall", ("volume",), ("volume",)),
    Section("MatchCount distribution", ("match-counts",), ("match-counts",)),
    Section("Accuracy by dimension", ("dimensions",)),
    Section("Accuracy by story category", (), ("categories-stage2",)),
    Section("Dimension × story category", (), ("dimensions",)),
    Section("Unusable outputs", (), ("unusable",)),
    Section("Self-test of judges", (), ("judge-tests",)),
)


def _choices(results: ReadingResults) -> list[Choice]:
    labelled = results.analysed["stage2"]
    if not labelled:
        return []
    models = [(str(at), str(entrant["model"])) for at, entrant in enumerate(labelled, 1)]
    dimensions = [(slug_of(dimension), SCHEMA[dimension].name) for dimension in DIMENSIONS]
    return [Choice("confusion_model", "Model", models), Choice("dimension", "Dimension", dimensions)]


def _shows(chosen: Mapping[str, str]) -> Explored:
    model, dimension = chosen["confusion_model"], chosen["dimension"]
    return Explored(f"confusion-{model}-{dimension}", f"labels-{model}", f"labels-{dimension}")


EXPLORER = Explorer("labels", "Labels: distribution and confusion", _choices, _shows)
