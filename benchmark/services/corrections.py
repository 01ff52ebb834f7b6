"""The scores of a run without its judge's error, where people aligned a random subset of its judged stories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max

from benchmark.domain.corrections import METRICS, CorrectedRow, Corrections
from benchmark.models import Run, RunItem
from benchmark.services.calibrating import judged_tables
from benchmark.services.judge_panels import judged_group
from benchmark.services.judge_versions import judged_at
from benchmark.services.leaderboards import KEPT_SECONDS
from benchmark.suites.shown import EntrantResults
from core.made_by import made_by
from judge.domain.calibration.corrected import Corrected, JudgedStory, Metric, corrected
from judge.domain.calibration.differing import differing
from judge.models import AlignmentStudy, SettledAlignment
from judge.services.calibrating import joined
from judge.services.settled_tables import settled_tables


def corrections_of(run: Run, stages: Mapping[str, Sequence[EntrantResults]]) -> Corrections | None:
    """Return the corrected scores of a run by the study with most aligned stories of it; None where people aligned
    none. `stages` has the run's ranked entrants by metric group."""
    group = judged_group(run)
    if group is None or not judged_at(run) or not {*METRICS} <= {*group.shares}:
        return None
    studies = AlignmentStudy.objects.filter(project=run.project_id, tasks__settled__open_rows=0).distinct()
    found = [_of_study(run, study, group.key, stages.get(group.key, ())) for study in studies]
    return max(filter(None, found), key=lambda one: sum(row.aligned for row in one.rows), default=None)


def _of_study(
    run: Run, study: AlignmentStudy, stage: str, entrants: Sequence[EntrantResults]
) -> Corrections | None:  # fmt: skip
    """What a study says of a run, kept for as long as neither changes."""
    settled = SettledAlignment.objects.filter(task__study=study).order_by("pk").values_list("pk", "revision", "rows")
    calls = RunItem.objects.filter(entrant__run=run).aggregate(Count("call"), Max("call"))
    figures = [[entrant.key, entrant.model, _figures(entrant, parse)] for entrant in entrants for parse in _PARSES]
    identity = [made_by(), run.pk, study.pk, study.name, list(settled), calls, figures]
    place = f"corrections:{hashlib.sha256(json.dumps(identity).encode()).hexdigest()}"
    kept: dict[str, Corrections | None] | None = cache.get(place)
    if kept is None:
        kept = {"found": _made(run, study, stage, entrants)}
        cache.set(place, kept, KEPT_SECONDS)
    return kept["found"]


def _made(run: Run, study: AlignmentStudy, stage: str, entrants: Sequence[EntrantResults]) -> Corrections | None:
    models = _stories_of(run, study)
    if not any(story.human for stories in models.values() for story in stories):
        return None
    errors = differing(models)
    rows = [_row(entrant, models[entrant.entrant]) for entrant in entrants if entrant.entrant in models]
    return Corrections(uid=study.uid, study=study.name, stage=stage, rows=rows, differing=errors.p, warns=errors.warns)


def _stories_of(run: Run, study: AlignmentStudy) -> dict[Any, list[JudgedStory]]:
    """Return what the run's judge said of tables that could be drawn, with what people said, by entrant id."""
    judged = judged_tables(study, [run])
    entrants = dict(run.entrants.values_list("name", "pk"))
    of_source = {unit.stratum[0]: entrants[judged[unit.key].model] for unit in study.units if unit.key in judged}
    stories = joined(study.units, settled_tables(study), judged).models
    return {of_source[source]: of for source, of in stories.items()}


_PARSES = ("official", "repaired")


def _figures(entrant: EntrantResults, parse: str) -> dict[str, float | None]:
    overall = (entrant.parses.get(parse) or {}).get("overall") or {}
    return {metric: None if overall.get(metric) is None else float(overall[metric]) for metric in METRICS}


def _row(entrant: EntrantResults, stories: Sequence[JudgedStory]) -> CorrectedRow:
    scores = {metric: corrected(stories, Metric(metric)) for metric in METRICS}
    f1 = scores["f1"]
    return CorrectedRow(
        key=entrant.key,
        model=entrant.model,
        kind=entrant.kind,
        entrant=entrant.entrant,
        run=entrant.run,
        official=_figures(entrant, "official"),
        lenient=_figures(entrant, "repaired"),
        corrected={metric: _estimate(score) for metric, score in scores.items()},
        aligned=f1.aligned,
        judged=f1.stories,
        effective=f1.effective,
    )


def _estimate(score: Corrected) -> Any:
    interval = list(score.interval) if score.interval else None
    return {"value": score.value, "interval": interval, "reason": score.reason or None, "n": score.aligned}
