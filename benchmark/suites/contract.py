"""The description of a suite: everything outside its folder is made from this.

A suite is a folder of `benchmark/suites` with a `suite.py` that holds one `Suite`, and a line in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.answer_writers import AnswerWriter
from annotation.domain.schema import Schema
from benchmark.controls.contract import Controllable
from benchmark.domain.parameters import Options
from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.answers import AnswerIds, Exchanged, Files, ParsedScores, Parser
from benchmark.suites.copies import CopySource, Imported
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import ReadLine, Rows, lines_of
from benchmark.suites.judges import Judge
from benchmark.suites.lettered import Lettered
from benchmark.suites.people import LabelsOf, Person, PersonMeasured
from benchmark.suites.prompt_sets import PromptSets
from benchmark.suites.questions import (
    Entered,
    ItemContext,
    ItemView,
    Measured,
    Parsed,
    Question,
    Resources,
    Step,
)
from benchmark.suites.reports import Published, Reported, Sections, of_groups
from benchmark.suites.results import Explorer, ParseResults, Section, ShownPicture, ShownTable, nothing
from benchmark.suites.settings import Option, Setting, Settings
from benchmark.suites.sizes import Sizes
from core.messages import gettext_noop
from core.plain import Json
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Request


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

    `told_by` names the texts of `Sample.content`, such as story and question, that together tell a sample in the record
    of another tool. Each may be a list of texts. Where several samples have the same, those of `told_apart_by` decide.
    Without them a sample is known by its key and its prompt only. `lettered` says how questions are answered by the
    letter of an option, None where they are not.

    What its released code has to do with it, if anything: `parsers` say by kind of answer what official parsing makes
    of a raw text, `exchange(exchanged)` makes the files that this code would have left behind for one model, as they
    are asked for.

    What it is about: `story` names the text of `Sample.content` that a sample is about, empty where no other suite has
    it. `load(path, **options)` reads a user's copy of the benchmark, a folder or its one file, with `load_options`, and
    raises BadImport; `source` says where users get it and which files are read; `archive` names the one, if there is,
    that its authors give out and `load` takes; `recognised_by` are sets of fields, any of which tells a file of such a
    copy, columns where `recognised_in_sheet`; without `load` the suite works on a project's published gold, and
    `unfit(resources)` says what is wrong with gold that it cannot ask about, as the end of a sentence about it, empty
    where it can. `schema` is the label schema of the gold that it measures, None for any, and `labelled_by(schema)` the
    suite for gold of another one, under a name and with metric groups of its own (`named_by`), so that no table holds
    figures of two schemas against each other; `family` is then the name of the suite that made it. `noun` is what a
    sample is called, one and many, `cluster` what is resampled whole. `people` is the group in which annotators and
    experts stand beside models, empty for none; `people_measured(person)` scores one of them, None for who labelled
    nothing that counts. `labels(sample, schema, parses)` says of each repaired parse of that group's scored step which
    label it gives each cell of the gold: {place of the proposition: label of each dimension, "" without one}.

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

    `baselines` answer its questions without a model; `answer_writers` are those in which shared baselines and scripted
    models write labels and propositions for it. `main` are the keys of the metric groups that stand for it beside other
    suites, its first group where it names none.
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
    told_by: tuple[str, ...] = ()
    told_apart_by: tuple[str, ...] = ()
    lettered: Lettered | None = None
    story: str = ""
    load: Callable[..., Imported] | None = None
    load_options: tuple[Setting, ...] = ()
    source: CopySource | None = None
    archive: str = ""
    recognised_by: tuple[frozenset[str], ...] = ()
    recognised_in_sheet: bool = False
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
    answer_writers: tuple[AnswerWriter, ...] = ()
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
