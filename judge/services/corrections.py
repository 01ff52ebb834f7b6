"""The scores of runs without their judge's error, if people aligned a random subset of their judged stories."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

from django.db.models import Count, Max, Q, Sum

from benchmark.domain.inference import adjusted
from benchmark.models import Run, StoryScores
from benchmark.services.judges import judge_name, judged_at, version_failure, version_of
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.results import EntrantResults
from core.kept import kept
from core.messages import clauses, labelled
from judge.domain.alignment import ClusterName
from judge.domain.calibration.corrected import Corrected, as_displayed, corrected, difference
from judge.domain.calibration.means import differing
from judge.domain.calibration.tables import Metric
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
from judge.services.judgements import judged_in
from judge.services.settled_tables import joined, settled_tables
from judge.services.studies import cluster_named, cluster_of

Scores = Mapping[Metric, Corrected]
Stories = AbstractSet[int] | None
"""Numbers of the stories that scores are over, None for all."""
Side = tuple[Correction, Scores | None]
"""The corrected scores of an entrant, and the scores with what moves them, None if it has none."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of a run by the study `name` with that `uid`: the corrected scores of its entrants by their ids, and the p
    value of the judge's error being as large for all of them; if it `warns`, it is shown not to be. `numbers` are those
    of the stories whose tables the scores of each are of, `unjudged` the number of their rows without a verdict."""

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

    def basis(self, entrant: int) -> dict[str, Any]:
        """Return the data under the scores of an entrant (`domain.corrections.Basis`)."""
        f1 = self.scores[entrant][Metric.F1]
        return {
            "aligned": f1.aligned,
            "judged": f1.stories,
            "unjudged": self.unjudged.get(entrant),
            "unseen": f1.unseen,
            "effective": f1.effective,
        }


def corrected_group(run: Run) -> str:
    """Return the metric group of a run that can be corrected: its figures rest on a judge, and are of rows that it
    matched. Empty if it has none or no judge."""
    keys = (group.key for group in suite_named(run.suite).groups if group.corrected)
    return next(keys, "") if judged_at(run) and not version_failure(run) else ""


def corrections_of(run: Run, groups: Mapping[str, Sequence[EntrantResults]]) -> Corrections | None:
    """Return the corrected scores of a run by the study with most aligned stories of it; None if people aligned none.
    `groups` has the run's ranked entrants by metric group."""
    group = corrected_group(run)
    scored = scores_of_runs([run]).get(run.pk) if group else None
    if scored is None:
        return None
    rows = [_row(entrant, scored, group) for entrant in groups.get(group, ()) if entrant.entrant in scored.scores]
    return Corrections(
        uid=scored.uid,
        study=scored.name,
        group=group,
        version=version_of(run),
        judge=judge_name(run),
        rows=rows,
        differing=scored.differing,
        warns=scored.warns,
    )


def _row(entrant: EntrantResults, scored: RunScores, group: str) -> CorrectedRow:
    entrant_id, shares = entrant.entrant or 0, group_named(group).corrected
    official, lenient = (entrant.parses.overall(parse) for parse in ("official", "repaired"))
    return CorrectedRow(
        key=entrant.key,
        model=entrant.model,
        kind=entrant.kind,
        entrant=entrant.entrant,
        run=entrant.run,
        official={metric: official.number_of(share) for metric, share in shares.items()},
        lenient={metric: lenient.number_of(share) for metric, share in shares.items()},
        corrected={metric.value: _estimate(score) for metric, score in scored.scores[entrant_id].items()},
        **scored.basis(entrant_id),
    )


def _estimate(score: Corrected) -> CorrectedScore:
    return CorrectedScore(score.value, score.interval, score.reason or None, score.aligned)


def corrections_in(
    group: str, entrants: Sequence[EntrantResults], runs: Sequence[Run], stories: Stories
) -> dict[str, Correction]:
    """Return the corrected scores over `stories` of each entrant of a ranking, by its key, or why it has none; nothing
    of a metric group that cannot be corrected. `runs` are those of the entrants. Two statements if all is kept."""
    ranked = {entrant.run for entrant in entrants}
    runs = [run for run in runs if run.uid in ranked and corrected_group(run) == group]
    if not runs:
        return {}
    scored = scores_of_runs(runs, {entrant.run: _part(entrant, stories) for entrant in entrants})
    by_uid = {run.uid: run for run in runs}
    return {entrant.key: _correction(entrant, by_uid.get(entrant.run), scored) for entrant in entrants}


