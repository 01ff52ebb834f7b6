"""The accuracy of labels that no model chose: drawn among those of each dimension, or always the commonest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from annotation.domain.baselines import majority
from benchmark.suites.omnitom.collecting import records_of
from benchmark.suites.omnitom.labels import Labels, Scheme
from benchmark.suites.omnitom.records import Record, record_of_sample
from benchmark.suites.omnitom.repaired import repaired_labels
from benchmark.suites.omnitom.steps import LABEL_COUNTS, count_labels
from benchmark.suites.questions import Resources, Sample


def by_chance(scheme: Scheme, sample: Sample) -> float | None:
    """Return the accuracy to be expected of labels drawn among all of their dimension, each as likely; None without a
    gold label."""
    record = record_of_sample(sample, scheme.schema)
    return _mean_accuracy(scheme, _gold_of(record), lambda key, _: 1 / len(scheme.legal[key]))


def by_majority(scheme: Scheme, sample: Sample, resources: Resources) -> float | None:
    """Return the accuracy of the label of each dimension that is commonest in the gold of all stories; None without a
    gold label."""
    record = records_of(resources)[sample.key]
    commonest = _commonest(scheme, resources.derived(LABEL_COUNTS, count_labels))
    return _mean_accuracy(scheme, _gold_of(record), lambda key, label: float(label == commonest[key]))


def _gold_of(record: Record) -> list[Labels]:
    return [repaired_labels(row.labels, record.scheme) for row in record.shown_rows]


def _commonest(scheme: Scheme, counts: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    return {key: majority(counts.get(key, {}), scheme.schema[key].values) for key in scheme.keys}


def _mean_accuracy(scheme: Scheme, rows: Sequence[Labels], right: Callable[[str, str], float]) -> float | None:
    """The mean over dimensions of how many of its gold labels are right."""
    by_dimension = [
        [right(key, labels[at]) for labels in rows if labels[at] in scheme.legal[key]]
        for at, key in enumerate(scheme.keys)
    ]
    accuracies = [fmean(values) for values in by_dimension if values]
    return fmean(accuracies) if accuracies else None
