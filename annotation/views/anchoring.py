"""Page of what suggestions did to the votes of a project, in pictures first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_GET

from annotation.access import project_access
from annotation.domain.anchoring import AlternativeAnnotator, Arm, BlindEvidence, DrawUnit, OverStories
from annotation.domain.anchoring.estimates import Estimate
from annotation.domain.anchoring.report import AnchoringReport, ArmsCompared
from annotation.models import Role
from annotation.models.user import name_on_pages
from annotation.services.anchoring import SourceRow, SuggestionEffect, report_of
from annotation.views.estimate_texts import (
    EstimateText,
    LargestText,
    largest_text,
    seconds_text,
    share_text,
    shift_text,
)
from core.joints import clauses
from core.views.charts import PERCENT, SIGNED_POINTS, DotChart, Row, dot_chart, no_intervals
from core.wording import counted


@require_GET
def anchoring(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what suggestions did to votes."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = report_of(access.project)
    context = {"report": report, "drawn_for": _drawn_for(report), "without_vote": _without_vote(report)}
    if report.votes is not None:
        tables = _tables(report.votes, report.models or ())
        context |= {
            "tables": tables,
            "charts": _charts(_named_rows(report.votes)),
            "dimensions": [_(part.name) for part in report.votes.by_dimension if part.arms.effect],
            "blank_models": [model.source for model in tables.all_models if model.blank],
            "lacking": no_intervals(estimate.estimate for estimate in tables.estimates()),
        }
    return render(request, "annotation/prefill/anchoring.html", access.context | context)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsOnPage:
    """A row of a table of arms: `shares` are of the shown arm, the blind one and their difference, `seen` is the
    difference of what was seen."""

    name: str
    counts: Mapping[str, int]
    shares: Sequence[EstimateText]
    times: Sequence[EstimateText]
    seen: EstimateText
    p: float | None
    p_adjusted: float | None
    effect: bool | None
    effect_reason: str | None
    largest: LargestText

    @classmethod
    def of(cls, name: str, row: ArmsCompared) -> ArmsOnPage:
        return cls(
            name=name,
            counts=row.counts,
            shares=[share_text(row.acceptance), share_text(row.blind_agreement), shift_text(row.difference)],
            times=[seconds_text(row.time.shown_ms), seconds_text(row.time.blind_ms)],
            seen=shift_text(row.as_seen.difference),
            p=row.p,
            p_adjusted=row.p_adjusted,
            effect=row.effect,
            effect_reason=row.effect_reason,
            largest=largest_text(row.largest),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOnPage:
    """A model that suggested: its estimates as (name, estimate, what it counts), what gold from blind votes rests on,
    and the alternative annotator test, with how many annotators it `won` against over stories. `blank` says that there
    is nothing to say of it."""

    source: str
    suggestions: int
    estimates: Sequence[tuple[str, EstimateText, str]]
    blank: bool
    blind: BlindEvidence
    test: AlternativeAnnotator
    over_stories: OverStories
    won: int | None

    @classmethod
    def of(cls, model: SourceRow, votes: ArmsCompared) -> ModelOnPage:
        accuracy, test, over_stories = model.accuracy, model.alternative_annotator, model.over_stories
        estimates = [
            (_("Chosen when shown"), share_text(votes.acceptance), "vote"),
            (_("Accuracy on all gold"), share_text(accuracy.all_gold), "cell"),
            (_("Accuracy on gold from blind votes"), share_text(accuracy.blind_gold), "cell"),
            (_("Difference on the cells that have both"), shift_text(accuracy.both.difference), "cell"),
        ]
        has_values = any(estimate.value is not None for _name, estimate, _unit in estimates)
        return cls(
            source=model.source,
            suggestions=model.suggestions,
            estimates=estimates,
            blank=not any(votes.counts.values()) and not has_values,
            blind=model.blind_gold,
            test=test,
            over_stories=over_stories,
            won=None if over_stories.winning_rate is None else round(over_stories.winning_rate * test.tested),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of the page: rows over all votes and by dimension, by annotator and by model, and what a reveal did as
    (name, estimate)."""

    rows: Sequence[ArmsOnPage]
    people: Sequence[ArmsOnPage]
    all_models: Sequence[ModelOnPage]
    reveal: Sequence[tuple[str, EstimateText]]

    @property
    def models(self) -> list[ModelOnPage]:
        """The models of which there is something to say."""
        return [model for model in self.all_models if not model.blank]

    def estimates(self) -> Iterator[EstimateText]:
        """Yield every estimate of the page that has an interval or a reason for none."""
        for row in (*self.rows, *self.people):
            yield from (*row.shares, *row.times, row.seen)
        yield from (estimate for model in self.models for _name, estimate, _unit in model.estimates)
        yield from (estimate for _name, estimate in self.reveal)


