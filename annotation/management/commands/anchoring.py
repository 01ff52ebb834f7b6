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
        votes = report["votes"]
        self.stdout.write(f"{report['suggestions']} suggestions, {report['votes_on_them']} votes on them")
        self.stdout.write(_verdict(votes["overall"]))
        shifted = [row["dimension"] for row in votes["by_dimension"] if row["effect"]]
        self.stdout.write(f"Dimensions that are shown to be shifted: {', '.join(shifted) or 'none'}.")
        for title, rows in (
            ("Dimension", [*votes["by_dimension"], {"dimension": "Overall", **votes["overall"]}]),
            ("Annotator", votes["by_annotator"]),
            ("Source", votes["by_source"]),
        ):
            self._table(title, rows)
        if votes["overall"]["counts"]["reveal"]:
            self._list("Before and after the reveal", REVEAL, votes["overall"]["reveal"])
        for model in report["models"]:
            self._model(model)
        units = ", ".join(f"{unit} ({count} votes)" for unit, count in report["drawn_for"].items())
        self.stdout.write(
            f"\nArms drawn for each: {units or 'not known'}. Votes of the shown arm without it in sight: "
            f"{report['unseen']}."
        )
        self.stdout.write(votes["method"])

    def _table(self, title: str, rows: list[dict]) -> None:
        wide = max(22, *(len(row[title.lower()]) + 1 for row in rows))
        self.stdout.write(
            f"\n{title:{wide}}{'shown':>8}{'blind':>8}{'accepted':>10}{'agrees':>9}{'shift':>9}{'95 % interval':>22}"
            f"{'as seen':>9}{'p adj.':>8}"
        )
        for row in rows:
            shares = [row[key]["value"] for key in ("acceptance", "blind_agreement", "difference")]
            shares.append(row["as_seen"]["difference"]["value"])
            cells = [_share(value) for value in shares[:2]] + [_points(value) for value in shares[2:]]
            counts = f"{row['counts']['shown']:>8}{row['counts']['blind']:>8}"
            edges = _interval(row["difference"], points=True) or "–"
            self.stdout.write(
                f"{row[title.lower()]:{wide}}{counts}{cells[0]:>10}{cells[1]:>9}{cells[2]:>9}{edges:>22}{cells[3]:>9}{_p(row):>8}"
            )
        self.stdout.write("Shifts are in points.")
        lacking = [row["difference"] for row in rows if row["difference"]["value"] is not None]
        if reasons := dict.fromkeys(estimate["reason"] for estimate in lacking if not estimate["interval"]):
            self.stdout.write(f"No interval: {'; or '.join(reasons)}.")

    def _list(self, title: str, names: dict[str, str], estimates: dict) -> None:
        self.stdout.write(f"\n{title}")
        for key, name in names.items():
            self.stdout.write(f"  {name:42}{_estimate_text(estimates[key], points=key == 'difference')}")

    def _model(self, model: dict) -> None:
        accuracy, blind, test = model["accuracy"], model["blind_gold"], model["alternative_annotator"]
        estimates = {**accuracy, "difference": accuracy["both"]["difference"]}
        self._list(f"{model['source']}: accuracy, {model['suggestions']} suggestions", ACCURACY, estimates)
        if blind["cells"]:
            basis = (
                f"{blind['rule']}; {blind['votes_a_cell']:.1f} votes a cell, on {blind['cells']} "
                f"cell{'' if blind['cells'] == 1 else 's'}"
            )
        else:
            basis = blind["reason"]
        self.stdout.write(f"  Gold from blind votes: {basis}.")
        if test["passes"] is None:
            self.stdout.write(f"  Could it stand in for an annotator? It cannot be said: {test['reason']}.")
        else:
            self.stdout.write(
                f"  Could it stand in for an annotator? {'Yes' if test['passes'] else 'No'}, by the alternative "
                f"annotator test: winning rate {test['winning_rate']:.2f} of {test['tested']} annotators, epsilon "
                f"{test['epsilon']}."
            )


REVEAL = {
    "before": "agrees before",
    "after": "agrees after",
    "toward": "moved toward the suggestion",
    "away": "moved away from it",
}
ACCURACY = {
    "all_gold": "on all gold",
    "blind_gold": "on gold from blind votes",
    "difference": "difference on the cells that have both",
}


def _verdict(overall: dict) -> str:
    if overall["effect"] is None:
        return f"It cannot be said yet whether suggestions shift votes: {overall['effect_reason']}."
    if overall["effect"]:
        return f"Suggestions shift votes: {_points(overall['difference']['value'])} points (p = {overall['p']:.4f})."
    largest = overall["largest"]
    if largest["value"] is None:
        return f"No shift is found; how large one could be cannot be said: {largest['reason']}."
    return f"No shift is found; one of up to {_points(largest['value'])} points cannot be excluded."


def _p(row: dict) -> str:
    return "–" if row["p_adjusted"] is None else f"{row['p_adjusted']:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+z.1f}"


def _interval(estimate: dict, *, points: bool = False) -> str:
    write = _points if points else _share
    return " to ".join(map(write, estimate["interval"])) if estimate["interval"] else ""


def _estimate_text(estimate: dict, *, points: bool = False) -> str:
    """Write value, interval and n of an estimate; the reason where one of the first two is undefined."""
    value = (_points if points else _share)(estimate["value"]) + (
        " points" if points and estimate["value"] is not None else ""
    )
    return f"{value}, {_interval(estimate, points=points) or estimate['reason']}, n = {estimate['n']}"
