from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.calibration_lines import ChoiceDocument, Document, lines_of
from benchmark.services.calibrated_panels import bridge_report, panel_report
from benchmark.services.calibrating import (
    StudyJudge,
    calibrated,
    report_of,
    selections_of,
)
from benchmark.services.calibration_documents import (
    bridge_document,
    calibration_document,
    choice_document,
    panel_document,
)
from benchmark.services.judge_choices import choose_calibrated
from judge.domain.calibration.panels import FEWEST
from judge.models import AlignmentStudy
from judge.services.refused import Refused


class Command(JsonCommand):
    help = (
        "Prints the calibration report of every judge that judged the tables which people aligned in a study, or keeps "
        "with --choose which of them is used and why."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--study", required=True, metavar="NAME")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--judge", default="", metavar="VERSION", help="only this one; the beginning is enough")
        what.add_argument("--panel", action="store_true", help="all judges together, with families and weights")
        parser.add_argument("--own", action="store_true", help="with --panel: judges vote on their own family, too")
        what.add_argument("--bridge", nargs=2, metavar="VERSION", help="what changes from the first to the second")
        what.add_argument(
            "--choose", metavar="VERSION", help="keep with the study that this judge is used; says what that replaces"
        )
        parser.add_argument("--reason", metavar="TEXT", help="why it is chosen; the log keeps earlier choices")

    def say(self, result: Document) -> None:
        for line in lines_of(result):
            self.stdout.write(line)

    def work(self, **options: Any) -> Document:
        study = _study(self.project(options["project"]), options["study"])
        if (options["choose"] is None) != (options["reason"] is None):
            raise CommandError("--choose and --reason go together: which judge is used, and why.")
        judges, settled = calibrated(study)
        if options["choose"] is not None:
            return _chosen(study, _version(judges, options["choose"]), options["reason"])
        if options["panel"]:
            if len(judges) < FEWEST:
                raise CommandError("A panel wants at least two judges; this study has fewer.")
            return panel_document(panel_report(study, judges, apart=not options["own"]), study)
        if options["bridge"]:
            old, new = (_version(judges, beginning) for beginning in options["bridge"])
            return bridge_document(bridge_report(study, old, new))
        chosen = [judge for judge in judges if judge.version.startswith(options["judge"])]
        if options["judge"] and not chosen:
            raise CommandError(f"No judge of version {options['judge']!r} judged tables of this study.")
        selected = selections_of(judges, study)
        reports = [(report_of(judge, study), selected[judge.name]) for judge in chosen]
        return calibration_document(study, study.name, len(settled), reports)


def _chosen(study: AlignmentStudy, judge: StudyJudge, reason: str) -> ChoiceDocument:
    before = choice_document(study)
    try:
        choose_calibrated(by=None, study=study, judge=judge.brief, reason=reason, now=timezone.now())
    except Refused as error:
        raise CommandError(str(error)) from error
    chosen = choice_document(study)
    return ChoiceDocument(study.name, chosen, before if before != chosen else None)


def _version(judges: list[StudyJudge], beginning: str) -> StudyJudge:
    matches = [judge for judge in judges if judge.version.startswith(beginning)]
    if len(matches) == 1:
        return matches[0]
    raise CommandError(f"{len(matches)} judges of a version {beginning!r} judged tables of this study; expected one.")


def _study(project: Project, name: str) -> AlignmentStudy:
    if study := AlignmentStudy.objects.filter(project=project, name=name).first():
        return study
    raise CommandError(f"There is no study {name!r} in {project.slug}.")
