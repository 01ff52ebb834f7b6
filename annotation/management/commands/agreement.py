from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.management.json_command import ProjectCommand
from core.wording import counted

if TYPE_CHECKING:
    from annotation.domain.agreement.report import AgreementReport
    from annotation.models import Project


class Command(ProjectCommand):
    help = "Agreement between annotators over the cells that have all their votes."
    has_parts = True

    def on(self, project: Project, *, split: str | None, category: str | None, **options: Any) -> AgreementReport:
        from annotation.services.agreement import agreement_report  # the statistics libraries take a second to load

        self.names = {dimension.key: dimension.name for dimension in project.schema.dimensions}
        return agreement_report(project=project, split=split, category=category)

    def say(self, report: AgreementReport) -> None:
        from annotation.domain.agreement.report import CHANCE_CORRECTED

        stories, waiting = counted(report.stories, "story", "stories"), counted(report.incomplete, "cell")
        propositions, annotators = counted(report.propositions, "proposition"), counted(report.annotators, "annotator")
        self.stdout.write(f"{stories}, {propositions}, {annotators}; without all votes: {waiting}")
        width = max(18, *(len(name) + 1 for name in self.names.values()))
        self.stdout.write(
            f"{'':{width}}{'cells':>8}{'agree':>8}{'strict':>9}{'95 % interval':>18}{'kappa':>8}{'alpha':>8}{'AC1':>8}"
        )
        rows = [*((self.names[key], row) for key, row in report.dimensions.items()), ("Overall", report.overall)]
        for name, row in rows:
            estimate = row.estimates["strict"]
            interval = f"{estimate.interval[0]:.2%} – {estimate.interval[1]:.2%}" if estimate.interval else "–"
            strict = "–" if estimate.value is None else f"{estimate.value:.2%}"
            chance = [row.estimates[measure].value for measure in CHANCE_CORRECTED]
            columns = "".join(f"{value:8.3f}" if value is not None else f"{'–':>8}" for value in chance)
            self.stdout.write(f"{name:{width}}{row.cells:>8}{row.agree:>8}{strict:>9}{interval:>18}{columns}")
        measured = [row.estimates["strict"] for _, row in rows if row.estimates["strict"].value is not None]
        if reasons := dict.fromkeys(estimate.reason or "" for estimate in measured if not estimate.interval):
            self.stdout.write(f"No interval: {'; or '.join(reasons)}.")
