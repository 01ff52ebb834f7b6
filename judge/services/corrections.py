"""The scores of runs without their judge's error, where people aligned a random subset of their judged stories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from django.db.models import Count, Max, Q, Sum

from benchmark.domain.inference import adjusted
from benchmark.models import Run, StoryScores
from benchmark.services.judge_versions import judge_name, judged_at, version_failure, version_of
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.messages import clauses, labelled
from core.plain import Json
from judge.domain.alignment import ClusterName
from judge.domain.calibration.corrected import Corrected, as_displayed, corrected, difference
from judge.domain.calibration.means import differing
from judge.domain.calibration.tables import JudgedStory, Metric
from judge.domain.corrections import (
    NOT_ALIGNED,
    NOT_JUDGED,
    CorrectedComparison,
    CorrectedDifference,
    CorrectedPair,
    CorrectedRow,
    CorrectedScore,
    Correction,
    Corrections,
)
from judge.domain.judgements import StoryJudgement
from judge.models import AlignmentStudy
from judge.services.calibration import judged_tables
from judge.services.judgements import judged_tables_of
from judge.services.settled_tables import joined, settled_tables
from judge.services.studies import cluster_named, cluster_of

Scores = Mapping[Metric, Corrected]
Stories = AbstractSet[int] | None
"""Numbers of the stories that scores are over, None for all."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of a run by the study `name` with that `uid`: the corrected scores of its entrants by their ids, and the p
    value of the judge's error being as large for all of them, with whether it is shown not to be. `numbers` are those
    of the stories whose tables the scores of each are of, `unjudged` how many of their rows have no verdict."""

    uid: str
    name: str
    scores: Mapping[int, Scores]
    numbers: Mapping[int, frozenset[int]]
    unjudged: Mapping[int, int]
    differing: float | None
    warns: bool

    @property
    def aligned(self) -> int:
        return sum(by_metric[Metric.F1].aligned for by_metric in self.scores.values())


def corrects(group: str) -> bool:
    """Return whether figures of a metric group can be corrected: they rest on a judge, and are of rows that it
    matched."""
    return bool(group_named(group).corrected)


def corrected_group(run: Run) -> str:
    """Return the metric group of a run that can be corrected, empty where it has none or no judge."""
    keys = (group.key for group in suite_named(run.suite).groups if corrects(group.key))
    return next(keys, "") if judged_at(run) and not version_failure(run) else ""


def corrections_of(run: Run, groups: Mapping[str, Sequence[EntrantResults]]) -> Corrections | None:
    """Return the corrected scores of a run by the study with most aligned stories of it; None where people aligned
    none. `groups` has the run's ranked entrants by metric group."""
    group = corrected_group(run)
    scored = scores_of_runs([run]).get(run.pk) if group else None
    if scored is None:
        return None
    return Corrections(
        uid=scored.uid,
        study=scored.name,
        group=group,
        version=version_of(run),
        judge=judge_name(run),
        rows=[_row(entrant, scored, group) for entrant in groups.get(group, ()) if entrant.entrant in scored.scores],
        differing=scored.differing,
        warns=scored.warns,
    )


def corrections_in(
    group: str, entrants: Sequence[EntrantResults], runs: Sequence[Run], stories: Stories
) -> dict[str, Correction]:
    """Return the corrected scores over `stories` of each entrant of a ranking, by its key, or why it has none; nothing
    of a metric group that cannot be corrected. `runs` are those of the entrants. Two statements where all is kept."""
    ranked = {entrant.run for entrant in entrants}
    runs = [run for run in runs if run.uid in ranked and corrected_group(run) == group]
    if not runs:
        return {}
    states = _states_of(runs)
    if not states.studies:
        return {entrant.key: _correction(entrant, None, None) for entrant in entrants}

    by_uid = _by_uid(runs, _scores(runs, states, {entrant.run: _part(entrant, stories) for entrant in entrants}))
    return {entrant.key: _correction(entrant, *by_uid.get(entrant.run, (None, None))) for entrant in entrants}


