"""Items that a metric group counts within a sample, one by one: the propositions of a story, say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annotation.domain.schema import Schema
from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.matched_rows import F1, METRICS
from benchmark.suites.questions import Entered, Parse, Resources, Sample, SuiteData

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class FinerItems:
    """The items within a sample: `noun` is what one is called, one and many, `metrics` the shares of the group by which
    one is told, the first of them as a rule.

    `texts(sample, schema)` are (who, what) of each item, in order. `scores(sample, schema, parses)` says what each of
    several repaired parses of the group's scored step comes to in each item: shape (parses, items, metrics), from 0 to
    1, nan where nothing can be told.
    """

    noun: tuple[str, str]
    metrics: tuple[str, ...]
    texts: Callable[[Sample, Schema], Sequence[tuple[str, str]]]
    scores: Callable[[Sample, Schema, Sequence[SuiteData]], Floats]


PartAnswers = Mapping[str, Sequence[tuple[int, Any]]]
"""The number of each sample with what its answer says, by part."""

CATEGORY = "category"
"""What stands in place of a facet where parts are by the categories of samples."""


@dataclass(frozen=True, slots=True)
class PartMetric:
    """A metric of a part that is not a mean over samples, such as macro F1.

    `title` is its name in words, `note` says below a table what it counts. `answers(entered, parse)` returns what a
    model's answers say, parts in the order in which tables have them; `is_read(answer)` whether one of them could be
    read. `estimate(answers, seed)` is the metric of some answers. `difference(answers, others, seed)` is that by one
    method less by another over what could be read of both, on the same resamples: both have the same samples in the
    same order.
    """

    title: str
    note: str
    answers: Callable[[Entered, Parse], PartAnswers]
    is_read: Callable[[Any], bool]
    estimate: Callable[[Sequence[Any], int], BoundedEstimate]
    difference: Callable[[Sequence[Any], Sequence[Any], int], BoundedEstimate]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts by which methods are held against each other beside the whole: by the values of `Sample.content` under
    `facet`, or by CATEGORY, in the score of the metric group, or, where `facet` is empty, in a `metric` of their own.
    `part_of(value)` is the part to which a value belongs, which is the value itself where there is no such function.
    `heading` is what a part is called, `values` are those that are parts, in the order in which tables have them, none
    for all, `short` names of parts for narrow columns."""

    heading: str
    facet: str = ""
    values: tuple[str, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    part_of: Callable[[str], str] | None = None
    metric: PartMetric | None = None


UnreadableAs = Literal["wrong", "left out", "guessed"]
WRONG: UnreadableAs = "wrong"
LEFT_OUT: UnreadableAs = "left out"
GUESSED: UnreadableAs = "guessed"
"""The official parse's treatment of answers that it cannot read: a wrong answer, none that counts, or, as it
reads an answer in any text, one by chance."""
STRUCTURE, ANSWERS = "structure", "answers"
"""The subjects that a metric group may be about."""


Says = Callable[[Sample, SuiteData], str]


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that rest on the same answers and stand in one table; models are ranked within a group.

    `key` is unique among all suites: addresses, commands, snapshots and files name a group by it. `shares` are the
    metrics that every story has, as fractions from 0 to 1; `headers` name those of a table's row, in order, the mean of
    the categories' means of a share (under `<share>_category_mean`) among them where `category_mean` names that share.
    `score` is the share that models are ranked and compared by, `score_title` its name in words, unique within the
    suite, as titles of tables and pictures are made from it. `prompt` is the step whose prompt the model reads,
    `rests_on` all steps whose answers count, `scored` the one whose items carry the figures. `facets` are names of
    `Sample.content` by which the score is told too, with their headings, `facet_values` what pages and files call
    values that are codes. `measured_in` has, of shares that count some cells of an answer, the filters of the items
    page that show these. `judged` says whether a judge stands between answer and figure; `notes` explain metrics under
    a table. `unreadable_as` is what its official parse makes of what it cannot read: `WRONG`, `LEFT_OUT` or `GUESSED`.
    `by_category` is False where the categories of samples say nothing of what is counted, as of sets of samples of all
    categories: there are then no figures by category. `unit` is what figures count once, one and many, where that is
    not a sample but a set of them; `counts`, a function of a module, says which samples of a set count. `chance` is how
    likely an answer to a sample is right that is drawn among all that may be answered, each as likely, of a list each
    name with one half; None where nothing is to choose from; `majority(sample, resources)` is the score of the answer
    that is right most often in the whole dataset, None where gold alone does not tell it. `tells` is `STRUCTURE` where
    its figures of a sample say how well the structure of a story was built, `ANSWERS` where its score says whether a
    question about a story was answered right: the two are held against each other over stories with the same text;
    empty where it is neither. `parts` are those by which methods are compared beside the whole, where a paper has them
    so. `says(sample, repaired)` is what a repaired parse takes an answer for, alike whatever a control made of names
    and options: two answers to a sample are the same where it is, those to a set where all of them are; without it they
    are where their scores are. `finer` is what it counts within a sample one by one, None where that is nothing.
    `matched` names, of a judged group whose shares are the precision, recall or F1 of matched rows under other names,
    the share of each; its figures are then corrected for the judge's error by what people align.
    """

    key: str
    title: str
    noun: str
    shares: tuple[str, ...]
    headers: Mapping[str, str]
    score: str
    score_title: str
    prompt: str
    rests_on: tuple[str, ...]
    scored: str
    judged: bool = False
    category_mean: str = ""
    notes: tuple[str, ...] = ()
    facets: Mapping[str, str] = field(default_factory=dict)
    facet_values: Mapping[str, str] = field(default_factory=dict)
    measured_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tells: str = ""
    by_category: bool = True
    unit: tuple[str, str] | None = None
    counts: Callable[[Sample], bool] | None = None
    unreadable_as: UnreadableAs = WRONG
    chance: Callable[[Sample], float | None] | None = None
    majority: Callable[[Sample, Resources], float | None] | None = None
    parts: Parts | None = None
    says: Says | None = None
    finer: FinerItems | None = None
    matched: Mapping[str, str] = field(default_factory=dict)
    right_or_wrong: bool = False
    """Whether a single answer to a sample, or a set of them, scores 0 or 1: such scores differ most of all."""

    @property
    def corrected(self) -> dict[str, str]:
        """The shares that can be corrected for the judge's error, by precision, recall and F1 of matched rows, which
        they are; empty where there is no judge, or no F1."""
        named = self.matched or {metric: metric for metric in METRICS if metric in self.shares}
        return dict(named) if self.judged and F1 in named else {}
