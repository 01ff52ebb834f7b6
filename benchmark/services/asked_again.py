"""Models of a run that were asked again, under controls or by other methods, and their paired differences."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef

from benchmark.controls.chosen import CONTROLS, outdated
from benchmark.domain.asked_again import (
    AskedAgain,
    AskedAgainResults,
    Difference,
    MissingShares,
    answered_difference,
    flips_by_cluster,
    repeated_scores,
    repeated_statements,
)
from benchmark.domain.inference import Cases, adjusted
from benchmark.domain.inference.leaderboard import NONE_SCORED
from benchmark.models import Dataset, DatasetSample, Entrant, Run, RunItem, StoryScores
from benchmark.services.asking import settings_of
from benchmark.services.leaderboards import SEED
from benchmark.services.plans import methods_of
from benchmark.services.reports import each_entered, reports_of, samples_of
from benchmark.services.runs import answering_step, family_of, method_of_run
from benchmark.suites.figures import cases_by_story, clusters_of, columns_of, scores_by_story, statements_by_sample
from benchmark.suites.groups import CATEGORY, PartAnswers, PartMetric, Parts
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import PARSES, Columns
from benchmark.suites.registry import group_named, group_suite, keys_of, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, listed, word
from core.plain import Json
from core.statistics import SHARE, Estimate, mean_estimates
from workers.models import JobState

Groups = Mapping[str, Sequence[EntrantResults]]
"""A run's ranked entrants by metric group."""
Models = Sequence[tuple[EntrantResults, int]]
"""Entrants of a run with the ids of their endpoints."""
Asked = tuple[Run, int]
"""The run and the id of the entrant whose answers stand for a model in one way."""
Scores = Mapping[tuple[int, int], Mapping[str, Any]]
"""By ids of a run and of an endpoint."""
Scored = Callable[[AskedAgain], AskedAgain]
Chosen = Mapping[tuple[str, int], Asked | str]
"""By way and endpoint id, the answers of a model, or the reason why there are none."""
PUBLISHED = ""
"""The way of a run without a control."""


@dataclass(frozen=True, slots=True)
class Sides:
    """One metric group in one parse: whose answers count in each way, and their scores by run and endpoint."""

    group: str
    parse: str
    chosen: Chosen
    scores: Scores
    tests: int
    """The number of tests that the table corrects over."""
    numbers: frozenset[int] | None = None
    """The samples that count. None for all that were asked in both ways."""

    def asked(self, way: str, endpoint: int) -> Asked | str:
        return self.chosen.get((way, endpoint), "Not asked.")

    def columns(self, way: str, endpoint: int) -> Columns | None:
        asked = self.asked(way, endpoint)
        scores = None if isinstance(asked, str) else self.scores.get((asked[0].pk, endpoint))
        return columns_of(scores.get(self.group), self.parse) if scores else None

    def cases(self, *sides: Columns) -> Cases:
        """Return the cases of the samples that all sides were asked about. Clusters are those of the first side."""
        numbers = set.intersection(*(set(side.stories) for side in sides))
        score = group_named(self.group).score
        by_side = {str(at): cases_by_story(columns, score) for at, columns in enumerate(sides)}
        return Cases.of(by_side, numbers if self.numbers is None else numbers & self.numbers, clusters_of(sides[0]))

    def row(self, entrant: EntrantResults, way: str, title: str, asked: Asked | str) -> AskedAgain:
        """Return the row of a model without figures, with the reason if it was not asked this way."""
        run, beside = (None, None) if isinstance(asked, str) else asked
        return AskedAgain(
            key=entrant.key, model=entrant.model, kind=entrant.kind, entrant=entrant.entrant, run=entrant.run, way=way,
            title=title, beside=run.uid if run else None, beside_entrant=beside,
            why=asked if isinstance(asked, str) else "",
        )  # fmt: skip

    def compared(self, row: AskedAgain, first: Columns, second: Columns) -> AskedAgain:
        """Return the row with the first side less the second. Only models have a test."""
        means, difference = answered_difference(
            self.cases(first, second), seed=SEED, tests=self.tests, unit=units_of_group(self.group)
        )
        values = {field.name: getattr(difference, field.name) for field in fields(Difference)}
        values["p"] = difference.p if row.kind == "model" else None
        return replace(row, means=means, **values)


