"""Tables of finished answers, for people to align with gold (`judge.services.studies`)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from annotation.models import Project, Story
from benchmark.models import Run, RunItem
from benchmark.services.asking import prompts_of, question_of
from benchmark.services.judges import alignable_items, tables_step
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.judges import Grouping
from benchmark.suites.prompt_sets import PromptSet
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from judge.domain.alignment import StudyOrigin
from judge.domain.sampling import Unit
from judge.models import AlignmentTask
from judge.services.settled_tables import GroupsByKey, RowGroups, SettledTable
from judge.services.settling import Refused

AT_ONCE = 200


def alignable_runs(project: Project) -> list[Run]:
    """Return the project's runs, newest first, that have answers of their own which a judge would be given as
    tables."""
    runs = Run.objects.listed().filter(project=project, source=None).select_related("dataset").order_by("-id")
    return [run for run in runs if tables_step(run) in run.steps]


def units_of(runs: Collection[Run], *, split: str = "") -> list[Unit]:
    """Return every table that could be drawn: one a model and sample with an answer, at the first repetition; an answer
    that several runs share is of the first of them. A model in several runs is named with the run's uid. Raises Refused
    for runs on different versions of gold."""
    if len({run.dataset_id for run in runs}) > 1:
        raise Refused(gettext_noop("These runs are on different versions of gold; choose runs on one."))
    fields = ("call", "sample__number", "entrant__position", "entrant__name", "sample__cluster", "sample__category")
    drawable: list[tuple[Run, int, int, str, str, str]] = []
    seen: set[tuple[int, int]] = set()
    for run in runs:
        rows = alignable_items(run).filter(**({"sample__split": split} if split else {}))
        answers = list(rows.order_by("entrant__position", "sample__position").values_list(*fields))
        drawable += [(run, *answer) for call, *answer in answers if (call, answer[0]) not in seen]
        seen |= {(call, number) for call, number, *_ in answers}
    runs_of: dict[str, set[tuple[str, int]]] = {}
    for run, _, model, name, _, _ in drawable:
        runs_of.setdefault(name, set()).add((run.uid, model))
    return [
        Unit(f"{run.uid}:{model}:{number}", cluster, (name if len(runs_of[name]) == 1 else f"{name} · {run.uid}", kind))
        for run, number, model, name, cluster, kind in drawable
    ]


def places_of_models(units: Iterable[Unit]) -> dict[str, tuple[str, int]]:
    """Return the run, by its uid, and the position in it of each model of `units_of`, by the name that the units give
    it."""
    return {unit.stratum[0]: _parts(unit.key)[:2] for unit in units}


def _parts(key: str) -> tuple[str, int, int]:
    uid, model, number = key.split(":")
    return uid, int(model), int(number)


def load_tables(keys: Collection[str], *, project: Project) -> list[AlignmentTask]:
    """Return the tables of these units of `units_of`, not saved yet; those that are not there any more are missing."""
    tables = []
    for run, items in _answers(keys, project):
        suite, prompts = suite_named(run.suite), prompts_of(run)
        questions = {item.pk: _question(run, item, prompts) for item in items}
        own_text = suite.judge.text if suite.judge else None
        texts = {
            item.pk: own_text(questions[item.pk])
            if own_text
            else str(item.sample.content[suite.texts.story or "story"])
            for item in items
        }
        # whoever labels the project's story of a text waits with what is made of it
        stories = dict(Story.objects.filter(project=project, text__in={*texts.values()}).values_list("text", "id"))
        for item in items:
            sample, text = item.sample, texts[item.pk]
            assert suite.judge and suite.judge.tables, "its answers are tables"
            predictions, gold = suite.judge.tables(questions[item.pk])
            origin = {
                "suite": run.suite,
                "run": run.uid,
                "dataset": run.dataset.version,
                "item": item.pk,
                "entrant": item.entrant_id,
                "sample": sample.key,
                "answer_format": run.answer_format,
            }
            table = AlignmentTask(
                key=_key(run, item), story_id=sample.story_id or stories.get(text), cluster=sample.cluster,
                number=sample.number, text=text, language=run.project.language, origin=origin, predictions=predictions,
                gold=gold,
            )  # fmt: skip
            tables.append(table)
    return tables


def groupings_of(suite: str) -> tuple[Grouping, ...]:
    """Return what the rows are grouped by that the judge of a suite compares."""
    judge = suite_named(suite).judge
    return judge.groupings if judge else ()


def groups_of(tables: Iterable[SettledTable], *, project: Project) -> dict[str, GroupsByKey]:
    """Return the groups of the rows of these tables by the tables' keys. Rows have no group if it is read off an answer
    that is not there any more, reads otherwise than when people aligned it, or fails its suite."""
    by_key = {table.key: table for table in tables}
    groups: dict[str, GroupsByKey] = {}
    for run, items in _answers(by_key, project):
        groupings, prompts = groupings_of(run.suite), prompts_of(run)
        uid = run.uid
        of_items = {_key(run, item): item for item in items}
        for table in (table for key, table in by_key.items() if _parts(key)[0] == uid):
            question: Question | None = None
            if any(grouping.of_question for grouping in groupings) and (item := of_items.get(table.key)):
                with suppress(SuiteFailed):
                    question = _question(run, item, prompts)
            groups[table.key] = {grouping.key: _groups(grouping, table, question) for grouping in groupings}
    return groups


def _groups(grouping: Grouping, table: SettledTable, question: Question | None) -> RowGroups:
    predictions, gold = table.rows
    with suppress(SuiteFailed):  # the report says so by rows without a group, and has its other figures
        if grouping.of_row is not None:
            return [grouping.of_row(row) for row in predictions], [grouping.of_row(row) for row in gold]
        if grouping.of_question is not None and question is not None:
            groups = grouping.of_question(question)
            if [*map(len, groups)] == [len(predictions), len(gold)]:
                return groups
    return [""] * len(predictions), [""] * len(gold)


def _answers(keys: Collection[str], project: Project) -> Iterator[tuple[Run, list[RunItem]]]:
    """Yield the runs that these units are of, each with their items."""
    by_run: dict[str, set[tuple[int, int]]] = {}
    for key in keys:
        uid, model, number = _parts(key)
        by_run.setdefault(uid, set()).add((model, number))
    for run in Run.objects.filter(project=project, uid__in=by_run).select_related("dataset", "project", "judge"):
        places = by_run[run.uid]
        rows = alignable_items(run).filter(sample__number__in={number for _, number in places})
        rows = rows.select_related("sample", "entrant", "call")
        yield run, [item for item in rows.iterator(AT_ONCE) if (item.entrant.position, item.sample.number) in places]


def _key(run: Run, item: RunItem) -> str:
    return f"{run.uid}:{item.entrant.position}:{item.sample.number}"


def _question(run: Run, item: RunItem, prompts: PromptSet | None) -> Question:
    judging = suite_named(run.suite).judging
    assert item.call, "only what was answered is aligned"
    return question_of(run, item.sample, judging.key if judging else "", {item.step: item.call.answer}, prompts)


def origin_of(runs: Sequence[Run], *, split: str = "") -> StudyOrigin:
    """Return where the tables of a study of these runs come from."""
    [dataset] = {run.dataset.version for run in runs}
    noun = suite_named(runs[0].suite).noun[0]
    uids = [run.uid for run in runs]
    return StudyOrigin(suite=runs[0].suite, dataset=dataset, runs=uids, split=split, noun=noun)
