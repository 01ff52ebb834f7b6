"""Estimates of a run's questions and costs before it is launched."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal

from benchmark.controls.chosen import CONTROLS
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import answers_expected, prompts_of, question_of
from benchmark.services.extending import Extension, extension_under
from benchmark.services.judges import SELF_TEST, calls_of, is_wanted
from benchmark.services.judges import request_of as test_request
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, draft_of, method_of, methods_of, own_steps, plan_of, under_control
from benchmark.services.run_items import answers_by
from benchmark.suites.registry import suite_named
from core.digests import json_digest
from core.messages import Sentence, word
from workers.domain.pricing import Extent, Money
from workers.models import Endpoint
from workers.providers.contract import Request, Usage

MOST_LOOKED_AT = 200
"""An estimate makes the questions about this many samples, in whole clusters; they represent the others."""


@dataclass(slots=True)
class Line:
    """Expected calls and cost of the questions about `stories` to one model at one step; of a line whose questions are
    not estimated yet all are 0. `cached` is how many answers the ledger has, None where it was
    not looked up; tokens and dollars are of the other calls: `cost` what is expected, `most` what cannot be exceeded,
    None where the price is unknown. `asked` is the endpoint that answers, `method` and `control` are those by and under
    which it is asked, in words. `shared` calls are those of a line before it, and are counted there alone."""

    model: Endpoint
    step: str
    asked: Endpoint
    suite: str
    stories: Sequence[DatasetSample] = ()
    calls: int = 0
    cached: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    most: Decimal | None = Decimal(0)
    too_long: int = 0
    method: str = ""
    control: str = ""
    shared: int = 0

    @property
    def step_name(self) -> str:
        return "Self-test" if self.step == SELF_TEST else suite_named(self.suite).step(self.step).label

    @property
    def judged(self) -> bool:
        """True where the judge is asked about the model."""
        return self.step != SELF_TEST and suite_named(self.suite).step(self.step).judged

    def money(self, name: str) -> Money:
        """Return `cost` or `most` as money that can be summed."""
        amount = getattr(self, name)
        return Money(unpriced=self.to_make) if amount is None else Money(amount)

    @property
    def to_make(self) -> int:
        return self.calls - (self.cached or 0)


@dataclass(slots=True)
class Estimate:
    """The questions about `stories`, with a sentence for each thing that a control leaves out in `notes`. Each of the
    stories stands for `each` of them where only a part was looked at."""

    stories: list[DatasetSample]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    each: float = 1.0

    @property
    def count(self) -> int:
        """About how many samples something is asked."""
        return round(len(self.stories) * self.each)

    @property
    def total(self) -> Sums:
        return sums_of(self.lines)

    @property
    def by_method(self) -> list[Sums]:
        """The sums of each method; empty where all is asked in one way."""
        titles = list(dict.fromkeys(line.method for line in self.lines))
        return [
            sums_of([line for line in self.lines if line.method == title], method=title)
            for title in titles
            if titles[1:]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Calls, tokens and money of lines together, as `Line` has them of one; `cached` is None where the ledger was not
    asked. `method` is theirs where they are those of one."""

    calls: int
    shared: int
    to_make: int
    cached: int | None
    input_tokens: int
    output_tokens: int
    cost: Money
    most: Money
    method: str = ""


def sums_of(lines: Sequence[Line], *, method: str = "") -> Sums:
    cached = [line.cached for line in lines]
    return Sums(
        calls=sum(line.calls for line in lines),
        shared=sum(line.shared for line in lines),
        to_make=sum(line.to_make for line in lines),
        cached=None if None in cached else sum(filter(None, cached)),
        input_tokens=sum(line.input_tokens for line in lines),
        output_tokens=sum(line.output_tokens for line in lines),
        cost=sum((line.money("cost") for line in lines), Money()),
        most=sum((line.money("most") for line in lines), Money()),
        method=method,
    )


@dataclass(frozen=True, slots=True)
class Size:
    """Lengths of one question and of the answer that is to be expected, which holds no reasoning. Questions with one
    digest are one call; an empty one is of what is not asked."""

    question: Extent
    answer: Extent
    digest: str = ""


def extent_of(request: Request | str) -> Extent:
    """Return how much text is sent; nothing where nothing is to be asked."""
    if isinstance(request, str):
        return Extent()
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema else ""
    return sum((Extent.of(message.content) for message in request.messages), Extent.of(schema))


