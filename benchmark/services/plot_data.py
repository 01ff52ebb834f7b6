"""Data of the plots of a document, by name; a plot is drawn when it is asked for. Names of plots of one parse end in
it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchmark.domain import plots
from benchmark.domain.drawn import Lead, ModelRow, Plot, Reference
from benchmark.domain.tables import MISSING, Absent, absent_text
from benchmark.services.absences import without_metrics
from benchmark.services.across import ALL, OF_MODEL, SuiteRanking, models_across
from benchmark.services.asked_again_tables import control_pictures, method_pictures
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import Document, absent_from, by_group, own_of, results_of, suites_of
from benchmark.services.entered_rows import references_in, references_of
from benchmark.services.result_tables import leaderboard_rows
from benchmark.suites.contract import Suite
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture
from benchmark.suites.showing.entrants import in_rank_order, models_of
from core.messages import Sentence, gettext_noop, word

WIDTHS = ("page", "column")
"""The uses of a picture: the text of a paper, or a column of it."""


NAMED = 6
"""Most absent models that a caption names; the tables name all."""


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
        plot, note = self.plot(), ""
        if self.absent:
            count = len(self.absent) - NAMED
            more = Sentence("; {absent} more", absent=count) if count > 0 else ""
            text = absent_text(self.absent[:NAMED])
            note = Sentence("without figures here: {absent}{more}", absent=text, more=more)
        note = "; ".join(filter(None, [plot.frame.note, note]))
        return plot.about(over=plot.frame.over, note=note).beside(self.references)

    def draw(self, *, format: str, theme: str = "light", width: str = "page") -> bytes:
        return self.framed().draw(format=format, theme=theme, width=width)


def plots_of(document: Document, failed: list[str] | None = None) -> dict[str, Picture]:
    """Return the plots by name that the reader of the document may see. `failed` is as `tables_of` has it."""
    pictures = {
        f"leaderboard-{group}": _leaderboard(document, entrants, group)
        for group, entrants in by_group(document).items()
        if entrants
    }
    for parse in PARSES:
        controls = control_pictures(document.controls, parse) if document.controls else ()
        methods = method_pictures(document.by_method, parse) if document.by_method else ()
        beside = dict([*controls, *methods])
        for suite in suites_of(document):
            results, rows = results_of(document, suite, parse), document.entered or ()
            pictures |= {f"{name}-{parse}": picture for name, picture in _matrices(document, results)}
            for name, picture in _categories(suite, results):
                references = references_of(rows, suite, name)
                pictures[f"{name}-{parse}"] = _picture(document, picture, parse, references)
            for name, picture in own_of(suite.results.pictures, results, failed).items():
                references = references_in(rows, suite, picture.parts)
                pictures[f"{name}-{parse}"] = _picture(document, picture, parse, references)
            for name, picture in beside.items():
                pictures[f"{name}-{parse}"] = _picture(document, picture, parse)
    return {name: picture for name, picture in pictures.items() if picture.whole or not document.withheld}


def _picture(document: Document, picture: ShownPicture, parse: str, references: Sequence[Reference] = ()) -> Picture:
    """Return a plot of one parse with the models that have no figures of it."""
    absent = absent_from(document, *picture.groups)
    for group in picture.groups:
        absent += without_metrics(document.groups.get(group, ()), group, parse)
    title = Sentence("{title}, {parse} parse", title=picture.title, parse=word(parse))
    return Picture(title, picture.plot, tuple(absent), picture.whole, references)


def _leaderboard(document: Document, entrants: Sequence[EntrantResults], group: str) -> Picture:
    """Return the ranking of a metric group."""
    described = group_named(group)

    def plot() -> Plot:
        rows = leaderboard_rows(entrants, group)
        drawn = plots.leaderboard(rows, score=described.score_title, key=described.score)
        return drawn.about(over=units_of_group(group))

    references = references_of(document.entered or (), suites_of(document)[0], group)
    entered = [reference for reference in references if described.score in reference.values]
    title = Sentence("{score_title}, both parses", score_title=described.score_title)
    return Picture(title, plot, tuple(absent_from(document, group)), whole=True, references=entered)


MATRIX_FROM = 3
"""Two models need no picture of their pairs."""


def _matrices(document: Document, results: ParseResults) -> Iterator[tuple[str, Picture]]:
    """Yield the differences between all pairs. People are not compared."""
    parse = results.parse
    for group, entrants in results.entrants.items():
        ranked = {entrant.key for entrant in in_rank_order(entrants, parse)}
        if len(ranked) < MATRIX_FROM:
            continue
        absent = absent_from(document, group)
        for model in models_of(entrants):
            if model.key not in ranked:
                ranking = model.ranking.get(parse)
                why = (ranking and ranking.reason) or model.metrics.reason or gettext_noop("not ranked")
                absent.append(Absent(model.model, why.removesuffix(".")))
        score = group_named(group).score_title
        title = Sentence("{score_title}: differences between all pairs", score_title=score)
        title = Sentence("{title}, {parse} parse", title=title, parse=word(parse))
        yield f"pairs-{group}", Picture(title, partial(_pairs, entrants, group, parse), tuple(absent))


def _pairs(entrants: Sequence[EntrantResults], group: str, parse: str) -> Plot:
    ranked = in_rank_order(entrants, parse)
    cells: list[list[Lead | None]] = []
    for first in ranked:
        ranking = first.ranking[parse]
        leads = [ranking.against.get(second.key) if ranking else None for second in ranked]
        cells.append([lead and Lead(value=lead.difference or 0.0, significant=lead.differs) for lead in leads])
    models = [entrant.model for entrant in ranked]
    return plots.pair_matrix(models, cells, score=group_named(group).score_title, parse=parse)


MOST_PANELS = 30


def _categories(suite: Suite, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the score by category, unless the suite has its own plot of that, up to as many panels as can be told
    apart."""
    part = suite.results.category_noun
    for group, read in results.read.items():
        described = group_named(group)
        rows = []
        for entrant in read:
            by_category = entrant.parses.by_category(results.parse).items()
            rows.append(ModelRow(entrant.model, {name: row.cell(described.score) for name, row in by_category}))
        panels = {value for row in rows for value in row.values}
        if suite.draws_categories(described) and 1 < len(panels) <= MOST_PANELS:
            title = Sentence("{score_title} by {part}", score_title=described.score_title, part=part)
            yield f"categories-{group}", ShownPicture(title, partial(_by_part, suite, rows, group, results.parse))