def control_results(run: Run, groups: Groups) -> AskedAgainResults | None:
    """Return the results of a run's ranked entrants under its controls. Returns None for a run without controls."""
    rows = Run.objects.filter(original=run).select_related("project", "dataset", "judge", "job", "source")
    controls = list(rows.order_by("pk"))
    if not controls:
        return None
    for control in controls:
        control.original = run
    reports_of([run, *controls])  # scores are read from what these keep
    results = _kept(
        "controls", run, [run, *controls], groups, [], lambda scores: _under_controls(run, controls, groups, scores)
    )
    unfinished = [CONTROLS[control.control].title for control in controls if control.job.state != JobState.FINISHED]
    return replace(results, unfinished=unfinished)


def method_results(run: Run, groups: Groups) -> AskedAgainResults | None:
    """Return the results of a run's ranked entrants by each method. Returns None if no run asked by another."""
    family = family_of(run)
    if len({method_of_run(other) for other in family}) < 2:
        return None
    reports = reports_of(family)
    numbers = {other.pk: frozenset(reports[other.pk].numbers) for other in family}
    chosen = _chosen(run, family, numbers)
    ways = {name for name, _ in chosen}
    titles = methods_of(suite_named(run.suite))
    methods = {name: title for at, (name, title) in enumerate(titles.items()) if name in ways or at == 0}
    used = sorted((*place, asked if isinstance(asked, str) else asked[1]) for place, asked in chosen.items())
    results = _kept(
        "methods", run, family, groups, [used, list(methods.items())],
        lambda scores: _by_methods(run, groups, methods, chosen, scores, numbers[run.pk]),
    )  # fmt: skip
    used_runs = {asked[0].pk: asked[0] for asked in chosen.values() if not isinstance(asked, str)}
    unfinished = [used_run.title for used_run in used_runs.values() if used_run.job.state != JobState.FINISHED]
    return replace(results, unfinished=unfinished)


def _kept(
    kind: str, run: Run, others: Sequence[Run], groups: Groups, versions: Sequence[object],
    compute: Callable[[Scores], AskedAgainResults],
) -> AskedAgainResults:  # fmt: skip
    """Return the results of a kind, computed once for the scores of these runs, the names of models and other
    `versions`."""
    current = StoryScores.objects.current().filter(run__in=others, entrant__isnull=False)
    ids = {(run, endpoint): pk for run, endpoint, pk in current.values_list("run_id", "entrant__endpoint_id", "pk")}
    names = [[group, entrant.key, entrant.model] for group, entrants in groups.items() for entrant in entrants]

    def computed() -> AskedAgainResults:
        metrics = dict(StoryScores.objects.filter(pk__in=ids.values()).values_list("pk", "metrics"))
        return compute({place: metrics[pk] for place, pk in ids.items() if pk in metrics})

    return kept_as(kind, [run.pk, SEED, sorted(ids.values()), *versions, names], computed)


def _models(run: Run, groups: Groups) -> dict[str, list[tuple[EntrantResults, int]]]:
    """Return the ranked entrants of each metric group with the ids of their endpoints."""
    endpoints = dict(run.entrants.values_list("pk", "endpoint_id"))
    return {
        group: [(row, endpoints[row.entrant]) for row in groups.get(group, ()) if row.entrant in endpoints]
        for group in keys_of(run.suite)
    }


# --- controls


def _under_controls(run: Run, controls: Sequence[Run], groups: Groups, scores: Scores) -> AskedAgainResults:
    runs = {PUBLISHED: run} | {control.control: control for control in controls}
    entrants = Entrant.objects.filter(run__in=runs.values()).values_list("run_id", "endpoint_id", "pk")
    by_run = {(run_id, endpoint): pk for run_id, endpoint, pk in entrants}
    chosen: dict[tuple[str, int], Asked | str] = {
        (way, endpoint): (asked, pk)
        for way, asked in runs.items()
        for (run_id, endpoint), pk in by_run.items()
        if run_id == asked.pk
    }
    rows: dict[str, dict[str, list[AskedAgain]]] = {}
    for group, models in _models(run, groups).items():
        for parse in PARSES:
            sides = Sides(group, parse, chosen, scores, max(len(models) * len(controls), 1))
            compared = [_controlled(sides, name, *model) for name in runs if name != PUBLISHED for model in models]
            rows.setdefault(group, {})[parse] = adjusted([row for row in compared if row.asked])
    moved = {(row.way, group) for group, by_parse in rows.items() for each in by_parse.values() for row in each}
    return AskedAgainResults(rows=rows, left=[_left(run, control, groups, moved) for control in controls])


