from __future__ import annotations

from dataclasses import dataclass

from annotation.management.commands._scope import add_scope, check_scope
from annotation.management.json_command import JsonCommand
from annotation.services.table_report import TableReport, table_report
from core.plain import Json, plain
from core.statistics import Estimate
from core.wording import counted


@dataclass(frozen=True, slots=True)
class _OfProject:
    """The report of a project."""

    project: str
    report: TableReport

    def as_json(self) -> Json:
        """{project, and what the report has}."""
        return {"project": self.project} | plain(self.report)


class Command(JsonCommand):
    help = "Says how far experts agreed on the belief tables that they wrote apart: overlap and F1, with intervals."

    def add_arguments(self, parser) -> None:
        add_scope(parser)

    def work(self, **options) -> _OfProject:
        project, split, category = self.project(options["project"]), options["split"], options["category"]
        check_scope(project, split=split, category=category)
        return _OfProject(project.slug, table_report(project=project, split=split, category=category))

    def say(self, result: _OfProject) -> None:
        report = result.report
        stories = counted(report.stories, "story", "stories")
        self.stdout.write(
            f"{report.unremarked} of {report.reviewed} reviewed propositions of {stories} needed no remark."
        )
        for name, estimate in (("Overlap", report.overlap), ("F1 between the experts", report.f1)):
            self.stdout.write(f"{name}: {_estimate_text(estimate)}")


def _estimate_text(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"none ({estimate.reason})"
    share = f"{estimate.value:.2%}"
    if not estimate.interval:
        return f"{share} ({estimate.reason})"
    low, high = estimate.interval
    return f"{share} [{low:.2%}, {high:.2%}]"
