"""The description of a suite: everything outside its folder is made from this.

A suite is a folder of `benchmark/suites` with a `suite.py` that holds one `Suite`, and a line in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotation.domain.schema import Schema
from benchmark.controls.contract import Controllable
from benchmark.domain.matched_rows import F1, METRICS
from benchmark.domain.parameters import Options
from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.answers import Answered, AnswerIds, ParsedScores
from benchmark.suites.asked import (
    BadQuestion,
    Beside,
    Entered,
    ItemContext,
    ItemView,
    Measured,
    Outcome,
    Parsed,
    Question,
    Resources,
    Sample,
    Step,
)
from benchmark.suites.by_part import Parts
from benchmark.suites.copies import BadImport, CopySource
from benchmark.suites.finer import FinerItems
from benchmark.suites.item_filters import Rows
from benchmark.suites.judged import Judge
from benchmark.suites.people import LabelsOf, Person, PersonMeasured
from benchmark.suites.prompt_sets import PromptSets
from benchmark.suites.published import Published, of_groups
from benchmark.suites.released import Exchanged, Files, Parser
from benchmark.suites.reported import Reported, Sections
from benchmark.suites.settings import Option, Setting, Settings
from benchmark.suites.shown import Explorer, ParseResults, Section, ShownPicture, ShownTable, nothing
from benchmark.suites.side_by_side import ReadLine, lines_of
from core.language import gettext_noop
from core.plain import Json
from workers.domain.pricing import Extent
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Request

__all__ = [
    "ANSWERS",
    "GUESSED",
    "LEFT_OUT",
    "STRUCTURE",
    "WRONG",
    "AnswerIds",
    "Answered",
    "BadImport",
    "BadQuestion",
    "Beside",
    "Entered",
    "Imported",
    "ItemView",
    "Measured",
    "MetricGroup",
    "Option",
    "Outcome",
    "Parsed",
    "Question",
    "Resources",
    "Sample",
    "Setting",
    "Sizes",
    "Step",
    "Suite",
    "Unread",
]

Unread = Literal["wrong", "left out", "guessed"]
WRONG: Unread = "wrong"
LEFT_OUT: Unread = "left out"
GUESSED: Unread = "guessed"
"""The official parse's treatment of answers that it cannot read: a wrong answer, none that counts, or, as it
reads an answer in any text, one by chance."""
STRUCTURE, ANSWERS = "structure", "answers"
"""The subjects that a metric group may be about."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of questions and answers, for estimates that make few of the questions.

    `of(question)` is (what its sample alone adds to a question, whose other wording is that of all of a category; the
    answer to be expected); `pairs(pairs, answer_format)` is a judge's answer about pairs of an actor and a belief.
    `measured_with` are settings that questions are measured with whatever was chosen: what depends on answers that
    nobody has yet is measured as if it saved nothing.
    """

    of: Callable[[Question], tuple[Extent, Extent]]
    pairs: Callable[[Sequence[tuple[str, str]], str], Extent]
    measured_with: Options = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """A user's copy of a benchmark, read and checked: `title` says what it is, `licence` is the text that came with it,
    `files` are the SHA-256 digests of what was read, by name. `problems` are what is odd in it and was left out or
    mended: {"file", "line", "message"}, a sentence each, with 0 for no line. `unchecked` says in a sentence what could
    not be held against the release; empty where everything was."""

    title: str
    samples: Sequence[Sample]
    licence: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[Mapping[str, str | int]] = ()
    unchecked: str = ""


_JOINT = "__"


def named_by(name: str, schema: Schema) -> str:
    """Return the name of a suite, or of a metric group, for gold of a schema that has its own: letters, digits, hyphens
    and low lines."""
    return _JOINT.join((name, schema.name, schema.version.replace(".", "_")))


def schema_in(name: str) -> tuple[str, str, str] | None:
    """Return (name, schema name, schema version) of what `named_by` made; None for another name."""
    parts = name.split(_JOINT, 2)
    return (parts[0], parts[1], parts[2].replace("_", ".")) if len(parts) == 3 else None


Says = Callable[[Sample, Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that rest on the same answers and stand in one table; models are ranked within a group.

    `key` is unique among all suites: addresses, kept reports and files name a group by it; commands name it by `called`
    where it has that. `shares` are the metrics that every story has, as fractions from 0 to 1; `headers` name those of
    a table's row, in order, the mean of the categories' means of a share (under `<share>_category_mean`) among them
    where `category_mean` names that share. `score` is the share that models are ranked and compared by, `score_title`
    its name in words, unique within the suite, as titles of tables and pictures are made from it. `prompt` is the step
    whose prompt the model reads, `rests_on` all steps whose answers count, `scored` the one whose items carry the
    figures. `facets` are names of `Sample.content` by which the score is told too, with their headings, `facet_values`
    what pages and files call values that are codes. `measured_in` has, of shares that count some cells of an answer,
    the filters of the items page that show these. `judged` says whether a judge stands between answer and figure;
    `notes` explain metrics under a table. `unread` is what its official parse makes of what it cannot read: `WRONG`,
    `LEFT_OUT` or `GUESSED`. `by_category` is False where the categories of samples say nothing of what is counted, as
    of sets of samples of all categories: there are then no figures by category. `unit` is what figures count once, one
    and many, where that is not a sample but a set of them; `counts`, a function of a module, says which samples of a
    set count. `chance` is how likely an answer to a sample is right that is drawn among all that may be answered, each
    as likely, of a list each name with one half; None where nothing is to choose from; `majority(sample, resources)` is
    the score of the answer that is right most often in the whole dataset, None where gold alone does not tell it.
    `tells` is `STRUCTURE` where its figures of a sample say how well the structure of a story was built, `ANSWERS`
    where its score says whether a question about a story was answered right: the two are held against each other over
    stories with the same text; empty where it is neither. `parts` are those by which methods are
    compared beside the whole, where a paper has them so. `says(sample, repaired)` is what a repaired parse takes an
    answer for, alike whatever a control made of names and options: two answers to a sample are the same where it is,
    those to a set where all of them are; without it they are where their scores are. `finer` is what it counts within a
    sample one by one, None where that is nothing. `matched` names, of a judged group whose shares are the precision,
    recall or F1 of matched rows under other names, the share of each; its figures are then corrected for the judge's
    error by what people align.
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
    called: str = ""
    measured_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tells: str = ""
    by_category: bool = True
    unit: tuple[str, str] | None = None
    counts: Callable[[Sample], bool] | None = None
    unread: Unread = WRONG
    chance: Callable[[Sample], float | None] | None = None
    majority: Callable[[Sample, Resources], float | None] | None = None
    parts: Parts | None = None
    says: Says | None = None
    finer: FinerItems | None = None
    matched: Mapping[str, str] = field(default_factory=dict)

    @property
    def corrected(self) -> dict[str, str]:
        """The shares that can be corrected for the judge's error, by precision, recall and F1 of matched rows, which
        they are; empty where there is no judge, or no F1."""
        named = self.matched or {metric: metric for metric in METRICS if metric in self.shares}
        return dict(named) if self.judged and F1 in named else {}


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark.

    What it does: `request(question)` makes what is sent, or a sentence that says why nothing is to be asked, and raises
    BadQuestion where what was chosen for the run does not go; `parse(question, answer)` reads what came back;
    `expected(question)` is the answer of a perfect model, which estimates go by. `measure(entered)` gives each metric
    group's figures of one model, None where nothing was asked for it; `summary(entered)` is {"official", "repaired"} of
    it, as `score` gives them, without it by group what `measure` gives. `score(data, answers, **options)` reads answers
    made elsewhere: both paths in, {"official", "repaired"} out; raises ValueError. `answer_ids` say to which samples of
    a dataset such answers are; without them ids are the keys of samples.

    What its released code has to do with it, if anything: `parsers` say by kind of answer what official parsing makes
    of a raw text, `exchange(exchanged)` makes the files that this code would have left behind for one model, as they
    are asked for.

    What it is about: `story` names the text of `Sample.content` that a sample is about, empty where no other suite has
    it. `load(path, **options)` reads a user's copy of the benchmark, a folder or its one file, with `load_options`, and
    raises BadImport; `source` says where users get it and which files are read; `archive` names the one, if there is,
    that its authors give out and `load` takes; `told_by` are sets of fields, any of which tells a file of such a copy,
    columns where `told_in_sheet`; without `load` the suite works on a project's frozen gold, and `unfit(resources)`
    says what is wrong with gold that it cannot ask about, as the end of a sentence about it, empty where it can.
    `schema` is the label schema of the gold that it measures, None for any, and `labelled_by(schema)` the suite for
    gold of another one, under a name and with metric groups of its own (`named_by`), so that no table holds figures of
    two schemas against each other; `family` is then the name of the suite that made it. `noun` is what a sample is
    called, one and many, `cluster` what is resampled whole. `people` is the group in which annotators and experts stand
    beside models, empty for none; `people_measured(person)` scores one of them, None for who labelled nothing that
    counts. `labels(sample, schema, parses)` says of each repaired parse of that group's scored step which label it
    gives each cell of the gold: {place of the proposition: label of each dimension, "" without one}.

    How it is asked: `program(options)` names the steps that models go through in a run with these options, in order,
    and a judge is asked where the launch has one; without it steps are chosen at the launch. There are `settings` of
    its own, `repetitions` and `max_tokens` to begin with, `temperature` in words where none is chosen, `prompts` {step:
    digest of the wording} under the name `prompts_version`, or `prompting` where runs choose among prompt sets. `sizes`
    measures questions and answers; without it each is made for an estimate. `judge` says what makes its judge what it
    is, and how that is tested and asked once more; None for a suite without one. `controls` says what controls may
    change of its samples.

    How it is shown: `item(view)` is what `item_template` shows of one item, by default content, gold and parses as
    they are, and `item_below` a template of what stands below answer and prompt; `lines(view)` are those by which
    answers of two models to one sample are held against each other, with the verdicts of the score, by default what
    gold and both parses have under each key, without a verdict; `items_note` says below a table of items what their
    scores are. `rows` are the rows of its answers that figures count, with the filters that find their items, None
    where an item is found as a whole alone; `methods(reported)` are (heading, text) of a methods section, `dependent`
    is what of one cluster is not independent. `judge_sees(settings)` is what the judge is given: (of its settings in
    brief, all of it). `categories` are short names of categories of its samples, in the order in which tables have
    them, `category_noun` what one is called. `tables(results)` and `pictures(results)` are those of one parse beyond
    what every suite gets, by name, `sections` where they stand on a page, with the tables of every suite that are to
    stand among them, `explorer` the part in which a reader chooses. `published` are figures that papers print of it,
    with the tables that have them: rows of such figures are entered by users.

    `baselines` answer its questions without a model. `main` are the keys of the metric groups that stand for it beside
    other suites, its first group where it names none.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    groups: tuple[MetricGroup, ...]
    request: Callable[[Question], Request | str]
    parse: Callable[[Question, str], Parsed]
    measure: Callable[[Entered], Mapping[str, Measured | None]]
    expected: Callable[[Question], str]
    summary: Callable[[Entered], Json] | None = None
    score: Callable[..., ParsedScores] | None = None
    parsers: Mapping[str, Parser] = field(default_factory=dict)
    exchange: Callable[[Exchanged], Files] | None = None
    options: tuple[Option, ...] = ()
    answer_ids: AnswerIds | None = None
    story: str = ""
    load: Callable[..., Imported] | None = None
    load_options: tuple[Setting, ...] = ()
    source: CopySource | None = None
    archive: str = ""
    told_by: tuple[frozenset[str], ...] = ()
    told_in_sheet: bool = False
    noun: tuple[str, str] = (gettext_noop("sample"), gettext_noop("samples"))
    cluster: tuple[str, str] = (gettext_noop("story"), gettext_noop("stories"))
    unfit: Callable[[Resources], str] | None = None
    schema: Schema | None = None
    labelled_by: Callable[[Schema], Suite] | None = None
    family: str = ""
    people: str = ""
    people_measured: Callable[[Person], PersonMeasured | None] | None = None
    labels: LabelsOf | None = None
    program: Callable[[Options], Sequence[str]] | None = None
    settings: tuple[Setting, ...] = ()
    repetitions: int = 1
    max_tokens: int = 1000
    temperature: str = gettext_noop("the suite’s own")
    prompts: Mapping[str, str] = field(default_factory=dict)
    prompts_version: str = ""
    prompting: PromptSets[Any] | None = None
    sizes: Sizes | None = None
    judge: Judge | None = None
    controls: Controllable | None = None
    item: Callable[[ItemView], ItemContext] | None = None
    item_template: str = "benchmark/items/_plain.html"
    item_below: str = ""
    lines: Callable[[ItemView], Sequence[ReadLine]] = lines_of
    items_note: str = ""
    rows: Rows | None = None
    methods: Callable[[Reported], Sections] | None = None
    dependent: str = ""
    judge_sees: Callable[[Settings], tuple[str, str]] | None = None
    tables: Callable[[ParseResults], Mapping[str, ShownTable]] = nothing
    pictures: Callable[[ParseResults], Mapping[str, ShownPicture]] = nothing
    sections: tuple[Section, ...] = ()
    explorer: Explorer | None = None
    published: tuple[Published, ...] = ()
    categories: ShortNames = field(default_factory=dict)
    category_noun: str = gettext_noop("category")
    baselines: tuple[Baseline, ...] = ()
    main: tuple[str, ...] = ()

    @property
    def asked_for_as(self) -> str:
        """The name by which a launch asks for it, whatever gold is labelled by."""
        return self.family or self.name

    @property
    def main_groups(self) -> tuple[MetricGroup, ...]:
        """The metric groups that stand for the suite beside others."""
        return tuple(group for group in self.groups if group.key in self.main) or self.groups[:1]

    @property
    def enterable(self) -> tuple[Published, ...]:
        """The figures that a user may enter from a paper: those that the suite names, then the other metrics of its
        groups."""
        groups = [(group.key, group.title, group.headers) for group in self.groups]
        return (*self.published, *of_groups(groups, self.published))

    @property
    def launched(self) -> tuple[Step, ...]:
        """The steps that a run can be launched with."""
        return tuple(step for step in self.steps if step.chosen)

    @property
    def chooses_steps(self) -> bool:
        """True where a launch says which steps a run goes through."""
        return self.program is None and len(self.launched) > 1

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
        idle = self.judging_settings if self.program and not judges else ()
        return [setting for setting in self.settings if setting not in idle]

    def step(self, key: str) -> Step:
        """Return the step of that key. Raises KeyError where there is none."""
        for step in self.steps:
            if step.key == key:
                return step
        raise KeyError(key)

    def arranges(self, table: str) -> bool:
        """Return whether a section of the suite's own has the table of that name."""
        return any(table in section.tables for section in self.sections)

    def draws_categories(self, group: MetricGroup) -> bool:
        """Return whether a group has the picture by category of every suite: its samples have categories, and the suite
        none of its own for them."""
        name = f"categories-{group.key}"
        placed = any(name in section.pictures for section in self.sections)
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
