"""Tables of finished answers, for people to align with gold (`judge.services.studies`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from annotation.models import Project, Story
from benchmark.models import Run, RunItem
from benchmark.services.asking import prompts_of, question_of
from benchmark.services.judge_versions import alignable_items, tables_step
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.judges import Grouping
from benchmark.suites.prompt_sets import PromptSet
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from judge.domain.alignment import StudyOrigin, TableOrigin
from judge.domain.sampling import Unit
from judge.services.settled_tables import GroupsByKey, RowGroups, SettledTable
from judge.services.settling import Refused
from judge.services.studies import DrawnTable

AT_ONCE = 200


def alignable_runs(project: Project) -> list[Run]:
    """Return the project's runs, newest first, that have answers of their own which a judge would be given as
    tables."""
    runs = Run.objects.listed().filter(project=project, source=None).select_related("dataset").order_by("-id")
    return [run for run in runs if tables_step(run) in run.steps]


def units_of(runs: Collection[Run], *, split: str = "") -> list[Unit]:
    """Return every table that could be drawn: one a model and sample with an answer, at the first repetition; an answer
    that several runs share is of the first of them. Raises Refused for runs on different versions of gold."""
    if len({run.dataset_id for run in runs}) > 1:
        raise Refused(gettext_noop("These runs are on different versions of gold; choose runs on one."))
    drawable: list[tuple[Run, int, int, str, str]] = []
    seen: set[tuple[int, int]] = set()
    for run in runs:
        chosen = {"sample__split": split} if split else {}
        rows = alignable_items(run).filter(**chosen).order_by("entrant__position", "sample__position")
        answers = list(
            rows.values_list("call", "sample__number", "entrant__position", "sample__cluster", "sample__category")
        )
        drawable += [
            (run, model, number, cluster, kind)
            for call, number, model, cluster, kind in answers
            if (call, number) not in seen
        ]
        seen |= {(call, number) for call, number, *_ in answers}
    names = _names(runs, {(run.pk, model) for run, model, *_ in drawable})
    return [
        Unit(f"{run.uid}:{model}:{number}", cluster, (names[run.pk, model], kind))
        for run, model, number, cluster, kind in drawable
    ]


def places_of_models(units: Iterable[Unit]) -> dict[str, tuple[str, int]]:
    """Return the run, by its uid, and the position in it of each model of `units_of`, by the name that the units give
    it."""
    return {unit.stratum[0]: _parts(unit.key)[:2] for unit in units}


def _parts(key: str) -> tuple[str, int, int]:
    uid, model, number = key.split(":")
    return uid, int(model), int(number)


def _names(runs: Iterable[Run], places: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the name of each model at these places, by run and position; of one in several runs with the run's uid."""
    entrants = [
        (run, entrant) for run in runs for entrant in run.entrants.all() if (run.pk, entrant.position) in places
    ]
    counts = Counter(entrant.name for _, entrant in entrants)
    return {
        (run.pk, entrant.position): entrant.name if counts[entrant.name] == 1 else f"{entrant.name} · {run.uid}"
        for run, entrant in entrants
    }


def load_tables(keys: Collection[str], *, project: Project) -> list[DrawnTable]:
    """Return the tables of these units of `units_of`; those that are not there any more are missing."""
    tables = []
    for run, items in _answers(keys, project):
        prompts = prompts_of(run)
        texts = {item.pk: _text(run, item, prompts) for item in items}
        stories = _stories(project, {*texts.values()})
        tables += [_table(run, item, texts[item.pk], stories, prompts) for item in items]
    return tables


def groupings_of(suite: str) -> tuple[Grouping, ...]:
    """Return what the rows are grouped by that the judge of a suite compares."""
    judge = suite_named(suite).judge
    return judge.groupings if judge else ()


def groups_of(tables: Iterable[SettledTable], *, project: Project) -> dict[str, GroupsByKey]:
    """Return the groups of the rows of these tables by the tables' keys. Where a group is read off an answer that is
    not there any more, or reads otherwise than when people aligned it, rows have none."""
    by_run: dict[str, list[SettledTable]] = {}
    for table in tables:
        by_run.setdefault(_parts(table.key)[0], []).append(table)
    groups: dict[str, GroupsByKey] = {}
    for run, items in _answers([table.key for of_run in by_run.values() for table in of_run], project):
        groupings, prompts = groupings_of(run.suite), prompts_of(run)
        asks = any(grouping.of_question for grouping in groupings)
        questions = {_key(run, item): _question_if_any(run, item, prompts) for item in items} if asks else {}
        for table in by_run[run.uid]:
            question = questions.get(table.key)
            groups[table.key] = {grouping.key: _groups(grouping, table, question) for grouping in groupings}
    return groups


def _question_if_any(run: Run, item: RunItem, prompts: PromptSet | None) -> Question | None:
    """Return the question of an item, None where its suite failed at it: then its rows have no group."""
    try:
        return _question(run, item, prompts)
    except SuiteFailed:
        return None


def _groups(grouping: Grouping, table: SettledTable, question: Question | None) -> RowGroups:
    predictions, gold = table.rows
    none = [""] * len(predictions), [""] * len(gold)
    try:
        if grouping.of_row is not None:
            return [grouping.of_row(row) for row in predictions], [grouping.of_row(row) for row in gold]
        groups = none if grouping.of_question is None or question is None else grouping.of_question(question)
    except SuiteFailed:
        return none  # the report says so by rows without a group, and has its other figures
    return groups if [*map(len, groups)] == [*map(len, none)] else none


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
    return question_of(run, item.sample, judging.key if judging else "", {item.step: item.call.answer}, prompts)


def _stories(project: Project, texts: Collection[str]) -> dict[str, int]:
    """Return the project's story of each text: whoever labels it waits with what is made of it."""
    return dict(Story.objects.filter(project=project, text__in=texts).values_list("text", "id"))


def _text(run: Run, item: RunItem, prompts: PromptSet | None) -> str:
    """Return what people read beside the tables of an answer."""
    suite = suite_named(run.suite)
    if suite.judge is not None and suite.judge.text is not None:
        return suite.judge.text(_question(run, item, prompts))
    return str(item.sample.content[suite.texts.story or "story"])


def _table(run: Run, item: RunItem, text: str, stories: Mapping[str, int], prompts: PromptSet | None) -> DrawnTable:
    suite = suite_named(run.suite)
    predictions, gold = suite.judge.tables(_question(run, item, prompts))
    sample = item.sample
    origin = TableOrigin(
        suite=run.suite, run=run.uid, dataset=run.dataset.version, item=item.pk, entrant=item.entrant_id,
        sample=sample.key, answer_format=run.answer_format,
    )  # fmt: skip
    return DrawnTable(
        key=_key(run, item),
        cluster=sample.cluster,
        number=sample.number,
        text=text,
        predictions=predictions,
        gold=gold,
        story=sample.story_id or stories.get(text),
        language=run.project.language,
        origin=origin,
    )


def origin_of(runs: Sequence[Run], *, split: str = "") -> StudyOrigin:
    """Return where the tables of a study of these runs come from."""
    [dataset] = {run.dataset.version for run in runs}
    noun = suite_named(runs[0].suite).noun[0]
    uids = [run.uid for run in runs]
    return StudyOrigin(suite=runs[0].suite, dataset=dataset, runs=uids, split=split, noun=noun)
