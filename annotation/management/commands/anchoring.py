from __future__ import annotations

from annotation.management.json_command import JsonCommand


class Command(JsonCommand):
    help = "What pre-filled labels did to the votes of a project: shown against blind, with story-clustered intervals."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--seed", type=int, default=1)

    def work(self, **options) -> dict:
        from annotation.services.anchoring import report_of  # the statistics libraries take a second to load

        return report_of(self.project(options["project"]), seed=options["seed"])

    def say(self, report: dict) -> None:
        if not report["votes"]:
            self.stdout.write(report["reason"])
            return
        self.stdout.write(f"{report['suggestions']} suggestions, {report['votes_on_them']} votes on them")
        self.stdout.write(
            f"{'':22}{'shown':>8}{'blind':>8}{'accepted':>10}{'agrees':>9}{'difference':>12}{'95 % interval':>22}"
        )
        overall = {"dimension": "Overall", **report["votes"]["overall"]}
        for row in [*report["votes"]["by_dimension"], *report["votes"]["by_annotator"], overall]:
            name = row.get("dimension") or row.get("annotator")
            shares = [row[key]["value"] for key in ("acceptance", "blind_agreement", "difference")]
            shown = [f"{value:.1%}" if value is not None else "–" for value in shares]
            edges = row["difference"]["interval"]
            interval = f"{edges[0]:+.1%} to {edges[1]:+.1%}" if edges else "–"
            counts = f"{row['counts']['shown']:>8}{row['counts']['blind']:>8}"
            self.stdout.write(f"{name:22}{counts}{shown[0]:>10}{shown[1]:>9}{shown[2]:>12}{interval:>22}")
