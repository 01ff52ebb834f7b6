"""The benchmark's own tables and picture, filled from the run."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Cell, Column, Table, bounds_text
from benchmark.suites.opentom.data import BATCH_SIZE, GENRES
from benchmark.suites.opentom.measure import GROUP, Analyses
from benchmark.suites.reports import Published
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.tables import Analysed, Figure, analysed_of, at, count, figure, table_of, tables_of
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


ORDERS = {name: Sentence("{order} order", order=name.capitalize()) for name in ("first", "second")}


def _by_genre(key: str, heading: str, places: Mapping[str, str]) -> list[Published]:
    return [
        Published(
            f"{key}.{short}",
            genre,
            heading,
            {table: column.format(genre=genre) for table, column in places.items()},
            difference=key == "gap",
        )
        for genre, short in GENRES.items()
        if key != "gap" or genre != "Attitude"
    ]


PUBLISHED = (
    *_by_genre("f1", gettext_noop("Macro F1 (table 2)"), {"batches": "{genre} f1", "genres": "{genre}"}),
    *(
        Published(
            f"{name}.{GENRES[genre]}",
            labelled(genre, name),
            gettext_noop("Multi-hop by kind (table A7)"),
            {"kinds": f"{genre} {name}"},
        )
        for genre in GENRES
        if genre.startswith("Multi-hop")
        for name in ("fullness", "accessibility")
    ),
    *_by_genre("gap", gettext_noop("Mover’s view less observer’s (table 4)"), {"gap": "{genre}"}),
    *_by_genre(
        "unreadable",
        gettext_noop("Unreadable answers, the paper’s corruption rate (table A8)"),
        {"batches": "{genre} corrupted", "unreadable": "{genre}"},
    ),
    *(
        Published(
            f"unfaithful.{order}",
            title,
            gettext_noop("Unfaithful rate, of all pairs (table A9)"),
            {"unfaithful": f"{order} of_all"},
        )
        for order, title in ORDERS.items()
    ),
)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    makers = {
        "genres": _genres, "batches": _batches, "gap": _gap, "kinds": _kinds, "unreadable": _unreadable,
        "unfaithful": _unfaithful,
    }  # fmt: skip
    analysed = analysed_of(results, GROUP.key, Analyses)
    for name in ("batches", "kinds"):
        if not any(getattr(analyses, name) for _, analyses in analysed):
            makers.pop(name)
    return tables_of(results, GROUP.key, Analyses, makers)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of macro F1 by genre."""
    analysed = analysed_of(results, GROUP.key, Analyses)
    if not analysed:
        return {}

    def plot() -> Plot:
        rows, score = [ModelRow(entrant.model, analyses.f1) for entrant, analyses in analysed], gettext_noop("Macro F1")
        drawn = scores_by_part(rows, parse=results.parse, score=score, part="genre", short=dict(GENRES))
        return drawn.about(over="narratives")

    parts = {("genres", genre): genre for genre in GENRES}
    return {"genres": ShownPicture(gettext_noop("Macro F1 by genre"), plot, (GROUP.key,), parts=parts)}


def _there(analysed: Analysed, name: str) -> list[str]:
    """Return the genres of which some model has a figure of that name."""
    found = {genre for _, analyses in analysed for genre in getattr(analyses, name)}
    return [genre for genre in GENRES if genre in found]


def _genre_figures(analysed: Analysed, name: str, best: str = "high") -> list[Figure]:
    return [figure(genre, GENRES[genre], at(name, genre), best=best) for genre in _there(analysed, name)]


