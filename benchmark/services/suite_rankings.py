"""Rankings of the page across suites, and how reports keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.report_rows import RowMetric
from benchmark.domain.tables import Absent
from benchmark.suites.registry import group_named
from benchmark.suites.showing.names import labels_of
from core.plain import Json, plain, read_as


class AcrossModel(NamedTuple):
    """A model of any number of suites: its `key` in addresses, and a name that no other has."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """A model in a ranking: its `metric`, `bounds` with missing answers at their worst and
    best where any are, its rank with the interval from best to worst, and the run that it is of."""

    metric: RowMetric | None
    bounds: Sequence[float] | None
    rank: int | None
    ranks: Sequence[int] | None
    why: str
    run: str
    run_title: str
    entrant: int
    settings: str

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Place:
        metric = kept["metric"]
        return read_as(cls, kept, metric=metric and read_as(RowMetric, metric))


@dataclass(frozen=True, slots=True)
class ExactLevel:
    """Score to be expected by chance, where that follows from what may be answered to `n` samples."""

    value: float
    n: int
    interval: None = None
    exact: bool = True

    @property
    def reason(self) -> None:
        """What is exact needs no interval."""


def chance_from(kept: Mapping[str, Any] | None) -> ExactLevel | RowMetric | None:
    """Return the level at chance that a ranking kept: exact, or the figure of a baseline."""
    if kept is None:
        return None
    return read_as(ExactLevel if kept.get("exact") else RowMetric, kept)


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model as `labels_of` takes it, with its family, empty where it is not known; between suites no settings are
    shared."""

    name: str
    spec: EndpointSpec = field(default_factory=EndpointSpec)
    kind: str = "model"
    settings: Mapping[str, str] = field(default_factory=dict)
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRanking:
    """The ranking of a metric group of one suite on one dataset in one answer format.

    `title` tells it from the others of its project. `places` are by key of the model, `ranked` is how many rows have a
    rank, baselines among them. `chance` is what its score is expected to be by chance, else the figure of `CHANCE`;
    None with a reason in `no_chance`. `absent` are models that it does not have, with the reason. Where its reader may
    not see it, `withheld` says why, and nobody has a place. `method` is how all its models were asked, in words: empty
    where the suite asks in one way.
    """

    group: str
    title: str
    dataset: str
    over: str
    numbers: frozenset[int]
    query: Mapping[str, str]
    within: str
    places: Mapping[str, Place]
    models: Mapping[str, RankedModel]
    ranked: int
    chance: ExactLevel | RowMetric | None
    no_chance: str
    absent: Sequence[Absent]
    withheld: str = ""
    method: str = ""

    @property
    def score(self) -> str:
        """The figure's name in words."""
        return group_named(self.group).score_title

    @property
    def split(self) -> str:
        return self.query.get("split", "")

    def as_json(self, names: Mapping[str, str]) -> Json:
        """{group, title, dataset, over, numbers, query, within, places, models, ranked, chance, no_chance, absent,
        withheld, method}; of a model there is its name of `names`, by key, and of its endpoint the family."""
        return {
            "group": self.group,
            "title": self.title,
            "dataset": self.dataset,
            "over": self.over,
            "numbers": sorted(self.numbers),
            "query": dict(self.query),
            "within": self.within,
            "places": plain(self.places),
            "models": {key: {"name": names[key], "family": model.family} for key, model in self.models.items()},
            "ranked": self.ranked,
            "chance": plain(self.chance),
            "no_chance": self.no_chance,
            "absent": plain(self.absent),
            "withheld": self.withheld,
            "method": self.method,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> SuiteRanking:
        """Return the ranking that `as_json` made."""
        return read_as(
            cls,
            kept,
            absent=[read_as(Absent, absence) for absence in kept["absent"]],
            numbers=frozenset(kept["numbers"]),
            chance=chance_from(kept["chance"]),
            places={key: Place.from_json(place) for key, place in kept["places"].items()},
            models={key: RankedModel(**model) for key, model in kept["models"].items()},
        )


def models_across(rankings: Sequence[SuiteRanking]) -> list[AcrossModel]:
    """Return all models with a place, in the order of the first ranking, those that it lacks in the order of the next,
    and so on."""
    models = {key: model for ranking in rankings for key, model in ranking.models.items()}
    labels = labels_of(list(models.values()))
    names = dict(zip(models, labels.models, strict=True))
    ordered = sorted(names, key=lambda key: ([_order(ranking.places.get(key)) for ranking in rankings], names[key]))
    return [AcrossModel(key, names[key]) for key in ordered]


def _order(place: Place | None) -> float:
    return float("inf") if place is None or place.rank is None else place.rank


def rankings_as_data(rankings: Sequence[SuiteRanking]) -> list[Json]:
    """Return rankings ready for JSON, in which names of models are told apart from namesakes."""
    names = {model.key: model.name for model in models_across(rankings)}
    return [ranking.as_json(names) for ranking in rankings]


def rankings_from(rows: Sequence[Mapping[str, Any]]) -> list[SuiteRanking]:
    """Return the rankings that `rankings_as_data` wrote."""
    return [SuiteRanking.from_json(row) for row in rows]
