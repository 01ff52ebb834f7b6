"""Answers made elsewhere, scored as the released code scores them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.suites.answers import AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.metrics import analyses_of
from benchmark.suites.fantom.parsing import SHORT, parsed_of, parses_of, samples_of, scored
from benchmark.suites.fantom_questions.data import (
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
    file_of,
    in_full,
    read_fantom,
)
from benchmark.suites.fantom_questions.metrics import (
    Read,
    by_order,
    groups_right,
    list_answers,
    mean,
    released_f1,
    wholes_of,
    without_absent,
)
from benchmark.suites.fantom_questions.parsing import Scored, after_marker
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import Json, plain

GROUPINGS: Mapping[str, Callable[[Scored], str]] = {
    "set": lambda answer: answer.row.set_id,
    "part": lambda answer: answer.row.part_id,
    "conversation": lambda answer: answer.row.conversation_id,
}
"""The questions that must be right as a whole."""
Released = dict[str, float | dict[str, int] | None]
"""Metrics by their name in the released code: per cent, or how often what made an answer wrong."""
_REASONS = {0: "false_negative", 1: "false_positive", -1: "irrelevant_response"}


def scenario_metrics(answers: Sequence[Scored], scenario: str, grouping: str) -> Released:
    """Return the metrics of the questions of a scenario, under the released code's names, in which a group is a "set"
    whatever it is; None stands for not a number.

    `answers` are those of both scenarios; `grouping` is a key of GROUPINGS.
    """
    rows = [answer for answer in answers if answer.row.scenario == scenario]
    group = GROUPINGS[grouping]
    free = [answer for answer in rows if answer.row.kind == DISTANCE]
    choices = [answer for answer in rows if answer.row.kind == CHOICE]
    metrics: Released = {
        f"{scenario}:set:ALL*": _per_cent_right(rows, group),
        f"{scenario}:set:ALL": _per_cent_right([answer for answer in rows if answer.row.kind != DISTANCE], group),
        f"{scenario}:belief:multiple-choice": _share(choices),
        f"{scenario}:belief:distance": _share(free),
        f"{scenario}:belief_true_word-f1": _per_cent(mean([answer.f1 for answer in free if answer.right])),
    }
    for topic in (ANSWERABILITY, INFORMATION):
        metrics |= _of_topic([answer for answer in rows if answer.row.topic == topic], f"{scenario}:{topic}", grouping)
    metrics["fact_word-f1"] = _per_cent(mean([answer.f1 for answer in answers if answer.row.kind == FACT]))
    metrics |= {f"{scenario}:tom:{name}": counts for name, counts in _wrong_reasons(rows).items()}
    metrics |= {
        f"{scenario}:{order}": share for order, answers_of in by_order(free).items() if (share := _share(answers_of))
    }
    metrics[f"{scenario}:set:ALL_character"] = _per_cent(mean(_all_of_characters(rows, group)))
    metrics[f"{scenario}:set:character_answer_consistency"] = _per_cent(mean(_consistency(rows, group)))
    return metrics


def _of_topic(rows: Sequence[Scored], name: str, grouping: str) -> Released:
    single = [answer for answer in rows if answer.row.kind == YES_NO]
    return {
        f"{name}:set:ALL": _per_cent_right(rows, GROUPINGS[grouping]),
        f"{name}:list": _share([answer for answer in rows if answer.row.kind == LIST]),
        f"{name}:binary-f1": _per_cent(
            released_f1([(int(answer.row.right[0] == YES), answer.answer_class) for answer in single])
        ),
    }


def _per_cent_right(answers: Sequence[Scored], group: Callable[[Scored], str]) -> float | None:
    return _per_cent(mean(groups_right(answers, group)))


def _per_cent(share: float | None) -> float | None:
    return None if share is None else round(share, 3) * 100


def _share(answers: Sequence[Scored]) -> float | None:
    return _per_cent(mean([float(answer.right) for answer in answers]))


def _wrong_reasons(rows: Sequence[Scored]) -> dict[str, dict[str, int]]:
    lists = [answer.listed for answer in rows if answer.row.topic == ANSWERABILITY and answer.listed]
    of_lists = Counter(_list_reason(names.excluded_aware, names.included_unaware) for names in lists if not names.right)
    of_single = Counter(
        _REASONS[answer.answer_class] for answer in rows if answer.row.kind == YES_NO and not answer.right
    )
    return {"lists:wrong_reasons:freq": dict(of_lists), "binary:wrong_reasons:freq": dict(of_single)}


def _list_reason(excluded: bool, included: bool) -> str:
    return (
        "did_both"
        if excluded and included
        else "excluded_aware_character"
        if excluded
        else "included_unaware_character"
    )


def _all_of_characters(rows: Sequence[Scored], group: Callable[[Scored], str]) -> list[float]:
    """Return for each group and character 1 where everything about the character is right."""
    values: dict[tuple[str, str], bool] = {}
    lists = list_answers(rows, group)
    for answer in rows:
        if answer.row.kind == YES_NO:
            name = answer.row.character.lower()
            key = (group(answer), name)
            named = [
                (name in text) == (answer.row.right[0] == YES)
                for text in lists.get((group(answer), answer.row.topic), ())
            ]
            values[key] = values.get(key, True) and answer.right and all(named)
    for answer in rows:
        if answer.row.kind in (DISTANCE, CHOICE):
            key = (group(answer), answer.row.subject)
            values[key] = values.get(key, True) and answer.right
    return [float(value) for value in values.values()]


def _consistency(rows: Sequence[Scored], group: Callable[[Scored], str]) -> list[float]:
    """Return for each group and character 1 where single answers and lists say the same of the character."""
    answers: dict[tuple[str, str], set[int]] = {}
    lists = list_answers(rows, group)
    for answer in rows:
        if answer.row.kind == YES_NO:
            name = answer.row.character.lower()
            named = {int(name in text) for text in lists.get((group(answer), answer.row.topic), ())}
            answers.setdefault((group(answer), name), set()).update({answer.answer_class, *named})
    return [float(len(values) == 1) for values in answers.values()]


RUNS = (("short", "set"), ("full", "set"), ("short", "part"), ("full", "conversation"))
"""The conversation that the questions are about, and what must be right as a whole."""


def score_answers(data: Path, answers: Path, *, embedder: str = "toy") -> ParsedScores:
    """Return both parses of answers `{"QUESTION_ID": "text"}`, ids as `Row.id` has them: official metrics of each of
    RUNS under `<conversation>/<group>/<embedder>`, repaired ones, as fractions, of sets in the short conversation. Only
    questions with an answer are scored, and in the repaired parse only sets all of whose questions have one. Raises
    ValueError."""
    copy = read_fantom(file_of(data))
    sets = copy.sets
    texts = read_answers(answers)
    rows = [row for question_set in sets.values() for row in question_set.rows]
    ids = {row.id for row in rows}
    for name, text in texts.items():
        if name not in ids:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is not a question of {data.name}.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    rated = scored(rows, texts, embedder_named(embedder))
    metrics = {f"{mode}/{grouping}/{embedder}": _metrics(rated, sets, mode, grouping) for mode, grouping in RUNS}
    parsed = {row.row.id: {embedder: parsed_of(row)} if row.row.kind == DISTANCE else parsed_of(row) for row in rated}
    repaired = _repaired(list(samples_of(copy, SHORT)), texts, embedder)
    return ParsedScores(AnswerScores(parsed, metrics), repaired)


def _repaired(samples: Sequence[Sample], texts: Mapping[str, str], embedder: str) -> AnswerScores:
    reads = []
    for sample in samples:
        if sample.key in texts:
            answer = after_marker(without_thoughts(texts[sample.key]))
            parse = parses_of(sample, answer, embedder_named(embedder))[1]
            reads.append(Read(sample, 0, parse))
    analyses = analyses_of(reads, wholes_of(samples), "repaired", embedder, seed=1)
    scenarios = {
        scenario: {name: metric.value for name, metric in metrics.items()} | plain(analyses.reasons[scenario])
        for scenario, metrics in analyses.scenarios.items()
    }
    answers = {read.sample.key: read.parse for read in reads}
    return AnswerScores(answers, {f"short/set/{embedder}": scenarios | {"fact": analyses.fact.value}})


def _metrics(rated: Sequence[Scored], sets: Mapping[str, QuestionSet], mode: str, grouping: str) -> Json:
    rows = without_absent(rated) if mode == "short" else _in_full(rated, sets)
    return {
        name: {"model": "fake", "conversation_input_type": mode, **scenario_metrics(rows, scenario, grouping)}
        for name, scenario in (("fantom", INACCESSIBLE), ("control_task", ACCESSIBLE))
    }


def _in_full(rated: Sequence[Scored], sets: Mapping[str, QuestionSet]) -> list[Scored]:
    labelled = {row.id: row for question_set in sets.values() for row in in_full(question_set.rows)}
    return [replace(answer, row=labelled[answer.row.id]) for answer in rated]
