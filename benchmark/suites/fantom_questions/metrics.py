"""Units that count once in a figure of conversations: a question, a set, a character of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    INFORMATION,
    LIST,
    NOT_THERE,
    ORDERS,
    YES,
    YES_NO,
)
from benchmark.suites.fantom_questions.parsing import Scored
from benchmark.suites.figures import Unit, unit_estimate, with_bounds
from benchmark.suites.groups import MetricGroup
from benchmark.suites.measuring import counted_outcomes
from benchmark.suites.questions import Entered, Parse, Sample
from core.statistics import RESAMPLES, SHARE, Estimate, Floats, label_f1s, ratios
from core.statistics import estimate_of as clustered_estimate

WHOLES = "questions of conversations by set"
"""The name under which a dataset keeps what `wholes_of` returns."""


class Read(NamedTuple):
    """A question, one of its repetitions, and what its answer was read as; None where nothing was."""

    sample: Sample
    repetition: int
    parse: Mapping[str, Any] | None

    @property
    def set_key(self) -> tuple[str, int]:
        """The set that it counts for."""
        return self.sample.group, self.repetition

    @property
    def right(self) -> bool | None:
        """True where it is right; None where that is not known."""
        return None if self.parse is None else bool(self.parse["right"])


def reads_of(entered: Entered, group: MetricGroup, parse: Parse) -> list[Read]:
    """Return what every question that counts in a group was read as, repetition by repetition."""
    reads = []
    for sample in entered.samples:
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), group):
            readable = not outcome.without and not (parse == "repaired" and outcome.unreadable)
            reads.append(Read(sample, outcome.repetition, outcome.read(parse) if readable else None))
    return reads


class Part(NamedTuple):
    """A question of a set, without its texts."""

    key: str
    kind: str
    topic: str
    scenario: str


Wholes = Mapping[str, Sequence[Part]]
"""All questions of a set in the dataset, by its name."""


def part_of(sample: Sample) -> Part:
    """Return what a question is in its set."""
    content = sample.content
    return Part(sample.key, content["kind"], content["topic"], content["scenario"])


def wholes_of(samples: Iterable[Sample]) -> dict[str, list[Part]]:
    """Return the questions of each set of a dataset."""
    wholes: dict[str, list[Part]] = {}
    for sample in samples:
        wholes.setdefault(sample.group, []).append(part_of(sample))
    return wholes


def in_scenario(wholes: Wholes, scenario: str) -> Wholes:
    """Return what sets have in a scenario."""
    return {name: [part for part in parts if part.scenario == scenario] for name, parts in wholes.items()}


def everything(part: Part) -> bool:
    """Every question of a set counts."""
    return True


class WholeSets(NamedTuple):
    """The answers of each set all of whose questions that count were asked, and how many sets were asked some of theirs
    alone."""

    answers: Mapping[tuple[str, int], Sequence[Read]]
    incomplete: int

    def with_incomplete(self, estimate: BoundedEstimate) -> BoundedEstimate:
        """Return an estimate over these sets that says how many are `incomplete`, where any are."""
        return replace(estimate, incomplete=self.incomplete) if self.incomplete else estimate


def whole_sets(reads: Iterable[Read], wholes: Wholes, counts: Callable[[Part], bool] = everything) -> WholeSets:
    """Return the sets of `wholes` with their answers to the questions that `counts` says count: what is known of a part
    of a set says nothing of the set."""
    sets: dict[tuple[str, int], list[Read]] = {}
    for read in reads:
        if counts(part_of(read.sample)):
            sets.setdefault(read.set_key, []).append(read)
    needed = {name: {part.key for part in parts if counts(part)} for name, parts in wholes.items()}
    whole = {key: answers for key, answers in sets.items() if {read.sample.key for read in answers} >= needed[key[0]]}
    return WholeSets(whole, len({name for name, _ in sets} - {name for name, _ in whole}))


def every(conversation: str, rights: Iterable[bool | None]) -> Unit:
    """Return a unit that is right where all are: one that is wrong settles it, whatever is not known."""
    verdicts = list(rights)
    if False in verdicts:
        return Unit(conversation, 0.0)
    return Unit(conversation, None if None in verdicts else 1.0)


def estimate_of(units: Sequence[Unit], seed: int) -> BoundedEstimate:
    """Return the mean of the units that are known with its interval over conversations, as `unit_estimate` has it."""
    return unit_estimate(units, seed, "conversations")


Group = Callable[[Scored], str]


def without_absent(answers: Iterable[Scored]) -> list[Scored]:
    """Return the answers without those on characters who are not in the short conversation."""
    return [answer for answer in answers if answer.row.right != (NOT_THERE,)]


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return sum(values) / len(values) if values else None


def groups_right(answers: Iterable[Scored], group: Group) -> list[float]:
    """Return 1 for each group all of whose answers are right, else 0."""
    right: dict[str, bool] = {}
    for answer in answers:
        right[group(answer)] = right.get(group(answer), True) and answer.right
    return [float(value) for value in right.values()]


def released_f1(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Return the F1 of pairs of gold and answer, weighted by how often each label is gold; None without a pair."""
    if not pairs:
        return None
    gold, given, hits = (
        Counter(g for g, _ in pairs),
        Counter(p for _, p in pairs),
        Counter(g for g, p in pairs if g == p),
    )
    return sum(count * 2 * hits[label] / (count + given[label]) for label, count in gold.items()) / len(pairs)


