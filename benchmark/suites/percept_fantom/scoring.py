"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.methods.perceptom import array_in
from benchmark.suites.answers import Answered, BadAnswers, ParsedScores, answer_scores, read_answers
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    CHOICE,
    INACCESSIBLE,
    LIST,
    TOPICS,
    YES_NO,
    Fantom,
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
    shares_right,
    subject_of,
    wholes_of,
    without_absent,
)
from benchmark.suites.fantom_questions.parsing import after_marker
from benchmark.suites.perceiving import asking
from benchmark.suites.perceiving.perceptions import ACCURACY, Shares, mean_shares, rounded
from benchmark.suites.percept_fantom.data import (
    ASKED,
    SCENARIO_NAMES,
    Parts,
    annotated_sets,
    part_of,
    read_annotation,
    samples_of,
)
from benchmark.suites.percept_fantom.metrics import questions_of
from benchmark.suites.percept_fantom.parsing import listing_in, official_of, official_shares, parses_of, repaired_shares
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import Json

SCENARIOS = {"inaccessible": "inaccessible(false belief)", "accessible": "accessible(true belief)"}
"""Their names in the released code."""


def scenario_metrics(reads: Sequence[Read], scenario: str) -> dict[str, Json]:
    """Return the metrics of the questions of a scenario, under the released code's names.

    `reads` are those of both scenarios, those on characters who are not in the conversation among them: these count
    for the figures of characters alone.
    """
    everybody = [read for read in reads if read.sample.content["scenario"] == scenario]
    rows = without_absent(everybody)
    mixed = {read.sample.group for read in without_absent(reads) if read.sample.content["scenario"] != ACCESSIBLE}
    whole = [read for read in rows if scenario != ACCESSIBLE or read.sample.group not in mixed]
    beliefs = [read for read in rows if read.kind == CHOICE]
    metrics = {
        "set:ALL": _metric(groups_right(whole, _set_of)),
        "belief:multiple-choice": _metric(shares_right(beliefs)),
    }
    for topic in TOPICS:
        of_topic = [read for read in rows if read.topic == topic]
        single = [read for read in of_topic if read.kind == YES_NO]
        metrics[f"{topic}:set:ALL"] = _metric(groups_right(of_topic, _set_of))
        metrics[f"{topic}:list"] = _metric(shares_right(read for read in of_topic if read.kind == LIST))
        metrics[f"{topic}:binary-f1"] = {"score": rounded(released_f1(single)), "#questions": float(len(single))}
    orders = {order: _metric(shares_right(part)) for order, part in by_order(beliefs).items()}
    metrics |= {order: metric for order, metric in orders.items() if metric["score"]}
    metrics["set:ALL_character"], metrics["set:character_answer_consistency"] = map(_metric, _characters(everybody))
    return {f"{scenario}:{name}": metric for name, metric in metrics.items()}


def _set_of(sample: Sample) -> str:
    return sample.group


def _metric(values: Sequence[float]) -> Json:
    return {"score": rounded(mean(values)), "#questions": float(len(values))}


def _characters(reads: Sequence[Read]) -> tuple[list[float], list[float]]:
    """Return for each set and character 1 where both lists and all choices are right about the character, and 1 where
    both lists say the same of the character; single answers do not count here."""
    right: dict[tuple[str, str], bool] = {}
    said: dict[tuple[str, str], set[bool]] = {}
    lists = list_answers(reads, _set_of)
    for read in reads:
        name = read.sample.content["character"].lower()
        key = (read.sample.group, name)
        for text in lists.get((read.sample.group, read.topic), ()) if read.kind == YES_NO else ():
            right[key] = right.get(key, True) and (name in text) == bool(read.gold)
            said.setdefault(key, set()).add(name in text)
    for read in reads:
        if read.kind == CHOICE:
            key = (read.sample.group, subject_of(read.sample))
            right[key] = right.get(key, True) and bool(read.right)
    return [float(value) for value in right.values()], [float(len(values) == 1) for values in said.values()]


def score_answers(data: Path, answers: Path, *, perceivers: str = "") -> ParsedScores:
    """Return both parses of answers.

    By ids of questions, such as 3-0-0/answerability/list, answers are to these; by ids of parts or sets, 3-0 or 3-0-0,
    they say who perceives what, and are held against the annotation, which lies beside the file of FANToM or in the
    folder `perceivers`. Only what has an answer is scored, and in the repaired parse only sets all of whose questions
    have one. Raises ValueError.
    """
    file = file_of(data)
    copy, texts = read_fantom(file), read_answers(answers)
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    if any("/" in name for name in texts):
        return _questions(copy, texts, answers, data)
    parts = read_annotation(Path(perceivers) if perceivers else file.parent)
    return _perceptions(annotated_sets(copy), parts, texts, answers)


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any]) -> dict[str, Answered]:
    """Return what the ids of sets and parts are of: who perceives what, which all questions about a conversation share.
    An answer by the id of a set stands before one by that of its part."""
    keys: dict[str, list[str]] = {}
    for sample in samples:
        name = sample.group if sample.group in answers else part_of(sample.group)
        keys.setdefault(name, []).append(sample.key)
    return {name: Answered(tuple(named), asking.PERCEPTIONS) for name, named in keys.items()}


