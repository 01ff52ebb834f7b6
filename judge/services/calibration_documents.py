"""Calibration reports, panels and bridges of a study as the API and commands have them."""

from collections.abc import Sequence

from core.plain import Json, plain
from judge.domain.calibration.panels import FEWEST
from judge.domain.calibration.selection import Selection
from judge.models import AlignmentStudy
from judge.services.calibration import CalibrationReport, StudyJudge, calibrated, self_test_of, words_of
from judge.services.panels import bridge_report, panel_report
from judge.services.settling import Refused

TOO_FEW = "A panel wants at least two judges; this study has fewer."


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


def calibration_document(
    study: AlignmentStudy, name: str, settled: int, reports: Sequence[tuple[CalibrationReport, Selection]]
) -> Json:
    """Return the reports of the judges of a study under its uid or name."""
    words = words_of(study)
    return {
        "study": name,
        "settled": settled,
        "score": words.score,
        "table": words.table,
        "chosen": choice_document(study),
        "judges": [judged_document(report, selection) for report, selection in reports],
    }


def judge_of_version(judges: Sequence[StudyJudge], beginning: str) -> StudyJudge:
    """Return the judge whose version begins so. Raises Refused."""
    matches = [judge for judge in judges if judge.version.startswith(beginning)]
    if len(matches) == 1:
        return matches[0]
    count = "No judge" if not matches else "More than one judge"
    raise Refused(f"{count} of version {beginning} judged tables of this study.")


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


def panel_document(study: AlignmentStudy, *, apart: bool) -> Json:
    """Return the panel of all judges of a study: each judge by its version, the majority and the weighted vote. Raises
    Refused for too few judges."""
    judges, _settled = calibrated(study)
    if len(judges) < FEWEST:
        raise Refused(TOO_FEW)
    report, words = panel_report(study, judges, apart=apart), words_of(study)
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
                "known": member.agreement.known,
                "matched_counts": member.skill.evidence(True),
                "unmatched_counts": member.skill.evidence(False),
                "agreement": plain(member.agreement),
                "self_preference": plain(member.preference),
            }
            for member in report.judges
        },
        "majority": plain(report.panel.majority),
        "weighted": plain(report.panel.weighted),
        "score": words.score,
        "table": words.table,
    }


def bridge_document(study: AlignmentStudy, old: str, new: str) -> Json:
    """Return the changes from one version of a judge to another, by their beginnings; `judged_by_one` counts the tables
    that only one of them judged. Raises Refused for unknown versions."""
    judges, _settled = calibrated(study)
    before, after = (judge_of_version(judges, beginning) for beginning in (old, new))
    change, tables, only = bridge_report(study, before, after)
    return {
        "old": {"judge": before.name, "version": before.version},
        "new": {"judge": after.name, "version": after.version},
        "tables": tables,
        "judged_by_one": only,
        "reordered": change.reordered,
        "compared": change.compared,
        **plain(change),
    }