def sizes_of(draft: Run, questions: Iterable[tuple[str, DatasetSample]]) -> dict[str, dict[int, Size]]:
    """Return sizes by step and dataset sample id of `questions`: (step, sample), in which the same may come again.
    Raises BadPromptSet."""
    prompts, suite, draft = prompts_of(draft), suite_named(draft.suite), copy(draft)
    draft.params = replace(draft.parameters, own={**draft.parameters.own, **suite.asking.estimated_with}).as_json()
    samples_by_step: dict[str, dict[int, DatasetSample]] = {}
    for step, sample in questions:
        samples_by_step.setdefault(step, {})[sample.pk] = sample
    sizes: dict[str, dict[int, Size]] = {}
    for step, samples in samples_by_step.items():
        at_step = sizes.setdefault(step, {})
        for sample in DatasetSample.in_full(samples.values()):
            question = question_of(draft, sample, step, answers_expected(draft, sample, step, prompts), prompts)
            request = suite.request(question)
            # a question to a judge rests on answers that nobody has yet: no two are known to be one call
            digest = ""
            if not suite.step(step).judged and not isinstance(request, str):
                how = [request.max_tokens, request.temperature, request.seed]
                texts = [[message.role, message.content] for message in request.messages]
                digest = json_digest([texts, request.schema, request.task, how], default=str)[:20]
            at_step[sample.pk] = Size(extent_of(request), Extent.of(suite.expected(question)), digest)
    return sizes


def test_sizes(run: Run) -> dict[int, Size]:
    """Return sizes of the calls that test the run's judge, by dataset sample id."""
    sizes_by_story = {}
    for story, pairs in calls_of(run):
        answer = sum((Extent.of(f"{pair.actor}{pair.belief}") for pair in pairs), Extent())  # a judge repeats the rows
        sizes_by_story[story.pk] = Size(extent_of(test_request(story, pairs, run)), answer + answer)
    return sizes_by_story


Cached = set[tuple[int, int]]
"""(dataset sample id, repetition) of questions whose answer the ledger has."""
Counted = set[tuple[int, str, int]]
"""(endpoint id of who answers, digest of the question, repetition) of calls that were counted."""


