from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.services.calibrating import CalibrationReport, calibrated, report_of, selection_of
from judge.models import AlignmentStudy


class Command(JsonCommand):
    help = "Prints the calibration report of every judge that judged the tables which people aligned in a study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--judge", default="", metavar="VERSION", help="only this one; the beginning is enough")

    def work(self, **options: Any) -> dict[str, Any]:
        study = _study(self.project(options["project"]), options["study"])
        judges, settled = calibrated(study)
        chosen = [judge for judge in judges if judge.version.startswith(options["judge"])]
        if options["judge"] and not chosen:
            raise CommandError(f"No judge of version {options['judge']!r} judged tables of this study.")
        return {
            "study": study.name,
            "settled": len(settled),
            "chosen": _choice(study),
            "judges": [
                _document(report_of(judge, seed=study.seed))
                | {"reason": selection_of(judges, judge, seed=study.seed).reason}
                for judge in chosen
            ],
        }


def _study(project: Project, name: str) -> AlignmentStudy:
    if study := AlignmentStudy.objects.filter(project=project, name=name).first():
        return study
    raise CommandError(f"There is no study {name!r} in {project.slug}.")


def _choice(study: AlignmentStudy) -> dict[str, Any] | None:
    if study.judge_chosen_at is None:
        return None
    by = study.judge_chosen_by.username if study.judge_chosen_by else None
    return {
        "judge": study.judge_name, "version": study.judge_version, "reason": study.judge_reason, "by": by,
        "at": study.judge_chosen_at.isoformat(),
    }  # fmt: skip


def _document(report: CalibrationReport) -> dict[str, Any]:
    judge, found = report.judge, asdict(report.calibration)
    found["confusion"] = [
        {"people": people, "judge": said, "rows": rows} for (people, said), rows in report.calibration.confusion.items()
    ]
    return {
        "judge": judge.name,
        "version": judge.version,
        "runs": [run.uid for run in judge.runs],
        "tables": {name: getattr(judge.joined, name) for name in ("waiting", "unjudged", "unfit", "left_out", "empty")},
        "price": None if judge.price is None else float(judge.price),
        "calibration": found,
        "differing": asdict(report.differing) | {"warns": report.differing.warns},
        "corrected": {
            one.model: {
                "scores": {metric.value: _score(score) for metric, score in one.scores.items()},
                "over_categories": _score(one.by_category),
                "further": one.further,
                "narrow": one.narrow,
            }
            for one in report.models
        },
    }


def _score(score: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(score).items() if name != "moves"}