Side = tuple[Correction, Scores | None]
"""What is said of the corrected scores of an entrant, and the scores with what moves them, None where it has none."""


def corrected_sides(entrants: Sequence[EntrantResults], runs: Sequence[Run], stories: Stories) -> list[Side]:
    """Return the corrected scores of each entrant over those of the `stories` that were judged of all that have any."""
    states = _states_of(runs)
    parts = {entrant.run: _part(entrant, stories) for entrant in entrants}
    scored = _by_uid(runs, _scores(runs, states, parts))
    scores_of_each = [(entrant.entrant or 0, scored[entrant.run][1]) for entrant in entrants]
    judged = {
        run_scores.numbers[entrant]
        for entrant, run_scores in scores_of_each
        if run_scores and run_scores.numbers.get(entrant)
    }
    if len(judged) > 1:
        common = frozenset.intersection(*judged)
        scored = _by_uid(runs, _scores(runs, states, dict.fromkeys(scored, common)))
    return [_side(entrant, *scored[entrant.run]) for entrant in entrants]


def _by_uid(runs: Sequence[Run], scored: Mapping[int, RunScores]) -> dict[str, tuple[Run, RunScores | None]]:
    return {run.uid: (run, scored.get(run.pk)) for run in runs}


def _side(entrant: EntrantResults, run: Run, run_scores: RunScores | None) -> Side:
    correction = _correction(entrant, run, run_scores)
    return correction, run_scores.scores[entrant.entrant or 0] if run_scores and correction.scores else None


def scores_of_runs(runs: Sequence[Run]) -> dict[int, RunScores]:
    """Return the corrected scores of runs of one project over all their stories, by run id, by the study with most
    aligned stories of each; nothing of a run of which people aligned none."""
    return _scores(runs, _states_of(runs), {})


def _part(entrant: EntrantResults, stories: Stories) -> Stories:
    """Return the stories, None where the entrant's run is of no others: what is kept of all serves both."""
    return None if stories is None or set(entrant.numbers) <= stories else stories


def _listed(stories: Stories) -> list[int] | None:
    return None if stories is None else sorted(stories)


@dataclass(frozen=True, slots=True)
class _States:
    """States that tell whether anything changed: of a project's studies with settled tables, by id, and of runs."""

    studies: Mapping[int, Sequence[Any]]
    runs: Mapping[int, Sequence[int]]


def _states_of(runs: Sequence[Run]) -> _States:
    projects = sorted({run.project_id for run in runs})
    studies = AlignmentStudy.objects.filter(project__in=projects).order_by("-id").values_list("pk", "uid", "name")
    rows = studies.annotate(
        Count("tasks"),
        Count("tasks__settled"),
        Sum("tasks__settled__revision"),
        Max("tasks__settled__changed_at"),
        whole=Count("tasks__settled", filter=Q(tasks__settled__open_rows=0)),
    )
    settled_studies = {pk: [pk, *map(str, state)] for pk, *state, whole in rows if whole}
    scores: dict[int, list[int]] = {}
    if not settled_studies:
        return _States({}, scores)
    for run, pk in StoryScores.objects.current().filter(run__in=runs).order_by("pk").values_list("run", "pk"):
        scores.setdefault(run, []).append(pk)
    return _States(settled_studies, scores)


def _scores(runs: Iterable[Run], states: _States, parts: Mapping[str, Stories]) -> dict[int, RunScores]:
    """Return the scores of each run over its part of the stories, by run id, of the study with most aligned ones."""
    scores_by_run = {}
    for run in runs:
        of_run = [_of_study(run, study, states, parts.get(run.uid)) for study in states.studies]
        if best := max(filter(None, of_run), key=lambda scores: scores.aligned, default=None):
            scores_by_run[run.pk] = best
    return scores_by_run