Named = tuple[str, ArmsCompared]
"""A row of the report with its name on the page."""


def _named_rows(votes: AnchoringReport) -> list[Named]:
    return [(_("All"), votes.overall), *((_(part.name), part.arms) for part in votes.by_dimension)]


def _tables(votes: AnchoringReport, models: Sequence[SourceRow]) -> Tables:
    reveal, by_source = votes.overall.reveal, {part.name: part.arms for part in votes.by_source}
    return Tables(
        rows=[ArmsOnPage.of(name, row) for name, row in _named_rows(votes)],
        people=[ArmsOnPage.of(name_on_pages(part.name), part.arms) for part in votes.by_annotator],
        all_models=[ModelOnPage.of(model, by_source[model.source]) for model in models],
        reveal=[
            (_("Agrees before"), share_text(reveal.before)),
            (_("Agrees after"), share_text(reveal.after)),
            (_("Moved toward the suggestion"), share_text(reveal.toward)),
            (_("Moved away from it"), share_text(reveal.away)),
        ],
    )


def _charts(rows: Sequence[Named]) -> list[DotChart]:
    return [
        dot_chart(
            _("How far suggestions shift votes: shown minus blind, in points"),
            [_point(name, row.difference) for name, row in rows],
            notation=SIGNED_POINTS,
            zero=True,
            holds=(-0.1, 0.1),
        ),
        dot_chart(
            _("How often a shown suggestion is chosen"),
            [_point(name, row.acceptance) for name, row in rows],
            notation=PERCENT,
            holds=(1.0,),
        ),
    ]


def _point(name: str, estimate: Estimate) -> Row:
    return Row(label=name, first=estimate, n=counted(estimate.n, "vote"))


_UNITS = {
    DrawUnit.CELL: pgettext_lazy("unit of a draw", "cell"),
    DrawUnit.PROPOSITION: pgettext_lazy("unit of a draw", "proposition"),
    DrawUnit.STORY: pgettext_lazy("unit of a draw", "story"),
}


def _drawn_for(report: SuggestionEffect) -> str:
    """Return what the arms were drawn for, as the page says it; of several, each with its number of votes."""
    units = {str(_UNITS[unit]): count for unit, count in report.drawn_for.items()}
    if len(units) == 1:
        return _("for each {units} and annotator").format(units=next(iter(units)))
    return clauses(
        *(
            _("for each {unit} and annotator: {count:,} votes").format(unit=unit, count=count)
            for unit, count in units.items()
        )
    )


_NO_VOTE = {
    Arm.SHOWN: gettext_lazy("{count:,} of {drawn:,} drawn shown"),
    Arm.BLIND: gettext_lazy("{count:,} of {drawn:,} drawn blind"),
    Arm.REVEAL: gettext_lazy("{count:,} of {drawn:,} drawn to be revealed"),
}


def _without_vote(report: SuggestionEffect) -> str:
    """Return how many cells of each arm that was drawn have no vote."""
    cast = report.votes.overall.counts if report.votes else {}
    drawn = {arm: count + cast.get(arm, 0) for arm, count in report.without_vote.items()}
    return clauses(
        *(str(_NO_VOTE[arm]).format(count=report.without_vote[arm], drawn=of) for arm, of in drawn.items() if of)
    )