def _controlled(sides: Sides, name: str, entrant: EntrantResults, endpoint: int) -> AskedAgain:
    """Return a model's row under a control, with its flips. `asked` is None if it has no scores on one side."""
    row = sides.row(entrant, name, CONTROLS[name].title, sides.asked(name, endpoint))
    published, controlled = sides.columns(PUBLISHED, endpoint), sides.columns(name, endpoint)
    if published is None or controlled is None:
        return row
    numbers = set(published.stories) & set(controlled.stories)
    clusters, both = clusters_of(published), (published, controlled)
    by_side = (scores_by_story(side, group_named(sides.group).score) for side in both)
    same_score, flips, among = repeated_scores(
        *({number: score for number, score in scores.items() if number in numbers} for scores in by_side)
    )
    said = [statements_by_sample(side) for side in both]
    same_answer = None
    if said[0] is not None and said[1] is not None:
        same_answer, flips, among = repeated_statements(said[0], said[1], numbers)
    stories = flips_by_cluster(*([clusters.get(number, str(number)) for number in each] for each in (among, flips)))
    row = replace(row, same_answer=same_answer, same_score=same_score, flips=flips, stories=stories)
    return sides.compared(row, published, controlled)


def _left(run: Run, control: Run, groups: Groups, moved: Set[tuple[str, str]]) -> Json:
    """Return the samples that a control leaves unchanged. `moved` has each control and metric group with rows."""
    asked, under = (
        set(RunItem.objects.filter(entrant__run=side).order_by().values_list("sample__number", flat=True).distinct())
        for side in (run, control)
    )
    described, left, suite = CONTROLS[control.control], sorted(asked - under), suite_named(run.suite)
    still = [
        group_named(group)
        for group, entrants in groups.items()
        if entrants and (described.name, group) not in moved and any(name == described.name for name, _ in moved)
    ]
    return {
        "title": described.title,
        "control": described.name,
        "samples": len(asked),
        "same": len(left),
        "numbers": ranges(left),
        "why": described.same if left else "",
        "steps": listed(suite.step(step).label.lower() for step in run.steps if step not in control.steps),
        "noun": list(nouns_of_group(keys_of(run.suite)[0])),
        "still": [group.score_title for group in still if {*group.rests_on} & {*control.steps}],
        "unread": outdated(settings_of(control)),
    }


def ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as `1–4, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number, number])
    return listed((str(first) if first == last else f"{first}–{last}" for first, last in parts))


# --- methods


def _chosen(run: Run, family: Sequence[Run], numbers: Mapping[int, frozenset[int]]) -> Chosen:
    """Return whose answers stand for each model by each method: of several runs the one with the most of the run's
    samples, and of those the newest."""
    specs = dict(run.entrants.values_list("endpoint_id", "spec"))
    entrants = Entrant.objects.filter(run__in=family, endpoint__in=specs)
    by_run: dict[int, list[tuple[int, int, Any]]] = defaultdict(list)
    for run_id, endpoint, pk, spec in entrants.values_list("run_id", "endpoint_id", "pk", "spec"):
        by_run[run_id].append((endpoint, pk, spec))
    answers = RunItem.objects.filter(entrant=OuterRef("pk"), step=answering_step(run), call__isnull=False)
    answered = set(entrants.filter(Exists(answers)).values_list("pk", flat=True))
    chosen: dict[tuple[str, int], Asked | str] = {}
    for other in [run, *sorted(family, key=lambda other: -len(numbers[other.pk] & numbers[run.pk]))]:
        for endpoint, pk, spec in by_run[other.pk]:
            why = ""
            if spec != specs[endpoint]:
                why = gettext_noop("The endpoint had other settings.")
            elif not numbers[other.pk] & numbers[run.pk]:
                why = Sentence("Asked about other {noun}.", noun=word(suite_named(run.suite).noun[1]))
            elif pk not in answered:
                why = gettext_noop("No answer yet.")
            place = (method_of_run(other), endpoint)
            if isinstance(chosen.get(place, ""), str):
                chosen[place] = chosen.get(place, why) if why else (other, pk)
    return chosen


def _by_methods(
    run: Run, groups: Groups, methods: Mapping[str, str], chosen: Chosen, scores: Scores, numbers: frozenset[int]
) -> AskedAgainResults:
    rows: dict[str, dict[str, list[AskedAgain]]] = {}
    parts: dict[str, dict[str, list[AskedAgain]]] = {}
    without_parts: dict[str, str] = {}
    for group, models in _models(run, groups).items():
        if group_named(group).scored != answering_step(run):
            continue  # other steps are asked alike by all methods
        tables = [Sides(group, parse, chosen, scores, len(models) * (len(methods) - 1), numbers) for parse in PARSES]
        for table in tables:
            compared = [row for model in models for row in _rows_of_model(table, methods, *model)]
            if any(row.score for row in compared):
                rows.setdefault(group, {})[table.parse] = adjusted(compared)
        described = next(each.parts for each in suite_named(group_suite(group)).groups if each.key == group)
        try:
            by_parse = {}
            if described and described.metric:
                by_parse = _rows_by_metric(tables, methods, described.metric, models)
            elif described:
                by_parse = _rows_by_facet(tables, methods, described, run.dataset, models)
        except SuiteFailed as error:
            without_parts[group] = str(error)
        else:
            parts[group] = {parse: adjusted(own) for parse, own in by_parse.items() if any(row.score for row in own)}
    return AskedAgainResults(ways=dict(methods), rows=rows, parts=parts, without_parts=without_parts)


def _rows_of_model(
    sides: Sides, methods: Mapping[str, str], entrant: EntrantResults, endpoint: int, scored: Scored | None = None
) -> Iterator[AskedAgain]:
    """Yield the rows of one model, by the plain method first. `scored` adds the figures of a part to a row."""
    plain, plain_title = next(iter(methods.items()))
    for name, title in methods.items():
        row = sides.row(entrant, name, title, sides.asked(name, endpoint))
        if not row.why:
            row, why = scored(row) if scored else _scored(sides, row, endpoint, plain), ""
            if row.score is None:
                why = Sentence("No {parse} figures.", parse=word(sides.parse))
            elif row.value is None and name != plain:
                why = Sentence("Nothing was asked both ways, or has {parse} figures.", parse=word(sides.parse))
                if row.asked:
                    why = gettext_noop("Nothing was answered both ways.")
                elif isinstance(sides.asked(plain, endpoint), str):
                    why = Sentence("Not asked {title}.", title=plain_title)
            row = replace(row, why=why)
        yield row


def _scored(sides: Sides, row: AskedAgain, endpoint: int, plain: str) -> AskedAgain:
    """Return the row with the score by its method, missing answers at their worst, and the difference to plain."""
    own, beside = sides.columns(row.way, endpoint), sides.columns(plain, endpoint)
    if not own:
        return row
    alone = sides.cases(own)
    [estimate] = mean_estimates(
        alone.worst[:1], scale=SHARE, seed=SEED, unit=units_of_group(sides.group), empty=NONE_SCORED,
        clusters=alone.clusters,
    )  # fmt: skip
    missing = [int(alone.missing[0]) if alone.stories else None, None]
    row = replace(row, score=_plain_estimate(estimate), missing=missing)
    return row if row.way == plain or not beside else sides.compared(row, own, beside)


def _plain_estimate(estimate: Estimate) -> Estimate:
    """Return an estimate without its clusters and bounds, which rows do not keep."""
    return Estimate(estimate.value, estimate.n, estimate.interval, reason=estimate.reason)


# --- parts of the samples, such as a scenario


def _rows_by_facet(
    tables: Sequence[Sides], methods: Mapping[str, str], parts: Parts, dataset: Dataset, models: Models
) -> dict[str, list[AskedAgain]]:
    """Return the rows of each part by parse: the scores of the samples with one value of a facet."""
    where = "category" if parts.facet == CATEGORY else f"content__{parts.facet}"
    numbers: dict[str, set[int]] = {value: set() for value in parts.values}
    for number, value in DatasetSample.objects.filter(dataset=dataset).values_list("number", where):
        part = parts.part_of(value) if parts.part_of else value
        if part in numbers or not parts.values:
            numbers.setdefault(part, set()).add(number)
    names = group_named(tables[0].group).facet_values
    rows: dict[str, list[AskedAgain]] = {}
    for sides in tables:
        asked = {part: sides.numbers & own for part, own in numbers.items() if sides.numbers and sides.numbers & own}
        rows[sides.parse] = [
            replace(row, part=names.get(part, part))
            for part, own in asked.items()
            for model in models
            for row in _rows_of_model(replace(sides, numbers=own, tests=sides.tests * len(asked)), methods, *model)
        ]
    return rows


def _rows_by_metric(
    tables: Sequence[Sides], methods: Mapping[str, str], metric: PartMetric, models: Models
) -> dict[str, list[AskedAgain]]:
    """Return the rows of each part by parse: a metric of the answers themselves, which are read once. Raises
    SuiteFailed."""
    chosen = [asked for asked in tables[0].chosen.values() if not isinstance(asked, str)]
    answers = {
        (parse, entrant): metric.answers(entered, parse)
        for run in {run.pk: run for run, _ in chosen}.values()
        for entrant, entered in each_entered(run, samples_of(run), {entrant for _, entrant in chosen})
        for parse in PARSES
    }
    rows: dict[str, list[AskedAgain]] = {sides.parse: [] for sides in tables}
    for sides in tables:
        own = {entrant: by_part for (parse, entrant), by_part in answers.items() if parse == sides.parse}
        for part in dict.fromkeys(part for by_part in own.values() for part in by_part):
            for entrant, endpoint in models:
                scored = partial(_with_metric, sides, metric, own, part, endpoint, next(iter(methods)))
                own_rows = _rows_of_model(sides, methods, entrant, endpoint, scored)
                rows[sides.parse] += [replace(row, part=part) for row in own_rows]
    return rows


def _with_metric(
    sides: Sides, metric: PartMetric, answers: Mapping[int, PartAnswers], part: str, endpoint: int, plain: str,
    row: AskedAgain,
) -> AskedAgain:  # fmt: skip
    """Return the row with the metric of a part, and its difference to plain over what was answered both ways."""
    own, beside = (_by_turn(sides, answers, part, endpoint, way) for way in (row.way, plain))
    if not own:
        return row
    row = replace(row, score=_plain_estimate(metric.estimate([*own.values()], SEED)))
    pairs = [(answer, beside[turn]) for turn, answer in own.items() if turn in beside]
    if row.way == plain or not pairs:
        return row
    first_answers, second_answers = map(list, zip(*pairs, strict=True))
    difference = metric.difference(first_answers, second_answers, SEED)
    missing = [sum(not metric.is_read(answer) for answer in side) for side in (first_answers, second_answers)]
    both = [pair for pair in pairs if all(map(metric.is_read, pair))]
    first, second = (count / len(pairs) for count in missing)
    means = [metric.estimate([pair[side] for pair in both], SEED).value for side in range(2)]
    return replace(
        row, value=difference.value, interval=difference.interval, reason=difference.reason, n=len(both),
        asked=len(pairs), bounds=difference.bounds, missing=missing, means=means,
        shares=MissingShares(first, second, first - second, None),
    )  # fmt: skip


def _by_turn(
    sides: Sides, answers: Mapping[int, PartAnswers], part: str, endpoint: int, way: str
) -> dict[tuple[int, int], Any]:
    """Return what a model's answers say by sample and repetition. Returns none if the metric group has no figures."""
    asked = sides.asked(way, endpoint)
    if isinstance(asked, str) or sides.columns(way, endpoint) is None:
        return {}
    by_turn: dict[tuple[int, int], Any] = {}
    turns: Counter[int] = Counter()
    for number, answer in answers.get(asked[1], {}).get(part, ()):
        if sides.numbers and number in sides.numbers:
            by_turn[number, turns[number]] = answer
            turns[number] += 1
    return by_turn
