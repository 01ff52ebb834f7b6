from __future__ import annotations

from annotation.management.commands._scope import add_scope, check_scope
from annotation.management.json_command import JsonCommand
from core.wording import counted


class Command(JsonCommand):
    help = "Agreement between annotators over the cells that have all their votes."

    def add_arguments(self, parser) -> None:
        add_scope(parser)

    def work(self, **options) -> dict:
        from annotation.services.agreement import agreement_report  # the statistics libraries take a second to load

        project, split, category = self.project(options["project"]), options["split"], options["category"]
        self.names = {dimension.key: dimension.name for dimension in project.schema.dimensions}
        check_scope(project, split=split, category=category)
        return agreement_report(project=project, split=split, category=category)

    def say(self, report: dict) -> None:
        stories, waiting = counted(report["stories"], "story", "stories"), counted(report["incomplete"], "cell")
        propositions, annotators = (counted(report[f"{noun}s"], noun) for noun in ("proposition", "annotator"))
        self.stdout.write(f"{stories}, {propositions}, {annotators}; without all votes: {waiting}")
        width = max(18, *(len(name) + 1 for name in self.names.values()))
        self.stdout.write(
            f"{'':{width}}{'cells':>8}{'agree':>8}{'strict':>9}{'95 % interval':>18}{'kappa':>8}{'alpha':>8}{'AC1':>8}"
        )
        rows = [
            *((self.names[key], row) for key, row in report["dimensions"].items()),
            ("Overall", report["overall"]),
        ]
        for name, row in rows:
            low_high = row["interval"]["strict"]
            interval = f"{low_high[0]:.2%} – {low_high[1]:.2%}" if low_high else "–"
            strict = f"{row['strict']:.2%}" if row["strict"] is not None else "–"
            chance = [row["fleiss_kappa"], row["krippendorff_alpha"], row["gwet_ac1"]]
            columns = "".join(f"{value:8.3f}" if value is not None else f"{'–':>8}" for value in chance)
            self.stdout.write(f"{name:{width}}{row['cells']:>8}{row['agree']:>8}{strict:>9}{interval:>18}{columns}")
        lacking = (row["reasons"] for _, row in rows if row["strict"] is not None and row["interval"]["strict"] is None)
        if reasons := dict.fromkeys(row["strict"] for row in lacking):
            self.stdout.write(f"No interval: {'; or '.join(reasons)}.")
