"""The benchmark's own tables and picture, filled from the run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Column, Row, Table
from benchmark.domain.tables.estimates import bounds_text, estimate, estimated, share_column
from benchmark.domain.tables.sourced import with_cell
from benchmark.domain.tables.table import Cells
from benchmark.suites.opentom.data import GENRES
from benchmark.suites.opentom.measure import GROUP, Analyses, Batches, Gap
from benchmark.suites.reports import Published
from benchmark.suites.results import EntrantResults, ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import findings_of, row_of
from benchmark.suites.showing.missing import missing_sentences
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


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's tables 2, 4, A7, A8 and A9."""
    genres = [
        Published(f"f1.{short}", genre, gettext_noop("Macro F1 (table 2)"), {"batches": f"{genre} f1", "genres": genre})
        for genre, short in GENRES.items()
    ]
    kinds = [
        Published(
            f"{name}.{GENRES[genre]}",
            labelled(genre, name),
            gettext_noop("Multi-hop by kind (table A7)"),
            {"kinds": f"{genre} {name}"},
        )
        for genre in GENRES
        if genre.startswith("Multi-hop")
        for name in ("fullness", "accessibility")
    ]
    gaps = [
        Published(
            f"gap.{short}",
            genre,
            gettext_noop("Mover’s view less observer’s (table 4)"),
            {"gap": genre},
            difference=True,
        )
        for genre, short in GENRES.items()
        if genre != _ATTITUDE
    ]
    corrupted = [
        Published(
            f"unreadable.{short}",
            genre,
            gettext_noop("Unreadable answers, the paper’s corruption rate (table A8)"),
            {"batches": f"{genre} corrupted", "unreadable": genre},
        )
        for genre, short in GENRES.items()
    ]
    unfaithful = [
        Published(
            f"unfaithful.{order}",
            Sentence("{order} order", order=order.capitalize()),
            gettext_noop("Unfaithful rate, of all pairs (table A9)"),
            {"unfaithful": f"{order} of_all"},
        )
        for order in ("first", "second")
    ]
    return (*genres, *kinds, *gaps, *corrupted, *unfaithful)


PUBLISHED = _published()


