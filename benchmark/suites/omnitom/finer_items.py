"""Gold propositions one by one: whether an extraction recovered each, and which of its labels an answer got right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.domain.schema import Schema
from benchmark.suites.groups import FinerItems, Floats
from benchmark.suites.omnitom.cell_labels import cell_labels
from benchmark.suites.omnitom.judgement_rows import rows_kept
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, Scheme
from benchmark.suites.omnitom.records import record_of_sample
from benchmark.suites.questions import Sample
from core.messages import gettext_noop
from core.statistics import ratios

NOUN = (gettext_noop("proposition"), gettext_noop("propositions"))
Parses = Sequence[Mapping[str, Any]]


def texts(sample: Sample, schema: Schema) -> list[tuple[str, str]]:
    """Return actor and belief of each gold proposition."""
    return [(row.actor, row.belief) for row in record_of_sample(sample, schema).rows]


def recovered(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return whether the judge found each gold proposition among the predictions; nan where it said nothing of it."""
    record = record_of_sample(sample, schema)
    places = [at for at, row in enumerate(record.rows) if row.is_shown]
    scores = np.full((len(parses), len(record.rows), 1), np.nan)
    for turn, parsed in enumerate(parses):
        gold = rows_kept(parsed)[1]
        if len(gold) == len(places):
            scores[turn, places, 0] = [np.nan if row.matched is None else float(row.matched) for row in gold]
    return scores


def labelled(sample: Sample, schema: Schema, parses: Parses) -> Floats:
    """Return the share of each gold proposition's labels that are right, then each dimension's by itself; nan where
    nobody is asked about it, or gold has no label."""
    record = record_of_sample(sample, schema)
    gold = np.array([row.labels for row in record.rows], dtype=object).reshape(len(record.rows), len(schema.keys))
    scores = np.full((len(parses), len(record.rows), 1 + len(schema.keys)), np.nan)
    for turn, rows in enumerate(cell_labels(sample, schema, parses)):
        for at, labels in rows.items():
            right = np.equal(gold[at], np.array(labels, dtype=object)).astype(float)
            scores[turn, at, 1:] = np.where(gold[at] == "", np.nan, right)
    finite = np.isfinite(scores[..., 1:])
    scores[..., 0] = ratios(np.nansum(scores[..., 1:], axis=-1), finite.sum(axis=-1).astype(float))
    return scores


RECOVERED = FinerItems(noun=NOUN, metrics=("recall",), texts=texts, scores=recovered)


def labelled_by(scheme: Scheme) -> FinerItems:
    """Return the propositions as they are labelled by a scheme."""
    metrics = (ALL_DIMENSIONS, *(scheme.share_of(key) for key in scheme.keys))
    return FinerItems(noun=NOUN, metrics=metrics, texts=texts, scores=labelled)
