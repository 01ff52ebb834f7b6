"""Page of what suggestions did to the votes of a project, in pictures first."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_GET

from annotation.access import UserRequest, project_access
from annotation.domain.arms import Arm, DrawUnit
from annotation.models import Role
from annotation.models.user import name_on_pages
from annotation.services.anchoring import effect_of, report_of
from core.joints import clauses
from core.plain import Json
from core.views.charts import PERCENT, SIGNED_POINTS, DotChart, Row, dot_chart, no_intervals
from core.views.pages import Context
from core.wording import counted

_UNITS = {
    DrawUnit.CELL: pgettext_lazy("unit of a draw", "cell"),
    DrawUnit.PROPOSITION: pgettext_lazy("unit of a draw", "proposition"),
    DrawUnit.STORY: pgettext_lazy("unit of a draw", "story"),
}
_NO_VOTE = {
    Arm.SHOWN: gettext_lazy("{count:,} of {drawn:,} drawn shown"),
    Arm.BLIND: gettext_lazy("{count:,} of {drawn:,} drawn blind"),
    Arm.REVEAL: gettext_lazy("{count:,} of {drawn:,} drawn to be revealed"),
}


@require_GET
def anchoring(request: UserRequest, slug: str) -> HttpResponse:
    """Show what suggestions did to votes."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = report_of(access.project)
    # What the arms were drawn for; of several units, each with its number of votes.
    units = {str(_UNITS[unit]): count for unit, count in report["drawn_for"].items()}
    if len(units) == 1:
        drawn_for = _("for each {units} and annotator").format(units=next(iter(units)))
    else:
        sentence = _("for each {unit} and annotator: {count:,} votes")
        drawn_for = clauses(*(sentence.format(unit=unit, count=count) for unit, count in units.items()))
    cast = report["votes"]["overall"]["counts"] if report["votes"] else {}
    drawn = {arm: (count, count + cast.get(arm, 0)) for arm, count in report["without_vote"].items()}
    without_vote = clauses(
        *(str(_NO_VOTE[arm]).format(count=count, drawn=every) for arm, (count, every) in drawn.items() if every)
    )
    context: Context = {"report": report, "drawn_for": drawn_for, "without_vote": without_vote}
    if report["votes"]:
        context |= _tables(report["votes"], report["models"])
    return render(request, "annotation/prefill/anchoring.html", access.context | context)


def _tables(votes: Json, models: Sequence[Json]) -> Context:
    """Return the tables of the page: rows over all votes and by dimension, by annotator and by model of which there is
    something to say, and what a reveal did; and why estimates have no interval."""
    overall = {"name": _("All"), **votes["overall"]}
    rows = [overall, *({"name": _(row["dimension"]), **row} for row in votes["by_dimension"])]
    people = [{"name": name_on_pages(row["annotator"]), **row} for row in votes["by_annotator"]]
    by_source = {row["source"]: row for row in votes["by_source"]}
    told = []
    for model in models:
        accuracy, own = model["accuracy"], by_source[model["source"]]
        estimates = [
            (_("Chosen when shown"), own["acceptance"], "share", "vote"),
            (_("Accuracy on all gold"), accuracy["all_gold"], "share", "cell"),
            (_("Accuracy on gold from blind votes"), accuracy["blind_gold"], "share", "cell"),
            (_("Difference on the cells that have both"), accuracy["both"]["difference"], "shift", "cell"),
        ]
        if any(own["counts"].values()) or any(estimate.value is not None for _name, estimate, *_ in estimates):
            rate, tested = model["over_stories"].winning_rate, model["alternative_annotator"].tested
            told.append({**model, "estimates": estimates, "won": None if rate is None else round(rate * tested)})
    names = {model["source"] for model in told}
    reveal = {
        _("Agrees before"): overall["reveal"]["before"],
        _("Agrees after"): overall["reveal"]["after"],
        _("Moved toward the suggestion"): overall["reveal"]["toward"],
        _("Moved away from it"): overall["reveal"]["away"],
    }
    shown = [row[name] for row in [*rows, *people] for name in ("acceptance", "blind_agreement", "difference")]
    shown += [row["time"][name] for row in [*rows, *people] for name in ("shown_ms", "blind_ms")]
    shown += [row["as_seen"]["difference"] for row in [*rows, *people]]
    shown += [estimate for model in told for _name, estimate, *_ in model["estimates"]]
    return {
        "rows": rows,
        "people": people,
        "models": told,
        "blank_models": [model["source"] for model in models if model["source"] not in names],
        "reveal": reveal,
        "lacking": no_intervals([*shown, *reveal.values()]),
        "charts": _charts(rows),
        "dimensions": [row["name"] for row in rows[1:] if row["effect"]],
    }


def _charts(rows: Sequence[Json]) -> list[DotChart]:
    def points(name: str) -> list[Row]:
        return [Row(label=row["name"], first=row[name], n=counted(row[name].n, "vote")) for row in rows]

    shifts = _("How far suggestions shift votes: shown minus blind, in points")
    return [
        dot_chart(shifts, points("difference"), notation=SIGNED_POINTS, zero=True, holds=(-0.1, 0.1)),
        dot_chart(_("How often a shown suggestion is chosen"), points("acceptance"), notation=PERCENT, holds=(1.0,)),
    ]


@require_GET
def draft_effect(request: UserRequest, slug: str) -> HttpResponse:
    """Show the effect of models' drafts on belief tables."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = effect_of(access.project)
    rows = report["effect"]["measures"] if report["effect"] else []
    for row in rows:
        row["kinds"] = ("number", "signed") if row["measure"] in ("rows", "minutes") else ("share", "shift")
    arms = [(_("Draft shown"), report["arms"]["shown"]), (_("Blind"), report["arms"]["blind"])]
    lacking = no_intervals(row[name] for row in rows for name in ("shown", "blind", "difference"))
    context = {"report": report, "arms": arms, "measures": rows, "lacking": lacking}
    return render(request, "annotation/prefill/draft_effect.html", access.context | context)
