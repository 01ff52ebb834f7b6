"""The four kinds of calls of OmniToM: what is asked, and how the answers are read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from annotation.domain.schema import Schema
from benchmark.suites.contract import Sizes
from benchmark.suites.omnitom.data import (
    EXTRACT,
    FOLLOW_UP,
    JUDGE,
    LABEL,
    GoldRow,
    Record,
    gold_extraction_table,
    gold_label_table,
    record_of_sample,
)
from benchmark.suites.omnitom.judgements import NOTHING, PASSES, Judging, judged, unsettled
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.parses import (
    parse_follow_up,
    parse_pass,
    parse_stage1,
    parse_stage1_rows,
    parse_stage2,
)
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.parsing.official import extraction_rows
from benchmark.suites.omnitom.prompting.examples import examples_of, level_of
from benchmark.suites.omnitom.prompting.requests import (
    ALL_SETTLED,
    Gaps,
    allow_cannot_tell,
    extraction_request,
    follow_up_request,
    gold_table,
    judging_request,
    labelling_request,
    only_these,
    plain,
    predictions_table,
    propositions,
)
from benchmark.suites.omnitom.prompting.sets import ANSWER_FORMATS, built_in
from benchmark.suites.questions import Parsed, Question, Sample, Step
from core.messages import Sentence, gettext_noop
from core.plain import Json
from workers.domain.pricing import Extent
from workers.providers.contract import Request

LABEL_COUNTS = "label counts"
"""The name under which `count_labels` are derived."""
JUDGED_AT = (JUDGE, *PASSES)
"""The steps at which the judge is asked about whole tables, one to a pass."""
STEPS = (
    Step(EXTRACT, gettext_noop("Extraction"), answers=(gettext_noop("extraction"), gettext_noop("extractions"))),
    Step(JUDGE, gettext_noop("Judging"), judged=True, needs=(EXTRACT,), score="F1"),
    *(
        Step(
            key,
            Sentence("Judging, pass {at}", at=at),
            judged=True,
            needs=(EXTRACT,),
            chosen=False,
            completes=JUDGE,
            task=JUDGE,
        )
        for at, key in enumerate(PASSES, 2)
    ),
    Step(
        FOLLOW_UP,
        gettext_noop("Follow-up"),
        judged=True,
        needs=(EXTRACT, JUDGE),
        after=PASSES,
        chosen=False,
        completes=JUDGE,
    ),
    Step(LABEL, gettext_noop("Labelling"), score=gettext_noop("mean accuracy")),
)
STRUCTURED = "structured"


def request(question: Question) -> Request | str:
    """Return what a story is asked at a step, or why nothing is to be asked. Raises BadPromptSet, ValueError."""
    if question.step == EXTRACT:
        return extraction_request(**_how(question))
    if question.step == LABEL:
        return labelling_request(rows=_record(question).rows, counts=_label_counts(question), **_how(question))
    if EXTRACT not in question.answers:
        return gettext_noop("There is no extraction to be judged.")
    if question.step in JUDGED_AT:
        return _judging(question)
    if JUDGE not in question.answers:
        return gettext_noop("There is no judgement to follow up.")
    return _follow_up(question) or gettext_noop("Every row has a judgement.")


def parse(question: Question, answer: str) -> Parsed:
    """Both parses of one answer. A judgement is read with the extraction that it judges and with its follow-up."""
    record, structured = _record(question), question.settings.answer_format == STRUCTURED
    how = judging_of(question)
    if question.step == JUDGE:
        return parse_stage1(record, judged_texts(question.answers) | {JUDGE: answer}, how)
    if question.step == FOLLOW_UP:
        return parse_follow_up(record, judged_texts(question.answers) | {"follow_up": answer}, how)
    if question.step in PASSES:
        turn = JUDGED_AT.index(question.step)
        return parse_pass(record, question.answers.get(EXTRACT, ""), answer, how, turn)
    if question.step == LABEL:
        return parse_stage2(record, answer, structured=structured)
    return parse_stage1_rows(answer, structured=structured, scheme=record.scheme)


def judging_of(question: Question) -> Judging:
    """Return how the run's judge is asked about the sample of a question."""
    return Judging.of(question.settings, question.sample.key)


def judged_texts(answers: Mapping[str, str]) -> dict[str, str]:
    """Return answers by step as judgements name them."""
    return {"follow_up" if step == FOLLOW_UP else step: text for step, text in answers.items()}


def expected(question: Question) -> str:
    """Return what a perfect model would answer, in the answer format that is asked for; the judge's two tables as the
    data has them."""
    record, structured = _record(question), question.settings.answer_format == STRUCTURED
    if question.step == LABEL:
        return gold_label_table(record)
    if not structured:
        return gold_extraction_table(record)
    ordered = record.scheme.ordered
    rows = [
        {"actor": row.actor, "belief": row.belief} | ({"order": row.order} if ordered else {})
        for row in record.shown_rows
    ]
    return json.dumps({"rows": rows}, ensure_ascii=False)


