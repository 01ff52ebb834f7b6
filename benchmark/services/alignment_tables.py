"""Tables of finished extractions, for people to align with gold (`judge.services.studies`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from annotation.models import Project, Story
from benchmark.models import Run, RunItem
from benchmark.services.asking import question_of
from benchmark.suites.registry import suite_named
from core.language import gettext_noop
from judge.domain.sampling import Unit
from judge.services.studies import DrawnTable, Refused
from workers.models.call import COMPLETED

AT_ONCE = 200


def alignable_runs(project: Project) -> list[Run]:
    """Return the project's runs, newest first, that have extractions of their own which a judge would be given as
    tables."""
    runs = Run.objects.listed().filter(project=project, source=None).select_related("dataset").order_by("-id")
    return [run for run in runs if extraction_step(run) in run.stages]


def extraction_step(run: Run) -> str:
    """Return the step whose answers the run's judge is given as tables, empty where its suite has none."""
    suite = suite_named(run.suite)
    if suite.judge is None or suite.judge.tables is None or suite.judging is None:
        return ""
    return suite.judging.needs[0]


def units_of(runs: Collection[Run], *, split: str = "") -> list[Unit]:
    """Return every table that could be drawn: one a model and sample with an answer, at the first repetition. Raises
    Refused for runs on different versions of gold."""
    if len({run.dataset_id for run in runs}) > 1:
        raise Refused(gettext_noop("These runs are on different versions of gold; choose runs on one."))
    names = _names(runs)
    units = []
    for run in runs:
        chosen = {"sample__split": split} if split else {}
        rows = _extractions(run).filter(**chosen).order_by("entrant__position", "sample__position")
        for model, number, cluster, category in rows.values_list(
            "entrant__position", "sample__number", "sample__cluster", "sample__category"
        ):
            units.append(Unit(f"{run.uid}:{model}:{number}", cluster, (names[run.pk, model], category)))
    return units


def _names(runs: Iterable[Run]) -> dict[tuple[int, int], str]:
    """Return the name of each model by run and position; of one in several runs with the run's title."""
    entrants = [(run, entrant) for run in runs for entrant in run.entrants.all()]
    counts = Counter(entrant.name for _, entrant in entrants)
    return {
        (run.pk, entrant.position): entrant.name if counts[entrant.name] == 1 else f"{entrant.name} · {run.uid}"
        for run, entrant in entrants
    }


def _extractions(run: Run) -> QuerySet[RunItem]:
    return RunItem.objects.filter(entrant__run=run, stage=extraction_step(run), repetition=0, call__state__in=COMPLETED)


def load_tables(keys: Collection[str], *, project: Project) -> list[DrawnTable]:
    """Return the tables of these units of `units_of`; those that are not there any more are missing."""
    by_run: dict[str, set[tuple[int, int]]] = {}
    for key in keys:
        uid, model, number = key.split(":")
        by_run.setdefault(uid, set()).add((int(model), int(number)))
    tables = []
    for run in Run.objects.filter(project=project, uid__in=by_run).select_related("dataset", "project", "judge"):
        wanted = by_run[run.uid]
        rows = _extractions(run).filter(sample__number__in={number for _, number in wanted})
        rows = rows.select_related("sample", "entrant", "call")
        found = [item for item in rows.iterator(AT_ONCE) if (item.entrant.position, item.sample.number) in wanted]
        stories = _stories(project, found)
        tables += [_table(run, item, stories) for item in found]
    return tables


def _stories(project: Project, items: Sequence[RunItem]) -> dict[str, int]:
    """Return the project's story of each text: whoever labels it waits with what is made of it."""
    texts = {item.sample.content["story"] for item in items}
    return dict(Story.objects.filter(project=project, text__in=texts).values_list("text", "id"))


def _table(run: Run, item: RunItem, stories: dict[str, int]) -> DrawnTable:
    suite = suite_named(run.suite)
    step = suite.judging.key if suite.judging else ""
    question = question_of(run, item.sample, step, {item.stage: item.call.answer})
    predictions, gold = suite.judge.tables(question)
    sample = item.sample
    text = sample.content[suite.story or "story"]
    origin: dict[str, Any] = {
        "suite": run.suite, "run": run.uid, "dataset": run.dataset.version, "item": item.pk,
        "entrant": item.entrant_id, "sample": sample.key, "form": run.form,
    }  # fmt: skip
    return DrawnTable(
        key=f"{run.uid}:{item.entrant.position}:{sample.number}",
        cluster=sample.cluster,
        number=sample.number,
        text=text,
        predictions=predictions,
        gold=gold,
        story=sample.story_id or stories.get(text),
        language=run.project.language,
        origin=origin,
    )


def origin_of(runs: Sequence[Run], *, split: str = "") -> dict[str, Any]:
    """Return what a study says of where its tables come from."""
    [dataset] = {run.dataset.version for run in runs}
    return {"suite": runs[0].suite, "dataset": dataset, "runs": [run.uid for run in runs], "split": split}
