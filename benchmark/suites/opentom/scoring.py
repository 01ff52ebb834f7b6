"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.suites.answers import AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.opentom.data import read_opentom
from benchmark.suites.opentom.genres import genre_of
from benchmark.suites.opentom.kinds import COARSE, FINE, PARTS
from benchmark.suites.opentom.macro_intervals import MacroAnswer
from benchmark.suites.opentom.official import after_reasoning, gold_label, predicted_label
from benchmark.suites.opentom.released_metrics import (
    MOVER,
    OBSERVER,
    FullPrecision,
    LabelledAnswer,
    PrintedGenre,
    full_precision,
    metrics,
    printed,
    seen_by,
)
from benchmark.suites.opentom.repaired import after_thinking, label_of
from benchmark.suites.opentom.repaired_metrics import RepairedAnswer, repaired_metrics
from benchmark.suites.opentom.samples import sample_of
from benchmark.suites.opentom.sampling import Sampled, sampled
from benchmark.suites.opentom.steps import right_label
from core.incoming.thoughts import without_thoughts
from core.plain import WHERE_THERE_IS_ONE


def score_answers(data: Path, answers: Path, *, part: str = COARSE, cot: bool = False) -> ParsedScores:
    """Return both parses of answers `{"batch-N/NARRATIVE/NUMBER": "text"}` to the questions of a part that the
    released code samples; with `cot` they are by chain of thought, and both parses read what follows the reasoning.

    Only questions with an answer are scored. Repaired answers are labels, OUTSIDE of an answer that is none of those
    that there are, None where none can be read; repaired metrics are those of `repaired_metrics`. Raises ValueError.
    """
    if part not in PARTS:
        raise ValueError(f"The part is {part!r}; expected {' or '.join(PARTS)}.")
    questions = {row.id: row for row in sampled(read_opentom(data), part)}
    texts = read_answers(answers)
    for name, text in texts.items():
        if name not in questions:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is not a question of OpenToM's {part} part.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    answered = {name: row for name, row in questions.items() if name in texts}
    official, repaired = (after_reasoning, after_thinking) if cot else (str, str.strip)
    rows = {name: _labelled(row, official(texts[name].strip())) for name, row in answered.items()}
    return ParsedScores(
        _official(rows), _repaired(answered, {name: repaired(without_thoughts(texts[name])) for name in answered})
    )


def _repaired(rows: Mapping[str, Sampled], texts: Mapping[str, str]) -> AnswerScores:
    answers = {name: _repaired_answer(row, texts[name]) for name, row in rows.items()}
    labels = {name: answer.read_as.predicted for name, answer in answers.items()}
    return AnswerScores(labels, repaired_metrics(list(answers.values())))


def _repaired_answer(row: Sampled, text: str) -> RepairedAnswer:
    question = row.question
    kind, places = question.kind, question.narrative.places
    labelled = MacroAnswer(question.narrative.key, right_label(sample_of(question)), label_of(kind, text, places))
    return RepairedAnswer(genre_of(question.type, kind), kind, labelled)


def _labelled(row: Sampled, text: str) -> LabelledAnswer:
    question, narrative = row.question, row.question.narrative
    return LabelledAnswer(
        batch=row.batch,
        type=question.type,
        kind=question.kind,
        question=question.text,
        mover=narrative.mover,
        observer=narrative.observer,
        gold=gold_label(question.kind, question.answer, narrative.places),
        predicted=predicted_label(question.kind, text, narrative.places),
    )


@dataclass(frozen=True, slots=True)
class PrintedScores:
    """Scores that the released code prints of some answers; `full_precision` by genre of all, `n_by_type` the numbers
    of questions by type and batch of those about one person. `error` is where it would have ended: nowhere."""

    printed: Mapping[str, PrintedGenre]
    error: None = None
    full_precision: Mapping[str, FullPrecision] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    n_by_type: Mapping[str, list[int]] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def _official(rows: Mapping[str, LabelledAnswer]) -> AnswerScores:
    everything = metrics(list(rows.values()))
    scores = {"fixed/all": PrintedScores(printed(everything), full_precision=full_precision(everything))}
    for person in (MOVER, OBSERVER):
        theirs = [row for row in rows.values() if seen_by(person, row)]
        counts = _counts([*rows.values()], theirs)
        scores[f"fixed/{person}"] = PrintedScores(printed(metrics(theirs)), n_by_type=counts)
    return AnswerScores({name: _parsed(row) for name, row in rows.items()}, scores)


def _parsed(row: LabelledAnswer) -> list[str | int | None]:
    return ["location" if row.kind in (COARSE, FINE) else row.kind, row.gold, row.predicted]


def _counts(rows: list[LabelledAnswer], theirs: list[LabelledAnswer]) -> dict[str, list[int]]:
    """The numbers of questions by type and batch."""
    batches = sorted({row.batch for row in rows})
    return {
        type_: [sum(row.type == type_ and row.batch == batch for row in theirs) for batch in batches]
        for type_ in dict.fromkeys(row.type for row in rows)
    }
