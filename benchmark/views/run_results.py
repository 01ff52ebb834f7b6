"""Results of a run, as a part of the run's page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.models import Role
from benchmark.access import RunAccess, run_access, run_document
from benchmark.controls.chosen import CONTROLS
from benchmark.services.calibration import calibration
from benchmark.services.documents import Document
from benchmark.services.downloads import no_official_output
from benchmark.suites.registry import ordered_keys, suite_named
from benchmark.views.files import Address
from benchmark.views.leaderboard import leaderboard_chart
from benchmark.views.sections import explorer_of, sections_of
from benchmark.views.tables import item_links
from core.views.pages import Context


def run_results(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/_run_results.html", access.context | context)


def run_address(slug: str, uid: str) -> Address:
    def address(kind: str, name: str, suffix: str) -> str:
        return reverse(f"benchmark:run_{kind}", args=[slug, uid, name, suffix])

    return address


def pieces(access: RunAccess, document: Document, chosen) -> Context:
    """Return what the fragment and the report page of a run both show."""
    slug, uid = access.project.project.slug, access.run.uid
    address = run_address(slug, uid)
    charts = {
        group: leaderboard_chart(slug, document.groups[group], group)
        for group in ordered_keys(document.groups)
        if document.groups[group]
    }
    kinds = {entrant.kind for entrants in document.groups.values() for entrant in entrants}
    by_size = sorted(document.groups.values(), key=lambda entrants: -len(entrants))
    comparable = {
        entrant.key: {"key": entrant.key, "label": entrant.model} for entrants in by_size for entrant in entrants
    }
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
        "entrants": list(comparable.values()),
        "outputs": list(access.run.entrants.all()) if shows_outputs else [],
        "withheld": document.withheld,
        "no_folder": no_folder,
        "calibrations": calibration.links([access.run], access.project.user) if admin else [],
    }
