"""Middleware that no library of ours has: headers of private pages, the language of a page, answers to NUL, to a suite
that failed and while figures are computed."""

from collections.abc import Callable

from django.conf import settings
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.utils import translation
from django.views.defaults import bad_request

from benchmark.suites.guards import SuiteFailed
from core.incoming import deadline
from core.kept import BeingComputed, on_page


class ReadersLanguage(LocaleMiddleware):
    """Stands below what knows the user."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith("/api/"):
            _speak(request, settings.LANGUAGE_CODE)
            return
        super().process_request(request)  # also for the page that says that nobody can be looked up
        own = request.user.language if request.user.is_authenticated else ""
        if own in dict(settings.LANGUAGES):
            _speak(request, own)

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object) -> None:
        if getattr(view, "in_english", False):
            _speak(request, settings.LANGUAGE_CODE)


def _speak(request: HttpRequest, language: str) -> None:
    translation.activate(language)
    request.LANGUAGE_CODE = language


class _Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class PrivatePages(_Middleware):
    """Pages hold unpublished data: no shared cache keeps them, and no page asks for a device."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
        response.setdefault("Cache-Control", "no-store, private")
        return response


class ReadingDeadline(_Middleware):
    """A request spends limited time on reading a file that it brings."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with deadline.limited():
            return self.get_response(request)


class NoNul(_Middleware):
    """No page has an address that holds NUL, and PostgreSQL takes none: it is not found, before anything looks for it.

    Nor does any field of a form; most say so themselves, and this answers for those that no form checks. The API
    describes its addresses and queries itself, and says in its own shape what is wrong with them.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info and not request.path_info.startswith("/api/"):
            raise Http404
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if request.path_info.startswith("/api/") or not isinstance(error, DataError | ValueError):
            return None
        sent = (value for query in (request.GET, request.POST) for _, values in query.lists() for value in values)
        return bad_request(request, error) if any("\x00" in value for value in sent) else None


class FailedSuites(_Middleware):
    """A page or file that cannot be without what its suite failed at says that in its sentence; parts of a page say so
    themselves."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return (
            render(request, "suite_failed.html", {"text": error}, status=503)
            if isinstance(error, SuiteFailed)
            else None
        )


class ComputesInTime(_Middleware):
    """A page that needs a value which takes long to compute says so, and asks again until it is there. Files, whose
    addresses end without a slash, parts of pages and the API take their time."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if (
            request.method != "GET"
            or request.headers.get("HX-Request")
            or not path.endswith("/")
            or path.startswith("/api/")
        ):
            return self.get_response(request)
        with on_page():
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return render(request, "computing.html") if isinstance(error, BeingComputed) else None
