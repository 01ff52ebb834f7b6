"""The description of a suite: everything outside its folder is made from this.

A suite is a folder of `benchmark/suites` with a `suite.py` that holds one `Suite`, and a line in `registry.py`. Eight
fields are required. The others have defaults; most are capabilities that only some suites have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.schema import Schema
from annotation.domain.tasks import AnswerWriter
from benchmark.controls.contract import Controllable
from benchmark.domain.parameters import Options
from benchmark.domain.tables import ShortNames
from benchmark.suites.answers import AnswerIds, Exchanged, Files, ParsedScores, Parser
from benchmark.suites.copies import CopySource, Imported
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import ReadLine, Rows, lines_of
from benchmark.suites.judges import Judge
from benchmark.suites.lettered import Lettered
from benchmark.suites.people import LabelsOf, Person, PersonMeasured
from benchmark.suites.prompt_sets import PromptSets
from benchmark.suites.questions import Entered, ItemContext, ItemView, Parsed, Question, Resources, Step
from benchmark.suites.reports import GroupMetrics, Published, Reported, Sections, of_groups
from benchmark.suites.results import Explorer, ParseResults, Section, ShownPicture, ShownTable, nothing
from benchmark.suites.settings import Option, Setting
from core.messages import gettext_noop
from core.plain import Json
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Request


@dataclass(frozen=True, slots=True)
class Asking:
    """How a suite asks, beyond its steps and settings."""

    program: Callable[[Options], Sequence[str]] | None = None
    """The steps that models go through in a run with these options, in order, with a judge if the launch has one.
    Without it a launch chooses the steps."""
    repetitions: int = 1
    max_tokens: int = 1000
    temperature: str = gettext_noop("the suite’s own")
    """The temperature in words, if none is chosen."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The digest of the wording by step."""
    prompts_version: str = ""
    """The name of that wording."""
    prompting: PromptSets[Any] | None = None
    """The prompt sets, if runs choose among some."""
    estimated_with: Options = field(default_factory=dict)
    """Settings that estimates make questions with, whatever was chosen: answers that do not exist yet save nothing."""
    baselines: tuple[Baseline, ...] = ()
    """Baselines that answer questions without a model."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A user's copy of the benchmark. Without `load` the suite works on a project's published gold."""

    load: Callable[..., Imported] | None = None
    """`load(path, **options)` reads a folder or its one file. Raises BadImport."""
    options: tuple[Setting, ...] = ()
    """The options of `load`."""
    source: CopySource | None = None
    """Where users get the benchmark, and which files are read."""
    archive: str = ""
    """The name of the archive that its authors give out, if `load` takes it."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Published gold of a project that a suite asks about."""

    unfit: Callable[[Resources], str] | None = None
    """The fault of gold that the suite cannot ask about, as the end of a sentence. Returns "" if it can."""
    schema: Schema | None = None
    """The label schema of the gold that it measures, None for any."""
    labelled_by: Callable[[Schema], Suite] | None = None
    """The suite for gold of another schema, under a name and with metric groups of its own (`named_by`)."""
    family: str = ""
    """The name of the suite that made this one by `labelled_by`."""
    answer_writers: tuple[AnswerWriter, ...] = ()
    """The formats in which shared baselines and scripted models write labels and propositions."""
    people: str = ""
    """The metric group in which annotators and experts have rows next to models. Empty if none has."""
    people_measured: Callable[[Person], PersonMeasured | None] | None = None
    """The results of a person. Returns None if the person labelled nothing that counts."""
    labels: LabelsOf | None = None
    """`labels(sample, schema, parses)`: the label that each repaired parse of the scored step of `people` gives each
    cell of the gold: {place of the proposition: label of each dimension, "" without one}."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of `Sample.content` that identify a sample in other places."""

    story: str = ""
    """The text that other suites have, too. Empty if none has it."""
    told_by: tuple[str, ...] = ()
    """The texts, or lists of texts, that together identify a sample in the record of another tool. Without them a
    sample is known by its key and its prompt only."""
    told_apart_by: tuple[str, ...] = ()
    """The texts that decide if several samples have the same ones."""
    lettered: Lettered | None = None
    """How questions are answered by the letter of an option."""


@dataclass(frozen=True, slots=True)
class Released:
    """The released code of a benchmark: answers made elsewhere, official parsing, and the files that it exchanges."""

    score: Callable[..., ParsedScores] | None = None
    """`score(data, answers, **options)` reads both files and returns the scores of both parses. Raises ValueError."""
    options: tuple[Option, ...] = ()
    """The options of `score`."""
    answer_ids: AnswerIds | None = None
    """The samples that the ids of such answers name. Without it ids are the keys of samples."""
    parsers: Mapping[str, Parser] = field(default_factory=dict)
    """Official parsing of a raw text, by kind of answer."""
    exchange: Callable[[Exchanged], Files] | None = None
    """The files that the released code would have left behind for one model."""
    summary: Callable[[Entered], Json] | None = None
    """{"official", "repaired"} as `score` gives them. Without it the figures of `measure` by group."""


