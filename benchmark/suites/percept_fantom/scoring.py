"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmark.methods.perceptom import array_in
from benchmark.suites.answers import Answered, AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    INACCESSIBLE,
    INFORMATION,
    LIST,
    YES,
    YES_NO,
    QuestionSet,
    Sets,
    file_of,
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
from benchmark.suites.fantom_questions.parsing import Scored
from benchmark.suites.perceiving import asking
from benchmark.suites.perceiving.perceptions import ACCURACY, Shares, mean_shares
from benchmark.suites.percept_fantom.data import (
    ASKED,
    SCENARIO_NAMES,
    Parts,
    annotated_sets,
    read_annotation,
    samples_of,
)
from benchmark.suites.percept_fantom.metrics import questions_of
from benchmark.suites.percept_fantom.parsing import official_shares, parses_of, repaired_shares, scored_answer
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import Json

SCENARIOS = {"inaccessible": "inaccessible(false belief)", "accessible": "accessible(true belief)"}
"""Their names in the released code."""


def scenario_metrics(answers: Sequence[Scored], scenario: str) -> dict[str, Json]:
    """Return the metrics of the questions of a scenario, under the released code's names.

    `answers` are those of both scenarios, those on characters who are not in the conversation among them: these count
    for the figures of characters alone.
    """
    everybody = [answer for answer in answers if answer.row.scenario == scenario]
    rows = without_absent(everybody)
    whole = _of_whole_sets(rows, without_absent(answers)) if scenario == ACCESSIBLE else rows
    beliefs = [answer for answer in rows if answer.row.kind == CHOICE]
    metrics = {
        f"{scenario}:set:ALL": _metric(groups_right(whole, _set_of)),
        f"{scenario}:belief:multiple-choice": _shares(beliefs),
    }
    for topic in (ANSWERABILITY, INFORMATION):
        metrics |= _of_topic([answer for answer in rows if answer.row.topic == topic], f"{scenario}:{topic}")
    orders = {order: _shares(part) for order, part in by_order(beliefs).items()}
    metrics |= {f"{scenario}:{order}": metric for order, metric in orders.items() if metric["score"]}
    metrics[f"{scenario}:set:ALL_character"] = _metric(_all_of_characters(everybody))
    metrics[f"{scenario}:set:character_answer_consistency"] = _metric(_consistency(everybody))
    return metrics


def _set_of(answer: Scored) -> str:
    return answer.row.set_id


def _of_whole_sets(rows: Iterable[Scored], answers: Iterable[Scored]) -> list[Scored]:
    """The answers of sets all of whose questions are of the scenario."""
    mixed = {answer.row.set_id for answer in answers if answer.row.scenario != ACCESSIBLE}
    return [answer for answer in rows if answer.row.set_id not in mixed]


def _of_topic(rows: Sequence[Scored], name: str) -> dict[str, Json]:
    single = [answer for answer in rows if answer.row.kind == YES_NO]
    f1 = released_f1([(int(answer.row.right[0] == YES), answer.answer_class) for answer in single])
    return {
        f"{name}:set:ALL": _metric(groups_right(rows, _set_of)),
        f"{name}:list": _shares([answer for answer in rows if answer.row.kind == LIST]),
        f"{name}:binary-f1": {"score": _rounded(f1), "#questions": float(len(single))},
    }


def _shares(answers: Sequence[Scored]) -> Json:
    return _metric([float(answer.right) for answer in answers])


def _metric(values: Sequence[float]) -> Json:
    return {"score": _rounded(mean(values)), "#questions": float(len(values))}


def _rounded(value: float | None) -> float | None:
    """Three decimals as numpy rounds, of which Python's differs at halves."""
    return None if value is None else float(np.round(value, 3))


def _all_of_characters(rows: Sequence[Scored]) -> list[float]:
    """Return for each set and character 1 where both lists and all choices are right about the character; single
    answers do not count here."""
    values: dict[tuple[str, str], bool] = {}
    for answer, named in _named(rows):
        key = (answer.row.set_id, answer.row.character.lower())
        values[key] = values.get(key, True) and named == (answer.row.right[0] == YES)
    for answer in rows:
        if answer.row.kind == CHOICE:
            key = (answer.row.set_id, answer.row.subject)
            values[key] = values.get(key, True) and answer.right
    return [float(value) for value in values.values()]


def _consistency(rows: Sequence[Scored]) -> list[float]:
    """Return for each set and character 1 where both lists say the same of the character."""
    answers: dict[tuple[str, str], set[bool]] = {}
    for answer, named in _named(rows):
        answers.setdefault((answer.row.set_id, answer.row.character.lower()), set()).add(named)
    return [float(len(values) == 1) for values in answers.values()]


def _named(rows: Sequence[Scored]) -> Iterable[tuple[Scored, bool]]:
    """The questions on single characters, each with whether the list of its topic names the character, wherever in the
    answer."""
    lists = list_answers(rows, _set_of)
    for answer in rows:
        if answer.row.kind == YES_NO:
            for text in lists.get((answer.row.set_id, answer.row.topic), ()):
                yield answer, answer.row.character.lower() in text


