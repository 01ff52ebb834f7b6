"""The metrics of FANToM and its released code, of one parse, with intervals over conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    INFORMATION,
    LIST,
    ORDERS,
    YES,
    YES_NO,
)
from benchmark.suites.fantom_questions.metrics import (
    Part,
    Read,
    Wholes,
    WholeSets,
    estimate_of,
    every,
    everything,
    whole_sets,
)
from benchmark.suites.fantom_questions.weighted_f1 import YesNoAnswer, weighted_f1
from benchmark.suites.figures import Unit
from core.plain import read_as

TOPICS = (ANSWERABILITY, INFORMATION)
BOTH, EXCLUDED, INCLUDED = "both", "excluded", "included"
REASONS = {0: "false_no", 1: "false_yes", -1: "neither"}


def of_scenario(reads: Iterable[Read], scenario: str, parse: str) -> list[Read]:
    """Return the answers that count for a scenario: of the control in the repaired parse those of sets that are
    wholly accessible, officially what is accessible of any set, as the released code does."""
    part = [read for read in reads if read.sample.content["scenario"] == scenario]
    if scenario == ACCESSIBLE and parse == "repaired":
        return [read for read in part if read.sample.content["wholly_accessible"]]
    return part


def _kind(read: Read) -> str:
    return str(read.sample.content["kind"])


def _of(reads: Iterable[Read], kind: str) -> list[Read]:
    return [read for read in reads if _kind(read) == kind]


def metrics_of(reads: Sequence[Read], wholes: Wholes, seed: int) -> dict[str, BoundedEstimate]:
    """Return {metric: estimate} of the answers that count for a scenario; `wholes` are the questions that sets have in
    it. Sets, and characters of sets, of which not all questions were asked are in no figure: an estimate says how many
    are `incomplete`."""
    free = _of(reads, DISTANCE)
    metrics = {
        "all_star": all_right(reads, wholes, seed),
        "all": all_right(reads, wholes, seed, lambda part: part.kind != DISTANCE),
        "choice": _accuracy(_of(reads, CHOICE), seed),
        "distance": _accuracy(free, seed),
        "distance_f1": f1_of([read for read in free if read.right], seed),
    }
    for topic in TOPICS:
        rows = [read for read in reads if read.sample.content["topic"] == topic]
        metrics[f"{topic} all"] = all_right(rows, wholes, seed, partial(_on_topic, topic))
        metrics[f"{topic} list"] = _accuracy(_of(rows, LIST), seed)
        metrics[f"{topic} f1"] = weighted_f1([*_answers(_of(rows, YES_NO))], seed=seed)
    whole = whole_sets(reads, wholes)
    metrics["characters"] = whole.with_incomplete(estimate_of(_characters(_all(whole)), seed))
    listed = whole_sets(reads, wholes, lambda part: part.kind in (LIST, YES_NO))
    metrics["consistency"] = listed.with_incomplete(estimate_of(_consistency(_all(listed)), seed))
    return metrics


def _on_topic(topic: str, part: Part) -> bool:
    return part.topic == topic


def _all(sets: WholeSets) -> list[Read]:
    return [read for members in sets.answers.values() for read in members]


def _accuracy(reads: Sequence[Read], seed: int) -> BoundedEstimate:
    return estimate_of([every(read.sample.cluster, [read.right]) for read in reads], seed)


def f1_of(reads: Sequence[Read], seed: int) -> BoundedEstimate:
    """Return the estimate of the mean token F1."""
    return estimate_of([Unit(read.sample.cluster, read.parse["f1"] if read.parse else None) for read in reads], seed)


def all_right(
    reads: Iterable[Read], wholes: Wholes, seed: int, counts: Callable[[Part], bool] = everything
) -> BoundedEstimate:
    """Return the estimate of the share of sets that are right: all their answers to the questions that `counts` says
    count."""
    sets = whole_sets(reads, wholes, counts)
    units = [every(members[0].sample.cluster, [read.right for read in members]) for members in sets.answers.values()]
    return sets.with_incomplete(estimate_of(units, seed))


def _answers(reads: Iterable[Read]) -> Iterable[YesNoAnswer]:
    for read in reads:
        yield YesNoAnswer(read.sample.cluster, _gold(read), None if read.parse is None else read.parse["said"])


def _gold(read: Read) -> int:
    return int(read.sample.gold["right"][0] == YES)


def _characters(reads: Sequence[Read]) -> list[Unit]:
    """Return for each set and character whether the single answers, the character's place in both lists and the
    beliefs, charged to the one who believes, are all right."""
    rights: dict[tuple[tuple[str, int], str], list[bool | None]] = {}
    conversations: dict[tuple[str, int], str] = {}
    lists = _lists(reads)
    for read in reads:
        conversations[read.set_key] = read.sample.cluster
        if _kind(read) == YES_NO:
            name = read.sample.content["character"]
            named = [None if listed is None else int(listed) == _gold(read) for listed in _listed(read, name, lists)]
            rights.setdefault((read.set_key, name.lower()), []).extend([read.right, *named])
        elif _kind(read) in (CHOICE, DISTANCE):
            rights.setdefault((read.set_key, _believer(read)), []).append(read.right)
    return [every(conversations[key], values) for (key, _), values in rights.items()]


def _believer(read: Read) -> str:
    """Return whose belief a question is about, in lower case: the word after its first "does ", as in the released
    code, where it names nobody of the conversation."""
    people = read.sample.content["people"]
    if people:
        return str(people[0]).lower()
    return str(read.sample.content["question"]).lower().partition("does ")[2].split(" ", 1)[0]


def _consistency(reads: Sequence[Read]) -> list[Unit]:
    """Return for each set and character whether single answers and lists say the same of the character."""
    values: dict[tuple[tuple[str, int], str], list[int | None]] = {}
    conversations: dict[tuple[str, int], str] = {}
    lists = _lists(reads)
    for read in _of(reads, YES_NO):
        conversations[read.set_key] = read.sample.cluster
        name = read.sample.content["character"]
        answer = None if read.parse is None else int(read.parse["said"])
        listed = [None if there is None else int(there) for there in _listed(read, name, lists)]
        values.setdefault((read.set_key, name.lower()), []).extend([answer, *listed])
    units = []
    for (key, _), answers in values.items():
        readable = {value for value in answers if value is not None}
        settled = 0.0 if len(readable) > 1 else None if None in answers else 1.0
        units.append(Unit(conversations[key], settled))
    return units


Lists = dict[tuple[tuple[str, int], str], Read]


def _lists(reads: Sequence[Read]) -> Lists:
    return {(read.set_key, read.sample.content["topic"]): read for read in _of(reads, LIST)}


def _listed(read: Read, name: str, lists: Lists) -> list[bool | None]:
    """Return whether the list on a single question's topic names the character: nothing where that list does not count,
    None where it is not known."""
    answers = lists.get((read.set_key, read.sample.content["topic"]))
    if answers is None:
        return []
    return [None if answers.parse is None else name in answers.parse["named"]]


def orders_of(reads: Sequence[Read], seed: int) -> dict[str, dict[str, BoundedEstimate]]:
    """Return {order of belief: {kind of question: estimate}} of the orders that occur."""
    beliefs = [read for read in reads if _kind(read) in (DISTANCE, CHOICE)]
    answers = {}
    for order in ORDERS:
        rows = [read for read in beliefs if _counts(read.sample.content["order"], order)]
        if rows:
            answers[order] = {kind: _accuracy(_of(rows, kind), seed) for kind in (CHOICE, DISTANCE)}
    return answers


def _counts(order: str, order_asked: str) -> bool:
    return order_asked in (order, order.partition(":")[0])


@dataclass(frozen=True, slots=True)
class Reasons:
    """The counts of wrong answers by reason: `lists` of names, and `single` answers about a character."""

    lists: Mapping[str, int]
    single: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Questions:
    """Metrics, orders of belief with the estimates of their kinds of questions, and reasons of wrong answers, each by
    scenario."""

    scenarios: Mapping[str, Mapping[str, BoundedEstimate]]
    orders: Mapping[str, Mapping[str, Mapping[str, BoundedEstimate]]]
    reasons: Mapping[str, Reasons]


Q = TypeVar("Q", bound=Questions)


def read_questions(kind: type[Q], kept: Mapping[str, Any], **parts: Any) -> Q:
    """Return figures of questions, or a class that adds to them, as they were kept; `parts` are the fields of it that
    were read already."""
    return read_as(
        kind,
        kept,
        scenarios={scenario: kept_estimates(metrics) for scenario, metrics in kept["scenarios"].items()},
        orders={
            scenario: {order: kept_estimates(kinds) for order, kinds in orders.items()}
            for scenario, orders in kept["orders"].items()
        },
        reasons={scenario: read_as(Reasons, reasons) for scenario, reasons in kept["reasons"].items()},
        **parts,
    )


def reasons_of(reads: Sequence[Read], parse: str) -> Reasons:
    """The counts of wrong lists and single answers by reason; officially of lists on answerability alone, as in
    the released code."""
    lists = [
        _list_reason(read.parse)
        for read in _of(reads, LIST)
        if read.parse and not read.right and (parse == "repaired" or read.sample.content["topic"] == ANSWERABILITY)
    ]
    single = [REASONS[read.parse["said"]] for read in _of(reads, YES_NO) if read.parse and not read.right]
    return Reasons(dict(Counter(lists)), dict(Counter(single)))


def _list_reason(parse: Any) -> str:
    return BOTH if parse["excluded"] and parse["included"] else EXCLUDED if parse["excluded"] else INCLUDED