def by_order(beliefs: Sequence[Scored]) -> Mapping[str, list[Scored]]:
    """Return the answers on beliefs by order, and by its kind."""
    orders = sorted(
        {answer.row.order for answer in beliefs} | {answer.row.order.partition(":")[0] for answer in beliefs}
    )
    return {
        order: [answer for answer in beliefs if order in (answer.row.order, answer.row.order.partition(":")[0])]
        for order in orders
    }


def list_answers(rows: Sequence[Scored], group: Group) -> dict[tuple[str, str], list[str]]:
    """Return the answers to lists, in lower case, by group and topic."""
    answers: dict[tuple[str, str], list[str]] = {}
    for answer in rows:
        if answer.row.kind == LIST:
            answers.setdefault((group(answer), answer.row.topic), []).append(answer.answer.lower())
    return answers


_LABELS = (0, 1)
_NOTHING = Estimate(None, 0, reason="no answer that could be read")


class YesNoAnswer(NamedTuple):
    """One answer: its conversation, whether yes is right, and what was read, 1, 0 or -1 for neither; None where that is
    not known."""

    conversation: str
    gold: int
    predicted: int | None


def weighted_f1(answers: Sequence[YesNoAnswer], *, seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the weighted F1 of the answers that are known: one that is neither
    costs recall alone, as in the released code. Bounds take those that are not known as wrong, one for the other, and
    as right."""
    readable = [answer for answer in answers if answer.predicted is not None]
    estimate = _estimate(readable, seed, resamples) if readable else _NOTHING
    if len(readable) == len(answers):
        return with_bounds(estimate)
    return with_bounds(estimate, [_taken(answers, wrong=True), _taken(answers, wrong=False)])


def _taken(answers: Sequence[YesNoAnswer], *, wrong: bool) -> float:
    """The F1 with what is not known as wrong or as right."""
    filled = [
        answer._replace(predicted=answer.gold ^ wrong) if answer.predicted is None else answer for answer in answers
    ]
    return float(
        _f1(_sums(filled, list(dict.fromkeys(answer.conversation for answer in answers))).sum(axis=0)[None])[0]
    )


def _estimate(answers: Sequence[YesNoAnswer], seed: int, resamples: int) -> Estimate:
    names = list(dict.fromkeys(answer.conversation for answer in answers))
    return clustered_estimate(
        _sums(answers, names),
        _f1,
        n=len(answers),
        scale=SHARE,
        unit="conversations",
        empty="no conversation",
        seed=seed,
        resamples=resamples,
    )


def _sums(answers: Sequence[YesNoAnswer], names: Sequence[str]) -> Floats:
    """Hits, gold and predictions of no and of yes by conversation, shape (conversations, 6)."""
    places = {name: place for place, name in enumerate(names)}
    counts = np.zeros((len(names), 3, 2))
    for answer in answers:
        row = counts[places[answer.conversation]]
        row[1, answer.gold] += 1
        if answer.predicted in _LABELS:
            row[2, answer.predicted] += 1
            row[0, answer.predicted] += answer.gold == answer.predicted
    return counts.reshape(len(names), -1)


def _f1(sums: Floats) -> Floats:
    """Weighted F1 of each row of sums, shape (r, 6) → (r,); nan without an answer."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios((label_f1s(hits, gold, predicted) * gold).sum(axis=1), gold.sum(axis=1))


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