def _questions(copy: Fantom, texts: Mapping[str, str], answers: Path, data: Path) -> ParsedScores:
    sets = annotated_sets(copy)
    asked = {sample.key: sample for each in sets.values() for sample in each if sample.content["kind"] in ASKED}
    if foreign := [name for name in texts if name not in asked]:
        raise BadAnswers(
            f"{answers} answers {foreign[0][:60]!r}, which is not a question about an annotated conversation "
            f"of {data.name}."
        )
    official = [
        Read(sample, 0, official_of(sample, texts[name]), after_marker(texts[name]))
        for name, sample in asked.items()
        if name in texts
    ]
    samples = list(samples_of(copy, {}))
    reads = [
        Read(sample, 0, parses_of(sample, without_thoughts(texts[sample.key]))[1])
        for sample in samples
        if sample.key in texts
    ]
    analysed = questions_of(reads, wholes_of(samples), "repaired", seed=1)
    repaired_metrics = {
        SCENARIO_NAMES[scenario]: {name: metric.value for name, metric in metrics.items()}
        for scenario, metrics in analysed.scenarios.items()
    }
    return ParsedScores(
        answer_scores(
            {read.sample.key: _parsed(read) for read in official},
            {name: scenario_metrics(official, scenario) for scenario, name in SCENARIOS.items()},
        ),
        answer_scores({read.sample.key: read.parse for read in reads}, repaired_metrics),
    )


def _parsed(read: Read) -> Json:
    """Return an answer as the released code keeps it, under its names."""
    parse = read.parse or {}
    if read.kind == LIST:
        return {
            "result": parse["right"],
            "answer_span": listing_in(read.answer),
            "excluded_aware_character": parse["excluded"],
            "included_unaware_character": parse["included"],
        }
    return {"result": parse["right"]} | ({"binarized": parse["said"]} if read.kind == YES_NO else {})


def _perceptions(sets: Sets, parts: Parts, texts: Mapping[str, str], answers: Path) -> ParsedScores:
    text_by_set = {
        set_id: text for set_id in sets if (text := texts.get(set_id, texts.get(part_of(set_id)))) is not None
    }
    if foreign := [name for name in texts if name not in sets and name not in {part_of(set_id) for set_id in sets}]:
        raise BadAnswers(f"{answers} answers {foreign[0][:60]!r}, which is not an annotated part or set of FANToM.")
    if lacking := [set_id for set_id in text_by_set if part_of(set_id) not in parts]:
        raise BadAnswers(f"Set {lacking[0]} is about a conversation that the annotation lacks.")
    official: dict[str, Shares] = {}
    repaired: dict[str, Shares | None] = {}
    for set_id, text in text_by_set.items():
        utterances = [utterance for utterance, _ in parts[part_of(set_id)]]
        perceivers = [names for _, names in parts[part_of(set_id)]]
        if shares := official_shares(text, utterances, perceivers):
            official[set_id] = shares
        repaired[set_id] = repaired_shares(without_thoughts(text), utterances, perceivers)
    of_sets = {set_id: {sample.content["scenario"] for sample in sets[set_id]} for set_id in text_by_set}
    scenarios = {
        "Overall": [*of_sets],  # a set with beliefs of both scenarios is in both
        "True Belief": [set_id for set_id, of_set in of_sets.items() if ACCESSIBLE in of_set],
        "False Belief": [set_id for set_id, of_set in of_sets.items() if INACCESSIBLE in of_set],
    }
    return ParsedScores(
        {
            "answers": {set_id: array_in(text) or text for set_id, text in text_by_set.items()},
            "metrics": {name: _released(official, members) for name, members in scenarios.items()},
            "accuracy_by_set": {set_id: shares[ACCURACY] for set_id, shares in official.items()},
            "excluded_sets": [set_id for set_id in text_by_set if set_id not in official],
        },
        answer_scores(repaired, {name: mean_shares(repaired, members) for name, members in scenarios.items()}),
    )


def _released(shares: Mapping[str, Shares], members: Sequence[str]) -> dict[str, float | None]:
    values = [value for set_id in members if set_id in shares and (value := shares[set_id][ACCURACY]) is not None]
    whole = [float(value == 1) for value in values]
    return {
        "Utterance-level Acc. (Perc. Inf. Acc.)": rounded(fmean(values)) if values else None,
        "Context-level Acc.": rounded(fmean(whole)) if whole else None,
        "# Total Sets": float(len(members)),
    }
