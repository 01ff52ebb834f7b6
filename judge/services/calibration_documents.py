"""Calibration reports, panels and bridges of a study as the API and commands have them."""

from __future__ import annotations

from collections.abc import Sequence

from core.plain import Json, plain
from judge.domain.calibration.selection import Selection
from judge.models import AlignmentStudy
from judge.services.calibration import CalibrationReport, CorrectedModel, JudgeBrief, self_test_of, words_of
from judge.services.panels import BridgeReport, PanelReport


def choice_document(study: AlignmentStudy) -> Json | None:
    """Return the judge that a study chose, by whom, when and why. Returns None if none is chosen; `by` is None for a
    command or somebody who left."""
    if study.judge_chosen_at is None:
        return None
    return {
        "judge": study.judge_name,
        "version": study.judge_version,
        "reason": study.judge_reason,
        "by": study.judge_chosen_by.username if study.judge_chosen_by else None,
        "at": study.judge_chosen_at.isoformat(),
    }


def calibration_document(
    study: AlignmentStudy, name: str, settled: int, reports: Sequence[tuple[CalibrationReport, Selection]]
) -> Json:
    """Return the reports of the judges of a study, which is called `name` there."""
    words = words_of(study)
    return {
        "study": name,
        "settled": settled,
        "score": words.score,
        "table": words.table,
        "chosen": choice_document(study),
        "judges": [judged_document(report, selection) for report, selection in reports],
    }


def judged_document(report: CalibrationReport, selection: Selection) -> Json:
    """Return the report of one judge with the paired tests against every other judge of the study."""
    judge = report.judge
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
        "corrected": {model.model: _model(model) for model in report.models},
        "reason": selection.reason,
        "caution": selection.caution or None,
        "highest": selection.highest or None,
        "without_optimism": plain(selection.without_optimism),
        "rivals": plain(selection.rivals),
    }


def _model(model: CorrectedModel) -> Json:
    return {
        "scores": {metric.value: plain(score) for metric, score in model.scores.items()},
        "over_categories": plain(model.by_category),
        "further": model.further,
        "narrow": model.narrow,
        "pooled": plain(model.pooled),
    }


def panel_document(report: PanelReport, study: AlignmentStudy) -> Json:
    """Return a panel of judges of a study: each judge by its version, the majority and the weighted vote."""
    words = words_of(study)
    return {
        "tables": report.tables,
        "own_family_left_out": report.apart,
        "families": report.families,
        "judges": {
            member.judge.version: {
                "judge": member.judge.name,
                "family": member.family,
                "left_out": member.left_out,
                "skill": plain(member.skill),
                "known": member.compared_rows,
                "matched_counts": member.matched,
                "unmatched_counts": member.unmatched,
                "agreement": plain(report.panel.columns[member.judge.version]),
                "self_preference": plain(member.preference),
            }
            for member in report.judges
        },
        "majority": plain(report.panel.majority),
        "weighted": plain(report.panel.weighted),
        "score": words.score,
        "table": words.table,
    }


def bridge_document(report: BridgeReport) -> Json:
    """Return the changes from one version of a judge to another; `judged_by_one` counts the tables that only one of
    them judged."""
    return {
        "old": _version(report.old),
        "new": _version(report.new),
        "tables": report.tables,
        "judged_by_one": report.only,
        "reordered": report.bridge.reordered,
        "compared": report.bridge.compared,
        **plain(report.bridge),
    }


def _version(judge: JudgeBrief) -> Json:
    return {"judge": judge.name, "version": judge.version}
