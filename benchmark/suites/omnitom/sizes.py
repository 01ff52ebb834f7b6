"""Lengths of OmniToM's questions and answers, by addition: a whole request is made for one story of each category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.judgements import NOTHING, PASSES
from benchmark.suites.omnitom.prompting.rendering import gold_table, predictions_table, propositions
from benchmark.suites.omnitom.prompting.templates import ANSWER_FORMATS
from benchmark.suites.omnitom.records import Record, record_of_sample
from benchmark.suites.omnitom.serialisers import gold_extraction_table, gold_label_table
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL
from benchmark.suites.omnitom.steps import STRUCTURED, judging_of
from benchmark.suites.questions import Question, Sample
from benchmark.suites.sizes import Sizes
from workers.domain.pricing import Extent

CELL_CHARACTERS = {EXTRACT: 40, LABEL: 190, JUDGE: 28}
"""The length of a row of structured output besides its texts."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """Lengths of a story, and by (answer format, step) the tables beside it and the answer."""

    story: Extent
    data: Mapping[tuple[str, str], Extent]
    answers: Mapping[tuple[str, str], Extent]


def _of(question: Question) -> tuple[Extent, Extent]:
    """Return the extents of the data and of the answer, without reasoning. A judge sees the story only where it was
    chosen and reads at all."""
    settings, step = question.settings, JUDGE if question.step in PASSES else question.step
    by_links = step == JUDGE and judging_of(question).links
    kind = (STRUCTURED if by_links else settings.answer_format, step)
    sample = question.sample
    measures = partial(_measures, question.resources.schema)
    sizes = measures([sample]) if sample.published else question.resources.derived("sizes", measures)
    sample_sizes = sizes[sample.key]
    shows_story = step != JUDGE or (settings.options["with_story"] and settings.judge_reads_prompts)
    return sample_sizes.data[kind] + (sample_sizes.story if shows_story else Extent()), sample_sizes.answers[kind]


def _measures(schema: Schema, samples: Sequence[Sample]) -> dict[str, _Measure]:
    """Return the measure of each sample by its key."""
    kinds = [(answer_format, step) for answer_format in ANSWER_FORMATS for step in CELL_CHARACTERS]
    sizes = {}
    for sample in samples:
        record = record_of_sample(sample, schema)
        tables = {kind: _tables(*kind, record) for kind in kinds}
        answers = {kind: _answer(*kind, record) for kind in kinds}
        sizes[sample.key] = _Measure(Extent.of(record.story.strip()), tables, answers)
    return sizes


def _tables(answer_format: str, step: str, record: Record) -> Extent:
    if step == EXTRACT:
        return Extent()
    if step == LABEL:
        return Extent.of(propositions(record.rows, answer_format))
    predictions = predictions_table([row.as_told for row in record.rows], answer_format)
    return Extent.of(predictions) + Extent.of(gold_table(record.rows, answer_format))


def _answer(answer_format: str, step: str, record: Record) -> Extent:
    if answer_format == STRUCTURED:
        cells = Extent(CELL_CHARACTERS[step] * len(record.rows) * (2 if step == JUDGE else 1))
        rows = record.rows if step == EXTRACT else ()
        return sum((Extent.of(row.actor) + Extent.of(row.belief) for row in rows), cells)
    if step == EXTRACT:
        return Extent.of(gold_extraction_table(record))
    if step == LABEL:
        return Extent.of(gold_label_table(record))
    return _twice([(row.actor, row.belief) for row in record.rows])


def _pairs(pairs: Sequence[tuple[str, str]], answer_format: str) -> Extent:
    return _twice(pairs) if answer_format != STRUCTURED else Extent(2 * CELL_CHARACTERS[JUDGE] * len(pairs))


def _twice(pairs: Sequence[tuple[str, str]]) -> Extent:
    """A judge's two tables as text: each row with its actor, its belief and a few signs."""
    return sum((Extent.of(actor) + Extent.of(belief) for actor, belief in pairs), Extent(6 * len(pairs))) * 2


SIZES = Sizes(question=_of, pairs=_pairs, measured_with={"settle": NOTHING})
