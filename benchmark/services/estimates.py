"""What a run would ask and cost, and what it could show, before it is launched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from math import comb

from benchmark.domain.inference import Aligned, difference_sd, smallest_difference
from benchmark.models import LAUNCHED, DatasetSample, Form, Run, RunItem, Stage
from benchmark.services.asking import prompt_set_named, question_of, reads_prompts, stage_request
from benchmark.services.judge_tests import SELF_TEST, calls_of, is_wanted
from benchmark.services.judge_tests import request_of as test_request
from benchmark.services.plans import Plan, check, extracted_by, own_stages, stages_of
from benchmark.services.runs import Extension, draft_of, plan_of
from benchmark.suites.omnitom.prompting import PromptSet
from benchmark.suites.omnitom.prompting.rendering import gold_table, predictions_table, propositions
from benchmark.suites.omnitom.records import Record, record_of
from benchmark.suites.omnitom.serialisers import gold_extraction_table, gold_label_table
from benchmark.suites.registry import suite_named
from workers.domain.pricing import Extent, Money
from workers.models import Endpoint
from workers.providers.contract import Request, Usage

OMNITOM = "omnitom"
CELL_CHARACTERS = {Stage.EXTRACT: 40, Stage.LABEL: 190, Stage.JUDGE: 28}
"""What a row of structured output takes besides its texts."""


@dataclass(frozen=True, slots=True)
class Size:
    """How long one question is, and the answer that is to be expected, which holds no reasoning."""

    question: Extent
    answer: Extent


@dataclass(slots=True)
class Line:
    """One model at one stage. `known` is how many answers the ledger has, None where nobody looked; tokens and dollars are
    of the other calls: `cost` what is expected, `most` what cannot be exceeded, None where the price is unknown. `asked` is the endpoint that answers."""

    model: Endpoint
    stage: str
    asked: Endpoint
    calls: int = 0
    known: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    most: Decimal | None = Decimal(0)
    too_long: int = 0
    suite: str = OMNITOM

    @property
    def stage_name(self) -> str:
        return "Self-test" if self.stage == SELF_TEST else suite_named(self.suite).step(self.stage).label

    def money(self, name: str) -> Money:
        """`cost` or `most` for sums."""
        amount = getattr(self, name)
        return Money(unpriced=self.to_make) if amount is None else Money(amount)

    @property
    def to_make(self) -> int:
        return self.calls - (self.known or 0)


@dataclass(slots=True)
class Estimate:
    stories: list[DatasetSample]
    lines: list[Line] = field(default_factory=list)

    @property
    def total(self) -> dict:
        names = ("calls", "to_make", "input_tokens", "output_tokens")
        known = [line.known for line in self.lines]
        sums = {name: sum(getattr(line, name) for line in self.lines) for name in names}
        money = {name: sum((line.money(name) for line in self.lines), Money()) for name in ("cost", "most")}
        return sums | money | {"known": None if None in known else sum(known)}


Known = set[tuple[int, int]]
"""(dataset sample id, repetition) of questions whose answer the ledger has."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is asked of a model at a stage: of `asked`, who is the judge where it is judging, about `stories`."""

    model: Endpoint
    stage: str
    asked: Endpoint
    stories: Sequence[DatasetSample]


def parts_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[Part]:
    """Everything that a run on these stories asks, models in the plan's order, a model's extraction before its judgement."""
    found = []
    for model in plan.endpoints:
        for stage in stages_asked(plan, model):
            held = stories
            if stage == Stage.JUDGE and plan.source is not None:
                there = set(extracted_by(plan.source, model).values_list("sample_id", flat=True))
                held = [story for story in stories if story.pk in there]
            judged = plan.definition.step(stage).judged
            found.append(Part(model, stage, plan.judge if judged else model, held))
    found += _test_of(plan, stories) if plan.definition.protocol else []
    return [part for part in found if part.stories]


