"""Judges of a study: what each version said of the tables that people align, and what that makes of its scores."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import User
from annotation.services import audit
from benchmark.domain.matched_rows import F1
from benchmark.models import Run, RunItem
from benchmark.services.judges import judge_name, summaries_of
from benchmark.services.reports import places_of
from benchmark.services.run_items import needed_by_judge
from benchmark.services.runs import judging_level
from benchmark.suites.judges import Grouping
from benchmark.suites.registry import nouns_of_group, suite_named, units_of_group
from benchmark.suites.showing.corrected import heads_of_counts
from benchmark.suites.showing.judges import NOT_TESTED
from core.kept import kept
from core.messages import gettext_noop
from core.plain import Json, plain
from judge.domain.calibration.agreement import Calibration, calibration
from judge.domain.calibration.corrected import Corrected, as_displayed, corrected, foreseen, needed
from judge.domain.calibration.means import Differing, SpannedEstimate, differing, mean_judged
from judge.domain.calibration.selection import Selection, selections
from judge.domain.calibration.tables import Averaging, Metric
from judge.domain.judgements import StoryJudgement
from judge.models import AlignmentStudy, SettledAlignment
from judge.models.alignment_study import CHOICE
from judge.services.alignment_tables import groupings_of, groups_of
from judge.services.judgements import judged_in, judged_runs, judgements_of, versions_of
from judge.services.settled_tables import ASIDE, Joined, SettledTable, joined, settled_tables
from judge.services.settling import Refused
from judge.services.studies import cluster_of

MORE = 40
"""Further aligned stories for which a report says how narrow they make an interval, if there are as many."""
LONGEST_REASON = 2000
"""Characters of the reason for a judge."""
NARROW = 0.02
"""Half the width of an interval that decides most comparisons."""


@dataclass(frozen=True, slots=True)
class CalibrationWords:
    """Words of a metric group: its `score` as a column has it and its `title`, the noun of a `table` and of the `units`
    of intervals, the headers of counts that people `aligned` and the judge `judged`. `sides` is True if it has
    precision and recall, `groupings` are those of its suite. The defaults are for tables of a story."""

    score: str = "F1"
    title: str = gettext_noop("F1 of tables")
    table: str = gettext_noop("story")
    units: str = gettext_noop("stories")
    aligned: str = gettext_noop("Aligned stories")
    judged: str = gettext_noop("Judged stories")
    sides: bool = True
    groupings: tuple[Grouping, ...] = ()


OF_STORIES = CalibrationWords()


def words_of(study: AlignmentStudy) -> CalibrationWords:
    """Return the words of the metric group whose figures rest on the study's judges."""
    if not (name := study.came_of.suite):
        return OF_STORIES
    group = next(group for group in suite_named(name).groups if group.judged)
    heads, table = heads_of_counts(group.key), nouns_of_group(group.key)[0]
    return CalibrationWords(
        group.headers[group.corrected[F1]],
        group.score_title,
        table,
        units_of_group(group.key),
        **heads,
        sides=len(group.corrected) > 1,
        groupings=groupings_of(name),
    )


@dataclass(frozen=True, slots=True)
class JudgeBrief:
    """A version of a judge in a study, without what it said: its `runs` by uid, the number of `tables` that people and
    it have and of their `compared_rows` with a verdict of both, the numbers of tables `aside` by reason (`Joined`), and
    the mean price of a table in US dollars, None if unknown. `judge` is its name without what tells its versions apart,
    `level` the level of its prompt, None if it reads none."""

    version: str
    name: str
    judge: str
    level: int | None
    runs: tuple[str, ...]
    tables: int
    compared_rows: int
    aside: dict[str, int]
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class StudyJudge:
    """One version of a judge: what it said of the tables that could be drawn, by the key of their units."""

    version: str
    name: str
    runs: tuple[Run, ...]
    judged: dict[str, StoryJudgement]
    joined: Joined

    @property
    def brief(self) -> JudgeBrief:
        run, tables = self.runs[0], self.joined.tables
        prices = [judgement.price for judgement in self.judged.values()]
        known = [price for price in prices if price is not None]
        return JudgeBrief(
            self.version,
            self.name,
            judge_name(run),
            judging_level(run),
            tuple(run.uid for run in self.runs),
            len(tables),
            sum(None not in row.verdicts for table in tables for row in table.rows),
            {name: getattr(self.joined, name) for name in ASIDE},
            sum(known, Decimal(0)) / len(known) if known and len(known) == len(prices) else None,
        )


