"""Effect of suggestions and adjudication on gold: the metrics of a published version, kept until an answer changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.domain.gold_kinds.ceiling import Ceiling, ceiling
from benchmark.domain.gold_kinds.cells import REFERENCE, Cells, Ints, Kind
from benchmark.domain.gold_kinds.moves import Move, Moved, moves
from benchmark.domain.gold_kinds.order import Order, order
from benchmark.domain.gold_kinds.scores import KindScore, kind_scores, story_scores
from benchmark.domain.gold_kinds.standing_in import StandingIn, standing_in
from benchmark.services.at_once import kept_once
from benchmark.services.gold_kind_cells import Labelling, Material, Provenance, material_of
from benchmark.services.leaderboards import KEPT_SECONDS, SEED
from core.messages import gettext_noop
from core.statistics import method

ALL_VOTES, BLIND_VOTES, UNKNOWN_VOTES = "all", "blind", "unknown"
"""The votes that metrics of people rest on: all, those that no suggestion can have touched, and these with those of
which that is not known."""
OVERALL = -1
"""Stands for all dimensions, where metrics are told by dimension."""


@dataclass(frozen=True, slots=True)
class GoldMetrics:
    """Scores of models by dimension (OVERALL among them) and kind of gold, and whether their order changes; how far
    labels moved, ceilings by ALL_VOTES and BLIND_VOTES, and whether a model may stand in for an annotator, by
    BLIND_VOTES and, where some votes are not known to be blind, by UNKNOWN_VOTES.

    `kinds` are those that the version has cells of, by how many; `keys` and `dimensions` are keys and names of the
    dimensions. `unranked` are the baselines that have no part in the order of models.
    """

    stories: tuple[int, ...]
    keys: tuple[str, ...]
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]
    provenance: Provenance
    kinds: Mapping[Kind, int]
    scores: Mapping[int, Mapping[str, Mapping[Kind, KindScore]]]
    orders: Mapping[int, Mapping[Kind, Order]]
    moves: Mapping[int, Mapping[Move, Moved]]
    ceilings: Mapping[str, Mapping[int, Ceiling]]
    standing_in: Mapping[str, Mapping[str, StandingIn]]
    method: str
    unranked: tuple[str, ...] = ()

    @property
    def models(self) -> list[str]:
        return list(self.scores[OVERALL])


def gold_metrics_of(labelling: Labelling) -> GoldMetrics:
    """Return the metrics of these models on the gold of their version, from what the version keeps: they are the same
    at any later time."""
    answers = sum(len(entrant.numbers) for entrant in labelling.entrants)
    return kept_once(
        "gold-kinds", labelling.digest, lambda: _gold_metrics(labelling), answers=answers, seconds=KEPT_SECONDS
    )


def _gold_metrics(labelling: Labelling) -> GoldMetrics:
    material = material_of(labelling)
    cells, golds = material.cells, material.cells.by_kind()
    present = {kind: int((gold >= 0).sum()) for kind, gold in golds.items()}
    gold_by_kind = {kind: gold for kind, gold in golds.items() if present[kind]}
    ranked = {
        entrant.name: material.predicted[entrant.name] for entrant in labelling.entrants if entrant.kind == "model"
    }
    ranked = ranked if len(ranked) > 1 else dict(material.predicted)
    parts = {at: None if at == OVERALL else at for at in (OVERALL, *range(len(cells.dimensions)))}
    return GoldMetrics(
        stories=cells.stories,
        keys=labelling.dataset.schema.keys,
        dimensions=cells.dimensions,
        annotators=cells.annotators,
        provenance=material.provenance,
        kinds={kind: count for kind, count in present.items() if count},
        scores={
            at: kind_scores(cells, material.predicted, gold_by_kind, dimension, seed=SEED)
            for at, dimension in parts.items()
        },
        orders={at: _orders(cells, ranked, gold_by_kind, dimension) for at, dimension in parts.items()},
        moves={at: moves(cells, dimension, seed=SEED) for at, dimension in parts.items()},
        ceilings={
            name: {
                at: ceiling(cells, votes, material.predicted, dimension, seed=SEED) for at, dimension in parts.items()
            }
            for name, votes in ((ALL_VOTES, cells.votes), (BLIND_VOTES, cells.blind_votes))
        },
        standing_in=_standing_in(material),
        method=method(seed=SEED, unit=gettext_noop("stories")),
        unranked=tuple(name for name in material.predicted if name not in ranked),
    )


def _standing_in(material: Material) -> dict[str, dict[str, StandingIn]]:
    cells = material.cells
    votes = {BLIND_VOTES: cells.blind_votes}
    if not cells.is_all_known:
        votes[UNKNOWN_VOTES] = cells.perhaps_blind
    return {
        key: {
            name: standing_in(cells, cell_votes, predicted[0], seed=SEED)
            for name, predicted in material.predicted.items()
        }
        for key, cell_votes in votes.items()
    }


def _orders(
    cells: Cells, models: Mapping[str, Ints], golds: Mapping[Kind, Ints], dimension: int | None
) -> dict[Kind, Order]:
    by_kind = {
        kind: {model: story_scores(cells, predicted, gold, dimension) for model, predicted in models.items()}
        for kind, gold in golds.items()
    }
    return {
        kind: order(by_kind[REFERENCE[kind]], scores, seed=SEED)
        for kind, scores in by_kind.items()
        if kind in REFERENCE and REFERENCE[kind] in by_kind
    }