def _record(question: Question) -> Record:
    return record_of_sample(question.sample, question.resources.schema)


def judge_request(question: Question, predictions: Sequence[Sequence[str]], gold: Sequence[GoldRow]) -> Request:
    """Return what the run's judge is asked about predicted rows (actor, belief) and gold rows of a story."""
    how, with_story, judging = _how(question), question.settings.options["with_story"], judging_of(question)
    if not question.settings.judge_reads_prompts:  # it goes by the data alone, whatever the set has prompts for
        how, with_story = how | {"prompt_set": built_in()}, False
    if judging.links:
        how |= {"answer_format": STRUCTURED}
    request = judging_request(predictions=predictions, gold=gold, with_story=with_story, **how)
    return allow_cannot_tell(request) if judging.links else request


def predicted_rows(extraction: str, answer_format: str, scheme: Scheme) -> list[tuple[str, str]]:
    """Return what the judge is shown of an extraction: the rows of official parsing, and of the repaired one where
    there is no official one."""
    structured = answer_format == STRUCTURED
    if structured or not scheme.official:
        return [(row.actor, row.belief) for row in parse_extraction(extraction, structured=structured, scheme=scheme)]
    return [(row.actor, row.belief) for row in extraction_rows(extraction)]


def _judged_rows(question: Question, record: Record) -> list[tuple[str, str]]:
    """Return the predicted rows that the judge is shown: those that numbers can name where it answers with numbers."""
    extraction, how = question.answers[EXTRACT], judging_of(question)
    if how.links:
        read = parse_extraction(extraction, structured=how.structured, scheme=record.scheme)
        return [(row.actor, row.belief) for row in read]
    return predicted_rows(extraction, question.settings.answer_format, record.scheme)


def _judging(question: Question) -> Request:
    """Return what a pass asks: about both tables in its order, and of rows that are settled no judgement."""
    record, how = _record(question), judging_of(question)
    predicted, gold = _judged_rows(question, record), [(row.actor, row.belief) for row in record.shown_rows]
    left = unsettled(predicted, gold, how.settle)
    if how.settle != NOTHING and not any(left):
        nothing = replace(
            judge_request(question, (), ()), messages=(), schema=None, seed=None, preset_answer=ALL_SETTLED
        )
        return replace(nothing, task={**nothing.task, "settled": True})
    turn = JUDGED_AT.index(question.step) if question.step in JUDGED_AT else 0
    orders = how.order(turn, 0, len(predicted)), how.order(turn, 1, len(gold))
    tables = [predicted[at] for at in orders[0]], [record.shown_rows[at] for at in orders[1]]
    request = judge_request(question, *tables) if turn else judge_request(question, predicted, record.rows)
    if [len(side) for side in left] == [len(predicted), len(gold)]:
        return request
    places = [
        [place for place, at in enumerate(order) if at in set(side)] for order, side in zip(orders, left, strict=True)
    ]
    asked = Gaps(tables[0], [row.as_told for row in tables[1]], (places[0], places[1]))
    return only_these(request, asked, answer_format=_answer_format(how))


def _answer_format(how: Judging) -> str:
    return STRUCTURED if how.by_id else "text"


def _follow_up(question: Question) -> Request | None:
    """Return the follow-up request, None where the judgement leaves no row out."""
    record, how = _record(question), judging_of(question)
    predicted = parse_extraction(question.answers[EXTRACT], structured=how.structured, scheme=record.scheme)
    texts = {name: text for name, text in judged_texts(question.answers).items() if name != "follow_up"}
    sides = judged(texts, predicted, record.shown_rows, how)
    predictions, gold = ([at for at, row in enumerate(side) if row.missing] for side in sides)
    if not (predictions or gold):
        return None
    gaps = Gaps([(row.actor, row.belief) for row in predicted], plain(record.rows), (predictions, gold))
    return follow_up_request(_judging(question), texts[JUDGE], gaps, answer_format=_answer_format(how))


def _how(question: Question) -> Json:
    settings, sample = question.settings, question.sample
    step = JUDGE if question.step == FOLLOW_UP or question.step in PASSES else question.step
    return {
        "story": sample.content["story"],
        "category": sample.category,
        "level": level_of(step, settings.options["level"], settings.options["judge_level"]),
        "answer_format": settings.answer_format,
        "schema": question.resources.schema,
        "prompt_set": question.resources.prompts,
        "examples": examples_of(sample, step, settings, question.resources),
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
    }


def _label_counts(question: Question) -> Mapping[str, Mapping[str, int]]:
    return question.resources.derived(LABEL_COUNTS, count_labels)


def count_labels(samples: Sequence[Sample]) -> dict[str, dict[str, int]]:
    """Return how often each label stands in the gold of all stories, by dimension: what the majority baseline goes
    by."""
    counts: dict[str, Counter[str]] = {}
    for sample in samples:
        for belief in sample.gold["beliefs"]:
            for key, label in belief["labels"].items():
                counts.setdefault(key, Counter())[label] += 1
    return {key: dict(matches) for key, matches in counts.items()}


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
