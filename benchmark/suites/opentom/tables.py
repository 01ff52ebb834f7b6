"""The benchmark's own tables and picture, filled from the run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Column, Table, bounds_text, share_column
from benchmark.suites.opentom.data import GENRES
from benchmark.suites.opentom.measure import GROUP, Analyses, Batches
from benchmark.suites.reports import Published
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.tables import Analysed, Figure, analysed_of, count, figure, table_of, tables_of
from core.messages import Sentence, gettext_noop, labelled, sentences, word

SECTIONS = (
    Section(gettext_noop("Macro F1 by genre"), ("genres",), ("batches", "genres"), paper=True),
    Section(gettext_noop("Whose view"), (), ("gap",), paper=True),
    Section(gettext_noop("Multi-hop by kind"), (), ("kinds",), paper=True),
    Section(gettext_noop("Unreadable and unfaithful answers"), (), ("unreadable", "unfaithful"), paper=True),
)
_WORST = gettext_noop("Marks take an answer that could not be read or is missing for a wrong one.")
_F1 = Sentence(
    "Macro F1 over the labels that occur in gold or answers, of the answers that could be read; "
    "brackets: 95 % intervals over narratives; n: answers. {worst}",
    worst=_WORST,
)
_BATCHES = sentences(
    gettext_noop(
        "The benchmark’s own protocol: mean and population standard deviation over its five "
        "samples of fifty narratives, drawn with its fixed seed 42, "
        "without the multi-hop questions that it leaves out. A dash: a sample has no answers, or none that could be "
        "read."
    ),
    _WORST,
)
_OVERLAPPING = gettext_noop(
    "The hundred long narratives are shuffled three times with seed 42, two samples to a shuffle: the five overlap, so "
    "that their deviation says less. What is published leaves open from which order the second and third shuffle "
    "start (here from that of the one before), and whether a narrative of two samples has the same multi-hop questions "
    "in both (here they are drawn anew)."
)
NARRATIVES_A_SAMPLE = 50
_ATTITUDE = "Attitude"
_GAP = gettext_noop(
    "Macro F1 on the mover’s view less that on the observer’s, each with the narrator’s questions, as the released "
    "code counts, of the answers that could be read; below zero the observer’s view is the easier one. n: questions, "
    "each once. Unreadable: the mover’s side / the observer’s. Bounds take what could not be read at its worst on one "
    "side and at its best on the other; a gap inside such bounds may come of unreadable answers."
)
_POOLED = sentences(
    gettext_noop(
        "Pooled: both kinds in one F1, as the released code has it, though their labels differ. "
        "Mean: that of the F1s of "
        "the two kinds, as the paper has its random and majority baselines."
    ),
    _WORST,
)
_UNREADABLE = gettext_noop(
    "Share of answers that the parse could not take for any label; F1 leaves them out. Brackets: 95 % "
    "intervals over narratives; n: answers."
)
_UNFAITHFUL = gettext_noop(
    "Pairs of a coarse and a fine answer on the same view: unfaithful are a yes with another place and a no with the "
    "original one. Pairs with an answer that cannot be read are unreadable; they stay in the denominator of the first "
    "rate. Brackets: 95 % intervals over narratives; marks take unreadable and missing pairs for unfaithful. The "
    "paper’s separate rate is of questions that are asked each by itself, its joint one of the method joint, which "
    "asks the fine question after the coarse one and its answer."
)
_NO_BATCHES = gettext_noop(
    "No mean over five samples of fifty narratives: none of these models was asked about the questions of all."
)
_KINDS = {
    "pooled": gettext_noop("Pooled"),
    "mean": gettext_noop("Mean"),
    "fullness": gettext_noop("Fullness"),
    "accessibility": gettext_noop("Accessibility"),
}


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's tables 2, 4, A7, A8 and A9."""
    by_genre = (
        ("f1", gettext_noop("Macro F1 (table 2)"), {"batches": "{genre} f1", "genres": "{genre}"}),
        ("gap", gettext_noop("Mover’s view less observer’s (table 4)"), {"gap": "{genre}"}),
        (
            "unreadable",
            gettext_noop("Unreadable answers, the paper’s corruption rate (table A8)"),
            {"batches": "{genre} corrupted", "unreadable": "{genre}"},
        ),
    )
    genres = {
        key: [
            Published(
                f"{key}.{short}",
                genre,
                heading,
                {table: column.format(genre=genre) for table, column in places.items()},
                difference=key == "gap",
            )
            for genre, short in GENRES.items()
            if key != "gap" or genre != _ATTITUDE
        ]
        for key, heading, places in by_genre
    }
    by_kind = gettext_noop("Multi-hop by kind (table A7)")
    kinds = [
        Published(f"{name}.{GENRES[genre]}", labelled(genre, name), by_kind, {"kinds": f"{genre} {name}"})
        for genre in GENRES
        if genre.startswith("Multi-hop")
        for name in ("fullness", "accessibility")
    ]
    of_all = gettext_noop("Unfaithful rate, of all pairs (table A9)")
    unfaithful = [
        Published(f"unfaithful.{order}", _order(order), of_all, {"unfaithful": f"{order} of_all"})
        for order in ("first", "second")
    ]
    return (*genres["f1"], *kinds, *genres["gap"], *genres["unreadable"], *unfaithful)