def _genres(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Macro F1 by genre, {parse} parse (%)", parse=word(parse))
    notes = [_F1] if any(analyses.batches for _, analyses in analysed) else [_F1, _NO_BATCHES]
    return table_of(analysed, GROUP.key, title, _genre_figures(analysed, "f1"), *notes)


def _gap(analysed: Analysed, parse: str) -> Table:
    def unreadable(genre: str, analyses: Analyses) -> str | None:
        gap = analyses.gap.get(genre)
        return " / ".join("–" if share is None else f"{100 * share:.1f}" for share in gap.unreadable) if gap else None

    def within(genre: str, analyses: Analyses) -> str | None:
        return bounds_text(analyses.gap[genre].bounds) if genre in analyses.gap else None

    gaps = [analyses.gap for _, analyses in analysed]
    bounded = dict.fromkeys(genre for of_model in gaps for genre in of_model)
    texts = (
        ("unreadable", gettext_noop("Unreadable (%)"), unreadable, _there(analysed, "gap")),
        (
            "within",
            gettext_noop("Bounds (points)"),
            within,
            [genre for genre in bounded if any(genre in of_model and of_model[genre].bounds for of_model in gaps)],
        ),
    )
    figures = _genre_figures(analysed, "gap", best="") + [
        (Column(key=f"{genre} {name}", header=GENRES[genre], group=group), partial(text, genre))
        for name, group, text, of_genres in texts
        for genre in of_genres
    ]
    title = Sentence("Mover’s view less observer’s, {parse} parse (percentage points of macro F1)", parse=word(parse))
    return table_of(analysed, GROUP.key, title, figures, _GAP)


def _batches(analysed: Analysed, parse: str) -> Table:
    def value(genre: str, name: str, analyses: Analyses) -> Cell | float | None:
        figures = analyses.batches.get(genre, {})
        return Cell(figures["f1"], bounds=figures["bounds"]) if figures and name == "f1" else figures.get(name)

    names = (("f1", "Mean", "high"), ("deviation", "SD", ""), ("corrupted", "Unreadable", ""))
    figures = [
        figure(f"{genre} {name}", header, partial(value, genre, name), group=GENRES[genre], best=best, unit="%")
        for genre in _there(analysed, "batches")
        for name, header, best in names
    ]
    batches = [row for _, analyses in analysed for row in analyses.batches.values()]
    notes = [_BATCHES, *([_OVERLAPPING] if any(row["overlapping"] for row in batches) else [])]
    title = Sentence("Macro F1 over five samples of fifty narratives, {parse} parse (%)", parse=word(parse))
    table = table_of(analysed, GROUP.key, title, figures, *notes)
    sizes = [size for row in batches for size in row["narratives"]]
    if not sizes or min(sizes) >= BATCH_SIZE:
        return table
    fewer = Sentence(
        "Not the benchmark’s protocol: its samples are of {narratives_a_sample} narratives, those "
        "here of {least} to {most}, as no others were asked about.",
        narratives_a_sample=BATCH_SIZE,
        least=min(sizes),
        most=max(sizes),
    )
    return replace(table, lead=[fewer, *table.lead])


def _kinds(analysed: Analysed, parse: str) -> Table:
    figures = [
        figure(
            f"{genre} {name}",
            head,
            at("f1", genre) if name == "pooled" else at("kinds", genre, name),
            group=GENRES[genre],
        )
        for genre in _there(analysed, "kinds")
        for name, head in _KINDS.items()
    ]
    title = Sentence("Multi-hop by kind, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, GROUP.key, title, figures, _POOLED)


def _unreadable(analysed: Analysed, parse: str) -> Table:
    title = Sentence("Unreadable answers, {parse} parse (%)", parse=word(parse))
    figures = _genre_figures(analysed, "unreadable", best="")
    return table_of(analysed, GROUP.key, title, figures, _UNREADABLE)


def _unfaithful(analysed: Analysed, parse: str) -> Table:
    def of_all(order: str, analyses: Analyses) -> Cell:
        return replace(Cell.of(at("unfaithful", order, "of_all")(analyses)), n=None)  # the pairs have a column

    counts = {
        "pairs": gettext_noop("Pairs"),
        "unreadable": gettext_noop("Unreadable"),
        "missing": gettext_noop("Missing"),
    }
    figures: list[Figure] = []
    for order, group in ORDERS.items():
        of_valid, low = at("unfaithful", order, "of_valid"), {"group": group, "best": "low"}
        figures += [
            *(count(f"{order} {name}", head, at("unfaithful", order, name), group) for name, head in counts.items()),
            figure(f"{order} of_all", gettext_noop("Of all pairs"), partial(of_all, order), **low),
            figure(f"{order} of_valid", gettext_noop("Of read pairs"), of_valid, **low),
        ]
    title = Sentence("Unfaithful answers, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, GROUP.key, title, figures, _UNFAITHFUL)
