from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from core.plain import Json
from core.wording import counted

if TYPE_CHECKING:  # the statistics libraries take a second to load
    from annotation.domain.anchoring.estimates import Estimate


class Command(ProjectCommand):
    help = "What pre-filled labels did to the votes of a project: shown against blind, with story-clustered intervals."
    arguments = {"--seed": {"type": int, "default": 1}}

    def on(self, project: Project, *, seed: int, **options: Any) -> Json:
        from annotation.services.anchoring import report_of  # the statistics libraries take a second to load

        return report_of(project, seed=seed)

    def say(self, report: Json) -> None:
        if report["votes"] is None:
            self.stdout.write(report["reason"])
            return
        self.stdout.write(f"{report['suggestions']} suggestions, {report['votes_on_them']} votes on them")
        votes, overall = report["votes"], report["votes"]["overall"]
        self.stdout.write(_verdict(overall))
        shifted = ", ".join(row["dimension"] for row in votes["by_dimension"] if row["effect"])
        self.stdout.write(f"Dimensions that are shown to be shifted: {shifted or 'none'}.")
        self._table("Dimension", [*votes["by_dimension"], {"dimension": "Overall", **overall}])
        self._table("Annotator", votes["by_annotator"])
        self._table("Source", votes["by_source"])
        if overall["counts"]["reveal"]:
            self._list("Before and after the reveal", {
                "agrees before": _text(overall["reveal"]["before"]),
                "agrees after": _text(overall["reveal"]["after"]),
                "moved toward the suggestion": _text(overall["reveal"]["toward"]),
                "moved away from it": _text(overall["reveal"]["away"]),
            })  # fmt: skip
        for model in report["models"]:
            self._model(model)
        units = ", ".join(f"{unit} ({count} votes)" for unit, count in report["drawn_for"].items()) or "not known"
        self.stdout.write(
            f"\nArms drawn for each: {units}. Votes of the shown arm without it in sight: {report['unseen']}."
        )
        lacking = ", ".join(f"{count} {arm}" for arm, count in report["without_vote"].items())
        self.stdout.write(f"Cells that were drawn and have no vote, in no figure: {lacking}.")
        self.stdout.write(votes["method"])

    def _table(self, title: str, rows: Sequence[Json]) -> None:
        names = [row[title.lower()] for row in rows]
        wide = max(22, *(len(name) + 1 for name in names))
        self.stdout.write(
            f"\n{title:{wide}}{'shown':>8}{'blind':>8}{'accepted':>10}{'agrees':>9}{'shift':>9}{'95 % interval':>22}"
            f"{'as seen':>9}{'p adj.':>8}"
        )
        for name, row in zip(names, rows, strict=True):
            counts, difference = row["counts"], row["difference"]
            p = "–" if row["p_adjusted"] is None else f"{row['p_adjusted']:.4f}"
            self.stdout.write(
                f"{name:{wide}}{counts['shown']:>8}{counts['blind']:>8}{_share(row['acceptance'].value):>10}"
                f"{_share(row['blind_agreement'].value):>9}{_points(difference.value):>9}"
                f"{_interval(difference, _points) or '–':>22}{_points(row['as_seen']['difference'].value):>9}{p:>8}"
            )
        self.stdout.write("Shifts are in points.")
        lacking = [row["difference"] for row in rows if row["difference"].value is not None]
        if reasons := dict.fromkeys(estimate.reason or "" for estimate in lacking if not estimate.interval):
            self.stdout.write(f"No interval: {'; or '.join(reasons)}.")

    def _list(self, title: str, lines: Json) -> None:
        self.stdout.write(f"\n{title}")
        for name, text in lines.items():
            self.stdout.write(f"  {name:42}{text}")

    def _model(self, model: Json) -> None:
        accuracy, blind, verdict = model["accuracy"], model["blind_gold"], model["over_stories"]
        self._list(f"{model['source']}: accuracy, {model['suggestions']} suggestions", {
            "on all gold": _text(accuracy["all_gold"]),
            "on gold from blind votes": _text(accuracy["blind_gold"]),
            "difference on the cells that have both": _text(accuracy["both"]["difference"], points=True),
        })  # fmt: skip
        basis = blind.get("reason")
        if not basis:
            basis = f"{blind['rule']}; {blind['votes_a_cell']:.1f} votes a cell, on {counted(blind['cells'], 'cell')}"
        self.stdout.write(f"  Gold from blind votes: {basis}.")
        stands_in = f"It cannot be said: {verdict.reason}"
        if verdict.winning_rate is not None:
            test = model["alternative_annotator"]
            stands_in = (
                f"{'Yes' if verdict.passes else 'No'}, by the alternative annotator test over stories: winning rate "
                f"{verdict.winning_rate:.2f} of {test.tested} annotators, epsilon {test.epsilon}"
            )
        self.stdout.write(f"  Could it stand in for an annotator? {stands_in}.")


def _verdict(overall: Json) -> str:
    if overall["effect"] is None:
        return f"It cannot be said yet whether suggestions shift votes: {overall['effect_reason']}."
    if overall["effect"]:
        return f"Suggestions shift votes: {_points(overall['difference'].value)} points (p = {overall['p']:.4f})."
    if overall["largest"]["value"] is None:
        return f"No shift is found; how large one could be cannot be said: {overall['largest']['reason']}."
    return f"No shift is found; one of up to {_points(overall['largest']['value'])} points cannot be excluded."


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+z.1f}"


def _interval(estimate: Estimate, write: Callable[[float], str] = _share) -> str:
    return " to ".join(map(write, estimate.interval)) if estimate.interval else ""


def _text(estimate: Estimate, *, points: bool = False) -> str:
    """Write value, interval and n of an estimate; the reason where one of the first two is undefined."""
    write, unit = (_points, " points" if estimate.value is not None else "") if points else (_share, "")
    return f"{write(estimate.value)}{unit}, {_interval(estimate, write) or estimate.reason}, n = {estimate.n}"
