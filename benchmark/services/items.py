"""The items of a run as a table, and the neighbours of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import OrderBy

from benchmark.models import DatasetSample, Run, RunItem, SnapshotItem
from benchmark.models.run import RunItemQuerySet
from benchmark.services.asking import DatasetResources, sample_asked
from benchmark.services.leaderboards import OF_RUN, selection_named
from benchmark.suites.contract import Suite
from benchmark.suites.items import KeptParse, Rows
from benchmark.suites.questions import PARSES, Step
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NO_GOLD, NOT_STRUCTURED
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop
from workers.models import IN_HAND, UNSENT, ItemState

OFFICIAL, REPAIRED = PARSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenItems:
    """Filters of a run's items, empty where all are meant."""

    model: int | None = None
    """The id of an entrant."""
    step: str = ""
    state: str = ""
    problem: str = ""
    """The problem in the `parse`."""
    category: str = ""
    split: str = ""
    """The key of a selection."""
    parse: str = REPAIRED
    rows: Mapping[str, str] = field(default_factory=dict)
    """Filters for items that hold rows of a kind, by the names that the suite gives these filters."""


LOST = Q(item=None, call=None) & ~Q(unreadable="")
"""Judged answers that were lost in the run that they were taken over from."""
STATES = {
    "done": Q(item__state=ItemState.DONE) | Q(item=None, call__isnull=False),
    "unreadable": Q(item__state=ItemState.UNREADABLE),
    "failed": Q(item__state=ItemState.FAILED) | LOST,
    "flight": Q(item__state__in=IN_HAND),
    "waiting": Q(item__state__in=UNSENT) | Q(item=None, call=None, unreadable=""),
    "cancelled": Q(item__state=ItemState.CANCELLED),
}
STATE_NAMES = {
    "done": gettext_noop("Done"),
    "unreadable": gettext_noop("Unreadable"),
    "failed": gettext_noop("Failed"),
    "flight": gettext_noop("In flight"),
    "waiting": gettext_noop("Waiting"),
    "cancelled": gettext_noop("Cancelled"),
}


def state_of(item: RunItem | SnapshotItem) -> str:
    """Return the state of an item, a key of STATE_NAMES: what STATES selects, said of one that is loaded."""
    if isinstance(item, SnapshotItem):
        return item.state
    if item.item is None:
        return "done" if item.call_id else "failed" if item.unreadable else "waiting"
    if item.item.state in UNSENT:
        return "waiting"
    return "flight" if item.item.state in IN_HAND else item.item.state


SORTS = {
    "story": ("sample__number", "entrant__position", "step"),
    "model": ("entrant__position", "step", "sample__number"),
    "score": ("score",),
    "repaired": ("repaired_score",),
}


UNJUDGED = "unjudged"
"""The row that a judge was asked about and left out; the only problem that more than the item itself says."""


def problem_of(name: str, suite: Suite) -> Q:
    """The items of a suite that a problem other than UNJUDGED means."""
    judged = [step.key for step in suite.steps if step.judged]
    completed = [step.completes for step in suite.steps if step.completes]
    return {
        "unreadable": Q(call__isnull=False) & ~Q(unreadable__in=["", NO_GOLD]),
        "missing": Q(call=None) | ~Q(unreadable__in=["", NO_GOLD]),
        "used": Q(repaired_score__isnull=False),
        "unstructured": Q(unreadable=JUDGE_NOT_STRUCTURED) | Q(unreadable=NOT_STRUCTURED) & ~Q(step__in=judged),
        "gaps": Q(step__in=completed) & (Q(unjudged__gt=0) | Q(call=None)),
        "answered": Q(call__isnull=False),
        "unanswered": Q(call=None),
    }[name]


def problems_of(suite: Suite) -> dict[str, str]:
    """Return the problems that items of a suite can be filtered by, with their names."""
    judged = [suite.step(needed).label for step in _judging(suite) for needed in step.needs]
    structured = any(setting.name == "answer_format" for setting in suite.settings)
    names = {
        "unreadable": gettext_noop("Unreadable answer"),
        "missing": gettext_noop("Left out as missing"),
        UNJUDGED: Sentence("{judged} without a judgement", judged=judged[0]) if judged else "",
        "unstructured": gettext_noop("Not structured") if structured else "",
        "gaps": gettext_noop("Rows without a judgement") if any(step.completes for step in suite.steps) else "",
        "used": gettext_noop("In the repaired figures"),
        "answered": gettext_noop("Answered"),
        "unanswered": gettext_noop("Without an answer"),
    }
    return {key: name for key, name in names.items() if name}