Analysed = Sequence[tuple[EntrantResults, Analyses]]


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    analysed = _analysed(results)
    if not analysed:
        return {}
    makers: dict[str, Callable[[Analysed, str], Table]] = {
        "genres": _genres, "batches": _batches, "gap": _gap, "kinds": _kinds, "unreadable": _unreadable,
        "unfaithful": _unfaithful,
    }  # fmt: skip
    lacking = {
        *(() if _there(analyses.batches for _, analyses in analysed) else ("batches",)),
        *(() if _there(analyses.kinds for _, analyses in analysed) else ("kinds",)),
    }
    return {
        name: ShownTable(partial(make, analysed, results.parse), (GROUP.key,))
        for name, make in makers.items()
        if name not in lacking
    }


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of macro F1 by genre."""
    analysed = _analysed(results)
    if not analysed:
        return {}
    plot, parts = partial(_plot, analysed, results.parse), {("genres", genre): genre for genre in GENRES}
    return {"genres": ShownPicture(gettext_noop("Macro F1 by genre"), plot, (GROUP.key,), parts=parts)}


def _analysed(results: ParseResults) -> Analysed:
    return findings_of(results.analysed.get(GROUP.key, ()), results.parse, Analyses)


def _entrants(analysed: Analysed) -> list[EntrantResults]:
    return [entrant for entrant, _ in analysed]


def _plot(analysed: Analysed, parse: str) -> Plot:
    rows = [ModelRow(entrant.model, analyses.f1) for entrant, analyses in analysed]
    drawn = scores_by_part(rows, parse=parse, score=gettext_noop("Macro F1"), part="genre", short=dict(GENRES))
    return drawn.about(over="narratives")


def _there(by_genre: Iterable[Container[str]]) -> list[str]:
    """The genres of which some model has a figure."""
    figures = list(by_genre)
    return [genre for genre in GENRES if any(genre in of_model for of_model in figures)]


def _table(
    title: str, columns: Sequence[Column], rows: Sequence[Row], entrants: Sequence[EntrantResults], note: str
) -> Table:
    return Table(
        title=title, columns=columns, rows=rows, lead=missing_sentences(columns, entrants, GROUP.key), notes=[note]
    )


def _by_genre(
    analysed: Analysed,
    estimates_of: Callable[[Analyses], Mapping[str, BoundedEstimate]],
    title: str,
    note: str,
    *,
    best: str = "high",
) -> Table:
    there = _there(estimates_of(analyses) for _, analyses in analysed)
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(estimated(genre, GENRES[genre], digits=1, best=best) for genre in there),
    ]
    rows = []
    for entrant, analyses in analysed:
        cells: Cells = {}
        for genre in there:
            cells |= estimate(genre, estimates_of(analyses).get(genre))
        rows.append(row_of(entrant, GROUP.key, cells))
    return _table(title, columns, rows, _entrants(analysed), note)


_NO_BATCHES = gettext_noop(
    "No mean over five samples of fifty narratives: none of these models was asked about the questions of all."
)


def _genres(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Macro F1 by genre, {parse} parse (%)", parse=word(parse))
    table = _by_genre(analysed, lambda analyses: analyses.f1, title, _F1)
    has_batches = _there(analyses.batches for _, analyses in analysed)
    return table if has_batches else replace(table, notes=[*table.notes, _NO_BATCHES])


def _gap(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Mover’s view less observer’s, {parse} parse (percentage points of macro F1)", parse=word(parse))
    table = _by_genre(analysed, lambda analyses: analyses.gap, title, _GAP, best="")
    unreadable = [
        Column(key=f"{genre} unreadable", header=GENRES[genre], group=gettext_noop("Unreadable (%)"))
        for genre in _there(analyses.gap for _, analyses in analysed)
    ]
    rows = list(table.rows)
    for at, (_, analyses) in enumerate(analysed):
        for genre, gap in analyses.gap.items():
            rows[at] = with_cell(rows[at], f"{genre} unreadable", _both_sides(gap))
            rows[at] = with_cell(rows[at], f"{genre} within", bounds_text(gap.bounds))
    bounded = dict.fromkeys(genre for _, analyses in analysed for genre, gap in analyses.gap.items() if gap.bounds)
    within = [
        Column(key=f"{genre} within", header=GENRES[genre], group=gettext_noop("Bounds (points)")) for genre in bounded
    ]
    return replace(table, columns=[*table.columns, *unreadable, *within], rows=rows)


def _both_sides(gap: Gap) -> str:
    """Return the unreadable shares of both sides in per cent."""
    return " / ".join("–" if share is None else f"{100 * share:.1f}" for share in gap.unreadable)


def _batches(analysed: Analysed, parse: str) -> Table:
    there = _there(analyses.batches for _, analyses in analysed)
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for genre in there:
        columns += [
            share_column(f"{genre} f1", "Mean", group=GENRES[genre], digits=1, worst=f"{genre} worst"),
            share_column(f"{genre} deviation", "SD", group=GENRES[genre], digits=1, best=""),
            share_column(f"{genre} corrupted", "Unreadable", group=GENRES[genre], digits=1, best=""),
        ]
    rows = []
    for entrant, analyses in analysed:
        cells: Cells = {}
        for genre in there:
            cells |= _batch_cells(genre, analyses.batches.get(genre))
        rows.append(row_of(entrant, GROUP.key, cells))
    title = Sentence("Macro F1 over five samples of fifty narratives, {parse} parse (%)", parse=word(parse))
    table = _table(title, columns, rows, _entrants(analysed), _BATCHES)
    of_genres = [batches for _, analyses in analysed for batches in analyses.batches.values()]
    notes = [*table.notes, *([_OVERLAPPING] if any(batches.overlapping for batches in of_genres) else [])]
    return replace(table, lead=[*_fewer_narratives(of_genres), *table.lead], notes=notes)


def _batch_cells(genre: str, batches: Batches | None) -> Cells:
    if batches is None:
        return {f"{genre} {name}": None for name in ("f1", "deviation", "corrupted", "worst")}
    return {
        f"{genre} f1": batches.f1,
        f"{genre} deviation": batches.deviation,
        f"{genre} corrupted": batches.corrupted,
        f"{genre} worst": batches.worst,
    }


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
    genres = _there(analyses.kinds for _, analyses in analysed)
    heads = {
        "pooled": gettext_noop("Pooled"),
        "mean": gettext_noop("Mean"),
        "fullness": gettext_noop("Fullness"),
        "accessibility": gettext_noop("Accessibility"),
    }
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for genre in genres:
        columns += [estimated(f"{genre} {name}", head, group=GENRES[genre], digits=1) for name, head in heads.items()]
    rows = []
    for entrant, analyses in analysed:
        cells: Cells = {}
        for genre in genres:
            estimates = {"pooled": analyses.f1.get(genre), **analyses.kinds.get(genre, {})}
            for name in heads:
                cells |= estimate(f"{genre} {name}", estimates.get(name))
        rows.append(row_of(entrant, GROUP.key, cells))
    title = Sentence("Multi-hop by kind, {parse} parse (%)", parse=word(parse))
    return _table(title, columns, rows, _entrants(analysed), _POOLED)


def _unreadable(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Unreadable answers, {parse} parse (%)", parse=word(parse))
    return _by_genre(analysed, lambda analyses: analyses.unreadable, title, _UNREADABLE, best="")


def _unfaithful(analysed: Analysed, parse: str) -> Table:
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for order in ("first", "second"):
        group = Sentence("{order} order", order=order.capitalize())
        columns += [
            Column(key=f"{order} pairs", header=gettext_noop("Pairs"), group=group, kind="count"),
            Column(key=f"{order} unreadable", header=gettext_noop("Unreadable"), group=group, kind="count"),
            Column(key=f"{order} missing", header=gettext_noop("Missing"), group=group, kind="count"),
            estimated(f"{order} of_all", gettext_noop("Of all pairs"), group=group, digits=1, best="low", n=""),
            estimated(f"{order} of_valid", gettext_noop("Of read pairs"), group=group, digits=1, best="low"),
        ]
    rows = []
    for entrant, analyses in analysed:
        cells: Cells = {}
        for order, rates in analyses.unfaithful.items():
            cells |= {
                f"{order} pairs": rates.pairs,
                f"{order} unreadable": rates.unreadable,
                f"{order} missing": rates.missing,
            }
            cells |= estimate(f"{order} of_all", rates.of_all) | estimate(f"{order} of_valid", rates.of_valid)
        rows.append(row_of(entrant, GROUP.key, cells))
    title = Sentence("Unfaithful answers, {parse} parse (%)", parse=word(parse))
    return _table(title, columns, rows, _entrants(analysed), _UNFAITHFUL)