def _correction(entrant: EntrantResults, run: Run | None, scored: Mapping[int, RunScores]) -> Correction:
    if entrant.kind == "person":
        return Correction(reason=NOT_JUDGED)
    of_run = scored.get(run.pk) if run else None
    scores = of_run.scores.get(entrant.entrant or 0) if of_run else None
    if run is None or of_run is None or scores is None:
        return Correction(reason=NOT_ALIGNED)
    f1 = scores[Metric.F1]
    if not f1.aligned and f1.value is None:
        return Correction(reason=NOT_ALIGNED, judged=f1.stories)
    return Correction(
        study=of_run.uid,
        study_name=of_run.name,
        version=version_of(run),
        judge=judge_name(run),
        scores={metric.value: _estimate(score) for metric, score in scores.items()},
        differing=of_run.differing,
        warns=of_run.warns,
        **of_run.basis(entrant.entrant or 0),
    )


def _sides(entrants: Sequence[EntrantResults], runs: Sequence[Run], stories: Stories) -> list[Side]:
    """Return the corrected scores of each entrant over those of the `stories` that were judged of all that have any."""
    by_uid = {run.uid: run for run in runs}
    scored = scores_of_runs(runs, {entrant.run: _part(entrant, stories) for entrant in entrants})
    of_each = [(entrant.entrant or 0, scored.get(by_uid[entrant.run].pk)) for entrant in entrants]
    judged = {numbers for entrant, of_run in of_each if of_run and (numbers := of_run.numbers.get(entrant))}
    if len(judged) > 1:
        scored = scores_of_runs(runs, dict.fromkeys(by_uid, frozenset.intersection(*judged)))
    sides: list[Side] = []
    for entrant in entrants:
        run = by_uid[entrant.run]
        correction = _correction(entrant, run, scored)
        sides.append((correction, scored[run.pk].scores[entrant.entrant or 0] if correction.scores else None))
    return sides


def _part(entrant: EntrantResults, stories: Stories) -> Stories:
    """Return the stories, None if the entrant's run is of no others: what is kept of all serves both."""
    return None if stories is None or set(entrant.numbers) <= stories else stories


def scores_of_runs(runs: Sequence[Run], parts: Mapping[str, Stories] = MappingProxyType({})) -> dict[int, RunScores]:
    """Return the corrected scores of runs of one project over their `parts` of the stories, by default all, by run id,
    by the study with most aligned stories of each; nothing of a run of which people aligned none."""
    projects = {run.project_id for run in runs}
    studies = AlignmentStudy.objects.filter(project__in=projects).order_by("-id").values_list("pk", "uid", "name")
    rows = studies.annotate(
        Count("tasks"),
        Count("tasks__settled"),
        Sum("tasks__settled__revision"),
        Max("tasks__settled__changed_at"),
        whole=Count("tasks__settled", filter=Q(tasks__settled__open_rows=0)),
    )
    settled = {pk: [pk, *map(str, state)] for pk, *state, whole in rows if whole}
    stored: dict[int, list[int]] = {}
    current = StoryScores.objects.current().filter(run__in=runs).order_by("pk")
    for run_id, pk in current.values_list("run", "pk") if settled else ():
        stored.setdefault(run_id, []).append(pk)
    scores = {}
    for run in runs:
        part = parts.get(run.uid)
        of_run = [_of_study(run, study, [stored.get(run.pk), state], part) for study, state in settled.items()]
        if best := max(filter(None, of_run), key=lambda scored: scored.aligned, default=None):
            scores[run.pk] = best
    return scores


