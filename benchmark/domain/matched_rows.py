"""The names of the figures of rows that a judge matched."""

PRECISION, RECALL, F1 = "precision", "recall", "f1"
METRICS = (PRECISION, RECALL, F1)
