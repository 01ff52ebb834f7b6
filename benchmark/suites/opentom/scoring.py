"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.suites.answers import AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.measuring import ACCURACY
from benchmark.suites.opentom.data import ACCESSIBILITY, COARSE, FINE, FULLNESS, GENRES, PARTS, genre_of, read_opentom
from benchmark.suites.opentom.metrics import (
    MOVER,
    OBSERVER,
    FullPrecision,
    LabelledAnswer,
    MacroAnswer,
    PrintedGenre,
    full_precision,
    macro_estimate,
    macro_mean,
    metrics,
    printed,
    seen_by,
)
from benchmark.suites.opentom.parsing import after_reasoning, after_thinking, gold_label, label_of, predicted_label
from benchmark.suites.opentom.samples import Sampled, sample_of, sampled
from benchmark.suites.opentom.steps import right_label
from core.incoming.thoughts import without_thoughts
from core.plain import WHERE_THERE_IS_ONE
from core.statistics import RESAMPLES

SEED = 1


class RepairedAnswer(NamedTuple):
    """An answer of the repaired parse: the genre and the kind of its question, and what it was read as."""

    genre: str
    kind: str
    read_as: MacroAnswer


@dataclass(frozen=True, slots=True)
class Ends:
    """A metric of `n` answers from 0 to 1 with the ends of its 95 % interval, None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class RepairedMetrics:
    """Metrics of the answers of a genre that were read, the numbers of all and of unreadable ones; `f1_mean_of_kinds`
    of genres with two kinds."""

    accuracy: Ends
    f1: Ends
    answers: int
    unreadable: int
    f1_mean_of_kinds: Ends | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def repaired_metrics(answers: Sequence[RepairedAnswer]) -> dict[str, RepairedMetrics]:
    """Return the metrics by genre."""
    of_genre = {genre: [answer for answer in answers if answer.genre == genre] for genre in GENRES}
    return {genre: _of_genre(rows) for genre, rows in of_genre.items() if rows}


def _of_genre(answers: Sequence[RepairedAnswer]) -> RepairedMetrics:
    labelled = [answer.read_as for answer in answers]
    accuracy, f1 = _accuracy(labelled), _bare(macro_estimate(labelled, seed=SEED))
    unreadable = sum(not answer.counts for answer in labelled)
    kinds = [[answer.read_as for answer in answers if answer.kind == kind] for kind in (FULLNESS, ACCESSIBILITY)]
    mean = _bare(macro_mean(kinds, seed=SEED)) if all(kinds) else None
    return RepairedMetrics(accuracy, f1, len(labelled), unreadable, mean)


def _accuracy(answers: Sequence[MacroAnswer]) -> Ends:
    scores = [_score(answer) for answer in answers if answer.counts]
    if not scores:
        return Ends(None, None, None, 0)
    row = overall_row(scores, (ACCURACY,), seed=SEED, resamples=RESAMPLES, unit="narratives")
    interval, _ = row.intervals[ACCURACY]
    return _bare(BoundedEstimate(row.values[ACCURACY], len(scores), interval))


def _score(answer: MacroAnswer) -> StoryScore:
    right = {ACCURACY: float(answer.gold == answer.predicted)}
    return StoryScore("", right, right, right, cluster=answer.narrative)


def _bare(estimate: BoundedEstimate) -> Ends:
    low, high = estimate.interval or (None, None)
    return Ends(estimate.value, low, high, estimate.n)


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