def _test_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[Part]:
    """The self-test of the judge, where the launch makes one."""
    draft = draft_of(plan, stories)
    if not is_wanted(plan, draft):
        return []
    return [Part(plan.judge, SELF_TEST, plan.judge, [story for story, _ in calls_of(plan.dataset, draft.params)])]


def parts_of_extension(more: Extension) -> list[Part]:
    """What extending a run asks besides what it has: new stories of its models, all stories of new ones."""
    plan = replace(more.plan, self_test=False)
    joined = replace(plan, endpoints=more.added)
    return [*parts_of(plan, more.fresh), *parts_of(joined, more.stories)]


def estimate(plan: Plan) -> Estimate:
    """Of a run that is to be launched, whatever the ledger has. Raises RunRefused."""
    stories = check(plan)
    return estimate_of(plan, stories, parts_of(plan, stories))


def estimate_of(
    plan: Plan,
    stories: Sequence[DatasetSample],
    parts: Sequence[Part],
    known: Mapping[tuple[int, str], Known] | None = None,
) -> Estimate:
    """`stories` are all of the run, of which its prompts' examples depend; `known` are those whose answer the ledger has,
    by (endpoint id of the model, stage)."""
    sizes = _sizes(plan, stories, parts)
    asked = {story.pk: story for part in parts if part.stage != SELF_TEST for story in part.stories}
    found = Estimate(sorted(asked.values(), key=_position))
    for part in parts:
        held = None if known is None else known.get((part.model.pk, part.stage), set())
        mine = {story.pk: sizes[part.stage][story.pk] for story in part.stories}
        line = Line(part.model, part.stage, part.asked, suite=plan.suite)
        found.lines.append(_line(plan, line, mine, held))
    return found


def _position(story: DatasetSample) -> int:
    return story.position


def stages_asked(plan: Plan, model: Endpoint) -> list[str]:
    """The steps at which a model of the plan, or the judge about it, is asked."""
    if not plan.definition.protocol:
        able = stages_of(model, plan.suite)
        asked = [one for one in plan.definition.steps if one.chosen and one.key in plan.stages]
        return [one.key for one in asked if one.judged or one.key in able]
    own = own_stages(plan, model)
    judged = Stage.JUDGE in plan.stages and (Stage.EXTRACT in own or plan.source is not None)
    return [stage for stage in LAUNCHED if stage in own or (judged and stage == Stage.JUDGE)]


def line_of(plan: Plan, line: Line, sizes: Mapping[int, Size]) -> Line:
    """The line with what questions of these sizes cost, whatever the ledger has."""
    return _line(plan, line, sizes, None)


def estimate_of_test(run: Run) -> Line:
    """What testing the judge of a run would ask and cost."""
    line = Line(run.judge, SELF_TEST, run.judge)
    return _line(plan_of(run), line, test_sizes(run), None)


def _line(plan: Plan, line: Line, sizes: Mapping[int, Size], known: Known | None) -> Line:
    turns = 1 if line.stage == SELF_TEST else plan.repetitions
    asked = [(sample, turn) for turn in range(turns) for sample in sizes]
    line.calls, line.known = len(asked), None if known is None else len(known & set(asked))
    if not line.asked.about.reads_prompts:  # it computes its answers from the data
        return line
    questions = [sizes[one[0]] for one in asked if not known or one not in known]
    inputs = [size.question.tokens for size in questions]
    line.input_tokens = sum(inputs)
    line.output_tokens = sum(min(size.answer.tokens, plan.max_tokens) for size in questions)
    prices, batch = line.asked.prices, plan.batch
    line.cost = prices.cost(Usage(input=line.input_tokens, output=line.output_tokens), batch=batch)
    line.most = prices.at_most(line.input_tokens, plan.max_tokens * len(questions), batch=batch)
    room = line.asked.context_tokens
    needed = [size.question.fewest_tokens + plan.max_tokens for size in questions] if room else []
    line.too_long = sum(one > room for one in needed)
    return line


