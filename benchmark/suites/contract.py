"""What a suite says of itself: everything outside its folder is made from this.

A suite is a folder of `benchmark/suites` with a `suite.py` that holds one `Suite`, and a line in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from workers.providers.contract import Request

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sample:
    """What one prompt is about.

    `key` is unique within its dataset. `cluster` is the unit that is resampled: the story or conversation that samples have in common; `group`
    names the samples that count together. `content` is what a model may be shown, `gold` what answers are scored against, both plain data;
    `category`, `split` and `group` are empty where there are none.
    """

    key: str
    cluster: str
    content: Mapping[str, Any]
    gold: Mapping[str, Any]
    category: str = ""
    split: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of call. A model is asked, or where `judged` the run's judge.

    Answers to the steps of `needs` are in its question. `chosen` says whether a run is launched with it; one that is not is asked for
    afterwards, about items with gaps, and its answer completes that to `completes`, which is then read anew.
    """

    key: str
    label: str
    judged: bool = False
    needs: tuple[str, ...] = ()
    chosen: bool = True
    completes: str = ""


class Resources(Protocol):
    """What a question may need besides its sample, of the run's project and dataset."""

    @property
    def prompts(self) -> Any:
        """The loaded prompt set of the run, None for a suite without prompt sets."""

    @property
    def schema(self) -> Any:
        """The label schema of the dataset (`annotation.domain.schema.Schema`)."""

    def derived(self, name: object, compute: Callable[[Sequence[Sample]], T]) -> T:
        """What `compute` makes of all samples of the dataset, kept under the hashable `name`: a dataset never changes."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call that is to be made, or was. `settings` are what the run was launched with, `answers` the raw answers to the same sample by step, as far
    as there are any."""

    sample: Sample
    step: str
    settings: Mapping[str, Any]
    resources: Resources
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer was read as, in both readings.

    `official` and `repaired` are plain data for a database row, `official` None where the released code cannot read such an answer. `score`
    and `repaired_score`, from 0 to 1, are what tables sort by; None where there is none. `unusable` says why the repaired reading has no
    estimate, empty where it has one; `unjudged` counts the rows that a judgement leaves out.
    """

    official: Mapping[str, Any] | None
    repaired: Mapping[str, Any]
    score: float | None
    repaired_score: float | None
    unusable: str = ""
    unjudged: int = 0


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option of `score_outputs`; `default` also says its type."""

    name: str
    default: str | int
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that rest on the same answers and stand in one table; models are ranked within a group.

    `key` is unique among all suites: addresses, kept reports and files name a group by it. `shares` are the metrics that every story has,
    as fractions from 0 to 1; `headers` name those of a table's row, in order, the mean of the categories' means of a share (under
    `<share>_category_mean`) among them where `category_mean` names that share. `score` is the share that models are ranked and compared by,
    `score_title` its name in words. `prompt` is the step whose prompt the model reads, `rests_on` all steps whose answers count, `scored` the
    one whose items carry the figures. `judged` says whether a judge stands between answer and figure; `notes` explain metrics under a table.
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


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark.

    `request(question)` makes what is sent, or a sentence that says why nothing is to be asked. `parse(question, answer)` reads what came
    back. `score(data, answers, **options)` reads answers made elsewhere: both paths in, {"official", "repaired"} out; raises ValueError.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    groups: tuple[MetricGroup, ...]
    request: Callable[[Question], Request | str]
    parse: Callable[[Question, str], Parsed]
    score: Callable[..., dict[str, Any]]
    options: tuple[Option, ...] = ()

    def step(self, key: str) -> Step:
        """Raises KeyError where there is none."""
        for one in self.steps:
            if one.key == key:
                return one
        raise KeyError(key)

    def related(self, key: str) -> frozenset[str]:
        """The steps whose answers the question or the answer of this one is read with, itself among them; empty where it stands alone."""
        others = {*self.step(key).needs, *(one.key for one in self.steps if one.completes == key)}
        return frozenset({key, *others} if others else ())

    def following(self, key: str) -> list[Step]:
        """The chosen steps whose questions need the answer to this one."""
        return [one for one in self.steps if one.chosen and key in one.needs]
