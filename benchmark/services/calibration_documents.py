"""Calibration reports, panels and bridges of a study as plain data, for the API and for commands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmark.services.calibrated_panels import BridgeReport, PanelReport
from benchmark.services.calibrating import CalibrationReport, self_test_of
from benchmark.services.calibration_words import words_of
from core.plain import Json
from judge.domain.calibration.selection import Selection
from judge.models import AlignmentStudy


def choice_document(study: AlignmentStudy) -> Json | None:
    """Return which judge a study chose, by whom, when and why; None where none is chosen."""
    if study.judge_chosen_at is None:
        return None
    by = study.judge_chosen_by.username if study.judge_chosen_by else None
    return {
        "judge": study.judge_name, "version": study.judge_version, "reason": study.judge_reason, "by": by,
        "at": study.judge_chosen_at.isoformat(),
    }  # fmt: skip


def words_document(study: AlignmentStudy) -> Json:
    """Return what the score is called that judges of a study give, and what one of its tables is of."""
    words = words_of(study)
    return {"score": words.score, "table": words.table}


def judged_document(report: CalibrationReport, selection: Selection) -> Json:
    """Return a calibration report with the paired test of its judge against every other judge of the study."""
    reasons = {"reason": selection.reason, "caution": selection.caution or None}
    return report_document(report) | reasons | {"rivals": [asdict(rival) for rival in selection.rivals]}


def report_document(report: CalibrationReport) -> Json:
    """Return a calibration report: agreement in all groups, the confusion of MatchCounts, and corrected scores."""
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
        "calibration": report.calibration.as_json(),
        "differing": asdict(report.differing) | {"warns": report.differing.warns},
        "corrected": {
            model.model: {
                "scores": {metric.value: _score(score) for metric, score in model.scores.items()},
                "over_categories": _score(model.by_category),
                "further": model.further,
                "narrow": model.narrow,
                "pooled": model.pooled and _score(model.pooled),
            }
            for model in report.models
        },
    }


def _score(score: Any) -> dict[str, Any]:
    document = {name: value for name, value in asdict(score).items() if name not in ("moves", "certain")}
    return document | {"tuning": None} if score.value is None else document


def panel_document(report: PanelReport) -> Json:
    """Return a panel of judges beside people: each judge's column, the majority and the weighted vote."""
    return {
        "tables": report.tables,
        "own_family_left_out": report.apart,
        "families": report.families,
        "judges": {
            member.judge.version: {
                "judge": member.judge.name, "family": member.family, "left_out": member.left_out,
                "skill": asdict(member.skill), "known": member.compared_rows,
                "matched_counts": member.matched, "unmatched_counts": member.unmatched,
                "agreement": asdict(report.panel.columns[member.judge.version]),
                "self_preference": asdict(member.preference),
            }
            for member in report.judges
        },
        "majority": asdict(report.panel.majority),
        "weighted": asdict(report.panel.weighted),
    }  # fmt: skip


def bridge_document(report: BridgeReport) -> Json:
    """Return what changes from one version of a judge to another."""
    return {
        "old": {"judge": report.old.name, "version": report.old.version},
        "new": {"judge": report.new.name, "version": report.new.version},
        "tables": report.tables,
        "judged_by_one": report.only,
        "reordered": report.bridge.reordered,
        "compared": report.bridge.compared,
        **asdict(report.bridge),
    }