def _sizes(plan: Plan, stories: Sequence[DatasetSample], parts: Sequence[Part]) -> dict[str, dict[int, Size]]:
    """By stage and dataset story id. A whole request is made for one story of each category; of the others only the data
    is measured, as the wording around it is the same for a category."""
    draft = draft_of(plan, stories)
    if not plan.definition.protocol:
        return _whole_sizes(plan, parts, draft)
    prompts = prompt_set_named(plan.prompt_set, plan.dataset.project)
    measures = _measures(plan.dataset.pk)
    judge_reads_story = plan.with_story and reads_prompts(plan.judge)
    around: dict[tuple[str, str], Extent] = {}
    found: dict[str, dict[int, Size]] = {}
    for part in parts:
        stage, sizes = part.stage, found.setdefault(part.stage, {})
        if stage == SELF_TEST:
            sizes |= test_sizes(draft)
            continue
        for story in part.stories:
            if story.pk in sizes:
                continue
            held = measures[story.pk]
            data = held.data[plan.form, stage]
            if stage != Stage.JUDGE or judge_reads_story:
                data += held.story
            if (stage, story.category) not in around:
                whole = extent_of(request_of(story, stage, draft, prompts))
                around[stage, story.category] = whole - data
            sizes[story.pk] = Size(around[stage, story.category] + data, held.answers[plan.form, stage])
    return found


def _whole_sizes(plan: Plan, parts: Sequence[Part], draft: Run) -> dict[str, dict[int, Size]]:
    """Of a suite whose prompts differ from sample to sample: every request is made once."""
    found: dict[str, dict[int, Size]] = {}
    for part in parts:
        sizes = found.setdefault(part.stage, {})
        for sample in part.stories:
            if sample.pk not in sizes:
                question = question_of(draft, sample, part.stage, answers_expected(draft, sample, part.stage))
                request = plan.definition.request(question)
                asked = Extent() if isinstance(request, str) else extent_of(request)
                sizes[sample.pk] = Size(asked, Extent.of(plan.definition.expected(question)))
    return found


def answers_expected(draft: Run, sample: DatasetSample, stage: str) -> dict[str, str]:
    """What a perfect model would have answered at the steps that this one needs."""
    suite = suite_named(draft.suite)
    answers: dict[str, str] = {}
    for needed in suite.step(stage).needs:
        earlier = answers_expected(draft, sample, needed)
        answers[needed] = suite.expected(question_of(draft, sample, needed, earlier))
    return answers


def test_sizes(run: Run) -> dict[int, Size]:
    """Of the calls that test the run's judge, by dataset story id."""
    found = {}
    for story, pairs in calls_of(run.dataset, run.params):
        texts = _twice([(pair["actor"], pair["belief"]) for pair in pairs])
        answer = texts if run.form == Form.TEXT else Extent(2 * CELL_CHARACTERS[Stage.JUDGE] * len(pairs))
        found[story.pk] = Size(extent_of(test_request(story, pairs, run)), answer)
    return found


@dataclass(frozen=True, slots=True)
class _Measure:
    """How long a story is, and by (form, stage) the tables beside it and the answer."""

    story: Extent
    data: Mapping[tuple[str, str], Extent]
    answers: Mapping[tuple[str, str], Extent]


@lru_cache(4)
def _measures(dataset: int) -> dict[int, _Measure]:
    """By dataset story id; a dataset never changes."""
    kinds = [(form, stage) for form in Form.values for stage in LAUNCHED]
    found = {}
    for story in DatasetSample.objects.filter(dataset=dataset).defer("votes", "methods", "adjudications"):
        record = record_of(story.record)
        tables = {kind: _tables(*kind, record) for kind in kinds}
        found[story.pk] = _Measure(
            Extent.of(record.story.strip()), tables, {kind: _answer(*kind, record) for kind in kinds}
        )
    return found