@dataclass(frozen=True, slots=True)
class CorrectedModel:
    """One model's corrected scores by metric over stories, and its F1 over categories and by the judge `alone`.

    `further` is half the width that the interval of its F1 will have with `more` further aligned stories, `narrow` the
    number of stories that make it ±`NARROW`. It is one of so many `models`. If too few of its stories were aligned,
    `pooled` is its F1 by the judge's error on all models, which holds only if that does not differ by model.
    """

    model: str
    scores: dict[Metric, Corrected]
    by_category: Corrected
    alone: SpannedEstimate
    further: float | None
    narrow: int | None
    models: int = 1
    pooled: Corrected | None = None

    @property
    def f1(self) -> Corrected:
        return self.scores[Metric.F1]

    @property
    def people(self) -> SpannedEstimate:
        """F1 of the aligned stories alone."""
        return SpannedEstimate(self.f1.human, self.f1.aligned, self.f1.human_interval, reason=self.f1.reason)

    @property
    def more(self) -> int:
        """The number of further stories that people could align, `MORE` at most."""
        return max(min(MORE, len(self.f1.moves) - self.f1.aligned), 0)

    @property
    def tables_of_all(self) -> int:
        """The number of tables if `more` of each model are drawn."""
        return self.more * self.models


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """The report of a version of a judge of a study, with the `selection`: its test against the others."""

    judge: JudgeBrief
    selection: Selection
    calibration: Calibration
    models: list[CorrectedModel]
    differing: Differing


@dataclass(frozen=True, slots=True)
class StudyReports:
    """The report of every version of a judge of a study, by name; `settled` counts the study's settled tables."""

    settled: int
    reports: list[CalibrationReport]

    @property
    def judges(self) -> list[JudgeBrief]:
        return [report.judge for report in self.reports]

    @property
    def highest(self) -> str:
        """The agreement of the judge that agrees most, without the optimism of choosing it, in words; empty without a
        choice."""
        return next((report.selection.highest for report in self.reports if report.selection.highest), "")


def state_of(study: AlignmentStudy, *more: object) -> list[Any]:
    """Return the versions of everything that reports of a study are computed from."""
    settled = SettledAlignment.objects.filter(task__study=study).order_by("pk").values_list("pk", "revision")
    drawn = study.tasks.order_by("pk").values_list("pk", "place")
    runs = judged_runs(study.project)
    judged = {run for _, run in judged_in([study], runs)}
    places = sorted(places_of([run for run in runs if run.pk in judged]).items())
    return [study.pk, study.seed, study.frame, study.origin, list(settled), list(drawn), places, *more]


@kept("calibration", depends_on=lambda study: state_of(study))
def reports_of(study: AlignmentStudy) -> StudyReports:
    """Return the reports of a study."""
    judges, settled = calibrated(study)
    return StudyReports(len(settled), reported(study, judges, judges))


def reported(
    study: AlignmentStudy, judges: Sequence[StudyJudge], chosen: Sequence[StudyJudge]
) -> list[CalibrationReport]:
    """Return the reports of the chosen ones of all judges of a study, each tested against all others."""
    tables = {judge.name: judge.joined.tables for judge in judges}
    selected = selections(tables, seed=study.seed, over=cluster_of(study))
    return [report_of(judge, study, selected[judge.name]) for judge in chosen]


def self_test_of(judge: JudgeBrief) -> str:
    """Return the outcome of the judge's contrast self-test in words."""
    runs = Run.objects.filter(uid=judge.runs[0]).select_related("project", "dataset", "judge", "job")
    [summary] = summaries_of(list(runs)).values() or [None]
    return summary.told if summary else NOT_TESTED


