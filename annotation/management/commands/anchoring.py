from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.management.json_command import JsonCommand

if TYPE_CHECKING:  # the statistics libraries take a second to load
    from annotation.domain.anchoring import BlindEvidence
    from annotation.domain.anchoring.estimates import Estimate
    from annotation.domain.anchoring.report import AnchoringReport, ArmsCompared, Part
    from annotation.services.anchoring import SourceRow, SuggestionEffect


class Command(JsonCommand):
    help = "What pre-filled labels did to the votes of a project: shown against blind, with story-clustered intervals."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--seed", type=int, default=1)

    def work(self, **options) -> SuggestionEffect:
        from annotation.services.anchoring import report_of  # the statistics libraries take a second to load

        return report_of(self.project(options["project"]), seed=options["seed"])

    def say(self, report: SuggestionEffect) -> None:
        if report.votes is None:
            self.stdout.write(report.reason)
            return
        self.stdout.write(f"{report.suggestions} suggestions, {report.votes_on_them} votes on them")
        self._votes(report.votes)
        for model in report.models or ():
            self._model(model)
        units = ", ".join(f"{unit} ({count} votes)" for unit, count in report.drawn_for.items())
        self.stdout.write(
            f"\nArms drawn for each: {units or 'not known'}. Votes of the shown arm without it in sight: "
            f"{report.unseen}."
        )
        lacking = ", ".join(f"{count} {arm}" for arm, count in report.without_vote.items())
        self.stdout.write(f"Cells that were drawn and have no vote, in no figure: {lacking}.")
        self.stdout.write(report.votes.method)

    def _votes(self, votes: AnchoringReport) -> None:
        overall = votes.overall
        self.stdout.write(_verdict(overall))
        shifted = [part.name for part in votes.by_dimension if part.arms.effect]
        self.stdout.write(f"Dimensions that are shown to be shifted: {', '.join(shifted) or 'none'}.")
        self._table("Dimension", [*_rows(votes.by_dimension), ("Overall", overall)])
        self._table("Annotator", _rows(votes.by_annotator))
        self._table("Source", _rows(votes.by_source))
        if overall.counts["reveal"]:
            shares = (overall.reveal.before, overall.reveal.after, overall.reveal.toward, overall.reveal.away)
            lines = [_estimate_text(share) for share in shares]
            self._list("Before and after the reveal", list(zip(REVEAL, lines, strict=True)))

    def _table(self, title: str, rows: Sequence[tuple[str, ArmsCompared]]) -> None:
        wide = max(22, *(len(name) + 1 for name, _ in rows))
        self.stdout.write(
            f"\n{title:{wide}}{'shown':>8}{'blind':>8}{'accepted':>10}{'agrees':>9}{'shift':>9}{'95 % interval':>22}"
            f"{'as seen':>9}{'p adj.':>8}"
        )
        for name, row in rows:
            counts = f"{row.counts['shown']:>8}{row.counts['blind']:>8}"
            shares = f"{_share(row.acceptance.value):>10}{_share(row.blind_agreement.value):>9}"
            shift = f"{_points(row.difference.value):>9}{_interval(row.difference, points=True) or '–':>22}"
            seen = f"{_points(row.as_seen.difference.value):>9}"
            self.stdout.write(f"{name:{wide}}{counts}{shares}{shift}{seen}{_p(row):>8}")
        self.stdout.write("Shifts are in points.")
        lacking = [row.difference for _, row in rows if row.difference.value is not None]
        if reasons := dict.fromkeys(estimate.reason or "" for estimate in lacking if not estimate.interval):
            self.stdout.write(f"No interval: {'; or '.join(reasons)}.")

    def _list(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        self.stdout.write(f"\n{title}")
        for name, text in lines:
            self.stdout.write(f"  {name:42}{text}")

    def _model(self, model: SourceRow) -> None:
        accuracy = model.accuracy
        lines = [
            ("on all gold", _estimate_text(accuracy.all_gold)),
            ("on gold from blind votes", _estimate_text(accuracy.blind_gold)),
            ("difference on the cells that have both", _estimate_text(accuracy.both.difference, points=True)),
        ]
        self._list(f"{model.source}: accuracy, {model.suggestions} suggestions", lines)
        self.stdout.write(f"  Gold from blind votes: {_basis(model.blind_gold)}.")
        self.stdout.write(f"  Could it stand in for an annotator? {_stand_in(model)}.")


REVEAL = ("agrees before", "agrees after", "moved toward the suggestion", "moved away from it")


def _rows(parts: Sequence[Part]) -> list[tuple[str, ArmsCompared]]:
    return [(part.name, part.arms) for part in parts]


def _basis(blind: BlindEvidence) -> str:
    if blind.votes_a_cell is None:
        return blind.reason or ""
    cells = f"{blind.cells} cell{'' if blind.cells == 1 else 's'}"
    return f"{blind.rule}; {blind.votes_a_cell:.1f} votes a cell, on {cells}"


def _stand_in(model: SourceRow) -> str:
    verdict, test = model.over_stories, model.alternative_annotator
    if verdict.winning_rate is None:
        return f"It cannot be said: {verdict.reason}"
    return (
        f"{'Yes' if verdict.passes else 'No'}, by the alternative annotator test over stories: winning rate "
        f"{verdict.winning_rate:.2f} of {test.tested} annotators, epsilon {test.epsilon}"
    )


def _verdict(overall: ArmsCompared) -> str:
    if overall.effect is None:
        return f"It cannot be said yet whether suggestions shift votes: {overall.effect_reason}."
    if overall.effect:
        return f"Suggestions shift votes: {_points(overall.difference.value)} points (p = {overall.p:.4f})."
    if overall.largest.value is None:
        return f"No shift is found; how large one could be cannot be said: {overall.largest.reason}."
    return f"No shift is found; one of up to {_points(overall.largest.value)} points cannot be excluded."


def _p(row: ArmsCompared) -> str:
    return "–" if row.p_adjusted is None else f"{row.p_adjusted:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+z.1f}"


def _interval(estimate: Estimate, *, points: bool = False) -> str:
    write = _points if points else _share
    return " to ".join(map(write, estimate.interval)) if estimate.interval else ""


def _estimate_text(estimate: Estimate, *, points: bool = False) -> str:
    """Write value, interval and n of an estimate; the reason where one of the first two is undefined."""
    value = (_points if points else _share)(estimate.value) + (
        " points" if points and estimate.value is not None else ""
    )
    return f"{value}, {_interval(estimate, points=points) or estimate.reason}, n = {estimate.n}"
