"""Judges of a study: what each version said of the tables that people align, and what that makes of its scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from benchmark.models import Run, RunItem
from benchmark.services.judgements import judgements_of, versions_of
from benchmark.services.taken_over import needed_by_judge
from benchmark.suites.registry import suite_named
from judge.domain.calibration.corrected import Averaging, Corrected, Metric, corrected, foreseen, needed
from judge.domain.calibration.differing import Differing, differing
from judge.domain.calibration.report import Calibration, calibration
from judge.domain.calibration.selection import Selection, select
from judge.domain.judgements import StoryJudgement
from judge.models import AlignmentStudy
from judge.services.calibrating import Joined, joined
from judge.services.settled_tables import SettledTable, settled_tables

MORE = 40
"""Further aligned stories of which a report says how narrow they would make an interval."""
NARROW = 0.02
"""Half the width of an interval that decides most comparisons."""


@dataclass(frozen=True, slots=True)
class StudyJudge:
    """One version of a judge: what it said of the tables that could be drawn, by the key of their units."""

    version: str
    name: str
    runs: tuple[Run, ...]
    judged: dict[str, StoryJudgement]
    joined: Joined

    @property
    def price(self) -> Decimal | None:
        """What a table cost on average in US dollars, None where any price is unknown."""
        prices = [one.price for one in self.judged.values()]
        known = [price for price in prices if price is not None]
        return sum(known, Decimal(0)) / len(known) if known and len(known) == len(prices) else None


@dataclass(frozen=True, slots=True)
class CorrectedModel:
    """One model's corrected scores, by metric over stories, and F1 over categories; half the width that its F1 will
    have with `MORE` further aligned stories, and how many stories in all make it ±`NARROW`."""

    model: str
    scores: dict[Metric, Corrected]
    by_category: Corrected
    further: float | None
    narrow: int | None

    @property
    def f1(self) -> Corrected:
        return self.scores[Metric.F1]


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    judge: StudyJudge
    calibration: Calibration
    models: list[CorrectedModel]
    differing: Differing


def judges_of(study: AlignmentStudy, settled: list[SettledTable]) -> list[StudyJudge]:
    """Return every version of a judge that judged a table of the study's frame beside the same version of gold, by
    name."""
    found: list[tuple[str, list[Run], dict[str, StoryJudgement]]] = []
    for version, runs in versions_of(study.project).items():
        if judged := judged_tables(study, runs):
            found.append((version, runs, judged))
    names = Counter(_name(runs) for _, runs, _ in found)
    return sorted(
        (
            StudyJudge(
                version,
                _name(runs) if names[_name(runs)] == 1 else f"{_name(runs)} · {version[:6]}",
                tuple(runs),
                judged,
                joined(study.units, settled, judged),
            )
            for version, runs, judged in found
        ),
        key=lambda judge: judge.name,
    )


def _name(runs: list[Run]) -> str:
    return str((runs[0].spec.get("judge") or {}).get("name") or runs[0].judge)


def judged_tables(study: AlignmentStudy, runs: Sequence[Run]) -> dict[str, StoryJudgement]:
    """Return what these runs' judge said of tables of the study's frame beside the same version of gold, by the key of
    their units; the first of the runs counts."""
    origin = list(Run.objects.filter(project=study.project, uid__in=study.origin.get("runs", [])))
    keys, datasets = _keys_of_extractions(origin), {run.dataset_id for run in origin}
    frame = {unit.key for unit in study.units}
    judged: dict[str, StoryJudgement] = {}
    read = (one for run in runs if run.dataset_id in datasets for one in judgements_of(run) if one.repetition == 0)
    for one in read:
        for key in frame.intersection(keys.get((one.extraction, one.number), ())):
            judged.setdefault(key, one)
    return judged


def _keys_of_extractions(runs: Sequence[Run]) -> dict[tuple[str, int], list[str]]:
    """Return the keys of the units that each call answered of a sample, by its number: runs that ask the same share a
    call."""
    keys: dict[tuple[str, int], list[str]] = defaultdict(list)
    for run in runs:
        stages = needed_by_judge(suite_named(run.suite))[:1]
        items = RunItem.objects.filter(entrant__run=run, stage__in=stages, repetition=0, call__isnull=False)
        for call, model, number in items.values_list("call__uid", "entrant__position", "sample__number"):
            keys[call, number].append(f"{run.uid}:{model}:{number}")
    return keys


def report_of(judge: StudyJudge, *, seed: int) -> CalibrationReport:
    """Return the calibration report of a version of a judge, with the corrected scores of every model."""
    models = judge.joined.models
    return CalibrationReport(
        judge,
        calibration(judge.joined.tables, seed=seed),
        [_corrected(name, stories) for name, stories in sorted(models.items())],
        differing(models),
    )


def _corrected(name: str, stories: list) -> CorrectedModel:
    scores = {metric: corrected(stories, metric) for metric in Metric}
    f1 = scores[Metric.F1]
    return CorrectedModel(
        name,
        scores,
        corrected(stories, Metric.F1, Averaging.CATEGORIES),
        foreseen(f1, min(f1.aligned + MORE, len(stories))),
        needed(f1, NARROW, len(stories)),
    )


def selection_of(judges: list[StudyJudge], chosen: StudyJudge, *, seed: int) -> Selection:
    """Return the chosen judge beside every other of the study, on the same tables."""
    return select({judge.name: judge.joined.tables for judge in judges}, chosen.name, seed=seed)


def calibrated(study: AlignmentStudy) -> tuple[list[StudyJudge], list[SettledTable]]:
    """Return the judges of a study and its settled tables."""
    settled = settled_tables(study)
    return judges_of(study, settled), settled
