"""The steps of OmniToM: requests, parses, perfect answers and lengths."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from benchmark.suites.omnitom import official, repaired
from benchmark.suites.omnitom.data import (
    EXTRACT,
    FOLLOW_UP,
    JUDGE,
    LABEL,
    GoldRow,
    Record,
    gold_extraction_rows,
    gold_extraction_table,
    pairs_of,
    record_of_sample,
)
from benchmark.suites.omnitom.judgements import (
    FIRST,
    NOTHING,
    PASSES,
    Judging,
    Sides,
    detail_of,
    judged,
    pass_verdicts,
    released_text,
    unsettled,
)
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, DIMENSIONS
from benchmark.suites.omnitom.parsing.answers import parse_extraction
from benchmark.suites.omnitom.parsing.official import extraction_rows
from benchmark.suites.omnitom.prompting.examples import Example, examples_of, ideal_answer, level_of
from benchmark.suites.omnitom.prompting.requests import (
    ALL_SETTLED,
    CANNOT_TELL,
    MOST_IDS,
    OPENING,
    SETTLED,
    Asking,
    Rows,
    asking_also,
    plain,
    rows_question,
)
from benchmark.suites.omnitom.prompting.sets import built_in
from benchmark.suites.omnitom.results import kinds_of
from benchmark.suites.questions import Parsed, Question, Sample, Step
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import harmonic
from judge.domain.calibration.tables import share
from workers.providers.contract import Message, Request

LABEL_COUNTS = "label counts"
"""The name under which `count_labels` are derived."""
JUDGED_AT = (JUDGE, *PASSES)
"""The steps at which the judge is asked about whole tables, one per pass."""
STRUCTURED = "structured"


def _completing(key: str, label: str, **more: tuple[str, ...] | str) -> Step:
    """Return a step that is not launched and completes the judgement."""
    return Step(key, label, judged=True, chosen=False, completes=JUDGE, **more)  # type: ignore[arg-type]


STEPS = (
    Step(EXTRACT, gettext_noop("Extraction"), answers=(gettext_noop("extraction"), gettext_noop("extractions"))),
    Step(JUDGE, gettext_noop("Judging"), judged=True, needs=(EXTRACT,), score="F1"),
    *(
        _completing(key, Sentence("Judging, pass {at}", at=at), needs=(EXTRACT,), task=JUDGE)
        for at, key in enumerate(PASSES, 2)
    ),
    _completing(FOLLOW_UP, gettext_noop("Follow-up"), needs=(EXTRACT, JUDGE), after=PASSES),
    Step(LABEL, gettext_noop("Labelling"), score=gettext_noop("mean accuracy")),
)


# --- requests


def request(question: Question) -> Request | str:
    """Return the request about a story at a step, or the reason why nothing is to be asked. Raises BadPromptSet,
    ValueError."""
    if question.step == EXTRACT:
        return _asking(question).request()
    if question.step == LABEL:
        counts = question.resources.derived(LABEL_COUNTS, count_labels)
        return replace(_asking(question), rows=_record(question).rows, counts=counts).request()
    if EXTRACT not in question.answers:
        return gettext_noop("There is no extraction to be judged.")
    if question.step in JUDGED_AT:
        return _judging(question)
    if JUDGE not in question.answers:
        return gettext_noop("There is no judgement to follow up.")
    return _follow_up(question) or gettext_noop("Every row has a judgement.")


def judge_request(question: Question, predictions: Sequence[Sequence[str]], gold: Sequence[GoldRow]) -> Request:
    """Return the question to the run's judge about predicted rows (actor, belief) and gold rows of a story."""
    settings, links = question.settings, judging_of(question).links
    asking = replace(_asking(question), predictions=predictions, rows=gold, with_story=settings.options["with_story"])
    if not settings.judge_reads_prompts:  # it reads only the data, whatever the set has prompts for
        asking = replace(asking, prompt_set=built_in(), with_story=False)
    if not links:
        return asking.request()
    request = replace(asking, answer_format=STRUCTURED).request()
    schema: Json = deepcopy(dict(request.schema or {}))
    for side in schema.get("properties", {}).values():
        row: dict[str, Any] = side["items"]
        row["properties"]["cannot_tell"] = {"type": "boolean"}
        row["required"] = list(row["properties"])
    return replace(asking_also(request, CANNOT_TELL), schema=schema)


