"""What is found in the answers of one parse besides its figures: as it is made, and as reports keep it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol, Self, TypeVar

from pydantic import TypeAdapter

from benchmark.domain.asked_again import Flips
from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.domain.report_rows import BothParses
from benchmark.suites.questions import Columns
from benchmark.suites.settings import Settings
from core.plain import NOT_KEPT, WHERE_THERE_IS_ONE, Json, plain, read_as

Facet = Mapping[str, BoundedEstimate]
"""The estimate of a score by the value of a facet."""
_FACETS, _REPETITIONS, _INCOMPLETE = "facets", "repetitions", "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The scores of single `repetitions`: their `mean`, the standard deviation between them (`spread`), the `lowest`
    and `highest`, the share of samples with the same score in all (`same_score`), and the shares of the variance that
    lie between samples and between repetitions with their intervals, None where it cannot be split."""

    repetitions: int
    mean: float
    spread: float | None = None
    lowest: float | None = None
    highest: float | None = None
    same_score: float | None = None
    of_samples: float | None = None
    of_repetitions: float | None = None
    of_samples_interval: Sequence[float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    of_repetitions_interval: Sequence[float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """The share of samples to which all repetitions give the same answer (`same_answer`), None without a sample that
    all answered, and the `stories` to which they do not, the most first."""

    same_answer: float | None
    stories: Sequence[Flips]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The `scores` of single repetitions, None where nothing is known, and how many of their `answers` are the same,
    None where these are not compared."""

    scores: Spread | None = None
    answers: SameAnswers | None = None

    def as_json(self) -> Json:
        """{repetitions, mean, spread, lowest, highest, same_score, of_samples, of_repetitions[, same_answer,
        stories]}."""
        return {**(plain(self.scores) if self.scores else {}), **(plain(self.answers) if self.answers else {})}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return what `as_json` made."""
        answers = None
        if "same_answer" in kept:
            answers = SameAnswers(
                kept["same_answer"], [(name, asked, flipped) for name, asked, flipped in kept["stories"]]
            )
        return cls(read_as(Spread, kept) if "mean" in kept else None, answers)


class Finding(Protocol):
    """A suite's own finding in answers: a dataclass that its tables and plots read.

    `kept_as` is the key under which reports keep its fields, "" if they are next to the common ones. One that `as_json`
    makes is read by a classmethod `from_json`.
    """

    kept_as: ClassVar[str]


@cache
def _reader(kind: type) -> Callable[[Any], Any]:
    """Return the function that reads what `plain` made of a dataclass."""
    return getattr(kind, "from_json", None) or TypeAdapter(kind).validate_python


FindingT = TypeVar("FindingT", bound=Finding)


@dataclass(frozen=True)
class Analysis:
    """The findings in the answers of one parse, `kept` as JSON: {facets, repetitions, incomplete, and the fields of the
    suite's own finding}, without what there is not. Each part is read when it is asked for first."""

    kept: Json = field(default_factory=dict)

    def as_json(self) -> Json:
        return self.kept

    def with_parts(
        self,
        *,
        facets: Mapping[str, Facet] | None = None,
        repetitions: Repetitions | None = None,
        incomplete: int | None = None,
        finding: Finding | None = None,
    ) -> Analysis:
        """Return the analysis with the parts that are given: the score by facet, the repetitions of a run that asks
        several times, the number of sets of which not all samples were asked, and the suite's own finding."""
        common = {_FACETS: facets, _REPETITIONS: repetitions, _INCOMPLETE: incomplete}
        kept = {**self.kept, **{name: plain(value) for name, value in common.items() if value is not None}}
        if finding is not None:
            own = plain(finding)
            kept = {**kept, finding.kept_as: own} if finding.kept_as else {**own, **kept}
        return Analysis(kept)

    @cached_property
    def facets(self) -> Mapping[str, Facet]:
        """The score by facet and value."""
        return {name: kept_estimates(facet) for name, facet in self.kept.get(_FACETS, {}).items()}

    @cached_property
    def repetitions(self) -> Repetitions | None:
        repetitions = self.kept.get(_REPETITIONS)
        return None if repetitions is None else Repetitions.from_json(repetitions)

    @property
    def incomplete(self) -> int:
        """The number of sets of which not all samples were asked."""
        return int(self.kept.get(_INCOMPLETE) or 0)

    def finding(self, kind: type[FindingT]) -> FindingT | None:
        """Return what a suite found, None where the report has nothing of that kind."""
        if kind not in self._findings:
            kept = self.kept.get(kind.kept_as) if kind.kept_as else self.kept
            self._findings[kind] = _reader(kind)(kept) if kept else None
        finding: FindingT | None = self._findings[kind]
        return finding

    @cached_property
    def _findings(self) -> dict[type, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of what `n` samples come to without a model."""

    value: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineLevels:
    """Score to be expected by `chance`, and that of the answer that is right most often, the `majority`; None where
    that is not defined. `by_category` has both by name and category, of those where they are defined."""

    chance: Level | None = None
    majority: Level | None = None
    by_category: Mapping[str, Mapping[str, Level]] = field(default_factory=dict)

    def of(self, name: str) -> Level | None:
        return self.chance if name == "chance" else self.majority

    def of_categories(self, name: str) -> Mapping[str, Level]:
        return self.by_category.get(name, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCounts:
    """Count of the stories and cells that models were asked about and a person labelled; and how many of these cells
    are settled without the person, by the other `votes`, an `expert` or the `record`, and how many stay `open`."""

    stories: int
    of_stories: int
    cells: int
    of_cells: int
    votes: int
    expert: int
    record: int
    open: int

    @property
    def settled(self) -> Mapping[str, int]:
        """The cells that are settled, by what."""
        return {"votes": self.votes, "expert": self.expert, "record": self.record}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetrics:
    """The results of somebody in a metric group, as `benchmark.suites.measuring` makes them.

    `reason` says why there are no official figures; `answered` counts the answers that official scoring takes, of those
    `asked`. `analyses` are those by parse, None where the parse has no figures. Of a person, in the group that the
    suite names for people, `labelled` counts what they labelled and `own` are the figures against gold with their own
    votes.
    """

    parses: BothParses = field(default_factory=BothParses)
    answered: int | None = None
    asked: int | None = None
    analyses: Mapping[str, Analysis | None] = field(default_factory=dict)
    reason: str = ""
    levels: BaselineLevels | None = field(default_factory=BaselineLevels)
    labelled: LabelledCounts | None = None
    own: BothParses | None = None
    tells_levels: bool = True
    """False for a reader who may not know the levels."""
    by_sample: Mapping[str, Columns | None] = field(default_factory=dict, metadata=NOT_KEPT)
    """The figures sample by sample by parse, None for a parse without figures. Reports have none, as `StoryScores`
    keeps them."""

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> GroupMetrics:
        analyses = {parse: analysis and Analysis(analysis) for parse, analysis in kept["analyses"].items()}
        return read_as(cls, kept, analyses=analyses)

    def analysed(self, parse: str) -> Analysis | None:
        """Return the analysis of a parse, None where there is nothing in it."""
        analysis = self.analyses.get(parse)
        return analysis if analysis and analysis.kept else None


@dataclass(frozen=True, slots=True)
class Reported:
    """The outcome of a run, in the terms of its suite.

    `settings` are as `Question.settings`; `groups` are the metric groups that have figures, `kinds` what their rows are
    ("model", "baseline", "person"). `prompted` says whether a model read prompts, `judge` who judged, empty for nobody,
    with `judge_notes` on its self-test. `examples` are how many solved samples the prompts of a step showed, in words.
    `schema` says which endpoints ignored it, empty for free text. `asking` and `uncertainty` are the paragraphs that
    every suite has.
    """

    settings: Settings
    groups: frozenset[str]
    kinds: frozenset[str]
    prompted: bool
    judge: str
    asking: str
    uncertainty: str
    judge_notes: Sequence[str] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""


Sections = Sequence[tuple[str, str]]
"""(heading, text) in the order of a methods section; a section without a text is left out."""

PROMPTS, ASKING, UNCERTAINTY = "Prompts", "Asking", "Uncertainty"
"""Headings of the paragraphs that every suite has; a suite that does not place them itself has them at the end."""


def asked_by(method: str, prompt_set: str, presentation: str = "") -> tuple[str, str]:
    """Return the section on the prompts of a question suite: its method, and the `presentation` of what it is
    about, both in words."""
    how = f"{method}, {presentation}" if presentation else method
    return PROMPTS, f"Questions were asked by the method {how}; the wording is Credence’s own (set {prompt_set})."


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that a user may enter, in per cent, of a `difference` of two in percentage points.

    `key` names it within its suite, `title` is what forms call it under `heading`. `places` are the tables that have
    it, by their names without the parse (of a metric group its key), each with the key of its column there (of a
    metric group the metric). `header` is set where what is published does not compare with a column of this site, as it
    rests on another embedder: its tables then get a column of that name, below the heading `group`.
    """

    key: str
    title: str
    heading: str
    places: Mapping[str, str]
    header: str = ""
    group: str = ""
    difference: bool = False


def of_groups(groups: Sequence[tuple[str, str, Mapping[str, str]]], own: Sequence[Published]) -> list[Published]:
    """Return the metrics of metric groups, (key, title, {metric: header}) each, that none of a suite's `own` figures
    stands for."""
    covered = {place for metric in own for place in metric.places.items()}
    return [
        Published(f"{key}.{name}", header, title, {key: name})
        for key, title, headers in groups
        for name, header in headers.items()
        if (key, name) not in covered
    ]
