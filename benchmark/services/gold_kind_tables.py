"""Figures by kind of gold as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from benchmark.domain.gold_kinds.ceiling import Beside
from benchmark.domain.gold_kinds.cells import REFERENCE, Kind
from benchmark.domain.gold_kinds.moves import Move
from benchmark.domain.gold_kinds.order import Swap
from benchmark.domain.gold_kinds.scores import KindScore, in_order
from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.gold_kinds import ALL_VOTES, BLIND_VOTES, OVERALL, UNKNOWN_VOTES, GoldMetrics
from core.messages import Sentence, gettext_noop
from core.statistics import Estimate

NAMES: Mapping[Kind, str] = {
    Kind.ALL: gettext_noop("All gold"),
    Kind.BLIND: gettext_noop("Blind votes only"),
    Kind.BESIDE: gettext_noop("All gold, same cells"),
    Kind.UNKNOWN: gettext_noop("Blind or unknown votes"),
    Kind.BESIDE_UNKNOWN: gettext_noop("All gold, cells of blind or unknown votes"),
    Kind.UNANIMOUS: gettext_noop("Unanimous cells"),
    Kind.MAJORITY: gettext_noop("Majority cells"),
    Kind.ADJUDICATED: gettext_noop("Adjudicated cells"),
    Kind.IMPORTED: gettext_noop("Labels of the record"),
}
ALL_DIMENSIONS = gettext_noop("All dimensions")
SCORED = gettext_noop("Accuracy: the mean over stories of the share of right cells, repaired parse.")
BLIND_NOTE = gettext_noop(
    "Gold from blind votes: more than half of at least two votes that no suggestion can have touched."
)
UNKNOWN_NOTE = gettext_noop(
    "Blind or unknown votes: the blind ones with imported ones, of which it is not known whether a label stood before "
    "the annotator’s eyes. What they say of blind votes holds if they were blind."
)
SAME_CELLS = gettext_noop(
    "Gold made anew of votes is compared with all gold on the same cells, other kinds with all gold."
)
TAU_NOTE = gettext_noop(
    "Kendall’s τ-b of the models’ scores: 1 for the same order, −1 for its reverse. Its interval lies between "
    "quantiles of resampled stories."
)
ROWS_NOTE = gettext_noop(
    "Labels only: a published version keeps which rows its tables have, not how each came about (written by both "
    "experts, reconciled, or drafted by a model), so recall is not told by kind of row."
)
UNRANKED_NOTE = gettext_noop("Baselines have no part in the order of models.")
SHIFT_NOTE = gettext_noop(
    "Shift: how far the difference of the two moved between the two kinds of gold. An interval without 0 says that "
    "more than chance did it."
)
MOVES: Mapping[Move, str] = {
    Move.TO_MAJORITY: gettext_noop("Pre-filled to majority"),
    Move.TO_BLIND: gettext_noop("Pre-filled to majority of blind votes"),
    Move.UNDECIDED: gettext_noop("No majority: an expert decides"),
    Move.TO_GOLD: gettext_noop("Majority to gold"),
    Move.ALL_THE_WAY: gettext_noop("Pre-filled to gold"),
}
MOVED_NOTE = gettext_noop(
    "Moved: the share of cells whose later label is another one, of the cells that have both; n is their number. A "
    "majority is more than half of at least two votes."
)
VOTES: Mapping[str, str] = {ALL_VOTES: gettext_noop("All votes"), BLIND_VOTES: gettext_noop("Blind votes")}
STANDING_VOTES: Mapping[str, str] = {BLIND_VOTES: VOTES[BLIND_VOTES], UNKNOWN_VOTES: NAMES[Kind.UNKNOWN]}
LEFT_OUT = gettext_noop("Left-out annotators")
CEILING_NOTE = gettext_noop(
    "Each annotator in turn is scored against gold that more than half of at least two others make; models stand in "
    "the same places. The difference is a model’s score less that of the annotators, story by story."
)
EPSILON_NOTE = gettext_noop(
    "Alternative annotator test (Calderon et al. 2025), votes of all dimensions, first repetition; ε = 0.15. "
    "Advantage: the share of cells where the model is at least as near to the others as the annotator, mean over "
    "annotators."
)
WINNING_NOTE = gettext_noop(
    "Winning rate: the share of annotators whom the model beats after Benjamini and Yekutieli’s correction; it may "
    "stand in from 0.5 on. As published cells count as independent; over stories they do not, which is what "
    "counts here: there the model must also be near enough if so many stories fail as may do so unseen (rule of three)."
)
PASSES: Mapping[str, Mapping[bool | None, str | None]] = {
    BLIND_VOTES: {True: gettext_noop("yes"), False: gettext_noop("no"), None: None},
    UNKNOWN_VOTES: {
        True: gettext_noop("yes, if they were blind"),
        False: gettext_noop("no, if they were blind"),
        None: None,
    },
}


def tables_of(metrics: GoldMetrics, dimension: int = OVERALL) -> dict[str, Callable[[], Table]]:
    """Return the tables by name, made when they are asked for; `dimension` is what those of one dimension are of."""
    makers = {"by-kind": by_kind, "ranks": ranks, "swaps": swaps, "ceiling": ceiling_table}
    tables = {name: partial(make, metrics, dimension) for name, make in makers.items()}
    tables |= {"standing-in": partial(standing_in_table, metrics), "annotators": partial(annotators_table, metrics)}
    return tables | {"moves": partial(moves_table, metrics), "by-dimension": partial(by_dimension, metrics)}


def dimension_sentence(metrics: GoldMetrics, dimension: int) -> str:
    """Return the name of a dimension, or of all."""
    return ALL_DIMENSIONS if dimension == OVERALL else metrics.dimensions[dimension]


def estimated(key: str, estimate: Estimate) -> Cells:
    """Return the cells of a figure with its interval, or why it has none."""
    return {
        key: estimate.value,
        f"{key}_interval": estimate.interval,
        f"{key}_interval_reason": estimate.reason or "",
    }


def _scored(key: str, score: KindScore) -> Cells:
    return {**estimated(key, score.estimate), f"{key}_bounds": score.bounds}


def share(key: str, header: str, **more: Any) -> Column:
    """Return the column of a share with its interval, in per cent."""
    return Column(key=key, header=header, unit="%", kind="share", interval=f"{key}_interval", **more)


def _share(key: str, header: str) -> Column:
    return share(key, header, best="high", bounds=f"{key}_bounds")


def by_kind(metrics: GoldMetrics, dimension: int) -> Table:
    """Return the score of each model on each kind of gold."""
    scores = metrics.scores[dimension]
    rows: list[Cells] = []
    for model in in_order(scores):
        row: Cells = {"model": model}
        for kind in metrics.kinds:
            row |= _scored(kind, scores[model][kind])
        rows.append(row)
    first = next(iter(scores.values()), {})
    counts = {kind.value: score.cells for kind, score in first.items()}
    return Table(
        title=gettext_noop("Accuracy by kind of gold"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(_share(kind.value, NAMES[kind]) for kind in metrics.kinds),
        ],
        rows=rows,
        notes=[
            Sentence("Of: {metrics}.", metrics=dimension_sentence(metrics, dimension)),
            SCORED,
            *_vote_sentences(metrics),
            ROWS_NOTE,
            *(
                Sentence("{names}: {count} cells.", names=NAMES[Kind(kind)], count=f"{count:,}")
                for kind, count in counts.items()
            ),
        ],
    )


def by_dimension(metrics: GoldMetrics) -> Table:
    """Return the score of each model in each dimension on each kind of gold."""
    keys = {at: "overall" if at == OVERALL else f"dimension{at}" for at in metrics.scores}
    rows: list[Cells] = []
    for kind in metrics.kinds:
        for model in in_order(metrics.scores[OVERALL]):
            row: Cells = {"kind": NAMES[kind], "model": model}
            for at, key in keys.items():
                row |= _scored(key, metrics.scores[at][model][kind])
            rows.append(row | {"cells": metrics.scores[OVERALL][model][kind].cells})
    return Table(
        title=gettext_noop("Accuracy by kind of gold and dimension"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="model", header=gettext_noop("Model")),
            *(_share(key, dimension_sentence(metrics, at)) for at, key in keys.items()),
            Column(key="cells", header=gettext_noop("Cells"), kind="count"),
        ],
        rows=rows,
        mark_within="kind",
        notes=[SCORED, *_vote_sentences(metrics)],
    )


def _vote_sentences(metrics: GoldMetrics) -> Iterator[str]:
    """Yield what gold made anew of votes is, where there is any."""
    if Kind.BLIND in metrics.kinds:
        yield BLIND_NOTE
    if Kind.UNKNOWN in metrics.kinds:
        yield UNKNOWN_NOTE


def ranks(metrics: GoldMetrics, dimension: int) -> Table:
    """Return Kendall's tau of each kind of gold with what it is compared with."""
    rows: list[Cells] = [
        {
            "kind": NAMES[kind],
            "beside": NAMES[REFERENCE[kind]],
            **estimated("tau", order.tau),
            "models": len(order.models),
            "stories": order.tau.clusters,
            "swaps": len(order.swaps),
        }
        for kind, order in metrics.orders[dimension].items()
    ]
    return Table(
        title=gettext_noop("Do ranks change?"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="beside", header=gettext_noop("Compared with")),
            Column(key="tau", header=gettext_noop("Kendall’s τ"), kind="number", interval="tau_interval"),
            Column(key="swaps", header=gettext_noop("Pairs that swap"), kind="count"),
            Column(key="models", header=gettext_noop("Models"), kind="count"),
            Column(key="stories", header=gettext_noop("Stories"), kind="count"),
        ],
        rows=rows,
        notes=[
            Sentence("Of: {metrics}.", metrics=dimension_sentence(metrics, dimension)),
            TAU_NOTE,
            *(UNRANKED_NOTE for _ in range(bool(metrics.unranked))),
            SAME_CELLS,
            *_undefined(rows),
        ],
    )


