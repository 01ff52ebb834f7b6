"""The metrics of a run, computed once and kept until an item changes, or the code that computes them."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from annotation.domain.resolution import Cell, Rule, gold_without
from annotation.models import Method
from benchmark.controls.chosen import outdated
from benchmark.models import Dataset, DatasetSample, Entrant, Run, RunItem, RunReport, StoryScores
from benchmark.services.asking import DatasetResources, all_at_once, sample_asked, settings_of
from benchmark.services.gold_samples import IMPORTED
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.people import Labelled, Labels, Person, Settled
from benchmark.suites.questions import Entered, Outcome, Sample
from benchmark.suites.reasons import CALL_FAILED, CANCELLED, OPEN
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.reports import GroupMetrics
from core.kept import in_time
from core.messages import Sentence, gettext_noop
from core.plain import Json, plain, read_as
from core.stored_json import KeptByText, parsed_once, text_of
from workers.models import ItemState
from workers.services.notify import Notifier


def people_in(run: Run, samples: Mapping[int, Sample]) -> Iterator[Person]:
    """Yield everybody who voted in a story of the dataset, then everybody who adjudicated one, with what they labelled
    of `samples`, those of the run by id, as far as models were asked for the same."""
    step = group_named(suite_named(run.suite).gold.people).scored
    asked_samples = RunItem.objects.filter(entrant__run=run, step=step).values("sample")
    asked_ids = set(DatasetSample.objects.filter(pk__in=asked_samples).values_list("pk", flat=True))
    asked_about = {pk: sample for pk, sample in samples.items() if pk in asked_ids}
    stories = list(DatasetSample.objects.filter(dataset=run.dataset).defer("content").order_by("position"))
    settings, resources = settings_of(run), DatasetResources(run.dataset)
    for role in ("annotator", "expert"):
        names = sorted({name for story in stories for name in labels_by(story, role)})
        for number, name in enumerate(names, 1):
            display_name = name if role == "annotator" else Sentence("{name} (expert)", name=name)
            labelled = []
            for story in stories:
                labels = labels_by(story, role).get(name, [])
                if story.pk in asked_about and any(map(any, labels)):
                    gold = gold_without_person(story, name, run.dataset)
                    labelled.append(Labelled(asked_about[story.pk], labels, gold))
            yield Person(display_name, role, number, labelled, list(asked_about.values()), settings, resources)


def labels_by(story: DatasetSample, role: str) -> Mapping[str, Labels]:
    return story.adjudications if role == "expert" else story.votes


def gold_without_person(story: DatasetSample, name: str, dataset: Dataset) -> Settled:
    """Return (gold label, by what it is settled) without the person of each dimension of each proposition."""
    keys = dataset.schema.keys
    assert dataset.overlap and dataset.unanimity_dimensions is not None, "gold with votes has its rules"
    rules = [Rule(dataset.rule_version, dataset.overlap, key in dataset.unanimity_dimensions) for key in keys]
    return [
        [
            gold_without(name, _cell(story, row, at, belief["labels"][key]), rule)
            for at, (key, rule) in enumerate(zip(keys, rules, strict=True))
        ]
        for row, belief in enumerate(story.beliefs)
    ]


def _cell(story: DatasetSample, row: int, at: int, gold: str) -> Cell:
    def labels_at(labels_by_person: Mapping[str, Labels]) -> dict[str, str]:
        return {name: labels[row][at] for name, labels in labels_by_person.items() if labels[row][at]}

    method = story.methods[row][at]
    return Cell(
        gold, labels_at(story.votes), labels_at(story.adjudications), method == IMPORTED, method == Method.ADJUDICATED
    )


WITHOUT_CALL: dict[str, str] = {ItemState.FAILED: CALL_FAILED, ItemState.CANCELLED: CANCELLED}
"""Reasons why an item has no answer, by the state of its work; `OPEN` in all others."""


def samples_of(run: Run) -> dict[int, Sample]:
    """The samples that a run has items of, as it asks about them, by id, in the order of the dataset."""
    sample_ids = RunItem.objects.filter(entrant__run=run).order_by().values("sample").distinct()
    rows = all_at_once(DatasetSample.objects.filter(pk__in=sample_ids))
    return {row.pk: sample_asked(run, row) for row in rows}


def each_entered(
    run: Run, samples: Mapping[int, Sample], among: Collection[int] | None = None
) -> Iterator[tuple[int, Entered]]:
    """Yield (entrant id, the outcomes of its questions) one after another: those of twenty models over a whole corpus
    fill a gigabyte at once. `among` are the ids of the entrants, all of the run where it is None."""
    whole = not run.control and len(samples) == run.dataset.samples.count()
    resources = DatasetResources(run.dataset, preloaded=[*samples.values()] if whole else None)
    settings = settings_of(run)
    unchanged: dict[int, Sample] = {}
    if run.original and any(group.counts for group in suite_named(run.suite).groups):
        # samples of the run as published that the control leaves as they are belong to its sets
        asked = RunItem.objects.filter(entrant__run=run.original).order_by().values("sample")
        rows = DatasetSample.objects.filter(pk__in=asked.distinct()).exclude(pk__in=samples).order_by("position")
        as_asked = {row.pk: sample_asked(run, row) for row in rows.defer("votes", "methods", "adjudications")}
        unchanged = {pk: sample for pk, sample in as_asked.items() if sample.published is None}
    published = (
        {entrant.endpoint_id: entrant for entrant in run.original.entrants.all()} if run.original and unchanged else {}
    )
    entrants = run.entrants.select_related("endpoint")
    for entrant in entrants if among is None else entrants.filter(pk__in=among):
        kind = "model" if entrant.endpoint.about.reads_prompts else "baseline"
        outcomes = _outcomes(entrant, samples)
        entered = Entered(entrant.name, kind, list(samples.values()), outcomes, run.steps, settings, resources)
        if before := published.get(entrant.endpoint_id):
            left = replace(entered, samples=list(unchanged.values()), outcomes=_outcomes(before, unchanged))
            entered = replace(entered, unchanged=left)
        yield entrant.pk, entered


def _outcomes(entrant: Entrant, samples: Mapping[int, Sample]) -> dict[str, list[Outcome]]:
    """The outcomes of the questions about these samples, in the order of the dataset."""
    rows = RunItem.objects.filter(entrant=entrant).order_by("sample__position", "repetition")
    outcomes: dict[str, list[Outcome]] = {}
    for sample, step, official, repaired, unreadable, call, state, repetition in rows.values_list(
        "sample_id", "step", "official", "repaired", "unreadable", "call_id", "item__state", "repetition"
    ):
        if sample not in samples:
            continue
        without = "" if call else unreadable or WITHOUT_CALL.get(state, OPEN)
        outcome = Outcome(step, official, repaired, unreadable if call else "", without, repetition)
        outcomes.setdefault(samples[sample].key, []).append(outcome)
    return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantMetrics:
    """The metrics of an entrant or person by metric group; of a person `id` is None, and there are `role` and
    `number`. `failed` is the sentence of a suite that could not score what this one said: then no group has metrics.

    Of a group that nobody was asked about there are None. What single stories came to is in `StoryScores`.
    """

    id: int | None
    name: str
    kind: str
    groups: Mapping[str, GroupMetrics | None] = field(default_factory=dict)
    role: str = ""
    number: int | None = None
    failed: str = ""
    story_scores: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """The number of answers of an entrant at a step that came under one model name, their tokens, and when the last of
    them came, in ISO 8601."""

    entrant: int
    name: str
    step: str
    answered_by: str
    answers: int
    input_tokens: int | None
    output_tokens: int | None
    last: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetrics:
    """The metrics of a run over so many `stories`, with these `numbers`: of each entrant, and who answered. `scored` is
    how many items have an answer, `places` what `reports.places_of` counts, `version` what made them; empty where a
    suite failed, as that is tried again."""

    stories: int
    numbers: Sequence[int]
    entrants: Sequence[EntrantMetrics]
    answers: Sequence[Answered]
    scored: int
    places: Sequence[int]
    version: str


log = logging.getLogger(__name__)
REPORTS = Notifier(gettext_noop("the report is computed when somebody opens it"))
"""Asks a worker to compute the report of a run, by the id of its job."""


def report_of(run: Run) -> RunMetrics:
    """Return the metrics of a run, from the stored row where that is up to date."""
    return reports_of([run])[run.pk]


def reports_of(runs: Sequence[Run]) -> dict[int, RunMetrics]:
    """Return the metrics of each run, by run id. Two queries where all are up to date."""
    scored = places_of(runs)
    stored = _stored(runs)
    kept = {run.pk: _current(stored.get(run.pk), scored[run.pk]) for run in runs}
    found = {pk: report for pk, report in kept.items() if report}
    if missing := [run for run in runs if run.pk not in found]:
        key = f"reports:{[(run.pk, scored[run.pk]) for run in missing]}"
        found |= in_time(key, lambda: {run.pk: _computed(run, scored[run.pk]) for run in missing})
    return found


def _stored(runs: Sequence[Run]) -> dict[int, str]:
    """Return the text of what is kept of each run, by run id."""
    return dict(RunReport.objects.filter(run__in=runs).order_by().values_list("run_id", text_of("metrics")))


def _current(text: str | None, places: list[int]) -> RunMetrics | None:
    """Return the metrics that are kept, None where they are out of date."""
    if not text:
        return None
    kept, valid = parsed_once(text), {"places": places, "version": settings.CREDENCE_VERSION}
    return _read_once(text) if {name: kept.get(name) for name in valid} == valid else None


@KeptByText
def _read_once(text: str) -> RunMetrics:
    """Return the metrics that are kept as a text; they hold what `parsed_once` keeps of it, and a tenth beside."""
    return read_as(RunMetrics, parsed_once(text))


_Scored = tuple[EntrantMetrics, Mapping[str, Any]]
"""The metrics of an entrant or person, and by metric group those story by story."""


def _computed(run: Run, scored: list[int]) -> RunMetrics:
    """Compute the metrics and return them as they are stored: if somebody else has stored those of the same answers
    meanwhile, theirs. Of a run that somebody deletes meanwhile nothing is stored.

    Reports have one writer at a time, which holds the run's row. Readers hold nothing: a report names its scores, which
    outlive it by REPLACED_KEPT."""
    rows, numbers = _rows(run)
    metrics = RunMetrics(
        stories=len(numbers),
        numbers=numbers,
        entrants=[entrant for entrant, _ in rows],
        answers=_answers(run),
        scored=scored[1],
        places=scored,
        version="" if any(entrant.failed for entrant, _ in rows) else settings.CREDENCE_VERSION,
    )
    now = timezone.now()
    with transaction.atomic():
        if Run.objects.select_for_update().filter(pk=run.pk).first() is None:
            return metrics
        if kept := _current(_stored([run]).get(run.pk), scored):
            return kept
        run.story_scores.replace(now)
        by_story = [
            StoryScores(run=run, entrant_id=entrant.id, person="" if entrant.id else entrant.name, metrics=scores)
            for entrant, scores in rows
        ]
        made = StoryScores.objects.bulk_create(by_story, batch_size=1)  # one is megabytes as text
        entrants = [replace(entrant, story_scores=scores.pk) for (entrant, _), scores in zip(rows, made, strict=True)]
        kept = replace(metrics, entrants=entrants)
        values = {"scored": kept.scored, "metrics": plain(kept), "computed_at": now}
        RunReport.objects.update_or_create(run=run, defaults=values)
        StoryScores.objects.outlived(now).delete()
    return kept


def _answers(run: Run) -> list[Answered]:
    """Return the model names under which the answers of each entrant and step came."""
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by("entrant__position", "step")
    rows: Any = answered.values_list("entrant", "entrant__name", "step", "call__answered_by").annotate(
        Count("call"), Sum("call__input_tokens"), Sum("call__output_tokens"), Max("call__finished_at")
    )
    return [Answered(*(*columns, last.isoformat() if last else None)) for *columns, last in rows]


def forget_report(run: Run) -> None:
    """Have the metrics of a run computed anew, and those of its controls, to whose sets its answers may belong."""
    RunReport.objects.filter(Q(run=run) | Q(run__original=run)).delete()


def places_of(runs: Sequence[Run]) -> dict[int, list[int]]:
    """Return, by run id, how many items there are, and how many have an answer; of a run under a control those of the
    run as published after them."""
    whose = {run.pk: [run.pk, run.original_id] if run.original_id else [run.pk] for run in runs}
    asked = sorted({pk for ids in whose.values() for pk in ids})
    items = RunItem.objects.filter(entrant__run__in=asked).order_by()
    rows = items.values_list("entrant__run").annotate(Count("id"), Count("call"))
    counts = {run: [places, scored] for run, places, scored in rows}
    return {run: [count for pk in ids for count in counts.get(pk, [0, 0])] for run, ids in whose.items()}


def stamps_of(runs: Sequence[Run]) -> list[list[Any]]:
    """Return, a run each, what is another once its answers came in or were parsed again and its metrics computed since;
    nothing where one of them has no metrics."""
    computed = dict(RunReport.objects.filter(run__in=runs).values_list("run_id", "computed_at"))
    if len(computed) < len({run.pk for run in runs}):
        return []
    places = places_of(runs)
    return [[run.pk, computed[run.pk].isoformat(), places[run.pk]] for run in runs]


def _rows(run: Run) -> tuple[list[_Scored], list[int]]:
    """Return each entrant's and person's metrics, and the numbers of the samples."""
    suite, rows = suite_named(run.suite), []
    if why := outdated(settings_of(run)):
        for asked in run.entrants.select_related("endpoint"):
            kind = "model" if asked.endpoint.about.reads_prompts else "baseline"
            rows.append(_failed(suite, EntrantMetrics(id=asked.pk, name=asked.name, kind=kind), why))
        return rows, []
    samples = samples_of(run)
    for pk, entered in each_entered(run, samples):
        entrant = EntrantMetrics(id=pk, name=entered.name, kind=entered.kind)
        try:
            rows.append(_numbers(suite, _by_group(entrant, suite.measure(entered))))
        except SuiteFailed as error:
            rows.append(_failed(suite, entrant, str(error)))
    return [*rows, *_people(suite, run, samples)], [sample.number for sample in samples.values()]


def _numbers(suite: Suite, scored: _Scored) -> _Scored:
    """Return the metrics of one entrant, which no database keeps where one is not finite. Raises SuiteFailed."""
    entrant, by_story = scored
    try:
        json.dumps([plain(entrant.groups), by_story], allow_nan=False)
    except ValueError as error:
        log.exception("%s has a figure of %s that is not a number.", suite.title, entrant.name)
        text = gettext_noop("{suite} has a figure of {metrics} that is not a number, so none is kept.")
        raise SuiteFailed(Sentence(text, suite=suite.title, metrics=entrant.name)) from error
    return scored


def _people(suite: Suite, run: Run, samples: Mapping[int, Sample]) -> Iterator[_Scored]:
    if suite.gold.people_measured is None or run.control:  # people labelled what was published
        return
    for person in people_in(run, samples):
        entrant = EntrantMetrics(id=None, name=person.name, kind="person", role=person.role, number=person.number)
        try:
            measured = suite.gold.people_measured(person)
            if measured:
                # in the group that the suite names for people, with how much is labelled and the figures against gold
                # with the person's own votes
                group, own = suite.gold.people, measured.own
                entrant, by_story = _by_group(entrant, measured.measured)
                metrics = replace(entrant.groups[group] or GroupMetrics(), labelled=measured.labelled, own=own.parses)
                by_story = {**by_story, group: {**(by_story[group] or {}), "own": plain(own.by_sample)}}
                yield _numbers(suite, (replace(entrant, groups={**entrant.groups, group: metrics}), by_story))
        except SuiteFailed as error:
            yield _failed(suite, entrant, str(error))


def _failed(suite: Suite, entrant: EntrantMetrics, why: str) -> _Scored:
    return _by_group(replace(entrant, failed=why), dict.fromkeys(group.key for group in suite.groups))


def _by_group(entrant: EntrantMetrics, measured: Mapping[str, GroupMetrics | None]) -> _Scored:
    groups = {group: metrics and replace(metrics, by_sample={}) for group, metrics in measured.items()}
    by_story = {group: metrics and plain(metrics.by_sample) for group, metrics in measured.items()}
    return replace(entrant, groups=groups), by_story


def scores_of(run: Run) -> Json:
    """Return {official, repaired} of a run in the form of score_outputs, by model where there are several."""
    from benchmark.suites.measuring import summary_of  # loads the statistics libraries

    suite, samples = suite_named(run.suite), samples_of(run)
    summary = suite.released.summary or (lambda entered: summary_of(suite.measure(entered)))
    scores = {entered.name: summary(entered) for _, entered in each_entered(run, samples)}
    return next(iter(scores.values())) if len(scores) == 1 else scores