def _judging(suite: Suite) -> list[Step]:
    return [step for step in suite.steps if step.judged and step.chosen]


def items_of(
    run: Run,
    chosen: ChosenItems,
    sort: str = "story",
    closed: Set[int] = frozenset(),
    among: RunItemQuerySet[Any] | None = None,
) -> QuerySet[RunItem]:
    """Return the chosen items, whatever rows they hold, which `item_rows` looks for.

    `sort` is a key of SORTS, after a minus for descending. Places without a score come last either way. Stories in
    `closed` are not among them. `among` are the items of a snapshot, which are taken instead of the run's present
    ones.
    """
    suite = suite_named(run.suite)
    all_items: RunItemQuerySet[Any] = RunItem.objects.all() if among is None else among
    items: QuerySet[Any] = all_items.filter(entrant__run=run).without(closed)
    if chosen.model:
        items = items.filter(entrant=chosen.model)
    if chosen.step:
        step, at_step = suite.step(chosen.step), Q(step=chosen.step)
        if chosen.problem == "missing" and step.chosen:  # an answer that it needs may be what is missing
            at_step |= Q(step__in=step.needs, call=None)
        items = items.filter(at_step)
    if chosen.state:
        items = items.filter(STATES[chosen.state] if among is None else Q(state=chosen.state))
    if chosen.problem == UNJUDGED:
        items = _unjudged(items, all_items, suite)
    elif chosen.problem and chosen.parse != OFFICIAL:
        items = items.filter(problem_of(chosen.problem, suite))
    if chosen.category:
        items = items.filter(sample__category=chosen.category)
    if part := selection_named(run.dataset, chosen.split, run.suite):
        items = items.filter(sample__number__in=part.stories)
    return items.order_by(*_order(sort), "id")


def numbers_of(run: Run) -> set[int]:
    """Return the numbers of the stories that the run has items of."""
    return set(RunItem.objects.filter(entrant__run=run).order_by().values_list("sample__number", flat=True).distinct())


def _unjudged(items: QuerySet[RunItem], all_items: QuerySet[RunItem], suite: Suite) -> QuerySet[RunItem]:
    """Judgements that are missing or cannot be used although what they are to judge can."""
    same = all_items.filter(**{name: OuterRef(name) for name in ("entrant", "sample", "repetition")}).exclude(
        unreadable=""
    )
    judgements: Any = Q(pk__in=[])
    for step in _judging(suite):
        judgements |= Q(step=step.key) & ~Exists(same.filter(step__in=step.needs))
    return items.filter(problem_of("missing", suite), judgements)


def _order(sort: str) -> list[OrderBy]:
    key, down = sort.removeprefix("-"), sort.startswith("-")
    columns = [F(column) for column in SORTS[key]]
    return [column.desc(nulls_last=True) if down else column.asc(nulls_last=True) for column in columns]


def with_row_fields(items: QuerySet[Any]) -> QuerySet[RunItem]:
    """Load what a row of the table says, without the long texts."""
    fields = (
        "step",
        "repetition",
        "score",
        "repaired_score",
        "unreadable",
        "call_id",
        "entrant__name",
        "sample__number",
        "sample__category",
    )
    if items.model is SnapshotItem:
        return items.select_related("entrant", "sample").only(*fields, "state", "problem", "snapshot_id")
    return items.select_related("entrant", "sample", "item").only(*fields, "item__state", "item__problem")


def categories_of(run: Run) -> list[str]:
    samples = DatasetSample.objects.filter(dataset=run.dataset_id).order_by("category")
    return list(samples.values_list("category", flat=True).distinct())


def parts_of(run: Run, key: str) -> Sequence[tuple[str, str]]:
    """Return (key, name) of the selections to choose from: the splits of the dataset, and the one of `key` where it is
    a run's."""
    samples = DatasetSample.objects.filter(dataset=run.dataset_id).exclude(split="").order_by("split")
    splits = samples.values_list("split", flat=True).distinct()
    splits_named = [(split, Sentence("Split {split}", split=split)) for split in splits]
    part = selection_named(run.dataset, key, run.suite) if key.startswith(OF_RUN) else None
    return [*splits_named, (part.key, part.label)] if part else splits_named