def parts_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[Line]:
    """Return the lines of a run on these stories, not estimated yet: models in the plan's order, a model's answers
    before their judgement."""
    parts = []
    for model in plan.endpoints:
        for step in steps_asked(plan, model):
            described = plan.definition.step(step)
            asked_stories = [story for story in stories if described.asks_about(story.category)]
            judged = described.judged
            if judged and plan.source is not None:
                answered = set(answers_by(plan.source, model).values_list("sample_id", flat=True))
                asked_stories = [story for story in asked_stories if story.pk in answered]
            asked = plan.judge if judged and plan.judge else model
            parts.append(Line(model, step, asked, plan.suite, asked_stories))
    draft = draft_of(plan, stories)
    if plan.judge and is_wanted(plan, draft):
        tested = [story for story, _ in calls_of(draft)]
        parts.append(Line(plan.judge, SELF_TEST, plan.judge, plan.suite, tested))
    return [part for part in parts if part.stories]


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions of one run: its plan, all its samples, the parts of it that are asked, and what a control leaves
    out of it. Each sample stands for `each` where only a part of them was looked at."""

    plan: Plan
    stories: Sequence[DatasetSample]
    parts: Sequence[Line]
    notes: Sequence[str] = ()
    each: float = 1.0


def askings_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[Asking]:
    """Return what a plan asks on these samples, as published first, then under each of its controls. Of more than
    MOST_LOOKED_AT samples it looks at about that many in whole clusters, the same each time."""
    looked, notes = stories, []
    if len(stories) > MOST_LOOKED_AT:
        clusters = sorted({story.cluster for story in stories})
        drawn = {*random.Random(1).sample(clusters, max(1, len(clusters) * MOST_LOOKED_AT // len(stories)))}
        looked = [story for story in stories if story.cluster in drawn]
        notes = [
            Sentence(
                "Estimated from {looked} of the {stories} {many}, drawn by whole {clusters}.",
                looked=f"{len(looked):,}",
                stories=f"{len(stories):,}",
                many=word(plan.definition.noun[1]),
                clusters=word(plan.definition.cluster[1]),
            )
        ]
    askings = [Asking(plan, stories, parts_of(plan, looked), notes, len(stories) / len(looked))]
    for name in plan.controls:
        under, samples, left_out = under_control(plan, name, looked, len(stories))
        parts = parts_of(under, samples) if under else []
        askings.append(Asking(under or plan, samples, parts, left_out, len(stories) / len(looked)))
    return askings


def askings_of_plans(plans: Sequence[Plan]) -> list[Asking]:
    """Return what plans that are launched together ask, each as `askings_of` has it. Raises RunRefused."""
    return [asking for plan in plans for asking in askings_of(plan, check(plan, lean=True))]


def budget_of(askings: Sequence[Asking]) -> Decimal | None:
    """Return the budget of all that is asked together; None where there is no cap."""
    published = {id(asking.plan): asking.plan.budget for asking in askings if not asking.plan.control}
    budgets = [budget for budget in published.values() if budget is not None]
    return sum(budgets, Decimal(0)) if budgets else None


def askings_of_controls(plan: Plan, stories: Sequence[DatasetSample]) -> list[Asking]:
    """Return what the controls of a plan ask beside a run that has been launched, as `askings_of` does."""
    return [Asking(plan, stories, []), *askings_of(plan, stories)[1:]]


def askings_of_extension(run: Run, more: Extension) -> list[Asking]:
    """Return what extending a run and its controls asks: new stories of its models, all stories of new models."""

    def asking(here: Extension, notes: Sequence[str] = ()) -> Asking:
        plan = here.plan.without_test()
        added = parts_of(replace(plan, endpoints=here.added), here.stories)
        return Asking(here.plan, here.stories, [*parts_of(plan, here.fresh), *added], notes)

    askings = [asking(more)]
    for control in Run.objects.extended_with(run).order_by("pk"):
        notes = under_control(more.plan, control.control, more.fresh)[2] if more.fresh else ()
        here = extension_under(control, more)
        askings.append(asking(here, notes) if here else Asking(more.plan, [], [], notes))
    return askings


Look = Callable[[Plan, Sequence[DatasetSample], Sequence[Line]], Mapping[tuple[int, str], Cached]]


def estimate_all(askings: Sequence[Asking], look: Look | None = None) -> Estimate:
    """Estimate runs together, the first of which is as published; `look` finds in the ledger what it has already. A
    call that several of them make is counted once. Raises RunRefused."""
    counted: Counted = set()
    estimates = []
    for asking in askings:
        cached = look(asking.plan, asking.stories, asking.parts) if look else None
        estimated = estimate_of(asking.plan, asking.stories, asking.parts, cached, counted)
        if asking.each != 1:
            estimated.each = asking.each
            for line in estimated.lines:
                for name in ("calls", "cached", "shared", "input_tokens", "output_tokens", "too_long"):
                    if (value := getattr(line, name)) is not None:
                        setattr(line, name, round(value * asking.each))
                line.cost = None if line.cost is None else line.cost * Decimal(asking.each)
                line.most = None if line.most is None else line.most * Decimal(asking.each)
        estimates.append(estimated)
    largest = max(estimates, key=lambda estimated: estimated.count)  # of equals the first, as published
    return Estimate(
        largest.stories,
        [line for estimated in estimates for line in estimated.lines],
        [note for asking in askings for note in asking.notes],
        largest.each,
    )


def estimate(plan: Plan) -> Estimate:
    """Estimate a run before its launch, whatever the ledger has. Raises RunRefused."""
    return estimate_all(askings_of(plan, check(plan)))


def is_over(askings: Sequence[Asking], total: Sums) -> bool:
    """Return whether what is asked together, which comes to `total`, can cost more than its budget."""
    budget = budget_of(askings)
    return budget is not None and total.most.priced > budget


def estimate_of(
    plan: Plan,
    stories: Sequence[DatasetSample],
    parts: Sequence[Line],
    cached_by_part: Mapping[tuple[int, str], Cached] | None = None,
    counted: Counted | None = None,
) -> Estimate:
    """Estimate these parts of a run. `stories` are all of the run, on which its prompts' examples depend;
    `cached_by_part` are the questions whose answer the ledger has, by (endpoint id of the model, step), None where it
    was not looked up. Calls of `counted` are not counted again, and those of this run that rest on no earlier answer
    join it."""
    counted = set() if counted is None else counted
    draft = draft_of(plan, stories)
    sizes = sizes_of(draft, [(part.step, story) for part in parts if part.step != SELF_TEST for story in part.stories])
    if any(part.step == SELF_TEST for part in parts):
        sizes[SELF_TEST] = test_sizes(draft)
    stories_by_id = {story.pk: story for part in parts if part.step != SELF_TEST for story in part.stories}
    estimate = Estimate(sorted(stories_by_id.values(), key=lambda story: story.position))
    control = CONTROLS[plan.control].title if plan.control else ""
    method = methods_of(plan.definition).get(method_of(plan), "")
    for part in parts:
        cached = None if cached_by_part is None else cached_by_part.get((part.model.pk, part.step), set())
        mine = {story.pk: sizes[part.step][story.pk] for story in part.stories}
        line = replace(part, method=method, control=control)
        if part.step == SELF_TEST:
            estimate.lines.append(line_of(plan, line, mine, cached))
            continue
        # what is asked word for word as at an earlier step rests on no earlier answer
        needed = plan.definition.needed(part.step, plan.steps)
        earlier = {(pk, size.digest) for step in needed for pk, size in sizes.get(step, {}).items() if size.digest}
        resting = {pk for pk, size in mine.items() if needed and (pk, size.digest) not in earlier}
        estimate.lines.append(line_of(plan, line, mine, cached, counted, resting))
    return estimate


def steps_asked(plan: Plan, model: Endpoint) -> list[str]:
    """Return the steps at which a model of the plan, or the judge about it, is asked."""
    entrant_steps = set(own_steps(plan, model))
    available = entrant_steps | set(plan.judged_anew)
    judged = {step.key for step in plan.definition.launched if step.judged and set(step.needs) <= available}
    asked = entrant_steps | (judged & set(plan.steps))
    judge, judging = plan.definition.judge, plan.definition.judging
    steps = []
    for step in plan.definition.launched:
        if step.key in asked:  # a judge may be asked several times about the same answers
            steps += [step.key, *(judge.passes(plan.settings) if judge and step == judging else ())]
    return steps


def estimate_of_test(run: Run) -> Line:
    """Estimate the self-test of a run's judge."""
    assert run.judge, "it is the judge that is tested"
    return line_of(plan_of(run), Line(run.judge, SELF_TEST, run.judge, run.suite), test_sizes(run))


