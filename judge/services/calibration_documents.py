"""Calibration reports, panels and bridges of a study as the API and commands have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from core.plain import Json, plain
from core.statistics import Estimate
from judge.domain.calibration.agreement import Agreement, Calibration
from judge.domain.calibration.corrected import Corrected
from judge.domain.calibration.means import Differing
from judge.domain.calibration.panels import Bridge, SelfPreference, Skill
from judge.domain.calibration.selection import Rival, Selection
from judge.models import AlignmentStudy
from judge.services.calibration import CalibrationReport, CorrectedModel, JudgeBrief, self_test_of, words_of
from judge.services.panels import BridgeReport, PanelJudge, PanelReport


@dataclass(frozen=True, slots=True)
class ChosenJudge:
    """The judge that a study chose, by whom, None for a command or who left, when and why."""

    judge: str
    version: str
    reason: str
    by: str | None
    at: str


@dataclass(frozen=True, slots=True)
class ModelDocument:
    """One model's corrected scores by metric, and what a `CorrectedModel` says beside them."""

    scores: Mapping[str, Corrected]
    over_categories: Corrected
    further: float | None
    narrow: int | None
    pooled: Corrected | None


def _outside(document: JudgedDocument | MemberDocument) -> Json:
    """Return a document under the names that it has outside the program."""
    names = {"compared_rows": "known"}
    return {names.get(field.name, field.name): plain(getattr(document, field.name)) for field in fields(document)}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDocument:
    """A calibration report: agreement in all groups, the confusion of MatchCounts, and corrected scores by model, with
    the paired test of its judge against every other judge of the study."""

    judge: str
    version: str
    level: int | None
    runs: Sequence[str]
    aligned_tables: int
    compared_rows: int
    tables: Mapping[str, int]
    self_test: str
    price: float | None
    calibration: Calibration
    differing: Differing
    corrected: Mapping[str, ModelDocument]
    reason: str
    caution: str | None
    highest: str | None
    without_optimism: Estimate | None
    rivals: Sequence[Rival]

    def as_json(self) -> Json:
        return _outside(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationDocument:
    """The judges of a study; `score` is what the score is called that they give, and `table` what one of its tables is
    of."""

    study: str
    settled: int
    score: str
    table: str
    chosen: ChosenJudge | None
    judges: Sequence[JudgedDocument]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDocument:
    """A judge of a panel, with what its verdicts count and how far it agrees with people."""

    judge: str
    family: str
    left_out: int
    skill: Skill
    compared_rows: int
    matched_counts: float
    unmatched_counts: float
    agreement: Agreement
    self_preference: SelfPreference

    def as_json(self) -> Json:
        return _outside(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelDocument:
    """A panel of judges beside people: each judge by its version, the majority and the weighted vote; `score` and
    `table` as a `CalibrationDocument` has them."""

    tables: int
    own_family_left_out: bool
    families: Mapping[str, str]
    judges: Mapping[str, MemberDocument]
    majority: Agreement
    weighted: Agreement
    score: str
    table: str


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """A version of a judge."""

    judge: str
    version: str


@dataclass(frozen=True, slots=True)
class BridgeDocument:
    """The changes from one version of a judge to another, on `tables` that both judged; `judged_by_one` counts those
    of one of them alone."""

    old: NamedVersion
    new: NamedVersion
    tables: int
    judged_by_one: int
    bridge: Bridge

    def as_json(self) -> Json:
        """Return it with the parts of its bridge as its own."""
        return {
            "old": plain(self.old),
            "new": plain(self.new),
            "tables": self.tables,
            "judged_by_one": self.judged_by_one,
            "reordered": self.bridge.reordered,
            "compared": self.bridge.compared,
            **plain(self.bridge),
        }


def choice_document(study: AlignmentStudy) -> ChosenJudge | None:
    """Return which judge a study chose; None where none is chosen."""
    if study.judge_chosen_at is None:
        return None
    by = study.judge_chosen_by.username if study.judge_chosen_by else None
    at = study.judge_chosen_at.isoformat()
    return ChosenJudge(study.judge_name, study.judge_version, study.judge_reason, by, at)


def calibration_document(
    study: AlignmentStudy, name: str, settled: int, reports: Sequence[tuple[CalibrationReport, Selection]]
) -> CalibrationDocument:
    """Return the reports of the judges of a study, which is called `name` there."""
    words = words_of(study)
    return CalibrationDocument(
        study=name,
        settled=settled,
        score=words.score,
        table=words.table,
        chosen=choice_document(study),
        judges=[judged_document(report, selection) for report, selection in reports],
    )


def judged_document(report: CalibrationReport, selection: Selection) -> JudgedDocument:
    """Return the report of one judge."""
    judge = report.judge
    return JudgedDocument(
        judge=judge.name,
        version=judge.version,
        level=judge.level,
        runs=judge.runs,
        aligned_tables=judge.tables,
        compared_rows=judge.compared_rows,
        tables=judge.aside,
        self_test=self_test_of(judge),
        price=None if judge.price is None else float(judge.price),
        calibration=report.calibration,
        differing=report.differing,
        corrected={model.model: _model(model) for model in report.models},
        reason=selection.reason,
        caution=selection.caution or None,
        highest=selection.highest or None,
        without_optimism=selection.without_optimism,
        rivals=selection.rivals,
    )


def _model(model: CorrectedModel) -> ModelDocument:
    scores = {metric.value: score for metric, score in model.scores.items()}
    return ModelDocument(scores, model.by_category, model.further, model.narrow, model.pooled)


def panel_document(report: PanelReport, study: AlignmentStudy) -> PanelDocument:
    """Return a panel of judges of a study."""
    words = words_of(study)
    return PanelDocument(
        tables=report.tables,
        own_family_left_out=report.apart,
        families=report.families,
        judges={
            member.judge.version: _member(member, report.panel.columns[member.judge.version])
            for member in report.judges
        },
        majority=report.panel.majority,
        weighted=report.panel.weighted,
        score=words.score,
        table=words.table,
    )


def _member(member: PanelJudge, agreement: Agreement) -> MemberDocument:
    return MemberDocument(
        judge=member.judge.name,
        family=member.family,
        left_out=member.left_out,
        skill=member.skill,
        compared_rows=member.compared_rows,
        matched_counts=member.matched,
        unmatched_counts=member.unmatched,
        agreement=agreement,
        self_preference=member.preference,
    )


def bridge_document(report: BridgeReport) -> BridgeDocument:
    """Return what changes from one version of a judge to another."""
    return BridgeDocument(_version(report.old), _version(report.new), report.tables, report.only, report.bridge)


def _version(judge: JudgeBrief) -> NamedVersion:
    return NamedVersion(judge.name, judge.version)
