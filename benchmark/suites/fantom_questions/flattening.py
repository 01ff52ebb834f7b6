"""A record of FANToM's file as questions, in the order in which the released code asks them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmark.suites.fantom_questions.records import BeliefRecord, ListRecord, SetRecord, YesNoRecord
from benchmark.suites.fantom_questions.rows import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INACCESSIBLE,
    INFORMATION,
    LIST,
    YES,
    YES_NO,
    QuestionSet,
    Row,
)

ORDER_SEED = 99


def question_sets(records: Sequence[SetRecord]) -> dict[str, QuestionSet]:
    """Return the sets by id. The order of options is drawn anew with the released code's seed, one draw a belief in the
    order of the file."""
    draws = random.Random(ORDER_SEED)
    return {record.set_id: _question_set(record, draws) for record in records}


def _question_set(record: SetRecord, draws: random.Random) -> QuestionSet:
    fact = record.factQA
    rows = [Row(f"{record.set_id}/fact", record.set_id, FACT, fact.question, "", (fact.correct_answer,))]
    for index, belief in enumerate(record.beliefQAs):
        rows += _belief(record.set_id, index, belief, wrong_first=draws.choice([True, False]))
    for topic, everybody, single in (
        (ANSWERABILITY, record.answerabilityQA_list, record.answerabilityQAs_binary),
        (INFORMATION, record.infoAccessibilityQA_list, record.infoAccessibilityQAs_binary),
    ):
        rows += _knowing(record.set_id, topic, everybody, single)
    return QuestionSet(
        record.set_id,
        record.short_context.strip(),
        record.full_context.strip(),
        fact.question,
        fact.correct_answer,
        tuple(rows),
    )


def _belief(set_id: str, index: int, belief: BeliefRecord, *, wrong_first: bool) -> list[Row]:
    texts = (
        (belief.wrong_answer, belief.correct_answer) if wrong_first else (belief.correct_answer, belief.wrong_answer)
    )
    free = Row(
        id=f"{set_id}/belief{index}/dist",
        set_id=set_id,
        kind=DISTANCE,
        question=belief.question,
        scenario=belief.missed_info_accessibility,
        right=(belief.correct_answer,),
        wrong=(belief.wrong_answer,),
        order=belief.tom_type,
    )
    return [free, replace(free, id=f"{set_id}/belief{index}/choice", kind=CHOICE, options=texts, key=int(wrong_first))]


def _knowing(set_id: str, topic: str, everybody: ListRecord, single: Sequence[YesNoRecord]) -> Iterator[Row]:
    yield Row(
        id=f"{set_id}/{topic}/list",
        set_id=set_id,
        kind=LIST,
        question=everybody.question,
        scenario=everybody.missed_info_accessibility,
        right=tuple(everybody.correct_answer),
        wrong=tuple(everybody.wrong_answer),
        topic=topic,
    )
    for record in single:
        name = record.question.partition("Does ")[2].split(" know", 1)[0]
        yield Row(
            id=f"{set_id}/{topic}/yn/{name}",
            set_id=set_id,
            kind=YES_NO,
            question=record.question,
            scenario=record.missed_info_accessibility,
            right=(record.correct_answer,),
            topic=topic,
            character=name,
        )


def in_full(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a set as they are labelled in the full conversation: who was not there at first does not know,
    either."""
    scenarios = {}
    for topic in (ANSWERABILITY, INFORMATION):
        of_topic = [row for row in rows if row.topic == topic]
        scenarios[topic, LIST] = any(row.wrong for row in of_topic if row.kind == LIST)
        scenarios[topic, YES_NO] = any(row.right[0] != YES for row in of_topic if row.kind == YES_NO)
    return [
        replace(row, scenario=INACCESSIBLE if scenarios[row.topic, row.kind] else ACCESSIBLE) if row.topic else row
        for row in rows
    ]