def _by_part(suite: Suite, rows: Sequence[ModelRow], group: str, parse: str) -> Plot:
    score, part = group_named(group).score_title, suite.results.category_noun
    drawn = plots.scores_by_part(rows, parse=parse, score=score, part=part, short=suite.results.categories)
    return drawn.about(over=units_of_group(group))


def comparison_picture(comparison: Comparison) -> Picture:
    """Return the plot of two models, story by story."""
    title = Sentence(
        "{first} and {second} by {group}",
        first=comparison.first,
        second=comparison.second,
        group=nouns_of_group(comparison.group)[0],
    )

    def plot() -> Plot:
        overall = next(row for row in comparison.rows if row.key == group_named(comparison.group).score)
        return plots.two_models(
            [(story["first"], story["second"]) for story in comparison.stories],
            first=comparison.first,
            second=comparison.second,
            score=group_named(comparison.group).score_title,
            noun=nouns_of_group(comparison.group),
            difference=overall,
        )

    return Picture(title, plot)


# --- models across suites
def pictures_across(rankings: Sequence[SuiteRanking], model: str = "") -> dict[str, Picture]:
    """Return the pictures by name: of all models, or of one by its key."""
    if model:
        title = Sentence("{model} across suites", model=models_across(rankings)[model])
        return {OF_MODEL: Picture(title, partial(_model_across, rankings, model, title))}
    return {ALL: Picture(gettext_noop("Models across suites"), partial(_all_across, rankings))}


def _all_across(rankings: Sequence[SuiteRanking]) -> Plot:
    ranked, models = [ranking for ranking in rankings if ranking.places], models_across(rankings)
    suites = []
    for ranking in ranked:
        places = (ranking.places.get(key) for key in models)
        suites.append((ranking.title, [place.metric if place else None for place in places], ranking.chance))
    return plots.models_across(list(models.values()), suites).about(over=_units(ranked))


def _model_across(rankings: Sequence[SuiteRanking], model: str, title: str) -> Plot:
    suites = []
    for ranking in rankings:
        if place := ranking.places.get(model):
            ends = f" [{place.ranks[0]}, {place.ranks[1]}]" if place.ranks else ""
            rank = Sentence("{rank}{ends} of {ranked}", rank=place.rank, ends=ends, ranked=ranking.ranked)
            suites.append((ranking.title, place.metric, ranking.chance, MISSING if place.rank is None else rank))
    return plots.model_across(title, suites).about(over=_units(rankings))


def _units(rankings: Sequence[SuiteRanking]) -> str:
    """Name what is resampled whole in these rankings' suites."""
    return " or ".join(dict.fromkeys(suite_named(group_suite(ranking.group)).cluster[1] for ranking in rankings))
