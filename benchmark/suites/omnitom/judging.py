"""The judge of extractions: what makes it what it is, its self-test, and what it is asked once more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from annotation.domain.schema import WORLD, is_world
from benchmark.suites.judges import FollowUp, Grouping, Judge, JudgeTest, Pairs, RowGroups, Tables
from benchmark.suites.omnitom.data import EXTRACT, FOLLOW_UP, JUDGE, GoldRow, Record, record_of_sample
from benchmark.suites.omnitom.judgements import LINKS, NOTHING, Judging, pass_verdicts, rows_kept
from benchmark.suites.omnitom.labels import ORDER, Scheme
from benchmark.suites.omnitom.parsing.extraction import PredictedRow, parse_extraction
from benchmark.suites.omnitom.parsing.official import judgement
from benchmark.suites.omnitom.prompting.examples import CALIBRATION_SPLIT, example_count_of
from benchmark.suites.omnitom.prompting.requests import DIGEST, WORDINGS
from benchmark.suites.omnitom.results import ACTORS
from benchmark.suites.omnitom.steps import STRUCTURED, judge_request, judging_of
from benchmark.suites.questions import Question, Sample
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NOT_WHOLE, REFUSED
from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from core.plain import Json
from judge.domain.contrast import Row
from judge.domain.lexical import align, lexical_judge
from workers.providers.contract import Body, Request, Task

JudgedTable = Sequence[Sequence[str]]


def answer(body: Body) -> str:
    task = body["task"]
    return written(task, align(task["predictions"], task["gold"], threshold=body["threshold"]))


def written(task: Task, pairs: Sequence[tuple[int, int]]) -> str:
    """Return the answer of a judge to whom these pairs of rows say the same, in the answer format of the task."""
    write = _matches if task.get("answer_format") == "structured" else _count_tables
    return write(task["predictions"], task["gold"], pairs)


def _count_tables(predictions: JudgedTable, gold: JudgedTable, pairs: Sequence[tuple[int, int]]) -> str:
    """The judge's two CSV tables, MatchCount 1 for the rows of a pair."""
    return judgement(*(_counted(rows, {pair[side] for pair in pairs}) for side, rows in enumerate((predictions, gold))))


def _counted(rows: JudgedTable, paired: set[int]) -> list[tuple[str, str, int]]:
    return [(row[0], row[1], int(at in paired)) for at, row in enumerate(rows)]


def _matches(predictions: JudgedTable, gold: JudgedTable, pairs: Sequence[tuple[int, int]]) -> str:
    """Ids of the matching rows on the other side, by row; ids count from 1."""
    sides = {}
    for side, (name, rows) in enumerate((("predictions", predictions), ("gold", gold))):
        matches = {pair[side]: pair[1 - side] + 1 for pair in pairs}
        sides[name] = [{"id": at + 1, "matches": [matches[at]] if at in matches else []} for at in range(len(rows))]
    return json.dumps(sides)


LEXICAL = lexical_judge(
    task=JUDGE, answer=answer, sample={"predictions": [["Ines", "three"]], "gold": [["Ines", "three"]]}
)
"""The lexical judge of belief tables."""


def instrument(settings: Settings) -> Json:
    """Return the settings that a judge goes by, none of one that reads no prompt. The longest answer and the seed are
    not part of it: a longer answer loses fewer rows, and another seed is a repetition."""
    how = Judging.of(settings)
    beyond = _beyond_one_pass(how)
    if not settings.judge_reads_prompts:
        return beyond
    chosen = {name: settings.options[name] for name in ("judge_level", "with_story")}
    if shots := example_count_of(settings, JUDGE):
        chosen |= {"shots": shots, "examples_from": settings.options["examples_from"]}
    return chosen | beyond


def _beyond_one_pass(how: Judging) -> Json:
    """Return what a judge goes by that is not asked once about all rows in the answer format of the run; nothing of one
    that is, whose versions are older than these settings. The order of shuffled rows is not part of it."""
    chosen: Json = {"passes": how.passes} if how.passes > 1 else {}
    if how.links:
        chosen |= {"judge_form": LINKS, "cannot_tell": WORDINGS["cannot_tell"]}
    if how.settle != NOTHING:
        chosen |= {"settle": how.settle, "settled": WORDINGS["settled"]}
    return chosen