def _judging(question: Question) -> Request:
    """Return the request of a pass: both tables in its order, with rows that are settled left out of the question."""
    record, how = _record(question), judging_of(question)
    # the rows of official parsing; of the repaired one without it, and for a judge that answers with numbers of rows
    extraction, gold = question.answers[EXTRACT], pairs_of(record.shown_rows)
    if how.by_id or not record.scheme.official:
        predicted = pairs_of(parse_extraction(extraction, structured=how.structured, scheme=record.scheme))
    else:
        predicted = pairs_of(extraction_rows(extraction))
    left = unsettled(predicted, gold, how.settle)
    if how.settle != NOTHING and not any(left):
        nothing = judge_request(question, (), ())
        nothing = replace(nothing, messages=(), schema=None, seed=None, preset_answer=ALL_SETTLED)
        return replace(nothing, task={**nothing.task, "settled": True})
    turn = JUDGED_AT.index(question.step) if question.step in JUDGED_AT else 0
    orders = how.order(turn, 0, len(predicted)), how.order(turn, 1, len(gold))
    shown = [predicted[at] for at in orders[0]], [record.shown_rows[at] for at in orders[1]]
    request = judge_request(question, *shown) if turn else judge_request(question, predicted, record.rows)
    if (len(left[0]), len(left[1])) == (len(predicted), len(gold)):
        return request
    places = [
        [place for place, at in enumerate(order) if at in set(side)] for order, side in zip(orders, left, strict=True)
    ]
    tables = shown[0], [row.as_told for row in shown[1]]
    return asking_also(
        request, rows_question(SETTLED, tables, (places[0], places[1]), STRUCTURED if how.by_id else "text")
    )


def _follow_up(question: Question) -> Request | None:
    """Return the conversation of the judgement, without its answer if that is empty, then the question for the rows
    that it leaves out. Returns None if it leaves no row out."""
    record, how = _record(question), judging_of(question)
    predicted = parse_extraction(question.answers[EXTRACT], structured=how.structured, scheme=record.scheme)
    texts = {step: text for step, text in question.answers.items() if step != FOLLOW_UP}
    sides = judged(texts, predicted, record.shown_rows, how)
    missing = [[at for at, row in enumerate(side) if row.missing] for side in sides]
    if not any(missing):
        return None
    tables: tuple[Rows, Rows] = pairs_of(predicted), plain(record.rows)
    first, earlier = _judging(question), texts[JUDGE].strip()
    asking = rows_question(OPENING, tables, (missing[0], missing[1]), STRUCTURED if how.by_id else "text")
    if earlier:
        asked = replace(first, messages=(*first.messages, Message("assistant", earlier), Message("user", asking)))
    else:
        asked = asking_also(first, asking)
    schema: Json | None = deepcopy(dict(first.schema or {})) if how.by_id else None
    shown = {}
    for name, rows, places in zip(("predictions", "gold"), tables, missing, strict=True):
        shown[name] = [list(row) for row in rows]
        if schema is not None and places and len(places) <= MOST_IDS:
            ids = {"type": "integer", "enum": [at + 1 for at in places]}
            schema["properties"][name]["items"]["properties"]["id"] = ids
    return replace(asked, schema=schema, task={**first.task, **shown})


def judging_of(question: Question) -> Judging:
    """Return how the run's judge is asked about the sample of a question."""
    return Judging.of(question.settings, question.sample.key)


def _asking(question: Question) -> Asking:
    settings, sample = question.settings, question.sample
    step = question.step if question.step in (EXTRACT, LABEL) else JUDGE
    return Asking(
        step=step,
        story=sample.content["story"],
        category=sample.category,
        level=level_of(step, settings),
        answer_format=settings.answer_format,
        schema=question.resources.schema,
        prompt_set=question.resources.prompts,
        examples=examples_of(sample, step, settings, question.resources)[1],
        max_tokens=settings.max_tokens,
        seed=settings.seed,
    )


def _record(question: Question) -> Record:
    return record_of_sample(question.sample, question.resources.schema)


def count_labels(samples: Sequence[Sample]) -> dict[str, dict[str, int]]:
    """Return the number of times that each label stands in the gold of all stories, by dimension, for the majority
    baseline."""
    counts: dict[str, Counter[str]] = {}
    for sample in samples:
        for belief in sample.gold["beliefs"]:
            for key, label in belief["labels"].items():
                counts.setdefault(key, Counter())[label] += 1
    return {key: dict(labels) for key, labels in counts.items()}


# --- answers