def calibrated(study: AlignmentStudy, *, only: str = "") -> tuple[list[StudyJudge], list[SettledTable]]:
    """Return by name every version of a judge, or the `only` one, that judged a table of the study's frame next to the
    same version of gold, and the study's settled tables."""
    settled = settled_tables(study)
    versions = {version: runs for version, runs in versions_of(study.project).items() if only in ("", version)}
    judged = {version: tables for version, runs in versions.items() if (tables := judged_tables(study, runs))}
    names = {version: judge_name(versions[version][0]) for version in judged}
    counts = Counter(names.values())
    groups = groups_of(settled, project=study.project) if judged else {}
    judges = [
        StudyJudge(
            version,
            name if counts[name] == 1 else f"{name} · {version[:6]}",
            tuple(versions[version]),
            judged[version],
            joined(study.units, settled, judged[version], groups),
        )
        for version, name in names.items()
    ]
    return sorted(judges, key=lambda judge: judge.name), settled


def judged_tables(study: AlignmentStudy, runs: Sequence[Run]) -> dict[str, StoryJudgement]:
    """Return what these runs' judge said of tables of the study's frame beside the same version of gold, by the key of
    their units; the first of the runs counts."""
    origin = list(Run.objects.filter(project=study.project, uid__in=study.came_of.runs))
    # the units that each call answered of a sample, by its number: runs that ask the same share a call
    keys: dict[tuple[str, int], list[str]] = defaultdict(list)
    for run in origin:
        steps = needed_by_judge(suite_named(run.suite))[:1]
        items = RunItem.objects.filter(entrant__run=run, step__in=steps, repetition=0, call__isnull=False)
        for call, model, number in items.values_list("call__uid", "entrant__position", "sample__number"):
            keys[call, number].append(f"{run.uid}:{model}:{number}")
    datasets = {run.dataset_id for run in origin}
    frame = {unit.key for unit in study.units}
    judged: dict[str, StoryJudgement] = {}
    read = (
        judgement
        for run in runs
        if run.dataset_id in datasets
        for judgement in judgements_of(run)
        if judgement.repetition == 0
    )
    for judgement in read:
        for key in frame.intersection(keys.get((judgement.judged_call, judgement.number), ())):
            judged.setdefault(key, judgement)
    return judged


def report_of(judge: StudyJudge, study: AlignmentStudy, selection: Selection) -> CalibrationReport:
    """Return the calibration report of a version of a judge, with the corrected scores of every model."""
    models, over = judge.joined.models, cluster_of(study)
    groupings = [grouping.key for grouping in groupings_of(judge.runs[0].suite)]
    found = []
    for name, stories in sorted(models.items()):
        others = [story for other, part in models.items() if other != name for story in part if story.human]
        scores = {metric: as_displayed(corrected(stories, metric, over=over)) for metric in Metric}
        f1, pooled = scores[Metric.F1], None
        if others and not f1.interval:
            pooled = as_displayed(corrected(stories, Metric.F1, others=others, over=over))
        found.append(
            CorrectedModel(
                name,
                scores,
                as_displayed(corrected(stories, Metric.F1, Averaging.CATEGORIES, over=over)),
                mean_judged(stories, over=over).estimate,
                foreseen(f1, min(f1.aligned + MORE, len(f1.moves))),
                needed(f1, NARROW, len(f1.moves)),
                len(models),
                pooled,
            )
        )
    agreement = calibration(judge.joined.tables, seed=study.seed, over=over, groupings=groupings)
    return CalibrationReport(judge.brief, selection, agreement, found, differing(models, over=over))


