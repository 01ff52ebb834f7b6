"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.suites.answers import AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.measuring import ACCURACY
from benchmark.suites.opentom.data import ACCESSIBILITY, COARSE, FINE, FULLNESS, GENRES, PARTS, genre_of, read_opentom
from benchmark.suites.opentom.metrics import (
    MOVER,
    OBSERVER,
    LabelledAnswer,
    MacroAnswer,
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
from core.plain import Json
from core.statistics import RESAMPLES

SEED = 1


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
    answers: dict[str, MacroAnswer] = {}
    by_genre: dict[str, dict[str, list[MacroAnswer]]] = {genre: {} for genre in GENRES}
    for name, row in rows.items():
        question = row.question
        label = label_of(question.kind, texts[name], question.narrative.places)
        answers[name] = MacroAnswer(question.narrative.key, right_label(sample_of(question)), label)
        kinds = by_genre[genre_of(question.type, question.kind)]
        kinds.setdefault(question.kind, []).append(answers[name])
        kinds.setdefault("all", []).append(answers[name])
    labels = {name: answer.predicted for name, answer in answers.items()}
    return AnswerScores(labels, {genre: _of_genre(kinds) for genre, kinds in by_genre.items() if kinds})


def _of_genre(answers: Mapping[str, Sequence[MacroAnswer]]) -> Json:
    """Return accuracy and macro F1 of the answers of a genre that were read, with intervals over narratives, and the
    mean F1 of kinds if it has both."""
    every, kinds = answers["all"], [answers.get(kind, ()) for kind in (FULLNESS, ACCESSIBILITY)]
    mean = {"f1_mean_of_kinds": _ends(macro_mean(kinds, seed=SEED))} if all(kinds) else {}
    return {
        "accuracy": _ends(_accuracy(every)),
        "f1": _ends(macro_estimate(every, seed=SEED)),
        "answers": len(every),
        "unreadable": sum(not answer.counts for answer in every),
        **mean,
    }


def _accuracy(answers: Sequence[MacroAnswer]) -> BoundedEstimate:
    scores = []
    for answer in filter(lambda answer: answer.counts, answers):
        right = {ACCURACY: float(answer.gold == answer.predicted)}
        scores.append(StoryScore("", right, right, right, cluster=answer.narrative))
    if not scores:
        return BoundedEstimate(None, 0)
    row = overall_row(scores, (ACCURACY,), seed=SEED, resamples=RESAMPLES, unit="narratives")
    return BoundedEstimate(row.cell(ACCURACY).value, len(scores), row.interval_of(ACCURACY))


def _ends(estimate: BoundedEstimate) -> Json:
    low, high = estimate.interval or (None, None)
    return {"value": estimate.value, "low": low, "high": high, "n": estimate.n}


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


def _official(rows: Mapping[str, LabelledAnswer]) -> AnswerScores:
    """Return what the released code prints, over all questions and over those about one person."""
    everything, batches = metrics(list(rows.values())), sorted({row.batch for row in rows.values()})
    scores: Json = {
        "fixed/all": {"printed": printed(everything), "error": None, "full_precision": full_precision(everything)}
    }
    for person in (MOVER, OBSERVER):
        theirs = [row for row in rows.values() if seen_by(person, row)]
        counts = {
            type_: [sum(row.type == type_ and row.batch == batch for row in theirs) for batch in batches]
            for type_ in dict.fromkeys(row.type for row in rows.values())
        }
        scores[f"fixed/{person}"] = {"printed": printed(metrics(theirs)), "error": None, "n_by_type": counts}
    parsed = {
        name: ["location" if row.kind in (COARSE, FINE) else row.kind, row.gold, row.predicted]
        for name, row in rows.items()
    }
    return AnswerScores(parsed, scores)