def parse(question: Question, answer: str) -> Parsed:
    """Return both parses of one answer. A judgement is read with the extraction that it judges and with its
    follow-up."""
    record, how, step = _record(question), judging_of(question), question.step
    if step == EXTRACT:  # it has no score of its own: the number of its rows and their kinds
        rows = parse_extraction(answer, structured=how.structured, scheme=record.scheme)
        why = "" if rows else repaired.why_unreadable(answer, structured=how.structured, scheme=record.scheme)
        return Parsed(None, {"rows": len(rows), **kinds_of(rows)}, None, None, why, empty=not rows)
    if step == LABEL:
        return parse_stage2(record, answer, structured=how.structured)
    texts = {**question.answers, step: answer}
    if step == JUDGE:
        return parse_stage1(record, texts, how)
    if step == FOLLOW_UP:  # the number of rows that the judgement lacks and of those that the follow-up brings
        before, after = (
            sum(row.missing for side in judged_rows(record, given, how) for row in side)
            for given in ({name: text for name, text in texts.items() if name != FOLLOW_UP}, texts)
        )
        why = "" if after < before else repaired.no_judgement(answer, how)
        return Parsed(None, {"asked": before, "judged": before - after}, None, None, why, after)
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
    sides = pass_verdicts(answer, predicted, record.shown_rows, how, JUDGED_AT.index(step))
    counts = ([verdict and verdict.count for verdict in side] for side in sides)
    has_judgement = any(verdict is not None for side in sides for verdict in side)
    why = "" if has_judgement or not predicted else repaired.no_judgement(answer, how)
    return Parsed(None, dict(zip(("pred", "gold"), counts, strict=True)), None, None, why)


def parse_stage1(record: Record, texts: Mapping[str, str], how: Judging) -> Parsed:
    """Parse a judgement; `texts` are the answers by step. The repaired parse takes what the passes lack from the
    follow-up, the official one reads only the first pass."""
    mended, sides = repaired.read_judgement(record, texts, how)
    undecided = sum(row.cannot_tell for side in sides for row in side) if any(mended.unjudged) else 0
    score = repaired.stage1_score(mended).of("estimate", "f1")
    repaired_fields = (score, mended.unreadable, sum(mended.unjudged) - undecided)
    kept = mended.kept() | detail_of(sides, how)
    if how.structured or not record.scheme.official:
        return Parsed(None, kept, None, *repaired_fields)
    published = {name: texts[name] for name in (EXTRACT, FIRST) if name in texts}
    if not how.as_published:
        published[FIRST] = released_text(record, texts, how)
    tables = official.stored_tables([record], {record.story_id: published})[record.story_id]
    result = official.stage1_result(record, tables)
    precision = share(result.pred_matched, len(result.pred_counts))
    f1 = harmonic(precision, share(result.gold_matched, len(result.gold_counts)))
    return Parsed(result.kept() | tables.kept_aborted, kept, None if tables.aborted else f1, *repaired_fields)


def judged_rows(record: Record, texts: Mapping[str, str], how: Judging) -> Sides:
    """Return the judgement of every row of the extraction in `texts`, and of every gold row that was shown."""
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
    return judged(texts, predicted, record.shown_rows, how)


def parse_stage2(record: Record, answer: str, *, structured: bool = False) -> Parsed:
    """Parse a labelling. Its official score is the share of right cells, the mean of the seven accuracies."""
    texts = {LABEL: answer}
    mended = repaired.stage2_result(record, texts, structured=structured)
    score, empty = repaired.stage2_score(mended).of("estimate", ALL_DIMENSIONS), not any(mended.predicted)
    if structured or not record.scheme.official:
        return Parsed(None, mended.kept(), None, score, mended.unreadable, empty=empty)
    tables = official.stored_tables([record], {record.story_id: texts})[record.story_id]
    result = official.stage2_result(record, tables)
    right = sum(
        bool(label) and label == gold_label
        for gold, predicted in zip(result.gold, result.predicted, strict=True)
        for label, gold_label in zip(predicted or (), gold, strict=False)
    )
    accuracy = None if tables.aborted else share(right, len(result.gold) * len(DIMENSIONS))
    parsed = result.kept() | tables.kept_aborted
    return Parsed(parsed, mended.kept(), accuracy, score, mended.unreadable, empty=empty)


def expected(question: Question) -> str:
    """Return a perfect model's answer in the requested answer format. A judge's is about the gold table and itself."""
    record, answer_format = _record(question), question.settings.answer_format
    if question.step in (JUDGE, *PASSES):
        told = tuple(row.as_told for row in record.rows)
        asked = STRUCTURED if judging_of(question).links else answer_format
        return ideal_answer(Example(record, told, tuple((at, at) for at in range(len(told)))), JUDGE, asked)
    if question.step == LABEL:
        return ideal_answer(Example(record), LABEL, answer_format)
    if answer_format != STRUCTURED:
        return gold_extraction_table(record)
    rows = gold_extraction_rows(record.shown_rows, record.scheme)
    return json.dumps({"rows": rows}, ensure_ascii=False)
