"""Plots of OmniToM, as those of `benchmark.domain.plots`."""

from benchmark.suites.omnitom.plots.counts import confusion, label_distribution, match_counts
from benchmark.suites.omnitom.plots.models import accuracy_by_dimension, by_kind, f1_by_category
from benchmark.suites.omnitom.plots.volume import volume

__all__ = [
    "accuracy_by_dimension",
    "by_kind",
    "confusion",
    "f1_by_category",
    "label_distribution",
    "match_counts",
    "volume",
]
