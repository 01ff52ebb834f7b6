"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from collections.abc import Mapping
from pathlib import Path

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.answers import BadAnswers, ParsedScores, answer_scores, read_answers
from benchmark.suites.figures import Unit, unit_estimate
from benchmark.suites.opentom.data import GENRES, PARTS, load, named_questions
from benchmark.suites.opentom.metrics import (
    Answer,
    full_precision,
    macro_estimate,
    macro_mean,
    metrics,
    printed,
    seen_by,
)
from benchmark.suites.opentom.parsing import (
    ACCESSIBILITY,
    COARSE,
    FINE,
    FULLNESS,
    after_reasoning,
    after_thinking,
    predicted_label,
    read_answer,
)
from benchmark.suites.opentom.steps import places_of, right_label
from core.incoming.thoughts import without_thoughts
from core.plain import Json

SEED = 1


def score_answers(data: Path, answers: Path, *, part: str = COARSE, cot: bool = False) -> ParsedScores:
    """Return both parses of answers `{"batch-N/NARRATIVE/NUMBER": "text"}` to the questions of a part that the
    released code samples; with `cot` they are by chain of thought, and both parses read what follows the reasoning.

    Only questions with an answer are scored. Repaired answers are labels, OUTSIDE of an answer that is none of those
    that there are, None where none can be read. Raises ValueError.
    """
    if part not in PARTS:
        raise ValueError(f"The part is {part!r}; expected {' or '.join(PARTS)}.")
    questions = named_questions(load(data).samples, part)
    texts = read_answers(answers)
    for name, text in texts.items():
        if name not in questions:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is not a question of OpenToM's {part} part.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    official, repaired = {}, {}
    for name, sample in questions.items():
        if name in texts:
            kind, places = sample.content["kind"], places_of(sample)
            text = texts[name].strip()
            predicted = predicted_label(kind, after_reasoning(text) if cot else text, places)
            official[name] = Answer(sample, sample.gold["label"], predicted)
            bare = without_thoughts(texts[name])
            label = read_answer(kind, after_thinking(bare) if cot else bare.strip(), places)[0]
            repaired[name] = Answer(sample, right_label(sample), label)
    return ParsedScores(_official(official), _repaired(repaired))


def _official(answers: Mapping[str, Answer]) -> Json:
    """Return what the released code prints, over all questions and over those about one person."""
    rows = [(int(name.partition("/")[0].removeprefix("batch-")), answer) for name, answer in answers.items()]
    everything, batches = metrics(rows), sorted({batch for batch, _ in rows})
    scores: Json = {
        "fixed/all": {"printed": printed(everything), "error": None, "full_precision": full_precision(everything)}
    }
    types = dict.fromkeys(answer.sample.gold["type"] for answer in answers.values())
    for person in ("mover", "observer"):
        theirs = [row for row in rows if seen_by(person, row[1].sample)]
        of_types = [(batch, answer.sample.gold["type"]) for batch, answer in theirs]
        counts = {type_: [of_types.count((batch, type_)) for batch in batches] for type_ in types}
        scores[f"fixed/{person}"] = {"printed": printed(metrics(theirs)), "error": None, "n_by_type": counts}
    parsed = {
        name: ["location" if (kind := sample.content["kind"]) in (COARSE, FINE) else kind, gold, label]
        for name, (sample, gold, label, _) in answers.items()
    }
    return answer_scores(parsed, scores)


def _repaired(answers: Mapping[str, Answer]) -> Json:
    """Return the labels, and by genre accuracy and macro F1 of the answers that were read, with intervals over
    narratives, and the mean F1 of kinds if it has both."""
    by_genre: dict[str, Json] = {}
    for genre in GENRES:
        rows = [answer for answer in answers.values() if answer.sample.category == genre]
        if not rows:
            continue
        units = [Unit(answer.sample.cluster, float(answer.gold == answer.label)) for answer in rows if answer.counts]
        kinds = [
            [answer for answer in rows if answer.sample.content["kind"] == kind] for kind in (FULLNESS, ACCESSIBILITY)
        ]
        by_genre[genre] = {
            "accuracy": _ends(unit_estimate(units, SEED, "narratives") if units else BoundedEstimate(None, 0)),
            "f1": _ends(macro_estimate(rows, SEED)),
            "answers": len(rows),
            "unreadable": len(rows) - len(units),
            **({"f1_mean_of_kinds": _ends(macro_mean(kinds, SEED))} if all(kinds) else {}),
        }
    return answer_scores({name: answer.label for name, answer in answers.items()}, by_genre)


def _ends(estimate: BoundedEstimate) -> Json:
    low, high = estimate.interval or (None, None)
    return {"value": estimate.value, "low": low, "high": high, "n": estimate.n}
