from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError

from annotation.domain.schema import SCHEMAS
from annotation.models import Category, Project, Split
from annotation.services.agreement import agreement_report

_WIDTHS = (8, 8, 9, 18, 8, 8, 8)


class Command(BaseCommand):
    help = "Agreement between annotators over the cells that have all their votes."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--split", metavar="NAME")
        parser.add_argument("--category", metavar="NAME")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args, project: str, split: str | None, category: str | None, **options) -> None:
        found = Project.objects.filter(slug=project).first()
        if found is None:
            raise CommandError(f"There is no project {project!r}.")
        for name, model in ((split, Split), (category, Category)):
            if name and not model.objects.filter(project=found, name=name).exists():
                known = ", ".join(model.objects.filter(project=found).values_list("name", flat=True)) or "none"
                raise CommandError(f"{project} has no {model._meta.verbose_name} {name!r}; it has: {known}.")
        report = agreement_report(project=found, split=split, category=category)
        if options["json"]:
            self.stdout.write(json.dumps(report))
        else:
            self._table(report, found)

    def _table(self, report: dict, project: Project) -> None:
        self.stdout.write(
            f"{report['stories']} stories, {report['propositions']} propositions, {report['annotators']} annotators; "
            f"{report['incomplete']} cells wait for votes"
        )
        self.stdout.write(
            f"{'':18}{'cells':>8}{'agree':>8}{'strict':>9}{'95 % interval':>18}{'kappa':>8}{'alpha':>8}{'AC1':>8}"
        )
        names = {dimension.key: dimension.name for dimension in SCHEMAS[project.schema_version].dimensions}
        rows = [*((names[key], row) for key, row in report["dimensions"].items()), ("Overall", report["overall"])]
        for name, row in rows:
            low_high = row["interval"]["strict"]
            interval = f"{low_high[0]:.2%} – {low_high[1]:.2%}" if low_high else "–"
            strict = f"{row['strict']:.2%}" if row["strict"] is not None else "–"
            chance = [row["fleiss_kappa"], row["krippendorff_alpha"], row["gwet_ac1"]]
            figures = "".join(f"{value:8.3f}" if value is not None else f"{'–':>8}" for value in chance)
            self.stdout.write(f"{name:18}{row['cells']:>8}{row['agree']:>8}{strict:>9}{interval:>18}{figures}")
