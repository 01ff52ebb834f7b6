"""Headers that no library of ours sets."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse


class PrivatePages:
    """Pages hold unpublished data: no shared cache keeps them, and no page asks for a device."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
        response.setdefault("Cache-Control", "no-store, private")
        return response


class NoNul:
    """No page has an address that holds NUL, and PostgreSQL takes none: it is not found, before anything looks for it.

    The API describes its addresses and queries itself, and says in its own shape what is wrong with them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info and not request.path_info.startswith("/api/"):
            raise Http404
        return self.get_response(request)
