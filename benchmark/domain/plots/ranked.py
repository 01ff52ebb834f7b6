"""The leaderboard as a picture: one row a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.drawn import RankedRow
from benchmark.domain.plots.dots import Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.values import Percent, percent, percents, worst_to_best
from core.messages import Sentence, labelled, listed, noted, worded

NO_MODEL = "No model has a score."


PARSES = (
    Series(key="repaired", label="Repaired parse"),
    Series.hollow("official", "Official parse"),
    Series(key="corrected", label="Corrected", marker="s", colour="ink"),
)


@plot
def leaderboard(
    look: Look,
    rows: Sequence[RankedRow],
    *,
    score: str,
    key: str = "",
) -> Drawing:
    """Both parses of `score` with intervals, in the order of the ranking, and what is missing.

    References that have a figure `key` stand below with a mark of their own and their source: they have no rank.
    """
    references = [row for row in look.frame.references if key in row.values]
    title = f"{score}: official and repaired parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    series = PARSES if any(row.corrected for row in rows) else PARSES[:2]
    scores = [{mark.key: percent(getattr(row, mark.key)) for mark in series} for row in rows]
    bounds = [percents(row.bounds) for row in rows]
    canvas = dot_plot(
        [row.model for row in rows],
        [Panel("", scores, bounds, entered=key)],
        series,
        unit=noted(score, "%"),
        references=references,
        look=look,
        asides=_ranking_asides(rows, scores, narrow=look.narrow),
    )
    lines = [_ranked_line(*arguments) for arguments in zip(rows, scores, bounds, strict=True)]
    lines += [f"{row.model}, entered from {row.source}: {100 * row.values[key]:.1f}" for row in references]
    return Drawing(title, canvas, lines)


def _ranking_asides(
    rows: Sequence[RankedRow], scores: Sequence[Mapping[str, Percent | None]], *, narrow: bool
) -> list[Aside]:
    asides = [
        Aside.of(head, [row_scores[name] for row_scores in scores])
        for head, name in (("Rep.", "repaired"), ("Off.", "official"), ("Corr.", "corrected"))
        if any(name in row_scores for row_scores in scores)
    ]
    shares = [row.left_out for row in rows]
    asides.append(Aside("Out", ["–" if share is None else f"{100 * share:.0f} %" for share in shares]))
    if narrow:
        del asides[1]
    if any(row.ranks for row in rows) and not narrow:
        asides.append(Aside("Rank", ["–".join(map(str, row.ranks or ())) or "–" for row in rows]))
    asides.append(Aside("Group", [row.group or "–" for row in rows], "left"))
    return asides


def _ranked_line(row: RankedRow, scores: Mapping[str, Percent | None], bounds: tuple[float, float] | None) -> str:
    parts: list[str] = [
        worded(name, metric.text()) if metric else Sentence("{name} without a score", name=name)
        for name, metric in scores.items()
    ]
    parts += [Sentence("left out {share} %", share=f"{100 * share:.1f}")] if (share := row.left_out) else []
    parts += [worst_to_best(bounds)] if bounds else []
    parts += [Sentence("rank {ranks}", ranks="–".join(map(str, ranks)))] if (ranks := row.ranks) else []
    parts += [Sentence("group {group}", group=row.group)] if row.group else []
    return labelled(row.model, listed(parts))
