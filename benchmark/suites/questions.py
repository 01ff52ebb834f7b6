"""Questions, their samples and their outcomes: the plain data that a suite and everything around it hand each
other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args

from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from core.plain import WHERE_THERE_IS_ONE

T = TypeVar("T")
SuiteData = Mapping[str, Any]
"""Plain data, as JSON has it, that a suite makes and only it reads: what a sample holds, what a parse made of an
answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The subject of one prompt.

    `key` is unique within its dataset, and so is `number`, by which addresses and tables name it. `cluster` is the unit
    that is resampled: the story or conversation that samples have in common; `group` names the samples that count
    together. `content` is what a model may be shown, `gold` what answers are scored against, both plain data;
    `category`, `split` and `group` are empty where there are none. `published` is the sample as its dataset has it,
    where a control changed it.
    """

    key: str
    cluster: str
    content: SuiteData
    gold: SuiteData
    category: str = ""
    split: str = ""
    group: str = ""
    number: int = 0
    published: Sample | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of call. A model is asked, or where `judged` the run's judge.

    `answers` are what is given at it, one and many. Answers to the steps of `needs` are in its question, and those to
    the steps of `after` of runs that go through them, as the steps of a method that comes before it. `chosen` says
    whether a run is launched with it; one that is not is asked for afterwards, about items with gaps, and its answer
    completes that to `completes`, which is then read anew. `task` is the kind of its `Request.task` where that is not
    its key, `score` what the score of its items is called, empty where they carry none. It is asked about samples of
    these `categories`, about all where there are none.
    """

    key: str
    label: str
    judged: bool = False
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    chosen: bool = True
    completes: str = ""
    task: str = ""
    answers: tuple[str, str] = (gettext_noop("answer"), gettext_noop("answers"))
    score: str = ""
    categories: tuple[str, ...] = ()

    def asks_about(self, category: str) -> bool:
        """Return whether it is asked about samples of a category."""
        return not self.categories or category in self.categories

    @property
    def kind(self) -> str:
        """The kind of `Request.task` that its requests have: what a baseline must be able to answer."""
        return self.task or self.key


class Resources(Protocol):
    """The things that a question may need besides its sample, of the run's project and dataset."""

    @property
    def prompts(self) -> Any:
        """The loaded prompt set of the run, None for a suite without prompt sets."""

    @property
    def schema(self) -> Any:
        """The label schema of the dataset (`annotation.domain.schema.Schema`)."""

    def derived(self, name: object, compute: Callable[[Sequence[Sample]], T]) -> T:
        """Return what `compute` makes of all samples of the dataset, kept under the hashable `name`: a dataset never
        changes."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call that is to be made, or was. `settings` are what the run was launched with, `answers` the raw answers to
    the same sample by step, as far as there are any. `repetition` counts from 0 where the run asks everything several
    times."""

    sample: Sample
    step: str
    settings: Settings
    resources: Resources
    answers: Mapping[str, str] = field(default_factory=dict)
    repetition: int = 0


class BadQuestion(ValueError):
    """Reason why a question cannot be put as a run was to put it, as one sentence: what was chosen for it has to
    change."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer in both parses.

    `official` and `repaired` are plain data for a database row, `official` None where the released code cannot read
    such an answer. `score` and `repaired_score`, from 0 to 1, are what tables sort by; None where there is none.
    `unreadable` says why the repaired parse has no estimate, empty where it has one; `unjudged` counts the rows that a
    judgement leaves out. `empty` says that the answer was read and holds nothing, `stray` that it is none of the
    possible answers: the end of its call may explain both.
    """

    official: SuiteData | None
    repaired: SuiteData
    score: float | None
    repaired_score: float | None
    unreadable: str = ""
    unjudged: int = 0
    empty: bool = False
    stray: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one question. `official` and `repaired` are as `Parsed` has them, None without an answer;
    `unreadable` says why the repaired parse has no estimate, `without` why there is no answer, each empty where it does
    not hold."""

    step: str
    official: SuiteData | None
    repaired: SuiteData | None
    unreadable: str = ""
    without: str = ""
    repetition: int = 0

    def read(self, parse: Parse) -> SuiteData | None:
        """Return what that parse made of the answer, None without an answer."""
        return self.official if parse == "official" else self.repaired


@dataclass(frozen=True, slots=True)
class Entered:
    """The outcomes of all questions to one model. `outcomes` are those of each of `samples`, by key; `steps` those that
    the run was launched with. `kind` is "model" or "baseline". `unchanged` is what became of the samples that the run's
    control leaves as they are, in the run as published: they belong to sets of which others were changed, and to
    nothing else; None where there is no control."""

    name: str
    kind: str
    samples: Sequence[Sample]
    outcomes: Mapping[str, Sequence[Outcome]]
    steps: Sequence[str]
    settings: Settings
    resources: Resources
    unchanged: Entered | None = None


Parse = Literal["official", "repaired"]
PARSES: tuple[Parse, ...] = get_args(Parse)
Value = float | list[float] | None
"""A kept figure of one sample: a fraction; of the repaired parse [worst, best] where the sample is unreadable, [worst,
estimate, best] where the judge left rows out; None where nothing is defined."""


UNREADABLE_ANSWER = "unreadable"
"""What an answer says that could not be read: another thing than any answer that could."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Figures sample by sample, of one metric group and parse: columns over the samples.

    `stories` are their numbers; `clusters` are None where no two samples are resampled together. `said` is what the
    answers to each say in each repetition, `UNREADABLE_ANSWER` where one could not be read, None without one and where
    nobody asks for it. Of the repaired parse `unreadable` says why by number, `unjudged` how many predicted and gold
    rows the judge left out. Of several repetitions alone, `partly` says why some are unreadable, and `by_turn` has the
    score of each sample in each repetition, None where it has none.
    """

    stories: Sequence[int]
    categories: Sequence[str]
    values: Mapping[str, Sequence[Value]]
    unreadable: Mapping[str, str] = field(default_factory=dict)
    unjudged: Mapping[str, Sequence[int]] = field(default_factory=dict)
    clusters: Sequence[str] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    partly: Mapping[str, str] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    said: Sequence[Sequence[str | None]] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    by_turn: Sequence[Sequence[float | None]] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


ItemContext = dict[str, Any]
"""Values that a suite shows of an item, by the names in its template."""


@dataclass(frozen=True, slots=True)
class Beside:
    """An item of the same set as the one that a page shows, by the same model at the same step, that one among them:
    `item` is its number, by which the page links to it, `answer` the raw answer, None without one; parses are as
    `ItemView` has them."""

    item: int
    sample: Sample
    answer: str | None
    official: SuiteData | None
    repaired: SuiteData | None
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item as a page shows it: its question, whose `answers` are those that its own is read with, the raw answer,
    None without one, both parses as they were kept, and why the repaired one has no estimate, empty where it has one.
    The question's resources have no prompts. `beside` are the items of its set (`Sample.group`) in the order of the
    dataset, none for a sample without one."""

    question: Question
    answer: str | None
    official: SuiteData | None
    repaired: SuiteData | None
    unreadable: str = ""
    beside: Sequence[Beside] = ()
