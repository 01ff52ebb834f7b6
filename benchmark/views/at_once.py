"""Pages that say at once that their figures are computed, and follow."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.access import project_access
from benchmark.services.at_once import FOLLOWS


def is_answered_at_once(request: HttpRequest) -> bool:
    """Return whether the request is for a whole page, by whose reader nothing was said yet: files, whose addresses end
    without a slash, parts of pages and the API take their time."""
    page = request.method == "GET" and request.path_info.endswith("/") and not request.path_info.startswith("/api/")
    return page and not request.htmx and FOLLOWS not in request.GET


def without_following(request: HttpRequest) -> None:
    """Take out of the address that its reader waits, or the page would put it into its own links."""
    if FOLLOWS in request.GET:
        params = request.GET.copy()
        del params[FOLLOWS]
        request.META["QUERY_STRING"] = params.urlencode()
        vars(request).pop("GET")  # it is read anew


def following(request: HttpRequest) -> str:
    """Return the address of the page that takes its time."""
    params = request.GET.copy()
    params[FOLLOWS] = "1"
    return f"{request.path}?{params.urlencode()}"


def being_computed(request: HttpRequest) -> HttpResponse:
    """Say that the figures of a page of a project are computed, and go on to it."""
    assert request.resolver_match
    access = project_access(request.user, request.resolver_match.kwargs["slug"])
    context = {"follows": following(request)}
    return render(request, "benchmark/results/computing.html", access.context | context)