def _of_study(run: Run, study: int, states: _States, stories: Stories) -> RunScores | None:
    """Return the scores of a run by a study, kept until either or the code changes."""
    identity = [run.pk, states.runs.get(run.pk), states.studies[study], _listed(stories)]
    return kept_as("corrected-run", identity, lambda: _made(run, AlignmentStudy.objects.get(pk=study), stories))


def _made(run: Run, study: AlignmentStudy, stories: Stories) -> RunScores | None:
    judged = _judged(run, study, stories) if judged_tables_of(study, [run]) else {}
    models = _stories_of(run, study, judged) if judged else {}
    if not any(story.human for judged_stories in models.values() for story in judged_stories):
        return None
    over = cluster_of(study)
    errors, numbers, unjudged = differing(models, over=over), {}, {}
    scores = {
        entrant: {metric: as_displayed(corrected(judged_stories, metric, over=over)) for metric in Metric}
        for entrant, judged_stories in models.items()
    }
    for name, entrant in _entrants(run).items():
        own = {judgement.number: judgement for judgement in judged.values() if judgement.model == name}
        numbers[entrant] = frozenset(own)
        unjudged[entrant] = sum(row.count is None for judgement in own.values() for row in judgement.rows)
    return RunScores(study.uid, study.name, scores, numbers, unjudged, errors.p, errors.warns)


def _judged(run: Run, study: AlignmentStudy, stories: Stories) -> dict[str, StoryJudgement]:
    """Return what the run's judge said of tables of these stories that could be drawn, by the key of their units."""
    judgements = judged_tables(study, [run])
    return {key: judgement for key, judgement in judgements.items() if stories is None or judgement.number in stories}


def _entrants(run: Run) -> dict[str, int]:
    return dict(run.entrants.values_list("name", "pk"))


def _stories_of(run: Run, study: AlignmentStudy, judged: Mapping[str, StoryJudgement]) -> dict[int, list[JudgedStory]]:
    """Return what the judge said of these tables, with what people said, by entrant id."""
    entrants, units = _entrants(run), [unit for unit in study.units if unit.key in judged]
    of_source = {unit.stratum[0]: entrants[judged[unit.key].model] for unit in units}
    by_source = joined(units, settled_tables(study), judged).models
    # of runs that share answers both may be in the study: the same tables, of which those count that people aligned
    in_order = sorted(by_source.items(), key=lambda pair: sum(story.human is not None for story in pair[1]))
    return {of_source[source]: judged_stories for source, judged_stories in in_order}


def _basis(run_scores: RunScores, entrant: EntrantResults) -> Json:
    """Return the numbers that the scores of an entrant rest on."""
    f1 = run_scores.scores[entrant.entrant or 0][Metric.F1]
    return {
        "aligned": f1.aligned,
        "judged": f1.stories,
        "unjudged": run_scores.unjudged.get(entrant.entrant or 0),
        "unseen": f1.unseen,
        "effective": f1.effective,
    }


def _correction(entrant: EntrantResults, run: Run | None, run_scores: RunScores | None) -> Correction:
    if entrant.kind == "person":
        return Correction(reason=NOT_JUDGED)
    scores = run_scores.scores.get(entrant.entrant or 0) if run_scores else None
    if run is None or run_scores is None or scores is None:
        return Correction(reason=NOT_ALIGNED)
    f1 = scores[Metric.F1]
    if not f1.aligned and f1.value is None:
        return Correction(reason=NOT_ALIGNED, judged=f1.stories)
    return Correction(
        study=run_scores.uid,
        study_name=run_scores.name,
        version=version_of(run),
        judge=judge_name(run),
        scores={metric.value: _estimate(score) for metric, score in scores.items()},
        **_basis(run_scores, entrant),
        differing=run_scores.differing,
        warns=run_scores.warns,
    )


def _overall(entrant: EntrantResults, group: str, parse: str) -> dict[str, float | None]:
    overall = entrant.parses.overall(parse)
    return {metric: overall.number_of(share) for metric, share in group_named(group).corrected.items()}


