"""Page of what suggestions did to the votes of a project, in pictures first."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_GET

from annotation.access import project_access
from annotation.domain.anchoring import Arm, DrawUnit
from annotation.domain.anchoring.estimates import Estimate
from annotation.domain.anchoring.report import AnchoringReport, ArmsCompared
from annotation.models import Role
from annotation.models.user import name_on_pages
from annotation.services.anchoring import SourceRow, SuggestionEffect, report_of
from annotation.views.estimate_texts import largest_text, seconds_text, share_text, shift_text
from core.joints import clauses
from core.views.charts import PERCENT, SIGNED_POINTS, DotChart, Row, dot_chart, no_intervals
from core.views.pages import Context
from core.wording import counted


@require_GET
def anchoring(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what suggestions did to votes."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = report_of(access.project)
    context = {"report": report, "drawn_for": _drawn_for(report), "without_vote": _without_vote(report)}
    if report.votes is not None:
        context["tables"] = _tables(report.votes, report.models or ())
        context["dimensions"] = [_(part.name) for part in report.votes.by_dimension if part.arms.effect]
    return render(request, "annotation/prefill/anchoring.html", access.context | context)


Named = tuple[str, ArmsCompared]
"""A row of the report with its name on the page."""


def _row(name: str, row: ArmsCompared) -> Context:
    """Return a row of a table of arms: `shares` are of the shown arm, the blind one and their difference, `seen` is the
    difference of what was seen."""
    return {
        "name": name,
        "counts": row.counts,
        "shares": [share_text(row.acceptance), share_text(row.blind_agreement), shift_text(row.difference)],
        "times": [seconds_text(row.time.shown_ms), seconds_text(row.time.blind_ms)],
        "seen": shift_text(row.as_seen.difference),
        "p": row.p,
        "p_adjusted": row.p_adjusted,
        "effect": row.effect,
        "effect_reason": row.effect_reason,
        "largest": largest_text(row.largest),
    }


def _model(model: SourceRow, votes: ArmsCompared) -> Context:
    """Return a model that suggested: its estimates as (name, text, what it counts), what gold from blind votes rests
    on, and the alternative annotator test, with how many annotators it `won` against over stories."""
    accuracy, test, over_stories = model.accuracy, model.alternative_annotator, model.over_stories
    won = None if over_stories.winning_rate is None else round(over_stories.winning_rate * test.tested)
    return {
        "source": model.source,
        "suggestions": model.suggestions,
        "estimates": [
            (_("Chosen when shown"), share_text(votes.acceptance), "vote"),
            (_("Accuracy on all gold"), share_text(accuracy.all_gold), "cell"),
            (_("Accuracy on gold from blind votes"), share_text(accuracy.blind_gold), "cell"),
            (_("Difference on the cells that have both"), shift_text(accuracy.both.difference), "cell"),
        ],
        "blind": model.blind_gold,
        "test": test,
        "over_stories": over_stories,
        "won": won,
    }


def _of_model(model: SourceRow, votes: ArmsCompared) -> list[Estimate]:
    accuracy = model.accuracy
    return [votes.acceptance, accuracy.all_gold, accuracy.blind_gold, accuracy.both.difference]


def _tables(votes: AnchoringReport, models: Sequence[SourceRow]) -> Context:
    """Return the tables of the page: rows over all votes and by dimension, by annotator and by model of which there is
    something to say, and what a reveal did as (name, text); and why estimates have no interval."""
    rows: list[Named] = [(_("All"), votes.overall), *((_(part.name), part.arms) for part in votes.by_dimension)]
    people = [(name_on_pages(part.name), part.arms) for part in votes.by_annotator]
    by_source = {part.name: part.arms for part in votes.by_source}
    named = [(model, by_source[model.source]) for model in models]
    told = [
        (model, arms)
        for model, arms in named
        if any(arms.counts.values()) or any(each.value is not None for each in _of_model(model, arms))
    ]
    reveal = votes.overall.reveal
    moves = [
        (_("Agrees before"), reveal.before),
        (_("Agrees after"), reveal.after),
        (_("Moved toward the suggestion"), reveal.toward),
        (_("Moved away from it"), reveal.away),
    ]
    estimates = [
        estimate
        for _name, row in (*rows, *people)
        for estimate in (
            row.acceptance, row.blind_agreement, row.difference, row.time.shown_ms, row.time.blind_ms,
            row.as_seen.difference,
        )
    ]  # fmt: skip
    estimates += [estimate for model, arms in told for estimate in _of_model(model, arms)]
    return {
        "rows": [_row(name, row) for name, row in rows],
        "people": [_row(name, row) for name, row in people],
        "models": [_model(model, arms) for model, arms in told],
        "blank_models": [model.source for model, arms in named if (model, arms) not in told],
        "reveal": [(name, share_text(share)) for name, share in moves],
        "lacking": no_intervals([*estimates, *(share for _name, share in moves)]),
        "charts": _charts(rows),
    }


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