@kept(
    "corrected-run",
    depends_on=lambda run, study_id, state, stories: [run.pk, state, None if stories is None else sorted(stories)],
)
def _of_study(run: Run, study_id: int, state: Sequence[Any], stories: Stories) -> RunScores | None:
    """Return the scores of a run by a study, whose state and that of the run's stored scores is given."""
    study = AlignmentStudy.objects.get(pk=study_id)
    judgements = judged_tables(study, [run]) if judged_in([study], [run]) else {}
    judged = {key: said for key, said in judgements.items() if stories is None or said.number in stories}
    entrants = dict(run.entrants.values_list("name", "pk"))
    units = [unit for unit in study.units if unit.key in judged]
    of_source = {unit.stratum[0]: entrants[judged[unit.key].model] for unit in units}
    by_source = joined(units, settled_tables(study), judged).models if judged else {}
    # of runs that share answers both may be in the study: the same tables, of which those count that people aligned
    in_order = sorted(by_source.items(), key=lambda pair: sum(story.human is not None for story in pair[1]))
    models = {of_source[source]: judged_stories for source, judged_stories in in_order}
    if not any(story.human for judged_stories in models.values() for story in judged_stories):
        return None
    over = cluster_of(study)
    scores = {
        entrant: {metric: as_displayed(corrected(judged_stories, metric, over=over)) for metric in Metric}
        for entrant, judged_stories in models.items()
    }
    own: dict[int, dict[int, StoryJudgement]] = {entrant: {} for entrant in entrants.values()}
    for judgement in judged.values():
        own[entrants[judgement.model]][judgement.number] = judgement
    numbers = {entrant: frozenset(by_number) for entrant, by_number in own.items()}
    unjudged = {
        entrant: sum(row.count is None for judgement in by_number.values() for row in judgement.rows)
        for entrant, by_number in own.items()
    }
    errors = differing(models, over=over)
    return RunScores(study.uid, study.name, scores, numbers, unjudged, errors.p, errors.warns)


def corrected_comparison(
    pair: Sequence[EntrantResults], runs: Sequence[Run], group: str, stories: Stories
) -> CorrectedComparison | None:
    """Return the corrected scores of two entrants, over those of the `stories` that were judged of both; None for a
    metric group that cannot be corrected. Holm's correction is over its rows."""
    described = group_named(group)
    if not described.corrected:
        return None
    first, second = sides = _sides(pair, runs, stories)
    corrections = [correction for correction, _ in sides]
    lacking = [
        labelled(entrant.model, side.reason) for entrant, side in zip(pair, corrections, strict=True) if side.reason
    ]
    if lacking:
        return CorrectedComparison(sides=corrections, reason=clauses(*lacking))
    over = cluster_named(group_suite(group))
    rows = adjusted(
        [
            _difference(first, second, metric, described.headers[share], over)
            for metric, share in described.corrected.items()
        ]
    )
    return CorrectedComparison(sides=corrections, rows=rows, tests=sum(row.p is not None for row in rows))


def corrected_pairs(
    entrants: Sequence[EntrantResults], runs: Sequence[Run], group: str, stories: Stories
) -> list[CorrectedPair]:
    """Return the difference of the corrected F1 of every two of these entrants, over those of the `stories` that were
    judged of all of them, the biggest first. Holm's correction is over all rows."""
    ranked, described = {entrant.run for entrant in entrants}, group_named(group)
    if len(entrants) < 2 or not described.corrected:
        return []
    sides = _sides(entrants, [run for run in runs if run.uid in ranked], stories)
    scored = [(entrant, side) for entrant, side in zip(entrants, sides, strict=True) if side[1] is not None]
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
    pairs.sort(key=lambda pair: (pair.difference.value is None, -abs(pair.difference.value or 0), pair.first))
    differences = adjusted([pair.difference for pair in pairs])
    return [replace(pair, difference=difference) for pair, difference in zip(pairs, differences, strict=True)]


def _difference(first: Side, second: Side, metric: str, header: str, over: ClusterName) -> CorrectedDifference:
    """Return the difference of a metric, still without the p of a correction."""
    (_, left), (_, right) = first, second
    assert left is not None and right is not None  # both have scores
    score, other = left[Metric(metric)], right[Metric(metric)]
    gap, p, aligned = difference(score, other, over=over)
    return CorrectedDifference(
        what=header,
        key=metric,
        category="",
        first=score.value,
        second=other.value,
        value=gap.value,
        interval=gap.interval,
        reason=gap.reason or None,
        n=gap.n,
        aligned=aligned,
        p=p,
        p_adjusted=None,
    )
