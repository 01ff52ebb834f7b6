"""Units that count once in a figure of conversations: a question, a set, a character of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom_questions.data import LIST, NOT_THERE
from benchmark.suites.fantom_questions.parsing import Scored
from benchmark.suites.figures import Unit, unit_estimate
from benchmark.suites.groups import MetricGroup
from benchmark.suites.measuring import counted_outcomes
from benchmark.suites.questions import Entered, Parse, Sample

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
