"""The judge of extractions: the settings that identify it, its self-test, its follow-up, and the lexical judge."""

from collections.abc import Sequence

from annotation.domain.schema import WORLD, is_world
from benchmark.suites.judges import FollowUp, Grouping, Judge, JudgeTest, Pairs, RowGroups, Tables
from benchmark.suites.omnitom.data import EXTRACT, FOLLOW_UP, JUDGE, GoldRow, Record, pairs_of, record_of_sample
from benchmark.suites.omnitom.judgements import LINKS, NOTHING, Judging, pass_verdicts, rows_kept
from benchmark.suites.omnitom.labels import ORDER
from benchmark.suites.omnitom.methods import judge_sees
from benchmark.suites.omnitom.parsing.answers import PredictedRow, parse_extraction
from benchmark.suites.omnitom.prompting.examples import CALIBRATION_SPLIT, example_count_of, judge_answer
from benchmark.suites.omnitom.prompting.requests import DIGEST, WORDINGS
from benchmark.suites.omnitom.results import ACTORS
from benchmark.suites.omnitom.steps import judge_request, judging_of
from benchmark.suites.questions import Question, Sample
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NOT_WHOLE, REFUSED
from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from core.plain import Json
from judge.domain.lexical import align, lexical_judge
from workers.providers.contract import Body, Task

# --- the lexical judge


def answer(body: Body) -> str:
    """Return the lexical judge's answer about `predictions` and `gold` [[actor, belief], …] of a task."""
    task = body["task"]
    return written(task, align(task["predictions"], task["gold"], threshold=body["threshold"]))


def written(task: Task, pairs: Sequence[tuple[int, int]]) -> str:
    """Return the answer of a judge to whom these pairs of rows say the same, in the answer format of the task."""
    return judge_answer((task["predictions"], task["gold"]), pairs, task.get("answer_format", "text"))


LEXICAL = lexical_judge(
    task=JUDGE, answer=answer, sample={"predictions": [["Ines", "three"]], "gold": [["Ines", "three"]]}
)


# --- any judge


def instrument(settings: Settings) -> Json:
    """Return the settings that identify a judge, none of one that reads no prompt. The longest answer and the seed are
    not part of it: a longer answer loses fewer rows, and another seed is a repetition."""
    how, chosen = Judging.of(settings), Json()
    if settings.judge_reads_prompts:
        chosen = {name: settings.options[name] for name in ("judge_level", "with_story")}
        if shots := example_count_of(settings, JUDGE):
            chosen |= {"shots": shots, "examples_from": settings.options["examples_from"]}
    if how.passes > 1:
        chosen["passes"] = how.passes
    if how.links:
        chosen |= {"judge_form": LINKS, "cannot_tell": WORDINGS["cannot_tell"]}
    if how.settle != NOTHING:
        chosen |= {"settle": how.settle, "settled": WORDINGS["settled"]}
    return chosen


def _counts(question: Question, pairs: Pairs, answer: str) -> list[int | None]:
    predicted = [PredictedRow(pair.actor, pair.belief, "") for pair in pairs]
    read = pass_verdicts(answer, predicted, _gold(question.sample, pairs), judging_of(question))[0]
    return [None if verdict is None else verdict.count for verdict in read]


def _gold(sample: Sample, pairs: Pairs) -> list[GoldRow]:
    rows = record_of_sample(sample).rows
    return [rows[at] for at in sorted(pair.gold for pair in pairs)]


def _compared(question: Question) -> tuple[list[PredictedRow], Record]:
    """Return the rows of the extraction, in its repaired parse, and the record with gold's."""
    record, how = record_of_sample(question.sample, question.resources.schema), judging_of(question)
    return parse_extraction(question.answers[EXTRACT], structured=how.structured, scheme=record.scheme), record


def tables(question: Question) -> Tables:
    """Return the predicted and gold rows of a kept judgement."""
    predicted, record = _compared(question)
    return pairs_of(predicted), pairs_of(record.shown_rows)


def orders(question: Question) -> RowGroups:
    """Return the orders of the rows of `tables`: those that the model gave, and those of gold; "" for a text that is
    not an order."""
    predicted, record = _compared(question)
    legal, gold = record.scheme.legal[ORDER], [record.scheme.order_of(row.labels) for row in record.shown_rows]
    mine, theirs = (
        [order if order in legal else "" for order in side] for side in ([row.order for row in predicted], gold)
    )
    return mine, theirs


BY_ROLE = Grouping(
    "role", gettext_noop("Actor role"), gettext_noop("Agreement by actor role"),
    of_row=lambda row: WORLD if is_world(row[0]) else ACTORS, worded=True,
)  # fmt: skip
BY_ORDER = Grouping(
    ORDER, gettext_noop("Order"), gettext_noop("Agreement by order"),
    note=gettext_noop("Orders: of gold rows gold's, of predictions the one that the model gave."), of_question=orders,
)  # fmt: skip
JUDGED = Judge(
    instrument=instrument,
    passes=lambda settings: Judging.of(settings).names[1:],
    held_to_schema=lambda settings: Judging.of(settings).by_id,
    kept=rows_kept,
    tables=tables,
    groupings=(BY_ROLE, BY_ORDER),
    written=written,
    sees=judge_sees,
    test=JudgeTest(
        rows=lambda sample: [(belief["actor"], belief["belief"]) for belief in sample.gold["beliefs"]],
        # the made rows as predictions, with the rows that they were made of, in the order of the story, as gold
        request=lambda question, pairs: judge_request(
            question, [(pair.actor, pair.belief) for pair in pairs], _gold(question.sample, pairs)
        ),
        counts=_counts,
        spared=CALIBRATION_SPLIT,
        examples=lambda settings: settings.example_stories,
        settings=(
            "judge_level", "with_story", "max_tokens", "seed", "shots", "examples", "examples_from", "example_stories",
            "judge_answer_format",
        ),
    ),
    follow_up=FollowUp(
        step=FOLLOW_UP, wording=DIGEST, characters_a_row=90, hopeless=(REFUSED, JUDGE_NOT_STRUCTURED, NOT_WHOLE)
    ),
)  # fmt: skip
