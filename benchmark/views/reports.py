"""Report pages: of a run as it is now, and as it was when somebody saved it."""

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.access import RunAccess, results_access, run_access, run_document, snapshot_access, snapshot_document
from benchmark.addresses import chosen_leaderboard
from benchmark.controls.chosen import CONTROLS
from benchmark.models import Snapshot
from benchmark.services import snapshots as service
from benchmark.services.calibration import calibration
from benchmark.services.documents import ACROSS, Document
from benchmark.services.downloads import no_official_output
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plans import RunRefused
from benchmark.suites.registry import group_suite, ordered_keys, suite_named
from benchmark.views.across import snapshot_across
from benchmark.views.compare import snapshot_comparison
from benchmark.views.leaderboard import comparable, leaderboard_chart
from benchmark.views.sections import explorer_of, sections_of
from benchmark.views.tables import address_of, item_links, snapshot_item_links
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop
from core.views.pages import Context


def run_results(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/_run_results.html", access.context | context)


def pieces(access: RunAccess, document: Document, chosen: Mapping[str, str]) -> Context:
    """Return what the fragment and the report page of a run both show."""
    slug, uid = access.project.project.slug, access.run.uid
    address = address_of("run", slug, uid)
    charts = {
        group: leaderboard_chart(slug, document.groups[group], group)
        for group in ordered_keys(document.groups)
        if document.groups[group]
    }
    kinds = {entrant.kind for entrants in document.groups.values() for entrant in entrants}
    no_folder = no_official_output(access.run)
    admin = access.project.at_least(Role.ADMIN)
    shows_outputs = not no_folder and not document.withheld
    return {
        "document": document,
        "control": CONTROLS.get(access.run.control),
        "noun": suite_named(access.run.suite).noun,
        "nouns": suite_named(access.run.suite).noun[1],
        "charts": charts,
        "sections": sections_of(document, address, chosen, item_links(slug)),
        "explorer": explorer_of(document, address, chosen, item_links(slug)),
        "people": "person" in kinds,
        "incomplete": access.run.job.state != "finished",
        "entrants": comparable(document.groups),
        "outputs": list(access.run.entrants.all()) if shows_outputs else [],
        "withheld": document.withheld,
        "no_folder": no_folder,
        "calibrations": calibration.links([access.run], access.project.user) if admin else [],
    }


def run_report(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/report.html", access.context | context)


@require_POST
def save_run_snapshot(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(service.save_run_snapshot, by=request.user, run=access.run, title=title)
    return _saved(request, slug, gettext_noop("report"), make, back=reverse("benchmark:runs", args=[slug]))


def _saved(request: UserRequest, slug: str, kept: str, make: Callable[[], Snapshot], *, back: str) -> HttpResponse:
    """Save what is `kept` and open it; go `back` with the reason where that is refused."""
    try:
        report = made_once(request, lambda: make().uid)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect(back)
    messages.success(
        request,
        Sentence("A snapshot of the {kept} was saved. Share its address with members of the project.", kept=kept),
    )
    return redirect("benchmark:snapshot", slug, report)


@require_POST
def save_leaderboard_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    """Keep the whole ranking that the posted `query` is the address of, whatever its reader may see of it."""
    project_access(request.user, slug, role=Role.EXPERT)
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(QueryDict(request.POST.get("query", "")), access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)

    def make() -> Snapshot:
        whole = leaderboard_of(
            chosen.dataset,
            chosen.answer_format,
            chosen.params["split"],
            suite=chosen.suite,
            all_runs=chosen.every,
            asked=chosen.asked,
        )
        title = request.POST.get("title", "")
        return service.save_leaderboard_snapshot(
            by=request.user, dataset=chosen.dataset, leaderboard=whole, query=chosen.params, title=title
        )

    back = f"{reverse('benchmark:leaderboard', args=[slug])}?{chosen.query}"
    return _saved(request, slug, gettext_noop("leaderboard"), make, back=back)


@require_POST
def save_across_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    """Keep the page of all models, whatever its reader may see of it."""
    access = results_access(request.user, slug, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(service.save_across_snapshot, by=request.user, project=access.project, title=title)
    return _saved(request, slug, gettext_noop("page"), make, back=reverse("benchmark:across", args=[slug]))


def snapshots(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    reports = Snapshot.objects.filter(project=access.project).select_related("created_by", "run").defer("metrics")
    return render(request, "benchmark/results/snapshots.html", access.context | {"reports": reports[:200]})


def snapshot(request: UserRequest, slug: str, report: str) -> HttpResponse:
    """Show the saved document, down to the items as they were, whatever became of the runs since."""
    access, snapshot = snapshot_access(request.user, slug, report)
    document = snapshot_document(access, snapshot)
    address = address_of("snapshot", slug, snapshot.uid)
    if document.kind == ACROSS:
        return snapshot_across(request, access, snapshot, document, address)
    href = snapshot_item_links(slug, snapshot.uid)
    context = {
        "report": snapshot,
        "document": document,
        "withheld": document.withheld,
        "nouns": next((suite_named(group_suite(group)).noun[1] for group in document.groups), "stories"),
        "address": request.build_absolute_uri(request.path),
        "charts": {
            group: leaderboard_chart("", document.groups[group], group)
            for group in ordered_keys(document.groups)
            if document.groups[group]
        },
        "sections": sections_of(document, address, request.GET, href),
        "explorer": explorer_of(document, address, request.GET, href),
        "people": any(entrant.kind == "person" for entrants in document.groups.values() for entrant in entrants),
    }
    if document.kind == "comparison":
        context |= snapshot_comparison(slug, snapshot.uid, document, address)
    elif document.query is not None:
        context["now"] = f"{reverse('benchmark:leaderboard', args=[slug])}?{urlencode(document.query)}"
    return render(request, "benchmark/results/report.html", access.context | context)
