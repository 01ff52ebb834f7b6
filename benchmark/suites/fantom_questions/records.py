"""A record of FANToM's file, checked."""

from __future__ import annotations

from typing import Annotated

from benchmark.suites.fantom_questions.rows import ACCESSIBLE, INACCESSIBLE, NO, NOT_THERE, YES
from core.incoming.shapes import Among, Filled, Like, Open

Scenario = Annotated[str, Among((ACCESSIBLE, INACCESSIBLE))]
SetId = Annotated[str, Like(r"^\d+-\d+-\d+$", "conversation, part and set, such as 3-0-0")]


class FactRecord(Open):
    question: Filled
    correct_answer: Filled


class BeliefRecord(Open):
    question: Filled
    tom_type: Filled
    correct_answer: Filled
    wrong_answer: Filled
    missed_info_accessibility: Scenario


class ListRecord(Open):
    question: Filled
    correct_answer: list[Filled]
    wrong_answer: list[Filled]
    missed_info_accessibility: Scenario


class YesNoRecord(Open):
    question: Annotated[str, Like(r"^Does .+ know", "a question such as “Does Linda know …”")]
    correct_answer: Annotated[str, Among((YES, NO, NOT_THERE))]
    missed_info_accessibility: Scenario


class SetRecord(Open):
    """A set of questions about one piece of information; names of fields are the file's."""

    set_id: SetId
    short_context: Filled
    full_context: Filled
    factQA: FactRecord
    beliefQAs: list[BeliefRecord]
    answerabilityQA_list: ListRecord
    infoAccessibilityQA_list: ListRecord
    answerabilityQAs_binary: list[YesNoRecord]
    infoAccessibilityQAs_binary: list[YesNoRecord]