def _row(entrant: EntrantResults, run_scores: RunScores, group: str) -> CorrectedRow:
    scores = run_scores.scores[entrant.entrant or 0]
    return CorrectedRow(
        key=entrant.key,
        model=entrant.model,
        kind=entrant.kind,
        entrant=entrant.entrant,
        run=entrant.run,
        official=_overall(entrant, group, "official"),
        lenient=_overall(entrant, group, "repaired"),
        corrected={metric.value: _estimate(score) for metric, score in scores.items()},
        **_basis(run_scores, entrant),
    )


def _estimate(score: Corrected) -> CorrectedScore:
    return CorrectedScore(score.value, score.interval, score.reason or None, score.aligned)


def corrected_comparison(
    pair: Sequence[EntrantResults], runs: Sequence[Run], group: str, stories: Stories
) -> CorrectedComparison | None:
    """Return the corrected scores of two entrants side by side, over those of the `stories` that were judged of both;
    None of a metric group that cannot be corrected. Holm's correction runs over its rows."""
    if not corrects(group):
        return None
    sides = corrected_sides(pair, runs, stories)
    corrections = [correction for correction, _ in sides]
    lacking = [
        labelled(entrant.model, side.reason) for entrant, side in zip(pair, corrections, strict=True) if side.reason
    ]
    if lacking:
        return CorrectedComparison(sides=corrections, reason=clauses(*lacking))
    described = group_named(group)
    over = cluster_named(group_suite(group))
    rows = adjusted(
        [_difference(*sides, metric, described.headers[share], over) for metric, share in described.corrected.items()]
    )
    return CorrectedComparison(sides=corrections, rows=rows, tests=sum(row.p is not None for row in rows))


def corrected_pairs(
    entrants: Sequence[EntrantResults], runs: Sequence[Run], group: str, stories: Stories
) -> list[CorrectedPair]:
    """Return the difference of the corrected F1 of every two of these entrants, over those of the `stories` that were
    judged of all of them, the biggest first. Holm's correction runs over all rows."""
    ranked = {entrant.run for entrant in entrants}
    runs = [run for run in runs if run.uid in ranked]
    if len(entrants) < 2 or not corrects(group):
        return []
    sides = corrected_sides(entrants, runs, stories)
    scored = [(entrant, side) for entrant, side in zip(entrants, sides, strict=True) if side[1] is not None]
    described = group_named(group)
    header, over = described.headers[described.corrected[Metric.F1]], cluster_named(group_suite(group))
    pairs = [
        CorrectedPair(
            first=entrant.model,
            second=other.model,
            first_key=entrant.key,
            second_key=other.key,
            difference=_difference(first, second, Metric.F1, header, over),
        )
        for (entrant, first), (other, second) in combinations(scored, 2)
    ]
    pairs.sort(key=_biggest_first)
    differences = adjusted([pair.difference for pair in pairs])
    return [replace(pair, difference=difference) for pair, difference in zip(pairs, differences, strict=True)]


def _biggest_first(pair: CorrectedPair) -> tuple[bool, float, str]:
    value = pair.difference.value
    return value is None, -abs(value or 0), pair.first


def _difference(first: Side, second: Side, metric: str, header: str, over: ClusterName) -> CorrectedDifference:
    """Return the difference of a metric, still without the p of a correction."""
    (_, left), (_, right) = first, second
    assert left is not None and right is not None  # both have scores
    score, other = left[Metric(metric)], right[Metric(metric)]
    gap = difference(score, other, over=over)
    return CorrectedDifference(
        what=header,
        key=metric,
        category="",
        first=score.value,
        second=other.value,
        value=gap.value,
        interval=list(gap.interval) if gap.interval else None,
        reason=gap.reason or None,
        n=gap.stories,
        aligned=gap.aligned,
        p=gap.p,
        p_adjusted=None,
    )
