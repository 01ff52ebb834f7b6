"""Rounds of suggestions: choosing, the estimate before, progress, and what suggestions did to the votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access
from annotation.forms.prefill import PrefillForm
from annotation.models import Prefill, Role, RoundKind, Story, SuggestedRow, Suggestion
from annotation.models.user import name_on_pages
from annotation.services import prefill as service
from annotation.services.anchoring import report_of
from annotation.services.draft_effect import effect_of
from core.idempotency.forms import made_once
from core.joints import clauses
from core.plain import Json
from core.views.charts import PERCENT, SIGNED_POINTS, Row, dot_chart, no_intervals
from core.views.contexts import Context
from core.wording import counted
from workers.services.failures import reasons_of
from workers.services.jobs import apply_action
from workers.services.progress import progress_of_all
from workers.views import live


@require_http_methods(["GET", "POST"])
def prefills(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = PrefillForm(request.POST or None, project=access.project)
    estimate, chosen = None, {}
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        stories = _stories(access, chosen)
        if "start" not in request.POST:
            estimate = service.estimate(
                project=access.project, endpoint=chosen["endpoint"], stories=stories, level=chosen["level"],
                kind=chosen["kind"], batch=chosen["batch"], reasoning_tokens=chosen["reasoning_tokens"],
            )  # fmt: skip
        else:
            try:
                uid = made_once(request, lambda: _start(request, access, chosen, stories))
            except service.PrefillRefused as error:
                form.add_error(None, str(error))
            else:
                return redirect("annotation:prefill", slug, uid)
    rounds = list(access.project.prefills.select_related("job", "endpoint")[:50])
    jobs = [row.job for row in rounds]
    progress, reasons = progress_of_all(jobs), reasons_of(jobs)
    suggestions = Suggestion.objects.filter(proposition__table__story__project=access.project).count()
    drafted = SuggestedRow.objects.filter(story__project=access.project, number=1).count()
    context = {
        "form": form,
        "estimate": estimate,
        "rounds": [
            {"prefill": row, "progress": progress[row.job_id], "why": reasons.get(row.job_id, "")} for row in rounds
        ],
        "suggestions": suggestions,
        "drafted": drafted,
        "nothing_open": service.NOTHING_OPEN[RoundKind(chosen["kind"])] if estimate else "",
    }
    return render(request, "annotation/prefill/prefills.html", access.context | context)


def _start(request: HttpRequest, access: ProjectAccess, chosen: dict, stories: list[Story]) -> str:
    return service.start_prefill(
        by=request.user, project=access.project, endpoint=chosen["endpoint"], stories=stories, level=chosen["level"],
        kind=chosen["kind"], now=timezone.now(), budget=chosen["budget"], batch=chosen["batch"],
        reasoning_tokens=chosen["reasoning_tokens"],
    ).uid  # fmt: skip


def _stories(access: ProjectAccess, chosen: dict) -> list[Story]:
    stories = access.project.stories.in_split(chosen["split"] or None).in_category(chosen["category"] or None)
    return list(stories.select_related("project", "category").order_by("number"))


def _prefill(access: ProjectAccess, uid: str) -> Prefill:
    return get_object_or_404(
        Prefill.objects.select_related("job", "endpoint", "project", "created_by"), project=access.project, uid=uid
    )


@require_GET
def prefill(request: HttpRequest, slug: str, round: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = _prefill(access, round)
    context = {"prefill": row, "page": _items(request, row), **_progress(access, row)}
    return render(request, "annotation/prefill/prefill.html", access.context | context)


@require_GET
def progress(request: HttpRequest, slug: str, round: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = _prefill(access, round)
    return live.progress_response(request, access.context | _progress(access, row), lambda: _items(request, row))


def _progress(access: ProjectAccess, row: Prefill) -> dict:
    return live.progress_context(row.job, reverse("annotation:prefill", args=[access.project.slug, row.uid]))


def _items(request: HttpRequest, row: Prefill) -> Page:
    """Return a page of items, each with the number and the address of its story."""
    page = live.items_page(request, row.job)
    uids = [item.key for item in page.object_list]
    numbers = dict(Story.objects.filter(project=row.project_id, uid__in=uids).values_list("uid", "number"))
    for item in page.object_list:
        if item.key in numbers:
            item.title = f"Story {numbers[item.key]}"
            item.href = reverse("annotation:story", args=[row.project.slug, item.key])
    return page


@require_POST
def action(request: HttpRequest, slug: str, round: str, action: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    if refusal := apply_action(_prefill(access, round).job, action, budget=request.POST.get("budget", "")):
        messages.error(request, refusal)
    return redirect("annotation:prefill", slug, round)


@require_POST
def discard(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    count = service.discard_unseen(by=request.user, project=access.project)
    done = ngettext(
        "{count} suggestion that nobody has seen was discarded.",
        "{count} suggestions that nobody has seen were discarded.",
        count,
    )
    messages.success(request, done.format(count=count))
    return redirect("annotation:prefills", slug)


@require_GET
def anchoring(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what suggestions did to votes, in pictures first."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = report_of(access.project)
    rows, charts = [], []
    if report["votes"]:
        rows = [(_("All"), report["votes"]["overall"])]
        rows += [(_(row["dimension"]), row) for row in report["votes"]["by_dimension"]]
        charts = [
            dot_chart(
                _("How far suggestions shift votes: shown minus blind, in points"),
                _points(rows, "difference"),
                notation=SIGNED_POINTS,
                zero=True,
                holds=(-0.1, 0.1),
            ),
            dot_chart(
                _("How often a shown suggestion is chosen"),
                _points(rows, "acceptance"),
                notation=PERCENT,
                holds=(1.0,),
            ),
        ]
    context = {
        "report": report,
        "rows": rows,
        "charts": charts,
        "drawn_for": _drawn_for(report),
        **(tables := _tables(report, rows) if rows else {}),
        "lacking": no_intervals(estimate.of for estimate in _estimates(tables)) if tables else "",
    }
    return render(request, "annotation/prefill/anchoring.html", access.context | context)


@require_GET
def draft_effect(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what models' drafts did to belief tables: tables begun with one against tables written blind."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = effect_of(access.project)
    measures = [_measure(row) for row in report["effect"]["measures"]] if report["effect"] else []
    names = {"shown": _("Draft shown"), "blind": _("Blind")}
    arms = [{"name": names[arm], **counts} for arm, counts in report["arms"].items()]
    estimates = [estimate.of for row in measures for estimate in row.estimates]
    context = {
        "report": report,
        "arms": arms,
        "measures": measures,
        "lacking": no_intervals(estimates) if measures else "",
    }
    return render(request, "annotation/prefill/draft_effect.html", access.context | context)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOnPage:
    """A row of the table of measures: its estimates shown, blind and their difference."""

    description: str
    estimates: Sequence[EstimateText]
    p_adjusted: float | None
    effect: bool | None
    effect_reason: str | None


def _measure(row: Mapping[str, Any]) -> MeasureOnPage:
    write = _plain_text if row["measure"] in ("rows", "minutes") else _with_text
    return MeasureOnPage(
        description=row["told"],
        estimates=[write(row["shown"]), write(row["blind"]), write(row["difference"], signed=True)],
        p_adjusted=row["p_adjusted"],
        effect=row["effect"],
        effect_reason=row.get("effect_reason"),
    )


_UNITS = {
    "cell": pgettext_lazy("unit of a draw", "cell"),
    "proposition": pgettext_lazy("unit of a draw", "proposition"),
    "story": pgettext_lazy("unit of a draw", "story"),
}


def _drawn_for(report: Json) -> str:
    """Return what the arms were drawn for, as the page says it; of several, each with its number of votes."""
    units = {str(_UNITS[unit]): count for unit, count in report["drawn_for"].items()}
    if len(units) == 1:
        return _("for each {units} and annotator").format(units=next(iter(units)))
    return clauses(
        *(
            _("for each {unit} and annotator: {count:,} votes").format(unit=unit, count=count)
            for unit, count in units.items()
        )
    )


Named = tuple[str, Mapping[str, Any]]
"""A row of the report with its name on the page."""


def _tables(report: Json, rows: Sequence[Named]) -> Context:
    people = [(name_on_pages(row["annotator"]), row) for row in report["votes"]["by_annotator"]]
    reveal = report["votes"]["overall"]["reveal"]
    votes = {row["source"]: row for row in report["votes"]["by_source"]}
    models = [_model(model, votes[model["source"]]) for model in report["models"]]
    return {
        "table": [_row(name, row) for name, row in rows],
        "dimensions": [_(row["dimension"]) for row in report["votes"]["by_dimension"] if row["effect"]],
        "people": [_row(name, row) for name, row in people],
        "models": [model for model in models if not model.blank],
        "blank_models": [model.source for model in models if model.blank],
        "reveal": [
            (_("Agrees before"), _with_text(reveal["before"])),
            (_("Agrees after"), _with_text(reveal["after"])),
            (_("Moved toward the suggestion"), _with_text(reveal["toward"])),
            (_("Moved away from it"), _with_text(reveal["away"])),
        ],
    }


def _estimates(tables: Context) -> Iterator[EstimateText]:
    """Yield every estimate of the page that has an interval or a reason for none."""
    for row in (*tables["table"], *tables["people"]):
        yield from (*row.shares, *row.times, row.seen)
    yield from (estimate for model in tables["models"] for _, estimate, _ in model.estimates)
    yield from (estimate for _, estimate in tables["reveal"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOnPage:
    """A model that suggested: its estimates as (name, estimate, what it counts), what gold from blind votes rests on,
    and the alternative annotator test, with how many annotators it `won` against. `blank` says that there is nothing to
    say of it."""

    source: str
    suggestions: int
    estimates: Sequence[tuple[str, EstimateText, str]]
    blank: bool
    blind: Mapping[str, Any]
    test: Mapping[str, Any]
    won: int | None


def _model(model: Mapping[str, Any], votes: Mapping[str, Any]) -> ModelOnPage:
    accuracy, test = model["accuracy"], model["alternative_annotator"]
    difference = _with_text(accuracy["both"]["difference"], signed=True)
    estimates = [
        (_("Chosen when shown"), _with_text(votes["acceptance"]), "vote"),
        (_("Accuracy on all gold"), _with_text(accuracy["all_gold"]), "cell"),
        (_("Accuracy on gold from blind votes"), _with_text(accuracy["blind_gold"]), "cell"),
        (_("Difference on the cells that have both"), difference, "cell"),
    ]
    return ModelOnPage(
        source=model["source"],
        suggestions=model["suggestions"],
        estimates=estimates,
        blank=not any(votes["counts"].values()) and all(estimate.value is None for _, estimate, _ in estimates),
        blind=model["blind_gold"],
        test=test,
        won=None if test["winning_rate"] is None else round(test["winning_rate"] * test["tested"]),
    )


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
    largest: EstimateText


def _row(name: str, row: Mapping[str, Any]) -> ArmsOnPage:
    return ArmsOnPage(
        name=name,
        counts=row["counts"],
        shares=[
            _with_text(row["acceptance"]),
            _with_text(row["blind_agreement"]),
            _with_text(row["difference"], signed=True),
        ],
        times=[_with_text(row["time"][arm], milliseconds=True) for arm in ("shown_ms", "blind_ms")],
        seen=_with_text(row["as_seen"]["difference"], signed=True),
        p=row["p"],
        p_adjusted=row["p_adjusted"],
        effect=row["effect"],
        effect_reason=row.get("effect_reason"),
        largest=_with_text(row["largest"], signed=True),
    )


@dataclass(frozen=True, slots=True)
class EstimateText:
    """An estimate, with its value and its interval as the page has them; both empty where there is no value."""

    of: Mapping[str, Any]
    value_text: str = ""
    interval_text: str = ""

    @property
    def value(self) -> float | None:
        return self.of["value"]

    @property
    def n(self) -> int:
        return self.of["n"]

    @property
    def reason(self) -> str:
        return self.of.get("reason", "")


def _with_text(estimate: Mapping[str, Any], *, signed: bool = False, milliseconds: bool = False) -> EstimateText:
    """Return an estimate with its text: per cent, percentage points where `signed`, or seconds."""
    scale, unit = (0.001, "s") if milliseconds else (100, _("points")) if signed else (100, "%")

    def text(value: float) -> str:
        return f"{value * scale:{'+' if signed else ''}.1f}".replace("-", "\N{MINUS SIGN}")

    return _as_text(estimate, text, f"\u202f{unit}")


def _plain_text(estimate: Mapping[str, Any], *, signed: bool = False) -> EstimateText:
    """Return an estimate with its text, as a number of rows or minutes."""

    def text(value: float) -> str:
        return f"{value:{'+' if signed else ''}z.1f}".replace("-", "\N{MINUS SIGN}")

    return _as_text(estimate, text)


def _as_text(estimate: Mapping[str, Any], text: Callable[[float], str], unit: str = "") -> EstimateText:
    if estimate["value"] is None:
        return EstimateText(estimate)
    interval = ""
    if estimate.get("interval"):
        low, high = map(text, estimate["interval"])
        interval = _("{low} to {high}").format(low=low, high=high) + unit
    return EstimateText(estimate, f"{text(estimate['value'])}{unit}", interval)


def _points(rows: Sequence[Named], key: str) -> list[Row]:
    return [Row(label=name, first=row[key], n=counted(row[key]["n"], "vote")) for name, row in rows]
