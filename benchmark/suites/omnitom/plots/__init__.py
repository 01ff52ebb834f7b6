"""Plots of OmniToM, as those of `benchmark.domain.plots`."""

from benchmark.suites.omnitom.plots.counts import LabelCounts, confusion, label_distribution, match_counts
from benchmark.suites.omnitom.plots.models import accuracy_by_dimension, by_kind, f1_by_category
from benchmark.suites.omnitom.plots.volume import VolumeRow, volume

__all__ = [
    "LabelCounts",
    "VolumeRow",
    "accuracy_by_dimension",
    "by_kind",
    "confusion",
    "f1_by_category",
    "label_distribution",
    "match_counts",
    "volume",
]