@dataclass(frozen=True, slots=True)
class ItemPages:
    """How single items are shown."""

    item: Callable[[ItemView], ItemContext] | None = None
    """The context of `template`. By default pages show content, gold and parses as they are."""
    template: str = "benchmark/items/_plain.html"
    below: str = ""
    """A template below answer and prompt."""
    lines: Callable[[ItemView], Sequence[ReadLine]] = lines_of
    """The lines by which answers of two models to one sample are compared, with the verdicts of the score."""
    note: str = ""
    """A note below a table of items on what their scores are."""
    rows: Rows | None = None
    """The rows of answers that figures count, with filters that find their items."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a suite shows beyond what every suite gets."""

    tables: Callable[[ParseResults], Mapping[str, ShownTable]] = nothing
    """The tables of one parse by name."""
    pictures: Callable[[ParseResults], Mapping[str, ShownPicture]] = nothing
    sections: tuple[Section, ...] = ()
    """Where tables and pictures are on a page, with those of every suite that are to be among them."""
    explorer: Explorer | None = None
    """The part of a page in which a reader chooses a confusion matrix."""
    published: tuple[Published, ...] = ()
    """Figures that papers print, with the tables that have them: users enter rows of such figures."""
    methods: Callable[[Reported], Sections] | None = None
    """(heading, text) of a methods section."""
    dependent: str = ""
    """What of one cluster is not independent, in words."""
    categories: ShortNames = field(default_factory=dict)
    """Short names of categories of samples, in the order of tables."""
    category_noun: str = gettext_noop("category")
    main: tuple[str, ...] = ()
    """The keys of the metric groups that represent the suite next to other suites. The first group by default."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark."""

    name: str
    title: str
    steps: tuple[Step, ...]
    """The kinds of model calls."""
    groups: tuple[MetricGroup, ...]
    """The metric groups: one table and one ranking each."""
    request: Callable[[Question], Request | str]
    """The request to be sent, or a sentence why nothing is to be asked. Raises BadQuestion if what was chosen for the
    run does not fit."""
    parse: Callable[[Question, str], Parsed]
    """Both parses of an answer."""
    measure: Callable[[Entered], Mapping[str, GroupMetrics | None]]
    """The figures of one model by metric group. None for a group that nothing was asked for."""
    expected: Callable[[Question], str]
    """The answer of a perfect model, which estimates go by."""
    settings: tuple[Setting, ...] = ()
    """The suite's own choices at a launch."""
    noun: tuple[str, str] = (gettext_noop("sample"), gettext_noop("samples"))
    """What a sample is called, one and many."""
    cluster: tuple[str, str] = (gettext_noop("story"), gettext_noop("stories"))
    """What is resampled whole, one and many."""
    asking: Asking = Asking()
    copied: Copied = Copied()
    gold: Gold = Gold()
    texts: Texts = Texts()
    released: Released = Released()
    judge: Judge | None = None
    """The judge that is asked at the judged step."""
    controls: Controllable | None = None
    """What controls may change of samples."""
    items: ItemPages = ItemPages()
    results: Results = Results()

    @property
    def asked_for_as(self) -> str:
        """The name by which a launch asks for it, whatever gold is labelled by."""
        return self.gold.family or self.name

    @property
    def main_groups(self) -> tuple[MetricGroup, ...]:
        """The metric groups that stand for the suite beside others."""
        return tuple(group for group in self.groups if group.key in self.results.main) or self.groups[:1]

    @property
    def enterable(self) -> tuple[Published, ...]:
        """The figures that a user may enter from a paper: those that the suite names, then the other metrics of its
        groups."""
        groups = [(group.key, group.title, group.headers) for group in self.groups]
        return (*self.results.published, *of_groups(groups, self.results.published))

    @property
    def launched(self) -> tuple[Step, ...]:
        """The steps that a run can be launched with."""
        return tuple(step for step in self.steps if step.chosen)

    @property
    def chooses_steps(self) -> bool:
        """True where a launch says which steps a run goes through."""
        return self.asking.program is None and len(self.launched) > 1

    @property
    def method(self) -> Setting | None:
        """The setting by whose choices models are compared with themselves; None for a suite that asks in one way."""
        return next((setting for setting in self.settings if setting.method), None)

    @property
    def judging(self) -> Step | None:
        """The step of a launch at which the judge is asked, None for a suite without one."""
        return next((step for step in self.launched if step.judged), None)

    @property
    def judging_settings(self) -> tuple[Setting, ...]:
        """The settings that only judging has a use for."""
        judged = {step.key for step in self.steps if step.judged}
        return tuple(setting for setting in self.settings if setting.steps and set(setting.steps) <= judged)

    def settings_in(self, steps: Collection[str]) -> list[Setting]:
        """The settings that a run through these steps keeps: where a program names the steps, none that is of use to a
        judge alone where there is none."""
        judges = self.judging is not None and self.judging.key in steps
        idle = self.judging_settings if self.asking.program and not judges else ()
        return [setting for setting in self.settings if setting not in idle]

    def step(self, key: str) -> Step:
        """Return the step of that key. Raises KeyError where there is none."""
        for step in self.steps:
            if step.key == key:
                return step
        raise KeyError(key)

    def arranges(self, table: str) -> bool:
        """Return whether a section of the suite's own has the table of that name."""
        return any(table in section.tables for section in self.results.sections)

    def draws_categories(self, group: MetricGroup) -> bool:
        """Return whether a group has the picture by category of every suite: its samples have categories, and the suite
        none of its own for them."""
        name = f"categories-{group.key}"
        placed = any(name in section.pictures for section in self.results.sections)
        return group.by_category and (placed or not self.arranges(name))

    def related(self, key: str) -> frozenset[str]:
        """The steps whose answers the question or the answer of this one is read with, itself among them; empty where
        it stands alone."""
        step = self.step(key)
        others = {*step.needs, *step.after, *(other.key for other in self.steps if other.completes == key)}
        return frozenset({key, *others} if others else ())

    def needed(self, key: str, steps: Collection[str]) -> tuple[str, ...]:
        """The steps whose answers the question of this one needs in a run that goes through `steps`."""
        step = self.step(key)
        return (*step.needs, *(before for before in step.after if before in steps))

    def following(self, key: str) -> list[Step]:
        """The chosen steps whose questions need the answer to this one."""
        return [step for step in self.launched if key in (*step.needs, *step.after)]
