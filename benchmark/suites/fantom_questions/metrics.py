"""Units that count once in a figure of conversations: a question, a set, a character of a set."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    LIST,
    ORDERS,
    TOPICS,
    YES,
    YES_NO,
    of_the_short,
)
from benchmark.suites.fantom_questions.parsing import Parse
from benchmark.suites.figures import Unit, unit_estimate, with_bounds
from benchmark.suites.groups import MetricGroup
from benchmark.suites.measuring import counted_outcomes
from benchmark.suites.questions import Entered, Sample
from benchmark.suites.questions import Parse as ParseName
from core.statistics import RESAMPLES, SHARE, Estimate, Floats, label_f1s, ratios
from core.statistics import estimate_of as clustered_estimate

WHOLES = "questions of conversations by set"
"""The name under which a dataset keeps what `wholes_of` returns."""
Estimates = Mapping[str, BoundedEstimate]


class Read(NamedTuple):
    """A question, one of its repetitions, and what its answer was read as; None where nothing was. `answer` is the text
    where it was given elsewhere."""

    sample: Sample
    repetition: int
    parse: Parse | None
    answer: str = ""

    @property
    def kind(self) -> str:
        return str(self.sample.content["kind"])

    @property
    def topic(self) -> str:
        return str(self.sample.content["topic"])

    @property
    def right(self) -> bool | None:
        """True where it is right; None where that is not known."""
        return None if self.parse is None else bool(self.parse["right"])

    @property
    def said(self) -> int | None:
        """Of a yes or no question 1, 0 or -1 for neither; None where that is not known."""
        return None if self.parse is None else int(self.parse["said"])

    @property
    def gold(self) -> int:
        """Of a yes or no question 1 where yes is right, else 0."""
        return int(self.sample.gold["right"][0] == YES)


def reads_of(entered: Entered, group: MetricGroup, parse: ParseName) -> list[Read]:
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
Counts = Callable[[Part], bool]
"""Whether a question of a set counts."""


def _part(sample: Sample) -> Part:
    content = sample.content
    return Part(sample.key, content["kind"], content["topic"], content["scenario"])


def wholes_of(samples: Iterable[Sample]) -> dict[str, list[Part]]:
    """Return the questions of each set of a dataset."""
    wholes: dict[str, list[Part]] = {}
    for sample in samples:
        wholes.setdefault(sample.group, []).append(_part(sample))
    return wholes


def in_scenario(wholes: Wholes, scenario: str) -> Wholes:
    """Return what sets have in a scenario."""
    return {name: [part for part in parts if part.scenario == scenario] for name, parts in wholes.items()}


def whole_sets(reads: Iterable[Read], wholes: Wholes, counts: Counts) -> tuple[list[list[Read]], int]:
    """Return the answers of each set all of whose questions that count were asked, and how many sets were asked some of
    theirs alone: what is known of a part of a set says nothing of the set."""
    sets: dict[tuple[str, int], list[Read]] = {}
    for read in reads:
        if counts(_part(read.sample)):
            sets.setdefault((read.sample.group, read.repetition), []).append(read)
    needed = {name: {part.key for part in parts if counts(part)} for name, parts in wholes.items()}
    whole = {key: answers for key, answers in sets.items() if {read.sample.key for read in answers} >= needed[key[0]]}
    return list(whole.values()), len({name for name, _ in sets} - {name for name, _ in whole})


def every(conversation: str, rights: Iterable[bool | None]) -> Unit:
    """Return a unit that is right where all are: one that is wrong settles it, whatever is not known."""
    verdicts = list(rights)
    return Unit(conversation, 0.0 if False in verdicts else None if None in verdicts else 1.0)


def estimate_of(units: Sequence[Unit], seed: int, incomplete: int = 0) -> BoundedEstimate:
    """Return the mean of the units that are known with its interval over conversations, as `unit_estimate` has it, and
    how many sets are `incomplete`, where any are."""
    estimate = unit_estimate(units, seed, "conversations")
    return replace(estimate, incomplete=incomplete) if incomplete else estimate


YesNoAnswers = Sequence[tuple[str, int, int | None]]
"""(conversation, whether yes is right, what was read: 1, 0 or -1 for neither, None where that is not known) of each
answer."""


def weighted_f1(answers: YesNoAnswers, seed: int) -> BoundedEstimate:
    """Return the weighted F1 of the answers that are known: one that is neither
    costs recall alone, as in the released code. Bounds take those that are not known as wrong, one for the other, and
    as right."""
    readable = [answer for answer in answers if answer[2] is not None]
    estimate = Estimate(None, 0, reason="no answer that could be read")
    if readable:
        estimate = clustered_estimate(
            _sums(readable),
            _f1,
            n=len(readable),
            scale=SHARE,
            unit="conversations",
            empty="no conversation",
            seed=seed,
            resamples=RESAMPLES,
        )
    if len(readable) == len(answers):
        return with_bounds(estimate)
    bounds = []
    for wrong in (True, False):
        filled = [(name, gold, gold ^ wrong if said is None else said) for name, gold, said in answers]
        bounds.append(float(_f1(_sums(filled).sum(axis=0)[None])[0]))
    return with_bounds(estimate, bounds)


def _sums(answers: YesNoAnswers) -> Floats:
    """Return hits, gold and predictions of no and of yes by conversation, shape (conversations, 6)."""
    places = {name: at for at, name in enumerate(dict.fromkeys(name for name, _, _ in answers))}
    counts = np.zeros((len(places), 3, 2))
    for name, gold, said in answers:
        row = counts[places[name]]
        row[1, gold] += 1
        if said in (0, 1):
            row[2, said] += 1
            row[0, said] += gold == said
    return counts.reshape(len(places), -1)


def _f1(sums: Floats) -> Floats:
    """Return the weighted F1 of each row of sums, shape (r, 6) → (r,); nan without an answer."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios((label_f1s(hits, gold, predicted) * gold).sum(axis=1), gold.sum(axis=1))