def _undefined(rows: list[Cells]) -> Iterator[str]:
    reasons = {row["tau_interval_reason"]: row["kind"] for row in rows if row["tau"] is None}
    for reason, kind in reasons.items():
        yield Sentence("No τ of {kind}: {reason}.", kind=kind, reason=reason)


def swaps(metrics: GoldMetrics, dimension: int) -> Table:
    """Return the pairs of models whose order differs between kinds of gold."""
    rows = [_swap(kind, swap) for kind, order in metrics.orders[dimension].items() for swap in order.swaps]
    points = {"unit": "%", "kind": "share"}
    return Table(
        title=gettext_noop("Models that swap"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="first", header=gettext_noop("Ahead on the gold compared with")),
            Column(key="second", header=gettext_noop("Ahead on this kind")),
            Column(key="lead", header=gettext_noop("Led by"), **points),
            Column(key="behind", header=gettext_noop("Now behind by"), **points),
            Column(key="shift", header=gettext_noop("Shift"), interval="shift_interval", **points),
        ],
        rows=rows,
        notes=[SHIFT_NOTE, SAME_CELLS],
    )


def _swap(kind: Kind, swap: Swap) -> Cells:
    return {
        "kind": NAMES[kind], "first": swap.first, "second": swap.second, "lead": swap.lead, "behind": swap.behind,
        **estimated("shift", swap.shift),
    }  # fmt: skip


