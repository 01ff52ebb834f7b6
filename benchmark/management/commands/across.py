from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.management.json_command import JsonCommand
from benchmark.domain.report_rows import RowMetric
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.services.across import SuitePair, pairs_across, rankings_across
from benchmark.services.across_tables import pictures_across, tables_across
from benchmark.services.snapshots import save_across_snapshot
from benchmark.services.suite_rankings import AcrossModel, ExactLevel, Place, SuiteRanking, models_across
from core.plain import WHERE_THERE_IS_ONE, Json, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedPlace:
    """The figure of a model in a ranking, with an interval or the reason why there is none, where it can be with what
    is missing, and the rank with the best and worst that it may have."""

    metric: RowMetric
    bounds: Sequence[float] | None
    rank: int | None
    ranks: Sequence[int] | None
    run: str

    @classmethod
    def of(cls, place: Place) -> PrintedPlace:
        metric = place.metric or RowMetric()
        return cls(metric=metric, bounds=place.bounds, rank=place.rank, ranks=place.ranks, run=place.run)

    def as_json(self) -> Json:
        """{value, interval[, reason][, n][, unreadable], bounds, rank, rank_interval, run}."""
        beside = {"bounds": self.bounds, "rank": self.rank, "rank_interval": self.ranks, "run": self.run}
        return {**plain(self.metric), **beside}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRanking:
    """A ranking with the places of the models by name, its score at chance, and by which method all of them were
    asked, empty where its suite asks in one way."""

    title: str
    score: str
    dataset: str
    over: str
    method: str
    chance: ExactLevel | RowMetric | None
    models: Mapping[str, PrintedPlace]

    @classmethod
    def of(cls, ranking: SuiteRanking, models: Sequence[AcrossModel]) -> PrintedRanking:
        places = {model.name: ranking.places[model.key] for model in models if model.key in ranking.places}
        return cls(
            title=ranking.title,
            score=ranking.score,
            dataset=ranking.dataset,
            over=ranking.over,
            method=ranking.method,
            chance=ranking.chance,
            models={name: PrintedPlace.of(place) for name, place in places.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCorrelation:
    """Pearson's r of two rankings over so many models of so many families, or the reason why there is none."""

    first: str
    second: str
    models: int
    families: int
    r: float | None
    interval: Sequence[float] | None
    reason: str

    @classmethod
    def of(cls, pair: SuitePair) -> PrintedCorrelation:
        return cls(
            first=pair.first.title,
            second=pair.second.title,
            models=pair.correlation.n,
            families=pair.correlation.clusters,
            r=pair.correlation.r,
            interval=pair.correlation.interval,
            reason=pair.correlation.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """The models of a project across its suites, as the command prints them; the `snapshot` that keeps the page and its
    `address`, where it was shared, and the file that was written."""

    project: str
    rankings: Sequence[PrintedRanking]
    correlations: Sequence[PrintedCorrelation]
    snapshot: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    address: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    path: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bytes: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


class Command(JsonCommand):
    help = (
        "Prints the models of a project across its suites. With --output it writes a table (csv, json, tex) or the "
        "plot (svg, pdf, png) of all models, or of one."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--model", metavar="NAME", help="one model, as the page names it; all if not given")
        parser.add_argument("--name", metavar="NAME", help="what to write: across, correlations; of one model: model")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)
        parser.add_argument(
            "--save-snapshot", action="store_true", help="keep it as it is now, for members who may see results"
        )
        parser.add_argument("--title", metavar="TEXT", help="save-snapshot: what the saved page is called")

    def work(self, **options) -> Across:
        check_output(options)
        if options["title"] is not None and not options["save_snapshot"]:
            raise ValueError("--title is for --save-snapshot, which keeps the page as it is now.")
        project = self.project(options["project"])
        rankings = rankings_across(project)
        model = _model(rankings, options["model"])
        models = [model] if model else models_across(rankings)
        result = Across(
            project=project.slug,
            rankings=[PrintedRanking.of(ranking, models) for ranking in rankings],
            correlations=[PrintedCorrelation.of(pair) for pair in (() if model else pairs_across(rankings))],
        )
        if options["save_snapshot"]:
            snapshot = save_across_snapshot(by=None, project=project, title=options["title"] or "")
            address = f"/p/{project.slug}/results/snapshots/{snapshot.uid}/"
            result = replace(result, snapshot=snapshot.uid, address=address)
        if not options["output"]:
            return result
        tables, metrics = tables_across(rankings, model), pictures_across(rankings, model)
        content = content_of(options["output"], options["name"], tables, metrics, width=options["width"])
        file = written(options["output"], content)
        return replace(result, path=file.path, bytes=file.bytes)

    def say(self, result: Across) -> None:
        for ranking in result.rankings:
            self.stdout.write(f"{ranking.title}: {ranking.score} (%), {ranking.dataset}, {ranking.over}")
            for name, place in ranking.models.items():
                value = "–" if place.metric.value is None else f"{100 * float(place.metric.value):.1f}"
                self.stdout.write(f"  {name:40}{value:>8}{place.rank or '–':>6}")
        if not result.rankings:
            self.note("No finished run has figures yet.")
        for name, at in (("address", result.address), ("path", result.path)):
            if at is not None:
                self.stdout.write(f"{name}: {at}")


def _model(rankings: Sequence[SuiteRanking], name: str | None) -> AcrossModel | None:
    """Return the model of that name, None for all. Raises ValueError where there is none."""
    models = {model.name: model for model in models_across(rankings)}
    if name and name not in models:
        raise ValueError(f"No suite has a figure of a model {name!r}; there are: {', '.join(models) or 'none'}.")
    return models[name] if name else None