def _order(order: str) -> str:
    return Sentence("{order} order", order=order.capitalize())


PUBLISHED = _published()


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    makers = {
        "genres": _genres, "batches": _batches, "gap": _gap, "kinds": _kinds, "unreadable": _unreadable,
        "unfaithful": _unfaithful,
    }  # fmt: skip
    analysed = analysed_of(results, GROUP.key, Analyses)
    for name in ("batches", "kinds"):
        if not _there(getattr(analyses, name) for _, analyses in analysed):
            makers.pop(name)
    return tables_of(results, GROUP.key, Analyses, makers)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of macro F1 by genre."""
    analysed = analysed_of(results, GROUP.key, Analyses)
    if not analysed:
        return {}
    plot, parts = partial(_plot, analysed, results.parse), {("genres", genre): genre for genre in GENRES}
    return {"genres": ShownPicture(gettext_noop("Macro F1 by genre"), plot, (GROUP.key,), parts=parts)}


def _plot(analysed: Analysed, parse: str) -> Plot:
    rows = [ModelRow(entrant.model, analyses.f1) for entrant, analyses in analysed]
    drawn = scores_by_part(rows, parse=parse, score=gettext_noop("Macro F1"), part="genre", short=dict(GENRES))
    return drawn.about(over="narratives")


def _there(by_genre: Iterable[Container[str]]) -> list[str]:
    """The genres of which some model has a figure."""
    figures = list(by_genre)
    return [genre for genre in GENRES if any(genre in of_model for of_model in figures)]


def _by_genre(
    analysed: Analysed,
    estimates_of: Callable[[Analyses], Mapping[str, BoundedEstimate]],
    title: str,
    note: str,
    *,
    best: str = "high",
    more: Callable[[Sequence[str]], Sequence[Figure]] | None = None,
) -> Table:
    there = _there(estimates_of(analyses) for _, analyses in analysed)

    def of_genre(genre: str) -> Figure:
        return figure(genre, GENRES[genre], lambda analyses: estimates_of(analyses).get(genre), best=best)

    return table_of(analysed, GROUP.key, title, [*map(of_genre, there), *(more(there) if more else ())], note)


def _genres(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Macro F1 by genre, {parse} parse (%)", parse=word(parse))
    table = _by_genre(analysed, lambda analyses: analyses.f1, title, _F1)
    has_batches = _there(analyses.batches for _, analyses in analysed)
    return table if has_batches else replace(table, notes=[*table.notes, _NO_BATCHES])


def _gap(analysed: Analysed, parse: str) -> Table:
    def more(there: Sequence[str]) -> list[Figure]:
        bounded = [
            genre
            for genre in dict.fromkeys(genre for _, analyses in analysed for genre in analyses.gap)
            if any(genre in analyses.gap and analyses.gap[genre].bounds for _, analyses in analysed)
        ]
        return [*map(_unreadable_sides, there), *map(_within, bounded)]

    title = Sentence("Mover’s view less observer’s, {parse} parse (percentage points of macro F1)", parse=word(parse))
    return _by_genre(analysed, lambda analyses: analyses.gap, title, _GAP, best="", more=more)


def _unreadable_sides(genre: str) -> Figure:
    """Return the column of the unreadable shares of both sides in per cent."""
    column = Column(key=f"{genre} unreadable", header=GENRES[genre], group=gettext_noop("Unreadable (%)"))

    def both(analyses: Analyses) -> str | None:
        gap = analyses.gap.get(genre)
        sides = ["–" if share is None else f"{100 * share:.1f}" for share in gap.unreadable] if gap else []
        return " / ".join(sides) or None

    return Figure(column, both)


def _within(genre: str) -> Figure:
    column = Column(key=f"{genre} within", header=GENRES[genre], group=gettext_noop("Bounds (points)"))
    return Figure(column, lambda analyses: bounds_text(analyses.gap[genre].bounds) if genre in analyses.gap else None)


def _batches(analysed: Analysed, parse: str) -> Table:
    there = _there(analyses.batches for _, analyses in analysed)
    names = (("f1", "Mean", "high"), ("deviation", "SD", ""), ("corrupted", "Unreadable", ""))
    figures = [
        Figure(
            share_column(
                f"{genre} {name}",
                header,
                group=GENRES[genre],
                digits=1,
                best=best,
                worst=f"{genre} worst" if name == "f1" else "",
            ),
            partial(_of_batches, genre, name),
        )
        for genre in there
        for name, header, best in names
    ]
    of_genres = [batches for _, analyses in analysed for batches in analyses.batches.values()]
    notes = [_BATCHES, *([_OVERLAPPING] if any(batches.overlapping for batches in of_genres) else [])]
    title = Sentence("Macro F1 over five samples of fifty narratives, {parse} parse (%)", parse=word(parse))
    table = table_of(
        analysed,
        GROUP.key,
        title,
        figures,
        *notes,
        more=lambda analyses: {f"{genre} worst": _of_batches(genre, "worst", analyses) for genre in there},
    )
    return replace(table, lead=[*_fewer_narratives(of_genres), *table.lead])


def _of_batches(genre: str, name: str, analyses: Analyses) -> float | None:
    batches = analyses.batches.get(genre)
    value: float | None = getattr(batches, name) if batches else None
    return value


def _fewer_narratives(of_genres: Sequence[Batches]) -> list[str]:
    """Return what stands before figures over samples that are not whole."""
    sizes = [size for batches in of_genres for size in batches.narratives]
    if not sizes or min(sizes) >= NARRATIVES_A_SAMPLE:
        return []
    return [
        Sentence(
            "Not the benchmark’s protocol: its samples are of {narratives_a_sample} narratives, those "
            "here of {least} to {most}, as no others were asked about.",
            narratives_a_sample=NARRATIVES_A_SAMPLE,
            least=min(sizes),
            most=max(sizes),
        )
    ]


def _kinds(analysed: Analysed, parse: str) -> Table:
    def of_kind(genre: str, name: str, analyses: Analyses) -> BoundedEstimate | None:
        return analyses.f1.get(genre) if name == "pooled" else analyses.kinds.get(genre, {}).get(name)

    figures = [
        figure(f"{genre} {name}", head, partial(of_kind, genre, name), group=GENRES[genre])
        for genre in _there(analyses.kinds for _, analyses in analysed)
        for name, head in _KINDS.items()
    ]
    title = Sentence("Multi-hop by kind, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, GROUP.key, title, figures, _POOLED)


def _unreadable(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Unreadable answers, {parse} parse (%)", parse=word(parse))
    return _by_genre(analysed, lambda analyses: analyses.unreadable, title, _UNREADABLE, best="")


def _unfaithful(analysed: Analysed, parse: str) -> Table:
    def of_order(order: str, name: str, analyses: Analyses) -> Any:
        rates = analyses.unfaithful.get(order)
        return getattr(rates, name) if rates else None

    figures: list[Figure] = []
    for order in ("first", "second"):
        rate, group = partial(partial, of_order, order), _order(order)
        figures += [
            count(f"{order} pairs", gettext_noop("Pairs"), rate("pairs"), group),
            count(f"{order} unreadable", gettext_noop("Unreadable"), rate("unreadable"), group),
            count(f"{order} missing", gettext_noop("Missing"), rate("missing"), group),
            figure(f"{order} of_all", gettext_noop("Of all pairs"), rate("of_all"), group=group, best="low", n=""),
            figure(f"{order} of_valid", gettext_noop("Of read pairs"), rate("of_valid"), group=group, best="low"),
        ]
    title = Sentence("Unfaithful answers, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, GROUP.key, title, figures, _UNFAITHFUL)
