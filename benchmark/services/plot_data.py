"""Data of the plots of a document, by name; a plot is drawn when it is asked for. Names of plots of one parse end in
it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchmark.domain import plots
from benchmark.domain.drawn import Lead, ModelRow, Plot, RankedRow, Reference
from benchmark.domain.inference import ComparedModel
from benchmark.domain.tables import Absent, absent_text
from benchmark.domain.tables.estimates import metric_of
from benchmark.services.absences import without_metrics
from benchmark.services.asked_again_tables import control_pictures, method_pictures
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import Document, absent_from, by_group, own_of, results_of, suites_of
from benchmark.services.entered_rows import references_in, references_of
from benchmark.suites.contract import Suite
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture
from benchmark.suites.showing.entrants import in_rank_order, models_of, score_of
from benchmark.suites.showing.missing import missing_of
from core.messages import Sentence, gettext_noop, word
from judge.domain.corrections import CorrectedScore

WIDTHS = ("page", "column")
"""The uses of a picture: the text of a paper, or a column of it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """`plot` binds what is drawn to its data; `absent` are models that it does not have, `references` rows of papers
    that stand in it. `whole` is as `ShownPicture` has it."""

    title: str
    plot: Callable[[], Plot]
    absent: tuple[Absent, ...] = ()
    whole: bool = False
    references: Sequence[Reference] = ()

    def framed(self) -> Plot:
        """The plot with what its caption has to say."""
        plot = self.plot()
        note = "; ".join(filter(None, [plot.frame.note, _not_shown(self.absent)]))
        return plot.about(over=plot.frame.over, note=note).beside(self.references)

    def draw(self, *, format: str, theme: str = "light", width: str = "page") -> bytes:
        return self.framed().draw(format=format, theme=theme, width=width)


NAMED = 6
"""Most absent models that a caption names; the tables name all."""


def _not_shown(absent: Sequence[Absent]) -> str:
    if not absent:
        return ""
    more = Sentence("; {absent} more", absent=len(absent) - NAMED) if len(absent) > NAMED else ""
    return Sentence("without figures here: {absent}{more}", absent=absent_text(absent[:NAMED]), more=more)


def plots_of(document: Document, failed: list[str] | None = None) -> dict[str, Picture]:
    """Return the plots by name that the reader of the document may see. `failed` is as `tables_of` has it."""
    pictures = dict(_leaderboards(document))
    for parse in PARSES:
        for suite in suites_of(document):
            results = results_of(document, suite, parse)
            by_name = {
                **dict(_matrices(document, results)),
                **{
                    name: _picture_of(document, picture, parse, _references(document, name))
                    for name, picture in _parts(suite, results)
                },
                **{
                    name: _picture_of(document, picture, parse, _entered_in(document, suite, picture))
                    for name, picture in own_of(suite.results.pictures, results, failed).items()
                },
                **{name: _picture_of(document, picture, parse) for name, picture in _beside(document, parse)},
            }
            pictures |= {f"{name}-{parse}": picture for name, picture in by_name.items()}
    return {name: picture for name, picture in pictures.items() if picture.whole or not document.withheld}


def _beside(document: Document, parse: str) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the pictures of controls and of methods."""
    if document.controls:
        yield from control_pictures(document.controls, parse)
    if document.by_method:
        yield from method_pictures(document.by_method, parse)


def _of(title: str, parse: str) -> str:
    return Sentence("{title}, {parse} parse", title=title, parse=word(parse))


def _picture_of(document: Document, picture: ShownPicture, parse: str, references: Sequence[Reference] = ()) -> Picture:
    """Return a suite's plot with the models that have no figures of the parse."""
    absent = absent_from(document, *picture.groups)
    absent += [
        model for group in picture.groups for model in without_metrics(document.groups.get(group, ()), group, parse)
    ]
    return Picture(_of(picture.title, parse), picture.plot, tuple(absent), picture.whole, references)


def _leaderboards(document: Document) -> Iterator[tuple[str, Picture]]:
    """Yield the ranking of each metric group."""
    for group, entrants in by_group(document).items():
        if entrants:
            title, absent = (
                Sentence("{score_title}, both parses", score_title=group_named(group).score_title),
                tuple(absent_from(document, group)),
            )
            score, references = group_named(group).score, _references(document, group)
            entered = [reference for reference in references if score in reference.values]
            plot = partial(_leaderboard_plot, entrants, group)
            yield f"leaderboard-{group}", Picture(title, plot, absent, whole=True, references=entered)


def _references(document: Document, place: str) -> list[Reference]:
    """Return the rows of papers that have a figure in the table named `place`."""
    rows = document.entered
    return references_of(rows, suites_of(document)[0], place) if rows else []


def _entered_in(document: Document, suite: Suite, picture: ShownPicture) -> list[Reference]:
    """Return the rows of papers that have a figure in a picture of the suite's own."""
    rows = document.entered if picture.parts else ()
    return references_in(rows, suite, picture.parts) if rows else []