def of_scenario(reads: Iterable[Read], scenario: str, parse: str) -> list[Read]:
    """Return the answers that count for a scenario: of the control in the repaired parse those of sets that are
    wholly accessible, officially what is accessible of any set, as the released code does."""
    whole = scenario == ACCESSIBLE and parse == "repaired"
    return [
        read
        for read in reads
        if read.sample.content["scenario"] == scenario and (not whole or read.sample.content["wholly_accessible"])
    ]


def _of(reads: Iterable[Read], kind: str) -> list[Read]:
    return [read for read in reads if read.kind == kind]


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
        rows = [read for read in reads if read.topic == topic]
        single = [(read.sample.cluster, read.gold, read.said) for read in _of(rows, YES_NO)]
        of_topic = {name: [part for part in parts if part.topic == topic] for name, parts in wholes.items()}
        metrics[f"{topic} all"] = all_right(rows, of_topic, seed)
        metrics[f"{topic} list"] = _accuracy(_of(rows, LIST), seed)
        metrics[f"{topic} f1"] = weighted_f1(single, seed)
    sets, incomplete = whole_sets(reads, wholes, lambda part: True)
    metrics["characters"] = estimate_of([unit for members in sets for unit in _characters(members)], seed, incomplete)
    sets, incomplete = whole_sets(reads, wholes, lambda part: part.kind in (LIST, YES_NO))
    metrics["consistency"] = estimate_of([unit for members in sets for unit in _consistency(members)], seed, incomplete)
    return metrics


def _accuracy(reads: Sequence[Read], seed: int) -> BoundedEstimate:
    return estimate_of([every(read.sample.cluster, [read.right]) for read in reads], seed)


def f1_of(reads: Sequence[Read], seed: int) -> BoundedEstimate:
    """Return the estimate of the mean token F1."""
    return estimate_of([Unit(read.sample.cluster, read.parse["f1"] if read.parse else None) for read in reads], seed)


def all_right(reads: Iterable[Read], wholes: Wholes, seed: int, counts: Counts = lambda part: True) -> BoundedEstimate:
    """Return the estimate of the share of sets that are right: all their answers to the questions that `counts` says
    count."""
    sets, incomplete = whole_sets(reads, wholes, counts)
    units = [every(members[0].sample.cluster, [read.right for read in members]) for members in sets]
    return estimate_of(units, seed, incomplete)


def _characters(members: Sequence[Read]) -> list[Unit]:
    """Return for each character of a set whether the single answers, the character's place in both lists and the
    beliefs, charged to the one who believes, are all right."""
    rights: dict[str, list[bool | None]] = {}
    for read in members:
        if read.kind == YES_NO:
            listed = [None if there is None else there == read.gold for there in _listed(read, members)]
            rights.setdefault(read.sample.content["character"].lower(), []).extend([read.right, *listed])
        elif read.kind in (CHOICE, DISTANCE):
            people = read.sample.content["people"]
            believer = people[0].lower() if people else subject_of(read.sample)
            rights.setdefault(believer, []).append(read.right)
    return [every(members[0].sample.cluster, values) for values in rights.values()]


def subject_of(sample: Sample) -> str:
    """Return the person whose belief a question is about as the released code has it, in lower case: the word after its
    first "does "."""
    return str(sample.content["question"]).lower().partition("does ")[2].split(" ", 1)[0]


