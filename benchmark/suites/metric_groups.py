"""The description of a metric group: which figures stand together in a table, and what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchmark.domain.matched_rows import F1, METRICS
from benchmark.suites.asked import Resources, Sample, SuiteData
from benchmark.suites.by_part import Parts
from benchmark.suites.finer import FinerItems

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