def _passes(settings: Settings) -> tuple[str, ...]:
    return Judging.of(settings).names[1:]


def _held_to_schema(settings: Settings) -> bool:
    return Judging.of(settings).by_id


def _rows(sample: Sample) -> Sequence[Row]:
    return [(belief["actor"], belief["belief"]) for belief in sample.gold["beliefs"]]


def _request(question: Question, pairs: Pairs) -> Request:
    """The made rows as predictions, the rows that they were made of, in the order of the story, as gold."""
    return judge_request(question, [(pair.actor, pair.belief) for pair in pairs], _gold(question.sample, pairs))


def _counts(question: Question, pairs: Pairs, answer: str) -> list[int | None]:
    predicted = [PredictedRow(pair.actor, pair.belief, "") for pair in pairs]
    read = pass_verdicts(answer, predicted, _gold(question.sample, pairs), judging_of(question))[0]
    return [None if of_pass is None else of_pass.count for of_pass in read]


def _gold(sample: Sample, pairs: Pairs) -> list[GoldRow]:
    rows = record_of_sample(sample).rows
    return [rows[at] for at in sorted(pair.gold for pair in pairs)]


def _examples(settings: Settings) -> tuple[int, ...]:
    return settings.example_stories


def tables(question: Question) -> Tables:
    """Return the rows of the extraction, in its repaired parse, and of gold: those that a kept judgement is of."""
    predicted, record = _compared(question)
    return [(row.actor, row.belief) for row in predicted], [(row.actor, row.belief) for row in record.shown_rows]


def orders(question: Question) -> RowGroups:
    """Return the orders of the rows of `tables`: those that the model gave, and those of gold; "" for one
    that is not an order."""
    predicted, record = _compared(question)
    legal = record.scheme.legal[ORDER]
    at = record.scheme.keys.index(ORDER)
    orders_given = [row.order for row in predicted], [row.labels[at] for row in record.shown_rows]
    mine, gold = ([order if order in legal else "" for order in side] for side in orders_given)
    return mine, gold


def _role(row: Row) -> str:
    return WORLD if is_world(row[0]) else ACTORS


def _compared(question: Question) -> tuple[list[PredictedRow], Record]:
    record = record_of_sample(question.sample, question.resources.schema)
    structured = question.settings.answer_format == STRUCTURED
    return parse_extraction(question.answers[EXTRACT], structured=structured, scheme=record.scheme), record


BY_ROLE = Grouping(
    "role", gettext_noop("Actor role"), gettext_noop("Agreement by actor role"), of_row=_role, worded=True,
)  # fmt: skip
BY_ORDER = Grouping(
    ORDER, gettext_noop("Order"), gettext_noop("Agreement by order"),
    note=gettext_noop("Orders: of gold rows gold's, of predictions the one that the model gave."), of_question=orders,
)  # fmt: skip
JUDGED = Judge(
    instrument=instrument,
    passes=_passes,
    held_to_schema=_held_to_schema,
    kept=rows_kept,
    tables=tables,
    groupings=(BY_ROLE, BY_ORDER),
    written=written,
    test=JudgeTest(
        rows=_rows,
        request=_request,
        counts=_counts,
        spared=CALIBRATION_SPLIT,
        examples=_examples,
        settings=(
            "judge_level", "with_story", "max_tokens", "seed", "shots", "examples", "examples_from", "example_stories",
            "judge_answer_format",
        ),
    ),
    follow_up=FollowUp(
        step=FOLLOW_UP, wording=DIGEST, characters_a_row=90, hopeless=(REFUSED, JUDGE_NOT_STRUCTURED, NOT_WHOLE)
    ),
)  # fmt: skip


def judge_of(scheme: Scheme) -> Judge:
    """Return the judge of extractions of a label scheme; without orders in it rows are not grouped by them."""
    return JUDGED if scheme.ordered else replace(JUDGED, groupings=(BY_ROLE,))
