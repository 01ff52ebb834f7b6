"""The description of a suite's judge: what makes it the instrument that it is, how it is tested, how it is asked once
more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.suites.questions import Question, Sample, SuiteData
from benchmark.suites.settings import PARAMETER, Setting, Settings
from core.messages import Sentence, gettext_noop
from core.plain import Json, plain, read_as
from judge.domain.contrast import Rate, Row
from judge.domain.judgements import RowJudgement
from workers.providers.contract import Request, Task


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A contrast pair about a sample: the kind of the row that was made and its words, and the place of the `gold` row
    that it was made of among the sample's rows."""

    kind: str
    actor: str
    belief: str
    gold: int


Pairs = Sequence[AskedPair]

MOST_CALLS = 12
"""The most calls of a self-test, where a suite says nothing else."""


def self_test_setting(step: str) -> Setting:
    """Return the setting by which a launch has its judge, who is asked at `step`, tested."""
    return Setting(
        "self_test",
        gettext_noop("Test the judge on pairs made from gold"),
        True,
        help=Sentence(
            "Once for each version of a judge, up to {most_calls} calls, with a cap of its own as high as the budget.",
            most_calls=MOST_CALLS,
        ),
        stored=PARAMETER,
        flag="no-self-test",
        flag_help="a judge that was not tested yet is not tested now either",
        steps=(step,),
    )


@dataclass(frozen=True, slots=True)
class JudgeTest:
    """The self-test of a judge: is a row that was made from gold by rule (`judge.domain.contrast`) matched with the
    gold row?

    `rows(sample)` are the gold rows that pairs are made of; of a row that nobody holds the actor is
    `annotation.domain.schema.WORLD`. `request(question, pairs)` asks about the pairs of one sample as the judge is
    asked of a model's answer, `counts(question, pairs, answer)` are how many gold rows it matched with each made row,
    None where the answer gives none. Samples of the split `spared`, and those whose numbers `examples(settings)` names,
    make no pairs: prompts show them. `unlike(sample)` are, beside the pairs that rules make, a row that the benchmark
    itself has as another belief, with the gold row that it must not match. A test makes at most `most_calls`, each
    about one sample of which `least_pairs` can be made. `settings` are the names of the parameters of a run that a test
    keeps, as its questions go by them.
    """

    rows: Callable[[Sample], Sequence[Row]]
    request: Callable[[Question, Pairs], Request]
    counts: Callable[[Question, Pairs, str], list[int | None]]
    most_calls: int = MOST_CALLS
    least_pairs: int = 2
    spared: str = ""
    examples: Callable[[Settings], tuple[int, ...]] = lambda settings: ()
    settings: tuple[str, ...] = ()
    unlike: Callable[[Sample], Sequence[tuple[Row, Row]]] | None = None


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Asking a judge once more for the rows that its answers leave out (`Parsed.unjudged`).

    `step` is the step that asks, and `completes` the judging one. `wording` is the digest of its question's wording,
    `characters_a_row` about what the answer to a missing row takes, and `hopeless` are the reasons of unreadable
    answers that another question would not mend.
    """

    step: str
    wording: str
    characters_a_row: int
    hopeless: tuple[str, ...] = ()


Tables = tuple[Sequence[Row], Sequence[Row]]
"""Predicted rows and gold rows, as (actor, belief)."""
RowGroups = tuple[Sequence[str], Sequence[str]]
"""The groups of predicted rows and of gold rows."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Grouping of the rows that people align, by a suite, beside the side that they stand on. `key` names it in
    addresses and files, `header` heads its column, `title` stands over its figures, and `note` explains it below them.

    `of_row(row)` is the group of a row by its words, `of_question(question)` those of the rows of both sides as
    `Judge.tables` has them, empty of a row without one: a grouping has one of the two. `worded` says that its groups
    are words of the suite, which pages translate; others are data.
    """

    key: str
    header: str
    title: str
    note: str = ""
    of_row: Callable[[Row], str] | None = None
    of_question: Callable[[Question], RowGroups] | None = None
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of a suite, which is asked at the judged step of a launch.

    `instrument(settings)` is what of a run's settings makes the judge what it is, besides its model, its answer
    format and the wording of its prompt: plain data that is hashed. `passes(settings)` are the keys of the steps at
    which it is asked once more about the same answers, beside the judging step, whose judgement they complete;
    `held_to_schema(settings)` says whether its answers are held to a schema whatever the answer format of the models.
    `kept(repaired)` are the judgements of the rows of both sides in a kept parse, None where nothing judges row by row;
    such a parse has the counts of these rows under `pred` and `gold`, in whose place a panel's figures have those of
    its majority. `tables(question)` are the rows of both sides in the order of these judgements, for people to align;
    None where it compares no tables. `text(question)` is what people read beside them, the sample's `Suite.story`
    without it. `groupings` are what these rows are grouped by where a judge is held against people. `written(task,
    pairs)` is the answer of a judge that was asked by this `Request.task` and to whom these pairs of rows say the same;
    None where it compares no tables. `test` and `follow_up` are None where there are none.
    """

    instrument: Callable[[Settings], Mapping[str, Any]]
    passes: Callable[[Settings], Sequence[str]] = lambda settings: ()
    held_to_schema: Callable[[Settings], bool] = lambda settings: False
    kept: Callable[[SuiteData], tuple[Sequence[RowJudgement], Sequence[RowJudgement]]] | None = None
    test: JudgeTest | None = None
    follow_up: FollowUp | None = None
    tables: Callable[[Question], Tables] | None = None
    text: Callable[[Question], str] | None = None
    groupings: tuple[Grouping, ...] = ()
    written: Callable[[Task, Sequence[tuple[int, int]]], str] | None = None
    sees: Callable[[Settings], tuple[str, str]] | None = None
    """What the judge is given: (its settings in brief, all of it)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTestSummary:
    """The outcome of the self-test of a `judge`: `state` is "not tested", "in progress", "incomplete" or "tested",
    `told` says it in a line. Of a judge that was tested `dataset` is the version of the gold that pairs were made from,
    `answered` the number of its calls that were answered, and `kinds` are how often it was right by kind of pair.
    """

    state: str
    judge: str
    told: str
    kinds: Sequence[Rate] = ()
    dataset: int | None = None
    calls: int | None = None
    answered: int | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> JudgeTestSummary:
        return read_as(cls, kept, kinds=[read_as(Rate, kind) for kind in kept["kinds"]])

    def as_json(self) -> Json:
        """{state, judge, told, kinds}, or, of a judge that was tested, {state, judge, dataset, calls, answered, kinds,
        told}."""
        kinds = plain(self.kinds)
        if self.dataset is None:
            return {"state": self.state, "judge": self.judge, "told": self.told, "kinds": kinds}
        return {
            "state": self.state,
            "judge": self.judge,
            "dataset": self.dataset,
            "calls": self.calls,
            "answered": self.answered,
            "kinds": kinds,
            "told": self.told,
        }