def moves_table(metrics: GoldMetrics) -> Table:
    """Return how many labels moved at each step on their way to gold, by dimension."""
    rows: list[Cells] = []
    for at, moves in metrics.moves.items():
        row: Cells = {"dimension": dimension_sentence(metrics, at), "at": at}
        for move, moved in moves.items():
            row |= estimated(move, moved.estimate) | {f"{move}_n": moved.cells}
        rows.append(row)
    return Table(
        title=gettext_noop("How far labels moved"),
        columns=[
            Column(key="dimension", header=gettext_noop("Dimension")),
            *(share(move.value, name, n=f"{move}_n") for move, name in MOVES.items()),
        ],
        rows=rows,
        notes=[MOVED_NOTE],
    )


def ceiling_table(metrics: GoldMetrics, dimension: int) -> Table:
    """Return the score of annotators who are left out, and of models in their places, by all and by blind votes."""
    ceilings = {votes: metrics.ceilings[votes][dimension] for votes in VOTES}
    rows = [_left_out_row(LEFT_OUT, {votes: ceiling.people for votes, ceiling in ceilings.items()})]
    for name in next(iter(ceilings.values())).annotators:
        rows.append(_left_out_row(name, {votes: ceiling.annotators[name] for votes, ceiling in ceilings.items()}))
    for name in in_order(metrics.scores[OVERALL]):
        rows.append(_model_row(name, {votes: ceiling.models[name] for votes, ceiling in ceilings.items()}))
    return Table(
        title=gettext_noop("The ceiling: annotators against each other"),
        columns=[
            Column(key="who", header=gettext_noop("Who")),
            *(column for votes, name in VOTES.items() for column in _ceiling_columns(votes, name)),
        ],
        rows=rows,
        notes=[
            Sentence("Of: {metrics}.", metrics=dimension_sentence(metrics, dimension)),
            CEILING_NOTE,
            *(
                Sentence("{name}: {cells} places.", name=name, cells=f"{ceilings[votes].cells:,}")
                for votes, name in VOTES.items()
            ),
        ],
    )