def score_answers(data: Path, answers: Path, *, perceivers: str = "") -> ParsedScores:
    """Return both parses of answers.

    By ids of questions, such as 3-0-0/answerability/list, answers are to these; by ids of parts or sets, 3-0 or 3-0-0,
    they say who perceives what, and are held against the annotation, which lies beside the file of FANToM or in the
    folder `perceivers`. Only what has an answer is scored, and in the repaired parse only sets all of whose questions
    have one. Raises ValueError.
    """
    file = file_of(data)
    sets, texts = annotated_sets(read_fantom(file)), read_answers(answers)
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    if any("/" in name for name in texts):
        return _questions(sets, texts, answers, data)
    annotation = read_annotation(Path(perceivers) if perceivers else file.parent)
    return _perceptions(sets, annotation.parts, texts, answers)


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any]) -> dict[str, Answered]:
    """Return what the ids of sets and parts are of: who perceives what, which all questions about a conversation share.
    An answer by the id of a set stands before one by that of its part."""
    keys: dict[str, list[str]] = {}
    for sample in samples:
        name = sample.group if sample.group in answers else _part(sample.group)
        keys.setdefault(name, []).append(sample.key)
    return {name: Answered(tuple(named), asking.PERCEPTIONS) for name, named in keys.items()}


def _questions(sets: Sets, texts: Mapping[str, str], answers: Path, data: Path) -> ParsedScores:
    rows = {row.id: row for question_set in sets.values() for row in question_set.rows if row.kind in ASKED}
    if foreign := [name for name in texts if name not in rows]:
        raise BadAnswers(
            f"{answers} answers {foreign[0][:60]!r}, which is not a question about an annotated conversation "
            f"of {data.name}."
        )
    rated = [scored_answer(row, texts[name]) for name, row in rows.items() if name in texts]
    asked = list(samples_of(sets, {}))
    samples = [sample for sample in asked if sample.key in texts]
    reads = [Read(sample, 0, parses_of(sample, without_thoughts(texts[sample.key]))[1]) for sample in samples]
    analysed = questions_of(reads, wholes_of(asked), "repaired", seed=1)
    repaired_metrics = {
        SCENARIO_NAMES[scenario]: {name: metric.value for name, metric in metrics.items()}
        for scenario, metrics in analysed.scenarios.items()
    }
    return ParsedScores(
        AnswerScores(
            {answer.row.id: _parsed(answer) for answer in rated},
            {name: scenario_metrics(rated, scenario) for scenario, name in SCENARIOS.items()},
        ),
        AnswerScores({read.sample.key: read.parse for read in reads}, repaired_metrics),
    )


def _parsed(scored: Scored) -> Json:
    """Return an answer as the released code keeps it, under its names."""
    if scored.row.kind == CHOICE:
        return {"result": scored.right}
    if scored.row.kind == LIST and scored.listed is not None:
        return {
            "result": scored.right,
            "answer_span": scored.listing,
            "excluded_aware_character": scored.listed.excluded_aware,
            "included_unaware_character": scored.listed.included_unaware,
        }
    return {"result": scored.right, "binarized": scored.answer_class}


def _perceptions(sets: Sets, parts: Parts, texts: Mapping[str, str], answers: Path) -> ParsedScores:
    text_by_set = {set_id: text for set_id in sets if (text := texts.get(set_id, texts.get(_part(set_id)))) is not None}
    if foreign := [name for name in texts if name not in sets and name not in {_part(set_id) for set_id in sets}]:
        raise BadAnswers(f"{answers} answers {foreign[0][:60]!r}, which is not an annotated part or set of FANToM.")
    if lacking := [set_id for set_id in text_by_set if _part(set_id) not in parts]:
        raise BadAnswers(f"Set {lacking[0]} is about a conversation that the annotation lacks.")
    official: dict[str, Shares] = {}
    repaired: dict[str, Shares | None] = {}
    for set_id, text in text_by_set.items():
        utterances = [utterance.text for utterance in parts[_part(set_id)]]
        perceivers = [utterance.perceivers for utterance in parts[_part(set_id)]]
        if shares := official_shares(text, utterances, perceivers):
            official[set_id] = shares
        repaired[set_id] = repaired_shares(without_thoughts(text), utterances, perceivers)
    scenarios = _by_scenario(sets, text_by_set)
    return ParsedScores(
        {
            "answers": {set_id: array_in(text) or text for set_id, text in text_by_set.items()},
            "metrics": {name: _released(official, members) for name, members in scenarios.items()},
            "accuracy_by_set": {set_id: shares[ACCURACY] for set_id, shares in official.items()},
            "excluded_sets": [set_id for set_id in text_by_set if set_id not in official],
        },
        AnswerScores(repaired, {name: mean_shares(repaired, members) for name, members in scenarios.items()}),
    )


def _part(set_id: str) -> str:
    return set_id.rpartition("-")[0]


def _by_scenario(sets: Sets, set_ids: Iterable[str]) -> dict[str, list[str]]:
    """The sets of each scenario; one with beliefs of both is in both."""
    members = [sets[set_id] for set_id in set_ids]
    return {
        "Overall": [question_set.set_id for question_set in members],
        "True Belief": [question_set.set_id for question_set in members if _has(question_set, ACCESSIBLE)],
        "False Belief": [question_set.set_id for question_set in members if _has(question_set, INACCESSIBLE)],
    }


def _has(question_set: QuestionSet, scenario: str) -> bool:
    return any(row.scenario == scenario for row in question_set.rows)


def _released(shares: Mapping[str, Shares], members: Sequence[str]) -> dict[str, float | None]:
    values = [value for set_id in members if set_id in shares and (value := shares[set_id][ACCURACY]) is not None]
    whole = [float(value == 1) for value in values]
    return {
        "Utterance-level Acc. (Perc. Inf. Acc.)": float(np.round(fmean(values), 3)) if values else None,
        "Context-level Acc.": float(np.round(fmean(whole), 3)) if whole else None,
        "# Total Sets": float(len(members)),
    }
