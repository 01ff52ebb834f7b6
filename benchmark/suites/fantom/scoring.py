"""Answers made elsewhere, scored as the released code scores them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from benchmark.suites.answers import BadAnswers, ParsedScores, answer_scores, read_answers
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.metrics import analyses_of
from benchmark.suites.fantom.parsing import SHORT, official_reads, parses_of, samples_of
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INACCESSIBLE,
    LIST,
    TOPICS,
    YES_NO,
    Sets,
    file_of,
    in_full,
    question_sets,
    read_fantom,
)
from benchmark.suites.fantom_questions.metrics import (
    BOTH,
    EXCLUDED,
    INCLUDED,
    Group,
    Read,
    by_order,
    groups_right,
    list_answers,
    list_reason,
    mean,
    released_f1,
    shares_right,
    subject_of,
    wholes_of,
    without_absent,
)
from benchmark.suites.fantom_questions.parsing import after_marker
from core.incoming.thoughts import without_thoughts
from core.plain import Json

GROUPINGS: Mapping[str, Group] = {
    "set": lambda sample: sample.group,
    "part": lambda sample: sample.group.rpartition("-")[0],
    "conversation": lambda sample: sample.cluster,
}
"""The questions that must be right as a whole."""
RUNS = (("short", "set"), ("full", "set"), ("short", "part"), ("full", "conversation"))
"""The conversation that the questions are about, and what must be right as a whole."""
_OF_SINGLE = {0: "false_negative", 1: "false_positive", -1: "irrelevant_response"}
_OF_LISTS = {BOTH: "did_both", EXCLUDED: "excluded_aware_character", INCLUDED: "included_unaware_character"}


def score_answers(data: Path, answers: Path, *, embedder: str = "toy") -> ParsedScores:
    """Return both parses of answers `{"KEY": "text"}`, keys as `question_sets` has them: official metrics of each of
    RUNS under `<conversation>/<group>/<embedder>`, repaired ones, as fractions, of sets in the short conversation. Only
    questions with an answer are scored, and in the repaired parse only sets all of whose questions have one. Raises
    ValueError."""
    copy = read_fantom(file_of(data))
    sets, texts = question_sets(copy.sets), read_answers(answers)
    samples = list(chain(*sets.values()))
    keys = {sample.key for sample in samples}
    for name, text in texts.items():
        if name not in keys:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is not a question of {data.name}.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    embed = embedder_named(embedder)
    reads = official_reads(samples, texts, embed)
    metrics = {f"{mode}/{grouping}/{embedder}": _metrics(reads, sets, mode, grouping) for mode, grouping in RUNS}
    parsed = {read.sample.key: {embedder: _parsed(read)} if read.kind == DISTANCE else _parsed(read) for read in reads}
    short = list(samples_of(copy, SHORT))
    repaired = [
        Read(sample, 0, parses_of(sample, after_marker(without_thoughts(texts[sample.key])), embed)[1])
        for sample in short
        if sample.key in texts
    ]
    analyses = analyses_of(repaired, wholes_of(short), "repaired", embedder, seed=1)
    scenarios: Json = {
        scenario: {name: metric.value for name, metric in metrics.items()} | dict(analyses.reasons[scenario])
        for scenario, metrics in analyses.scenarios.items()
    }
    figures = {f"short/set/{embedder}": scenarios | {"fact": analyses.fact.value}}
    return ParsedScores(
        answer_scores(parsed, metrics), answer_scores({read.sample.key: read.parse for read in repaired}, figures)
    )


def _parsed(read: Read) -> Json:
    """Return a parse with the names of the released code."""
    parse = read.parse or {}
    if read.kind == FACT:
        return {"token_f1": round(parse["f1"], 10)}
    if read.kind == CHOICE:
        return {"result": parse["right"], "official_answer_index": read.sample.gold["key"]}
    if read.kind == DISTANCE:
        right, wrong = (round(cosine, 6) for cosine in parse["near"])
        overlap = round(parse["f1"], 10)
        return {"cos_correct": right, "cos_wrong": wrong, "result": parse["right"], "word_overlap": overlap}
    if read.kind == YES_NO:
        return {"binarized": parse["said"], "result": parse["right"]}
    wrong = {"excluded_aware_character": parse["excluded"], "included_unaware_character": parse["included"]}
    return {"result": parse["right"], **wrong}


def _metrics(reads: Sequence[Read], sets: Sets, mode: str, grouping: str) -> Json:
    if mode == "short":
        counted = without_absent(reads)
    else:
        labelled = {sample.key: sample for questions in sets.values() for sample in in_full(questions)}
        counted = [read._replace(sample=labelled[read.sample.key]) for read in reads]
    return {
        name: {"model": "fake", "conversation_input_type": mode, **scenario_metrics(counted, scenario, grouping)}
        for name, scenario in (("fantom", INACCESSIBLE), ("control_task", ACCESSIBLE))
    }


def scenario_metrics(reads: Sequence[Read], scenario: str, grouping: str) -> Json:
    """Return the metrics of the questions of a scenario, under the released code's names, in which a group is a "set"
    whatever it is: per cent, None for not a number, or how often what made an answer wrong. `reads` are those of both
    scenarios; `grouping` is a key of GROUPINGS."""
    rows, group = [read for read in reads if read.sample.content["scenario"] == scenario], GROUPINGS[grouping]
    free, choices, lists, single = (
        [read for read in rows if read.kind == kind] for kind in (DISTANCE, CHOICE, LIST, YES_NO)
    )
    metrics: Json = {
        "set:ALL*": _per_cent(groups_right(rows, group)),
        "set:ALL": _per_cent(groups_right([read for read in rows if read.kind != DISTANCE], group)),
        "belief:multiple-choice": _per_cent(shares_right(choices)),
        "belief:distance": _per_cent(shares_right(free)),
        "belief_true_word-f1": _per_cent([read.parse["f1"] for read in free if read.parse and read.right]),
        "tom:lists:wrong_reasons:freq": Counter(
            _OF_LISTS[list_reason(read.parse)]
            for read in lists
            if read.parse and read.topic == ANSWERABILITY and not read.right
        ),
        "tom:binary:wrong_reasons:freq": Counter(
            _OF_SINGLE[said] for read in single if not read.right and (said := read.said) is not None
        ),
        "set:ALL_character": _per_cent(_all_of_characters(rows, group)),
        "set:character_answer_consistency": _per_cent(_consistency(rows, group)),
    }
    for topic in TOPICS:
        of_topic = [read for read in rows if read.topic == topic]
        f1 = released_f1([read for read in single if read.topic == topic])
        metrics[f"{topic}:set:ALL"] = _per_cent(groups_right(of_topic, group))
        metrics[f"{topic}:list"] = _per_cent(shares_right(read for read in lists if read.topic == topic))
        metrics[f"{topic}:binary-f1"] = _per_cent([] if f1 is None else [f1])
    orders = {order: _per_cent(shares_right(answers)) for order, answers in by_order(free).items()}
    metrics |= {order: share for order, share in orders.items() if share}
    facts = [read.parse["f1"] for read in reads if read.parse and read.kind == FACT]
    return {f"{scenario}:{name}": value for name, value in metrics.items()} | {"fact_word-f1": _per_cent(facts)}


def _per_cent(values: Sequence[float]) -> float | None:
    share = mean(values)
    return None if share is None else round(share, 3) * 100


def _all_of_characters(rows: Sequence[Read], group: Group) -> list[float]:
    """Return for each group and character 1 where everything about the character is right."""
    values: dict[tuple[str, str], bool] = {}
    lists = list_answers(rows, group)
    for kinds in ((YES_NO,), (DISTANCE, CHOICE)):
        for read in rows:
            if read.kind in kinds:
                single = read.kind == YES_NO
                name = read.sample.content["character"].lower() if single else subject_of(read.sample)
                texts = lists.get((group(read.sample), read.topic), ()) if single else ()
                named = all((name in text) == bool(read.gold) for text in texts)
                key = (group(read.sample), name)
                values[key] = values.get(key, True) and bool(read.right) and named
    return [float(value) for value in values.values()]


def _consistency(rows: Sequence[Read], group: Group) -> list[float]:
    """Return for each group and character 1 where single answers and lists say the same of the character."""
    answers: dict[tuple[str, str], set[int | None]] = {}
    lists = list_answers(rows, group)
    for read in rows:
        if read.kind == YES_NO:
            name = read.sample.content["character"].lower()
            named = {int(name in text) for text in lists.get((group(read.sample), read.topic), ())}
            answers.setdefault((group(read.sample), name), set()).update({read.said, *named})
    return [float(len(values) == 1) for values in answers.values()]