def _left_out_row(who: str, scores: Mapping[str, Estimate]) -> Cells:
    cells = (estimated(votes, score) for votes, score in scores.items())
    return {"who": who, **_merged(cells)}


def _model_row(model: str, beside: Mapping[str, Beside]) -> Cells:
    cells = (
        estimated(votes, compared.score) | estimated(f"{votes}_less", compared.difference)
        for votes, compared in beside.items()
    )
    return {"who": model, "model": model, **_merged(cells)}


def _merged(cells: Iterable[Cells]) -> Cells:
    return {key: cell for of_cells in cells for key, cell in of_cells.items()}


def _ceiling_columns(votes: str, name: str) -> list[Column]:
    return [
        share(votes, gettext_noop("Score"), group=name),
        share(f"{votes}_less", gettext_noop("Less annotators"), group=name),
    ]


def standing_in_table(metrics: GoldMetrics) -> Table:
    """Return whether each model may stand in for an annotator; no rows where the test has none to say."""
    rows: list[Cells] = [
        {
            "model": model,
            "votes": STANDING_VOTES[votes],
            **estimated("advantage", test.advantage),
            "over_stories": test.over_stories,
            "published": test.published.winning_rate,
            "tested": test.published.tested,
            "passes": PASSES[votes][test.passes],
        }
        for votes, by_model in metrics.standing_in.items()
        for model in in_order(metrics.scores[OVERALL])
        if (test := by_model[model]).advantage.value is not None
    ]
    tests = [test for by_model in metrics.standing_in.values() for test in by_model.values()]
    reasons = {test.reason for test in tests if test.reason}
    return Table(
        title=gettext_noop("May a model stand in for an annotator?"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="votes", header=gettext_noop("Votes")),
            share("advantage", gettext_noop("Advantage")),
            Column(key="over_stories", header=gettext_noop("Winning rate, over stories"), kind="number"),
            Column(key="published", header=gettext_noop("As published"), kind="number"),
            Column(key="tested", header=gettext_noop("Annotators tested"), kind="count"),
            Column(key="passes", header=gettext_noop("May stand in")),
        ],
        rows=rows,
        mark_within="votes",
        notes=[EPSILON_NOTE, WINNING_NOTE, *_unknown_sentences(metrics), *sorted(reasons)],
    )


def _unknown_sentences(metrics: GoldMetrics) -> list[str]:
    return [UNKNOWN_NOTE] if UNKNOWN_VOTES in metrics.standing_in else []


def annotators_table(metrics: GoldMetrics) -> Table:
    """Return each model against each annotator left out, as published."""
    columns = {
        "items": gettext_noop("Cells"),
        "advantage": gettext_noop("Model at least as near"),
        "human_advantage": gettext_noop("Annotator at least as near"),
    }
    rows: list[Cells] = [
        {
            "model": model,
            "votes": STANDING_VOTES[votes],
            "annotator": metrics.annotators[row.annotator],
            "items": row.items,
            "advantage": row.advantage,
            "human_advantage": row.human_advantage,
            "p": row.p,
            "p_corrected": row.p_corrected,
        }
        for votes, by_model in metrics.standing_in.items()
        for model in in_order(metrics.scores[OVERALL])
        for row in by_model[model].published.annotators
        if row.advantage is not None
    ]
    return Table(
        title=gettext_noop("Models against each annotator"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="annotator", header=gettext_noop("Annotator")),
            Column(key="votes", header=gettext_noop("Votes")),
            Column(key="items", header=columns.pop("items"), kind="count"),
            *(Column(key=key, header=header, unit="%", kind="share") for key, header in columns.items()),
            Column(key="p", header="p", kind="number", digits=4),
            Column(key="p_corrected", header=gettext_noop("p, corrected"), kind="number", digits=4),
        ],
        rows=rows,
        notes=[EPSILON_NOTE, *_unknown_sentences(metrics)],
    )