@transaction.atomic
def choose_calibrated(
    *, by: User | None, study: AlignmentStudy, judge: JudgeBrief, reason: str, now: datetime, seen: str | None = None
) -> None:
    """Keep with a study which judge of its calibration was chosen, and why; the log keeps earlier choices.

    `seen` is the `choice` that the person looked at, None to replace whatever there is. Raises Refused if it is not the
    present one, unless that says the same; without a reason, for one that is too long, for a judge with a verdict on
    none of the rows that people aligned, and if its runs were deleted meanwhile."""
    runs = Run.objects.select_for_update().filter(project=study.project_id, uid__in=judge.runs)
    if not list(runs.order_by("pk").only("pk")):
        raise Refused(_("The runs of this judge were deleted meanwhile."))
    reason = reason.replace("\x00", "").strip()
    # others who choose wait for this transaction
    study.refresh_from_db(fields=CHOICE, from_queryset=AlignmentStudy.objects.select_for_update())
    if (study.judge_version, study.judge_reason, study.judge_chosen_by) == (judge.version, reason, by):
        return
    if seen is not None and seen != study.choice:
        text = _("{judge} was chosen since you opened this page; keep your choice again to replace that one.")
        raise Refused(text.format(judge=study.judge_name))
    if not judge.compared_rows:
        raise Refused(_("This judge has no verdict on any row that people aligned, so it cannot be chosen."))
    if not reason:
        raise Refused(_("Say why this judge is chosen."))
    if len(reason) > LONGEST_REASON:
        text = _("The reason has {count} characters; at most {most} are kept.")
        raise Refused(text.format(count=f"{len(reason):,}", most=f"{LONGEST_REASON:,}"))
    study.choose_judge(judge.version, name=judge.name[:200], reason=reason, by=by, at=now)
    details = {"judge": judge.name, "version": judge.version, "reason": reason}
    audit.record(by=by, project=study.project, action="alignment.judge_chosen", target=study.name, **details)


def choice_document(study: AlignmentStudy) -> Json | None:
    """Return the judge that a study chose, by whom, when and why. Returns None if none is chosen; `by` is None for a
    command or a user who left."""
    if study.judge_chosen_at is None:
        return None
    return {
        "judge": study.judge_name,
        "version": study.judge_version,
        "reason": study.judge_reason,
        "by": study.judge_chosen_by.username if study.judge_chosen_by else None,
        "at": study.judge_chosen_at.isoformat(),
    }


def calibration_document(study: AlignmentStudy, name: str, settled: int, reports: Sequence[CalibrationReport]) -> Json:
    """Return the reports of the judges of a study under its uid or name."""
    words = words_of(study)
    return {
        "study": name,
        "settled": settled,
        "score": words.score,
        "table": words.table,
        "chosen": choice_document(study),
        "judges": [judged_document(report) for report in reports],
    }


def judge_of_version(judges: Sequence[StudyJudge], beginning: str) -> StudyJudge:
    """Return the judge whose version begins so. Raises Refused."""
    matches = [judge for judge in judges if judge.version.startswith(beginning)]
    if len(matches) == 1:
        return matches[0]
    count = "No judge" if not matches else "More than one judge"
    raise Refused(f"{count} of version {beginning} judged tables of this study.")


def judged_document(report: CalibrationReport) -> Json:
    """Return the report of one judge with the paired tests against every other judge of the study."""
    judge, selection = report.judge, report.selection
    return {
        "judge": judge.name,
        "version": judge.version,
        "level": judge.level,
        "runs": list(judge.runs),
        "aligned_tables": judge.tables,
        "known": judge.compared_rows,
        "tables": judge.aside,
        "self_test": self_test_of(judge),
        "price": None if judge.price is None else float(judge.price),
        "calibration": plain(report.calibration),
        "differing": plain(report.differing),
        "corrected": {
            model.model: {
                "scores": plain(model.scores),
                "over_categories": plain(model.by_category),
                "further": model.further,
                "narrow": model.narrow,
                "pooled": plain(model.pooled),
            }
            for model in report.models
        },
        "reason": selection.reason,
        "caution": selection.caution or None,
        "highest": selection.highest or None,
        "without_optimism": plain(selection.without_optimism),
        "rivals": plain(selection.rivals),
    }
