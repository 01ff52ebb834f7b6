"""The names of the figures of rows that a judge matched."""

from judge.domain.calibration.tables import Metric

METRICS = tuple(metric.value for metric in Metric)
PRECISION, RECALL, F1 = METRICS
