"""The four kinds of calls of OmniToM: what is asked, and how the answers are read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from benchmark.suites.contract import Parsed, Question, Sample, Step
from benchmark.suites.omnitom.item_parses import parse_follow_up, parse_stage1, parse_stage1_rows, parse_stage2
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.prompting import (
    built_in,
    extraction_request,
    judging_request,
    labelling_request,
)
from benchmark.suites.omnitom.prompting.choosing import examples_of, level_of
from benchmark.suites.omnitom.prompting.follow_up import Gaps, follow_up_request
from benchmark.suites.omnitom.prompting.rendering import plain
from benchmark.suites.omnitom.records import GoldRow, Record, record_of_sample
from benchmark.suites.omnitom.repaired import judged_counts
from benchmark.suites.omnitom.serialisers import gold_extraction_table, gold_label_table
from core.plain import Json
from workers.providers.contract import Request

EXTRACT, JUDGE, FOLLOW_UP, LABEL = "extract", "judge", "follow", "label"
STEPS = (
    Step(EXTRACT, "Extraction", answers=("extraction", "extractions")),
    Step(JUDGE, "Judging", judged=True, needs=(EXTRACT,), score="F1"),
    Step(FOLLOW_UP, "Follow-up", judged=True, needs=(EXTRACT, JUDGE), chosen=False, completes=JUDGE),
    Step(LABEL, "Labelling", score="mean accuracy"),
)
STRUCTURED = "structured"


def request(question: Question) -> Request | str:
    """Return what a story is asked at a step, or why nothing is to be asked. Raises BadPromptSet, ValueError."""
    if question.step == EXTRACT:
        return extraction_request(**_how(question))
    if question.step == LABEL:
        return labelling_request(rows=_record(question).rows, counts=_label_counts(question), **_how(question))
    if EXTRACT not in question.answers:
        return "There is no extraction to be judged."
    if question.step == JUDGE:
        return _judging(question)
    if JUDGE not in question.answers:
        return "There is no judgement to follow up."
    return _follow_up(question) or "Every row has a judgement."


def parse(question: Question, answer: str) -> Parsed:
    """Both parses of one answer. A judgement is read with the extraction that it judges and with its follow-up."""
    record, structured = _record(question), question.settings["form"] == STRUCTURED
    extraction = question.answers.get(EXTRACT, "")
    if question.step == JUDGE:
        return parse_stage1(record, extraction, answer, question.answers.get(FOLLOW_UP, ""), structured=structured)
    if question.step == FOLLOW_UP:
        return parse_follow_up(record, extraction, question.answers.get(JUDGE, ""), answer, structured=structured)
    if question.step == LABEL:
        return parse_stage2(record, answer, structured=structured)
    return parse_stage1_rows(answer, structured=structured, scheme=record.scheme)


def expected(question: Question) -> str:
    """Return what a perfect model would answer, in the form that is asked for; the judge's two tables as the data has
    them."""
    record, structured = _record(question), question.settings["form"] == STRUCTURED
    if question.step == LABEL:
        return gold_label_table(record)
    if not structured:
        return gold_extraction_table(record)
    ordered = record.scheme.ordered
    rows = [
        {"actor": row.actor, "belief": row.belief} | ({"order": row.order} if ordered else {}) for row in record.shown
    ]
    return json.dumps({"rows": rows}, ensure_ascii=False)


def _record(question: Question) -> Record:
    return record_of_sample(question.sample, question.resources.schema)


def judge_request(question: Question, predictions: Sequence[Sequence[str]], gold: Sequence[GoldRow]) -> Request:
    """Return what the run's judge is asked about predicted rows (actor, belief) and gold rows of a story."""
    how, with_story = _how(question), question.settings["with_story"]
    if not question.settings["judge_reads_prompts"]:  # it goes by the data alone, whatever the set has prompts for
        how, with_story = how | {"prompt_set": built_in()}, False
    return judging_request(predictions=predictions, gold=gold, with_story=with_story, **how)


def predicted_rows(extraction: str, answer_format: str, scheme: Scheme) -> list[tuple[str, str]]:
    """Return what the judge is shown of an extraction: the rows of official parsing, and of the repaired one where
    there is no official one."""
    structured = answer_format == STRUCTURED
    if structured or not scheme.official:
        return [(row.actor, row.belief) for row in parse_extraction(extraction, structured=structured, scheme=scheme)]
    return [(row.actor, row.belief) for row in extraction_rows(extraction)]


def _judging(question: Question) -> Request:
    record = _record(question)
    predicted = predicted_rows(question.answers[EXTRACT], question.settings["form"], record.scheme)
    return judge_request(question, predicted, record.rows)


def _follow_up(question: Question) -> Request | None:
    """Return the follow-up request, None where the judgement leaves no row out."""
    record, structured = _record(question), question.settings["form"] == STRUCTURED
    predicted = parse_extraction(question.answers[EXTRACT], structured=structured, scheme=record.scheme)
    judgement = question.answers[JUDGE]
    counts = judged_counts({"judge": judgement}, predicted, record.shown, structured=structured)
    predictions, gold = ([at for at, count in enumerate(side) if count is None] for side in counts)
    if not (predictions or gold):
        return None
    gaps = Gaps([(row.actor, row.belief) for row in predicted], plain(record.rows), (predictions, gold))
    return follow_up_request(_judging(question), judgement, gaps, answer_format=question.settings["form"])


def _how(question: Question) -> Json:
    settings, sample = question.settings, question.sample
    step = JUDGE if question.step == FOLLOW_UP else question.step
    return {
        "story": sample.content["story"],
        "category": sample.category,
        "level": level_of(step, settings["level"], settings["judge_level"]),
        "answer_format": settings["form"],
        "schema": question.resources.schema,
        "prompt_set": question.resources.prompts,
        "examples": examples_of(sample, step, settings, question.resources),
        "max_tokens": settings["max_tokens"],
        "seed": settings["seed"],
    }


def _label_counts(question: Question) -> Mapping[str, Mapping[str, int]]:
    return question.resources.derived("label counts", count_labels)


def count_labels(samples: Sequence[Sample]) -> dict[str, dict[str, int]]:
    """Return how often each label stands in the gold of all stories, by dimension: what the majority baseline goes
    by."""
    counts: dict[str, Counter[str]] = {}
    for sample in samples:
        for belief in sample.gold["beliefs"]:
            for key, label in belief["labels"].items():
                counts.setdefault(key, Counter())[label] += 1
    return {key: dict(matches) for key, matches in counts.items()}
