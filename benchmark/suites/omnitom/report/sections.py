"""The parts of a report page, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.report.labels import slug_of
from benchmark.suites.omnitom.step_keys import STAGE2
from benchmark.suites.results import Choice, Explored, Explorer, ParseResults, Section
from core.messages import gettext_noop

SECTIONS = (
    Section(gettext_noop("The paper’s table 3"), (), ("main-repaired", "main-official"), paper=True),
    Section(gettext_noop("F1 by story category"), ("f1-by-category",), ("categories-stage1",)),
    Section(gettext_noop("Extraction by order"), ("orders",), ("orders",)),
    Section(gettext_noop("Labelling by order and dimension"), ("orders-dimensions",), ("orders-dimensions",)),
    Section(gettext_noop("Extraction by actor role"), ("roles",), ("roles",)),
    Section(gettext_noop("Labelling by actor role and dimension"), ("roles-dimensions",), ("roles-dimensions",)),
    Section(gettext_noop("Volume against precision and recall"), ("volume",), ("volume",)),
    Section(gettext_noop("MatchCount distribution"), ("match-counts",), ("match-counts",)),
    Section(gettext_noop("Accuracy by dimension"), ("dimensions",)),
    Section(gettext_noop("Accuracy by story category"), (), ("categories-stage2",)),
    Section(gettext_noop("Dimension × story category"), (), ("dimensions",)),
    Section(gettext_noop("Unreadable outputs"), (), ("unreadable",)),
    Section(gettext_noop("Self-test of judges"), (), ("judge-tests",)),
)


def sections_of(scheme: Scheme, keys: Mapping[str, str]) -> tuple[Section, ...]:
    """Return the parts for gold of a scheme, where metric groups have other `keys`; the paper's own table is
    OmniToM's."""
    sections = []
    for section in SECTIONS:
        title = "Extraction and labelling" if section.paper else section.title
        names = tuple(_renamed(name, keys) for name in section.tables)
        sections.append(replace(section, title=title, tables=names, paper=False))
    return tuple(sections)


def _renamed(table: str, keys: Mapping[str, str]) -> str:
    name, _, group = table.rpartition("-")
    return f"{name}-{keys[group]}" if group in keys else table


def _choices(scheme: Scheme, results: ParseResults) -> list[Choice]:
    labelled = results.analysed[STAGE2]
    if not labelled:
        return []
    models = [(str(at), str(entrant.model)) for at, entrant in enumerate(labelled, 1)]
    dimensions = [(slug_of(key), title) for key, title in scheme.titles.items()]
    return [Choice("confusion_model", "Model", models), Choice("dimension", "Dimension", dimensions)]


def _shows(chosen: Mapping[str, str]) -> Explored:
    model, dimension = chosen["confusion_model"], chosen["dimension"]
    return Explored(f"confusion-{model}-{dimension}", f"labels-{model}", f"labels-{dimension}")


def explorer_of(scheme: Scheme) -> Explorer:
    return Explorer("labels", gettext_noop("Labels: distribution and confusion"), partial(_choices, scheme), _shows)