def line_of(
    plan: Plan,
    line: Line,
    sizes: Mapping[int, Size],
    cached: Cached | None = None,
    counted: Counted | None = None,
    resting: Set[int] = frozenset(),
) -> Line:
    """Return the line with what questions of these sizes cost, without the `cached` ones.

    Calls that were `counted` before are shared, the others join these. Of samples whose question is `resting` on an
    earlier answer it is not known.
    """
    turns = 1 if line.step == SELF_TEST else plan.repetitions
    distinct = {size.digest or str(sample): sample for sample, size in reversed([*sizes.items()])}
    questions = [(sample, turn) for turn in range(turns) for sample in reversed(distinct.values())]
    if counted is not None:
        keys = {
            (sample, turn): (line.asked.pk, sizes[sample].digest, turn)
            for sample, turn in questions
            if sizes[sample].digest and sample not in resting
        }
        fresh = [question for question in questions if keys.get(question) not in counted]
        counted.update(keys[question] for question in fresh if question in keys)
        questions, line.shared = fresh, len(questions) - len(fresh)
    line.calls, line.cached = len(questions), None if cached is None else len(cached & set(questions))
    if not line.asked.about.reads_prompts:  # it computes its answers from the data
        return line
    uncached = [sizes[question[0]] for question in questions if not cached or question not in cached]
    line.input_tokens = sum(size.question.tokens for size in uncached)
    line.output_tokens = sum(min(size.answer.tokens, plan.max_tokens) for size in uncached)
    prices, batch, room = line.asked.prices, plan.batch, line.asked.context_tokens
    line.cost = prices.cost(Usage(input=line.input_tokens, output=line.output_tokens), batch=batch)
    line.most = prices.at_most(line.input_tokens, plan.max_tokens * len(uncached), batch=batch)
    if room:
        line.too_long = sum(size.question.fewest_tokens + plan.max_tokens > room for size in uncached)
    return line