def request_of(story: DatasetSample, stage: str, draft: Run, prompts: PromptSet | None) -> Request:
    """What would be asked; earlier answers, which nobody has yet, are those of a perfect model."""
    return stage_request(story, stage, draft, prompts, answers_expected(draft, story, stage))


def extent_of(request: Request) -> Extent:
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema else ""
    return sum((Extent.of(one.content) for one in request.messages), Extent.of(schema))


def _tables(form: str, stage: str, record: Record) -> Extent:
    if stage == Stage.EXTRACT:
        return Extent()
    if stage == Stage.LABEL:
        return Extent.of(propositions(record.rows, form))
    predictions = predictions_table([row.as_told for row in record.rows], form)
    return Extent.of(predictions) + Extent.of(gold_table(record.rows, form))


def _answer(form: str, stage: str, record: Record) -> Extent:
    if form == Form.STRUCTURED:
        cells = Extent(CELL_CHARACTERS[stage] * len(record.rows) * (2 if stage == Stage.JUDGE else 1))
        rows = record.rows if stage == Stage.EXTRACT else []
        return sum((Extent.of(row.actor) + Extent.of(row.belief) for row in rows), cells)
    if stage == Stage.EXTRACT:
        return Extent.of(gold_extraction_table(record))
    if stage == Stage.LABEL:
        return Extent.of(gold_label_table(record))
    return _twice([(row.actor, row.belief) for row in record.rows])


def _twice(pairs: Sequence[tuple[str, str]]) -> Extent:
    """A judge's two tables as text: each row with its actor, its belief and a few signs."""
    return sum((Extent.of(actor) + Extent.of(belief) for actor, belief in pairs), Extent(6 * len(pairs))) * 2


def can_show(plan: Plan, stories: Sequence[DatasetSample]) -> list[dict]:
    """For extraction and labelling the smallest difference between two of the chosen models that the stories can show, over all of them
    and corrected as the report corrects, for every pair over all stories and in each category; with the spread of earlier runs on
    the dataset where two models have answered the same stories."""
    categories = len({story.category for story in stories})
    families = 1 + categories if categories > 1 else 1
    clusters = len({story.cluster for story in stories})
    out = []
    for group in plan.definition.groups:
        stage = group.scored
        models = sum(stage in stages_asked(plan, one) for one in plan.endpoints)
        if stage in plan.stages and models:
            tests = max(1, comb(models, 2) * families)
            spread = difference_sd(Aligned.of(_earlier(plan, stage)))
            found = smallest_difference(clusters, spread["sd"] or None, tests=tests)
            out.append({"name": group.score_title, **found, **_in_points(found["difference"])})
    return out


def _in_points(difference: float | None) -> dict[str, str]:
    """Percentage points in words: `shown`, or `beyond` where no two scores can be so far apart."""
    if difference is None:
        return {}
    return {"shown" if difference < 1 else "beyond": f"{100 * difference:.1f}"}


def _earlier(plan: Plan, stage: str) -> dict[str, dict[int, float]]:
    """Repaired scores by entrant of the newest runs on the dataset, in the form that is asked for."""
    runs = list(
        Run.objects.filter(dataset=plan.dataset, suite=plan.suite, form=plan.form)
        .order_by("-id")
        .values_list("pk", flat=True)[:3]
    )
    held = RunItem.objects.filter(entrant__run__in=runs, stage=stage, repaired_score__isnull=False)
    found: dict[str, dict[int, float]] = {}
    for entrant, endpoint, story, score in held.values_list(
        "entrant_id", "entrant__endpoint_id", "sample_id", "repaired_score"
    ):
        found.setdefault(f"{endpoint}-{entrant}", {})[story] = score
    newest = {name.partition("-")[0]: name for name in sorted(found, key=lambda name: int(name.partition("-")[2]))}
    return {name: found[name] for name in newest.values()}
