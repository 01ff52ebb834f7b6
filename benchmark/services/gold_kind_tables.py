"""Effect of suggestions and adjudication on gold as tables."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from benchmark.domain.gold_kinds import REFERENCE, Kind, Move, in_order
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.services.gold_kinds import ALL_VOTES, BLIND_VOTES, OVERALL, UNKNOWN_VOTES, GoldMetrics
from core.messages import Sentence, gettext_noop

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


def tables_of(metrics: GoldMetrics, dimension: int | None = OVERALL) -> dict[str, Callable[[], Table]]:
    """Return functions that make the tables, by name; some tables are of one `dimension`."""
    return {
        "by-kind": partial(by_kind, metrics, dimension),
        "ranks": partial(ranks, metrics, dimension),
        "swaps": partial(swaps, metrics, dimension),
        "ceiling": partial(ceiling_table, metrics, dimension),
        "standing-in": partial(standing_in_table, metrics),
        "annotators": partial(annotators_table, metrics),
        "moves": partial(moves_table, metrics),
        "by-dimension": partial(by_dimension, metrics),
    }


def dimension_sentence(metrics: GoldMetrics, dimension: int | None) -> str:
    """Return the name of a dimension, or of all."""
    return ALL_DIMENSIONS if dimension is None else metrics.cells.dimensions[dimension]


def _share(key: str, header: str, **more: Any) -> Column:
    return Column(key=key, header=header, unit="%", kind="share", **more)


def _of(metrics: GoldMetrics, dimension: int | None) -> str:
    return Sentence("Of: {metrics}.", metrics=dimension_sentence(metrics, dimension))


def by_kind(metrics: GoldMetrics, dimension: int | None) -> Table:
    """Return the score of each model on each kind of gold."""
    scores = metrics.scores[dimension]
    inside = metrics.cells.in_dimension(dimension)
    golds = metrics.cells.by_kind()
    return Table(
        title=gettext_noop("Accuracy by kind of gold"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(_share(kind.value, NAMES[kind], best="high") for kind in metrics.kinds),
        ],
        rows=[
            {"model": model} | {kind: Cell.uncounted(scores[model][kind]) for kind in metrics.kinds}
            for model in in_order(scores)
        ],
        notes=[
            _of(metrics, dimension),
            SCORED,
            *_vote_sentences(metrics),
            ROWS_NOTE,
            *(
                Sentence("{names}: {count} cells.", names=NAMES[kind], count=f"{(inside & (golds[kind] >= 0)).sum():,}")
                for kind in (metrics.kinds if scores else ())
            ),
        ],
    )


def by_dimension(metrics: GoldMetrics) -> Table:
    """Return the score of each model in each dimension on each kind of gold."""
    keys = {at: "overall" if at is None else f"dimension{at}" for at in metrics.scores}
    return Table(
        title=gettext_noop("Accuracy by kind of gold and dimension"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="model", header=gettext_noop("Model")),
            *(_share(key, dimension_sentence(metrics, at), best="high") for at, key in keys.items()),
            Column(key="cells", header=gettext_noop("Cells"), kind="count"),
        ],
        rows=[
            {"kind": NAMES[kind], "model": model, "cells": count}
            | {key: Cell.uncounted(metrics.scores[at][model][kind]) for at, key in keys.items()}
            for kind, count in metrics.kinds.items()
            for model in in_order(metrics.scores[OVERALL])
        ],
        mark_within="kind",
        notes=[SCORED, *_vote_sentences(metrics)],
    )


def _vote_sentences(metrics: GoldMetrics) -> Iterator[str]:
    if Kind.BLIND in metrics.kinds:
        yield BLIND_NOTE
    if Kind.UNKNOWN in metrics.kinds:
        yield UNKNOWN_NOTE


def ranks(metrics: GoldMetrics, dimension: int | None) -> Table:
    """Return Kendall's tau of each kind of gold with the gold compared with."""
    orders = metrics.orders[dimension].items()
    undefined = {tau.reason: kind for kind, (tau, _) in orders if tau.value is None}
    return Table(
        title=gettext_noop("Do ranks change?"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="beside", header=gettext_noop("Compared with")),
            Column(key="tau", header=gettext_noop("Kendall’s τ"), kind="number"),
            Column(key="swaps", header=gettext_noop("Pairs that swap"), kind="count"),
            Column(key="models", header=gettext_noop("Models"), kind="count"),
            Column(key="stories", header=gettext_noop("Stories"), kind="count"),
        ],
        rows=[
            {
                "kind": NAMES[kind],
                "beside": NAMES[REFERENCE[kind]],
                "tau": Cell.uncounted(tau),
                "models": tau.n,
                "stories": tau.clusters,
                "swaps": len(swapped),
            }
            for kind, (tau, swapped) in orders
        ],
        notes=[
            _of(metrics, dimension),
            TAU_NOTE,
            *([UNRANKED_NOTE] if metrics.unranked else []),
            SAME_CELLS,
            *(
                Sentence("No τ of {kind}: {reason}.", kind=NAMES[kind], reason=reason)
                for reason, kind in undefined.items()
            ),
        ],
    )