def _consistency(members: Sequence[Read]) -> list[Unit]:
    """Return for each character of a set whether single answers and lists say the same of the character."""
    values: dict[str, list[int | None]] = {}
    for read in _of(members, YES_NO):
        said = [read.said, *_listed(read, members)]
        values.setdefault(read.sample.content["character"].lower(), []).extend(said)
    units = []
    for answers in values.values():
        differ = len({*answers} - {None}) > 1
        units.append(Unit(members[0].sample.cluster, 0.0 if differ else None if None in answers else 1.0))
    return units


def _listed(read: Read, members: Sequence[Read]) -> list[int | None]:
    """Return whether the list on a single question's topic names its character: nothing where that list does not count,
    None where it is not known."""
    lists = [other.parse for other in members if other.kind == LIST and other.topic == read.topic]
    name = read.sample.content["character"]
    return [None if parse is None else int(name in parse["named"]) for parse in lists[-1:]]


def orders_of(reads: Sequence[Read], seed: int) -> dict[str, dict[str, BoundedEstimate]]:
    """Return {order of belief: {kind of question: estimate}} of the orders that occur."""
    beliefs = [read for read in reads if read.kind in (DISTANCE, CHOICE)]
    by_order = {order: [read for read in beliefs if order in _orders(read)] for order in ORDERS}
    return {
        order: {kind: _accuracy(_of(rows, kind), seed) for kind in (CHOICE, DISTANCE)}
        for order, rows in by_order.items()
        if rows
    }


def _orders(read: Read) -> tuple[str, str]:
    """Return the order of a belief with its kind, and without it."""
    order = read.sample.content["order"]
    return order, order.partition(":")[0]


BOTH, EXCLUDED, INCLUDED = "both", "excluded", "included"
REASONS = {0: "false_no", 1: "false_yes", -1: "neither"}
Reasons = Mapping[str, Mapping[str, int]]
"""The counts of wrong answers by reason: `lists` of names, and `single` answers about a character."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Metrics, orders of belief with the estimates of their kinds of questions, and reasons of wrong answers, each by
    scenario."""

    scenarios: Mapping[str, Estimates]
    orders: Mapping[str, Mapping[str, Estimates]]
    reasons: Mapping[str, Reasons]


def reasons_of(reads: Sequence[Read], parse: str) -> Reasons:
    """Return the counts of wrong lists and single answers by reason; officially of lists on answerability alone, as in
    the released code."""
    wrong = [(read, read.parse) for read in reads if read.kind in (LIST, YES_NO) and read.parse and not read.right]
    lists = Counter(
        list_reason(answer)
        for read, answer in wrong
        if read.kind == LIST and (parse == "repaired" or read.topic == ANSWERABILITY)
    )
    single = Counter(REASONS[answer["said"]] for read, answer in wrong if read.kind == YES_NO)
    return {"lists": dict(lists), "single": dict(single)}


def list_reason(parse: Parse) -> str:
    """Return what is wrong with a list."""
    return BOTH if parse["excluded"] and parse["included"] else EXCLUDED if parse["excluded"] else INCLUDED


Group = Callable[[Sample], str]
"""The name of what must be right as a whole."""


def without_absent(reads: Sequence[Read]) -> list[Read]:
    """Return the answers without those on characters who are not in the short conversation."""
    there = {sample.key for sample in of_the_short([read.sample for read in reads])}
    return [read for read in reads if read.sample.key in there]


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return sum(values) / len(values) if values else None


def shares_right(reads: Iterable[Read]) -> list[float]:
    """Return 1 for each answer that is right, else 0."""
    return [float(bool(read.right)) for read in reads]


def groups_right(reads: Iterable[Read], group: Group) -> list[float]:
    """Return 1 for each group all of whose answers are right, else 0."""
    right: dict[str, bool] = {}
    for read in reads:
        name = group(read.sample)
        right[name] = right.get(name, True) and bool(read.right)
    return [float(value) for value in right.values()]


def released_f1(reads: Sequence[Read]) -> float | None:
    """Return the F1 of yes or no questions, weighted by how often each label is gold; None without one."""
    gold, given = Counter(read.gold for read in reads), Counter(read.said for read in reads)
    hits = Counter(read.gold for read in reads if read.gold == read.said)
    shares = [count * 2 * hits[label] / (count + given[label]) for label, count in gold.items()]
    return sum(shares) / len(reads) if reads else None


def by_order(reads: Sequence[Read]) -> Mapping[str, list[Read]]:
    """Return the answers on beliefs by order, and by its kind."""
    orders = sorted({order for read in reads for order in _orders(read)})
    return {order: [read for read in reads if order in _orders(read)] for order in orders}


def list_answers(reads: Sequence[Read], group: Group) -> dict[tuple[str, str], list[str]]:
    """Return the answers to lists, in lower case, by group and topic."""
    answers: dict[tuple[str, str], list[str]] = {}
    for read in _of(reads, LIST):
        answers.setdefault((group(read.sample), read.topic), []).append(read.answer.lower())
    return answers