def neighbours(item: RunItem | SnapshotItem, closed: Set[int] = frozenset()) -> dict[str, Any]:
    """Return the items of the same model and step at the stories before and after, skipping those in `closed`."""
    alike = item.among().filter(entrant=item.entrant_id, step=item.step, repetition=item.repetition)
    alike = alike.without(closed).select_related("sample")
    alike = alike.only("sample__number", "entrant_id", "step")
    number = item.sample.number
    return {
        "before": alike.filter(sample__number__lt=number).order_by("-sample__number").first(),
        "after": alike.filter(sample__number__gt=number).order_by("sample__number").first(),
    }


def others_of(item: RunItem | SnapshotItem) -> dict[str, list[Any]]:
    """Return the same model's items of the sample by step and by repetition, this one too, and the other models' items
    of the same step."""
    here = item.among().filter(entrant__run=item.entrant.run_id, sample=item.sample_id)
    here = here.select_related("entrant").order_by("entrant__position")
    here = here.only(
        "step", "score", "repaired_score", "unreadable", "call_id", "entrant__name", "entrant__position", "repetition"
    )
    rows = list(here.filter(Q(entrant=item.entrant_id) | Q(step=item.step)))
    steps = suite_named(item.entrant.run.suite).steps
    mine = [row for row in rows if row.entrant_id == item.entrant_id]
    items_by_step = {row.step: row for row in mine if row.repetition == item.repetition}
    turns = [row for row in mine if row.step == item.step]
    return {
        "steps": [(step, items_by_step[step.key]) for step in steps if step.key in items_by_step],
        "repetitions": sorted(turns, key=lambda row: row.repetition),
        "models": [row for row in rows if row.entrant_id != item.entrant_id and row.repetition == item.repetition],
    }


def asks_for_rows(rows: Rows | None, chosen: ChosenItems) -> bool:
    """Return whether the filters need the rows of a model's answers."""
    return rows is not None and (bool(chosen.rows) or _asks_for_unreadable(rows, chosen))


def heading_of_rows(rows: Rows | None, chosen: ChosenItems) -> str:
    """Return what the column of rows is called."""
    share = rows.share(chosen.rows) if rows and rows.share else ""
    return share or gettext_noop("Rows meant")


def _asks_for_unreadable(rows: Rows, chosen: ChosenItems) -> bool:
    return rows.unreadable is not None and chosen.problem == "unreadable" and chosen.parse == OFFICIAL


def rows_of_items(
    run: Run, chosen: ChosenItems, closed: Set[int] = frozenset(), among: RunItemQuerySet[Any] | None = None
) -> dict[int, tuple[int, int]]:
    """Return (rows meant, rows they are among) by item of the chosen model, where there are any.

    Items of stories in `closed` are not looked into, whatever a filter tells. Of answers that official parsing gets
    nothing out of, all rows that were asked for.
    """
    rows = suite_named(run.suite).items.rows
    if rows is None:
        return {}
    unreadable = rows.unreadable if _asks_for_unreadable(rows, chosen) else None
    listed = bool(rows.share and rows.share(chosen.rows))
    steps = rows.steps_of(chosen.rows) & ({chosen.step} if chosen.step else {*rows.steps})
    items: RunItemQuerySet[Any] = RunItem.objects.all() if among is None else among
    items = items.filter(entrant__run=run, entrant=chosen.model, step__in=steps).without(closed)
    items = items.exclude(**{chosen.parse: None})
    if chosen.category:
        items = items.filter(sample__category=chosen.category)
    if chosen.parse == REPAIRED:
        items = items.filter(unreadable="")
    stored = list(items.values_list("pk", "sample_id", "step", chosen.parse))
    of_dataset = DatasetSample.objects.filter(dataset=run.dataset).defer("votes", "methods", "adjudications")
    asked = {sample for _, sample, _, _ in stored}
    samples = {row.pk: sample_asked(run, row) for row in of_dataset if row.pk in asked}
    resources, counts = DatasetResources(run.dataset), {}
    for pk, sample, step, answer in stored:
        parse = KeptParse(samples[sample], step, chosen.parse == OFFICIAL, answer, resources)
        meant, total = (unreadable(parse),) * 2 if unreadable else rows.count(parse, chosen.rows)
        if meant or (total and listed):
            counts[pk] = (meant, total)
    return counts
