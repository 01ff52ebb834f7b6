from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from annotation.management.json_command import JsonCommand
from benchmark.domain.report_rows import RowMetric
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.services.across import pairs_across, rankings_across
from benchmark.services.across_tables import pictures_across, tables_across
from benchmark.services.shared_reports import freeze_across
from benchmark.services.suite_rankings import AcrossModel, SuiteRanking, models_across
from core.plain import Json, plain


class PlaceJson(TypedDict, total=False):
    """The figure of a model in a ranking, with an interval or the reason why there is none, where it can be with what
    is missing, and the rank with the best and worst that it may have."""

    value: float | None
    interval: Sequence[float] | None
    reason: str
    n: int
    unusable: int
    bounds: Sequence[float] | None
    rank: int | None
    rank_interval: Sequence[int] | None
    run: str


class RankingJson(TypedDict):
    """A ranking with the places of the models by name, its score at chance, and by which method all of them were
    asked, empty where its suite asks in one way."""

    title: str
    score: str
    dataset: str
    over: str
    method: str
    chance: Mapping[str, Any] | None
    models: dict[str, PlaceJson]


class CorrelationJson(TypedDict):
    """Pearson's r of two rankings over so many models, or the reason why there is none."""

    first: str
    second: str
    models: int
    r: float | None
    interval: Sequence[float] | None
    reason: str


class AcrossJson(TypedDict):
    """The models of a project across its suites, as the command prints them."""

    rankings: list[RankingJson]
    correlations: list[CorrelationJson]


class Command(JsonCommand):
    help = (
        "Prints the models of a project across its suites. With --output it writes a table (csv, json, tex) or the "
        "figure (svg, pdf, png) of all models, or of one."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--model", metavar="NAME", help="one model, as the page names it; all if not given")
        parser.add_argument("--name", metavar="NAME", help="what to write: across, correlations; of one model: model")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)
        parser.add_argument(
            "--share", action="store_true", help="keep it as it is now, for members who may see results"
        )
        parser.add_argument("--title", metavar="TEXT", help="share: what the frozen page is called")

    def work(self, **options) -> Json:
        check_output(options)
        if options["title"] is not None and not options["share"]:
            raise ValueError("--title is for --share, which keeps the page as it is now.")
        project = self.project(options["project"])
        rankings = rankings_across(project)
        model = _model(rankings, options["model"])
        result: Json = {"project": project.slug, **_as_json(rankings, model)}
        if options["share"]:
            report = freeze_across(by=None, project=project, title=options["title"] or "")
            address = f"/p/{project.slug}/results/reports/{report.uid}/"
            result |= {"report": report.uid, "address": address}
        if not options["output"]:
            return result
        tables, metrics = tables_across(rankings, model), pictures_across(rankings, model)
        content = content_of(options["output"], options["name"], tables, metrics, width=options["width"])
        return result | written(options["output"], content)

    def say(self, result: Json) -> None:
        for ranking in result["rankings"]:
            self.stdout.write(f"{ranking['title']}: {ranking['score']} (%), {ranking['dataset']}, {ranking['over']}")
            for name, place in ranking["models"].items():
                value = "–" if place["value"] is None else f"{100 * float(place['value']):.1f}"
                self.stdout.write(f"  {name:40}{value:>8}{place['rank'] or '–':>6}")
        if not result["rankings"]:
            self.note("No finished run has figures yet.")
        for name in ("address", "path"):
            if name in result:
                self.stdout.write(f"{name}: {result[name]}")


def _model(rankings: Sequence[SuiteRanking], name: str | None) -> AcrossModel | None:
    """Return the model of that name, None for all. Raises ValueError where there is none."""
    models = {model.name: model for model in models_across(rankings)}
    if name and name not in models:
        raise ValueError(f"No suite has a figure of a model {name!r}; there are: {', '.join(models) or 'none'}.")
    return models[name] if name else None


def _as_json(rankings: Sequence[SuiteRanking], model: AcrossModel | None) -> AcrossJson:
    models = [model] if model else models_across(rankings)
    return {
        "rankings": [
            {
                "title": ranking.title,
                "score": ranking.score,
                "dataset": ranking.dataset,
                "over": ranking.over,
                "method": ranking.method,
                "chance": plain(ranking.chance),
                "models": {model.name: _place(ranking, model) for model in models if model.key in ranking.places},
            }
            for ranking in rankings
        ],
        "correlations": [
            {
                "first": pair.first.title,
                "second": pair.second.title,
                "models": pair.correlation.n,
                "r": pair.correlation.r,
                "interval": pair.correlation.interval,
                "reason": pair.correlation.reason,
            }
            for pair in (pairs_across(rankings) if model is None else ())
        ],
    }


def _place(ranking: SuiteRanking, model: AcrossModel) -> PlaceJson:
    place = ranking.places[model.key]
    metric = plain(place.metric or RowMetric())
    return {**metric, "bounds": place.bounds, "rank": place.rank, "rank_interval": place.ranks, "run": place.run}