def swaps(metrics: GoldMetrics, dimension: int | None) -> Table:
    """Return the pairs of models whose order differs between kinds of gold."""
    return Table(
        title=gettext_noop("Models that swap"),
        columns=[
            Column(key="kind", header=gettext_noop("Kind of gold")),
            Column(key="first", header=gettext_noop("Ahead on the gold compared with")),
            Column(key="second", header=gettext_noop("Ahead on this kind")),
            _share("lead", gettext_noop("Led by")),
            _share("behind", gettext_noop("Now behind by")),
            _share("shift", gettext_noop("Shift")),
        ],
        rows=[
            {"kind": NAMES[kind]} | swap | {"shift": Cell.uncounted(swap["shift"])}
            for kind, (_, swapped) in metrics.orders[dimension].items()
            for swap in swapped
        ],
        notes=[SHIFT_NOTE, SAME_CELLS],
    )


def moves_table(metrics: GoldMetrics) -> Table:
    """Return the share of labels that changed at each step on their way to gold, by dimension."""
    return Table(
        title=gettext_noop("How far labels moved"),
        columns=[
            Column(key="dimension", header=gettext_noop("Dimension")),
            *(_share(move.value, name) for move, name in MOVES.items()),
        ],
        rows=[
            {"dimension": dimension_sentence(metrics, at), "at": at}
            | {move: Cell.of(moved) for move, moved in by_move.items()}
            for at, by_move in metrics.moves.items()
        ],
        notes=[MOVED_NOTE],
    )


def ceiling_table(metrics: GoldMetrics, dimension: int | None) -> Table:
    """Return the score of left-out annotators, and of models in their places, by all and by blind votes."""
    ceilings = {votes: metrics.ceilings[votes][dimension] for votes in VOTES}
    rows: dict[str, Cells] = {}
    for votes, found in ceilings.items():
        for who, score in {LEFT_OUT: found.people, **found.annotators}.items():
            rows.setdefault(who, {"who": who})[votes] = Cell.uncounted(score)
        for who in in_order(metrics.scores[OVERALL]):
            score, difference = found.models[who]
            row = rows.setdefault(who, {"who": who, "model": who})
            row |= {votes: Cell.uncounted(score), f"{votes}_less": Cell.uncounted(difference)}
    return Table(
        title=gettext_noop("The ceiling: annotators against each other"),
        columns=[
            Column(key="who", header=gettext_noop("Who")),
            *(
                column
                for votes, name in VOTES.items()
                for column in (
                    _share(votes, gettext_noop("Score"), group=name),
                    _share(f"{votes}_less", gettext_noop("Less annotators"), group=name),
                )
            ),
        ],
        rows=list(rows.values()),
        notes=[
            _of(metrics, dimension),
            CEILING_NOTE,
            *(
                Sentence("{name}: {cells} places.", name=name, cells=f"{ceilings[votes].cells:,}")
                for votes, name in VOTES.items()
            ),
        ],
    )


def standing_in_table(metrics: GoldMetrics) -> Table:
    """Return whether each model may stand in for an annotator. Has no rows if no test has a result."""
    tests = [test for by_model in metrics.standing_in.values() for _, test in by_model.values()]
    return Table(
        title=gettext_noop("May a model stand in for an annotator?"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="votes", header=gettext_noop("Votes")),
            _share("advantage", gettext_noop("Advantage")),
            Column(key="over_stories", header=gettext_noop("Winning rate, over stories"), kind="number"),
            Column(key="published", header=gettext_noop("As published"), kind="number"),
            Column(key="tested", header=gettext_noop("Annotators tested"), kind="count"),
            Column(key="passes", header=gettext_noop("May stand in")),
        ],
        rows=[
            {
                "model": model,
                "votes": STANDING_VOTES[votes],
                "advantage": Cell.uncounted(test.advantage),
                "over_stories": test.winning_rate,
                "published": published.winning_rate,
                "tested": published.tested,
                "passes": PASSES[votes][test.passes],
            }
            for votes, by_model in metrics.standing_in.items()
            for model in in_order(metrics.scores[OVERALL])
            for published, test in [by_model[model]]
            if test.advantage.value is not None
        ],
        mark_within="votes",
        notes=[
            EPSILON_NOTE,
            WINNING_NOTE,
            *([UNKNOWN_NOTE] if UNKNOWN_VOTES in metrics.standing_in else []),
            *sorted({test.reason for test in tests if test.reason}),
        ],
    )


def annotators_table(metrics: GoldMetrics) -> Table:
    """Return each model against each left-out annotator, as published."""
    return Table(
        title=gettext_noop("Models against each annotator"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="annotator", header=gettext_noop("Annotator")),
            Column(key="votes", header=gettext_noop("Votes")),
            Column(key="items", header=gettext_noop("Cells"), kind="count"),
            _share("advantage", gettext_noop("Model at least as near")),
            _share("human_advantage", gettext_noop("Annotator at least as near")),
            Column(key="p", header="p", kind="number", digits=4),
            Column(key="p_corrected", header=gettext_noop("p, corrected"), kind="number", digits=4),
        ],
        rows=[
            {"model": model, "votes": STANDING_VOTES[votes], "annotator": metrics.cells.annotators[row["annotator"]]}
            | {name: row.get(name) for name in ("items", "advantage", "human_advantage", "p", "p_corrected")}
            for votes, by_model in metrics.standing_in.items()
            for model in in_order(metrics.scores[OVERALL])
            for row in by_model[model][0].annotators
            if row["advantage"] is not None
        ],
        notes=[EPSILON_NOTE, *([UNKNOWN_NOTE] if UNKNOWN_VOTES in metrics.standing_in else [])],
    )