def _leaderboard_plot(entrants: Sequence[EntrantResults], group: str) -> Plot:
    described, rows = group_named(group), leaderboard_rows(entrants, group)
    drawn = plots.leaderboard(rows, score=described.score_title, key=described.score)
    return drawn.about(over=units_of_group(group))


def leaderboard_rows(entrants: Sequence[EntrantResults], group: str) -> list[RankedRow]:
    """Return the row of each entrant."""
    return [_leaderboard_row(entrant, group) for entrant in entrants]


def _leaderboard_row(entrant: EntrantResults, group: str) -> RankedRow:
    missing, ranking = missing_of(entrant, group), entrant.ranking.get("repaired")
    return RankedRow(
        model=entrant.model,
        group=entrant.group["repaired"],
        ranks=ranking and ranking.ranks,
        official=score_of(entrant, "official", group),
        repaired=score_of(entrant, "repaired", group),
        corrected=corrected_score_of(entrant, group),
        left_out=missing.left_out,
        bounds=[missing.low, missing.high] if missing.low != missing.high else None,
    )


def corrected_score_of(entrant: EntrantResults, group: str) -> CorrectedScore | None:
    """Return the figure that the group is ranked by without the judge's error, None where there is none."""
    return entrant.corrected.scores.get(group_named(group).score) if entrant.corrected else None


MATRIX_FROM = 3
"""Two models need no picture of their pairs."""


def _matrices(document: Document, results: ParseResults) -> Iterator[tuple[str, Picture]]:
    """The differences between all pairs."""
    for group, entrants in results.entrants.items():
        if len(in_rank_order(entrants, results.parse)) >= MATRIX_FROM:
            title = Sentence("{score_title}: differences between all pairs", score_title=group_named(group).score_title)
            plot, absent = partial(_pairs, entrants, group, results.parse), _unpaired(document, group, results.parse)
            yield f"pairs-{group}", Picture(_of(title, results.parse), plot, tuple(absent))


def _unpaired(document: Document, group: str, parse: str) -> list[Absent]:
    """Return the models that are absent, and those without a rank in the parse; people are not compared."""
    models = models_of(document.groups.get(group, ()))
    ranked = {model.key for model in in_rank_order(models, parse)}
    unpaired = absent_from(document, group)
    for model in models:
        if model.key not in ranked:
            ranking = model.ranking.get(parse)
            why = (ranking and ranking.reason) or model.metrics.reason or gettext_noop("not ranked")
            unpaired.append(Absent(model.model, why.removesuffix(".")))
    return unpaired


def _pairs(entrants: Sequence[EntrantResults], group: str, parse: str) -> Plot:
    ranked = in_rank_order(entrants, parse)
    cells = [[_pair(first.ranking[parse], second.key) for second in ranked] for first in ranked]
    models = [entrant.model for entrant in ranked]
    return plots.pair_matrix(models, cells, score=group_named(group).score_title, parse=parse)


def _pair(model: ComparedModel | None, key: str) -> Lead | None:
    ahead = model.against.get(key) if model else None
    return Lead(value=ahead.difference, significant=ahead.differs) if ahead else None


MOST_PANELS = 30


def _parts(suite: Suite, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the score by category, unless the suite has its own plot of that, up to as many panels as can be told
    apart."""
    part = suite.results.category_noun
    for group, read in results.read.items():
        rows = [_category_values(entrant, group, results.parse) for entrant in read]
        panels = {value for row in rows for value in row.values}
        if suite.draws_categories(group_named(group)) and 1 < len(panels) <= MOST_PANELS:
            title = Sentence("{score_title} by {part}", score_title=group_named(group).score_title, part=part)
            plot = partial(_by_part, suite, rows, group, part, results.parse)
            yield f"categories-{group}", ShownPicture(title, plot)


def _by_part(suite: Suite, rows: Sequence[ModelRow], group: str, part: str, parse: str) -> Plot:
    score = group_named(group).score_title
    drawn = plots.scores_by_part(rows, parse=parse, score=score, part=part, short=suite.results.categories)
    return drawn.about(over=units_of_group(group))


def _category_values(entrant: EntrantResults, group: str, parse: str) -> ModelRow:
    """Return the figures of one entrant by category."""
    rows = entrant.parses.by_category(parse).items()
    return ModelRow(entrant.model, {category: metric_of(row, group_named(group).score) for category, row in rows})


def comparison_picture(comparison: Comparison) -> Picture:
    """Return the plot of two models, story by story."""
    title = Sentence(
        "{first} and {second} by {group}",
        first=comparison.first,
        second=comparison.second,
        group=nouns_of_group(comparison.group)[0],
    )
    return Picture(title, partial(_compared, comparison))


def _compared(comparison: Comparison) -> Plot:
    overall = next(row for row in comparison.rows if row.key == group_named(comparison.group).score)
    return plots.two_models(
        [(story.first, story.second) for story in comparison.stories],
        first=comparison.first,
        second=comparison.second,
        score=group_named(comparison.group).score_title,
        noun=nouns_of_group(comparison.group),
        difference=overall,
    )
